//! `asin`, `acos` and `atan`.

use super::Ops;
use super::double::{at_most, fast_two_sum, polynomial, two_sum, with_sign};

/// The arc sine; outside [-1, 1] NaN. Largest error measured: 0.61 ulp, at 32 bits 0.63.
#[inline(always)]
pub fn asin<O: Ops>(o: &O, x: O::F) -> O::F {
    let [half_pi, half_pi_low, _] = o.format().coefficients.half_pi;
    let zero = o.float(0.0);
    let a = o.abs(x);
    let arc = arc(o, a);
    let base = o.select(arc.near, zero, o.float(half_pi));
    let base_low = o.select(arc.near, zero, o.float(half_pi_low));
    let t = o.select(arc.near, a, o.neg(arc.chord));
    let t_low = o.select(arc.near, zero, o.neg(arc.chord_low));
    with_sign(o, finish(o, (base, base_low), (t, t_low), arc.relative), o.bits(x))
}

/// The arc cosine; outside [-1, 1] NaN. Largest error measured: 0.59 ulp, at 32 bits 0.61.
#[inline(always)]
pub fn acos<O: Ops>(o: &O, x: O::F) -> O::F {
    let [half_pi, half_pi_low, _] = o.format().coefficients.half_pi;
    let zero = o.float(0.0);
    let arc = arc(o, o.abs(x));
    let negative = o.lt(x, zero);
    let choose = |near, left, right| o.select(arc.near, near, o.select(negative, left, right));
    let base = choose(o.float(half_pi), o.float(2.0 * half_pi), zero);
    let base_low = choose(o.float(half_pi_low), o.float(2.0 * half_pi_low), zero);
    let t = choose(o.neg(x), o.neg(arc.chord), arc.chord);
    let t_low = choose(zero, o.neg(arc.chord_low), arc.chord_low);
    finish(o, (base, base_low), (t, t_low), arc.relative)
}

/// The parts of an arc, given the magnitude of its sine.
struct Arc<F, B> {
    /// The magnitude is below ½: asin(t) = t (1 + relative) with t the magnitude. Otherwise
    /// asin(t) = π/2 - chord (1 + relative).
    near: B,
    chord: F,
    chord_low: F,
    relative: F,
}

/// asin t = t + t³ P(t²) up to ½; above, asin t = π/2 - 2 asin √((1-t)/2).
#[inline(always)]
fn arc<O: Ops>(o: &O, t: O::F) -> Arc<O::F, O::B> {
    let (zero, half) = (o.float(0.0), o.float(0.5));
    let near = o.lt(t, half);
    let z = o.select(near, o.mul(t, t), o.fma(o.neg(half), t, half));
    let root = o.sqrt(z);
    // The chord is twice the root; what the root lacks is half its remainder over it.
    let remainder = o.fma(o.neg(root), root, z);
    let divisor = o.select(o.lt(zero, root), root, o.float(1.0));
    Arc {
        near,
        chord: o.add(root, root),
        chord_low: o.div(remainder, divisor),
        relative: o.mul(z, polynomial(o, o.format().coefficients.asin, z)),
    }
}

/// `base + t + t · relative`, where the base is zero or larger than `t`.
#[inline(always)]
fn finish<O: Ops>(o: &O, base: (O::F, O::F), t: (O::F, O::F), relative: O::F) -> O::F {
    let tail = o.fma(t.0, relative, t.1);
    let (high, low) = fast_two_sum(o, base.0, t.0);
    o.add(high, o.add(low, o.add(base.1, tail)))
}

/// The arc tangent. Largest error measured: 0.61 ulp, at 32 bits 0.65.
///
/// atan t = t + t³ P(t²) up to tan(π/8); up to tan(3π/8) it is π/4 + atan((t-1) / (t+1)), above
/// π/2 + atan(-1/t).
#[inline(always)]
pub fn atan<O: Ops>(o: &O, x: O::F) -> O::F {
    let (format, c) = (o.format(), &o.format().coefficients);
    let (zero, one) = (o.float(0.0), o.float(1.0));
    let a = at_most(o, o.abs(x), format.atan_most);
    let near = o.lt(a, o.float(0.4140625));
    let far = o.lt(o.float(2.4140625), a);
    let choose = |in_near, between, in_far| o.select(far, in_far, o.select(near, in_near, between));

    let less = two_sum(o, a, o.float(-1.0));
    let more = two_sum(o, a, one);
    let above = (choose(a, less.0, o.float(-1.0)), choose(zero, less.1, zero));
    let below = (choose(one, more.0, a), choose(zero, more.1, zero));
    let inverse = o.div(one, below.0);
    let t = o.mul(above.0, inverse);
    let minus = o.neg(t);
    let rest = o.add(o.fma(minus, below.0, above.0), o.fma(minus, below.1, above.1));
    let t_low = o.mul(rest, inverse);

    let [half_pi, half_pi_low, _] = c.half_pi;
    let base = choose(zero, o.float(half_pi / 2.0), o.float(half_pi));
    let base_low = choose(zero, o.float(half_pi_low / 2.0), o.float(half_pi_low));
    let z = o.mul(t, t);
    // atan'(t) · t_low is nearly (1 - t²) · t_low.
    let t_low = o.fma(o.neg(z), t_low, t_low);
    let relative = o.mul(z, polynomial(o, c.atan, z));
    with_sign(o, finish(o, (base, base_low), (t, t_low), relative), o.bits(x))
}
