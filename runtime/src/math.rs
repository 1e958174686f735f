//! The mathematical functions: our own, one text for every backend.
//!
//! A program must give the same bits on the interpreter, on the CPU and on a GPU, and neither a
//! code generator nor PTX has an exponential function in 64 bits. So each function here is a
//! straight-line program over the few operations of [`Ops`], which every machine does in the same
//! way: evaluated at once ([`evaluate64`], [`evaluate32`]), or written down, unchanged, as code
//! for scalars, vectors or GPU threads ([`emit`] on an implementation of [`Ops`] of the backend).
//!
//! # Contract
//! * The result is within 0.8 units in the last place (ulp) of the true value, at both widths,
//!   also among subnormal numbers. The largest error measured stands at each function: at 64 bits
//!   over 700,000 random and hard points, at 32 bits over all floats (of one sign where the
//!   function is odd or even; of the angles above 2¹⁴ one in sixteen).
//! * Special cases are those of IEEE 754-2019 and C: NaN in, some NaN out; zeros keep their sign
//!   where the function is odd; overflow gives an infinity and begins where it must.
//! * Odd and even functions are so exactly.
//! * No branches but [`Ops::when`], no tables in memory, no loops in what is emitted.
//! * The bits depend on each operation being rounded once, as it is written: a backend must not
//!   contract a product and a sum to a fused operation, reorder, or flush subnormal numbers.
//!
//! # Method
//! Both widths share their text; they differ in the constants ([`Format`]). The argument is
//! reduced to a small interval by steps that are exact or keep what they lose in a second float
//! (`double`), a polynomial gives the small part of the result, and the large part, known exactly,
//! is added last: so only the last addition rounds at full size. The polynomials are our own
//! (`runtime/math/coefficients.py`); for the ideas see Muller, *Elementary Functions*; Cody and
//! Waite, *Software Manual for the Elementary Functions*; Payne and Hanek, *Radian reduction for
//! trigonometric functions*; Ogita, Rump and Oishi, *Accurate sum and dot product*; and Sun's
//! fdlibm for the logarithm.

mod coefficients;
mod double;
mod exponential;
mod format;
mod hyperbolic;
mod inverse;
mod native;
mod ops;
mod reduction;
mod trigonometric;

pub use exponential::{exp, ln};
pub use format::Format;
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse::{acos, asin, atan};
pub use native::{evaluate32, evaluate64};
pub use ops::Ops;
pub use reduction::reduce_huge;
pub use trigonometric::{cos, sin, tan};

/// A mathematical function of one float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The function [`exp`].
    Exp,
    /// The function [`ln`].
    Ln,
    /// The function [`sin`].
    Sin,
    /// The function [`cos`].
    Cos,
    /// The function [`tan`].
    Tan,
    /// The function [`asin`].
    Asin,
    /// The function [`acos`].
    Acos,
    /// The function [`atan`].
    Atan,
    /// The function [`sinh`].
    Sinh,
    /// The function [`cosh`].
    Cosh,
    /// The function [`tanh`].
    Tanh,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 11] = [
        Function::Exp,
        Function::Ln,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Atan,
        Function::Sinh,
        Function::Cosh,
        Function::Tanh,
    ];
}

/// The function of `x`, written down with `o`.
#[inline(always)]
pub fn emit<O: Ops>(function: Function, o: &O, x: O::F) -> O::F {
    match function {
        Function::Exp => exp(o, x),
        Function::Ln => ln(o, x),
        Function::Sin => sin(o, x),
        Function::Cos => cos(o, x),
        Function::Tan => tan(o, x),
        Function::Asin => asin(o, x),
        Function::Acos => acos(o, x),
        Function::Atan => atan(o, x),
        Function::Sinh => sinh(o, x),
        Function::Cosh => cosh(o, x),
        Function::Tanh => tanh(o, x),
    }
}

#[cfg(test)]
mod tests;
