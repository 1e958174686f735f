//! Integer arithmetic: the forms that PTX allows, with their meaning.
//!
//! All arithmetic wraps. Division by zero gives all ones and the remainder the dividend, as
//! NVIDIA's devices do; PTX itself leaves both open, and so should no program depend on it.

use super::lanes::{Binary, Scalar, Ternary, Unary, binary, ternary, unary, with_type};
use super::types::Type;

/// The integer and bit-wise instructions with two sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerOp {
    /// The wrapped sum.
    Add,
    /// The wrapped difference.
    Sub,
    /// Low half of the product.
    MulLo,
    /// High half of the product.
    MulHi,
    /// Whole product, twice as wide.
    MulWide,
    /// Quotient, rounded toward zero.
    Div,
    /// Remainder with the sign of the dividend.
    Rem,
    /// The smaller source.
    Min,
    /// The larger source.
    Max,
    /// The conjunction of all bits.
    And,
    /// The disjunction of all bits.
    Or,
    /// Bit-wise exclusive or.
    Xor,
    /// Left shift; the count is clamped to the width.
    Shl,
    /// Right shift, arithmetic for signed types; the count is clamped to the width.
    Shr,
}

/// Returns the meaning of an instruction with two sources, if PTX has it for the type.
pub fn binary_op(op: IntegerOp, ty: Type) -> Option<Binary> {
    match op {
        IntegerOp::And | IntegerOp::Or | IntegerOp::Xor => bitwise(op, ty),
        IntegerOp::Shl | IntegerOp::Shr => shift(op, ty),
        IntegerOp::MulHi => multiply_high(ty),
        IntegerOp::MulWide => multiply_wide(ty),
        IntegerOp::Add
        | IntegerOp::Sub
        | IntegerOp::MulLo
        | IntegerOp::Div
        | IntegerOp::Rem
        | IntegerOp::Min
        | IntegerOp::Max => arithmetic(op, ty),
    }
}

/// Evaluates an expression for each integer type of 16 to 64 bits.
macro_rules! with_integer {
    ($ty:expr, $T:ident => $value:expr) => {
        with_type!($ty, $T in [
            U16 = u16, S16 = i16, U32 = u32, S32 = i32, U64 = u64, S64 = i64
        ] => $value)
    };
}

fn arithmetic(op: IntegerOp, ty: Type) -> Option<Binary> {
    match op {
        IntegerOp::Add => with_integer!(ty, T => binary!(|a, b|
            T::of(a).wrapping_add(T::of(b)).lane())),
        IntegerOp::Sub => with_integer!(ty, T => binary!(|a, b|
            T::of(a).wrapping_sub(T::of(b)).lane())),
        IntegerOp::MulLo => with_integer!(ty, T => binary!(|a, b|
            T::of(a).wrapping_mul(T::of(b)).lane())),
        IntegerOp::Div => with_integer!(ty, T => binary!(|a, b|
            if T::of(b) == 0 { (!(0 as T)).lane() } else { T::of(a).wrapping_div(T::of(b)).lane() })),
        IntegerOp::Rem => with_integer!(ty, T => binary!(|a, b|
            if T::of(b) == 0 { T::of(a).lane() } else { T::of(a).wrapping_rem(T::of(b)).lane() })),
        IntegerOp::Min => with_integer!(ty, T => binary!(|a, b| T::of(a).min(T::of(b)).lane())),
        IntegerOp::Max => with_integer!(ty, T => binary!(|a, b| T::of(a).max(T::of(b)).lane())),
        _ => None,
    }
}

fn bitwise(op: IntegerOp, ty: Type) -> Option<Binary> {
    if !matches!(ty, Type::B16 | Type::B32 | Type::B64) {
        return None;
    }
    match op {
        IntegerOp::And => Some(binary!(|a, b| a & b)),
        IntegerOp::Or => Some(binary!(|a, b| a | b)),
        IntegerOp::Xor => Some(binary!(|a, b| a ^ b)),
        _ => None,
    }
}

fn shift(op: IntegerOp, ty: Type) -> Option<Binary> {
    if op == IntegerOp::Shl {
        return with_type!(ty, T in [B16 = u16, B32 = u32, B64 = u64] => binary!(|a, b|
            T::of(a).checked_shl(b as u32).unwrap_or(0).lane()));
    }
    with_type!(ty, T in [
        B16 = u16, U16 = u16, B32 = u32, U32 = u32, B64 = u64, U64 = u64
    ] => binary!(|a, b| T::of(a).checked_shr(b as u32).unwrap_or(0).lane()))
    .or(with_type!(ty, T in [S16 = i16, S32 = i32, S64 = i64] => binary!(|a, b|
        (T::of(a) >> (b as u32).min(T::BITS - 1)).lane())))
}

fn multiply_high(ty: Type) -> Option<Binary> {
    with_integer!(ty, T => binary!(|a, b|
        ((T::of(a) as i128).wrapping_mul(T::of(b) as i128) >> T::BITS) as u64
            & (!(0 as T)).lane()))
}

fn multiply_wide(ty: Type) -> Option<Binary> {
    match ty {
        Type::U16 => Some(binary!(|a, b| u64::from(u16::of(a)) * u64::from(u16::of(b)))),
        Type::S16 => Some(binary!(|a, b| (i32::from(i16::of(a)) * i32::from(i16::of(b))).lane())),
        Type::U32 => {
            Some(binary!(|a, b| u64::from(u32::of(a)).wrapping_mul(u64::from(u32::of(b)))))
        }
        Type::S32 => Some(binary!(|a, b| {
            i64::from(i32::of(a)).wrapping_mul(i64::from(i32::of(b))).lane()
        })),
        _ => None,
    }
}

/// The part of the product to which `mad` adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadPart {
    /// The low half.
    Lo,
    /// The high half.
    Hi,
    /// The whole product, twice as wide.
    Wide,
}

/// Returns the meaning of `mad` for a type.
pub fn mad(part: MadPart, ty: Type) -> Option<Ternary> {
    match part {
        MadPart::Lo => with_integer!(ty, T => ternary!(|a, b, c|
            T::of(a).wrapping_mul(T::of(b)).wrapping_add(T::of(c)).lane())),
        MadPart::Hi => with_integer!(ty, T => ternary!(|a, b, c| {
            let high = ((T::of(a) as i128).wrapping_mul(T::of(b) as i128) >> T::BITS) as T;
            high.wrapping_add(T::of(c)).lane()
        })),
        MadPart::Wide => match ty {
            Type::U16 => Some(ternary!(|a, b, c| {
                (u32::from(u16::of(a)) * u32::from(u16::of(b))).wrapping_add(u32::of(c)).lane()
            })),
            Type::S16 => Some(ternary!(|a, b, c| {
                (i32::from(i16::of(a)) * i32::from(i16::of(b))).wrapping_add(i32::of(c)).lane()
            })),
            Type::U32 => Some(ternary!(|a, b, c| {
                u64::from(u32::of(a)).wrapping_mul(u64::from(u32::of(b))).wrapping_add(c)
            })),
            Type::S32 => Some(ternary!(|a, b, c| {
                let product = i64::from(i32::of(a)).wrapping_mul(i64::from(i32::of(b)));
                (product as u64).wrapping_add(c)
            })),
            _ => None,
        },
    }
}

/// Returns the meaning of `neg` for an integer type.
pub fn neg(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [S16 = i16, S32 = i32, S64 = i64] => unary!(|a| T::of(a).wrapping_neg().lane()))
}

/// Returns the meaning of `abs` for an integer type.
pub fn abs(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [S16 = i16, S32 = i32, S64 = i64] => unary!(|a| T::of(a).wrapping_abs().lane()))
}

/// Returns the operation of `atom.inc`: one more, or zero beyond the bound.
pub fn wrapping_increment() -> Binary {
    binary!(|a, b| if u32::of(a) >= u32::of(b) { 0 } else { a + 1 })
}

/// Returns the operation of `atom.dec`: one less, or the bound at zero and beyond the bound.
pub fn wrapping_decrement() -> Binary {
    binary!(|a, b| if u32::of(a) == 0 || u32::of(a) > u32::of(b) { b } else { a - 1 })
}
