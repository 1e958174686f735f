//! Publishing the entries for editor features: see [`crate::outlook`].

use super::Session;
use crate::outlook::Entry;
use nesl_core::db::{Before, FileId};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Session {
    /// Publishes what a form would see that stands at a place.
    pub(super) fn publish(&mut self, from: Before) {
        let files: Vec<FileId> = self.entries.all().collect();
        let entries = files.iter().map(|file| match self.published.get(file) {
            // Only the forms of the last entry can have changed.
            Some(entry) if *file != from.file => entry.clone(),
            _ => {
                let entry = Arc::new(self.as_published(*file));
                self.published.insert(*file, entry.clone());
                entry
            }
        });
        let entries: Vec<Arc<Entry>> = entries.collect();
        if self.published.len() > files.len() {
            let files: FxHashSet<FileId> = files.into_iter().collect();
            self.published.retain(|file, _| files.contains(file));
        }
        self.outlook.publish(entries);
    }

    /// Returns a file as later ones see it.
    fn as_published(&self, file: FileId) -> Entry {
        let forms = &self.db.outline(file).forms;
        let failed = |at: &usize| self.db.is_disabled(forms[*at].id());
        let loaded = forms.iter().enumerate().filter_map(|(at, form)| {
            let loaded = self.db.loaded(form.id())?;
            Some((at, Arc::new(self.as_published(loaded))))
        });
        Entry {
            name: self.db.file_name(file),
            text: self.db.file_text(file),
            failed: (0..forms.len()).filter(failed).collect(),
            loaded: loaded.collect(),
        }
    }
}
