//! Grouping of equal elements: for each, the place of the last one that is equal to it, and their
//! number.
//!
//! ```text
//! few elements         each is compared with all others
//! some elements        one table, on the thread that asks
//! ints, close to each other
//!                      a table with a place for each int there may be
//! few different ones   a table for each piece of the sequence, all of them put together, and then
//!                      each element looks its group up by the number that its piece gave it
//! many ints            a hash table of all groups
//! many                 into buckets by hash, and a table for each bucket
//! ```
//!
//! Tables of pieces are quicker while they fit the cache, whatever the order of the elements; how many
//! groups there are is found out by making them. Elements are ints, or texts, which are compared wherever
//! their hashes are the same.

use super::sort::Team;
use super::sort::radix::{Buckets, Shared, parts, with_scratch};
use super::text::{self, Texts};
use crate::fault::FaultCode;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

mod distinct;
mod ints;

pub use distinct::distinct;

/// The most groups in a table: with all its parts it fits the cache of a core, about.
const MAX_PARTITION_GROUPS: usize = 1 << 16;

/// Up to so many elements are compared with each other, without a table.
const MAX_COMPARED_ELEMENTS: usize = 16;

/// Up to so many elements are grouped by one table on one thread: cutting them into pieces and joining what was
/// found takes longer.
const MAX_ONE_TABLE_ELEMENTS: usize = 1 << 12;

/// The elements of each group for which several threads make a table for each piece, at least. With fewer, nearly every
/// table has nearly all groups, and joining the tables takes longer than making one.
const MIN_REPEATED: usize = 16;

/// The number of elements by which it is estimated how many groups there are.
const SAMPLE: usize = 1 << 13;

/// The table of a piece has room for so many groups to begin with, at most.
const FIRST_GROUPS: usize = 1 << 9;

/// The number of elements that a bucket should hold: their table fits the cache of a core.
const BUCKET_ELEMENTS: usize = 1 << 13;

/// A bucket's table has room for so many groups to begin with.
const FEW_GROUPS: usize = 1 << 12;

/// The most buckets, as a power of two: each is a place in memory that is written to in turn.
const MAX_BUCKET_BITS: u32 = 11;

/// Pieces for each thread: the machine may be busy with something else, too, but each begins with
/// an empty table.
const PIECES_PER_THREAD: usize = 2;

/// Fewer elements are not worth another thread.
const MIN_PARALLEL_ELEMENTS: usize = 1 << 14;

/// Places of a table for each of its groups, at least: where one is taken a branch goes wrong.
const SPARSE: usize = 4;

/// The number of elements between two polls of the interrupt flag.
const STRETCH: usize = 1 << 16;

/// Elements to be grouped.
pub trait Elements: Sync {
    /// An element, or what is known of it.
    type Key: Copy + Send + Sync;
    /// The number of elements.
    fn count(&self) -> usize;
    /// One of them.
    fn key(&self, place: usize) -> Self::Key;
    /// A hash, the same for equal elements.
    fn hash(key: &Self::Key) -> u64;
    /// True if a hash is the element itself, and equal elements are those of the same hash.
    const CHEAP: bool;
    /// The least and the greatest of all elements there may be, if these are few.
    const RANGE: Option<(i64, i64)> = None;
    /// Returns true if two elements of the same hash are equal.
    fn same(a: &Self::Key, b: &Self::Key) -> bool;
    /// Returns true if the elements at two places, which have the same hash, are equal.
    fn equal(&self, a: usize, b: usize) -> bool {
        Self::same(&self.key(a), &self.key(b))
    }
}

macro_rules! ints {
    ($($int:ty: $range:expr,)+) => {$(
        impl Elements for [$int] {
            type Key = $int;
            const CHEAP: bool = true;
            const RANGE: Option<(i64, i64)> = $range;

            #[inline]
            fn count(&self) -> usize {
                self.len()
            }

            #[inline]
            fn key(&self, place: usize) -> $int {
                self[place]
            }

            /// No two ints have the same.
            #[inline]
            fn hash(key: &$int) -> u64 {
                *key as u64
            }

            #[inline]
            fn same(_: &$int, _: &$int) -> bool {
                true
            }
        }
    )+};
}

ints! {
    i64: None,
    i32: None,
    u8: Some((0, u8::MAX as i64)),
}

impl<'a> Elements for Texts<'a> {
    type Key = (u64, &'a [u8]);
    const CHEAP: bool = false;

    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn key(&self, place: usize) -> (u64, &'a [u8]) {
        let text = self.get(place);
        (text::hash(text, 0) as u64, text)
    }

    #[inline]
    fn hash(key: &(u64, &'a [u8])) -> u64 {
        key.0
    }

    #[inline]
    fn same(a: &(u64, &'a [u8]), b: &(u64, &'a [u8])) -> bool {
        text::same(a.1, b.1)
    }

    #[inline]
    fn equal(&self, a: usize, b: usize) -> bool {
        text::same(self.get(a), self.get(b))
    }
}

/// Consecutive elements of others.
struct Consecutive<'e, E: ?Sized> {
    elements: &'e E,
    range: Range<usize>,
}

impl<E: Elements + ?Sized> Elements for Consecutive<'_, E> {
    type Key = E::Key;
    const CHEAP: bool = E::CHEAP;
    const RANGE: Option<(i64, i64)> = E::RANGE;

    fn count(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn key(&self, place: usize) -> E::Key {
        self.elements.key(self.range.start + place)
    }

    #[inline]
    fn hash(key: &E::Key) -> u64 {
        E::hash(key)
    }

    #[inline]
    fn same(a: &E::Key, b: &E::Key) -> bool {
        E::same(a, b)
    }

    #[inline]
    fn equal(&self, a: usize, b: usize) -> bool {
        self.elements.equal(self.range.start + a, self.range.start + b)
    }
}

/// The results for each element.
#[derive(Debug)]
pub struct Found<'o> {
    /// The place of the last one equal to it.
    pub last: &'o mut [MaybeUninit<i64>],
    /// The number of elements equal to it, itself included.
    pub count: &'o mut [MaybeUninit<i64>],
}

/// Finds the groups of equal elements.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `found` are then
/// undefined.
///
/// # Panics
/// If there is not as much room as there are elements.
pub fn groups<E: Elements + ?Sized>(
    elements: &E,
    found: Found<'_>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let mut found = found;
    let count = elements.count();
    assert!(found.last.len() == count && found.count.len() == count, "as much room as elements");
    if E::CHEAP && count > MAX_ONE_TABLE_ELEMENTS && ints::by_range(elements, &mut found, team)? {
        return Ok(());
    }
    groups_within(MAX_PARTITION_GROUPS, elements, found, team)
}

/// As [`groups`], with tables for `most` groups.
fn groups_within<E: Elements + ?Sized>(
    most: usize,
    elements: &E,
    mut found: Found<'_>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let count = elements.count();
    if count <= MAX_COMPARED_ELEMENTS && most > 0 {
        by_comparing(elements, 0, found);
        return Ok(());
    }
    if count <= MAX_ONE_TABLE_ELEMENTS.min(most) {
        PartTable::default().groups_of_few(elements, 0..count, found);
        return Ok(());
    }
    let expected = expected_groups(most, elements);
    if pieces_will_do(most, expected, count, team)
        && let Some(tables) = tables(most, elements, Some(&mut *found.last), team)?
    {
        resolve::<E>(&tables, found, team);
        return Ok(());
    }
    if E::CHEAP && ints::by_hash(elements, expected, &mut found, team)? {
        return Ok(());
    }
    by_buckets(elements, found, team)
}

/// Returns true if a table for each piece of some elements is the quickest, of which about so many groups are
/// expected. Tables that have too many groups would be made in vain.
fn pieces_will_do(most: usize, expected: usize, count: usize, team: &dyn Team) -> bool {
    let groups = if team.threads() > 1 && count > SAMPLE { count / MIN_REPEATED } else { count };
    expected <= most.min(groups)
}

/// About how many groups there are, by how often elements occur again among some of them. Of at most `few` elements
/// the number is returned: there are not more groups.
fn expected_groups<E: Elements + ?Sized>(few: usize, elements: &E) -> usize {
    let count = elements.count();
    if count <= few.min(SAMPLE) {
        return count;
    }
    let some = count.min(SAMPLE);
    let mut table: Table<E> = Table::new(some);
    // The sample is spread over all elements, so that runs of equal ones count as one.
    let step = count / some;
    (0..some).for_each(|at| {
        table.number(&elements.key(at * step));
    });
    // Among `some` draws of n groups, some² / 2n pairs are equal, about.
    let again = some - table.groups.len();
    let groups = (some * some / 2).checked_div(again).unwrap_or(count);
    groups.clamp(table.groups.len(), count)
}

/// The table of a thread that groups parts of a sequence one after the other.
pub(super) struct PartTable<E: Elements + ?Sized>(Table<E>);

impl<E: Elements + ?Sized> Default for PartTable<E> {
    fn default() -> PartTable<E> {
        PartTable(Table::new(0))
    }
}

impl<E: Elements + ?Sized> PartTable<E> {
    /// Finds the groups of equal elements of a part, with places counted from its beginning.
    pub(super) fn groups(
        &mut self,
        elements: &E,
        part: Range<usize>,
        found: Found<'_>,
        team: &dyn Team,
    ) -> Result<(), FaultCode> {
        if part.len() <= MAX_COMPARED_ELEMENTS {
            by_comparing(elements, part.start, found);
            return Ok(());
        }
        if part.len() > MAX_PARTITION_GROUPS {
            return groups(&Consecutive { elements, range: part }, found, team);
        }
        self.groups_of_few(elements, part, found);
        Ok(())
    }

    /// As [`PartTable::groups`], for no more elements than a table has groups.
    fn groups_of_few(&mut self, elements: &E, part: Range<usize>, found: Found<'_>) {
        let table = &mut self.0;
        table.clear(part.len().min(FIRST_GROUPS));
        for (number, place) in found.last.iter_mut().zip(0..) {
            let group = table.number(&elements.key(part.start + place as usize));
            let known = &mut table.groups[group as usize];
            known.last = place;
            known.count += 1;
            number.write(i64::from(group));
        }
        for (last, count) in found.last.iter_mut().zip(found.count.iter_mut()) {
            // SAFETY: the number of its group was just written for each element.
            let known = &table.groups[unsafe { last.assume_init() } as usize];
            last.write(i64::from(known.last));
            count.write(i64::from(known.count));
        }
    }
}

/// Makes vectors of what is found out about each element.
///
/// # Errors
/// If there is too little memory, or the team was told to stop.
pub fn groups_into<E: Elements + ?Sized>(
    elements: &E,
    last: &mut Vec<i64>,
    count: &mut Vec<i64>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let many = elements.count();
    for vector in [&mut *last, &mut *count] {
        vector.clear();
        vector.reserve(many);
    }
    let found = Found {
        last: &mut last.spare_capacity_mut()[..many],
        count: &mut count.spare_capacity_mut()[..many],
    };
    groups(elements, found, team)?;
    // SAFETY: there is room, and all were written.
    unsafe {
        last.set_len(many);
        count.set_len(many);
    }
    Ok(())
}

/// Equal elements of a piece.
#[derive(Clone, Copy)]
struct Group<K> {
    key: K,
    /// The last place, counted from the beginning of the piece.
    last: u32,
    /// The number of groups.
    count: u32,
}

/// The groups of a piece, by their elements.
struct Table<E: Elements + ?Sized> {
    /// A group's number and 1, or 0: at the place that an element hashes to, or behind it.
    slots: Vec<u32>,
    /// The number of bits by which a hash is shifted to get such a place.
    shift: u32,
    groups: Vec<Group<E::Key>>,
}

impl<E: Elements + ?Sized> Table<E> {
    /// A table for so many groups, to begin with.
    fn new(groups: usize) -> Table<E> {
        let mut table = Table { slots: Vec::new(), shift: 0, groups: Vec::new() };
        table.clear(groups);
        table
    }

    /// Empties the table, which is to have room for so many groups then.
    fn clear(&mut self, groups: usize) {
        let bits = (SPARSE * groups + 1).next_power_of_two().ilog2().max(4);
        self.slots.clear();
        self.slots.resize(1 << bits, 0);
        self.shift = u64::BITS - bits;
        self.groups.clear();
    }

    /// The number of the group of an element, which may be a new one.
    #[inline]
    fn number(&mut self, key: &E::Key) -> u32 {
        let mask = self.slots.len() - 1;
        let hash = E::hash(key);
        let mut at = self.place(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return self.begin(key, at);
            }
            let known = &self.groups[slot as usize - 1].key;
            if E::hash(known) == hash && E::same(known, key) {
                return slot - 1;
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds the elements of a stretch of the piece that begins at `start`, in whose places the stretch is
    /// counted; each is told the number of its group.
    #[inline]
    fn add(
        &mut self,
        elements: &E,
        start: usize,
        stretch: Range<usize>,
        mut tell: impl FnMut(usize, u32),
    ) {
        for place in stretch {
            let group = self.number(&elements.key(start + place));
            let known = &mut self.groups[group as usize];
            known.last = place as u32;
            known.count += 1;
            tell(place, group);
        }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (scramble(hash) >> self.shift) as usize
    }

    #[cold]
    fn begin(&mut self, key: &E::Key, at: usize) -> u32 {
        let number = self.groups.len() as u32;
        self.groups.push(Group { key: *key, last: 0, count: 0 });
        self.slots[at] = number + 1;
        if self.groups.len() * SPARSE > self.slots.len() {
            self.shift -= 1;
            let mask = 2 * self.slots.len() - 1;
            let mut slots = vec![0; mask + 1];
            for (number, group) in self.groups.iter().enumerate() {
                let mut at = self.place(E::hash(&group.key));
                while slots[at] != 0 {
                    at = (at + 1) & mask;
                }
                slots[at] = number as u32 + 1;
            }
            self.slots = slots;
        }
        number
    }
}

/// The tables of the pieces, if no piece has more groups than they hold; in `numbers`, if they are wanted,
/// for each element the number of its group.
fn tables<E: Elements + ?Sized>(
    most: usize,
    elements: &E,
    numbers: Option<&mut [MaybeUninit<i64>]>,
    team: &dyn Team,
) -> Result<Option<Vec<Table<E>>>, FaultCode> {
    let pieces = pieces(elements.count(), team);
    let too_many = AtomicBool::new(false);
    let done: Vec<Mutex<Option<Table<E>>>> = pieces.iter().map(|_| Mutex::default()).collect();
    let room = numbers.map(|numbers| split(numbers, &pieces));
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            let piece = pieces[at].clone();
            let room = room.as_ref().map(|room| &room[at]);
            let mut numbers = room.map(|room| room.lock().unwrap_or_else(PoisonError::into_inner));
            let mut table = Table::new(piece.len().min(FIRST_GROUPS));
            for from in (0..piece.len()).step_by(STRETCH) {
                let stretch = from..(from + STRETCH).min(piece.len());
                match &mut numbers {
                    Some(numbers) => table.add(elements, piece.start, stretch, |place, group| {
                        numbers[place].write(i64::from(group));
                    }),
                    None => table.add(elements, piece.start, stretch, |_, _| {}),
                }
                if table.groups.len() > most {
                    too_many.store(true, Relaxed);
                }
                if too_many.load(Relaxed) || team.stopped() {
                    return;
                }
            }
            *done[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(table);
        }
    });
    if team.stopped() {
        return Err(FaultCode::Interrupted);
    }
    let done = done.into_iter().map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(done.collect())
}

/// The groups of the whole sequence.
struct Joined {
    /// The last place of each group, and the number of its elements.
    known: Vec<(i64, i64)>,
    /// For each piece, the number here of each of its groups.
    parts: Vec<Vec<usize>>,
}

impl Joined {
    /// Puts the tables of pieces together.
    fn of<E: Elements + ?Sized>(tables: &[Table<E>], pieces: &[Range<usize>]) -> Joined {
        let most = tables.iter().map(|table| table.groups.len()).max().unwrap_or(0);
        let mut all: Table<E> = Table::new(most);
        let mut joined = Joined { known: Vec::new(), parts: Vec::with_capacity(tables.len()) };
        for (table, piece) in tables.iter().zip(pieces) {
            let known = &mut joined.known;
            let numbers = table.groups.iter().map(|group| {
                let number = all.number(&group.key) as usize;
                if number == known.len() {
                    known.push((0, 0));
                }
                // Later pieces come later.
                known[number].0 = (piece.start + group.last as usize) as i64;
                known[number].1 += i64::from(group.count);
                number
            });
            joined.parts.push(numbers.collect());
        }
        joined
    }
}

/// Puts the tables together, and what is found out in the place of each element's number.
fn resolve<E: Elements + ?Sized>(tables: &[Table<E>], found: Found<'_>, team: &dyn Team) {
    let pieces = pieces(found.last.len(), team);
    let Joined { known, parts } = Joined::of(tables, &pieces);
    let answers: Vec<Vec<(i64, i64)>> =
        parts.iter().map(|part| part.iter().map(|number| known[*number]).collect()).collect();
    let last = split(found.last, &pieces);
    let counts = split(found.count, &pieces);
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            let mut last = last[at].lock().unwrap_or_else(PoisonError::into_inner);
            let mut counts = counts[at].lock().unwrap_or_else(PoisonError::into_inner);
            for (last, count) in last.iter_mut().zip(counts.iter_mut()) {
                // SAFETY: `tables` wrote the numbers of groups of the piece.
                let number = unsafe { last.assume_init() };
                let answer = answers[at][number as usize];
                last.write(answer.0);
                count.write(answer.1);
            }
        }
    });
}

/// Pieces of so many elements, for a team. Their places are counted with 32 bits.
fn pieces(count: usize, team: &dyn Team) -> Vec<Range<usize>> {
    let threads = team.threads();
    let many =
        if threads > 1 && count >= MIN_PARALLEL_ELEMENTS { threads * PIECES_PER_THREAD } else { 1 };
    let length = count.div_ceil(many).clamp(1, 1 << 30);
    (0..count).step_by(length).map(|from| from..(from + length).min(count)).collect()
}

/// Room for a piece.
type Part<'o> = Mutex<&'o mut [MaybeUninit<i64>]>;

/// The parts of the room for pieces.
fn split<'o>(room: &'o mut [MaybeUninit<i64>], pieces: &[Range<usize>]) -> Vec<Part<'o>> {
    let mut rest = room;
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (part, behind) = rest.split_at_mut(piece.len());
        parts.push(Mutex::new(part));
        rest = behind;
    }
    parts
}

/// A hash and a place, and later what is found out about the element at that place.
#[derive(Clone, Copy)]
struct Slip {
    hash: u64,
    place: usize,
}

/// A group of equal elements of a bucket.
#[derive(Clone, Copy)]
struct Known {
    hash: u64,
    last: usize,
    count: usize,
}

/// The tables of one bucket, used again for the next.
#[derive(Default)]
struct Scratch {
    /// A group's number and 1, or 0: at the place that a hash leads to, or behind it.
    slots: Vec<u32>,
    groups: Vec<Known>,
}

/// Into buckets by hash on all threads, then a table for each bucket, which fits the cache; what was
/// found out goes back the way that the elements came, so that all of memory is read and written in
/// order.
fn by_buckets<E: Elements + ?Sized>(
    elements: &E,
    found: Found<'_>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let count = elements.count();
    // Where a hash is more than a look at an element, it is computed once.
    let bytes = if E::CHEAP { 0 } else { (count * size_of::<u64>()) as u64 };
    if !team.reserve(bytes) {
        return Err(FaultCode::OutOfMemory);
    }
    let hashes = if E::CHEAP { Vec::new() } else { hashes(elements, team) };
    let hash = |place: usize| if E::CHEAP { E::hash(&elements.key(place)) } else { hashes[place] };
    let bits = (count / BUCKET_ELEMENTS).next_power_of_two().ilog2().clamp(4, MAX_BUCKET_BITS);
    let bucket = |hash: u64| (scramble(hash) >> (u64::BITS - bits)) as usize;
    let load_buckets = |places: Range<usize>| places.map(|place| bucket(hash(place)));
    let load = |places: Range<usize>| {
        places.map(|place| {
            let hash = hash(place);
            (bucket(hash), Slip { hash, place })
        })
    };
    let (last, counts) =
        (Shared(found.last.as_mut_ptr().cast::<i64>()), Shared(found.count.as_mut_ptr().cast()));
    let done = with_scratch::<Slip>(count, team, |slips| {
        let buckets = Buckets::count(count, 1 << bits, team, load_buckets)?;
        // SAFETY: the hashes are the same each time, and there is room for a slip for each element.
        unsafe { buckets.fill(slips, team, &load) }?;
        let work = |scratch: &mut Scratch, _, slips: &mut [Slip]| {
            group_bucket(elements, scratch, bits, slips);
        };
        // SAFETY: the buckets were filled.
        unsafe { buckets.each(slips, team, &work) }?;
        let write = |place: usize, slip: Slip| {
            // SAFETY: each place is written once, and both parts have as many as there are elements.
            unsafe {
                *last.at(place) = slip.hash as i64;
                *counts.at(place) = slip.place as i64;
            }
        };
        // SAFETY: the buckets were filled, and the hashes are the same each time.
        unsafe { buckets.gather(slips, team, &load_buckets, &write) }
    });
    team.release(bytes);
    done
}

/// The hashes of all elements.
fn hashes<E: Elements + ?Sized>(elements: &E, team: &dyn Team) -> Vec<u64> {
    let pieces = pieces(elements.count(), team);
    let mut hashes = vec![0; elements.count()];
    let to = Shared(hashes.as_mut_ptr());
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            for part in parts(pieces[at].clone()) {
                for place in part {
                    // SAFETY: the place is in bounds, and no other piece has it.
                    unsafe { *to.at(place) = E::hash(&elements.key(place)) };
                }
                // Whoever counts the buckets next finds out, too.
                if team.stopped() {
                    return;
                }
            }
        }
    });
    hashes
}

/// Finds the groups of a bucket, whose slips are in the order of the elements. Each slip becomes the
/// place of the last equal element and the number of equal elements.
fn group_bucket<E: Elements + ?Sized>(
    elements: &E,
    scratch: &mut Scratch,
    bits: u32,
    slips: &mut [Slip],
) {
    let Scratch { slots, groups } = scratch;
    // At least half of the slots stay empty.
    let few = slips.len().min(FEW_GROUPS);
    let mut mask = (2 * few).next_power_of_two() - 1;
    slots.clear();
    slots.resize(mask + 1, 0);
    groups.clear();
    // The highest bits of a hash led to the bucket.
    let first = |hash: u64, mask: usize| (scramble(hash) << bits >> 32) as usize & mask;
    for slip in slips.iter_mut() {
        let mut at = first(slip.hash, mask);
        let number = loop {
            let slot = slots[at] as usize;
            if slot == 0 {
                slots[at] = groups.len() as u32 + 1;
                groups.push(Known { hash: slip.hash, last: 0, count: 0 });
                break groups.len() - 1;
            }
            let known = &groups[slot - 1];
            if known.hash == slip.hash && (E::CHEAP || elements.equal(known.last, slip.place)) {
                break slot - 1;
            }
            at = (at + 1) & mask;
        };
        groups[number].last = slip.place;
        groups[number].count += 1;
        slip.hash = number as u64;
        if 2 * groups.len() > mask + 1 {
            mask = 2 * mask + 1;
            slots.clear();
            slots.resize(mask + 1, 0);
            for (known, number) in groups.iter().zip(1..) {
                let mut at = first(known.hash, mask);
                while slots[at] != 0 {
                    at = (at + 1) & mask;
                }
                slots[at] = number;
            }
        }
    }
    for slip in slips {
        let known = &groups[slip.hash as usize];
        *slip = Slip { hash: known.last as u64, place: known.count };
    }
}

/// Spreads a hash over all bits, the highest first.
#[inline]
fn scramble(hash: u64) -> u64 {
    // Both halves of the product depend on all bits.
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    product as u64 ^ (product >> 64) as u64
}

/// Compares each of a few elements, as many as there is room for what is found, with all others.
fn by_comparing<E: Elements + ?Sized>(elements: &E, from: usize, found: Found<'_>) {
    let count = found.last.len();
    let mut keys = [const { MaybeUninit::uninit() }; MAX_COMPARED_ELEMENTS];
    for (place, key) in keys[..count].iter_mut().enumerate() {
        key.write(elements.key(from + place));
    }
    // SAFETY: so many were written.
    let keys: &[E::Key] = unsafe { keys[..count].assume_init_ref() };
    for (place, key) in keys.iter().enumerate() {
        let (mut last, mut equal) = (place, 0);
        for (other, known) in keys.iter().enumerate() {
            let same = E::hash(known) == E::hash(key) && E::same(known, key);
            last = if same { other } else { last };
            equal += i64::from(same);
        }
        found.last[place].write(last as i64);
        found.count[place].write(equal);
    }
}

#[cfg(test)]
mod tests;
