//! The parts of a form that the steps of its program come from.
//!
//! A step has the source location of an operation. Often that is in the form itself. A step of a
//! function that was inlined has its location in that function; what the reader of the form knows of
//! it is the call.

use crate::base::{ItemId, Loc, Span, TextRange};
use crate::db::Database;
use crate::ir::Site;
use crate::names::Resolution;
use crate::prim::{Derived, PrimKind};
use crate::syntax::ast::{BinaryOp, Expr, ExprId, Item, ItemKind, Pat, PatId};
use crate::syntax::{Kind, Parsed, excerpt};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};

/// Finds the parts of a form that steps come from, and their text.
pub(super) struct Origins<'a> {
    db: &'a Database,
    item: ItemId,
    ast: &'a Item,
    /// The calls in the form, with the form that each calls and all forms that it can reach.
    calls: Vec<Reached>,
    /// The call that each other form was inlined for.
    known: RefCell<FxHashMap<ItemId, Option<Span>>>,
}

/// A call in the form: the expression, the form that is called, and all forms that the call can reach.
struct Reached {
    expr: ExprId,
    callee: ItemId,
    all: FxHashSet<ItemId>,
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
                calls.push(Reached { expr: id, callee: *callee, all: all.clone() });
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
            let calls = self.calls.iter().filter(|call| call.all.contains(&item));
            let width = |call: &&Reached| self.width(call.expr);
            let smallest = calls.min_by_key(width)?;
            // Of `f(f(x))`, which of the two calls a step comes from is not known: it is of both.
            let span = self.ast.expr_spans[smallest.expr];
            let around = self.calls.iter().filter(|call| {
                call.callee == smallest.callee && covers(self.ast.expr_spans[call.expr], span)
            });
            around.max_by_key(width).map(|call| self.ast.expr_spans[call.expr])
        })
    }

    fn width(&self, expr: ExprId) -> u32 {
        let span = self.ast.expr_spans[expr];
        span.end - span.start
    }

    /// Returns the calls of the function that some tokens call, in order, none inside another: a step of a
    /// function that was inlined may come from any of them.
    pub(super) fn siblings(&self, span: Span) -> Vec<Span> {
        // A step that is in the form itself has the place of its own call.
        let is_meant = self.known.borrow().values().any(|meant| *meant == Some(span));
        let own = self.calls.iter().find(|call| self.ast.expr_spans[call.expr] == span);
        let Some(own) = own.filter(|_| is_meant) else { return vec![span] };
        let same = self.calls.iter().filter(|call| call.callee == own.callee);
        let all: Vec<Span> = same.map(|call| self.ast.expr_spans[call.expr]).collect();
        let outermost =
            |one: &&Span| !all.iter().any(|other| other != *one && covers(*other, **one));
        let mut outermost: Vec<Span> = all.iter().filter(outermost).copied().collect();
        outermost.sort_by_key(|span| span.start);
        outermost
    }

    /// Returns the bytes of some tokens of the form.
    pub(super) fn range(&self, span: Span) -> TextRange {
        self.db.place(Loc { item: self.item, span }).range
    }

    /// Returns the text of the bindings of an apply-to-each, in one line of at most so many characters. The
    /// parentheses of a pattern are no part of its tokens.
    pub(super) fn bindings(&self, span: Span, limit: usize) -> String {
        let parsed = self.db.parsed(self.item);
        let text = &self.db.item_text(self.item)[parsed.range(span)];
        let missing = text.matches(')').count().saturating_sub(text.matches('(').count());
        excerpt(&format!("{}{text}", "(".repeat(missing)), limit)
    }

    /// Returns the pattern that stands for the elements of a sequence in an apply-to-each.
    pub(super) fn pattern_over(&self, sequence: &str) -> Option<String> {
        self.ast.exprs.values().find_map(|expr| {
            let Expr::Each { bindings, .. } = expr else { return None };
            let over = |(_, own): &&(PatId, ExprId)| {
                self.text(self.ast.expr_spans[*own], NAME_CHARS) == sequence
            };
            let (pattern, _) = bindings.iter().find(over)?;
            let name = matches!(self.ast.pats[*pattern], Pat::Name(_));
            name.then(|| self.text(self.ast.pat_spans[*pattern], NAME_CHARS))
        })
    }

    /// Returns the two sides of a conditional.
    pub(super) fn sides(&self, span: Span) -> Option<(Span, Span)> {
        self.ast.exprs.iter().find_map(|(id, expr)| match expr {
            Expr::If { then, otherwise, .. } if self.ast.expr_spans[id] == span => {
                Some((self.ast.expr_spans[*then], self.ast.expr_spans[*otherwise]))
            }
            _ => None,
        })
    }

    /// Returns the text of some tokens in one line of at most so many characters, without the
    /// parentheses around it.
    pub(super) fn text(&self, span: Span, limit: usize) -> String {
        let parsed = self.db.parsed(self.item);
        let text = self.db.item_text(self.item);
        excerpt(&text[parsed.range(unwrapped(parsed, span))], limit)
    }

    /// Returns true if some tokens are a call of a function that is no primitive, or one that is made for the
    /// type of its arguments: what it does was inlined there.
    pub(super) fn is_call(&self, span: Span) -> bool {
        let values = &self.db.names(self.item).values;
        self.ast.exprs.iter().any(|(id, expr)| {
            let Expr::Call { fun, .. } = expr else { return false };
            self.ast.expr_spans[id] == span
                && match values.get(*fun) {
                    Some(Resolution::Item(callee, _)) => *callee != self.item,
                    Some(Resolution::Prim(prim)) => {
                        prim.row().kind == PrimKind::Derived(Derived::Eql)
                    }
                    _ => false,
                }
        })
    }

    /// Returns true if some tokens are a choice that the form itself makes: a conditional, or an `and` or `or`.
    pub(super) fn is_conditional(&self, span: Span) -> bool {
        self.ast.exprs.iter().any(|(id, expr)| {
            self.ast.expr_spans[id] == span
                && matches!(
                    expr,
                    Expr::If { .. } | Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. }
                )
        })
    }

    /// Returns the condition by which an apply-to-each chooses elements, if some tokens are that condition, or the
    /// apply-to-each itself.
    pub(super) fn sieve(&self, span: Span) -> Option<Span> {
        let around = self.each(span).map(|(id, _)| id);
        self.ast.exprs.iter().find_map(|(id, expr)| {
            let Expr::Each { sieve: Some(sieve), .. } = expr else { return None };
            let own = self.ast.expr_spans[*sieve];
            let is_it = own == span || around == Some(id) || self.ast.expr_spans[id] == span;
            is_it.then_some(own)
        })
    }

    /// Returns the bindings of the innermost apply-to-each that computes some tokens for each element.
    pub(super) fn for_each(&self, span: Span) -> Option<Span> {
        let mut best: Option<(ExprId, Span)> = None;
        for (id, expr) in self.ast.exprs.iter() {
            let Expr::Each { bindings, body, sieve, .. } = expr else { continue };
            let mut inside = std::iter::once(body).chain(sieve);
            if !inside.any(|part| covers(self.ast.expr_spans[*part], span)) {
                continue;
            }
            let cover = |(pat, sequence): &(PatId, ExprId)| {
                self.ast.pat_spans[*pat].cover(self.ast.expr_spans[*sequence])
            };
            let all = bindings.iter().map(cover).reduce(Span::cover);
            if let Some(all) = all
                && best.is_none_or(|(known, _)| self.width(id) < self.width(known))
            {
                best = Some((id, all));
            }
        }
        best.map(|(_, bindings)| bindings)
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
        let calls = self.calls.iter().map(|call| &call.expr).filter(|id| of_library(id));
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
        let text = self.text(self.ast.pat_spans[pattern], NAME_CHARS);
        Some(match self.ast.pats[pattern] {
            // The parentheses show that it is one value with several names.
            Pat::Pair(..) => format!("({text})"),
            _ => text,
        })
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
        direct.contains(&self.item) || self.calls.iter().any(|call| call.all.contains(&self.item))
    }
}

/// Returns true if the second span is inside the first.
pub(super) fn covers(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The width of a call as the title of a step, in characters.
pub(super) const CALL_CHARS: usize = 48;

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

/// Returns a number that is another one when the text of a form has changed, or that of one of the user's forms
/// that it refers to, directly and through others.
pub fn fingerprint(db: &Database, item: ItemId) -> u64 {
    let mut seen = FxHashSet::default();
    let mut todo = vec![item];
    let mut hasher = FxHasher::default();
    while let Some(item) = todo.pop() {
        if seen.insert(item) && !db.is_library(item) {
            (item.0, db.item_text(item)).hash(&mut hasher);
            todo.extend(&db.names(item).references);
        }
    }
    hasher.finish()
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
