//! Tests of functions that call each other, on programs as text.

use crate::simplify::tests::check;
use expect_test::expect;

#[test]
fn functions_that_call_each_other_last_are_one_loop() {
    check(
        r#"main "main"

fn "main"(v0: int) -> int {
  v1: [int] = range(0, 1, v0)
  v2: int = call "even"(v1, v0)
  v2
}

fn "even"(v0: [int], v1: int) -> int {
  v2: bool = eq(v1, 9)
  v5: int = if v2 {
    v1
  } else {
    v3: int = index(v0, v1)
    v4: int = call "odd"(v3, v0, 0.5)
    v4
  }
  v5
}

fn "odd"(v0: int, v1: [int], v2: float) -> int {
  v3: float = to_float(v0)
  v4: bool = lt(v3, v2)
  v6: int = if v4 {
    v5: int = call "even"(v1, v0)
    v5
  } else {
    v7: int = add(v0, 1)
    v8: int = call "odd"(v7, v1, v2)
    v8
  }
  v6
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> int {
              v1: [int] = range(0, 1, v0)
              v2: int = call "even, odd"(true, v1, v0, 0.0)
              v2
            }

            fn "even, odd"(v0: bool, v1: [int], v2: int, v3: float) -> int {
              v14: int = if v0 {
                v4: bool = eq(v2, 9)
                v7: int = if v4 {
                  v2
                } else {
                  v5: int = index(v1, v2)
                  v6: int = call "even, odd"(false, v1, v5, 0.5)
                  v6
                }
                v7
              } else {
                v8: float = to_float(v2)
                v9: bool = lt(v8, v3)
                v19: (bool, (int, float)) = if v9 {
                  v15: (int, float) = pair(v2, 0.0)
                  v16: (bool, (int, float)) = pair(true, v15)
                  v16
                } else {
                  v11: int = add(v2, 1)
                  v17: (int, float) = pair(v11, v3)
                  v18: (bool, (int, float)) = pair(false, v17)
                  v18
                }
                v20: bool = first(v19)
                v21: (int, float) = second(v19)
                v22: int = first(v21)
                v23: float = second(v21)
                v13: int = call "even, odd"(v20, v1, v22, v23)
                v13
              }
              v14
            }
        "#]],
    );
}

#[test]
fn functions_that_go_on_after_their_calls_stay() {
    check(
        r#"main "main"

fn "main"(v0: int) -> int {
  v1: int = call "even"(v0)
  v1
}

fn "even"(v0: int) -> int {
  v1: bool = eq(v0, 9)
  v4: int = if v1 {
    v0
  } else {
    v2: int = call "odd"(v0)
    v3: int = add(v2, 1)
    v3
  }
  v4
}

fn "odd"(v0: int) -> int {
  v1: int = mul(v0, 3)
  v2: int = call "even"(v1)
  v2
}
"#,
        &expect![[r#"
            main "main"

            fn "main"(v0: int) -> int {
              v1: int = call "even"(v0)
              v1
            }

            fn "even"(v0: int) -> int {
              v1: bool = eq(v0, 9)
              v4: int = if v1 {
                v0
              } else {
                v2: int = call "odd"(v0)
                v3: int = add(v2, 1)
                v3
              }
              v4
            }

            fn "odd"(v0: int) -> int {
              v1: int = mul(v0, 3)
              v2: int = call "even"(v1)
              v2
            }
        "#]],
    );
}
