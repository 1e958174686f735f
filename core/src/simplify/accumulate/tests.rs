//! Tests of recursion as loops.

use super::super::for_one_thread;
use crate::ir::{parse, print, verify};
use crate::thresholds::Thresholds;
use expect_test::expect;

#[test]
fn recursion_whose_results_are_added_up_is_a_loop_for_one_thread() {
    let text = r#"main "main"

fn "main"() -> int {
  v0: int = call "steps"(7, 2)
  v1: int = call "twice"(7)
  v2: int = call "greatest"(v0)
  v3: int = add(v1, v2)
  v3
}

fn "steps"(v0: int, v1: int) -> int {
  v2: bool = le(v0, 1)
  v12: int = if v2 {
    5
  } else {
    v3: bool = gt(v0, v1)
    v11: int = if v3 {
      v4: int = sub(v0, 1)
      v5: int = call "steps"(v4, v1)
      v6: int = mul(v0, 3)
      v7: int = add(v5, v6)
      v8: int = add(v1, v7)
      v8
    } else {
      v9: int = sub(v0, 2)
      v10: int = call "steps"(v9, v1)
      v10
    }
    v11
  }
  v12
}

fn "twice"(v0: int) -> int {
  v1: bool = le(v0, 1)
  v7: int = if v1 {
    1
  } else {
    v2: int = sub(v0, 1)
    v3: int = call "twice"(v2)
    v4: int = sub(v0, 2)
    v5: int = call "twice"(v4)
    v6: int = add(v3, v5)
    v6
  }
  v7
}

fn "greatest"(v0: int) -> int {
  v1: bool = le(v0, 1)
  v5: int = if v1 {
    1
  } else {
    v2: int = div(v0, 2)
    v3: int = call "greatest"(v2)
    v4: int = max(v0, v3)
    v4
  }
  v5
}
"#;
    let one = for_one_thread(&parse(text).unwrap(), &Thresholds::default());
    assert_eq!(verify(&one), Ok(()));
    expect![[r#"
            main "main"

            fn "main"() -> int {
              v0: int = call "steps"(7, 2)
              v1: int = call "twice"(7)
              v2: int = call "greatest"(v0)
              v3: int = add(v1, v2)
              v3
            }

            fn "steps"(v0: int, v1: int) -> int {
              v2: int = call "steps.loop"(v0, v1, 0, 16777216)
              v2
            }

            fn "twice"(v0: int) -> int {
              v1: bool = le(v0, 1)
              v7: int = if v1 {
                1
              } else {
                v2: int = sub(v0, 1)
                v3: int = call "twice"(v2)
                v4: int = sub(v0, 2)
                v5: int = call "twice"(v4)
                v6: int = add(v3, v5)
                v6
              }
              v7
            }

            fn "greatest"(v0: int) -> int {
              v1: bool = le(v0, 1)
              v4: int = if v1 {
                1
              } else {
                v2: int = div(v0, 2)
                v3: int = call "greatest.loop"(v2, v0, 16777216)
                v3
              }
              v4
            }

            fn "steps.loop"(v0: int, v1: int, v2: int, v3: int) -> int {
              v4: bool = gt(v3, 0)
              v5: bool = check(v4, too_deep, "")
              v6: bool = le(v0, 1)
              v18: int = if v6 {
                v7: int = add(v2, 5)
                v7
              } else {
                v8: bool = gt(v0, v1)
                v17: int = if v8 {
                  v9: int = sub(v0, 1)
                  v10: int = mul(v0, 3)
                  v11: int = add(v2, v1)
                  v12: int = add(v11, v10)
                  v13: int = sub(v3, 1)
                  v14: int = call "steps.loop"(v9, v1, v12, v13)
                  v14
                } else {
                  v15: int = sub(v0, 2)
                  v16: int = call "steps.loop"(v15, v1, v2, v3)
                  v16
                }
                v17
              }
              v18
            }

            fn "greatest.loop"(v0: int, v1: int, v2: int) -> int {
              v3: bool = gt(v2, 0)
              v4: bool = check(v3, too_deep, "")
              v5: bool = le(v0, 1)
              v11: int = if v5 {
                v6: int = max(v1, 1)
                v6
              } else {
                v7: int = div(v0, 2)
                v8: int = max(v1, v0)
                v9: int = sub(v2, 1)
                v10: int = call "greatest.loop"(v7, v8, v9)
                v10
              }
              v11
            }
        "#]]
    .assert_eq(&print(&one));
}

#[test]
fn each_of_many_terms_is_looked_at_once() {
    let terms: String = (2..40).map(|n| format!("  v{}: int = add({n}, v{n})\n", n + 1)).collect();
    let text = format!(
        "main \"main\"\n\nfn \"main\"() -> int {{\n  v0: int = call \"sum\"(3)\n  v0\n}}\n\n\
             fn \"sum\"(v0: int) -> int {{\n  v1: int = sub(v0, 1)\n  v2: int = call \"sum\"(v1)\n{terms}  v40\n}}\n"
    );
    let one = for_one_thread(&parse(&text).unwrap(), &Thresholds::default());
    assert_eq!(one.functions.len(), 3);
}

#[test]
fn recursion_whose_results_are_appended_to_something_is_a_loop_that_appends() {
    let text = r#"main "main"

fn "main"() -> [int] {
  v0: [int] = list(1, 2)
  v1: [int] = call "merge"(v0, v0)
  v2: [int] = call "evens"(v1)
  v3: [int] = call "reverse"(v2)
  v3
}

fn "merge"(v0: [int], v1: [int]) -> [int] {
  v2: int = length(v0)
  v3: bool = eq(v2, 0)
  v16: [int] = if v3 {
    v4: [int] = list(1, 2)
    v5: [int] = append(v4, v1)
    v5
  } else {
    v6: int = index(v0, 0)
    v7: [int] = subseq(v0, 1, v2)
    v8: bool = gt(v6, 3)
    v15: [int] = if v8 {
      v9: [int] = call "merge"(v7, v1)
      v10: [int] = list(v6)
      v11: [int] = append(v10, v9)
      v12: [int] = append(v1, v11)
      v12
    } else {
      v13: [int] = call "merge"(v1, v7)
      v13
    }
    v15
  }
  v16
}

fn "evens"(v0: [int]) -> [int] {
  v1: int = length(v0)
  v2: bool = gt(v1, 0)
  v12: [int] = if v2 {
    v3: [int] = subseq(v0, 1, v1)
    v4: [int] = call "evens"(v3)
    v5: int = index(v0, 0)
    v6: int = rem(v5, 2)
    v7: bool = eq(v6, 0)
    v10: [int] = if v7 {
      v8: [int] = list(v5)
      v9: [int] = append(v8, v4)
      v9
    } else {
      v4
    }
    v10
  } else {
    v11: [int] = list()
    v11
  }
  v12
}

fn "reverse"(v0: [int]) -> [int] {
  v1: int = length(v0)
  v2: bool = eq(v1, 0)
  v8: [int] = if v2 {
    v0
  } else {
    v3: int = index(v0, 0)
    v4: [int] = subseq(v0, 1, v1)
    v5: [int] = call "reverse"(v4)
    v6: [int] = list(v3)
    v7: [int] = append(v5, v6)
    v7
  }
  v8
}
"#;
    let one = for_one_thread(&parse(text).unwrap(), &Thresholds::default());
    assert_eq!(verify(&one), Ok(()));
    expect![[r#"
            main "main"

            fn "main"() -> [int] {
              v0: [int] = list(1, 2)
              v1: [int] = call "merge"(v0, v0)
              v2: [int] = call "evens"(v1)
              v3: [int] = call "reverse"(v2)
              v3
            }

            fn "merge"(v0: [int], v1: [int]) -> [int] {
              v2: int = length(v0)
              v3: bool = eq(v2, 0)
              v14: [int] = if v3 {
                v4: [int] = list(1, 2)
                v5: [int] = append(v4, v1)
                v5
              } else {
                v6: int = index(v0, 0)
                v7: [int] = subseq(v0, 1, v2)
                v8: bool = gt(v6, 3)
                v13: [int] = if v8 {
                  v9: [int] = list(v6)
                  v10: [int] = append(v1, v9)
                  v11: [int] = call "merge.loop"(v7, v1, v10, 8388608)
                  v11
                } else {
                  v12: [int] = call "merge"(v1, v7)
                  v12
                }
                v13
              }
              v14
            }

            fn "evens"(v0: [int]) -> [int] {
              v1: int = length(v0)
              v2: bool = gt(v1, 0)
              v14: [int] = if v2 {
                v3: [int] = subseq(v0, 1, v1)
                v4: int = index(v0, 0)
                v6: int = and(v4, 1)
                v7: bool = eq(v6, 0)
                v12: [int] = if v7 {
                  v8: [int] = list(v4)
                  v9: [int] = call "evens.loop"(v3, v8, 8388608)
                  v9
                } else {
                  v10: [int] = list()
                  v11: [int] = call "evens.loop"(v3, v10, 8388608)
                  v11
                }
                v12
              } else {
                v13: [int] = list()
                v13
              }
              v14
            }

            fn "reverse"(v0: [int]) -> [int] {
              v1: int = length(v0)
              v2: bool = eq(v1, 0)
              v8: [int] = if v2 {
                v0
              } else {
                v3: int = index(v0, 0)
                v4: [int] = subseq(v0, 1, v1)
                v5: [int] = call "reverse"(v4)
                v6: [int] = list(v3)
                v7: [int] = append(v5, v6)
                v7
              }
              v8
            }

            fn "merge.loop"(v0: [int], v1: [int], v2: [int], v3: int) -> [int] {
              v4: bool = gt(v3, 0)
              v5: bool = check(v4, too_deep, "")
              v6: int = length(v0)
              v7: bool = eq(v6, 0)
              v21: [int] = if v7 {
                v8: [int] = list(1, 2)
                v9: [int] = append(v2, v8)
                v10: [int] = append(v9, v1)
                v10
              } else {
                v11: int = index(v0, 0)
                v12: [int] = subseq(v0, 1, v6)
                v13: bool = gt(v11, 3)
                v20: [int] = if v13 {
                  v14: [int] = list(v11)
                  v15: [int] = append(v2, v1)
                  v16: [int] = append(v15, v14)
                  v17: int = sub(v3, 1)
                  v18: [int] = call "merge.loop"(v12, v1, v16, v17)
                  v18
                } else {
                  v19: [int] = call "merge.loop"(v1, v12, v2, v3)
                  v19
                }
                v20
              }
              v21
            }

            fn "evens.loop"(v0: [int], v1: [int], v2: int) -> [int] {
              v3: bool = gt(v2, 0)
              v4: bool = check(v3, too_deep, "")
              v5: int = length(v0)
              v6: bool = gt(v5, 0)
              v21: [int] = if v6 {
                v7: [int] = subseq(v0, 1, v5)
                v8: int = index(v0, 0)
                v10: int = and(v8, 1)
                v11: bool = eq(v10, 0)
                v18: [int] = if v11 {
                  v12: [int] = list(v8)
                  v13: [int] = append(v1, v12)
                  v14: int = sub(v2, 1)
                  v15: [int] = call "evens.loop"(v7, v13, v14)
                  v15
                } else {
                  v16: int = sub(v2, 1)
                  v17: [int] = call "evens.loop"(v7, v1, v16)
                  v17
                }
                v18
              } else {
                v19: [int] = list()
                v20: [int] = append(v1, v19)
                v20
              }
              v21
            }
        "#]]
    .assert_eq(&print(&one));
}
