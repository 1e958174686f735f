//! Colours, outline, lenses and folds of a file, updated after each key press.
//!
//! An editor asks for all of them after each key, of the whole file. Querying every form again is slow in
//! a long file, as it is for diagnostics; [`Problems`] knows which forms may have changed, and what was
//! found out about the others is kept here, with ranges that begin at the form.

use super::folding::{self, Fold};
use super::lenses::{self, Lens};
use super::outline::{self, Entry};
use super::problems::Problems;
use super::references;
use super::symbol::{self, Occurrence, Role, Symbol};
use super::tokens::{self, SemanticToken};
use crate::base::{ItemId, TextRange, TextSize};
use crate::db::{Cursor, Database, FileId, Form};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The facts about the forms of a file.
#[derive(Default)]
pub struct Remembered {
    problems: Problems,
    tokens: FxHashMap<ItemId, Known<Arc<[SemanticToken]>>>,
    entries: FxHashMap<ItemId, Known<Option<Arc<Entry>>>>,
    lenses: FxHashMap<ItemId, Known<Option<Arc<Lens>>>>,
    folds: FxHashMap<ItemId, Known<Arc<[Fold]>>>,
    marks: FxHashMap<ItemId, Known<Arc<[Mark]>>>,
}

/// A name in a form, with a range that begins at the form.
struct Mark {
    range: TextRange,
    symbol: Symbol,
    role: Role,
}

/// A fact about a form, with the update of the form that it belongs to.
struct Known<T>(u64, T);

impl Remembered {
    /// Returns the tokens of the file that have a kind, in order. All calls must be for the same file.
    pub fn tokens(&mut self, db: &Database, file: FileId) -> Vec<SemanticToken> {
        self.problems.of(db, file);
        let mut all = Vec::new();
        let Remembered { problems, tokens, .. } = self;
        each(db, file, problems, tokens, own_tokens, |start, own| {
            all.extend(
                own.iter().map(|token| SemanticToken { range: token.range + start, ..*token }),
            );
        });
        all
    }

    /// Returns the entries of the file's outline, in order.
    pub fn outline(&mut self, db: &Database, file: FileId) -> Vec<Entry> {
        self.entries(db, file).iter().map(|(start, entry)| entry.moved(*start)).collect()
    }

    /// Returns the entries of the file's outline, in order, each with the start of its form, from which its ranges
    /// are counted. One that has not changed is the same as in the last answer.
    pub fn entries(&mut self, db: &Database, file: FileId) -> Vec<(TextSize, Arc<Entry>)> {
        self.problems.of(db, file);
        let mut all = Vec::new();
        let Remembered { problems, entries, .. } = self;
        let make = |form: &Form, cursor: &Cursor<'_>| {
            outline::entry(form, cursor).map(|entry| Arc::new(entry.moved_back(cursor.start)))
        };
        each(db, file, problems, entries, make, |start, own| {
            all.extend(own.as_ref().map(|entry| (start, entry.clone())));
        });
        all
    }

    /// Returns the forms of the file that can be run, in order.
    pub fn lenses(&mut self, db: &Database, file: FileId) -> Vec<Lens> {
        self.runnable(db, file).iter().map(|(start, lens)| lens.moved(*start)).collect()
    }

    /// Returns the forms of the file that can be run, in order, each with its start, from which its ranges are
    /// counted. One that has not changed is the same as in the last answer.
    pub fn runnable(&mut self, db: &Database, file: FileId) -> Vec<(TextSize, Arc<Lens>)> {
        self.problems.of(db, file);
        let mut all = Vec::new();
        let Remembered { problems, lenses, .. } = self;
        let mut known = FxHashMap::default();
        let make = |_: &Form, cursor: &Cursor<'_>| {
            let lens = lenses::lens(cursor, &mut known)?;
            let (range, whole) = (lens.range - cursor.start, lens.whole - cursor.start);
            Some(Arc::new(Lens { range, whole, ..lens }))
        };
        each(db, file, problems, lenses, make, |start, own| {
            all.extend(own.as_ref().map(|lens| (start, lens.clone())));
        });
        all
    }

    /// Returns the places in the file that refer to the symbol at an offset.
    pub fn highlights(
        &mut self,
        db: &Database,
        file: FileId,
        offset: TextSize,
    ) -> Vec<(TextRange, Role)> {
        let Some((_, found)) = symbol::symbol_at(db, file, offset) else { return Vec::new() };
        if let Symbol::Local(..) | Symbol::TypeVar(..) = found.symbol {
            let all = references::of(db, &[file], &found.symbol).into_iter();
            return all.map(|one| (one.at.range, one.role)).collect();
        }
        self.problems.of(db, file);
        let mut all = Vec::new();
        let Remembered { problems, marks, .. } = self;
        let make = |_: &Form, cursor: &Cursor<'_>| -> Arc<[Mark]> {
            let own = symbol::occurrences(db, cursor.item).into_iter();
            let mark = |one: Occurrence| Mark {
                range: cursor.range(one.span) - cursor.start,
                symbol: one.symbol,
                role: one.role,
            };
            own.map(mark).collect()
        };
        each(db, file, problems, marks, make, |start, own| {
            let own = own.iter().filter(|mark| mark.symbol == found.symbol);
            all.extend(own.map(|mark| (mark.range + start, mark.role)));
        });
        all
    }

    /// Returns the foldable ranges of the file, in order.
    pub fn folds(&mut self, db: &Database, file: FileId) -> Vec<Fold> {
        self.problems.of(db, file);
        let mut all = Vec::new();
        let Remembered { problems, folds, .. } = self;
        let make = |_: &Form, cursor: &Cursor<'_>| -> Arc<[Fold]> {
            let own = folding::form(cursor).into_iter();
            own.map(|fold| Fold { range: fold.range - cursor.start, ..fold }).collect()
        };
        each(db, file, problems, folds, make, |start, own| {
            all.extend(own.iter().map(|fold| Fold { range: fold.range + start, ..*fold }));
        });
        folding::without_repetition(&db.file_text(file), all)
    }

    /// Returns the forms that have errors, from their first token to their last; those of the last request.
    pub fn broken(&self, db: &Database, file: FileId) -> Vec<TextRange> {
        self.problems.broken(db, file)
    }
}

/// Visits what is known of each form of a file, and finds it out where it is not known.
fn each<T>(
    db: &Database,
    file: FileId,
    problems: &Problems,
    known: &mut FxHashMap<ItemId, Known<T>>,
    mut make: impl FnMut(&Form, &Cursor<'_>) -> T,
    mut visit: impl FnMut(TextSize, &T),
) {
    let (outline, starts) = (db.outline(file), db.starts(file).clone());
    for (form, start) in outline.forms.iter().zip(starts.iter()) {
        let item = form.id();
        let update = problems.update_of(item);
        let fresh = known.get(&item).is_some_and(|Known(at, _)| *at == update);
        if !fresh {
            let (parsed, ast) = (db.parsed(item), db.ast(item));
            let at = TextSize::new(0);
            let cursor = Cursor { db, file, item, start: *start, parsed, ast, at };
            let value = make(form, &cursor);
            known.insert(item, Known(update, value));
        }
        if let Some(Known(_, value)) = known.get(&item) {
            visit(*start, value);
        }
    }
    if known.len() > 2 * outline.forms.len() + 64 {
        let there: rustc_hash::FxHashSet<ItemId> = outline.forms.iter().map(Form::id).collect();
        known.retain(|item, _| there.contains(item));
    }
}

fn own_tokens(_: &Form, cursor: &Cursor<'_>) -> Arc<[SemanticToken]> {
    let mut own = Vec::new();
    tokens::form(cursor, &mut own);
    let own =
        own.into_iter().map(|token| SemanticToken { range: token.range - cursor.start, ..token });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::{outline, semantic_tokens};

    #[test]
    fn point_19_what_is_remembered_is_what_is_found_anew() {
        let texts = [
            "a = 1;\nfunction g(x) = x + a;\ng(a);\n",
            "a = 1;\n\nfunction g(x) = x + a;\ng(a);\n",
            "a = 1.0;\n\nfunction g(x) = {x + a : x};\ng(a);\n",
            "function a(y) = y;\n\nfunction g(x) = {x + a : x};\ng(a);\n",
            "% c %\nb = 2;\ng(b);\nfunction g(x) = sum(x);\n",
            "",
            "g([1]);\nfunction g(x) = sum(x) + ;\n",
        ];
        let mut db = Database::new();
        let file = db.add_file("test.nesl", "", None);
        let mut remembered = Remembered::default();
        for text in texts {
            db.set_text(file, text);
            assert_eq!(remembered.tokens(&db, file), semantic_tokens(&db, file, None), "{text}");
            assert_eq!(remembered.outline(&db, file), outline(&db, file), "{text}");
            assert_eq!(remembered.lenses(&db, file), lenses::lenses(&db, file), "{text}");
            for at in (0..text.len()).step_by(3).map(|at| TextSize::new(at as u32)) {
                let known = references::highlights(&db, file, at).into_iter();
                let known: Vec<_> = known.map(|one| (one.at.range, one.role)).collect();
                assert_eq!(remembered.highlights(&db, file, at), known, "{text} at {at:?}");
            }
            assert_eq!(remembered.folds(&db, file), folding::folds(&db, file), "{text}");
        }
    }
}
