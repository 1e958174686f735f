//! The properties of the input of a sort, found in one pass.

use super::digits::Digits;
use super::words::{Key, Plain};
use super::{Order, Team, radix};
use crate::fault::FaultCode;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Ranks are found by counting if the words have a smaller range than this: a table of ints is then no larger
/// than 1 MiB.
const MAX_RANKED_VALUES: u64 = 1 << 17;

/// Tables of fewer words are cheap: there is one for each piece of work.
const MAX_SMALL_TABLE_WORDS: usize = 1 << 12;

/// Keys and what is known of them.
pub struct Input<'k, T: Key> {
    keys: &'k [T],
    /// The mask that reverses the order of words for a descending sort.
    pub mask: T::Word,
    /// The least word.
    pub lo: T::Word,
    /// The greatest word.
    pub hi: T::Word,
    /// True if the keys are in order.
    pub sorted: bool,
    /// True if keys with different bits may have the same word.
    pub special: bool,
}

/// The properties of consecutive keys.
#[derive(Clone, Copy)]
struct Extent<W> {
    lo: W,
    hi: W,
    sorted: bool,
    special: bool,
}

/// A piece of the keys, and for each word the place of the first of them that has it.
type Places = (Range<usize>, Vec<usize>);

impl<'k, T: Key> Input<'k, T> {
    /// Looks at some keys, if there are any.
    ///
    /// # Errors
    /// If the team was told to stop.
    pub fn new(
        keys: &'k [T],
        order: Order,
        team: &dyn Team,
    ) -> Result<Option<Input<'k, T>>, FaultCode> {
        let Some(first) = keys.first().copied() else { return Ok(None) };
        let mask = T::Word::mask(order == Order::Down);
        let (lo, hi) = (word(first, mask), word(first, mask));
        let mut input = Input { keys, mask, lo, hi, sorted: true, special: false };
        if keys.len() < radix::BUCKETS {
            let Extent { lo, hi, sorted, special } = extent(keys, mask);
            return Ok(Some(Input { keys, mask, lo, hi, sorted, special }));
        }
        let pieces = radix::pieces(keys.len(), team);
        let known = Mutex::new(vec![Extent { lo, hi, sorted: true, special: false }; pieces.len()]);
        team.each(pieces.len(), &|take| {
            while let Some(at) = take() {
                // The last of the piece before tells whether order is kept between them.
                let range = pieces[at].start.saturating_sub(1)..pieces[at].end;
                let extent = extent(&keys[range], mask);
                known.lock().unwrap_or_else(PoisonError::into_inner)[at] = extent;
                if team.stopped() {
                    break;
                }
            }
        });
        radix::poll(team)?;
        for extent in known.into_inner().unwrap_or_else(PoisonError::into_inner) {
            input.lo = input.lo.min(extent.lo);
            input.hi = input.hi.max(extent.hi);
            input.sorted &= extent.sorted;
            input.special |= extent.special;
        }
        Ok(Some(input))
    }

    /// The word of a key, in the direction of the sort.
    #[inline]
    pub fn word(&self, key: T) -> T::Word {
        word(key, self.mask)
    }

    /// A good way to make buckets.
    pub fn digits(&self) -> Digits<T> {
        Digits::new(self.keys, |key| self.word(key), (self.lo, self.hi), self.mask)
    }

    /// The distance of a key from the least.
    #[inline]
    fn distance(&self, key: T) -> usize {
        (self.word(key).wide() - self.lo.wide()) as usize
    }

    /// Returns true if ranks are found sooner by counting how often each of `range` words occurs than by sorting:
    /// counting writes the ranks in order, and only reads and writes its tables here and there.
    pub fn ranks_by_counting(&self, range: u64, team: &dyn Team) -> bool {
        let pieces = self.counted_pieces(range as usize, team).len() as u64;
        range < MAX_RANKED_VALUES && range.saturating_mul(2 * pieces) < self.keys.len() as u64
    }

    /// The pieces of the keys that have a table each.
    fn counted_pieces(&self, range: usize, team: &dyn Team) -> Vec<Range<usize>> {
        match range < MAX_SMALL_TABLE_WORDS {
            true => radix::pieces(self.keys.len(), team),
            false => radix::large_pieces(self.keys.len(), team),
        }
    }

    /// Computes the target places of the keys: for each piece, and each of its `range` words, the place
    /// of the first key with that word.
    fn places(&self, range: usize, team: &dyn Team) -> Result<Vec<Places>, FaultCode> {
        let pieces = self.counted_pieces(range, team);
        let counted: Vec<Mutex<Vec<usize>>> = pieces.iter().map(|_| Mutex::default()).collect();
        team.each(pieces.len(), &|take| {
            while let Some(at) = take() {
                let mut counts = vec![0; range];
                for part in radix::parts(pieces[at].clone()) {
                    for key in &self.keys[part] {
                        counts[self.distance(*key)] += 1;
                    }
                    if team.stopped() {
                        break;
                    }
                }
                *counted[at].lock().unwrap_or_else(PoisonError::into_inner) = counts;
                if team.stopped() {
                    break;
                }
            }
        });
        radix::poll(team)?;
        let counted =
            counted.into_iter().map(|c| c.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut counted: Vec<Vec<usize>> = counted.collect();
        let mut place = 0;
        for distance in 0..range {
            for counts in &mut counted {
                place += std::mem::replace(&mut counts[distance], place);
            }
        }
        Ok(pieces.into_iter().zip(counted).collect())
    }

    /// Sorts by counting how often each of `range` words occurs.
    pub fn count(
        &self,
        range: usize,
        out: &mut [MaybeUninit<T::Word>],
        team: &dyn Team,
    ) -> Result<(), FaultCode> {
        let places = self.places(range, team)?;
        let mut starts = places[0].1.clone();
        starts.push(out.len());
        for (distance, ends) in starts.windows(2).enumerate() {
            let word = T::bits(self.lo.plus(distance).flip(self.mask));
            for part in radix::parts(ends[0]..ends[1]) {
                out[part].fill(MaybeUninit::new(word));
                radix::poll(team)?;
            }
        }
        Ok(())
    }

    /// Ranks by counting how often each of `range` words occurs.
    pub fn count_ranks(
        &self,
        range: usize,
        ranks: &mut [MaybeUninit<i64>],
        team: &dyn Team,
    ) -> Result<(), FaultCode> {
        let places = self.places(range, team)?;
        let places: Vec<_> = places.into_iter().map(Mutex::new).collect();
        let ranks = radix::Shared(ranks.as_mut_ptr().cast::<i64>());
        team.each(places.len(), &|take| {
            while let Some(at) = take() {
                let mut piece = places[at].lock().unwrap_or_else(PoisonError::into_inner);
                let (range, places) = &mut *piece;
                for part in radix::parts(range.clone()) {
                    for at in part {
                        let place = &mut places[self.distance(self.keys[at])];
                        // SAFETY: there are as many ranks as keys; each is in one piece.
                        unsafe { *ranks.at(at) = *place as i64 };
                        *place += 1;
                    }
                    if team.stopped() {
                        return;
                    }
                }
            }
        });
        radix::poll(team)
    }

    /// Gives zeros and NaNs, which are sorted, their own bits in the order of the input.
    ///
    /// # Errors
    /// If the team was told to stop.
    pub fn restore(
        &self,
        out: &mut [MaybeUninit<T::Word>],
        team: &dyn Team,
    ) -> Result<(), FaultCode> {
        let parts = || radix::parts(0..self.keys.len()).map(|part| &self.keys[part]);
        let count = |counted: &dyn Fn(&&T) -> bool| -> Result<usize, FaultCode> {
            let mut count = 0;
            for part in parts() {
                radix::poll(team)?;
                count += part.iter().filter(counted).count();
            }
            Ok(count)
        };
        let mut nan = out.len() - count(&|key| key.is_nan())?;
        let zero = self.keys.iter().find(|key| key.is_special() && !key.is_nan());
        let zero = zero.map(|key| self.word(*key));
        let mut place = count(&|key| Some(self.word(**key)) < zero)?;
        for part in parts() {
            radix::poll(team)?;
            for key in part {
                let to = if key.is_nan() {
                    &mut nan
                } else if Some(self.word(*key)) == zero {
                    &mut place
                } else {
                    continue;
                };
                out[*to].write(key.raw());
                *to += 1;
            }
        }
        Ok(())
    }
}

/// The word of a key, in the direction of the sort that the mask says.
#[inline]
pub fn word<T: Key>(key: T, mask: T::Word) -> T::Word {
    if key.is_nan() { key.word() } else { key.word().flip(mask) }
}

fn extent<T: Key>(keys: &[T], mask: T::Word) -> Extent<T::Word> {
    let first = word(keys[0], mask);
    let mut all = Extent { lo: first, hi: first, sorted: true, special: false };
    let mut last = first;
    for key in keys {
        let word = word(*key, mask);
        all.lo = all.lo.min(word);
        all.hi = all.hi.max(word);
        all.special |= key.is_special();
        all.sorted &= last <= word;
        last = word;
    }
    all
}
