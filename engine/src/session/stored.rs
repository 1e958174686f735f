//! `x |= exp;`: values kept in files, read back where they are used.
//!
//! A stored value takes no memory between the forms that use it. The files are in a temporary folder of the
//! session, which is removed when it ends; `write_object_to_file` keeps a value for longer.

use crate::host::object;
use nesl_core::base::{ItemId, Name};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::io::{ErrorKind, Result};
use std::path::PathBuf;

/// The files of stored variables.
pub(super) type Files = FxHashMap<(ItemId, Name), PathBuf>;

/// The stored variables of a session.
#[derive(Default)]
pub(super) struct Stored {
    /// The folder of the files, made when it is first needed.
    folder: Option<PathBuf>,
    files: Files,
    /// The number of files written so far.
    written: usize,
}

impl Stored {
    /// Stores the value of a variable. An error is a text for people.
    pub(super) fn write(
        &mut self,
        item: ItemId,
        name: Name,
        value: &Value,
        ty: &Ty,
    ) -> std::result::Result<(), String> {
        let text = object::write(value, ty, Precision::Bits64);
        let result = self.folder().and_then(|folder| {
            let path = folder.join(format!("{}-{name}", self.written));
            std::fs::write(&path, &text)?;
            Ok(path)
        });
        match result {
            Ok(path) => {
                self.written += 1;
                self.files.insert((item, name), path);
                Ok(())
            }
            Err(error) => Err(format!("`{name}` cannot be stored: {error}")),
        }
    }

    /// Returns the files of the variables.
    pub(super) fn files(&self) -> Files {
        self.files.clone()
    }

    /// Gives the variables the files that they had before.
    pub(super) fn put_back(&mut self, files: Files) {
        self.files = files;
    }

    /// Removes the values of the variables of some items.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(ItemId) -> bool) {
        self.files.retain(|(item, _), path| {
            let forgotten = is_forgotten(*item);
            if forgotten {
                // The folder goes with the session in any case.
                let _ = std::fs::remove_file(path);
            }
            !forgotten
        });
    }

    /// Reads the value of a variable back, if it is stored.
    pub(super) fn read(
        &self,
        item: ItemId,
        name: &Name,
        ty: &Ty,
        precision: Precision,
    ) -> Option<std::result::Result<Value, String>> {
        let path = self.files.get(&(item, name.clone()))?;
        let text = std::fs::read(path).map_err(|error| error.to_string());
        let value = text.and_then(|text| object::read(&text, name.as_written(), ty, precision));
        Some(value.map_err(|why| format!("the stored value of `{name}` cannot be read: {why}")))
    }

    fn folder(&mut self) -> Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let process = std::process::id();
        for attempt in 0.. {
            let folder = std::env::temp_dir().join(format!("nesl-{process}-{attempt}"));
            match private_folder(&folder) {
                Ok(()) => {
                    self.folder = Some(folder.clone());
                    return Ok(folder);
                }
                // Another session's of this process, or of one that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        nesl_runtime::bug!("every number is taken by a folder")
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // A folder that cannot be removed is left to whoever clears temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Makes a folder that only its owner can read.
fn private_folder(path: &std::path::Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
