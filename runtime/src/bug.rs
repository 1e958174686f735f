//! Failures that are the system's own.
//!
//! A user's mistake is a diagnostic, a failing program is a [`Fault`](crate::fault::Fault), and a
//! kernel that a runtime cannot run is a declared limit. What remains is an invariant that the
//! code itself broke: [`bug!`](macro@crate::bug) ends the computation there, names the invariant, and asks
//! for a report, so that nobody mistakes the message for a mistake in their program.

/// Panics because an invariant of the system does not hold; the message names the invariant.
///
/// Use it in place of `unreachable!` and `panic!`. The program and the language server catch the panic and
/// report it.
#[macro_export]
macro_rules! bug {
    ($($message:tt)+) => {
        panic!("internal error: {}; please report this program", format_args!($($message)+))
    };
}

/// Returns the message of a panic without the words that [`bug!`](macro@crate::bug) adds to it, for
/// reports that say themselves that the error is internal.
pub fn without_request(panic_message: &str) -> &str {
    let message = panic_message.strip_prefix("internal error: ").unwrap_or(panic_message);
    message.strip_suffix("; please report this program").unwrap_or(message)
}

/// Extraction of a value that an invariant guarantees.
pub trait OrBug {
    /// The value inside.
    type Value;

    /// Returns the value inside.
    ///
    /// # Panics
    /// With [`bug!`](macro@crate::bug) and the name of the broken invariant if there is no value.
    fn or_bug(self, invariant: &str) -> Self::Value;
}

impl<T> OrBug for Option<T> {
    type Value = T;

    #[track_caller]
    fn or_bug(self, invariant: &str) -> T {
        match self {
            Some(value) => value,
            None => bug!("{invariant}"),
        }
    }
}

impl<T, E: std::fmt::Debug> OrBug for Result<T, E> {
    type Value = T;

    #[track_caller]
    fn or_bug(self, invariant: &str) -> T {
        match self {
            Ok(value) => value,
            Err(error) => bug!("{invariant}: {error:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OrBug, without_request};

    #[test]
    #[should_panic(expected = "internal error: the list has a head; please report this program")]
    fn a_missing_value_names_the_invariant() {
        None::<i32>.or_bug("the list has a head");
    }

    #[test]
    fn a_report_need_not_repeat_the_request() {
        let panic = std::panic::catch_unwind(|| bug!("the list is empty")).expect_err("it panics");
        // A message without arguments may be formatted at compile time.
        let constant = panic.downcast_ref::<&str>().copied();
        let message = constant.or(panic.downcast_ref::<String>().map(String::as_str));
        assert_eq!(message.map(without_request), Some("the list is empty"));
        assert_eq!(without_request("index out of bounds"), "index out of bounds");
    }
}
