//! The end of the process, between two writes of files.
//!
//! A file that takes the place of another has a name of its own for a moment. A process that ended just then would
//! leave that name behind. So whoever ends it, a signal or the process itself, first waits until no thread is in
//! such a moment, and keeps others from entering one:
//!
//! ```text
//! undisturbed:   signals blocked in this thread, count + 1 ──name, rename──▶ count − 1, signals as before
//! ending:        CLOSED, then wait until the count is 0, then end
//! ```
//!
//! A handler of a signal may only do what cannot meet itself half done: it touches atomic numbers and sleeps. The
//! thread that it interrupts is in no such moment, since that thread would have blocked the signal.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The number of threads between naming and renaming a file.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// True once the process is about to end.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Waits until no file is between two names; none will be from now on. For whoever ends the process next.
pub fn end_between_writes() {
    CLOSED.store(true, Ordering::SeqCst);
    while INSIDE.load(Ordering::SeqCst) > 0 {
        pause();
    }
}

/// Lets others run for a moment; a handler of a signal may do that.
fn pause() {
    #[cfg(unix)]
    {
        use nix::libc::{nanosleep, timespec};
        let time = timespec { tv_sec: 0, tv_nsec: 100_000 };
        // SAFETY: the time lives longer than the call, which may be given no place for what is left of it.
        unsafe { nanosleep(&raw const time, std::ptr::null_mut()) };
    }
    #[cfg(not(unix))]
    std::thread::yield_now();
}

/// Does something that the end of the process must not come in between of. Once the process is ending, it does
/// not return.
#[cfg(target_os = "linux")]
pub(super) fn undisturbed<T>(act: impl FnOnce() -> T) -> T {
    use nix::sys::signal::SigSet;

    struct Inside(Option<SigSet>);
    impl Drop for Inside {
        fn drop(&mut self) {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            if let Some(before) = &self.0 {
                let _ = before.thread_set_mask();
            }
        }
    }

    let before = ends().thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK).ok();
    loop {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if !CLOSED.load(Ordering::SeqCst) {
            break;
        }
        // Whoever ends the process has seen a number before or sees this one go.
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        pause();
    }
    let _inside = Inside(before);
    act()
}

/// The signals that end a process which does not handle them, and which are sent to end one.
#[cfg(unix)]
fn ends() -> nix::sys::signal::SigSet {
    use nix::sys::signal::Signal::{SIGHUP, SIGQUIT, SIGTERM};
    [SIGHUP, SIGQUIT, SIGTERM].into_iter().collect()
}

/// Makes the signals that end the process wait for [`end_between_writes`] first, from now on. Those that are ignored,
/// as under `nohup`, stay so. A file that grows beyond the limit of the system is an error of its writer and ends
/// nothing.
pub fn handle_ends() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SaFlags, SigAction, SigHandler, sigaction};
        let action = SigAction::new(SigHandler::Handler(end), SaFlags::SA_RESTART, ends());
        for signal in &ends() {
            // SAFETY: `end` does only what a handler of a signal may do, see there.
            let before = unsafe { sigaction(signal, &action) };
            if let Ok(before) = before
                && !matches!(before.handler(), SigHandler::SigDfl)
            {
                // SAFETY: what handled the signal before goes on to do so.
                let _ = unsafe { sigaction(signal, &before) };
            }
        }
        // Other programs that this one starts do not inherit a handler, but they would inherit that the signal is
        // ignored.
        let none = SigAction::new(SigHandler::Handler(fail), SaFlags::SA_RESTART, ends());
        // SAFETY: `fail` does nothing.
        let _ = unsafe { sigaction(nix::sys::signal::Signal::SIGXFSZ, &none) };
    }
}

/// Lets the writer of a file that is too large see the error.
#[cfg(unix)]
extern "C" fn fail(_: nix::libc::c_int) {}

/// Ends the process by a signal, as if it were not handled.
#[cfg(unix)]
extern "C" fn end(signal: nix::libc::c_int) {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};
    end_between_writes();
    let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    if let Ok(signal) = Signal::try_from(signal) {
        // SAFETY: no handler is set, and `sigaction` may be called in one.
        let _ = unsafe { sigaction(signal, &usual) };
        // It is blocked until the handler returns, and then ends the process.
        let _ = raise(signal);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use nix::sys::signal::{SigSet, Signal};

    #[test]
    fn signals_wait_while_a_file_is_between_two_names() {
        let is_blocked =
            || SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(Signal::SIGTERM));
        assert!(!is_blocked());
        assert!(undisturbed(is_blocked));
        assert!(!is_blocked());
        // What fails leaves nothing blocked.
        assert!(std::panic::catch_unwind(|| undisturbed(|| panic!("it fails"))).is_err());
        assert!(!is_blocked());
    }
}
