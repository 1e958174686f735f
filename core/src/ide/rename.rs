//! Renaming of symbols.
//!
//! Names are case-insensitive, so `Total` can be renamed to `total`, and references in any case are found. Where
//! one word refers to two symbols (`{… : a}` is `{… : a in a}`), it is expanded. A rename that would change what
//! some name refers to is refused, with the reason.
//!
//! A definition that is followed by another one of the same type is replaced by it, also for those that mention
//! the name before. So all of them are renamed together.

use super::Edit;
use super::references::{self, Reference};
use super::symbol::{Symbol, symbol_at};
use crate::base::{Name, TextRange, TextSize};
use crate::db::{Before, Database, FileId, Form};
use crate::names::Resolution;
use crate::syntax::{Kind, lex};

/// The reason why a rename is refused, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// The range of the word at an offset, if it can be renamed, and its present spelling.
pub fn prepare_rename(
    db: &Database,
    files: &[FileId],
    file: FileId,
    offset: TextSize,
) -> Result<(TextRange, String), Refusal> {
    let (range, _) = renamed(db, files, file, offset)?;
    Ok((range, db.file_text(file)[range].to_owned()))
}

/// The edits that rename the symbol at an offset everywhere in some files.
pub fn rename(
    db: &Database,
    files: &[FileId],
    file: FileId,
    offset: TextSize,
    new: &str,
) -> Result<Vec<Edit>, Refusal> {
    let (_, symbol) = renamed(db, files, file, offset)?;
    if !is_name(new) {
        return Err(Refusal(format!(
            "`{new}` cannot be a name: names are letters, digits and `_`, and no words of the language"
        )));
    }
    let symbols = together(db, files, symbol);
    let mut all = Vec::new();
    let mut edits = Vec::new();
    for symbol in &symbols {
        for place in references::of(db, files, symbol) {
            if all.iter().all(|known: &Reference| known.at != place.at) {
                edits.push(edit(&place, symbol, new, db));
                all.push(place);
            }
        }
    }
    if let Some(clash) = clash(db, files, &all, &symbols, &Name::new(new)) {
        return Err(clash);
    }
    Ok(edits)
}

/// The symbols that are renamed with one: the definitions of the same name and type that it replaces or that
/// replace it.
fn together(db: &Database, files: &[FileId], symbol: Symbol) -> Vec<Symbol> {
    let Symbol::Item(item, name) = &symbol else { return vec![symbol] };
    let mut replaced = Vec::new();
    for file in files {
        let forms = db.outline(*file).forms.clone();
        for (position, form) in (0..).zip(forms.iter()) {
            if !form.loads() && !form.names.contains(name) {
                continue;
            }
            let known = |position| match db.lookup(Before { file: *file, position }, name)? {
                Resolution::Item(item, _) if !db.is_library(item) => {
                    Some(db.definition_of(item, name))
                }
                _ => None,
            };
            if let (Some(old), Some(new)) = (known(position), known(position + 1))
                && old != new
                && db.same_type(old, new, name)
            {
                replaced.push((old, new));
            }
        }
    }
    let mut items = vec![*item];
    let mut next = 0;
    while let Some(item) = items.get(next).copied() {
        next += 1;
        for (old, new) in &replaced {
            for (one, other) in [(old, new), (new, old)] {
                if *one == item && !items.contains(other) {
                    items.push(*other);
                }
            }
        }
    }
    items.into_iter().map(|item| Symbol::Item(item, name.clone())).collect()
}

fn renamed(
    db: &Database,
    files: &[FileId],
    file: FileId,
    offset: TextSize,
) -> Result<(TextRange, Symbol), Refusal> {
    let nothing = || Refusal("there is no name here".to_owned());
    let (cursor, found) = symbol_at(db, file, offset).ok_or_else(nothing)?;
    let word = cursor.text(found.span);
    if let Symbol::BuiltIn(_) = found.symbol {
        return Err(Refusal(format!("`{word}` belongs to the language")));
    }
    if !is_name(&word) {
        return Err(nothing());
    }
    if matches!(&found.symbol, Symbol::Item(_, name) if is_last_value(name)) {
        return Err(Refusal(format!("`{word}` is the value of the last expression")));
    }
    if references::defined_in(db, files, &found.symbol).is_none() {
        return Err(Refusal(format!("`{word}` belongs to the library")));
    }
    Ok((cursor.range(found.span), found.symbol))
}

fn edit(place: &Reference, symbol: &Symbol, new: &str, db: &Database) -> Edit {
    let text = db.file_text(place.at.file);
    let old = &text[place.at.range];
    let text = match (place.shorthand, place.role) {
        (false, _) => new.to_owned(),
        // The variable, or what it runs over.
        (true, super::Role::Definition) => format!("{new} in {old}"),
        (true, _) if matches!(symbol, Symbol::Local(..)) => format!("{new} in {old}"),
        (true, _) => format!("{old} in {new}"),
    };
    Edit { file: place.at.file, range: place.at.range, text }
}

/// Returns the reason if the new name already refers to another symbol where the old one is used, or would do so.
fn clash(
    db: &Database,
    files: &[FileId],
    all: &[Reference],
    symbols: &[Symbol],
    new: &Name,
) -> Option<Refusal> {
    let refuse = |what: &str| Some(Refusal(format!("`{}` is {what} already", new.as_written())));
    let named =
        |s: &Symbol| !symbols.contains(s) && name_of(db, s).is_some_and(|name| name == *new);
    for place in all {
        let Some((item, _)) = db.item_at(place.at.file, place.at.range.start()) else { continue };
        let own = super::occurrences(db, item);
        if let Some(other) = own.iter().find(|o| named(&o.symbol)) {
            return match other.symbol {
                Symbol::Local(..) | Symbol::Optional(..) => refuse("a variable there"),
                _ => refuse("used there for something else"),
            };
        }
    }
    let Some(Symbol::Item(item, old)) = symbols.first() else { return None };
    if old == new {
        return None;
    }
    if is_last_value(new) {
        return refuse("the value of the last expression");
    }
    let (file, position) = db.position_of(*item)?;
    let known = db.lookup(Before { file, position: position + 1 }, new);
    let of_library = match known {
        Some(Resolution::Prim(_)) => true,
        Some(Resolution::Item(other, _)) => db.is_library(other),
        _ => false,
    };
    if of_library && crate::prelude::is_protected(new.folded()) {
        return refuse("a name of the library");
    }
    // Who sees the definitions sees them under the new name.
    let sees = |file: FileId| {
        let seen = db.lookup(Before::all(file), old);
        let seen = match seen {
            Some(Resolution::Item(item, name)) => {
                Some(Symbol::Item(db.definition_of(item, &name), name))
            }
            _ => None,
        };
        seen.is_some_and(|seen| symbols.contains(&seen)) || all.iter().any(|r| r.at.file == file)
    };
    for other in files.iter().copied().filter(|file| sees(*file)) {
        let forms = db.outline(other).forms.clone();
        if forms.iter().any(|form| form.names.contains(new)) {
            return refuse(if other == file { "defined in this file" } else { OF_ANOTHER_FILE });
        }
        if let Some(Resolution::Item(known, _)) = db.lookup(Before::all(other), new)
            && !db.is_library(known)
        {
            return refuse(OF_ANOTHER_FILE);
        }
        let uses = |form: &Form| {
            super::occurrences(db, form.id())
                .iter()
                .any(|o| matches!(o.symbol, Symbol::Item(..) | Symbol::Prim(_)) && named(&o.symbol))
        };
        if forms.iter().any(uses) {
            return refuse("used for something else");
        }
    }
    None
}

/// The words that refuse a name which another file defines: one that is loaded, or that loads.
const OF_ANOTHER_FILE: &str = "defined in a file that is loaded with this one";

/// Returns true for the name of the last expression's value, which the language gives.
fn is_last_value(name: &Name) -> bool {
    name.folded() == "it"
}

fn name_of(db: &Database, symbol: &Symbol) -> Option<Name> {
    match symbol {
        Symbol::Item(_, name) | Symbol::TypeVar(_, name) | Symbol::BuiltIn(name) => {
            Some(name.clone())
        }
        Symbol::Prim(prim) => Some(Name::new(prim.name())),
        Symbol::Local(..) | Symbol::Optional(..) => {
            let target = super::definition::target(db, symbol)?;
            let super::Text::File(file) = target.text else { return None };
            Some(Name::new(&db.file_text(file)[target.focus]))
        }
    }
}

fn is_name(text: &str) -> bool {
    matches!(&lex(text)[..], [token] if token.kind == Kind::Name)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn check(text: &str, new: &str, expected: &str) {
        let f = Fixture::new(text);
        match rename(&f.db, &[f.file], f.file, f.cursor(), new) {
            Ok(edits) => assert_eq!(f.edited(&edits), expected),
            Err(Refusal(why)) => assert_eq!(why, expected),
        }
    }

    #[test]
    fn everywhere_it_is_named() {
        check(
            "function $0dbl(x) = x + x;\ndbl(DBL(3));",
            "twice",
            "function twice(x) = x + x;\ntwice(twice(3));",
        );
        check("function g(Long) = $0long * LONG;", "n", "function g(n) = n * n;");
        check("$0Total = 1;\ntotal;", "total", "total = 1;\ntotal;");
        check(
            "function $0g(x) = x;\n((g))(1) + app('g);",
            "h",
            "function h(x) = x;\n((h))(1) + app('h);",
        );
    }

    #[test]
    fn one_word_for_two_things_is_written_out() {
        check("a = [1];\n{$0a + 1 : a};", "x", "a = [1];\n{x + 1 : x in a};");
        check("$0a = [1];\n{a + 1 : a};", "b", "b = [1];\n{a + 1 : a in b};");
    }

    #[test]
    fn point_14_no_name_of_the_library_is_taken() {
        check(
            "function $0dbl(x) = x + x;",
            "plus_scan",
            "`plus_scan` is a name of the library already",
        );
        check("$0total = 1;", "linify", "`linify` is a name of the library already");
        // Inside a form such a name hides the library's.
        check("function g($0x) = x;", "sum", "function g(sum) = sum;");
        check("$0total = 1;", "nan", "nan = 1;");
    }

    #[test]
    fn what_cannot_be_renamed() {
        let words = "names are letters, digits and `_`, and no words of the language";
        check("x$0 = 1;", "let", &format!("`let` cannot be a name: {words}"));
        check("x$0 = 1;", "a b", &format!("`a b` cannot be a name: {words}"));
        check("plus_$0scan([1]);", "x", "`plus_scan` belongs to the library");
        check("word$0ify(\"a\");", "x", "`wordify` belongs to the library");
        check("1 $0+ 2;", "x", "there is no name here");
        check("function g(x) = let $0y = 1 in x + y;", "x", "`x` is a variable there already");
        check("a = 1;\n$0b = 2;", "a", "`a` is defined in this file already");
        check("1;\ni$0t + 1;", "x", "`it` is the value of the last expression");
        check("$0a = 1;", "it", "`it` is the value of the last expression already");
    }

    #[test]
    fn definitions_that_replace_each_other_are_renamed_together() {
        let text = |h: &str, first: &str| {
            format!(
                "function {first}(a) = a + 1;\nfunction g(a) = {h}(a);\nfunction {h}(a) = a + 2;\ng(1);"
            )
        };
        check(&text("h", "$0h"), "w", &text("w", "w"));
        let text = |x: &str, last: &str| {
            format!("{x} = 1;\nfunction g(a) = a + {x};\n{last} = {x} + 1;\ng(1) + {x};")
        };
        check(&text("x", "$0x"), "w", &text("w", "w"));
        // A definition of another type is another thing.
        check(
            "$0x = 1;\nfunction g(a) = a + x;\nx = 2.0;\nx;",
            "w",
            "w = 1;\nfunction g(a) = a + w;\nx = 2.0;\nx;",
        );
    }

    #[test]
    fn a_name_that_any_form_uses_for_something_else_is_refused() {
        check(
            "function $0double(x) = x * 2;\ntotal = count([T]);",
            "count",
            "`count` is used for something else already",
        );
        check(
            "function $0double(x) = x * 2;\ntotal = 1;",
            "count",
            "function count(x) = x * 2;\ntotal = 1;",
        );
        check(
            "function $0double(x) = x * 2;\nfunction g(count) = count + 1;",
            "count",
            "function count(x) = x * 2;\nfunction g(count) = count + 1;",
        );
    }

    #[test]
    fn files_that_load_the_definition_matter_too() {
        let mut db = Database::new();
        let library = db.add_file("library.nesl", "function dbl(x) = x * 2;", None);
        let main = db.add_file(
            "main.nesl",
            "load \"library\";\ny = 3;\nz = 4;\ncount([T]) + dbl(y);",
            None,
        );
        let form = db.outline(main).forms[0].id();
        db.set_loaded(form, Some(library));
        let at = TextSize::of("function ");
        let files = [library, main];
        let to = |new: &str| rename(&db, &files, library, at, new).map(|edits| edits.len());
        assert_eq!(to("twice"), Ok(2));
        assert_eq!(to("z"), Err(Refusal(format!("`z` is {OF_ANOTHER_FILE} already"))));
        let why = "`count` is used there for something else already".to_owned();
        assert_eq!(to("count"), Err(Refusal(why)));
    }
}
