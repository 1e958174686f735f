//! The check that functions which may not run in parallel (input, output to files, seeding) are not
//! used inside a parallel apply-to-each.

use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc};
use crate::names::{Names, Resolution};
use crate::syntax::ast::{Expr, ExprId, Item, ItemKind};

/// Reports the uses of serial functions inside an apply-to-each.
pub fn serial_calls(
    id: ItemId,
    item: &Item,
    names: &Names,
    is_serial: &dyn Fn(&Resolution) -> bool,
) -> Vec<Diagnostic<Loc>> {
    let mut diagnostics = Vec::new();
    // An expression to visit; the flag is true inside an apply-to-each.
    let mut todo: Vec<(ExprId, bool)> = Vec::new();
    match &item.kind {
        ItemKind::Function(f) => todo.extend(f.body.map(|body| (body, false))),
        ItemKind::Binding { value, .. } | ItemKind::Expr(value) => todo.push((*value, false)),
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => {}
    }
    while let Some((expr, parallel)) = todo.pop() {
        if parallel
            && let Expr::Name(name) | Expr::Quote(name) = &item.exprs[expr]
            && names.values.get(expr).is_some_and(is_serial)
        {
            let at = Loc { item: id, span: item.expr_spans[expr] };
            diagnostics.push(
                Diagnostic::error(
                    DiagnosticKind::Type,
                    at,
                    format!("`{name}` cannot be called in parallel"),
                )
                .note("it reads, writes or seeds, and instances run in any order")
                .hint("call it outside the braces, once for all elements, or for one after the other by `map(x => …, xs)`"),
            );
        }
        if let Expr::Each { body, bindings, sieve, serial } = &item.exprs[expr] {
            let inner = parallel || !serial;
            todo.extend(bindings.iter().map(|(_, sequence)| (*sequence, parallel)));
            todo.extend(sieve.map(|sieve| (sieve, inner)));
            todo.push((*body, inner));
        } else {
            item.exprs[expr].children(|child| todo.push((child, parallel)));
        }
    }
    diagnostics.sort_by_key(|d| d.primary.at);
    diagnostics
}
