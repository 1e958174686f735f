//! A pool of threads that help the thread that calls.
//!
//! ```text
//! caller   offers ── works ─────────── closes ── waits for those at work ── goes on
//! helper      wakes up ── joins ── works ── leaves, looks a while for more, sleeps
//! ```
//!
//! Waking a thread up takes as long as a small launch, and on a busy machine as long as a large one:
//! so a caller waits for no helper that has not begun, and a helper that is done polls for more work
//! before it sleeps, as launches come in series.
//!
//! An offer is a reference that is valid while the offer is open or a helper works at it. One word
//! holds both facts, so that no helper joins once the caller has stopped waiting.

use crate::processors::{KeptOff, Processors};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// The time for which a thread polls before it sleeps: about what waking it up takes.
const POLL_TIME: Duration = Duration::from_micros(50);

/// Set in [`Job::state`] when no helper may join any more; the lower bits count those at work.
const CLOSED: u64 = 1 << 63;

/// A pool of threads.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    helpers: Vec<Helper>,
    /// The processors on which helpers are placed, if they are.
    processors: Option<Processors>,
}

#[derive(Debug)]
struct Helper {
    thread: JoinHandle<()>,
    kept_off: KeptOff,
}

#[derive(Debug)]
struct Shared {
    offers: Mutex<Offers>,
    wake: Condvar,
    /// The number of jobs ever offered (and one more at the end), for helpers that poll; incremented
    /// under the lock, so that no helper falls asleep over a job.
    count: AtomicU64,
}

#[derive(Debug, Default)]
struct Offers {
    jobs: Vec<Arc<Job>>,
    sleeping: usize,
    ended: bool,
}

/// A computation that a caller offers to helpers.
#[derive(Debug)]
struct Job {
    work: Work,
    state: AtomicU64,
    caller: Thread,
    /// The panic of a helper.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

#[derive(Debug)]
struct Work(*const (dyn Fn(usize) + Sync));

// SAFETY: the closure is `Sync`, and `Job::join` uses it only while the caller waits.
unsafe impl Send for Work {}
// SAFETY: the closure is `Sync`, and `Job::join` uses it only while the caller waits.
unsafe impl Sync for Work {}

impl Pool {
    /// Starts `threads` threads; returns none if the system does not.
    pub fn new(threads: usize) -> Option<Pool> {
        let shared = Arc::new(Shared {
            offers: Mutex::default(),
            wake: Condvar::new(),
            count: AtomicU64::new(0),
        });
        let processors = Processors::for_helpers(threads);
        let mut pool = Pool { shared, helpers: Vec::with_capacity(threads), processors };
        for at in 0..threads {
            let shared = pool.shared.clone();
            let helper = thread::Builder::new().name(format!("nesl-cpu-{at}"));
            let thread = helper.spawn(move || shared.help(at + 1)).ok()?;
            pool.helpers.push(Helper { thread, kept_off: KeptOff::default() });
        }
        Some(pool)
    }

    /// Calls `work` on this thread and on up to `others` helpers, as soon as these wake up, with the number of the
    /// thread: 0 for this one. Once it has returned anywhere no helper begins it any more; returns when all that
    /// began are done.
    pub fn run(&self, others: usize, work: &(dyn Fn(usize) + Sync)) {
        let work: *const (dyn Fn(usize) + Sync + '_) = work;
        // SAFETY: only the lifetime changes, and dropping `Open` waits for all helpers.
        let work = Work(unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(
                work,
            )
        });
        let (state, caller) = (AtomicU64::new(0), thread::current());
        let job = Arc::new(Job { work, state, caller, panic: Mutex::default() });
        let open = Open { shared: &self.shared, job: &job };
        let mut offers = self.shared.lock();
        offers.jobs.push(job.clone());
        self.shared.count.fetch_add(1, AcqRel);
        let wake = offers.sleeping.min(others);
        drop(offers);
        if let Some(processors) = self.processors.as_ref().filter(|_| wake > 0) {
            self.helpers.iter().for_each(|h| processors.keep_off(&h.thread, &h.kept_off));
        }
        (0..wake).for_each(|_| self.shared.wake.notify_one());
        // SAFETY: the closure is borrowed by the present call.
        unsafe { (*job.work.0)(0) };
        drop(open);
        let panic = job.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut offers = self.shared.lock();
        offers.ended = true;
        self.shared.count.fetch_add(1, AcqRel);
        drop(offers);
        self.shared.wake.notify_all();
        for helper in self.helpers.drain(..) {
            // It catches what it runs.
            let _ = helper.thread.join();
        }
    }
}

/// An offered job; dropping it withdraws the offer and waits for the helpers at work.
struct Open<'a> {
    shared: &'a Shared,
    job: &'a Arc<Job>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Open { shared, job } = self;
        if job.state.fetch_or(CLOSED, AcqRel) & !CLOSED != 0 {
            let left = || job.state.load(Acquire) == CLOSED;
            while !poll(left) {
                thread::park();
            }
        }
        shared.lock().jobs.retain(|other| !Arc::ptr_eq(other, job));
    }
}

impl Job {
    /// Works at the job as the thread of a number, if the offer is open; returns false if not.
    fn join(&self, number: usize) -> bool {
        let enter = |state| (state & CLOSED == 0).then_some(state + 1);
        if self.state.fetch_update(AcqRel, Relaxed, enter).is_err() {
            return false;
        }
        // SAFETY: the job was open, so that the caller waits until `state` is decremented.
        let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.work.0)(number) }));
        if let Err(panic) = done {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        // There is nothing left to begin.
        self.state.fetch_or(CLOSED, AcqRel);
        if self.state.fetch_sub(1, AcqRel) == CLOSED + 1 {
            self.caller.unpark();
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of the helper of a number: joins jobs, polls, sleeps.
    fn help(&self, number: usize) {
        loop {
            let seen = self.count.load(Acquire);
            let offers = self.lock();
            if offers.ended {
                return;
            }
            let jobs = offers.jobs.clone();
            drop(offers);
            if jobs.iter().any(|job| job.join(number)) {
                continue;
            }
            if poll(|| self.count.load(Acquire) != seen) {
                continue;
            }
            let mut offers = self.lock();
            offers.sleeping += 1;
            while self.count.load(Acquire) == seen {
                offers = self.wake.wait(offers).unwrap_or_else(PoisonError::into_inner);
            }
            offers.sleeping -= 1;
        }
    }
}

/// Polls for a while; returns true as soon as `found` does.
fn poll(mut found: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        for _ in 0..32 {
            if found() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.elapsed() > POLL_TIME {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn all_of_it_is_done_once() {
        let pool = Pool::new(3).unwrap();
        for count in 0..2000 {
            let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.run(3, &|_| {
                while next.fetch_add(1, Relaxed) < count % 17 {
                    done.fetch_add(1, Relaxed);
                }
            });
            assert_eq!(done.into_inner(), count % 17);
        }
    }

    #[test]
    fn callers_do_not_disturb_each_other() {
        let pool = Pool::new(2).unwrap();
        thread::scope(|scope| {
            for caller in 1..4 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..300 {
                        let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
                        pool.run(2, &|_| {
                            while next.fetch_add(1, Relaxed) < 50 {
                                sum.fetch_add(caller, Relaxed);
                            }
                        });
                        assert_eq!(sum.into_inner(), 50 * caller);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_harms_nobody() {
        let pool = Pool::new(1).unwrap();
        for _ in 0..20 {
            let next = AtomicUsize::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.run(1, &|_| {
                    while next.fetch_add(1, Relaxed) < 100 {
                        thread::yield_now();
                    }
                    if thread::current().name().is_some_and(|name| name.starts_with("nesl-cpu")) {
                        panic!("on a helper");
                    }
                    panic!("on the caller");
                });
            }));
            assert!(caught.is_err());
        }
        let done = AtomicUsize::new(0);
        pool.run(1, &|_| {
            done.fetch_add(1, Relaxed);
        });
        assert!(done.into_inner() >= 1);
    }
}
