//! Every scalar operation at every type, on numbers at the edges.

use super::{Case, Data};
use crate::kir::{Binary, Ty, Unary};

const I32S: &[i32] = &[
    0,
    1,
    -1,
    2,
    -2,
    7,
    -7,
    10,
    31,
    32,
    33,
    64,
    -31,
    255,
    256,
    0x5555_5555,
    i32::MAX,
    i32::MIN,
    i32::MIN + 1,
];
const I64S: &[i64] = &[
    0,
    1,
    -1,
    2,
    -2,
    7,
    -7,
    10,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    256,
    1 << 31,
    1 << 32,
    (1 << 53) + 1,
    -(1 << 53) - 1,
    0x4000_0040_0000_0001,
    0x5555_5555_5555_5555,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];
const F32S: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    1e-45,
    1e30,
    -1e30,
    3.4e38,
    8_388_609.0,
    2_147_483_600.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    1e19,
    -1e19,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];
const F64S: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    5e-324,
    1e300,
    -1e300,
    1.7e308,
    4_503_599_627_370_497.5,
    2_147_483_647.5,
    -2_147_483_648.9,
    4e9,
    9.3e18,
    -9.3e18,
    1e-310,
    16_777_217.0,
    3.5e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const U8S: &[u8] = &[0, 1, 2, 97, 127, 128, 255];
const BOOLS: &[bool] = &[false, true];

/// A case for an operation on one operand, for all of `xs`.
fn one<A: Copy, R>(cases: &mut Vec<Case>, op: &str, xs: &[A], f: impl Fn(A) -> R)
where
    Data: From<Vec<A>> + From<Vec<R>>,
{
    let expected = Data::from(xs.iter().map(|x| f(*x)).collect::<Vec<R>>());
    let xs = Data::from(xs.to_vec());
    let (from, to) = (xs.ty(), expected.ty());
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [{from}], v2: [{to}]) over flat v0 at v3 {{
  v4: {from} = load v1[v3]
  v5: {to} = {op} v4
  store v2[v3] = v5
}}"
    );
    let name = format!("{op} {from} -> {to}");
    cases.push(Case::new(name, text).i64(xs.len() as i64).array(xs).out(expected));
}

/// A case for an operation on two operands, for all pairs of `xs`.
fn two<A: Copy, R>(cases: &mut Vec<Case>, op: Binary, xs: &[A], f: impl Fn(A, A) -> R)
where
    Data: From<Vec<A>> + From<Vec<R>>,
{
    let pairs = || xs.iter().flat_map(|x| xs.iter().map(|y| (*x, *y)));
    let expected = Data::from(pairs().map(|(x, y)| f(x, y)).collect::<Vec<R>>());
    let left = Data::from(pairs().map(|(x, _)| x).collect::<Vec<A>>());
    let right = Data::from(pairs().map(|(_, y)| y).collect::<Vec<A>>());
    let (from, to, op) = (left.ty(), expected.ty(), op.mnemonic());
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [{from}], v2: [{from}], v3: [{to}]) over flat v0 at v4 {{
  v5: {from} = load v1[v4]
  v6: {from} = load v2[v4]
  v7: {to} = {op} v5, v6
  store v3[v4] = v7
}}"
    );
    let name = format!("{op} {from}");
    let case = Case::new(name, text).i64(expected.len() as i64).array(left).array(right);
    cases.push(case.out(expected));
}

/// The six comparisons.
fn comparisons<A: Copy + PartialOrd>(cases: &mut Vec<Case>, xs: &[A])
where
    Data: From<Vec<A>> + From<Vec<bool>>,
{
    two::<A, bool>(cases, Binary::Eq, xs, |x, y| x == y);
    two::<A, bool>(cases, Binary::Ne, xs, |x, y| x != y);
    two::<A, bool>(cases, Binary::Lt, xs, |x, y| x < y);
    two::<A, bool>(cases, Binary::Le, xs, |x, y| x <= y);
    two::<A, bool>(cases, Binary::Gt, xs, |x, y| x > y);
    two::<A, bool>(cases, Binary::Ge, xs, |x, y| x >= y);
}

macro_rules! ints {
    ($cases:expr, $xs:expr, $ty:ty, $unsigned:ty) => {
        let bits = <$ty>::BITS as $ty;
        one($cases, Unary::Neg.mnemonic(), $xs, |x: $ty| x.wrapping_neg());
        one($cases, Unary::Abs.mnemonic(), $xs, |x: $ty| if x < 0 { x.wrapping_neg() } else { x });
        one($cases, Unary::Not.mnemonic(), $xs, |x: $ty| -1 - x);
        two($cases, Binary::Add, $xs, |x: $ty, y| x.wrapping_add(y));
        two($cases, Binary::Sub, $xs, |x: $ty, y| x.wrapping_sub(y));
        two($cases, Binary::Mul, $xs, |x: $ty, y| x.wrapping_mul(y));
        two($cases, Binary::Div, $xs, |x: $ty, y| match y {
            0 => x,
            -1 => x.wrapping_neg(),
            y => x / y,
        });
        two($cases, Binary::Rem, $xs, |x: $ty, y| match y {
            0 | -1 => 0,
            y => x % y,
        });
        two($cases, Binary::Min, $xs, |x: $ty, y| if x < y { x } else { y });
        two($cases, Binary::Max, $xs, |x: $ty, y| if x > y { x } else { y });
        two($cases, Binary::And, $xs, |x: $ty, y| x & y);
        two($cases, Binary::Or, $xs, |x: $ty, y| x | y);
        two($cases, Binary::Xor, $xs, |x: $ty, y| x ^ y);
        two($cases, Binary::Shl, $xs, |x: $ty, y| x << y.rem_euclid(bits));
        two($cases, Binary::Shr, $xs, |x: $ty, y| x >> y.rem_euclid(bits));
        two($cases, Binary::ShrZero, $xs, |x: $ty, y| {
            ((x as $unsigned) >> y.rem_euclid(bits)) as $ty
        });
        comparisons($cases, $xs);
        one($cases, "convert", $xs, |x: $ty| x as i32);
        one($cases, "convert", $xs, |x: $ty| x as i64);
        one($cases, "convert", $xs, |x: $ty| x as f32);
        one($cases, "convert", $xs, |x: $ty| x as f64);
        one($cases, "convert", $xs, |x: $ty| (x & 255) as u8);
        one($cases, "convert", $xs, |x: $ty| x & 1 == 1);
    };
}

macro_rules! floats {
    ($cases:expr, $xs:expr, $ty:ty) => {
        one($cases, Unary::Neg.mnemonic(), $xs, |x: $ty| -x);
        one($cases, Unary::Abs.mnemonic(), $xs, |x: $ty| x.abs());
        one($cases, Unary::Sqrt.mnemonic(), $xs, |x: $ty| x.sqrt());
        one($cases, Unary::Floor.mnemonic(), $xs, |x: $ty| x.floor());
        one($cases, Unary::Ceil.mnemonic(), $xs, |x: $ty| x.ceil());
        one($cases, Unary::Trunc.mnemonic(), $xs, |x: $ty| x.trunc());
        one($cases, Unary::Nearest.mnemonic(), $xs, |x: $ty| x.round_ties_even());
        two($cases, Binary::Add, $xs, |x: $ty, y| x + y);
        two($cases, Binary::Sub, $xs, |x: $ty, y| x - y);
        two($cases, Binary::Mul, $xs, |x: $ty, y| x * y);
        two($cases, Binary::Div, $xs, |x: $ty, y| x / y);
        comparisons($cases, $xs);
        one($cases, "convert", $xs, |x: $ty| x as i32);
        one($cases, "convert", $xs, |x: $ty| x as i64);
        one($cases, "convert", $xs, |x: $ty| x as f32);
        one($cases, "convert", $xs, |x: $ty| x as f64);
    };
}

pub(super) fn cases(cases: &mut Vec<Case>) {
    ints!(cases, I32S, i32, u32);
    ints!(cases, I64S, i64, u64);
    floats!(cases, F32S, f32);
    floats!(cases, F64S, f64);

    two(cases, Binary::MulHigh, I64S, |x: i64, y: i64| {
        // A negative number, taken without sign, is 2⁶⁴ more.
        let signed = ((i128::from(x) * i128::from(y)) >> 64) as i64;
        let more = if x < 0 { y } else { 0 };
        signed.wrapping_add(more).wrapping_add(if y < 0 { x } else { 0 })
    });
    one(cases, "not", BOOLS, |x: bool| !x);
    two(cases, Binary::And, BOOLS, |x, y| x && y);
    two(cases, Binary::Or, BOOLS, |x, y| x || y);
    two(cases, Binary::Xor, BOOLS, |x, y| x != y);
    comparisons(cases, BOOLS);
    two(cases, Binary::Min, U8S, |x: u8, y| if x < y { x } else { y });
    two(cases, Binary::Max, U8S, |x: u8, y| if x > y { x } else { y });
    comparisons(cases, U8S);
    one(cases, "convert", BOOLS, |x: bool| x);
    one(cases, "convert", BOOLS, |x: bool| u8::from(x));
    one(cases, "convert", BOOLS, |x: bool| i32::from(x));
    one(cases, "convert", BOOLS, |x: bool| i64::from(x));
    one(cases, "convert", BOOLS, |x: bool| if x { 1f32 } else { 0.0 });
    one(cases, "convert", BOOLS, |x: bool| if x { 1f64 } else { 0.0 });
    one(cases, "convert", U8S, |x: u8| x);
    one(cases, "convert", U8S, |x: u8| x % 2 == 1);
    one(cases, "convert", U8S, |x: u8| i32::from(x));
    one(cases, "convert", U8S, |x: u8| i64::from(x));
    one(cases, "convert", U8S, |x: u8| f32::from(x));
    one(cases, "convert", U8S, |x: u8| f64::from(x));

    // The bits of a NaN are not promised.
    let some = |x: &&f64| !x.is_nan();
    let f64s: Vec<f64> = F64S.iter().filter(some).copied().collect();
    let f32s: Vec<f32> = F32S.iter().filter(|x| !x.is_nan()).copied().collect();
    one(cases, "bits", &f64s, |x: f64| x.to_bits() as i64);
    one(cases, "bits", &f32s, |x: f32| x.to_bits() as i32);
    one(cases, "bits", I64S, |x: i64| f64::from_bits(x as u64));
    one(cases, "bits", I32S, |x: i32| f32::from_bits(x as u32));
    one(cases, "bits", I32S, |x: i32| x);

    by_hand(cases);
    three_operands(cases);
    constants(cases);
}

/// Numbers at which operations are easily wrong.
fn by_hand(cases: &mut Vec<Case>) {
    fn table<A: Copy, R: Copy>(cases: &mut Vec<Case>, op: &str, rows: &[(A, R)])
    where
        Data: From<Vec<A>> + From<Vec<R>>,
    {
        let at = std::cell::Cell::new(0);
        let xs: Vec<A> = rows.iter().map(|(x, _)| *x).collect();
        one(cases, op, &xs, |_| rows[at.replace(at.get() + 1)].1);
    }
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    table(
        cases,
        "convert",
        &[
            (nan, 0),
            (inf, i32::MAX),
            (-inf, i32::MIN),
            (1e10, i32::MAX),
            (-1.9, -1),
            (0.99, 0),
            (2_147_483_646.9, 2_147_483_646),
            (-2_147_483_648.9, i32::MIN),
        ],
    );
    table(
        cases,
        "convert",
        &[(nan, 0i64), (inf, i64::MAX), (-inf, i64::MIN), (9.3e18, i64::MAX), (-9.3e18, i64::MIN)],
    );
    // Rounded once: through a double, the first would become 2⁶².
    table(
        cases,
        "convert",
        &[(0x4000_0040_0000_0001i64, 4_611_686_568_183_201_792f32), (16_777_217, 16_777_216.0)],
    );
    table(cases, "nearest", &[(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0)]);
    table(cases, "floor", &[(-0.5, -1.0), (-0.0, -0.0), (0.5, 0.0)]);
    table(cases, "ceil", &[(-0.5, -0.0), (0.5, 1.0)]);
    table(cases, "sqrt", &[(-1.0, nan), (-0.0, -0.0), (2.0, std::f64::consts::SQRT_2)]);
    table(cases, "neg", &[(0.0, -0.0), (-0.0, 0.0), (inf, -inf)]);
    table(cases, "abs", &[(i64::MIN, i64::MIN), (-5, 5)]);
    table(cases, "convert", &[(-1i64, 255u8), (256, 0), (97, 97)]);
    table(cases, "convert", &[(2i64, false), (3, true), (-1, true)]);
}

fn three_operands(cases: &mut Vec<Case>) {
    let fma = |ty: Ty| {
        format!(
            "kernel \"k\"(v0: i64, v1: [{ty}], v2: [{ty}], v3: [{ty}], v4: [{ty}]) over flat v0 at v5 {{
  v6: {ty} = load v1[v5]
  v7: {ty} = load v2[v5]
  v8: {ty} = load v3[v5]
  v9: {ty} = fma v6, v7, v8
  store v4[v5] = v9
}}"
        )
    };
    let e = 2f64.powi(-30);
    cases.push(
        Case::new("fma f64", fma(Ty::F64))
            .i64(4)
            .array([1.0 + e, 2.0, 0.0, 1e308])
            .array([1.0 - e, 3.0, f64::INFINITY, 10.0])
            .array([-1.0, 4.0, 1.0, -1e308])
            .out([-e * e, 10.0, f64::NAN, f64::INFINITY]),
    );
    let e = 2f32.powi(-15);
    cases.push(
        Case::new("fma f32", fma(Ty::F32))
            .i64(2)
            .array([1.0 + e, 2.0])
            .array([1.0 - e, 3.0])
            .array([-1.0f32, 4.0])
            .out([-e * e, 10.0]),
    );
    let text =
        "kernel \"k\"(v0: i64, v1: [bool], v2: [u8], v3: [u8], v4: [u8]) over flat v0 at v5 {
  v6: bool = load v1[v5]
  v7: [u8] = select v6, v2, v3
  v8: u8 = load v7[v5]
  v9: u8 = load v3[v5]
  v10: bool = not v6
  v11: u8 = select v10, v9, v8
  store v4[v5] = v11
}";
    cases.push(
        Case::new("select", text)
            .i64(4)
            .array([true, false, true, false])
            .array([1u8, 2, 3, 4])
            .array([11u8, 12, 13, 14])
            .out([1u8, 12, 3, 14]),
    );
}

/// Every type of constant is what it says, and operations with constants are what they are.
fn constants(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i32], v2: [i64], v3: [f32], v4: [f64], v5: [bool], v6: [u8], v7: [i64]) over flat v0 at v8 {
  v9: i32 = const -2147483648
  store v1[v8] = v9
  v10: i64 = const -9223372036854775808
  store v2[v8] = v10
  v11: f32 = const -0.1
  store v3[v8] = v11
  v12: f64 = const 1e-310
  store v4[v8] = v12
  v13: bool = const true
  store v5[v8] = v13
  v14: u8 = const 'z'
  store v6[v8] = v14
  v15: i64 = const -1
  v16: i64 = div v10, v15
  v17: i64 = const 65
  v18: i64 = shl v17, v17
  v19: i64 = rem v17, v15
  v20: i64 = xor v16, v18
  v21: i64 = add v20, v19
  store v7[v8] = v21
}";
    cases.push(
        Case::new("constants", text)
            .i64(1)
            .out([i32::MIN])
            .out([i64::MIN])
            .out([-0.1f32])
            .out([1e-310])
            .out([true])
            .out([b'z'])
            .out([i64::MIN ^ 130]),
    );
}
