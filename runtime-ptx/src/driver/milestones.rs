//! Points of a stream that the host does not go too far ahead of: what is enqueued cannot be taken back, so
//! that an interrupt would be late by all of it.

use super::failure;
use cudarc::driver::result::event;
use cudarc::driver::sys::{self, CUevent_flags};
use nesl_runtime::runtime::Failure;
use std::cell::Cell;

/// The number of entries from one point to the next. The device still has as many to execute as from one
/// point to the one after the next when the host waits for it, so it has work meanwhile.
pub const MILESTONE_ENTRIES: u64 = 8;

/// The number of points that are known at a time.
pub const MILESTONES: u64 = 2;

/// Points of a stream, in turn.
pub struct Milestones {
    events: [sys::CUevent; MILESTONES as usize],
    /// The number of entries enqueued so far.
    entries: Cell<u64>,
}

/// A point that the stream is at.
pub struct Milestone {
    /// The event that is to mark it.
    pub event: sys::CUevent,
    /// True if the event still marks an earlier point, which must be waited for.
    pub is_used: bool,
}

impl Milestones {
    /// Makes the events. The context is bound.
    pub fn new() -> Result<Milestones, Failure> {
        let event = || {
            event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
                .map_err(|error| failure("create an event", error))
        };
        Ok(Milestones { events: [event()?, event()?], entries: Cell::new(0) })
    }

    /// Counts an entry that was enqueued; returns the point behind it, if there is to be one.
    pub fn count(&self) -> Option<Milestone> {
        let entries = self.entries.get() + 1;
        self.entries.set(entries);
        if !entries.is_multiple_of(MILESTONE_ENTRIES) {
            return None;
        }
        let number = entries / MILESTONE_ENTRIES;
        let event = self.events[(number % MILESTONES) as usize];
        Some(Milestone { event, is_used: number > MILESTONES })
    }
}

impl Drop for Milestones {
    fn drop(&mut self) {
        for event in self.events {
            // SAFETY: each event is destroyed once; the stream, which is dropped before its fields, has
            // bound the context.
            let _ = unsafe { event::destroy(event) };
        }
    }
}
