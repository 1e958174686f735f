//! Failures that are the system's own.
//!
//! A user's mistake is a diagnostic, a failing program is a [`Fault`](crate::fault::Fault), and a
//! kernel that a runtime cannot run is a declared limit. What remains is an invariant that the
//! code itself broke: [`bug!`](macro@crate::bug) ends the computation there, names the invariant, and asks
//! for a report, so that nobody mistakes the message for a mistake in their program.

/// Panics because an invariant of the system does not hold; the message names the invariant.
///
/// Use it in place of `unreachable!` and `panic!`. The faces catch the panic,
/// report it and keep their state.
#[macro_export]
macro_rules! bug {
    ($($message:tt)+) => {
        panic!("internal error: {}; please report this program", format_args!($($message)+))
    };
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
    use super::OrBug;

    #[test]
    #[should_panic(expected = "internal error: the list has a head; please report this program")]
    fn a_missing_value_names_the_invariant() {
        None::<i32>.or_bug("the list has a head");
    }
}
