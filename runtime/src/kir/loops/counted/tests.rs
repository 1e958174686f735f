//! Tests of counted loops.

use super::super::{count_loops, simplify_loops};
use crate::kir::facts::function_facts;
use crate::kir::ranges::use_ranges;
use crate::kir::{parse, print, verify};

/// The code of a module whose loops are counted.
fn counted(text: &str) -> String {
    let mut module = parse(text).unwrap();
    let facts = function_facts(&module);
    simplify_loops(&mut module, &facts);
    use_ranges(&mut module);
    count_loops(&mut module, &facts);
    assert_eq!(verify(&module), Ok(()), "{}", print(&module));
    use_ranges(&mut module);
    assert_eq!(verify(&module), Ok(()), "{}", print(&module));
    print(&module)
}

/// A loop from `start` with this condition, and the body around `update` that ends in `next`.
fn looped(start: &str, condition: &str, update: &str, next: &str) -> String {
    format!(
        "function \"f\"(v0: i64, v1: [i64], v2: i64, v3: [i64], v4: i64) -> i64 {{
          v5: i64 = const {start} v6: i64 = const 1 v7: i64 = const 0
          v10: i64 = while carry v11: i64 = {first} {{ {condition} yield v12 }} do {{
            {update}
            v20: i64 = {next}
            yield v20
          }}
          yield v10
        }}",
        start = if start == "v4" { "0" } else { start },
        first = if start == "v4" { "v4" } else { "v5" },
    )
}

const UNTIL: &str = "v13: bool = eq v11, v0 v12: bool = not v13";
const STORES: &str = "v14: bool = ge v11, v7 v15: bool = lt v11, v2 v16: bool = and v14, v15
    check v16 @0 detail v11, v2 store v1[v11] = v11";

fn first_function(text: &str) -> &str {
    text.split("\n}\n").next().unwrap()
}

#[test]
fn a_loop_that_counts_up_checks_its_ends_before() {
    let text = counted(&looped("0", UNTIL, STORES, "add v11, v6"));
    let hot = first_function(&text);
    assert!(hot.contains("for v") && !hot.contains("check") && !hot.contains("while"), "{text}");
    assert!(hot.contains("call \"a loop that may not count 1\""), "{text}");
    // n - 1 < m, and 0 <= n.
    assert!(hot.contains("lt v") && hot.contains("le v"), "{text}");
}

#[test]
fn a_loop_that_counts_down_checks_its_ends_before() {
    let down = "v13: bool = eq v11, v7 v12: bool = not v13";
    let text = counted(&looped("v4", down, STORES, "sub v11, v6"));
    let hot = first_function(&text);
    assert!(hot.contains("for v") && !hot.contains("check") && !hot.contains("while"), "{text}");
    assert!(hot.contains("sub v4, v"), "the number is what is left: {text}");
}

#[test]
fn loops_of_known_length_have_no_other() {
    let known = "v17: i64 = const 100 v13: bool = ge v11, v17 v12: bool = not v13";
    let text = counted(&looped("0", known, "store v1[v11] = v11", "add v11, v6"));
    assert!(!text.contains("while") && !text.contains("if"), "{text}");
}

#[test]
fn what_may_be_any_index_is_checked_in_the_loop() {
    let update = "v17: i64 = load v3[v11] v14: bool = ge v17, v7 v15: bool = lt v17, v2
        v16: bool = and v14, v15 check v16 @0 detail v17, v2 store v1[v17] = v11";
    let text = counted(&looped("0", UNTIL, update, "add v11, v6"));
    let hot = first_function(&text);
    assert!(hot.contains("for v") && hot.contains("check"), "{text}");
}

#[test]
fn a_check_that_fails_at_once_stays() {
    let update = "v17: i64 = sub v11, v6 v14: bool = ge v17, v7 check v14 @0 detail v17
        store v1[v17] = v11";
    let text = counted(&looped("0", UNTIL, update, "add v11, v6"));
    let hot = first_function(&text);
    assert!(hot.contains("for v") && hot.contains("check"), "{text}");
}

#[test]
fn sums_that_may_wrap_are_not_made() {
    let update = "v17: i64 = add v11, v4 v14: bool = lt v17, v2 check v14 @0 detail v17
        store v1[v11] = v11";
    let most = "v18: i64 = const 9223372036854775807 v13: bool = eq v11, v18 v12: bool = not v13";
    let text = counted(&looped("0", most, update, "add v11, v6"));
    assert!(first_function(&text).contains("check"), "{text}");
    let text = counted(&looped("0", UNTIL, update, "add v11, v6"));
    assert!(!first_function(&text).contains("check"), "{text}");
    assert!(first_function(&text).contains("le v0, v"), "the end is not too large: {text}");
}

#[test]
fn only_loops_with_a_counter_are_counted() {
    for next in ["mul v11, v6", "add v11, v11", "add v11, v2"] {
        let text = counted(&looped("0", UNTIL, STORES, next));
        assert!(!text.contains("for v"), "{next}: {text}");
    }
    let other_way = "v13: bool = gt v11, v0 v12: bool = not v13";
    let text = counted(&looped("0", other_way, STORES, "sub v11, v6"));
    assert!(!text.contains("for v"), "{text}");
}

#[test]
fn both_sides_of_a_branch_may_count() {
    let update = "v14: bool = lt v11, v2
        v21: i64 = if v14 { store v1[v11] = v11 v22: i64 = add v11, v6 yield v22 }
                   else { v23: i64 = add v6, v11 yield v23 }";
    let text = counted(&looped("0", UNTIL, update, "max v21, v21"));
    assert!(!text.contains("for v"), "not the next number itself: {text}");
    let text = looped("0", UNTIL, update, "add v21, v7").replace("v20: i64 = add v21, v7\n", "");
    let text = counted(&text.replace("yield v20", "yield v21"));
    assert!(first_function(&text).contains("for v"), "{text}");
}

/// A loop that appends its number to an array.
fn appending(check: &str) -> String {
    format!(
        "function \"f\"(v0: i64, v1: [i64], v2: i64, v3: i64) -> [i64], i64 {{
          v5: i64 = const 0 v6: i64 = const 1 v7: mark = mark
          v10: i64, v11: [i64], v12: i64, v13: i64 =
          while carry v20: i64 = v5, v21: [i64] = v1, v22: i64 = v2, v23: i64 = v3 {{
            v24: bool = eq v20, v0 v25: bool = not v24 yield v25
          }} do {{
            {check}
            v30: i64 = add v22, v6 v31: bool = ge v23, v30
            v32: [i64], v33: i64 = if v31 {{ yield v21, v23 }} else {{
              v34: i64 = const 2 v35: i64 = mul v30, v34 v36: [i64] = alloc v35
              copy v21 -> v36 count v22 yield v36, v35
            }}
            store v32[v22] = v20
            v37: i64 = max v30, v33 v38: [i64] = compact v7 keep v32[..v37]
            v39: i64 = add v20, v6
            yield v39, v38, v30, v33
          }}
          yield v11, v12
        }}"
    )
}

#[test]
fn a_loop_that_appends_has_room_for_all_before() {
    let text = counted(&appending(""));
    let hot = first_function(&text);
    let (before, inside) = hot.split_once("for v").unwrap();
    assert!(before.contains("alloc") && before.contains("copy"), "{text}");
    let (inside, _) = inside.split_once("} else").unwrap();
    for gone in ["alloc", "copy", "compact", "if"] {
        assert!(!inside.contains(gone), "{gone}: {text}");
    }
}

#[test]
fn a_length_that_may_wrap_is_not_computed() {
    let text = counted(&appending(""));
    assert!(first_function(&text).contains("const 72057594037927936"), "{text}");
    let most = appending("").replace(
        "v24: bool = eq v20, v0",
        "v50: i64 = const 9223372036854775807 v24: bool = eq v20, v50",
    );
    let text = counted(&most);
    assert!(!text.contains("for v"), "{text}");
}

#[test]
fn a_loop_that_may_fail_appends_as_it_goes() {
    let text = counted(&appending(
        "v40: bool = lt v22, v3 v41: i64 = load v1[v20] v42: bool = lt v41, v22 check v42 @0 detail v41",
    ));
    assert!(!text.contains("for v"), "{text}");
}

#[test]
fn sides_that_load_from_one_array_select_the_index() {
    let update = "v14: i64 = load v3[v11] v15: bool = eq v14, v4
        v21: i64 = if v15 { v22: i64 = load v3[v0] v23: i64 = add v22, v6 yield v23 }
                   else { v24: i64 = load v3[v2] v25: i64 = load v3[v6] v26: i64 = max v24, v25 yield v26 }
        store v1[v11] = v21";
    let text = counted(&looped("0", UNTIL, update, "add v11, v6"));
    let hot = first_function(&text);
    let (_, inside) = hot.split_once("for v").unwrap();
    let (inside, _) = inside.split_once("} else {\n    v").unwrap_or((inside, ""));
    assert_eq!(inside.matches("select").count(), 2, "{text}");
    assert_eq!(inside.matches("load").count(), 3, "{text}");
}

#[test]
fn stores_at_the_ends_of_both_sides_are_one() {
    let update = "v14: i64 = load v3[v11] v15: bool = eq v14, v4
        if v15 { v22: i64 = add v14, v6 store v1[v11] = v22 } else { store v1[v11] = v7 }";
    let text = counted(&looped("0", UNTIL, update, "add v11, v6"));
    let hot = first_function(&text);
    assert_eq!(hot.matches("store").count(), 1, "{text}");
}
