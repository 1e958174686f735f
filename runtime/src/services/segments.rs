//! Sorts, ranks and groups within segments that lie one behind the other in an array.
//!
//! ```text
//! most segments   in pieces of about as many elements, each by one thread, which keeps its buffers
//!                 from one segment to the next: a segment costs no allocation
//! long segments   after those, one by one, each by all threads
//! ```
//!
//! Segments are given by their offsets: the place at which each begins, and the end of the last.

use super::groups::{Elements, Found, PartTable};
use super::sort::{self, Key, Order, Scratch, Team, Work};
use super::text::{self, Texts};
use crate::fault::FaultCode;
use crate::services::sort::radix::Shared;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A segment of fewer elements is not worth all threads.
const MIN_SHARED_ELEMENTS: usize = 1 << 15;

/// Pieces for each thread: segments cannot be divided, so that some pieces have more to do.
const PIECES_PER_THREAD: usize = 16;

/// Fewer elements and segments are not worth a piece of their own.
const MIN_PIECE_ELEMENTS: usize = 1 << 12;

/// The number of elements and segments between two polls of the interrupt flag.
const POLLED_ELEMENTS: usize = 1 << 16;

/// The keys of each segment in order.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `out` are then undefined.
///
/// # Panics
/// If the offsets are not those of segments of all keys, or there is not as much room as there are keys.
pub fn sort<T: Key>(
    keys: &[T],
    offsets: &[i64],
    order: Order,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    check(offsets, &[keys.len(), out.len()]);
    let out = Shared(out.as_mut_ptr());
    each(offsets, team, &|scratch: &mut Scratch<T>, segment, team| {
        // SAFETY: the segment is in bounds, and no other thread has it.
        let out = unsafe { part(&out, &segment) };
        sort::sort_with(scratch, &keys[segment], order, out, team)
    })
}

/// The rank of each key within its segment.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `ranks` are then undefined.
///
/// # Panics
/// If the offsets are not those of segments of all keys, or there is not as much room as there are keys.
pub fn rank<T: Key>(
    keys: &[T],
    offsets: &[i64],
    order: Order,
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    check(offsets, &[keys.len(), ranks.len()]);
    let ranks = Shared(ranks.as_mut_ptr());
    each(offsets, team, &|scratch: &mut Scratch<T>, segment, team| {
        // SAFETY: the segment is in bounds, and no other thread has it.
        let ranks = unsafe { part(&ranks, &segment) };
        sort::rank_with(scratch, &keys[segment], order, ranks, team)
    })
}

/// The rank of each text within its segment.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `ranks` are then undefined.
///
/// # Panics
/// If the offsets are not those of segments of all texts, or there is not as much room as there are texts.
pub fn rank_texts(
    texts: &Texts<'_>,
    offsets: &[i64],
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    check(offsets, &[texts.len(), ranks.len()]);
    let ranks = Shared(ranks.as_mut_ptr());
    each(offsets, team, &|scratch: &mut text::Scratch, segment, team| {
        // SAFETY: the segment is in bounds, and no other thread has it.
        let ranks = unsafe { part(&ranks, &segment) };
        let text = |index: usize| texts.get(segment.start + index);
        text::rank_with(scratch, segment.len(), &text, ranks, team)
    })
}

/// The groups of equal elements of each segment: places are counted from its beginning.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `found` are then undefined.
///
/// # Panics
/// If the offsets are not those of segments of all elements, or there is not as much room as there are
/// elements.
pub fn groups<E: Elements + ?Sized>(
    elements: &E,
    offsets: &[i64],
    found: Found<'_>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    check(offsets, &[elements.count(), found.last.len(), found.count.len()]);
    let (last, count) = (Shared(found.last.as_mut_ptr()), Shared(found.count.as_mut_ptr()));
    each(offsets, team, &|table: &mut PartTable<E>, segment, team| {
        // SAFETY: the segment is in bounds, and no other thread has it.
        let found = unsafe { Found { last: part(&last, &segment), count: part(&count, &segment) } };
        table.groups(elements, segment, found, team)
    })
}

/// Checks that offsets are those of segments of so many elements.
fn check(offsets: &[i64], lengths: &[usize]) {
    let total = offsets.last().copied().unwrap_or(0);
    assert!(lengths.iter().all(|length| *length as i64 == total), "segments of all elements");
    assert_eq!(offsets.first().copied().unwrap_or(0), 0, "the first segment begins at zero");
}

/// The part of an array that is a segment.
///
/// # Safety
/// The segment is in bounds of the array, and nothing else accesses it while the slice lives.
unsafe fn part<'o, T>(array: &Shared<T>, segment: &Range<usize>) -> &'o mut [T] {
    // SAFETY: the caller sees to that.
    unsafe { std::slice::from_raw_parts_mut(array.at(segment.start), segment.len()) }
}

/// A team of one thread of another.
struct OneOf<'t>(&'t dyn Team);

impl Team for OneOf<'_> {
    fn threads(&self) -> usize {
        1
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        let mut numbers = 0..count;
        work(&mut || numbers.next());
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }

    fn reserve(&self, bytes: u64) -> bool {
        self.0.reserve(bytes)
    }

    fn release(&self, bytes: u64) {
        self.0.release(bytes);
    }
}

/// Calls `work` for each segment that is not empty, with what a thread keeps from one to the next and
/// with the team that the segment may use.
fn each<S: Default>(
    offsets: &[i64],
    team: &dyn Team,
    work: &(impl Fn(&mut S, Range<usize>, &dyn Team) -> Result<(), FaultCode> + Sync),
) -> Result<(), FaultCode> {
    let Some(total) = offsets.last().map(|total| *total as usize).filter(|total| *total > 0) else {
        return Ok(());
    };
    let segment = |at: usize| {
        assert!(offsets[at] <= offsets[at + 1], "offsets ascend");
        offsets[at] as usize..offsets[at + 1] as usize
    };
    // A segment of a greater part of all elements would leave the other threads idle.
    let threads = team.threads();
    let most = match threads {
        1 => usize::MAX,
        _ => MIN_SHARED_ELEMENTS.max(total / (threads * PIECES_PER_THREAD / 2)),
    };
    let pieces = pieces(offsets, total, threads);
    let long: Mutex<Vec<usize>> = Mutex::default();
    let failed: Mutex<Option<FaultCode>> = Mutex::default();
    team.each(pieces.len(), &|take| {
        let (one, mut kept, mut since) = (OneOf(team), S::default(), 0);
        while let Some(piece) = take() {
            for at in pieces[piece].clone() {
                let segment = segment(at);
                since += segment.len() + 1;
                if since > POLLED_ELEMENTS {
                    since = 0;
                    if team.stopped() {
                        return;
                    }
                }
                if segment.len() > most {
                    long.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                } else if !segment.is_empty()
                    && let Err(fault) = work(&mut kept, segment, &one)
                {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
                    return;
                }
            }
        }
    });
    if team.stopped() {
        return Err(FaultCode::Interrupted);
    }
    if let Some(fault) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(fault);
    }
    let mut kept = S::default();
    for at in long.into_inner().unwrap_or_else(PoisonError::into_inner) {
        work(&mut kept, segment(at), team)?;
    }
    Ok(())
}

/// Pieces of segments, with about as many elements and segments each; threads share them.
fn pieces(offsets: &[i64], total: usize, threads: usize) -> Vec<Range<usize>> {
    let count = offsets.len() - 1;
    // A segment costs something even if it is empty.
    let before = |at: usize| offsets[at] as usize + at;
    let all = total + count;
    let many = (threads * PIECES_PER_THREAD).min(all / MIN_PIECE_ELEMENTS).max(1);
    let length = all.div_ceil(many);
    let mut pieces = Vec::with_capacity(many);
    let mut begin = 0;
    for piece in 1..=many {
        // The first segment that begins where the piece ends, or behind that.
        let (mut low, mut high) = (begin, count);
        while low < high {
            let middle = low.midpoint(high);
            if before(middle) < piece * length {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low > begin {
            pieces.push(begin..low);
            begin = low;
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
