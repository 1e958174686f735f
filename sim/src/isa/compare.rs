//! Comparisons, tests of a float's class, and selections by a value.

use super::lanes::{Compare, Scalar, Ternary, compare, ternary, with_type};
use super::types::Type;

/// Returns the comparison of `setp` with this name, if PTX has it for the type.
pub fn setp(name: &str, ty: Type) -> Option<Compare> {
    match name {
        "eq" | "ne" if ty.is_bits() => equality(name, ty),
        "lo" | "ls" | "hi" | "hs" => unsigned_names(name, ty),
        _ if ty.is_float() => float(name, ty),
        _ => integer(name, ty),
    }
}

fn equality(name: &str, ty: Type) -> Option<Compare> {
    with_type!(ty, T in [B16 = u16, B32 = u32, B64 = u64] => {
        if name == "eq" {
            compare!(|a, b| T::of(a) == T::of(b))
        } else {
            compare!(|a, b| T::of(a) != T::of(b))
        }
    })
}

fn unsigned_names(name: &str, ty: Type) -> Option<Compare> {
    if !matches!(ty, Type::U16 | Type::U32 | Type::U64) {
        return None;
    }
    integer(
        match name {
            "lo" => "lt",
            "ls" => "le",
            "hi" => "gt",
            _ => "ge",
        },
        ty,
    )
}

fn integer(name: &str, ty: Type) -> Option<Compare> {
    with_type!(ty, T in [
        U16 = u16, S16 = i16, U32 = u32, S32 = i32, U64 = u64, S64 = i64
    ] => match name {
        "eq" => compare!(|a, b| T::of(a) == T::of(b)),
        "ne" => compare!(|a, b| T::of(a) != T::of(b)),
        "lt" => compare!(|a, b| T::of(a) < T::of(b)),
        "le" => compare!(|a, b| T::of(a) <= T::of(b)),
        "gt" => compare!(|a, b| T::of(a) > T::of(b)),
        "ge" => compare!(|a, b| T::of(a) >= T::of(b)),
        _ => return None,
    })
}

/// The plain names are false if either value is a NaN, those that end in `u` are true.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn float(name: &str, ty: Type) -> Option<Compare> {
    with_type!(ty, T in [F32 = f32, F64 = f64] => match name {
        "eq" => compare!(|a, b| T::of(a) == T::of(b)),
        "ne" => compare!(|a, b| T::of(a) < T::of(b) || T::of(a) > T::of(b)),
        "lt" => compare!(|a, b| T::of(a) < T::of(b)),
        "le" => compare!(|a, b| T::of(a) <= T::of(b)),
        "gt" => compare!(|a, b| T::of(a) > T::of(b)),
        "ge" => compare!(|a, b| T::of(a) >= T::of(b)),
        "equ" => compare!(|a, b| !(T::of(a) < T::of(b) || T::of(a) > T::of(b))),
        "neu" => compare!(|a, b| T::of(a) != T::of(b)),
        "ltu" => compare!(|a, b| !(T::of(a) >= T::of(b))),
        "leu" => compare!(|a, b| !(T::of(a) > T::of(b))),
        "gtu" => compare!(|a, b| !(T::of(a) <= T::of(b))),
        "geu" => compare!(|a, b| !(T::of(a) < T::of(b))),
        "num" => compare!(|a, b| !T::of(a).is_nan() && !T::of(b).is_nan()),
        "nan" => compare!(|a, b| T::of(a).is_nan() || T::of(b).is_nan()),
        _ => return None,
    })
}

/// Returns the test of `testp` with this name; the second operand is ignored.
pub fn testp(name: &str, ty: Type) -> Option<Compare> {
    with_type!(ty, T in [F32 = f32, F64 = f64] => match name {
        "finite" => compare!(|a, _b| T::of(a).is_finite()),
        "infinite" => compare!(|a, _b| T::of(a).is_infinite()),
        "number" => compare!(|a, _b| !T::of(a).is_nan()),
        "notanumber" => compare!(|a, _b| T::of(a).is_nan()),
        "normal" => compare!(|a, _b| T::of(a).is_normal()),
        "subnormal" => compare!(|a, _b| T::of(a).is_subnormal()),
        _ => return None,
    })
}

/// Returns the meaning of `slct`: the first source if the third is at least zero.
pub fn slct(condition: Type) -> Option<Ternary> {
    match condition {
        Type::S32 => Some(ternary!(|a, b, c| if i32::of(c) >= 0 { a } else { b })),
        Type::F32 => Some(ternary!(|a, b, c| if f32::of(c) >= 0.0 { a } else { b })),
        _ => None,
    }
}
