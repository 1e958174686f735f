//! The first bucket of a word.
//!
//! Buckets should hold about as many words each. A few words are looked at, and of the ways to
//! make buckets that is taken which spreads these best: by the highest bits of words, or, for
//! floats, whose words crowd together, by where they lie on a line; from the least to the greatest
//! there is, or without what lies far outside. Sorting goes on within the buckets, so that a bad
//! choice costs time only.

use super::words::{Key, Plain, Word};

/// The number of words that a bucket should hold, as a power of two.
const FULL: u32 = 10;

/// The bits of the number of buckets.
const BITS: std::ops::RangeInclusive<u32> = 5..=11;

/// A way to make buckets.
pub struct Digits<T: Key> {
    way: Way<T>,
    last: usize,
}

enum Way<T: Key> {
    /// By the highest bits of the distance from a word.
    Bits { lo: T::Word, shift: u32 },
    /// By place on a line.
    Line { from: f64, scale: f64, mask: T::Word },
}

impl<T: Key> Digits<T> {
    /// A good way for some keys.
    pub fn new(
        keys: &[T],
        word: impl Fn(T) -> T::Word,
        (lo, hi): (T::Word, T::Word),
        mask: T::Word,
    ) -> Digits<T> {
        let bits = keys.len().ilog2().saturating_sub(FULL).clamp(*BITS.start(), *BITS.end());
        let last = (1 << bits) - 1;
        let whole = Digits { way: Way::bits(lo, hi, bits), last };
        let some = (keys.len() / 256).min(256);
        if some < 16 {
            return whole;
        }
        let step = keys.len() / some;
        let mut sample: Vec<T::Word> = keys.iter().step_by(step).map(|key| word(*key)).collect();
        sample.sort_unstable();
        let (low, high) = (sample[some / 50], sample[some - 1 - some / 50]);
        let mut ways = vec![whole, Digits { way: Way::bits(low, high, bits), last }];
        if T::CURVED {
            for (lo, hi) in [(lo, hi), (low, high)] {
                ways.extend(Way::line(lo, hi, mask, last).map(|way| Digits { way, last }));
            }
        }
        let costs = ways.iter().map(|way| way.cost(&sample));
        let costs: Vec<usize> = costs.collect();
        // The first is the quickest.
        let least = costs.iter().copied().min().unwrap_or(0);
        let best = costs.iter().position(|cost| *cost <= 2 * least).unwrap_or(0);
        ways.swap_remove(best)
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.last + 1
    }

    /// The bucket of a word: never one before that of a lesser word.
    #[inline]
    pub fn of(&self, word: T::Word) -> usize {
        match self.way {
            Way::Bits { lo, shift } => word.max(lo).digit(lo, shift).min(self.last),
            Way::Line { from, scale, mask } => {
                if word == T::Word::mask(true) {
                    return self.last;
                }
                (((position::<T>(word, mask) - from) * scale) as usize).min(self.last)
            }
        }
    }

    /// About how many pairs of these words share a bucket.
    fn cost(&self, words: &[T::Word]) -> usize {
        let buckets = words.chunk_by(|a, b| self.of(*a) == self.of(*b));
        buckets.map(|words| words.len() * words.len()).sum()
    }
}

impl<T: Key> Way<T> {
    fn bits(lo: T::Word, hi: T::Word, bits: u32) -> Way<T> {
        Way::Bits { lo, shift: T::Word::width(lo, hi).saturating_sub(bits) }
    }

    /// None where the line has no end.
    fn line(lo: T::Word, hi: T::Word, mask: T::Word, last: usize) -> Option<Way<T>> {
        let from = position::<T>(lo, mask);
        let scale = (last + 1) as f64 / (position::<T>(hi, mask) - from);
        (from.is_finite() && scale.is_finite()).then_some(Way::Line { from, scale, mask })
    }
}

/// The position of a word on a line, in the direction of the sort.
#[inline]
fn position<T: Key>(word: T::Word, mask: T::Word) -> f64 {
    let x = T::position(word.flip(mask));
    if mask == T::Word::mask(false) { x } else { -x }
}
