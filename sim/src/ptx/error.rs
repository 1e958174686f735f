//! Errors in PTX text.

use std::fmt;

/// A reason why a text is refused, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxError {
    /// The line, from 1.
    pub line: u32,
    /// The reason for a reader.
    pub message: String,
    /// The text of the line, without blanks around it.
    pub text: String,
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}\n    in `{}`", self.line, self.message, self.text)
    }
}

impl std::error::Error for PtxError {}

/// A reason without its line, which whoever reads the statement adds.
pub type Reason = String;
