//! Tests the direct interpreter: operations against simple models, random programs against a second
//! interpreter, the order of output, failures with their traces, and limits.

mod model;

use model::reference::{self, Reference};
use model::{
    Recorder, apply, generate, main, options, run_text, run_with, same, value, well_formed,
};
use nesl_core::interp::{Sequence, Value, run};
use nesl_core::ir::{Ty, print, signature, split_rng_keys, verify};
use nesl_core::prim::{ReduceOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::Precision;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Lists all sequence operations, with operand types for them.
fn operations(choices: &mut generate::Choices) -> Vec<(SeqOp, Vec<Ty>)> {
    use SeqOp::*;
    let a = choices.ty(2);
    let of = Ty::sequence;
    let mut operations = vec![
        (Length, vec![of(a.clone())]),
        (Index, vec![of(a.clone()), Ty::Int]),
        (Range, vec![Ty::Int, Ty::Int, Ty::Int]),
        (Dist, vec![a.clone(), Ty::Int]),
        (Gather, vec![of(a.clone()), of(Ty::Int)]),
        (Scatter, vec![of(a.clone()), of(Ty::pair(Ty::Int, a.clone()))]),
        (Replace, vec![of(a.clone()), a.clone(), Ty::Int]),
        (Permute, vec![of(a.clone()), of(Ty::Int)]),
        (Pack, vec![of(a.clone()), of(Ty::Bool)]),
        (Append, vec![of(a.clone()), of(a.clone())]),
        (Flatten, vec![of(of(a.clone()))]),
        (Partition, vec![of(a.clone()), of(Ty::Int)]),
        (Subseq, vec![of(a), Ty::Int, Ty::Int]),
        (IntText, vec![Ty::Int]),
    ];
    for element in [Ty::Int, Ty::Float, Ty::Bool, Ty::Char] {
        for with in [
            ReduceOp::Sum,
            ReduceOp::Product,
            ReduceOp::Max,
            ReduceOp::Min,
            ReduceOp::And,
            ReduceOp::Or,
            ReduceOp::Xor,
        ] {
            operations.push((Reduce(with), vec![of(element.clone())]));
            operations.push((Scan(with), vec![of(element.clone())]));
            let (size, places) = (Ty::Int, of(Ty::Int));
            for values in [of(element.clone()), of(of(element.clone()))] {
                operations.push((Histogram(with), vec![size.clone(), places.clone(), values]));
            }
        }
        operations.push((RankUp, vec![of(element.clone())]));
        operations.push((RankDown, vec![of(element)]));
    }
    operations.retain(|(op, types)| signature::sequence(*op, types).is_ok());
    operations
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every operation has the result of its model, or the same fault.
    #[test]
    fn operations_agree_with_their_models(seed: u64, narrow: bool) {
        let precision = if narrow { Precision::Bits32 } else { Precision::Bits64 };
        let mut options = options();
        options.precision = precision;
        options.max_length = 1000;
        let mut choices = generate::Choices::new(seed);
        for (op, types) in operations(&mut choices) {
            let args: Vec<(Ty, Value)> = types
                .iter()
                .map(|ty| (ty.clone(), fit(choices.value(ty), precision)))
                .collect();
            let values: Vec<Value> = args.iter().map(|(_, value)| value.clone()).collect();
            let result = signature::sequence(op, &types).unwrap();
            let expected = reference::sequence(op, &values, &result, precision, 1000);
            let got = apply(op, &args, &options).map(|outcome| outcome.value);
            match (&got, &expected) {
                (Ok(got), Ok(expected)) => {
                    prop_assert!(same(got, expected), "{op:?} {values:?}: {got:?} {expected:?}");
                }
                (Err(got), Err(expected)) => prop_assert_eq!(got.code, *expected),
                _ => prop_assert!(false, "{op:?} {values:?}: {got:?} {expected:?}"),
            }
        }
    }

    /// Random programs have the value and output of the second interpreter, also after a round trip
    /// through text and with their random keys made explicit.
    #[test]
    fn programs_agree_with_the_second_interpreter(seed: u64, narrow: bool) {
        let (mut program, globals) = generate::program(seed);
        let precision = if narrow { Precision::Bits32 } else { Precision::Bits64 };
        let globals: Vec<Value> = globals.into_iter().map(|v| fit(v, precision)).collect();
        let mut options = options();
        options.precision = precision;
        options.max_length = 200;
        for _ in 0..2 {
            let mut reference = Reference {
                program: &program,
                globals: &globals,
                precision,
                max_length: 200,
                printed: String::new(),
            };
            let expected = reference.run(77);
            let printed = reference.printed;
            let mut host = Recorder { streams: 9, ..Recorder::default() };
            let got = run(&program, &globals, 77, &mut host, &options);
            match (&got, &expected) {
                (Ok(got), Ok(expected)) => {
                    prop_assert!(same(&got.value, expected), "{got:?} {expected:?}\n{}", print(&program));
                    prop_assert!(got.value.has_type(&program.functions[program.main.0 as usize].result));
                    prop_assert_eq!(host.printed, printed, "{}", print(&program));
                }
                (Err(got), Err(_)) => prop_assert!(!got.trace.is_empty()),
                _ => prop_assert!(false, "{got:?} {expected:?}\n{}", print(&program)),
            }
            split_rng_keys(&mut program);
            if program.functions[program.main.0 as usize].params.len() > 1 {
                break;
            }
            prop_assert_eq!(verify(&program), Ok(()));
        }
    }
}

/// A value with its numbers rounded to a precision.
fn fit(value: Value, precision: Precision) -> Value {
    match value {
        Value::Int(x) => Value::Int(precision.wrap(x)),
        Value::Float(x) => Value::Float(precision.round(x)),
        Value::Pair(pair) => {
            Value::pair(fit(pair.0.clone(), precision), fit(pair.1.clone(), precision))
        }
        Value::Sequence(Sequence::Ints(xs)) => {
            Value::from(xs.iter().map(|x| precision.wrap(*x)).collect::<Vec<_>>())
        }
        Value::Sequence(Sequence::Floats(xs)) => {
            Value::from(xs.iter().map(|x| precision.round(*x)).collect::<Vec<_>>())
        }
        Value::Sequence(Sequence::Values(xs)) => {
            let xs = xs.iter().map(|x| fit(x.clone(), precision)).collect();
            Value::Sequence(Sequence::Values(std::sync::Arc::new(xs)))
        }
        other => other,
    }
}

fn ints(xs: &[i64]) -> (Ty, Value) {
    (Ty::sequence(Ty::Int), Value::from(xs.to_vec()))
}

fn int(x: i64) -> (Ty, Value) {
    (Ty::Int, Value::Int(x))
}

#[test]
fn faults_say_what_was_wrong() {
    use SeqOp::*;
    let counts = ints(&[1, 1]);
    let flags = (Ty::sequence(Ty::Bool), Value::from(vec![true]));
    for (op, args, message) in [
        (
            Index,
            vec![ints(&[1, 2, 3]), int(7)],
            "Sequence reference (a[i]) out of bounds (index 7, length 3)",
        ),
        (
            Index,
            vec![ints(&[]), int(-1)],
            "Sequence reference (a[i]) out of bounds (index -1, length 0)",
        ),
        (
            Gather,
            vec![ints(&[1]), ints(&[0, 1])],
            "Index out of bounds for function -> (index 1, length 1)",
        ),
        (
            Replace,
            vec![ints(&[1]), int(5), int(-3)],
            "Index out of bounds for function REP (index -3, length 1)",
        ),
        (
            Permute,
            vec![ints(&[1, 2]), ints(&[1, 1])],
            "Bad arguments to function PERMUTE (index 1 occurs twice)",
        ),
        (
            Permute,
            vec![ints(&[1, 2]), ints(&[1])],
            "Bad arguments to function PERMUTE (lengths 2 and 1)",
        ),
        (Pack, vec![ints(&[1, 2]), flags], "Length mismatch in function PACK (lengths 2 and 1)"),
        (
            Partition,
            vec![ints(&[1, 2, 3]), counts],
            "Length mismatch in function PARTITION (counts sum to 2, length 3)",
        ),
        (
            Partition,
            vec![ints(&[1, 2, 3]), ints(&[-1, 4])],
            "Length mismatch in function PARTITION (a count of -1)",
        ),
        (
            Range,
            vec![int(4), int(2), int(3)],
            "In [s:e:l], e must be >= to s, and l must be positive ([4:3:2])",
        ),
        (
            Subseq,
            vec![ints(&[1, 2]), int(1), int(3)],
            "Bounds error for function SUBSEQ (from 1 to 3, length 2)",
        ),
        (Dist, vec![int(1), int(-2)], "A length must not be negative (length -2)"),
        (
            Dist,
            vec![int(0), int(1_000_000_000_000)],
            "Out of memory (a sequence of 1000000000000 elements; the limit is 50000000)",
        ),
        (
            Range,
            vec![int(i64::MIN), int(1), int(i64::MAX)],
            "Out of memory (a sequence of 18446744073709551615 elements; the limit is 50000000)",
        ),
    ] {
        let fault = apply(op, &args, &options()).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }
}

#[test]
fn the_greatest_and_the_least_skip_nans() {
    let floats = |xs: &[f64]| (Ty::sequence(Ty::Float), Value::from(xs.to_vec()));
    let nan = f64::NAN;
    for (op, xs, expected) in [
        (ReduceOp::Max, &[1.0, 3.0, nan][..], 3.0),
        (ReduceOp::Max, &[nan, -1.0, nan, -2.0], -1.0),
        (ReduceOp::Min, &[nan, 1.0, nan, 3.0, nan], 1.0),
        (ReduceOp::Max, &[nan], f64::NEG_INFINITY),
        (ReduceOp::Min, &[nan, nan], f64::INFINITY),
    ] {
        let got = apply(SeqOp::Reduce(op), &[floats(xs)], &options()).unwrap().value;
        assert_eq!(got, Value::Float(expected), "{op:?} {xs:?}");
    }
    let got = apply(SeqOp::Scan(ReduceOp::Max), &[floats(&[1.0, nan, 2.0, nan])], &options());
    let expected = Value::from(vec![f64::NEG_INFINITY, 1.0, 1.0, 2.0]);
    assert!(same(&got.unwrap().value, &expected));
}

#[test]
fn long_sorts_are_stable_both_ways() {
    let xs: Vec<f64> = (0..20_000)
        .map(|i| match (i * 7919) % 1000 {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            k => f64::from(k) - 500.0,
        })
        .collect();
    let arg = (Ty::sequence(Ty::Float), Value::from(xs.clone()));
    for (op, up) in [(SeqOp::RankUp, true), (SeqOp::RankDown, false)] {
        let got = apply(op, std::slice::from_ref(&arg), &options()).unwrap().value;
        let mut places: Vec<usize> = (0..xs.len()).collect();
        places.sort_by(|a, b| {
            let (a, b) = (xs[*a], xs[*b]);
            let order = a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()));
            if up || a.is_nan() || b.is_nan() { order } else { order.reverse() }
        });
        let mut expected = vec![0; xs.len()];
        for (rank, place) in places.into_iter().enumerate() {
            expected[place] = rank as i64;
        }
        assert_eq!(got.as_sequence().unwrap().as_ints().unwrap(), expected);
    }
}

#[test]
fn lists_and_texts() {
    assert_eq!(value(&main("[char]", "v0: [char] = float_text(2.5)", "v0")), Value::text("2.5"));
    assert_eq!(
        value(&main("[char]", "v0: [char] = exp_text(12345.678, 3)", "v0")),
        Value::text("1.235e+4")
    );
    assert_eq!(
        value(&main(
            "(float, bool)",
            "v0: [char] = text \"1.5e2x\"\nv1: (float, bool) = parse_float(v0)",
            "v1"
        )),
        Value::pair(Value::Float(150.0), Value::Bool(false))
    );
}

const PRINT: &str = r#"
fn "print"(v0: int) -> int library {
  v1: [char] = int_text(v0)
  v2: [char] = text " "
  v3: [char] = append(v1, v2)
  v4: bool = host print_text(v3)
  v0
}
"#;

/// The output of a `main` with these bindings, which may call `print`.
fn prints(lets: &str) -> String {
    let text = format!("{}{PRINT}", main("int", lets, "0"));
    let (outcome, printed) = run_text(&text);
    outcome.unwrap();
    printed
}

#[test]
fn a_nest_prints_in_lockstep() {
    // {(print(x), print(x+10)) : x in [1,2,3]}
    let both = r#"
        v0: [int] = list(1, 2, 3)
        v1: [int] = each v2: int in v0 {
          v3: int = call "print"(v2)
          v4: int = add(v2, 10)
          v5: int = call "print"(v4)
          v5
        }"#;
    assert_eq!(prints(both), "1 2 3 11 12 13 ");
    assert_eq!(prints(&both.replace("each", "serial")), "1 11 2 12 3 13 ");
}

#[test]
fn then_prints_before_else() {
    assert_eq!(
        prints(
            r#"v0: [int] = list(1, 2, 3, 4)
            v1: [int] = each v2: int in v0 {
              v3: int = mod(v2, 2)
              v4: bool = eq(v3, 0)
              v5: int = if v4 {
                v6: int = call "print"(v2)
                v7: int = neg(v2)
                v8: int = call "print"(v7)
                v8
              } else {
                v9: int = call "print"(v2)
                v9
              }
              v5
            }"#
        ),
        "2 4 -2 -4 1 3 "
    );
}

#[test]
fn inner_nests_keep_step_too() {
    let text = r#"
        v0: [int] = list(1, 2)
        v1: [[int]] = each v2: int in v0 {
          v3: [int] = range(0, 1, v2)
          v4: [int] = INNER v5: int in v3 {
            v6: int = mul(v2, 10)
            v7: int = add(v6, v5)
            v8: int = call "print"(v7)
            v9: int = add(v7, 100)
            v10: int = call "print"(v9)
            v10
          }
          v11: int = call "print"(v2)
          v4
        }"#;
    assert_eq!(prints(&text.replace("INNER", "each")), "10 20 21 110 120 121 1 2 ");
    // Serial inside: each inner iteration for all outer iterations.
    assert_eq!(prints(&text.replace("INNER", "serial")), "10 20 110 120 21 121 1 2 ");
}

#[test]
fn recursion_keeps_step() {
    let text = format!(
        "{}{PRINT}{}",
        main(
            "int",
            "v0: [int] = list(1, 3, 2)\nv1: [int] = each v2: int in v0 {\nv3: int = call \"down\"(v2)\nv3\n}",
            "0"
        ),
        r#"fn "down"(v0: int) -> int {
          v1: int = call "print"(v0)
          v2: bool = eq(v0, 0)
          v3: int = if v2 { 0 } else { v4: int = sub(v0, 1) v5: int = call "down"(v4) v5 }
          v3
        }"#
    );
    assert_eq!(run_text(&text).1, "1 3 2 0 2 1 1 0 0 ");
}

#[test]
fn what_was_printed_before_a_failure_is_printed() {
    let text = format!(
        "{}{PRINT}",
        main(
            "int",
            r#"v0: [int] = list(2, 1, 0)
            v1: int = call "print"(9)
            v2: [int] = each v3: int in v0 {
              v4: int = call "print"(v3)
              v5: int = div(10, v3)
              v6: int = call "print"(v5)
              v6
            }"#,
            "0"
        )
    );
    let (outcome, printed) = run_text(&text);
    assert_eq!(outcome.unwrap_err().fault.code, FaultCode::DivideByZero);
    assert_eq!(printed, "9 2 1 0 5 10 ");
}

#[test]
fn writing_in_a_nest_is_put_off() {
    let write = |streams: &str| {
        main(
            "[(bool, [char])]",
            &format!(
                r#"v0: [int] = list({streams})
                v9: [char] = text "x"
                v1: [(bool, [char])] = each v2: int in v0 {{
                  v3: (bool, [char]) @4:0..1 = host write_text(v9, v2)
                  v4: bool = host print_text(v9)
                  v3
                }}"#
            ),
            "v1",
        )
    };
    assert_eq!(run_text(&write("1, 2")).1, "<1:x><2:x>xx");
    let (outcome, printed) = run_text(&write("1, 20"));
    let failure = outcome.unwrap_err();
    assert_eq!(failure.fault.to_string(), "no stream 20");
    assert_eq!(failure.trace[0].0.item.0, 4);
    assert_eq!(printed, "<1:x>");
}

#[test]
fn a_trace_leads_from_the_operation_to_main() {
    let program = well_formed(
        r#"main "main"
        fn "lib"(v0: int) -> int library { v1: int @1:5..6 = div(1, v0) v1 }
        fn "user"(v0: [int]) -> [int] {
          v1: [int] @2:0..9 = each v2: int in v0 {
            v3: int @2:3..4 = if true { v4: int @2:4..5 = call "lib"(v2) v4 } else { 0 }
            v3
          }
          v1
        }
        fn "main"() -> [int] {
          v0: [int] = list(1, 0)
          v1: [int] @3:7..8 = call "user"(v0)
          v1
        }"#,
    );
    let failure = run_with(&program, &options()).0.unwrap_err();
    let trace: Vec<(u64, u32, bool)> = failure
        .trace
        .iter()
        .map(|(site, library)| (site.item.0, site.span.start, *library))
        .collect();
    assert_eq!(trace, [(1, 5, true), (2, 4, false), (3, 7, false)]);
}

#[test]
fn checks_and_errors_carry_their_text() {
    let fault = |lets: &str| {
        let (outcome, _) = run_text(&main("int", lets, "0"));
        outcome.unwrap_err().fault.to_string()
    };
    assert_eq!(fault("v0: bool = check(false, message, \"odd\")"), "odd");
    assert_eq!(
        fault("v0: bool = check(false, zip_length, \"\")"),
        "Length mismatch in function ZIP."
    );
    assert_eq!(fault("v0: [char] = text \"caf\\xc3\\xa9\"\nv1: int = error(v0)"), "café");
    assert_eq!(
        fault(
            "v0: [int] = list(1)\nv1: [int] = list()\nv2: [int] = each v3: int in v0, v4: int in v1 {\nv3\n}"
        ),
        "Length mismatch in an apply-to-each (lengths 1 and 0)"
    );
}

#[test]
fn a_run_can_be_interrupted() {
    let forever = r#"main "main"
        fn "main"() -> int { v0: int = call "spin"(60) v0 }
        fn "spin"(v0: int) -> int {
          v1: bool = eq(v0, 0)
          v2: int = if v1 { 0 } else {
            v3: int = sub(v0, 1)
            v4: int = call "spin"(v3)
            v5: int = call "spin"(v3)
            v5
          }
          v2
        }"#;
    let program = well_formed(forever);
    let stop = AtomicBool::new(false);
    let mut options = options();
    options.interrupt = Some(&stop);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            stop.store(true, Ordering::Relaxed);
        });
        let began = Instant::now();
        let failure = run_with(&program, &options).0.unwrap_err();
        assert_eq!(failure.fault.code, FaultCode::Interrupted);
        assert!(began.elapsed() < Duration::from_secs(5));
    });
    // Operations on long sequences check the flag as well.
    let long = main("int", "v0: [int] = range(0, 1, 1000000)\nv1: int = reduce_sum(v0)", "v1");
    let failure = run_with(&well_formed(&long), &options).0.unwrap_err();
    assert_eq!(failure.fault.code, FaultCode::Interrupted);
}

#[test]
fn instances_draw_independently() {
    let mut program = well_formed(
        r#"main "main"
        fn "main"() -> ([int], ([int], [int])) {
          v0: [int] = range(0, 1, 1000)
          v1: [int] = each v2: int in v0 { v3: int = rand(0, 0, 0, 1000000) v3 }
          v4: [int] = each v5: int in v0 { v6: int = call "twice"(v5) v6 }
          v7: [int] = call "chain"(1000)
          v8: ([int], [int]) = pair(v4, v7)
          v9: ([int], ([int], [int])) = pair(v1, v8)
          v9
        }
        fn "twice"(v0: int) -> int {
          v1: bool = lt(v0, 500)
          v2: int = if v1 { v3: int = rand(0, 0, 0, 1000000) v3 } else { v4: int = rand(0, 0, 0, 1000000) v4 }
          v2
        }
        fn "chain"(v0: int) -> [int] {
          v1: bool = eq(v0, 0)
          v2: [int] = if v1 { v3: [int] = list() v3 } else {
            v4: int = rand(0, 0, 0, 1000000)
            v5: [int] = list(v4)
            v6: int = sub(v0, 1)
            v7: [int] = call "chain"(v6)
            v8: [int] = append(v5, v7)
            v8
          }
          v2
        }"#,
    );
    split_rng_keys(&mut program);
    assert_eq!(verify(&program), Ok(()));
    let draw = |key, seed| {
        let mut host = Recorder { seed, ..Recorder::default() };
        run(&program, &[], key, &mut host, &options()).unwrap().value
    };
    let drawn = draw(1, 0);
    let (a, rest) = drawn.as_pair().unwrap();
    let (b, c) = rest.as_pair().unwrap();
    let mut all: Vec<i64> = Vec::new();
    for part in [a, b, c] {
        all.extend(part.as_sequence().unwrap().as_ints().unwrap());
    }
    assert_eq!(all.len(), 3000);
    let mean = all.iter().sum::<i64>() / 3000;
    assert!((450_000..550_000).contains(&mean), "{mean}");
    all.sort();
    all.dedup();
    // Of 3,000 draws from a million four or five are expected to coincide.
    assert!(all.len() > 2980, "{}", all.len());
    // The numbers are reproducible, and another key or another seed gives other numbers.
    assert_eq!(drawn, draw(1, 0));
    assert_ne!(drawn, draw(2, 0));
    assert_ne!(drawn, draw(1, 1));
}

#[test]
fn time_is_measured_by_the_host() {
    let program = well_formed(&main("(int, float)", "v0: (int, float) = time {\n3\n}", "v0"));
    let mut host = Recorder { tick: 1.5, ..Recorder::default() };
    let outcome = run(&program, &[], 0, &mut host, &options()).unwrap();
    assert_eq!(outcome.value, Value::pair(Value::Int(3), Value::Float(1.5)));
}

/// The work and depth of a `main` with these bindings.
fn cost(lets: &str, log_scan: bool) -> (u64, u64) {
    let mut options = options();
    options.log_scan = log_scan;
    let text = format!("{}{COSTED}", main("int", lets, "0"));
    let outcome = run_with(&well_formed(&text), &options).0.unwrap();
    (outcome.work, outcome.depth)
}

const COSTED: &str = r#"
fn "costed"(v0: [int], v1: int) -> [int] library charge 1 + length 0 + size 1 + result scans {
  v2: [int] = range(0, 1, 100)
  v3: int = reduce_sum(v2)
  v4: [int] = list(v1)
  v4
}
"#;

#[test]
fn costs() {
    let r8 = "v0: [int] = range(0, 1, 8)\n";
    let with = |lets: &str, log_scan| {
        let (work, depth) = cost(&format!("{r8}{lets}"), log_scan);
        let (work0, depth0) = cost(r8, log_scan);
        (work - work0, depth - depth0)
    };
    assert_eq!(cost(r8, false), (9, 1));
    for (lets, expected, log_depth) in [
        ("v1: int = add(1, 2)", (1, 1), 1),
        ("v1: int = length(v0)", (1, 1), 1),
        ("v1: int = index(v0, 3)", (1, 1), 1),
        ("v1: (int, int) = pair(1, 2)\nv2: int = first(v1)", (0, 0), 0),
        ("v1: [int] = gather(v0, v0)", (9, 1), 1),
        ("v1: [int] = dist(1, 5)", (6, 1), 1),
        ("v1: [[int]] = dist(v0, 5)", (46, 1), 1),
        ("v1: [int] = append(v0, v0)", (18, 1), 1),
        ("v1: [int] = subseq(v0, 2, 4)", (3, 1), 1),
        ("v1: int = reduce_sum(v0)", (9, 1), 3),
        ("v1: [int] = scan_max(v0)", (9, 1), 3),
        ("v1: [int] = rank_up(v0)", (24, 1), 3),
        ("v1: [int] = permute(v0, v0)", (9, 1), 1),
        ("v1: int = split_key(1, 2, 3)", (0, 0), 0),
        ("v1: [int] = call \"costed\"(v0, 5)", (1 + 8 + 1 + 2, 1), 3),
        // Eight additions in parallel have depth one.
        ("v1: [int] = each v2: int in v0 {\nv3: int = add(v2, 1)\nv3\n}", (8, 1), 1),
        ("v1: [int] = serial v2: int in v0 {\nv3: int = add(v2, 1)\nv3\n}", (8, 8), 8),
        // The deepest iteration counts: 0 + 1 + … + 7 elements, and a range in each.
        (
            "v1: [int] = each v2: int in v0 {\nv3: [int] = range(0, 1, v2)\nv4: int = reduce_sum(v3)\nv4\n}",
            (2 * (28 + 8), 2),
            4,
        ),
        ("v1: int = if true {\nv2: int = add(1, 2)\nv2\n} else {\n3\n}", (1, 1), 1),
    ] {
        assert_eq!(with(lets, false), expected, "{lets}");
        assert_eq!(with(lets, true), (expected.0, log_depth), "{lets}");
    }
}
