//! The definitions of names and of types.

use super::symbol::{Symbol, symbol_at};
use super::{Target, Text, library};
use crate::base::{ItemId, Loc, Name, Span, TextRange, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId, Form};
use crate::syntax::ast::{Item, ItemKind, Pat, PatId};
use crate::types::Ty;

/// The definition of the name at an offset, and the range of that name.
pub fn definition(db: &Database, file: FileId, offset: TextSize) -> Option<(TextRange, Target)> {
    let (cursor, found) = symbol_at(db, file, offset)?;
    Some((cursor.range(found.span), target(db, &found.symbol)?))
}

/// The declaration of the function at an offset (`function f(x) : int -> int;`), if it has one, or else the
/// definition of the name.
pub fn declaration(db: &Database, file: FileId, offset: TextSize) -> Option<(TextRange, Target)> {
    let (cursor, found) = symbol_at(db, file, offset)?;
    let own = cursor.range(found.span);
    if let Symbol::Item(item, name) = &found.symbol {
        let declares = |form: &&Form| {
            let function =
                matches!(&db.ast(form.id()).kind, ItemKind::Function(f) if f.body.is_none());
            form.names.contains(name) && function
        };
        let outline = db.outline(db.file_of(*item));
        if let Some(form) = outline.forms.iter().find(declares) {
            return Some((own, target(db, &Symbol::Item(form.id(), name.clone()))?));
        }
    }
    Some((own, target(db, &found.symbol)?))
}

/// The definition of the type of the expression at an offset: the datatype of a record, or of the records in a
/// sequence.
pub fn type_definition(
    db: &Database,
    file: FileId,
    offset: TextSize,
) -> Option<(TextRange, Target)> {
    let cursor = Cursor::new(db, file, offset)?;
    let word = cursor.word()?;
    let here = cursor.range(word);
    let types = db.types(cursor.item);
    let pattern = cursor.pat_covering(here).and_then(|(pat, _)| types.pats.get(pat));
    let expr = || cursor.expr_covering(here).and_then(|(expr, _)| types.exprs.get(expr));
    let record = record_of(pattern.or_else(expr)?)?;
    Some((here, target(db, &record)?))
}

fn record_of(ty: &Ty) -> Option<Symbol> {
    match ty {
        Ty::Record(record, _) => Some(Symbol::Item(record.item, record.name.clone())),
        Ty::Sequence(element) => record_of(element),
        Ty::Function(function) => record_of(&function.result),
        Ty::Pair(a, b) => record_of(a).or_else(|| record_of(b)),
        Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Code(..) | Ty::Var(_) => None,
    }
}

/// The definition of a symbol.
pub(super) fn target(db: &Database, symbol: &Symbol) -> Option<Target> {
    let place = |item: ItemId, whole: Span, name: Span| {
        let whole = db.place(Loc { item, span: whole });
        let name = db.place(Loc { item, span: name });
        Target { text: Text::File(name.file), range: whole.range, focus: name.range }
    };
    match symbol {
        Symbol::Local(item, pat) => {
            let span = db.ast(*item).pat_spans[*pat];
            Some(place(*item, span, span))
        }
        Symbol::Optional(item, index) => {
            let ast = db.ast(*item);
            let ItemKind::Function(function) = &ast.kind else { return None };
            let (ident, default) = function.optional.get(*index as usize)?;
            Some(place(*item, ident.span.cover(ast.expr_spans[*default]), ident.span))
        }
        Symbol::Item(item, name) => {
            let ast = db.ast(*item);
            Some(place(*item, ast.span, name_in(ast, name)?))
        }
        Symbol::Prim(prim) => library::target(*prim),
        Symbol::TypeVar(item, name) => {
            let annotation = match &db.ast(*item).kind {
                ItemKind::Function(function) => function.annotation.as_ref()?,
                ItemKind::Datatype(datatype) => &datatype.content,
                _ => return None,
            };
            let declared =
                annotation.context.iter().find(|(variable, _)| variable.name == *name)?;
            Some(place(*item, declared.0.span.cover(declared.1.span), declared.0.span))
        }
        Symbol::BuiltIn(_) => None,
    }
}

/// The range of a name in the form that defines it.
pub(super) fn name_in(ast: &Item, name: &Name) -> Option<Span> {
    match &ast.kind {
        ItemKind::Function(function) => Some(function.name.span),
        ItemKind::Datatype(datatype) => Some(datatype.name.span),
        ItemKind::Binding { pattern, .. } => {
            pattern_of(ast, *pattern, name).map(|pat| ast.pat_spans[pat])
        }
        // The value of an expression is called `it`.
        ItemKind::Expr(_) => Some(ast.span),
        ItemKind::Command(_) | ItemKind::Missing => None,
    }
}

/// The part of a pattern that binds a name.
pub(super) fn pattern_of(ast: &Item, pattern: PatId, name: &Name) -> Option<PatId> {
    match &ast.pats[pattern] {
        Pat::Name(own) => (own == name).then_some(pattern),
        Pat::Pair(a, b) => pattern_of(ast, *a, name).or_else(|| pattern_of(ast, *b, name)),
        Pat::Record { content, .. } => pattern_of(ast, *content, name),
        Pat::Missing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// Checks the definition of the name at `$0`.
    fn check(text: &str, expected: &str) {
        let f = Fixture::new(text);
        let (_, target) = definition(&f.db, f.file, f.cursor()).expect("a definition");
        assert_eq!(f.slice(&target), expected, "{text}");
    }

    #[test]
    fn point_25_a_declaration_is_not_the_definition() {
        let f = Fixture::new("function g(x) : int -> int;\ny = $0g(1);\nfunction g(x) = x + 1;");
        let (_, declared) = declaration(&f.db, f.file, f.cursor()).expect("a declaration");
        let (_, defined) = definition(&f.db, f.file, f.cursor()).expect("a definition");
        assert_eq!((f.line(declared.range), f.line(defined.range)), (0, 2));
        let f = Fixture::new("y = 1;\n$0y;");
        let (_, declared) = declaration(&f.db, f.file, f.cursor()).expect("a definition");
        assert_eq!(f.line(declared.range), 0);
    }

    #[test]
    fn names_of_all_sorts() {
        check("function dbl(x) = x + x;\ndb$0l(3);", "dbl");
        check("function dbl(x) = $0x + x;", "x");
        check("a = [1, 2];\n{x + #$0a : x in a};", "a");
        check("datatype point (float, float);\npo$0int(1.0, 2.0);", "point");
        check("datatype box int;\nfunction g(bo$0x(i)) = i;", "box");
        check("function g(a) : [b] -> [$0b] :: (b in any) = a;", "b");
        check("function g(a, n := 5) = a + n;\ng(1, $0n := 2);", "n");
        check("(p, q) = (1, 2);\n$0q;", "q");
        check("let y = 3 in y$0 * y;", "y");
    }

    #[test]
    fn a_declared_function_is_the_one_that_is_defined() {
        check("function g(x) : int -> int;\nfunction h(x) = $0g(x);\nfunction g(x) = x;", "g");
        let f = Fixture::new(
            "function g(x) : int -> int;\nfunction h(x) = $0g(x);\nfunction g(x) = x;",
        );
        let (_, target) = definition(&f.db, f.file, f.cursor()).expect("a definition");
        assert_eq!(f.line(target.focus), 2);
    }

    #[test]
    fn the_library_can_be_looked_into() {
        check("word$0ify(\"a b\");", "wordify");
        check("plus_$0scan([1]);", "plus_scan");
        check("1 $0+ 2;", "+");
    }

    #[test]
    fn types_are_found_through_sequences() {
        let f = Fixture::new("datatype point (float, float);\nps = [point(1.0, 2.0)];\n$0ps;");
        let (_, target) = type_definition(&f.db, f.file, f.cursor()).expect("a type");
        assert_eq!(f.slice(&target), "point");
        let f = Fixture::new("$0x = 1;");
        assert_eq!(type_definition(&f.db, f.file, f.cursor()), None);
    }

    #[test]
    fn nothing_is_defined_in_the_middle_of_nowhere() {
        for text in ["$0", "  $0  ", "% a com$0ment %", "1$0;", "foo$0;", "f(;$0 x"] {
            let f = Fixture::new(text);
            assert_eq!(definition(&f.db, f.file, f.cursor()), None, "{text}");
        }
    }
}
