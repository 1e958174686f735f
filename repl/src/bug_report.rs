//! Panics → bug reports on standard error, and an exit code.
//!
//! Every panic is a bug of ours, whatever the program. Its report names the broken invariant and the place in
//! our source text:
//!
//! ```text
//! nesl: internal error: the list has a head (core/src/list.rs:12:5)
//! This is a bug in nesl; please report it together with the program.
//! ```
//!
//! A command then ends with the exit code [`BUG`]; a prompt goes on with the next entry.

use crate::exit::BUG;
use anyhow::Result;
use nesl_runtime::bug::without_request;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

/// Reports panics from now on.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        // Where nobody needs the result yet, the panic is found again when somebody does.
        if !nesl_runtime_cpu::is_prefetching() {
            eprintln!("{}", report(info));
        }
    }));
}

/// Executes a command; one that panics, which is reported, has the exit code [`BUG`].
pub fn catch(command: impl FnOnce() -> Result<u8>) -> Result<u8> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or(Ok(BUG))
}

fn report(info: &PanicHookInfo<'_>) -> String {
    let message = without_request(info.payload_as_str().unwrap_or("unknown"));
    let place = info.location().map(|place| format!(" ({place})")).unwrap_or_default();
    format!(
        "nesl: internal error: {message}{place}\n\
         This is a bug in nesl; please report it together with the program."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::bug;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_panic_is_reported_once_and_ends_the_command() {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let own_thread = std::thread::current().id();
        let seen = reports.clone();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Other tests may panic meanwhile.
            if std::thread::current().id() == own_thread {
                seen.lock().expect("no panic").push(report(info));
            } else {
                before(info);
            }
        }));
        let code = catch(|| bug!("the list has a head"));
        let _ = std::panic::take_hook();
        assert_eq!(code.expect("it is caught"), BUG);
        let reports = reports.lock().expect("no panic");
        let [report] = reports.as_slice() else { panic!("{reports:?}") };
        let (first, second) = report.split_once('\n').expect("two lines");
        assert!(
            first.starts_with("nesl: internal error: the list has a head (repl/src/bug_report.rs:"),
            "{first}"
        );
        assert_eq!(second, "This is a bug in nesl; please report it together with the program.");
    }

    #[test]
    fn a_command_that_does_not_panic_keeps_its_outcome() {
        assert_eq!(catch(|| Ok(7)).expect("no error"), 7);
        assert!(catch(|| anyhow::bail!("no such file")).is_err());
    }
}
