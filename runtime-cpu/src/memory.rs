//! Memory: aligned blocks, those freed kept for the next, and an exact count.
//!
//! Every block is bordered by [`PAD`] readable bytes on either side, so that a vector load of
//! which at least one lane is in bounds reads nothing that is not ours, and so that the first
//! element of an array without elements may be read too.

use crate::pages;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::Fault;
use nesl_runtime::runtime::Failure;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Readable bytes before and behind each block; also its alignment.
pub const PAD: usize = 64;

/// Large blocks do not all begin at the same place of their first page: what goes through several
/// of them in step would need the same set of a cache for all, and (where pages are large) the
/// same banks of the memory, each time another row of them. There are so many places.
const PLACES: usize = 11;

/// Blocks of fewer bytes lie anywhere.
const LARGE: usize = 64 << 10;

/// Free blocks are kept while they are together at most this, or as much as is in use.
const KEEP: u64 = 64 << 20;

/// Where the system may take their memory when it needs some, free blocks are kept while they are
/// together at most twice as much as was ever in use, up to this part of the limit: what a form
/// frees the next one like it uses again.
const LENT: u64 = 4;

/// The memory of one runtime.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    /// Bytes of blocks in use.
    used: AtomicU64,
    peak: AtomicU64,
    /// Bytes of what instances allocate: counted against the limit only.
    instances: AtomicU64,
    free: Mutex<Free>,
    /// Where the next large block begins.
    place: AtomicUsize,
}

/// Blocks nobody uses, the last freed last.
#[derive(Debug, Default)]
struct Free {
    blocks: Vec<Raw>,
    bytes: u64,
    /// Of these, the bytes of blocks whose memory the system may take.
    lent: u64,
}

/// An allocation with its borders.
#[derive(Debug)]
struct Raw {
    base: NonNull<u8>,
    /// Bytes before the border.
    skip: usize,
    /// Bytes between the borders.
    capacity: usize,
    /// Whether the system may take the memory, and what is in it is lost.
    lent: bool,
}

// SAFETY: a `Raw` owns its allocation, which no thread is tied to.
unsafe impl Send for Raw {}

/// Bytes of a runtime, freed when dropped.
#[derive(Debug)]
pub struct Block {
    raw: Option<Raw>,
    /// Bytes counted.
    bytes: usize,
    memory: Arc<Memory>,
}

// SAFETY: all access to the bytes goes through raw pointers, whose users see to it that threads
// do not race (the contract of launches).
unsafe impl Sync for Block {}

impl Memory {
    /// None used yet of so many bytes.
    pub fn new(limit: u64) -> Arc<Memory> {
        Arc::new(Memory {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            instances: AtomicU64::new(0),
            free: Mutex::default(),
            place: AtomicUsize::new(0),
        })
    }

    /// A block of so many bytes, not yet written.
    pub fn alloc(self: &Arc<Memory>, bytes: usize) -> Result<Block, Failure> {
        let used = self.used.fetch_add(bytes as u64, Relaxed).saturating_add(bytes as u64);
        if used.saturating_add(self.instances.load(Relaxed)) > self.limit {
            self.used.fetch_sub(bytes as u64, Relaxed);
            return Err(self.exhausted(Some(bytes as u64)));
        }
        let new = || {
            let place = if bytes < LARGE { 0 } else { self.place.fetch_add(1, Relaxed) % PLACES };
            Raw::new(bytes, place * apart(bytes))
        };
        let Some(raw) = self.reuse(bytes).or_else(new).or_else(|| {
            self.trim(0);
            new()
        }) else {
            self.used.fetch_sub(bytes as u64, Relaxed);
            return Err(self.exhausted(Some(bytes as u64)));
        };
        self.peak.fetch_max(used, Relaxed);
        Ok(Block { raw: Some(raw), bytes, memory: self.clone() })
    }

    /// The failure to get so many bytes; `None` if nobody says how many.
    pub fn exhausted(&self, wanted: Option<u64>) -> Failure {
        let used = self.used.load(Relaxed).saturating_add(self.instances.load(Relaxed));
        Failure::Machine(Fault::out_of_memory(wanted, used, self.limit))
    }

    /// Bytes of blocks in use, and the most there were.
    pub fn usage(&self) -> (u64, u64) {
        (self.used.load(Relaxed), self.peak.load(Relaxed))
    }

    /// Asks for memory that an instance wants; whether there is so much.
    pub fn reserve(&self, bytes: u64) -> bool {
        let before = self.instances.fetch_add(bytes, Relaxed);
        let all = before.saturating_add(bytes).saturating_add(self.used.load(Relaxed));
        if all > self.limit {
            self.instances.fetch_sub(bytes, Relaxed);
            return false;
        }
        true
    }

    /// Gives back what [`Memory::reserve`] gave.
    pub fn unreserve(&self, bytes: u64) {
        self.instances.fetch_sub(bytes, Relaxed);
    }

    /// A free block that is large enough and not much too large.
    fn reuse(&self, bytes: usize) -> Option<Raw> {
        let wanted = capacity(bytes)?;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |raw: &Raw| raw.capacity >= wanted && raw.capacity <= wanted + wanted / 8;
        let at = free.blocks.iter().rposition(fits)?;
        let mut raw = free.blocks.remove(at);
        free.bytes -= raw.capacity as u64;
        if std::mem::take(&mut raw.lent) {
            free.lent -= raw.capacity as u64;
        }
        Some(raw)
    }

    fn give_back(&self, raw: Raw) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.bytes += raw.capacity as u64;
        free.blocks.push(raw);
        let keep = KEEP.max(self.used.load(Relaxed));
        let most = self.peak.load(Relaxed).saturating_mul(2).min(self.limit / LENT);
        free.lend(keep);
        drop(free);
        self.trim(keep.max(most));
    }

    /// Frees the oldest free blocks until they are together at most this (and not too many to
    /// look through).
    fn trim(&self, keep: u64) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone = 0;
        while gone < free.blocks.len() && (free.bytes > keep || free.blocks.len() - gone > 64) {
            let raw = &free.blocks[gone];
            let (bytes, lent) = (raw.capacity as u64, raw.lent);
            free.bytes -= bytes;
            free.lent -= if lent { bytes } else { 0 };
            gone += 1;
        }
        free.blocks.drain(..gone);
    }
}

impl Free {
    /// Lends the oldest blocks to the system until the others are together at most this; what it
    /// does not take goes at once.
    fn lend(&mut self, keep: u64) {
        let mut at = 0;
        while at < self.blocks.len() && self.bytes - self.lent > keep {
            let raw = &mut self.blocks[at];
            if raw.lent {
                at += 1;
            } else if raw.lend() {
                self.lent += raw.capacity as u64;
                at += 1;
            } else {
                self.bytes -= raw.capacity as u64;
                self.blocks.remove(at);
            }
        }
    }
}

/// Sizes are rounded up, so that freed blocks fit again.
fn capacity(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 16).max(PAD);
    bytes.max(1).checked_next_multiple_of(step)
}

/// How far the places where large blocks begin are apart: some lines of a cache, and of the largest
/// as much as lies in one row of the memory's banks.
fn apart(bytes: usize) -> usize {
    const PAGE: usize = 4 << 10;
    const ROWS: usize = 32 << 10;
    (bytes / 512 / PAGE * PAGE).min(ROWS) + 6 * PAD
}

impl Raw {
    fn new(bytes: usize, skip: usize) -> Option<Raw> {
        let capacity = capacity(bytes)?;
        let base = pages::alloc(Raw::layout(skip, capacity)?)?;
        Some(Raw { base, skip, capacity, lent: false })
    }

    fn layout(skip: usize, capacity: usize) -> Option<Layout> {
        Layout::from_size_align(capacity.checked_add(skip + 2 * PAD)?, PAD).ok()
    }

    /// Lets the system take the memory when it needs some; whether it does that.
    fn lend(&mut self) -> bool {
        let layout = Raw::layout(self.skip, self.capacity);
        // SAFETY: the allocation is ours, and nobody reads what is in it any more.
        self.lent = layout.is_some_and(|layout| unsafe { pages::lend(self.base, layout) });
        self.lent
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(layout) = Raw::layout(self.skip, self.capacity) {
            // SAFETY: allocated with this layout, and nobody else frees it.
            unsafe { std::alloc::dealloc(self.base.as_ptr(), layout) };
        }
    }
}

impl Block {
    /// Where the bytes begin.
    pub fn start(&self) -> *mut u8 {
        let raw = self.raw.as_ref().or_bug("a block has memory until it is dropped");
        // SAFETY: what is skipped and the border are part of the allocation.
        unsafe { raw.base.as_ptr().add(raw.skip + PAD) }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes as u64, Relaxed);
        if let Some(raw) = self.raw.take() {
            self.memory.give_back(raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_are_used_again() {
        let memory = Memory::new(u64::MAX);
        let first = memory.alloc(1000).unwrap();
        let at = first.start();
        drop(first);
        let again = memory.alloc(990).unwrap();
        assert_eq!(again.start(), at);
        assert_eq!(memory.usage(), (990, 1000));
    }

    #[test]
    fn the_limit_holds() {
        let memory = Memory::new(100);
        let block = memory.alloc(60).unwrap();
        assert!(memory.alloc(41).is_err());
        assert!(!memory.reserve(41));
        assert!(memory.reserve(40));
        memory.unreserve(40);
        drop(block);
        assert!(memory.alloc(100).is_ok());
        assert!(memory.alloc(usize::MAX).is_err());
        assert_eq!(memory.usage().0, 0);
    }
}
