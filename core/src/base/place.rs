//! Places in the source.
//!
//! Below the parser nothing knows a byte offset. A [`Span`] counts the *significant tokens* of
//! its item (comments and blanks are not counted), so typing in a comment, re-indenting or moving
//! a function changes no span, hence no syntax tree below it, hence re-runs no query. Only when
//! something is shown to a person does the token table of the item turn a span into bytes.

pub use rowan::{TextRange, TextSize};

/// One top-level form, for as long as the database lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);

/// A half-open range of an item's significant tokens. Never empty in well-formed trees; an empty
/// one at `n` stands just before token `n` (where something is missing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
}

impl Span {
    /// The tokens from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that holds both.
    pub fn cover(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place: some tokens of some item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The top-level form.
    pub item: ItemId,
    /// Its tokens.
    pub span: Span,
}
