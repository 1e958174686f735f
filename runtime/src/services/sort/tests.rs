//! Against the sort of the standard library.

use super::*;
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::atomic::AtomicUsize;
use std::thread::scope;

/// Some threads, made anew each time.
struct Threads(usize);

impl Team for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        let numbers = std::sync::Mutex::new(0..count);
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

/// The places of the keys in their order.
fn places<T: Key + PartialOrd>(keys: &[T], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|a, b| {
        let (a, b) = (keys[*a], keys[*b]);
        let (first, second) = if order == Order::Up { (a, b) } else { (b, a) };
        first.partial_cmp(&second).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    });
    places
}

fn check<T: Key + PartialOrd + Debug>(keys: &[T])
where
    T::Word: Debug + PartialEq,
{
    for order in [Order::Up, Order::Down] {
        let places = places(keys, order);
        for team in [&CallingThread(None) as &dyn Team, &Threads(3)] {
            let mut ranks = Vec::with_capacity(keys.len());
            rank(keys, order, &mut ranks.spare_capacity_mut()[..keys.len()], team).unwrap();
            // SAFETY: they were all written.
            unsafe { ranks.set_len(keys.len()) };
            for (rank, place) in places.iter().enumerate() {
                assert_eq!(ranks[*place], rank as i64, "{order:?}");
            }
            let mut sorted = Vec::with_capacity(keys.len());
            sort(keys, order, &mut sorted.spare_capacity_mut()[..keys.len()], team).unwrap();
            // SAFETY: they were all written.
            unsafe { sorted.set_len(keys.len()) };
            for (place, key) in places.iter().zip(sorted) {
                assert_eq!(keys[*place].raw(), key.raw(), "{order:?}");
            }
        }
    }
}

fn bits(count: usize) -> impl Iterator<Item = u64> {
    (0..count).map(|i| crate::random::bits(7, i as i64) as u64)
}

#[test]
fn few() {
    check::<i64>(&[]);
    check(&[5i64]);
    check(&[f64::NAN, 1.0, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN, 0.0, -0.0]);
    check(&[2u8, 255, 0, 2]);
    check(&[i64::MAX, i64::MIN, 0, -1]);
}

#[test]
fn many() {
    for count in [100, 5000, 100_000] {
        let ints: Vec<i64> = bits(count).map(|x| x as i64).collect();
        check(&ints);
        check(&ints.iter().map(|x| x >> 20 & 0xff_ffff).collect::<Vec<i64>>());
        check(&ints.iter().map(|x| x >> 20 & 0xff).collect::<Vec<i64>>());
        // Counted, for ranks, with a table for each thread.
        check(&ints.iter().map(|x| (x >> 20 & 0x1fff) - 77).collect::<Vec<i64>>());
        check(&ints.iter().map(|x| *x as i32).collect::<Vec<i32>>());
        check(&ints.iter().map(|x| *x as u8).collect::<Vec<u8>>());
    }
}

#[test]
fn crowds() {
    let count = 40_000;
    // One far away; a geometric distribution; runs; descending.
    let mut ints: Vec<i64> = bits(count).map(|x| (x >> 40) as i64).collect();
    ints[17] = i64::MIN;
    check(&ints);
    check(&bits(count).map(|x| 1 << (x % 63) | (x >> 60) as i64).collect::<Vec<i64>>());
    check(&(0..count as i64).map(|i| i / 1000).collect::<Vec<i64>>());
    check(&(0..count as i64).rev().collect::<Vec<i64>>());
    check(&vec![3i64; count]);
}

#[test]
fn floats() {
    let count = 40_000;
    let unit: Vec<f64> = bits(count).map(|x| (x >> 11) as f64 / (1u64 << 53) as f64).collect();
    check(&unit);
    check(&unit.iter().map(|x| -(x.ln())).collect::<Vec<f64>>());
    check(&unit.iter().map(|x| (x * 10.0).floor() * -0.0).collect::<Vec<f64>>());
    check(&unit.iter().map(|x| *x as f32 - 0.5).collect::<Vec<f32>>());
    let any: Vec<f64> = bits(count).map(f64::from_bits).collect();
    check(&any);
    let mut some = unit;
    for (x, y) in
        some.iter_mut().zip([f64::NAN, f64::INFINITY, -0.0, f64::NEG_INFINITY, 0.0, 1e300])
    {
        *x = y;
    }
    check(&some);
}

#[test]
fn who_is_stopped_stops() {
    let stop = AtomicBool::new(true);
    let keys: Vec<i64> = bits(10_000).map(|x| x as i64).collect();
    let mut ranks = vec![MaybeUninit::uninit(); keys.len()];
    let done = rank(&keys, Order::Up, &mut ranks, &CallingThread(Some(&stop)));
    assert_eq!(done, Err(FaultCode::Interrupted));
}

/// One thread, told to stop when it asks for the so manieth time.
struct Asking {
    most: usize,
    asked: AtomicUsize,
}

impl Asking {
    fn at_most(most: usize) -> Asking {
        Asking { most, asked: AtomicUsize::new(0) }
    }
}

impl Team for Asking {
    fn threads(&self) -> usize {
        1
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        let mut numbers = 0..count;
        work(&mut || numbers.next());
    }

    fn stopped(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.most
    }

    fn reserve(&self, _bytes: u64) -> bool {
        true
    }

    fn release(&self, _bytes: u64) {}
}

/// Work that a team does.
type Watched<'w> = &'w mut dyn FnMut(&Asking) -> Result<(), FaultCode>;

/// Sorts, and ranks, with a team that is never told to stop, and one that is told after half of its looks. There
/// are at least so many looks in either.
fn looks_often<T: Key>(keys: &[T], least: usize) {
    let (mut out, mut ranks) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
    let (out, ranks) = (out.spare_capacity_mut(), ranks.spare_capacity_mut());
    let mut sorting = |team: &Asking| sort(keys, Order::Up, &mut out[..keys.len()], team);
    let mut ranking = |team: &Asking| rank(keys, Order::Up, &mut ranks[..keys.len()], team);
    let both: [Watched<'_>; 2] = [&mut sorting, &mut ranking];
    for work in both {
        let team = Asking::at_most(usize::MAX);
        assert_eq!(work(&team), Ok(()));
        let asked = team.asked.into_inner();
        assert!(asked >= least, "{asked} looks");
        assert_eq!(work(&Asking::at_most(asked / 2)), Err(FaultCode::Interrupted));
        assert_eq!(work(&Asking::at_most(0)), Err(FaultCode::Interrupted));
    }
}

#[test]
fn every_way_to_sort_looks_whether_it_is_to_stop() {
    let count = 1 << 21;
    // In order already; of few values; any; zeros and NaNs, which are put back.
    looks_often(&(0..count).collect::<Vec<i64>>(), 8);
    looks_often(&(0..count).map(|i| i * 31 % 1009).collect::<Vec<i64>>(), 16);
    looks_often(&(0..count).map(|i| (i * 31 % 1009) << 40).collect::<Vec<i64>>(), 24);
    let floats = (0..count).map(|i| if i % 2 == 0 { f64::NAN } else { (i % 1000) as f64 * -0.0 });
    looks_often(&floats.collect::<Vec<f64>>(), 24);
}

#[test]
fn room_is_touched_page_by_page_before_words_are_scattered() {
    let mut room: Vec<MaybeUninit<u64>> = vec![MaybeUninit::new(7); 4 << 20];
    let team = Asking::at_most(3);
    assert_eq!(radix::touch(&mut room, &team), Err(FaultCode::Interrupted));
    // Each look is after a part of the room: 2 MB of its 32.
    assert_eq!(team.asked.into_inner(), 5);
    let written = |word: &MaybeUninit<u64>| {
        // SAFETY: all were initialised.
        unsafe { word.assume_init() != 7 }
    };
    assert_eq!(room.iter().filter(|word| written(word)).count(), 4 << 9);
    assert_eq!(radix::touch(&mut room, &CallingThread(None)), Ok(()));
    assert_eq!(room.iter().filter(|word| written(word)).count(), 16 << 9);
}

proptest! {
    #[test]
    fn any_floats(keys: Vec<f32>) {
        check(&keys);
    }

    #[test]
    fn any_ints(keys: Vec<i64>) {
        check(&keys);
    }
}
