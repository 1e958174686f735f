//! Device memory: arrays, and the cache of free blocks.
//!
//! The driver's own allocation takes as long as a small kernel. So blocks are of few sizes, powers
//! of two and the middles between them, and a freed block is kept for the next array of its size.
//! The stream keeps the order of what is enqueued: a block may be taken again while its last use is still
//! under way. When the driver has no more memory, the kept blocks are given back first.

use super::device::Device;
use super::failure;
use cudarc::driver::result;
use cudarc::driver::sys::{CUdeviceptr, CUresult};
use nesl_runtime::fault::Fault;
use nesl_runtime::runtime::Failure;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The size of the smallest block, in bytes; blocks are multiples of it.
const MIN_BLOCK_BYTES: usize = 256;

/// The memory of a device.
pub struct Memory {
    device: Arc<Device>,
    state: Mutex<State>,
    /// The limit on the sizes of all arrays together, in bytes.
    limit: u64,
}

#[derive(Default)]
struct State {
    /// The free blocks, by their size in bytes.
    free: FxHashMap<usize, Vec<CUdeviceptr>>,
    /// The sizes of all arrays at present, and the largest sum so far, in bytes.
    used: u64,
    peak: u64,
}

/// A block of device memory. Dropping it frees it, after what was enqueued before.
pub struct Block {
    memory: Arc<Memory>,
    address: CUdeviceptr,
    /// The size that was asked for, in bytes.
    bytes: usize,
}

impl Memory {
    /// The memory of a device, of which all arrays together may take `limit` bytes.
    pub fn new(device: Arc<Device>, limit: u64) -> Arc<Memory> {
        Arc::new(Memory { device, state: Mutex::default(), limit })
    }

    /// Returns a new block of uninitialised memory. Faults `OutOfMemory`.
    pub fn alloc(self: &Arc<Memory>, bytes: usize) -> Result<Block, Failure> {
        let size = block_bytes(bytes);
        let mut state = self.state();
        if state.used.saturating_add(bytes as u64) > self.limit {
            return Err(self.no_memory(bytes, state.used));
        }
        let address = match state.free.get_mut(&size).and_then(Vec::pop) {
            Some(address) => address,
            None => self.take(&mut state, size, bytes)?,
        };
        state.used += bytes as u64;
        state.peak = state.peak.max(state.used);
        drop(state);
        Ok(Block { memory: self.clone(), address, bytes })
    }

    /// Takes a block from the driver; gives the free ones back if it has none.
    fn take(&self, state: &mut State, size: usize, bytes: usize) -> Result<CUdeviceptr, Failure> {
        self.device.bind()?;
        for is_retry in [false, true] {
            // SAFETY: the size is not 0. The memory is freed once, by `give_back`.
            match unsafe { result::malloc_sync(size) } {
                Ok(address) => return Ok(address),
                Err(error) if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY && !is_retry => {
                    give_back(state)?;
                }
                Err(error) if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY => break,
                Err(error) => return Err(failure("allocate memory", error)),
            }
        }
        Err(self.no_memory(bytes, state.used))
    }

    fn no_memory(&self, bytes: usize, used: u64) -> Failure {
        Failure::Machine(Fault::out_of_memory(Some(bytes as u64), used, self.limit))
    }

    /// The limit on the sizes of all arrays together, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The sizes of all arrays at present, and the largest sum so far, in bytes.
    pub fn used(&self) -> (u64, u64) {
        let state = self.state();
        (state.used, state.peak)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives all free blocks back to the driver, which waits for their last uses.
fn give_back(state: &mut State) -> Result<(), Failure> {
    for address in state.free.drain().flat_map(|(_, blocks)| blocks) {
        // SAFETY: the block came from `malloc_sync`, is in nobody's hands, and leaves the list.
        unsafe { result::free_sync(address) }.map_err(|error| failure("free memory", error))?;
    }
    Ok(())
}

/// The size of the block for so many bytes: a power of two, or one and a half.
fn block_bytes(bytes: usize) -> usize {
    let bytes = bytes.max(MIN_BLOCK_BYTES);
    let power = bytes.checked_next_power_of_two().unwrap_or(bytes);
    let middle = power / 4 * 3;
    if bytes <= middle { middle.next_multiple_of(MIN_BLOCK_BYTES).min(power) } else { power }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // The device ends with the runtime: a failure has nobody to hear it.
            let _ = give_back(&mut self.state());
        }
    }
}

impl Block {
    /// The address of the first byte.
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The size, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        state.used -= self.bytes as u64;
        state.free.entry(block_bytes(self.bytes)).or_default().push(self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_waste_at_most_a_third() {
        assert_eq!(block_bytes(0), 256);
        assert_eq!(block_bytes(257), 512);
        assert_eq!(block_bytes(1025), 1536);
        assert_eq!(block_bytes(1537), 2048);
        for bytes in (512..100_000).step_by(77) {
            let block = block_bytes(bytes);
            assert!(block >= bytes && (block - bytes) * 3 <= block + 3 * MIN_BLOCK_BYTES);
        }
    }
}
