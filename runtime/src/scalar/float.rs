//! `float`: IEEE, rounded after every operation.
//!
//! Arithmetic at 32 bits is done in `f32`. Transcendental functions are those of [`crate::math`],
//! so that every platform and backend gives the same bits.

use super::{Precision, Scalar, ScalarOp, compare, refuse};
use crate::fault::FaultCode;
use crate::math::{Function, evaluate32, evaluate64};

/// An operation on one float.
pub(super) fn unary(op: ScalarOp, a: f64, precision: Precision) -> Result<Scalar, FaultCode> {
    let value = match op {
        // Not the sign bit: the negative of 0.0 is 0.0.
        ScalarOp::Neg => 0.0 - a,
        ScalarOp::Abs => a.abs(),
        ScalarOp::Sqrt => {
            if a < 0.0 {
                return Err(FaultCode::SqrtNegative);
            }
            a.sqrt()
        }
        ScalarOp::Ln if a < 0.0 => return Err(FaultCode::LnNegative),
        ScalarOp::Floor => return to_int(a.floor(), precision),
        ScalarOp::Ceil => return to_int(a.ceil(), precision),
        ScalarOp::Trunc => return to_int(a.trunc(), precision),
        ScalarOp::Round => return to_int(a.round(), precision),
        ScalarOp::FloatBits => return Ok(Scalar::Int(bits(a, precision))),
        other => match other.function() {
            Some(function) => evaluate(function, a, precision),
            None => refuse(other, &[Scalar::Float(a)]),
        },
    };
    Ok(Scalar::Float(canonical(precision.round(value))))
}

fn evaluate(function: Function, a: f64, precision: Precision) -> f64 {
    match precision {
        Precision::Bits32 => evaluate32(function, a as f32).into(),
        Precision::Bits64 => evaluate64(function, a),
    }
}

/// An operation on two floats. None of them faults.
pub(super) fn binary(op: ScalarOp, a: f64, b: f64, precision: Precision) -> Scalar {
    let value = match op {
        ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Div => match precision {
            Precision::Bits32 => {
                let (a, b) = (a as f32, b as f32);
                f64::from(match op {
                    ScalarOp::Add => a + b,
                    ScalarOp::Sub => a - b,
                    ScalarOp::Mul => a * b,
                    _ => a / b,
                })
            }
            Precision::Bits64 => match op {
                ScalarOp::Add => a + b,
                ScalarOp::Sub => a - b,
                ScalarOp::Mul => a * b,
                _ => a / b,
            },
        },
        // Written out: with a NaN on either side the second operand is the answer.
        ScalarOp::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        ScalarOp::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        other => {
            return match compare(other, &a, &b) {
                Some(truth) => Scalar::Bool(truth),
                None => refuse(other, &[Scalar::Float(a), Scalar::Float(b)]),
            };
        }
    };
    Scalar::Float(canonical(value))
}

/// An integral float as an int, if it is in range. NaN is not.
fn to_int(integral: f64, precision: Precision) -> Result<Scalar, FaultCode> {
    // Both bounds are powers of two, hence exact.
    let limit = (precision.bits() - 1) as i32;
    let limit = f64::powi(2.0, limit);
    if integral >= -limit && integral < limit {
        Ok(Scalar::Int(integral as i64))
    } else {
        Err(FaultCode::FloatToInt)
    }
}

/// The bit pattern, one for both zeros and one for all NaNs.
fn bits(a: f64, precision: Precision) -> i64 {
    let a = if a == 0.0 { 0.0 } else { canonical(a) };
    match precision {
        Precision::Bits32 => i64::from((a as f32).to_bits() as i32),
        Precision::Bits64 => a.to_bits() as i64,
    }
}

/// One NaN for all: which one an operation makes differs between machines.
fn canonical(a: f64) -> f64 {
    if a.is_nan() { f64::NAN } else { a }
}
