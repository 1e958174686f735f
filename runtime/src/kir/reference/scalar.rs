//! The meaning of the scalar operations, on constants: for the interpreter, and for whoever folds
//! constants.
//!
//! # Panics
//! All panic on types on which an operation is not defined ([`verify`](crate::kir::verify())).

use crate::bug;
use crate::kir::{Binary, Combine, Literal, Ty, Unary};
use Literal::{Bool, F32, F64, I32, I64, U8};

/// Computes a unary operation.
pub fn unary(op: Unary, a: Literal) -> Literal {
    macro_rules! float {
        ($x:expr, $make:expr) => {
            $make(match op {
                Unary::Neg => -$x,
                Unary::Abs => $x.abs(),
                Unary::Sqrt => $x.sqrt(),
                Unary::Floor => $x.floor(),
                Unary::Ceil => $x.ceil(),
                Unary::Trunc => $x.trunc(),
                Unary::Nearest => $x.round_ties_even(),
                Unary::Not => undefined(op.mnemonic(), a),
            })
        };
    }
    match (op, a) {
        (Unary::Neg, I32(x)) => I32(x.wrapping_neg()),
        (Unary::Neg, I64(x)) => I64(x.wrapping_neg()),
        (Unary::Abs, I32(x)) => I32(x.wrapping_abs()),
        (Unary::Abs, I64(x)) => I64(x.wrapping_abs()),
        (Unary::Not, I32(x)) => I32(!x),
        (Unary::Not, I64(x)) => I64(!x),
        (Unary::Not, Bool(x)) => Bool(!x),
        (_, F32(x)) => float!(f32::from_bits(x), f32_of),
        (_, F64(x)) => float!(f64::from_bits(x), f64_of),
        (_, I32(_) | I64(_) | Bool(_) | U8(_)) => undefined(op.mnemonic(), a),
    }
}

/// Computes a binary operation.
pub fn binary(op: Binary, a: Literal, b: Literal) -> Literal {
    macro_rules! int {
        ($x:expr, $y:expr, $make:expr, $unsigned:ty) => {{
            let (x, y) = ($x, $y);
            let count = y as u32;
            match op {
                Binary::Add => $make(x.wrapping_add(y)),
                Binary::Sub => $make(x.wrapping_sub(y)),
                Binary::Mul => $make(x.wrapping_mul(y)),
                Binary::MulHigh => undefined(op.mnemonic(), a),
                Binary::Div => $make(if y == 0 { x } else { x.wrapping_div(y) }),
                Binary::Rem => $make(if y == 0 { 0 } else { x.wrapping_rem(y) }),
                Binary::Min => $make(x.min(y)),
                Binary::Max => $make(x.max(y)),
                Binary::And => $make(x & y),
                Binary::Or => $make(x | y),
                Binary::Xor => $make(x ^ y),
                Binary::Shl => $make(x.wrapping_shl(count)),
                Binary::Shr => $make(x.wrapping_shr(count)),
                Binary::ShrZero => $make((x as $unsigned).wrapping_shr(count) as _),
                Binary::Eq => Bool(x == y),
                Binary::Ne => Bool(x != y),
                Binary::Lt => Bool(x < y),
                Binary::Le => Bool(x <= y),
                Binary::Gt => Bool(x > y),
                Binary::Ge => Bool(x >= y),
            }
        }};
    }
    macro_rules! float {
        ($x:expr, $y:expr, $make:expr) => {{
            let (x, y) = ($x, $y);
            match op {
                Binary::Add => $make(x + y),
                Binary::Sub => $make(x - y),
                Binary::Mul => $make(x * y),
                Binary::Div => $make(x / y),
                Binary::Eq => Bool(x == y),
                Binary::Ne => Bool(x != y),
                Binary::Lt => Bool(x < y),
                Binary::Le => Bool(x <= y),
                Binary::Gt => Bool(x > y),
                Binary::Ge => Bool(x >= y),
                Binary::MulHigh
                | Binary::Rem
                | Binary::Min
                | Binary::Max
                | Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::Shl
                | Binary::Shr
                | Binary::ShrZero => undefined(op.mnemonic(), a),
            }
        }};
    }
    match (a, b) {
        (I32(x), I32(y)) => int!(x, y, I32, u32),
        (I64(x), I64(y)) if op == Binary::MulHigh => {
            let product = u128::from(x as u64) * u128::from(y as u64);
            I64((product >> 64) as i64)
        }
        (I64(x), I64(y)) => int!(x, y, I64, u64),
        (F32(x), F32(y)) => float!(f32::from_bits(x), f32::from_bits(y), f32_of),
        (F64(x), F64(y)) => float!(f64::from_bits(x), f64::from_bits(y), f64_of),
        (Bool(x), Bool(y)) => Bool(match op {
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            _ => return compare(op, x, y).unwrap_or_else(|| undefined(op.mnemonic(), a)),
        }),
        (U8(x), U8(y)) => match op {
            Binary::Min => U8(x.min(y)),
            Binary::Max => U8(x.max(y)),
            _ => compare(op, x, y).unwrap_or_else(|| undefined(op.mnemonic(), a)),
        },
        _ => undefined(op.mnemonic(), a),
    }
}

fn compare<T: Ord>(op: Binary, x: T, y: T) -> Option<Literal> {
    Some(Bool(match op {
        Binary::Eq => x == y,
        Binary::Ne => x != y,
        Binary::Lt => x < y,
        Binary::Le => x <= y,
        Binary::Gt => x > y,
        Binary::Ge => x >= y,
        _ => return None,
    }))
}

/// `a · b + c`, rounded once.
pub fn fma(a: Literal, b: Literal, c: Literal) -> Literal {
    match (a, b, c) {
        (F32(a), F32(b), F32(c)) => {
            f32_of(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)))
        }
        (F64(a), F64(b), F64(c)) => {
            f64_of(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
        }
        _ => undefined("fma", a),
    }
}

/// To another scalar type.
pub fn convert(to: Ty, a: Literal) -> Literal {
    macro_rules! int {
        ($x:expr) => {{
            let x = $x;
            match to {
                Ty::I32 => I32(x as i32),
                Ty::I64 => I64(x as i64),
                Ty::F32 => f32_of(x as f32),
                Ty::F64 => f64_of(x as f64),
                Ty::Bool => Bool(x & 1 == 1),
                Ty::U8 => U8(x as u8),
            }
        }};
    }
    macro_rules! float {
        ($x:expr) => {{
            let x = $x;
            // `as` rounds toward zero, saturates, and makes 0 of a NaN.
            match to {
                Ty::I32 => I32(x as i32),
                Ty::I64 => I64(x as i64),
                Ty::F32 => f32_of(x as f32),
                Ty::F64 => f64_of(x as f64),
                Ty::Bool | Ty::U8 => undefined("convert", a),
            }
        }};
    }
    match a {
        I32(x) => int!(x),
        I64(x) => int!(x),
        Bool(x) => int!(u8::from(x)),
        U8(x) => int!(x),
        F32(x) => float!(f32::from_bits(x)),
        F64(x) => float!(f64::from_bits(x)),
    }
}

/// The same bits as another type of the same width.
pub fn bits(to: Ty, a: Literal) -> Literal {
    match (to, a) {
        (Ty::I32, F32(x)) => I32(x as i32),
        (Ty::F32, I32(x)) => F32(x as u32),
        (Ty::I64, F64(x)) => I64(x as i64),
        (Ty::F64, I64(x)) => F64(x as u64),
        (to, a) if a.ty() == to => a,
        _ => undefined("bits", a),
    }
}

/// Adds an element to the sum of a reduction.
pub fn combine(with: Combine, sum: Literal, element: Literal) -> Literal {
    let op = match with {
        Combine::Add => Binary::Add,
        Combine::Mul => Binary::Mul,
        Combine::And => Binary::And,
        Combine::Or => Binary::Or,
        Combine::Xor => Binary::Xor,
        // The sum is never a NaN, and stays what it is when compared with one.
        Combine::Min | Combine::Max => {
            let better = if with == Combine::Min { Binary::Lt } else { Binary::Gt };
            return if binary(better, element, sum) == Bool(true) { element } else { sum };
        }
    };
    binary(op, sum, element)
}

fn f32_of(x: f32) -> Literal {
    F32(x.to_bits())
}

fn f64_of(x: f64) -> Literal {
    F64(x.to_bits())
}

fn undefined(op: &str, a: Literal) -> ! {
    bug!("`{op}` is not defined on {a:?} and the like")
}
