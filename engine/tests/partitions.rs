//! Tests that sequential code which filters one sequence several times, and appends more than two, gives what the
//! flattened version gives: it stores all parts in one loop, and all that is appended once.

mod counted;
mod shown;

use nesl_engine::session::{Strategy, Version};
use shown::shown;

/// Functions that store parts of a sequence, most of them recursive, so that the parts are needed in memory.
const FUNCTIONS: &str = "
function quicksort(a) =
  if #a < 2 then a
  else let pivot = a[#a / 2];
           less = {x in a | x < pivot}; equal = {x in a | x == pivot}; more = {x in a | x > pivot};
           sides = {quicksort(side) : side in [less, more]}
       in sides[0] ++ equal ++ sides[1];
function five(a, n) : ([int], int) -> [int] =
  if n == 0 then a
  else let b = five({x in a | x > 3}, n - 1); c = five({x in a | x < 3}, 0);
           d = five({x in a | rem(x, 2) == 0}, 0); e = five({x in a | x /= n}, 0);
           g = five({x in a | x == n}, 0)
       in b ++ (c ++ d) ++ e ++ g ++ b;
function both(a, p, n) : ([(float, char)], float, int) -> [(float, char)] =
  if n == 0 then a
  else let low = {x in a | let (key, c) = x in key < p}; high = {x in a | let (key, c) = x in not(key < p)}
       in both(low, p - 1.0, n - 1) ++ both(high, p + 1.0, n - 1);
function late(a, n) : ([int], int) -> [int] =
  if n == 0 then a
  else let low = late({x in a | x < 10}, n - 1); bound = sum(low); high = {x in a | x > bound}
       in low ++ late(high, n - 1) ++ [bound];
function kept(a, n) : ([int], int) -> [int] =
  if n == 0 then a
  else let low = {x in a | x < n}; high = {x in a | x > n};
           ends = if #low > 0 then rep(low, 7, 0) else low
       in kept(ends, n - 1) ++ high ++ low ++ ends;
function grows(a, n) : ([int], int) -> [int] =
  if n == 0 then a else grows((a ++ [n]) ++ [n + 1] ++ {x in a | x == 3}, n - 1);
function faults(a, n) : ([int], int) -> [int] =
  if n == 0 then a
  else faults({x in a | 12 / x > n}, n - 1) ++ faults({x in a | x > n}, n - 1) ++ [n];
";

/// The forms that are executed in both versions, for ten and for 4,000 elements.
const FORMS: [&str; 11] = [
    "quicksort(a)",
    "quicksort({float(x) / 7.0 : x in a})",
    "quicksort({code_char(rem(x, 200)) : x in a})",
    "quicksort(take(a, 0))",
    "quicksort({5 : x in a})",
    "five({rem(x, 9) : x in a}, 3)",
    "both({(float(rem(x, 50)), code_char(97 + rem(x, 26))) : x in a}, 25.0, 3)",
    "late(a, 2)",
    "kept({rem(x, 6) : x in a}, 4)",
    "grows(take(a, 9), 8)",
    "faults({x + 1 : x in a}, 2)",
];

#[test]
fn parts_stored_by_one_loop_are_those_of_the_flattened_version() {
    for inputs in
        ["a = {rem(i * 7919, 10) : i in [0:10]};", "a = {rem(i * 7919, 4001) : i in [0:4000]};"]
    {
        let mut results = [Version::Flattened, Version::Sequential].map(|version| {
            let mut session = counted::session(Strategy::Always(version));
            counted::enter(&mut session, "functions", FUNCTIONS);
            counted::enter(&mut session, "inputs", inputs);
            FORMS.map(|form| {
                // One int that depends on each element and its place.
                let sum = "sum({char_code(c) * (1 + rem(i, 1009)) : c in all; i in [0:#all]})";
                let sum = format!("r = {form}; all = flatten({{@x ++ \",\" : x in r}}); {sum};");
                let shown = shown(&mut session, &sum);
                assert!(shown.parse::<i64>().is_ok(), "{form}: {shown}");
                shown
            })
        });
        let [flattened, sequential] = &mut results;
        for (form, (a, b)) in FORMS.iter().zip(flattened.iter().zip(sequential)) {
            assert_eq!(a, b, "{form}, {inputs}");
        }
    }
}

#[test]
fn a_sequence_sorted_by_parts_is_sorted() {
    for strategy in [Strategy::Always(Version::Sequential), Strategy::Auto] {
        let mut session = counted::session(strategy);
        counted::enter(&mut session, "functions", FUNCTIONS);
        let text = "a = {rem(i * 7919, 20011) : i in [0:20000]}; eql(quicksort(a), sort(a));";
        assert_eq!(shown(&mut session, text), "T", "{strategy:?}");
    }
}

#[test]
fn the_spare_room_of_parts_is_given_back() {
    let text = "function halves(a, n) : ([int], int) -> [int] =
          if n == 0 then a
          else let p = (min_val(a) + max_val(a)) / 2;
                   low = halves({x in a | x < p}, n - 1); high = halves({x in a | x > p}, n - 1)
               in low ++ {x in a | x == p} ++ high;
        a = {rem(i * 7919, 20011) : i in [0:20000]};";
    let mut session = counted::session(Strategy::Always(Version::Sequential));
    counted::enter(&mut session, "halves", text);
    let peak = counted::enter(&mut session, "halves", "#halves(a, 8);").peak_bytes;
    // The elements, their parts at all depths, and the results of the two halves.
    assert!(peak < 6 * 20_000 * 8, "{peak} bytes");
}
