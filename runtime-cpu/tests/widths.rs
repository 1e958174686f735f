//! Results have the same bits whatever the width of vectors: above all sums of floats, which depend on
//! the order of addition.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::kir::{Literal, parse};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Input, differ};
use nesl_runtime_cpu::Cpu;

/// Sizes that leave all kinds of remainders.
const SIZES: [usize; 12] = [0, 1, 2, 3, 5, 8, 15, 16, 17, 63, 250, 1003];

/// Compares kernels at 512 and 256 bits with 128, and asserts that there is wide code for them.
fn compare(text: &str, args: &dyn Fn(usize) -> Vec<Input>, written: &[usize]) {
    compare_in_chunks(text, args, written, 20_000);
}

/// As [`compare`], with chunks of at least so many operations.
fn compare_in_chunks(
    text: &str,
    args: &dyn Fn(usize) -> Vec<Input>,
    written: &[usize],
    grain: u64,
) {
    let module = parse(text).unwrap();
    let options = || Options { threads: 3, ..Options::default() };
    let cpu = |bits| Cpu::with_vectors(options(), grain, bits).unwrap();
    let usual = cpu(128);
    assert_eq!(usual.wide_functions(), 0);
    for bits in [512, 256] {
        let wide = cpu(bits);
        if wide.vector_bits() != bits {
            println!("not tested: this processor has no vectors of {bits} bits");
            continue;
        }
        for size in SIZES {
            if let Err(why) = differ(&module, 0, &args(size), written, &usual, &wide) {
                panic!("{bits} bits, {size} elements: {why}\n{text}");
            }
        }
        assert!(wide.wide_functions() > 0, "no code with {bits} bits\n{text}");
    }
}

fn int(x: usize) -> Input {
    Input::Scalar(Literal::I64(x as i64))
}

/// Floats of very different sizes, so that each order of addition gives another sum; a few signs, zeros
/// and what is not a number only if `special`.
fn floats(size: usize, special: bool) -> Vec<f64> {
    let mut state = 88172645463325252u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state % 64 {
            0 if special => -0.0,
            1 if special => 0.0,
            2 if special => f64::NAN,
            _ => (state % 1_000_003) as f64 * 1.1f64.powi((state >> 40) as i32 % 60 - 30) - 7.0,
        }
    };
    (0..size).map(next).collect()
}

fn narrow(floats: &[f64]) -> Vec<f32> {
    floats.iter().map(|x| *x as f32).collect()
}

/// The instructions that compute `v100` from `x`: so many that the code around them is not bound by memory,
/// which wide vectors would not help.
fn arithmetic(x: &str) -> String {
    let mut text = String::new();
    for pair in 0..16 {
        let last = if pair == 0 { x.into() } else { format!("v{}", 70 + pair - 1) };
        let (quotient, sum) = (50 + pair, if pair == 15 { 100 } else { 70 + pair });
        text += &format!(
            "  v{quotient}: f64 = div {last}, {x}\n  v{sum}: f64 = add v{quotient}, {x}\n"
        );
    }
    text
}

/// The text of a kernel at either precision; a line `ARITHMETIC x` stands for [`arithmetic`] of `x`.
fn at_both(text: &str, check: impl Fn(&str, bool)) {
    let lines = text.lines().map(|line| match line.trim().strip_prefix("ARITHMETIC ") {
        Some(x) => arithmetic(x),
        None => format!("{line}\n"),
    });
    let text = &lines.collect::<String>();
    check(text, true);
    check(&text.replace("f64", "f32"), false);
}

fn array(data: Vec<f64>, wide: bool) -> Input {
    if wide { Input::Array(data.into()) } else { Input::Array(narrow(&data).into()) }
}

#[test]
fn sums_over_all_elements() {
    for combine in ["add", "mul", "min", "max"] {
        let text = "kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  v5: f64 = sqrt v4
  v6: f64 = mul v5, v4
  v7: f64 = add v6, v5
  v8: f64 = div v7, v6
  ARITHMETIC v8
  reduce COMBINE v100 -> v2
}"
        .replace("COMBINE", combine);
        at_both(&text, |text, wide| {
            let args = |size| {
                vec![
                    int(size),
                    array(floats(size, combine.starts_with('m')), wide),
                    array(vec![0.0], wide),
                ]
            };
            compare(text, &args, &[2]);
        });
    }
}

#[test]
fn sums_in_loops_within_elements() {
    let text = "kernel \"k\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: i64 = mul v4, v1
  v13: f64, v14: f64 = for v6 < v1 reduce add, min {
    v7: i64 = add v5, v6
    v8: f64 = load v2[v7]
    v9: f64 = mul v8, v8
    v10: f64 = add v9, v8
    v11: f64 = sqrt v9
    v12: f64 = div v10, v11
    yield v12, v10
  }
  v15: f64 = add v13, v14
  store v3[v4] = v15
}";
    at_both(text, |text, wide| {
        for row in [0, 1, 3, 7, 8, 31, 77] {
            let args = |size| {
                let data = array(floats(size * row + 1, true), wide);
                vec![int(size), int(row), data, array(vec![0.0; size], wide)]
            };
            compare(text, &args, &[3]);
        }
    });
}

/// A function of the module is left to Cranelift; its loops have functions of their own with wide vectors. The first one
/// sums up, the second one writes, and the third one calls the function itself where an element is negative, which none is.
#[test]
fn loops_in_functions() {
    let text = "function \"f\"(v0: i64, v1: [f64], v2: i64) -> f64 {
  v3: i64 = const 0
  v4: bool = eq v2, v3
  v40: f64 = if v4 {
    v5: f64 = const 0.0
    yield v5
  } else {
    v6: [f64] = alloc v0
    v12: f64 = for v7 < v0 reduce add {
      v8: f64 = load v1[v7]
      v9: f64 = mul v8, v8
      v10: f64 = sqrt v9
      v11: f64 = div v9, v10
      yield v11
    }
    for v13 < v0 {
      v14: f64 = load v1[v13]
      v15: f64 = sub v14, v12
      v16: f64 = mul v15, v15
      v17: f64 = div v16, v12
      store v6[v13] = v17
    }
    v18: i64 = const 1
    v19: i64 = sub v2, v18
    v28: f64, v29: f64 = for v20 < v0 reduce add, max {
      v21: f64 = load v6[v20]
      v22: f64 = mul v21, v21
      v23: f64 = const -1.0
      v24: bool = lt v22, v23
      v27: f64 = if v24 {
        v25: f64 = call \"f\"(v0, v6, v3)
        yield v25
      } else {
        v26: f64 = sqrt v22
        yield v26
      }
      yield v27, v22
    }
    v30: f64 = call \"f\"(v0, v6, v19)
    v31: f64 = add v28, v29
    v32: f64 = add v30, v31
    yield v32
  }
  yield v40
}

kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: i64 = const 3
  v5: f64 = call \"f\"(v0, v1, v4)
  store v2[v3] = v5
}";
    at_both(text, |text, wide| {
        let args = |size: usize| {
            vec![int(size), array(floats(size, true), wide), array(vec![0.0; size], wide)]
        };
        compare(text, &args, &[2]);
    });
}

#[test]
fn sums_of_rows_with_the_rows_as_lanes() {
    // Each lane is an element, whose sum is in the order of the loop.
    let text = "kernel \"k\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: f64 = load v2[v4]
  v11: f64 = for v6 < v1 reduce add {
    v7: f64 = load v2[v6]
    v8: f64 = sub v5, v7
    v9: f64 = mul v8, v8
    v10: f64 = div v8, v9
    ARITHMETIC v10
    yield v100
  }
  store v3[v4] = v11
}";
    at_both(text, |text, wide| {
        let args = |size: usize| {
            let (data, out) = (array(floats(size, true), wide), array(vec![0.0; size], wide));
            vec![int(size), int(size.min(40)), data, out]
        };
        compare(text, &args, &[3]);
    });
}

#[test]
fn sums_of_segments() {
    let text =
        "kernel \"k\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over regular v0, v1 at v4, v5, v6 {
  v7: f64 = load v2[v6]
  v8: f64 = mul v7, v7
  v9: f64 = add v8, v7
  v10: f64 = sqrt v8
  v11: f64 = div v9, v10
  ARITHMETIC v11
  reduce segment add v100 -> v3
}";
    at_both(text, |text, wide| {
        for row in [1, 5, 16, 40, 100] {
            let args = |size: usize| {
                let data = array(floats(size * row, false), wide);
                vec![int(size), int(row), data, array(vec![0.0; size], wide)]
            };
            compare(text, &args, &[3]);
        }
    });
}

#[test]
fn conversions_and_bytes() {
    let text = "kernel \"k\"(v0: i64, v1: [f64], v2: [i64], v3: [u8], v4: [bool], v5: [i32]) over flat v0 at v6 {
  v7: f64 = load v1[v6]
  v8: i64 = convert v7
  v9: f64 = convert v6
  ARITHMETIC v7
  v10: f64 = mul v9, v100
  v11: i64 = convert v10
  v12: i64 = xor v8, v11
  store v2[v6] = v12
  v13: u8 = convert v12
  store v3[v6] = v13
  v14: bool = lt v7, v10
  store v4[v6] = v14
  v15: i32 = convert v12
  store v5[v6] = v15
}";
    at_both(text, |text, wide| {
        let args = |size: usize| {
            let bools = Input::Array(vec![false; size].into());
            vec![
                int(size),
                array(floats(size, true), wide),
                Input::Array(vec![0i64; size].into()),
                Input::Array(vec![0u8; size].into()),
                bools,
                Input::Array(vec![0i32; size].into()),
            ]
        };
        compare(text, &args, &[2, 3, 4, 5]);
    });
}

/// Ints near the powers of two and near multiples of a divisor, of both signs.
fn near(size: usize, divisor: i64) -> Vec<i64> {
    let one = |n: usize| {
        let n = n as i64;
        let base =
            if n % 2 == 0 { 1_i64 << (n / 2 % 64) } else { divisor.wrapping_mul(n / 6 - 40) };
        base.wrapping_add(n % 3 - 1)
    };
    (0..size).map(one).collect()
}

#[test]
fn quotients_by_constants_and_high_words() {
    let divisors = [2, 3, 7, 10, 641, 1 << 31, 1_000_000_007, (1 << 53) + 1, i64::MAX, i64::MIN];
    for divisor in divisors.into_iter().flat_map(|divisor: i64| [divisor, divisor.wrapping_neg()]) {
        let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64]) over flat v0 at v4 {
  v5: i64 = const DIVISOR
  v6: i64 = load v1[v4]
  v7: i64 = div v6, v5
  v8: i64 = rem v6, v5
  v9: i64 = mul_high v6, v5
  v10: i64 = mul v6, v5
  v11: i64 = mul_high v10, v6
  v12: i64 = xor v7, v9
  v13: i64 = xor v8, v10
  v14: i64 = xor v13, v11
  store v2[v4] = v12
  store v3[v4] = v14
}"
        .replace("DIVISOR", &divisor.to_string());
        let args = |size: usize| {
            let written = || Input::Array(vec![0i64; size].into());
            vec![int(size), Input::Array(near(size, divisor).into()), written(), written()]
        };
        compare(&text, &args, &[2, 3]);
    }
}

#[test]
fn filters_of_columns_of_every_type() {
    let text = "kernel \"k\"(v0: i64, v1: [f64], v2: [i64], v3: [f64], v4: [u8], v5: [bool], v6: [i64], v7: [i64]) over flat v0 at v8 {
  v9: f64 = load v1[v8]
  v10: f64 = const 0.0
  ARITHMETIC v9
  v11: f64 = mul v100, v9
  v12: bool = gt v9, v10
  v13: i64 = convert v9
  v14: u8 = convert v13
  v15: bool = lt v11, v9
  pack v12 columns v13 -> v2, v11 -> v3, v14 -> v4, v15 -> v5, v8 -> v6 count v7
}";
    at_both(text, |text, wide| {
        let args = |size: usize| {
            vec![
                int(size),
                array(floats(size, true), wide),
                Input::Array(vec![0i64; size].into()),
                array(vec![0.0; size], wide),
                Input::Array(vec![0u8; size].into()),
                Input::Array(vec![false; size].into()),
                Input::Array(vec![0i64; size].into()),
                Input::Array(vec![0i64; 1].into()),
            ]
        };
        compare(text, &args, &[2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn arrays_filled_with_one_value_in_a_loop() {
    let text = "\
kernel \"k\"(v0: i64, v1: i64, v2: [f64], v3: f64, v4: [f64], v5: [f64], v6: [i64], v7: [i64]) over flat v0 at v8 {
  v101: [f64] = alloc v1
  for v9 < v1 {
    v10: f64 = load v2[v9]
ARITHMETIC v10
    store v101[v9] = v100
  }
  copy v101 -> v4 count v1
  v110: [i64] = alloc v1
  v111: i64 = const -1
  for v112 < v1 { store v110[v112] = v111 }
  copy v110 -> v6 count v1
  v118: [i64] = alloc v1
  for v119 < v1 { store v118[v119] = v119 }
  copy v118 -> v7 count v1
  v115: [f64] = alloc v1
  v116: f64 = const 2.5
  for v117 < v1 { store v115[v117] = v116 }
  copy v115 -> v4 count v1
  v113: [f64] = alloc v1
  for v114 < v1 { store v113[v114] = v3 }
  copy v113 -> v5 count v1
}
";
    at_both(text, |text, wide| {
        let args = |size: usize| {
            let value =
                if wide { Literal::F64(3f64.to_bits()) } else { Literal::F32(3f32.to_bits()) };
            let out = || array(vec![0.0; size], wide);
            let ints = || Input::Array(vec![0i64; size].into());
            let inputs = array(floats(size, false), wide);
            vec![int(1), int(size), inputs, Input::Scalar(value), out(), out(), ints(), ints()]
        };
        compare(text, &args, &[4, 5, 6, 7]);
    });
}

#[test]
fn elements_inside_and_beyond_borders() {
    // Groups before, across, between and behind two borders; one side of the branch reads neighbours.
    let text = "\
kernel \"k\"(v0: i64, v1: i64, v2: i64, v3: [i64], v4: [i64], v5: [f64]) over flat v0 at v6 {
  v7: i64 = const 0
  v8: i64 = const 1
  v9: bool = eq v6, v7
  v10: bool = lt v6, v1
  v11: bool = or v9, v10
  v12: i64 = sub v2, v6
  v13: bool = le v12, v7
  v14: bool = or v11, v13
  v15: i64 = if v14 {
    v16: i64 = mul v6, v2
    yield v16
  } else {
    v17: i64 = sub v6, v8
    v18: bool = ge v17, v7
    v19: bool = lt v17, v0
    v20: bool = and v18, v19
    check v20 @0 detail v17, v0
    v21: i64 = load v3[v17]
    v22: i64 = load v3[v6]
    v23: i64 = max v21, v22
    v24: bool = lt v21, v22
    v25: i64 = if v24 { v26: i64 = add v23, v6 yield v26 } else { v27: i64 = sub v12, v23 yield v27 }
    yield v25
  }
  store v4[v6] = v15
  v28: f64 = convert v15
  store v5[v6] = v28
}
";
    for (from, to) in [(0, i64::MAX), (3, 40), (17, 17), (20, 10), (i64::MIN, i64::MAX), (900, 950)]
    {
        let args = |size: usize| {
            let ints = near(size, 7);
            vec![
                int(size),
                Input::Scalar(Literal::I64(from)),
                Input::Scalar(Literal::I64(to)),
                Input::Array(ints.into()),
                Input::Array(vec![0i64; size].into()),
                array(vec![0.0; size], true),
            ]
        };
        compare(text, &args, &[4, 5]);
    }
}

#[test]
fn both_words_of_products() {
    let text = "\
kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64]) over flat v0 at v5 {
  v6: i64 = load v1[v5]
  v7: i64 = load v2[v5]
  v8: i64 = mul_high v6, v7
  v9: i64 = mul v6, v7
  v10: i64 = const -3263064605168079213
  v11: i64 = mul_high v9, v10
  v12: i64 = mul v9, v10
  v13: i64 = xor v11, v12
  v14: i64 = xor v8, v13
  store v3[v5] = v14
  v15: i64 = mul v7, v10
  v16: i64 = xor v15, v12
  store v4[v5] = v16
}
";
    let args = |size: usize| {
        vec![
            int(size),
            Input::Array(near(size, 7).into()),
            Input::Array(near(size, i64::MAX / 3).into()),
            Input::Array(vec![0i64; size].into()),
            Input::Array(vec![0i64; size].into()),
        ]
    };
    compare(text, &args, &[3, 4]);
}

#[test]
fn filters_of_columns_of_equal_size() {
    // Few elements are kept, nearly all, those of the first half, none. Many chunks: what one writes behind its last
    // element must not be in the next one.
    let text = "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64], v3: [f64], v4: [f64], v5: i64, v6: f64, v7: [i64]) over flat v0 at v8 {
  v10: f64 = load v1[v8]
ARITHMETIC v10
  v11: f64 = convert v8
  v12: bool = lt v10, v6
  v13: bool = lt v8, v5
  v14: bool = and v12, v13
  pack v14 columns v10 -> v2, v11 -> v3, v100 -> v4 count v7
}
";
    for (limit, below) in [(0.9, i64::MAX), (0.1, i64::MAX), (2.0, 400), (2.0, i64::MAX), (-1.0, 0)]
    {
        at_both(text, |text, wide| {
            let args = |size: usize| {
                let value = match wide {
                    true => Literal::F64(f64::to_bits(limit)),
                    false => Literal::F32(f32::to_bits(limit as f32)),
                };
                let values = (0..size).map(|i| (i * 7919 % 1000) as f64 / 1000.0).collect();
                let out = || array(vec![0.0; size], wide);
                let counted = Input::Array(vec![0i64; 1].into());
                let [below, limit] = [Literal::I64(below), value].map(Input::Scalar);
                vec![int(size), array(values, wide), out(), out(), out(), below, limit, counted]
            };
            for grain in [20_000, 1] {
                compare_in_chunks(text, &args, &[2, 3, 4, 7], grain);
            }
        });
    }
    let text = "\
kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64]) over flat v0 at v5 {
  v6: i64 = load v1[v5]
  v7: i64 = const 3
  v8: i64 = and v6, v7
  v9: bool = ne v8, v7
  v10: i64 = mul v6, v6
  pack v9 columns v10 -> v2, v5 -> v3 count v4
}
";
    let args = |size: usize| {
        let out = |size: usize| Input::Array(vec![0i64; size].into());
        let values = (0..size as i64).map(|i| i * 7919 % 1001).collect::<Vec<_>>();
        vec![int(size), Input::Array(values.into()), out(size), out(size), out(1)]
    };
    for grain in [20_000, 1] {
        compare_in_chunks(text, &args, &[2, 3, 4], grain);
    }
}

#[test]
fn floats_that_become_ints_and_the_buckets_they_are_counted_in() {
    let text = "\
kernel \"k\"(v0: i64, v1: [f64], v2: [i64], v3: [i64], v4: [f64]) over flat v0 at v5 {
  v6: f64 = load v1[v5]
  v7: i64 = convert v6
  v8: i64 = const 15
  v9: i64 = and v7, v8
  v10: i64 = const 3
  v11: bool = gt v9, v10
  v12: i64 = const 1
  store v2[v5] = v7
  histogram add v12 -> v3[v9] when v11
  GREATEST
}
";
    // With a second histogram, so much is done lane by lane that there is no wide code.
    let both = text.replace("GREATEST", "histogram max v6 -> v4[v9]");
    let text = &text.replace("GREATEST", "");
    // Each vector has only lanes of one kind, or some of each.
    const LIMIT: f64 = (1u64 << 51) as f64;
    let small = [0.0, -0.0, 0.5, -0.5, 0.999, -1.0, -7.9, 1e9, LIMIT - 0.5, 0.75 - LIMIT];
    let large = [LIMIT, -LIMIT, 1e15 + 0.5, 9.2e18, 9.3e18, -9.3e18, f64::INFINITY];
    let others = [f64::NEG_INFINITY, f64::NAN, 3.0, 1e300, -4.5];
    for kinds in [&small[..], &large, &[&small[..], &large, &others].concat()] {
        let args = |size: usize| {
            let values: Vec<f64> = (0..size).map(|i| kinds[i * 7 % kinds.len()]).collect();
            let ints = Input::Array(vec![0i64; size].into());
            let (counts, greatest) = (vec![0i64; 16], vec![f64::NEG_INFINITY; 16]);
            let tables = [Input::Array(counts.into()), Input::Array(greatest.into())];
            [vec![int(size), Input::Array(values.into()), ints], tables.to_vec()].concat()
        };
        compare(text, &args, &[2, 3]);
        let options = Options::default();
        let reference = Reference::new(options.clone());
        let usual = Cpu::with_vectors(options, 20_000, 128).unwrap();
        for text in [text, &both] {
            let module = parse(text).unwrap();
            for size in SIZES {
                differ(&module, 0, &args(size), &[2, 3, 4], &reference, &usual).unwrap();
            }
        }
    }
}

#[test]
fn chars_and_bools_beside_ints_that_are_stored() {
    // The int is the same for all elements, but has lanes where it is stored.
    let text = "\
kernel \"k\"(v0: i64, v1: i64, v2: [bool], v3: [i64], v4: [i64]) over flat v0 at v5 {
  v6: i64 = const 1
  v7: bool = lt v5, v6
  v8: bool = if v7 {
    v9: bool = const false
    yield v9
  } else {
    v10: i64 = sub v5, v6
    v11: bool = lt v10, v1
    check v11 @0 detail v10, v1
    v12: bool = load v2[v10]
    yield v12
  }
  v13: i64 = const 0
  v14: bool = eq v1, v13
  v15: i64 = if v14 {
    yield v13
  } else {
    v16: i64 = sub v1, v6
    v17: i64 = load v3[v16]
    yield v17
  }
  store v4[v5] = v15
}
";
    let module = parse(text).unwrap();
    let options = Options::default();
    let reference = Reference::new(options.clone());
    for bits in [128, 256, 512] {
        let cpu = Cpu::with_vectors(options.clone(), 20_000, bits).unwrap();
        for size in SIZES {
            let ints: Vec<i64> = (0..size as i64 + 1).map(|i| i * i - 7).collect();
            let args = [
                int(size),
                int(size),
                Input::Array(vec![true; size].into()),
                Input::Array(ints.into()),
                Input::Array(vec![0i64; size].into()),
            ];
            differ(&module, 0, &args, &[4], &reference, &cpu).unwrap();
        }
    }
}
