//! Against the services for whole sequences, segment by segment, and against the sort of the standard
//! library.

use super::*;
use crate::services::groups;
use crate::services::sort::CallingThread;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::scope;

/// Some threads, made anew each time, and the number of times that all of them were asked for.
struct Threads(usize, AtomicUsize);

impl Team for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        self.1.fetch_add(1, Relaxed);
        let numbers = Mutex::new(0..count);
        let take = || numbers.lock().unwrap().next();
        scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| work(&mut { take }));
            }
        });
    }

    fn stopped(&self) -> bool {
        false
    }

    fn reserve(&self, _bytes: u64) -> bool {
        true
    }

    fn release(&self, _bytes: u64) {}
}

fn random(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| crate::random::bits(seed, i as i64) as u64)
}

fn offsets(lengths: &[usize]) -> Vec<i64> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + *length as i64);
    }
    offsets
}

/// The lengths of segments: empty ones, short ones, and some of each way to sort.
fn shapes() -> Vec<Vec<usize>> {
    let ragged = random(1, 3000).map(|x| (x % 9) as usize).collect();
    let some = random(2, 60).map(|x| (x % 3000) as usize).collect();
    vec![
        Vec::new(),
        vec![0],
        vec![0, 0, 1, 0, 2, 0],
        ragged,
        some,
        vec![24, 25, 16, 17, 4095, 4096, 5000, 0],
        vec![0, 100_000, 3, 0, 40_000, 4, 4],
    ]
}

fn written<T: Copy>(count: usize, write: impl FnOnce(&mut [MaybeUninit<T>])) -> Vec<T> {
    let mut out = Vec::with_capacity(count);
    write(&mut out.spare_capacity_mut()[..count]);
    // SAFETY: a service writes all of them.
    unsafe { out.set_len(count) };
    out
}

fn check_order<T: Key + Debug>(lengths: &[usize], keys: &[T])
where
    T::Word: Debug + PartialEq,
{
    let offsets = offsets(lengths);
    for order in [Order::Up, Order::Down] {
        let (mut ranks, mut sorted) = (Vec::new(), Vec::new());
        for ends in offsets.windows(2) {
            let keys = &keys[ends[0] as usize..ends[1] as usize];
            let team = &CallingThread(None);
            ranks.extend(written(keys.len(), |out| sort::rank(keys, order, out, team).unwrap()));
            sorted.extend(written(keys.len(), |out| sort::sort(keys, order, out, team).unwrap()));
        }
        let raw = |keys: Vec<T>| keys.into_iter().map(Key::raw).collect::<Vec<_>>();
        let sorted = raw(sorted);
        for team in [&CallingThread(None) as &dyn Team, &Threads(3, AtomicUsize::new(0))] {
            let found = written(keys.len(), |out| rank(keys, &offsets, order, out, team).unwrap());
            assert_eq!(found, ranks);
            let found =
                written(keys.len(), |out| super::sort(keys, &offsets, order, out, team).unwrap());
            assert_eq!(raw(found), sorted);
        }
    }
}

#[test]
fn segments_are_sorted_and_ranked_one_by_one() {
    for lengths in shapes() {
        let total = lengths.iter().sum();
        check_order(&lengths, &random(3, total).map(|x| x as i64).collect::<Vec<_>>());
        check_order(&lengths, &random(4, total).map(|x| x as i64 % 7).collect::<Vec<_>>());
        check_order(&lengths, &random(5, total).map(|x| x as i32).collect::<Vec<_>>());
        check_order(&lengths, &random(6, total).map(|x| x as u8).collect::<Vec<_>>());
        let specials = [f64::NAN, 0.0, -0.0, 1.5, f64::INFINITY, -f64::NAN, -2.0];
        let floats: Vec<f64> = random(7, total).map(|x| specials[x as usize % 7]).collect();
        check_order(&lengths, &floats);
        check_order(&lengths, &random(8, total).map(f64::from_bits).collect::<Vec<_>>());
        check_order(&lengths, &random(9, total).map(|x| x as f32 * -0.5).collect::<Vec<_>>());
    }
}

/// The last equal element of a segment, and the number of equal ones, element by element.
fn naive_groups<T: PartialEq>(offsets: &[i64], all: &[T]) -> (Vec<i64>, Vec<i64>) {
    let (mut last, mut count) = (Vec::new(), Vec::new());
    for ends in offsets.windows(2) {
        let segment = &all[ends[0] as usize..ends[1] as usize];
        for one in segment {
            let equal = || segment.iter().enumerate().filter(|(_, other)| *other == one);
            last.push(equal().last().unwrap().0 as i64);
            count.push(equal().count() as i64);
        }
    }
    (last, count)
}

fn check_groups<E: Elements + ?Sized>(
    elements: &E,
    offsets: &[i64],
    expected: &(Vec<i64>, Vec<i64>),
) {
    let total = elements.count();
    for team in [&CallingThread(None) as &dyn Team, &Threads(3, AtomicUsize::new(0))] {
        let mut last = Vec::new();
        let count = written(total, |count| {
            last = written(total, |last| {
                super::groups(elements, offsets, Found { last, count }, team).unwrap();
            });
        });
        assert!((&last, &count) == (&expected.0, &expected.1));
    }
}

#[test]
fn segments_are_grouped_one_by_one() {
    for lengths in shapes() {
        let offsets = offsets(&lengths);
        let total = lengths.iter().sum();
        for many in [1, 5, 100_000] {
            let ints: Vec<i64> = random(10, total).map(|x| x as i64 % many).collect();
            // The naive way takes too long for the longest.
            let expected = if total > 60_000 {
                let (mut last, mut count) = (Vec::new(), Vec::new());
                for ends in offsets.windows(2) {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    let segment = &ints[ends[0] as usize..ends[1] as usize];
                    groups::groups_into(segment, &mut a, &mut b, &CallingThread(None)).unwrap();
                    last.extend(a);
                    count.extend(b);
                }
                (last, count)
            } else {
                naive_groups(&offsets, &ints)
            };
            check_groups(&ints[..], &offsets, &expected);
            let narrow: Vec<i32> = ints.iter().map(|x| *x as i32).collect();
            check_groups(&narrow[..], &offsets, &expected);
        }
    }
}

#[test]
fn texts_of_segments_are_ranked_and_grouped() {
    let lengths: Vec<usize> = random(11, 300).map(|x| (x % 30) as usize).collect();
    let offsets = offsets(&lengths);
    let total = lengths.iter().sum();
    let all: Vec<String> =
        random(12, total).map(|x| "word".repeat(x as usize % 3) + &(x % 5).to_string()).collect();
    let chars: Vec<u8> = all.iter().flat_map(|text| text.bytes()).collect();
    let sizes: Vec<i64> = all.iter().map(|text| text.len() as i64).collect();
    let mut starts: Vec<i64> = vec![0];
    sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
    starts.pop();
    // SAFETY: the texts are there.
    let texts = unsafe { Texts::new(&starts, &sizes, chars.as_ptr()) };
    check_groups(&texts, &offsets, &naive_groups(&offsets, &all));
    let ranks =
        written(total, |out| rank_texts(&texts, &offsets, out, &CallingThread(None)).unwrap());
    for ends in offsets.windows(2) {
        let segment = ends[0] as usize..ends[1] as usize;
        let mut order: Vec<usize> = (0..segment.len()).collect();
        order.sort_by_key(|index| &all[segment.start + index]);
        for (rank, index) in order.into_iter().enumerate() {
            assert_eq!(ranks[segment.start + index], rank as i64);
        }
    }
}

#[test]
fn pieces_have_all_segments_once_and_about_as_many_elements() {
    for lengths in shapes() {
        let offsets = offsets(&lengths);
        let total: usize = lengths.iter().sum();
        let pieces = pieces(&offsets, total, 2);
        let all: Vec<usize> = pieces.iter().cloned().flatten().collect();
        assert_eq!(all, (0..lengths.len()).collect::<Vec<usize>>());
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let fair = (total + lengths.len()).div_ceil(pieces.len().max(1));
        for piece in pieces {
            let size = (offsets[piece.end] - offsets[piece.start]) as usize + piece.len();
            assert!(size <= fair + longest + 1, "{size} in a piece, {fair} would be fair");
        }
    }
}

#[test]
fn long_segments_are_shared_and_short_ones_are_not() {
    let asked = |lengths: &[usize]| {
        let team = Threads(2, AtomicUsize::new(0));
        let offsets = offsets(lengths);
        let keys: Vec<i64> = random(13, lengths.iter().sum()).map(|x| x as i64).collect();
        written(keys.len(), |out| super::sort(&keys, &offsets, Order::Up, out, &team).unwrap());
        team.1.into_inner()
    };
    // Once for all segments that are not long.
    assert_eq!(asked(&[100; 1000]), 1);
    let one = asked(&[200_000]);
    assert!(one > 1, "the threads share what is to be done for one segment");
    assert_eq!(asked(&[200_000, 200_000, 4, 4]), 2 * one - 1);
}

#[test]
fn who_is_stopped_stops() {
    let stop = AtomicBool::new(true);
    let (keys, offsets) = (vec![1i64; 100], [0, 50, 100]);
    let mut ranks = vec![MaybeUninit::uninit(); keys.len()];
    let done = rank(&keys, &offsets, Order::Up, &mut ranks, &CallingThread(Some(&stop)));
    assert_eq!(done, Err(FaultCode::Interrupted));
}
