//! Branches, loops, calls, recursion.

use super::Case;

pub(super) fn cases(cases: &mut Vec<Case>) {
    branches(cases);
    loops(cases);
    calls(cases);
    rare_sides(cases);
}

fn branches(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [f64]) over flat v0 at v4 {
  v5: i64 = load v1[v4]
  v6: i64 = const 10
  v7: bool = lt v5, v6
  v8: i64, v9: f64 = if v7 {
    v10: i64 = const 5
    v11: bool = lt v5, v10
    v12: f64 = if v11 {
      v13: f64 = const 0.5
      yield v13
    } else {
      v14: f64 = convert v5
      yield v14
    }
    yield v10, v12
  } else {
    v15: i64 = add v5, v6
    v16: f64 = const -1.0
    yield v15, v16
  }
  store v2[v4] = v8
  store v3[v4] = v9
}";
    cases.push(
        Case::new("if within if", text)
            .i64(4)
            .array([1i64, 7, 10, 99])
            .out([5i64, 5, 20, 109])
            .out([0.5, 7.0, -1.0, -1.0]),
    );
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = const 2
  v4: i64 = rem v2, v3
  v5: i64 = const 1
  v6: bool = eq v4, v5
  if v6 {
    store v1[v2] = v2
  }
}";
    cases.push(
        Case::new("if without else or results", text)
            .i64(6)
            .array([-1i64; 6])
            .becomes(1, [-1i64, 1, -1, 3, -1, 5]),
    );
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64]) over flat v0 at v4 {
  v5: i64 = const 1
  v6: bool = lt v4, v5
  v7: [i64], v8: i64 = if v6 {
    yield v1, v4
  } else {
    yield v2, v5
  }
  v9: i64 = load v7[v8]
  store v3[v4] = v9
}";
    cases.push(
        Case::new("if yields arrays", text)
            .i64(3)
            .array([10i64, 20])
            .array([30i64, 40])
            .out([10i64, 40, 40]),
    );
}

fn loops(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: i64 = const 1
  v6: i64 = const 0
  v7: i64, v8: i64 = while carry v9: i64 = v4, v10: i64 = v6 {
    v11: bool = gt v9, v5
    yield v11
  } do {
    v12: i64 = and v9, v5
    v13: bool = eq v12, v5
    v14: i64 = if v13 {
      v15: i64 = const 3
      v16: i64 = mul v9, v15
      v17: i64 = add v16, v5
      yield v17
    } else {
      v18: i64 = shr v9, v5
      yield v18
    }
    v19: i64 = add v10, v5
    yield v14, v19
  }
  store v2[v3] = v8
}";
    cases.push(
        Case::new("while: the steps of Collatz", text)
            .i64(6)
            .array([1i64, 2, 3, 7, 27, -4])
            .out([0i64, 1, 7, 16, 111, 0]),
    );
    // The carried values change places: all are read before any is written.
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = const 0
  v5: i64 = const 1
  v6: i64, v7: i64 = for v8 < v3 carry v9: i64 = v4, v10: i64 = v5 {
    yield v10, v9
  }
  store v1[v3] = v6
  v11: i64, v12: i64 = for v13 < v3 carry v14: i64 = v4, v15: i64 = v5 {
    v16: i64 = add v14, v15
    yield v15, v16
  }
  store v2[v3] = v11
}";
    cases.push(
        Case::new("for: values change places", text)
            .i64(8)
            .out([0i64, 1, 0, 1, 0, 1, 0, 1])
            .out([0i64, 1, 1, 2, 3, 5, 8, 13]),
    );
    let text =
        "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [f64]) over flat v0 at v5 {
  v6: i64 = load v1[v5]
  v7: i64 = const 100
  v8: i64, v9: i64, v10: f64 = for v11 < v6 carry v12: i64 = v7 reduce add, max {
    v13: i64 = sub v12, v11
    v14: f64 = convert v13
    yield v13, v11, v14
  }
  store v2[v5] = v8
  store v3[v5] = v9
  store v4[v5] = v10
}";
    cases.push(
        Case::new("for: carries and reduces", text)
            .i64(4)
            .array([0i64, -3, 1, 5])
            .out([100i64, 100, 100, 90])
            .out([0i64, 0, 0, 10])
            .out([f64::NEG_INFINITY, f64::NEG_INFINITY, 100.0, 100.0]),
    );
    let text =
        "kernel \"k\"(v0: i64, v1: [i32], v2: [bool], v3: [u8], v4: [f32]) over flat v0 at v5 {
  v6: i32, v7: i32, v8: bool, v9: u8, v10: f32 = for v11 < v5 reduce mul, xor, or, min, add {
    v12: i32 = convert v11
    v13: i32 = const 3
    v14: i32 = add v12, v13
    v15: bool = eq v12, v13
    v16: u8 = convert v11
    v17: f32 = convert v11
    yield v14, v14, v15, v16, v17
  }
  v18: i32 = sub v6, v7
  store v1[v5] = v18
  store v2[v5] = v8
  store v3[v5] = v9
  store v4[v5] = v10
}";
    cases.push(
        Case::new("for: reductions of every type", text)
            .i64(6)
            .out([1i32, 0, 5, 58, 356, 2517])
            .out([false, false, false, false, true, true])
            .out([255u8, 0, 0, 0, 0, 0])
            .out([0f32, 0.0, 1.0, 3.0, 6.0, 10.0]),
    );
    let text = "kernel \"k\"(v0: i64, v1: [f64], v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: i64 = const 3
  v6: f64, v7: f64 = for v8 < v5 reduce max, min {
    v9: i64 = mul v4, v5
    v10: i64 = add v9, v8
    v11: f64 = load v1[v10]
    yield v11, v11
  }
  store v2[v4] = v6
  store v3[v4] = v7
}";
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    cases.push(
        Case::new("for: max and min skip NaNs", text)
            .i64(3)
            .array([nan, 1.0, nan, 2.0, 3.0, nan, nan, nan, nan])
            .out([1.0, 3.0, -inf])
            .out([1.0, 2.0, inf]),
    );
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = for v4 < v2 reduce add {
    v5: i64 = for v6 < v4 reduce add {
      v7: i64 = const 1
      yield v7
    }
    yield v5
  }
  store v1[v2] = v3
}";
    let expected: Vec<i64> = (0..40).map(|n| n * (n - 1) / 2).collect();
    cases.push(Case::new("for within for", text).i64(40).out(expected));
}

fn calls(cases: &mut Vec<Case>) {
    let text = "function \"divide\"(v0: i64, v1: i64) -> i64, i64 {
  v2: i64 = div v0, v1
  v3: i64 = rem v0, v1
  yield v2, v3
}
function \"nothing\"() { }
function \"first\"(v0: [i64]) -> [i64], i64 {
  v1: i64 = const 0
  v2: i64 = load v0[v1]
  yield v0, v2
}
kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  call \"nothing\"()
  v4: [i64] = slice v1[v3..]
  v5: [i64], v6: i64 = call \"first\"(v4)
  v7: i64 = const 7
  v8: i64, v9: i64 = call \"divide\"(v6, v7)
  v10: i64 = const 100
  v11: i64 = mul v8, v10
  v12: i64 = add v11, v9
  store v2[v3] = v12
}";
    cases.push(Case::new("calls", text).i64(3).array([15i64, -8, 6]).out([201i64, -101, 6]));
    let text = "function \"fib\"(v0: i64) -> i64 {
  v1: i64 = const 2
  v2: bool = lt v0, v1
  v3: i64 = if v2 {
    yield v0
  } else {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    v6: i64 = call \"fib\"(v5)
    v7: i64 = sub v0, v1
    v8: i64 = call \"fib\"(v7)
    v9: i64 = add v6, v8
    yield v9
  }
  yield v3
}
kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = call \"fib\"(v2)
  store v1[v2] = v3
}";
    cases.push(
        Case::new("recursion: a tree of calls", text)
            .i64(12)
            .out([0i64, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]),
    );
    let text = "function \"even\"(v0: i64) -> bool {
  v1: i64 = const 0
  v2: bool = eq v0, v1
  v3: bool = if v2 {
    yield v2
  } else {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    v6: bool = call \"odd\"(v5)
    yield v6
  }
  yield v3
}
function \"odd\"(v0: i64) -> bool {
  v1: i64 = const 0
  v2: bool = ne v0, v1
  v3: bool = if v2 {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    v6: bool = call \"even\"(v5)
    yield v6
  } else {
    yield v2
  }
  yield v3
}
kernel \"k\"(v0: i64, v1: [bool]) over flat v0 at v2 {
  v3: bool = call \"even\"(v2)
  store v1[v2] = v3
}";
    let expected: Vec<bool> = (0..200).map(|n| n % 2 == 0).collect();
    cases.push(Case::new("recursion in turns", text).i64(200).out(expected));
    // Each call makes an array, which its caller copies into its own: quicksort's way.
    let text = "function \"upto\"(v0: i64) -> [i64] {
  v1: [i64] = alloc v0
  v2: i64 = const 0
  v3: bool = gt v0, v2
  if v3 {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    v6: [i64] = call \"upto\"(v5)
    copy v6 -> v1 count v5
    store v1[v5] = v5
  }
  yield v1
}
kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: [i64] = call \"upto\"(v2)
  v4: i64 = for v5 < v2 reduce add {
    v6: i64 = load v3[v5]
    yield v6
  }
  store v1[v2] = v4
}";
    let expected: Vec<i64> = (0..50).map(|n| n * (n - 1) / 2).collect();
    cases.push(Case::new("recursion that allocates", text).i64(50).out(expected));
}

/// A branch of which one side calls a long function that only computes: few elements take it, and the others are
/// computed in vectors.
fn rare_sides(cases: &mut Vec<Case>) {
    const STEPS: usize = 200;
    const ELEMENTS: usize = 100;
    let steps: String = (0..STEPS)
        .map(|n| format!("  v{}: f64 = add v{}, v1\n", n + 2, if n == 0 { 0 } else { n + 1 }))
        .collect();
    let function = format!(
        "function \"long\"(v0: f64) -> f64 {{\n  v1: f64 = const 1.0\n{steps}  yield v{}\n}}\n",
        STEPS + 1
    );
    let kernel = "kernel \"k\"(v0: i64, v1: [f64], v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: f64 = load v1[v4]
  v6: f64 = const 1000.0
  v7: bool = lt v6, v5
  v8: f64, v9: f64 = if v7 {
    v10: f64 = compute \"long\"(v5)
    yield v10, v6
  } else {
    v11: f64 = add v5, v5
    yield v11, v5
  }
  v12: f64 = sub v8, v9
  store v2[v4] = v8
  store v3[v4] = v12
}";
    for rare in [&[][..], &[77], &[3, 4, 98]] {
        let x = |n: usize| if rare.contains(&n) { 5000.0 + n as f64 } else { n as f64 };
        let result = |n: usize| if rare.contains(&n) { x(n) + STEPS as f64 } else { 2.0 * x(n) };
        let rest = |n: usize| result(n) - if rare.contains(&n) { 1000.0 } else { x(n) };
        let column = |f: &dyn Fn(usize) -> f64| (0..ELEMENTS).map(f).collect::<Vec<f64>>();
        let name = format!("a side that calls a long function, for {} elements", rare.len());
        cases.push(
            Case::new(name, format!("{function}{kernel}"))
                .i64(ELEMENTS as i64)
                .array(column(&x))
                .out(column(&result))
                .out(column(&rest)),
        );
    }
}
