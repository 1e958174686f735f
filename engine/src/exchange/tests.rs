//! Tests of values as columns, to and fro.

use super::*;
use crate::{Session, Settings};

/// Enters an expression, and returns its type and columns.
fn taken(session: &mut Session, text: &str) -> (String, Vec<Column>) {
    let summary = session.enter("<entry>", text, &mut |_| {});
    assert_eq!(summary.errors, 0, "{text}");
    let (ty, columns) = session.last_value().expect("it can be read").expect("it has columns");
    (format!("{ty:#}"), columns)
}

#[test]
fn values_are_columns() {
    let mut session = Session::new(Settings::default());
    let mut taken = |text: &str| taken(&mut session, text);
    assert_eq!(taken("3;"), ("int".to_owned(), vec![Column::Ints(vec![3])]));
    assert_eq!(
        taken("[[1.5, 2.5], drop([0.5], 1), [3.5]];"),
        (
            "[[float]]".to_owned(),
            vec![
                Column::Lengths(vec![3]),
                Column::Lengths(vec![2, 0, 1]),
                Column::Floats(vec![1.5, 2.5, 3.5])
            ]
        )
    );
    assert_eq!(
        taken("datatype point(int, bool); [(\"ab\", point(1, t)), (\"c\", point(2, f))];"),
        (
            "[([char], point(int, bool))]".to_owned(),
            vec![
                Column::Lengths(vec![2]),
                Column::Lengths(vec![2, 1]),
                Column::Chars(b"abc".to_vec()),
                Column::Ints(vec![1, 2]),
                Column::Bools(vec![true, false])
            ]
        )
    );
    // Nothing is known about the elements of an empty sequence but their type.
    let (ty, columns) = taken("drop([[1]], 1);");
    assert_eq!((ty.as_str(), columns.len(), columns[2].len()), ("[[int]]", 3, 0));
}

#[test]
fn what_is_given_can_be_used_and_taken_back() {
    let mut session = Session::new(Settings::default());
    for text in ["int", "[float]", "[[int]]", "[([char], bool, int)]", "([[[float]]], char)"] {
        let ty = ValueType::parse(text).expect("a type");
        assert_eq!(ty.to_string(), text);
        let example = format!("{}; ", ty.example());
        let (_, columns) = taken(&mut session, &example);
        session.bind("given", &ty, columns.clone()).expect("they fit");
        assert_eq!(taken(&mut session, "given;"), (text.to_owned(), columns));
    }
    let ty = ValueType::parse("[[int]]").expect("a type");
    let rows =
        || vec![Column::Lengths(vec![2]), Column::Lengths(vec![2, 1]), Column::Ints(vec![1, 2, 3])];
    session.bind("rows", &ty, rows()).expect("they fit");
    assert_eq!(taken(&mut session, "{sum(row) : row in rows};").1[1], Column::Ints(vec![3, 3]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut session = Session::new(Settings::default());
    let ty = ValueType::parse("[int]").expect("a type");
    let mut given =
        |name: &str, columns| session.bind(name, &ty, columns).expect_err("it is wrong");
    let fits = || vec![Column::Lengths(vec![1]), Column::Ints(vec![7])];
    assert_eq!(given("1x", fits()), "`1x` is not a name");
    assert_eq!(given("x; y", fits()), "`x; y` is not a name");
    assert!(!given("let", fits()).is_empty());
    assert_eq!(given("x", vec![]), "[int] has 2 columns, not 0");
    let short = vec![Column::Lengths(vec![2]), Column::Ints(vec![7])];
    assert_eq!(given("x", short), "a column of int has 1 elements where 2 are needed");
    let negative = vec![Column::Lengths(vec![-1]), Column::Ints(vec![])];
    assert_eq!(given("x", negative), "a length is negative");
    let floats = vec![Column::Lengths(vec![1]), Column::Floats(vec![7.0])];
    assert_eq!(given("x", floats), "a column does not hold values of type int");
    for text in ["", "[int", "(int,", "real", "int int", "()"] {
        assert!(ValueType::parse(text).is_err(), "{text}");
    }
    assert!(ValueType::parse(&"[".repeat(100_000)).is_err());
}
