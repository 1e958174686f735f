//! The definitions of a file: its forms and the variables inside them, and a search by name.

use super::pattern::{leaves, type_within};
use crate::base::{Name, TextRange, TextSize};
use crate::db::{Cursor, Database, FileId, Form, forms};
use crate::prelude::shown;
use crate::syntax::ast::{Expr, ExprId, ItemKind, Pat, PatId};
use crate::syntax::{RawKind, excerpt};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A function, or its declaration.
    Function,
    /// A datatype, at the top level.
    Datatype,
    /// A variable, at the top level or in a form.
    Variable,
    /// An expression at the top level.
    Expression,
    /// A command, such as `load`.
    Command,
}

/// A definition, expression or command of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; of an expression or command, its beginning.
    pub name: String,
    /// Its type; empty if there is none.
    pub detail: String,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The range of the whole form or binding.
    pub range: TextRange,
    /// The range of its name, within `range`.
    pub focus: TextRange,
    /// The variables bound inside it.
    pub children: Vec<Entry>,
}

impl Entry {
    /// The same entry further down.
    pub fn moved(&self, by: TextSize) -> Entry {
        self.at(&|range| range + by)
    }

    /// The same entry with ranges that begin at a form.
    pub(super) fn moved_back(&self, start: TextSize) -> Entry {
        self.at(&|range| range - start)
    }

    fn at(&self, place: &dyn Fn(TextRange) -> TextRange) -> Entry {
        Entry {
            name: self.name.clone(),
            detail: self.detail.clone(),
            kind: self.kind,
            range: place(self.range),
            focus: place(self.focus),
            children: self.children.iter().map(|child| child.at(place)).collect(),
        }
    }
}

/// The largest number of results of a search.
const MAX_SEARCH_RESULTS: usize = 200;

/// The width of the name of an expression, in characters.
const NAME_CHARS: usize = 40;

/// The entries of a file, in order.
pub fn outline(db: &Database, file: FileId) -> Vec<Entry> {
    forms(db, file, None).filter_map(|(form, cursor)| entry(&form, &cursor)).collect()
}

/// The definitions of some files whose names contain the letters of `query` in that order, ignoring case; the
/// best match first.
pub fn search(db: &Database, files: &[FileId], query: &str) -> Vec<(FileId, Entry)> {
    let query: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).collect();
    let mut found: Vec<(u32, FileId, Form, Name)> = Vec::new();
    for file in files {
        for form in &db.outline(*file).forms {
            if !matches!(form.kind, RawKind::Function | RawKind::Datatype | RawKind::Binding) {
                continue;
            }
            for name in form.names.iter() {
                if let Some(cost) = misfit(&query, shown(name.folded())) {
                    found.push((cost, *file, form.clone(), name.clone()));
                }
            }
        }
    }
    found.sort_by(|a, b| (a.0, a.3.folded()).cmp(&(b.0, b.3.folded())));
    found.truncate(MAX_SEARCH_RESULTS);
    let entries = found.into_iter().filter_map(|(_, file, form, name)| {
        let range = db.whole(form.id()).range;
        let cursor = Cursor::new(db, file, range.start()).filter(|c| c.item == form.id())?;
        Some((file, named(entry(&form, &cursor)?, &name)))
    });
    entries.collect()
}

/// The entry of one of the names of a form: a form may bind several.
fn named(entry: Entry, name: &Name) -> Entry {
    let own = |child: &Entry| child.name.eq_ignore_ascii_case(name.folded());
    match entry.kind {
        EntryKind::Variable if !own(&entry) => {
            let part = entry.children.iter().find(|child| own(child)).cloned();
            part.unwrap_or(entry)
        }
        _ => Entry { children: Vec::new(), ..entry },
    }
}

/// The distance of a name from a query; none if it does not match. Matched letters that are adjacent or begin a
/// word cost nothing; gaps and unmatched letters cost little.
fn misfit(query: &[char], name: &str) -> Option<u32> {
    let mut cost = 0;
    let mut previous: Option<usize> = None;
    let letters: Vec<char> = name.chars().collect();
    let mut at = 0;
    for wanted in query {
        let found = at + letters[at..].iter().position(|c| c.eq_ignore_ascii_case(wanted))?;
        let adjacent = previous.map_or(found == 0, |previous| previous + 1 == found);
        let begins = found == 0 || letters[found - 1] == '_';
        cost += match (adjacent, begins) {
            (true, _) => 0,
            (false, true) => 4,
            (false, false) => 16 + found.min(16) as u32,
        };
        previous = Some(found);
        at = found + 1;
    }
    // Of two that fit as well, the shorter one.
    Some(cost * 64 + letters.len().min(63) as u32)
}

/// The entry of a form, if it has one.
pub(super) fn entry(form: &Form, cursor: &Cursor<'_>) -> Option<Entry> {
    let range = cursor.extent()?;
    let item = cursor.item;
    let detail = |name: &Name| cursor.db.type_of_name(item, name).unwrap_or_default();
    let own = form.names.first().map(detail).unwrap_or_default();
    let whole = cursor.range(cursor.ast.span);
    let text = || cursor.snippet(cursor.ast.span, NAME_CHARS);
    let entry = match &cursor.ast.kind {
        ItemKind::Function(function) => Entry {
            name: shown_as(&function.name.name),
            detail: own,
            kind: EntryKind::Function,
            range,
            focus: cursor.range(function.name.span),
            children: function.body.map_or_else(Vec::new, |body| inside(cursor, body)),
        },
        ItemKind::Datatype(datatype) => Entry {
            name: shown_as(&datatype.name.name),
            detail: own,
            kind: EntryKind::Datatype,
            range,
            focus: cursor.range(datatype.name.span),
            children: Vec::new(),
        },
        ItemKind::Binding { pattern, value, .. } => {
            let span = cursor.ast.pat_spans[*pattern];
            let single = matches!(cursor.ast.pats[*pattern], Pat::Name(_));
            let mut children = Vec::new();
            if !single {
                variables(cursor, *pattern, range, &mut children);
            }
            children.extend(inside(cursor, *value));
            let detail = if single { own } else { String::new() };
            let name = pattern_name(cursor, *pattern);
            let focus = cursor.range(span);
            Entry { name, detail, kind: EntryKind::Variable, range, focus, children }
        }
        ItemKind::Expr(value) => Entry {
            name: text(),
            detail: own,
            kind: EntryKind::Expression,
            range,
            focus: whole,
            children: inside(cursor, *value),
        },
        ItemKind::Command(_) => Entry {
            name: text(),
            detail: String::new(),
            kind: EntryKind::Command,
            range,
            focus: whole,
            children: Vec::new(),
        },
        // What cannot be read is still there: it is found by what it looks like.
        ItemKind::Missing => Entry {
            name: form.names.first().map_or_else(text, |name| name.to_string()),
            detail: own,
            kind: match form.kind {
                RawKind::Function => EntryKind::Function,
                RawKind::Datatype => EntryKind::Datatype,
                RawKind::Binding => EntryKind::Variable,
                RawKind::Command => EntryKind::Command,
                RawKind::Expr => EntryKind::Expression,
                RawKind::Blank => return None,
            },
            range,
            focus: range,
            children: Vec::new(),
        },
    };
    (!entry.name.is_empty()).then_some(entry)
}

fn shown_as(name: &Name) -> String {
    let shown = shown(name.folded());
    if shown == name.folded() { name.as_written().to_owned() } else { shown.to_owned() }
}

/// The variables that a `let` binds in an expression, those in their values below them.
fn inside(cursor: &Cursor<'_>, expr: ExprId) -> Vec<Entry> {
    let mut entries = Vec::new();
    crate::base::with_stack(|| collect(cursor, expr, &mut entries));
    entries
}

fn collect(cursor: &Cursor<'_>, expr: ExprId, entries: &mut Vec<Entry>) {
    let ast = cursor.ast;
    let Expr::Let { bindings, body } = &ast.exprs[expr] else {
        ast.exprs[expr].children(|child| {
            crate::base::with_stack(|| collect(cursor, child, entries));
        });
        return;
    };
    for (pattern, value) in bindings {
        let span = ast.pat_spans[*pattern].cover(ast.expr_spans[*value]);
        let from = entries.len();
        variables(cursor, *pattern, cursor.range(span), entries);
        let below = inside(cursor, *value);
        match entries.get_mut(from) {
            Some(first) => first.children = below,
            None => entries.extend(below),
        }
    }
    crate::base::with_stack(|| collect(cursor, *body, entries));
}

/// An entry for each variable of a pattern.
fn variables(cursor: &Cursor<'_>, pattern: PatId, range: TextRange, entries: &mut Vec<Entry>) {
    let types = cursor.db.types(cursor.item);
    for (pat, span) in leaves(cursor, pattern) {
        let ty = types.pats.get(pat).map(|ty| type_within(cursor, ty));
        entries.push(Entry {
            name: excerpt(&cursor.text(span), NAME_CHARS),
            detail: ty.unwrap_or_default(),
            kind: EntryKind::Variable,
            range,
            focus: cursor.range(span),
            children: Vec::new(),
        });
    }
}

/// A pattern as it is written, a pair in its parentheses.
pub(super) fn pattern_name(cursor: &Cursor<'_>, pattern: PatId) -> String {
    let text = cursor.snippet(cursor.bare(cursor.ast.pat_spans[pattern]), NAME_CHARS);
    match cursor.ast.pats[pattern] {
        Pat::Pair(..) if !text.starts_with('(') || !text.ends_with(')') => format!("({text})"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    fn print(entries: &[Entry], depth: usize, f: &Fixture, out: &mut String) {
        for entry in entries {
            assert!(entry.range.contains_range(entry.focus), "{entry:?}");
            let indent = "  ".repeat(depth);
            let Entry { name, detail, kind, .. } = entry;
            let line = f.line(entry.focus);
            let _ = writeln!(out, "{indent}{line} {kind:?} {name} : {detail}");
            print(&entry.children, depth + 1, f, out);
        }
    }

    fn check(text: &str, expected: Expect) {
        let f = Fixture::new(text);
        let mut out = String::new();
        print(&outline(&f.db, f.file), 0, &f, &mut out);
        expected.assert_eq(&out);
    }

    #[test]
    fn every_form_has_an_entry() {
        check(
            "% about %\nfunction mean(a) = let s = sum(a);\n (n, m) = (#a, let k = 2 in k) in s / n;\n\
             datatype point (float, float);\n(a, b) = (1, 2);\nx = [1];\nload \"y\";\n{z : z in x};",
            expect![[r#"
                1 Function mean : [int] -> int
                  1 Variable s : int
                  2 Variable n : int
                    2 Variable k : int
                  2 Variable m : int
                3 Datatype point : (float, float) -> point
                4 Variable (a, b) : 
                  4 Variable a : int
                  4 Variable b : int
                5 Variable x : [int]
                6 Command load "y" : 
                7 Expression {z : z in x} : [int]
            "#]],
        );
    }

    #[test]
    fn broken_forms_are_there() {
        check(
            "function f(x = 1;\ny = ;\n",
            expect![[r#"
            0 Function f : 
            1 Variable y : 
        "#]],
        );
        check("", expect![[""]]);
    }

    #[test]
    fn letters_in_order_find_names() {
        let f = Fixture::new(
            "function quick_sort(a) = a;\nfunction squash(a) = a;\n(qs, other) = (1, 2);\nfunction x(a) = a;",
        );
        let names = |query: &str| -> Vec<String> {
            search(&f.db, &[f.file], query).into_iter().map(|(_, entry)| entry.name).collect()
        };
        assert_eq!(names("qs"), ["qs", "quick_sort", "squash"]);
        assert_eq!(names("QSORT"), ["quick_sort"]);
        assert_eq!(names("").len(), 5);
        assert!(names("zzz").is_empty());
    }
}
