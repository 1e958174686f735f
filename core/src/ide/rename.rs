//! Renaming of symbols.
//!
//! Names are case-insensitive, so `Total` can be renamed to `total`, and references in any case are found. Where
//! one word refers to two symbols (`{… : a}` is `{… : a in a}`), it is expanded. A rename that would change what
//! some name refers to is refused, with the reason.

use super::Edit;
use super::references::{self, Reference};
use super::symbol::{Symbol, symbol_at};
use crate::base::{Name, TextRange, TextSize};
use crate::db::{Before, Database, FileId};
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
    let all = references::of(db, files, &symbol);
    let edits: Vec<Edit> = all.iter().map(|place| edit(place, &symbol, new, db)).collect();
    if let Some(clash) = clash(db, &all, &symbol, &Name::new(new)) {
        return Err(clash);
    }
    Ok(edits)
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

/// Returns true if the new name already refers to another symbol where the old one is used, or would do so.
fn clash(db: &Database, all: &[Reference], symbol: &Symbol, new: &Name) -> Option<Refusal> {
    let refuse = |what: &str| Some(Refusal(format!("`{}` is {what} already", new.as_written())));
    for place in all {
        let Some((item, _)) = db.item_at(place.at.file, place.at.range.start()) else { continue };
        let own = super::occurrences(db, item);
        let named = |s: &Symbol| s != symbol && name_of(db, s).is_some_and(|name| name == *new);
        if let Some(other) = own.iter().find(|o| named(&o.symbol)) {
            return match other.symbol {
                Symbol::Local(..) | Symbol::Optional(..) => refuse("a variable there"),
                _ => refuse("used there for something else"),
            };
        }
    }
    match symbol {
        Symbol::Item(item, old) if old != new => {
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
            let outline = db.outline(file);
            let taken = outline.forms.iter().any(|form| form.names.contains(new));
            if taken { refuse("defined in this file") } else { None }
        }
        _ => None,
    }
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
    }
}
