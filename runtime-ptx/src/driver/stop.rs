//! The word in device memory by which the host stops kernels that are under way.
//!
//! Kernels look at it now and then, and a look must be cheap: a read of the memory of the host takes the bus of
//! the device for itself, 0.4 µs each, and all warps of a device look at about the same time. So the word lies in
//! the memory of the device, and the host writes it by a copy on a stream of its own, which the engine for
//! copies executes beside the kernels.

use super::failure;
use super::staging::Pinned;
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::{self, CUdeviceptr};
use nesl_runtime::runtime::Failure;
use std::cell::Cell;

/// The values of the word, which are copied from here.
const VALUES: [u32; 2] = [GO_ON, STOP];
const GO_ON: u32 = 0;
const STOP: u32 = 1;

/// The word, and the stream that copies to it.
pub struct Stop {
    handle: sys::CUstream,
    /// The address of the word.
    word: CUdeviceptr,
    /// The values, in memory from which the device copies by itself.
    values: Pinned,
    /// True if the word says that kernels are to stop.
    is_set: Cell<bool>,
}

impl Stop {
    /// Takes the word at an address of device memory, which nothing else writes. The context is bound.
    pub fn new(word: CUdeviceptr) -> Result<Stop, Failure> {
        let values = Pinned::new(size_of_val(&VALUES))?;
        // SAFETY: the memory has that size and the alignment of pages, and nobody else has its address.
        unsafe { values.host.cast::<[u32; 2]>().write(VALUES) };
        let handle = stream::create(stream::StreamKind::NonBlocking)
            .map_err(|error| failure("create a stream", error))?;
        let stop = Stop { handle, word, values, is_set: Cell::new(false) };
        stop.copy(GO_ON)?;
        Ok(stop)
    }

    /// Tells kernels to stop. The context is bound.
    pub fn set(&self) -> Result<(), Failure> {
        if !self.is_set.replace(true) {
            self.copy(STOP)?;
        }
        Ok(())
    }

    /// Lets kernels go on again. The context is bound; no kernel is under way.
    pub fn clear(&self) -> Result<(), Failure> {
        if self.is_set.replace(false) {
            self.copy(GO_ON)?;
        }
        Ok(())
    }

    fn copy(&self, value: u32) -> Result<(), Failure> {
        // SAFETY: the values are initialised, never changed, and live as long as `self`.
        let values = unsafe { &*self.values.host.cast::<[u32; 2]>() };
        // SAFETY: the word lies in memory that the runtime keeps; the copy is waited for.
        unsafe {
            result::memcpy_htod_async(self.word, &values[value as usize..][..1], self.handle)
                .and_then(|()| stream::synchronize(self.handle))
        }
        .map_err(|error| failure("stop the device", error))
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        // SAFETY: the stream is destroyed once, and has nothing to do. The stream of the runtime, which is dropped
        // before its fields, has bound the context.
        let _ = unsafe { stream::destroy(self.handle) };
    }
}
