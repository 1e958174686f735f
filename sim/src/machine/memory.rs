//! Device memory: every allocation in an address window of its own.
//!
//! The windows lie far apart and are never used twice, so that an access beyond an allocation or
//! after its release cannot hit another one.

use super::bitset::ByteSet;
use super::fault::FaultKind;
use super::order::lanes_of;
use super::shadow::Shadow;
use crate::isa::lanes::{Lanes, WARP_LANES};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The bits of an address within its window.
const WINDOW_BITS: u32 = 36;

/// The mask of the bits of an address within its window.
const WINDOW_MASK: u64 = (1 << WINDOW_BITS) - 1;

/// The bit that marks the address of an allocation: no address of the host has it.
const DEVICE_WINDOW: u64 = 1 << 59;

/// The byte that fresh memory holds.
const POISON: u8 = 0xcd;

/// An error of an access: its kind and its details.
pub type AccessError = (FaultKind, String);

/// The bytes of an allocation.
enum Backing {
    /// Bytes of the device.
    Device(Vec<u8>),
    /// Pinned bytes of the host that the device sees.
    Host(*mut u8, usize),
    /// The bytes were released.
    Freed,
}

/// An allocation of device memory.
pub struct Allocation {
    backing: Backing,
    /// The bytes that were written, if that is looked for.
    pub initialised: Option<ByteSet>,
    /// The accesses of the running launch, if races are looked for.
    pub shadow: Option<Shadow>,
}

// SAFETY: the pointer of a `Host` backing is to pinned memory that stays until it is unmapped, by
// the contract of `DeviceMemory::map_host`; it is accessed by atomic operations alone.
unsafe impl Send for Allocation {}

impl Allocation {
    /// Returns the size in bytes.
    pub fn len(&self) -> usize {
        match &self.backing {
            Backing::Device(bytes) => bytes.len(),
            Backing::Host(_, bytes) => *bytes,
            Backing::Freed => 0,
        }
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads `bytes` bytes at an offset of each lane of a mask.
    #[inline]
    pub fn load_lanes(&self, out: &mut Lanes, offsets: &Lanes, mask: u32, bytes: usize) {
        match (&self.backing, bytes) {
            (Backing::Device(all), 8) => {
                for lane in lanes_of(mask) {
                    let at = offsets[lane] as usize;
                    out[lane] = load_bytes(&all[at..at + 8]);
                }
            }
            (Backing::Device(all), 4) => {
                for lane in lanes_of(mask) {
                    let at = offsets[lane] as usize;
                    out[lane] = load_bytes(&all[at..at + 4]);
                }
            }
            _ => {
                for lane in lanes_of(mask) {
                    out[lane] = self.load(offsets[lane] as usize, bytes);
                }
            }
        }
    }

    /// Writes the low `bytes` bytes of each lane of a mask; the last lane wins.
    #[inline]
    pub fn store_lanes(&mut self, values: &Lanes, offsets: &Lanes, mask: u32, bytes: usize) {
        match (&mut self.backing, bytes) {
            (Backing::Device(all), 8) => {
                for lane in lanes_of(mask) {
                    let at = offsets[lane] as usize;
                    all[at..at + 8].copy_from_slice(&values[lane].to_le_bytes());
                }
            }
            (Backing::Device(all), 4) => {
                for lane in lanes_of(mask) {
                    let at = offsets[lane] as usize;
                    all[at..at + 4].copy_from_slice(&(values[lane] as u32).to_le_bytes());
                }
            }
            _ => {
                for lane in lanes_of(mask) {
                    self.store(offsets[lane] as usize, bytes, values[lane]);
                }
            }
        }
    }

    /// Reads `bytes` bytes (1, 2, 4 or 8), aligned and in range, zero-extended.
    #[inline]
    pub fn load(&self, offset: usize, bytes: usize) -> u64 {
        match &self.backing {
            Backing::Device(all) => load_bytes(&all[offset..offset + bytes]),
            Backing::Host(pointer, length) => {
                assert!(offset + bytes <= *length, "a load beyond mapped memory");
                // SAFETY: the range is inside the mapping, which `map_host` promises is valid;
                // the offset is a multiple of the size and the mapping is page-aligned; the host
                // shares such words by atomic or volatile accesses.
                unsafe {
                    let at = pointer.add(offset);
                    match bytes {
                        1 => u64::from(AtomicU8::from_ptr(at).load(Ordering::SeqCst)),
                        2 => u64::from(AtomicU16::from_ptr(at.cast()).load(Ordering::SeqCst)),
                        4 => u64::from(AtomicU32::from_ptr(at.cast()).load(Ordering::SeqCst)),
                        _ => AtomicU64::from_ptr(at.cast()).load(Ordering::SeqCst),
                    }
                }
            }
            Backing::Freed => 0,
        }
    }

    /// Writes the low `bytes` bytes of a value.
    #[inline]
    pub fn store(&mut self, offset: usize, bytes: usize, value: u64) {
        match &mut self.backing {
            Backing::Device(all) => {
                all[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
            Backing::Host(pointer, length) => {
                assert!(offset + bytes <= *length, "a store beyond mapped memory");
                // SAFETY: as for `load`: in range, aligned, valid by the promise of `map_host`,
                // and shared with the host by atomic or volatile accesses.
                unsafe {
                    let at = pointer.add(offset);
                    match bytes {
                        1 => AtomicU8::from_ptr(at).store(value as u8, Ordering::SeqCst),
                        2 => AtomicU16::from_ptr(at.cast()).store(value as u16, Ordering::SeqCst),
                        4 => AtomicU32::from_ptr(at.cast()).store(value as u32, Ordering::SeqCst),
                        _ => AtomicU64::from_ptr(at.cast()).store(value, Ordering::SeqCst),
                    }
                }
            }
            Backing::Freed => {}
        }
    }
}

/// Reads one to eight bytes, zero-extended.
#[inline]
pub fn load_bytes(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    }
}

/// The memory of the device.
#[derive(Default)]
pub struct DeviceMemory {
    allocations: Vec<Allocation>,
}

impl DeviceMemory {
    /// Allocates bytes of undefined contents; `check` makes reads of them findable.
    pub fn allocate(&mut self, bytes: usize, check: bool) -> u64 {
        self.add(Allocation {
            backing: Backing::Device(vec![POISON; bytes]),
            initialised: check.then(|| ByteSet::new(bytes)),
            shadow: None,
        })
    }

    /// Makes pinned memory of the host visible to the device.
    ///
    /// # Safety
    /// The memory must be valid, aligned to 8 bytes, and stay so until it is released here.
    pub unsafe fn map_host(&mut self, pointer: *mut u8, bytes: usize) -> u64 {
        self.add(Allocation {
            backing: Backing::Host(pointer, bytes),
            initialised: None,
            shadow: None,
        })
    }

    fn add(&mut self, allocation: Allocation) -> u64 {
        self.allocations.push(allocation);
        DEVICE_WINDOW | (self.allocations.len() as u64) << WINDOW_BITS
    }

    /// Releases an allocation by its first address; returns its size in bytes.
    pub fn free(&mut self, address: u64) -> Result<usize, AccessError> {
        let index = self.index(address)?;
        if offset(address) != 0 {
            return Err((FaultKind::OutOfBounds, "release of an address inside".to_owned()));
        }
        let bytes = self.allocations[index].len();
        self.allocations[index] =
            Allocation { backing: Backing::Freed, initialised: None, shadow: None };
        Ok(bytes)
    }

    /// Returns the size of the allocation that begins at an address.
    pub fn size(&self, address: u64) -> Result<usize, AccessError> {
        self.index(address).map(|index| self.allocations[index].len())
    }

    /// Returns the index of the allocation of an address.
    #[inline]
    fn index(&self, address: u64) -> Result<usize, AccessError> {
        let number = (address ^ DEVICE_WINDOW) >> WINDOW_BITS;
        let allocation = (number as usize).checked_sub(1).and_then(|i| self.allocations.get(i));
        match allocation {
            None => Err((FaultKind::OutOfBounds, format!("{address:#x} is in no allocation"))),
            Some(Allocation { backing: Backing::Freed, .. }) => {
                Err((FaultKind::UseAfterFree, format!("{address:#x} is in released memory")))
            }
            Some(_) => Ok(number as usize - 1),
        }
    }

    /// Returns the allocation and the offset of `bytes` bytes at an address.
    #[inline]
    pub fn locate(&self, address: u64, bytes: usize) -> Result<(usize, usize), AccessError> {
        let index = self.index(address)?;
        let (at, length) = (offset(address), self.allocations[index].len());
        if at + bytes > length {
            return Err((
                FaultKind::OutOfBounds,
                format!("{bytes} bytes at offset {at} of an allocation of {length} bytes"),
            ));
        }
        Ok((index, at))
    }

    /// Returns the one allocation and the offsets that the lanes of a mask access, if all of them
    /// are in range and aligned; the size is a power of two. Otherwise [`DeviceMemory::locate`]
    /// says why.
    #[inline]
    pub fn locate_lanes(
        &self,
        addresses: &Lanes,
        mask: u32,
        bytes: usize,
    ) -> Option<(usize, Lanes)> {
        let first = addresses[mask.trailing_zeros() as usize & (WARP_LANES - 1)];
        let index = self.index(first).ok()?;
        let base = first & !WINDOW_MASK;
        // An offset beyond the last start is one of another allocation, too.
        let last_start = (self.allocations[index].len() as u64).checked_sub(bytes as u64)?;
        let mut offsets = [0; WARP_LANES];
        let mut wrong = 0u32;
        for lane in 0..WARP_LANES {
            let offset = addresses[lane].wrapping_sub(base);
            let fits = offset <= last_start && offset & (bytes as u64 - 1) == 0;
            wrong |= u32::from(!fits) << lane;
            offsets[lane] = offset;
        }
        (wrong & mask == 0).then_some((index, offsets))
    }

    /// Returns an allocation by its index from [`DeviceMemory::locate`].
    #[inline]
    pub fn allocation(&self, index: usize) -> &Allocation {
        &self.allocations[index]
    }

    /// Returns an allocation for changes.
    #[inline]
    pub fn allocation_mut(&mut self, index: usize) -> &mut Allocation {
        &mut self.allocations[index]
    }

    /// Copies bytes into the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        let (index, at) = self.locate(address, bytes.len())?;
        let allocation = &mut self.allocations[index];
        match &mut allocation.backing {
            Backing::Device(all) => all[at..at + bytes.len()].copy_from_slice(bytes),
            Backing::Host(..) | Backing::Freed => {
                for (k, byte) in bytes.iter().enumerate() {
                    allocation.store(at + k, 1, u64::from(*byte));
                }
            }
        }
        if let Some(initialised) = &mut allocation.initialised {
            initialised.insert(at, bytes.len());
        }
        Ok(())
    }

    /// Copies bytes out of the device.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        let (index, at) = self.locate(address, bytes.len())?;
        let allocation = &self.allocations[index];
        match &allocation.backing {
            Backing::Device(all) => bytes.copy_from_slice(&all[at..at + bytes.len()]),
            Backing::Host(..) | Backing::Freed => {
                for (k, byte) in bytes.iter_mut().enumerate() {
                    *byte = allocation.load(at + k, 1) as u8;
                }
            }
        }
        Ok(())
    }

    /// Copies bytes within the device; bytes that nobody wrote stay so.
    pub fn copy(&mut self, to: u64, from: u64, bytes: usize) -> Result<(), AccessError> {
        let mut copied = vec![0; bytes];
        self.read(from, &mut copied)?;
        self.write(to, &copied)?;
        let (source, source_at) = self.locate(from, bytes)?;
        let (target, target_at) = self.locate(to, bytes)?;
        if let Some(known) = self.allocations[source].initialised.clone()
            && let Some(initialised) = &mut self.allocations[target].initialised
        {
            initialised.copy_from(target_at, &known, source_at, bytes);
        }
        Ok(())
    }
}

#[inline]
fn offset(address: u64) -> usize {
    (address & WINDOW_MASK) as usize
}
