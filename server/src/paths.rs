//! Completions inside of `load "…"`: programs and folders beside the text.

use crate::workspace::is_program;
use crate::world::{Snapshot, path_of};
use nesl_core::base::{TextRange, TextSize};
use nesl_core::ide;
use tower_lsp_server::ls_types as lsp;

/// The number of completions at most.
const MAX_PATHS: usize = 500;

/// The files that the `load` at a byte could name; `None` if it is in no name of a `load` form.
pub fn completions(snapshot: &Snapshot, at: TextSize) -> Option<Vec<lsp::CompletionItem>> {
    let before = snapshot.lines.text.get(..usize::from(at))?;
    let open = before.rfind('"')?;
    let typed = &before[open + 1..];
    let inside = ide::links(&snapshot.db, snapshot.file)
        .iter()
        .any(|link| link.range.contains_inclusive(at));
    let begun = before[..open].trim_end().to_ascii_lowercase();
    let word = begun.strip_suffix("load")?;
    let alone = word.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
    if !(alone && (inside || !typed.contains('\n'))) {
        return None;
    }
    let path = path_of(&snapshot.uri)?;
    let (folder, stem) =
        typed.rsplit_once('/').map_or(("", typed), |(folder, stem)| (folder, stem));
    let folder = if typed.starts_with('/') && folder.is_empty() { "/" } else { folder };
    let entries = std::fs::read_dir(path.parent()?.join(folder)).ok()?;
    let start = at.checked_sub(TextSize::of(stem)).unwrap_or_default();
    let range = snapshot.lines.lsp_range(TextRange::new(start, at));
    let mut all: Vec<lsp::CompletionItem> = Vec::new();
    for entry in entries.flatten().take(MAX_PATHS) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || entry.path() == path {
            continue;
        }
        let (label, kind) = match entry.path() {
            folder if folder.is_dir() => (format!("{name}/"), lsp::CompletionItemKind::FOLDER),
            file if is_program(&file) => {
                let label = name.strip_suffix(".nesl").unwrap_or(&name).to_owned();
                (label, lsp::CompletionItemKind::FILE)
            }
            _ => continue,
        };
        let edit = lsp::TextEdit { range, new_text: label.clone() };
        all.push(lsp::CompletionItem {
            label,
            kind: Some(kind),
            text_edit: Some(lsp::CompletionTextEdit::Edit(edit)),
            ..lsp::CompletionItem::default()
        });
    }
    all.sort_by(|a, b| a.label.cmp(&b.label));
    Some(all)
}
