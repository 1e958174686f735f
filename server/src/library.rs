//! The library's texts, for those who jump there.
//!
//! A client that says it can show them asks for them by an address of the scheme `nesl-library`;
//! for others they are written to a folder of temporary files, read-only.

use nesl_core::db::Database;
use nesl_core::ide::{self, Text};
use std::path::PathBuf;
use std::str::FromStr;
use tower_lsp_server::ls_types::Uri;

const PRIMITIVES: &str = "primitives.nesl";

/// The address of a text of the library; `None` if it is none, or cannot be written.
pub fn uri(db: &Database, text: Text, scheme: bool) -> Option<Uri> {
    let name = match text {
        Text::Primitives => PRIMITIVES.to_owned(),
        Text::File(file) if db.library().contains(&file) => db.file_name(file).to_string(),
        Text::File(_) => return None,
    };
    if scheme {
        return Uri::from_str(&format!("nesl-library:/{name}")).ok();
    }
    let contents = text_named(&name)?;
    Uri::from_file_path(written(&name, contents)?)
}

/// The text at an address of the scheme `nesl-library`.
pub fn text_at(uri: &str) -> Option<&'static str> {
    text_named(uri.strip_prefix("nesl-library:")?.trim_start_matches('/'))
}

fn text_named(name: &str) -> Option<&'static str> {
    if name == PRIMITIVES {
        return Some(ide::primitives());
    }
    let files = nesl_core::prelude::FILES.iter();
    files.clone().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// A file with this text; it is written once for each version.
fn written(name: &str, text: &str) -> Option<PathBuf> {
    let folder = folder()?;
    let path = folder.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return Some(path);
    }
    // Another server may be writing it, too: it appears at once or not at all.
    let mut file = tempfile::NamedTempFile::new_in(&folder).ok()?;
    std::io::Write::write_all(&mut file, text.as_bytes()).ok()?;
    let mut permissions = file.as_file().metadata().ok()?.permissions();
    permissions.set_readonly(true);
    file.as_file().set_permissions(permissions).ok()?;
    file.persist(&path).ok()?;
    Some(path)
}

/// The folder of the files: one for each user, which nobody else can write to.
#[cfg(unix)]
fn folder() -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let user = tempfile::tempfile().ok()?.metadata().ok()?.uid();
    let name = format!("nesl-library-{}-{user}", env!("CARGO_PKG_VERSION"));
    let folder = std::env::temp_dir().join(name);
    let mut builder = std::fs::DirBuilder::new();
    // That it is there already is no failure; whose it is, is looked at.
    let _ = builder.mode(0o700).create(&folder);
    let found = std::fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && found.uid() == user).then_some(folder)
}

/// The folder of the files; temporary folders belong to one user here.
#[cfg(not(unix))]
fn folder() -> Option<PathBuf> {
    let folder = std::env::temp_dir().join(format!("nesl-library-{}", env!("CARGO_PKG_VERSION")));
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_an_address() {
        let db = Database::new();
        for file in db.library() {
            let uri = uri(&db, Text::File(file), true).expect("an address");
            assert_eq!(text_at(uri.as_str()), Some(&*db.file_text(file)));
        }
        let primitives = uri(&db, Text::Primitives, true).expect("an address");
        assert_eq!(text_at(primitives.as_str()), Some(ide::primitives()));
        assert_eq!(text_at("nesl-library:/../etc/passwd"), None);
    }
}
