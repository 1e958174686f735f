//! Code that a program leaves implicit, written out: a function's type, the sequence of `{… : a}`.

use super::{Action, preserves};
use crate::base::{Severity, TextRange, TextSize};
use crate::db::{Cursor, forms};
use crate::explain::takes_functions;
use crate::ide::Edit;
use crate::syntax::Kind;
use crate::syntax::ast::{Expr, ItemKind, Pat};
use crate::types::{Signature, print_scheme};

/// Offers to write the inferred type of a function whose head is selected.
pub(super) fn annotation(cursor: &Cursor<'_>, range: TextRange, all: &mut Vec<Action>) {
    let ItemKind::Function(function) = &cursor.ast.kind else { return };
    let Some(body) = function.body.filter(|_| function.annotation.is_none()) else { return };
    let form = cursor.range(cursor.ast.span).start();
    let body = cursor.range(cursor.ast.expr_spans[body]).start();
    if range.start() < form || range.end() >= body {
        return;
    }
    let Signature::Function { scheme, .. } = &**cursor.db.signature(cursor.item) else { return };
    let Some(at) = behind_parameters(cursor, function.name.span.end) else { return };
    let ty = print_scheme(scheme);
    let edit = Edit {
        file: cursor.file,
        range: TextRange::empty(at + cursor.start),
        text: format!(" : {ty}"),
    };
    offer(cursor, format!("Write its type: `{ty}`"), vec![edit], all);
}

/// The number of functions whose types are written at once.
const MAX_FUNCTIONS: usize = 500;

/// Offers to write the inferred types of all functions of a file, where the head of one is selected.
pub(super) fn annotations(cursor: &Cursor<'_>, range: TextRange, all: &mut Vec<Action>) {
    let head = |cursor: &Cursor<'_>| -> Option<TextRange> {
        let ItemKind::Function(function) = &cursor.ast.kind else { return None };
        let body = function.body.filter(|_| function.annotation.is_none())?;
        let start = cursor.range(cursor.ast.span).start();
        Some(TextRange::new(start, cursor.range(cursor.ast.expr_spans[body]).start()))
    };
    let inside = |head: TextRange| head.contains_range(range) && range.end() < head.end();
    if !head(cursor).is_some_and(inside) {
        return;
    }
    let edits = forms(cursor.db, cursor.file, None).filter_map(|(_, other)| {
        head(&other)?;
        let ItemKind::Function(function) = &other.ast.kind else { return None };
        let Signature::Function { scheme, .. } = &**other.db.signature(other.item) else {
            return None;
        };
        if other.db.diagnostics(other.item).iter().any(|d| d.severity == Severity::Error)
            || takes_functions(&scheme.ty)
        {
            return None;
        }
        let at = behind_parameters(&other, function.name.span.end)? + other.start;
        let text = format!(" : {}", print_scheme(scheme));
        Some(Edit { file: other.file, range: TextRange::empty(at), text })
    });
    let edits: Vec<Edit> = edits.take(MAX_FUNCTIONS).collect();
    if edits.len() > 1 {
        let title = format!("Write the types of all {} functions", edits.len());
        all.push(Action::refactor(title, edits));
    }
}

/// The end of the parameters of a function, which begin at a token.
fn behind_parameters(cursor: &Cursor<'_>, first: u32) -> Option<TextSize> {
    let mut depth = 0usize;
    for token in cursor.parsed.tokens.get(first as usize..)? {
        match token.kind {
            Kind::LParen | Kind::CallParen => depth += 1,
            Kind::RParen => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(token.range.end());
        }
    }
    None
}

/// Offers to write `a in a` for a selected binding `a` of an apply-to-each.
pub(super) fn sequence(cursor: &Cursor<'_>, range: TextRange, all: &mut Vec<Action>) {
    for (_, expr) in cursor.ast.exprs.iter() {
        let Expr::Each { bindings, .. } = expr else { continue };
        for (pattern, sequence) in bindings {
            let span = cursor.ast.pat_spans[*pattern];
            let Pat::Name(name) = &cursor.ast.pats[*pattern] else { continue };
            let bare = cursor.ast.expr_spans[*sequence] == span;
            if !bare || !cursor.range(span).contains_range(range) {
                continue;
            }
            let at = TextRange::empty(cursor.range(span).end());
            let edit = Edit { file: cursor.file, range: at, text: format!(" in {name}") };
            offer(cursor, format!("Write `{name} in {name}`"), vec![edit], all);
        }
    }
}

fn offer(cursor: &Cursor<'_>, title: String, edits: Vec<Edit>, all: &mut Vec<Action>) {
    if preserves(cursor, &edits) {
        all.push(Action::refactor(title, edits));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, lacks};

    #[test]
    fn the_type_of_a_function() {
        check(
            "function $0dot(a, b) = sum({x * y : x in a; y in b});",
            "Write its type: `([a], [a]) -> a :: (a in number)`",
            "function dot(a, b) : ([a], [a]) -> a :: (a in number) = sum({x * y : x in a; y in b});",
        );
        check(
            "function g(x, (y, z))$0 \"doc\" = (x + 1, (y, z));",
            "Write its type: `(int, a, b) -> (int, a, b) :: (a in any; b in any)`",
            "function g(x, (y, z)) : (int, a, b) -> (int, a, b) :: (a in any; b in any) \"doc\" = (x + 1, (y, z));",
        );
        check(
            "function $0ap(g, x) = g(x);",
            "Write its type: `(a -> b, a) -> b :: (a in any; b in any)`",
            "function ap(g, x) : (a -> b, a) -> b :: (a in any; b in any) = g(x);",
        );
        check(
            "function $0g(x, n := 2) = x + n;",
            "Write its type: `int -> int`",
            "function g(x, n := 2) : int -> int = x + n;",
        );
        lacks("function g(x) = $0x + 1;", "Write its type: `int -> int`");
        lacks("function $0g(x) : int -> int = x + 1;", "Write its type: `int -> int`");
    }

    #[test]
    fn point_25_the_types_of_all_functions() {
        check(
            "function $0g(x) = x + 1;\nfunction h(x) : int -> int = x;\nfunction k(x) = g(x);",
            "Write the types of all 2 functions",
            "function g(x) : int -> int = x + 1;\nfunction h(x) : int -> int = x;\n\
             function k(x) : int -> int = g(x);",
        );
        lacks(
            "function g(x) = $0x + 1;\nfunction k(x) = g(x);",
            "Write the types of all 2 functions",
        );
    }

    #[test]
    fn the_sequence_of_a_bare_name() {
        check(
            "function g(a, b) = {a + b : a; $0b};",
            "Write `b in b`",
            "function g(a, b) = {a + b : a; b in b};",
        );
        lacks("function g(a) = {x : $0x in a};", "Write `x in x`");
    }
}
