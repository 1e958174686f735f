//! The variables of a pattern, and their types as an editor shows them.

use crate::base::Span;
use crate::db::Cursor;
use crate::syntax::ast::{Pat, PatId};
use crate::types::{Signature, Ty, print_type};
use std::sync::Arc;

/// The variables of a pattern, in order, each with its span.
pub(super) fn leaves(cursor: &Cursor<'_>, pattern: PatId) -> Vec<(PatId, Span)> {
    let mut found = Vec::new();
    let mut todo = vec![pattern];
    while let Some(pat) = todo.pop() {
        match &cursor.ast.pats[pat] {
            Pat::Name(_) => found.push((pat, cursor.bare(cursor.ast.pat_spans[pat]))),
            Pat::Pair(a, b) => todo.extend([*b, *a]),
            Pat::Record { content, .. } => todo.push(*content),
            Pat::Missing => {}
        }
    }
    found
}

/// Prints a type that occurs inside a form; its type variables have the same names as in the form's own type.
pub(super) fn type_within(cursor: &Cursor<'_>, ty: &Ty) -> String {
    let Signature::Function { scheme, .. } = &**cursor.db.signature(cursor.item) else {
        return print_type(ty);
    };
    let own = print_type(&scheme.ty);
    let both = Ty::Pair(Arc::new(scheme.ty.clone()), Arc::new(ty.clone()));
    let text = print_type(&both);
    // A tuple with a function in it is in parentheses.
    text.strip_prefix(&format!("({own}, "))
        .and_then(|rest| rest.strip_suffix(')'))
        .map_or_else(|| print_type(ty), str::to_owned)
}
