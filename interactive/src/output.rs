//! The outputs of an entry, as they happen.

use crate::bundle::Bundle;
use nesl_runtime::fault::FaultCode;

/// Something that an entry has to show.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// The program printed bytes.
    Printed(Stream, Vec<u8>),
    /// An expression was evaluated.
    Value(Bundle),
    /// A name was defined: `f : int -> int`.
    Defined(Bundle),
    /// A command answered.
    Answer(Bundle),
    /// A window was drawn on, by its number from 0 on; it may have been shown before.
    Picture(usize, Bundle),
    /// Something is wrong that stops nothing.
    Warning(Bundle),
    /// Something is wrong.
    Error(Problem),
}

/// A standard stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The stream for output.
    Output,
    /// The stream for errors.
    Errors,
}

/// The kind of the error of an entry that was interrupted.
pub const INTERRUPTED: &str = "Interrupted";

/// An error, as front ends need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The kind of error: `Type error`; [`INTERRUPTED`] if it is that the entry was.
    pub kind: String,
    /// The message, in one line.
    pub message: String,
    /// The whole message, with its place.
    pub shown: Bundle,
}

impl Problem {
    /// Makes the error of an entry that was interrupted where no form can be named.
    pub fn interrupted() -> Problem {
        let message = FaultCode::Interrupted.message().to_owned();
        let shown = Bundle::colored(format!("\x1b[1;31mRuntime error:\x1b[0m {message}"));
        Problem { kind: INTERRUPTED.to_owned(), message, shown }
    }

    /// Makes an error that has no place, such as that of a command.
    pub fn of_command(message: impl Into<String>) -> Problem {
        let message = message.into();
        let shown = Bundle::colored(format!("\x1b[1;31mCommand error:\x1b[0m {message}"));
        Problem { kind: "Command error".to_owned(), message, shown }
    }
}

/// The way in which an entry ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All of it ran.
    Done,
    /// The first of its errors; the forms after it ran.
    Failed(Problem),
    /// It was interrupted while it ran.
    Interrupted,
    /// It did not begin: an entry before it failed, or was interrupted.
    Aborted,
    /// It asked for the end of the session.
    Exit,
}
