//! The services of the runtime.

use super::Case;
use super::{Data, Input};
use crate::kir::{Literal, Ty};

pub(super) fn cases(cases: &mut Vec<Case>) {
    let nan = f64::NAN;
    ranks(cases, [3, 1, 2, 1, 3], [3, 0, 2, 1, 4], [0, 3, 2, 4, 1]);
    ranks(cases, [i64::MAX, i64::MIN, 0, -1], [3, 0, 2, 1], [0, 3, 1, 2]);
    ranks(cases, [2u8, 255, 0], [1, 2, 0], [1, 0, 2]);
    ranks(cases, [nan, 1.0, -0.0, 0.0, nan, -1.0], [4, 3, 1, 2, 5, 0], [4, 0, 1, 2, 5, 3]);
    ranks(cases, [1.5f32, f32::NAN, f32::INFINITY], [0, 2, 1], [1, 2, 0]);
    let long: Vec<i64> = (0..3000).map(|i| i * 7919 % 3000).collect();
    let back: Vec<i64> = long.iter().map(|x| 2999 - x).collect();
    ranks(cases, long.clone(), long, back);

    segments(cases);
    for sizes in [[1, 1], [33, 70], [64, 32], [1, 100], [200, 3]] {
        transpose(cases, sizes, |x| x as f64);
        transpose(cases, sizes, |x| x as i64 - 7);
        transpose(cases, sizes, |x| x as f32);
        transpose(cases, sizes, |x| x as u8);
        transpose(cases, sizes, |x| x % 3 == 0);
    }
    let small = [[1, 1, 1], [3, 5, 7], [5, 2, 0]];
    for sizes in small.into_iter().chain([[70, 65, 300], [2, 3, 9000], [70, 1100, 5]]) {
        for turned in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            product(cases, sizes, turned, |x| x);
            product(cases, sizes, turned, |x| x as f32);
        }
    }

    for (x, text) in [(2.5, "2.5"), (-0.0, "0.0"), (nan, "nan"), (1e-300, "1.0E-300"), (0.1, "0.1")]
    {
        float_text(cases, "float_text", x, text);
    }
    float_text(cases, "float_text_32", f64::from(0.1f32), "0.1");
    exp_text(cases, 12345.678, 3, Some("1.235e+4"));
    exp_text(cases, -1.0, 0, Some("-1e+0"));
    exp_text(cases, 1.0, 9, None);
    exp_text(cases, 1.0, -1, None);
    for (text, value, ok) in [
        ("12.5", 12.5, true),
        ("1e3x", 1000.0, false),
        ("", 0.0, true),
        ("0.1", 0.1, true),
        ("x", 0.0, false),
    ] {
        parse_float(cases, "parse_float", text, value, ok);
    }
    parse_float(cases, "parse_float_32", "0.1", f64::from(0.1f32), true);
    // Just above the middle of two singles, by less than a double shows.
    let text = "1.00000005960464477539062500000000001";
    parse_float(cases, "parse_float_32", text, f64::from(1.000_000_1_f32), true);
}

fn ranks(
    cases: &mut Vec<Case>,
    keys: impl Into<Data>,
    up: impl Into<Vec<i64>>,
    down: impl Into<Vec<i64>>,
) {
    let keys = keys.into();
    let ty = keys.ty();
    for (service, ranks) in [("rank_up", up.into()), ("rank_down", down.into())] {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [{ty}], v2: [i64], v3: i64) over flat v0 at v4 {{
  extern {service}(v1, v3, v2)
}}"
        );
        let name = format!("{service} of {} {ty}", keys.len());
        let case = Case::new(name, text).i64(1).array(keys.clone()).out(ranks.clone());
        cases.push(case.i64(keys.len() as i64));
        let sort = service.replace("rank", "sort");
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [{ty}], v2: [{ty}], v3: i64) over flat v0 at v4 {{
  extern {sort}(v1, v3, v2)
}}"
        );
        let case = Case::new(format!("{sort} of {} {ty}", keys.len()), text).i64(1);
        let case = case.array(keys.clone()).out(keys.permuted(&ranks));
        cases.push(case.i64(keys.len() as i64));
    }
}

/// A kernel that multiplies matrices of elements of type `TY`.
const MULTIPLY: &str =
    "kernel \"k\"(v0: i64, v1: [TY], v2: [i64], v3: i64, v4: [TY], v5: [i64], v6: i64, \
                        v7: i64, v8: i64, v9: i64, v10: [TY]) over flat v0 at v11 {
  extern multiply(v1, v2, v3, v4, v5, v6, v7, v8, v9, v10)
}";

/// The product of two matrices of small ints, which is exact in any order: rows, columns and the sums'
/// lengths; a factor that is turned is given by its columns. Rows lie apart from each other.
fn product<T: Copy>(
    cases: &mut Vec<Case>,
    [rows, columns, depth]: [usize; 3],
    turned: [i64; 2],
    of: impl Fn(f64) -> T,
) where
    Data: From<Vec<T>>,
{
    let element = |item: usize, at: usize| ((item * 7 + at * 5) % 9) as f64 - 4.0;
    let factor = |items: usize, turned: i64| {
        let (count, length) = if turned == 0 { (items, depth) } else { (depth, items) };
        let mut pool = vec![of(99.0); 3];
        let mut starts = vec![0i64; count];
        // The last row lies first.
        for row in (0..count).rev() {
            starts[row] = pool.len() as i64;
            for at in 0..length {
                let (item, at) = if turned == 0 { (row, at) } else { (at, row) };
                pool.push(of(element(item, at)));
            }
            pool.push(of(99.0));
        }
        (Data::from(pool), starts)
    };
    let mut sums = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let products = (0..depth).map(|at| element(row, at) * element(column, at));
            sums.push(of(products.fold(0.0, |sum, product| sum + product)));
        }
    }
    let ((left, left_starts), (right, right_starts)) =
        (factor(rows, turned[0]), factor(columns, turned[1]));
    let (ty, sums) = (left.ty(), Data::from(sums));
    let text = MULTIPLY.replace("TY", &ty.to_string());
    let name = format!("multiply {rows}, {columns}, {depth} {turned:?} {ty}");
    let mut case = Case::new(name, text).i64(1);
    for (pool, starts, turned) in [(left, left_starts, turned[0]), (right, right_starts, turned[1])]
    {
        case = case.array(pool).array(starts).i64(turned);
    }
    for size in [rows, columns, depth] {
        case = case.i64(size as i64);
    }
    cases.push(case.out(sums));
}

/// The transpose, of so many rows and columns, of a matrix whose rows lie apart, the last one first.
fn transpose<T: Copy>(cases: &mut Vec<Case>, [rows, columns]: [usize; 2], of: impl Fn(usize) -> T)
where
    Data: From<Vec<T>>,
{
    let mut pool = vec![of(0); 2];
    let mut starts = vec![0i64; columns];
    for column in (0..columns).rev() {
        starts[column] = pool.len() as i64;
        pool.extend((0..rows).map(|row| of(row * columns + column)));
        pool.push(of(0));
    }
    let pool = Data::from(pool);
    let ty = pool.ty();
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [{ty}], v2: [i64], v3: i64, v4: i64, v5: [{ty}]) over flat v0 at v6 {{
  extern transpose(v1, v2, v3, v4, v5)
}}"
    );
    let case = Case::new(format!("transpose {rows}, {columns} {ty}"), text).i64(1);
    let case = case.array(pool).array(starts).i64(rows as i64).i64(columns as i64);
    cases.push(case.out(Data::from((0..rows * columns).map(of).collect::<Vec<T>>())));
}

/// Segments of 0, 3, 1, 0 and 4 elements, with the results for each by itself.
fn segments(cases: &mut Vec<Case>) {
    let nan = f64::NAN;
    let offsets = vec![0i64, 0, 3, 4, 4, 8];
    ordered_segments(cases, [3, 1, 3, 9, 2, 2, 1, 2], &offsets, [1, 0, 2, 0, 1, 2, 0, 3]);
    let floats = [0.0, nan, -0.0, 1.0, nan, 2.0, nan, -1.0];
    ordered_segments(cases, floats, &offsets, [0, 2, 1, 0, 2, 1, 3, 0]);
    ordered_segments(cases, Vec::<i64>::new(), &[0, 0, 0], Vec::new());
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64], v5: i64) over flat v0 at v6 {
  extern group_segments(v1, v5, v2, v3, v4)
}";
    let case = Case::new("group_segments", text).i64(1);
    let case = case.array(vec![3i64, 1, 3, 9, 2, 2, 1, 2]);
    let case = case.out(vec![2i64, 1, 2, 0, 3, 3, 2, 3]).out(vec![2i64, 1, 2, 1, 3, 3, 1, 3]);
    cases.push(case.array(offsets.clone()).i64(5));
    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [u8], v4: [i64], v5: [i64], v6: [i64], v7: i64, v8: [i64]) over flat v0 at v9 {
  extern group_text_segments(v1, v7, v2, v3, v4, v5, v6)
  extern rank_text_segments(v1, v7, v2, v3, v8, v6)
}";
    // The texts `to`, `be`, `to`; `b`; and again `be`, the empty one, `be`, `t`.
    let case = Case::new("segments of texts", text).i64(1);
    let case = case.array(vec![0i64, 2, 0, 2, 2, 4, 2, 0]).array(vec![2i64, 2, 2, 1, 2, 0, 2, 1]);
    let case = case.array("tobe".as_bytes().to_vec());
    let case = case.out(vec![2i64, 1, 2, 0, 2, 1, 2, 3]).out(vec![2i64, 1, 2, 1, 2, 1, 2, 1]);
    cases.push(case.array(offsets).i64(5).out(vec![1i64, 0, 2, 0, 1, 0, 2, 3]));
}

/// The ranks, given in ascending order, and the sorted keys of segments.
fn ordered_segments(
    cases: &mut Vec<Case>,
    keys: impl Into<Data>,
    offsets: &[i64],
    ranks: impl Into<Vec<i64>>,
) {
    let (keys, ranks) = (keys.into(), ranks.into());
    let ty = keys.ty();
    let mut places = ranks.clone();
    for ends in offsets.windows(2) {
        (ends[0]..ends[1]).for_each(|at| places[at as usize] += ends[0]);
    }
    for (service, out, of) in [
        ("rank_segments_up", Ty::I64, Data::from(ranks)),
        ("sort_segments_up", ty, keys.permuted(&places)),
    ] {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [{ty}], v2: [{out}], v3: [i64], v4: i64) over flat v0 at v5 {{
  extern {service}(v1, v4, v2, v3)
}}"
        );
        let case = Case::new(format!("{service} of {} {ty}", keys.len()), text).i64(1);
        let case = case.array(keys.clone()).out(of).array(offsets.to_vec());
        cases.push(case.i64(offsets.len() as i64 - 1));
    }
}

fn float_text(cases: &mut Vec<Case>, service: &str, x: f64, expected: &str) {
    let text = format!(
        "kernel \"k\"(v0: i64, v1: f64, v2: [u8], v3: [i64]) over flat v0 at v4 {{
  v5: i64 = extern {service}(v1, v2)
  store v3[v4] = v5
}}"
    );
    let case = Case::new(format!("{service} of {x:?}"), text).i64(1);
    let case = case.arg(Input::Scalar(Literal::F64(x.to_bits()))).room(Ty::U8, 32);
    cases.push(case.becomes(2, expected.as_bytes().to_vec()).out([expected.len() as i64]));
}

fn exp_text(cases: &mut Vec<Case>, x: f64, digits: i64, expected: Option<&str>) {
    let text = "kernel \"k\"(v0: i64, v1: f64, v2: i64, v3: [u8], v4: [i64], v5: [bool]) over flat v0 at v6 {
  v7: i64, v8: bool = extern exp_text(v1, v2, v3)
  store v4[v6] = v7
  store v5[v6] = v8
}";
    let case = Case::new(format!("exp_text of {x:?} with {digits} digits"), text).i64(1);
    let case = case.arg(Input::Scalar(Literal::F64(x.to_bits()))).i64(digits).room(Ty::U8, 64);
    let case = case.becomes(3, expected.unwrap_or("").as_bytes().to_vec());
    let case = match expected {
        Some(text) => case.out([text.len() as i64]),
        None => case.room(Ty::I64, 1),
    };
    cases.push(case.out([expected.is_some()]));
}

fn parse_float(cases: &mut Vec<Case>, service: &str, text: &str, value: f64, ok: bool) {
    let code = format!(
        "kernel \"k\"(v0: i64, v1: [u8], v2: i64, v3: [f64], v4: [bool]) over flat v0 at v5 {{
  v6: f64, v7: bool = extern {service}(v1, v2)
  store v3[v5] = v6
  store v4[v5] = v7
}}"
    );
    let case = Case::new(format!("{service} of {text:?}"), code).i64(1);
    let case = case.array(text.as_bytes().to_vec()).i64(text.len() as i64);
    cases.push(case.out([value]).out([ok]));
}
