//! What is wrong with a file, after each key.
//!
//! To ask every form of a long file again takes a while, even if all answers are known: the
//! database has to see for each that nothing behind it has changed. But most keys change one form,
//! and nothing about it that others see. [`Problems`] remembers of each form what others see of it;
//! when these facts are the same, only the forms that changed are asked, and those that had
//! problems, whose places may have moved.

use crate::base::{Diagnostic, ItemId, Name};
use crate::db::{Database, FileId, FileRange, Outline};
use crate::syntax::Kind;
use crate::types::Signature;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What was wrong with a file when it was last looked at.
#[derive(Default)]
pub struct Problems {
    outline: Arc<Outline>,
    facts: FxHashMap<ItemId, Facts>,
    /// The forms that have problems.
    wrong: FxHashSet<ItemId>,
    /// The forms that must be asked: those left over when a look was stopped, too.
    pending: FxHashSet<ItemId>,
    /// It saw nothing but itself and the library, the last time.
    alone: bool,
}

/// What other forms see of a form, and the text it was seen for.
struct Facts {
    text: Arc<str>,
    seen: Option<Seen>,
}

/// What other forms see of a form.
#[derive(PartialEq)]
struct Seen {
    signature: Arc<Signature>,
    references: Vec<ItemId>,
    serial: bool,
    data: bool,
}

impl Problems {
    /// All that is wrong with a file, form by form. It is always the same file that is asked for.
    pub fn of(&mut self, db: &Database, file: FileId) -> Vec<Diagnostic<FileRange>> {
        let outline = db.outline(file);
        let alone = !db.sees_others(file);
        if !(alone && self.alone && self.is_local(db, &outline)) {
            self.forget(db, &outline);
        }
        self.alone = alone;
        let mut all = Vec::new();
        for form in &outline.forms {
            let item = form.id();
            if !self.pending.contains(&item) && !self.wrong.contains(&item) {
                continue;
            }
            let problems = db.diagnostics(item);
            self.pending.remove(&item);
            match problems.is_empty() {
                true => self.wrong.remove(&item),
                false => self.wrong.insert(item),
            };
            all.extend(problems);
        }
        all
    }

    /// Whether no form can see that others changed; those that did are to be asked.
    fn is_local(&mut self, db: &Database, outline: &Arc<Outline>) -> bool {
        if self.facts.is_empty() || !self.is_renewed(db, outline) {
            return false;
        }
        for form in &outline.forms {
            let item = form.id();
            let text = db.item_text(item);
            let Some(facts) = self.facts.get_mut(&item) else { return false };
            if Arc::ptr_eq(&facts.text, &text) {
                continue;
            }
            if facts.seen != Some(Seen::of(db, item)) {
                // Or what was seen before the first change is not known: all are asked once more.
                return false;
            }
            facts.text = text;
            self.pending.insert(item);
        }
        self.outline = outline.clone();
        true
    }

    /// Takes in forms that came, and forgets those that went, if no other form names what they
    /// define.
    fn is_renewed(&mut self, db: &Database, outline: &Arc<Outline>) -> bool {
        if Arc::ptr_eq(&self.outline, outline) || self.outline == *outline {
            return true;
        }
        let (old, new) = (&self.outline.forms, &outline.forms);
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
        let tail = ends.take_while(|(a, b)| a == b).count();
        let (went, came) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        if went.len() + came.len() > FEW {
            return false;
        }
        let names: FxHashSet<&str> =
            went.iter().chain(came).flat_map(|form| &form.names).map(Name::folded).collect();
        let around = new[..head].iter().chain(&new[new.len() - tail..]);
        if around.into_iter().any(|form| names_any(db, form.id(), &names)) {
            return false;
        }
        for form in went {
            self.facts.remove(&form.id());
            self.wrong.remove(&form.id());
            self.pending.remove(&form.id());
        }
        // Who is stopped in here begins anew.
        let outline = std::mem::take(&mut self.outline);
        for form in came {
            let item = form.id();
            let seen = Some(Seen::of(db, item));
            self.facts.insert(item, Facts { text: db.item_text(item), seen });
            self.pending.insert(item);
        }
        self.outline = outline;
        true
    }

    /// Begins anew: all forms are to be asked. What others see of a form is noted when it is the
    /// one that is being edited; of all it would take too long.
    fn forget(&mut self, db: &Database, outline: &Arc<Outline>) {
        // Whoever is stopped in here begins anew the next time.
        self.outline = Arc::default();
        let mut facts = FxHashMap::default();
        for form in &outline.forms {
            let item = form.id();
            let text = db.item_text(item);
            let old = self.facts.get(&item);
            let noted = old.is_some_and(|old| old.seen.is_some() || !Arc::ptr_eq(&old.text, &text));
            let seen = noted.then(|| Seen::of(db, item));
            facts.insert(item, Facts { text, seen });
        }
        self.facts = facts;
        self.wrong.clear();
        self.pending = outline.forms.iter().map(|form| form.id()).collect();
        self.outline = outline.clone();
    }
}

/// So many forms at most may come and go at a time without all being asked.
const FEW: usize = 64;

/// Whether a form has one of some names (in lower case) in it.
fn names_any(db: &Database, item: ItemId, names: &FxHashSet<&str>) -> bool {
    let text = db.item_text(item);
    let named = |word: &str| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Most forms have no such word at all; in others it may stand in a comment.
    text.split(|c| !part(c)).any(|word| !word.is_empty() && named(word))
        && db
            .parsed(item)
            .tokens
            .iter()
            .any(|token| token.kind == Kind::Name && named(&text[token.range]))
}

impl Seen {
    fn of(db: &Database, item: ItemId) -> Seen {
        Seen {
            signature: db.signature(item).clone(),
            references: db.names(item).references.clone(),
            serial: db.is_serial(item),
            data: db.is_data(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found with a memory is what is found without one.
    fn check(texts: &[&str]) {
        let mut db = Database::new();
        let file = db.add_file("test.nesl", "", None);
        let mut problems = Problems::default();
        for text in texts {
            db.set_text(file, text);
            let known = problems.of(&db, file);
            assert_eq!(known, Problems::default().of(&db, file), "{text}");
        }
    }

    #[test]
    fn what_stands_above_matters() {
        let mut db = Database::new();
        let above = db.add_file("above.nesl", "x = 1;", None);
        let file = db.add_file("test.nesl", "x + 1;", Some(crate::db::Before::all(above)));
        let mut problems = Problems::default();
        assert_eq!(problems.of(&db, file).len(), 0);
        db.rename(file, "test.nesl", None);
        assert_eq!(problems.of(&db, file).len(), 1);
        db.rename(file, "test.nesl", Some(crate::db::Before::all(above)));
        assert_eq!(problems.of(&db, file).len(), 0);
        db.set_text(above, "x = 1.0;");
        assert_eq!(problems.of(&db, file).len(), 1);
    }

    #[test]
    fn what_others_see_of_a_form_matters_to_them() {
        check(&[
            "function g(x) = x + 1; g(2);",
            "function g(x) = x + 12; g(2);",
            "function g(x) = x + 1.2; g(2);",
            "function g(x) = x + 1.; g(2.0);",
            "function g(x) = x + ; g(2.0);",
            "function g(x) = x + 1; g(2.0);",
        ]);
        check(&[
            "function g(x) = x; {g(x) : x in [1]};",
            "function g(x) = let y = print_line(\"\") in x; {g(x) : x in [1]};",
            "function g(x) = let y = open_in_file(\"\") in x; {g(x) : x in [1]};",
            "function g(x) = x; {g(x) : x in [1]};",
        ]);
        check(&[
            "a = 1; b = 2; a + b;",
            "a = 1; b = 2; c a + b;",
            "a = 1; b = 2; c = a + b;",
            "a = 1; b = 2.0; c = a + b;",
            "a = 1; bb = 2.0; c = a + b;",
            "a = 1; b = 2; function C(x) = b; c = a + b; C(1);",
            "a = 1; b = 2; c = a + b; C(1);",
            "a = 1; c = a + b; C;",
            "a = 1; c = a; C;",
            "",
            "it; 1; it; 2.0; it + 1;",
            "it; 1; it; it + 1;",
        ]);
        check(&[
            "function g(x) = h(x); function h(x) = 1; g(true_);",
            "function g(x) = h(x); function h(x) = g(x); g(true_);",
            "function g(x) = h(x) + 1; function h(x) = g(x); g(true_);",
            "function g(x) = h(x) + 1; function h(x) = x; g([1]);",
        ]);
    }
}
