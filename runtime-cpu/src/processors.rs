//! The processors that threads run on: a helper is not woken up on the processor of the thread that it helps.
//!
//! Linux likes to wake a thread up on the processor of the thread that wakes it. If it does not know of a cache that the
//! processors share, as in many virtual machines, it does so though another processor is idle. The helper then
//! interrupts its caller, or waits for it, until the load is balanced, which takes milliseconds: on a virtual machine
//! with two processors up to 1.7 ms, and 0.03 to 0.13 ms on another processor than the caller's.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread::JoinHandle;

/// More helpers than this are not moved: with so many processors there are idle ones near the caller's.
const MAX_MOVED_HELPERS: usize = 16;

/// The processors that a process may use.
#[derive(Debug)]
pub struct Processors(#[cfg(target_os = "linux")] linux::Set);

/// The processor that a thread is kept off; negative if there is none.
#[derive(Debug)]
pub struct KeptOff(AtomicI32);

impl Default for KeptOff {
    fn default() -> KeptOff {
        KeptOff(AtomicI32::new(-1))
    }
}

#[cfg(target_os = "linux")]
impl Processors {
    /// The processors of the calling thread, if there is one more for each of so many helpers.
    pub fn for_helpers(helpers: usize) -> Option<Processors> {
        let set = linux::Set::of_this_thread()?;
        (helpers <= MAX_MOVED_HELPERS && helpers < set.count()).then_some(Processors(set))
    }

    /// Keeps a thread off the processor that the calling thread runs on. If the system refuses, it stays as it was.
    pub fn keep_off<T>(&self, thread: &JoinHandle<T>, kept_off: &KeptOff) {
        let here = linux::current();
        if kept_off.0.load(Relaxed) == here {
            return;
        }
        if self.0.without(here).is_some_and(|set| set.assign_to(thread)) {
            kept_off.0.store(here, Relaxed);
        }
    }
}

/// As on Linux, for systems that place threads by themselves.
#[cfg(not(target_os = "linux"))]
impl Processors {
    /// Returns nothing: threads are not placed.
    pub fn for_helpers(_helpers: usize) -> Option<Processors> {
        None
    }

    /// Threads stay where the system puts them.
    pub fn keep_off<T>(&self, _thread: &JoinHandle<T>, _kept_off: &KeptOff) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::thread::{JoinHandleExt, RawPthread};
    use std::thread::JoinHandle;

    /// The words of a set: enough for 1,024 processors, as in the C library.
    const WORDS: usize = 16;

    unsafe extern "C" {
        fn sched_getcpu() -> i32;
        fn sched_getaffinity(process: i32, bytes: usize, set: *mut [u64; WORDS]) -> i32;
        fn pthread_setaffinity_np(
            thread: RawPthread,
            bytes: usize,
            set: *const [u64; WORDS],
        ) -> i32;
    }

    /// A set of processors, a bit for each.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Set([u64; WORDS]);

    /// The processor that runs the calling thread, or a negative number.
    pub fn current() -> i32 {
        // SAFETY: it has no arguments.
        unsafe { sched_getcpu() }
    }

    impl Set {
        /// The processors that may run the calling thread.
        pub fn of_this_thread() -> Option<Set> {
            let mut words = [0; WORDS];
            // SAFETY: the set has the size that is given.
            let done = unsafe { sched_getaffinity(0, size_of_val(&words), &mut words) };
            (done >= 0).then_some(Set(words))
        }

        pub fn count(&self) -> usize {
            self.0.iter().map(|word| word.count_ones() as usize).sum()
        }

        /// The set without a processor, unless nothing is left.
        pub fn without(mut self, processor: i32) -> Option<Set> {
            let processor = usize::try_from(processor).ok()?;
            *self.0.get_mut(processor / 64)? &= !(1 << (processor % 64));
            (self.count() > 0).then_some(self)
        }

        /// Lets a thread run on these processors only; returns false if the system refuses.
        pub fn assign_to<T>(&self, thread: &JoinHandle<T>) -> bool {
            // SAFETY: the thread has not been joined, since there is a handle; the set has the size that is given.
            unsafe {
                pthread_setaffinity_np(thread.as_pthread_t(), size_of_val(&self.0), &self.0) == 0
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::super::{KeptOff, Processors};
        use super::*;

        #[test]
        fn a_helper_is_kept_off_the_processor_of_its_caller() {
            let Some(processors) = Processors::for_helpers(1) else { return };
            let (tell, told) = std::sync::mpsc::channel::<()>();
            let helper = std::thread::spawn(move || {
                told.recv().unwrap();
                Set::of_this_thread().unwrap()
            });
            let kept_off = KeptOff::default();
            processors.keep_off(&helper, &kept_off);
            tell.send(()).unwrap();
            let all = Set::of_this_thread().unwrap();
            let given = helper.join().unwrap();
            let off = kept_off.0.into_inner();
            // Where the system refuses, nothing changes.
            assert_eq!(given, if off < 0 { all } else { all.without(off).unwrap() });
        }
    }
}
