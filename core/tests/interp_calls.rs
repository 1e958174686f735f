//! Tests recursion on the direct interpreter: how deep it may be, what a level takes, and that calls at
//! the ends of functions take nothing.

mod model;

use model::{main, options, run_text, run_with, well_formed};
use nesl_core::interp::Value;
use nesl_runtime::fault::FaultCode;

/// The program `down(n) = if n == 0 then 0 else 1 + down(n - 1)`.
fn countdown(n: i64) -> String {
    format!(
        "{}{}",
        main("int", &format!("v0: int = call \"down\"({n})"), "v0"),
        r#"fn "down"(v0: int) -> int {
          v1: bool = eq(v0, 0)
          v2: int = if v1 { 0 } else {
            v3: int = sub(v0, 1)
            v4: int = call "down"(v3)
            v5: int = add(v4, 1)
            v5
          }
          v2
        }"#
    )
}

#[test]
fn a_million_calls_deep() {
    let outcome = run_text(&countdown(1_000_000)).0.unwrap();
    assert_eq!(outcome.value, Value::Int(1_000_000));
    assert_eq!((outcome.work, outcome.depth), (3_000_001, 3_000_001));
}

#[test]
fn endless_recursion_ends() {
    let mut options = options();
    options.max_depth = 100_000;
    let (outcome, _) = run_with(&well_formed(&countdown(-1)), &options);
    let failure = outcome.unwrap_err();
    assert_eq!(failure.fault.to_string(), "Recursion too deep (100000 calls)");
    assert_eq!(failure.trace.len(), 64);
    assert!(run_with(&well_formed(&countdown(99_999)), &options).0.is_ok());
    assert!(run_with(&well_formed(&countdown(100_000)), &options).0.is_err());
}

/// A level of `down` is three frames and the room of two variables, 16 bytes each, of its five variables.
#[test]
fn a_level_of_recursion_takes_80_bytes() {
    let mut options = options();
    options.max_stack_bytes = 80_000;
    let failure = run_with(&well_formed(&countdown(-1)), &options).0.unwrap_err();
    assert_eq!(failure.fault.to_string(), "Recursion too deep (999 calls take 80.0 kB)");
    assert!(run_with(&well_formed(&countdown(998)), &options).0.is_ok());
    assert!(run_with(&well_formed(&countdown(999)), &options).0.is_err());
}

/// `even(n)` calls `odd(n - 1)` at its end, and `odd` calls `even`; `last` is what the last one does. At each
/// step `odd` keeps a sequence, which is not needed after the call.
fn in_turns(n: i64, last: &str) -> String {
    format!(
        "{}{}",
        main("int", &format!("v0: int = call \"even\"({n})\nv1: int = add(v0, 1)"), "v1"),
        format_args!(
            r#"fn "even"(v0: int) -> int {{
          v1: bool = eq(v0, 0)
          v2: int = if v1 {{
            {last}
          }} else {{
            v5: int = sub(v0, 1)
            v6: int = call "odd"(v5)
            v6
          }}
          v2
        }}
        fn "odd"(v0: int) -> int {{
          v1: [int] = list(v0, v0)
          v2: int = sub(v0, 1)
          v3: bool = lt(v0, 0)
          v4: int = if v3 {{
            v5: int = length(v1)
            v5
          }} else {{
            v6: int = call "even"(v2)
            v6
          }}
          v4
        }}"#
        )
    )
}

#[test]
fn calls_at_the_ends_of_functions_take_no_stack() {
    let mut options = options();
    options.max_stack_bytes = 160_000;
    let program = in_turns(3_000_000, "v3: int = add(v0, 41)\nv3");
    let outcome = run_with(&well_formed(&program), &options).0.unwrap();
    assert_eq!((outcome.value, outcome.work), (Value::Int(42), 10_500_003));
    options.max_depth = 100;
    assert!(run_with(&well_formed(&program), &options).0.is_ok());
}

#[test]
fn a_failure_after_many_calls_at_the_ends_of_functions_has_a_trace() {
    let program = in_turns(1_000_000, "v3: int = div(1, v0)\nv3");
    let failure = run_with(&well_formed(&program), &options()).0.unwrap_err();
    assert_eq!(failure.fault.code, FaultCode::DivideByZero);
    assert_eq!(failure.trace.len(), 64);
}

/// `outer(n) = if n == 0 then 0 else 1 + spin(n, 3000)`, `spin(n, k) = if k == 0 then outer(n - 1) else
/// spin(n, k - 1)`: only the calls of `spin` by `outer` are waited for.
#[test]
fn calls_that_wait_stay_between_those_that_do_not() {
    let text = format!(
        "{}{}",
        main("int", "v0: int = call \"outer\"(1000)", "v0"),
        r#"fn "outer"(v0: int) -> int {
          v1: bool = eq(v0, 0)
          v2: int = if v1 { 0 } else {
            v3: [int] = list(v0)
            v4: int = call "spin"(v0, 3000)
            v5: int = index(v3, 0)
            v6: int = sub(v5, v0)
            v7: int = add(v6, 1)
            v8: int = add(v4, v7)
            v8
          }
          v2
        }
        fn "spin"(v0: int, v1: int) -> int {
          v2: bool = eq(v1, 0)
          v3: int = if v2 {
            v4: int = sub(v0, 1)
            v5: int = call "outer"(v4)
            v5
          } else {
            v6: int = sub(v1, 1)
            v7: int = call "spin"(v0, v6)
            v7
          }
          v3
        }"#
    );
    let mut options = options();
    options.max_stack_bytes = 1 << 20;
    let outcome = run_with(&well_formed(&text), &options).0.unwrap();
    assert_eq!(outcome.value, Value::Int(1000));
}

/// The program `walk(v, n) = if n == 0 then #v else walk(v ++ [n], n - 1) + 0`, or one that uses `v` again
/// after the call.
fn walk(keeps: bool) -> String {
    let after = if keeps { "v8: int = length(v0)" } else { "v8: int = copy(0)" };
    format!(
        "{}{}",
        main("int", "v0: [int] = list()\nv1: int = call \"walk\"(v0, 1000)", "v1"),
        format_args!(
            r#"fn "walk"(v0: [int], v1: int) -> int {{
          v2: bool = eq(v1, 0)
          v3: int = if v2 {{ 
            v9: int = length(v0)
            v9
          }} else {{
            v4: [int] = list(v1)
            v5: [int] = append(v0, v4)
            v6: int = sub(v1, 1)
            v7: int = call "walk"(v5, v6)
            {after}
            v10: int = add(v7, v8)
            v10
          }}
          v3
        }}"#
        )
    )
}

/// Of a thousand sequences that grow to a thousand elements, those that are needed again have 4 MB.
#[test]
fn a_call_keeps_only_what_is_needed_after_it() {
    let mut options = options();
    options.max_bytes = 1 << 20;
    assert_eq!(run_with(&well_formed(&walk(false)), &options).0.unwrap().value, Value::Int(1000));
    let failure = run_with(&well_formed(&walk(true)), &options).0.unwrap_err();
    let message = failure.fault.to_string();
    assert!(message.starts_with("Out of memory") && message.contains("1.0 MB"), "{message}");
    options.max_bytes = 8 << 20;
    assert!(run_with(&well_formed(&walk(true)), &options).0.is_ok());
}
