//! The memory of instances, and what compiled code knows of its surroundings.
//!
//! An instance allocates by moving a pointer; when it ends, everything it allocated is gone at
//! once. A long-running instance (a loop that makes arrays) frees with `Mark` and `Compact`: once
//! the garbage since the mark exceeds 64 KiB and twice what is kept, what is kept is moved down
//! to the mark. Copying is therefore paid for by the allocation of what is freed. Chunks that
//! were freed are used again until the launch ends: pages that the system has given are dear.
//!
//! ```text
//! chunks:  [ instance's arrays … | mark … garbage, kept, garbage ]  →  [ … | kept ]
//! ```

use crate::launch::Workers;
use crate::memory::{Memory, PAD};
use crate::pages;
use std::alloc::Layout;
use std::mem::offset_of;
use std::sync::Arc;

/// Alignment of every array of an instance; also the least memory one takes.
pub const ALIGN: usize = 16;

/// Garbage below this is left alone.
pub const GARBAGE: usize = 64 << 10;

/// The size of the first chunk.
const FIRST: usize = 64 << 10;

/// The greatest size that a chunk kept between launches has.
const KEPT: usize = 1 << 20;

/// How compiled code ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// As it should.
    Done = 0,
    /// A check did not hold.
    Check = 1,
    /// `Fail`, with a text.
    Fail = 2,
    /// Recursion too deep.
    TooDeep = 3,
    /// Somebody wants it to stop.
    Interrupted = 4,
    /// No memory.
    OutOfMemory = 5,
}

/// What compiled code is given, one for each piece of work; fields are read and written there at
/// the offsets in [`at`].
#[repr(C)]
#[derive(Debug)]
pub struct Env {
    /// The next free byte of the instance's memory.
    pub next: *mut u8,
    /// The end of the chunk it is in.
    pub end: *mut u8,
    /// Where the next instance begins, if `grown` is 0.
    pub base: *mut u8,
    /// Whether there is more than one chunk.
    pub grown: i64,
    /// The stack may not grow below this.
    pub stack_limit: usize,
    /// Not 0 when somebody wants this to stop.
    pub interrupt: *const u8,
    /// How deep calls may go.
    pub max_depth: i64,
    /// The point that failed.
    pub point: i64,
    /// Which check.
    pub site: i64,
    /// How many details.
    pub details: i64,
    /// The details.
    pub detail: [i64; 4],
    /// The text of a `Fail`.
    pub text: *const u8,
    /// Its length.
    pub text_length: i64,
    /// The slow half of allocation.
    pub arena: *mut Arena,
    /// The threads of the runtime.
    pub workers: *const Workers,
    /// Not 0 when no other chunk is at work.
    pub alone: i64,
    /// Where the parts that points emit are put: one for each output.
    pub emitted: *mut Vec<u8>,
}

/// Offsets of [`Env`]'s fields.
#[allow(missing_docs, reason = "they are named as the fields")]
pub mod at {
    use super::{Env, offset_of};
    pub const NEXT: i32 = offset_of!(Env, next) as i32;
    pub const END: i32 = offset_of!(Env, end) as i32;
    pub const BASE: i32 = offset_of!(Env, base) as i32;
    pub const GROWN: i32 = offset_of!(Env, grown) as i32;
    pub const STACK_LIMIT: i32 = offset_of!(Env, stack_limit) as i32;
    pub const INTERRUPT: i32 = offset_of!(Env, interrupt) as i32;
    pub const MAX_DEPTH: i32 = offset_of!(Env, max_depth) as i32;
    pub const POINT: i32 = offset_of!(Env, point) as i32;
    pub const SITE: i32 = offset_of!(Env, site) as i32;
    pub const DETAILS: i32 = offset_of!(Env, details) as i32;
    pub const DETAIL: i32 = offset_of!(Env, detail) as i32;
    pub const TEXT: i32 = offset_of!(Env, text) as i32;
    pub const TEXT_LENGTH: i32 = offset_of!(Env, text_length) as i32;
}

/// Chunks of memory, the later the larger, as a rule; bordered as the blocks of
/// [`Memory`], and their sizes multiples of [`ALIGN`].
#[derive(Debug)]
pub struct Arena {
    chunks: Vec<Chunk>,
    memory: Arc<Memory>,
    /// Those that are free.
    spare: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    start: *mut u8,
    size: usize,
}

// SAFETY: an arena owns its chunks; it is used by one thread at a time.
unsafe impl Send for Arena {}

impl Chunk {
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size.checked_add(2 * PAD)?, PAD).ok()
    }

    fn new(size: usize) -> Option<Chunk> {
        let base = pages::alloc(Chunk::layout(size)?)?;
        // SAFETY: the border is part of the allocation.
        Some(Chunk { start: unsafe { base.as_ptr().add(PAD) }, size })
    }

    fn end(&self) -> *mut u8 {
        // SAFETY: one past the end.
        unsafe { self.start.add(self.size) }
    }

    fn contains(&self, at: *const u8) -> bool {
        // The end counts: a mark may stand there.
        (self.start as usize..=self.start as usize + self.size).contains(&(at as usize))
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(layout) = Chunk::layout(self.size) {
            // SAFETY: allocated with this layout, a border before.
            unsafe { std::alloc::dealloc(self.start.sub(PAD), layout) };
        }
    }
}

impl Arena {
    /// An arena without memory.
    pub fn new(memory: Arc<Memory>) -> Arena {
        Arena { chunks: Vec::new(), memory, spare: Vec::new() }
    }

    /// Lets `env` allocate here.
    pub fn enter(&mut self, env: &mut Env) {
        env.arena = self;
        self.reset(env);
        if self.chunks.is_empty() {
            // If there is no memory, whoever allocates will hear of it.
            self.grow(env, 0);
        }
    }

    /// Ends an instance: nothing is allocated any more. The largest chunk is kept.
    fn reset(&mut self, env: &mut Env) {
        if self.chunks.len() > 1 {
            let last = self.chunks.pop();
            self.free_above(0);
            self.chunks.extend(last);
        }
        env.grown = 0;
        match self.chunks.first() {
            Some(chunk) => {
                env.base = chunk.start;
                // SAFETY: one past the end of the chunk.
                env.end = unsafe { chunk.start.add(chunk.size) };
            }
            None => {
                env.base = std::ptr::null_mut();
                env.end = std::ptr::null_mut();
            }
        }
        env.next = env.base;
    }

    /// After a launch: keeps little.
    pub fn rest(&mut self) {
        if self.chunks.len() > 1 || self.chunks.first().is_some_and(|c| c.size > KEPT) {
            self.free_above(0);
        }
        self.free_spare();
    }

    /// Lets go of chunks, which are kept for the next.
    fn free_above(&mut self, keep: usize) {
        self.spare.extend(self.chunks.drain(keep..));
    }

    /// Gives all free chunks back.
    fn free_spare(&mut self) {
        for chunk in self.spare.drain(..) {
            self.memory.unreserve(chunk.size as u64);
        }
    }

    /// A chunk of so many bytes; of `least` if there is such a free one, or memory is scarce.
    fn chunk(&mut self, size: usize, least: usize) -> Option<Chunk> {
        let sizes = || self.spare.iter().map(|chunk| chunk.size).enumerate();
        let last = self.chunks.last().map_or(0, |chunk| chunk.size);
        let ample = sizes().filter(|(_, free)| *free >= size).min_by_key(|(_, free)| *free);
        let found = ample.or_else(|| {
            let enough = sizes().filter(|(_, free)| *free >= least.max(last));
            enough.max_by_key(|(_, free)| *free)
        });
        if let Some((at, _)) = found {
            return Some(self.spare.swap_remove(at));
        }
        self.new_chunk(size).or_else(|| {
            self.free_spare();
            self.new_chunk(least.max(ALIGN))
        })
    }

    fn new_chunk(&mut self, size: usize) -> Option<Chunk> {
        let size = size.checked_next_multiple_of(ALIGN)?;
        if !self.memory.reserve(size as u64) {
            return None;
        }
        let chunk = Chunk::new(size);
        if chunk.is_none() {
            self.memory.unreserve(size as u64);
        }
        chunk
    }

    /// A new chunk with room for so many bytes, which are taken; null if there is no memory.
    fn grow(&mut self, env: &mut Env, bytes: usize) -> *mut u8 {
        let twice = self.chunks.last().map_or(FIRST, |c| c.size.saturating_mul(2));
        let size = twice.max(bytes.saturating_add(ALIGN));
        let Some(chunk) = self.chunk(size, bytes) else { return std::ptr::null_mut() };
        let start = chunk.start;
        // SAFETY: both are within the chunk.
        unsafe {
            env.end = start.add(chunk.size);
            env.next = start.add(bytes);
        }
        if self.chunks.is_empty() {
            env.base = start;
        } else {
            env.grown = 1;
        }
        self.chunks.push(chunk);
        start
    }

    /// Which chunk holds an address that is not before the mark.
    fn since(&self, mark: *const u8, mark_chunk: usize, at: *const u8) -> Option<usize> {
        let found = self.chunks[mark_chunk..].iter().rposition(|c| c.contains(at))?;
        (found > 0 || at as usize >= mark as usize).then_some(mark_chunk + found)
    }

    /// Moves arrays down to the mark, if the garbage is worth it. `keep` holds addresses and
    /// sizes in bytes; the addresses become the new ones. False if there is no memory.
    fn compact(&mut self, env: &mut Env, mark: *mut u8, keep: &mut [[usize; 2]]) -> bool {
        // A mark made before there was any chunk stands before the first.
        let found = self.chunks.iter().rposition(|c| c.contains(mark));
        let (mark, mark_chunk) = match (found, self.chunks.first()) {
            (Some(at), _) => (mark, at),
            (None, Some(first)) => (first.start, 0),
            (None, None) => return true,
        };
        let above: usize = self.chunks[mark_chunk..].iter().map(|c| c.size).sum();
        let below = mark as usize - self.chunks[mark_chunk].start as usize;
        let room = env.end as usize - env.next as usize;
        let all = above - below - room;
        let ranges = self.moving(mark, mark_chunk, keep);
        let kept: usize = ranges.iter().map(Range::bytes).sum();
        if all.saturating_sub(kept) <= GARBAGE.max(2 * kept) {
            return true;
        }
        // Down to the mark, if it fits there: no range is moved up, and none is written over
        // before it is moved. Else to a new chunk.
        let chunk = &self.chunks[mark_chunk];
        let chunk_end = chunk.start as usize + chunk.size;
        let fits = kept <= chunk_end - mark as usize;
        let fresh = if fits {
            None
        } else {
            let Some(chunk) = self.chunk(kept.saturating_add(kept / 2), kept) else {
                return false;
            };
            Some(chunk)
        };
        let start = fresh.as_ref().map_or(mark, |chunk| chunk.start);
        let mut to = start as usize;
        let mut places = Vec::with_capacity(ranges.len());
        for range in &ranges {
            let bytes = range.bytes();
            // SAFETY: the range lies within a chunk; there is room for all of them behind `start`.
            unsafe { std::ptr::copy(range.from as *const u8, to as *mut u8, bytes) };
            places.push(to);
            to += bytes;
        }
        for [at, _] in keep.iter_mut() {
            let range = ranges.iter().position(|range| (range.from..range.to).contains(at));
            if let Some(range) = range {
                *at = places[range] + (*at - ranges[range].from);
            }
        }
        self.free_above(mark_chunk + 1);
        self.chunks.extend(fresh);
        env.grown = i64::from(self.chunks.len() > 1);
        env.next = to as *mut u8;
        env.end = self.chunks.last().map_or(env.next, Chunk::end);
        true
    }

    /// The ranges of memory that hold what is kept, in order of chunk and address; they begin and
    /// end at multiples of [`ALIGN`], and are apart.
    fn moving(&self, mark: *mut u8, mark_chunk: usize, keep: &[[usize; 2]]) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::with_capacity(keep.len());
        for [at, bytes] in keep {
            if let Some(chunk) = self.since(mark, mark_chunk, *at as *const u8) {
                let (from, to) = (at - at % ALIGN, (at + bytes).next_multiple_of(ALIGN));
                // Even of an empty array there is some, so that it can be found again.
                ranges.push(Range { chunk, from, to: to.max(from + ALIGN) });
            }
        }
        ranges.sort_unstable_by_key(|range| (range.chunk, range.from));
        ranges.dedup_by(|next, last| {
            let joined = next.chunk == last.chunk && next.from < last.to;
            if joined {
                last.to = last.to.max(next.to);
            }
            joined
        });
        // An empty array may stand at the very end of its chunk.
        for range in &mut ranges {
            range.to = range.to.min(self.chunks[range.chunk].end() as usize);
        }
        ranges
    }
}

/// A part of a chunk.
#[derive(Debug)]
struct Range {
    chunk: usize,
    from: usize,
    to: usize,
}

impl Range {
    fn bytes(&self) -> usize {
        self.to - self.from
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.free_above(0);
        self.free_spare();
    }
}

/// Allocates when the chunk is full. `bytes` is a multiple of [`ALIGN`], or below 0 when it is
/// too large to be told. If that fails the particulars are the bytes.
///
/// # Safety
/// `env` is that of the running code and has an arena.
pub unsafe extern "C" fn grow(env: *mut Env, bytes: i64) -> *mut u8 {
    // SAFETY: as promised; compiled code does not hold references.
    let env = unsafe { &mut *env };
    let start = match usize::try_from(bytes) {
        // SAFETY: as promised.
        Ok(bytes) => unsafe { &mut *env.arena }.grow(env, bytes),
        Err(_) => std::ptr::null_mut(),
    };
    if start.is_null() {
        env.details = 1;
        env.detail[0] = if bytes < 0 { i64::MAX } else { bytes };
    }
    start
}

/// Ends an instance that needed more than one chunk.
///
/// # Safety
/// As [`grow`].
pub unsafe extern "C" fn reset(env: *mut Env) {
    // SAFETY: as promised.
    let env = unsafe { &mut *env };
    // SAFETY: as promised.
    unsafe { &mut *env.arena }.reset(env);
}

/// `Compact`: `keep` holds `count` pairs of addresses and bytes.
///
/// # Safety
/// As [`grow`]; the pairs are arrays with as many bytes.
pub unsafe extern "C" fn compact(
    env: *mut Env,
    mark: *mut u8,
    keep: *mut [usize; 2],
    count: i64,
) -> i32 {
    // SAFETY: as promised.
    let env = unsafe { &mut *env };
    // SAFETY: as promised.
    let keep = unsafe { std::slice::from_raw_parts_mut(keep, count as usize) };
    // SAFETY: as promised.
    let done = unsafe { &mut *env.arena }.compact(env, mark, keep);
    if done { Status::Done as i32 } else { Status::OutOfMemory as i32 }
}

/// Appends the part of a point to an output.
///
/// # Safety
/// As [`grow`]; `from` has so many bytes, and there is such an output.
pub unsafe extern "C" fn emit(env: *mut Env, output: i64, from: *const u8, bytes: i64) -> i32 {
    // SAFETY: as promised.
    let env = unsafe { &mut *env };
    // SAFETY: as promised.
    let memory = unsafe { &(*env.arena).memory };
    // SAFETY: as promised.
    let part = unsafe { &mut *env.emitted.add(output as usize) };
    let bytes = bytes.max(0) as usize;
    if part.capacity() - part.len() < bytes {
        let before = part.capacity();
        let more = (part.len() + bytes).max(2 * before).max(4096) - part.len();
        if !memory.reserve((part.len() + more - before) as u64) {
            return Status::OutOfMemory as i32;
        }
        let reserved = part.len() + more;
        if part.try_reserve_exact(more).is_err() {
            memory.unreserve((reserved - before) as u64);
            return Status::OutOfMemory as i32;
        }
        // What is counted is the capacity, and `try_reserve_exact` may give more.
        if part.capacity() > reserved && !memory.reserve((part.capacity() - reserved) as u64) {
            memory.unreserve((reserved - before) as u64);
            *part = Vec::new();
            return Status::OutOfMemory as i32;
        }
    }
    // SAFETY: the capacity was seen to; the source is as long, and part of an array of the
    // instance or the runtime, not of `part`.
    unsafe {
        std::ptr::copy_nonoverlapping(from, part.as_mut_ptr().add(part.len()), bytes);
        part.set_len(part.len() + bytes);
    }
    Status::Done as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::random;

    /// An array of so many bytes, each of which is `fill`.
    fn array(env: &mut Env, bytes: usize, fill: u8) -> [usize; 2] {
        let all = bytes.next_multiple_of(ALIGN);
        let mut at = env.next;
        if all <= env.end as usize - env.next as usize {
            // SAFETY: the end was compared.
            env.next = unsafe { at.add(all) };
        } else {
            // SAFETY: the environment has an arena.
            at = unsafe { grow(env, all as i64) };
        }
        assert!(!at.is_null());
        // SAFETY: it was just allocated.
        unsafe { std::ptr::write_bytes(at, fill, bytes) };
        [at as usize, bytes]
    }

    fn holds(kept: [usize; 2], fill: u8) -> bool {
        // SAFETY: it is kept.
        let bytes = unsafe { std::slice::from_raw_parts(kept[0] as *const u8, kept[1]) };
        bytes.iter().all(|byte| *byte == fill)
    }

    #[test]
    fn what_is_kept_stays_as_it_was() {
        let memory = Memory::new(u64::MAX);
        let workers = Workers::new(1, 1, memory.clone());
        let mut arena = Box::new(Arena::new(memory.clone()));
        let mut env = Env::new(&Default::default(), &workers, true);
        for seed in 0..60 {
            arena.enter(&mut env);
            let mut draws = 0;
            let mut below = |bound: u64| {
                draws += 1;
                (random::bits(seed, draws) as u64 % bound) as usize
            };
            let scale = [100, 10_000, 100_000][below(3)];
            let mut old = Vec::new();
            for fill in 0..below(5) {
                let length = below(scale);
                old.push((array(&mut env, length, fill as u8), fill as u8));
            }
            for _ in 0..3 {
                let mark = env.next;
                let mut young = Vec::new();
                for fill in 100..100 + below(40) {
                    let length = below(scale);
                    young.push((array(&mut env, length, fill as u8), fill as u8));
                }
                let mut kept = old.clone();
                for (array, fill) in young {
                    // All of it, a part, nothing; some twice.
                    for _ in 0..below(3) {
                        let [at, bytes] = array;
                        let skip = below(bytes as u64 + 1) * below(2);
                        kept.push(([at + skip, bytes - skip], fill));
                    }
                }
                let mut keep: Vec<[usize; 2]> = kept.iter().map(|(array, _)| *array).collect();
                assert!(arena.compact(&mut env, mark, &mut keep));
                assert!(keep.iter().zip(&kept).all(|(at, (_, fill))| holds(*at, *fill)));
                let moved = keep.iter().zip(&kept).map(|(at, (_, fill))| (*at, *fill));
                old = moved.collect();
            }
            arena.rest();
        }
        drop(arena);
        assert!(memory.reserve(u64::MAX), "all was given back");
    }
}
