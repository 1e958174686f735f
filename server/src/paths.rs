//! Completions of names of files inside of strings: programs and folders beside the text after `load`, files where the
//! program runs in the arguments of functions that read and write them.

use crate::child::folder_of;
use crate::world::{Snapshot, path_of};
use nesl_core::base::TextSize;
use nesl_core::ide::{self, FileKind, FileName};
use std::path::{Path, PathBuf};
use tower_lsp_server::ls_types as lsp;

/// The number of entries of a folder that are looked at.
const MAX_PATHS: usize = 500;

/// The files that the string at a byte could name; `None` if it names none.
pub fn completions(snapshot: &Snapshot, at: TextSize) -> Option<Vec<lsp::CompletionItem>> {
    let name = ide::file_name(&snapshot.db, snapshot.file, at)?;
    let path = path_of(&snapshot.uri)?;
    let own = path.parent()?;
    let all = match name.kind {
        FileKind::Any => return None,
        FileKind::Program => entries(&name, own, &path),
        FileKind::Data => {
            let folders = data_folders(snapshot, own);
            let mut found = folders.iter().map(|folder| entries(&name, folder, &path));
            found.find(|found| !found.is_empty()).unwrap_or_default()
        }
    };
    let range = snapshot.lines.lsp_range(name.stem_range());
    let item = |choice: ide::FileChoice| {
        let label = match name.kind {
            // The ending of a program may be left out.
            FileKind::Program => choice.name.strip_suffix(".nesl").unwrap_or(&choice.name),
            FileKind::Data | FileKind::Any => &choice.name,
        };
        let edit = lsp::TextEdit { range, new_text: label.to_owned() };
        lsp::CompletionItem {
            label: label.to_owned(),
            kind: Some(match choice.is_folder {
                true => lsp::CompletionItemKind::FOLDER,
                false => lsp::CompletionItemKind::FILE,
            }),
            text_edit: Some(lsp::CompletionTextEdit::Edit(edit)),
            ..lsp::CompletionItem::default()
        }
    };
    Some(all.into_iter().map(item).collect())
}

/// The folders in which a name of data may be: the one in which the program runs, and, since that depends on the names,
/// those above it up to the one that is open.
fn data_folders(snapshot: &Snapshot, own: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = folder_of(snapshot).into_iter().collect();
    let root = snapshot.folders.iter().filter(|root| own.starts_with(root));
    let root = root.max_by_key(|root| root.as_os_str().len());
    let above = own.ancestors().take_while(|folder| root.is_some_and(|r| folder.starts_with(r)));
    all.extend(above.map(Path::to_path_buf));
    all
}

/// The entries that a name may go on with, seen from a folder, but for the text itself.
fn entries(name: &FileName, from: &Path, own: &Path) -> Vec<ide::FileChoice> {
    let Ok(found) = std::fs::read_dir(from.join(name.folder())) else { return Vec::new() };
    let found = found.flatten().take(MAX_PATHS).filter(|entry| entry.path() != own);
    name.choose(
        found
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir())),
    )
}
