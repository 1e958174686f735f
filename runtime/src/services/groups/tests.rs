//! Tests that equal elements are found, by each of the ways to find them.

use super::super::sort::CallingThread;
use super::distinct::distinct_within;
use super::*;
use crate::services::sort::Work;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

fn check<E: Elements + ?Sized, K: Hash + Eq + Debug>(elements: &E, keys: &[K]) {
    let mut known: HashMap<&K, (i64, i64)> = HashMap::new();
    for (place, key) in keys.iter().enumerate() {
        let group = known.entry(key).or_default();
        *group = (place as i64, group.1 + 1);
    }
    for most in [MAX_PARTITION_GROUPS, 40, 0] {
        let (mut last, mut count) =
            (vec![MaybeUninit::new(0); keys.len()], vec![MaybeUninit::new(0); keys.len()]);
        let found = Found { last: &mut last, count: &mut count };
        groups_within(most, elements, found, &CallingThread(None)).unwrap();
        for (place, key) in keys.iter().enumerate() {
            // SAFETY: they were written at the beginning.
            let found = unsafe { (last[place].assume_init(), count[place].assume_init()) };
            assert_eq!(found, known[key], "{key:?} at {place}, tables of {most}");
        }
    }
    check_distinct(elements, &known);
    let (mut last, mut count) = (Vec::new(), Vec::new());
    groups_into(elements, &mut last, &mut count, &CallingThread(None)).unwrap();
    let found: Vec<(i64, i64)> = last.into_iter().zip(count).collect();
    let expected: Vec<(i64, i64)> = keys.iter().map(|key| known[key]).collect();
    assert!(found == expected, "a way of its own for ints");
    let (mut last, mut count) =
        (vec![MaybeUninit::new(0); keys.len()], vec![MaybeUninit::new(0); keys.len()]);
    let found = Found { last: &mut last, count: &mut count };
    by_buckets(elements, found, &CallingThread(None)).unwrap();
    // SAFETY: they were written at the beginning.
    let of = |room: &[MaybeUninit<i64>], at: usize| unsafe { room[at].assume_init() };
    let found: Vec<(i64, i64)> =
        (0..keys.len()).map(|at| (of(&last, at), of(&count, at))).collect();
    assert!(found == expected, "buckets");
}

/// Checks that the different elements are found in the order of their last places.
fn check_distinct<E: Elements + ?Sized, K>(elements: &E, known: &HashMap<K, (i64, i64)>) {
    let mut expected: Vec<(i64, i64)> = known.values().copied().collect();
    expected.sort_unstable();
    let room = || vec![MaybeUninit::new(0); elements.count()];
    for most in [MAX_PARTITION_GROUPS, 40, 0] {
        for threads in [1, 3] {
            let (mut last, mut count) = (room(), room());
            let found = Found { last: &mut last, count: &mut count };
            let many = distinct_within(most, elements, found, &Turns(threads)).unwrap();
            // SAFETY: they were written at the beginning.
            let of = |room: &[MaybeUninit<i64>], at: usize| unsafe { room[at].assume_init() };
            let found: Vec<(i64, i64)> =
                (0..many).map(|at| (of(&last, at), of(&count, at))).collect();
            assert!(found == expected, "tables of {most}, {threads} threads");
        }
    }
}

/// A team whose members take turns: each does the whole of what is left when it begins.
struct Turns(usize);

impl Team for Turns {
    fn threads(&self) -> usize {
        self.0
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        // The first members take one piece each.
        let mut next = 0;
        for _ in 1..self.0 {
            let mut left = 1;
            work(&mut || {
                (left > 0 && next < count).then(|| {
                    left -= 1;
                    next += 1;
                    next - 1
                })
            });
        }
        // The last one goes back to earlier pieces, as a thread does that helps another one.
        let middle = next + (count - next) / 2;
        let mut rest = (middle..count).chain(next..middle);
        work(&mut || rest.next());
    }

    fn stopped(&self) -> bool {
        false
    }

    fn reserve(&self, _bytes: u64) -> bool {
        true
    }

    fn release(&self, _bytes: u64) {}
}

fn ints(ints: &[i64]) {
    check(ints, ints);
}

#[test]
fn ints_are_grouped_by_tables_and_by_buckets() {
    ints(&[]);
    ints(&[7]);
    ints(&[3, 1, 3, i64::MIN, i64::MAX, 1, 3]);
    check(&[-1i32, 5, -1, i32::MIN][..], &[-1, 5, -1, i32::MIN]);
    let random = |i: i64| crate::random::bits(5, i) as i64;
    ints(&(0..100_000).map(|i| random(i) % 1000).collect::<Vec<i64>>());
    ints(&(0..70_000).map(|i| random(i) % 30).collect::<Vec<i64>>());
    ints(&(0..50_000).map(random).collect::<Vec<i64>>());
    ints(&(0..50_000).map(|i| i / 7).collect::<Vec<i64>>());
    // One element is half of all: its bucket is much larger than the others.
    ints(&(0..200_000).map(|i| if i % 2 == 0 { 5 } else { random(i) }).collect::<Vec<i64>>());
    ints(&(0..200_000).map(|i| i % 50_000).collect::<Vec<i64>>());
    ints(&(0..100_001).map(|i| i % 5 - 2).collect::<Vec<i64>>());
    ints(&(0..100_003).map(|i| i % 1024).collect::<Vec<i64>>());
    let chars: Vec<u8> = (0..70_001).map(|i| random(i) as u8 | 1).collect();
    check(&chars[..], &chars);
}

#[test]
fn texts_are_grouped_by_what_they_say() {
    for (count, different) in [(0, 1), (1, 1), (3000, 10), (20_000, 5000)] {
        let random = |i: i64| crate::random::bits(6, i) as u64 as usize % different;
        let mut pool = Vec::new();
        let (mut starts, mut lengths, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..count {
            let word = random(i);
            let text = "abcdefghij".repeat(word % 4)[..word % 37 % (1 + word % 4 * 10)].to_owned();
            let text = format!("{text}{}", word / 2);
            starts.push(pool.len() as i64);
            lengths.push(text.len() as i64);
            pool.extend(text.bytes());
            all.push(text);
        }
        // SAFETY: the texts are there.
        let texts = unsafe { Texts::new(&starts, &lengths, pool.as_ptr()) };
        check(&texts, &all);
    }
}

#[test]
fn who_is_stopped_stops() {
    let stop = AtomicBool::new(true);
    let (mut last, mut count) = (Vec::new(), Vec::new());
    let done = groups_into(
        &[1i64; 2 * MAX_ONE_TABLE_ELEMENTS][..],
        &mut last,
        &mut count,
        &CallingThread(Some(&stop)),
    );
    assert_eq!(done, Err(FaultCode::Interrupted));
}
