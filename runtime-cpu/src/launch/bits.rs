//! Combination of values on the host, as bits.

use nesl_runtime::kir::{Combine, Ty};

/// Combines the bits of two values of a type. A minimum or maximum skips NaNs, of which `a` may be one.
#[inline(always)]
pub fn combine(op: Combine, ty: Ty, a: u64, b: u64) -> u64 {
    macro_rules! float {
        ($x:expr, $y:expr) => {{
            let (x, y) = ($x, $y);
            match op {
                Combine::Add => x + y,
                Combine::Mul => x * y,
                Combine::Min | Combine::Max => {
                    let better = if op == Combine::Min { y < x } else { y > x };
                    if better || x.is_nan() { y } else { x }
                }
                Combine::And | Combine::Or | Combine::Xor => x,
            }
            .to_bits()
        }};
    }
    match ty {
        Ty::I32 => u64::from(int(op, i64::from(a as i32), i64::from(b as i32)) as u32),
        Ty::I64 => int(op, a as i64, b as i64) as u64,
        Ty::Bool | Ty::U8 => int(op, (a & 0xff) as i64, (b & 0xff) as i64) as u64 & 0xff,
        Ty::F32 => u64::from(float!(f32::from_bits(a as u32), f32::from_bits(b as u32))),
        Ty::F64 => float!(f64::from_bits(a), f64::from_bits(b)),
    }
}

#[inline(always)]
fn int(op: Combine, a: i64, b: i64) -> i64 {
    match op {
        Combine::Add => a.wrapping_add(b),
        Combine::Mul => a.wrapping_mul(b),
        Combine::Min => a.min(b),
        Combine::Max => a.max(b),
        Combine::And => a & b,
        Combine::Or => a | b,
        Combine::Xor => a ^ b,
    }
}

/// Reads the bits of an element.
///
/// # Safety
/// `at` is the aligned address of an initialised element of this type.
#[inline(always)]
pub unsafe fn read(ty: Ty, at: *const u8) -> u64 {
    // SAFETY: the caller passes the aligned address of an element of this type.
    unsafe {
        match ty.size() {
            1 => u64::from(*at),
            4 => u64::from(*at.cast::<u32>()),
            _ => *at.cast::<u64>(),
        }
    }
}

/// Writes the bits of an element.
///
/// # Safety
/// `at` is the aligned address of an element of this type, which nothing else accesses.
#[inline(always)]
pub unsafe fn write(ty: Ty, at: *mut u8, value: u64) {
    // SAFETY: the caller passes the aligned address of an element that it alone accesses.
    unsafe {
        match ty.size() {
            1 => *at = value as u8,
            4 => *at.cast::<u32>() = value as u32,
            _ => *at.cast::<u64>() = value,
        }
    }
}
