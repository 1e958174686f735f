//! 32 bits against 64.

use super::*;

/// The distance of `got` from `truth`, in units in the last place at 32 bits.
fn error(got: f32, truth: f64) -> f64 {
    let rounded = truth as f32;
    if got.is_nan() || truth.is_nan() {
        return if got.is_nan() && truth.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == rounded && (got.is_infinite() || got == 0.0) {
        return if got.is_sign_negative() == truth.is_sign_negative() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // An infinity counts as the number after the largest.
    let got = if got.is_infinite() { 2f64.powi(128).copysign(got.into()) } else { f64::from(got) };
    let exponent = ((truth.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    ((got - truth) / 2f64.powi(exponent.clamp(-126, 127) - 23)).abs()
}

/// The largest error over the given bit patterns, and where it is.
fn worst(function: Function, patterns: impl Iterator<Item = u32>) -> (f64, f32) {
    patterns.map(f32::from_bits).fold((0.0, 0.0), |worst, x| {
        let error = error(evaluate32(function, x), evaluate64(function, x.into()));
        if error > worst.0 { (error, x) } else { worst }
    })
}

fn check(function: Function, patterns: impl Iterator<Item = u32>) {
    let (error, x) = worst(function, patterns);
    println!("{function:?}: {error:.3} ulp at {x:e}");
    assert!(error < BOUND, "{function:?}({x:e}): {error} ulp");
}

#[test]
fn one_in_two_thousand() {
    for function in Function::ALL {
        check(function, (0..=u32::MAX).step_by(2003));
    }
}

#[test]
#[ignore = "takes minutes"]
fn all_of_them() {
    for function in Function::ALL {
        check(function, 0..=u32::MAX);
    }
}
