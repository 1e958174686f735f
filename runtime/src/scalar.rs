//! The meaning of every scalar operation, at both precisions.
//!
//! `int` is two's complement and wraps; `float` is IEEE; a session chooses 64 or 32 bits for both
//! ([`Precision`]). Comparison with NaN is false (`/=` true). Division truncates; shifts, float →
//! int, `code_char` and `min_int / -1` are checked.

mod float;
mod int;

use crate::bug;
use crate::fault::FaultCode;
use crate::math::Function;
use crate::random::{self, Source};

pub use crate::precision::Precision;

/// A scalar value. Under [`Precision::Bits32`] an `Int` is in the range of `i32` and a `Float` is
/// exactly representable in `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A value of type `int`.
    Int(i64),
    /// A value of type `float`.
    Float(f64),
    /// A value of type `bool`.
    Bool(bool),
    /// A `char`, as its code of 8 bits.
    Char(u8),
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarTy {
    /// Two's complement integer.
    Int,
    /// IEEE floating-point number.
    Float,
    /// Truth value: true or false.
    Bool,
    /// Character, as its code of 8 bits.
    Char,
}

/// A scalar operation. Operand types are those of its arguments: `Add` adds ints or floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarOp {
    /// `+` on int, float.
    Add,
    /// The difference `-`.
    Sub,
    /// The product `*`.
    Mul,
    /// `/`: truncates on int; faults on int zero and on `min_int / -1`.
    Div,
    /// `rem`: sign of the dividend.
    Rem,
    /// `mod`: sign of the divisor.
    Mod,
    /// Unary minus, `0 - x`.
    Neg,
    /// The absolute value `abs`.
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
    /// The comparison `<=`.
    Le,
    /// The comparison `>`.
    Gt,
    /// The comparison `>=`.
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
    /// The sine of radians.
    Sin,
    /// The cosine of radians.
    Cos,
    /// The tangent of radians.
    Tan,
    /// The arc sine, in radians.
    Asin,
    /// The arc cosine, in radians.
    Acos,
    /// The arc tangent, in radians.
    Atan,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
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
    /// `(int key, int index, int number, number bound) -> number`: a uniform number in `[0, bound)`
    /// drawn from a [source](crate::random::Source); faults unless `bound > 0`.
    Rand,
    /// `(int key, int index, int number) -> int`: the key of a call or nest in an iteration.
    Split,
}

impl ScalarOp {
    /// The mathematical function that this operation computes, where its checks pass: what a
    /// backend writes down with [`crate::math::emit`].
    pub fn function(self) -> Option<Function> {
        match self {
            ScalarOp::Ln => Some(Function::Ln),
            ScalarOp::Exp => Some(Function::Exp),
            ScalarOp::Sin => Some(Function::Sin),
            ScalarOp::Cos => Some(Function::Cos),
            ScalarOp::Tan => Some(Function::Tan),
            ScalarOp::Asin => Some(Function::Asin),
            ScalarOp::Acos => Some(Function::Acos),
            ScalarOp::Atan => Some(Function::Atan),
            ScalarOp::Sinh => Some(Function::Sinh),
            ScalarOp::Cosh => Some(Function::Cosh),
            ScalarOp::Tanh => Some(Function::Tanh),
            ScalarOp::Add
            | ScalarOp::Sub
            | ScalarOp::Mul
            | ScalarOp::Div
            | ScalarOp::Rem
            | ScalarOp::Mod
            | ScalarOp::Neg
            | ScalarOp::Abs
            | ScalarOp::Max
            | ScalarOp::Min
            | ScalarOp::Eq
            | ScalarOp::Ne
            | ScalarOp::Lt
            | ScalarOp::Le
            | ScalarOp::Gt
            | ScalarOp::Ge
            | ScalarOp::Not
            | ScalarOp::And
            | ScalarOp::Or
            | ScalarOp::Xor
            | ScalarOp::Shl
            | ScalarOp::Shr
            | ScalarOp::Sqrt
            | ScalarOp::Floor
            | ScalarOp::Ceil
            | ScalarOp::Trunc
            | ScalarOp::Round
            | ScalarOp::ToFloat
            | ScalarOp::BoolToInt
            | ScalarOp::CharToInt
            | ScalarOp::IntToChar
            | ScalarOp::FloatBits
            | ScalarOp::Mix
            | ScalarOp::Rand
            | ScalarOp::Split => None,
        }
    }
}

impl Scalar {
    /// The type of this value.
    pub fn ty(self) -> ScalarTy {
        match self {
            Scalar::Int(_) => ScalarTy::Int,
            Scalar::Float(_) => ScalarTy::Float,
            Scalar::Bool(_) => ScalarTy::Bool,
            Scalar::Char(_) => ScalarTy::Char,
        }
    }
}

/// Applies `op` to `args` at the given precision. `Rand` draws as under seed 0: a session, which
/// has a seed of its own, calls [`draw`] instead.
///
/// Errors: the checks listed on [`ScalarOp`].
///
/// # Panics
/// If the arguments are of the wrong number or types: the verifier of the IR excludes that.
pub fn eval(op: ScalarOp, args: &[Scalar], precision: Precision) -> Result<Scalar, FaultCode> {
    use Scalar::{Bool, Char, Float, Int};
    match *args {
        [Int(a)] => int::unary(op, a, precision),
        [Float(a)] => float::unary(op, a, precision),
        [Bool(a)] => Ok(bool_unary(op, a)),
        [Char(a)] => Ok(char_unary(op, a)),
        [Int(a), Int(b)] => int::binary(op, a, b, precision),
        [Float(a), Float(b)] => Ok(float::binary(op, a, b, precision)),
        [Bool(a), Bool(b)] => Ok(bool_binary(op, a, b)),
        [Char(a), Char(b)] => Ok(char_binary(op, a, b)),
        [Int(key), Int(index), Int(number)] if op == ScalarOp::Split => {
            Ok(Int(precision.wrap(random::split(Source { key, index, number }))))
        }
        [Int(key), Int(index), Int(number), bound] if op == ScalarOp::Rand => {
            draw(0, Source { key, index, number }, bound, precision)
        }
        _ => refuse(op, args),
    }
}

/// Draws a number below a bound under a seed.
///
/// # Errors
/// Unless the bound is positive and finite.
///
/// # Panics
/// If the bound is not a number: the verifier of the IR excludes that.
pub fn draw(
    seed: u64,
    source: Source,
    bound: Scalar,
    precision: Precision,
) -> Result<Scalar, FaultCode> {
    match bound {
        Scalar::Int(bound) => random::draw_int(seed, source, bound, precision).map(Scalar::Int),
        Scalar::Float(bound) => {
            random::draw_float(seed, source, bound, precision).map(Scalar::Float)
        }
        other => refuse(ScalarOp::Rand, &[other]),
    }
}

fn bool_unary(op: ScalarOp, a: bool) -> Scalar {
    match op {
        ScalarOp::Not => Scalar::Bool(!a),
        ScalarOp::BoolToInt => Scalar::Int(i64::from(a)),
        other => refuse(other, &[Scalar::Bool(a)]),
    }
}

fn bool_binary(op: ScalarOp, a: bool, b: bool) -> Scalar {
    Scalar::Bool(match op {
        ScalarOp::And => a && b,
        ScalarOp::Or => a || b,
        ScalarOp::Xor | ScalarOp::Ne => a != b,
        ScalarOp::Eq => a == b,
        other => refuse(other, &[Scalar::Bool(a), Scalar::Bool(b)]),
    })
}

fn char_unary(op: ScalarOp, a: u8) -> Scalar {
    match op {
        ScalarOp::CharToInt => Scalar::Int(i64::from(a)),
        other => refuse(other, &[Scalar::Char(a)]),
    }
}

fn char_binary(op: ScalarOp, a: u8, b: u8) -> Scalar {
    match op {
        ScalarOp::Max => Scalar::Char(a.max(b)),
        ScalarOp::Min => Scalar::Char(a.min(b)),
        other => match compare(other, &a, &b) {
            Some(truth) => Scalar::Bool(truth),
            None => refuse(other, &[Scalar::Char(a), Scalar::Char(b)]),
        },
    }
}

/// The result of a comparison; `None` if `op` is not one.
fn compare<T: PartialOrd>(op: ScalarOp, a: &T, b: &T) -> Option<bool> {
    match op {
        ScalarOp::Eq => Some(a == b),
        ScalarOp::Ne => Some(a != b),
        ScalarOp::Lt => Some(a < b),
        ScalarOp::Le => Some(a <= b),
        ScalarOp::Gt => Some(a > b),
        ScalarOp::Ge => Some(a >= b),
        _ => None,
    }
}

fn refuse(op: ScalarOp, args: &[Scalar]) -> ! {
    bug!("{op:?} is not defined on {args:?}")
}

#[cfg(test)]
mod tests;
