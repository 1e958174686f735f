//! Tests of the decisions about which arrays are overwritten, on functions as text.

use super::Ownership;
use crate::ir::{FunId, parse};
use expect_test::{Expect, expect};

/// Checks the decisions about the functions of a program whose `main` does nothing.
fn check(functions: &str, expected: &Expect) {
    let main = "main \"main\"\n\nfn \"main\"() -> int {\n  1\n}\n\n";
    let program = parse(&format!("{main}{functions}")).expect("the text is well-formed");
    let ownership = Ownership::of(&program);
    let mut all = String::new();
    for (at, function) in program.functions.iter().enumerate().skip(1) {
        let decisions = ownership.decisions(FunId(at as u32));
        let decisions: Vec<String> = decisions.into_iter().map(|(_, text)| text).collect();
        all += &format!("{}: {}\n", function.name, decisions.join(", "));
    }
    expected.assert_eq(&all);
}

#[test]
fn the_last_use_overwrites() {
    check(
        r#"fn "f"(v0: [int], v1: int) -> [int] {
  v2: [int] = replace(v0, v1, 0)
  v3: [int] = replace(v2, v1, 1)
  v3
}
"#,
        &expect![[r#"
            f: in place v2, in place v3, return 0
        "#]],
    );
}

#[test]
fn what_is_read_later_stays() {
    check(
        r#"fn "f"(v0: [int], v1: int) -> (int, [int]) {
  v2: [int] = replace(v0, v1, 0)
  v3: int = reduce_sum(v0)
  v4: [int] = replace(v2, v1, v3)
  v5: (int, [int]) = pair(v3, v4)
  v5
}
"#,
        &expect![[r#"
            f: in place v4, return 0
        "#]],
    );
}

/// The length of a sequence stands beside its arrays.
#[test]
fn a_length_reads_nothing() {
    check(
        r#"fn "f"(v0: [int], v1: int) -> (int, [int]) {
  v2: [int] = replace(v0, v1, 0)
  v3: int = length(v0)
  v4: (int, [int]) = pair(v3, v2)
  v4
}
"#,
        &expect![[r#"
            f: in place v2, return 0
        "#]],
    );
}

#[test]
fn views_and_fused_sequences_read_what_they_are_made_of() {
    check(
        r#"fn "view"(v0: [int], v1: int) -> ([int], [int]) {
  v2: [int] = subseq(v0, 0, v1)
  v3: [int] = replace(v0, v1, 0)
  v4: ([int], [int]) = pair(v2, v3)
  v4
}

fn "fused"(v0: [int], v1: int) -> (int, [int]) {
  v2: [int] = each v3: int in v0 {
v4: int = add(v3, v1)
v4
  }
  v5: [int] = replace(v0, v1, 0)
  v6: int = reduce_sum(v2)
  v7: (int, [int]) = pair(v6, v5)
  v7
}
"#,
        &expect![[r#"
            view: 
            fused: 
        "#]],
    );
}

/// The other half of a pair may be in use.
#[test]
fn the_sequences_of_a_pair_are_apart() {
    check(
        r#"fn "f"(v0: ([int], [int]), v1: int) -> ([int], [int]) {
  v2: [int] = first(v0)
  v3: [int] = replace(v2, v1, 0)
  v4: [int] = second(v0)
  v5: ([int], [int]) = pair(v3, v4)
  v5
}

fn "twice"(v0: [int], v1: int) -> ([int], [int]) {
  v2: [int] = replace(v0, v1, 0)
  v3: ([int], [int]) = pair(v2, v2)
  v3
}
"#,
        &expect![[r#"
            f: in place v3, return 0 1
            twice: in place v2
        "#]],
    );
}

/// Each iteration reads what the nest is around, and owns what it makes.
#[test]
fn an_iteration_overwrites_its_own() {
    check(
        r#"fn "f"(v0: [int], v1: int) -> [[int]] {
  v2: [[int]] = each v3: int in v0 {
v4: [int] = replace(v0, v3, 0)
v5: [int] = replace(v4, v3, 1)
v5
  }
  v2
}
"#,
        &expect![[r#"
            f: in place v5, return 0
        "#]],
    );
}

#[test]
fn calls_are_given_what_nobody_else_reads() {
    check(
        r#"fn "f"(v0: [int], v1: [int], v2: int) -> [int] {
  v3: [int] = call "set"(v0, v1, v2)
  v4: [int] = call "set"(v3, v3, v2)
  v5: [int] = call "set"(v4, v1, v2)
  v5
}

fn "set"(v0: [int], v1: [int], v2: int) -> [int] {
  v3: int = index(v1, v2)
  v4: [int] = replace(v0, v3, v2)
  v4
}
"#,
        &expect![[r#"
            f: give v3: 0, give v5: 0 1, return 0
            set: in place v4, return 0
        "#]],
    );
}

/// A result that may be the argument keeps it from being overwritten.
#[test]
fn results_may_be_arguments() {
    check(
        r#"fn "f"(v0: [int], v1: int) -> ([int], [int]) {
  v2: [int] = call "some"(v0, v1)
  v3: [int] = replace(v0, v1, 0)
  v4: ([int], [int]) = pair(v2, v3)
  v4
}

fn "some"(v0: [int], v1: int) -> [int] {
  v2: bool = lt(v1, 3)
  v3: [int] = if v2 {
v0
  } else {
v4: [int] = replace(v0, v1, 7)
v4
  }
  v3
}

fn "new"(v0: [int], v1: int) -> ([int], [int]) {
  v2: [int] = call "made"(v0, v1)
  v3: [int] = replace(v0, v1, 0)
  v4: ([int], [int]) = pair(v2, v3)
  v4
}

fn "made"(v0: [int], v1: int) -> [int] {
  v2: [int] = scan_sum(v0)
  v2
}
"#,
        &expect![[r#"
            f: return 0 1
            some: in place v4, return 0
            new: in place v3, return 0 1
            made: 
        "#]],
    );
}

/// A row that is taken out, changed and put back is changed where it lies.
#[test]
fn rows_are_changed_in_their_places() {
    check(
        r#"fn "f"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: int = index(v2, 0)
  v4: [int] = replace(v2, v3, 1)
  v5: [int] = replace(v4, v1, 0)
  v6: [[int]] = replace(v0, v5, v1)
  v6
}

fn "elsewhere"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [int] = replace(v2, 7, 1)
  v4: [[int]] = replace(v0, v3, 0)
  v4
}

fn "between"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [int] = replace(v2, 7, 1)
  v4: [int] = index(v0, 0)
  v5: int = index(v4, 0)
  v6: [int] = replace(v3, v5, 2)
  v7: [[int]] = replace(v0, v6, v1)
  v7
}

fn "another"(v0: [[int]], v1: int) -> (int, [[int]]) {
  v2: [int] = index(v0, v1)
  v3: [int] = index(v0, 0)
  v4: [int] = replace(v2, 7, 1)
  v5: [[int]] = replace(v0, v4, v1)
  v6: int = reduce_sum(v3)
  v7: (int, [[int]]) = pair(v6, v5)
  v7
}
"#,
        &expect![[r#"
            f: take v2, in place v4, in place v5, in place v6, keep v6: 0, return 0
            elsewhere: in place v4, return 0
            between: in place v6, in place v7, return 0
            another: in place v5, move v5, return 0
        "#]],
    );
}

/// A loop that gives a table to itself changes the elements of its rows where they lie; a row that is read besides is
/// copied. Nothing is changed where another row is read later, or at other places.
#[test]
fn elements_are_changed_in_their_places() {
    check(
        r#"fn "pivot"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [[int]] = each v4: [int] in v0 {
    v5: [int] = each v6: int in v4, v7: int in v2 {
      v8: int = sub(v6, v7)
      v8
    }
    v5
  }
  v9: [[int]] = call "pivot"(v3, v1)
  v9
}

fn "kept"(v0: [[int]], v1: bool) -> [[int]] {
  v3: [[int]] = each v4: [int] in v0 {
    v5: [int] = if v1 {
      v4
    } else {
      v6: [int] = each v7: int in v4 {
        v8: int = add(v7, 1)
        v8
      }
      v6
    }
    v5
  }
  v9: [[int]] = call "kept"(v3, v1)
  v9
}

fn "once"(v0: [[int]]) -> [[int]] {
  v3: [[int]] = each v4: [int] in v0 {
    v5: [int] = each v6: int in v4 {
      v7: int = add(v6, 1)
      v7
    }
    v5
  }
  v3
}

fn "other places"(v0: [[int]]) -> [[int]] {
  v3: [[int]] = each v4: [int] in v0 {
    v5: [int] = each v6: int in v4 {
      v7: int = index(v4, v6)
      v7
    }
    v5
  }
  v9: [[int]] = call "other places"(v3)
  v9
}

fn "later"(v0: [[int]], v1: int) -> ([[int]], [int]) {
  v2: [int] = index(v0, v1)
  v3: [[int]] = each v4: [int] in v0 {
    v5: [int] = each v6: int in v4, v7: int in v2 {
      v8: int = sub(v6, v7)
      v8
    }
    v5
  }
  v9: ([[int]], [int]) = call "later"(v3, v1)
  v10: [[int]] = first(v9)
  v11: ([[int]], [int]) = pair(v10, v2)
  v11
}

fn "above"(v0: [[int]], v1: int) -> [[int]] {
  v3: [[int]] = each v4: [int] in v0 {
    v2: [int] = index(v0, v1)
    v5: [int] = each v6: int in v4, v7: int in v2 {
      v8: int = sub(v6, v7)
      v8
    }
    v5
  }
  v9: [[int]] = call "above"(v3, v1)
  v9
}

fn "column"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [[int]] = each v4: [int] in v0, v5: int in v2 {
    v6: [int] = each v7: int in v4 {
      v8: int = add(v7, v5)
      v8
    }
    v6
  }
  v9: [[int]] = call "column"(v3, v1)
  v9
}

fn "sides"(v0: [[int]], v1: bool) -> [[int]] {
  v2: [int] = index(v0, 0)
  v20: [[int]] = if v1 {
    v3: [[int]] = each v4: [int] in v0 {
      v5: [int] = each v6: int in v4, v7: int in v2 {
        v8: int = index(v4, v7)
        v8
      }
      v5
    }
    v3
  } else {
    v13: [[int]] = each v14: [int] in v0 {
      v15: [int] = each v16: int in v14, v17: int in v2 {
        v18: int = sub(v16, v17)
        v18
      }
      v15
    }
    v13
  }
  v21: [[int]] = call "sides"(v20, v1)
  v21
}
"#,
        &expect![[r#"
            pivot: copy v3: v2, rows v3: 0, elements v5: 0, in place v5, give v9: 0, return 0
            kept: rows v3: 0, elements v6: 0, in place v6, give v9: 0, return 0
            once: 
            other places: 
            later: 
            above: 
            column: 
            sides: copy v13: v2, rows v13: 0, elements v15: 0, in place v15, give v21: 0, return 0
        "#]],
    );
}

/// The old row, or another one, is in use: only the descriptors are overwritten.
#[test]
fn rows_in_use_are_left_where_they_are() {
    check(
        r#"fn "swap"(v0: [[int]], v1: int, v2: int) -> [[int]] {
  v3: [int] = index(v0, v1)
  v4: [int] = index(v0, v2)
  v5: [[int]] = replace(v0, v3, v2)
  v6: [[int]] = replace(v5, v4, v1)
  v6
}

fn "old"(v0: [[int]], v1: [int]) -> ([int], [[int]]) {
  v2: [int] = index(v0, 0)
  v3: [[int]] = replace(v0, v1, 0)
  v4: [[int]] = replace(v3, v1, 1)
  v5: ([int], [[int]]) = pair(v2, v4)
  v5
}

fn "whole"(v0: [[int]], v1: [int]) -> ([[int]], [[int]]) {
  v2: [[int]] = replace(v0, v1, 0)
  v3: ([[int]], [[int]]) = pair(v0, v2)
  v3
}

fn "mapped"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v4: [int] = each v3: int in v2 {
v5: int = add(v3, v1)
v5
  }
  v6: [[int]] = replace(v0, v4, v1)
  v6
}
"#,
        &expect![[r#"
            swap: exchange v5: v1, in place v5, done v6, return 0
            old: in place v3, move v3, in place v4, move v4
            whole: 
            mapped: in place v6, place v6, same length v6, return 0
        "#]],
    );
}

#[test]
fn rows_of_tuples_are_kept_part_by_part() {
    check(
        r#"fn "count"(v0: [([char], int)], v1: int) -> [([char], int)] {
  v2: ([char], int) = index(v0, v1)
  v3: [char] = first(v2)
  v4: int = second(v2)
  v5: int = add(v4, 1)
  v6: ([char], int) = pair(v3, v5)
  v7: [([char], int)] = replace(v0, v6, v1)
  v7
}

fn "both"(v0: [([int], [int])], v1: int) -> [([int], [int])] {
  v2: ([int], [int]) = index(v0, v1)
  v3: [int] = first(v2)
  v4: [int] = second(v2)
  v5: [int] = replace(v3, 7, 0)
  v6: [int] = replace(v4, 8, 0)
  v7: ([int], [int]) = pair(v5, v6)
  v8: [([int], [int])] = replace(v0, v7, v1)
  v8
}

fn "crosswise"(v0: [([int], [int])], v1: int) -> [([int], [int])] {
  v2: ([int], [int]) = index(v0, v1)
  v3: [int] = first(v2)
  v4: [int] = second(v2)
  v7: ([int], [int]) = pair(v4, v3)
  v8: [([int], [int])] = replace(v0, v7, v1)
  v8
}
"#,
        &expect![[r#"
            count: in place v7, keep v7: 0, return 0
            both: take v2, in place v5, in place v6, in place v8, keep v8: 0 1, return 0
            crosswise: in place v8, move v8, return 0
        "#]],
    );
}

#[test]
fn rows_are_appended_and_tables_given() {
    check(
        r#"fn "f"(v0: [[int]], v1: [int]) -> [[int]] {
  v2: [[int]] = list(v1)
  v3: [[int]] = append(v0, v2)
  v4: [[int]] = call "f"(v3, v1)
  v4
}

fn "row"(v0: [[int]], v1: int) -> [int] {
  v2: [int] = index(v0, v1)
  v3: [int] = replace(v2, v1, 0)
  v3
}

fn "with a row"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [[int]] = call "f"(v0, v2)
  v3
}
"#,
        &expect![[r#"
            f: in place v3, give v4: 0 1, return 0
            row: take v2, in place v3
            with a row: return 0
        "#]],
    );
}

#[test]
fn rows_grow_where_they_lie() {
    check(
        r#"fn "snoc"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [int] = list(v1)
  v4: [int] = append(v2, v3)
  v5: [[int]] = replace(v0, v4, v1)
  v5
}

fn "changed before and behind"(v0: [([int], [int])], v1: int) -> [([int], [int])] {
  v2: ([int], [int]) = index(v0, v1)
  v3: [int] = first(v2)
  v4: [int] = second(v2)
  v5: [int] = replace(v3, 7, 0)
  v6: [int] = list(v1)
  v7: [int] = append(v5, v6)
  v8: [int] = replace(v7, 8, 1)
  v9: [int] = replace(v4, 9, 0)
  v10: ([int], [int]) = pair(v8, v9)
  v11: [([int], [int])] = replace(v0, v10, v1)
  v11
}

fn "the rest of a row"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = index(v0, v1)
  v3: [int] = subseq(v2, 0, 1)
  v4: [int] = list(v1)
  v5: [int] = append(v3, v4)
  v6: [[int]] = replace(v0, v5, v1)
  v6
}

fn "read behind"(v0: [[int]], v1: int) -> int {
  v2: [int] = index(v0, v1)
  v3: [int] = list(v1)
  v4: [int] = append(v2, v3)
  v5: [[int]] = replace(v0, v4, v1)
  v6: int = length(v5)
  v7: [int] = index(v0, 0)
  v8: int = reduce_sum(v7)
  v9: int = add(v6, v8)
  v9
}
"#,
        &expect![[r#"
            snoc: take v2, in place v4, grow v5: 0, in place v5, return 0
            changed before and behind: take v2, in place v5, in place v7, in place v8, in place v9, grow v11: 0, in place v11, keep v11: 1, return 0
            the rest of a row: in place v6, return 0
            read behind: 
        "#]],
    );
}

#[test]
fn rows_are_changed_by_an_apply_to_each() {
    check(
        r#"fn "each"(v0: [[int]], v1: int) -> [[int]] {
  v2: [[int]] = each v3: [int] in v0 {
    v4: [int] = replace(v3, v1, 0)
    v5: [int] = replace(v4, v1, 1)
    v5
  }
  v2
}

fn "some of them"(v0: [[int]], v1: [bool]) -> [[int]] {
  v2: [[int]] = each v3: bool in v1, v4: [int] in v0 {
    v5: [int] = if v3 {
      v6: [int] = replace(v4, 1, 0)
      v6
    } else {
      v4
    }
    v5
  }
  v2
}

fn "read in the body"(v0: [[int]], v1: int) -> [[int]] {
  v2: [[int]] = each v3: [int] in v0 {
    v4: [int] = index(v0, 0)
    v5: int = reduce_sum(v4)
    v6: [int] = replace(v3, v5, 0)
    v6
  }
  v2
}

fn "read behind"(v0: [[int]], v1: int) -> ([[int]], [[int]]) {
  v2: [[int]] = each v3: [int] in v0 {
    v4: [int] = replace(v3, v1, 0)
    v4
  }
  v5: ([[int]], [[int]]) = pair(v2, v0)
  v5
}

fn "twice one table"(v0: [[int]], v1: int) -> [[int]] {
  v2: [[int]] = each v3: [int] in v0, v4: [int] in v0 {
    v5: int = index(v4, 0)
    v6: [int] = replace(v3, v5, 0)
    v6
  }
  v2
}

fn "another row"(v0: [[int]], v1: int) -> [[int]] {
  v2: [[int]] = each v3: [int] in v0 {
    v4: [int] = list(v1, v1)
    v5: [int] = replace(v4, v1, 0)
    v5
  }
  v2
}
"#,
        &expect![[r#"
            each: rows v2: 0, in place v4, in place v5, return 0
            some of them: rows v2: 1, in place v6, return 0
            read in the body: 
            read behind: 
            twice one table: 
            another row: in place v5, return 0
        "#]],
    );
}

/// A stack that a function cuts, and that its caller appends to.
#[test]
fn what_a_function_hands_on_is_owned_by_a_caller_that_changes_it() {
    check(
        r#"fn "push"(v0: [int], v1: int) -> [int] {
  v2: [int] = call "cut"(v0, v1)
  v3: [int] = list(v1)
  v4: [int] = append(v2, v3)
  v5: [int] = call "push"(v4, v1)
  v5
}

fn "cut"(v0: [int], v1: int) -> [int] {
  v2: [int] = subseq(v0, 0, v1)
  v2
}

fn "fresh"(v0: [int], v1: int) -> [int] {
  v2: [int] = range(0, 1, v1)
  v2
}
"#,
        &expect![[r#"
            push: give v2: 0, in place v4, give v5: 0, return 0
            cut: return 0
            fresh: 
        "#]],
    );
}
