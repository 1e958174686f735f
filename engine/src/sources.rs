//! The texts of a session by [`FileId`], readable while it runs.
//!
//! [`Event`](crate::Event)s arrive while the session is at work; whoever receives one can show the
//! place it is about at once, in order with what the program prints.

use crate::host::file::{Waiting, open};
use nesl_core::db::FileId;
use rustc_hash::FxHashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// The largest size of a program's text, in bytes. Data belongs into files of its own.
const MAX_PROGRAM_BYTES: u64 = 64 << 20;

/// Reads the file of a program. One that is larger than a program can be is refused; so is a device that
/// never ends, and a text that is UTF-16. Where nobody has written anything yet, reading fails soon after `stop` returns true.
pub fn read_program(path: &Path, stop: &dyn Fn() -> bool) -> io::Result<Vec<u8>> {
    let (file, metadata) = open(path)?;
    let mut waiting = Waiting::new(file, stop);
    let mut bytes = Vec::new();
    match metadata.is_file() {
        true => waiting.file().take(MAX_PROGRAM_BYTES + 1).read_to_end(&mut bytes)?,
        false => (&mut waiting).take(MAX_PROGRAM_BYTES + 1).read_to_end(&mut bytes)?,
    };
    if bytes.len() as u64 > MAX_PROGRAM_BYTES {
        let most = MAX_PROGRAM_BYTES >> 20;
        return Err(io::Error::other(format!(
            "it is larger than {most} MiB, the limit for a program; read data with `read_csv`, `read_npy` or `read_string_from_file`"
        )));
    }
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(io::Error::other("it is UTF-16; save it as UTF-8"));
    }
    Ok(bytes)
}

/// A range of a file of the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file that contains the range.
    pub file: FileId,
    /// The byte offsets in its text.
    pub range: Range<usize>,
}

/// A name and a text.
type Named = (Arc<str>, Arc<str>);

/// Names and texts of files. Cheap to clone; clones share what they hold.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: Arc<RwLock<FxHashMap<FileId, Named>>>,
}

impl Sources {
    /// Returns the name and text of a file; empty ones for a file that is not there.
    pub fn get(&self, file: FileId) -> (Arc<str>, Arc<str>) {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        texts.get(&file).cloned().unwrap_or_else(|| ("".into(), "".into()))
    }

    /// Sets the name and the text of a file.
    pub(crate) fn set(&self, file: FileId, name: &str, text: &str) {
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        texts.insert(file, (name.into(), text.into()));
    }

    /// Forgets files that nothing points into any more.
    pub(crate) fn forget(&self, files: &[FileId]) {
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        for file in files {
            texts.remove(file);
        }
    }
}
