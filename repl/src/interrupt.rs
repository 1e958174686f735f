//! Ctrl-C: stops the running computation, and what is being printed of its value.
//!
//! In a program that only runs files a second press ends the process. An interactive session holds a
//! person's definitions: nothing that they press ends it but `:quit`, Ctrl-D and Ctrl-\\.

use nesl_engine::Session;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The number of computations under way that can be stopped.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// True once Ctrl-C was pressed during the computation under way.
static PRESSED: AtomicBool = AtomicBool::new(false);
/// The number of presses during computations.
static PRESSES: AtomicUsize = AtomicUsize::new(0);
/// The number of presses.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// Held while a press is noted, and while a computation begins: it is told of each press exactly once.
static BEGINNING: Mutex<()> = Mutex::new(());
/// The flag that the session polls.
static WISHED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// True if what the session begins with is to be stopped, and has not begun.
static EARLY: AtomicBool = AtomicBool::new(false);
/// The number of other programs that have the terminal: a pager, or an editor.
static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);
/// True in an interactive session, which Ctrl-C never ends.
static INTERACTIVE: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C interrupt what the session computes. Outside of a computation it ends the
/// program, as it does without this, unless the session is interactive.
pub fn install(session: &Session) {
    attach(session);
    handle();
}

/// Makes Ctrl-C stop what a session computes, once it is handled ([`handle`]).
pub fn attach(session: &Session) {
    let _ = WISHED.set(session.interrupt_handle());
}

/// Handles Ctrl-C from now on, also before there is a session.
pub fn handle() {
    let result = ctrlc::set_handler(move || {
        if ELSEWHERE.load(Ordering::SeqCst) > 0 {
            return;
        }
        let interactive = INTERACTIVE.load(Ordering::SeqCst);
        let (running, again) = press();
        if !interactive && (again || !running) {
            nesl_engine::end_between_writes();
            std::process::exit(i32::from(crate::exit::INTERRUPTED));
        }
        if again {
            eprintln!("Stopping takes its time; Ctrl-\\ ends the session and all it holds.");
        }
    });
    if let Err(error) = result {
        eprintln!("nesl: Ctrl-C will end the program at once: {error}");
    }
}

/// Stops the computation under way, if there is one. Returns whether there is, and whether that was wished before.
fn press() -> (bool, bool) {
    let _beginning = BEGINNING.lock().unwrap_or_else(PoisonError::into_inner);
    SEEN.fetch_add(1, Ordering::SeqCst);
    let running = RUNNING.load(Ordering::SeqCst) > 0;
    (running, running && wish_stop())
}

/// Stops the computation under way for a press; returns true if that was wished before.
fn wish_stop() -> bool {
    PRESSES.fetch_add(1, Ordering::SeqCst);
    let again = PRESSED.swap(true, Ordering::SeqCst);
    if let Some(wished) = WISHED.get() {
        wished.store(true, Ordering::SeqCst);
    }
    again
}

/// Keeps the process alive whenever Ctrl-C is pressed, from now on.
pub fn keep_session() {
    INTERACTIVE.store(true, Ordering::SeqCst);
}

/// Returns true if Ctrl-C was pressed during the computation under way: what is left to print of its
/// value is not wanted.
pub fn is_pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

/// Stops what a session begins with, or will: for a Ctrl-C that came as a key.
pub fn stop() {
    let _beginning = BEGINNING.lock().unwrap_or_else(PoisonError::into_inner);
    match WISHED.get() {
        Some(wished) if RUNNING.load(Ordering::SeqCst) > 0 => wished.store(true, Ordering::SeqCst),
        _ => EARLY.store(true, Ordering::SeqCst),
    }
}

/// Runs all that a session begins with, several computations: Ctrl-C stops the one under way and those behind it, also if
/// it came as a key before any of them began.
pub fn while_beginning<T>(compute: impl FnOnce() -> T) -> T {
    during(|| {
        let beginning = BEGINNING.lock().unwrap_or_else(PoisonError::into_inner);
        if EARLY.swap(false, Ordering::SeqCst)
            && let Some(wished) = WISHED.get()
        {
            wished.store(true, Ordering::SeqCst);
        }
        drop(beginning);
        compute()
    })
}

/// Runs something for which another program has the terminal: each Ctrl-C is for that.
pub fn elsewhere<T>(program: impl FnOnce() -> T) -> T {
    struct Elsewhere;
    impl Drop for Elsewhere {
        fn drop(&mut self) {
            ELSEWHERE.fetch_sub(1, Ordering::SeqCst);
        }
    }
    ELSEWHERE.fetch_add(1, Ordering::SeqCst);
    let _elsewhere = Elsewhere;
    program()
}

/// Returns how often Ctrl-C was pressed during computations.
pub fn presses() -> usize {
    PRESSES.load(Ordering::SeqCst)
}

/// Returns how often Ctrl-C was pressed, but for those presses that the line editor reads as keys.
pub fn seen() -> usize {
    SEEN.load(Ordering::SeqCst)
}

/// Runs a computation that Ctrl-C stops.
pub fn during<T>(compute: impl FnOnce() -> T) -> T {
    during_since(usize::MAX, compute)
}

/// Runs a computation that Ctrl-C stops, also if it was pressed since [`seen`] gave a number: the computation is a part
/// of something that had begun by then.
pub fn during_since<T>(before: usize, compute: impl FnOnce() -> T) -> T {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            if RUNNING.fetch_sub(1, Ordering::SeqCst) == 1 {
                PRESSED.store(false, Ordering::SeqCst);
                if let Some(wished) = WISHED.get() {
                    wished.store(false, Ordering::SeqCst);
                }
            }
        }
    }
    let beginning = BEGINNING.lock().unwrap_or_else(PoisonError::into_inner);
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _running = Running;
    if seen() > before {
        wish_stop();
    }
    drop(beginning);
    compute()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_press_between_two_parts_stops_the_second() {
        let session = Session::new(nesl_engine::Settings::default());
        attach(&session);
        let is_wished = || WISHED.get().is_some_and(|wished| wished.load(Ordering::SeqCst));
        let before = seen();
        during_since(before, || assert!(!is_wished() && !is_pressed()));
        assert_eq!(press(), (false, false));
        during(|| assert!(!is_wished(), "it is another computation"));
        during_since(before, || {
            assert!(is_wished() && is_pressed());
            assert_eq!(press(), (true, true));
        });
        during_since(seen(), || assert!(!is_wished() && !is_pressed()));
        // A key that comes before the session begins anything.
        stop();
        while_beginning(|| {
            assert!(is_wished());
            during(|| assert!(is_wished()));
            during(|| assert!(is_wished(), "what is behind it is not wanted either"));
        });
        while_beginning(|| assert!(!is_wished()));
    }
}
