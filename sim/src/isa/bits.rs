//! Instructions on bits: counts, bit fields, bytes, three-input logic, funnel shifts.

use super::lanes::{
    Lanes, Quaternary, Scalar, Ternary, Unary, WARP_LANES, ternary, unary, with_type,
};
use super::types::Type;

/// Returns the meaning of `not`.
pub fn not(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [B16 = u16, B32 = u32, B64 = u64] => unary!(|a| (!T::of(a)).lane()))
}

/// Returns the meaning of `popc`; the result has 32 bits.
pub fn popc(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [B32 = u32, B64 = u64] => unary!(|a| u64::from(T::of(a).count_ones())))
}

/// Returns the meaning of `clz`; the result has 32 bits.
pub fn clz(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [B32 = u32, B64 = u64] => unary!(|a| u64::from(T::of(a).leading_zeros())))
}

/// Returns the meaning of `brev`.
pub fn brev(ty: Type) -> Option<Unary> {
    with_type!(ty, T in [B32 = u32, B64 = u64] => unary!(|a| T::of(a).reverse_bits().lane()))
}

/// The result of `bfind` where there is no such bit.
const NOT_FOUND: u64 = 0xffff_ffff;

/// Returns the meaning of `bfind`: the position of the highest bit that differs from the sign,
/// or, with `shift_amount`, how far it must be shifted to become the highest bit.
pub fn bfind(ty: Type, shift_amount: bool) -> Option<Unary> {
    if shift_amount {
        with_type!(ty, T in [U32 = u32, U64 = u64] => unary!(|a|
            if T::of(a) == 0 { NOT_FOUND } else { u64::from(T::of(a).leading_zeros()) }))
        .or(with_type!(ty, T in [S32 = i32, S64 = i64] => unary!(|a| {
            let v = if T::of(a) < 0 { !T::of(a) } else { T::of(a) };
            if v == 0 { NOT_FOUND } else { u64::from(v.leading_zeros()) }
        })))
    } else {
        with_type!(ty, T in [U32 = u32, U64 = u64] => unary!(|a|
            if T::of(a) == 0 { NOT_FOUND } else { u64::from(T::BITS - 1 - T::of(a).leading_zeros()) }))
        .or(with_type!(ty, T in [S32 = i32, S64 = i64] => unary!(|a| {
            let v = if T::of(a) < 0 { !T::of(a) } else { T::of(a) };
            if v == 0 { NOT_FOUND } else { u64::from(T::BITS - 1 - v.leading_zeros()) }
        })))
    }
}

/// Returns the meaning of `bfe d, a, position, length`.
pub fn bfe(ty: Type) -> Option<Ternary> {
    with_type!(ty, T in [U32 = u32, U64 = u64] => ternary!(|a, position, length|
        extract::<{ T::BITS }>(T::of(a).lane(), position, length, false)))
    .or(with_type!(ty, T in [S32 = i32, S64 = i64] => ternary!(|a, position, length|
        extract::<{ T::BITS }>(T::of(a).lane(), position, length, true))))
}

/// Extracts `length` bits from `position` on; beyond the value stands its sign or zero.
fn extract<const BITS: u32>(a: u64, position: u64, length: u64, signed: bool) -> u64 {
    let (position, length) = (position as u32 & 0xff, length as u32 & 0xff);
    let sign_at = (position + length).saturating_sub(1).min(BITS - 1);
    let sign = signed && length > 0 && a >> sign_at & 1 == 1;
    let mut out = 0;
    for bit in 0..BITS {
        let from = position + bit;
        let set = if bit < length && from < BITS { a >> from & 1 == 1 } else { sign };
        out |= u64::from(set) << bit;
    }
    out
}

/// Returns the meaning of `bfi f, a, b, position, length`: bits of `a` inserted into `b`.
pub fn bfi(ty: Type) -> Option<Quaternary> {
    fn insert<const BITS: u32>(out: &mut Lanes, [a, b, position, length]: [&Lanes; 4]) {
        for lane in 0..WARP_LANES {
            let position = position[lane] as u32 & 0xff;
            let length = (length[lane] as u32 & 0xff).min(BITS.saturating_sub(position));
            let field = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
            out[lane] = if length == 0 {
                b[lane]
            } else {
                b[lane] & !(field << position) | (a[lane] & field) << position
            };
        }
    }
    match ty {
        Type::B32 => Some(insert::<32>),
        Type::B64 => Some(insert::<64>),
        _ => None,
    }
}

/// Returns the meaning of `prmt.b32` without a mode: four bytes chosen from eight.
pub fn prmt() -> Ternary {
    ternary!(|a, b, selector| {
        let bytes = (u64::from(u32::of(a)) | b << 32).to_le_bytes();
        let mut out = [0u8; 4];
        for (k, byte) in out.iter_mut().enumerate() {
            let nibble = (selector >> (4 * k) & 0xf) as usize;
            let chosen = bytes[nibble & 7];
            // The fourth bit of a selector replicates the sign of the byte.
            *byte = if nibble & 8 == 0 { chosen } else { ((chosen as i8) >> 7) as u8 };
        }
        u64::from(u32::from_le_bytes(out))
    })
}

/// Returns the meaning of `lop3.b32 d, a, b, c, table`.
pub fn lop3() -> Quaternary {
    |out, [a, b, c, table]| {
        for lane in 0..WARP_LANES {
            let (a, b, c) = (a[lane] as u32, b[lane] as u32, c[lane] as u32);
            let mut value = 0u32;
            for row in 0..8u32 {
                if table[lane] >> row & 1 == 1 {
                    let pick =
                        |input: u32, bit: u32| if row >> bit & 1 == 1 { input } else { !input };
                    value |= pick(a, 2) & pick(b, 1) & pick(c, 0);
                }
            }
            out[lane] = u64::from(value);
        }
    }
}

/// Returns the meaning of `shf.{l,r}.{wrap,clamp}.b32 d, low, high, count`.
pub fn funnel_shift(left: bool, wrap: bool) -> Ternary {
    match (left, wrap) {
        (true, true) => ternary!(|low, high, n| funnel_left(low, high, n & 31)),
        (true, false) => ternary!(|low, high, n| funnel_left(low, high, n.min(32))),
        (false, true) => ternary!(|low, high, n| funnel_right(low, high, n & 31)),
        (false, false) => ternary!(|low, high, n| funnel_right(low, high, n.min(32))),
    }
}

fn funnel_left(low: u64, high: u64, count: u64) -> u64 {
    ((low | high << 32) << count) >> 32
}

fn funnel_right(low: u64, high: u64, count: u64) -> u64 {
    ((low | high << 32) >> count) & 0xffff_ffff
}
