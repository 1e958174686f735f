//! Floating-point arithmetic, IEEE exact, without flush to zero.
//!
//! The `.approx` forms compute the exact value and round it once: a device may differ in the last
//! bits, and programs that must agree with a CPU to the bit do not use them.

use super::lanes::{Binary, Lanes, Scalar, Ternary, Unary, binary, ternary, unary, with_type};
use super::types::Type;

/// The float instructions with two sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// The rounded sum.
    Add,
    /// The rounded difference.
    Sub,
    /// The rounded product.
    Mul,
    /// The rounded quotient.
    Div,
    /// Smaller one; a NaN loses against a number, and -0 is smaller than +0.
    Min,
    /// Larger one; a NaN loses against a number, and +0 is larger than -0.
    Max,
    /// Magnitude of the second source with the sign of the first.
    CopySign,
}

/// Returns the meaning of a float instruction with two sources.
pub fn binary_op(op: FloatOp, ty: Type) -> Option<Binary> {
    macro_rules! with_float {
        ($T:ident => $value:expr) => {
            with_type!(ty, $T in [F32 = f32, F64 = f64] => $value)
        };
    }
    match op {
        FloatOp::Add => with_float!(T => binary!(|a, b| (T::of(a) + T::of(b)).lane())),
        FloatOp::Sub => with_float!(T => binary!(|a, b| (T::of(a) - T::of(b)).lane())),
        FloatOp::Mul => with_float!(T => binary!(|a, b| (T::of(a) * T::of(b)).lane())),
        FloatOp::Div => with_float!(T => binary!(|a, b| (T::of(a) / T::of(b)).lane())),
        FloatOp::Min => with_float!(T => binary!(|a, b| {
            let (x, y) = (T::of(a), T::of(b));
            if y.is_nan() || x < y || x == y && x.is_sign_negative() { x.lane() } else { y.lane() }
        })),
        FloatOp::Max => with_float!(T => binary!(|a, b| {
            let (x, y) = (T::of(a), T::of(b));
            if y.is_nan() || x > y || x == y && x.is_sign_positive() { x.lane() } else { y.lane() }
        })),
        FloatOp::CopySign => match ty {
            Type::F32 => Some(binary!(|a, b| a & SIGN_F32 | b & !SIGN_F32)),
            Type::F64 => Some(binary!(|a, b| a & SIGN_F64 | b & !SIGN_F64)),
            _ => None,
        },
    }
}

/// The sign bit of an `f32` in its lane.
const SIGN_F32: u64 = 1 << 31;
/// The sign bit of an `f64`.
const SIGN_F64: u64 = 1 << 63;

/// Returns the meaning of `neg`.
pub fn neg(ty: Type) -> Option<Unary> {
    match ty {
        Type::F32 => Some(unary!(|a| a ^ SIGN_F32)),
        Type::F64 => Some(unary!(|a| a ^ SIGN_F64)),
        _ => None,
    }
}

/// Returns the meaning of `abs`.
pub fn abs(ty: Type) -> Option<Unary> {
    match ty {
        Type::F32 => Some(unary!(|a| a & !SIGN_F32)),
        Type::F64 => Some(unary!(|a| a & !SIGN_F64)),
        _ => None,
    }
}

/// The functions of one float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFunction {
    /// The square root.
    Sqrt,
    /// The reciprocal value.
    Reciprocal,
    /// Reciprocal square root.
    ReciprocalSqrt,
    /// Power of two.
    Exp2,
    /// Logarithm to base two.
    Log2,
    /// The sine of radians.
    Sin,
    /// The cosine of radians.
    Cos,
    /// The hyperbolic tangent.
    Tanh,
}

/// Returns the meaning of a function of one float.
pub fn function(function: FloatFunction, ty: Type) -> Option<Unary> {
    /// The functions that PTX has for `f32` only, computed in `f64` and rounded once.
    macro_rules! single {
        ($method:ident) => {
            (ty == Type::F32).then_some(unary!(|a| (f64::from(f32::of(a)).$method() as f32).lane()))
        };
    }
    match function {
        FloatFunction::Sqrt => {
            with_type!(ty, T in [F32 = f32, F64 = f64] => unary!(|a| T::of(a).sqrt().lane()))
        }
        FloatFunction::Reciprocal => {
            with_type!(ty, T in [F32 = f32, F64 = f64] => unary!(|a| (1.0 / T::of(a)).lane()))
        }
        FloatFunction::ReciprocalSqrt => match ty {
            Type::F32 => Some(unary!(|a| ((1.0 / f64::from(f32::of(a)).sqrt()) as f32).lane())),
            Type::F64 => Some(unary!(|a| (1.0 / f64::of(a).sqrt()).lane())),
            _ => None,
        },
        FloatFunction::Exp2 => single!(exp2),
        FloatFunction::Log2 => single!(log2),
        FloatFunction::Sin => single!(sin),
        FloatFunction::Cos => single!(cos),
        FloatFunction::Tanh => single!(tanh),
    }
}

/// Returns the meaning of `fma`: one rounding.
pub fn fma(ty: Type) -> Option<Ternary> {
    match ty {
        Type::F32 => Some(fma_f32),
        Type::F64 => Some(fma_f64),
        _ => None,
    }
}

fn fma_f32(out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has FMA, which the line above asked it for.
        return unsafe { fma_f32_hardware(out, a, b, c) };
    }
    ternary!(|a, b, c| f32::of(a).mul_add(f32::of(b), f32::of(c)).lane())(out, a, b, c);
}

fn fma_f64(out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has FMA, which the line above asked it for.
        return unsafe { fma_f64_hardware(out, a, b, c) };
    }
    ternary!(|a, b, c| f64::of(a).mul_add(f64::of(b), f64::of(c)).lane())(out, a, b, c);
}

/// The `f32` form for processors with FMA; elsewhere `mul_add` is a slow library call.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn fma_f32_hardware(out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    for (out, ((&a, &b), &c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
        *out = f32::of(a).mul_add(f32::of(b), f32::of(c)).lane();
    }
}

/// The `f64` form for processors with FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn fma_f64_hardware(out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    for (out, ((&a, &b), &c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
        *out = f64::of(a).mul_add(f64::of(b), f64::of(c)).lane();
    }
}
