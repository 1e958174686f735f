//! Ctrl-C: stops the running computation; pressed again while that takes long, the program.

use nesl_engine::Session;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Computations under way that can be stopped.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Whether Ctrl-C was pressed since the computation started.
static PRESSED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C interrupt what the session computes. Outside of a computation it ends the
/// program, as it does without this.
pub fn install(session: &Session) {
    let handle = session.interrupt_handle();
    let result = ctrlc::set_handler(move || {
        let running = RUNNING.load(Ordering::SeqCst) > 0;
        if !running || PRESSED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(crate::cli::INTERRUPTED));
        }
        handle.store(true, Ordering::SeqCst);
    });
    if let Err(error) = result {
        eprintln!("nesl: Ctrl-C will end the program at once: {error}");
    }
}

/// Runs a computation that Ctrl-C stops.
pub fn during<T>(compute: impl FnOnce() -> T) -> T {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    PRESSED.store(false, Ordering::SeqCst);
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _running = Running;
    compute()
}
