//! Sorting by radix, most significant digit first.
//!
//! Words go to buckets first, on all threads; a bucket then fits the cache, and is sorted there by
//! one thread: by a digit that leaves about one word for each of its values, and then by insertion,
//! which has little left to do. Where words crowd together in spite of that, the same is done
//! again with those that share a digit.

use super::Team;
use super::words::Word;
use crate::fault::FaultCode;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Fewer words are not worth buckets.
pub const BUCKETS: usize = 1 << 12;

/// Fewer words are not worth another thread.
const PARALLEL: usize = 1 << 15;

/// Pieces of work for each thread: the machine may be busy with something else, too.
const PIECES: usize = 4;

/// The most words of a piece: so many are counted with one table.
const PIECE: usize = 1 << 22;

/// Nobody wants to wait longer than for so many words when the work is to stop.
const POLLED_WORDS: usize = 1 << 18;

/// Memory of at least so many bytes is touched before words are scattered over it.
const MIN_TOUCHED_BYTES: usize = 8 << 20;

/// So many bytes are touched between two looks at the wish to stop: a page of the largest size that systems
/// give by themselves.
const TOUCHED_BYTES: usize = 2 << 20;

/// The size of the smallest page, in bytes.
const PAGE_BYTES: usize = 4 << 10;

/// The number of words up to which insertion sort is used.
pub const MAX_INSERTION_SORT_WORDS: usize = 24;

/// The most bits of a digit within a bucket: what is counted must fit the cache.
const DIGIT: u32 = 13;

/// An address that threads share.
pub struct Shared<T>(pub *mut T);

// SAFETY: whoever uses it sees to it that threads use different elements.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The type of an element.
    ///
    /// # Safety
    /// `at` is in bounds.
    #[inline]
    pub unsafe fn at(&self, at: usize) -> *mut T {
        // SAFETY: the caller passes an index in bounds.
        unsafe { self.0.add(at) }
    }
}

/// Pieces of so many words, for a team.
pub fn pieces(count: usize, team: &dyn Team) -> Vec<Range<usize>> {
    divided(count, team, PIECES, PIECE)
}

/// Pieces of so many words, one for each thread of a team.
pub fn large_pieces(count: usize, team: &dyn Team) -> Vec<Range<usize>> {
    divided(count, team, 1, usize::MAX)
}

fn divided(count: usize, team: &dyn Team, for_each: usize, most: usize) -> Vec<Range<usize>> {
    let threads = team.threads();
    let many = if threads > 1 && count >= PARALLEL { threads * for_each } else { 1 };
    let length = count.div_ceil(many).clamp(1, most);
    (0..count).step_by(length).map(|from| from..(from + length).min(count)).collect()
}

/// The parts of a range between which is looked whether the work is to stop.
pub fn parts(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let Range { start, end } = range;
    (start..end).step_by(POLLED_WORDS).map(move |from| from..(from + POLLED_WORDS).min(end))
}

/// Writes to each page of some room, on all threads.
///
/// The system finds and clears a page when it is written to for the first time. A large one takes some
/// milliseconds, and words that are scattered find hundreds of pages within the first thousand words: nobody
/// could stop the work meanwhile. Room whose pages are there already is touched in no time.
///
/// # Errors
/// If the team was told to stop.
pub fn touch<W: Send>(room: &mut [MaybeUninit<W>], team: &dyn Team) -> Result<(), FaultCode> {
    let bytes = size_of_val(room);
    if bytes < MIN_TOUCHED_BYTES {
        return Ok(());
    }
    let start = Shared(room.as_mut_ptr().cast::<MaybeUninit<u8>>());
    team.each(bytes.div_ceil(TOUCHED_BYTES), &|take| {
        while let Some(piece) = take() {
            let from = piece * TOUCHED_BYTES;
            for at in (from..bytes.min(from + TOUCHED_BYTES)).step_by(PAGE_BYTES) {
                // SAFETY: the byte lies in the room, which holds no value yet, and in one piece only.
                unsafe { start.at(at).write_volatile(MaybeUninit::new(0)) };
            }
            if team.stopped() {
                break;
            }
        }
    });
    poll(team)
}

/// Room for so many words.
pub fn with_scratch<W: Copy>(
    count: usize,
    team: &dyn Team,
    work: impl FnOnce(&mut [MaybeUninit<W>]) -> Result<(), FaultCode>,
) -> Result<(), FaultCode> {
    let bytes = (count * size_of::<W>()) as u64;
    if !team.reserve(bytes) {
        return Err(FaultCode::OutOfMemory);
    }
    let mut scratch: Vec<W> = Vec::new();
    let done = match scratch.try_reserve_exact(count) {
        Ok(()) => work(&mut scratch.spare_capacity_mut()[..count]),
        Err(_) => Err(FaultCode::OutOfMemory),
    };
    team.release(bytes);
    done
}

/// Sorts words, stably. `load` gives the words of some places, each with its bucket; where `words`
/// are sorted, `done` is told from which place on.
///
/// # Safety
/// `load` gives the same each time.
pub unsafe fn sort<W: Word, I: Iterator<Item = (usize, W)>>(
    words: &mut [MaybeUninit<W>],
    buckets: usize,
    team: &dyn Team,
    load: &(impl Fn(Range<usize>) -> I + Sync),
    done: &(impl Fn(usize, &mut [W]) + Sync),
) -> Result<(), FaultCode> {
    let buckets =
        Buckets::count(words.len(), buckets, team, |range| load(range).map(|(bucket, _)| bucket))?;
    // SAFETY: `load` gives the same as when the words of the buckets were counted.
    unsafe { buckets.fill(words, team, load) }?;
    // SAFETY: they were filled.
    unsafe {
        buckets.each(words, team, &|buffers: &mut Buffers<W>, start, words| {
            buffers.sort(words);
            done(start, words);
        })
    }
}

/// The places of buckets in an array, and of what each piece of the input puts into them: what is
/// in a bucket stays in the order of the input.
pub struct Buckets {
    pieces: Vec<Range<usize>>,
    /// For each piece, the place of its first word in each bucket.
    places: Vec<Vec<usize>>,
    /// The place of the first word of each bucket, and the number of words.
    starts: Vec<usize>,
}

impl Buckets {
    /// Counts what goes to each bucket: `load` gives the buckets of some places.
    pub fn count<I: Iterator<Item = usize>>(
        count: usize,
        buckets: usize,
        team: &dyn Team,
        load: impl Fn(Range<usize>) -> I + Sync,
    ) -> Result<Buckets, FaultCode> {
        let pieces = pieces(count, team);
        let places: Vec<Mutex<Vec<usize>>> = pieces.iter().map(|_| Mutex::default()).collect();
        team.each(pieces.len(), &|take| {
            while let Some(at) = take() {
                let mut counts = vec![0; buckets];
                for part in parts(pieces[at].clone()) {
                    for bucket in load(part) {
                        counts[bucket] += 1;
                    }
                    if team.stopped() {
                        break;
                    }
                }
                *places[at].lock().unwrap_or_else(PoisonError::into_inner) = counts;
                if team.stopped() {
                    break;
                }
            }
        });
        poll(team)?;
        let mut places: Vec<Vec<usize>> = places
            .into_iter()
            .map(|counts| counts.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let mut starts = Vec::with_capacity(buckets + 1);
        let mut start = 0;
        for bucket in 0..buckets {
            starts.push(start);
            for counts in &mut places {
                start += std::mem::replace(&mut counts[bucket], start);
            }
        }
        starts.push(start);
        Ok(Buckets { pieces, places, starts })
    }

    /// Puts words into their buckets.
    ///
    /// # Safety
    /// `load` gives for the places of the input the buckets that were counted, and there is room for
    /// as many words.
    pub unsafe fn fill<W: Copy + Send, I: Iterator<Item = (usize, W)>>(
        &self,
        words: &mut [MaybeUninit<W>],
        team: &dyn Team,
        load: &(impl Fn(Range<usize>) -> I + Sync),
    ) -> Result<(), FaultCode> {
        touch(words, team)?;
        let to = Shared(words.as_mut_ptr().cast::<W>());
        team.each(self.pieces.len(), &|take| {
            while let Some(at) = take() {
                let mut places = self.places[at].clone();
                for part in parts(self.pieces[at].clone()) {
                    for (bucket, word) in load(part) {
                        let place = &mut places[bucket];
                        // SAFETY: counted for this piece alone.
                        unsafe { to.at(*place).write(word) };
                        *place += 1;
                    }
                    if team.stopped() {
                        return;
                    }
                }
            }
        });
        poll(team)
    }

    /// Gives each bucket with the place where it begins to `work`, and with what a thread keeps from
    /// one to the next.
    ///
    /// # Safety
    /// The buckets were filled.
    pub unsafe fn each<W: Copy + Send, S: Default>(
        &self,
        words: &mut [MaybeUninit<W>],
        team: &dyn Team,
        work: &(impl Fn(&mut S, usize, &mut [W]) + Sync),
    ) -> Result<(), FaultCode> {
        let to = Shared(words.as_mut_ptr().cast::<W>());
        team.each(self.starts.len() - 1, &|take| {
            let mut kept = S::default();
            while let Some(bucket) = take() {
                let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
                // SAFETY: the words of a bucket were all written, and only one thread takes it.
                let words = unsafe { std::slice::from_raw_parts_mut(to.at(start), end - start) };
                work(&mut kept, start, words);
                if team.stopped() {
                    break;
                }
            }
        });
        poll(team)
    }

    /// Reads the words in the order of the input: `write` is told the place in the input, and given the
    /// word that is in the bucket where [`Buckets::fill`] put that of the place.
    ///
    /// # Safety
    /// The buckets were filled, and `load` gives the buckets that were counted.
    pub unsafe fn gather<W: Copy + Sync, I: Iterator<Item = usize>>(
        &self,
        words: &[MaybeUninit<W>],
        team: &dyn Team,
        load: &(impl Fn(Range<usize>) -> I + Sync),
        write: &(impl Fn(usize, W) + Sync),
    ) -> Result<(), FaultCode> {
        team.each(self.pieces.len(), &|take| {
            while let Some(at) = take() {
                let mut places = self.places[at].clone();
                for part in parts(self.pieces[at].clone()) {
                    for (bucket, from) in load(part.clone()).zip(part) {
                        let place = &mut places[bucket];
                        // SAFETY: the place was counted for this piece, and filled.
                        write(from, unsafe { words.get_unchecked(*place).assume_init() });
                        *place += 1;
                    }
                    if team.stopped() {
                        return;
                    }
                }
            }
        });
        poll(team)
    }
}

/// Fails if the team was told to stop.
pub fn poll(team: &dyn Team) -> Result<(), FaultCode> {
    if team.stopped() { Err(FaultCode::Interrupted) } else { Ok(()) }
}

/// The buffers of a thread that sorts.
pub struct Buffers<W> {
    copy: Vec<W>,
    counts: Vec<u32>,
}

impl<W> Default for Buffers<W> {
    fn default() -> Buffers<W> {
        Buffers { copy: Vec::new(), counts: Vec::new() }
    }
}

impl<W: Word> Buffers<W> {
    /// Sorts words, stably.
    pub fn sort(&mut self, words: &mut [W]) {
        if words.len() <= MAX_INSERTION_SORT_WORDS {
            return insertion(words);
        }
        let (mut lo, mut hi) = (words[0], words[0]);
        for word in &*words {
            lo = if word.before(lo) { *word } else { lo };
            hi = if hi.before(*word) { *word } else { hi };
        }
        let width = W::width(lo, hi);
        if width == 0 {
            return;
        }
        let bits = (words.len().ilog2() + 1).min(DIGIT).min(width);
        let shift = width - bits;
        self.counts.clear();
        self.counts.resize(1 << bits, 0);
        for word in &*words {
            self.counts[word.digit(lo, shift)] += 1;
        }
        let (mut start, mut most) = (0, 0);
        for count in &mut self.counts {
            most = most.max(*count);
            start += std::mem::replace(count, start);
        }
        self.copy.clear();
        self.copy.extend_from_slice(words);
        for word in &self.copy {
            let place = &mut self.counts[word.digit(lo, shift)];
            words[*place as usize] = *word;
            *place += 1;
        }
        if shift == 0 {
            return;
        }
        if most as usize <= MAX_INSERTION_SORT_WORDS {
            return insertion(words);
        }
        let mut rest = words;
        while let Some(first) = rest.first() {
            let digit = first.digit(lo, shift);
            let other = rest.iter().position(|word| word.digit(lo, shift) != digit);
            let same = other.unwrap_or(rest.len());
            let (crowd, behind) = rest.split_at_mut(same);
            self.sort(crowd);
            rest = behind;
        }
    }
}

fn insertion<W: Word>(words: &mut [W]) {
    for at in 1..words.len() {
        let word = words[at];
        let mut place = at;
        while place > 0 && word.before(words[place - 1]) {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}
