//! A call of a function, with which it can be run or measured.

use super::steps;
use crate::db::{Cursor, forms};
use crate::names::Resolution;
use crate::prelude::parse_doc;
use crate::syntax::ast::{Expr, ExprId, Item, ItemKind};
use nesl_runtime::scalar::Precision;

/// Returns a call of the function at a cursor, as NESL: the first example of its documentation, or
/// else a call at the top level of its file, or else one with generated arguments. `None` if there is
/// no call and its arguments cannot be generated.
pub fn call(cursor: &Cursor<'_>, precision: Precision) -> Option<String> {
    let ItemKind::Function(function) = &cursor.ast.kind else { return None };
    let doc = function.doc.as_deref().map(parse_doc).unwrap_or_default();
    if let Some((example, _)) = doc.examples.into_iter().next() {
        return Some(example);
    }
    let callers = forms(cursor.db, cursor.file, None).filter(|(_, other)| {
        other.item != cursor.item && cursor.db.names(other.item).references.contains(&cursor.item)
    });
    callers
        .filter_map(|(_, other)| written(cursor, &other))
        .next()
        .or_else(|| steps::generated(cursor, precision))
}

/// A call in an expression or binding of the top level that depends on no variables inside it.
fn written(cursor: &Cursor<'_>, other: &Cursor<'_>) -> Option<String> {
    if !matches!(other.ast.kind, ItemKind::Expr(_) | ItemKind::Binding { .. }) {
        return None;
    }
    let names = cursor.db.names(other.item);
    let calls = other.ast.exprs.iter().filter(|(_, expr)| {
        let Expr::Call { fun, .. } = expr else { return false };
        matches!(names.values.get(*fun), Some(Resolution::Item(item, _)) if *item == cursor.item)
    });
    let closed = calls.map(|(id, _)| id).find(|id| is_closed(other, *id))?;
    Some(other.text(other.ast.expr_spans[closed]))
}

/// Returns true if the variables that an expression uses are bound inside it or at the top level.
fn is_closed(form: &Cursor<'_>, whole: ExprId) -> bool {
    let names = form.db.names(form.item);
    let span = form.ast.expr_spans[whole];
    let inside = |other: crate::base::Span| span.start <= other.start && other.end <= span.end;
    let ast: &Item = form.ast;
    ast.exprs.iter().all(|(id, _)| match names.values.get(id) {
        Some(Resolution::Local(pat)) if inside(ast.expr_spans[id]) => inside(ast.pat_spans[*pat]),
        Some(Resolution::Optional(_)) => !inside(ast.expr_spans[id]),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    fn check(text: &str, expected: Option<&str>) {
        let f = Fixture::new(text);
        let cursor = Cursor::new(&f.db, f.file, f.cursor()).expect("a form");
        assert_eq!(call(&cursor, Precision::Bits64).as_deref(), expected, "{text}");
    }

    #[test]
    fn point_5_a_call_is_found() {
        check("function $0g(x) \"Doc.\n Example: g(2) → 2\" = x;\ng(3);", Some("g(2)"));
        check("function $0g(x) = x;\na = [1];\nsum({g(y) : y in a}) + g(#a);", Some("g(#a)"));
        check("function $0g(x) = x;\nfunction h(y) = g(y);", Some("g(2)"));
        check("function $0g(x, y) = {a + y : a in x};", Some("g([2, 1, 3, 4], 5)"));
    }
}
