//! Loops whose border conditions are known for most elements give what the interpreter gives, whatever the bounds.

use nesl_runtime::kir::{Literal, parse};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Input, differ};
use nesl_runtime_cpu::Cpu;

/// Bounds inside, at the ends and outside of the elements, and where differences wrap.
const BOUNDS: [i64; 13] =
    [i64::MIN, i64::MIN + 1, -3, -1, 0, 1, 7, 250, 498, 499, 500, i64::MAX - 2, i64::MAX];

/// The number of elements: more than are worth a split, at each width, and some left over.
const ELEMENTS: usize = 500;

fn compare(text: &str, args: &[Input], written: &[usize]) {
    let module = parse(text).unwrap();
    let reference = nesl_runtime::kir::reference::Reference::new(Options::default());
    for bits in [512, 256, 128] {
        let options = Options { threads: 2, ..Options::default() };
        let cpu = Cpu::with_vectors(options, 20_000, bits).unwrap();
        if let Err(why) = differ(&module, 0, args, written, &reference, &cpu) {
            panic!("{bits} bits: {why}\n{text}\n{args:?}");
        }
    }
}

fn args(n: usize, a: i64, b: i64) -> Vec<Input> {
    let floats: Vec<f64> = (0..n + 64).map(|i| (i % 37) as f64 - 5.5).collect();
    vec![
        Input::Scalar(Literal::I64(n as i64)),
        Input::Scalar(Literal::I64(a)),
        Input::Scalar(Literal::I64(b)),
        Input::Array(floats.into()),
        Input::Array(vec![0.0f64; n].into()),
    ]
}

/// A kernel that reads a neighbour where a condition `v30` is false.
fn kernel(condition: &str) -> String {
    format!(
        "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v0 at v5 {{
          v6: i64 = const 0
          v7: i64 = const 1
          {condition}
          v40: f64 = if v30 {{
            v41: f64 = const -1.0
            yield v41
          }} else {{
            v42: i64 = add v5, v7
            v43: f64 = load v3[v42]
            v44: f64 = load v3[v5]
            v45: f64 = mul v43, v44
            v46: f64 = add v45, v43
            yield v46
          }}
          store v4[v5] = v40
        }}"
    )
}

#[test]
fn every_relation_with_every_bound() {
    let numbers = ["add v5, v6", "sub v1, v5", "sub v5, v1", "add v5, v1"];
    for relation in ["lt", "le", "gt", "ge", "eq", "ne"] {
        for number in numbers {
            let condition = format!("v20: i64 = {number} v30: bool = {relation} v20, v2");
            let swapped = format!("v20: i64 = {number} v30: bool = {relation} v2, v20");
            for a in [0, 3, 499, i64::MAX, i64::MIN] {
                for b in BOUNDS {
                    compare(&kernel(&condition), &args(ELEMENTS, a, b), &[4]);
                }
                compare(&kernel(&swapped), &args(ELEMENTS, a, 250), &[4]);
            }
        }
    }
}

#[test]
fn several_conditions_and_few_elements() {
    let condition = "v20: bool = eq v5, v6 v21: bool = ge v5, v1 v22: bool = or v20, v21
        v23: i64 = sub v1, v5 v24: bool = gt v23, v2 v30: bool = or v22, v24";
    for n in [0, 1, 7, 31, 64, 65, 500] {
        for (a, b) in [(0, 0), (2, 1), (100, 40), (500, 500), (700, 300), (1000, 2)] {
            compare(&kernel(condition), &args(n, a, b), &[4]);
        }
    }
}

/// The first element that fails is the one that is reported, inside of the set or outside.
#[test]
fn checks_fail_where_they_did() {
    let text = "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v0 at v5 {
          v6: i64 = const 0
          v7: i64 = const 1
          v30: bool = eq v5, v6
          v40: f64 = if v30 {
            v41: f64 = const -1.0
            yield v41
          } else {
            v42: i64 = sub v5, v7
            v50: bool = ge v42, v6
            v51: bool = lt v42, v1
            v52: bool = and v50, v51
            check v52 @3 detail v42, v1
            v43: f64 = load v3[v42]
            v44: f64 = load v3[v5]
            v53: bool = lt v43, v44
            v54: f64 = if v53 {
              v55: bool = lt v5, v2
              check v55 @4 detail v5, v2
              v45: f64 = load v3[v5]
              yield v45
            } else {
              yield v43
            }
            yield v54
          }
          store v4[v5] = v40
        }";
    for (a, b) in [(500, 500), (499, 499), (498, 500), (100, 500), (500, 90), (200, 200), (0, 0)] {
        compare(text, &args(ELEMENTS, a, b), &[4]);
    }
}

/// Rows of a table, and a loop inside of a thread that reduces.
#[test]
fn rows_and_reductions() {
    let rows = "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over regular v1, v2 at v5, v8, v9 {
          v6: i64 = const 0
          v7: i64 = const 1
          v10: i64 = sub v2, v7
          v20: bool = eq v8, v6
          v21: bool = eq v8, v10
          v22: bool = or v20, v21
          v23: bool = eq v5, v6
          v30: bool = or v22, v23
          v40: f64 = if v30 {
            v41: f64 = const 0.0
            yield v41
          } else {
            v42: i64 = sub v9, v7
            v43: f64 = load v3[v42]
            v44: i64 = sub v9, v2
            v45: f64 = load v3[v44]
            v46: f64 = add v43, v45
            yield v46
          }
          store v4[v9] = v40
        }";
    for (a, b) in [(2, 250), (10, 50), (1, 500), (500, 1), (5, 100)] {
        compare(rows, &args(ELEMENTS, a, b), &[4]);
    }
    let reduction =
        "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v1 at v5 {
          v6: i64 = const 0
          v60: i64 = for v8 < v0 reduce add {
            v7: i64 = const 1
            v20: i64 = sub v2, v8
            v30: bool = lt v20, v5
            v40: i64 = if v30 {
              v41: i64 = const 3
              yield v41
            } else {
              v42: i64 = add v8, v7
              v43: f64 = load v3[v42]
              v44: i64 = convert v43
              v45: i64 = mul v44, v8
              yield v45
            }
            yield v40
          }
          v61: f64 = convert v60
          store v4[v5] = v61
        }";
    for (a, b) in [(3, 250), (2, 0), (1, 501), (4, 499)] {
        compare(reduction, &args(ELEMENTS, a, b), &[4]);
    }
}

/// Kernels that read the elements at an index `v30`, which is clamped to `0 … v1 - 1`.
#[test]
fn clamped_and_wrapped_indices() {
    let indices = [
        "v20: i64 = add v5, v2 v21: i64 = max v20, v6 v30: i64 = min v21, v10",
        "v20: i64 = sub v5, v2 v21: i64 = min v20, v10 v30: i64 = max v21, v6",
        "v20: i64 = sub v2, v5 v21: i64 = min v20, v10 v30: i64 = max v6, v21",
        "v20: bool = lt v5, v7 v30: i64 = if v20 { yield v6 } else {
            v21: i64 = sub v5, v7 v22: i64 = min v21, v10 yield v22 }",
        "v20: i64 = add v5, v7 v21: i64 = max v7, v1 v30: i64 = rem v20, v21",
        "v20: i64 = add v5, v1 v21: i64 = max v7, v1 v22: i64 = sub v20, v7 v23: i64 = max v22, v6
            v30: i64 = rem v23, v1",
    ];
    for index in indices {
        // One load, and so many that only the elements inside are vectorised.
        for loads in [1, 6] {
            let mut text = format!(
                "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v0 at v5 {{
                  v6: i64 = const 0 v7: i64 = const 1 v10: i64 = sub v1, v7 {index} v40: f64 = load v3[v30] "
            );
            let mut sum = 40;
            for n in 1..loads {
                text += &format!(
                    "v{0}: i64 = const {n} v{1}: i64 = sub v30, v{0} v{2}: i64 = max v{1}, v6
                     v{3}: f64 = load v3[v{2}] v{4}: f64 = add v{sum}, v{3} ",
                    100 + n,
                    110 + n,
                    120 + n,
                    130 + n,
                    140 + n
                );
                sum = 140 + n;
            }
            text += &format!("store v4[v5] = v{sum} }}");
            for (a, b) in [(500, 1), (500, 0), (499, 3), (400, 250), (100, -20), (1, 1), (64, 600)]
            {
                compare(&text, &args(ELEMENTS, a, b), &[4]);
            }
        }
    }
}

/// A loop inside of a thread that writes a row whose ends wrap around, and one that adds up ints.
#[test]
fn loops_with_neighbours_that_wrap_around() {
    let body = "v7: i64 = const 1 v6: i64 = const 0
        v20: i64 = add v8, v0 v21: i64 = sub v20, v7 v22: i64 = rem v21, v0
        v23: i64 = add v8, v7 v24: i64 = rem v23, v0
        v25: i64 = add v23, v7 v26: i64 = rem v25, v0
        v31: f64 = load v3[v22] v32: f64 = load v3[v24] v33: f64 = load v3[v26]
        v34: f64 = add v31, v32 v35: f64 = add v34, v33";
    let writes = format!(
        "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v1 at v5 {{
          for v8 < v0 {{ {body} store v4[v8] = v35 }} }}"
    );
    let adds = format!(
        "kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [f64], v4: [f64]) over flat v1 at v5 {{
          v60: i64 = for v8 < v0 reduce add {{ {body} v36: i64 = convert v35 v37: i64 = mul v36, v8
            yield v37 }}
          v61: f64 = convert v60
          store v4[v5] = v61 }}"
    );
    for n in [1, 2, 30, 64, 65, 100, 500] {
        compare(&writes, &args(n, 1, 0), &[4]);
        compare(&adds, &args(n, 1, 0), &[4]);
    }
}

/// Rows of a table whose borders are conditions on the row and on the column, with rows of several lengths.
#[test]
fn conditions_on_rows_and_loads_of_their_lengths() {
    let text = "kernel \"k\"(v0: i64, v1: i64, v2: [i64], v3: [i64], v4: [f64], v5: [f64]) over segmented v1, v2 at v6, v7, v8 {
          v10: i64 = const 0
          v11: i64 = const 1
          v12: i64 = sub v6, v11
          v13: bool = lt v12, v10
          v14: bool = ge v12, v1
          v15: bool = or v13, v14
          v40: f64 = if v15 {
            v16: f64 = const -1.0
            yield v16
          } else {
            v17: bool = ge v12, v10
            v18: bool = lt v12, v1
            v19: bool = and v17, v18
            check v19 @1 detail v12, v1
            v20: i64 = load v3[v12]
            v21: i64 = load v2[v12]
            v22: i64 = sub v7, v11
            v23: bool = lt v22, v10
            v24: bool = ge v22, v20
            v25: bool = or v23, v24
            v39: f64 = if v25 {
              v26: f64 = const -2.0
              yield v26
            } else {
              v27: bool = ge v22, v10
              v28: bool = lt v22, v20
              v29: bool = and v27, v28
              check v29 @2 detail v22, v20
              v30: i64 = add v21, v22
              v31: f64 = load v4[v30]
              v32: f64 = add v31, v31
              yield v32
            }
            yield v39
          }
          store v5[v8] = v40
        }";
    for lengths in [vec![200i64, 100, 300, 0, 5, 250], vec![1, 500], vec![90; 9], vec![]] {
        let mut offsets = vec![0i64];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let n = offsets[offsets.len() - 1] as usize;
        let floats: Vec<f64> = (0..n).map(|i| (i % 37) as f64 - 5.5).collect();
        let args = [
            Input::Scalar(Literal::I64(n as i64)),
            Input::Scalar(Literal::I64(lengths.len() as i64)),
            Input::Array(offsets.into()),
            Input::Array(lengths.into()),
            Input::Array(floats.into()),
            Input::Array(vec![0.0f64; n].into()),
        ];
        compare(text, &args, &[5]);
    }
}
