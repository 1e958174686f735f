//! `:edit`: a text in the user's own editor.

use nesl_interactive::state::State;
use nesl_interactive::state::commands::file_path;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The editor where the user has named none.
const DEFAULT_EDITOR: &str = "vi";

/// The number of names for a temporary file that are tried.
const MAX_TRIES: usize = 100;

/// Opens an editor on what the operand of `:edit` names, the last entry if it is empty; returns the text to run,
/// none if it was not changed.
pub fn edited(state: &State, operand: &str, last: &str) -> Result<Option<String>, String> {
    let name = operand.trim_end_matches(';').trim().trim_matches('"');
    if name.contains(['.', '/']) {
        return in_file(Path::new(&file_path(name)));
    }
    let text = match name {
        "" if last.is_empty() => return Err("there is no entry yet".to_owned()),
        "" => last.to_owned(),
        name => {
            let definition = state.session.definition(name).filter(|d| !d.text.is_empty());
            definition.ok_or_else(|| format!("nothing that can be edited is called `{name}`"))?.text
        }
    };
    let (path, mut file) = temporary()?;
    let written = writeln!(file, "{}", text.trim_end());
    drop(file);
    let edited = written
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
        .and_then(|()| in_file(&path));
    let _ = std::fs::remove_file(&path);
    edited
}

/// Opens an editor on a file; returns its text, none if it stayed as it was.
fn in_file(path: &Path) -> Result<Option<String>, String> {
    let before = std::fs::read_to_string(path).unwrap_or_default();
    let named = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor =
        named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
    // The variable may hold arguments, too.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(DEFAULT_EDITOR);
    let status = Command::new(program).args(words).arg(path).status();
    let status = status.map_err(|error| format!("cannot start the editor `{editor}`: {error}"))?;
    if !status.success() {
        return Err(format!("the editor `{editor}` failed ({status}); nothing was run"));
    }
    let after = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok((after != before && !after.trim().is_empty()).then_some(after))
}

/// Makes a file that nobody else has.
fn temporary() -> Result<(PathBuf, std::fs::File), String> {
    let folder = std::env::temp_dir();
    for number in 0..MAX_TRIES {
        let path = folder.join(format!("nesl-edit-{}-{number}.nesl", std::process::id()));
        if let Ok(file) = OpenOptions::new().write(true).create_new(true).open(&path) {
            return Ok((path, file));
        }
    }
    Err(format!("cannot make a file in {}", folder.display()))
}
