//! `int`: two's complement, wrapping.
//!
//! At 32 bits operands are in the range of `i32`, so computing in 64 bits and wrapping once gives
//! the 32-bit result: sums, differences and products of two `i32`s fit.

use super::{Precision, Scalar, ScalarOp, compare, refuse};
use crate::fault::FaultCode;
use crate::random;

/// An operation on one int.
pub(super) fn unary(op: ScalarOp, a: i64, precision: Precision) -> Result<Scalar, FaultCode> {
    Ok(match op {
        ScalarOp::Neg => Scalar::Int(precision.wrap(a.wrapping_neg())),
        ScalarOp::Abs => Scalar::Int(precision.wrap(a.wrapping_abs())),
        ScalarOp::Not => Scalar::Int(!a),
        ScalarOp::ToFloat => Scalar::Float(match precision {
            Precision::Bits32 => f64::from(a as f32),
            Precision::Bits64 => a as f64,
        }),
        ScalarOp::IntToChar => Scalar::Char(u8::try_from(a).map_err(|_| FaultCode::CodeChar)?),
        other => refuse(other, &[Scalar::Int(a)]),
    })
}

/// An operation on two ints.
pub(super) fn binary(
    op: ScalarOp,
    a: i64,
    b: i64,
    precision: Precision,
) -> Result<Scalar, FaultCode> {
    let value = match op {
        ScalarOp::Add => a.wrapping_add(b),
        ScalarOp::Sub => a.wrapping_sub(b),
        ScalarOp::Mul => a.wrapping_mul(b),
        ScalarOp::Div => {
            if b == 0 {
                return Err(FaultCode::DivideByZero);
            }
            if b == -1 && a == precision.min_int() {
                return Err(FaultCode::IntegerOverflow);
            }
            a / b
        }
        ScalarOp::Rem => {
            if b == 0 {
                return Err(FaultCode::RemByZero);
            }
            a.wrapping_rem(b)
        }
        ScalarOp::Mod => {
            if b == 0 {
                return Err(FaultCode::ModByZero);
            }
            let rest = a.wrapping_rem(b);
            // The remainder has the dividend's sign; where that is not the divisor's, the next
            // multiple is the one below.
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
        ScalarOp::Max => a.max(b),
        ScalarOp::Min => a.min(b),
        ScalarOp::And => a & b,
        ScalarOp::Or => a | b,
        ScalarOp::Xor => a ^ b,
        ScalarOp::Shl => a << count(b, precision)?,
        ScalarOp::Shr => a >> count(b, precision)?,
        ScalarOp::Mix => random::mix(a, b),
        other => {
            return match compare(other, &a, &b) {
                Some(truth) => Ok(Scalar::Bool(truth)),
                None => refuse(other, &[Scalar::Int(a), Scalar::Int(b)]),
            };
        }
    };
    Ok(Scalar::Int(precision.wrap(value)))
}

/// A shift count, checked.
fn count(n: i64, precision: Precision) -> Result<u32, FaultCode> {
    u32::try_from(n).ok().filter(|n| *n < precision.bits()).ok_or(FaultCode::ShiftCount)
}
