//! The file that keeps the lines typed at the prompt between sessions.

use super::helper::Helper;
use crate::folders;
use rustyline::Editor;
use rustyline::history::DefaultHistory;
use std::path::{Path, PathBuf};

/// The history file: `NESL_HISTORY`, or `history` in the user's state directory. An empty
/// `NESL_HISTORY` says that none is wanted.
pub fn path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("NESL_HISTORY") {
        return if path.is_empty() { None } else { Some(path.into()) };
    }
    Some(folders::state()?.join("history"))
}

/// Adds what was typed since the last time. Sessions running side by side do not lose each
/// other's.
pub fn save(editor: &mut Editor<Helper, DefaultHistory>, path: &Path) -> rustyline::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    editor.append_history(path)
}
