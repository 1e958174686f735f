//! Tests that sequences which are rearranged and then read move no elements: whoever reads them computes the
//! positions. Each program is measured by its launches, and by the elements that it stores beside its inputs.

mod counted;

use expect_test::expect;
use nesl_engine::session::{Strategy, Version};
use std::fmt::Write as _;

/// The inputs: two sequences of 4096 floats, and the 256 rows that they consist of.
const INPUTS: &str = "a = {float(i) : i in [0:4096]}; b = {float(i) * 2.0 : i in [0:4096]};
    x = partition(a, dist(256, 16)); y = partition(b, dist(256, 16));";

/// Programs that read what they rearrange.
const PROGRAMS: [&str; 25] = [
    "sum(rotate(a, 3))",
    "sum(even_elts(a))",
    "sum(odd_elts(a))",
    "sum(subseq(a, 5, 4000) -> [0:3000:7])",
    "sum(a ++ b)",
    "sum(a ++ b ++ a)",
    "#(a ++ b)",
    "sum(cons(1.0, a))",
    "sum(snoc(a, 1.0))",
    "sum([0.0] ++ drop(a, -1))",
    "sum(plus_scan(a ++ b))",
    "sum({u * v : u in a; v in rotate(a, 1)})",
    "sum({u - v : u in a; v in cons(0.0, drop(a, -1))})",
    "sum({u * v : u in a; v in reverse(b)})",
    "sum({u - v : u in rotate(a, 1); v in rotate(b, 3)})",
    "sum({u * v : u in a; v in b; i in index(#b) | evenp(i)})",
    "sum({u * v : u in even_elts(a); v in odd_elts(b)})",
    "sum({sum({p * q : p in u; q in reverse(v)}) : u in x; v in y})",
    "sum({u in a ++ b | u > 3.0})",
    "sum({w : (u, w) in zip(a, b) ++ zip(b, a)})",
    "sum(interleave(a, b))",
    "sum({sum(rotate(u, 3)) : u in x})",
    "sum({sum(even_elts(u)) : u in x})",
    "sum({sum(u ++ v) : u in x; v in y})",
    "sum({sum(cons(1.0, u)) : u in x})",
];

/// Returns the launches of a form, and the number of elements that it stores at a time.
fn measure(form: &str, strategy: Strategy) -> (u64, u64) {
    let mut session = counted::session(strategy);
    let before = counted::enter(&mut session, form, INPUTS);
    let after = counted::enter(&mut session, form, &format!("{form};"));
    (after.launches - before.launches, after.peak_bytes.saturating_sub(before.bytes) / 8)
}

#[test]
fn what_is_only_read_is_not_moved() {
    let mut table =
        format!("{:52}{:>24}{:>24}\n", "launches, elements stored", "flattened", "chosen");
    for form in PROGRAMS {
        let _ = write!(table, "{form:52}");
        for strategy in [Strategy::Always(Version::Flattened), Strategy::Auto] {
            let (launches, stored) = measure(form, strategy);
            let _ = write!(table, "{launches:>14}{stored:>10}");
        }
        table.push('\n');
    }
    expect![[r#"
        launches, elements stored                                          flattened                  chosen
        sum(rotate(a, 3))                                                1         1             1         1
        sum(even_elts(a))                                                1         1             1         1
        sum(odd_elts(a))                                                 1         1             1         1
        sum(subseq(a, 5, 4000) -> [0:3000:7])                            1         1             1         1
        sum(a ++ b)                                                      2         1             2         1
        sum(a ++ b ++ a)                                                 2         2             2         2
        #(a ++ b)                                                        1         0             1         0
        sum(cons(1.0, a))                                                2         2             2         2
        sum(snoc(a, 1.0))                                                2         2             2         2
        sum([0.0] ++ drop(a, -1))                                        2         2             2         2
        sum(plus_scan(a ++ b))                                           1         1             1         1
        sum({u * v : u in a; v in rotate(a, 1)})                         1         1             1         1
        sum({u - v : u in a; v in cons(0.0, drop(a, -1))})               2         1             2         1
        sum({u * v : u in a; v in reverse(b)})                           1         1             1         1
        sum({u - v : u in rotate(a, 1); v in rotate(b, 3)})              1         1             1         1
        sum({u * v : u in a; v in b; i in index(#b) | evenp(i)})             1         1             1         1
        sum({u * v : u in even_elts(a); v in odd_elts(b)})               1         1             1         1
        sum({sum({p * q : p in u; q in reverse(v)}) : u in x; v in y})             3        34             2        17
        sum({u in a ++ b | u > 3.0})                                     1         1             1         1
        sum({w : (u, w) in zip(a, b) ++ zip(b, a)})                      1         1             1         1
        sum(interleave(a, b))                                            1         1             1         1
        sum({sum(rotate(u, 3)) : u in x})                                3        49             2        17
        sum({sum(even_elts(u)) : u in x})                                3        50             2        17
        sum({sum(u ++ v) : u in x; v in y})                              4        82             2        17
        sum({sum(cons(1.0, u)) : u in x})                                3        49             2        17
    "#]].assert_eq(&table);
}

/// Halves of halves of a matrix, which at the second level are lists at several elements: they are views.
#[test]
fn lists_of_parts_of_one_array_are_views() {
    let matrix = "m = {{float(i + j) : j in [0:64]} : i in [0:512]};";
    let form = "sum({sum({#q : q in bottop(h)}) : h in bottop(m)})";
    let mut session = counted::session(Strategy::Always(Version::Flattened));
    let before = counted::enter(&mut session, form, matrix);
    assert!(before.bytes >= 512 * 64 * 8);
    let after = counted::enter(&mut session, form, &format!("{form};"));
    let stored = after.peak_bytes - before.bytes;
    assert!(stored < 8192, "{stored} bytes for descriptors of {} bytes", before.bytes);
}
