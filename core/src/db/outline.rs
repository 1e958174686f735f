//! Writes a changed text into the inputs: splits it into forms and keeps the items of the forms that
//! were there before.
//!
//! This is done outside the queries. Splitting is linear and fast, and because only the items that
//! changed are written, every query that depends on an item is incremental.

use super::input::{File, Form, Item, Outline};
use super::{Database, FAILURES, TEXTS, set_outline};
use crate::base::{ItemId, Name, TextSize};
use crate::syntax::{LOOKAHEAD_TOKENS, RawItem, RawKind, Reach, split};
use rustc_hash::FxHashMap;
use salsa::Setter;
use std::ops::Range;
use std::sync::Arc;

/// The length of a form, and how far the splitter looked ahead to find its end. Not a part of the
/// outline, since it changes with every key press.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    bytes: TextSize,
    tokens: u32,
    reach: Reach,
}

impl Extent {
    fn of(raw: &RawItem) -> Extent {
        Extent { bytes: raw.range.len(), tokens: raw.tokens, reach: raw.reach }
    }
}

/// Makes `text` the text of `file`.
///
/// Forms above and below the change keep their items. Between them a new form takes over the item
/// of an old one with the same sort and names (the same occurrence, counted from the top), else of
/// any old one that is left over, in order: so a function that is being renamed keeps its identity.
/// Only the forms around the change are split anew, where that is enough.
pub(super) fn update(db: &mut Database, file: File, text: Arc<str>) {
    if *file.text(db) == text && !file.outline(db).forms.is_empty() {
        return;
    }
    let old = file.outline(db).clone();
    let extents = db.take_extents(file);
    let splice = around_change(db, file, &old, &extents, &text).unwrap_or_else(|| Splice {
        forms: 0..old.forms.len(),
        start: 0,
        raw: split(&text),
    });
    let extents = splice.extents(extents, old.forms.len());
    let starts = starts(&extents);
    db.keep_extents(file, extents);

    let splice = splice.without_unchanged_ends(db, &old, &text);
    let mut forms = assign_items(db, file, &old, &splice, &text);
    if *file.text(db) != text {
        file.set_text(db).with_durability(TEXTS).to(text);
    }
    if *file.starts(db) != starts {
        file.set_starts(db).with_durability(TEXTS).to(starts);
    }
    let Assigned { forms: new, spare } = &mut forms;
    if old.forms[splice.forms.clone()] != **new || *spare != old.spare {
        let mut all = old.forms[..splice.forms.start].to_vec();
        all.append(new);
        all.extend_from_slice(&old.forms[splice.forms.end..]);
        set_outline(db, file, Arc::new(Outline { forms: all, spare: std::mem::take(spare) }));
    }
}

/// The byte at which each form begins.
fn starts(extents: &[Extent]) -> Arc<[TextSize]> {
    let starts = extents.iter().scan(TextSize::new(0), |end, extent| {
        let start = *end;
        *end += extent.bytes;
        Some(start)
    });
    starts.collect()
}

/// The forms that take the place of those that a splice replaces.
struct Assigned {
    forms: Vec<Form>,
    /// The items that no form uses now.
    spare: Vec<Item>,
}

/// Gives each form of a splice an item: that of an old form, a spare one, or a new one. Writes the
/// texts of the items that have changed.
fn assign_items(
    db: &mut Database,
    file: File,
    old: &Outline,
    splice: &Splice,
    text: &str,
) -> Assigned {
    let replaced = &old.forms[splice.forms.clone()];
    let (same, mut left) = match_forms(replaced, &splice.raw);
    let mut spare = old.spare.clone();
    let mut forms = Vec::with_capacity(splice.raw.len());
    let mut changes: Vec<(Item, Arc<str>)> = Vec::new();
    let mut enabled: Vec<Item> = Vec::new();
    for (raw, same) in splice.raw.iter().zip(same) {
        let slice = splice.slice(text, raw);
        let (item, loaded) = match same {
            Some(form) => (Some(form.item), form.loaded),
            None => (left.pop().map(|form| form.item).or_else(|| spare.pop()), None),
        };
        let item = match item {
            Some(item) => {
                if same.is_none() && item.disabled(db) {
                    // The failure of another form says nothing about this one.
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
    Assigned { forms, spare }
}

/// For each new form the old one with the same sort and names, if there is one; and the old forms
/// that are left over, the first of them last.
fn match_forms<'a>(
    replaced: &'a [Form],
    new: &[RawItem],
) -> (Vec<Option<&'a Form>>, Vec<&'a Form>) {
    let mut by_key: FxHashMap<Key<'_>, Vec<&Form>> = FxHashMap::default();
    for form in replaced.iter().rev() {
        by_key.entry((form.kind, &*form.names)).or_default().push(form);
    }
    let same =
        new.iter().map(|raw| by_key.get_mut(&(raw.kind, &*raw.names)).and_then(Vec::pop)).collect();
    let mut left: Vec<&Form> = by_key.into_values().flatten().collect();
    let order: FxHashMap<Item, usize> =
        replaced.iter().enumerate().map(|(i, form)| (form.item, i)).collect();
    left.sort_by_key(|form| std::cmp::Reverse(order[&form.item]));
    (same, left)
}

/// A range of old forms and the forms that replace it.
struct Splice {
    /// The positions of the forms that are replaced.
    forms: Range<usize>,
    /// The byte at which the new forms begin.
    start: usize,
    /// The new forms; their ranges count from `start`.
    raw: Vec<RawItem>,
}

impl Splice {
    /// The text of a new form.
    fn slice<'t>(&self, text: &'t str, raw: &RawItem) -> &'t str {
        &text[raw.range + TextSize::new(self.start as u32)]
    }

    /// The extents of all forms afterwards, from those before. `count` is the number of forms before.
    fn extents(&self, mut extents: Vec<Extent>, count: usize) -> Vec<Extent> {
        extents.truncate(count);
        let new = self.raw.iter().map(Extent::of);
        if extents.len() == count {
            extents.splice(self.forms.clone(), new);
            extents
        } else {
            new.collect()
        }
    }

    /// The same splice less the forms at both of its ends that are what they were before: most of
    /// what is split anew.
    fn without_unchanged_ends(mut self, db: &Database, old: &Outline, text: &str) -> Splice {
        let replaced = &old.forms[self.forms.clone()];
        let unchanged = |(form, raw): &(&Form, &RawItem)| {
            form.kind == raw.kind
                && *form.names == *raw.names
                && &**form.item.text(db) == self.slice(text, raw)
        };
        let head = replaced.iter().zip(&self.raw).take_while(unchanged).count();
        let ends = replaced[head..].iter().rev().zip(self.raw[head..].iter().rev());
        let tail = ends.take_while(unchanged).count();
        self.forms = self.forms.start + head..self.forms.end - tail;
        self.raw.truncate(self.raw.len() - tail);
        self.raw.drain(..head);
        self
    }
}

/// The number of bytes after a change that are split anew; about twice the [`LOOKAHEAD_TOKENS`] of tokens
/// that may decide where a form ends.
const RESPLIT_AFTER_BYTES: usize = 16 << 10;

/// The forms around a change, and those that replace them. `None` if forms further away may now end
/// somewhere else.
///
/// Forms before the change stay if the splitter did not look ahead as far as the change to find their
/// ends. From the form that has changed the text is split anew for [`RESPLIT_AFTER_BYTES`]. If the last
/// form there is complete and unchanged, the forms after it are as before, provided that the splitter
/// did not look beyond it.
fn around_change(
    db: &Database,
    file: File,
    old: &Outline,
    extents: &[Extent],
    text: &str,
) -> Option<Splice> {
    if extents.len() != old.forms.len() {
        return None;
    }
    let before = &**file.text(db);
    let (head, tail) = unchanged(before.as_bytes(), text.as_bytes());
    let end_of_change = before.len() - tail;
    let mut at = 0;
    let mut first = None;
    // The number of tokens since the last form whose end depends on the tokens after it.
    let mut tokens_since = usize::MAX;
    for (i, (form, extent)) in old.forms.iter().zip(extents).enumerate() {
        let end = at + usize::from(extent.bytes);
        if first.is_none() && end > head {
            if tokens_since < LOOKAHEAD_TOKENS {
                return None;
            }
            first = Some((i, at));
        }
        if let Some((first, start)) = first {
            let last = i + 1 == old.forms.len();
            if at >= end_of_change + RESPLIT_AFTER_BYTES && i > first && !last {
                let behind = end + text.len() - before.len();
                let raw = split(text.get(start..behind)?);
                let own = form.item.text(db);
                let same = text[start..behind].ends_with(&**own)
                    && raw.last().is_some_and(|raw| usize::from(raw.range.len()) == own.len());
                let whole = extent.reach == Reach::Itself;
                return (whole && same && reach_ends(&raw)).then_some(Splice {
                    forms: first..i + 1,
                    start,
                    raw,
                });
            }
        } else {
            match extent.reach {
                Reach::Itself => {
                    tokens_since = tokens_since.saturating_add(extent.tokens as usize);
                }
                Reach::Near => tokens_since = 0,
                Reach::Far => return None,
            }
        }
        at = end;
    }
    if tokens_since < LOOKAHEAD_TOKENS && first.is_none() {
        return None;
    }
    // No unchanged form follows: the text is split anew to its end.
    let (first, start) = first.unwrap_or((old.forms.len(), before.len()));
    Some(Splice { forms: first..old.forms.len(), start, raw: split(text.get(start..)?) })
}

/// Returns true if the splitter looked at nothing beyond these forms to find their ends.
fn reach_ends(raw: &[RawItem]) -> bool {
    let mut behind = 0;
    raw.iter().rev().all(|raw| {
        let enough = match raw.reach {
            Reach::Itself => true,
            Reach::Near => behind >= LOOKAHEAD_TOKENS,
            Reach::Far => false,
        };
        behind += raw.tokens as usize;
        enough
    })
}

/// The number of bytes that two texts have in common at their beginnings, and then at their ends;
/// never a part of a character.
fn unchanged(old: &[u8], new: &[u8]) -> (usize, usize) {
    let boundary = |byte: Option<&u8>| byte.is_none_or(|byte| (*byte as i8) >= -0x40);
    // Texts that differ in a letter are compared a block at a time, which compiles to a memory
    // comparison.
    const COMPARE_BLOCK_BYTES: usize = 4096;
    let blocks =
        same(old.chunks_exact(COMPARE_BLOCK_BYTES).zip(new.chunks_exact(COMPARE_BLOCK_BYTES)));
    let mut head = blocks * COMPARE_BLOCK_BYTES;
    head += same(old[head..].iter().zip(&new[head..]));
    while head > 0 && !(boundary(old.get(head)) && boundary(new.get(head))) {
        head -= 1;
    }
    let (old, new) = (&old[head..], &new[head..]);
    let blocks =
        same(old.rchunks_exact(COMPARE_BLOCK_BYTES).zip(new.rchunks_exact(COMPARE_BLOCK_BYTES)));
    let mut tail = blocks * COMPARE_BLOCK_BYTES;
    tail += same(old.iter().rev().zip(new.iter().rev()).skip(tail));
    while tail > 0 && !boundary(old.get(old.len() - tail)) {
        tail -= 1;
    }
    (head, tail)
}

/// The number of leading pairs that are equal.
fn same<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

type Key<'a> = (RawKind, &'a [Name]);

fn form(raw: &RawItem, item: Item, loaded: Option<File>) -> Form {
    Form { item, kind: raw.kind, names: raw.names.as_slice().into(), loaded }
}

/// Records the file that a form has loaded.
pub(super) fn set_loaded(db: &mut Database, id: ItemId, loaded: Option<File>) {
    let item = super::input::item(id);
    // Most forms load nothing; then the outline, which may be long, is not copied.
    if super::index::form(db, item).as_ref().is_none_or(|form| form.loaded == loaded) {
        return;
    }
    let file = item.file(db);
    let mut outline = Outline::clone(file.outline(db));
    if let Some(form) = outline.forms.iter_mut().find(|form| form.item == item) {
        form.loaded = loaded;
    }
    set_outline(db, file, Arc::new(outline));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudo-random number generator: Marsaglia's xorshift.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 33) as usize % n.max(1)
        }
    }

    /// After any changes of a long text its forms are those that splitting it finds.
    #[test]
    fn changes_leave_what_splitting_finds() {
        let good: String = crate::prelude::FILES.iter().map(|(_, text)| *text).collect();
        let good = good.repeat(2);
        let typed = [
            "x",
            " ",
            ";",
            "(",
            "}",
            "[",
            "%",
            "\"",
            "`",
            "\n",
            ";\n",
            "let ",
            " in ",
            "é",
            "$",
            "function ",
            ":: a in any",
            "// x\n",
            "datatype d int;",
            "\\",
            "f(x) = (1;\n",
        ];
        let mut numbers = Numbers(88_172_645_463_325_252);
        let mut db = Database::new();
        let mut text = good.clone();
        let file = db.add_file("test.nesl", &text, None);
        let mut around = text.len() / 2;
        for step in 0..300 {
            // Most changes are near the previous one.
            if numbers.below(8) == 0 {
                around = numbers.below(text.len());
            }
            let mut at = (around + numbers.below(40)).min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match numbers.below(10) {
                0..6 => text.insert_str(at, typed[numbers.below(typed.len())]),
                6..9 => {
                    let mut end = (at + 1 + numbers.below(6)).min(text.len());
                    while !text.is_char_boundary(end) {
                        end += 1;
                    }
                    text.replace_range(at..end, "");
                }
                _ => text = good.clone(),
            }
            db.set_text(file, text.as_str());
            let known: Vec<_> = db
                .outline(file)
                .forms
                .iter()
                .map(|form| (form.kind, form.names.clone(), db.item_text(form.id()).to_string()))
                .collect();
            let expected: Vec<_> = split(&text)
                .into_iter()
                .map(|raw| (raw.kind, raw.names.as_slice().into(), text[raw.range].to_owned()))
                .collect();
            assert!(known == expected, "step {step}, around {at}");
        }
    }
}
