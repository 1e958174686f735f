//! Uniformity: how a value varies over neighbouring elements (iterations, work items).
//!
//! The lattice of divergence analysis, with the affine values of stride 1 between its two ends:
//!
//! ```text
//! Uniform     the same for all elements       a scalar register, one load for all
//! Affine      base + element number           consecutive addresses
//! Varying     anything                        a vector register, gathers
//! ```

/// The variation of a value over neighbouring elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniformity {
    /// The same for all elements.
    Uniform,
    /// One more for each further element.
    Affine,
    /// A different value for each element.
    Varying,
}

impl Uniformity {
    /// The uniformity of a value computed elementwise from others: uniform if all are, else
    /// varying.
    pub fn of_elementwise(operands: impl IntoIterator<Item = Uniformity>) -> Uniformity {
        match operands.into_iter().all(|operand| operand == Uniformity::Uniform) {
            true => Uniformity::Uniform,
            false => Uniformity::Varying,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Uniformity::{Affine, Uniform, Varying};
    use super::*;

    #[test]
    fn only_uniform_operands_give_uniform_values() {
        assert_eq!(Uniformity::of_elementwise([Uniform, Uniform]), Uniform);
        assert_eq!(Uniformity::of_elementwise([Uniform, Affine]), Varying);
        assert_eq!(Uniformity::of_elementwise([]), Uniform);
    }
}
