//! What every operation needs to know: the precision, the limits, the wish to stop, and how much
//! may still be done.

use super::Options;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::sort::Alone;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements handled between two looks at the interrupt flag.
pub(super) const CHUNK: usize = 1 << 16;

/// The memory of a run with a budget.
const TRIAL_BYTES: u64 = 256 << 20;

/// What a run may take in all: time by tables, not by a clock, so that the same program always
/// comes as far; and memory, what was let go of included.
#[derive(Debug)]
pub(super) struct Budget {
    nanoseconds: Cell<u64>,
    bytes: Cell<u64>,
    exceeded: Cell<bool>,
}

impl Budget {
    pub(super) fn new(nanoseconds: u64) -> Budget {
        Budget {
            nanoseconds: Cell::new(nanoseconds),
            bytes: Cell::new(TRIAL_BYTES),
            exceeded: Cell::new(false),
        }
    }

    /// Takes from what is left of something; faults if that is too little.
    fn take(&self, from: &Cell<u64>, amount: u64) -> Result<(), Fault> {
        match from.get().checked_sub(amount) {
            Some(left) => {
                from.set(left);
                Ok(())
            }
            None => {
                self.exceeded.set(true);
                Err(FaultCode::Interrupted.into())
            }
        }
    }

    /// Nanoseconds that are left.
    pub(super) fn left(&self) -> u64 {
        self.nanoseconds.get()
    }

    /// Whether it was not enough.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get()
    }
}

/// The limits of a run.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub precision: Precision,
    max_length: usize,
    interrupt: Option<&'a AtomicBool>,
    budget: Option<&'a Budget>,
}

impl<'a> Context<'a> {
    pub(super) fn new(options: &Options<'a>, budget: Option<&'a Budget>) -> Context<'a> {
        let longest = usize::try_from(options.precision.max_int()).unwrap_or(usize::MAX);
        Context {
            precision: options.precision,
            // Lengths are ints.
            max_length: options.max_length.min(longest),
            interrupt: options.interrupt,
            budget,
        }
    }

    /// Faults if this takes more than is left; before it is done.
    pub(super) fn spend(&self, nanoseconds: u64) -> Result<(), Fault> {
        match self.budget {
            Some(budget) => budget.take(&budget.nanoseconds, nanoseconds),
            None => Ok(()),
        }
    }

    /// Whether there is a budget.
    pub(super) fn is_trial(&self) -> bool {
        self.budget.is_some()
    }

    /// Faults if the person asked to stop.
    pub(super) fn poll(&self) -> Result<(), Fault> {
        match self.interrupt {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(FaultCode::Interrupted.into()),
            _ => Ok(()),
        }
    }

    /// Who sorts: this thread, until it is asked to stop.
    pub(super) fn alone(&self) -> Alone<'a> {
        Alone(self.interrupt)
    }

    /// An empty vector with room for `length` elements, if that is allowed and to be had.
    pub(super) fn room<T>(&self, length: i128) -> Result<Vec<T>, Fault> {
        let mut room = Vec::new();
        if let Some(budget) = self.budget {
            let bytes = length.max(0).saturating_mul(size_of::<T>() as i128);
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            budget.take(&budget.bytes, bytes)?;
            self.spend(bytes / 4)?;
        }
        match usize::try_from(length) {
            Ok(length) if length <= self.max_length && room.try_reserve_exact(length).is_ok() => {
                Ok(room)
            }
            _ => Err(Fault::with(
                FaultCode::OutOfMemory,
                format!("a sequence of {length} elements; the limit is {}", self.max_length),
            )),
        }
    }

    /// `length` elements, made one by one; looks at the interrupt flag now and then.
    pub(super) fn tabulate<T>(
        &self,
        length: i128,
        mut element: impl FnMut(usize) -> T,
    ) -> Result<Vec<T>, Fault> {
        let mut elements = self.room(length)?;
        let length = length as usize;
        for start in (0..length).step_by(CHUNK) {
            self.poll()?;
            elements.extend((start..length.min(start + CHUNK)).map(&mut element));
        }
        Ok(elements)
    }
}
