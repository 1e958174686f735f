//! `exp` and `ln`.

use super::Ops;
use super::double::{at_most, fast_two_sum, polynomial, polynomial_by_halves, scale};
use super::format::pow2;

/// e^x. Largest error measured: 0.77 ulp, at 32 bits 0.77; that is where the result is subnormal
/// and rounded twice, elsewhere it is 0.66.
#[inline(always)]
pub fn exp<O: Ops>(o: &O, x: O::F) -> O::F {
    let format = o.format();
    let x = at_most(o, x, format.exp_most);
    let least = o.float(format.exp_least);
    let x = o.select(o.lt(x, least), least, x);
    let e = exp_parts(o, x);
    scale(o, o.add(e.high, e.low), e.exponent)
}

/// e^x as `2^exponent · (high + low)`; the sum is in [√½, √2] and precise to some bits more than
/// a float. The low part is up to a sixteenth.
pub(super) struct Parts<F> {
    pub(super) exponent: F,
    pub(super) high: F,
    pub(super) low: F,
}

/// e^x = 2^k · e^r, r = x - k · ln 2, and e^r = 1 + r + r² P(r).
#[inline(always)]
pub(super) fn exp_parts<O: Ops>(o: &O, x: O::F) -> Parts<O::F> {
    let (format, c) = (o.format(), &o.format().coefficients);
    let magic = o.float(format.magic);
    let k = o.sub(o.fma(x, o.float(c.log2_e), magic), magic);
    let minus_k = o.neg(k);
    // Exact: a multiple of the last place of ln 2, and smaller than it.
    let coarse = o.fma(minus_k, o.float(c.ln2[0]), x);
    let ln2_low = o.float(c.ln2[1]);
    let r = o.fma(minus_k, ln2_low, coarse);
    let r_low = o.fma(minus_k, ln2_low, o.sub(coarse, r));
    let square = o.mul(r, r);
    let tail = o.fma(square, polynomial_by_halves(o, c.exp, r, square), r_low);
    let (high, low) = fast_two_sum(o, o.float(1.0), r);
    Parts { exponent: k, high, low: o.add(low, tail) }
}

/// The natural logarithm; of a negative number NaN, of zeros -∞. Largest error measured: 0.63
/// ulp, at 32 bits 0.66.
///
/// x = 2^k (1 + f) with 1 + f in [√½, √2), and with s = f / (2 + f)
/// ln(1 + f) = f - f²/2 + s (f²/2 + s² P(s²)).
#[inline(always)]
pub fn ln<O: Ops>(o: &O, x: O::F) -> O::F {
    let (format, c) = (o.format(), &o.format().coefficients);
    let zero = o.float(0.0);
    let subnormal = o.lt(x, o.float(format.least_normal));
    let lift = i64::from(format.stored) + 2;
    let normal = o.select(subnormal, o.mul(x, o.float(pow2(lift))), x);
    let lifted = o.select(subnormal, o.float(lift as f64), zero);

    // Moved so that the exponent steps at √½, not at 1.
    let root_half = format.bits_of(c.root_half);
    let moved = o.iadd(o.bits(normal), o.int(format.bits_of(1.0) - root_half));
    let binade = pow2(i64::from(format.stored));
    let biased = o.iadd(o.shr(moved, format.stored), o.int(format.bits_of(binade)));
    let k = o.sub(o.of_bits(biased), o.float(binade + format.bias as f64));
    let k = o.sub(k, lifted);
    let significand = o.iand(moved, o.int((1 << format.stored) - 1));
    let f = o.sub(o.of_bits(o.iadd(significand, o.int(root_half))), o.float(1.0));

    let s = o.div(f, o.add(f, o.float(2.0)));
    let z = o.mul(s, s);
    let square = o.mul(f, f);
    let square_low = o.fma(f, f, o.neg(square));
    let half = o.float(0.5);
    let half_square = o.mul(half, square);
    let tail = o.mul(s, o.fma(z, polynomial(o, c.ln, z), half_square));
    let tail = o.fma(k, o.float(c.ln2_short[1]), tail);
    let tail = o.fma(o.neg(half), square_low, tail);
    // k · ln 2 + f - f²/2, exactly.
    let (high, low) = fast_two_sum(o, o.mul(k, o.float(c.ln2_short[0])), f);
    let (high, lower) = fast_two_sum(o, high, o.neg(half_square));
    let result = o.add(high, o.add(lower, o.add(low, tail)));

    // Infinity and NaN are their own logarithms.
    let result = o.select(o.lt(x, o.float(f64::INFINITY)), result, x);
    let special = o.add(x, o.float(f64::NEG_INFINITY));
    let special = o.select(o.lt(x, zero), o.float(f64::NAN), special);
    o.select(o.lt(zero, x), result, special)
}
