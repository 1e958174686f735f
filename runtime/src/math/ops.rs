//! The operations that the functions are made of.
//!
//! They are few, and each is one instruction (or two) of SSE, AVX, NEON and PTX, also on vectors:
//! there is no multiplication of ints, no conversion between ints and floats (the functions read
//! ints off the bits of floats), no memory.

use super::Format;

/// One width of floats, with ints of the same width, on some machine.
///
/// A value may be a number, the name of a register, or a vector of lanes. The methods take
/// `&self`, so that expressions nest; who collects instructions keeps them in a cell.
///
/// Float operations are those of IEEE 754, rounded to nearest, ties to even. Which NaN comes out
/// is free. Ints are two's complement; addition wraps.
pub trait Ops {
    /// The type of a float.
    type F: Copy;
    /// An int as wide as a float.
    type I: Copy;
    /// A truth value, or a mask.
    type B: Copy;

    /// The width of a float, in bits.
    fn format(&self) -> &'static Format;

    /// A constant; it is representable in the format.
    fn float(&self, x: f64) -> Self::F;
    /// `a + b`
    fn add(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`
    fn sub(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a · b`
    fn mul(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`
    fn div(&self, a: Self::F, b: Self::F) -> Self::F;
    /// `a · b + c`, rounded once.
    fn fma(&self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The square root.
    fn sqrt(&self, a: Self::F) -> Self::F;
    /// The other sign, also of zeros.
    fn neg(&self, a: Self::F) -> Self::F;
    /// The absolute value.
    fn abs(&self, a: Self::F) -> Self::F;
    /// `a < b`; false with a NaN.
    fn lt(&self, a: Self::F, b: Self::F) -> Self::B;
    /// `a` where `condition` holds, else `b`.
    fn select(&self, condition: Self::B, a: Self::F, b: Self::F) -> Self::F;

    /// The bits of a float.
    fn bits(&self, a: Self::F) -> Self::I;
    /// The float with these bits.
    fn of_bits(&self, a: Self::I) -> Self::F;
    /// A constant; at 32 bits the low half of `x`.
    fn int(&self, x: i64) -> Self::I;
    /// `a + b`, wrapping.
    fn iadd(&self, a: Self::I, b: Self::I) -> Self::I;
    /// The bitwise conjunction.
    fn iand(&self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise exclusive or.
    fn ixor(&self, a: Self::I, b: Self::I) -> Self::I;
    /// Shift to the left by a constant less than the width.
    fn shl(&self, a: Self::I, count: u32) -> Self::I;
    /// Shift to the right, filling with zeros, by a constant less than the width.
    fn shr(&self, a: Self::I, count: u32) -> Self::I;
    /// `a & mask ≠ 0`
    fn test(&self, a: Self::I, mask: i64) -> Self::B;

    /// `rare` where `condition` holds, else `common`. Nearly always it holds nowhere, and `rare`
    /// is long: a backend branches around it when no lane needs it. `rare` gives some value on
    /// every input, so that it may also be computed for all.
    fn when<const N: usize>(
        &self,
        condition: Self::B,
        common: [Self::F; N],
        rare: impl FnOnce(&Self) -> [Self::F; N],
    ) -> [Self::F; N];

    /// The reduction of a huge angle, as `reduce_huge` of the module emits it. That is so long that a backend may
    /// have one copy, which all functions of angles call.
    fn reduce_huge(&self, a: Self::F) -> [Self::F; 3];
}
