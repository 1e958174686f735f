//! The parts of a form that the steps of its program come from.
//!
//! A step has the source location of an operation. Often that is in the form itself. A step of a
//! function that was inlined has its location in that function; what the reader of the form knows of
//! it is the call.

use crate::base::{ItemId, Loc, Span, TextRange};
use crate::db::Database;
use crate::ir::Site;
use crate::names::Resolution;
use crate::syntax::ast::{Expr, ExprId, Item, ItemKind, PatId};
use crate::syntax::{Kind, Parsed};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Finds the parts of a form that steps come from, and their text.
pub(super) struct Origins<'a> {
    db: &'a Database,
    item: ItemId,
    ast: &'a Item,
    /// The calls in the form, with all forms that a call can reach.
    calls: Vec<(ExprId, FxHashSet<ItemId>)>,
    /// The call that each other form was inlined for.
    known: RefCell<FxHashMap<ItemId, Option<Span>>>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(db: &'a Database, item: ItemId) -> Origins<'a> {
        let ast: &'a Item = db.ast(item);
        let names = db.names(item);
        let mut reached: FxHashMap<ItemId, FxHashSet<ItemId>> = FxHashMap::default();
        let mut calls = Vec::new();
        for (id, expr) in ast.exprs.iter() {
            let callee = match expr {
                Expr::Call { fun, .. } => names.values.get(*fun),
                Expr::Unary { .. } | Expr::Binary { .. } => names.values.get(id),
                _ => None,
            };
            let Some(Resolution::Item(callee, _)) = callee else { continue };
            if *callee != item {
                let all = reached.entry(*callee).or_insert_with(|| reach(db, *callee));
                calls.push((id, all.clone()));
            }
        }
        Origins { db, item, ast, calls, known: RefCell::default() }
    }

    /// Returns the tokens of the form that a step comes from.
    pub(super) fn span(&self, site: Site) -> Option<Span> {
        let Site { item, span } = site;
        if span.start >= span.end {
            return None;
        }
        if item == self.item {
            return Some(span);
        }
        if item == Site::NONE.item {
            return None;
        }
        *self.known.borrow_mut().entry(item).or_insert_with(|| {
            let calls = self.calls.iter().filter(|(_, reached)| reached.contains(&item));
            let spans = calls.map(|(id, _)| self.ast.expr_spans[*id]);
            spans.min_by_key(|span| span.end - span.start)
        })
    }

    /// Returns the bytes of some tokens of the form.
    pub(super) fn range(&self, span: Span) -> TextRange {
        self.db.place(Loc { item: self.item, span }).range
    }

    /// Returns the text of some tokens in one line of at most so many characters, without the
    /// parentheses around it.
    pub(super) fn text(&self, span: Span, limit: usize) -> String {
        let parsed = self.db.parsed(self.item);
        let text = self.db.item_text(self.item);
        elided(&text[parsed.range(unwrapped(parsed, span))], limit)
    }

    /// Returns true if some tokens are a call of a function that is no primitive: what it does was
    /// inlined there.
    pub(super) fn is_call(&self, span: Span) -> bool {
        self.calls.iter().any(|(id, _)| {
            matches!(self.ast.exprs[*id], Expr::Call { .. }) && self.ast.expr_spans[*id] == span
        })
    }

    /// Returns the text of the call at some bytes of the file, if that is a call of a function of the
    /// library that is no primitive.
    pub(super) fn call_at(&self, range: TextRange) -> Option<String> {
        let names = self.db.names(self.item);
        let of_library = |id: &ExprId| {
            let Expr::Call { fun, .. } = &self.ast.exprs[*id] else { return false };
            let callee = names.values.get(*fun);
            matches!(callee, Some(Resolution::Item(item, _)) if self.db.is_library(*item))
        };
        let calls = self.calls.iter().map(|(id, _)| id).filter(|id| of_library(id));
        let mut spans = calls.map(|id| self.ast.expr_spans[*id]);
        let span = spans.find(|span| self.range(*span) == range)?;
        Some(self.text(span, CALL_CHARS))
    }

    /// Returns the variable that a part of the form is computed for: the pattern of the innermost
    /// `let` binding around it.
    pub(super) fn bound_to(&self, span: Span) -> Option<String> {
        let mut best: Option<(PatId, Span)> = None;
        for expr in self.ast.exprs.values() {
            let Expr::Let { bindings, .. } = expr else { continue };
            for (pattern, value) in bindings {
                let own = self.ast.expr_spans[*value];
                let around = own.start <= span.start && span.end <= own.end;
                let closer =
                    |(_, known): &(PatId, Span)| own.end - own.start < known.end - known.start;
                if around && best.as_ref().is_none_or(closer) {
                    best = Some((*pattern, own));
                }
            }
        }
        let (pattern, _) = best?;
        Some(self.text(self.ast.pat_spans[pattern], NAME_CHARS))
    }

    /// Returns the apply-to-each that has a binding, or all of its bindings, at some tokens.
    pub(super) fn each(&self, span: Span) -> Option<(ExprId, ExprId)> {
        let mut found: Vec<(ExprId, ExprId)> = Vec::new();
        for (id, expr) in self.ast.exprs.iter() {
            let Expr::Each { bindings, body, .. } = expr else { continue };
            let covers = |(pat, sequence): &(PatId, ExprId)| {
                self.ast.pat_spans[*pat].cover(self.ast.expr_spans[*sequence])
            };
            let all = bindings.iter().map(covers).reduce(Span::cover);
            if all == Some(span) || bindings.iter().any(|binding| covers(binding) == span) {
                found.push((id, *body));
            }
        }
        let width = |id: ExprId| self.ast.expr_spans[id].end - self.ast.expr_spans[id].start;
        found.into_iter().min_by_key(|(id, _)| width(*id))
    }

    /// Returns the tokens of the code that a step computes: of the bindings of an apply-to-each, its
    /// body; of the step that makes its sequence, all of it.
    pub(super) fn code(&self, site: Site, whole: bool) -> Option<Span> {
        let span = self.span(site)?;
        let each = self.each(span).filter(|_| site.item == self.item);
        Some(each.map_or(span, |(id, body)| self.ast.expr_spans[if whole { id } else { body }]))
    }

    /// Returns true if the form calls itself, directly or through others.
    pub(super) fn is_recursive(&self) -> bool {
        let ItemKind::Function(_) = &self.ast.kind else { return false };
        let direct = &self.db.names(self.item).references;
        direct.contains(&self.item) || self.calls.iter().any(|(_, all)| all.contains(&self.item))
    }
}

/// The width of a call as the title of a step, in characters.
const CALL_CHARS: usize = 48;

/// The width of the name of a value, in characters.
pub(super) const NAME_CHARS: usize = 28;

/// Returns some tokens without the parentheses around all of them.
fn unwrapped(parsed: &Parsed, mut span: Span) -> Span {
    let kind = |at: u32| parsed.tokens.get(at as usize).map(|token| token.kind);
    let is_open = |kind| matches!(kind, Some(Kind::LParen | Kind::CallParen));
    while span.end - span.start > 2 && is_open(kind(span.start)) {
        let mut depth = 0usize;
        let closes = (span.start..span.end).find(|at| {
            match kind(*at) {
                Some(Kind::LParen | Kind::CallParen) => depth += 1,
                Some(Kind::RParen) => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        if closes != Some(span.end - 1) {
            break;
        }
        span = Span::new(span.start + 1, span.end - 1);
    }
    span
}

/// Returns a text in one line of at most so many characters; what is too much is left out inside.
fn elided(text: &str, limit: usize) -> String {
    let words: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    if words.len() <= limit {
        return words.into_iter().collect();
    }
    let head = (limit - 1) * 2 / 3;
    let tail = words.len() - (limit - 1 - head);
    words[..head].iter().chain(&['…']).chain(&words[tail..]).collect()
}

/// The forms that a form refers to, directly and through others, and itself.
fn reach(db: &Database, item: ItemId) -> FxHashSet<ItemId> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![item];
    while let Some(item) = todo.pop() {
        if seen.insert(item) {
            todo.extend(&db.names(item).references);
        }
    }
    seen
}
