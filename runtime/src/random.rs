//! The counter-based random numbers: one seed determines every number, whatever the order.
//!
//! There is no state. A *key* names a place in the running program; a program is given one key
//! and everything inside it gets its own by [`split`], as a tree: position in the function,
//! instance of the nest, call. A draw is a function of the session's seed and a key only, so
//! work items may run in any order, on any device, in any number of threads.
//!
//! The function is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy
//! as 1, 2, 3*, SC 2011). It was chosen over mixing in the manner of SplitMix because a key tree
//! needs what a block cipher promises (related keys and consecutive counters give unrelated
//! blocks, tested by its authors against BigCrush) and because it uses 32-bit multiplications
//! only, which a GPU does natively. `split` and draws use different counters, so a key's children
//! say nothing about the number drawn with it.
//!
//! At 32 bits keys are cut to 32 bits as every int is. The tree stays sound; among 2¹⁶ keys two
//! are then likely to be equal, which is how often two 32-bit random numbers are equal anyway.

use crate::fault::FaultCode;
use crate::precision::Precision;

/// The purpose of a block: the third word of its counter.
#[derive(Clone, Copy)]
enum Purpose {
    Split = 1,
    Draw = 2,
}

/// The key of the `i`-th child of a key.
pub fn split(key: i64, i: i64) -> i64 {
    block(key as u64, i as u64, Purpose::Split) as i64
}

/// A uniform int in `[0, bound)` drawn with `key`; faults unless `bound > 0`.
pub fn draw_int(seed: u64, key: i64, bound: i64, precision: Precision) -> Result<i64, FaultCode> {
    if bound <= 0 {
        return Err(FaultCode::RandBound);
    }
    Ok(precision.wrap(uniform_int(bits(seed, key), bound)))
}

/// A uniform float in `[0, bound)` drawn with `key`; faults unless `bound > 0` and finite.
pub fn draw_float(seed: u64, key: i64, bound: f64, precision: Precision) -> Result<f64, FaultCode> {
    if !(bound > 0.0 && bound.is_finite()) {
        return Err(FaultCode::RandBound);
    }
    Ok(uniform_float(bits(seed, key), bound, precision))
}

/// 128 random bits for a seed and a key.
pub fn bits(seed: u64, key: i64) -> u128 {
    block(seed, key as u64, Purpose::Draw)
}

/// An int in `[0, bound)` from 128 random bits, as `bits * bound / 2¹²⁸`: no int is likelier than
/// another by more than one in 2⁶⁴. `bound` is positive.
pub fn uniform_int(bits: u128, bound: i64) -> i64 {
    let bound = bound as u128;
    let (high, low) = (bits >> 64, bits & u128::from(u64::MAX));
    ((high * bound + ((low * bound) >> 64)) >> 64) as i64
}

/// A float in `[0, bound)` from 128 random bits: a multiple of 2⁻⁵³ (2⁻²⁴ at 32 bits) times
/// `bound`. `bound` is positive and finite.
pub fn uniform_float(bits: u128, bound: f64, precision: Precision) -> f64 {
    match precision {
        Precision::Bits64 => {
            let unit = (bits >> (128 - 53)) as f64 * f64::powi(2.0, -53);
            // Among the subnormal numbers the product may round up to the bound.
            (unit * bound).min(bound.next_down())
        }
        Precision::Bits32 => {
            let unit = (bits >> (128 - 24)) as f32 * f32::powi(2.0, -24);
            let bound = bound as f32;
            f64::from((unit * bound).min(bound.next_down()))
        }
    }
}

/// A well-mixed function of two ints, for hashing. 64-bit arithmetic whatever the precision.
pub fn mix(a: i64, b: i64) -> i64 {
    // The finaliser of SplitMix64, applied to one operand and then to both: each is a bijection
    // in which every input bit flips every output bit with probability one half.
    let b = finalise((b as u64).wrapping_add(0x9e37_79b9_7f4a_7c15));
    finalise((a as u64).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ b.rotate_left(23)) as i64
}

fn finalise(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn block(key: u64, counter: u64, purpose: Purpose) -> u128 {
    let words = philox(
        [key as u32, (key >> 32) as u32],
        [counter as u32, (counter >> 32) as u32, purpose as u32, 0],
    );
    words.iter().rev().fold(0, |sum, word| sum << 32 | u128::from(*word))
}

/// The generator Philox4x32-10.
fn philox(mut key: [u32; 2], mut counter: [u32; 4]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key[0] = key[0].wrapping_add(0x9e37_79b9);
            key[1] = key[1].wrapping_add(0xbb67_ae85);
        }
        let a = u64::from(counter[0]) * 0xd251_1f53;
        let b = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The known answers that its authors publish with their implementation (Random123).
    #[test]
    fn philox_gives_the_published_answers() {
        assert_eq!(philox([0, 0], [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 2], [u32::MAX; 4]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0xa409_3822, 0x299f_31d0],
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    /// Programs' results are pinned by these: changing them changes what a seed means.
    #[test]
    fn golden_numbers() {
        let ints: Vec<i64> =
            (0..8).map(|key| draw_int(0, key, 100, Precision::Bits64).unwrap()).collect();
        expect_test::expect![[r#"
            (
                [
                    46,
                    42,
                    57,
                    67,
                    86,
                    86,
                    89,
                    85,
                ],
                -1113111854248028703,
                -2754094186855860578,
                7935632083730034190,
                0.6646067234137538,
                0.6646066904067993,
                2034870721714406584,
                -6762882781974282216,
                3496360870923246597,
            )
        "#]]
        .assert_debug_eq(&(
            ints,
            split(0, 0),
            split(0, 1),
            split(split(0, 1), 7),
            draw_float(42, 1, 1.0, Precision::Bits64).unwrap(),
            draw_float(42, 1, 1.0, Precision::Bits32).unwrap(),
            mix(0, 0),
            mix(1, 2),
            mix(2, 1),
        ));
    }

    /// Pearson's statistic over `cells` equally likely cells.
    fn chi_squared(counts: &[u32]) -> f64 {
        let total: u32 = counts.iter().sum();
        let expected = f64::from(total) / counts.len() as f64;
        counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
    }

    /// Asserts that counts look uniform. The statistic has mean `k` and variance `2k` for `k`
    /// degrees of freedom; five deviations is never by chance, and the numbers are fixed anyway.
    fn assert_uniform(counts: &[u32]) {
        let freedom = counts.len() as f64 - 1.0;
        let off = (chi_squared(counts) - freedom) / (2.0 * freedom).sqrt();
        assert!(off.abs() < 5.0, "{off} deviations from uniform");
    }

    #[test]
    fn siblings_are_uniform_and_independent() {
        let mut singles = vec![0; 100];
        let mut pairs = vec![0; 100];
        let mut last = 0;
        for i in 0..100_000 {
            let key = split(split(17, 3), i);
            let x = draw_int(5, key, 100, Precision::Bits64).unwrap() as usize;
            singles[x] += 1;
            pairs[(x % 10) * 10 + last] += 1;
            last = x % 10;
        }
        assert_uniform(&singles);
        assert_uniform(&pairs);
    }

    #[test]
    fn keys_of_32_bits_do_as_well() {
        let mut counts = vec![0; 64];
        for i in 0..100_000 {
            let key = Precision::Bits32.wrap(split(Precision::Bits32.wrap(split(1, 2)), i));
            counts[draw_int(0, key, 64, Precision::Bits32).unwrap() as usize] += 1;
        }
        assert_uniform(&counts);
    }

    #[test]
    fn floats_fill_the_unit_interval() {
        let mut counts = vec![0; 50];
        for key in 0..50_000 {
            let x = draw_float(9, key, 1.0, Precision::Bits64).unwrap();
            counts[(x * 50.0) as usize] += 1;
        }
        assert_uniform(&counts);
    }

    #[test]
    fn mixing_flips_half_the_bits() {
        let mut flips = 0;
        for bit in 0..64 {
            for a in 0..100 {
                flips += (mix(a, 1) ^ mix(a ^ (1 << bit), 1)).count_ones();
                flips += (mix(1, a) ^ mix(1, a ^ (1 << bit))).count_ones();
            }
        }
        let share = f64::from(flips) / (64.0 * 64.0 * 200.0);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }

    #[test]
    fn bounds_are_checked() {
        for bound in [0, -1, i64::MIN] {
            assert_eq!(draw_int(0, 0, bound, Precision::Bits64), Err(FaultCode::RandBound));
        }
        for bound in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(draw_float(0, 0, bound, Precision::Bits64), Err(FaultCode::RandBound));
        }
    }

    proptest! {
        #[test]
        fn ints_stay_below_the_bound(bits: u128, bound in 1..=i64::MAX) {
            prop_assert!((0..bound).contains(&uniform_int(bits, bound)));
            prop_assert_eq!(uniform_int(u128::MAX, bound), bound - 1);
            prop_assert_eq!(uniform_int(0, bound), 0);
        }

        #[test]
        fn floats_stay_below_the_bound(bits: u128, bound in proptest::num::f64::POSITIVE) {
            for bits in [bits, u128::MAX] {
                prop_assert!((0.0..bound).contains(&uniform_float(bits, bound, Precision::Bits64)));
                let small = bound as f32;
                if small > 0.0 && small.is_finite() {
                    let small = f64::from(small);
                    let x = uniform_float(bits, small, Precision::Bits32);
                    prop_assert!((0.0..small).contains(&x));
                    prop_assert_eq!(x, f64::from(x as f32));
                }
            }
        }
    }
}
