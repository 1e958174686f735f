//! The rows of scalar operations and constants. The work and depth of each is 1.

use super::table::{Constant, PrimKind, PrimRow};
use nesl_runtime::scalar::ScalarOp;

const fn scalar(
    name: &'static str,
    scheme: &'static str,
    op: ScalarOp,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    PrimRow { name, scheme, kind: PrimKind::Scalar(op), doc, example, cost: "W = 1, D = 1" }
}

const fn constant(
    name: &'static str,
    scheme: &'static str,
    value: Constant,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    PrimRow { name, scheme, kind: PrimKind::Constant(value), doc, example, cost: "W = 1, D = 1" }
}

const NUMBER2: &str = "(a, a) -> a :: (a in number)";
const LOGICAL2: &str = "(a, a) -> a :: (a in logical)";
const COMPARE: &str = "(a, a) -> bool :: (a in ordinal)";
const FLOAT1: &str = "float -> float";
const ROUNDING: &str = "float -> int";

pub(super) const ROWS: &[PrimRow] = &[
    // Arithmetic.
    scalar("+", NUMBER2, ScalarOp::Add, "The sum. On ints it wraps around.", "3 + 4 → 7"),
    scalar("-", NUMBER2, ScalarOp::Sub, "The difference. On ints it wraps around.", "3 - 4 → -1"),
    scalar("*", NUMBER2, ScalarOp::Mul, "The product. On ints it wraps around.", "3 * -11 → -33"),
    scalar(
        "/",
        NUMBER2,
        ScalarOp::Div,
        "The quotient. On ints it truncates toward zero; dividing an int by 0, or `min_int` by -1, is an error.",
        "-7 / 2 → -3",
    ),
    scalar(
        "negate",
        "a -> a :: (a in number)",
        ScalarOp::Neg,
        "Unary minus, `0 - x`; also written `-x`.",
        "negate(3) → -3",
    ),
    scalar(
        "rem",
        "(int, int) -> int",
        ScalarOp::Rem,
        "The remainder of truncating division: it has the sign of the first argument. A divisor of 0 is an error.",
        "rem(-5, 3) → -2",
    ),
    scalar(
        "mod",
        "(int, int) -> int",
        ScalarOp::Mod,
        "The remainder of flooring division: it has the sign of the divisor. A divisor of 0 is an error.",
        "mod(-5, 3) → 1",
    ),
    scalar(
        "abs",
        "a -> a :: (a in number)",
        ScalarOp::Abs,
        "The absolute value. That of `min_int` wraps around.",
        "abs(-2.5) → 2.5",
    ),
    scalar(
        "max",
        "(a, a) -> a :: (a in ordinal)",
        ScalarOp::Max,
        "The greater of two: `if x > y then x else y`.",
        "max(3, 8) → 8",
    ),
    scalar(
        "min",
        "(a, a) -> a :: (a in ordinal)",
        ScalarOp::Min,
        "The smaller of two: `if x < y then x else y`.",
        "min(`k, `e) → `e",
    ),
    scalar(
        "lshift",
        "(int, int) -> int",
        ScalarOp::Shl,
        "Shifts the bits left. A count that is negative or not less than the width of an int is an error.",
        "lshift(3, 4) → 48",
    ),
    scalar(
        "rshift",
        "(int, int) -> int",
        ScalarOp::Shr,
        "Shifts the bits right, keeping the sign. A count that is negative or not less than the width of an int is an error.",
        "rshift(-8, 1) → -4",
    ),
    // Comparison.
    scalar(
        "==",
        COMPARE,
        ScalarOp::Eq,
        "Equal. For strings, sequences, tuples, records and bools there is `eql`.",
        "7 == 8 → F",
    ),
    scalar("=", COMPARE, ScalarOp::Eq, "Equal: `==` as a function's name.", "'=(7, 7) → T"),
    scalar("/=", COMPARE, ScalarOp::Ne, "Not equal.", "7 /= 8 → T"),
    scalar("<", COMPARE, ScalarOp::Lt, "Less.", "`a < `x → T"),
    scalar(">", COMPARE, ScalarOp::Gt, "Greater.", "1.5 > 2.5 → F"),
    scalar("<=", COMPARE, ScalarOp::Le, "Less or equal.", "3 <= 3 → T"),
    scalar(">=", COMPARE, ScalarOp::Ge, "Greater or equal.", "3 >= 4 → F"),
    // Logic.
    scalar(
        "not",
        "a -> a :: (a in logical)",
        ScalarOp::Not,
        "Negation, bitwise on ints.",
        "not(0) → -1",
    ),
    scalar(
        "and",
        LOGICAL2,
        ScalarOp::And,
        "And, bitwise on ints. Both sides are evaluated.",
        "12 and 10 → 8",
    ),
    scalar(
        "or",
        LOGICAL2,
        ScalarOp::Or,
        "Or, bitwise on ints. Both sides are evaluated.",
        "t or f → T",
    ),
    scalar("xor", LOGICAL2, ScalarOp::Xor, "Exclusive or, bitwise on ints.", "12 xor 10 → 6"),
    // Floats.
    scalar(
        "sqrt",
        FLOAT1,
        ScalarOp::Sqrt,
        "The square root; of a negative number, an error.",
        "sqrt(2.25) → 1.5",
    ),
    scalar(
        "ln",
        FLOAT1,
        ScalarOp::Ln,
        "The natural logarithm; of a negative number, an error; `ln(0.0)` is -infinity.",
        "ln(1.0) → 0.0",
    ),
    scalar("exp", FLOAT1, ScalarOp::Exp, "e to the power.", "exp(0.0) → 1.0"),
    scalar("sin", FLOAT1, ScalarOp::Sin, "The sine of an angle in radians.", "sin(0.0) → 0.0"),
    scalar("cos", FLOAT1, ScalarOp::Cos, "The cosine of an angle in radians.", "cos(0.0) → 1.0"),
    scalar("tan", FLOAT1, ScalarOp::Tan, "The tangent of an angle in radians.", "tan(0.0) → 0.0"),
    scalar(
        "asin",
        FLOAT1,
        ScalarOp::Asin,
        "The arc sine, in radians; nan outside [-1, 1].",
        "asin(0.0) → 0.0",
    ),
    scalar(
        "acos",
        FLOAT1,
        ScalarOp::Acos,
        "The arc cosine, in radians; nan outside [-1, 1].",
        "acos(1.0) → 0.0",
    ),
    scalar("atan", FLOAT1, ScalarOp::Atan, "The arc tangent, in radians.", "atan(0.0) → 0.0"),
    scalar("sinh", FLOAT1, ScalarOp::Sinh, "The hyperbolic sine.", "sinh(0.0) → 0.0"),
    scalar("cosh", FLOAT1, ScalarOp::Cosh, "The hyperbolic cosine.", "cosh(0.0) → 1.0"),
    scalar("tanh", FLOAT1, ScalarOp::Tanh, "The hyperbolic tangent.", "tanh(0.0) → 0.0"),
    // Conversion.
    scalar(
        "floor",
        ROUNDING,
        ScalarOp::Floor,
        "The greatest int not above; an error where there is none.",
        "floor(-2.1) → -3",
    ),
    scalar(
        "ceil",
        ROUNDING,
        ScalarOp::Ceil,
        "The least int not below; an error where there is none.",
        "ceil(2.1) → 3",
    ),
    scalar(
        "trunc",
        ROUNDING,
        ScalarOp::Trunc,
        "Rounds toward zero; an error where there is no such int.",
        "trunc(-2.9) → -2",
    ),
    scalar(
        "round",
        ROUNDING,
        ScalarOp::Round,
        "Rounds to the nearest int, halves away from zero; an error where there is none.",
        "round(-2.6) → -3",
    ),
    scalar("_real", "a -> float :: (a in number)", ScalarOp::ToFloat, "A number as a float.", ""),
    scalar(
        "float",
        "int -> float",
        ScalarOp::ToFloat,
        "An int as a float.",
        "float(3) / 2.0 → 1.5",
    ),
    scalar("btoi", "bool -> int", ScalarOp::BoolToInt, "1 for `t`, 0 for `f`.", "btoi(3 > 2) → 1"),
    scalar(
        "char_code",
        "char -> int",
        ScalarOp::CharToInt,
        "The code of a char, 0 to 255.",
        "char_code(`A) → 65",
    ),
    scalar(
        "code_char",
        "int -> char",
        ScalarOp::IntToChar,
        "The char of a code; an error outside 0 to 255.",
        "code_char(66) → `B",
    ),
    // For the prelude and for the functions that the compiler writes.
    scalar("_mix", "(int, int) -> int", ScalarOp::Mix, "A good mixture of two ints.", ""),
    scalar(
        "_float_bits",
        ROUNDING,
        ScalarOp::FloatBits,
        "The bits of a float, the same for both zeros and for all nans.",
        "",
    ),
    // Constants.
    constant(
        "pi",
        "float",
        Constant::Pi,
        "The ratio of a circle's circumference to its diameter.",
        "round(pi * 100.0) → 314",
    ),
    constant(
        "max_int",
        "int",
        Constant::MaxInt,
        "The greatest int of the session's width.",
        "max_int + 1 == min_int → T",
    ),
    constant(
        "min_int",
        "int",
        Constant::MinInt,
        "The least int of the session's width.",
        "min_int < 0 → T",
    ),
    constant(
        "infinity",
        "float",
        Constant::Infinity,
        "The float above all others.",
        "infinity → inf",
    ),
    constant(
        "nan",
        "float",
        Constant::NotANumber,
        "Not a number: not equal to anything, itself included.",
        "nan == nan → F",
    ),
];
