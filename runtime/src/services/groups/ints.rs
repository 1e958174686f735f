//! Groups of ints, by tables of all groups that all threads share.
//!
//! ```text
//! ints of a small range   a table with a place for each int there may be
//! all others              a hash table for each thread, which has the ints whose hashes are its own; every
//!                         thread looks at all ints then, and takes its own
//! ```
//!
//! An entry of a table is looked for at random, but some are looked for at a time: memory answers together.

use super::super::sort::Team;
use super::super::sort::radix::{Shared, parts, pieces, poll};
use super::{Elements, Found, scramble};
use crate::fault::FaultCode;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Places are 32 bits of an entry.
const MAX_ELEMENTS: usize = u32::MAX as usize;

/// Entries for each int in a table of few: the elements take turns.
const LANES: usize = 4;

/// The most ints of a table with several entries for each: 32 KiB, which fit the fastest cache.
const MAX_LANE_ENTRIES: usize = 1 << 10;

/// The most entries of a table with a place for each int.
const MAX_RANGE: usize = 1 << 24;

/// Each thread looks at all ints for its own: with more threads that takes longer than the rest.
const MAX_THREADS: usize = 8;

/// The number of entries that are looked for at a time.
const BATCH: usize = 32;

/// The number of ints between two polls of the interrupt flag.
const POLLED: usize = 1 << 16;

/// The bits of an entry that are the number of equal ints; those above are the last place.
const COUNT: u64 = u32::MAX as u64;

/// The int at a place: for ints, that is the hash.
#[inline]
fn int<E: Elements + ?Sized>(elements: &E, place: usize) -> u64 {
    E::hash(&elements.key(place))
}

/// The bytes that tables may take: as many as the results, since ints and results are there besides.
fn most_bytes(count: usize) -> usize {
    2 * size_of::<i64>() * count
}

/// The place and the count of an entry, written for an element.
fn write(found: &[Shared<i64>; 2], place: usize, entry: u64) {
    // SAFETY: both have as many places as there are elements, and each is written by one thread.
    unsafe {
        *found[0].at(place) = (entry >> u32::BITS) as i64;
        *found[1].at(place) = (entry & COUNT) as i64;
    }
}

fn shared(found: Found<'_>) -> [Shared<i64>; 2] {
    [found.last, found.count].map(|room| Shared(room.as_mut_ptr().cast()))
}

/// Reserves memory for a computation.
fn reserving<T>(
    bytes: usize,
    team: &dyn Team,
    work: impl FnOnce() -> Result<T, FaultCode>,
) -> Result<T, FaultCode> {
    if !team.reserve(bytes as u64) {
        return Err(FaultCode::OutOfMemory);
    }
    let done = work();
    team.release(bytes as u64);
    done
}

/// A table with an entry for each int from the least to the greatest.
pub(super) struct ByRange {
    least: i64,
    /// For each int, its last place above the number of its elements; zero where there is none.
    pub(super) entries: Vec<u64>,
    bytes: u64,
}

impl ByRange {
    /// Makes the table, unless the ints are too far apart. The team's memory has to be released
    /// ([`ByRange::release`]).
    pub(super) fn of<E: Elements + ?Sized>(
        elements: &E,
        team: &dyn Team,
    ) -> Result<Option<ByRange>, FaultCode> {
        let count = elements.count();
        let pieces = pieces(count, team);
        let (least, greatest) = extremes(elements, &pieces, team);
        poll(team)?;
        let distance = greatest.wrapping_sub(least) as u64;
        let threads = team.threads().min(pieces.len());
        let most = MAX_RANGE.min(most_bytes(count) / size_of::<u64>() / threads.max(1));
        if count > MAX_ELEMENTS || distance >= most as u64 {
            return Ok(None);
        }
        let range = distance as usize + 1;
        let lanes = if range <= MAX_LANE_ENTRIES { LANES } else { 1 };
        let bytes = (range * lanes * size_of::<u64>() * threads) as u64;
        if !team.reserve(bytes) {
            return Err(FaultCode::OutOfMemory);
        }
        let mut made = ByRange { least, entries: Vec::new(), bytes };
        let tables: Mutex<Vec<Vec<u64>>> = Mutex::default();
        team.each(pieces.len(), &|take| {
            let (mut table, mut end) = (Vec::new(), 0);
            while let Some(at) = take() {
                table.resize(range * lanes, 0);
                // A thread that helps another one goes back to an earlier piece.
                let ascends = pieces[at].start >= end;
                end = end.max(pieces[at].end);
                for part in parts(pieces[at].clone()) {
                    match (lanes, ascends) {
                        (1, true) => made.fill::<true, E>(elements, part, &mut table),
                        (1, false) => made.fill::<false, E>(elements, part, &mut table),
                        (_, true) => made.fill_lanes::<true, E>(elements, part, &mut table),
                        (_, false) => made.fill_lanes::<false, E>(elements, part, &mut table),
                    }
                    if team.stopped() {
                        break;
                    }
                }
                if team.stopped() {
                    break;
                }
            }
            if !table.is_empty() {
                tables.lock().unwrap_or_else(PoisonError::into_inner).push(table);
            }
        });
        let tables = tables.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut tables = tables.into_iter().map(|table| one_lane(table, range));
        if let Some(mut table) = tables.next() {
            join(&mut table, &tables.collect::<Vec<_>>(), team);
            made.entries = table;
        }
        if let Err(fault) = poll(team) {
            made.release(team);
            return Err(fault);
        }
        Ok(Some(made))
    }

    /// Gives the memory of the table back to the team.
    pub(super) fn release(self, team: &dyn Team) {
        team.release(self.bytes);
    }

    #[inline]
    fn entry_of<E: Elements + ?Sized>(&self, elements: &E, place: usize) -> usize {
        (int(elements, place) as i64).wrapping_sub(self.least) as usize
    }

    /// Enters the elements of a piece into a table; `ASCENDS` if no element behind it is there.
    fn fill<const ASCENDS: bool, E: Elements + ?Sized>(
        &self,
        elements: &E,
        piece: Range<usize>,
        table: &mut [u64],
    ) {
        piece.for_each(|place| enter::<ASCENDS>(&mut table[self.entry_of(elements, place)], place));
    }

    /// Enters the elements of a piece into a table with several entries for each int. The processor would
    /// wait for each write of an entry if the next element were equal.
    fn fill_lanes<const ASCENDS: bool, E: Elements + ?Sized>(
        &self,
        elements: &E,
        piece: Range<usize>,
        table: &mut [u64],
    ) {
        let mut enter_at = |place: usize, lane: usize| {
            let entry = &mut table[self.entry_of(elements, place) * LANES + lane];
            enter::<ASCENDS>(entry, place);
        };
        let whole = piece.end - piece.len() % LANES;
        for from in (piece.start..whole).step_by(LANES) {
            (0..LANES).for_each(|lane| enter_at(from + lane, lane));
        }
        (whole..piece.end).for_each(|place| enter_at(place, 0));
    }
}

/// Adds an element to the entry of its int; `ASCENDS` if it is behind those that are there.
#[inline]
fn enter<const ASCENDS: bool>(entry: &mut u64, place: usize) {
    let last = (place as u64) << u32::BITS;
    let last = if ASCENDS { last } else { last.max(*entry & !COUNT) };
    *entry = last | ((*entry & COUNT) + 1);
}

/// A table with an entry for each int, of one that may have several.
fn one_lane(table: Vec<u64>, range: usize) -> Vec<u64> {
    if table.len() == range {
        return table;
    }
    let sum = |entries: &[u64]| {
        let last = entries.iter().max().map_or(0, |entry| entry & !COUNT);
        last | entries.iter().map(|entry| entry & COUNT).sum::<u64>()
    };
    table.chunks(LANES).map(sum).collect()
}

/// The least and the greatest of the ints.
fn extremes<E: Elements + ?Sized>(
    elements: &E,
    pieces: &[Range<usize>],
    team: &dyn Team,
) -> (i64, i64) {
    if let Some(range) = E::RANGE {
        return range;
    }
    let extremes = Mutex::new((i64::MAX, i64::MIN));
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            let (mut least, mut greatest) = (i64::MAX, i64::MIN);
            for place in pieces[at].clone() {
                let int = int(elements, place) as i64;
                (least, greatest) = (least.min(int), greatest.max(int));
            }
            let mut all = extremes.lock().unwrap_or_else(PoisonError::into_inner);
            *all = (all.0.min(least), all.1.max(greatest));
            if team.stopped() {
                break;
            }
        }
    });
    extremes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Groups ints by a table with an entry for each int from the least to the greatest; returns false if these
/// are too far apart, and nothing is written then.
pub(super) fn by_range<E: Elements + ?Sized>(
    elements: &E,
    found: &mut Found<'_>,
    team: &dyn Team,
) -> Result<bool, FaultCode> {
    let Some(table) = ByRange::of(elements, team)? else { return Ok(false) };
    let pieces = pieces(elements.count(), team);
    let out = shared(Found { last: &mut *found.last, count: &mut *found.count });
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            for part in parts(pieces[at].clone()) {
                for place in part {
                    write(&out, place, table.entries[table.entry_of(elements, place)]);
                }
                if team.stopped() {
                    return;
                }
            }
        }
    });
    table.release(team);
    poll(team)?;
    Ok(true)
}

/// Adds the entries of other tables to those of one.
fn join(table: &mut [u64], others: &[Vec<u64>], team: &dyn Team) {
    if others.is_empty() {
        return;
    }
    let pieces = pieces(table.len(), team);
    let entries = Shared(table.as_mut_ptr());
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            for place in pieces[at].clone() {
                // SAFETY: the place is in bounds, and in one piece.
                let entry = unsafe { &mut *entries.at(place) };
                for other in others {
                    let (last, count) = (other[place] | COUNT, other[place] & COUNT);
                    *entry = ((*entry | COUNT).max(last) & !COUNT) | ((*entry & COUNT) + count);
                }
            }
        }
    });
}

/// An int and its entry, which is zero where there is none yet.
type Slot = [u64; 2];

/// A hash table.
pub(super) struct Table {
    slots: Vec<Slot>,
    groups: usize,
}

impl Table {
    /// The entries of all ints.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> + Clone + Sync {
        self.slots.iter().map(|slot| slot[1]).filter(|entry| *entry != 0)
    }

    fn new(slots: usize) -> Table {
        Table { slots: vec![[0; 2]; slots], groups: 0 }
    }

    /// The slot at which an int with this hash is looked for first.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The slot of an int, or the empty one where it belongs.
    #[inline]
    fn find(&self, int: u64, first: usize) -> usize {
        let mut at = first;
        while self.slots[at][0] != int && self.slots[at][1] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// Adds an element. One in four slots at least stays empty; returns false if there is no room for that.
    #[inline]
    fn add(&mut self, int: u64, first: usize, place: usize) -> bool {
        let at = self.find(int, first);
        let entry = self.slots[at][1];
        self.slots[at] = [int, (place as u64) << u32::BITS | ((entry & COUNT) + 1)];
        self.groups += usize::from(entry == 0);
        4 * self.groups <= 3 * self.slots.len()
    }

    /// Doubles the slots.
    fn grow(&mut self) {
        let old = std::mem::replace(self, Table::new(2 * self.slots.len()));
        self.groups = old.groups;
        for slot in old.slots {
            if slot[1] != 0 {
                let at = self.find(slot[0], self.first(scramble(slot[0])));
                self.slots[at] = slot;
            }
        }
    }
}

/// Ints that are looked for together.
struct Batch {
    ints: [(u64, u64, usize); BATCH],
    length: usize,
}

impl Batch {
    fn new() -> Batch {
        Batch { ints: [(0, 0, 0); BATCH], length: 0 }
    }

    /// Calls `work` with each of the ints, its first slot, and its place.
    fn each(&mut self, table: &mut Table, mut work: impl FnMut(&mut Table, u64, usize, usize)) {
        for (_, hash, _) in &self.ints[..self.length] {
            prefetch(&table.slots[table.first(*hash)]);
        }
        for (int, hash, place) in &self.ints[..self.length] {
            let first = table.first(*hash);
            work(table, *int, first, *place);
        }
        self.length = 0;
    }
}

/// Makes a hash table of its own ints for each thread, and hands them to `work`; returns none if that takes
/// too much memory, or too many threads. There are about `expected` groups.
pub(super) fn with_hash_tables<E: Elements + ?Sized, T>(
    elements: &E,
    expected: usize,
    team: &dyn Team,
    work: impl FnOnce(&[Table]) -> Result<T, FaultCode>,
) -> Result<Option<T>, FaultCode> {
    let (count, threads) = (elements.count(), team.threads());
    let slots = (expected.div_ceil(threads) * 4 / 3 + BATCH).next_power_of_two();
    let most = most_bytes(count) / threads;
    if count > MAX_ELEMENTS || threads > MAX_THREADS || slots * size_of::<Slot>() > most {
        return Ok(None);
    }
    reserving(most * threads, team, || {
        let tables: Vec<Mutex<Option<Table>>> = (0..threads).map(|_| Mutex::default()).collect();
        team.each(threads, &|take| {
            while let Some(own) = take() {
                let table = own_table(elements, (own, threads), (slots, most), team);
                *tables[own].lock().unwrap_or_else(PoisonError::into_inner) = table;
            }
        });
        poll(team)?;
        let tables = tables.into_iter();
        let tables = tables.map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        let tables: Option<Vec<Table>> = tables.collect();
        tables.map(|tables| work(&tables)).transpose()
    })
}

/// Groups ints by a hash table for each thread; returns false if there are none
/// ([`with_hash_tables`]), and nothing is written then.
pub(super) fn by_hash<E: Elements + ?Sized>(
    elements: &E,
    expected: usize,
    found: &mut Found<'_>,
    team: &dyn Team,
) -> Result<bool, FaultCode> {
    let out = shared(Found { last: &mut *found.last, count: &mut *found.count });
    let done = with_hash_tables(elements, expected, team, |tables| {
        let pieces = pieces(elements.count(), team);
        team.each(pieces.len(), &|take| {
            while let Some(at) = take() {
                for batch in batches(pieces[at].clone()) {
                    let hashes: [u64; BATCH] = std::array::from_fn(|i| {
                        let place = (batch.start + i).min(batch.end - 1);
                        let hash = scramble(int(elements, place));
                        let table = &tables[owner(hash, tables.len())];
                        prefetch(&table.slots[table.first(hash)]);
                        hash
                    });
                    for (place, hash) in batch.zip(hashes) {
                        let table = &tables[owner(hash, tables.len())];
                        let at = table.find(int(elements, place), table.first(hash));
                        write(&out, place, table.slots[at][1]);
                    }
                }
                if team.stopped() {
                    break;
                }
            }
        });
        poll(team)
    })?;
    Ok(done.is_some())
}

/// The number of the table that has the ints with a hash.
#[inline]
fn owner(hash: u64, tables: usize) -> usize {
    // The lowest bits are those of the slot.
    (((hash >> u32::BITS) * tables as u64) >> u32::BITS) as usize
}

/// Places, some at a time.
fn batches(places: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = places.end;
    places.step_by(BATCH).map(move |from| from..(from + BATCH).min(end))
}

/// The table of the ints that are a thread's own, of so many threads; none if it takes more than `most`
/// bytes, or the team was told to stop.
fn own_table<E: Elements + ?Sized>(
    elements: &E,
    (own, threads): (usize, usize),
    (slots, most): (usize, usize),
    team: &dyn Team,
) -> Option<Table> {
    let mut table = Table::new(slots);
    let mut batch = Batch::new();
    for stretch in (0..elements.count()).step_by(POLLED) {
        let end = (stretch + POLLED).min(elements.count());
        let mut from = stretch;
        while from < end {
            // There is room for all that is looked at, whoever owns it.
            let to = (from + BATCH - batch.length).min(end);
            for place in from..to {
                let int = int(elements, place);
                let hash = scramble(int);
                batch.ints[batch.length] = (int, hash, place);
                batch.length += usize::from(owner(hash, threads) == own);
            }
            from = to;
            // A batch that is nearly full is as good as a full one.
            if batch.length > BATCH / 2 || from == end {
                let mut has_room = true;
                batch.each(&mut table, |table, int, first, place| {
                    has_room &= table.add(int, first, place);
                });
                if !has_room {
                    if 2 * table.slots.len() * size_of::<Slot>() > most {
                        return None;
                    }
                    table.grow();
                }
            }
        }
        if team.stopped() {
            return None;
        }
    }
    Some(table)
}

/// Asks for memory that is read soon.
#[inline]
fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of every x86-64 processor and changes no values.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
