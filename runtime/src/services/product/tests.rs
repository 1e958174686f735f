//! Products against sums that are added up in the order that the module promises.

use super::*;
use crate::services::sort::{CallingThread, Work};

/// The elements of a matrix whose rows lie apart from each other, in descending order.
struct Rows<T> {
    pool: Vec<T>,
    starts: Vec<i64>,
}

impl<T: Float> Rows<T> {
    fn new(rows: usize, length: usize, element: impl Fn(usize, usize) -> T) -> Rows<T> {
        let mut pool = vec![T::ZERO; rows * (length + 3) + 1];
        let starts: Vec<i64> = (0..rows).rev().map(|row| (row * (length + 3) + 1) as i64).collect();
        for (row, start) in starts.iter().enumerate() {
            for at in 0..length {
                pool[*start as usize + at] = element(row, at);
            }
        }
        Rows { pool, starts }
    }

    fn factor(&self, turned: bool) -> Factor<'_, T> {
        // SAFETY: each row has as many elements as the tests multiply.
        unsafe { Factor::new(self.pool.as_ptr(), &self.starts, turned) }
    }

    fn at(&self, row: usize, at: usize) -> T {
        self.pool[self.starts[row] as usize + at]
    }
}

/// The sum of an element's products, in the order of [`product`].
fn sum<T: Float>(sizes: Sizes, one: impl Fn(usize) -> (T, T), fused: fn(T, T, T) -> T) -> T {
    let chunks = |from: usize, to: usize| {
        let chunk = |from: usize| {
            (from..(from + CHUNK).min(to)).fold(T::ZERO, |sum, k| {
                let (x, y) = one(k);
                fused(x, y, sum)
            })
        };
        let first = chunk(from);
        (from + CHUNK..to).step_by(CHUNK).fold(first, |sum, from| sum.plus(chunk(from)))
    };
    let part = PART_CHUNKS * CHUNK;
    if sizes.rows * sizes.columns > MAX_PART_ELEMENTS || sizes.depth < 2 * part {
        return chunks(0, sizes.depth);
    }
    let parts = |from: usize| chunks(from, (from + part).min(sizes.depth));
    (part..sizes.depth).step_by(part).fold(parts(0), |sum, from| sum.plus(parts(from)))
}

/// Two threads that take numbers in turns, one after the other, so that tasks mix.
struct Threads(usize);

impl Team for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn each(&self, count: usize, work: &Work<'_>) {
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    work(&mut || Some(next.fetch_add(1, Relaxed)).filter(|n| *n < count))
                });
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

fn check<T: Float + PartialEq + std::fmt::Debug>(
    sizes: Sizes,
    turned: [bool; 2],
    value: fn(f64) -> T,
    bits: fn(T) -> u64,
    fused: fn(T, T, T) -> T,
) {
    let Sizes { rows, columns, depth } = sizes;
    let element = |seed: usize| {
        move |row: usize, at: usize| value(((row * 31 + at * 17 + seed) % 101) as f64 / 7.0 - 6.0)
    };
    let stored = |own, turned| if turned { (depth, own) } else { (own, depth) };
    let (left, right) = (stored(rows, turned[0]), stored(columns, turned[1]));
    let left = Rows::new(left.0, left.1, element(1));
    let right = Rows::new(right.0, right.1, element(5));
    let at = |rows: &Rows<T>, own: usize, k: usize, turned: bool| {
        if turned { rows.at(k, own) } else { rows.at(own, k) }
    };
    let expected = (0..rows * columns).map(|n| {
        let (i, j) = (n / columns, n % columns);
        sum(sizes, |k| (at(&left, i, k, turned[0]), at(&right, j, k, turned[1])), fused)
    });
    let expected: Vec<u64> = expected.map(bits).collect();
    for (number, tile) in T::tiles().into_iter().enumerate() {
        // The portable tile rounds twice where vectors need not be there.
        if number == 0 && cfg!(target_arch = "x86_64") {
            continue;
        }
        for team in [&CallingThread(None) as &dyn Team, &Threads(3)] {
            let mut out = vec![MaybeUninit::new(value(7.0)); rows * columns];
            let factors = (left.factor(turned[0]), right.factor(turned[1]));
            product_by(tile, factors.0, factors.1, sizes, &mut out, team).unwrap();
            // SAFETY: everything was initialised.
            let found: Vec<u64> = out.iter().map(|x| bits(unsafe { x.assume_init() })).collect();
            assert!(found == expected, "{sizes:?} {turned:?} {number}");
        }
    }
}

fn check_both(rows: usize, columns: usize, depth: usize, turned: [bool; 2]) {
    let sizes = Sizes { rows, columns, depth };
    check::<f64>(sizes, turned, |x| x, f64::to_bits, |x, y, sum| x.mul_add(y, sum));
    let bits = |x: f32| u64::from(x.to_bits());
    check::<f32>(sizes, turned, |x| x as f32, bits, |x, y, sum| x.mul_add(y, sum));
}

#[test]
fn products_of_all_shapes_have_the_promised_bits() {
    let sizes = [
        (1, 1, 1),
        (1, 7, 3),
        (9, 1, 5),
        (8, 24, 256),
        (17, 49, 257),
        (70, 33, 600),
        (130, 120, 90),
    ];
    for (rows, columns, depth) in sizes {
        for turned in [[false, false], [false, true], [true, false], [true, true]] {
            check_both(rows, columns, depth, turned);
        }
    }
}

#[test]
fn much_for_a_small_result_is_added_part_by_part() {
    check_both(5, 7, 2 * PART_CHUNKS * CHUNK + 300, [true, true]);
}

#[test]
fn nothing_is_a_product_too() {
    let none = Rows::<f64>::new(3, 0, |_, _| 0.0);
    let sizes = Sizes { rows: 3, columns: 3, depth: 0 };
    let mut out = [MaybeUninit::new(1.0); 9];
    let team = CallingThread(None);
    product(none.factor(false), none.factor(false), sizes, &mut out, &team).unwrap();
    // SAFETY: everything was initialised.
    assert!(out.iter().all(|x| unsafe { x.assume_init() } == 0.0));
    let sizes = Sizes { rows: 0, columns: 3, depth: 0 };
    product(none.factor(false), none.factor(false), sizes, &mut [], &team).unwrap();
}

#[test]
fn a_matrix_with_itself_is_symmetric_and_the_same() {
    let sizes = Sizes { rows: 150, columns: 150, depth: 300 };
    let element = |row: usize, at: usize| ((row * 13 + at * 7) % 29) as f64 / 3.0;
    let (one, other) = (Rows::new(150, 300, element), Rows::new(150, 300, element));
    let run = |left: &Rows<f64>, right: &Rows<f64>| {
        let mut out = vec![MaybeUninit::uninit(); 150 * 150];
        let team = Threads(2);
        product(left.factor(false), right.factor(false), sizes, &mut out, &team).unwrap();
        // SAFETY: everything was initialised.
        out.into_iter().map(|x| unsafe { x.assume_init() }).collect::<Vec<f64>>()
    };
    assert_eq!(run(&one, &one), run(&one, &other));
}

#[test]
fn special_values_go_through() {
    let element = |row: usize, at: usize| match (row, at) {
        (2, 3) => f64::NAN,
        (5, 1) => f64::INFINITY,
        _ => 1.0,
    };
    let (left, right) = (Rows::new(9, 4, element), Rows::new(5, 4, |_, _| 2.0));
    let sizes = Sizes { rows: 9, columns: 5, depth: 4 };
    let mut out = vec![MaybeUninit::uninit(); 45];
    product(left.factor(false), right.factor(false), sizes, &mut out, &CallingThread(None))
        .unwrap();
    for (at, x) in out.iter().enumerate() {
        // SAFETY: everything was initialised.
        let x = unsafe { x.assume_init() };
        match at / 5 {
            2 => assert!(x.is_nan()),
            5 => assert_eq!(x, f64::INFINITY),
            _ => assert_eq!(x, 8.0),
        }
    }
}

#[test]
fn a_team_that_is_told_to_stop_stops() {
    let stop = AtomicBool::new(true);
    let rows = Rows::new(40, 40, |_, _| 1.0_f64);
    let sizes = Sizes { rows: 40, columns: 40, depth: 40 };
    let mut out = vec![MaybeUninit::uninit(); 1600];
    let team = CallingThread(Some(&stop));
    let done = product(rows.factor(false), rows.factor(true), sizes, &mut out, &team);
    assert_eq!(done, Err(FaultCode::Interrupted));
}
