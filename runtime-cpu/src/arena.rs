//! The memory of instances, and what compiled code knows of its surroundings.
//!
//! An instance allocates by moving a pointer; when it ends, everything it allocated is gone at
//! once. A long-running instance (a loop that makes arrays) frees with `Mark` and `Compact`: once
//! the garbage since the mark exceeds 64 KiB and twice what is kept, what is kept is moved down
//! to the mark. Copying is therefore paid for by the allocation of what is freed.
//!
//! ```text
//! chunks:  [ instance's arrays … | mark … garbage, kept, garbage ]  →  [ … | kept ]
//! ```

use crate::memory::{Memory, PAD};
use std::alloc::Layout;
use std::mem::offset_of;
use std::ptr::NonNull;
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

/// Chunks of memory, each at least twice as large as the one before; bordered as the blocks of
/// [`Memory`], and their sizes multiples of [`ALIGN`].
#[derive(Debug)]
pub struct Arena {
    chunks: Vec<Chunk>,
    /// The last large chunk that was let go of, for a loop that asks for the same in each turn;
    /// it counts as memory in use.
    spare: Option<Chunk>,
    memory: Arc<Memory>,
    /// Where kept arrays wait while the memory below is made free.
    aside: Vec<u8>,
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
        // SAFETY: the layout's size is not 0.
        let base = NonNull::new(unsafe { std::alloc::alloc(Chunk::layout(size)?) })?;
        // SAFETY: the border is part of the allocation.
        Some(Chunk { start: unsafe { base.as_ptr().add(PAD) }, size })
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
        Arena { chunks: Vec::new(), spare: None, memory, aside: Vec::new() }
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
        self.aside = Vec::new();
    }

    fn free_above(&mut self, keep: usize) {
        for chunk in self.chunks.drain(keep..) {
            let least = self.spare.as_ref().map_or(KEPT, |spare| spare.size);
            let gone = if chunk.size > least { self.spare.replace(chunk) } else { Some(chunk) };
            self.memory.unreserve(gone.map_or(0, |chunk| chunk.size as u64));
        }
    }

    fn free_spare(&mut self) {
        let gone = self.spare.take();
        self.memory.unreserve(gone.map_or(0, |chunk| chunk.size as u64));
    }

    /// A new chunk of this size, counted.
    fn chunk(&mut self, size: usize) -> Option<Chunk> {
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
        // When memory is scarce, just what is needed.
        let chunk = self.spare.take_if(|spare| spare.size >= size).or_else(|| {
            self.free_spare();
            self.chunk(size).or_else(|| self.chunk(bytes.max(ALIGN)))
        });
        let Some(chunk) = chunk else { return std::ptr::null_mut() };
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

    /// Takes bytes where there are some.
    fn take(&mut self, env: &mut Env, bytes: usize) -> *mut u8 {
        if bytes <= (env.end as usize).saturating_sub(env.next as usize) {
            let start = env.next;
            // SAFETY: the end was compared.
            env.next = unsafe { start.add(bytes) };
            return start;
        }
        self.grow(env, bytes)
    }

    /// Which chunk holds an address, and is not before the mark; with its place in that order.
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
        // The ranges to move, in order of address; overlapping ones are one.
        let mut moving: Vec<(usize, usize)> = keep
            .iter()
            .filter(|[at, _]| self.since(mark, mark_chunk, *at as *const u8).is_some())
            .map(|[at, bytes]| (*at, at + bytes))
            .collect();
        moving.sort_unstable();
        moving.dedup_by(|next, last| {
            let joined = next.0 < last.1 || next.0 == last.0;
            if joined {
                last.1 = last.1.max(next.1);
            }
            joined
        });
        let kept: usize = moving.iter().map(|(from, to)| to - from).sum();
        if all.saturating_sub(kept) <= GARBAGE.max(2 * kept) {
            return true;
        }
        if !self.memory.reserve(kept as u64) {
            return false;
        }
        self.aside.clear();
        for (from, to) in &moving {
            // SAFETY: kept arrays lie within the chunks, which are still there.
            let bytes = unsafe { std::slice::from_raw_parts(*from as *const u8, to - from) };
            self.aside.extend_from_slice(bytes);
        }
        self.free_above(mark_chunk + 1);
        env.grown = i64::from(mark_chunk > 0);
        env.next = mark;
        let chunk = &self.chunks[mark_chunk];
        // SAFETY: one past the end of the chunk.
        env.end = unsafe { chunk.start.add(chunk.size) };
        let mut done = 0;
        let mut places = Vec::with_capacity(moving.len());
        for (from, to) in &moving {
            let bytes = to - from;
            let place = self.take(env, bytes.next_multiple_of(ALIGN));
            if place.is_null() {
                self.memory.unreserve(kept as u64);
                return false;
            }
            // SAFETY: as many bytes were taken, and `aside` holds as many from `done` on.
            unsafe { std::ptr::copy_nonoverlapping(self.aside.as_ptr().add(done), place, bytes) };
            done += bytes;
            places.push(place as usize);
        }
        self.memory.unreserve(kept as u64);
        if self.aside.capacity() > KEPT {
            self.aside = Vec::new();
        }
        for [at, _] in keep.iter_mut() {
            let range = moving.iter().position(|(from, to)| from == at || (from < at && *at < *to));
            if let Some(range) = range {
                *at = places[range] + (*at - moving[range].0);
            }
        }
        true
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.free_above(0);
        self.free_spare();
    }
}

/// Allocates when the chunk is full. `bytes` is a multiple of [`ALIGN`], or below 0 when it is
/// too large to be told.
///
/// # Safety
/// `env` is that of the running code and has an arena.
pub unsafe extern "C" fn grow(env: *mut Env, bytes: i64) -> *mut u8 {
    // SAFETY: as promised; compiled code does not hold references.
    let env = unsafe { &mut *env };
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    // SAFETY: as promised.
    unsafe { &mut *env.arena }.grow(env, bytes)
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
