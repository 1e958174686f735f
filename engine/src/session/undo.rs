//! Taking back the last entry that changed something.
//!
//! The session keeps its state when the first form of an entry is about to change it: maps from names to
//! values, which are shared. To take the entry back its forms are disabled, as those that failed are, and the maps
//! are put back. Values that the entry has replaced live until the next one that changes something, unless
//! they are large: running a cell again frees what it replaces.

use super::{Session, lazy};
use nesl_core::base::{ItemId, Name};
use nesl_core::db::{Before, FileId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The size in bytes up to which replaced values are kept.
const MAX_KEPT_BYTES: u64 = 16 << 20;

/// The state of a session before an entry.
pub(super) struct Past {
    /// The file of the entry.
    file: FileId,
    /// The files of the further texts of the entry, if it has several.
    parts: Vec<FileId>,
    /// The files that belong to it.
    joined: Vec<FileId>,
    /// True if the entry ran before, and only its values are new.
    again: bool,
    values: FxHashMap<(ItemId, Name), lazy::Value>,
    mentions: FxHashMap<(ItemId, Name), FxHashSet<ItemId>>,
    replaced: FxHashMap<(ItemId, Name), ItemId>,
    stored: super::stored::Files,
}

/// The entry that can be taken back, if there is one.
#[derive(Default)]
pub(super) struct Undo {
    past: Option<Past>,
    /// True once the entry that runs has changed something.
    changed: bool,
    /// True if the next text goes on the entry before it.
    goes_on: bool,
    /// True while a text runs that goes on an entry, and has changed nothing yet.
    is_part: bool,
}

impl Session {
    /// Begins an entry.
    pub(super) fn begin_undo(&mut self) {
        self.undo.is_part = std::mem::take(&mut self.undo.goes_on);
        self.undo.changed &= self.undo.is_part;
        if self.memory_is_short() {
            self.undo.past = None;
        }
    }

    /// Lets the text that is entered next go on the one before: they are one entry, which is taken back whole.
    pub fn go_on_entry(&mut self) {
        self.undo.goes_on = true;
    }

    /// Keeps what the session has, before the entry that runs changes it for the first time.
    pub(super) fn keep_past(&mut self) {
        let is_part = std::mem::take(&mut self.undo.is_part) && !self.again;
        if std::mem::replace(&mut self.undo.changed, true) {
            if let (Some(past), Some(file)) = (&mut self.undo.past, self.running.first())
                && is_part
            {
                past.parts.push(*file);
            }
            return;
        }
        // What the entry before has replaced goes first.
        self.undo.past = None;
        let Some(file) = self.running.first().copied().filter(|_| !self.memory_is_short()) else {
            return;
        };
        self.undo.past = Some(Past {
            file,
            parts: Vec::new(),
            joined: Vec::new(),
            again: self.again,
            values: self.values.clone(),
            mentions: self.mentions.clone(),
            replaced: self.replaced.clone(),
            stored: self.stored.files(),
        });
    }

    /// Ends an entry: what it has replaced is forgotten if it is large.
    pub(super) fn end_undo(&mut self) {
        let Some(past) = &self.undo.past else { return };
        let replaced = past
            .values
            .iter()
            .filter(|(key, before)| self.values.get(*key).is_none_or(|now| !now.is_same(before)));
        let bytes = |value: &lazy::Value| {
            let value = value.computed()?;
            Some(value.host_bytes().unwrap_or(0) + value.runtime_bytes().unwrap_or(0))
        };
        if replaced.filter_map(|(_, before)| bytes(before)).sum::<u64>() > MAX_KEPT_BYTES {
            self.undo.past = None;
        }
    }

    /// Lets a file belong to the last entry that changed something: it is taken back with it, and not by itself.
    pub(super) fn join_past(&mut self, file: FileId) {
        self.undo.changed = true;
        if let Some(past) = &mut self.undo.past {
            past.joined.push(file);
        }
    }

    /// Forgets what could be taken back: its forms are about to be forgotten.
    pub(super) fn forget_past(&mut self) {
        self.undo.past = None;
    }

    /// Returns true if arrays take more than half of the memory that they may take.
    fn memory_is_short(&self) -> bool {
        let runtime = self.runtime();
        runtime.is_some_and(|runtime| runtime.counters().bytes > runtime.caps().memory / 2)
    }

    /// Takes back the last entry that changed a definition or a value. Returns the names that it defined;
    /// `None` if there is no such entry, it was taken back already, or what was there before was too large to
    /// keep.
    pub fn undo(&mut self) -> Option<Vec<String>> {
        let past = self.undo.past.take()?;
        let mut names = Vec::new();
        self.take_back(past.file, !past.again, &mut names);
        for file in past.parts {
            self.take_back(file, true, &mut names);
        }
        for file in past.joined {
            self.take_back(file, true, &mut Vec::new());
        }
        self.values = past.values;
        self.mentions = past.mentions;
        self.replaced = past.replaced;
        self.stored.put_back(past.stored);
        // Something may be kept that nothing asks for any more.
        self.hidden = true;
        self.published.clear();
        if let Some(Before { file, .. }) = self.last {
            self.publish(Before::all(file));
        }
        let mut told = FxHashSet::default();
        names.retain(|name| told.insert(name.clone()));
        Some(names)
    }

    /// Lists the names that the forms of a file define, and of the files that it loads; they define them no
    /// longer if they are disabled.
    pub(super) fn take_back(&mut self, file: FileId, disable: bool, names: &mut Vec<String>) {
        let forms = self.db.outline(file).forms.clone();
        for form in forms.iter() {
            if let Some(loaded) = self.db.loaded(form.id()) {
                self.take_back(loaded, disable, names);
            }
            if !self.db.is_disabled(form.id()) {
                names.extend(form.names.iter().map(Name::to_string));
                if disable {
                    self.db.set_disabled(form.id(), true);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
