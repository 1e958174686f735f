//! The texts that may stand at a cursor, as data.

use std::ops::Range;

/// The completions at a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The bytes that they replace.
    pub range: Range<usize>,
    /// The texts that may stand there, the likeliest first.
    pub all: Vec<Completion>,
}

/// A text that may stand at a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text itself.
    pub text: String,
    /// The kind of thing it is, in one word: `function`, `variable`, `keyword`, …
    pub kind: &'static str,
    /// Its type as printed, or a description.
    pub ty: String,
}
