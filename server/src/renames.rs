//! The `load` forms that a renamed file changes: those that load it, and its own, if it moves to
//! another folder.

use crate::convert::text_edit;
use crate::world::{Snapshot, existing, path_of};
use nesl_core::db::FileId;
use nesl_core::ide::{self, Edit};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use tower_lsp_server::ls_types::{TextEdit, Uri};

/// The edits of all known files for files, or folders, that will have other paths.
pub fn edits(snapshot: &Snapshot, renamed: &[(PathBuf, PathBuf)]) -> HashMap<Uri, Vec<TextEdit>> {
    let mut all: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for file in snapshot.files.iter().copied() {
        let Some(uri) = snapshot.uri_of(file) else { continue };
        let Some(path) = path_of(&uri) else { continue };
        let own = in_file(snapshot, file, &path, renamed);
        if !own.is_empty() {
            let lines = snapshot.lines_of(file);
            all.insert(uri, own.iter().map(|edit| text_edit(&lines, edit)).collect());
        }
    }
    all
}

fn in_file(
    snapshot: &Snapshot,
    file: FileId,
    path: &Path,
    renamed: &[(PathBuf, PathBuf)],
) -> Vec<Edit> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let new_path = moved(path, renamed);
    let new_folder = new_path.as_deref().unwrap_or(path).parent().unwrap_or(Path::new(""));
    let mut edits = Vec::new();
    for link in ide::links(&snapshot.db, file) {
        let Some(target) = existing(folder, &link.path) else { continue };
        let new_target = moved(&target, renamed);
        if Path::new(&link.path).is_absolute() && new_target.is_none()
            || new_target.is_none() && new_folder == folder
        {
            continue;
        }
        let new_target = new_target.unwrap_or(target);
        let mut name = relative(new_folder, &new_target);
        if !link.path.ends_with(".nesl") {
            name = name.strip_suffix(".nesl").map(str::to_owned).unwrap_or(name);
        }
        if name != link.path {
            edits.push(Edit { file, range: link.range, text: name });
        }
    }
    edits
}

/// The new path of a file; none if it stays where it is.
fn moved(path: &Path, renamed: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
    renamed.iter().find_map(|(old, new)| {
        let old = old.canonicalize().unwrap_or_else(|_| old.clone());
        let rest = path.strip_prefix(&old).ok()?;
        Some(if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) })
    })
}

/// The path of a file as it is seen from a folder, with `/` between its parts.
fn relative(folder: &Path, file: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_25_paths_as_folders_see_them() {
        let check = |folder: &str, file: &str, expected: &str| {
            assert_eq!(relative(Path::new(folder), Path::new(file)), expected);
        };
        check("/a/b", "/a/b/c.nesl", "c.nesl");
        check("/a/b", "/a/d/c.nesl", "../d/c.nesl");
        check("/a", "/a/b/c.nesl", "b/c.nesl");
        let renamed = [(PathBuf::from("/no/x"), PathBuf::from("/no/y"))];
        assert_eq!(moved(Path::new("/no/x/a.nesl"), &renamed), Some("/no/y/a.nesl".into()));
        assert_eq!(moved(Path::new("/no/xa.nesl"), &renamed), None);
    }
}
