//! The meaning of every scalar operation, at both precisions.
//!
//! `int` is two's complement and wraps; `float` is IEEE; a session chooses 64 or 32 bits for both
//! ([`Precision`]). Comparison with NaN is false (`/=` true). Division truncates; shifts, float →
//! int, `code_char` and `min_int / -1` are checked.

use crate::fault::FaultCode;
use crate::random;

/// How many bits an `int` and a `float` have in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// `i32` and `f32`.
    Bits32,
    /// `i64` and `f64`.
    #[default]
    Bits64,
}

/// A scalar value. Under [`Precision::Bits32`] an `Int` is in the range of `i32` and a `Float` is
/// exactly representable in `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `int`
    Int(i64),
    /// `float`
    Float(f64),
    /// `bool`
    Bool(bool),
    /// `char`, a byte
    Char(u8),
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarTy {
    /// Two's complement integer.
    Int,
    /// IEEE float.
    Float,
    /// Truth value.
    Bool,
    /// A byte.
    Char,
}

/// A scalar operation. Operand types are those of its arguments: `Add` adds ints or floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarOp {
    /// `+` on int, float.
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`: truncates on int; faults on int zero and on `min_int / -1`.
    Div,
    /// `rem`: sign of the dividend.
    Rem,
    /// `mod`: sign of the divisor.
    Mod,
    /// Unary minus, `0 - x`.
    Neg,
    /// `abs`
    Abs,
    /// `max`: `if a > b then a else b`, on int, float, char.
    Max,
    /// `min`: `if a < b then a else b`.
    Min,
    /// Equality on any scalar.
    Eq,
    /// Inequality on any scalar.
    Ne,
    /// `<` on int, float, char.
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// Logical or bitwise.
    Not,
    /// Logical or bitwise.
    And,
    /// Logical or bitwise.
    Or,
    /// Logical or bitwise.
    Xor,
    /// `lshift(a, n)`, `0 ≤ n < bits`.
    Shl,
    /// `rshift(a, n)`, arithmetic.
    Shr,
    /// Square root; faults on negative numbers (`-0.0` is fine, NaN stays NaN).
    Sqrt,
    /// Natural logarithm; faults on negative numbers; `ln(0.0)` is `-inf`.
    Ln,
    /// e to the power.
    Exp,
    /// Sine, radians.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// float → int, down; faults out of range.
    Floor,
    /// float → int, up.
    Ceil,
    /// float → int, toward zero.
    Trunc,
    /// float → int, to nearest, halves away from zero.
    Round,
    /// int → float.
    ToFloat,
    /// bool → int, 0 or 1.
    BoolToInt,
    /// char → int.
    CharToInt,
    /// int → char; faults outside 0..255.
    IntToChar,
    /// float → int: the bits of the float, one pattern for both zeros and one for all NaNs.
    FloatBits,
    /// `(int, int) -> int`: a good 64-bit mix of two ints (for `hash`); the same at both
    /// precisions up to truncation.
    Mix,
    /// `(int key, number bound) -> number`: a uniform number in `[0, bound)` drawn from a key
    /// (see [`crate::random`]); faults unless `bound > 0`.
    Rand,
    /// `(int key, int i) -> int`: the key of the i-th child of a key.
    Split,
}

/// Applies `op` to `args` at the given precision.
///
/// Errors: the checks listed on [`ScalarOp`]. Panics if the arguments are of the wrong number or
/// types: the verifier of the IR excludes that.
pub fn eval(op: ScalarOp, args: &[Scalar], precision: Precision) -> Result<Scalar, FaultCode> {
    match *args {
        [Scalar::Int(a)] => int_unary(op, a, precision),
        [Scalar::Float(x)] => float_unary(op, x, precision),
        [Scalar::Bool(p)] => Ok(bool_unary(op, p)),
        [Scalar::Char(c)] => Ok(char_unary(op, c)),
        [Scalar::Int(a), Scalar::Int(b)] => int_binary(op, a, b, precision),
        [Scalar::Int(key), Scalar::Float(bound)] if op == ScalarOp::Rand => {
            random::float_below(key, bound, precision)
        }
        [Scalar::Float(x), Scalar::Float(y)] => Ok(float_binary(op, x, y, precision)),
        [Scalar::Bool(p), Scalar::Bool(q)] => Ok(bool_binary(op, p, q)),
        [Scalar::Char(c), Scalar::Char(d)] => Ok(char_binary(op, c, d)),
        _ => unreachable!("{op:?} of {args:?}"),
    }
}

/// An int as the precision represents it: arithmetic wraps.
fn wrap(value: i64, precision: Precision) -> Scalar {
    Scalar::Int(match precision {
        Precision::Bits32 => i64::from(value as i32),
        Precision::Bits64 => value,
    })
}

/// A float as the precision represents it: every operation rounds.
fn rounded(value: f64, precision: Precision) -> Scalar {
    Scalar::Float(match precision {
        Precision::Bits32 => f64::from(value as f32),
        Precision::Bits64 => value,
    })
}

fn min_int(precision: Precision) -> i64 {
    match precision {
        Precision::Bits32 => i64::from(i32::MIN),
        Precision::Bits64 => i64::MIN,
    }
}

fn bits(precision: Precision) -> i64 {
    match precision {
        Precision::Bits32 => 32,
        Precision::Bits64 => 64,
    }
}

fn int_unary(op: ScalarOp, a: i64, precision: Precision) -> Result<Scalar, FaultCode> {
    Ok(match op {
        ScalarOp::Neg => wrap(a.wrapping_neg(), precision),
        ScalarOp::Abs => wrap(a.wrapping_abs(), precision),
        ScalarOp::Not => Scalar::Int(!a),
        ScalarOp::ToFloat => rounded(a as f64, precision),
        ScalarOp::IntToChar => Scalar::Char(u8::try_from(a).map_err(|_| FaultCode::CodeChar)?),
        other => unreachable!("{other:?} of an int"),
    })
}

fn int_binary(op: ScalarOp, a: i64, b: i64, precision: Precision) -> Result<Scalar, FaultCode> {
    let checked = |code: FaultCode| {
        if b == 0 {
            Err(code)
        } else if a == min_int(precision) && b == -1 {
            Err(FaultCode::IntegerOverflow)
        } else {
            Ok(())
        }
    };
    Ok(match op {
        ScalarOp::Add => wrap(a.wrapping_add(b), precision),
        ScalarOp::Sub => wrap(a.wrapping_sub(b), precision),
        ScalarOp::Mul => wrap(a.wrapping_mul(b), precision),
        ScalarOp::Div => {
            checked(FaultCode::DivideByZero)?;
            Scalar::Int(a / b)
        }
        // A remainder never overflows: that of min_int by -1 is 0.
        ScalarOp::Rem if b == 0 => return Err(FaultCode::RemByZero),
        ScalarOp::Rem => Scalar::Int(a.wrapping_rem(b)),
        ScalarOp::Mod if b == 0 => return Err(FaultCode::ModByZero),
        ScalarOp::Mod => {
            let rem = a.wrapping_rem(b);
            Scalar::Int(if rem != 0 && (rem < 0) != (b < 0) { rem + b } else { rem })
        }
        ScalarOp::Max => Scalar::Int(if a > b { a } else { b }),
        ScalarOp::Min => Scalar::Int(if a < b { a } else { b }),
        ScalarOp::Eq => Scalar::Bool(a == b),
        ScalarOp::Ne => Scalar::Bool(a != b),
        ScalarOp::Lt => Scalar::Bool(a < b),
        ScalarOp::Le => Scalar::Bool(a <= b),
        ScalarOp::Gt => Scalar::Bool(a > b),
        ScalarOp::Ge => Scalar::Bool(a >= b),
        ScalarOp::And => Scalar::Int(a & b),
        ScalarOp::Or => Scalar::Int(a | b),
        ScalarOp::Xor => Scalar::Int(a ^ b),
        ScalarOp::Shl | ScalarOp::Shr if !(0..bits(precision)).contains(&b) => {
            return Err(FaultCode::ShiftCount);
        }
        ScalarOp::Shl => wrap(a << b, precision),
        ScalarOp::Shr => Scalar::Int(a >> b),
        ScalarOp::Mix => wrap(random::mix(a, b), precision),
        ScalarOp::Split => wrap(random::split(a, b), precision),
        ScalarOp::Rand => return random::int_below(a, b),
        other => unreachable!("{other:?} of ints"),
    })
}

fn float_unary(op: ScalarOp, x: f64, precision: Precision) -> Result<Scalar, FaultCode> {
    let to_int = |value: f64| {
        let limit = -(min_int(precision) as f64);
        // The upper limit itself is not an int; NaN fails both.
        if value >= -limit && value < limit {
            Ok(Scalar::Int(value as i64))
        } else {
            Err(FaultCode::FloatToInt)
        }
    };
    let value = match op {
        ScalarOp::Neg => 0.0 - x,
        ScalarOp::Abs => x.abs(),
        ScalarOp::Sqrt if x < 0.0 => return Err(FaultCode::SqrtNegative),
        ScalarOp::Sqrt => x.sqrt(),
        ScalarOp::Ln if x < 0.0 => return Err(FaultCode::LnNegative),
        ScalarOp::Ln => libm::log(x),
        ScalarOp::Exp => libm::exp(x),
        ScalarOp::Sin => libm::sin(x),
        ScalarOp::Cos => libm::cos(x),
        ScalarOp::Tan => libm::tan(x),
        ScalarOp::Asin => libm::asin(x),
        ScalarOp::Acos => libm::acos(x),
        ScalarOp::Atan => libm::atan(x),
        ScalarOp::Sinh => libm::sinh(x),
        ScalarOp::Cosh => libm::cosh(x),
        ScalarOp::Tanh => libm::tanh(x),
        ScalarOp::Floor => return to_int(x.floor()),
        ScalarOp::Ceil => return to_int(x.ceil()),
        ScalarOp::Trunc => return to_int(x.trunc()),
        ScalarOp::Round => return to_int(x.round()),
        ScalarOp::FloatBits => {
            let canonical = if x == 0.0 {
                0.0
            } else if x.is_nan() {
                f64::NAN
            } else {
                x
            };
            return Ok(wrap(canonical.to_bits() as i64, precision));
        }
        other => unreachable!("{other:?} of a float"),
    };
    Ok(rounded(value, precision))
}

fn float_binary(op: ScalarOp, x: f64, y: f64, precision: Precision) -> Scalar {
    let value = match op {
        ScalarOp::Add => x + y,
        ScalarOp::Sub => x - y,
        ScalarOp::Mul => x * y,
        ScalarOp::Div => x / y,
        ScalarOp::Max => {
            if x > y {
                x
            } else {
                y
            }
        }
        ScalarOp::Min => {
            if x < y {
                x
            } else {
                y
            }
        }
        ScalarOp::Eq => return Scalar::Bool(x == y),
        ScalarOp::Ne => return Scalar::Bool(x != y),
        ScalarOp::Lt => return Scalar::Bool(x < y),
        ScalarOp::Le => return Scalar::Bool(x <= y),
        ScalarOp::Gt => return Scalar::Bool(x > y),
        ScalarOp::Ge => return Scalar::Bool(x >= y),
        other => unreachable!("{other:?} of floats"),
    };
    rounded(value, precision)
}

fn bool_unary(op: ScalarOp, p: bool) -> Scalar {
    match op {
        ScalarOp::Not => Scalar::Bool(!p),
        ScalarOp::BoolToInt => Scalar::Int(i64::from(p)),
        other => unreachable!("{other:?} of a bool"),
    }
}

fn bool_binary(op: ScalarOp, p: bool, q: bool) -> Scalar {
    Scalar::Bool(match op {
        ScalarOp::And => p & q,
        ScalarOp::Or => p | q,
        ScalarOp::Xor | ScalarOp::Ne => p != q,
        ScalarOp::Eq => p == q,
        other => unreachable!("{other:?} of bools"),
    })
}

fn char_unary(op: ScalarOp, c: u8) -> Scalar {
    match op {
        ScalarOp::CharToInt => Scalar::Int(i64::from(c)),
        other => unreachable!("{other:?} of a char"),
    }
}

fn char_binary(op: ScalarOp, c: u8, d: u8) -> Scalar {
    Scalar::Bool(match op {
        ScalarOp::Eq => c == d,
        ScalarOp::Ne => c != d,
        ScalarOp::Lt => c < d,
        ScalarOp::Le => c <= d,
        ScalarOp::Gt => c > d,
        ScalarOp::Ge => c >= d,
        ScalarOp::Max => return Scalar::Char(c.max(d)),
        ScalarOp::Min => return Scalar::Char(c.min(d)),
        other => unreachable!("{other:?} of chars"),
    })
}
