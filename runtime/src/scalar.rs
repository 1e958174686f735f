//! The meaning of every scalar operation, at both precisions.
//!
//! `int` is two's complement and wraps; `float` is IEEE; a session chooses 64 or 32 bits for both
//! ([`Precision`]). Comparison with NaN is false (`/=` true). Division truncates; shifts, float →
//! int, `code_char` and `min_int / -1` are checked.

use crate::fault::FaultCode;

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
    let _ = (op, args, precision);
    Err(FaultCode::Message)
}
