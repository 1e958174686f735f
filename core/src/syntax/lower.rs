//! The grammar's nodes → [`ast`](super::ast), and every syntax error.
//!
//! The grammar is silent; here, where the whole form is in view, what is missing or out of place
//! is put in the user's words, with a way out where one is known.

mod expr;
mod form;
mod pattern;
mod types;

use super::ast::{Arena, ArenaMap, Expr, ExprId, Ident, Item, Pat, PatId};
use super::grammar::Node;
use super::lexer::{Kind, Token};
use crate::base::{Diagnostic, Kind as Sort, Name, Span, TextRange, TextSize};

pub(super) use form::lower;

type Report = Diagnostic<TextRange>;

/// An item being lowered.
struct Lower<'a> {
    text: &'a str,
    /// The significant tokens, terminator included.
    tokens: &'a [Token],
    exprs: Arena<Expr>,
    expr_spans: ArenaMap<ExprId, Span>,
    pats: Arena<Pat>,
    pat_spans: ArenaMap<PatId, Span>,
    diagnostics: Vec<Report>,
}

impl<'a> Lower<'a> {
    fn new(text: &'a str, tokens: &'a [Token]) -> Lower<'a> {
        Lower {
            text,
            tokens,
            exprs: Arena::new(),
            expr_spans: ArenaMap::default(),
            pats: Arena::new(),
            pat_spans: ArenaMap::default(),
            diagnostics: Vec::new(),
        }
    }

    fn finish(self, kind: super::ast::ItemKind, span: Span) -> (Item, Vec<Report>) {
        let Lower { exprs, expr_spans, pats, pat_spans, diagnostics, .. } = self;
        (Item { kind, span, exprs, expr_spans, pats, pat_spans }, diagnostics)
    }

    fn add(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = self.exprs.alloc(expr);
        self.expr_spans.insert(id, span);
        id
    }

    fn add_pat(&mut self, pat: Pat, span: Span) -> PatId {
        let id = self.pats.alloc(pat);
        self.pat_spans.insert(id, span);
        id
    }

    /// The bytes of some tokens. An empty range stands behind the token before it, where
    /// something is missing.
    fn range(&self, span: Span) -> TextRange {
        super::range_of(self.tokens, span)
    }

    fn node_range(&self, node: &Node) -> TextRange {
        self.range(span(node))
    }

    fn token_kind(&self, index: u32) -> Option<Kind> {
        self.tokens.get(index as usize).map(|t| t.kind)
    }

    fn token_text(&self, index: u32) -> &'a str {
        self.tokens.get(index as usize).map_or("", |t| &self.text[t.range])
    }

    fn node_text(&self, node: &Node) -> &'a str {
        if node.present() { &self.text[self.node_range(node)] } else { "" }
    }

    fn ident(&self, node: &Node) -> Ident {
        Ident { name: Name::new(self.token_text(node.start)), span: span(node) }
    }

    fn report(&mut self, report: Report) {
        self.diagnostics.push(report);
    }

    fn error(&mut self, at: TextRange, message: impl Into<String>) -> Report {
        Diagnostic::error(Sort::Syntax, at, message)
    }

    /// What stands at a token, in words: `` `;` ``, `the end of the form`.
    fn found(&self, index: u32) -> String {
        match self.tokens.get(index as usize) {
            None => "the end".to_owned(),
            Some(token) => {
                let text = &self.text[token.range];
                let short: String = text.chars().take(24).collect();
                if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
            }
        }
    }

    /// A report that something was expected at a token.
    fn expected(&mut self, what: &str, index: u32) -> Report {
        let at = self.range(Span::new(index, index + 1));
        let found = self.found(index);
        self.error(at, format!("expected {what}, found {found}"))
    }

    /// Reports a bracket that is never closed.
    fn need_close(&mut self, open: u32, close: &Node, bracket: &str) {
        if close.present() {
            return;
        }
        let opener = self.range(Span::new(open, open + 1));
        let at = self.range(Span::new(close.start, close.start));
        let what = self.token_text(open).to_owned();
        let report = self
            .error(at, format!("this `{what}` is never closed"))
            .here(format!("expected `{bracket}` here"))
            .label(opener, "opened here")
            .fix(format!("add `{bracket}`"), at, bracket);
        self.report(report);
    }

    fn insert_at(&self, index: u32) -> TextRange {
        let start = self.tokens.get(index as usize).map_or_else(
            || self.tokens.last().map_or(TextSize::new(0), |t| t.range.end()),
            |t| t.range.start(),
        );
        TextRange::empty(start)
    }
}

fn span(node: &Node) -> Span {
    Span::new(node.start, node.end)
}
