//! The different elements of a sequence: the last place of each, and the number of elements equal to it.
//!
//! The tables are those that groups are found by; but what is found out goes into no array with a place for
//! each element, and no element is looked up again.

use super::super::sort::Team;
use super::super::sort::radix::{Shared, pieces, poll};
use super::ints::{self, ByRange};
use super::{
    Elements, FIRST_GROUPS, Found, Joined, MAX_COMPARED_ELEMENTS, MAX_ONE_TABLE_ELEMENTS,
    MAX_PARTITION_GROUPS, STRETCH, Table, by_buckets, by_comparing, expected_groups,
    pieces_will_do, tables,
};
use crate::fault::FaultCode;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// Entries are the last place, in the upper half, and the number of elements equal to it.
const COUNT: u64 = u32::MAX as u64;

/// More elements are grouped one by one: entries would not order them, since places take a sign bit.
const MAX_ELEMENTS: usize = i32::MAX as usize;

/// Elements for each different one up to which all places are looked through in their order; with more,
/// the entries are sorted.
const DENSE: usize = 32;

/// Finds the different elements, in the order of their last places: writes these and the numbers of equal
/// elements to the beginnings of `found`, and returns how many there are.
///
/// # Errors
/// If there is too little memory, or the team was told to stop; the contents of `found` are then
/// undefined.
///
/// # Panics
/// If there is not as much room as there are elements.
pub fn distinct<E: Elements + ?Sized>(
    elements: &E,
    found: Found<'_>,
    team: &dyn Team,
) -> Result<usize, FaultCode> {
    distinct_within(MAX_PARTITION_GROUPS, elements, found, team)
}

/// As [`distinct`], with tables of at most `many` groups for a piece.
pub(super) fn distinct_within<E: Elements + ?Sized>(
    many: usize,
    elements: &E,
    mut found: Found<'_>,
    team: &dyn Team,
) -> Result<usize, FaultCode> {
    let count = elements.count();
    assert!(found.last.len() == count && found.count.len() == count, "as much room as elements");
    if count <= MAX_COMPARED_ELEMENTS {
        by_comparing(elements, 0, Found { last: &mut *found.last, count: &mut *found.count });
        // SAFETY: all were written.
        return Ok(unsafe { keep_last(&mut found) });
    }
    if count <= MAX_ONE_TABLE_ELEMENTS.min(many) {
        return Ok(by_one_table(elements, &mut found));
    }
    if count <= MAX_ELEMENTS {
        if E::CHEAP
            && let Some(table) = ByRange::of(elements, team)?
        {
            let done = in_order(&[table.entries.iter().copied()], &mut found, team);
            table.release(team);
            return done;
        }
        let expected = expected_groups(many, elements);
        if pieces_will_do(many, expected, count, team)
            && let Some(tables) = tables(many, elements, None, team)?
        {
            let known = Joined::of(&tables, &super::pieces(count, team)).known;
            let entry = |&(last, equal): &(i64, i64)| (last as u64) << u32::BITS | equal as u64;
            return in_order(&[known.iter().map(entry)], &mut found, team);
        }
        if E::CHEAP {
            let done = ints::with_hash_tables(elements, expected, team, |tables| {
                let entries: Vec<_> = tables.iter().map(ints::Table::entries).collect();
                in_order(&entries, &mut found, team)
            })?;
            if let Some(different) = done {
                return Ok(different);
            }
        }
    }
    by_buckets(elements, Found { last: &mut *found.last, count: &mut *found.count }, team)?;
    // SAFETY: all were written.
    Ok(unsafe { keep_last(&mut found) })
}

/// Finds the different ones among elements that one table holds. They are looked at from the last to the first:
/// so each group begins with its last place, and the groups begin in descending order of those.
fn by_one_table<E: Elements + ?Sized>(elements: &E, found: &mut Found<'_>) -> usize {
    let count = elements.count();
    let mut table: Table<E> = Table::new(count.min(FIRST_GROUPS));
    for place in (0..count).rev() {
        let number = table.number(&elements.key(place));
        let group = &mut table.groups[number as usize];
        if group.count == 0 {
            group.last = place as u32;
        }
        group.count += 1;
    }
    for (at, group) in table.groups.iter().rev().enumerate() {
        found.last[at].write(i64::from(group.last));
        found.count[at].write(i64::from(group.count));
    }
    table.groups.len()
}

/// Keeps, of what was found out for each element, what is about the last ones.
///
/// # Safety
/// All of it was written.
unsafe fn keep_last(found: &mut Found<'_>) -> usize {
    let mut kept = 0;
    for place in 0..found.last.len() {
        // SAFETY: the caller's promise; what is kept does not go past the place.
        let (last, equal) =
            unsafe { (found.last[place].assume_init(), found.count[place].assume_init()) };
        if last == place as i64 {
            found.last[kept].write(last);
            found.count[kept].write(equal);
            kept += 1;
        }
    }
    kept
}

/// Writes entries in the order of their places; returns how many there are. Entries of zero are none.
fn in_order<I: Iterator<Item = u64> + Clone + Sync>(
    parts: &[I],
    found: &mut Found<'_>,
    team: &dyn Team,
) -> Result<usize, FaultCode> {
    let entries = || parts.iter().flat_map(|part| part.clone()).filter(|entry| *entry != 0);
    let (many, count) = (entries().count(), found.last.len());
    if many * DENSE >= count {
        return by_place(parts, found, team);
    }
    let bytes = (many * size_of::<u64>()) as u64;
    if !team.reserve(bytes) {
        return Err(FaultCode::OutOfMemory);
    }
    let mut sorted: Vec<u64> = entries().collect();
    sorted.sort_unstable();
    for (at, entry) in sorted.iter().enumerate() {
        found.last[at].write((entry >> u32::BITS) as i64);
        found.count[at].write((entry & COUNT) as i64);
    }
    drop(sorted);
    team.release(bytes);
    poll(team)?;
    Ok(many)
}

/// Writes the numbers of entries to their places among all elements, and then those that there are, in
/// order.
fn by_place<I: Iterator<Item = u64> + Clone + Sync>(
    parts: &[I],
    found: &mut Found<'_>,
    team: &dyn Team,
) -> Result<usize, FaultCode> {
    let count = found.last.len();
    let bytes = (count * size_of::<u32>()) as u64;
    if !team.reserve(bytes) {
        return Err(FaultCode::OutOfMemory);
    }
    let mut numbers = vec![0u32; count];
    let places = Shared(numbers.as_mut_ptr());
    team.each(parts.len(), &|take| {
        while let Some(at) = take() {
            let there = parts[at].clone().filter(|entry| *entry != 0);
            for (entry, number) in there.zip(0usize..) {
                if number.is_multiple_of(STRETCH) && team.stopped() {
                    return;
                }
                let place = (entry >> u32::BITS) as usize;
                assert!(place < count, "places are those of elements");
                // SAFETY: the place is in bounds, and no two different elements have the same last one.
                unsafe { *places.at(place) = (entry & COUNT) as u32 };
            }
        }
    });
    if let Err(fault) = poll(team) {
        team.release(bytes);
        return Err(fault);
    }
    let pieces = pieces(count, team);
    let begins: Vec<Mutex<usize>> = pieces.iter().map(|_| Mutex::new(0)).collect();
    let begin = |at: usize| begins[at].lock().unwrap_or_else(PoisonError::into_inner);
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            let there = numbers[pieces[at].clone()].iter().filter(|number| **number != 0);
            *begin(at) = there.count();
        }
    });
    let mut many = 0;
    for at in 0..pieces.len() {
        many += std::mem::replace(&mut *begin(at), many);
    }
    let (last, equal) = (shared(found.last), shared(found.count));
    team.each(pieces.len(), &|take| {
        while let Some(at) = take() {
            let there = pieces[at].clone().filter(|place| numbers[*place] != 0);
            for (to, place) in (*begin(at)..).zip(there) {
                // SAFETY: pieces write one behind the other, in all at most as many as there are elements.
                unsafe {
                    *last.at(to) = place as i64;
                    *equal.at(to) = i64::from(numbers[place]);
                }
            }
            if team.stopped() {
                return;
            }
        }
    });
    drop(numbers);
    team.release(bytes);
    poll(team)?;
    Ok(many)
}

fn shared(room: &mut [MaybeUninit<i64>]) -> Shared<i64> {
    Shared(room.as_mut_ptr().cast())
}
