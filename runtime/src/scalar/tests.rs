//! Every operation against a naive model, and the values that make trouble.

use super::*;
use Precision::{Bits32, Bits64};
use Scalar::{Bool, Char, Float, Int};
use proptest::prelude::*;

fn int(op: ScalarOp, a: i64, b: i64) -> Result<Scalar, FaultCode> {
    eval(op, &[Int(a), Int(b)], Bits64)
}

fn float(op: ScalarOp, a: f64) -> Scalar {
    eval(op, &[Float(a)], Bits64).unwrap()
}

/// Equality that knows NaN and tells the zeros apart.
fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

#[test]
fn division() {
    use ScalarOp::{Div, Mod, Rem};
    assert_eq!(int(Div, -7, 2), Ok(Int(-3)));
    assert_eq!(int(Div, 7, -2), Ok(Int(-3)));
    assert_eq!(int(Div, 1, 0), Err(FaultCode::DivideByZero));
    assert_eq!(int(Div, i64::MIN, -1), Err(FaultCode::IntegerOverflow));
    let least = i64::from(i32::MIN);
    assert_eq!(eval(Div, &[Int(least), Int(-1)], Bits32), Err(FaultCode::IntegerOverflow));
    assert_eq!(int(Div, least, -1), Ok(Int(-least)));
    assert_eq!(int(Rem, -5, 3), Ok(Int(-2)));
    assert_eq!(int(Rem, 5, -3), Ok(Int(2)));
    assert_eq!(int(Rem, i64::MIN, -1), Ok(Int(0)));
    assert_eq!(int(Rem, 1, 0), Err(FaultCode::RemByZero));
    assert_eq!(int(Mod, -5, 3), Ok(Int(1)));
    assert_eq!(int(Mod, 5, -3), Ok(Int(-1)));
    assert_eq!(int(Mod, -6, 3), Ok(Int(0)));
    assert_eq!(int(Mod, i64::MIN, -1), Ok(Int(0)));
    assert_eq!(int(Mod, i64::MIN, i64::MAX), Ok(Int(i64::MAX - 1)));
    assert_eq!(int(Mod, 1, 0), Err(FaultCode::ModByZero));
}

#[test]
fn wrapping() {
    let most = i64::from(i32::MAX);
    let least = i64::from(i32::MIN);
    assert_eq!(int(ScalarOp::Add, i64::MAX, 1), Ok(Int(i64::MIN)));
    assert_eq!(eval(ScalarOp::Add, &[Int(most), Int(1)], Bits32), Ok(Int(least)));
    assert_eq!(eval(ScalarOp::Neg, &[Int(least)], Bits32), Ok(Int(least)));
    assert_eq!(eval(ScalarOp::Abs, &[Int(i64::MIN)], Bits64), Ok(Int(i64::MIN)));
    assert_eq!(eval(ScalarOp::Shl, &[Int(1), Int(31)], Bits32), Ok(Int(least)));
}

#[test]
fn shifts() {
    use ScalarOp::{Shl, Shr};
    assert_eq!(int(Shl, 5, 2), Ok(Int(20)));
    assert_eq!(int(Shr, -5, 1), Ok(Int(-3)));
    assert_eq!(int(Shr, i64::MIN, 63), Ok(Int(-1)));
    for count in [-1, 64, i64::MAX, i64::MIN] {
        assert_eq!(int(Shl, 1, count), Err(FaultCode::ShiftCount));
        assert_eq!(int(Shr, 1, count), Err(FaultCode::ShiftCount));
    }
    assert_eq!(eval(Shr, &[Int(1), Int(32)], Bits32), Err(FaultCode::ShiftCount));
}

#[test]
fn chars_and_bools() {
    assert_eq!(eval(ScalarOp::IntToChar, &[Int(65)], Bits64), Ok(Char(65)));
    for code in [-1, 256, i64::MIN] {
        assert_eq!(eval(ScalarOp::IntToChar, &[Int(code)], Bits64), Err(FaultCode::CodeChar));
    }
    assert_eq!(eval(ScalarOp::CharToInt, &[Char(200)], Bits64), Ok(Int(200)));
    assert_eq!(eval(ScalarOp::BoolToInt, &[Bool(true)], Bits64), Ok(Int(1)));
    assert_eq!(eval(ScalarOp::Lt, &[Char(1), Char(200)], Bits64), Ok(Bool(true)));
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let apply = |op| eval(op, &[Bool(a), Bool(b)], Bits64);
        assert_eq!(apply(ScalarOp::And), Ok(Bool(a & b)));
        assert_eq!(apply(ScalarOp::Or), Ok(Bool(a | b)));
        assert_eq!(apply(ScalarOp::Xor), Ok(Bool(a ^ b)));
        assert_eq!(apply(ScalarOp::Eq), Ok(Bool(a == b)));
        assert_eq!(apply(ScalarOp::Ne), Ok(Bool(a != b)));
    }
}

#[test]
fn signs_of_zero_and_nan() {
    assert!(same(float(ScalarOp::Neg, 0.0), Float(0.0)));
    assert!(same(float(ScalarOp::Abs, -0.0), Float(0.0)));
    assert!(same(float(ScalarOp::Sqrt, -0.0), Float(-0.0)));
    assert!(same(float(ScalarOp::Sqrt, f64::NAN), Float(f64::NAN)));
    assert!(same(float(ScalarOp::Ln, 0.0), Float(f64::NEG_INFINITY)));
    assert!(same(float(ScalarOp::Ln, -0.0), Float(f64::NEG_INFINITY)));
    assert!(same(float(ScalarOp::Ln, f64::NAN), Float(f64::NAN)));
    assert_eq!(eval(ScalarOp::Sqrt, &[Float(-1.0)], Bits64), Err(FaultCode::SqrtNegative));
    assert_eq!(eval(ScalarOp::Ln, &[Float(f64::NEG_INFINITY)], Bits64), Err(FaultCode::LnNegative));
    let nan = Float(f64::NAN);
    for op in [ScalarOp::Eq, ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge] {
        assert_eq!(eval(op, &[nan, nan], Bits64), Ok(Bool(false)));
        assert_eq!(eval(op, &[nan, Float(1.0)], Bits64), Ok(Bool(false)));
    }
    assert_eq!(eval(ScalarOp::Ne, &[nan, nan], Bits64), Ok(Bool(true)));
    // The second operand wins where the comparison says no.
    let max = |a, b| eval(ScalarOp::Max, &[Float(a), Float(b)], Bits64).unwrap();
    assert!(same(max(f64::NAN, 1.0), Float(1.0)));
    assert!(same(max(1.0, f64::NAN), Float(f64::NAN)));
    assert!(same(max(0.0, -0.0), Float(-0.0)));
    assert!(same(eval(ScalarOp::Min, &[Float(-0.0), Float(0.0)], Bits64).unwrap(), Float(0.0)));
}

#[test]
fn floats_to_ints() {
    use ScalarOp::{Ceil, Floor, Round, Trunc};
    let cases = [
        (2.5, [2, 3, 2, 3]),
        (-2.5, [-3, -2, -2, -3]),
        (-2.6, [-3, -2, -2, -3]),
        (0.49999999999999994, [0, 1, 0, 0]),
        (-0.0, [0, 0, 0, 0]),
    ];
    for (x, expected) in cases {
        for (op, expected) in [Floor, Ceil, Trunc, Round].into_iter().zip(expected) {
            assert_eq!(float(op, x), Int(expected), "{op:?} {x}");
            assert_eq!(eval(op, &[Float(x)], Bits32), Ok(Int(expected)));
        }
    }
    let big = f64::powi(2.0, 63);
    assert_eq!(float(Trunc, -big), Int(i64::MIN));
    for x in [big, -big * 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for op in [Floor, Ceil, Trunc, Round] {
            assert_eq!(eval(op, &[Float(x)], Bits64), Err(FaultCode::FloatToInt));
        }
    }
    assert_eq!(eval(Floor, &[Float(2147483648.0)], Bits32), Err(FaultCode::FloatToInt));
    assert_eq!(eval(Floor, &[Float(-2147483648.0)], Bits32), Ok(Int(i64::from(i32::MIN))));
}

#[test]
fn bits_of_floats() {
    for precision in [Bits32, Bits64] {
        let bits = |x| eval(ScalarOp::FloatBits, &[Float(x)], precision);
        assert_eq!(bits(0.0), bits(-0.0));
        assert_eq!(bits(f64::NAN), bits(-f64::NAN));
        assert_ne!(bits(1.0), bits(-1.0));
    }
    assert_eq!(eval(ScalarOp::FloatBits, &[Float(1.0)], Bits32), Ok(Int(0x3f80_0000)));
}

#[test]
fn thirty_two_bits_round_after_each_operation() {
    let third = eval(ScalarOp::Div, &[Float(1.0), Float(3.0)], Bits32);
    assert_eq!(third, Ok(Float(f64::from(1.0f32 / 3.0))));
    let lost = eval(ScalarOp::Add, &[Float(16777216.0), Float(1.0)], Bits32);
    assert_eq!(lost, Ok(Float(16777216.0)));
    assert_eq!(eval(ScalarOp::ToFloat, &[Int(16777217)], Bits32), Ok(Float(16777216.0)));
    assert_eq!(eval(ScalarOp::Exp, &[Float(100.0)], Bits32), Ok(Float(f64::INFINITY)));
}

#[test]
fn drawing_goes_through_the_generator() {
    const SOURCE: random::Source = random::Source { key: 3, index: 4, number: 5 };
    assert_eq!(
        eval(ScalarOp::Rand, &[Int(3), Int(4), Int(5), Int(10)], Bits64),
        random::draw_int(0, SOURCE, 10, Bits64).map(Int)
    );
    assert_eq!(
        eval(ScalarOp::Rand, &[Int(3), Int(4), Int(5), Float(2.0)], Bits32),
        random::draw_float(0, SOURCE, 2.0, Bits32).map(Float)
    );
    assert_eq!(
        eval(ScalarOp::Rand, &[Int(3), Int(4), Int(5), Int(0)], Bits64),
        Err(FaultCode::RandBound)
    );
}

/// The number of floats between two of the same sign.
fn distance(a: f64, b: f64) -> u64 {
    if a.is_nan() && b.is_nan() || a == b { 0 } else { a.to_bits().abs_diff(b.to_bits()) }
}

proptest! {
    #[test]
    fn thirty_two_bit_ints_are_those_of_the_machine(a: i32, b: i32, n in 0..32i64) {
        let (x, y) = (Int(i64::from(a)), Int(i64::from(b)));
        let ok = |c: i32| Ok(Int(i64::from(c)));
        prop_assert_eq!(eval(ScalarOp::Add, &[x, y], Bits32), ok(a.wrapping_add(b)));
        prop_assert_eq!(eval(ScalarOp::Sub, &[x, y], Bits32), ok(a.wrapping_sub(b)));
        prop_assert_eq!(eval(ScalarOp::Mul, &[x, y], Bits32), ok(a.wrapping_mul(b)));
        prop_assert_eq!(eval(ScalarOp::And, &[x, y], Bits32), ok(a & b));
        prop_assert_eq!(eval(ScalarOp::Or, &[x, y], Bits32), ok(a | b));
        prop_assert_eq!(eval(ScalarOp::Xor, &[x, y], Bits32), ok(a ^ b));
        prop_assert_eq!(eval(ScalarOp::Not, &[x], Bits32), ok(!a));
        prop_assert_eq!(eval(ScalarOp::Max, &[x, y], Bits32), ok(a.max(b)));
        prop_assert_eq!(eval(ScalarOp::Min, &[x, y], Bits32), ok(a.min(b)));
        prop_assert_eq!(eval(ScalarOp::Shl, &[x, Int(n)], Bits32), ok(a << n));
        prop_assert_eq!(eval(ScalarOp::Shr, &[x, Int(n)], Bits32), ok(a >> n));
        prop_assert_eq!(eval(ScalarOp::Ge, &[x, y], Bits32), Ok(Bool(a >= b)));
    }

    #[test]
    fn quotients_and_remainders_belong_together(a: i64, b in prop_oneof![any::<i64>(), -9..9i64]) {
        prop_assume!(b != 0 && !(a == i64::MIN && b == -1));
        let get = |op| match int(op, a, b) { Ok(Int(c)) => c, other => panic!("{other:?}") };
        let (q, r, m) = (get(ScalarOp::Div), get(ScalarOp::Rem), get(ScalarOp::Mod));
        prop_assert_eq!(q.wrapping_mul(b).wrapping_add(r), a);
        prop_assert!(r == 0 || (r < 0) == (a < 0));
        prop_assert!(m == 0 || (m < 0) == (b < 0));
        prop_assert!(m.unsigned_abs() < b.unsigned_abs());
        prop_assert_eq!((i128::from(a) - i128::from(m)) % i128::from(b), 0);
    }

    #[test]
    fn thirty_two_bit_floats_are_those_of_the_machine(a: f32, b: f32) {
        let (x, y) = (Float(f64::from(a)), Float(f64::from(b)));
        for (op, expected) in [
            (ScalarOp::Add, a + b),
            (ScalarOp::Sub, a - b),
            (ScalarOp::Mul, a * b),
            (ScalarOp::Div, a / b),
        ] {
            let got = eval(op, &[x, y], Bits32).unwrap();
            prop_assert!(same(got, Float(f64::from(expected))) || expected.is_nan());
        }
        if a >= 0.0 {
            let root = eval(ScalarOp::Sqrt, &[x], Bits32).unwrap();
            prop_assert!(same(root, Float(f64::from(a.sqrt()))));
        }
    }

    #[test]
    fn transcendental_functions_agree_with_the_platform(
        x in prop_oneof![-20.0..20.0f64, -1.0..1.0f64, proptest::num::f64::ANY],
    ) {
        type Function = fn(f64) -> f64;
        let functions: [(ScalarOp, Function); 10] = [
            (ScalarOp::Exp, f64::exp),
            (ScalarOp::Sin, f64::sin),
            (ScalarOp::Cos, f64::cos),
            (ScalarOp::Tan, f64::tan),
            (ScalarOp::Asin, f64::asin),
            (ScalarOp::Acos, f64::acos),
            (ScalarOp::Atan, f64::atan),
            (ScalarOp::Sinh, f64::sinh),
            (ScalarOp::Cosh, f64::cosh),
            (ScalarOp::Tanh, f64::tanh),
        ];
        for (op, platform) in functions {
            let Float(got) = float(op, x) else { panic!() };
            // Either may be one off, on opposite sides; hyperbolic ones a little more.
            prop_assert!(distance(got, platform(x)) <= 3, "{op:?} {x:e}: {got:e} {:e}", platform(x));
        }
        if x >= 0.0 {
            let Float(got) = float(ScalarOp::Ln, x) else { panic!() };
            prop_assert!(distance(got, x.ln()) <= 1);
        }
    }
}
