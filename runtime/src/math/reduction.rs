//! Angles reduced by multiples of π / 2.

use super::Ops;
use super::double::{fast_two_sum, power_of_two, two_product, two_sum};
use super::format::pow2;

/// An angle `quadrant · π/2 + high + low`, the rest about π / 4 at most.
pub(super) struct Reduced<F, I> {
    /// The quadrant stands in the lowest two bits.
    pub(super) quadrant: I,
    pub(super) high: F,
    pub(super) low: F,
}

/// Reduces `a ≥ 0`. An infinity becomes NaN.
#[inline(always)]
pub(super) fn reduce<O: Ops>(o: &O, a: O::F) -> Reduced<O::F, O::I> {
    let format = o.format();
    let huge = o.lt(o.float(format.angle_most), a);
    let [n, high, low] = o.when(huge, reduce_small(o, a), |o| o.reduce_huge(a));
    Reduced { quadrant: o.bits(o.add(n, o.float(format.magic))), high, low }
}

/// By Cody and Waite: π / 2 is three floats, and n · π / 2 is subtracted from the front.
#[inline(always)]
fn reduce_small<O: Ops>(o: &O, a: O::F) -> [O::F; 3] {
    let (format, c) = (o.format(), &o.format().coefficients);
    let magic = o.float(format.magic);
    let n = o.sub(o.fma(a, o.float(c.two_over_pi), magic), magic);
    let minus_n = o.neg(n);
    // Exact: a multiple of the last place of π / 2, and below 1.
    let coarse = o.fma(minus_n, o.float(c.half_pi[0]), a);
    let (second, second_low) = two_product(o, minus_n, o.float(c.half_pi[1]));
    let (high, low) = two_sum(o, coarse, second);
    let low = o.add(low, second_low);
    [n, high, o.fma(minus_n, o.float(c.half_pi[2]), low)]
}

/// Reduces a huge `a`: the number of quarter turns, of which the lowest two bits matter, and two parts of the rest.
///
/// By Payne and Hanek. a = m · 2^(d k), m an integer, d the length of a digit of 2 / π. Of
/// a · 2 / π = Σ m · digit(i) · 2^(d (k - i - 1)) the terms with i < k - 1 are multiples of 4,
/// whole turns; of the others six are enough for the whole precision even where the sum almost
/// vanishes.
#[inline(always)]
pub fn reduce_huge<O: Ops>(o: &O, a: O::F) -> [O::F; 3] {
    let (format, c) = (o.format(), &o.format().coefficients);
    let magic = o.float(format.magic);
    let digit = format.digit as f64;

    // The exponent of the last place of a, and 1 + the floor of its quotient by d.
    let binade = pow2(i64::from(format.stored));
    let biased = o.iadd(o.shr(o.bits(a), format.stored), o.int(format.bits_of(binade)));
    let bias = binade + (format.bias + i64::from(format.stored)) as f64;
    let exponent = o.sub(o.of_bits(biased), o.float(bias));
    let per_digit = o.float(representable(format.bits, 1.0 / digit));
    let middle = o.float(representable(format.bits, 1.0 - (digit - 1.0) / (2.0 * digit)));
    let first = o.add(o.fma(exponent, per_digit, middle), magic);
    let k = o.sub(o.sub(first, magic), o.float(1.0));
    let m = o.mul(a, power_of_two(o, o.mul(k, o.float(-digit))));
    let digits = window(o, c.two_over_pi_digits, o.bits(first));

    let mut terms = [o.float(0.0); 12];
    for (i, (place, digit)) in
        [5, 4, 3, 2, 1, 0].into_iter().zip(digits.into_iter().rev()).enumerate()
    {
        let shifted = o.mul(m, o.float(pow2(-format.digit * place)));
        let (high, low) = two_product(o, shifted, digit);
        terms[2 * i] = fraction(o, low);
        terms[2 * i + 1] = fraction(o, high);
    }
    distil(o, &mut terms);
    let n = o.sub(o.add(terms[11], magic), magic);
    terms[11] = o.sub(terms[11], n);
    distil(o, &mut terms);
    distil(o, &mut terms);
    let [small @ .., high] = terms;
    let low = small.into_iter().reduce(|sum, term| o.add(sum, term)).unwrap_or(high);

    // Times π / 2.
    let (high, low) = fast_two_sum(o, high, low);
    let half_pi = o.float(c.half_pi[0]);
    let (product, rest) = two_product(o, high, half_pi);
    let rest = o.fma(high, o.float(c.half_pi[1]), rest);
    let rest = o.fma(low, half_pi, rest);
    // NaN if a is infinite.
    let (high, low) = fast_two_sum(o, o.add(product, o.sub(a, a)), rest);
    [n, high, low]
}

/// `digits[first..first + 6]`, by halving: no memory, so that it works in registers of vectors.
#[inline(always)]
fn window<O: Ops>(o: &O, digits: &[f64], first: O::I) -> [O::F; 6] {
    let mut left = [o.float(0.0); 32];
    for (to, &digit) in left.iter_mut().zip(digits) {
        *to = o.float(digit);
    }
    let last = digits.len() - 6;
    for step in [16, 8, 4, 2, 1].into_iter().filter(|step| *step <= last) {
        let here = o.test(first, step as i64);
        for i in 0..(5 + step).min(digits.len() - step) {
            left[i] = o.select(here, left[i + step], left[i]);
        }
    }
    let [a, b, c, d, e, f, ..] = left;
    [a, b, c, d, e, f]
}

/// `x` less a multiple of 4, exactly; at most 4 in magnitude. Where `x ≥ 2^(p+1)` for a precision
/// of p bits it is a multiple of 4 itself.
#[inline(always)]
fn fraction<O: Ops>(o: &O, x: O::F) -> O::F {
    let precision = i64::from(o.format().stored) + 1;
    let magic = o.float(1.5 * pow2(precision + 2));
    let rounded = o.sub(o.add(x, magic), magic);
    let small = o.lt(o.abs(x), o.float(pow2(precision + 1)));
    o.select(small, o.sub(x, rounded), o.float(0.0))
}

/// Moves the sum towards the last term, exactly.
#[inline(always)]
fn distil<O: Ops>(o: &O, terms: &mut [O::F; 12]) {
    for i in 1..terms.len() {
        let (sum, rest) = two_sum(o, terms[i], terms[i - 1]);
        (terms[i], terms[i - 1]) = (sum, rest);
    }
}

/// The nearest number of the format.
#[inline(always)]
const fn representable(bits: u32, x: f64) -> f64 {
    if bits == 64 { x } else { x as f32 as f64 }
}
