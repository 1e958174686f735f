//! Variables that are defined and never used: editors show them in grey.

use super::symbol::{Role, Symbol, occurrences};
use crate::base::{ItemId, Severity, TextRange};
use crate::db::Database;
use rustc_hash::FxHashSet;

/// A variable that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The name, as written.
    pub name: String,
    /// The range of its definition.
    pub range: TextRange,
}

/// The variables inside a form that it does not use, with ranges that begin at the form's first token. Of a form
/// with errors it is not known what it would use. A name that begins with `_` says that it is not used.
pub(super) fn in_item(db: &Database, item: ItemId) -> Vec<Unused> {
    let is_error = |severity| severity == Severity::Error;
    let parsed = db.parsed(item);
    if parsed.diagnostics.iter().any(|d| is_error(d.severity))
        || !db.names(item).diagnostics.is_empty()
    {
        return Vec::new();
    }
    let all = occurrences(db, item);
    let used: FxHashSet<&Symbol> =
        all.iter().filter(|o| o.role != Role::Definition).map(|o| &o.symbol).collect();
    let mut found = Vec::new();
    let text = db.item_text(item);
    let start = parsed.range(db.ast(item).span).start();
    for own in all.iter().filter(|o| o.role == Role::Definition) {
        let local = matches!(own.symbol, Symbol::Local(..) | Symbol::Optional(..));
        let range = parsed.range(own.span);
        let name = &text[range];
        if local && !used.contains(&own.symbol) && !name.starts_with('_') && range.start() >= start
        {
            found.push(Unused { name: name.to_owned(), range: range - start });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Problems;
    use super::super::fixture::Fixture;

    /// The text with unused variables in `⟦…⟧`.
    fn check(text: &str, expected: &str) {
        let f = Fixture::new(text);
        let mut problems = Problems::default();
        problems.of(&f.db, f.file);
        let ranges: Vec<_> = problems.unused(&f.db).iter().map(|unused| unused.range).collect();
        assert_eq!(f.marked(&ranges), expected);
    }

    #[test]
    fn point_25_names_that_are_not_used() {
        check("function g(a, b) = a;", "function g(a, ⟦b⟧) = a;");
        check("% c %\nlet x = 1; y = 2 in y;", "% c %\nlet ⟦x⟧ = 1; y = 2 in y;");
        check("{0 : x in [1, 2]};\n{y : y in [1]};", "{0 : ⟦x⟧ in [1, 2]};\n{y : y in [1]};");
        check("a = [1];\n{a + 1 : a};\n{2 : _b in a};", "a = [1];\n{a + 1 : a};\n{2 : _b in a};");
        check("function g(x, n := 2) = x;", "function g(x, ⟦n⟧ := 2) = x;");
        // What it would use is not known.
        check(
            "function g(a, b) = a + ;\nfunction h(c) = d;",
            "function g(a, b) = a + ;\nfunction h(c) = d;",
        );
        check("x = 1;\nfunction unused_here(y) = y;", "x = 1;\nfunction unused_here(y) = y;");
    }
}
