//! The texts of a session by [`FileId`], readable while it runs.
//!
//! [`Event`](crate::Event)s arrive while the session is at work; whoever receives one can show the
//! place it is about at once, in order with what the program prints.

use nesl_core::db::FileId;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

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
