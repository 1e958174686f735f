//! The threads of a runtime, and the memory that they use.
//!
//! The calling thread takes part in all work: a launch begins at once, and ends, whether or not
//! another thread wakes up.

use crate::arena::Arena;
use crate::memory::Memory;
use crate::pool::Pool;
use nesl_runtime::bug::OrBug;
use nesl_runtime::services::sort::Work;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Copies of fewer bytes are not worth another thread.
const MIN_PARALLEL_COPY_BYTES: usize = 1 << 20;

/// The number of bytes that are copied between two looks at the interrupt. Memory that is written for the first time
/// takes a millisecond for some megabytes.
const COPY_PIECE_BYTES: usize = 1 << 20;

/// The threads of a runtime, and the memory that they use.
pub struct Workers {
    threads: usize,
    /// The least work of a chunk, in operations.
    grain: u64,
    /// The other threads, one fewer than `threads`; started when first needed.
    pool: OnceLock<Option<Pool>>,
    /// The number of computations that want all threads at present.
    wanted: Arc<AtomicUsize>,
    memory: Arc<Memory>,
    #[expect(clippy::vec_box, reason = "compiled code knows their addresses")]
    arenas: Mutex<Vec<Box<Arena>>>,
}

/// Numbers that several threads take, each from a range of its own first.
struct Ranges(SmallVec<[Range; 4]>);

/// The numbers of a range that nobody has taken: the first in the lower half, the end in the upper. Ranges lie 128 bytes
/// apart, since processors fetch two lines of the cache together.
#[repr(align(128))]
struct Range(AtomicU64);

impl Ranges {
    /// Divides the numbers from 0 to below `count`.
    fn new(count: usize, threads: usize) -> Ranges {
        let count = u32::try_from(count).or_bug("there are fewer pieces than 2³²");
        let threads = threads.max(1) as u32;
        let bound = |thread: u32| u64::from(count) * u64::from(thread) / u64::from(threads);
        let range = |thread| Range(AtomicU64::new(bound(thread) | bound(thread + 1) << u32::BITS));
        Ranges((0..threads).map(range).collect())
    }

    /// Takes the next number of a thread's own range, or else the last of another's.
    fn take(&self, thread: usize) -> Option<usize> {
        let own = thread % self.0.len();
        if let Some(number) = self.0[own].take(false) {
            return Some(number);
        }
        let others = (1..self.0.len()).map(|step| &self.0[(own + step) % self.0.len()]);
        others.into_iter().find_map(|other| other.take(true))
    }

    fn are_empty(&self) -> bool {
        self.0.iter().all(Range::is_empty)
    }
}

impl Range {
    /// Takes the first number, or the last.
    fn take(&self, last: bool) -> Option<usize> {
        let mut taken = 0;
        let rest = |range: u64| {
            let (first, end) = (range as u32, (range >> u32::BITS) as u32);
            taken = if last { end.wrapping_sub(1) } else { first };
            let (first, end) = if last { (first, taken) } else { (first + 1, end) };
            (range as u32 != (range >> u32::BITS) as u32)
                .then_some(u64::from(first) | u64::from(end) << u32::BITS)
        };
        self.0.fetch_update(Relaxed, Relaxed, rest).ok().map(|_| taken as usize)
    }

    fn is_empty(&self) -> bool {
        let range = self.0.load(Relaxed);
        range as u32 == (range >> u32::BITS) as u32
    }
}

/// A claim on all threads, until it is dropped.
struct Wanted<'a>(&'a AtomicUsize);

impl<'a> Wanted<'a> {
    fn new(wanted: &'a AtomicUsize) -> Wanted<'a> {
        wanted.fetch_add(1, Relaxed);
        Wanted(wanted)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Workers {
    /// `threads` threads, which execute chunks of at least `grain` operations each.
    pub fn new(threads: usize, grain: u64, memory: Arc<Memory>) -> Workers {
        let (pool, wanted, arenas) = Default::default();
        Workers { threads, grain, pool, wanted, memory, arenas }
    }

    /// The number of computations that want all threads at present: background work waits then.
    pub fn wanted(&self) -> &Arc<AtomicUsize> {
        &self.wanted
    }

    /// The number of threads, the calling one included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The least work of a chunk, in operations.
    pub fn grain(&self) -> u64 {
        self.grain
    }

    /// The memory of the runtime.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Calls `f` on all threads, which take the numbers from 0 to below `count`: each first those of its own range, in
    /// order, so that of equally many numbers a thread takes about the same ones each time. What they stand for is
    /// then in the cache of its processor.
    pub fn each(&self, count: usize, f: &Work<'_>) {
        self.each_of(&Ranges::new(count, self.threads.min(count)), count, f);
    }

    /// As [`Workers::each`]; but this thread begins alone, and gets help only after so much time.
    pub fn each_soon(&self, count: usize, alone: Duration, f: &Work<'_>) {
        let (ranges, begun) = (Ranges::new(count, self.threads.min(count)), Instant::now());
        let mut first = true;
        f(&mut || {
            let soon = std::mem::take(&mut first) || begun.elapsed() < alone;
            soon.then(|| ranges.take(0)).flatten()
        });
        if !ranges.are_empty() {
            self.each_of(&ranges, count, f);
        }
    }

    fn each_of(&self, ranges: &Ranges, count: usize, f: &Work<'_>) {
        let pool = if count <= 1 { None } else { self.pool() };
        match pool {
            Some(pool) => {
                let _wanted = Wanted::new(&self.wanted);
                pool.run(self.threads.min(count) - 1, &|thread| f(&mut || ranges.take(thread)));
            }
            None => f(&mut || ranges.take(0)),
        }
    }

    fn pool(&self) -> Option<&Pool> {
        let make = || if self.threads > 1 { Pool::new(self.threads - 1) } else { None };
        self.pool.get_or_init(make).as_ref()
    }

    /// Takes an arena that no thread uses, perhaps a new one.
    pub fn take_arena(&self) -> Box<Arena> {
        let idle = self.arenas.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Box::new(Arena::new(self.memory.clone())))
    }

    /// Gives back an arena; most of its memory is freed.
    pub fn give_back_arena(&self, mut arena: Box<Arena>) {
        arena.rest();
        self.arenas.lock().unwrap_or_else(PoisonError::into_inner).push(arena);
    }

    /// Copies ranges of bytes, given as source address, target address and length; `bytes` is the
    /// sum of the lengths. Returns false if it was told to stop before the end.
    pub fn copy(&self, jobs: &[(usize, usize, usize)], bytes: usize, stop: &AtomicBool) -> bool {
        let copy = |(from, to, length): (usize, usize, usize)| {
            // SAFETY: the caller's ranges lie in live allocations, and no target overlaps another
            // range.
            unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, length) };
        };
        if bytes < MIN_PARALLEL_COPY_BYTES {
            jobs.iter().for_each(|job| copy(*job));
            return true;
        }
        let pieces: Vec<_> = jobs
            .iter()
            .flat_map(|&(from, to, length)| {
                let starts = (0..length).step_by(COPY_PIECE_BYTES);
                starts.map(move |at| (from + at, to + at, COPY_PIECE_BYTES.min(length - at)))
            })
            .collect();
        self.each(pieces.len(), &|take| {
            while let Some(at) = take()
                && !stop.load(Relaxed)
            {
                copy(pieces[at]);
            }
        });
        !stop.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_taken_once() {
        let workers = Workers::new(3, 1, Memory::new(u64::MAX));
        for count in [0, 1, 2, 3, 1000] {
            let (taken, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
            workers.each(count, &|take| {
                while let Some(number) = take() {
                    taken.fetch_add(1, Relaxed);
                    sum.fetch_add(number, Relaxed);
                }
            });
            assert_eq!(taken.into_inner(), count);
            assert_eq!(sum.into_inner(), count * count.saturating_sub(1) / 2);
        }
    }

    #[test]
    fn a_long_copy_ends_when_it_is_told_to_stop() {
        let workers = Workers::new(2, 1, Memory::new(u64::MAX));
        let length = 3 * COPY_PIECE_BYTES + 1;
        let from: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();
        for (stop, copied) in [(false, length), (true, 0)] {
            let mut to = vec![0_u8; length];
            let half = length / 2;
            let (source, target) = (from.as_ptr() as usize, to.as_mut_ptr() as usize);
            let jobs = [(source, target, half), (source + half, target + half, length - half)];
            assert_eq!(workers.copy(&jobs, length, &AtomicBool::new(stop)), !stop);
            assert!(to[..copied] == from[..copied]);
            assert!(to[copied..].iter().all(|byte| *byte == 0));
        }
    }
}
