//! Uniformity: how a value varies over neighbouring elements (iterations, work items).
//!
//! The lattice of divergence analysis, with the affine values of stride 1 between its two ends:
//!
//! ```text
//! Uniform     the same for all elements       a scalar register, one load for all
//! Affine      base + element number           consecutive addresses
//! Varying     anything                        a vector register, gathers
//! ```

use super::{Kernel, Op, ValueTy, walk};

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

/// Returns, by value, true for the scalars of a kernel that are computed of scalar parameters alone: they are
/// the same for all work items, and known before the launch.
pub fn uniform_values(kernel: &Kernel) -> Vec<bool> {
    let mut uniform = vec![false; kernel.types.len()];
    for param in &kernel.params {
        uniform[param.0 as usize] = matches!(kernel.types[param.0 as usize], ValueTy::Scalar(_));
    }
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| {
            if is_elementwise(&inst.op) {
                let mut all = true;
                inst.op.each_operand(|operand| all &= uniform[operand.0 as usize]);
                uniform[inst.results[0].0 as usize] = all;
            }
        });
    }
    uniform
}

/// Returns true for the operations on scalars whose result follows from their operands.
fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Const(_) | Op::Unary(..) | Op::Binary(..) | Op::Convert(..) | Op::Bits(..))
        || matches!(op, Op::Select(..) | Op::Fma(..))
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
