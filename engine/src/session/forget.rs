//! Forgetting entries that later ones have superseded.
//!
//! Each entry is a file of the compiler's database. Forms that are entered again and again, at a
//! prompt or in a notebook, would leave as many files, of which only the last can be seen. Once the
//! number of entries has doubled, those that nothing can reach are taken out of the chain of files
//! and their storage is used for the next entries: a garbage collection whose cost is spread over
//! the entries.
//!
//! An entry is reachable if it is the last one; if a new form would see one of its definitions; if
//! one of its variables holds a value that may still be asked for; or if a reachable definition
//! refers to one of its own, or to one that it has replaced. An entry that loads a file stays, and
//! so do all those before it.

use super::{Session, lazy};
use nesl_core::base::ItemId;
use nesl_core::db::{Before, FileId};
use nesl_core::names::Resolution;
use rustc_hash::{FxHashMap, FxHashSet};

/// The least number of entries for which a search for unreachable ones is worth its time.
const MIN_ENTRIES: usize = 64;

/// The files of the entries of a session.
#[derive(Default)]
pub(super) struct Entries {
    /// The last file that is never forgotten; the first of `files` sees it.
    pinned: Option<FileId>,
    /// The files that are never forgotten, in order.
    kept: Vec<FileId>,
    /// The files after it; each sees the one before it.
    files: Vec<FileId>,
    /// The number of files that were reachable when they were last looked at.
    reachable: usize,
}

impl Entries {
    /// Adds the file of the next entry.
    pub(super) fn push(&mut self, file: FileId) {
        self.files.push(file);
    }

    /// Pins the files up to and including one.
    fn pin(&mut self, position: usize) {
        self.kept.extend(self.files.drain(..=position));
        self.pinned = self.kept.last().copied();
    }

    /// Returns all files, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = FileId> {
        self.kept.iter().chain(&self.files).copied()
    }
}

/// The search for the files that are reachable.
struct Search {
    /// The files that may be forgotten, by their items.
    file_of: FxHashMap<ItemId, FileId>,
    reachable: FxHashSet<FileId>,
    todo: Vec<FileId>,
}

impl Search {
    /// Marks the file of an item.
    fn mark(&mut self, item: ItemId) {
        if let Some(file) = self.file_of.get(&item)
            && self.reachable.insert(*file)
        {
            self.todo.push(*file);
        }
    }
}

impl Session {
    /// Forgets the unreachable entries, if their number has doubled since the last search.
    pub(super) fn forget_entries(&mut self) {
        if self.entries.files.len() < MIN_ENTRIES + 2 * self.entries.reachable {
            return;
        }
        let loads = |file: &FileId| self.db.outline(*file).forms.iter().any(|form| form.loads());
        if let Some(position) = self.entries.files.iter().rposition(loads) {
            self.entries.pin(position);
        }
        let search = self.reachable_entries();
        let (kept, dropped): (Vec<_>, Vec<_>) =
            self.entries.files.iter().partition(|file| search.reachable.contains(file));
        self.entries.reachable = kept.len();
        if dropped.is_empty() {
            return;
        }
        self.forget_past();
        let is_forgotten = |item: ItemId| {
            search.file_of.get(&item).is_some_and(|file| !search.reachable.contains(file))
        };
        self.forget_items(&is_forgotten);
        if let Some(scratch) = self.scratch {
            // It may see a file that is about to be used for another text.
            self.db.rename(scratch, "", None);
        }
        self.db.forget_files(self.entries.pinned, &kept, &dropped);
        self.sources.forget(&dropped);
        self.results.forget(&dropped);
        self.entries.files = kept;
    }

    /// Finds the entries that are reachable.
    fn reachable_entries(&self) -> Search {
        let mut file_of = FxHashMap::default();
        for file in &self.entries.files {
            for form in &self.db.outline(*file).forms {
                file_of.insert(form.id(), *file);
            }
        }
        let (reachable, todo) = Default::default();
        let mut search = Search { file_of, reachable, todo };
        if let Some(Before { file, .. }) = self.last {
            search.reachable.insert(file);
            search.todo.push(file);
            self.mark_visible(Before::all(file), &mut search);
        }
        for (item, _) in self.values.keys() {
            search.mark(*item);
        }
        for (item, name) in self.replaced.keys() {
            // What cannot be forgotten may refer to what replaced a definition of its own kind.
            if !search.file_of.contains_key(item) {
                search.mark(self.current(*item, name));
            }
        }
        // A program that was put off goes on to use what was current when it was made.
        let put_off = |value: &lazy::Value| value.computed().is_none();
        let with_replaced = self.values.values().any(put_off);
        while let Some(file) = search.todo.pop() {
            for form in &self.db.outline(file).forms {
                self.mark_references(form.id(), with_replaced, &mut search);
            }
        }
        search
    }

    /// Marks what a new form would see.
    fn mark_visible(&self, from: Before, search: &mut Search) {
        let mut seen = FxHashSet::default();
        for file in &self.entries.files {
            for form in &self.db.outline(*file).forms {
                for name in form.names.iter().filter(|name| seen.insert((*name).clone())) {
                    if let Some(Resolution::Item(item, _)) = self.db.lookup(from, name) {
                        search.mark(item);
                        search.mark(self.current(item, name));
                    }
                }
            }
        }
    }

    /// Marks what an item refers to, and what took its place; with `with_replaced` also what had
    /// taken its place for a time.
    fn mark_references(&self, item: ItemId, with_replaced: bool, search: &mut Search) {
        let names = self.db.names(item);
        for referred in &names.references {
            search.mark(*referred);
        }
        for resolution in names.values.values() {
            let Resolution::Item(referred, name) = resolution else { continue };
            search.mark(*referred);
            search.mark(self.current(*referred, name));
            let mut between = *referred;
            while with_replaced && let Some(next) = self.replaced.get(&(between, name.clone())) {
                search.mark(*next);
                between = *next;
            }
        }
    }

    /// Takes items out of all that is known about items.
    fn forget_items(&mut self, is_forgotten: &dyn Fn(ItemId) -> bool) {
        let replaced = self.replaced.keys().filter(|(item, _)| !is_forgotten(*item));
        let replaced: FxHashMap<_, _> = replaced
            .map(|key| {
                let next = self.replaced[key];
                // What was current for a time only may be forgotten.
                let next = if is_forgotten(next) { self.current(key.0, &key.1) } else { next };
                (key.clone(), next)
            })
            .collect();
        self.replaced = replaced;
        self.mentions.retain(|(item, _), definitions| {
            definitions.retain(|definition| !is_forgotten(*definition));
            !is_forgotten(*item) && !definitions.is_empty()
        });
        self.broken.retain(|item, _| !is_forgotten(*item));
        self.stored.forget(is_forgotten);
    }
}

#[cfg(test)]
mod tests;
