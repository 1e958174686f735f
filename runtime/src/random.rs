//! The counter-based random numbers: one seed determines every number, whatever the order.
//!
//! There is no state. A *key* names a call or a nest in the running program; a program is given one
//! key, and calls and nests inside it get their own by [`split`], as a tree. Inside a nest the
//! iterations share its key and are told apart by their *index*; what is drawn or split in one
//! iteration is told apart by its *number* in the text. A draw is a function of the session's seed,
//! a key, an index and a number, and costs one call of the generator. Work items may run in any
//! order, on any device, in any number of threads.
//!
//! The generator is Philox2x64-10 (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy
//! as 1, 2, 3*, SC 2011). It was chosen over mixing in the manner of SplitMix because a key tree
//! needs what a block cipher promises (related keys and consecutive counters give unrelated
//! blocks, tested by its authors against BigCrush), and over the variant of four words of 32 bits
//! because it takes half as many multiplications for the 128 bits of a draw.
//!
//! Splits and draws use different counters, so a key's children say nothing about the numbers drawn
//! with it. The seed is mixed into the key: equal keys under two seeds are as different as two keys.
//!
//! At 32 bits keys are cut to 32 bits as every int is. The tree stays sound; among 2¹⁶ keys two
//! are then likely to be equal, which is how often two 32-bit random numbers are equal anyway.

use crate::fault::FaultCode;
use crate::precision::Precision;

/// The source of a random number: a key, the index of an iteration, and the number of a draw in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The key of the nest or call.
    pub key: i64,
    /// The index of the iteration in the nest; 0 outside of nests.
    pub index: i64,
    /// The number of the draw, call or nest in the text; not negative.
    pub number: i64,
}

/// The key of a call or nest inside an iteration.
pub fn split(source: Source) -> i64 {
    // The words of draws are never negative.
    philox(source.key as u64, [source.index as u64, !source.number as u64])[1] as i64
}

/// A uniform int in `[0, bound)`; faults unless `bound > 0`.
pub fn draw_int(
    seed: u64,
    source: Source,
    bound: i64,
    precision: Precision,
) -> Result<i64, FaultCode> {
    if bound <= 0 {
        return Err(FaultCode::RandBound);
    }
    Ok(precision.wrap(uniform_int(draw(seed, source), bound)))
}

/// A uniform float in `[0, bound)`; faults unless `bound > 0` and finite.
pub fn draw_float(
    seed: u64,
    source: Source,
    bound: f64,
    precision: Precision,
) -> Result<f64, FaultCode> {
    if !(bound > 0.0 && bound.is_finite()) {
        return Err(FaultCode::RandBound);
    }
    Ok(uniform_float(draw(seed, source), bound, precision))
}

/// The 128 random bits of a draw.
fn draw(seed: u64, source: Source) -> u128 {
    let key = source.key as u64 ^ mixed_seed(seed);
    let [low, high] = philox(key, [source.index as u64, source.number as u64]);
    u128::from(high) << 64 | u128::from(low)
}

/// Returns the bits by which a seed changes keys.
pub fn mixed_seed(seed: u64) -> u64 {
    finalise(seed.wrapping_add(GOLDEN))
}

/// 128 random bits for a seed and a number, for tests that need some.
pub fn bits(seed: u64, number: i64) -> u128 {
    draw(seed, Source { key: 0, index: number, number: 0 })
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
    let b = finalise((b as u64).wrapping_add(GOLDEN));
    finalise((a as u64).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ b.rotate_left(23)) as i64
}

fn finalise(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The fraction of the golden ratio, in 64 bits: the distance of the keys of Philox's rounds.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The multiplier of Philox2x64.
pub const MULTIPLIER: u64 = 0xd2b7_4407_b1ce_6e93;

/// The number of rounds of Philox.
pub const ROUNDS: u64 = 10;

/// The generator Philox2x64-10.
fn philox(key: u64, counter: [u64; 2]) -> [u64; 2] {
    (0..ROUNDS).fold(counter, |[first, second], round| {
        let product = u128::from(first) * u128::from(MULTIPLIER);
        let key = key.wrapping_add(round.wrapping_mul(GOLDEN));
        [(product >> 64) as u64 ^ key ^ second, product as u64]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The known answers that its authors publish with their implementation (Random123).
    #[test]
    fn philox_gives_the_published_answers() {
        assert_eq!(philox(0, [0; 2]), [0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5]);
        assert_eq!(philox(u64::MAX, [u64::MAX; 2]), [0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20]);
        assert_eq!(
            philox(0xa409_3822_299f_31d0, [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344]),
            [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d]
        );
    }

    fn source(key: i64, index: i64, number: i64) -> Source {
        Source { key, index, number }
    }

    /// Programs' results are pinned by these: changing them changes what a seed means.
    #[test]
    fn golden_numbers() {
        let ints: Vec<i64> =
            (0..8).map(|i| draw_int(0, source(1, i, 0), 100, Precision::Bits64).unwrap()).collect();
        expect_test::expect![[r#"
            (
                [
                    83,
                    67,
                    12,
                    90,
                    42,
                    81,
                    79,
                    8,
                ],
                -7100163768122001922,
                1604908305044595830,
                -6089084268976092825,
                0.9694244700343742,
                0.9694244265556335,
                2034870721714406584,
                -6762882781974282216,
                3496360870923246597,
            )
        "#]]
        .assert_debug_eq(&(
            ints,
            split(source(0, 0, 0)),
            split(source(0, 0, 1)),
            split(source(split(source(0, 1, 0)), 7, 0)),
            draw_float(42, source(1, 2, 3), 1.0, Precision::Bits64).unwrap(),
            draw_float(42, source(1, 2, 3), 1.0, Precision::Bits32).unwrap(),
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
            let key = split(source(17, 3, 0));
            let x = draw_int(5, source(key, i, 0), 100, Precision::Bits64).unwrap() as usize;
            singles[x] += 1;
            pairs[(x % 10) * 10 + last] += 1;
            last = x % 10;
        }
        assert_uniform(&singles);
        assert_uniform(&pairs);
    }

    /// Two draws of one iteration, and the draws of two seeds, say nothing about each other.
    #[test]
    fn draws_of_an_iteration_and_seeds_are_independent() {
        let mut pairs = vec![0; 100];
        let mut seeds = vec![0; 100];
        for i in 0..100_000 {
            let draw = |seed, key, number| {
                draw_int(seed, source(key, i, number), 10, Precision::Bits64).unwrap() as usize
            };
            pairs[draw(0, 1, 0) * 10 + draw(0, 1, 1)] += 1;
            seeds[draw(1, 2, 0) * 10 + draw(2, 1, 0)] += 1;
        }
        assert_uniform(&pairs);
        assert_uniform(&seeds);
    }

    #[test]
    fn keys_of_32_bits_do_as_well() {
        let mut counts = vec![0; 64];
        for i in 0..100_000 {
            let key = Precision::Bits32.wrap(split(source(1, i, 2)));
            counts[draw_int(0, source(key, 0, 0), 64, Precision::Bits32).unwrap() as usize] += 1;
        }
        assert_uniform(&counts);
    }

    #[test]
    fn floats_fill_the_unit_interval() {
        let mut counts = vec![0; 50];
        for key in 0..50_000 {
            let x = draw_float(9, source(0, 0, key), 1.0, Precision::Bits64).unwrap();
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
            assert_eq!(
                draw_int(0, source(0, 0, 0), bound, Precision::Bits64),
                Err(FaultCode::RandBound)
            );
        }
        for bound in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                draw_float(0, source(0, 0, 0), bound, Precision::Bits64),
                Err(FaultCode::RandBound)
            );
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
