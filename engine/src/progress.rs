//! Reports how far an entry is, to any thread, while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A handle to the progress of a session. Clones share what they say.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    began: Mutex<Option<Instant>>,
    forms: AtomicU64,
    forms_done: AtomicU64,
    launches: AtomicU64,
}

/// The progress of the entry that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of forms found so far: those of the entry, and those of the files that it has begun
    /// to load.
    pub forms: u64,
    /// The number of these that are done.
    pub forms_done: u64,
    /// The number of launches on the runtime.
    pub launches: u64,
    /// The time since the entry began.
    pub elapsed: Duration,
}

impl Progress {
    /// Returns the progress of the entry that runs, if one does.
    pub fn report(&self) -> Option<Report> {
        let began = *self.0.began.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        began.map(|began| Report {
            forms: read(&self.0.forms),
            forms_done: read(&self.0.forms_done),
            launches: read(&self.0.launches),
            elapsed: began.elapsed(),
        })
    }

    /// Notes that an entry begins.
    pub(crate) fn begin(&self) {
        for count in [&self.0.forms, &self.0.forms_done, &self.0.launches] {
            count.store(0, Ordering::Relaxed);
        }
        *self.0.began.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Notes that the entry has ended.
    pub(crate) fn end(&self) {
        *self.0.began.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Adds forms that are to be run.
    pub(crate) fn more_forms(&self, count: usize) {
        self.0.forms.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts a form that is done.
    pub(crate) fn form_done(&self) {
        self.0.forms_done.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a launch.
    pub(crate) fn launched(&self) {
        self.0.launches.fetch_add(1, Ordering::Relaxed);
    }
}
