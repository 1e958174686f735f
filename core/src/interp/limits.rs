//! The limits of a run: precision, lengths, interruption, and a budget of time and memory.
//!
//! Every operation that makes a sequence allocates it here, so the limits are checked in one place.

use super::Options;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::sort::CallingThread;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of elements handled between two checks of the interrupt flag.
pub(super) const INTERRUPT_CHECK_ELEMENTS: usize = 1 << 16;

/// The time and memory that a run may take in all. Time is estimated from tables, not measured, so
/// the same program always gets equally far; memory that was freed is counted as well.
#[derive(Debug)]
pub(super) struct Budget {
    nanoseconds: Cell<u64>,
    bytes: Cell<u64>,
    exceeded: Cell<bool>,
}

impl Budget {
    pub(super) fn new(nanoseconds: u64, bytes: u64) -> Budget {
        Budget {
            nanoseconds: Cell::new(nanoseconds),
            bytes: Cell::new(bytes),
            exceeded: Cell::new(false),
        }
    }

    /// Subtracts an amount from one of the two counters; faults if less is left.
    fn take(&self, from: &Cell<u64>, amount: u64) -> Result<(), Fault> {
        match from.get().checked_sub(amount) {
            Some(left) => {
                from.set(left);
                Ok(())
            }
            None => {
                from.set(0);
                self.exceeded.set(true);
                Err(FaultCode::Interrupted.into())
            }
        }
    }

    /// The number of nanoseconds that are left, 0 if they were too few.
    pub(super) fn left(&self) -> u64 {
        self.nanoseconds.get()
    }

    /// Returns true if the run needed more than its budget.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get()
    }
}

/// The precision and the limits of a run, as operations need them.
pub(super) struct Limits<'a> {
    pub precision: Precision,
    max_length: usize,
    /// The size that all sequences may have together, in bytes.
    max_bytes: u64,
    /// The size of the sequences in use when they were counted, in bytes.
    counted_bytes: Cell<u64>,
    /// The size of what was allocated since then, in bytes; part of it may be free again.
    allocated_bytes: Cell<u64>,
    interrupt: Option<&'a AtomicBool>,
    budget: Option<&'a Budget>,
}

impl<'a> Limits<'a> {
    pub(super) fn new(options: &Options<'a>, budget: Option<&'a Budget>) -> Limits<'a> {
        let longest = usize::try_from(options.precision.max_int()).unwrap_or(usize::MAX);
        Limits {
            precision: options.precision,
            // A length must be an int of the program's precision.
            max_length: options.max_length.min(longest),
            max_bytes: options.max_bytes,
            counted_bytes: Cell::new(0),
            allocated_bytes: Cell::new(0),
            interrupt: options.interrupt,
            budget,
        }
    }

    /// Subtracts an estimate of time from the budget, if there is one; faults if less is left. Called
    /// before the work is done.
    pub(super) fn spend(&self, nanoseconds: u64) -> Result<(), Fault> {
        match self.budget {
            Some(budget) => budget.take(&budget.nanoseconds, nanoseconds),
            None => Ok(()),
        }
    }

    /// Returns true if the run has a budget.
    pub(super) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// Faults if the run was interrupted.
    pub(super) fn poll(&self) -> Result<(), Fault> {
        match self.interrupt {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(FaultCode::Interrupted.into()),
            _ => Ok(()),
        }
    }

    /// The executor of sorts: this thread alone, until it is interrupted.
    pub(super) fn this_thread(&self) -> CallingThread<'a> {
        CallingThread(self.interrupt)
    }

    /// Notes that something of some bytes was made.
    #[inline]
    pub(super) fn note_bytes(&self, bytes: usize) {
        self.allocated_bytes.set(self.allocated_bytes.get().saturating_add(bytes as u64));
    }

    /// Takes note of a sequence that is to be made; faults if there may be no room for it, as far as is
    /// known without counting what is in use.
    pub(super) fn reserve_bytes(&self, bytes: u64) -> Result<(), Fault> {
        let allocated = self.allocated_bytes.get().saturating_add(bytes);
        let used = self.counted_bytes.get().saturating_add(self.allocated_bytes.get());
        if used.saturating_add(bytes) > self.max_bytes {
            return Err(Fault::out_of_memory(Some(bytes), used, self.max_bytes));
        }
        self.allocated_bytes.set(allocated);
        Ok(())
    }

    /// Returns true if the sequences in use should be counted: there may be too many of them.
    #[inline]
    pub(super) fn may_be_full(&self) -> bool {
        self.counted_bytes.get().saturating_add(self.allocated_bytes.get()) > self.max_bytes
    }

    /// Learns the size of the sequences in use; faults if there is hardly any room beside them.
    ///
    /// A sixteenth must be free, or else they would be counted again and again.
    pub(super) fn set_counted_bytes(&self, bytes: u64) -> Result<(), Fault> {
        self.counted_bytes.set(bytes);
        self.allocated_bytes.set(0);
        if bytes > self.max_bytes - self.max_bytes / 16 {
            return Err(Fault::out_of_memory(None, bytes, self.max_bytes));
        }
        Ok(())
    }

    /// Allocates an empty vector with room for `length` elements; faults if the limits or the memory
    /// do not allow it.
    pub(super) fn allocate<T>(&self, length: i128) -> Result<Vec<T>, Fault> {
        let mut vector = Vec::new();
        let bytes = length.max(0).saturating_mul(size_of::<T>() as i128);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(budget) = self.budget {
            budget.take(&budget.bytes, bytes)?;
            self.spend(bytes / 4)?;
        }
        if length <= self.max_length as i128 {
            self.reserve_bytes(bytes)?;
        }
        match usize::try_from(length) {
            Ok(length) if length <= self.max_length && vector.try_reserve_exact(length).is_ok() => {
                Ok(vector)
            }
            _ => Err(Fault::with(
                FaultCode::OutOfMemory,
                format!("a sequence of {length} elements; the limit is {}", self.max_length),
            )),
        }
    }

    /// Makes a vector of `length` elements one by one, in order; checks the interrupt flag.
    pub(super) fn tabulate<T>(
        &self,
        length: i128,
        mut element: impl FnMut(usize) -> T,
    ) -> Result<Vec<T>, Fault> {
        let mut elements = self.allocate(length)?;
        let length = length as usize;
        for start in (0..length).step_by(INTERRUPT_CHECK_ELEMENTS) {
            self.poll()?;
            elements
                .extend((start..length.min(start + INTERRUPT_CHECK_ELEMENTS)).map(&mut element));
        }
        Ok(elements)
    }
}
