//! The diagnostics of a file, updated after each key press.
//!
//! Querying every form of a long file again is slow even if all results are memoised, since the database has to
//! validate each. But most key presses change one form, and little that other forms depend on. [`Problems`] keeps
//! for each form its visible part ([`Seen`]) and the names that it refers to. A form is queried again
//!
//! - if its text has changed,
//! - if it refers to a name whose definition was added, removed, moved, or changed its visible part, or
//! - if it is in a recursion group, now or before, with a form that is queried again: their types are inferred
//!   together;
//!
//! and forms with diagnostics, whose ranges may have moved, are queried each time.
//!
//! The work is first put on lists, reading only inputs of the database, which a change of the text cannot cancel;
//! it is taken off the lists as it is done. So an update that is cancelled half-way loses nothing.

use super::lenses;
use super::unused::{self, Unused};
use crate::base::{Diagnostic, ItemId, Name, Severity, TextRange};
use crate::db::{Cursor, Database, FileId, FileRange, Form, Outline, Revision};
use crate::syntax::RawKind;
use crate::types::Signature;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The facts about a file at its last update.
#[derive(Default)]
pub struct Problems {
    outline: Arc<Outline>,
    /// The texts of its forms.
    texts: Vec<Arc<str>>,
    facts: FxHashMap<ItemId, Facts>,
    /// The forms that refer to a name.
    asking: FxHashMap<Name, FxHashSet<ItemId>>,
    /// The forms that have diagnostics.
    wrong: FxHashSet<ItemId>,
    /// The forms that define variables that they do not use.
    idle: FxHashMap<ItemId, Vec<Unused>>,
    /// Names whose meaning may have changed.
    news: Vec<Name>,
    /// The forms whose facts may have changed.
    stale: FxHashSet<ItemId>,
    /// The forms whose diagnostics must be queried again.
    pending: FxHashSet<ItemId>,
    /// The number of the update in which each form was queried.
    updates: FxHashMap<ItemId, u64>,
    update: u64,
    /// The revision of the last update that was not cancelled.
    done: Option<Revision>,
    /// True if the file saw no other file but the library at the last update.
    alone: bool,
}

/// The facts remembered of a form.
struct Facts {
    seen: Seen,
    /// The names that it refers to.
    asked: Vec<Name>,
    /// Its recursion group; empty if it is alone.
    group: Vec<ItemId>,
}

/// The visible part of a form: all that other forms depend on.
#[derive(PartialEq)]
struct Seen {
    signature: Arc<Signature>,
    references: Vec<ItemId>,
    serial: bool,
    data: bool,
    /// It works on whole sequences, itself or through others.
    parallel: bool,
}

/// The range at which an editor shows a diagnostic. A form that is not ended is wrong at its end: while it is
/// written, the form below is as good as it was.
pub fn shown_at(diagnostic: &Diagnostic<FileRange>) -> TextRange {
    let primary = diagnostic.primary.at;
    let edits = diagnostic.hints.iter().filter_map(|hint| hint.edit.as_ref());
    let mut ends = edits.filter(|(at, text)| {
        let before = at.range.is_empty() && at.range.end() < primary.range.start();
        text == ";" && at.file == primary.file && before
    });
    ends.next().map_or(primary.range, |(at, _)| at.range)
}

impl Problems {
    /// Returns the diagnostics of a file, form by form. All calls must be for the same file.
    pub fn of(&mut self, db: &Database, file: FileId) -> Vec<Diagnostic<FileRange>> {
        // Several requests follow each key; the first of them has noted what it has changed.
        if self.done != Some(db.revision()) {
            self.note_changes(db, file);
            self.renew(db);
            self.done = Some(db.revision());
        }
        let mut all = Vec::new();
        for item in in_order(db, self.pending.union(&self.wrong)) {
            let problems = db.diagnostics(item);
            match problems.is_empty() {
                true => self.wrong.remove(&item),
                false => self.wrong.insert(item),
            };
            if self.pending.contains(&item) {
                match unused::in_item(db, item) {
                    none if none.is_empty() => self.idle.remove(&item),
                    some => self.idle.insert(item, some),
                };
            }
            self.pending.remove(&item);
            all.extend(problems.into_iter().filter(|problem| !problem.follows));
        }
        all
    }

    /// Returns the variables that are defined and not used in the file of the last update, in order.
    pub fn unused(&self, db: &Database) -> Vec<Unused> {
        let mut all = Vec::new();
        for item in in_order(db, self.idle.keys()) {
            let start = db.whole(item).range.start();
            let own = self.idle.get(&item).into_iter().flatten();
            all.extend(own.map(|one| Unused { name: one.name.clone(), range: one.range + start }));
        }
        all
    }

    /// The number of the update in which a form was queried last: while it is the same, what was found out about
    /// the form is still true, but for its place.
    pub(super) fn update_of(&self, item: ItemId) -> u64 {
        self.updates.get(&item).copied().unwrap_or_default()
    }

    /// The forms with errors at the last update, from their first token to their last.
    pub(super) fn broken(&self, db: &Database, file: FileId) -> Vec<TextRange> {
        let mut all = Vec::new();
        for item in in_order(db, self.wrong.iter()) {
            if db.diagnostics(item).iter().any(|d| d.severity == Severity::Error)
                && let Some((_, position)) = db.position_of(item)
                && let Some(start) = db.starts(file).get(position as usize)
                && let Some(cursor) = Cursor::new(db, file, *start)
            {
                all.extend(cursor.extent());
            }
        }
        all
    }

    /// Lists the forms that were added, removed and changed. It reads only inputs, so it cannot be cancelled.
    fn note_changes(&mut self, db: &Database, file: FileId) {
        let outline = db.outline(file);
        let alone = !db.sees_others(file);
        if !(alone && self.alone) {
            // What is seen elsewhere may have changed: all are to be asked.
            *self = Problems { alone, update: self.update, ..Problems::default() };
        }
        if !Arc::ptr_eq(&self.outline, &outline) {
            self.note_forms(db, outline);
        }
        for (form, known) in self.outline.forms.iter().zip(&mut self.texts) {
            let text = db.item_text(form.id());
            if !Arc::ptr_eq(known, &text) {
                *known = text;
                self.stale.insert(form.id());
            }
        }
    }

    /// Adds new forms, and removes those that are gone.
    fn note_forms(&mut self, db: &Database, outline: Arc<Outline>) {
        let (old, new) = (&self.outline.forms, &outline.forms);
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
        let tail = ends.take_while(|(a, b)| a == b).count();
        let (went, came) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        let names = went.iter().chain(came).flat_map(|form| form.names.iter());
        self.news.extend(names.cloned());
        let texts = came.iter().map(|form| db.item_text(form.id()));
        self.texts.splice(head..head + went.len(), texts);
        // Whether a `;` is missing depends on what comes next.
        let above = new[..head].iter().rev();
        let last = above.clone().find(|form| form.kind != RawKind::Blank);
        self.pending.extend(last.map(Form::id));
        let went: FxHashSet<ItemId> = went.iter().map(Form::id).collect();
        let came: FxHashSet<ItemId> = came.iter().map(Form::id).collect();
        self.outline = outline;
        for item in went.difference(&came) {
            self.forget(*item);
        }
        // Some of those that went may have been in one recursion group.
        self.stale.retain(|item| !went.contains(item));
        self.stale.extend(came);
    }

    /// Forgets a form.
    fn forget(&mut self, item: ItemId) {
        if let Some(facts) = self.facts.remove(&item) {
            self.no_longer_asks(item, &facts.asked);
            self.stale.extend(facts.group);
        }
        self.pending.remove(&item);
        self.wrong.remove(&item);
        self.idle.remove(&item);
        self.updates.remove(&item);
    }

    fn no_longer_asks(&mut self, item: ItemId, names: &[Name]) {
        for name in names {
            if let Some(forms) = self.asking.get_mut(name) {
                forms.remove(&item);
                if forms.is_empty() {
                    self.asking.remove(name);
                }
            }
        }
    }

    /// Queries the facts of all forms for which they may have changed; the diagnostics of these forms must then be
    /// queried, too.
    fn renew(&mut self, db: &Database) {
        // What is found does not change while we look.
        self.update += 1;
        let mut parallel = FxHashMap::default();
        let mut done = FxHashSet::default();
        loop {
            for name in std::mem::take(&mut self.news) {
                self.stale.extend(self.asking.get(&name).into_iter().flatten());
            }
            self.stale.retain(|item| !done.contains(item));
            // Definitions come before their uses: the database need not go deep.
            let order = in_order(db, self.stale.iter());
            if order.is_empty() {
                self.stale.clear();
                return;
            }
            for item in order {
                let facts = Facts::of(db, item, &mut parallel);
                let defines = db.form(item).names;
                // From here on nothing stops this.
                self.stale.remove(&item);
                self.stale.extend(&facts.group);
                self.pending.insert(item);
                self.updates.insert(item, self.update);
                done.insert(item);
                let asked = facts.asked.clone();
                if let Some(old) = self.facts.insert(item, facts) {
                    self.stale.extend(old.group);
                    if old.seen != self.facts[&item].seen {
                        self.news.extend(defines.iter().cloned());
                    }
                    self.no_longer_asks(item, &old.asked);
                }
                for name in asked {
                    self.asking.entry(name).or_default().insert(item);
                }
            }
        }
    }
}

/// Forms in the order of their file; those that are gone are left out.
fn in_order<'a>(db: &Database, items: impl Iterator<Item = &'a ItemId>) -> Vec<ItemId> {
    let mut all: Vec<_> =
        items.filter_map(|item| Some((db.position_of(*item)?.1, *item))).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, item)| item).collect()
}

impl Facts {
    fn of(db: &Database, item: ItemId, parallel: &mut FxHashMap<ItemId, bool>) -> Facts {
        let names = db.names(item);
        let seen = Seen {
            signature: db.signature(item).clone(),
            references: names.references.clone(),
            serial: db.is_serial(item),
            data: db.is_data(item),
            parallel: lenses::parallel(db, item, parallel),
        };
        Facts { seen, asked: names.asked.clone(), group: db.recursion_group(item) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that updated diagnostics equal those of a fresh start.
    fn check(texts: &[&str]) {
        let mut db = Database::new();
        let file = db.add_file("test.nesl", "", None);
        let mut problems = Problems::default();
        for text in texts {
            db.set_text(file, *text);
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
    fn names_that_a_file_may_define_are_not_looked_at_while_it_is_not_loaded() {
        let mut db = Database::new();
        let library = db.add_file("library.nesl", "load \"deep\"; function g(x) = x;", None);
        let file = db.add_file("test.nesl", "y + 1; load \"library\"; g(2) + h(3); 1 + t;", None);
        let forms: Vec<ItemId> = db.outline(file).forms.iter().map(|form| form.id()).collect();
        let messages = |db: &Database, problems: &mut Problems| -> Vec<String> {
            problems.of(db, file).into_iter().map(|problem| problem.message).collect()
        };
        let mut problems = Problems::default();
        // The file that is looked for is told of by who looks for it.
        let [undefined, other] = &messages(&db, &mut problems)[..] else { panic!("two errors") };
        assert!(undefined.starts_with("`y` is undefined"), "{undefined}");
        assert!(other.starts_with("`+`"), "{other}");
        // A file that is loaded loads another one that is not there.
        db.set_loaded(forms[1], Some(library));
        assert_eq!(messages(&db, &mut problems).len(), 2);
        db.set_text(library, "function g(x) = x;");
        let [_, undefined, _] = &messages(&db, &mut problems)[..] else { panic!("three errors") };
        assert!(undefined.starts_with("`h` is undefined"), "{undefined}");
        db.set_loaded(forms[1], None);
        assert_eq!(messages(&db, &mut problems).len(), 2);
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

    #[test]
    fn those_of_a_recursion_group_matter_to_one_another() {
        // The types of `h` and of what is left of the group follow from the body of `g` alone.
        check(&[
            "function h(y) = if g(1) > 0 then y else y; function g(x) = let z = h(x) in x; h(2.0);",
            "function h(y) = if g(1) > 0 then y else y; function g(x) = let z = h(2.0) in x; h(2.0);",
            "function h(y) = if g(1) > 0 then y else y; function g(x) = let z = 3 in x; h(2);",
            "function h(y) = if g(1) > 0 then y else y; function g(x) = let z = 2.0 in x; h(t);",
            "function h(y) = if k(1) > 0 then y else y; function k(x) = g(x); \
             function g(x) = let z = h(x) in x; h(t);",
            "function h(y) = if k(1) > 0 then y else y; function g(x) = let z = h(x) in x; h(t);",
            "function h(y) = if g(1) > 0 then y else y; function g(x) = let z = h(x) in x; h(t);",
            "h(t);",
        ]);
    }

    #[test]
    fn what_comes_next_matters_to_a_form_without_an_end() {
        check(&["x = 1", "x = 1\nfunction g(y) = y;", "x = 1\n\n", "x = 1;\n1 +\n", "x = 1;\n1 +"]);
        check(&["1;\n(2\n", "1;\n(2\n% c %\nfunction f(x) = x;", "1;\n(2\n% c %\nf(x) = x;"]);
    }

    #[test]
    fn names_matter_to_those_that_ask_for_them() {
        check(&[
            "y = 1; function g(x) = x + y; g(1);",
            "y = 1; y = 2.0; function g(x) = x + y; g(1);",
            "y = 1; x = 2.0; function g(x) = x + y; g(1);",
            "function g(x) = x + y; y = 1; g(1);",
            "function g(x) = x + y; function y(x) = 1; g(1);",
            "datatype point (float, float); function g(p : point) = p; g(point(1.0, 2.0));",
            "datatype point (float, int); function g(point(a, b)) = b; g(point(1.0, 2.0));",
            "datatype pint (float, int); function g(point(a, b)) = b; g(point(1.0, 2.0));",
            "1; it + 1; it + 1;",
            "1.0; it + 1; it + 1;",
            "1.0; x = 2; it + 1;",
            "it + 1;",
        ]);
    }

    /// An update that is cancelled half-way is completed by the next.
    #[test]
    fn an_update_that_is_cancelled_loses_nothing() {
        let functions = (1..60).map(|i| format!("function g{i}(x) = g{}(x) + 1;\n", i - 1));
        let text = "function g0(x) = x;\n".to_owned() + &functions.collect::<String>() + "g59(1);";
        let mut db = Database::new();
        let file = db.add_file("test.nesl", &text, None);
        let problems = std::sync::Mutex::new(Problems::default());
        for (round, zero) in ["x;", "x + 1.0;", "x;", "[x];", "h(x);", "y;"].iter().enumerate() {
            db.set_text(file, text.replace("g0(x) = x;", &format!("g0(x) = {zero}")));
            for stop in 0..3 {
                let reader = db.clone();
                let stopper = reader.stopper();
                let look = std::panic::AssertUnwindSafe(|| {
                    problems.lock().unwrap_or_else(|e| e.into_inner()).of(&reader, file)
                });
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        std::thread::sleep(std::time::Duration::from_millis(round as u64 + stop));
                        stopper.stop();
                    });
                    let _stopped_or_done = crate::db::reading(look);
                });
                drop(reader);
            }
            let known = problems.lock().unwrap_or_else(|e| e.into_inner()).of(&db, file);
            assert_eq!(known, Problems::default().of(&db, file), "{zero}");
        }
    }
}
