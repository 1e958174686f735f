//! Filters whose elements are expensive keep what the interpreter keeps, though the chunks of a launch pack apart.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::kir::{Literal, parse};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Input, differ};
use nesl_runtime_cpu::Cpu;

/// Finds the elements that have no divisor from 2 to their root, and three columns of them.
const PRIMES: &str = "
  v10: i64 = load v1[v9]
  v11: i64 = const 2
  v12: i64 = const 1
  v13: bool = ge v10, v11
  v14: i64, v15: bool = while carry v16: i64 = v11, v17: bool = v13 {
    v18: i64 = mul v16, v16
    v19: bool = le v18, v10
    v20: bool = and v17, v19
    yield v20
  } do {
    v21: i64 = rem v10, v16
    v22: i64 = const 0
    v23: bool = ne v21, v22
    v24: i64 = add v16, v12
    yield v24, v23
  }
  v25: bool = le v14, v11
";

fn compare(module: &str, args: &[Input], written: &[usize]) {
    let module = parse(module).unwrap();
    let reference = Reference::new(Options::default());
    for threads in [1, 2, 3, 8] {
        let options = Options { threads, ..Options::default() };
        for cpu in [Cpu::new(options.clone()), Cpu::with_grain(options.clone(), 50)] {
            if let Err(why) = differ(&module, 0, args, written, &reference, &cpu.unwrap()) {
                panic!("{threads} threads: {why}\n{args:?}");
            }
        }
    }
}

fn numbers(length: i64) -> Vec<i64> {
    (0..length).map(|i| (i * 7919 + 13) % 10_007).collect()
}

#[test]
fn elements_of_one_space() {
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [bool], v5: [i64]) over flat v0 at v9 {{{PRIMES}
  pack v15 columns v10 -> v2, v14 -> v3, v25 -> v4 count v5
}}"
    );
    for length in [0, 1, 5, 128, 129, 1000, 20_000] {
        let args = [
            Input::Scalar(Literal::I64(length)),
            Input::Array(numbers(length).into()),
            Input::Array(vec![0_i64; length as usize].into()),
            Input::Array(vec![0_i64; length as usize].into()),
            Input::Array(vec![false; length as usize].into()),
            Input::Array(vec![0_i64].into()),
        ];
        compare(&text, &args, &[2, 3, 4, 5]);
    }
}

#[test]
fn elements_of_segments() {
    let text = format!(
        "kernel \"k\"(v0: i64, v40: [i64], v1: [i64], v2: [i64], v6: [bool], v7: [i64]) \
         over segmented v0, v40 at v30, v31, v9 {{{PRIMES}
  pack segment v15 columns v10 -> v2, v25 -> v6 count v7
}}"
    );
    for lengths in [vec![0, 5, 0, 1, 700, 0], vec![3; 400], vec![20_000], vec![1, 9000, 2, 4000]] {
        let mut offsets: Vec<i64> = vec![0];
        for length in &lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let elements = offsets[lengths.len()];
        let args = [
            Input::Scalar(Literal::I64(lengths.len() as i64)),
            Input::Array(offsets.into()),
            Input::Array(numbers(elements).into()),
            Input::Array(vec![0_i64; elements as usize].into()),
            Input::Array(vec![false; elements as usize].into()),
            Input::Array(vec![0_i64; lengths.len()].into()),
        ];
        compare(&text, &args, &[3, 4, 5]);
    }
}
