//! Values of runs, and where they are shown while the text changes.

use crate::child;
use crate::lines::Lines;
use crate::world::Snapshot;
use nesl_core::base::{ItemId, TextRange, TextSize};
use nesl_core::syntax::lex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use tower_lsp_server::ls_types as lsp;

/// The texts of the forms of a program.
pub type Texts = Arc<FxHashMap<ItemId, Arc<str>>>;

/// The value of a form, or the error that it ended with.
#[derive(Clone)]
pub struct Value {
    /// The place that it is shown at.
    pub anchor: Anchor,
    /// The value in a few characters.
    pub text: String,
    /// The whole value, as Markdown.
    pub detail: String,
    /// The time that it took.
    pub seconds: f64,
    /// Work and depth, if they were counted.
    pub cost: Option<(u64, u64)>,
    /// It is an error.
    pub error: bool,
    /// The place of an error at run time.
    pub fault: Option<Fault>,
    /// A later run has begun to compute it again.
    pub outdated: bool,
    /// The forms of the program that it was computed by.
    pub texts: Texts,
}

/// The place of a value.
#[derive(Clone)]
pub enum Anchor {
    /// The end of a form, as long as it has the tokens of this text.
    Form(ItemId, Arc<str>),
    /// A position in a text that is not followed.
    Position(lsp::Position),
}

/// The place of an error in a form.
#[derive(Clone)]
pub struct Fault {
    /// The form in which it happened.
    pub item: ItemId,
    /// The text that it had.
    pub text: Arc<str>,
    /// The range in its text, without the blanks before it.
    pub range: TextRange,
    /// The message that says what is wrong.
    pub message: String,
}

impl Value {
    /// A value without a place and a text.
    pub fn nowhere(texts: Texts) -> Value {
        Value {
            anchor: Anchor::Position(lsp::Position::default()),
            text: String::new(),
            detail: String::new(),
            seconds: 0.0,
            cost: None,
            error: false,
            fault: None,
            outdated: false,
            texts,
        }
    }
}

impl PartialEq for Anchor {
    fn eq(&self, other: &Anchor) -> bool {
        match (self, other) {
            (Anchor::Form(item, text), Anchor::Form(other, then)) => {
                item == other && child::is_same_form(text, then)
            }
            (Anchor::Position(position), Anchor::Position(other)) => position == other,
            (Anchor::Form(..), Anchor::Position(_)) | (Anchor::Position(_), Anchor::Form(..)) => {
                false
            }
        }
    }
}

impl Anchor {
    /// The form that ends in the line of a position; the position, if none does.
    pub fn at(snapshot: &Snapshot, position: lsp::Position) -> Anchor {
        let db = &snapshot.db;
        let at = snapshot.lines.offset(position);
        let before = at.checked_sub(TextSize::new(1)).unwrap_or_default();
        let ends_here = |item: &ItemId| {
            let end = db.whole(*item).range.end();
            snapshot.lines.position(end).line == position.line
        };
        let items = [at, before].map(|at| db.item_at(snapshot.file, at).map(|(item, _)| item));
        match items.into_iter().flatten().find(ends_here) {
            Some(item) => Anchor::Form(item, db.item_text(item)),
            None => Anchor::Position(position),
        }
    }

    /// The present position; none if the form has changed.
    pub fn place(&self, snapshot: &Snapshot) -> Option<lsp::Position> {
        let (item, text) = match self {
            Anchor::Position(position) => return Some(*position),
            Anchor::Form(item, text) => (*item, text),
        };
        let (file, _) = snapshot.db.position_of(item)?;
        let same = file == snapshot.file && child::is_same_form(&snapshot.db.item_text(item), text);
        same.then(|| end_of_line(&snapshot.lines, snapshot.db.whole(item).range.end()))
    }

    /// The form, if it is one.
    pub fn item(&self) -> Option<ItemId> {
        match self {
            Anchor::Form(item, _) => Some(*item),
            Anchor::Position(_) => None,
        }
    }
}

fn end_of_line(lines: &Lines, offset: TextSize) -> lsp::Position {
    let line = lines.position(offset).line;
    lines.position(lines.offset(lsp::Position::new(line, u32::MAX)))
}

impl Fault {
    /// The present range of the error; none if its form has changed.
    pub fn place(&self, snapshot: &Snapshot) -> Option<TextRange> {
        let (file, _) = snapshot.db.position_of(self.item)?;
        let now = snapshot.db.item_text(self.item);
        // Within it, blanks and comments are where they were.
        let same = file == snapshot.file && own(&now) == own(&self.text);
        same.then(|| self.range + snapshot.db.whole(self.item).range.start())
    }
}

/// A program; which of its forms are known to be stale or fresh; whether any form has changed.
type Compared = (Texts, FxHashMap<ItemId, bool>, bool);

/// Finds out which values are stale: those of forms that refer to definitions which were changed since.
pub struct Freshness<'a> {
    snapshot: &'a Snapshot,
    /// For each program that values were computed by, what is known of its forms.
    known: Vec<Compared>,
}

impl Freshness<'_> {
    /// Compares programs with a snapshot.
    pub fn new(snapshot: &Snapshot) -> Freshness<'_> {
        Freshness { snapshot, known: Vec::new() }
    }

    /// Returns true for a value that the program would perhaps not have now.
    pub fn is_stale(&mut self, value: &Value) -> bool {
        let Some(item) = value.anchor.item() else { return value.outdated };
        if value.outdated {
            return true;
        }
        let index = self.known.iter().position(|(texts, ..)| Arc::ptr_eq(texts, &value.texts));
        let index = index.unwrap_or_else(|| {
            let db = &self.snapshot.db;
            let changed = value.texts.iter().any(|(item, text)| is_changed(db, *item, text));
            self.known.push((value.texts.clone(), FxHashMap::default(), changed));
            self.known.len() - 1
        });
        let (texts, known, changed) = &mut self.known[index];
        if !*changed {
            return false;
        }
        // A form is stale if one that it reaches has changed.
        if let Some(stale) = known.get(&item) {
            return *stale;
        }
        let db = &self.snapshot.db;
        let mut seen = FxHashSet::default();
        let mut todo = vec![item];
        let mut stale = false;
        while let (false, Some(item)) = (stale, todo.pop()) {
            if db.is_library(item) || !seen.insert(item) {
                continue;
            }
            stale = texts.get(&item).is_none_or(|text| is_changed(db, item, text));
            todo.extend(&db.names(item).references);
        }
        known.insert(item, stale);
        stale
    }
}

fn is_changed(db: &nesl_core::db::Database, item: ItemId, text: &Arc<str>) -> bool {
    let now = db.item_text(item);
    !Arc::ptr_eq(&now, text) && !child::is_same_form(&now, text)
}

/// The text of a form from its first token that matters to its last.
pub fn own(text: &str) -> &str {
    let tokens = lex(text);
    let mut solid = tokens.iter().filter(|token| !token.kind.is_trivia());
    let Some(first) = solid.next() else { return "" };
    let last = solid.next_back().unwrap_or(first);
    &text[first.range.cover(last.range)]
}
