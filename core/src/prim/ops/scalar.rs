//! The properties of scalar operations: a row for each.
//!
//! [`ScalarOp`] itself and its meaning are defined by the runtime.

use super::{Cost, Signature, signature};
use nesl_runtime::scalar::ScalarOp;

/// The circumstances in which a scalar operation faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// The operation never faults.
    Never,
    /// Faults on ints if the divisor is 0, or -1 for the least int. Floats are divided by anything.
    Divisor,
    /// Faults if the shift count is negative or not below the number of bits.
    ShiftCount,
    /// Faults if the operand is outside of the domain of the function.
    Domain,
}

/// The properties of a scalar operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarRow {
    /// The name in the text form of the IRs.
    pub mnemonic: &'static str,
    /// The types of the operands and of the result.
    pub signature: Signature,
    /// The circumstances in which it faults.
    pub trap: Trap,
    /// The class of its cost; a division of ints costs [`Cost::Scalar`].
    pub cost: Cost,
    /// The name in the compiler explorer.
    pub label: &'static str,
}

/// The properties of [`ScalarOp`], which is declared in another crate.
pub trait ScalarProperties: Sized {
    /// Returns every operation.
    fn all() -> impl Iterator<Item = Self>;
    /// Returns the properties of the operation.
    fn row(self) -> &'static ScalarRow;
}

macro_rules! scalar_operations {
    ($($op:ident $mnemonic:literal: $params:tt -> $result:tt, $trap:ident, $cost:ident, $label:literal;)+) => {
        impl ScalarProperties for ScalarOp {
            fn all() -> impl Iterator<Item = ScalarOp> {
                [$(ScalarOp::$op,)+].into_iter()
            }

            fn row(self) -> &'static ScalarRow {
                match self {
                    $(ScalarOp::$op => {
                        const ROW: ScalarRow = ScalarRow {
                            mnemonic: $mnemonic,
                            signature: signature!($params -> $result),
                            trap: Trap::$trap,
                            cost: Cost::$cost,
                            label: $label,
                        };
                        &ROW
                    })+
                }
            }
        }
    };
}

#[rustfmt::skip]
scalar_operations! {
    Add       "add":          (number, number) -> number,        Never,       Cheap,   "add";
    Sub       "sub":          (number, number) -> number,        Never,       Cheap,   "subtract";
    Mul       "mul":          (number, number) -> number,        Never,       Cheap,   "multiply";
    Div       "div":          (number, number) -> number,        Divisor,     Cheap,   "divide";
    Rem       "rem":          (int, int) -> int,                 Divisor,     Scalar,  "take the remainder";
    Mod       "mod":          (int, int) -> int,                 Divisor,     Scalar,  "take the remainder";
    Neg       "neg":          (number) -> number,                Never,       Cheap,   "negate";
    Abs       "abs":          (number) -> number,                Never,       Cheap,   "take the absolute value";
    Max       "max":          (ordinal, ordinal) -> ordinal,     Never,       Cheap,   "take the larger one";
    Min       "min":          (ordinal, ordinal) -> ordinal,     Never,       Cheap,   "take the smaller one";
    Eq        "eq":           (scalar, scalar) -> bool,          Never,       Cheap,   "compare";
    Ne        "ne":           (scalar, scalar) -> bool,          Never,       Cheap,   "compare";
    Lt        "lt":           (ordinal, ordinal) -> bool,        Never,       Cheap,   "compare";
    Le        "le":           (ordinal, ordinal) -> bool,        Never,       Cheap,   "compare";
    Gt        "gt":           (ordinal, ordinal) -> bool,        Never,       Cheap,   "compare";
    Ge        "ge":           (ordinal, ordinal) -> bool,        Never,       Cheap,   "compare";
    Not       "not":          (logical) -> logical,              Never,       Cheap,   "not";
    And       "and":          (logical, logical) -> logical,     Never,       Cheap,   "and";
    Or        "or":           (logical, logical) -> logical,     Never,       Cheap,   "or";
    Xor       "xor":          (logical, logical) -> logical,     Never,       Cheap,   "exclusive or";
    Shl       "shl":          (int, int) -> int,                 ShiftCount,  Scalar,  "shift";
    Shr       "shr":          (int, int) -> int,                 ShiftCount,  Scalar,  "shift";
    Sqrt      "sqrt":         (float) -> float,                  Domain,      Scalar,  "take the square root";
    Ln        "ln":           (float) -> float,                  Domain,      Scalar,  "take the logarithm";
    Exp       "exp":          (float) -> float,                  Never,       Scalar,  "take the exponential";
    Sin       "sin":          (float) -> float,                  Never,       Scalar,  "apply a function";
    Cos       "cos":          (float) -> float,                  Never,       Scalar,  "apply a function";
    Tan       "tan":          (float) -> float,                  Never,       Scalar,  "apply a function";
    Asin      "asin":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Acos      "acos":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Atan      "atan":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Sinh      "sinh":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Cosh      "cosh":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Tanh      "tanh":         (float) -> float,                  Never,       Scalar,  "apply a function";
    Floor     "floor":        (float) -> int,                    Domain,      Scalar,  "round";
    Ceil      "ceil":         (float) -> int,                    Domain,      Scalar,  "round";
    Trunc     "trunc":        (float) -> int,                    Domain,      Scalar,  "round";
    Round     "round":        (float) -> int,                    Domain,      Scalar,  "round";
    ToFloat   "to_float":     (int) -> float,                    Never,       Cheap,   "convert";
    BoolToInt "bool_to_int":  (bool) -> int,                     Never,       Cheap,   "convert";
    CharToInt "char_to_int":  (char) -> int,                     Never,       Cheap,   "convert";
    IntToChar "int_to_char":  (int) -> char,                     Domain,      Scalar,  "convert";
    FloatBits "float_bits":   (float) -> int,                    Never,       Scalar,  "mix bits";
    Mix       "mix":          (int, int) -> int,                 Never,       Scalar,  "mix bits";
    Rand      "rand":         (int, int, int, number) -> number, Domain,      Scalar,  "draw a random number";
    Split     "split_key":    (int, int, int) -> int,            Never,       Scalar,  "split a random key";
}
