//! The operators of kir's scalar operations and reductions, with their types.

use super::value::{Literal, Ty};

/// An operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `0 - x` on ints, wrapping; the other sign on floats.
    Neg,
    /// The absolute value; wraps at the least int.
    Abs,
    /// The complement of an int, the negation of a bool.
    Not,
    /// The square root; NaN of a negative number.
    Sqrt,
    /// The greatest integral float not above the operand.
    Floor,
    /// The least integral float not below the operand.
    Ceil,
    /// The integral part of a float, rounded toward zero.
    Trunc,
    /// The nearest integral float, ties to even.
    Nearest,
}

/// An operation on two operands of one type. Comparisons give a bool, the others that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// The sum; wraps on ints.
    Add,
    /// The difference; wraps on ints.
    Sub,
    /// The product; wraps on ints.
    Mul,
    /// The high word of the product of two `I64` taken without sign, which has two words.
    MulHigh,
    /// The quotient, truncated on ints; the dividend if the divisor is 0, and the least int
    /// divided by -1 is itself: a program's fault is a [`Check`](super::Op::Check) before it.
    Div,
    /// The remainder of [`Binary::Div`] on ints: 0 where that gives the dividend.
    Rem,
    /// The smaller int or char.
    Min,
    /// The greater int or char.
    Max,
    /// The conjunction: bitwise on ints, logical on bools.
    And,
    /// The disjunction: bitwise on ints, logical on bools.
    Or,
    /// The exclusive disjunction: bitwise on ints, logical on bools.
    Xor,
    /// A shift to the left; the count is taken modulo the width.
    Shl,
    /// An arithmetic shift to the right, keeping the sign; the count is taken modulo the width.
    Shr,
    /// A logical shift to the right, filling with zeros; the count is taken modulo the width.
    ShrZero,
    /// Equality; false with a NaN.
    Eq,
    /// Inequality; true with a NaN.
    Ne,
    /// Less than; false with a NaN; chars are ordered by code, false before true.
    Lt,
    /// Less than or equal; as [`Binary::Lt`].
    Le,
    /// Greater than; as [`Binary::Lt`].
    Gt,
    /// Greater than or equal; as [`Binary::Lt`].
    Ge,
}

/// The operator of a reduction or scan: associative, with a neutral element.
///
/// On floats `Min` and `Max` skip NaNs (and may return either of two zeros), so that grouping the
/// elements differently changes nothing but rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the operators")]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Combine {
    /// The neutral element of the operator at a type.
    pub fn neutral(self, ty: Ty) -> Literal {
        match (self, ty) {
            (Combine::Add | Combine::Or | Combine::Xor, ty) => Literal::zero(ty),
            (Combine::Mul, Ty::I32) => Literal::I32(1),
            (Combine::Mul, Ty::I64) => Literal::I64(1),
            (Combine::Mul, Ty::F32) => Literal::F32(1f32.to_bits()),
            (Combine::Mul, Ty::F64) => Literal::F64(1f64.to_bits()),
            (Combine::And, Ty::I32) => Literal::I32(-1),
            (Combine::And, Ty::I64) => Literal::I64(-1),
            (Combine::Min, Ty::I32) => Literal::I32(i32::MAX),
            (Combine::Min, Ty::I64) => Literal::I64(i64::MAX),
            (Combine::Max, Ty::I32) => Literal::I32(i32::MIN),
            (Combine::Max, Ty::I64) => Literal::I64(i64::MIN),
            (Combine::Min, Ty::F32) => Literal::F32(f32::INFINITY.to_bits()),
            (Combine::Min, Ty::F64) => Literal::F64(f64::INFINITY.to_bits()),
            (Combine::Max, Ty::F32) => Literal::F32(f32::NEG_INFINITY.to_bits()),
            (Combine::Max, Ty::F64) => Literal::F64(f64::NEG_INFINITY.to_bits()),
            (Combine::Max, Ty::Bool) => Literal::Bool(false),
            (Combine::And | Combine::Min | Combine::Mul, Ty::Bool) => Literal::Bool(true),
            (Combine::Max, Ty::U8) => Literal::U8(0),
            (Combine::Min | Combine::And, Ty::U8) => Literal::U8(u8::MAX),
            (Combine::Mul, Ty::U8) => Literal::U8(1),
            (Combine::And, Ty::F32 | Ty::F64) => Literal::zero(ty),
        }
    }
}

impl Binary {
    /// Returns true for comparisons, whose result is a bool whatever the operands are.
    pub fn compares(self) -> bool {
        use Binary::*;
        match self {
            Eq | Ne | Lt | Le | Gt | Ge => true,
            Add | Sub | Mul | MulHigh | Div | Rem | Min | Max | And | Or | Xor | Shl | Shr
            | ShrZero => false,
        }
    }

    /// Returns the comparison of two ints that is true where this one is false.
    pub fn negated(self) -> Option<Binary> {
        Some(match self {
            Binary::Eq => Binary::Ne,
            Binary::Ne => Binary::Eq,
            Binary::Lt => Binary::Ge,
            Binary::Le => Binary::Gt,
            Binary::Gt => Binary::Le,
            Binary::Ge => Binary::Lt,
            _ => return None,
        })
    }

    /// Returns the comparison that is true of the operands in the other order where this one is true.
    pub fn swapped(self) -> Option<Binary> {
        Some(match self {
            Binary::Eq | Binary::Ne => self,
            Binary::Lt => Binary::Gt,
            Binary::Le => Binary::Ge,
            Binary::Gt => Binary::Lt,
            Binary::Ge => Binary::Le,
            _ => return None,
        })
    }
}
