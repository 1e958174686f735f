//! The text form of the core language, and its verifier.

mod model;

use model::{generate, main, well_formed};
use nesl_core::ir::{parse, print, print_function, print_with_sites, split_rng_keys, verify};
use proptest::prelude::*;

/// A program with every construct, as the printer writes it.
const CORPUS: &str = include_str!("ir_corpus.txt");

#[test]
fn the_corpus_is_printed_as_it_is_written() {
    let program = well_formed(CORPUS);
    assert_eq!(print_with_sites(&program), CORPUS);
    let back = parse(&print_with_sites(&program)).unwrap();
    // Compared as text, since NaN is not equal to itself.
    assert_eq!(format!("{back:?}"), format!("{program:?}"));
}

#[test]
fn without_sites_it_is_the_same_but_for_the_sites() {
    let program = well_formed(CORPUS);
    let bare = print(&program);
    assert!(!bare.contains(".."), "{bare}");
    assert_eq!(print(&well_formed(&bare)), bare);
    let one = print_function(&program.functions[0], &program);
    assert!(bare.contains(&one));
}

#[test]
fn floats_come_back_to_the_bit() {
    for x in [
        0.0,
        -0.0,
        0.1,
        1e300,
        -1.5e-300,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        9007199254740993.0,
    ] {
        let text = match x {
            x if x.is_nan() => "nan".to_string(),
            x => format!("{x:?}"),
        };
        let program = well_formed(&main("float", "", &text));
        let nesl_core::ir::Atom::Float(y) = program.functions[0].body.result else {
            panic!("a float");
        };
        assert!(x.to_bits() == y.to_bits(), "{x:?} {y:?}");
        assert!(print_with_sites(&program).contains(&format!("\n  {text}\n")));
    }
}

#[test]
fn complaints_name_the_line() {
    for (text, complaint) in [
        ("main \"main\"\n", "line 1: there is no function \"main\""),
        ("main \"m\"\nfn \"m\"() -> int {\n  v0\n  v1\n}", "line 4: expected `}`, found `v1`"),
        ("main \"m\"\nfn \"m\"() -> num {", "line 2: `num` is not a type"),
        (
            "main \"m\"\nfn \"m\"() -> int {\nv0: int = plus(1, 2)\nv0 }",
            "line 3: there is no operation plus",
        ),
        ("main \"m", "line 1: a quote without end"),
        ("main \"m\" fn \"m\"() -> int { 1", "line 1: expected `}`, found the end"),
        ("", "expected `main`, found the end"),
    ] {
        let found = parse(text).unwrap_err();
        assert!(found.contains(complaint) || complaint.contains(&found), "{found}");
    }
}

/// Each of these programs violates one invariant, which the message names.
#[test]
fn violations_are_found() {
    let cases = [
        ("int", "v0: int = add(1, 2)\nv0: int = add(1, 2)", "v0", "v0 is bound twice"),
        ("int", "", "v7", "v7 is not in scope"),
        ("int", "v0: int = add(v1, 2)\nv1: int = add(1, 2)", "v0", "v1 is not in scope"),
        (
            "int",
            "v0: int = if true {\nv1: int = add(1, 2)\nv1\n} else {\n0\n}",
            "v1",
            "v1 is not in scope",
        ),
        (
            "int",
            "v0: [int] = list(1)\nv1: [int] = each v2: int in v0 {\nv2\n}",
            "v2",
            "v2 is not in scope",
        ),
        ("int", "v0: int = add(1, 2.0)", "v0", "Add does not take int, float"),
        ("int", "v0: float = add(1, 2)", "0", "v0 is int, not float"),
        ("bool", "v0: bool = lt(true, true)", "v0", "Lt does not take bool, bool"),
        ("int", "v0: int = length(3)", "v0", "Length does not take int"),
        ("int", "v0: int = reduce_sum()", "v0", "does not take nothing"),
        (
            "int",
            "v0: [bool] = list(true)\nv1: bool = reduce_max(v0)",
            "0",
            "Reduce(Max) does not take [bool]",
        ),
        ("int", "v0: int = first(3)", "v0", "int is not a pair"),
        ("int", "v0: (int, int) = pair(1, true)", "0", "v0 is (int, bool), not (int, int)"),
        ("int", "v0: [int] = text \"a\"", "0", "v0 is [char], not [int]"),
        ("int", "v0: [int] = list(1, true)", "0", "an element of v0 is bool, not int"),
        ("int", "v0: int = list()", "0", "a list is not int"),
        ("int", "v0: int = call \"main\"(1)", "v0", "takes unit, not int"),
        ("int", "v0: bool = call \"main\"()", "0", "v0 is int, not bool"),
        ("int", "v0: int = global 3", "v0", "there is no global 3"),
        ("int", "v0: int = if 1 {\n1\n} else {\n2\n}", "v0", "the condition of v0 is int"),
        ("int", "v0: int = if true {\n1\n} else {\n2.0\n}", "v0", "an arm of v0 is float"),
        ("int", "v0: bool = check(1, message, \"\")", "0", "the condition of v0 is int"),
        ("int", "v0: [int] = each {\n1\n}", "0", "a nest without binders"),
        ("int", "v0: [int] = each v1: int in 3 {\nv1\n}", "0", "what v1 runs over is int"),
        (
            "int",
            "v0: [int] = list(1)\nv2: [bool] = each v1: int in v0 {\nv1\n}",
            "0",
            "v2 is [int], not [bool]",
        ),
        ("int", "v0: int = error(3)", "v0", "the text of v0 is int"),
        ("int", "v0: (int, int) = time {\n3\n}", "0", "v0 is (int, float), not (int, int)"),
        ("int", "v0: bool = host print_text(3)", "0", "PrintText takes [char], not int"),
        ("int", "", "true", "the body is bool, not int"),
    ];
    for (ty, lets, result, message) in cases {
        let program = parse(&main(ty, lets, result)).unwrap_or_else(|why| panic!("{why}: {lets}"));
        let violations = verify(&program).expect_err(lets);
        let found = violations.iter().any(|violation| violation.message.contains(message));
        assert!(found, "{lets}: {violations:?}");
    }
}

#[test]
fn violations_of_whole_programs_are_found() {
    let first = |program: &nesl_core::ir::Program| verify(program).unwrap_err()[0].message.clone();
    let twice = "main \"m\" fn \"m\"() -> int { 1 } fn \"m\"() -> int { 1 }";
    assert!(first(&parse(twice).unwrap()).contains("two functions are called \"m\""));
    let takes = "main \"m\" fn \"m\"(v0: bool) -> int { 1 }";
    assert!(first(&parse(takes).unwrap()).contains("main takes nothing, or one int"));
    let charge = "main \"m\" fn \"m\"() -> int charge size 0 { 1 }";
    assert!(first(&parse(charge).unwrap()).contains("parameter 0 of 0"));
    let mut lost = parse("main \"m\" fn \"m\"() -> int { 1 }").unwrap();
    lost.main.0 = 5;
    assert!(first(&lost).contains("main is not a function"));
}

/// The depth of nesting of a text is limited by memory only.
#[test]
fn depth_is_no_obstacle() {
    let depth = 20_000;
    let mut text = String::from("main \"m\" fn \"m\"() -> int {");
    for i in 0..depth {
        text.push_str(&format!("v{i}: int = if true {{\n"));
    }
    text.push('1');
    for i in (0..depth).rev() {
        text.push_str(&format!("}} else {{ 2 }} v{i} "));
    }
    text.push('}');
    let mut program = well_formed(&text);
    split_rng_keys(&mut program);
    assert!(print(&program).len() > depth);
    // Dropping such a tree recurses as well, in derived code.
    std::mem::forget(program);
}

#[test]
fn keys_are_threaded_where_numbers_are_drawn() {
    let mut program = well_formed(
        r#"main "main"
        fn "die"(v0: [int]) -> int library charge length 0 { v1: int = rand(0, 0, 0, 6) v1 }
        fn "pure"(v0: int) -> int { v1: int = add(v0, 1) v1 }
        fn "main"() -> [int] {
          v0: [int] = list(1, 2)
          v1: int = call "die"(v0)
          v2: int = call "pure"(v1)
          v3: [int] = each v4: int in v0 { v5: int = rand(0, 0, 0, v4) v5 }
          v6: [int] = each v7: int in v0 { v7 }
          v8: int = if true { v9: int = rand(0, 0, 0, 2) v9 } else { v10: int = rand(0, 0, 0, 3) v10 }
          v3
        }"#,
    );
    split_rng_keys(&mut program);
    assert_eq!(verify(&program), Ok(()));
    expect_test::expect![[r#"
        main "main"

        fn "die"(v2: int, v0: [int]) -> int library charge length 1 {
          v1: int = rand(v2, 0, 0, 6)
          v1
        }

        fn "pure"(v0: int) -> int {
          v1: int = add(v0, 1)
          v1
        }

        fn "main"(v11: int) -> [int] {
          v0: [int] = list(1, 2)
          v12: int = split_key(v11, 0, 0)
          v1: int = call "die"(v12, v0)
          v2: int = call "pure"(v1)
          v13: int = split_key(v11, 0, 1)
          v14: int = length(v0)
          v15: [int] = range(0, 1, v14)
          v3: [int] = each v4: int in v0, v16: int in v15 {
            v5: int = rand(v13, v16, 2, v4)
            v5
          }
          v6: [int] = each v7: int in v0 {
            v7
          }
          v8: int = if true {
            v9: int = rand(v11, 0, 3, 2)
            v9
          } else {
            v10: int = rand(v11, 0, 4, 3)
            v10
          }
          v3
        }
    "#]]
    .assert_eq(&print(&program));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_programs_are_well_formed_and_come_back(seed: u64) {
        let (mut program, _) = generate::program(seed);
        for _ in 0..2 {
            let verified = verify(&program);
            prop_assert!(verified.is_ok(), "{verified:#?}\n{}", print(&program));
            let text = print_with_sites(&program);
            let back = parse(&text).map_err(|why| TestCaseError::fail(format!("{why}\n{text}")))?;
            // Compared as text, since NaN is not equal to itself.
            prop_assert_eq!(format!("{program:?}"), format!("{back:?}"));
            split_rng_keys(&mut program);
        }
    }
}
