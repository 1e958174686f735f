//! Arrays with a copy on either side.

use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::Buffer;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One of the two runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The first choice for every launch.
    Device,
    /// The side for what the device refuses, and for arrays that the device has no room for.
    Host,
}

impl Side {
    /// The other side.
    pub(crate) fn other(self) -> Side {
        match self {
            Side::Device => Side::Host,
            Side::Host => Side::Device,
        }
    }

    fn index(self) -> usize {
        match self {
            Side::Device => 0,
            Side::Host => 1,
        }
    }
}

/// An array with up to two copies.
pub(crate) struct Twin {
    ty: Ty,
    length: usize,
    copies: Mutex<Copies>,
    /// The sum of the sizes of all arrays, which this one is part of.
    used: Arc<AtomicU64>,
}

#[derive(Default)]
struct Copies {
    /// By side: the copy there, if there is one.
    buffers: [Option<Buffer>; 2],
    /// By side: true if the copy there holds the array's elements. On no side if nothing was written.
    valid: [bool; 2],
    /// The number of the last use, for finding the array that was not used for the longest time.
    last_use: u64,
}

impl Twin {
    /// An array without copies. Its size counts in `used` as long as it exists.
    pub(crate) fn new(ty: Ty, length: usize, used: Arc<AtomicU64>) -> Twin {
        let twin = Twin { ty, length, copies: Mutex::default(), used };
        twin.used.fetch_add(twin.bytes(), Ordering::Relaxed);
        twin
    }

    /// The type of its elements.
    pub(crate) fn ty(&self) -> Ty {
        self.ty
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The size of one copy, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.length as u64).saturating_mul(self.ty.size() as u64)
    }

    /// The side that the host should read elements from: its own if they are there.
    pub(crate) fn readable_side(&self) -> Side {
        let copies = self.copies();
        let on_host =
            copies.valid[Side::Host.index()] || copies.buffers[Side::Device.index()].is_none();
        if on_host { Side::Host } else { Side::Device }
    }

    /// The side that elements should be written to: the device, unless it has no copy.
    pub(crate) fn writable_side(&self) -> Side {
        match self.copies().buffers[Side::Device.index()] {
            Some(_) => Side::Device,
            None => Side::Host,
        }
    }

    /// The copy on a side, if there is one.
    pub(crate) fn try_copy(&self, side: Side) -> Option<Buffer> {
        self.copies().buffers[side.index()].clone()
    }

    /// The copy on a side that is known to have one.
    pub(crate) fn copy(&self, side: Side) -> Buffer {
        self.try_copy(side).or_bug("an array has a copy on the side that it is read from")
    }

    /// Returns true if the copy on a side holds the elements.
    pub(crate) fn is_valid(&self, side: Side) -> bool {
        self.copies().valid[side.index()]
    }

    /// Notes that a side now has a copy, which does not hold the elements yet.
    pub(crate) fn put(&self, side: Side, buffer: Buffer) {
        let mut copies = self.copies();
        copies.buffers[side.index()] = Some(buffer);
        copies.valid[side.index()] = false;
    }

    /// Notes that the copy on a side holds the elements, as the other one may.
    pub(crate) fn copied_to(&self, side: Side) {
        self.copies().valid[side.index()] = true;
    }

    /// Notes that elements were written on a side; the other copy no longer holds them.
    pub(crate) fn wrote(&self, side: Side) {
        let mut copies = self.copies();
        copies.valid[side.index()] = true;
        copies.valid[side.other().index()] = false;
    }

    /// Frees the copy on a side.
    pub(crate) fn free(&self, side: Side) {
        let mut copies = self.copies();
        copies.buffers[side.index()] = None;
        copies.valid[side.index()] = false;
    }

    /// Notes a use.
    pub(crate) fn used_at(&self, number: u64) {
        self.copies().last_use = number;
    }

    /// The number of the last use.
    pub(crate) fn last_use(&self) -> u64 {
        self.copies().last_use
    }

    fn copies(&self) -> MutexGuard<'_, Copies> {
        // Nothing can fail while the lock is held.
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}
