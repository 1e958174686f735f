//! Tests that what is read of a sorted sequence is selected where that is a small part, with the values and faults
//! of the program as it is written.

mod counted;
mod shown;

use nesl_engine::session::{Strategy, Version};
use shown::shown;

/// The inputs: 20,000 floats, some of them nan, 0.0 and -0.0; ints of which many are equal, and shorter ones.
const INPUTS: &str = "n = 20000;
    a = {(if rem(i, 1000) == 7 then 0.0 / 0.0 else if rem(i, 500) == 3 then -0.0 else
          float(rem(i * 7919, 20011)) - 100.0) : i in [0:n]};
    k = {rem(i * 7919, 101) : i in [0:n]};
    e = {5 : i in [0:n]};
    few = take(k, 100);
    none = [] float;
    s = sort(a); up = permute(index(n), rank(k)); down = permute(a, rank_down(a)); z = {code_char(97 + rem(x, 26)) : x in k};";

/// Programs that read a part of a sorted sequence, and what they mean.
const PROGRAMS: [(&str, &str); 22] = [
    ("take(sort(a), 10)", "take(s, 10)"),
    ("take(sort(a), -10)", "take(s, -10)"),
    ("subseq(sort(a), 9000, 9100)", "subseq(s, 9000, 9100)"),
    ("subseq(sort(a), 50, 15000)", "subseq(s, 50, 15000)"),
    ("take(reverse(sort(a)), 30)", "take(reverse(s), 30)"),
    ("drop(reverse(sort(a)), n - 5)", "drop(reverse(s), n - 5)"),
    ("[sort(a)[n / 2]]", "[s[n / 2]]"),
    ("[reverse(sort(a))[40]]", "[reverse(s)[40]]"),
    ("let q = sort(a) in [q[n / 4], q[n / 2], q[n - 1]]", "[s[n / 4], s[n / 2], s[n - 1]]"),
    ("take(permute(index(n), rank(k)), 50)", "take(up, 50)"),
    ("subseq(permute(z, rank(k)), 7000, 7010)", "subseq(z -> up, 7000, 7010)"),
    ("take(permute(index(n), rank(e)), 5)", "[0:5]"),
    ("take(permute(a, rank_down(a)), 40)", "take(down, 40)"),
    ("subseq(permute(a, rank_down(a)), 19950, 20000)", "subseq(down, 19950, 20000)"),
    ("let q = permute(a, rank_down(a)) in [q[500], q[n / 2]]", "[down[500], down[n / 2]]"),
    ("subseq(sort(e), 700, 703)", "[5, 5, 5]"),
    ("take(sort(few), 3)", "[0, 1, 2]"),
    ("[kth_smallest(a, 12345)]", "[s[12345]]"),
    ("[median(k)]", "[sort(k)[n / 2]]"),
    ("[kth_smallest(a, n - 1)]", "[s[n - 1]]"),
    ("take(sort(none), 0)", "none"),
    ("let q = sort(few) in [q[0], q[99]]", "[0, 100]"),
];

const STRATEGIES: [Strategy; 3] =
    [Strategy::Always(Version::Flattened), Strategy::Always(Version::Sequential), Strategy::Auto];

#[test]
fn what_is_selected_is_what_sorting_gives() {
    for strategy in STRATEGIES {
        let mut session = counted::session(strategy);
        counted::enter(&mut session, "inputs", INPUTS);
        for (form, meaning) in PROGRAMS {
            // Texts tell apart what comparisons do not: nans, and the two zeros.
            let text = format!("x = {{@y : y in {form}}}; y = {{@y : y in {meaning}}}; eql(x, y);");
            assert_eq!(shown(&mut session, &text), "T", "{form}, {strategy:?}");
        }
    }
}

#[test]
fn what_lies_outside_of_a_sorted_sequence_is_a_fault_of_the_program() {
    let faults = [
        ("sort(a)[n]", "index 20000, length 20000"),
        ("sort(a)[-1]", "index -1, length 20000"),
        ("reverse(sort(a))[n + 1]", "index 20001, length 20000"),
        ("let q = sort(a) in (q[1], q[n + 2])", "index 20002, length 20000"),
        ("take(sort(a), n + 3)", "cannot take 20003 of 20000"),
        ("take(permute(few, rank(k)), 1)", "lengths 100 and 20000"),
        ("permute(few, rank(k))[0]", "lengths 100 and 20000"),
        ("let q = permute(few, rank(k)) in if n > 5 then 0 else q[0]", "lengths 100 and 20000"),
        ("subseq(sort(a), 5, n + 1)", "20001"),
        ("subseq(reverse(sort(a)), 5, n + 1)", "20001"),
        ("median(none)", "out of bounds"),
    ];
    for strategy in STRATEGIES {
        let mut session = counted::session(strategy);
        counted::enter(&mut session, "inputs", INPUTS);
        for (form, fault) in faults {
            let message = shown(&mut session, &format!("{form};"));
            assert!(message.contains(fault), "{form}, {strategy:?}: {message}");
        }
    }
}

#[test]
fn a_selection_does_not_write_all_elements() {
    for form in ["sum(take(sort(a), 10))", "sort(a)[n / 2]", "sum(take(reverse(sort(a)), 10))"] {
        let mut session = counted::session(Strategy::Auto);
        let before = counted::enter(&mut session, form, INPUTS);
        let before = counted::enter(&mut session, form, "#a;").peak_bytes.max(before.bytes);
        let after = counted::enter(&mut session, form, &format!("{form};"));
        let written = after.peak_bytes.saturating_sub(before) / 8;
        assert!(written < 12_000, "{form}: {written} elements beside 20,000");
    }
}
