//! Against the sort of the standard library.

use super::*;
use proptest::prelude::*;
use std::fmt::Debug;
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
