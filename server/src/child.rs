//! Processes of `nesl` that a document is given to: to run it, and to measure it.

use crate::world::{Snapshot, path_of};
use nesl_core::syntax::{Kind, RawKind, lex};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;
use tower_lsp_server::ls_types::Uri;

/// The variable that tells a process of `nesl` whose child it is: it ends when that process does.
pub const PARENT: &str = "NESL_PARENT";

/// The length of a name of a file at most, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// A process that reads the program of a document from its input, in a folder; it ends when it is dropped, or when
/// the server is killed.
pub fn command(executable: &Path, source: &Uri, folder: Option<PathBuf>) -> Command {
    let mut command = Command::new(executable);
    if let Some(path) = path_of(source) {
        command.env(SOURCE, path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command.env(PARENT, std::process::id().to_string());
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    command
}

/// The name of a program that is read from standard input: what it loads is looked for beside that file.
pub const SOURCE: &str = "NESL_SOURCE";

/// The name that a process gives a document in what it prints.
pub fn name_of(source: &Uri) -> String {
    path_of(source).map_or_else(|| "<stdin>".to_owned(), |path| path.display().to_string())
}

/// The folder in which a document runs, where the files are that its program reads and writes: its own, unless the
/// files that it names are in one of the folders above, up to the one that the client has open.
pub fn folder_of(snapshot: &Snapshot) -> Option<PathBuf> {
    let own = path_of(&snapshot.uri)?.parent()?.to_path_buf();
    let roots = snapshot.folders.iter();
    let Some(root) =
        roots.filter(|root| own.starts_with(root)).max_by_key(|root| root.as_os_str().len())
    else {
        return Some(own);
    };
    let names = named_files(&snapshot.lines.text);
    let inside = own.ancestors().take_while(|folder| folder.starts_with(root));
    let found =
        inside.into_iter().find(|folder| names.iter().any(|name| folder.join(name).exists()));
    Some(found.map_or_else(|| own.clone(), Path::to_path_buf))
}

/// The strings of a program that may be relative names of files, without those that it loads.
fn named_files(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut loads = false;
    for token in lex(text).iter().filter(|token| !token.kind.is_trivia()) {
        let name = text[token.range].trim_matches('"');
        let relative = !name.starts_with(['/', '~']) && name.len() <= MAX_NAME_BYTES;
        if token.kind == Kind::Text && !loads && relative && name.contains(['.', '/']) {
            names.push(name);
        }
        loads = text[token.range].eq_ignore_ascii_case("load");
    }
    names
}

/// Adds a form to a program that is to be run, or, if it is not needed, the lines that it takes.
pub fn add_form(program: &mut String, form: &str, needed: bool) {
    if needed {
        program.push_str(form);
    } else {
        program.extend(form.chars().filter(|c| *c == '\n'));
    }
}

/// Returns true if two texts are the same form, with other blanks and comments perhaps: what one has computed is
/// the value of the other.
pub fn is_same_form(text: &str, other: &str) -> bool {
    text == other || tokens(text).eq(tokens(other))
}

/// The texts of the tokens that matter.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    lex(text).into_iter().filter(|token| !token.kind.is_trivia()).map(|token| &text[token.range])
}

/// Returns the definitions of the cells above a cell of a notebook, whole lines; none for other
/// documents.
pub fn definitions_above(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for file in &snapshot.above {
        for form in &snapshot.db.outline(*file).forms {
            let needed = form.kind != RawKind::Expr && !snapshot.db.is_disabled(form.id());
            add_form(&mut text, &snapshot.db.item_text(form.id()), needed);
        }
        text.push('\n');
    }
    text
}
