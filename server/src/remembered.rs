//! The facts about the forms of each document, from which requests after each key are answered.

use nesl_core::ide::Remembered;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::ls_types::Uri;

/// The facts about the open documents.
#[derive(Default)]
pub struct Facts(Mutex<FxHashMap<Uri, Arc<Mutex<Remembered>>>>);

impl Facts {
    /// Reads the facts about a document, and updates them. A reading that is stopped leaves what it has found.
    pub fn with<T>(&self, uri: &Uri, read: impl FnOnce(&mut Remembered) -> T) -> T {
        let own = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(uri.clone()).or_default().clone()
        };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        read(&mut own)
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}
