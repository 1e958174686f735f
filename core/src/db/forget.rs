//! Forgetting files: the entries of a session that later ones have superseded.
//!
//! Salsa never frees an input, so a session that adds a file for each entry would grow by the
//! memos of all entries ever made. Files that are forgotten are taken out of the chain of files that
//! see each other, emptied, and used again by [`Database::add_file`], whose queries overwrite the
//! memos of the previous text. A file that is used again gets a new [`FileId`]; the old one must not
//! be used any more.

use super::input::{File, Item};
use super::{Database, FileId, TEXTS, input, scope};
use salsa::{Durability, Setter};
use std::sync::Arc;

impl Database {
    /// Forgets the files `dropped`. Each of `kept` sees all of the one before it, and the first of
    /// them all of `before`: together with `dropped`, `kept` must be all files added after `before`
    /// that see `before`. No form of the files that stay may refer to a form of a dropped one.
    ///
    /// The next reading of the database validates again whatever it needs, so this is to be done for
    /// many files at a time.
    pub fn forget_files(&mut self, before: Option<FileId>, kept: &[FileId], dropped: &[FileId]) {
        let mut before = before.map(|file| self.input(file));
        for file in kept {
            let file = self.input(*file);
            self.see(file, before.map(|before| (before, u32::MAX)));
            before = Some(file);
        }
        for file in dropped {
            let file = self.input(*file);
            self.empty(file);
            self.spare_files.lock().unwrap_or_else(|e| e.into_inner()).push(file);
        }
    }

    /// A forgotten file with a name and a view of what comes before it; `None` if there is none.
    pub(super) fn spare_file(&mut self, name: &str, before: Option<(File, u32)>) -> Option<File> {
        let file = self.spare_files.lock().unwrap_or_else(|e| e.into_inner()).pop()?;
        file.set_name(self).with_durability(TEXTS).to(name.into());
        self.see(file, before);
        Some(file)
    }

    /// Makes the forms of other files visible in a file.
    fn see(&mut self, file: File, before: Option<(File, u32)>) {
        let skip_pointer = scope::skip_pointer(self, before.map(|(file, _)| file));
        if file.before(self) != before {
            file.set_before(self).with_durability(TEXTS).to(before);
        }
        if file.skip_pointer(self) != skip_pointer {
            file.set_skip_pointer(self).with_durability(TEXTS).to(skip_pointer);
        }
    }

    /// Takes the text out of a file and its items. Their durability is low from here on: writing the
    /// next text then invalidates no query that depends on inputs of high durability only.
    fn empty(&mut self, file: File) {
        self.take_extents(file);
        let outline = file.outline(self).clone();
        let forms = outline.forms.iter().map(|form| form.item);
        let spare: Vec<Item> = forms.chain(outline.spare.iter().copied()).collect();
        for item in &spare {
            item.set_text(self).with_durability(Durability::LOW).to("".into());
            item.set_disabled(self).with_durability(Durability::LOW).to(false);
        }
        let outline = Arc::new(input::Outline { forms: Vec::new(), spare });
        file.set_outline(self).with_durability(Durability::LOW).to(outline);
        file.set_starts(self).with_durability(Durability::LOW).to(Arc::default());
        file.set_text(self).with_durability(Durability::LOW).to("".into());
        file.set_name(self).with_durability(Durability::LOW).to("".into());
        file.set_before(self).with_durability(Durability::LOW).to(None);
        file.set_skip_pointer(self).with_durability(Durability::LOW).to((0, None));
    }
}
