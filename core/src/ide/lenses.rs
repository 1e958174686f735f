//! The forms that can be run, with the ranges at which editors show buttons for them.

use super::pattern::type_within;
use super::{hints, outline};
use crate::base::{ItemId, Severity, Span, TextRange, TextSize, with_stack};
use crate::db::{Cursor, forms};
use crate::db::{Database, FileId};
use crate::names::Resolution;
use crate::prelude::parse_doc;
use crate::prim::{Cost, PrimKind};
use crate::syntax::ast::{Expr, Function, ItemKind, Pat};
use rustc_hash::FxHashMap;

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
    /// The bytes of the form, without the blanks and comments before it.
    pub whole: TextRange,
    /// The kind of the form.
    pub kind: LensKind,
    /// True if it does something with whole sequences, itself or through what it refers to: it has
    /// launches.
    pub parallel: bool,
    /// True if it calls nothing and repeats nothing: its cost is seen from its text.
    pub trivial: bool,
}

impl Lens {
    /// The same lens, further behind in the text.
    pub fn moved(&self, by: TextSize) -> Lens {
        Lens { range: self.range + by, whole: self.whole + by, ..self.clone() }
    }
}

/// The forms of a file that can be run, in order: those without errors, but for variables whose values are
/// written in the text.
pub fn lenses(db: &Database, file: FileId) -> Vec<Lens> {
    let mut known = FxHashMap::default();
    forms(db, file, None).filter_map(|(_, cursor)| lens(&cursor, &mut known)).collect()
}

/// The form at an offset, if it can be run.
pub fn lens_at(db: &Database, file: FileId, offset: TextSize) -> Option<Lens> {
    lens(&Cursor::new(db, file, offset)?, &mut FxHashMap::default())
}

/// The forms of a part of a file that have errors, from their first token to their last.
pub fn broken_forms(db: &Database, file: FileId, part: TextRange) -> Vec<TextRange> {
    let broken = forms(db, file, Some(part)).filter(|(_, cursor)| has_errors(cursor));
    broken.filter_map(|(_, cursor)| cursor.extent()).collect()
}

fn has_errors(cursor: &Cursor<'_>) -> bool {
    let errors = cursor.db.diagnostics(cursor.item);
    errors.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Returns true if a form works on whole sequences, itself or through the forms that it refers to. A form that
/// is being looked at counts as one that does not: so recursion ends.
pub(super) fn parallel(db: &Database, item: ItemId, known: &mut FxHashMap<ItemId, bool>) -> bool {
    if let Some(found) = known.get(&item) {
        return *found;
    }
    known.insert(item, false);
    let names = db.names(item);
    let works = |resolution: &Resolution| match resolution {
        Resolution::Prim(prim) => match prim.row().kind {
            PrimKind::Seq(op) => {
                let cost = op.row().cost;
                cost > Cost::Element && cost != Cost::Generate
            }
            _ => false,
        },
        _ => false,
    };
    let each = db.ast(item).exprs.values().any(|expr| matches!(expr, Expr::Each { .. }));
    let own = each || names.values.iter().any(|(_, resolution)| works(resolution));
    let found =
        own || names.references.iter().any(|other| with_stack(|| parallel(db, *other, known)));
    known.insert(item, found);
    found
}

/// The lens of a form, if it has one.
pub(super) fn lens(cursor: &Cursor<'_>, known: &mut FxHashMap<ItemId, bool>) -> Option<Lens> {
    let (span, kind) = match &cursor.ast.kind {
        ItemKind::Function(function) => {
            function.body?;
            (function.name.span, None)
        }
        ItemKind::Binding { pattern, value, .. } => {
            if hints::obvious(cursor, *value) {
                return None;
            }
            (cursor.ast.pat_spans[*pattern], Some(LensKind::Variable))
        }
        ItemKind::Expr(_) => {
            let start = cursor.ast.span.start;
            (Span::new(start, start + 1), Some(LensKind::Expression))
        }
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => return None,
    };
    if has_errors(cursor) {
        return None;
    }
    let kind = match (&cursor.ast.kind, kind) {
        (_, Some(kind)) => kind,
        (ItemKind::Function(own), None) => function(cursor, own),
        _ => return None,
    };
    let item = cursor.item;
    let does = |expr: &Expr| matches!(expr, Expr::Each { .. } | Expr::Call { .. });
    let trivial = !cursor.ast.exprs.values().any(does);
    let parallel = parallel(cursor.db, item, known);
    let (range, whole) = (cursor.range(span), cursor.range(cursor.ast.span));
    Some(Lens { range, item, whole, kind, parallel, trivial })
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
             (p, q) = (k([[1]]), 2);\n{x : x in [1]};\nload \"z\";\n1 + ;\nz = t + 1;",
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

    #[test]
    fn point_23_lenses_where_they_are_of_use() {
        let f = Fixture::new(
            "function fact(n) = if n == 0 then 1 else n * fact(n - 1);\n\
             function dot(a, b) = sum({x * y : x in a; y in b});\n\
             function twice(a) = (dot(a, a), fact(2));\n\
             x = [1, 2];\nn = -3;\ny = fact(n);\nx;\n1 + 2;\nwordify(\"a\");",
        );
        let all = lenses(&f.db, f.file);
        let shown = |lens: &Lens| (f.text[lens.range].to_owned(), lens.parallel, lens.trivial);
        let all: Vec<_> = all.iter().map(shown).collect();
        let all: Vec<_> = all.iter().map(|(text, a, b)| (&**text, *a, *b)).collect();
        assert_eq!(
            all,
            [
                ("fact", false, false),
                ("dot", true, false),
                ("twice", true, false),
                ("y", false, false),
                ("x", false, true),
                ("1", false, true),
                ("wordify", true, false),
            ]
        );
    }
}
