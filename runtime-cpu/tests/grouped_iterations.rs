//! Short loops that are not vectorised, whose iterations are done in groups, give what the interpreter gives: for whole
//! groups and for what is left over, and where an iteration fails.

use nesl_runtime::kir::{Literal, parse};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Input, differ};
use nesl_runtime_cpu::Cpu;

fn compare(text: &str, args: &[Input], written: &[usize]) {
    let module = parse(text).unwrap();
    let reference = nesl_runtime::kir::reference::Reference::new(Options::default());
    for bits in [512, 256, 128] {
        let cpu = Cpu::with_vectors(Options::default(), 20_000, bits).unwrap();
        if let Err(why) = differ(&module, 0, args, written, &reference, &cpu) {
            panic!("{bits} bits: {why}\n{text}\n{args:?}");
        }
    }
}

/// The arguments of a loop of so many iterations, with a bound for its elements.
fn args(iterations: i64, bound: i64) -> Vec<Input> {
    let ints: Vec<i64> = (0..32).map(|i| i * 7 % 13 - 4).collect();
    let floats: Vec<f64> = (0..32).map(|i| f64::from(i) * 0.37 - 3.0).collect();
    vec![
        Input::Scalar(Literal::I64(1)),
        Input::Scalar(Literal::I64(iterations)),
        Input::Scalar(Literal::I64(bound)),
        Input::Array(ints.into()),
        Input::Array(floats.into()),
        Input::Array(vec![0_i64; 32].into()),
        Input::Array(vec![0.0_f64; 32].into()),
        Input::Array(vec![0_i64; 1].into()),
        Input::Array(vec![0.0_f64; 1].into()),
    ]
}

/// A kernel of one element with a loop of `v1` iterations, whose results are an int and a float.
fn kernel(looped: &str) -> String {
    format!(
        "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [i64], v4: [f64], v5: [i64], v6: [f64], v7: [i64], v8: [f64]) \
         over flat v0 at v9 {{
          v10: i64 = const 0
          v11: f64 = const 1.0
          v20: i64, v21: f64 = {looped}
          store v7[v10] = v20
          store v8[v10] = v21
        }}"
    )
}

const WRITTEN: [usize; 4] = [5, 6, 7, 8];

#[test]
fn a_recurrence_of_every_length() {
    let looped = "for v12 < v1 carry v13: i64 = v10, v14: f64 = v11 {
        v30: i64 = load v3[v12]
        store v5[v12] = v13
        v31: i64 = max v13, v30
        v32: f64 = load v4[v12]
        v33: f64 = mul v14, v32
        v34: f64 = add v33, v32
        store v6[v12] = v34
        yield v31, v34
      }";
    for iterations in -1..=17 {
        compare(&kernel(looped), &args(iterations, 0), &WRITTEN);
    }
}

#[test]
fn what_is_carried_and_what_is_reduced() {
    let looped = "for v12 < v1 carry v13: i64 = v10 reduce add {
        v30: i64 = load v3[v12]
        v31: bool = lt v13, v30
        v32: i64, v33: f64 = if v31 {
          v34: i64 = sub v30, v13
          v35: f64 = load v4[v12]
          yield v34, v35
        } else {
          v36: i64 = add v13, v12
          yield v36, v11
        }
        yield v32, v33
      }";
    for iterations in 0..=13 {
        compare(&kernel(looped), &args(iterations, 0), &WRITTEN);
    }
}

#[test]
fn the_first_failure_in_a_group_and_what_was_stored_before() {
    let looped = "for v12 < v1 carry v13: i64 = v10, v14: f64 = v11 {
        v30: i64 = load v3[v12]
        v31: bool = lt v12, v2
        check v31 @5 detail v12, v13
        v32: i64 = add v13, v30
        store v5[v12] = v32
        yield v32, v14
      }";
    for bound in 0..=9 {
        compare(&kernel(looped), &args(9, bound), &WRITTEN);
    }
}

#[test]
fn a_loop_that_reads_what_it_wrote_before() {
    let looped = "for v12 < v1 carry v13: i64 = v10, v14: f64 = v11 {
        v30: i64 = load v5[v13]
        v31: i64 = load v3[v12]
        v32: i64 = add v30, v31
        store v5[v12] = v32
        yield v12, v14
      }";
    for iterations in 0..=13 {
        compare(&kernel(looped), &args(iterations, 0), &WRITTEN);
    }
}
