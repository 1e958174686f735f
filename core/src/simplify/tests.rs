//! Tests of simplification, on programs as text.

use super::simplify;
use crate::ir::{parse, print, verify};
use crate::thresholds::Thresholds;
use expect_test::{Expect, expect};

/// Checks what simplification makes of a program.
pub(super) fn check(program: &str, expected: &Expect) {
    let program = parse(program).unwrap();
    assert_eq!(verify(&program), Ok(()));
    let simple = simplify(&program, &Thresholds::default());
    assert_eq!(verify(&simple), Ok(()));
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
fn what_is_compared_with_itself_is_known_unless_it_is_a_float() {
    check(
        r#"main "main"

fn "main"(v0: int) -> (bool, bool) {
  v1: float = to_float(v0)
  v10: [int] = range(0, 1, v0)
  v2: [int] = gather(v10, v10)
  v3: int = length(v2)
  v4: int = length(v10)
  v5: bool = eq(v3, v4)
  v6: bool = lt(v3, v4)
  v7: bool = or(v5, v6)
  v8: bool = eq(v1, v1)
  v9: (bool, bool) = pair(v7, v8)
  v9
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> (bool, bool) {
              v1: float = to_float(v0)
              v2: [int] = range(0, 1, v0)
              v3: [int] = gather(v2, v2)
              v4: bool = eq(v1, v1)
              v5: (bool, bool) = pair(true, v4)
              v5
            }
        "#]],
    );
}

#[test]
fn a_part_that_begins_at_an_int_and_ends_at_a_sum_with_it_has_the_length_of_the_rest() {
    check(
        r#"main "main"

fn "main"(v1: int) -> (int, int) {
  v0: [int] = range(0, 1, v1)
  v2: int = length(v0)
  v3: int = add(v1, 3)
  v4: [int] = subseq(v0, v1, v3)
  v5: int = length(v4)
  v6: int = sub(v3, 3)
  v7: (int, int) = pair(v5, v6)
  v7
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> (int, int) {
              v1: [int] = range(0, 1, v0)
              v2: int = add(v0, 3)
              v3: [int] = subseq(v1, v0, v2)
              v4: (int, int) = pair(3, v0)
              v4
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
    let one = super::for_one_thread(&parse(text).unwrap(), &Thresholds::default());
    assert_eq!(verify(&one), Ok(()));
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

#[test]
fn groups_that_are_reduced_are_not_made() {
    check(
        r#"main "main"

fn "main"() -> [(int, (float, int))] {
  v0: [int] = list(3, 12, 3, 4)
  v1: [float] = list(0.5, 1.5, 2.5, 3.5)
  v2: [(int, float)] = each v3: int in v0, v4: float in v1 {
    v5: int = rem(v3, 8)
    v6: (int, float) = pair(v5, v4)
    v6
  }
  v7: [(int, [float])] = call "int_collect@float"(v2)
  v8: [(int, (float, int))] = each v9: (int, [float]) in v7 {
    v10: int = first(v9)
    v11: [float] = second(v9)
    v12: float = reduce_sum(v11)
    v13: int = length(v11)
    v14: (float, int) = pair(v12, v13)
    v15: (int, (float, int)) = pair(v10, v14)
    v15
  }
  v8
}

fn "int_collect@float"(v0: [(int, float)]) -> [(int, [float])] library group_by_key {
  v1: [(int, [float])] = list()
  v1
}
"#,
        &expect![[r#"
            main "main"

            fn "main"() -> [(int, (float, int))] {
              v0: [int] = list(3, 12, 3, 4)
              v1: [float] = list(0.5, 1.5, 2.5, 3.5)
              v6: [(int, float)] = each v2: int in v0, v3: float in v1 {
                v4: int = rem(v2, 8)
                v5: (int, float) = pair(v4, v3)
                v5
              }
              v9: [int] = each v7: (int, float) in v6 {
                v8: int = first(v7)
                v8
              }
              v12: [float] = each v10: (int, float) in v6 {
                v11: float = second(v10)
                v11
              }
              v16: [int] = each v13: int in v9 {
                v14: bool = lt(v13, 0)
                v15: int = if v14 {
                  2147483647
                } else {
                  v13
                }
                v15
              }
              v17: int = reduce_max(v16)
              v19: [int] = each v18: int in v9 {
                1
              }
              v20: [int] = histogram_sum(4, v9, v19)
              v21: [float] = histogram_sum(4, v9, v12)
              v24: bool = lt(v17, 4)
              v78: [(int, (float, int))] = if v24 {
                v25: [int] = range(0, 1, 4)
                v28: [bool] = each v26: int in v20 {
                  v27: bool = gt(v26, 0)
                  v27
                }
                v29: [int] = pack(v25, v28)
                v35: [(int, (float, int))] = each v30: int in v29 {
                  v31: int = index(v20, v30)
                  v32: float = index(v21, v30)
                  v33: (float, int) = pair(v32, v31)
                  v34: (int, (float, int)) = pair(v30, v33)
                  v34
                }
                v35
              } else {
                v77: [(int, (float, int))] = if v24 {
                  v36: int = add(v17, 1)
                  v41: [(int, float)] = each v37: int in v0, v38: float in v1 {
                    v39: int = rem(v37, 8)
                    v40: (int, float) = pair(v39, v38)
                    v40
                  }
                  v44: [int] = each v42: (int, float) in v41 {
                    v43: int = first(v42)
                    v43
                  }
                  v47: [float] = each v45: (int, float) in v41 {
                    v46: float = second(v45)
                    v46
                  }
                  v49: [int] = each v48: int in v44 {
                    1
                  }
                  v50: [int] = histogram_sum(v36, v44, v49)
                  v51: [float] = histogram_sum(v36, v44, v47)
                  v52: [int] = range(0, 1, v36)
                  v55: [bool] = each v53: int in v50 {
                    v54: bool = gt(v53, 0)
                    v54
                  }
                  v56: [int] = pack(v52, v55)
                  v62: [(int, (float, int))] = each v57: int in v56 {
                    v58: int = index(v50, v57)
                    v59: float = index(v51, v57)
                    v60: (float, int) = pair(v59, v58)
                    v61: (int, (float, int)) = pair(v57, v60)
                    v61
                  }
                  v62
                } else {
                  v67: [(int, float)] = each v63: int in v0, v64: float in v1 {
                    v65: int = rem(v63, 8)
                    v66: (int, float) = pair(v65, v64)
                    v66
                  }
                  v68: [(int, [float])] = list()
                  v76: [(int, (float, int))] = each v69: (int, [float]) in v68 {
                    v70: int = first(v69)
                    v71: [float] = second(v69)
                    v72: float = reduce_sum(v71)
                    v73: int = length(v71)
                    v74: (float, int) = pair(v72, v73)
                    v75: (int, (float, int)) = pair(v70, v74)
                    v75
                  }
                  v76
                }
                v77
              }
              v78
            }
        "#]],
    );
}

#[test]
fn groups_that_are_more_than_reduced_are_made() {
    check(
        r#"main "main"

fn "main"() -> [float] {
  v0: [(int, float)] = list()
  v1: [(int, [float])] = call "int_collect@float"(v0)
  v2: [float] = each v3: (int, [float]) in v1 {
    v4: [float] = second(v3)
    v5: float = index(v4, 0)
    v6: float = reduce_sum(v4)
    v7: float = add(v5, v6)
    v7
  }
  v2
}

fn "int_collect@float"(v0: [(int, float)]) -> [(int, [float])] library group_by_key {
  v1: [(int, [float])] = list()
  v1
}
"#,
        &expect![[r#"
            main "main"

            fn "main"() -> [float] {
              v1: [(int, [float])] = list()
              v7: [float] = each v2: (int, [float]) in v1 {
                v3: [float] = second(v2)
                v4: float = index(v3, 0)
                v5: float = reduce_sum(v3)
                v6: float = add(v4, v5)
                v6
              }
              v7
            }
        "#]],
    );
}

#[test]
fn a_cheap_map_is_computed_again_where_a_side_of_a_conditional_needs_it() {
    check(
        r#"main "main"

fn "main"(v30: int) -> [int] {
  v1: bool = lt(v30, 100)
  v31: [int] = range(0, 1, v30)
  v0: [int] = permute(v31, v31)
  v2: [int] = each v3: int in v0 {
    v4: int = mul(v3, 3)
    v5: int = add(v4, 1)
    v5
  }
  v6: int = reduce_max(v2)
  v7: [int] = if v1 {
    v8: [int] = scan_sum(v2)
    v8
  } else {
    v9: bool = lt(v6, 7)
    v10: [int] = if v9 {
      v11: [int] = permute(v2, v2)
      v11
    } else {
      v0
    }
    v10
  }
  v7
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> [int] {
              v1: bool = lt(v0, 100)
              v2: [int] = range(0, 1, v0)
              v3: [int] = permute(v2, v2)
              v7: [int] = each v4: int in v3 {
                v5: int = mul(v4, 3)
                v6: int = add(v5, 1)
                v6
              }
              v8: int = reduce_max(v7)
              v13: [int] = if v1 {
                v17: [int] = each v14: int in v3 {
                  v15: int = mul(v14, 3)
                  v16: int = add(v15, 1)
                  v16
                }
                v9: [int] = scan_sum(v17)
                v9
              } else {
                v10: bool = lt(v8, 7)
                v12: [int] = if v10 {
                  v21: [int] = each v18: int in v3 {
                    v19: int = mul(v18, 3)
                    v20: int = add(v19, 1)
                    v20
                  }
                  v11: [int] = permute(v21, v21)
                  v11
                } else {
                  v3
                }
                v12
              }
              v13
            }
        "#]],
    );
}

#[test]
fn a_map_that_is_stored_anyway_or_is_expensive_is_not_computed_again() {
    check(
        r#"main "main"

fn "main"(v30: int) -> ([int], [float]) {
  v1: bool = lt(v30, 100)
  v31: [int] = range(0, 1, v30)
  v0: [int] = permute(v31, v31)
  v2: [int] = each v3: int in v0 {
    v4: int = mul(v3, 3)
    v4
  }
  v5: int = reduce_max(v2)
  v6: int = index(v2, v5)
  v7: [int] = if v1 {
    v8: [int] = scan_sum(v2)
    v8
  } else {
    v0
  }
  v10: [float] = each v11: int in v0 {
    v12: int = index(v0, v11)
    v13: float = to_float(v12)
    v14: int = mul(v6, v12)
    v15: float = to_float(v14)
    v16: float = mul(v13, v15)
    v16
  }
  v17: float = reduce_sum(v10)
  v18: bool = lt(v17, 1.0)
  v19: [float] = if v18 {
    v20: [float] = scan_sum(v10)
    v20
  } else {
    v10
  }
  v21: ([int], [float]) = pair(v7, v19)
  v21
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> ([int], [float]) {
              v1: bool = lt(v0, 100)
              v2: [int] = range(0, 1, v0)
              v3: [int] = permute(v2, v2)
              v6: [int] = each v4: int in v3 {
                v5: int = mul(v4, 3)
                v5
              }
              v7: int = reduce_max(v6)
              v8: int = index(v6, v7)
              v10: [int] = if v1 {
                v9: [int] = scan_sum(v6)
                v9
              } else {
                v3
              }
              v17: [float] = each v11: int in v3 {
                v12: int = index(v3, v11)
                v13: float = to_float(v12)
                v14: int = mul(v8, v12)
                v15: float = to_float(v14)
                v16: float = mul(v13, v15)
                v16
              }
              v18: float = reduce_sum(v17)
              v19: bool = lt(v18, 1.0)
              v21: [float] = if v19 {
                v20: [float] = scan_sum(v17)
                v20
              } else {
                v17
              }
              v22: ([int], [float]) = pair(v10, v21)
              v22
            }
        "#]],
    );
}

#[test]
fn two_sides_that_call_one_function_call_it_once() {
    check(
        r#"main "main"

fn "main"(v0: int) -> [int] {
  v1: [int] = range(0, 1, v0)
  v2: [int] = list()
  v3: [int] = call "go"(v1, 0, v0, v2)
  v3
}

fn "go"(v0: [int], v1: int, v2: int, v3: [int]) -> [int] {
  v4: int = length(v0)
  v5: bool = eq(v1, v4)
  v6: [int] = if v5 {
    v3
  } else {
    v7: int = index(v0, v1)
    v8: int = rem(v7, 4)
    v9: bool = eq(v8, 0)
    v10: [int] = if v9 {
      v11: int = add(v1, 1)
      v12: int = div(100, v7)
      v13: [int] = list(v12)
      v14: [int] = append(v3, v13)
      v15: [int] = call "go"(v0, v11, v2, v14)
      v15
    } else {
      v16: int = add(v1, 1)
      v17: [int] = list(v7)
      v18: [int] = append(v3, v17)
      v19: [int] = call "go"(v0, v16, v2, v18)
      v19
    }
    v10
  }
  v6
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> [int] {
              v1: [int] = range(0, 1, v0)
              v2: [int] = list()
              v3: [int] = call "go"(v1, 0, v0, v2)
              v3
            }

            fn "go"(v0: [int], v1: int, v2: int, v3: [int]) -> [int] {
              v4: int = length(v0)
              v5: bool = eq(v1, v4)
              v20: [int] = if v5 {
                v3
              } else {
                v6: int = index(v0, v1)
                v8: int = and(v6, 3)
                v9: bool = eq(v8, 0)
                v21: int = if v9 {
                  v11: int = div(100, v6)
                  v11
                } else {
                  v6
                }
                v22: int = add(v1, 1)
                v23: [int] = list(v21)
                v24: [int] = append(v3, v23)
                v19: [int] = call "go"(v0, v22, v2, v24)
                v19
              }
              v20
            }
        "#]],
    );
}

#[test]
fn a_sequence_that_one_side_only_extends_is_no_choice() {
    check(
        r#"main "main"

fn "main"(v0: int) -> [int] {
  v1: [int] = range(0, 1, v0)
  v2: [int] = list()
  v3: [int] = call "go"(v1, 0, v2)
  v3
}

fn "go"(v0: [int], v1: int, v2: [int]) -> [int] {
  v3: int = length(v0)
  v4: bool = eq(v1, v3)
  v6: [int] = if v4 {
    v2
  } else {
    v7: int = index(v0, v1)
    v8: bool = lt(v7, 0)
    v9: int = add(v1, 1)
    v10: [int] = if v8 {
      v11: [int] = list(v7)
      v12: [int] = append(v2, v11)
      v13: [int] = call "go"(v0, v9, v12)
      v13
    } else {
      v14: [int] = call "go"(v0, v9, v2)
      v14
    }
    v10
  }
  v6
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> [int] {
              v1: [int] = range(0, 1, v0)
              v2: [int] = list()
              v3: [int] = call "go"(v1, 0, v2)
              v3
            }

            fn "go"(v0: [int], v1: int, v2: [int]) -> [int] {
              v3: int = length(v0)
              v4: bool = eq(v1, v3)
              v13: [int] = if v4 {
                v2
              } else {
                v5: int = index(v0, v1)
                v6: bool = lt(v5, 0)
                v7: int = add(v1, 1)
                v12: [int] = if v6 {
                  v8: [int] = list(v5)
                  v9: [int] = append(v2, v8)
                  v10: [int] = call "go"(v0, v7, v9)
                  v10
                } else {
                  v11: [int] = call "go"(v0, v7, v2)
                  v11
                }
                v12
              }
              v13
            }
        "#]],
    );
}

#[test]
fn an_element_is_read_once() {
    check(
        r#"main "main"

fn "main"(v2: int) -> [int] {
  v0: [int] = range(0, 1, v2)
  v1: [int] = range(1, 3, v2)
  v3: int = index(v1, v2)
  v4: int = index(v0, v3)
  v5: int = add(v4, 1)
  v6: int = index(v1, v2)
  v7: [int] = replace(v0, v6, v5)
  v8: int = index(v7, v3)
  v9: [int] = replace(v7, v8, v3)
  v9
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> [int] {
              v1: [int] = range(0, 1, v0)
              v2: [int] = range(1, 3, v0)
              v3: int = index(v2, v0)
              v4: int = index(v1, v3)
              v5: int = add(v4, 1)
              v6: [int] = replace(v1, v3, v5)
              v7: int = index(v6, v3)
              v8: [int] = replace(v6, v7, v3)
              v8
            }
        "#]],
    );
}
