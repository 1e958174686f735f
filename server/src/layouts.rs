//! Formatting documents: of each it is remembered how its forms are laid out.

use crate::world::Snapshot;
use nesl_core::ide::{Edit, Formatter};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::ls_types::Uri;

/// The formatters of the open documents that were formatted.
#[derive(Default)]
pub struct Layouts(Mutex<FxHashMap<Uri, Arc<Mutex<Formatter>>>>);

impl Layouts {
    /// The formatter of a document.
    pub fn format(&self, snapshot: &Snapshot) -> Vec<Edit> {
        let formatter = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(snapshot.uri.clone()).or_default().clone()
        };
        // A reading that was stopped leaves what it has found out.
        let mut formatter = formatter.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.document(&snapshot.db, snapshot.file)
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}
