//! Tests of short lists, on programs as text.

use super::super::simplify;
use crate::ir::{parse, print, verify};
use crate::thresholds::Thresholds;
use expect_test::expect;

fn simplified(program: &str) -> String {
    let program = parse(program).unwrap();
    assert_eq!(verify(&program), Ok(()));
    let simple = simplify(&program, &Thresholds::default());
    assert_eq!(verify(&simple), Ok(()));
    print(&simple)
}

#[test]
fn functions_take_the_elements_of_short_lists() {
    let simple = simplified(
        r#"main "main"

fn "main"(v0: int) -> [float] {
  v1: [float] = list(1.0, 2.0)
  v2: [float] = call "run"(v1, v0)
  v2
}

fn "run"(v0: [float], v1: int) -> [float] {
  v2: bool = eq(v1, 0)
  v10: [float] = if v2 {
    v0
  } else {
    v3: float = index(v0, 1)
    v6: [float] = each v4: float in v0 {
      v5: float = mul(v4, v3)
      v5
    }
    v7: int = sub(v1, 1)
    v8: [float] = call "run"(v6, v7)
    v8
  }
  v10
}
"#,
    );
    expect![[r#"
        main "main"

        fn "main"(v0: int) -> [float] {
          v2: (float, float) = call "run.short"(1.0, 2.0, v0)
          v3: float = first(v2)
          v4: float = second(v2)
          v5: [float] = list(v3, v4)
          v5
        }

        fn "run.short"(v0: float, v1: float, v2: int) -> (float, float) {
          v4: bool = eq(v2, 0)
          v14: (float, float) = if v4 {
            v13: (float, float) = pair(v0, v1)
            v13
          } else {
            v5: float = mul(v0, v1)
            v6: float = mul(v1, v1)
            v8: int = sub(v2, 1)
            v9: (float, float) = call "run.short"(v5, v6, v8)
            v9
          }
          v14
        }
    "#]]
    .assert_eq(&simple);
}

#[test]
fn a_list_whose_length_changes_or_that_is_indexed_stays_one() {
    let text = r#"main "main"

fn "main"(v0: int) -> int {
  v1: [int] = list(1, 2)
  v2: [int] = list(3, 4, 5)
  v3: int = call "last"(v1, v2, v0)
  v3
}

fn "last"(v0: [int], v1: [int], v2: int) -> int {
  v3: bool = eq(v2, 0)
  v10: int = if v3 {
    v4: int = rem(v2, 3)
    v5: int = index(v1, v4)
    v5
  } else {
    v6: [int] = append(v0, v1)
    v7: int = sub(v2, 1)
    v8: int = call "last"(v6, v1, v7)
    v8
  }
  v10
}
"#;
    let simple = simplified(text);
    assert!(!simple.contains("short"), "{simple}");
}

#[test]
fn a_recursion_over_a_matrix_returns_its_elements() {
    let text = r#"main "main"

fn "main"(v0: int) -> int {
  v1: [int] = list(1, 1)
  v2: [int] = list(1, 0)
  v3: [[int]] = list(v1, v2)
  v4: [[int]] = call "double"(v3, v0)
  v5: [int] = index(v4, 0)
  v6: int = index(v5, 1)
  v6
}

fn "double"(v0: [[int]], v1: int) -> [[int]] {
  v2: bool = eq(v1, 0)
  v12: [[int]] = if v2 {
    v0
  } else {
    v3: int = sub(v1, 1)
    v4: [[int]] = call "double"(v0, v3)
    v11: [[int]] = each v5: [int] in v4, v6: [int] in v0 {
      v10: [int] = each v7: int in v5, v8: int in v6 {
        v9: int = add(v7, v8)
        v9
      }
      v10
    }
    v11
  }
  v12
}
"#;
    let simple = simplified(text);
    assert!(!simple.contains("each") && !simple.contains("["), "{simple}");
}

#[test]
fn a_flatten_of_optional_elements_is_a_filter() {
    let text = r#"main "main"

fn "main"(v0: int) -> int {
  v10: [int] = range(0, 1, v0)
  v7: [[int]] = each v1: int in v10 {
    v2: bool = gt(v1, 3)
    v6: [int] = if v2 {
      v3: int = mul(v1, v1)
      v4: [int] = list(v3)
      v4
    } else {
      v5: [int] = list()
      v5
    }
    v6
  }
  v8: [int] = flatten(v7)
  v9: int = reduce_sum(v8)
  v9
}
"#;
    let simple = simplified(text);
    assert!(simple.contains("pack(") && !simple.contains("flatten("), "{simple}");
    assert_eq!(simple.matches("pack(").count(), 1, "{simple}");
}

#[test]
fn the_taps_of_a_stencil_stay_a_loop() {
    let text = r#"main "main"

fn "main"(v0: int) -> [int] {
  v1: [int] = range(0, 1, v0)
  v7: [int] = each v2: int in v1 {
    v3: [int] = list(-1, 0, 1)
    v6: [int] = each v4: int in v3 {
      v5: int = add(v2, v4)
      v5
    }
    v8: int = reduce_sum(v6)
    v8
  }
  v7
}
"#;
    let simple = simplified(text);
    assert!(simple.contains("list(-1, 0, 1)"), "{simple}");
}

#[test]
fn rows_that_conditions_choose_among_literals_are_counted_first() {
    let text = r#"main "main"

fn "main"() -> [char] {
  v0: [char] = text "XFX"
  v9: [[char]] = each v1: char in v0 {
    v2: bool = eq(v1, 'F')
    v8: [char] = if v2 {
      v3: [char] = text "FF"
      v3
    } else {
      v4: bool = eq(v1, 'X')
      v7: [char] = if v4 {
        v5: [char] = text "X-Y"
        v5
      } else {
        v6: [char] = list(v1)
        v6
      }
      v7
    }
    v8
  }
  v10: [char] = flatten(v9)
  v10
}
"#;
    expect![[r#"
        main "main"

        fn "main"() -> [char] {
          v0: [char] = text "XFX"
          v20: [[char]] = each v1: char in v0 {
            v2: bool = eq(v1, 'F')
            v11: int = if v2 {
              2
            } else {
              v9: bool = eq(v1, 'X')
              v10: int = if v9 {
                3
              } else {
                1
              }
              v10
            }
            v12: [int] = range(0, 1, v11)
            v19: [char] = each v13: int in v12 {
              v18: char = if v2 {
                'F'
              } else {
                v14: bool = eq(v1, 'X')
                v17: char = if v14 {
                  v15: [char] = text "X-Y"
                  v16: char = index(v15, v13)
                  v16
                } else {
                  v1
                }
                v17
              }
              v18
            }
            v19
          }
          v21: [char] = flatten(v20)
          v21
        }
    "#]]
    .assert_eq(&simplified(text));
    // What may fault is not computed again for each element.
    let faults =
        text.replace("v4: bool = eq(v1, 'X')", "v11: char = index(v0, 3)\n v4: bool = eq(v1, v11)");
    assert!(simplified(&faults).contains("text \"FF\""));
}
