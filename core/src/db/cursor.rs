//! A position in a file, and the form, token and expression at it.

use super::{Database, FileId, Form};
use crate::base::{ItemId, Span, TextRange, TextSize};
use crate::syntax::ast::{self, ExprId, PatId};
use crate::syntax::{Kind, Parsed, Token, excerpt};
use std::sync::Arc;

/// A position in a form.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    /// The database that the form belongs to.
    pub db: &'a Database,
    /// The file that contains the form.
    pub file: FileId,
    /// The identity of the form.
    pub item: ItemId,
    /// The byte of the file at which the form begins.
    pub start: TextSize,
    /// The parse of the form.
    pub parsed: &'a Parsed,
    /// The syntax of the form.
    pub ast: &'a Arc<ast::Item>,
    /// The position, in bytes from the beginning of the form.
    pub at: TextSize,
}

impl<'a> Cursor<'a> {
    /// The cursor at a byte of a file; `None` if there is no form, as in an empty text.
    pub fn new(db: &'a Database, file: FileId, offset: TextSize) -> Option<Cursor<'a>> {
        let (item, start) = db.item_at(file, offset)?;
        let (parsed, ast) = (db.parsed(item), db.ast(item));
        Some(Cursor { db, file, item, start, parsed, ast, at: offset.checked_sub(start)? })
    }

    /// The bytes of the file from the form's first token to its terminator; `None` if it has no tokens.
    pub fn extent(&self) -> Option<TextRange> {
        let (first, last) = (self.parsed.tokens.first()?, self.parsed.tokens.last()?);
        Some(first.range.cover(last.range) + self.start)
    }

    /// The bytes of the file that a span of the form covers.
    pub fn range(&self, span: Span) -> TextRange {
        self.parsed.range(span) + self.start
    }

    /// The significant token at the cursor with its number; if two tokens touch there, the one that is a
    /// word.
    pub fn token(&self) -> Option<(u32, Token)> {
        let touching = |token: &Token| token.range.contains_inclusive(self.at);
        // Tokens are in order: those that touch are neighbours.
        let first = self.parsed.tokens.partition_point(|t| t.range.end() < self.at);
        let candidates = self.parsed.tokens.iter().enumerate().skip(first).take(2);
        let found = candidates.filter(|(_, token)| touching(token));
        let found = found.max_by_key(|(i, t)| (is_word(t.kind), t.range.contains(self.at), *i));
        found.map(|(i, token)| (i as u32, *token))
    }

    /// The span of the token at the cursor.
    pub fn word(&self) -> Option<Span> {
        let (index, _) = self.token()?;
        Some(Span::new(index, index + 1))
    }

    /// The smallest expression that covers some bytes of the file. Of several that are equally
    /// small, the innermost.
    pub fn expr_covering(&self, range: TextRange) -> Option<(ExprId, Span)> {
        // Children come before parents, so the first of the smallest is the innermost.
        let spans = self.ast.expr_spans.iter();
        smallest(spans.map(|(id, span)| (id, *span)), |span| self.covers(span, range))
    }

    /// The smallest pattern that covers some bytes of the file.
    pub fn pat_covering(&self, range: TextRange) -> Option<(PatId, Span)> {
        let spans = self.ast.pat_spans.iter();
        smallest(spans.map(|(id, span)| (id, *span)), |span| self.covers(span, range))
    }

    fn covers(&self, span: Span, range: TextRange) -> bool {
        span.start < span.end && self.range(span).contains_range(range)
    }

    /// A span without the parentheses around it, which are a part of the expression's span.
    pub fn bare(&self, span: Span) -> Span {
        bare(self.parsed, span)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> String {
        self.db.item_text(self.item)[self.parsed.range(span)].to_owned()
    }

    /// The text of a span in one line of at most `limit` characters.
    pub fn snippet(&self, span: Span, limit: usize) -> String {
        excerpt(&self.text(span), limit)
    }
}

/// A span without the parentheses around it, which are a part of the expression's span.
pub(crate) fn bare(parsed: &Parsed, span: Span) -> Span {
    let Span { mut start, mut end } = span;
    let kind = |at: u32| parsed.tokens.get(at as usize).map(|token| token.kind);
    while start + 1 < end && matches!(kind(start), Some(Kind::LParen | Kind::CallParen)) {
        start += 1;
        if start + 1 < end && kind(end - 1) == Some(Kind::RParen) {
            end -= 1;
        }
    }
    Span { start, end }
}

/// The forms of a file in order, or those that touch a part of it. The iterator parses each form when it
/// reaches it.
pub(crate) fn forms<'a>(
    db: &'a Database,
    file: FileId,
    part: Option<TextRange>,
) -> impl Iterator<Item = (Form, Cursor<'a>)> {
    forms_where(db, file, move |_, text| part.is_none_or(|part| part.intersect(text).is_some()))
}

/// The forms of a file that are selected by their sort and their bytes, in order. The iterator parses only
/// those, when it reaches them.
pub(crate) fn forms_where<'a>(
    db: &'a Database,
    file: FileId,
    wanted: impl Fn(&Form, TextRange) -> bool,
) -> impl Iterator<Item = (Form, Cursor<'a>)> {
    let (outline, starts) = (db.outline(file), db.starts(file).clone());
    let end = TextSize::of(&*db.file_text(file));
    (0..outline.forms.len()).filter_map(move |i| {
        let (form, start) = (&outline.forms[i], starts[i]);
        let text = TextRange::new(start, starts.get(i + 1).copied().unwrap_or(end));
        if !wanted(form, text) {
            return None;
        }
        let item = form.id();
        let (parsed, ast) = (db.parsed(item), db.ast(item));
        Some((form.clone(), Cursor { db, file, item, start, parsed, ast, at: TextSize::new(0) }))
    })
}

fn smallest<T>(
    spans: impl Iterator<Item = (T, Span)>,
    covers: impl Fn(Span) -> bool,
) -> Option<(T, Span)> {
    spans.filter(|(_, span)| covers(*span)).min_by_key(|(_, span)| span.end - span.start)
}

/// Returns true for words: names, keywords and literals.
fn is_word(kind: Kind) -> bool {
    let keyword = (Kind::FunctionKw..=Kind::ReservedKw).contains(&kind);
    keyword || matches!(kind, Kind::Name | Kind::Int | Kind::Float | Kind::Char | Kind::Text)
}
