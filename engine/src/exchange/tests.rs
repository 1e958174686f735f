//! Tests of values as columns, to and fro.

use super::*;
use crate::{Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;

/// A session without a runtime, and one whose runtime has memory of its own.
fn sessions() -> [Session; 2] {
    let mut with_runtime = Session::new(Settings::default());
    with_runtime.set_runtime(Some(Box::new(Reference::new(Options::default()))));
    with_runtime.settings_mut().interpret_first = false;
    [Session::new(Settings::default()), with_runtime]
}

/// Columns as a test writes them.
#[derive(Clone, Debug, PartialEq)]
enum Flat {
    Lengths(Vec<i64>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Chars(&'static str),
}
use Flat::*;

impl Flat {
    fn kind(&self) -> Kind {
        match self {
            Lengths(_) => Kind::Lengths,
            Ints(_) => Kind::Ints,
            Floats(_) => Kind::Floats,
            Bools(_) => Kind::Bools,
            Chars(_) => Kind::Chars,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Lengths(all) | Ints(all) => bytemuck::cast_slice(all),
            Floats(all) => bytemuck::cast_slice(all),
            Bools(all) => bytemuck::cast_slice(all),
            Chars(all) => all.as_bytes(),
        }
    }

    fn len(&self) -> usize {
        self.bytes().len() / self.kind().element_bytes()
    }
}

/// Enters an expression, and compares its type and columns.
#[track_caller]
fn assert_taken(session: &mut Session, text: &str, ty: &str, columns: &[Flat]) {
    let summary = session.enter("<entry>", text, &mut |_| {});
    assert_eq!(summary.errors, 0, "{text}");
    let taken = session.take("it").expect("it can be read").expect("it is computed");
    assert_eq!(format!("{:#}", taken.ty()), ty);
    let shape: Vec<(Kind, usize)> = columns.iter().map(|c| (c.kind(), c.len())).collect();
    assert_eq!(taken.columns().collect::<Vec<_>>(), shape, "{text}");
    let mut bytes = Vec::new();
    taken.write_to(&mut bytes).expect("it can be read");
    let wanted: Vec<u8> = columns.iter().flat_map(|c| c.bytes()).copied().collect();
    assert_eq!(bytes, wanted, "{text}");
}

fn bind(session: &mut Session, name: &str, ty: &str, columns: &[Flat]) -> Result<(), String> {
    let ty = ValueType::parse(ty).expect("a type");
    let counts: Vec<usize> = columns.iter().map(Flat::len).collect();
    let bytes: Vec<u8> = columns.iter().flat_map(|c| c.bytes()).copied().collect();
    session.bind(name, &ty, &counts, &mut &bytes[..])
}

#[test]
fn ints_that_do_not_fit_the_precision_are_refused() {
    for session in &mut sessions() {
        session.settings_mut().precision = nesl_runtime::scalar::Precision::Bits32;
        let wide = bind(session, "x", "int", &[Ints(vec![3_000_000_000])]);
        assert_eq!(wide, Err("3000000000 does not fit an int, which has 32 bits".to_owned()));
        assert_eq!(bind(session, "x", "int", &[Ints(vec![-2_147_483_648])]), Ok(()));
    }
}

#[test]
fn values_are_columns() {
    for session in &mut sessions() {
        assert_taken(session, "3;", "int", &[Ints(vec![3])]);
        assert_taken(
            session,
            "(1, 2.5, t);",
            "(int, float, bool)",
            &[Ints(vec![1]), Floats(vec![2.5]), Bools(vec![true])],
        );
        assert_taken(
            session,
            "[[1.5, 2.5], drop([0.5], 1), [3.5]];",
            "[[float]]",
            &[Lengths(vec![3]), Lengths(vec![2, 0, 1]), Floats(vec![1.5, 2.5, 3.5])],
        );
        assert_taken(
            session,
            "datatype point(int, bool); [(\"ab\", point(1, t)), (\"c\", point(2, f))];",
            "[([char], point(int, bool))]",
            &[
                Lengths(vec![2]),
                Lengths(vec![2, 1]),
                Chars("abc"),
                Ints(vec![1, 2]),
                Bools(vec![true, false]),
            ],
        );
        assert_taken(
            session,
            "drop([[1]], 1);",
            "[[int]]",
            &[Lengths(vec![0]), Lengths(vec![]), Ints(vec![])],
        );
    }
}

#[test]
fn segments_anywhere_in_a_pool_are_put_in_order() {
    for session in &mut sessions() {
        let define = "rows = {[i:i + 3] : i in [0:4]};";
        assert_eq!(session.enter("<entry>", define, &mut |_| {}).errors, 0);
        let ty = "[[int]]";
        let rows = [Lengths(vec![2]), Lengths(vec![3, 3]), Ints(vec![3, 4, 5, 0, 1, 2])];
        assert_taken(session, "rows -> [3, 0];", ty, &rows);
        let rows = [Lengths(vec![3]), Lengths(vec![3; 3]), Ints(vec![1, 2, 3, 1, 2, 3, 1, 2, 3])];
        assert_taken(session, "dist(rows[1], 3);", ty, &rows);
        let rows = [Lengths(vec![4]), Lengths(vec![1; 4]), Ints(vec![1, 2, 3, 4])];
        assert_taken(session, "{subseq(row, 1, 2) : row in rows};", ty, &rows);
        let all = [
            Lengths(vec![2]),
            Lengths(vec![1, 1]),
            Lengths(vec![3; 2]),
            Ints(vec![2, 3, 4, 1, 2, 3]),
        ];
        assert_taken(session, "{[rows[i]] : i in [2, 1]};", "[[[int]]]", &all);
    }
}

#[test]
fn what_is_given_can_be_used_and_taken_back() {
    // Some stay on the host, and the others go to the runtime, in several pieces.
    for count in [2_usize, 1000, 100_000] {
        for session in &mut sessions() {
            let total = count as i64;
            let lengths: Vec<i64> = (0..total).map(|i| i % 3).collect();
            let inner = lengths.iter().sum::<i64>();
            let given: Vec<(&str, Vec<Flat>)> = vec![
                ("[int]", vec![Lengths(vec![total]), Ints((0..total).collect())]),
                ("[float]", vec![Lengths(vec![total]), Floats(vec![0.5; count])]),
                (
                    "(int, [bool])",
                    vec![Ints(vec![7]), Lengths(vec![total]), Bools(vec![true; count])],
                ),
                (
                    "[(int, float)]",
                    vec![
                        Lengths(vec![total]),
                        Ints((0..total).collect()),
                        Floats(vec![1.5; count]),
                    ],
                ),
                (
                    "[[int]]",
                    vec![
                        Lengths(vec![total]),
                        Lengths(lengths.clone()),
                        Ints((0..inner).collect()),
                    ],
                ),
                (
                    "([[(bool, [int])]], float)",
                    vec![
                        Lengths(vec![total]),
                        Lengths(lengths.clone()),
                        Bools(vec![false; inner as usize]),
                        Lengths(vec![1; inner as usize]),
                        Ints((0..inner).collect()),
                        Floats(vec![2.5]),
                    ],
                ),
            ];
            for (ty, columns) in given {
                bind(session, "given", ty, &columns).expect("they fit");
                assert_taken(session, "given;", ty, &columns);
            }
            let rows = [Lengths(vec![2]), Lengths(vec![2, 1]), Ints(vec![1, 2, 3])];
            bind(session, "rows", "[[int]]", &rows).expect("they fit");
            let sums = [Lengths(vec![2]), Ints(vec![3, 3])];
            assert_taken(session, "{sum(row) : row in rows};", "[int]", &sums);
        }
    }
}

#[test]
fn a_value_that_is_given_to_a_runtime_is_not_written_again() {
    let [_, mut session] = sessions();
    let total = 100_000;
    let columns = [Lengths(vec![total]), Ints((0..total).collect())];
    bind(&mut session, "xs", "[int]", &columns).expect("they fit");
    let before = session.stats().counters.transferred;
    session.enter("<entry>", "sum(xs);", &mut |_| {});
    let after = session.stats().counters.transferred;
    assert!(before >= 8 * total as u64 && after - before < 1000, "{before} {after}");
}

#[test]
fn values_of_32_bits_are_widened() {
    let [_, mut session] = sessions();
    session.settings_mut().precision = nesl_runtime::scalar::Precision::Bits32;
    let columns = [Lengths(vec![3]), Ints(vec![-1, 0, 1]), Floats(vec![-0.5, 0.0, 0.5])];
    assert_taken(
        &mut session,
        "{(i - 1, float(i - 1) / 2.0) : i in [0:3]};",
        "[(int, float)]",
        &columns,
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for session in &mut sessions() {
        bind(session, "kept", "int", &[Ints(vec![1])]).expect("it fits");
        let mut given = |name: &str, columns: &[Flat]| {
            bind(session, name, "[int]", columns).expect_err("it is wrong")
        };
        let fits = [Lengths(vec![1]), Ints(vec![7])];
        assert_eq!(given("1x", &fits), "`1x` is not a name");
        assert_eq!(given("x; y", &fits), "`x; y` is not a name");
        assert!(!given("let", &fits).is_empty());
        assert_eq!(given("x", &[]), "[int] has 2 columns, not 0");
        let short = [Lengths(vec![2]), Ints(vec![7])];
        assert_eq!(given("x", &short), "a column of int has 1 elements where 2 are needed");
        let long = [Lengths(vec![2]), Ints(vec![7; 1000])];
        assert_eq!(given("x", &long), "a column of int has 1000 elements where 2 are needed");
        let negative = [Lengths(vec![-1]), Ints(vec![])];
        assert_eq!(given("x", &negative), "a length is negative");
        let ty = ValueType::parse("[int]").expect("a type");
        let early = session.bind("kept", &ty, &[1, 1000], &mut &1000_i64.to_ne_bytes()[..]);
        assert!(early.expect_err("it ends early").starts_with("the columns cannot be read"));
        assert_taken(session, "kept;", "int", &[Ints(vec![1])]);
    }
    for text in ["", "[int", "(int,", "real", "int int", "()"] {
        assert!(ValueType::parse(text).is_err(), "{text}");
    }
    assert!(ValueType::parse(&"[".repeat(100_000)).is_err());
}

#[test]
fn only_what_is_computed_can_be_taken() {
    for session in &mut sessions() {
        assert!(session.take("nothing").expect("no failure").is_none());
        session.settings_mut().shown = crate::ShownValues::Expressions;
        session.enter("<entry>", "function f(x) = x; y = 3; g = f;", &mut |_| {});
        assert!(session.take("f").expect("no failure").is_none());
        assert!(session.take("y").expect("no failure").is_some());
        assert!(session.take("nothing").expect("no failure").is_none());
    }
}
