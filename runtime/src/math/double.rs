//! Floats in pairs, and other small steps that the functions share.
//!
//! A pair `(high, low)` stands for the exact sum of the two; the low part is at most about a unit
//! in the last place of the high one.

use super::Ops;

/// `a + b` exactly, where `|a| ≥ |b|` or `a = 0`.
#[inline(always)]
pub(super) fn fast_two_sum<O: Ops>(o: &O, a: O::F, b: O::F) -> (O::F, O::F) {
    let sum = o.add(a, b);
    (sum, o.sub(b, o.sub(sum, a)))
}

/// `a + b` exactly.
#[inline(always)]
pub(super) fn two_sum<O: Ops>(o: &O, a: O::F, b: O::F) -> (O::F, O::F) {
    let sum = o.add(a, b);
    let of_b = o.sub(sum, a);
    let of_a = o.sub(sum, of_b);
    (sum, o.add(o.sub(a, of_a), o.sub(b, of_b)))
}

/// `a · b` exactly, unless it underflows.
#[inline(always)]
pub(super) fn two_product<O: Ops>(o: &O, a: O::F, b: O::F) -> (O::F, O::F) {
    let product = o.mul(a, b);
    (product, o.fma(a, b, o.neg(product)))
}

/// The polynomial in `z`, by the scheme of Horner.
#[inline(always)]
pub(super) fn polynomial<O: Ops>(o: &O, coefficients: &[f64], z: O::F) -> O::F {
    let mut highest_first = coefficients.iter().rev();
    let mut sum = o.float(highest_first.next().copied().unwrap_or(0.0));
    for &c in highest_first {
        sum = o.fma(sum, z, o.float(c));
    }
    sum
}

/// The polynomial in `z`, of which `square` is the square: its even and its odd powers by the scheme of Horner, at the same
/// time. A loop that waits for the result waits for half as many of them, and there is none more.
#[inline(always)]
pub(super) fn polynomial_by_halves<O: Ops>(
    o: &O,
    coefficients: &[f64],
    z: O::F,
    square: O::F,
) -> O::F {
    let part = |first: usize| {
        let mut highest_first = coefficients[first..].iter().step_by(2).rev();
        let highest = o.float(highest_first.next().copied().unwrap_or(0.0));
        highest_first.fold(highest, |sum, c| o.fma(sum, square, o.float(*c)))
    };
    o.fma(part(1), z, part(0))
}

/// `x`, but at most `most`; NaN stays.
#[inline(always)]
pub(super) fn at_most<O: Ops>(o: &O, x: O::F, most: f64) -> O::F {
    let most = o.float(most);
    o.select(o.lt(most, x), most, x)
}

/// `y` with its sign changed where `sign_of` has one.
#[inline(always)]
pub(super) fn with_sign<O: Ops>(o: &O, y: O::F, sign_of: O::I) -> O::F {
    let sign = o.iand(sign_of, o.int(o.format().sign()));
    o.of_bits(o.ixor(o.bits(y), sign))
}

/// 2^k for an integer in the range of normal exponents.
#[inline(always)]
pub(super) fn power_of_two<O: Ops>(o: &O, k: O::F) -> O::F {
    let format = o.format();
    // The low bits of the sum are k with the bias; the shift drops the others.
    let biased = o.add(k, o.float(format.magic + format.bias as f64));
    o.of_bits(o.shl(o.bits(biased), format.stored))
}

/// `y · 2^k` for an integer, rounded once, where `y` is about 1. In two steps, because 2^k may be
/// too large or too small for a normal float though the result is not.
#[inline(always)]
pub(super) fn scale<O: Ops>(o: &O, y: O::F, k: O::F) -> O::F {
    let magic = o.float(o.format().magic);
    let half = o.sub(o.fma(k, o.float(0.5), magic), magic);
    let rest = o.sub(k, half);
    o.mul(o.mul(y, power_of_two(o, half)), power_of_two(o, rest))
}
