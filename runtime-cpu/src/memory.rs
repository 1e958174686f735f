//! Memory of a runtime: aligned blocks, freed ones kept for reuse, and an exact count.
//!
//! Every block has [`PAD`] readable bytes of padding on either side, so that a vector load with at
//! least one lane in bounds stays within the allocation, and so that the first element of an empty
//! array may be read, too.

use crate::pages;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::Fault;
use nesl_runtime::runtime::Failure;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The readable padding before and behind each block, and its alignment; in bytes.
pub const PAD: usize = 64;

/// The number of offsets at which large blocks begin in turn: code that goes through several arrays in
/// step would otherwise need one set of a cache for all of them, and (where pages are large) different
/// rows of the same memory banks.
const BLOCK_OFFSETS: usize = 11;

/// Blocks of fewer bytes begin anywhere.
const MIN_LARGE_BLOCK_BYTES: usize = 64 << 10;

/// The size of free blocks that is kept in any case, in bytes; or as much as is in use.
const MIN_KEPT_BYTES: u64 = 64 << 20;

/// The part of the limit up to which free blocks are kept while the system may reclaim their pages,
/// as long as they are together at most twice the peak: the next form of the same kind uses them.
const RECLAIMABLE_PART_OF_LIMIT: u64 = 4;

/// The memory of one runtime.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    /// The bytes of blocks in use.
    used: AtomicU64,
    peak: AtomicU64,
    /// The bytes that work items allocate: counted against the limit only.
    instances: AtomicU64,
    free: Mutex<Free>,
    /// The number of large blocks so far, which gives the offset of the next one.
    place: AtomicUsize,
}

/// Free blocks, the last freed last.
#[derive(Debug, Default)]
struct Free {
    blocks: Vec<Raw>,
    /// The bytes of their pages.
    bytes: u64,
    /// The bytes of those pages that the system may reclaim.
    lent: u64,
}

/// An allocation with its padding.
#[derive(Debug)]
pub struct Raw {
    base: NonNull<u8>,
    /// The bytes before the padding.
    skip: usize,
    /// The bytes between the paddings.
    capacity: usize,
    /// The bytes that were ever used, which therefore have pages.
    touched: usize,
    /// True if the system may reclaim the pages, and their contents are lost.
    lent: bool,
}

// SAFETY: a `Raw` owns its allocation, which is not tied to a thread.
unsafe impl Send for Raw {}
// SAFETY: a shared reference gives the address alone; all access to the bytes goes through raw pointers.
unsafe impl Sync for Raw {}

/// A block of memory, freed when it is dropped.
#[derive(Debug)]
pub struct Block {
    raw: Option<Raw>,
    /// The size, in bytes.
    bytes: usize,
    /// The part of it that is counted, in bytes.
    counted: AtomicUsize,
    /// The largest part that was counted, in bytes.
    touched: AtomicUsize,
    /// True if it is not known before it is filled how much of it is used.
    at_most: bool,
    memory: Arc<Memory>,
}

// SAFETY: all access to the bytes goes through raw pointers, whose users see to it that threads
// do not race (the contract of launches).
unsafe impl Sync for Block {}

impl Memory {
    /// An empty memory with a limit in bytes.
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

    /// Returns an uninitialised block of `bytes` bytes.
    pub fn alloc(self: &Arc<Memory>, bytes: usize) -> Result<Block, Failure> {
        self.alloc_counted(bytes, false)
    }

    /// Returns an uninitialised block of `bytes` bytes, of which none is counted before
    /// [`Block::count`]: pages that are never written take no memory.
    pub fn alloc_at_most(self: &Arc<Memory>, bytes: usize) -> Result<Block, Failure> {
        self.alloc_counted(bytes, true)
    }

    fn alloc_counted(self: &Arc<Memory>, bytes: usize, at_most: bool) -> Result<Block, Failure> {
        let counted = if at_most { 0 } else { bytes };
        let used = self.use_more(counted, bytes)?;
        let Some(raw) = self.raw(bytes) else {
            self.used.fetch_sub(counted as u64, Relaxed);
            return Err(self.exhausted(Some(bytes as u64)));
        };
        self.peak.fetch_max(used, Relaxed);
        let [counted, touched] = [(); 2].map(|()| AtomicUsize::new(counted));
        Ok(Block { raw: Some(raw), bytes, counted, touched, at_most, memory: self.clone() })
    }

    /// Returns an uncounted allocation of at least `bytes` bytes.
    pub fn raw(&self, bytes: usize) -> Option<Raw> {
        let new = || {
            let place = if bytes < MIN_LARGE_BLOCK_BYTES {
                0
            } else {
                self.place.fetch_add(1, Relaxed) % BLOCK_OFFSETS
            };
            Raw::new(bytes, place * apart(bytes))
        };
        self.reuse(bytes).or_else(new).or_else(|| {
            self.trim(0);
            new()
        })
    }

    /// Returns the first `bytes` bytes of an allocation as a block that counts as `counted` bytes. The caller has
    /// unreserved what was reserved for it.
    pub fn adopt(
        self: &Arc<Memory>,
        raw: Raw,
        bytes: usize,
        counted: usize,
    ) -> Result<Block, Failure> {
        let used = self.use_more(counted, bytes)?;
        self.peak.fetch_max(used, Relaxed);
        let [counted, touched] = [(); 2].map(|()| AtomicUsize::new(counted));
        Ok(Block { raw: Some(raw), bytes, counted, touched, at_most: false, memory: self.clone() })
    }

    /// Counts more bytes as used, and returns how many are; fails if these are too many for a block of
    /// `wanted` bytes.
    fn use_more(&self, bytes: usize, wanted: usize) -> Result<u64, Failure> {
        let used = self.used.fetch_add(bytes as u64, Relaxed).saturating_add(bytes as u64);
        if used.saturating_add(self.instances.load(Relaxed)) > self.limit {
            self.used.fetch_sub(bytes as u64, Relaxed);
            return Err(self.exhausted(Some(wanted as u64)));
        }
        Ok(used)
    }

    /// The failure to allocate `wanted` bytes; `None` if their number is not known.
    pub fn exhausted(&self, wanted: Option<u64>) -> Failure {
        let used = self.used.load(Relaxed).saturating_add(self.instances.load(Relaxed));
        Failure::Machine(Fault::out_of_memory(wanted, used, self.limit))
    }

    /// The bytes of blocks in use, and their peak.
    pub fn usage(&self) -> (u64, u64) {
        (self.used.load(Relaxed), self.peak.load(Relaxed))
    }

    /// Reserves memory for a work item; returns false if that exceeds the limit.
    pub fn reserve(&self, bytes: u64) -> bool {
        let before = self.instances.fetch_add(bytes, Relaxed);
        let all = before.saturating_add(bytes).saturating_add(self.used.load(Relaxed));
        if all > self.limit {
            self.instances.fetch_sub(bytes, Relaxed);
            return false;
        }
        true
    }

    /// Gives back memory that [`Memory::reserve`] reserved.
    pub fn unreserve(&self, bytes: u64) {
        self.instances.fetch_sub(bytes, Relaxed);
    }

    /// Takes a free block that is large enough and not much too large.
    fn reuse(&self, bytes: usize) -> Option<Raw> {
        let wanted = capacity(bytes)?;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |raw: &Raw| raw.capacity >= wanted && raw.capacity <= wanted + wanted / 8;
        let at = free.blocks.iter().rposition(fits)?;
        let mut raw = free.blocks.remove(at);
        free.bytes -= raw.touched as u64;
        if std::mem::take(&mut raw.lent) {
            free.lent -= raw.touched as u64;
        }
        Some(raw)
    }

    /// Keeps an allocation for reuse.
    pub fn give_back(&self, raw: Raw) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.bytes += raw.touched as u64;
        free.blocks.push(raw);
        let keep = MIN_KEPT_BYTES.max(self.used.load(Relaxed));
        let most =
            self.peak.load(Relaxed).saturating_mul(2).min(self.limit / RECLAIMABLE_PART_OF_LIMIT);
        free.lend(keep);
        drop(free);
        self.trim(keep.max(most));
    }

    /// Frees all free blocks.
    pub fn free_unused(&self) {
        self.trim(0);
    }

    /// Frees the oldest free blocks until they have at most `keep` bytes (and are few enough to be
    /// searched).
    fn trim(&self, keep: u64) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone = 0;
        while gone < free.blocks.len() && (free.bytes > keep || free.blocks.len() - gone > 64) {
            let raw = &free.blocks[gone];
            let (bytes, lent) = (raw.touched as u64, raw.lent);
            free.bytes -= bytes;
            free.lent -= if lent { bytes } else { 0 };
            gone += 1;
        }
        free.blocks.drain(..gone);
    }
}

impl Free {
    /// Lets the system reclaim the pages of the oldest blocks until the others have at most `keep` bytes;
    /// frees blocks whose pages it does not reclaim.
    fn lend(&mut self, keep: u64) {
        let mut at = 0;
        while at < self.blocks.len() && self.bytes - self.lent > keep {
            let raw = &mut self.blocks[at];
            if raw.lent {
                at += 1;
            } else if raw.lend() {
                self.lent += raw.touched as u64;
                at += 1;
            } else {
                self.bytes -= raw.touched as u64;
                self.blocks.remove(at);
            }
        }
    }
}

/// Rounds sizes up, so that freed blocks fit again.
fn capacity(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 16).max(PAD);
    bytes.max(1).checked_next_multiple_of(step)
}

/// The distance between the offsets at which large blocks begin, in bytes: some cache lines, and for
/// the largest blocks as much as a row of the memory's banks.
fn apart(bytes: usize) -> usize {
    const PAGE_BYTES: usize = 4 << 10;
    const BANK_ROW_BYTES: usize = 32 << 10;
    (bytes / 512 / PAGE_BYTES * PAGE_BYTES).min(BANK_ROW_BYTES) + 6 * PAD
}

impl Raw {
    fn new(bytes: usize, skip: usize) -> Option<Raw> {
        let capacity = capacity(bytes)?;
        let base = pages::alloc(Raw::layout(skip, capacity)?)?;
        Some(Raw { base, skip, capacity, touched: 0, lent: false })
    }

    /// The address of the first byte behind the padding.
    pub fn start(&self) -> *mut u8 {
        // SAFETY: `skip` and the padding are part of the allocation.
        unsafe { self.base.as_ptr().add(self.skip + PAD) }
    }

    /// Says that the first `bytes` bytes have been used, so that they have pages.
    pub fn touch(&mut self, bytes: usize) {
        self.touched = self.touched.max(bytes.min(self.capacity));
    }

    fn layout(skip: usize, capacity: usize) -> Option<Layout> {
        Layout::from_size_align(capacity.checked_add(skip + 2 * PAD)?, PAD).ok()
    }

    /// Lets the system reclaim the pages when it needs some; returns true if it may.
    fn lend(&mut self) -> bool {
        let layout = Raw::layout(self.skip, self.capacity);
        // SAFETY: the allocation is a free block's, whose contents are not read any more.
        self.lent = layout.is_some_and(|layout| unsafe { pages::lend(self.base, layout) });
        self.lent
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(layout) = Raw::layout(self.skip, self.capacity) {
            // SAFETY: `new` allocated with this layout, and ownership is unique.
            unsafe { std::alloc::dealloc(self.base.as_ptr(), layout) };
        }
    }
}

impl Block {
    /// The address of the first byte.
    pub fn start(&self) -> *mut u8 {
        self.raw.as_ref().or_bug("a block has memory until it is dropped").start()
    }

    /// The size, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts so many bytes of a block of [`Memory::alloc_at_most`]; the others are not used. Other blocks
    /// are counted already.
    pub fn count(&self, bytes: usize) -> Result<(), Failure> {
        if !self.at_most {
            return Ok(());
        }
        let counted = self.counted.load(Relaxed);
        if bytes > counted {
            let used = self.memory.use_more(bytes - counted, bytes)?;
            self.memory.peak.fetch_max(used, Relaxed);
        } else {
            self.memory.used.fetch_sub((counted - bytes) as u64, Relaxed);
        }
        self.counted.store(bytes, Relaxed);
        self.touched.fetch_max(bytes, Relaxed);
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(*self.counted.get_mut() as u64, Relaxed);
        if let Some(mut raw) = self.raw.take() {
            raw.touched = raw.touched.max(*self.touched.get_mut());
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
    fn free_blocks_are_freed() {
        let memory = Memory::new(u64::MAX);
        let kept = memory.alloc(1 << 20).unwrap();
        let block = memory.alloc(1 << 20).unwrap();
        block.count(1 << 20).unwrap();
        drop(block);
        assert_eq!(memory.free.lock().unwrap().blocks.len(), 1);
        memory.free_unused();
        let free = memory.free.lock().unwrap();
        assert_eq!((free.blocks.len(), free.bytes, free.lent), (0, 0, 0));
        drop((free, kept));
    }

    #[test]
    fn a_block_that_is_filled_in_part_is_counted_in_part() {
        let memory = Memory::new(100);
        let used = |memory: &Arc<Memory>| memory.usage().0;
        let block = memory.alloc_at_most(1000).unwrap();
        assert_eq!(used(&memory), 0);
        block.count(60).unwrap();
        assert_eq!(used(&memory), 60);
        assert!(block.count(101).is_err());
        block.count(40).unwrap();
        assert!(memory.alloc(61).is_err());
        assert_eq!(used(&memory), 40);
        drop(block);
        assert_eq!(memory.usage(), (0, 60));
    }

    #[test]
    fn a_free_block_counts_by_the_part_that_was_filled() {
        let memory = Memory::new(u64::MAX);
        let fill = || {
            let block = memory.alloc_at_most(1 << 30).unwrap();
            block.count(1000).unwrap();
            block.start()
        };
        // Of the memory of these blocks nearly nothing has pages, so that both are kept.
        let at = fill();
        let other = memory.alloc(1 << 20).unwrap();
        assert_eq!(fill(), at);
        drop(other);
        assert_eq!(fill(), at);
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
        assert!(memory.alloc_at_most(usize::MAX).is_err());
        assert_eq!(memory.usage().0, 0);
    }
}
