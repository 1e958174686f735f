//! Every sink over every kind of space.

use super::spaces::{Shape, large, small};
use super::{Case, Data};
use crate::kir::{Combine, Ty};

pub(super) fn cases(cases: &mut Vec<Case>) {
    for shape in small() {
        ints(cases, &shape, hash as fn(usize) -> i64);
        ints(cases, &shape, |k| hash(k) as i32);
        floats(cases, &shape, small_number, power, f64::INFINITY, f64::NAN);
        floats(
            cases,
            &shape,
            |k| small_number(k) as f32,
            |k| power(k) as f32,
            f32::INFINITY,
            f32::NAN,
        );
        others(cases, &shape);
        everything(cases, &shape);
    }
    for shape in large() {
        combination(cases, &shape, Combine::Add, 0i64, i64::wrapping_add, hash);
        combination(cases, &shape, Combine::Add, 0.0, |a, b| a + b, small_number);
        combination(cases, &shape, Combine::Max, i64::MIN, i64::max, hash);
        everything(cases, &shape);
    }
}

fn everything(cases: &mut Vec<Case>, shape: &Shape) {
    packs(cases, shape);
    scatters(cases, shape);
    histograms(cases, shape);
    histograms_of_rows(cases, shape);
    emits(cases, shape);
    stages(cases, shape);
}

/// Numbers without a pattern.
fn hash(k: usize) -> i64 {
    let x = (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 3) as i64 - (1 << 59)
}

/// Numbers whose sums are exact in a single.
fn small_number(k: usize) -> f64 {
    (k * 37 % 101) as f64 - 50.5
}

/// Numbers whose products are exact in a single.
fn power(k: usize) -> f64 {
    match k % 64 {
        5 => 2.0,
        m if m % 3 == 0 => -1.0,
        _ => 1.0,
    }
}

trait Int: Copy + 'static {
    const MIN_VALUE: Self;
    const MAX_VALUE: Self;
    const NONE: Self;
    const ONE: Self;
    const ALL: Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! int {
    ($ty:ty) => {
        impl Int for $ty {
            const MIN_VALUE: $ty = <$ty>::MIN;
            const MAX_VALUE: $ty = <$ty>::MAX;
            const NONE: $ty = 0;
            const ONE: $ty = 1;
            const ALL: $ty = -1;
            fn add(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            fn mul(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            fn and(self, other: $ty) -> $ty {
                self & other
            }
            fn or(self, other: $ty) -> $ty {
                self | other
            }
            fn xor(self, other: $ty) -> $ty {
                self ^ other
            }
        }
    };
}

int!(i32);
int!(i64);

fn ints<T: Int + Ord>(cases: &mut Vec<Case>, shape: &Shape, element: impl Fn(usize) -> T + Copy)
where
    Data: From<Vec<T>>,
{
    combination(cases, shape, Combine::Add, T::NONE, T::add, element);
    combination(cases, shape, Combine::Mul, T::ONE, T::mul, element);
    combination(cases, shape, Combine::Min, T::MAX_VALUE, T::min, element);
    combination(cases, shape, Combine::Max, T::MIN_VALUE, T::max, element);
    combination(cases, shape, Combine::And, T::ALL, T::and, |k| element(k).or(element(k + 1)));
    combination(cases, shape, Combine::Or, T::NONE, T::or, |k| element(k).and(element(k + 1)));
    combination(cases, shape, Combine::Xor, T::NONE, T::xor, element);
}

fn floats<T>(
    cases: &mut Vec<Case>,
    shape: &Shape,
    number: impl Fn(usize) -> T + Copy,
    power: impl Fn(usize) -> T + Copy,
    infinity: T,
    nan: T,
) where
    T: Copy + PartialOrd + std::ops::Neg<Output = T>,
    T: std::ops::Add<Output = T> + std::ops::Mul<Output = T>,
    Data: From<Vec<T>>,
{
    let zero = number(0) + -number(0);
    combination(cases, shape, Combine::Add, zero, |a, b| a + b, number);
    combination(cases, shape, Combine::Mul, power(1), |a, b| a * b, power);
    let element = |k| if k % 5 == 0 { nan } else { number(k) };
    combination(cases, shape, Combine::Min, infinity, |a, b| if b < a { b } else { a }, element);
    combination(cases, shape, Combine::Max, -infinity, |a, b| if b > a { b } else { a }, element);
}

fn others(cases: &mut Vec<Case>, shape: &Shape) {
    let byte = |k| (k * 31 % 251) as u8 + 2;
    combination(cases, shape, Combine::Min, 255u8, u8::min, byte);
    combination(cases, shape, Combine::Max, 0u8, u8::max, byte);
    combination(cases, shape, Combine::And, true, |a, b| a && b, |k| k % 47 != 40);
    combination(cases, shape, Combine::Or, false, |a, b| a || b, |k| k % 47 == 40);
    combination(cases, shape, Combine::Xor, false, |a, b| a != b, |k| k % 3 == 0);
}

/// The reduction of all elements, and the exclusive scan.
fn fold<T: Copy>(elements: &[T], neutral: T, combine: impl Fn(T, T) -> T) -> (T, Vec<T>) {
    let mut sum = neutral;
    let mut before = Vec::new();
    for x in elements {
        before.push(sum);
        sum = combine(sum, *x);
    }
    (sum, before)
}

/// Reductions and scans, over all and over segments, in all their forms.
fn combination<T: Copy>(
    cases: &mut Vec<Case>,
    shape: &Shape,
    with: Combine,
    neutral: T,
    combine: impl Fn(T, T) -> T + Copy,
    element: impl Fn(usize) -> T,
) where
    Data: From<Vec<T>>,
{
    let elements: Vec<T> = (0..shape.points()).map(element).collect();
    let (total, before) = fold(&elements, neutral, combine);
    let parts = shape.segments().into_iter().map(|range| fold(&elements[range], neutral, combine));
    let parts: Vec<(T, Vec<T>)> = parts.collect();
    let ty = Data::from(elements.clone()).ty();
    let with = with.mnemonic();
    let param = |v: usize| format!("v{v}: [{ty}]");

    let body = format!("  v20: {ty} = load v10[v2]\n  reduce {with} v20 -> v11\n");
    let case = shape.case(&format!("reduce {with} {ty}"), &[10, 11].map(param), &[], &body);
    cases.push(case.array(elements.clone()).out(vec![total]));

    let body = format!(
        "  v20: {ty} = load v10[v2]
  v21: {ty} = scan {with} v20 total v12
}} then {{
  store v11[v2] = v21
"
    );
    let case = shape.case(&format!("scan {with} {ty}"), &[10, 11, 12].map(param), &[], &body);
    cases.push(case.array(elements.clone()).out(before).out(vec![total]));

    if !shape.segmented() {
        return;
    }
    let body = format!(
        "  v20: {ty} = load v10[v2]
  v21: {ty} = reduce segment {with} v20 -> v11
  v22: {ty} = scan segment {with} v20 total v12
  v23: {ty} = scan segment {with} v20
  v24: {ty} = reduce segment {with} v20
}} then {{
  store v13[v2] = v21
  store v14[v2] = v22
  store v15[v2] = v23
  store v16[v2] = v24
"
    );
    let params = [10, 11, 12, 13, 14, 15, 16].map(param);
    let totals: Vec<T> = parts.iter().map(|(total, _)| *total).collect();
    let spread: Vec<T> =
        parts.iter().flat_map(|(total, before)| vec![*total; before.len()]).collect();
    let before: Vec<T> = parts.into_iter().flat_map(|(_, before)| before).collect();
    let case = shape.case(&format!("segments {with} {ty}"), &params, &[], &body);
    let case = case.array(elements.clone()).out(totals.clone()).out(totals.clone());
    let case = case.out(spread.clone()).out(before.clone()).out(before).out(spread);
    cases.push(case);

    let body = format!("  v20: {ty} = load v10[v2]\n  reduce segment {with} v20 -> v11\n");
    let case = shape.case(&format!("reduce segment {with} {ty}"), &[10, 11].map(param), &[], &body);
    cases.push(case.array(elements).out(totals));
}

fn packs(cases: &mut Vec<Case>, shape: &Shape) {
    let values: Vec<i64> = (0..shape.points()).map(|k| hash(k).rem_euclid(100)).collect();
    for limit in [0, 50, 100] {
        for scope in ["", " segment"] {
            if !scope.is_empty() && !shape.segmented() {
                continue;
            }
            let body = format!(
                "  v20: i64 = load v10[v2]
  v21: i64 = const {limit}
  v22: bool = lt v20, v21
  v23: u8 = convert v20
  pack{scope} v22 columns v20 -> v11, v2 -> v12, v23 -> v13 count v14
"
            );
            let params = [10, 11, 12].map(|v| format!("v{v}: [i64]")).to_vec();
            let params =
                [&params[..], &["v13: [u8]".to_string(), "v14: [i64]".to_string()]].concat();
            let kept: Vec<i64> =
                (0..values.len() as i64).filter(|k| values[*k as usize] < limit).collect();
            let columns: Vec<i64> = kept.iter().map(|k| values[*k as usize]).collect();
            let bytes: Vec<u8> = columns.iter().map(|x| *x as u8).collect();
            let counts: Vec<i64> = match scope {
                "" => vec![kept.len() as i64],
                _ => {
                    let segments = shape.segments().into_iter();
                    let count = |range: std::ops::Range<usize>| {
                        values[range].iter().filter(|x| **x < limit).count() as i64
                    };
                    segments.map(count).collect()
                }
            };
            let points = shape.points();
            let case = shape.case(&format!("pack{scope} below {limit}"), &params, &[], &body);
            let case = case.array(values.clone()).room(Ty::I64, points).becomes(3, columns);
            let case = case.room(Ty::I64, points).becomes(4, kept);
            let case = case.room(Ty::U8, points).becomes(5, bytes);
            cases.push(case.out(counts));
        }
    }
}

fn scatters(cases: &mut Vec<Case>, shape: &Shape) {
    // Many at one place: the last wins.
    let body = "  v20: i64 = const 3
  v21: i64 = mul v2, v20
  v22: i64 = const 7
  v23: i64 = rem v21, v22
  v24: i64 = const 5
  v25: bool = ge v23, v24
  scatter v2 -> v10[v23]
  scatter v2 -> v11[v23] when v25
";
    let params = [10, 11].map(|v| format!("v{v}: [i64]"));
    let (mut all, mut some) = (vec![-1i64; 7], vec![-1i64; 7]);
    for k in 0..shape.points() {
        all[k * 3 % 7] = k as i64;
        if k * 3 % 7 >= 5 {
            some[k * 3 % 7] = k as i64;
        }
    }
    let case = shape.case("scatter with conflicts", &params, &[], body);
    cases.push(case.array([-1i64; 7]).array([-1i64; 7]).becomes(2, all).becomes(3, some));
    let body = "  v20: i64 = load v10[v2]\n  v21: f64 = convert v2\n  scatter v21 -> v11[v20]\n";
    let params = ["v10: [i64]".to_string(), "v11: [f64]".to_string()];
    let points = shape.points();
    let places: Vec<i64> = (0..points).rev().map(|k| k as i64).collect();
    let expected: Vec<f64> = (0..points).rev().map(|k| k as f64).collect();
    let case = shape.case("scatter in reverse", &params, &[], body);
    cases.push(case.array(places).out(expected));
}

fn histograms(cases: &mut Vec<Case>, shape: &Shape) {
    let values: Vec<i64> = (0..shape.points()).map(hash).collect();
    let body = "  v20: i64 = load v10[v2]
  v21: i64 = const 5
  v22: i64 = const 1
  v23: i64 = rem v2, v21
  v24: f64 = convert v23
  v25: bool = lt v20, v21
  v26: i32 = convert v20
  histogram add v22 -> v11[v23]
  histogram max v20 -> v12[v23]
  histogram add v24 -> v13[v23] when v25
  histogram xor v26 -> v14[v23]
  histogram mul v20 -> v15[v23]
";
    let params =
        ["v10: [i64]", "v11: [i64]", "v12: [i64]", "v13: [f64]", "v14: [i32]", "v15: [i64]"];
    let mut counts = vec![100i64; 5];
    let mut most = vec![0i64; 5];
    let mut sums = vec![0.5f64; 5];
    let mut xors = vec![1i32; 5];
    let mut products = vec![3i64; 5];
    let case = shape.case("histogram", &params.map(String::from), &[], body);
    let case = case.array(values.clone()).array(counts.clone()).array(most.clone());
    let case = case.array(sums.clone()).array(xors.clone()).array(products.clone());
    for (k, value) in values.into_iter().enumerate() {
        let bin = k % 5;
        counts[bin] += 1;
        most[bin] = most[bin].max(value);
        sums[bin] += if value < 5 { bin as f64 } else { 0.0 };
        xors[bin] ^= value as i32;
        products[bin] = products[bin].wrapping_mul(value);
    }
    let case = case.becomes(3, counts).becomes(4, most).becomes(5, sums);
    cases.push(case.becomes(6, xors).becomes(7, products));
}

fn histograms_of_rows(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = const 3
  v21: i64 = rem v2, v20
  v22: i64 = const 13
  v23: i64 = rem v2, v22
  v24: i64 = mul v21, v22
  v25: [i64] = slice v10[v21..]
  v26: [f64] = slice v11[v21..]
  v27: bool = lt v21, v23
  histogram add v25[..v23] -> v12[v24]
  histogram add v26[..v23] -> v13[v24] when v27
  histogram max v25[..v23] -> v14[v24]
";
    let params = ["v10: [i64]", "v11: [f64]", "v12: [i64]", "v13: [f64]", "v14: [i64]"];
    let ints: Vec<i64> = (0..16).map(hash).collect();
    let floats: Vec<f64> = (0..16).map(|k| f64::from(k) - 7.0).collect();
    let mut sums = vec![100i64; 39];
    let mut float_sums = vec![0.5f64; 39];
    let mut most = vec![0i64; 39];
    let case = shape.case("histogram of rows", &params.map(String::from), &[], body);
    let case = case.array(ints.clone()).array(floats.clone());
    let case = case.array(sums.clone()).array(float_sums.clone()).array(most.clone());
    for k in 0..shape.points() {
        let (bin, length) = (k % 3, k % 13);
        for j in 0..length {
            let (at, from) = (13 * bin + j, bin + j);
            sums[at] = sums[at].wrapping_add(ints[from]);
            float_sums[at] += if bin < length { floats[from] } else { 0.0 };
            most[at] = most[at].max(ints[from]);
        }
    }
    cases.push(case.becomes(4, sums).becomes(5, float_sums).becomes(6, most));
}

fn emits(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = const 4
  v21: i64 = rem v2, v20
  v22: [i64] = alloc v21
  v23: [u8] = alloc v21
  for v24 < v21 {
    v25: i64 = mul v2, v20
    v26: i64 = add v25, v24
    store v22[v24] = v26
    v27: u8 = convert v24
    store v23[v24] = v27
  }
  emit v21 columns v22 -> #0, v23 -> #1 lengths v10
";
    let points = shape.points();
    let lengths: Vec<i64> = (0..points as i64).map(|k| k % 4).collect();
    let numbers: Vec<i64> =
        (0..points as i64).flat_map(|k| (0..k % 4).map(move |j| 4 * k + j)).collect();
    let bytes: Vec<u8> = (0..points).flat_map(|k| 0..(k % 4) as u8).collect();
    let case = shape.case("emit", &["v10: [i64]".into()], &[Ty::I64, Ty::U8], body);
    cases.push(case.out(lengths).output(numbers).output(bytes));
    // Parts of an array that everyone reads.
    let body = "  v20: i64 = const 2
  v21: i64 = rem v2, v20
  v22: f64 = convert v2
  v23: [f64] = slice v10[v21..]
  emit v20 columns v23 -> #0 lengths v11
";
    let params = ["v10: [f64]".to_string(), "v11: [i64]".to_string()];
    let expected: Vec<f64> =
        (0..points).flat_map(|k| if k % 2 == 0 { [0.5, 1.5] } else { [1.5, 2.5] }).collect();
    let case = shape.case("emit what is there", &params, &[Ty::F64], body);
    cases.push(case.array([0.5, 1.5, 2.5]).out(vec![2i64; points]).output(expected));
    // Rows whose length is an argument.
    for length in [3, 1, 0] {
        let body = "  v20: [i32] = alloc v10
  for v21 < v10 {
    v22: i64 = sub v2, v21
    v23: i32 = convert v22
    store v20[v21] = v23
  }
  emit v10 columns v20 -> #0 lengths v11
";
        let params = ["v10: i64".to_string(), "v11: [i64]".to_string()];
        let row = |k: i32| (0..length as i32).map(move |j| k - j);
        let expected: Vec<i32> = (0..points as i32).flat_map(row).collect();
        let case = shape.case("emit rows of one length", &params, &[Ty::I32], body);
        cases.push(case.i64(length).out(vec![length; points]).output(expected));
    }
    emits_rows_of_known_lengths(cases, shape);
    // Nobody emits anything; the parts begin behind the end of an array.
    let body = "  v20: i64 = const 0\n  emit v20 columns v10 -> #0 lengths v11\n";
    let params = ["v10: [i32]".to_string(), "v11: [i64]".to_string()];
    let case = shape.case("emit nothing", &params, &[Ty::I32], body);
    cases.push(case.array([7i32]).out(vec![0i64; points]).output(Vec::<i32>::new()));
    emits_with_others(cases, shape);
    emits_in_stages(cases, shape);
}

/// Rows whose lengths are an argument: a half of them is new, the others are parts of an array. A second column is
/// new in all.
fn emits_rows_of_known_lengths(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = load v10[v2]
  v21: i64 = const 2
  v22: i64 = rem v2, v21
  v23: i64 = const 1
  v24: bool = eq v22, v23
  v25: i64 = const 0
  v30: [f64], v31: i64 = if v24 {
    v32: [f64] = alloc v20
    for v33 < v20 {
      v34: i64 = sub v2, v33
      v35: f64 = convert v34
      store v32[v33] = v35
    }
    yield v32, v25
  } else {
    yield v12, v23
  }
  v36: [f64] = slice v30[v31..]
  v40: [i32] = alloc v20
  for v41 < v20 {
    v42: i64 = add v2, v41
    v43: i32 = convert v42
    store v40[v41] = v43
  }
  emit v20 columns v36 -> #0, v40 -> #1 lengths v11
";
    let points = shape.points() as i64;
    let lengths: Vec<i64> = (0..points).map(|k| (k * 7 + 3) % 6).collect();
    let pool = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0];
    let rows = || lengths.iter().zip(0..).flat_map(|(n, k)| (0..*n).map(move |j| (k, j)));
    let element =
        |(k, j): (i64, i64)| if k % 2 == 1 { (k - j) as f64 } else { pool[1 + j as usize] };
    let floats: Vec<f64> = rows().map(element).collect();
    let sums: Vec<i32> = rows().map(|(k, j)| (k + j) as i32).collect();
    let params = ["v10: [i64]".to_string(), "v11: [i64]".to_string(), "v12: [f64]".to_string()];
    let case = shape.case("emit rows of known lengths", &params, &[Ty::F64, Ty::I32], body);
    let case = case.array(lengths.clone()).out(lengths.clone()).array(pool);
    cases.push(case.output(floats).output(sums));
}

/// Parts of lengths that the arguments determine, most of them empty and some long, beside other
/// sinks, and a check that fails in the middle.
fn emits_with_others(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = load v10[v2]
  v21: i64 = const 50
  v22: bool = le v20, v21
  check v22 @9 detail v2, v20
  v23: [i64] = alloc v20
  for v24 < v20 {
    store v23[v24] = v2
  }
  v25: i64 = const 0
  v26: bool = gt v20, v25
  v27: f64 = convert v20
  v28: i64 = rem v2, v21
  emit v20 columns v23 -> #0 lengths v11
  pack v26 columns v2 -> v12 count v13
  reduce add v20 -> v14
  histogram add v27 -> v15[v28]
  scatter v20 -> v16[v28]
";
    let params = ["v10", "v11", "v12", "v13", "v14"].map(|v| format!("{v}: [i64]"));
    let params = [&params[..], &["v15: [f64]".into(), "v16: [i64]".into()]].concat();
    let points = shape.points();
    let lengths: Vec<i64> =
        (0..points).map(|k| if k % 97 == 0 { 50 } else { i64::from(k % 7 == 3) * 2 }).collect();
    let owners = || lengths.iter().zip(0i64..);
    let emitted: Vec<i64> = owners().flat_map(|(n, k)| vec![k; *n as usize]).collect();
    let kept: Vec<i64> = owners().filter(|(n, _)| **n > 0).map(|(_, k)| k).collect();
    let (mut sums, mut last) = (vec![0.25f64; 50], vec![-1i64; 50]);
    for (length, k) in owners() {
        sums[k as usize % 50] += *length as f64;
        last[k as usize % 50] = *length;
    }
    let total = [emitted.len() as i64];
    let case = shape.case("emit beside other sinks", &params, &[Ty::I64], body);
    let case = case.array(lengths.clone()).out(lengths.clone()).room(Ty::I64, points);
    let case = case.becomes(4, kept.clone()).out([kept.len() as i64]).out(total);
    let case = case.array(vec![0.25f64; 50]).array(vec![-1i64; 50]);
    cases.push(case.becomes(7, sums).becomes(8, last).output(emitted));
    if points > 2 {
        let mut wrong = lengths;
        (wrong[points / 2], wrong[points - 1]) = (51, 1 << 40);
        let case = shape.case("emit after a failure", &params, &[Ty::I64], body);
        let case = case.array(wrong).room(Ty::I64, points).room(Ty::I64, points);
        let case = case.room(Ty::I64, 1).room(Ty::I64, 1);
        let case = case.array(vec![0.25f64; 50]).array(vec![-1i64; 50]);
        cases.push(case.fails(9, points as u64 / 2, &[points as i64 / 2, 51]));
    }
}

/// An array that is emitted before a later stage changes it, and again after that.
fn emits_in_stages(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = const 2
  v21: i64 = const 1
  v22: [i64] = alloc v20
  store v22[v21] = v2
  v23: [i64] = slice v22[v21..]
  v24: i64 = scan add v21
  emit v21 columns v23 -> #0 lengths v10
} then {
  v25: i64 = add v24, v2
  v26: i64 = const 0
  store v22[v26] = v24
  store v22[v21] = v25
  emit v20 columns v22 -> #1 lengths v11
";
    let points = shape.points() as i64;
    let params = [10, 11].map(|v| format!("v{v}: [i64]"));
    let case = shape.case("emit in two stages", &params, &[Ty::I64, Ty::I64], body);
    let case = case.out(vec![1i64; points as usize]).out(vec![2i64; points as usize]);
    let case = case.output((0..points).collect::<Vec<i64>>());
    cases.push(case.output((0..points).flat_map(|k| [k, 2 * k]).collect::<Vec<i64>>()));
}

/// Values that stages hand on: scalars, results, arrays of the work item.
fn stages(cases: &mut Vec<Case>, shape: &Shape) {
    let body = "  v20: i64 = const 1
  v21: i64 = add v2, v20
  v22: i64 = scan add v21
} then {
  v23: i64 = add v22, v21
  v24: i64 = scan max v23 total v11
  reduce add v23 -> v12
} then {
  v25: i64 = sub v22, v24
  store v10[v2] = v25
";
    let sum = |k: i64| (k + 1) * (k + 2) / 2;
    let points = shape.points() as i64;
    let case = shape.case("three stages", &[10, 11, 12].map(|v| format!("v{v}: [i64]")), &[], body);
    // What is before a point and the greatest sum before it are the same; at first there is none.
    let expected: Vec<i64> = (0..points).map(|k| if k == 0 { i64::MIN } else { 0 }).collect();
    let greatest = if points == 0 { i64::MIN } else { sum(points - 1) };
    let total: i64 = (0..points).map(sum).sum();
    cases.push(case.out(expected).out([greatest]).out([total]));

    if !shape.segmented() {
        return;
    }
    // The softmax pattern, with numbers that stay exact.
    let body = "  v20: f64 = load v10[v2]
  v21: f64 = reduce segment max v20
} then {
  v22: f64 = sub v20, v21
  v23: f64 = reduce segment add v22
} then {
  v24: f64 = sub v22, v23
  store v11[v2] = v24
  store v12[v2] = v3
  store v13[v2] = v4
  reduce segment add v24 -> v14
";
    let params = ["v10: [f64]", "v11: [f64]", "v12: [i64]", "v13: [i64]", "v14: [f64]"];
    let values: Vec<f64> = (0..shape.points()).map(small_number).collect();
    let (mut expected, mut totals) = (Vec::new(), Vec::new());
    for range in shape.segments() {
        let most = values[range.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = values[range.clone()].iter().map(|x| x - most).sum::<f64>() + 0.0;
        let part: Vec<f64> = values[range].iter().map(|x| x - most - sum).collect();
        totals.push(part.iter().fold(0.0, |a, b| a + b));
        expected.extend(part);
    }
    let (segments, positions): (Vec<i64>, Vec<i64>) =
        shape.indices().into_iter().map(|(_, s, p)| (s as i64, p as i64)).unzip();
    let case = shape.case("stages over segments", &params.map(String::from), &[], body);
    cases.push(case.array(values).out(expected).out(segments).out(positions).out(totals));

    let body = "  v20: i64 = const 2
  v21: [i64] = alloc v20
  v22: i64 = const 0
  store v21[v22] = v2
  v23: i64 = scan segment add v2
} then {
  v24: i64 = const 1
  store v21[v24] = v23
  v25: i64 = load v21[v22]
  v26: i64 = load v21[v24]
  v27: i64 = add v25, v26
  store v10[v2] = v27
";
    let mut expected = Vec::new();
    for range in shape.segments() {
        let mut before = 0;
        for k in range {
            expected.push(k as i64 + before);
            before += k as i64;
        }
    }
    let case = shape.case("arrays live from stage to stage", &["v10: [i64]".into()], &[], body);
    cases.push(case.out(expected));
}
