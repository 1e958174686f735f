//! Names for results beside `it`: each is an entry of its own, `it3 = it;`, that belongs to the one before it.
//!
//! Only the last results have names, and only small ones: a session must not hold what nobody asks for.

use super::{Session, Summary};
use nesl_core::base::Name;
use nesl_core::db::{Before, FileId};
use nesl_core::names::Resolution;
use std::collections::VecDeque;

/// The number of results that have names.
const MAX_RESULTS: usize = 20;

/// The size in bytes up to which a result gets a name.
const MAX_RESULT_BYTES: u64 = 1 << 20;

/// The name of the entries that give results their names. They are not the user's.
pub const RESULTS: &str = "<results>";

/// The entries that give results their names, the oldest first.
#[derive(Default)]
pub(super) struct Results(VecDeque<FileId>);

impl Results {
    /// Forgets files that are used for other texts from now on.
    pub(super) fn forget(&mut self, dropped: &[FileId]) {
        self.0.retain(|file| !dropped.contains(file));
    }
}

impl Session {
    /// Returns true if a name is one of the user's, so that [`Session::name_result`] does not give it to a result.
    pub fn is_taken(&self, name: &str) -> bool {
        self.last.is_some_and(|last| self.db.lookup(last, &Name::new(name)).is_some())
    }

    /// Gives the result of the last entry a name besides `it`, unless it is large; the oldest of many loses its
    /// own. Taking the entry back takes the name back, too.
    pub fn name_result(&mut self, name: &str) {
        let Some(last) = self.last else { return };
        let it = Name::new("it");
        if self.is_taken(name) {
            return;
        }
        let Some(Resolution::Item(item, it)) = self.db.lookup(last, &it) else { return };
        let value = self.values.get(&(self.current(item, &it), it));
        let Some(value) = value.and_then(|value| value.computed()) else { return };
        let bytes = value.host_bytes().unwrap_or(0) + value.runtime_bytes().unwrap_or(0);
        if bytes > MAX_RESULT_BYTES {
            return;
        }
        let text = format!("{name} = it;");
        let file = self.db.add_file(RESULTS, &text, self.last);
        self.entries.push(file);
        self.sources.set(file, RESULTS, &text);
        // What was put off would keep all that it mentions.
        let lazy = std::mem::replace(&mut self.settings.lazy, false);
        self.join_past(file);
        self.run_file(file, true, &mut |_| {}, &mut Summary::default());
        self.settings.lazy = lazy;
        self.last = Some(Before::all(file));
        self.results.0.push_back(file);
        if self.results.0.len() > MAX_RESULTS
            && let Some(oldest) = self.results.0.pop_front()
        {
            self.take_back(oldest, true, &mut Vec::new());
            self.hidden = true;
        }
        self.publish(Before::all(file));
    }
}

#[cfg(test)]
mod tests;
