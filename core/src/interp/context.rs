//! What every operation needs to know: the precision, the limits, the wish to stop.

use super::Options;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::sort::Alone;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements handled between two looks at the interrupt flag.
pub(super) const CHUNK: usize = 1 << 16;

/// The limits of a run.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub precision: Precision,
    max_length: usize,
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> Context<'a> {
    pub(super) fn new(options: &Options<'a>) -> Context<'a> {
        let longest = usize::try_from(options.precision.max_int()).unwrap_or(usize::MAX);
        Context {
            precision: options.precision,
            // Lengths are ints.
            max_length: options.max_length.min(longest),
            interrupt: options.interrupt,
        }
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
