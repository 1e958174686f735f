//! The random numbers.
//!
//! Counter-based: a number is a pure function of a *key*, and keys are made from keys, so that
//! whatever runs in whatever order on whatever backend draws the same numbers. The mixing is that
//! of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): two multiplications and three shifts, which
//! passes the usual batteries as a counter-based generator and costs a GPU next to nothing.

use crate::fault::FaultCode;
use crate::scalar::{Precision, Scalar};

/// The golden ratio in 64 bits: keeps close keys apart before they are mixed.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection in which every bit depends on every bit.
fn finalise(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A good mix of two ints, for hashing: not symmetric, and `mix(a, b)` is a bijection in `a`.
pub fn mix(a: i64, b: i64) -> i64 {
    finalise((a as u64).wrapping_add(finalise((b as u64).wrapping_add(GOLDEN)))) as i64
}

/// The key of the `i`-th child of a key.
pub fn split(key: i64, i: i64) -> i64 {
    mix(key, (i as u64).wrapping_mul(GOLDEN) as i64)
}

/// The key from which the numbers of one run derive: that of a run of a seeded session.
pub fn root(seed: u64, run: i64) -> i64 {
    split(mix(seed as i64, 0x6e65_736c), run)
}

/// A uniform int in `[0, bound)`, drawn from a key. The bias is below `bound / 2^64`.
pub fn int_below(key: i64, bound: i64) -> Result<Scalar, FaultCode> {
    if bound <= 0 {
        return Err(FaultCode::RandBound);
    }
    let wide = u128::from(finalise((key as u64) ^ GOLDEN)) * (bound as u128);
    Ok(Scalar::Int((wide >> 64) as i64))
}

/// A uniform float in `[0, bound)`, drawn from a key: 53 (or 24) random bits.
pub fn float_below(key: i64, bound: f64, precision: Precision) -> Result<Scalar, FaultCode> {
    if bound.is_nan() || bound <= 0.0 {
        return Err(FaultCode::RandBound);
    }
    let raw = finalise((key as u64) ^ GOLDEN);
    let value = match precision {
        Precision::Bits64 => (raw >> 11) as f64 / (1u64 << 53) as f64 * bound,
        Precision::Bits32 => {
            let unit = (raw >> 40) as f32 / (1u32 << 24) as f32;
            f64::from(unit * bound as f32)
        }
    };
    // The product can round up to the bound.
    Ok(Scalar::Float(if value < bound { value } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_pinned() {
        let drawn: Vec<Scalar> =
            (0..5).map(|i| int_below(split(root(1, 0), i), 100).unwrap()).collect();
        let again: Vec<Scalar> =
            (0..5).map(|i| int_below(split(root(1, 0), i), 100).unwrap()).collect();
        assert_eq!(drawn, again);
        assert_ne!(mix(1, 2), mix(2, 1));
    }

    #[test]
    fn uniform_enough() {
        let mut counts = [0usize; 10];
        let mut sum = 0.0;
        for i in 0..100_000 {
            let key = split(root(7, 3), i);
            match int_below(key, 10) {
                Ok(Scalar::Int(n)) => counts[n as usize] += 1,
                other => panic!("{other:?}"),
            }
            match float_below(key, 1.0, Precision::Bits64) {
                Ok(Scalar::Float(x)) => sum += x,
                other => panic!("{other:?}"),
            }
        }
        assert!(counts.iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
        assert!((sum / 100_000.0 - 0.5).abs() < 0.005);
    }

    #[test]
    fn bounds_are_checked() {
        assert_eq!(int_below(1, 0), Err(FaultCode::RandBound));
        assert_eq!(float_below(1, f64::NAN, Precision::Bits64), Err(FaultCode::RandBound));
    }
}
