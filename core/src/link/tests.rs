//! Programs that take in others.

use super::{Fact, GlobalSource, LinkUnit, cannot_fail, link, only_iterates};
use crate::ir::{GlobalId, Program, parse, print, verify};
use crate::simplify::simplify;
use crate::thresholds::Thresholds;
use expect_test::expect;

fn program(text: &str) -> Program {
    let program = parse(text).unwrap();
    assert_eq!(verify(&program), Ok(()));
    program
}

/// `{a * 2.0 : a in g0}`, by a function.
fn doubled() -> Program {
    program(
        r#"main "main"
global 0: [float] = @0 "v"

fn "main"() -> [float] {
  v0: [float] = global 0
  v1: [float] = call "double"(v0)
  v1
}

fn "double"(v0: [float]) -> [float] {
  v1: [float] = each v2: float in v0 {
    v3: float = mul(v2, 2.0)
    v3
  }
  v1
}
"#,
    )
}

fn sum() -> Program {
    program(
        r#"main "main"
global 0: [float] = @0 "x"
global 1: float = @0 "y"

fn "main"() -> float {
  v0: float = call "total"()
  v1: float = global 1
  v2: float = add(v0, v1)
  v2
}

fn "total"() -> float {
  v0: [float] = global 0
  v1: float = reduce_sum(v0)
  v1
}
"#,
    )
}

#[test]
fn what_is_taken_in_is_computed_first() {
    let (double, sum) = (doubled(), sum());
    let units = [
        LinkUnit { program: &double, sources: &[GlobalSource::Global(GlobalId(1))] },
        LinkUnit {
            program: &sum,
            sources: &[GlobalSource::Unit(0), GlobalSource::Global(GlobalId(0))],
        },
    ];
    let globals = vec![sum.globals[1].clone(), double.globals[0].clone()];
    let linked = link(&units, globals);
    assert_eq!(verify(&linked), Ok(()));
    expect![[r#"
        main "main"
        global 0: float = @0 "y"
        global 1: [float] = @0 "v"

        fn "main"() -> float {
          v0: [float] = global 1
          v3: [float] = each v1: float in v0 {
            v2: float = mul(v1, 2.0)
            v2
          }
          v4: float = reduce_sum(v3)
          v5: float = global 0
          v6: float = add(v4, v5)
          v6
        }
    "#]]
    .assert_eq(&print(&simplify(&linked, &Thresholds::default())));
}

#[test]
fn what_two_take_in_is_computed_once() {
    let (double, sum) = (doubled(), sum());
    let units = [
        LinkUnit { program: &double, sources: &[GlobalSource::Global(GlobalId(0))] },
        LinkUnit { program: &double, sources: &[GlobalSource::Unit(0)] },
        LinkUnit {
            program: &sum,
            sources: &[GlobalSource::Unit(0), GlobalSource::Global(GlobalId(1))],
        },
        LinkUnit { program: &sum, sources: &[GlobalSource::Unit(1), GlobalSource::Unit(2)] },
    ];
    let linked = link(&units, vec![double.globals[0].clone(), sum.globals[1].clone()]);
    assert_eq!(verify(&linked), Ok(()));
    assert_eq!(print(&simplify(&linked, &Thresholds::default())).matches("mul(").count(), 2);
}

#[test]
fn only_some_uses_go_over_it() {
    let over =
        |text: &str| only_iterates(&simplify(&program(text), &Thresholds::default()), GlobalId(0));
    let using = |line: &str, ty: &str| {
        format!(
            "main \"main\"\nglobal 0: [int] = @0 \"x\"\n\nfn \"main\"() -> {ty} {{\n  \
             v0: [int] = global 0\n  {line}\n  v1\n}}\n"
        )
    };
    assert!(over(&using("v1: int = reduce_sum(v0)", "int")));
    assert!(over(&using("v1: [int] = each v2: int in v0 { v3: int = neg(v2) v3 }", "[int]")));
    assert!(!over(&using("v1: int = index(v0, 7)", "int")));
    assert!(!over(&using("v1: [int] = copy(v0)", "[int]")));
    let free = "v1: [int] = each v2: int in v0 { v3: int = index(v0, v2) v3 }";
    assert!(!over(&using(free, "[int]")));
}

#[test]
fn what_cannot_fail() {
    let fact = |lines: &str, ty: &str| {
        let text = format!(
            "main \"main\"\nglobal 0: [int] = @0 \"a\"\nglobal 1: [int] = @0 \"b\"\n\
             global 2: int = @0 \"n\"\n\nfn \"main\"() -> {ty} {{\n  v0: [int] = global 0\n  \
             v1: [int] = global 1\n  v2: int = global 2\n  {lines}\n  v9\n}}\n"
        );
        let known = |id: GlobalId| match id.0 {
            2 => Fact::Int(7),
            _ => Fact::Length(5),
        };
        cannot_fail(&program(&text), &known, 1000)
    };
    let both = "v9: [int] = each v3: int in v0, v4: int in v1 { v5: int = add(v3, v4) v5 }";
    assert_eq!(fact(both, "[int]"), Some(Fact::Length(5)));
    assert_eq!(fact("v9: [int] = range(0, 1, v2)", "[int]"), Some(Fact::Length(7)));
    assert_eq!(fact("v9: [int] = range(0, v2, 100)", "[int]"), Some(Fact::Length(15)));
    assert_eq!(fact("v9: [int] = range(8, 1, v2)", "[int]"), None);
    assert_eq!(fact("v9: [int] = dist(1, 2000)", "[int]"), None);
    let other = "v3: [int] = range(0, 1, v2)
                 v9: [int] = each v4: int in v0, v5: int in v3 { v6: int = add(v4, v5) v6 }";
    assert_eq!(fact(other, "[int]"), None);
    let divided = "v9: [int] = each v3: int in v0 { v5: int = div(v3, v2) v5 }";
    assert_eq!(fact(divided, "[int]"), None);
}
