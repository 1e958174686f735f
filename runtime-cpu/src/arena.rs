//! Arenas: the memory that work items allocate.
//!
//! A work item allocates by moving a pointer; when it ends, all its memory is freed at once. A
//! long-running one (a loop that makes arrays) frees with `Mark` and `Compact`: once the garbage since
//! the mark exceeds 64 KiB and twice the size of the arrays to be moved, these are moved down to the mark,
//! or behind the last chunk that is mostly kept, which stays as it is. Copying is therefore paid for by
//! the allocation of the garbage. Freed chunks are used again until the launch ends, since fresh pages
//! of the system are expensive.
//!
//! ```text
//! chunks:  [ arrays … | mark … garbage, kept, garbage ]  →  [ … | kept ]
//! ```

use crate::memory::{Memory, Raw};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The alignment of every array of a work item, and the least memory it takes; in bytes.
pub const ALIGN: usize = 16;

/// Less garbage than this is not worth a compaction, in bytes.
pub const MIN_GARBAGE_BYTES: usize = 64 << 10;

/// The size of the first chunk, in bytes.
const FIRST_CHUNK_BYTES: usize = 64 << 10;

/// The least size of a chunk that compaction makes, in bytes: room for arrays that are garbage at the next one.
const MIN_FRESH_CHUNK_BYTES: usize = 4 * MIN_GARBAGE_BYTES;

/// Arrays of fewer bytes are not worth taking out of an arena instead of copying them.
const MIN_TAKEN_BYTES: usize = 64 << 10;

/// The largest size of a chunk that is kept between launches, in bytes.
const MAX_KEPT_CHUNK_BYTES: usize = 1 << 20;

/// Compactions of so many arrays and chunks allocate nothing: functions that return one array attempt many.
const INLINE_RANGES: usize = 8;

/// The bump allocator of a work item: the free part of the arena's last chunk. Compiled code
/// allocates by moving `next`.
#[repr(C)]
#[derive(Debug)]
pub struct Bump {
    /// The next free byte.
    pub next: *mut u8,
    /// The end of the chunk that `next` is in.
    pub end: *mut u8,
    /// The address from which the next work item allocates, if `grown` is 0.
    pub base: *mut u8,
    /// Not 0 if there is more than one chunk.
    pub grown: i64,
}

impl Default for Bump {
    fn default() -> Bump {
        let none = std::ptr::null_mut();
        Bump { next: none, end: none, base: none, grown: 0 }
    }
}

/// An arena: chunks of memory, mostly of increasing size, padded as the blocks of [`Memory`], their
/// sizes multiples of [`ALIGN`].
#[derive(Debug)]
pub struct Arena {
    chunks: Vec<Chunk>,
    memory: Arc<Memory>,
    /// The free chunks.
    spare: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    start: *mut u8,
    size: usize,
    raw: Raw,
}

// SAFETY: an arena owns its chunks, and `Workers` hands it to one thread at a time.
unsafe impl Send for Arena {}

impl Chunk {
    fn new(size: usize, memory: &Memory) -> Option<Chunk> {
        let raw = memory.raw(size)?;
        Some(Chunk { start: raw.start(), size, raw })
    }

    fn end(&self) -> *mut u8 {
        // SAFETY: the address is one past the end of the chunk, within the allocation's padding.
        unsafe { self.start.add(self.size) }
    }

    fn contains(&self, at: *const u8) -> bool {
        // A mark may be at the end of the chunk.
        (self.start as usize..=self.start as usize + self.size).contains(&(at as usize))
    }
}

impl Arena {
    /// An arena without memory.
    pub fn new(memory: Arc<Memory>) -> Arena {
        Arena { chunks: Vec::new(), memory, spare: Vec::new() }
    }

    /// Begins a work item: it allocates from the first chunk.
    pub fn enter(&mut self, bump: &mut Bump) {
        self.reset(bump);
        if self.chunks.is_empty() {
            // If there is no memory, the first allocation reports it.
            self.grow(bump, 0);
        }
    }

    /// Ends a work item: frees all its memory but the largest chunk.
    pub fn reset(&mut self, bump: &mut Bump) {
        if self.chunks.len() > 1 {
            let last = self.chunks.pop();
            self.free_above(0);
            self.chunks.extend(last);
        }
        bump.grown = 0;
        match self.chunks.first() {
            Some(chunk) => {
                bump.base = chunk.start;
                // SAFETY: the address is one past the end of the chunk.
                bump.end = unsafe { chunk.start.add(chunk.size) };
            }
            None => {
                bump.base = std::ptr::null_mut();
                bump.end = std::ptr::null_mut();
            }
        }
        bump.next = bump.base;
    }

    /// The memory of the runtime, against whose limit the arena counts.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Frees most memory, after a launch.
    pub fn rest(&mut self) {
        if self.chunks.len() > 1
            || self.chunks.first().is_some_and(|c| c.size > MAX_KEPT_CHUNK_BYTES)
        {
            self.free_above(0);
        }
        self.free_spare();
    }

    /// Frees the chunks from number `keep` on, for later chunks of the launch.
    fn free_above(&mut self, keep: usize) {
        self.spare.extend(self.chunks.drain(keep..));
    }

    /// Gives all free chunks back to the runtime's memory.
    fn free_spare(&mut self) {
        for Chunk { size, mut raw, .. } in self.spare.drain(..) {
            self.memory.unreserve(size as u64);
            raw.touch(size);
            self.memory.give_back(raw);
        }
    }

    /// Returns a chunk of `size` bytes; of `least` if a free one has so many, or memory is scarce.
    fn chunk(&mut self, size: usize, least: usize) -> Option<Chunk> {
        let size = size_class(size);
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
        let chunk = Chunk::new(size, &self.memory);
        if chunk.is_none() {
            self.memory.unreserve(size as u64);
        }
        chunk
    }

    /// Adds a chunk from which `bytes` bytes are taken at once; returns null if there is no memory.
    pub fn grow(&mut self, bump: &mut Bump, bytes: usize) -> *mut u8 {
        let twice = self.chunks.last().map_or(FIRST_CHUNK_BYTES, |c| c.size.saturating_mul(2));
        let size = twice.max(bytes.saturating_add(ALIGN));
        let Some(chunk) = self.chunk(size, bytes) else { return std::ptr::null_mut() };
        let start = chunk.start;
        // SAFETY: the chunk has at least `bytes` bytes, so that both addresses lie in it.
        unsafe {
            bump.end = start.add(chunk.size);
            bump.next = start.add(bytes);
        }
        if self.chunks.is_empty() {
            bump.base = start;
        } else {
            bump.grown = 1;
        }
        self.chunks.push(chunk);
        start
    }

    /// Takes an array of `bytes` bytes, at this address, out of the arena, if it is most of what stands in its chunk;
    /// returns the memory, and the bytes of it to be counted. Other arrays of the chunk stay readable as long
    /// as the result lives. Unreserves the memory.
    pub fn take(
        &mut self,
        bump: &mut Bump,
        array: *const u8,
        bytes: usize,
    ) -> Option<(Raw, usize)> {
        if bytes < MIN_TAKEN_BYTES {
            return None;
        }
        // A list that grew has room for as many elements again.
        let mostly = |chunk: &Chunk| chunk.start.cast_const() == array && bytes >= chunk.size / 2;
        let at = self.chunks.iter().position(mostly)?;
        let Chunk { size, mut raw, .. } = self.chunks.remove(at);
        self.memory.unreserve(size as u64);
        raw.touch(size);
        // The work item ends by `reset`, which finds the chunk that is first then.
        match self.chunks.last() {
            Some(last) => {
                (bump.next, bump.end) = (last.end(), last.end());
            }
            None => {
                (bump.next, bump.end) = (std::ptr::null_mut(), std::ptr::null_mut());
                self.grow(bump, 0);
            }
        }
        bump.grown = 1;
        // Blocks have so much more than they count, too.
        let counted = if size - bytes <= size / 8 { bytes } else { size };
        Some((raw, counted))
    }

    /// Returns the number of the chunk of an address that is not before the mark.
    fn since(&self, mark: *const u8, mark_chunk: usize, at: *const u8) -> Option<usize> {
        let found = self.chunks[mark_chunk..].iter().rposition(|c| c.contains(at))?;
        (found > 0 || at as usize >= mark as usize).then_some(mark_chunk + found)
    }

    /// Moves arrays down to the mark, if that frees enough. `keep` holds their addresses and sizes in
    /// bytes; the addresses become the new ones. Returns false if there is no memory.
    ///
    /// A chunk behind that of the mark of which most is kept stays as it is, with all that is in it: a large
    /// array that a loop updates is not copied again and again.
    pub fn compact(&mut self, bump: &mut Bump, mark: *mut u8, keep: &mut [[usize; 2]]) -> bool {
        // A mark made before there was any chunk stands before the first.
        let found = self.chunks.iter().rposition(|c| c.contains(mark));
        let (mark, mark_chunk) = match (found, self.chunks.first()) {
            (Some(at), _) => (mark, at),
            (None, Some(first)) => (first.start, 0),
            (None, None) => return true,
        };
        // Each of many calls that return a large array comes here, mostly in vain.
        if let [array] = keep
            && !self.is_worth_while(bump, mark, mark_chunk, *array)
        {
            return true;
        }
        let mut ranges = self.moving(mark, mark_chunk, keep);
        let stays = self.staying(mark_chunk, &ranges);
        ranges.retain(|range| !stays[range.chunk - mark_chunk]);
        let kept: usize = ranges.iter().map(Range::bytes).sum();
        // To the mark, or behind the last chunk that stays.
        let behind = stays.iter().rposition(|stays| *stays).map(|at| mark_chunk + at + 1);
        let (target, start) = match behind {
            None => (mark_chunk, mark as usize),
            Some(at) => (at, self.chunks.get(at).map_or(0, |chunk| chunk.start as usize)),
        };
        let is_there = |range: &&Range, to: &mut usize| {
            let there = range.chunk == target && range.from == *to;
            *to += range.bytes();
            there
        };
        let mut to = start;
        let there: usize =
            ranges.iter().take_while(|range| is_there(range, &mut to)).map(Range::bytes).sum();
        let moved = kept - there;
        let freed = self.chunks[mark_chunk..].iter().zip(&stays).filter(|(_, stays)| !**stays);
        let freed: usize = freed.map(|(chunk, _)| chunk.size).sum();
        let below = mark as usize - self.chunks[mark_chunk].start as usize;
        let room = match stays.last() {
            Some(false) => bump.end as usize - bump.next as usize,
            _ => 0,
        };
        let garbage = freed.saturating_sub(below + room + kept);
        if garbage <= MIN_GARBAGE_BYTES.max(2 * moved) {
            return true;
        }
        // No range is moved up, and none is written over before it is moved. Else all go to a new chunk.
        let fits =
            self.chunks.get(target).is_some_and(|chunk| kept <= chunk.end() as usize - start)
                && ranges.iter().all(|range| range.chunk >= target);
        let fresh = if fits {
            None
        } else {
            let size = kept.saturating_add(kept / 2).max(MIN_FRESH_CHUNK_BYTES);
            let Some(chunk) = self.chunk(size, kept) else {
                return false;
            };
            Some(chunk)
        };
        let start = fresh.as_ref().map_or(start, |chunk| chunk.start as usize);
        let mut to = start;
        let mut places: SmallVec<[usize; INLINE_RANGES]> = SmallVec::with_capacity(ranges.len());
        for range in &ranges {
            let bytes = range.bytes();
            // SAFETY: the range lies within a chunk, and there is room for all ranges behind `start`.
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
        // What is below the mark stays, too.
        let mut is_kept = stays;
        is_kept[0] = true;
        if fits {
            is_kept[target - mark_chunk] = true;
        }
        for (n, is_kept) in is_kept.into_iter().enumerate().rev() {
            if !is_kept {
                let chunk = self.chunks.remove(mark_chunk + n);
                self.spare.push(chunk);
            }
        }
        self.chunks.extend(fresh);
        bump.grown = i64::from(self.chunks.len() > 1);
        bump.next = to as *mut u8;
        bump.end = self.chunks.last().map_or(bump.next, Chunk::end);
        true
    }

    /// Returns false if a compaction that keeps one array, at this address and of so many bytes, frees too little.
    fn is_worth_while(
        &self,
        bump: &Bump,
        mark: *mut u8,
        mark_chunk: usize,
        [at, bytes]: [usize; 2],
    ) -> bool {
        let Some(chunk) = self.since(mark, mark_chunk, at as *const u8) else { return true };
        let size = self.chunks[chunk].size;
        let (kept, moved) = match () {
            () if chunk > mark_chunk && bytes > size / 2 => (size, 0),
            () if at == mark as usize => (bytes, 0),
            () => (bytes, bytes),
        };
        let below = mark as usize - self.chunks[mark_chunk].start as usize;
        let is_free = chunk + 1 < self.chunks.len() || kept < size;
        let free = if is_free { bump.end as usize - bump.next as usize } else { 0 };
        let all: usize = self.chunks[mark_chunk..].iter().map(|chunk| chunk.size).sum();
        all.saturating_sub(below + free + kept) > MIN_GARBAGE_BYTES.max(2 * moved)
    }

    /// Returns for each chunk from that of the mark on whether it stays as it is in a compaction that keeps some
    /// ranges: more than half of it is kept.
    fn staying(&self, mark_chunk: usize, ranges: &[Range]) -> SmallVec<[bool; INLINE_RANGES]> {
        let mut kept: SmallVec<[usize; INLINE_RANGES]> =
            smallvec![0; self.chunks.len() - mark_chunk];
        for range in ranges {
            kept[range.chunk - mark_chunk] += range.bytes();
        }
        let sizes = self.chunks[mark_chunk..].iter().map(|chunk| chunk.size);
        let behind_mark = |(n, (kept, size)): (usize, (usize, usize))| n > 0 && kept > size / 2;
        kept.into_iter().zip(sizes).enumerate().map(behind_mark).collect()
    }

    /// Returns the disjoint ranges of memory that hold the kept arrays, in order of chunk and address;
    /// they begin and end at multiples of [`ALIGN`].
    fn moving(
        &self,
        mark: *mut u8,
        mark_chunk: usize,
        keep: &[[usize; 2]],
    ) -> SmallVec<[Range; INLINE_RANGES]> {
        let mut ranges: SmallVec<[Range; INLINE_RANGES]> = SmallVec::with_capacity(keep.len());
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

/// Rounds the size of a chunk up, by an eighth at most: if the arrays of a loop grow from turn to turn, a free chunk is large
/// enough for the next turn, too.
fn size_class(bytes: usize) -> usize {
    let step = bytes.checked_next_power_of_two().map_or(ALIGN, |power| power / 16).max(ALIGN);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::random;

    /// An array of so many bytes, each of which is `fill`.
    fn array(arena: &mut Arena, bump: &mut Bump, bytes: usize, fill: u8) -> [usize; 2] {
        let all = bytes.next_multiple_of(ALIGN);
        let mut at = bump.next;
        if all <= bump.end as usize - bump.next as usize {
            // SAFETY: the end was compared.
            bump.next = unsafe { at.add(all) };
        } else {
            at = arena.grow(bump, all);
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
        let mut arena = Arena::new(memory.clone());
        let mut bump = Bump::default();
        for seed in 0..60 {
            arena.enter(&mut bump);
            let mut draws = 0;
            let mut below = |bound: u64| {
                draws += 1;
                (random::bits(seed, draws) as u64 % bound) as usize
            };
            let scale = [100, 10_000, 100_000][below(3)];
            let mut old = Vec::new();
            for fill in 0..below(5) {
                let length = below(scale);
                old.push((array(&mut arena, &mut bump, length, fill as u8), fill as u8));
            }
            for _ in 0..3 {
                let mark = bump.next;
                let mut young = Vec::new();
                for fill in 100..100 + below(40) {
                    let length = below(scale);
                    young.push((array(&mut arena, &mut bump, length, fill as u8), fill as u8));
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
                assert!(arena.compact(&mut bump, mark, &mut keep));
                assert!(keep.iter().zip(&kept).all(|(at, (_, fill))| holds(*at, *fill)));
                let moved = keep.iter().zip(&kept).map(|(at, (_, fill))| (*at, *fill));
                old = moved.collect();
            }
            arena.rest();
        }
        drop(arena);
        assert!(memory.reserve(u64::MAX), "all was given back");
    }

    #[test]
    fn a_large_array_stays_where_it_is_while_a_loop_makes_small_ones() {
        const LARGE_BYTES: usize = 2 << 20;
        const SMALL_BYTES: usize = 3000;
        let memory = Memory::new(u64::MAX);
        let mut arena = Arena::new(memory.clone());
        let mut bump = Bump::default();
        arena.enter(&mut bump);
        let mark = bump.next;
        let mut kept = [array(&mut arena, &mut bump, LARGE_BYTES, 1), [bump.next as usize, 0]];
        let at = kept[0][0];
        for turn in 0..1000 {
            array(&mut arena, &mut bump, 4 * SMALL_BYTES, 9);
            kept[1] = array(&mut arena, &mut bump, SMALL_BYTES, turn as u8);
            assert!(arena.compact(&mut bump, mark, &mut kept));
            assert_eq!(kept[0][0], at);
            assert!(holds(kept[1], turn as u8));
        }
        assert!(holds(kept[0], 1));
        let bytes: usize = arena.chunks.iter().chain(&arena.spare).map(|chunk| chunk.size).sum();
        assert!(bytes < 4 * LARGE_BYTES, "{bytes} bytes");
    }

    #[test]
    fn an_array_that_is_most_of_its_chunk_can_be_taken() {
        const BYTES: usize = 1 << 20;
        let memory = Memory::new(u64::MAX);
        let mut arena = Arena::new(memory.clone());
        let mut bump = Bump::default();
        arena.enter(&mut bump);
        let array = arena.grow(&mut bump, BYTES);
        // SAFETY: the array has so many bytes.
        unsafe { array.write_bytes(7, BYTES) };
        assert!(arena.take(&mut bump, array, BYTES / 4).is_none(), "too small a part");
        assert!(arena.take(&mut bump, array.wrapping_add(16), BYTES).is_none(), "no beginning");
        let (raw, counted) = arena.take(&mut bump, array, BYTES).unwrap();
        assert_eq!((raw.start(), counted), (array, BYTES));
        let block = memory.adopt(raw, BYTES, counted).unwrap();
        assert_eq!(memory.usage().0, BYTES as u64);
        // The work item goes on, and ends.
        let other = arena.grow(&mut bump, BYTES);
        // SAFETY: both arrays have so many bytes.
        unsafe {
            other.write_bytes(9, BYTES);
            assert_eq!((*block.start(), *block.start().add(BYTES - 1)), (7, 7));
        }
        arena.reset(&mut bump);
        arena.rest();
        drop((block, arena));
        assert_eq!(memory.usage().0, 0);
    }
}
