//! What is too long to be written in kir, for compiled code: its calling convention around the
//! functions that all runtimes share. Results are written, as 8 bytes each, to the last argument.

use nesl_runtime::kir::{Extern, Ty};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::rank::{Order, Rankable, rank};
use nesl_runtime::services::text;

/// Copies bytes.
///
/// # Safety
/// As for `copy_nonoverlapping`; a count below 0 copies nothing.
pub unsafe extern "C" fn copy(from: *const u8, to: *mut u8, bytes: i64) {
    // SAFETY: as promised.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes.max(0) as usize) };
}

/// The function of a service, for keys of a type.
pub fn address(service: Extern, keys: Ty) -> *const u8 {
    match service {
        Extern::RankUp => ranking::<false>(keys),
        Extern::RankDown => ranking::<true>(keys),
        Extern::FloatText | Extern::FloatText32 => float_text as *const u8,
        Extern::ExpText => exp_text as *const u8,
        Extern::ParseFloat => parse_float::<false> as *const u8,
        Extern::ParseFloat32 => parse_float::<true> as *const u8,
    }
}

fn ranking<const DOWN: bool>(keys: Ty) -> *const u8 {
    match keys {
        Ty::I32 => ranks::<i32, DOWN> as *const u8,
        Ty::I64 => ranks::<i64, DOWN> as *const u8,
        Ty::F32 => ranks::<f32, DOWN> as *const u8,
        Ty::F64 => ranks::<f64, DOWN> as *const u8,
        Ty::Bool | Ty::U8 => ranks::<u8, DOWN> as *const u8,
    }
}

/// An array as a slice; an empty one may be anywhere.
///
/// # Safety
/// The elements are there, and nobody writes them meanwhile.
unsafe fn slice<'a, T>(from: *const T, length: i64) -> &'a [T] {
    if length <= 0 {
        return &[];
    }
    // SAFETY: as promised.
    unsafe { std::slice::from_raw_parts(from, length as usize) }
}

/// # Safety
/// `keys` and `out` have `length` elements and do not overlap.
unsafe extern "C" fn ranks<T: Rankable, const DOWN: bool>(
    keys: *const T,
    length: i64,
    out: *mut i64,
    _results: *mut u64,
) {
    if length <= 0 {
        return;
    }
    let order = if DOWN { Order::Down } else { Order::Up };
    // SAFETY: as promised.
    let (keys, out) =
        unsafe { (slice(keys, length), std::slice::from_raw_parts_mut(out, length as usize)) };
    rank(keys, order, out);
}

/// Writes a text where there is room for it; gives its length.
///
/// # Safety
/// There is room.
unsafe fn write_text(text: &str, out: *mut u8) -> u64 {
    // SAFETY: as promised.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out, text.len()) };
    text.len() as u64
}

/// # Safety
/// `out` has room for 32 chars, `results` for one result.
unsafe extern "C" fn float_text(x: f64, out: *mut u8, results: *mut u64) {
    // SAFETY: as promised.
    unsafe { *results = write_text(&text::float(x), out) };
}

/// # Safety
/// `out` has room for 64 chars, `results` for two results.
unsafe extern "C" fn exp_text(x: f64, digits: i64, out: *mut u8, results: *mut u64) {
    let (length, ok) = match text::exponential(x, digits) {
        // SAFETY: as promised.
        Ok(text) => (unsafe { write_text(&text, out) }, true),
        Err(_) => (0, false),
    };
    // SAFETY: as promised.
    unsafe {
        *results = length;
        *results.add(1) = u64::from(ok);
    }
}

/// # Safety
/// `text` has `length` chars, `results` room for two results.
unsafe extern "C" fn parse_float<const SINGLE: bool>(
    text: *const u8,
    length: i64,
    results: *mut u64,
) {
    let precision = if SINGLE { Precision::Bits32 } else { Precision::Bits64 };
    // SAFETY: as promised.
    let (value, all) = text::parse_float(unsafe { slice(text, length) }, precision);
    // SAFETY: as promised.
    unsafe {
        *results = value.to_bits();
        *results.add(1) = u64::from(all);
    }
}
