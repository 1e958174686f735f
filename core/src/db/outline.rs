//! From a text to its forms, keeping the identity of those that were there before.
//!
//! Done outside the queries: splitting is linear and fast, and pushing only what changed into the
//! inputs is what makes everything behind them incremental.

use super::query::{File, Item};
use super::{Database, FAILURES, TEXTS, set_outline};
use crate::base::{ItemId, Name, TextSize};
use crate::syntax::{LOOKAHEAD, RawItem, RawKind, Reach, split};
use rustc_hash::FxHashMap;
use salsa::Setter;
use std::ops::Range;
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
    pub names: Arc<[Name]>,
    /// For a `load`: the file whose definitions come in here.
    pub(super) loaded: Option<File>,
}

/// What splitting knows of a form and its surroundings need not: how long it is, and how far one has
/// to look to see where it ends. No part of the outline: it changes with every key.
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

impl Form {
    /// Its identity.
    pub fn id(&self) -> ItemId {
        self.item.into()
    }

    /// Whether it loads another text.
    pub fn loads(&self) -> bool {
        self.loaded.is_some()
    }

    pub(super) fn blank(item: Item) -> Form {
        Form { item, kind: RawKind::Blank, names: Arc::default(), loaded: None }
    }
}

/// Makes `text` the text of `file`.
///
/// Forms above and below the change stay what they are. Between them a new form takes over the
/// identity of an old one with the same sort and names (the same occurrence, counted from the top),
/// else of any old one that is left over, in order: so a function that is being renamed stays
/// itself. Only the forms around the change are looked at, where that is enough.
pub(super) fn update(db: &mut Database, file: File, text: Arc<str>) {
    if *file.text(db) == text && !file.outline(db).forms.is_empty() {
        return;
    }
    let old = file.outline(db).clone();
    let mut extents = db.take_extents(file);
    let part = around_change(db, file, &old, &extents, &text);
    let part =
        part.unwrap_or_else(|| Part { forms: 0..old.forms.len(), start: 0, raw: split(&text) });
    extents.truncate(old.forms.len());
    let new = part.raw.iter().map(Extent::of);
    if extents.len() == old.forms.len() {
        extents.splice(part.forms.clone(), new);
    } else {
        extents = new.collect();
    }
    let starts = extents.iter().scan(TextSize::new(0), |end, extent| {
        let start = *end;
        *end += extent.bytes;
        Some(start)
    });
    let starts: Arc<[TextSize]> = starts.collect();
    db.keep_extents(file, extents);
    // Of what was split anew most is as it was: its forms stay what they are, at both ends.
    let replaced = &old.forms[part.forms.clone()];
    let slice = |raw: &RawItem| &text[raw.range + TextSize::new(part.start as u32)];
    let is = |(form, raw): &(&Form, &RawItem)| {
        form.kind == raw.kind && *form.names == *raw.names && &**form.item.text(db) == slice(raw)
    };
    let head = replaced.iter().zip(&part.raw).take_while(is).count();
    let ends = replaced[head..].iter().rev().zip(part.raw[head..].iter().rev());
    let tail = ends.take_while(is).count();
    let between = part.forms.start + head..part.forms.end - tail;
    let replaced = &old.forms[between.clone()];
    let came = &part.raw[head..part.raw.len() - tail];

    let mut by_key: FxHashMap<Key<'_>, Vec<&Form>> = FxHashMap::default();
    for form in replaced.iter().rev() {
        by_key.entry((form.kind, &*form.names)).or_default().push(form);
    }
    let mut taken: Vec<Option<&Form>> = Vec::with_capacity(came.len());
    for item in came {
        taken.push(by_key.get_mut(&(item.kind, &*item.names)).and_then(Vec::pop));
    }
    let mut left: Vec<&Form> = by_key.into_values().flatten().collect();
    let order: FxHashMap<Item, usize> =
        replaced.iter().enumerate().map(|(i, form)| (form.item, i)).collect();
    left.sort_by_key(|form| std::cmp::Reverse(order[&form.item]));
    let mut spare = old.spare.clone();

    let mut forms = Vec::with_capacity(came.len());
    let mut changes: Vec<(Item, Arc<str>)> = Vec::new();
    let mut enabled: Vec<Item> = Vec::new();
    for (raw, kept) in came.iter().zip(taken) {
        let slice = slice(raw);
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
    if *file.text(db) != text {
        file.set_text(db).with_durability(TEXTS).to(text);
    }
    if *file.starts(db) != starts {
        file.set_starts(db).with_durability(TEXTS).to(starts);
    }
    if *replaced != *forms || spare != old.spare {
        let mut all = old.forms[..between.start].to_vec();
        all.append(&mut forms);
        all.extend_from_slice(&old.forms[between.end..]);
        set_outline(db, file, Arc::new(Outline { forms: all, spare }));
    }
}

/// Forms that are replaced by others.
struct Part {
    forms: Range<usize>,
    /// Where they begin.
    start: usize,
    /// What comes in their place; ranges are from there on.
    raw: Vec<RawItem>,
}

/// So many bytes behind a change are split anew; about twice the tokens that matter.
const BEHIND: usize = 16 << 10;

/// The forms around a change, and those that stand there now. `None` if forms further away may end
/// somewhere else than before.
///
/// Forms before the change stay if nobody had to look as far as the change to see where they end.
/// From the form that has changed the text is split anew for some way. If the last form there is
/// whole and what it was, then whatever comes behind it is as before, provided that nobody in
/// there had to look further.
fn around_change(
    db: &Database,
    file: File,
    old: &Outline,
    extents: &[Extent],
    text: &str,
) -> Option<Part> {
    if extents.len() != old.forms.len() {
        return None;
    }
    let before = &**file.text(db);
    let (head, tail) = unchanged(before.as_bytes(), text.as_bytes());
    let end_of_change = before.len() - tail;
    let mut at = 0;
    let mut first = None;
    // Tokens behind the form that ends nearest to the change and is not whole.
    let mut tokens_since = usize::MAX;
    for (i, (form, extent)) in old.forms.iter().zip(extents).enumerate() {
        let end = at + usize::from(extent.bytes);
        if first.is_none() && end > head {
            if tokens_since < LOOKAHEAD {
                return None;
            }
            first = Some((i, at));
        }
        if let Some((first, start)) = first {
            let last = i + 1 == old.forms.len();
            if at >= end_of_change + BEHIND && i > first && !last {
                let behind = end + text.len() - before.len();
                let raw = split(text.get(start..behind)?);
                let own = form.item.text(db);
                let same = text[start..behind].ends_with(&**own)
                    && raw.last().is_some_and(|raw| usize::from(raw.range.len()) == own.len());
                let whole = extent.reach == Reach::Itself;
                return (whole && same && reach_ends(&raw)).then_some(Part {
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
    if tokens_since < LOOKAHEAD && first.is_none() {
        return None;
    }
    // What is split anew goes to the end.
    let (first, start) = first.unwrap_or((old.forms.len(), before.len()));
    Some(Part { forms: first..old.forms.len(), start, raw: split(text.get(start..)?) })
}

/// Whether nobody had to look beyond the last of some forms, which is whole.
fn reach_ends(raw: &[RawItem]) -> bool {
    let mut behind = 0;
    raw.iter().rev().all(|raw| {
        let enough = match raw.reach {
            Reach::Itself => true,
            Reach::Near => behind >= LOOKAHEAD,
            Reach::Far => false,
        };
        behind += raw.tokens as usize;
        enough
    })
}

/// How many bytes two texts have in common at their beginnings, and then at their ends; never a
/// part of a character.
fn unchanged(old: &[u8], new: &[u8]) -> (usize, usize) {
    let boundary = |byte: Option<&u8>| byte.is_none_or(|byte| (*byte as i8) >= -0x40);
    // Long texts that differ in a letter: most is compared a block at a time.
    const BLOCK: usize = 4096;
    let blocks = same(old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK)));
    let mut head = blocks * BLOCK;
    head += same(old[head..].iter().zip(&new[head..]));
    while head > 0 && !(boundary(old.get(head)) && boundary(new.get(head))) {
        head -= 1;
    }
    let (old, new) = (&old[head..], &new[head..]);
    let blocks = same(old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK)));
    let mut tail = blocks * BLOCK;
    tail += same(old.iter().rev().zip(new.iter().rev()).skip(tail));
    while tail > 0 && !boundary(old.get(old.len() - tail)) {
        tail -= 1;
    }
    (head, tail)
}

fn same<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

type Key<'a> = (RawKind, &'a [Name]);

fn form(raw: &RawItem, item: Item, loaded: Option<File>) -> Form {
    Form { item, kind: raw.kind, names: raw.names.as_slice().into(), loaded }
}

/// Notes what a form has loaded.
pub(super) fn set_loaded(db: &mut Database, id: ItemId, loaded: Option<File>) {
    let item = super::query::item(id);
    // The outline is long, and most forms load nothing.
    if super::query::form(db, item).as_ref().is_none_or(|form| form.loaded == loaded) {
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

    /// Numbers in no order: those of Marsaglia's xorshift.
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
            // Most changes are near the one before.
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
