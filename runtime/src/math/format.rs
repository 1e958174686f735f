//! The two widths, and what about them the functions depend on.

use super::coefficients::{BINARY32, BINARY64, Coefficients};

/// A format of floats.
pub struct Format {
    /// The number of bits of a float.
    pub bits: u32,
    /// The number of bits of the significand that are stored.
    pub(super) stored: u32,
    /// The bias of exponents.
    pub(super) bias: i64,
    /// Added and subtracted again, it rounds to an integer, which stands in its low bits meanwhile.
    pub(super) magic: f64,
    /// The least normal number.
    pub(super) least_normal: f64,
    /// Below this, e^x is rounded to zero.
    pub(super) exp_least: f64,
    /// Above this, e^x and its half overflow.
    pub(super) exp_most: f64,
    /// Above this, tanh is rounded to one.
    pub(super) tanh_most: f64,
    /// Above this, atan is rounded to π / 2.
    pub(super) atan_most: f64,
    /// The sum of 1 and 2 to minus twice this is rounded to 1 with several bits to spare.
    pub(super) many_binades: f64,
    /// Above this, angles are reduced in the long way.
    pub(super) angle_most: f64,
    /// The number of bits of a digit of 2 / π.
    pub(super) digit: i64,
    pub(super) coefficients: Coefficients,
}

impl Format {
    /// The format of `f64`.
    pub const BINARY64: Format = Format {
        bits: 64,
        stored: 52,
        bias: 1023,
        magic: 1.5 * pow2(52),
        least_normal: f64::MIN_POSITIVE,
        exp_least: -746.0,
        exp_most: 712.0,
        tanh_most: 22.0,
        atan_most: pow2(62),
        many_binades: 64.0,
        angle_most: pow2(28),
        digit: 48,
        coefficients: BINARY64,
    };

    /// The format of `f32`.
    pub const BINARY32: Format = Format {
        bits: 32,
        stored: 23,
        bias: 127,
        magic: 1.5 * pow2(23),
        least_normal: f32::MIN_POSITIVE as f64,
        exp_least: -104.0,
        exp_most: 91.0,
        tanh_most: 11.0,
        atan_most: pow2(30),
        many_binades: 32.0,
        angle_most: pow2(14),
        digit: 24,
        coefficients: BINARY32,
    };

    /// The bits of a number that is representable in this format.
    #[inline(always)]
    pub(super) const fn bits_of(&self, x: f64) -> i64 {
        if self.bits == 64 { x.to_bits() as i64 } else { (x as f32).to_bits() as i64 }
    }

    /// The bit of the sign.
    #[inline(always)]
    pub(super) const fn sign(&self) -> i64 {
        1 << (self.bits - 1)
    }
}

/// 2 to the power, within the normal range.
#[inline(always)]
pub(super) const fn pow2(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) << 52) as u64)
}
