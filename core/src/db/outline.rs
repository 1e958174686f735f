//! From a text to its forms, keeping the identity of those that were there before.
//!
//! Done outside the queries: splitting is linear and fast, and pushing only what changed into the
//! inputs is what makes everything behind them incremental.

use super::query::{File, Item};
use super::{Database, FAILURES, TEXTS, set_outline};
use crate::base::{ItemId, Name};
use crate::syntax::{RawItem, RawKind, split};
use rustc_hash::FxHashMap;
use salsa::Setter;
use std::sync::Arc;

/// The forms of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In order.
    pub forms: Vec<Form>,
    /// Items that stood here once and can be used again.
    spare: Vec<Item>,
}

/// A form as its surroundings see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub(super) item: Item,
    /// Its sort.
    pub kind: RawKind,
    /// The names it defines.
    pub names: Vec<Name>,
    /// For a `load`: the file whose definitions come in here.
    pub(super) loaded: Option<File>,
}

impl Form {
    /// Its identity.
    pub fn id(&self) -> ItemId {
        self.item.into()
    }

    pub(super) fn blank(item: Item) -> Form {
        Form { item, kind: RawKind::Blank, names: Vec::new(), loaded: None }
    }
}

/// Makes `text` the text of `file`.
///
/// A new form takes over the identity of an old one with the same sort and names (the same
/// occurrence, counted from the top), else of any old one that is left over, in order: so a
/// function that is being renamed stays itself.
pub(super) fn update(db: &mut Database, file: File, text: &str) {
    let raw = split(text);
    let old = file.outline(db).clone();
    let mut by_key: FxHashMap<Key<'_>, Vec<&Form>> = FxHashMap::default();
    for form in old.forms.iter().rev() {
        by_key.entry((form.kind, &form.names)).or_default().push(form);
    }
    let mut taken: Vec<Option<&Form>> = Vec::with_capacity(raw.len());
    for item in &raw {
        taken.push(by_key.get_mut(&(item.kind, &item.names)).and_then(Vec::pop));
    }
    let mut left: Vec<&Form> = by_key.into_values().flatten().collect();
    let order: FxHashMap<Item, usize> =
        old.forms.iter().enumerate().map(|(i, form)| (form.item, i)).collect();
    left.sort_by_key(|form| std::cmp::Reverse(order[&form.item]));
    let mut spare = old.spare.clone();

    let mut forms = Vec::with_capacity(raw.len());
    let mut changes: Vec<(Item, Arc<str>)> = Vec::new();
    let mut enabled: Vec<Item> = Vec::new();
    for (raw, kept) in raw.iter().zip(taken) {
        let slice = &text[raw.range];
        let (item, loaded) = match kept {
            Some(form) => (Some(form.item), form.loaded),
            None => (left.pop().map(|form| form.item).or_else(|| spare.pop()), None),
        };
        let item = match item {
            Some(item) => {
                if kept.is_none() && item.disabled(db) {
                    // That another form failed there says nothing about this one.
                    enabled.push(item);
                }
                if &**item.text(db) != slice {
                    changes.push((item, slice.into()));
                }
                item
            }
            None => Item::builder(file, slice.into(), false)
                .durability(TEXTS)
                .disabled_durability(FAILURES)
                .new(db),
        };
        forms.push(form(raw, item, loaded));
    }
    spare.extend(left.iter().map(|form| form.item));

    for (item, text) in changes {
        item.set_text(db).with_durability(TEXTS).to(text);
    }
    for item in enabled {
        item.set_disabled(db).with_durability(FAILURES).to(false);
    }
    if &**file.text(db) != text {
        file.set_text(db).with_durability(TEXTS).to(text.into());
    }
    let outline = Outline { forms, spare };
    if *old != outline {
        set_outline(db, file, Arc::new(outline));
    }
}

type Key<'a> = (RawKind, &'a Vec<Name>);

fn form(raw: &RawItem, item: Item, loaded: Option<File>) -> Form {
    Form { item, kind: raw.kind, names: raw.names.clone(), loaded }
}

/// Notes what a form has loaded.
pub(super) fn set_loaded(db: &mut Database, id: ItemId, loaded: Option<File>) {
    let item = super::query::item(id);
    // The outline is long, and most forms load nothing.
    if super::scope::form(db, item).is_none_or(|form| form.loaded == loaded) {
        return;
    }
    let file = item.file(db);
    let mut outline = Outline::clone(file.outline(db));
    if let Some(form) = outline.forms.iter_mut().find(|form| form.item == item) {
        form.loaded = loaded;
    }
    set_outline(db, file, Arc::new(outline));
}
