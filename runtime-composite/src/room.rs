//! The arrays of both sides: allocation, copies between the sides, and moving arrays to the host
//! when the device is full or given back.

use crate::sides::Sides;
use crate::twin::{Side, Twin};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::{Buffer, Failure, Read};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The bytes that are copied between the sides at a time, through memory of the host.
const COPY_CHUNK_BYTES: usize = 4 << 20;

/// The number of arrays from which on those that were dropped are forgotten.
const MIN_REMEMBERED_ARRAYS: usize = 1024;

/// All arrays of a composite runtime.
pub(crate) struct Arrays {
    /// The limit on the sizes of all arrays together, in bytes.
    limit: u64,
    /// The sizes of all arrays together, in bytes.
    used: Arc<AtomicU64>,
    /// The arrays, some of which may have been dropped.
    all: RefCell<Vec<Weak<Twin>>>,
    /// The number of arrays from which on dropped ones are forgotten.
    forget_at: Cell<usize>,
    /// The number of uses so far.
    uses: Cell<u64>,
}

impl Arrays {
    /// No arrays yet, and a limit on the sizes of all together, in bytes.
    pub(crate) fn new(limit: u64) -> Arrays {
        let (used, all, uses) = Default::default();
        Arrays { limit, used, all, forget_at: Cell::new(MIN_REMEMBERED_ARRAYS), uses }
    }

    /// Returns a new array: on the device, or on the host if the device has no room for it.
    pub(crate) fn alloc(&self, sides: &Sides, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        let bytes = (length as u64).saturating_mul(ty.size() as u64);
        let used = self.used.load(Ordering::Relaxed);
        if used.saturating_add(bytes) > self.limit {
            let fault = Fault::out_of_memory(Some(bytes), used, self.limit);
            return Err(Failure::Machine(fault));
        }
        let (buffer, side) = match self.alloc_on(sides, Side::Device, ty, length, &[]) {
            Ok(buffer) => (buffer, Side::Device),
            Err(failure) if is_out_of_memory(&failure) => {
                (sides.of(Side::Host)?.alloc(ty, length)?, Side::Host)
            }
            Err(failure) => return Err(failure),
        };
        Ok(self.twin(buffer, side))
    }

    /// Returns an array that a launch on a side has made.
    pub(crate) fn adopt(&self, output: Buffer, side: Side) -> Result<Buffer, Failure> {
        let buffer = self.twin(output, side);
        let twin: Option<&Arc<Twin>> = buffer.storage();
        twin.inspect(|twin| twin.wrote(side));
        Ok(buffer)
    }

    /// Returns the copy of an array on a side, which holds the elements. The arrays in `in_use` are not
    /// moved away.
    pub(crate) fn bring(
        &self,
        sides: &Sides,
        twin: &Twin,
        side: Side,
        in_use: &[&Twin],
    ) -> Result<Buffer, Failure> {
        self.uses.set(self.uses.get() + 1);
        twin.used_at(self.uses.get());
        let copy = match twin.try_copy(side) {
            Some(copy) => copy,
            None => {
                let copy = self.alloc_on(sides, side, twin.ty(), twin.len(), in_use)?;
                twin.put(side, copy.clone());
                copy
            }
        };
        if !twin.is_valid(side) && twin.is_valid(side.other()) {
            copy_to(sides, twin, side)?;
        }
        Ok(copy)
    }

    /// Moves arrays from the device to the host, those not used for the longest time first, until
    /// so many bytes are free, or none is left to be moved. Returns true if any was.
    pub(crate) fn make_room(
        &self,
        sides: &Sides,
        bytes: u64,
        in_use: &[&Twin],
    ) -> Result<bool, Failure> {
        let mut there: Vec<Arc<Twin>> =
            self.all.borrow().iter().filter_map(Weak::upgrade).collect();
        there.retain(|twin| {
            let is_used = in_use.iter().any(|used| std::ptr::eq(*used, &**twin));
            !is_used && twin.bytes() > 0 && twin.try_copy(Side::Device).is_some()
        });
        there.sort_by_key(|twin| twin.last_use());
        let mut freed = 0u64;
        for twin in &there {
            if freed >= bytes {
                break;
            }
            move_to_host(sides, twin)?;
            freed = freed.saturating_add(twin.bytes());
        }
        Ok(freed > 0)
    }

    /// Moves all arrays to the host, before the device is closed.
    pub(crate) fn leave_device(&self, sides: &Sides) -> Result<(), Failure> {
        let all: Vec<Arc<Twin>> = self.all.borrow().iter().filter_map(Weak::upgrade).collect();
        for twin in all.iter().filter(|twin| twin.try_copy(Side::Device).is_some()) {
            move_to_host(sides, twin)?;
        }
        Ok(())
    }

    /// Allocates on a side; a device that is full is made room on.
    fn alloc_on(
        &self,
        sides: &Sides,
        side: Side,
        ty: Ty,
        length: usize,
        in_use: &[&Twin],
    ) -> Result<Buffer, Failure> {
        let runtime = sides.of(side)?;
        let mut outcome = runtime.alloc(ty, length);
        let bytes = (length as u64).saturating_mul(ty.size() as u64);
        // Freed memory may be in pieces that are too small: then more is freed, and in the end all.
        let mut wanted = bytes;
        while side == Side::Device
            && bytes <= runtime.caps().memory
            && outcome.as_ref().is_err_and(is_out_of_memory)
            && self.make_room(sides, wanted, in_use)?
        {
            outcome = runtime.alloc(ty, length);
            wanted = wanted.saturating_mul(2);
        }
        outcome
    }

    /// Returns an array that has one copy.
    fn twin(&self, buffer: Buffer, side: Side) -> Buffer {
        let (ty, length) = (buffer.ty(), buffer.len());
        let twin = Arc::new(Twin::new(ty, length, self.used.clone()));
        twin.put(side, buffer);
        self.uses.set(self.uses.get() + 1);
        twin.used_at(self.uses.get());
        let mut all = self.all.borrow_mut();
        if all.len() >= self.forget_at.get() {
            all.retain(|twin| twin.strong_count() > 0);
            self.forget_at.set((2 * all.len()).max(MIN_REMEMBERED_ARRAYS));
        }
        all.push(Arc::downgrade(&twin));
        Buffer::new(ty, length, Arc::new(twin))
    }
}

/// Returns true if a failure is the lack of memory.
pub(crate) fn is_out_of_memory(failure: &Failure) -> bool {
    matches!(failure, Failure::Machine(fault) if fault.code == FaultCode::OutOfMemory)
}

/// Moves an array from the device to the host.
fn move_to_host(sides: &Sides, twin: &Twin) -> Result<(), Failure> {
    if twin.try_copy(Side::Host).is_none() {
        let copy = sides.of(Side::Host)?.alloc(twin.ty(), twin.len())?;
        twin.put(Side::Host, copy);
    }
    if twin.is_valid(Side::Device) && !twin.is_valid(Side::Host) {
        copy_to(sides, twin, Side::Host)?;
    }
    twin.free(Side::Device);
    Ok(())
}

/// Copies the elements of an array to the copy on a side from the one on the other.
fn copy_to(sides: &Sides, twin: &Twin, side: Side) -> Result<(), Failure> {
    let (from, to) = (twin.copy(side.other()), twin.copy(side));
    let (reader, writer) = (sides.of(side.other())?, sides.of(side)?);
    let size = twin.ty().size();
    let chunk = (COPY_CHUNK_BYTES / size).min(twin.len());
    let mut bytes = vec![0; chunk * size];
    let mut at = 0;
    while at < twin.len() {
        let out = &mut bytes[..chunk.min(twin.len() - at) * size];
        reader.read_many(&mut [Read { buffer: &from, at, out }])?;
        writer.write(&to, at, out)?;
        at += chunk;
    }
    twin.copied_to(side);
    Ok(())
}
