//! Shows what the next entry of a session would see, for editor features while the session runs.
//!
//! The session publishes its entries, with the forms that failed; a [`View`] checks a text behind
//! them in a database of its own, on any thread. The session's own database cannot be asked while the
//! session runs: a reader would have to wait for it, or it for the reader.

use nesl_core::base::ItemId;
use nesl_core::db::{Before, Database, FileId};
use std::sync::{Arc, PoisonError, RwLock};

/// A handle to the entries of a session. Clones share what they hold.
#[derive(Clone, Debug, Default)]
pub struct Outlook(Arc<RwLock<Arc<Vec<Arc<Entry>>>>>);

/// An entry of a session, as later ones see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that messages use.
    pub name: Arc<str>,
    /// The text of the entry.
    pub text: Arc<str>,
    /// The positions of the forms that failed: they define nothing.
    pub failed: Vec<usize>,
    /// The files that its forms loaded, with the positions of the forms.
    pub loaded: Vec<(usize, Arc<Entry>)>,
}

impl Outlook {
    /// Returns the entries so far.
    pub fn entries(&self) -> Arc<Vec<Arc<Entry>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the entries.
    pub(crate) fn publish(&self, entries: Vec<Arc<Entry>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(entries);
    }
}

/// A database that follows the entries of a session.
pub struct View {
    outlook: Outlook,
    db: Database,
    /// The files of the entries, each of which sees the one before it, and what they hold.
    files: Vec<(FileId, Option<Arc<Entry>>)>,
    /// The number of files in use.
    used: usize,
    /// The file of the text that is asked about.
    cursor: FileId,
}

impl View {
    /// Makes a view of a session.
    pub fn new(outlook: Outlook) -> View {
        let mut db = Database::new();
        let cursor = db.add_file("", "", None);
        View { outlook, db, files: Vec::new(), used: 0, cursor }
    }

    /// Returns the database, and the file that holds a text as if it were the next entry.
    pub fn with(&mut self, text: &str) -> (&Database, FileId) {
        self.follow();
        let last = self.used.checked_sub(1).map(|last| Before::all(self.files[last].0));
        self.db.rename(self.cursor, "", last);
        self.db.set_text(self.cursor, text);
        (&self.db, self.cursor)
    }

    /// Returns the names that the entries of the session have defined.
    pub fn own_names(&mut self) -> Vec<String> {
        self.follow();
        let files = self.files[..self.used].iter();
        let forms = files.flat_map(|(file, _)| self.db.outline(*file).forms.clone());
        forms.flat_map(|form| form.names.to_vec()).map(|name| name.to_string()).collect()
    }

    /// Takes over what has changed in the session.
    fn follow(&mut self) {
        let entries = self.outlook.entries();
        for (position, entry) in entries.iter().enumerate() {
            if self.files.len() == position {
                let before = position.checked_sub(1).map(|last| Before::all(self.files[last].0));
                self.files.push((self.db.add_file(&entry.name, "", before), None));
            }
            let (file, known) = &self.files[position];
            if known.as_ref().is_some_and(|known| Arc::ptr_eq(known, entry) || known == entry) {
                continue;
            }
            let file = *file;
            let before = position.checked_sub(1).map(|last| Before::all(self.files[last].0));
            self.db.rename(file, &entry.name, before);
            fill(&mut self.db, file, entry);
            self.files[position].1 = Some(entry.clone());
        }
        for (file, known) in &mut self.files[entries.len()..] {
            if known.take().is_some() {
                self.db.set_text(*file, "");
            }
        }
        self.used = entries.len();
    }
}

/// Puts the text of an entry into a file.
fn fill(db: &mut Database, file: FileId, entry: &Entry) {
    db.set_text(file, entry.text.clone());
    let items: Vec<ItemId> = db.outline(file).forms.iter().map(|form| form.id()).collect();
    for (position, item) in items.iter().enumerate() {
        db.set_disabled(*item, entry.failed.contains(&position));
        let loaded = entry.loaded.iter().find(|(at, _)| *at == position).map(|(_, loaded)| loaded);
        let loaded = loaded.map(|loaded| {
            let at = Before { file, position: position as u32 };
            let file = db.add_file(&loaded.name, "", Some(at));
            fill(db, file, loaded);
            file
        });
        db.set_loaded(*item, loaded);
    }
}

#[cfg(test)]
mod tests;
