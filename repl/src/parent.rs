//! The end of the process that started this one.
//!
//! A language server runs programs in processes of `nesl`. When it is killed it cannot end them, and
//! a program that runs for ever would do so on a machine where nobody waits for it.

#[cfg(unix)]
use std::time::Duration;

/// The interval in which the parent is looked for.
#[cfg(unix)]
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Ends this process when its parent has ended, if the parent asked for that: the variable
/// `NESL_PARENT` is the parent's process number.
#[cfg(unix)]
pub fn follow() {
    use std::os::unix::process::parent_id;
    let named = std::env::var("NESL_PARENT").ok().and_then(|number| number.parse::<u32>().ok());
    let Some(parent) = named else { return };
    std::thread::spawn(move || {
        while parent_id() == parent {
            std::thread::sleep(LOOK_INTERVAL);
        }
        nesl_engine::end_between_writes();
        std::process::exit(i32::from(crate::exit::USAGE));
    });
}

/// Does nothing where a process cannot see its parent.
#[cfg(not(unix))]
pub fn follow() {}
