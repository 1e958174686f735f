//! Processes of `nesl` that a document is given to: to run it, and to measure it.

use crate::world::{Snapshot, path_of};
use nesl_core::syntax::{RawKind, lex};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;
use tower_lsp_server::ls_types::Uri;

/// The variable that tells a process of `nesl` whose child it is: it ends when that process does.
pub const PARENT: &str = "NESL_PARENT";

/// A process that reads a program from its input, in a folder; it ends when it is dropped, or when
/// the server is killed.
pub fn command(executable: &Path, folder: Option<PathBuf>) -> Command {
    let mut command = Command::new(executable);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command.env(PARENT, std::process::id().to_string());
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    command
}

/// The folder of a document: the files that its program reads and writes are there.
pub fn folder_of(uri: &Uri) -> Option<PathBuf> {
    path_of(uri).and_then(|path| path.parent().map(PathBuf::from))
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
