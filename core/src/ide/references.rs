//! All references to a symbol.

use super::definition::target;
use super::symbol::{self, Occurrence, Role, Symbol, occurrences, symbol_at};
use super::{Target, Text};
use crate::base::{ItemId, TextRange, TextSize};
use crate::db::{Database, FileId, FileRange};

/// A reference to a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The range of the word.
    pub at: FileRange,
    /// The role of the word there.
    pub role: Role,
    /// True if the word refers to two symbols at once ([`Occurrence::shorthand`]).
    pub shorthand: bool,
}

/// All references in some files to the symbol at an offset, definitions included.
pub fn references(
    db: &Database,
    files: &[FileId],
    file: FileId,
    offset: TextSize,
) -> Option<Vec<Reference>> {
    let (_, found) = symbol_at(db, file, offset)?;
    Some(of(db, files, &found.symbol))
}

/// All references in a file to the symbol at an offset.
pub fn highlights(db: &Database, file: FileId, offset: TextSize) -> Vec<Reference> {
    references(db, &[file], file, offset).unwrap_or_default()
}

/// All references in some files to a symbol.
pub(super) fn of(db: &Database, files: &[FileId], symbol: &Symbol) -> Vec<Reference> {
    let mut all = Vec::new();
    match symbol {
        Symbol::Local(item, _) | Symbol::TypeVar(item, _) => in_item(db, *item, symbol, &mut all),
        Symbol::Optional(item, _) | Symbol::Item(item, _) => {
            for file in files {
                for form in &db.outline(*file).forms {
                    // Cheap to ask, and most forms have nothing to do with it.
                    let refers = db
                        .names(form.id())
                        .references
                        .iter()
                        .any(|id| id == item || same(db, *id, symbol));
                    if form.id() == *item || refers || declares(&form.names, symbol) {
                        in_item(db, form.id(), symbol, &mut all);
                    }
                }
            }
        }
        Symbol::Prim(_) => {
            let forms = files.iter().flat_map(|file| db.outline(*file).forms.clone());
            forms.for_each(|form| in_item(db, form.id(), symbol, &mut all));
        }
        Symbol::BuiltIn(_) => {}
    }
    all
}

/// Returns true if a symbol is the declaration of another, or the reverse.
fn same(db: &Database, item: ItemId, symbol: &Symbol) -> bool {
    match symbol {
        Symbol::Item(_, name) => symbol::canonical(db, Symbol::Item(item, name.clone())) == *symbol,
        _ => false,
    }
}

fn declares(names: &[crate::base::Name], symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Item(_, name) if names.contains(name))
}

fn in_item(db: &Database, item: ItemId, symbol: &Symbol, all: &mut Vec<Reference>) {
    let own = occurrences(db, item).into_iter().filter(|o| o.symbol == *symbol);
    all.extend(own.map(|o| reference(db, item, &o)));
}

fn reference(db: &Database, item: ItemId, occurrence: &Occurrence) -> Reference {
    let at = db.place(crate::base::Loc { item, span: occurrence.span });
    Reference { at, role: occurrence.role, shorthand: occurrence.shorthand }
}

/// The definition, if it is in one of some files.
pub(super) fn defined_in(
    db: &Database,
    files: &[FileId],
    symbol: &Symbol,
) -> Option<(FileId, TextRange)> {
    let Target { text: Text::File(file), focus, .. } = target(db, symbol)? else { return None };
    files.contains(&file).then_some((file, focus))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// The text with all references in `⟦…⟧`.
    fn check(text: &str, expected: &str) {
        let f = Fixture::new(text);
        let all = highlights(&f.db, f.file, f.cursor());
        let ranges = all.iter().map(|r| r.at.range).collect::<Vec<_>>();
        assert_eq!(f.marked(&ranges), expected);
    }

    #[test]
    fn definitions_and_uses() {
        check(
            "function $0dbl(x) = x + x;\ndbl(DBL(3));",
            "function ⟦dbl⟧(x) = x + x;\n⟦dbl⟧(⟦DBL⟧(3));",
        );
        check("function g(x) = {x$0 + y : y in [x]};", "function g(⟦x⟧) = {⟦x⟧ + y : y in [⟦x⟧]};");
        check("a = 1;\na = $0a + 1;\na;", "⟦a⟧ = 1;\na = ⟦a⟧ + 1;\na;");
        check(
            "function g(x, n := 1) = x + $0n;\ng(1, n := 2);",
            "function g(x, ⟦n⟧ := 1) = x + ⟦n⟧;\ng(1, ⟦n⟧ := 2);",
        );
    }

    #[test]
    fn a_declaration_belongs_to_its_definition() {
        check(
            "function g(x) : int -> int;\nfunction h(x) = g(x);\nfunction $0g(x) = h(x);",
            "function ⟦g⟧(x) : int -> int;\nfunction h(x) = ⟦g⟧(x);\nfunction ⟦g⟧(x) = h(x);",
        );
    }

    #[test]
    fn what_doubles_as_a_pattern_is_found_from_both_sides() {
        check("a = [1];\n{$0a + 1 : a};", "a = [1];\n{⟦a⟧ + 1 : ⟦a⟧};");
        check("$0a = [1];\n{a + 1 : a};", "⟦a⟧ = [1];\n{a + 1 : ⟦a⟧};");
    }

    #[test]
    fn primitives_too() {
        check("plus_scan([1]);\n$0plus_scan([2]);", "⟦plus_scan⟧([1]);\n⟦plus_scan⟧([2]);");
    }
}
