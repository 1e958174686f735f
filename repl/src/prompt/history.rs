//! The entries typed at the prompt: kept in a file between sessions, whole for entries of several lines, and
//! walked through by what the line begins with.
//!
//! The line editor counts positions in the history by itself; what stands at a position is answered here. While
//! somebody walks by a prefix, the answer is the next entry in that direction that begins with it.

use super::lines::{padded, plain};
use crate::folders;
use rustyline::Result;
use rustyline::history::{FileHistory, History, SearchDirection, SearchResult};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The history file: `NESL_HISTORY`, or `history` in the user's state directory. An empty
/// `NESL_HISTORY` says that none is wanted.
pub fn path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("NESL_HISTORY") {
        return if path.is_empty() { None } else { Some(path.into()) };
    }
    Some(folders::state()?.join("history"))
}

/// A walk through the history, which the keys begin and the history answers. Clones share it.
#[derive(Clone, Default)]
pub struct Walk(Arc<Mutex<Step>>);

#[derive(Default)]
struct Step {
    /// True if the next position that is asked for is a step of the walk.
    begun: bool,
    /// The beginning of the entries that are walked through, as the editor holds it.
    prefix: String,
    /// The text that the walk began with.
    typed: String,
    /// The entry that was shown last.
    shown: Option<String>,
}

impl Walk {
    /// Makes the next step one by what stands before the cursor, or goes on with the walk if the text is the
    /// entry that it has shown.
    pub fn step(&self, text: &str, cursor: usize) {
        let mut step = self.lock();
        step.begun = true;
        if step.shown.as_deref() != Some(text) {
            step.prefix = text[..cursor].to_owned();
            step.typed = text.to_owned();
        }
    }

    /// Ends the walk: a new line is begun.
    pub fn end(&self) {
        *self.lock() = Step::default();
    }

    fn lock(&self) -> MutexGuard<'_, Step> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The history of the prompt.
pub struct Past {
    entries: FileHistory,
    walk: Walk,
}

impl Past {
    /// An empty history for a walk.
    pub fn new(config: &rustyline::Config, walk: Walk) -> Past {
        Past { entries: FileHistory::with_config(config), walk }
    }

    /// Adds an entry, and keeps it in a file: a session may end in any way. Sessions running side by side do
    /// not lose each other's.
    pub fn keep(&mut self, text: &str, path: Option<&Path>) -> Result<()> {
        self.entries.add(text)?;
        let Some(path) = path else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        self.entries.append(path)
    }
}

/// Returns an entry as the editor shows it.
fn shown(found: SearchResult<'_>) -> SearchResult<'_> {
    let pos = padded(&found.entry[..found.pos]).len();
    SearchResult { entry: Cow::Owned(padded(&found.entry)), idx: found.idx, pos }
}

impl History for Past {
    fn get(&self, index: usize, dir: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        let mut step = self.walk.lock();
        let begun = std::mem::take(&mut step.begun);
        let mut at = index;
        while let Some(found) = self.entries.get(at, dir)? {
            let found = shown(found);
            let fits = found.entry.starts_with(&step.prefix)
                && step.shown.as_deref() != Some(&*found.entry);
            if !begun || fits || step.prefix.is_empty() {
                step.shown = Some(found.entry.to_string());
                return Ok(Some(found));
            }
            match dir {
                SearchDirection::Reverse if at > 0 => at -= 1,
                SearchDirection::Reverse => return Ok(None),
                SearchDirection::Forward => at += 1,
            }
        }
        // Behind the newest entry stands what was typed.
        let is_end = dir == SearchDirection::Forward && begun;
        let entry = || Cow::Owned(step.typed.clone());
        Ok(is_end.then(|| SearchResult { entry: entry(), idx: self.entries.len(), pos: 0 }))
    }

    fn add(&mut self, line: &str) -> Result<bool> {
        self.entries.add(&plain(line))
    }

    fn add_owned(&mut self, line: String) -> Result<bool> {
        self.add(&line)
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn set_max_len(&mut self, len: usize) -> Result<()> {
        self.entries.set_max_len(len)
    }

    fn ignore_dups(&mut self, yes: bool) -> Result<()> {
        self.entries.ignore_dups(yes)
    }

    fn ignore_space(&mut self, yes: bool) {
        self.entries.ignore_space(yes);
    }

    fn save(&mut self, path: &Path) -> Result<()> {
        self.entries.save(path)
    }

    fn append(&mut self, path: &Path) -> Result<()> {
        self.entries.append(path)
    }

    fn load(&mut self, path: &Path) -> Result<()> {
        self.entries.load(path)
    }

    fn clear(&mut self) -> Result<()> {
        self.entries.clear()
    }

    fn search(
        &self,
        term: &str,
        start: usize,
        dir: SearchDirection,
    ) -> Result<Option<SearchResult<'_>>> {
        Ok(self.entries.search(&plain(term), start, dir)?.map(shown))
    }

    fn starts_with(
        &self,
        term: &str,
        start: usize,
        dir: SearchDirection,
    ) -> Result<Option<SearchResult<'_>>> {
        Ok(self.entries.starts_with(&plain(term), start, dir)?.map(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SearchDirection::{Forward, Reverse};

    fn past(entries: &[&str]) -> (Past, Walk) {
        let walk = Walk::default();
        let mut past = Past::new(&rustyline::Config::default(), walk.clone());
        for entry in entries {
            past.keep(entry, None).expect("it is kept");
        }
        (past, walk)
    }

    #[test]
    fn a_walk_keeps_to_its_prefix_and_comes_back() {
        let (past, walk) = past(&["x = 1", "sum(x)", "x = 2", "y"]);
        let step = |text: &str, at: usize, dir| {
            walk.step(text, 3.min(text.len()));
            past.get(at, dir).expect("it answers").map(|found| (found.entry.to_string(), found.idx))
        };
        assert_eq!(step("x =", 3, Reverse), Some(("x = 2".to_owned(), 2)));
        assert_eq!(step("x = 2", 1, Reverse), Some(("x = 1".to_owned(), 0)));
        assert_eq!(step("x = 1", 1, Forward), Some(("x = 2".to_owned(), 2)));
        assert_eq!(step("x = 2", 3, Forward), Some(("x =".to_owned(), 4)));
        assert_eq!(step("zzz", 3, Reverse), None);
    }

    #[test]
    fn entries_of_several_lines_are_whole() {
        let (past, _) = past(&["function f1(x) =\n  x"]);
        let found = past.starts_with("function", 0, Reverse).expect("it answers").expect("found");
        assert_eq!(found.entry, padded("function f1(x) =\n  x"));
        assert_eq!(
            past.entries
                .get(0, Reverse)
                .expect("it answers")
                .expect("there")
                .entry
                .matches('\u{a0}')
                .count(),
            0
        );
    }
}
