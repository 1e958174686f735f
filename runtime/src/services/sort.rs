//! Sorting scalars, and ranking them: the place of each in the sorted sequence.
//!
//! Elements become unsigned *words* whose order is theirs. The two zeros are equal; NaNs are equal
//! to each other and last in either direction. Everything is stable: of what is equal, what came
//! first stays first, which shows in ranks, in the signs of zeros and in the bits of NaNs.
//!
//! | input | algorithm |
//! |---|---|
//! | few | by insertion; ranks by comparing each with each |
//! | values of a small range, and ranks of many such values | counted |
//! | values | sorted by radix in the array that they go to |
//! | ranks | words with their places, in 64 bits where both fit, sorted by radix |
//!
//! ```text
//! input   what there is: least, greatest, sorted already?
//! digits  which bucket a word goes to at first, by a look at some of them
//! radix   into buckets on all threads, then each bucket in the cache
//! words   keys as words, and words with places
//! ```
//!
//! A [`Team`] says how many threads there are, how much memory may be taken, and when to stop.

use crate::fault::FaultCode;
use input::Input;
use radix::{BUCKETS, Buffers, MAX_INSERTION_SORT_WORDS};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use words::{Placed, Plain, Word};

mod digits;
mod input;
pub(super) mod radix;
mod words;

pub use words::Key;

/// The direction of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the least to the greatest.
    Up,
    /// From the greatest to the least.
    Down,
}

/// The work of a thread, which is given a source of numbers.
pub type Work<'f> = dyn Fn(&mut dyn FnMut() -> Option<usize>) + Sync + 'f;

/// The threads and the memory that a sort may use.
pub trait Team: Sync {
    /// The number of threads.
    fn threads(&self) -> usize;
    /// Calls `work`, perhaps on several threads at once, with an iterator over the numbers 0 to `count - 1`,
    /// which the threads share: each number is taken once, in whatever order.
    fn each(&self, count: usize, work: &Work<'_>);
    /// Returns true if the sort is to stop.
    fn stopped(&self) -> bool;
    /// Reserves memory, in bytes; returns false if the limit would be exceeded.
    fn reserve(&self, bytes: u64) -> bool;
    /// Releases memory reserved by [`Team::reserve`].
    fn release(&self, bytes: u64);
}

/// A team of the calling thread only, with a flag that stops it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallingThread<'a>(pub Option<&'a AtomicBool>);

impl Team for CallingThread<'_> {
    fn threads(&self) -> usize {
        1
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        let mut numbers = 0..count;
        work(&mut || numbers.next());
    }

    fn stopped(&self) -> bool {
        self.0.is_some_and(|stop| stop.load(Relaxed))
    }

    fn reserve(&self, _bytes: u64) -> bool {
        true
    }

    fn release(&self, _bytes: u64) {}
}

/// Values of a smaller range than this are sorted by counting.
const MAX_COUNTED_VALUES: usize = 1 << 12;

/// The buffers of a thread that sorts short sequences one after the other.
pub(super) struct Scratch<T: Key> {
    words: Buffers<T::Word>,
    /// Words with their places in one int.
    packed: (Vec<u64>, Buffers<u64>),
    placed: (Vec<Placed>, Buffers<Placed>),
}

impl<T: Key> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch {
            words: Buffers::default(),
            packed: (Vec::new(), Buffers::default()),
            placed: (Vec::new(), Buffers::default()),
        }
    }
}

/// The keys in order.
///
/// # Errors
/// If the team was told to stop; the contents of `out` are then undefined.
///
/// # Panics
/// If there is not as much room as there are keys.
pub fn sort<T: Key>(
    keys: &[T],
    order: Order,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    sort_with(&mut Scratch::default(), keys, order, out, team)
}

/// As [`sort`], with buffers that are used again.
pub(super) fn sort_with<T: Key>(
    scratch: &mut Scratch<T>,
    keys: &[T],
    order: Order,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    assert_eq!(keys.len(), out.len(), "as much room as keys");
    if keys.len() <= MAX_INSERTION_SORT_WORDS {
        insert(keys, order, out);
        return Ok(());
    }
    let Some(input) = Input::new(keys, order, team)? else { return Ok(()) };
    if input.sorted {
        for part in radix::parts(0..keys.len()) {
            for (to, key) in out[part.clone()].iter_mut().zip(&keys[part]) {
                to.write(*key);
            }
            radix::poll(team)?;
        }
        return Ok(());
    }
    let range = input.hi.wide() - input.lo.wide();
    // SAFETY: a key and its word have the same size, alignment and valid bits.
    let words: &mut [MaybeUninit<T::Word>] =
        unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) };
    let as_keys = |words: &mut [T::Word]| {
        words.iter_mut().for_each(|word| *word = T::bits(word.flip(input.mask)));
    };
    if keys.len() < BUCKETS {
        for (word, key) in words.iter_mut().zip(keys) {
            word.write(input.word(*key));
        }
        // SAFETY: all were written: there are as many as keys.
        let words = unsafe { words.assume_init_mut() };
        scratch.words.sort(words);
        as_keys(words);
    } else if range < MAX_COUNTED_VALUES as u64 && range < keys.len() as u64 {
        input.count(range as usize + 1, words, team)?;
    } else {
        let digits = input.digits();
        let load = |range: Range<usize>| {
            keys[range].iter().map(|key| {
                let word = input.word(*key);
                (digits.of(word), word)
            })
        };
        let done = |_, words: &mut [T::Word]| as_keys(words);
        // SAFETY: what is loaded depends on the keys only.
        unsafe { radix::sort(words, digits.buckets(), team, &load, &done) }?;
    }
    if input.special {
        input.restore(words, team)?;
    }
    Ok(())
}

/// Sorts a few keys.
fn insert<T: Key>(keys: &[T], order: Order, out: &mut [MaybeUninit<T>]) {
    let mask = T::Word::mask(order == Order::Down);
    for (at, key) in keys.iter().enumerate() {
        let word = input::word(*key, mask);
        let mut place = at;
        while place > 0 {
            // SAFETY: the places before `at` were written.
            let before = unsafe { out[place - 1].assume_init() };
            if input::word(before, mask) <= word {
                break;
            }
            out[place].write(before);
            place -= 1;
        }
        out[place].write(*key);
    }
}

/// The rank of each key.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `ranks` are then
/// undefined.
///
/// # Panics
/// If there is not as much room as there are keys.
pub fn rank<T: Key>(
    keys: &[T],
    order: Order,
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    rank_with(&mut Scratch::default(), keys, order, ranks, team)
}

/// As [`rank`], with buffers that are used again.
pub(super) fn rank_with<T: Key>(
    scratch: &mut Scratch<T>,
    keys: &[T],
    order: Order,
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    assert_eq!(keys.len(), ranks.len(), "as much room as keys");
    if keys.len() <= MAX_INSERTION_SORT_WORDS {
        rank_few(keys, order, ranks);
        return Ok(());
    }
    let Some(input) = Input::new(keys, order, team)? else { return Ok(()) };
    if input.sorted {
        for part in radix::parts(0..keys.len()) {
            for place in part {
                ranks[place].write(place as i64);
            }
            radix::poll(team)?;
        }
        return Ok(());
    }
    let few = keys.len() < BUCKETS;
    let range = input.hi.wide() - input.lo.wide();
    let by_counting = range < MAX_COUNTED_VALUES as u64 && range < keys.len() as u64
        || input.ranks_by_counting(range, team);
    if !few && by_counting {
        return input.count_ranks(range as usize + 1, ranks, team);
    }
    radix::touch(ranks, team)?;
    let ranks = radix::Shared(ranks.as_mut_ptr().cast::<i64>());
    let low = usize::BITS - (keys.len() - 1).leading_zeros();
    let lo = input.lo.wide();
    if T::Word::width(input.lo, input.hi) + low <= u64::BITS {
        let pack = |word: T::Word, at: usize| (word.wide() - lo) << low | at as u64;
        let done = |place: usize, words: &mut [u64]| {
            for (word, rank) in words.iter().zip(place..) {
                // SAFETY: the places are in bounds, and each is in one word.
                unsafe { *ranks.at((*word & ((1 << low) - 1)) as usize) = rank as i64 };
            }
        };
        if few {
            let (words, buffers) = &mut scratch.packed;
            words.clear();
            words.extend(keys.iter().enumerate().map(|(at, key)| pack(input.word(*key), at)));
            buffers.sort(words);
            done(0, words);
            return Ok(());
        }
        let digits = input.digits();
        let load = |range: Range<usize>| {
            keys[range.clone()].iter().zip(range).map(|(key, at)| {
                let word = input.word(*key);
                (digits.of(word), pack(word, at))
            })
        };
        // SAFETY: what is loaded depends on the keys only.
        radix::with_scratch(keys.len(), team, |scratch| unsafe {
            radix::sort(scratch, digits.buckets(), team, &load, &done)
        })
    } else {
        let done = |place: usize, words: &mut [Placed]| {
            for (word, rank) in words.iter().zip(place..) {
                // SAFETY: the places are in bounds, and each is in one word.
                unsafe { *ranks.at(word.at) = rank as i64 };
            }
        };
        let placed = |word: T::Word, at: usize| Placed { word: word.wide(), at };
        if few {
            let (words, buffers) = &mut scratch.placed;
            words.clear();
            words.extend(keys.iter().enumerate().map(|(at, key)| placed(input.word(*key), at)));
            buffers.sort(words);
            done(0, words);
            return Ok(());
        }
        let digits = input.digits();
        let load = |range: Range<usize>| {
            keys[range.clone()].iter().zip(range).map(|(key, at)| {
                let word = input.word(*key);
                (digits.of(word), placed(word, at))
            })
        };
        // SAFETY: what is loaded depends on the keys only.
        radix::with_scratch(keys.len(), team, |scratch| unsafe {
            radix::sort(scratch, digits.buckets(), team, &load, &done)
        })
    }
}

/// Ranks a few keys: counts those that come before each.
fn rank_few<T: Key>(keys: &[T], order: Order, ranks: &mut [MaybeUninit<i64>]) {
    let mask = T::Word::mask(order == Order::Down);
    let mut words = [0; MAX_INSERTION_SORT_WORDS];
    for (word, key) in words.iter_mut().zip(keys) {
        *word = input::word(*key, mask).wide();
    }
    let words = &words[..keys.len()];
    for (at, (rank, word)) in ranks.iter_mut().zip(words).enumerate() {
        let before = words[..at].iter().map(|other| i64::from(other <= word)).sum::<i64>();
        let behind = words[at + 1..].iter().map(|other| i64::from(other < word)).sum::<i64>();
        rank.write(before + behind);
    }
}

/// Makes an empty vector that of the ranks.
///
/// # Errors
/// If there is too little memory, or the team was told to stop.
pub fn rank_into<T: Key>(
    keys: &[T],
    order: Order,
    ranks: &mut Vec<i64>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    ranks.clear();
    ranks.reserve(keys.len());
    rank(keys, order, &mut ranks.spare_capacity_mut()[..keys.len()], team)?;
    // SAFETY: there is room, and all were written.
    unsafe { ranks.set_len(keys.len()) };
    Ok(())
}

#[cfg(test)]
mod tests;
