//! Each law, kept and broken.

use crate::kir::{parse, verify};

/// The violations that the verifier finds in a text, a line for each.
fn violations(text: &str) -> String {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match verify(&module) {
        Ok(()) => "fine".to_string(),
        Err(violations) => violations.iter().map(|v| format!("{v}\n")).collect(),
    }
}

/// The violations of a function of a few parameters with this body.
fn in_function(body: &str) -> String {
    let params = "v0: i64, v1: f64, v2: bool, v3: [f64], v4: [u8], v5: u8, v6: i32";
    violations(&format!("function \"f\"({params}) {{ {body} }}"))
}

#[test]
fn every_operation_has_its_types() {
    for (body, expected) in [
        ("v10: i64 = add v0, v0", ""),
        ("v10: i64 = add v0, v6", "v6 is i32, not i64"),
        ("v10: u8 = add v5, v5", "`add` is not defined on u8"),
        ("v10: f64 = rem v1, v1", "`rem` is not defined on f64"),
        ("v10: f64 = max v1, v1", "`max` is not defined on f64"),
        ("v10: bool = lt v2, v2", ""),
        ("v10: f64 = lt v1, v1", "v10 is f64, not bool"),
        ("v10: bool = not v2", ""),
        ("v10: u8 = not v5", "`not` is not defined on u8"),
        ("v10: f64 = sqrt v1", ""),
        ("v10: i64 = sqrt v0", "`sqrt` is not defined on i64"),
        ("v10: f64 = fma v1, v1, v0", "v0 is i64, not f64"),
        ("v10: [f64] = select v2, v3, v3", ""),
        ("v10: f64 = select v2, v3, v3", "v10 is f64, not [f64]"),
        ("v10: u8 = convert v1", "f64 does not become u8"),
        ("v10: f64 = convert v5", ""),
        ("v10: i32 = bits v1", "the bits of f64 are not those of i32"),
        ("v10: i64 = bits v1", ""),
        ("v10: i64 = load v3[v0]", "v10 is i64, not f64"),
        ("v10: f64 = load v1[v0]", "v1 is f64, not an array"),
        ("store v3[v0] = v0", "v0 is i64, not f64"),
        ("store v3[v6] = v1", "v6 is i32, not i64"),
        ("copy v3 -> v4 count v0", "v4 is [u8], not [f64]"),
        ("v10: f64, v11: f64 = neg v1", "1 results, not 2"),
        ("check v0 @1", "v0 is i64, not bool"),
        ("check v2 @1 detail v0, v0, v0, v0, v0", "at most four details"),
        ("fail @1 text v4, v0", ""),
        ("fail @1 text v3, v0", "v3 is [f64], not [u8]"),
        ("v10: mark = mark v11: [f64] = compact v10 keep v3[..v0]", ""),
        ("v11: [f64] = compact v0 keep v3[..v0]", "v0 is i64, not mark"),
        ("extern rank_up(v3, v0, v4)", "v4 is [u8], not [i64]"),
        ("v10: f64, v11: bool = extern parse_float(v4, v0)", ""),
        ("v10: i64 = extern rank_up()", "3 arguments, not 0"),
    ] {
        let found = in_function(body);
        match expected {
            "" => assert_eq!(found, "fine", "{body}"),
            _ => assert!(found.contains(expected), "{body}: {found}"),
        }
    }
}

#[test]
fn values_are_seen_where_they_are_defined() {
    for (body, expected) in [
        ("v10: i64 = add v11, v0 v11: i64 = const 1", "v11 is not defined here"),
        ("v10: i64 = const 1 v10: i64 = const 2", "v10 is defined a second time"),
        ("if v2 { v10: i64 = const 1 } v11: i64 = neg v10", "v10 is not visible here"),
        ("if v2 { v10: i64 = neg v0 } else { v11: i64 = neg v10 }", "v10 is not visible here"),
        ("for v10 < v0 { v11: i64 = neg v10 }", ""),
        ("for v10 < v0 { } v11: i64 = neg v10", "v10 is not visible here"),
        ("v9: mark = mark for v10 < v0 { compact v9 }", ""),
        ("v9: mark = mark v12: mark = for v10 < v0 carry v11: mark = v9 { yield v11 }", "a mark"),
        ("v10: i64 = if v2 { yield v0 }", "a block yields 0 values, not 1"),
        ("v10: i64 = if v2 { yield v0 } else { yield v1 }", "v1 is f64, not i64"),
        ("while carry v10: i64 = v0 { yield v10 } do { yield v10 }", "v10 is i64, not bool"),
        ("v9: i64 = while carry v10: i64 = v0 { yield v2 } do { yield v10 }", ""),
        ("v9: i64 = while carry v10: i64 = v1 { yield v2 } do { yield v10 }", "v1 is f64"),
        ("v9: u8 = for v10 < v0 reduce add { yield v5 }", "`add` does not combine u8"),
        ("v9: i64 = for v10 < v0 reduce add { yield v10 }", ""),
        ("v9: i64 = for v10 < v0 reduce add, mul { yield v10 }", "2 results, not 1"),
        ("yield v0", "a block yields 1 values, not 0"),
        ("call #7()", "there is no function #7"),
        ("call \"f\"()", "7 arguments, not 0"),
    ] {
        let found = in_function(body);
        match expected {
            "" => assert_eq!(found, "fine", "{body}"),
            _ => assert!(found.contains(expected), "{body}: {found}"),
        }
    }
}

#[test]
fn kernels_have_their_law() {
    let params = "v0: i64, v1: [i64], v2: [f64], v3: [bool], v4: f64";
    for (space, body, expected) in [
        ("flat v0 at v10", "{ }", ""),
        ("flat v4 at v10", "{ }", "v4 is f64, not i64"),
        ("flat v0 at v10, v11, v12", "{ }", "a point of this space has 1 indices"),
        ("regular v0, v0 at v10, v11, v12", "{ }", ""),
        ("segmented v0, v2 at v10, v11, v12", "{ }", "v2 is [f64], not [i64]"),
        ("flat v10 at v10", "{ }", "v10 is not a parameter"),
        ("flat v0 at v10", "", "there is no stage"),
        ("flat v0 at v10", "{ reduce add v10 -> v1 }", ""),
        ("flat v0 at v10", "{ reduce add v10 -> v2 }", "v2 is [f64], not [i64]"),
        ("flat v0 at v10", "{ reduce segment add v10 -> v1 }", "the space has no segments"),
        ("flat v0 at v10", "{ reduce and v4 -> v2 }", "`and` does not combine f64"),
        ("flat v0 at v10", "{ v20: i64 = reduce add v10 }", "only over segments is there a result"),
        ("flat v0 at v10", "{ v20: i64 = scan add v10 } then { v21: i64 = neg v20 }", ""),
        (
            "flat v0 at v10",
            "{ v21: i64 = neg v20 v20: i64 = scan add v10 }",
            "v20 is not defined here",
        ),
        (
            "regular v0, v0 at v10, v11, v12",
            "{ v20: i64 = reduce segment add v12 } then { scatter v20 -> v1[v12] }",
            "",
        ),
        (
            "flat v0 at v10",
            "{ v20: i64 = scan add v10 reduce add v20 -> v1 }",
            "v20 is not defined here",
        ),
        ("flat v0 at v10", "{ pack v10 count v1 }", "v10 is i64, not bool"),
        (
            "flat v0 at v10",
            "{ v20: [i64] = alloc v0 scatter v10 -> v20[v10] }",
            "v20 is not a parameter",
        ),
        ("flat v0 at v10", "{ histogram add v4 -> v2[v10] }", ""),
        ("flat v0 at v10", "{ histogram add v2[..v0] -> v2[v10] }", ""),
        ("flat v0 at v10", "{ histogram add v4[..v0] -> v2[v10] }", "v4 is f64, not an array"),
        ("flat v0 at v10", "{ emit v10 columns v2 -> #0 lengths v1 }", "there is no output #0"),
        ("flat v0 at v10", "{ v20: mark = mark } then { compact v20 }", "v20 is not visible"),
        ("flat v0 at v10", "{ yield v0 }", "a block yields 1 values, not 0"),
    ] {
        let end = if body.is_empty() { "}" } else { "" };
        let found = violations(&format!("kernel \"k\"({params}) over {space} {body}{end}"));
        match expected {
            "" => assert_eq!(found, "fine", "{space} {body}"),
            _ => assert!(found.contains(expected), "{space} {body}: {found}"),
        }
    }
    let twice = "{ emit v10 columns v1 -> #0, v1 -> #0 lengths v1 }";
    let found =
        violations(&format!("kernel \"k\"({params}) makes i64 over flat v0 at v10 {twice}"));
    assert!(found.contains("output #0 is filled by 2 columns"), "{found}");
}

#[test]
fn names_are_different() {
    let found = violations("function \"f\"() { } function \"f\"() { }");
    assert!(found.contains("another function has this name"), "{found}");
}

#[test]
fn functions_that_are_computed_only_compute() {
    let of = |body: &str| {
        violations(&format!(
            "function \"g\"(v0: f64, v1: [f64]) -> f64 {{ {body} }} \
             function \"f\"(v0: f64, v1: [f64]) -> f64 {{ v2: f64 = compute \"g\"(v0, v1) yield v2 }}"
        ))
    };
    let branch = "v2: bool = lt v0, v0 v3: f64 = if v2 { yield v0 } else { v4: f64 = neg v0 yield v4 } yield v3";
    assert_eq!(of(branch), "fine");
    let wrong = "the function \"g\" does not only compute";
    for body in [
        "v2: i64 = const 0 v3: f64 = load v1[v2] yield v3",
        "v2: f64 = compute \"g\"(v0, v1) yield v2",
        "v2: f64 = call \"g\"(v0, v1) yield v2",
        "v2: bool = lt v0, v0 check v2 @0 yield v0",
    ] {
        assert!(of(body).contains(wrong), "{body}: {}", of(body));
    }
}

#[test]
fn a_violation_says_where() {
    let found = in_function("if v2 { v10: i64 = add v0, v1 }");
    assert_eq!(found, "function `f`: `v10: i64 = add v0, v1`: v1 is f64, not i64\n");
}
