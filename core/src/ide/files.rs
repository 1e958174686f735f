//! Names of files that are being written in strings: of programs in `load "…`, of data in `read_csv(0, "…`.
//!
//! Nothing here looks at a disk: the caller does, and passes what it has found to [`FileName::choose`]. Language server,
//! prompt and Jupyter kernel all complete names so.

use super::completion::names;
use super::place::Place;
use crate::base::{Name, TextRange, TextSize};
use crate::db::{Before, Database, FileId};
use crate::names::Resolution;
use crate::syntax::{Kind, lex};

/// The names of parameters that are names of files, wherever they are defined; in the library it is `name`.
const PARAMETERS: [&str; 4] = ["file", "file_name", "filename", "path"];

/// The files of the library whose functions read and write files.
const FILE_LIBRARY: [&str; 2] = ["io.nesl", "formats.nesl"];

/// The sort of file that a name in a string stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A program, in a `load` form; its ending may be left out.
    Program,
    /// A file that a function reads or writes.
    Data,
    /// Perhaps no file at all.
    Any,
}

/// A name that is being written in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The sort of file that it stands for.
    pub kind: FileKind,
    /// The range of the string from its quote to the cursor, without the quote.
    pub range: TextRange,
    /// The text of that range.
    pub typed: String,
}

/// An entry of a folder that a name may go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChoice {
    /// The name; that of a folder ends with a slash.
    pub name: String,
    /// True for a folder.
    pub is_folder: bool,
}

impl FileName {
    /// Returns the name that is being written at a byte of a text that is in no database: then nothing is known of
    /// functions, and what is not loaded may be anything.
    pub fn in_text(text: &str, cursor: usize) -> Option<FileName> {
        let head = text.get(..cursor)?;
        let mut tokens = lex(head);
        let string = tokens.pop().filter(|token| token.kind == Kind::OpenText)?;
        let range = TextRange::new(string.range.start() + TextSize::of('"'), string.range.end());
        let mut before = tokens.iter().rev().filter(|token| !token.kind.is_trivia());
        let loads = before.next().is_some_and(|word| head[word.range].eq_ignore_ascii_case("load"));
        let begins = before.next().is_none_or(|end| matches!(end.kind, Kind::Semi | Kind::Dollar));
        let kind = if loads && begins { FileKind::Program } else { FileKind::Any };
        Some(FileName { kind, range, typed: head[range].to_owned() })
    }

    /// The folder in which the entries are that the name may go on with, as it is written; `.` if none is.
    pub fn folder(&self) -> &str {
        match self.typed.rfind('/') {
            Some(0) => "/",
            Some(slash) => &self.typed[..slash],
            None => ".",
        }
    }

    /// The part behind the last slash.
    pub fn stem(&self) -> &str {
        &self.typed[self.typed.rfind('/').map_or(0, |slash| slash + 1)..]
    }

    /// The range of [`FileName::stem`].
    pub fn stem_range(&self) -> TextRange {
        let end = self.range.end();
        TextRange::new(end.checked_sub(TextSize::of(self.stem())).unwrap_or(end), end)
    }

    /// Returns the entries that the name may go on with, in order, of all in its folder, which are given by their names
    /// and whether they are folders.
    pub fn choose(&self, found: impl Iterator<Item = (String, bool)>) -> Vec<FileChoice> {
        let hidden = self.stem().starts_with('.');
        let wanted = |(name, is_folder): &(String, bool)| {
            let program = name.ends_with(".nesl");
            let fits = match self.kind {
                FileKind::Program => program,
                FileKind::Data => !program,
                FileKind::Any => true,
            };
            (*is_folder || fits) && (hidden || !name.starts_with('.'))
        };
        let mut all: Vec<FileChoice> = found
            .filter(wanted)
            .map(|(name, is_folder)| FileChoice {
                name: if is_folder { name + "/" } else { name },
                is_folder,
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// Returns the name that is being written at an offset; nothing outside of strings.
pub fn file_name(db: &Database, file: FileId, offset: TextSize) -> Option<FileName> {
    let mut place = Place::around(db, file, offset)?;
    let mut name = FileName::in_text(&place.text, place.at)?;
    let before = lex(&place.text[..usize::from(name.range.start()) - 1]);
    place.look_from(before.into_iter().filter(|token| !token.kind.is_trivia()).collect());
    if name.kind == FileKind::Any && takes_file(&place) == Some(true) {
        name.kind = FileKind::Data;
    }
    name.range += place.start;
    Some(name)
}

/// Returns true if the string is a whole argument of a function that takes the name of a file there.
fn takes_file(place: &Place<'_>) -> Option<bool> {
    let open = place.open.last()?;
    let callee = place.callee(open)?;
    if open.segment != place.before.len() {
        return None;
    }
    let db = place.db;
    let from = Before { file: place.file, position: place.position };
    let meaning = db.meaning(from, &Name::new(place.slice(callee)))?;
    let Resolution::Item(item, _) = meaning else { return None };
    let ast = db.ast(item);
    let crate::syntax::ast::ItemKind::Function(function) = &ast.kind else { return None };
    let parameters = names::pattern_parts(ast, function.param);
    let parameter = parameters.get(open.commas)?.to_ascii_lowercase();
    let library = || FILE_LIBRARY.contains(&&*db.file_name(db.file_of(item)));
    let named = parameter == "name" && db.is_library(item) && library();
    Some(named || PARAMETERS.contains(&&*parameter))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// The kind and the text of the name at the cursor.
    fn at(text: &str) -> Option<(FileKind, String)> {
        let f = Fixture::new(text);
        let found = file_name(&f.db, f.file, f.cursor())?;
        assert_eq!(f.text[found.range], found.typed);
        assert_eq!(&f.text[found.stem_range()], found.stem());
        Some((found.kind, found.typed))
    }

    #[test]
    fn strings_that_name_files() {
        for (text, kind, typed) in [
            ("load \"dir/a$0", FileKind::Program, "dir/a"),
            ("x = 1; LOAD \"$0\";\ny = 2;", FileKind::Program, ""),
            ("rows = read_csv((0, 0.0), \"data/$0\");", FileKind::Data, "data/"),
            ("rows = read_csv(0, \"my da$0\nx = 3;", FileKind::Data, "my da"),
            ("sum({sum(r) : r in read_npy([[0.0]], \"m$0\")});", FileKind::Data, "m"),
            ("read_csv_columns(0.0, [\"a\"], `,, \"$0", FileKind::Data, ""),
            ("read_csv_columns(0.0, [\"$0", FileKind::Any, ""),
            ("write_string_to_file(\"te$0xt\", \"out\");", FileKind::Any, "te"),
            ("write_string_to_file(\"text\", \"o$0ut\");", FileKind::Data, "o"),
            ("read_string_from_file(\"$0\")", FileKind::Data, ""),
            ("write_csv([1], \"a$0\", \"b\")", FileKind::Any, "a"),
            ("function g(path, n) = read_csv(n, path);\ng(\"x$0", FileKind::Data, "x"),
            ("print_line(\"x$0\");", FileKind::Any, "x"),
            ("read_csv(0, dir ++ \"x$0\");", FileKind::Any, "x"),
        ] {
            assert_eq!(at(text), Some((kind, typed.to_owned())), "{text}");
        }
        for text in ["load $0", "x = 1$0;", "% \"a$0 %", "read_csv(0, \"a\"$0)", "x = \"a\";$0"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn entries_of_a_folder() {
        let name = |kind, typed: &str| FileName {
            kind,
            range: TextRange::up_to(TextSize::of(typed)),
            typed: typed.to_owned(),
        };
        let choose = |name: &FileName| {
            let found = [("b.csv", false), ("a.nesl", false), ("d", true), (".git", true)];
            let found = found.map(|(name, is_folder)| (name.to_owned(), is_folder));
            name.choose(found.into_iter()).into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(choose(&name(FileKind::Program, "")), ["a.nesl", "d/"]);
        assert_eq!(choose(&name(FileKind::Data, "x/")), ["b.csv", "d/"]);
        assert_eq!(choose(&name(FileKind::Any, ".")), [".git/", "a.nesl", "b.csv", "d/"]);
        let parts = |typed: &str| {
            let name = name(FileKind::Any, typed);
            (name.folder().to_owned(), name.stem().to_owned())
        };
        assert_eq!(parts("a/b/c"), ("a/b".to_owned(), "c".to_owned()));
        assert_eq!(parts("/c"), ("/".to_owned(), "c".to_owned()));
        assert_eq!(parts("c"), (".".to_owned(), "c".to_owned()));
    }
}
