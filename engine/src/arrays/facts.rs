//! Descriptors whose contents the host knows, so that it need not wait for a device to read them.
//!
//! Descriptors are arrays like any other, and pass through kernels, calls and sessions as part of a
//! value. What the host knows of one when it makes it (that the lengths are equal, the total of the
//! lengths, a few numbers that it read) is kept here by the identity of the array, as long as
//! somebody holds the array: a handle here does not keep it. Nobody changes an array that others can
//! see; one that its only owner is about to overwrite is forgotten first ([`ArrayFacts::forget`]).
//!
//! On a runtime whose arrays lie in the host's memory, reading costs nothing, and only what is known of many segments is
//! kept ([`Memory::keeps_contents`](super::Memory::keeps_contents)). That an array has ranks is kept on any: what is
//! permuted by them need not be checked. The number of written elements of an array that grows by appends is kept on any,
//! too ([`Appended`]).

use super::arguments::slice;
use nesl_runtime::runtime::{Arg, Buffer, WeakBuffer};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;

/// The contents of a descriptor as far as the host knows them.
#[derive(Clone, Debug)]
pub(super) enum Contents {
    /// Element `i` is `i` times the first number plus the second.
    Linear(usize, usize),
    /// Some elements, few enough to be kept: the index of the first, and all of them.
    Values(usize, Rc<[i64]>),
}

/// The lengths of segments whose total is known.
#[derive(Clone)]
struct Lengths {
    /// The index of the first length in the array.
    at: usize,
    count: usize,
    total: usize,
    /// The offsets of the segments, if there were any.
    offsets: Option<WeakBuffer>,
}

/// The segments within which the ints of an array are the ranks of elements.
#[derive(Clone)]
enum Ranked {
    /// All of the array is one segment.
    Whole,
    /// Segments that begin at these offsets, one behind the other.
    Within(WeakBuffer),
}

/// An array that was made by putting arrays behind each other. Its elements from `used` on are not written.
///
/// Whoever has the elements up to there may put more behind them without copying: nobody else sees these.
#[derive(Clone, Copy)]
pub(super) struct Appended {
    /// The number of elements from the beginning of the array that are written.
    pub(super) used: usize,
    /// The number of times that elements were put behind others.
    pub(super) times: u32,
}

/// The facts about an array.
struct Facts {
    array: WeakBuffer,
    contents: Option<Contents>,
    lengths: Option<Lengths>,
    ranked: Option<Ranked>,
    appended: Option<Appended>,
    /// True if the array was overwritten: facts that refer to it as offsets describe what it contained before.
    overwritten: bool,
}

/// The facts about the arrays of a runtime.
#[derive(Default)]
pub(super) struct ArrayFacts {
    arrays: RefCell<FxHashMap<usize, Facts>>,
    /// Arrays of given contents: the two numbers of [`Contents::Linear`], and the number of elements.
    linear: RefCell<FxHashMap<(usize, usize, usize), WeakBuffer>>,
    /// True if a fact refers to another array.
    has_references: Cell<bool>,
}

impl ArrayFacts {
    /// Forgets what an array contains, which is about to be overwritten.
    pub(super) fn forget(&self, array: &Buffer) {
        if !self.has_references.get() && !self.arrays.borrow().contains_key(&array.id()) {
            return;
        }
        self.update(array, |facts| {
            if let Some(Contents::Linear(factor, first)) = facts.contents {
                self.linear.borrow_mut().remove(&(factor, first, array.len()));
            }
            (facts.contents, facts.lengths, facts.ranked) = (None, None, None);
            facts.overwritten = true;
        });
    }

    /// Notes a reference to an array that others may hold.
    fn refer(&self, array: &Buffer) -> WeakBuffer {
        self.has_references.set(true);
        array.downgrade()
    }

    /// Returns the array that a fact refers to, if somebody holds it and nobody overwrote it.
    fn referred(&self, array: &WeakBuffer, arrays: &FxHashMap<usize, Facts>) -> Option<Buffer> {
        let array = array.upgrade()?;
        let changed = arrays.get(&array.id()).is_some_and(|facts| facts.overwritten);
        (!changed).then_some(array)
    }

    /// Records the contents of an array.
    pub(super) fn set_contents(&self, array: &Buffer, contents: Contents) {
        if let Contents::Linear(factor, first) = contents {
            // What is put behind the elements later may be anything.
            if self.appended(array).is_some() {
                return;
            }
            let mut linear = self.linear.borrow_mut();
            purge(&mut linear, WeakBuffer::is_held);
            linear.insert((factor, first, array.len()), array.downgrade());
        }
        self.update(array, |facts| facts.contents = Some(contents));
    }

    /// Records the total of `count` lengths, and their offsets if there are any.
    pub(super) fn set_segments(
        &self,
        lengths: &Arg,
        count: usize,
        total: usize,
        offsets: Option<&Buffer>,
    ) {
        let (array, at) = slice(lengths);
        let offsets = offsets.map(|offsets| self.refer(offsets));
        self.update(array, |facts| {
            facts.lengths = Some(Lengths { at, count, total, offsets });
        });
    }

    /// Records that the ints of an array are ranks: within segments that begin at these offsets, or of one
    /// sequence.
    pub(super) fn set_ranks(&self, ranks: &Buffer, offsets: Option<&Buffer>) {
        let ranked = match offsets {
            Some(offsets) => Ranked::Within(self.refer(offsets)),
            None => Ranked::Whole,
        };
        self.update(ranks, |facts| facts.ranked = Some(ranked));
    }

    /// Returns true if a column is known to have each index below `count` once.
    pub(super) fn are_ranks(&self, column: &Arg, count: usize) -> bool {
        let (array, at) = slice(column);
        let arrays = self.arrays.borrow();
        let known = arrays.get(&array.id()).and_then(|facts| facts.ranked.as_ref());
        at == 0 && array.len() == count && matches!(known, Some(Ranked::Whole))
    }

    /// Returns true if a column is known to have each index of each segment once: segments that begin at
    /// these offsets.
    pub(super) fn are_ranks_within(&self, column: &Arg, offsets: &Buffer) -> bool {
        let (array, at) = slice(column);
        let arrays = self.arrays.borrow();
        match arrays.get(&array.id()).and_then(|facts| facts.ranked.as_ref()) {
            Some(Ranked::Within(known)) => {
                let known = self.referred(known, &arrays);
                at == 0 && known.is_some_and(|known| known.is_same(offsets))
            }
            Some(Ranked::Whole) | None => false,
        }
    }

    /// Records that elements were put behind others in an array.
    pub(super) fn set_appended(&self, array: &Buffer, appended: Appended) {
        self.update(array, |facts| facts.appended = Some(appended));
    }

    /// Returns what was recorded of elements put behind others in an array.
    pub(super) fn appended(&self, array: &Buffer) -> Option<Appended> {
        self.arrays.borrow().get(&array.id())?.appended
    }

    /// Returns true if `wanted` elements may be put behind the first `count` of a column, in place: elements were put
    /// behind others there before, and those that are written end with the column.
    pub(super) fn has_room_behind(&self, column: &Arg, count: usize, wanted: usize) -> bool {
        let (array, at) = slice(column);
        self.appended(array)
            .is_some_and(|Appended { used, .. }| used == at + count && wanted <= array.len() - used)
    }

    fn update(&self, array: &Buffer, change: impl FnOnce(&mut Facts)) {
        let mut arrays = self.arrays.borrow_mut();
        purge(&mut arrays, |facts| facts.array.is_held());
        let array_of = || array.downgrade();
        let new = || Facts {
            array: array_of(),
            contents: None,
            lengths: None,
            ranked: None,
            appended: None,
            overwritten: false,
        };
        change(arrays.entry(array.id()).or_insert_with(new));
    }

    /// Returns an array of so many elements with these contents, if there is one.
    pub(super) fn find_linear(&self, factor: usize, first: usize, count: usize) -> Option<Buffer> {
        self.linear.borrow().get(&(factor, first, count))?.upgrade()
    }

    /// Returns the first `count` elements of a column, if they are known.
    pub(super) fn ints(&self, column: &Arg, count: usize) -> Option<Vec<i64>> {
        let (array, at) = slice(column);
        let arrays = self.arrays.borrow();
        match arrays.get(&array.id())?.contents.as_ref()? {
            Contents::Linear(factor, first) => {
                Some((at..at + count).map(|i| (i * factor + first) as i64).collect())
            }
            Contents::Values(first, values) => {
                let from = at.checked_sub(*first)?;
                values.get(from..from + count).map(<[i64]>::to_vec)
            }
        }
    }

    /// Returns the number that all elements of a column are known to be.
    pub(super) fn constant(&self, column: &Arg) -> Option<usize> {
        self.linear(column).filter(|(factor, _)| *factor == 0).map(|(_, first)| first)
    }

    /// Returns the factor and the first element of a column of multiples.
    pub(super) fn linear(&self, column: &Arg) -> Option<(usize, usize)> {
        let (array, at) = slice(column);
        match self.arrays.borrow().get(&array.id())?.contents {
            Some(Contents::Linear(factor, first)) => Some((factor, at * factor + first)),
            Some(Contents::Values(..)) | None => None,
        }
    }

    /// Returns the total of `count` lengths, and their offsets if somebody still holds them.
    pub(super) fn segments(&self, lengths: &Arg, count: usize) -> Option<(usize, Option<Buffer>)> {
        let (array, at) = slice(lengths);
        let arrays = self.arrays.borrow();
        let known = arrays.get(&array.id())?.lengths.as_ref()?;
        let same = known.at == at && known.count == count;
        let offsets = || known.offsets.as_ref().and_then(|offsets| self.referred(offsets, &arrays));
        same.then(|| (known.total, offsets()))
    }
}

/// Makes room for one more entry: before the table grows, the entries of arrays that nobody holds
/// any more are dropped. There is room for as many entries as are left, so that the next purge comes
/// after as many insertions, and an insertion costs a constant time on average.
fn purge<K: Eq + Hash, V>(table: &mut FxHashMap<K, V>, is_held: impl Fn(&V) -> bool) {
    if table.len() == table.capacity() {
        table.retain(|_, entry| is_held(entry));
        table.reserve(table.len() + 1);
    }
}
