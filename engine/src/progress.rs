//! Reports how far an entry is, to any thread, while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A handle to the progress of a session. Clones share what they say.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    account: Mutex<Account>,
    forms: AtomicU64,
    forms_done: AtomicU64,
    launches: AtomicU64,
}

/// The part of the progress that is the same for all that a command runs.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// The time at which the entry or the command began; none if nothing runs.
    began: Option<Instant>,
    /// The number of entries and commands that have begun and not ended: a command enters its forms.
    depth: u32,
    round: Option<Round>,
}

/// The round of a command that runs forms several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The word for a round: `run`, `size`.
    pub of: &'static str,
    /// The number of the round, from 1.
    pub now: u64,
    /// The number of all rounds.
    pub all: u64,
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
    /// The time since the entry began, or the command that repeats it.
    pub elapsed: Duration,
    /// The round, if a command runs forms several times.
    pub round: Option<Round>,
}

/// The account of a command that runs forms several times; it ends when this is dropped.
#[derive(Debug)]
pub struct Rounds(Running);

/// The account of an entry, which ends when this is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Running(Progress);

impl Rounds {
    /// Notes that a round begins.
    pub fn begin(&self, round: Round) {
        self.0.0.account().round = Some(round);
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.0.0.account().round = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut account = self.0.account();
        account.depth = account.depth.saturating_sub(1);
        if account.depth == 0 {
            account.began = None;
        }
    }
}

impl Progress {
    /// Returns the progress of the entry that runs, if one does.
    pub fn report(&self) -> Option<Report> {
        let Account { began, round, .. } = *self.account();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        began.map(|began| Report {
            forms: read(&self.0.forms),
            forms_done: read(&self.0.forms_done),
            launches: read(&self.0.launches),
            elapsed: began.elapsed(),
            round,
        })
    }

    /// Begins the account of a command that runs forms several times: what it enters is a part of it.
    pub fn rounds(&self) -> Rounds {
        Rounds(self.begin())
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an entry begins.
    pub(crate) fn begin(&self) -> Running {
        let mut account = self.account();
        account.depth += 1;
        if account.depth == 1 {
            for count in [&self.0.forms, &self.0.forms_done, &self.0.launches] {
                count.store(0, Ordering::Relaxed);
            }
            account.began = Some(Instant::now());
        }
        Running(self.clone())
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
