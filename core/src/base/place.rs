//! Source locations as spans of tokens.
//!
//! After the parser, no stage knows a byte offset. A [`Span`] counts the *significant tokens* of
//! its item (comments and blanks are not counted), so typing in a comment, re-indenting or moving
//! a function changes no span, hence no syntax tree, hence no query runs again. Only when a location
//! is printed does the token table of the item turn its span into bytes.

pub use rowan::{TextRange, TextSize};

/// The identity of a top-level form, valid for as long as the database lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);

/// A half-open range of an item's significant tokens. Never empty in well-formed trees; an empty
/// one at `n` stands just before token `n` (where something is missing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The index of the first token.
    pub start: u32,
    /// One past the index of the last token.
    pub end: u32,
}

impl Span {
    /// Returns the span of the tokens from `start` up to, but not including, `end`.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Returns the smallest span that contains both.
    pub fn cover(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A source location: a span of tokens in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The top-level form.
    pub item: ItemId,
    /// The tokens of the location.
    pub span: Span,
}
