//! Tests of the steps of host programs.

use super::{Action, Block, PureRegion};
use crate::ir::{parse, print_function, verify};
use crate::simplify::simplify;
use crate::thresholds::Thresholds;
use expect_test::{Expect, expect};
use std::fmt::Write;

fn check(program: &str, expected: &Expect) {
    let program = parse(program).unwrap();
    assert_eq!(verify(&program), Ok(()));
    let host_program = super::host_program(&simplify(&program, &Thresholds::default()));
    let mut out = String::new();
    for function in host_program.functions.iter().flatten() {
        block(&function.body, 0, &mut out);
    }
    expected.assert_eq(&out);
}

fn block(block: &Block, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for step in &block.steps {
        match &step.action {
            Action::Compute(region) => compute(region, &indent, out),
            Action::Global(var, id) => {
                let _ = writeln!(out, "{indent}v{} is global {}", var.0, id.0);
            }
            Action::Host { var, op, .. } => {
                let _ = writeln!(out, "{indent}v{} is {op:?}", var.0);
            }
            Action::Time(var, body) => {
                let _ = writeln!(out, "{indent}v{} is timed", var.0);
                self::block(body, depth + 1, out);
            }
            Action::If { var, then, otherwise, .. } => {
                let _ = writeln!(out, "{indent}v{} is one of", var.0);
                self::block(then, depth + 1, out);
                let _ = writeln!(out, "{indent}and");
                self::block(otherwise, depth + 1, out);
            }
            Action::Call { var, callee, host_only, .. } => {
                let alone = if host_only.is_some() { ", host only" } else { "" };
                let _ = writeln!(out, "{indent}v{} is a call of {}{alone}", var.0, callee.0);
            }
        }
        if !step.forget.is_empty() {
            let vars: Vec<u32> = step.forget.iter().map(|var| var.0).collect();
            let _ = writeln!(out, "{indent}forget {vars:?}");
        }
    }
}

fn compute(region: &PureRegion, indent: &str, out: &mut String) {
    assert_eq!(verify(&region.program), Ok(()));
    let outputs: Vec<u32> = region.outputs.iter().map(|var| var.0).collect();
    let kind = match region {
        PureRegion { effects: true, .. } => "interpret",
        PureRegion { small: true, .. } => "say",
        _ => "compute",
    };
    let _ = writeln!(out, "{indent}{kind} {outputs:?}");
    let main = &region.program.functions[region.program.main.0 as usize];
    for line in print_function(main, &region.program).lines() {
        let _ = writeln!(out, "{indent}  | {line}");
    }
}

/// A binding that cannot fail is computed where it is used, one that may fail in its order with
/// effects.
#[test]
fn prints_divide_a_program() {
    check(
        r#"main "main"
global 0: [int] = @0 "v"

fn "main"() -> int {
  v0: [int] = global 0
  v1: [int] = each v2: int in v0 {
    v3: int = mul(v2, v2)
    v3
  }
  v4: int = index(v0, 3)
  v5: [char] = text "begin"
  v6: bool = host print_text(v5)
  v7: int = reduce_sum(v1)
  v8: [char] = int_text(v7)
  v9: bool = host print_text(v8)
  v10: int = add(v7, v4)
  v10
}
"#,
        &expect![[r#"
            v0 is global 0
            compute [4]
              | fn "main"() -> int {
              |   v0: [int] = global 0
              |   v4: int = index(v0, 3)
              |   v4
              | }
            say [5]
              | fn "main"() -> [char] {
              |   v5: [char] = text "begin"
              |   v5
              | }
            v6 is PrintText
            forget [6, 5]
            compute [7]
              | fn "main"() -> int {
              |   v0: [int] = global 0
              |   v3: [int] = each v1: int in v0 {
              |     v2: int = mul(v1, v1)
              |     v2
              |   }
              |   v7: int = reduce_sum(v3)
              |   v7
              | }
            forget [0]
            say [8]
              | fn "main"() -> [char] {
              |   v7: int = global 0
              |   v8: [char] = int_text(v7)
              |   v8
              | }
            v9 is PrintText
            forget [9, 8]
            say [10]
              | fn "main"() -> int {
              |   v7: int = global 0
              |   v4: int = global 1
              |   v10: int = add(v7, v4)
              |   v10
              | }
            forget [7, 4]
        "#]],
    );
}

#[test]
fn blocks_have_steps_of_their_own() {
    check(
        r#"main "main"
global 0: [int] = @0 "v"

fn "main"() -> int {
  v0: [int] = global 0
  v1: int = reduce_sum(v0)
  v2: bool = lt(v1, 10)
  v3: int = if v2 {
    v4: [char] = text "small"
    v5: bool = host print_text(v4)
    v1
  } else {
    v6: (int, float) = time {
      v7: [int] = each v8: int in v0 {
        v9: int = div(v8, 2)
        v9
      }
      v10: int = reduce_max(v7)
      v10
    }
    v11: int = first(v6)
    v11
  }
  v12: [bool] = each v13: int in v0 {
    v14: [char] = int_text(v13)
    v15: bool = host print_text(v14)
    v15
  }
  v3
}
"#,
        &expect![[r#"
            v0 is global 0
            compute [1, 2]
              | fn "main"() -> (int, bool) {
              |   v0: [int] = global 0
              |   v1: int = reduce_sum(v0)
              |   v2: bool = lt(v1, 10)
              |   v16: (int, bool) = pair(v1, v2)
              |   v16
              | }
            v11 is one of
              say [3]
                | fn "main"() -> [char] {
                |   v3: [char] = text "small"
                |   v3
                | }
              v4 is PrintText
              forget [4, 3]
            and
              v9 is timed
                compute [8]
                  | fn "main"() -> int {
                  |   v0: [int] = global 0
                  |   v7: [int] = each v5: int in v0 {
                  |     v6: int = div(v5, 2)
                  |     v6
                  |   }
                  |   v8: int = reduce_max(v7)
                  |   v8
                  | }
              say [10]
                | fn "main"() -> int {
                |   v9: (int, float) = global 0
                |   v10: int = first(v9)
                |   v10
                | }
              forget [9]
            forget [2, 1]
            interpret [15]
              | fn "main"() -> [bool] {
              |   v0: [int] = global 0
              |   v15: [bool] = each v12: int in v0 {
              |     v13: [char] = int_text(v12)
              |     v14: bool = host print_text(v13)
              |     v14
              |   }
              |   v15
              | }
            forget [15, 0]
        "#]],
    );
}

/// The main function is performed also if nothing is left of its effects.
#[test]
fn a_program_without_effects_has_steps() {
    let text = "main \"main\"\n\nfn \"main\"() -> int {\n  7\n}\n";
    let program = parse(text).expect("the text is well-formed");
    let host_program = super::host_program(&program);
    assert!(host_program.functions[host_program.main.0 as usize].is_some());
}
