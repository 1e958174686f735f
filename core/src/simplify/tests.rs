//! What goes and what stays.

use super::simplify;
use crate::ir::{parse, print, verify};
use expect_test::{Expect, expect};

fn check(program: &str, expected: &Expect) {
    let program = parse(program).unwrap();
    assert_eq!(verify(&program), Vec::<String>::new());
    let simple = simplify(&program);
    assert_eq!(verify(&simple), Vec::<String>::new());
    expected.assert_eq(&print(&simple));
}

#[test]
fn a_call_of_the_library_becomes_its_code() {
    check(
        r#"main "main"

fn "main"() -> [int] {
  v0: [int] = list(1, 2, 3)
  v1: [int] = call "take@int"(v0, 2)
  v1
}

fn "take@int"(v0: [int], v1: int) -> [int] library {
  v2: int = length(v0)
  v3: bool = le(v1, v2)
  v4: bool = check(v3, message, "Bounds error for function TAKE.")
  v5: [int] = subseq(v0, 0, v1)
  v5
}
"#,
        &expect![[r#"
            main "main"

            fn "main"() -> [int] {
              v0: [int] = list(1, 2, 3)
              v1: [int] = subseq(v0, 0, 2)
              v1
            }
        "#]],
    );
}

#[test]
fn what_may_fault_stays() {
    check(
        r#"main "main"

fn "main"(v0: int) -> int {
  v1: int = neg(v0)
  v2: int = div(v0, v1)
  v3: int = add(v0, v1)
  v4: int = div(v0, 2)
  v5: (int, int) = pair(v0, v2)
  v6: int = first(v5)
  v6
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> int {
              v1: int = neg(v0)
              v2: int = div(v0, v1)
              v0
            }
        "#]],
    );
}

#[test]
fn the_same_is_computed_once_and_recursion_stays_a_call() {
    check(
        r#"main "main"

fn "main"(v7: int) -> int {
  v0: [int] = range(0, 2, v7)
  v1: int = length(v0)
  v4: [int] = each v2: int in v0 {
    v3: int = call "down"(v2)
    v3
  }
  v5: int = length(v4)
  v6: int = add(v1, v5)
  v6
}

fn "down"(v0: int) -> int {
  v1: bool = le(v0, 0)
  v4: int = if v1 {
    v0
  } else {
    v2: int = sub(v0, 1)
    v3: int = call "down"(v2)
    v3
  }
  v4
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> int {
              v1: [int] = range(0, 2, v0)
              v2: int = length(v1)
              v5: [int] = each v3: int in v1 {
                v4: int = call "down"(v3)
                v4
              }
              v6: int = add(v2, v2)
              v6
            }

            fn "down"(v0: int) -> int {
              v1: bool = le(v0, 0)
              v4: int = if v1 {
                v0
              } else {
                v2: int = sub(v0, 1)
                v3: int = call "down"(v2)
                v3
              }
              v4
            }
        "#]],
    );
}

#[test]
fn short_lists_are_written_out() {
    let text = r#"main "main"

fn "main"() -> [int] {
  v0: [int] = list(1, 2, 3)
  v1: [int] = call "halves"(v0)
  v1
}

fn "halves"(v0: [int]) -> [int] {
  v1: int = length(v0)
  v2: int = div(v1, 2)
  v3: [int] = subseq(v0, 0, v2)
  v4: [int] = subseq(v0, v2, v1)
  v5: [[int]] = list(v3, v4)
  v6: [int] = index(v5, 1)
  v7: [[int]] = each v8: [int] in v5 {
    v9: [int] = call "halves"(v8)
    v9
  }
  v10: [int] = flatten(v7)
  v11: [int] = append(v6, v10)
  v11
}
"#;
    // For many, the calls stay together.
    check(
        text,
        &expect![[r#"
            main "main"

            fn "main"() -> [int] {
              v0: [int] = list(1, 2, 3)
              v1: [int] = call "halves"(v0)
              v1
            }

            fn "halves"(v0: [int]) -> [int] {
              v1: int = length(v0)
              v2: int = div(v1, 2)
              v3: [int] = subseq(v0, 0, v2)
              v4: [int] = subseq(v0, v2, v1)
              v5: [[int]] = list(v3, v4)
              v8: [[int]] = each v6: [int] in v5 {
                v7: [int] = call "halves"(v6)
                v7
              }
              v9: [int] = flatten(v8)
              v10: [int] = append(v4, v9)
              v10
            }
        "#]],
    );
    let one = super::unroll(&parse(text).unwrap());
    assert_eq!(verify(&one), Vec::<String>::new());
    expect![[r#"
        main "main"

        fn "main"() -> [int] {
          v0: [int] = list(1, 2, 3)
          v1: [int] = call "halves"(v0)
          v1
        }

        fn "halves"(v0: [int]) -> [int] {
          v1: int = length(v0)
          v2: int = div(v1, 2)
          v3: [int] = subseq(v0, 0, v2)
          v4: [int] = subseq(v0, v2, v1)
          v6: [int] = call "halves"(v3)
          v7: [int] = call "halves"(v4)
          v9: [int] = append(v6, v7)
          v10: [int] = append(v4, v9)
          v10
        }
    "#]]
    .assert_eq(&print(&one));
}
