//! Tests the library at its edges: empty sequences, bounds, negative counts, numbers at the ends of
//! their range, and NaN. The original system left much of this unchecked.

use nesl_engine::{Event, Session, Settings};

/// Returns the printed value of an expression, or the first line of its error message.
fn eval(session: &mut Session, source: &str) -> String {
    let mut shown = String::new();
    session.enter("edge", &format!("{source};"), &mut |event| match event {
        Event::Bound(binding) => shown = binding.value,
        Event::Diagnostic(diagnostic) => shown = format!("error: {}", diagnostic.message),
        Event::Text(_) => {}
    });
    shown
}

fn check(cases: &[(&str, &str)]) {
    let mut session = Session::new(Settings::default());
    let mut wrong = Vec::new();
    for (source, expected) in cases {
        let found = eval(&mut session, source);
        let right = match expected.strip_prefix("error: ") {
            // Details may follow the expected message in place of its full stop.
            Some(reason) => found.starts_with(expected.trim_end_matches('.')) && !reason.is_empty(),
            None => found == *expected,
        };
        if !right {
            wrong.push(format!("{source}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers() {
    check(&[
        ("2 ^ -1", "error: The power must be nonnegative for ^ ."),
        ("0 ^ 0", "1"),
        ("2 ^ 63 == min_int", "T"),
        ("(-1) ^ max_int", "-1"),
        ("isqrt(-1)", "error: Sqrt of negative number."),
        ("isqrt(max_int)", "3037000499"),
        ("isqrt(3037000499 * 3037000499 - 1)", "3037000498"),
        ("{isqrt(n) : n in [0:5]}", "[0, 1, 1, 1, 2]"),
        ("gcd(0, 0)", "0"),
        ("log(-8.0, 2.0)", "error: Ln of negative number."),
        ("expt(-1.0, 2.0)", "error: Ln of negative number."),
        ("expt(0.0, 0.0)", "1.0"),
        ("hash(1, 0)", "error: The second argument for the function HASH must be positive."),
        ("hash(\"x\", 1)", "0"),
    ]);
}

#[test]
fn sequences() {
    check(&[
        ("index(-2)", "error: A length must not be negative."),
        ("dist(1, -1)", "error: A length must not be negative."),
        ("zip([1], [1, 2])", "error: Length mismatch in function ZIP."),
        ("take([1, 2, 3], min_int)", "error: Bounds error for function TAKE."),
        ("take([1, 2, 3], 4)", "error: Bounds error for function TAKE."),
        ("drop([1, 2], 3)", "error: Bounds error for function DROP."),
        ("take([] int, 0)", "[]"),
        ("rotate([] int, 3)", "[]"),
        ("rotate([1, 2, 3], min_int)", "[3, 1, 2]"),
        ("rotate([1, 2, 3], max_int)", "[3, 1, 2]"),
        ("even_elts([] int)", "[]"),
        ("odd_elts([] int)", "[]"),
        ("max_index([] int)", "error: Empty sequence in function MAX_INDEX."),
        ("min_index([] float)", "error: Empty sequence in function MIN_INDEX."),
        ("interleave([1], [2, 3])", "error: Length mismatch for function INTERLEAVE."),
        ("interleave([1, 2], [3])", "[1, 3, 2]"),
        ("length_from_flags([f, f, t])", "[2, 1]"),
        ("previous([] int, 0)", "[]"),
        ("next([] int, 0)", "[]"),
        ("put([1], [5], [0, 0])", "error: Index out of bounds"),
        ("put([1, 2], [0], [0, 0])", "error: Length mismatch in function PUT."),
        ("put([1, 2], [0, 0], [9, 9])", "[2, 9]"),
        ("rep([1], 2, 1)", "error: Index out of bounds for function REP."),
        ("cond_put([1], [7], [f], [0])", "[0]"),
        ("cond_put([1], [7], [t], [0])", "error: Index out of bounds"),
        ("permute([1, 2], [0, 0])", "error: Bad arguments to function PERMUTE."),
        ("join([1], [0], [2], [0])", "error: Bad arguments"),
        ("join([1], [0], [2], [2])", "error: Bad arguments"),
        ("flag_merge([t], [1], [] int)", "error: Length mismatch in function FLAG_MERGE."),
        ("unpack([] int, [f, f])", "[0, 0]"),
        ("unpack([1], [f, f])", "error: Length mismatch in function UNPACK."),
        ("unpack([\"a\"], [f, t])", "[\"\", \"a\"]"),
        ("vsep([1])", "error: Sequence reference (a[i]) out of bounds."),
    ]);
}

#[test]
fn nesting() {
    check(&[
        ("partition([1, 2, 3], [-1, 4])", "error: Length mismatch in function PARTITION."),
        ("split([1], [t, f])", "error: Length mismatch in function SPLIT."),
        ("bottop([] int)", "[[], []]"),
        ("head_rest([] int)", "error: Sequence reference (a[i]) out of bounds."),
        ("rest_tail([] int)", "error: Sequence reference (a[i]) out of bounds."),
        ("transpose([] [int])", "[]"),
        ("transpose([[] int, [] int])", "[]"),
        ("transpose([[[1, 2]], [[3]]])", "[[[1, 2], [3]]]"),
        ("group_by([1, 2, 3], 0)", "error: The size must be positive in function GROUP_BY."),
        ("group_by([] int, 3)", "[]"),
        ("group_by([1, 2, 3], max_int)", "[[1, 2, 3]]"),
        ("kth_smallest([3, 1, 2], -5)", "1"),
        ("kth_smallest([3, 1, 2], 50)", "3"),
        ("kth_smallest([] int, 0)", "error: Sequence reference (a[i]) out of bounds."),
        (
            "{kth_smallest({rem(i * 37, 101) : i in [0:101]}, k) : k in [0, 50, 100]}",
            "[0, 50, 100]",
        ),
        ("median(dist(7, 100))", "7"),
        ("{kth_smallest([nan, 1.0, nan, 0.5], k) : k in [0:4]}", "[0.5, 1.0, nan, nan]"),
        ("find(3, [] int)", "-1"),
        ("search_for_subseqs(\"\", \"abc\")", "[0, 1, 2, 3]"),
        ("search_for_subseqs(\"abcd\", \"abc\")", "[]"),
    ]);
}

#[test]
fn sets_and_tables() {
    check(&[
        ("name([] int)", "[]"),
        ("name([nan, nan, 1.0, 1.0])", "[0, 1, 3, 3]"),
        ("name([0.0, -0.0])", "[1, 1]"),
        ("#remove_duplicates(dist(nan, 5000))", "5000"),
        ("#remove_duplicates({rem(i, 97) : i in [0:5000]})", "97"),
        ("intersection([1, 1, 2], [1])", "[1, 1]"),
        ("set_difference([1, 1, 2], [1])", "[2]"),
        ("collect([] (int, int))", "[]"),
        ("int_collect([(-1, 1), (0, 2), (-1, 3)])", "[(-1, [1, 3]), (0, [2])]"),
        ("histogram([] char)", "[]"),
        ("search_table([1], make_table((0, \"x\"), 0))", "[(\"\", F)]"),
        ("make_table((0, 0), -1)", "error: A length must not be negative."),
        ("table_entries(create_table([(1, 2), (1, 3)]))", "[(1, 3)]"),
        ("search_table([1, 2, 1], insert_table([(1, 9)], create_table([(1, 2), (2, 5)])))",
         "[(9, T), (5, T), (9, T)]"),
        ("search_table([nan], create_table([(nan, 1)]))", "[(0, F)]"),
        ("let full = insert_table({(i, i * i) : i in [0:3000]}, make_table((0, 0), 1))
          in all({found and v == k * k : (v, found) in search_table([0:3000], full); k in [0:3000]})",
         "T"),
    ]);
}

#[test]
fn text() {
    check(&[
        ("\"abc\" || 0", "\"abc\""),
        ("\"\" || min_int", "error: Out of memory"),
        ("linify([newline])", "[\"\"]"),
        ("linify(\"\")", "[]"),
        ("wordify(\"   \")", "[]"),
        ("parse_int(\"\")", "(0, F)"),
        ("parse_int(\"-\")", "(0, T)"),
        ("parse_int(\"-0012x\")", "(-12, F)"),
        ("parse_int(\"9223372036854775807\")", "(9223372036854775807, T)"),
        ("let (n, ok) = parse_int(\"9223372036854775808\") in ok", "F"),
        ("parse_int(\"-9223372036854775808\")", "(-9223372036854775808, T)"),
        ("let (n, ok) = parse_int(\"-9223372036854775809\") in ok", "F"),
        ("justify_text(\"\", 10)", "[]"),
        ("justify_text(\"aaaaaaaa b\", 3)", "[\"aaaaaaaa\", \"b\"]"),
        ("justify_text(\"a b\", -5)", "[\"a\", \"b\"]"),
        ("exp_string(1.5, 9)", "error: In function exp_string, digits_after_point is too large."),
    ]);
}

#[test]
fn functions_of_functions() {
    check(&[
        ("map(x => x, [] int)", "[]"),
        ("scan('+, 0, [] int)", "([], 0)"),
        ("scan('+, 0, [1:8])", "([0, 1, 3, 6, 10, 15, 21], 28)"),
        (
            "scan((a, b) => a ++ b, \"\", [\"a\", \"b\", \"c\", \"d\", \"e\"])",
            "([\"\", \"a\", \"ab\", \"abc\", \"abcd\"], \"abcde\")",
        ),
        (
            "{scan('max, 0, v) : v in [[1, 2, 3], [] int, [4]]}",
            "[([0, 1, 2], 3), ([], 0), ([0], 4)]",
        ),
    ]);
}
