//! The forms that can be run, with the ranges at which editors show buttons for them.

use super::outline;
use super::pattern::type_within;
use crate::base::{ItemId, Severity, Span, TextRange};
use crate::db::{Cursor, forms};
use crate::db::{Database, FileId};
use crate::prelude::parse_doc;
use crate::syntax::ast::{Function, ItemKind, Pat};

/// The kind of form that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LensKind {
    /// A function, which is run on arguments that the user gives, or on its examples.
    Function {
        /// The name of the function.
        name: String,
        /// Its parameters with their types, shown when the user is asked for arguments: `a : [int]`.
        params: Vec<String>,
        /// The expressions of its documentation's examples.
        examples: Vec<String>,
    },
    /// An expression at the top level.
    Expression,
    /// A variable at the top level.
    Variable,
}

/// A form that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The name of the function, the pattern of the variable, the first token of the expression.
    pub range: TextRange,
    /// The item of the form.
    pub item: ItemId,
    /// The kind of the form.
    pub kind: LensKind,
}

/// The forms of a file that can be run, in order: those without errors.
pub fn lenses(db: &Database, file: FileId) -> Vec<Lens> {
    forms(db, file, None).filter_map(|(_, cursor)| lens(&cursor)).collect()
}

fn lens(cursor: &Cursor<'_>) -> Option<Lens> {
    let (span, kind) = match &cursor.ast.kind {
        ItemKind::Function(function) => {
            function.body?;
            (function.name.span, None)
        }
        ItemKind::Binding { pattern, .. } => {
            (cursor.ast.pat_spans[*pattern], Some(LensKind::Variable))
        }
        ItemKind::Expr(_) => {
            let start = cursor.ast.span.start;
            (Span::new(start, start + 1), Some(LensKind::Expression))
        }
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => return None,
    };
    let errors = cursor.db.diagnostics(cursor.item);
    if errors.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return None;
    }
    let kind = match (&cursor.ast.kind, kind) {
        (_, Some(kind)) => kind,
        (ItemKind::Function(own), None) => function(cursor, own),
        _ => return None,
    };
    Some(Lens { range: cursor.range(span), item: cursor.item, kind })
}

fn function(cursor: &Cursor<'_>, function: &Function) -> LensKind {
    let types = cursor.db.types(cursor.item);
    let mut params = Vec::new();
    let mut rest = Some(function.param);
    while let Some(param) = rest {
        let (first, next) = match &cursor.ast.pats[param] {
            Pat::Pair(first, next) => (*first, Some(*next)),
            Pat::Name(_) | Pat::Record { .. } | Pat::Missing => (param, None),
        };
        rest = next;
        let text = outline::pattern_name(cursor, first);
        let ty = types.pats.get(first).map(|ty| type_within(cursor, ty));
        params.push(ty.map_or_else(|| text.clone(), |ty| format!("{text} : {ty}")));
    }
    let doc = function.doc.as_deref().map(parse_doc).unwrap_or_default();
    LensKind::Function {
        name: function.name.name.as_written().to_owned(),
        params,
        examples: doc.examples.into_iter().map(|(expression, _)| expression).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn what_can_be_run() {
        let f = Fixture::new(
            "function g((a, b), c) \"Doc.\n Example: g((1, 2), 3) → 6\" = a + b + c;\n\
             function d(x) : int -> int;\nfunction h x = y;\nfunction k(x) = {#r : r in x};\n\
             (p, q) = (1, 2);\n{x : x in [1]};\nload \"z\";\n1 + ;\nz = t + 1;",
        );
        let all = lenses(&f.db, f.file);
        let places: Vec<&str> = all.iter().map(|lens| &f.text[lens.range]).collect();
        assert_eq!(places, ["g", "k", "p, q", "{"]);
        let LensKind::Function { name, params, examples } = &all[0].kind else {
            panic!("a function")
        };
        assert_eq!(name, "g");
        assert_eq!(params[..], ["(a, b) : a, a", "c : a"]);
        assert_eq!(examples[..], ["g((1, 2), 3)"]);
        let LensKind::Function { params, .. } = &all[1].kind else { panic!("a function") };
        assert_eq!(params[..], ["x : [[a]]"]);
        assert_eq!((&all[2].kind, &all[3].kind), (&LensKind::Variable, &LensKind::Expression));
    }
}
