//! Source locations as spans of tokens.
//!
//! After the parser, no stage uses byte offsets. A [`Span`] counts the *significant tokens* of
//! its item (comments and blanks are not counted). So typing in a comment, re-indenting or moving
//! a function changes no span and no syntax tree, and no query is executed again. The token table of an
//! item translates a span into bytes when a location is printed.

pub use rowan::{TextRange, TextSize};

/// The identity of a top-level form, valid for as long as the database lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);

/// A half-open range of an item's significant tokens. An empty span at `n` is the position just before
/// token `n`, where a part is missing.
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

    /// Returns the smallest span that contains both spans.
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
