//! What is too long to be written in kir, for compiled code: its calling convention around the
//! functions that all runtimes share. Results are written, as 8 bytes each, to the last argument.

use nesl_runtime::kir::{Extern, Ty};

/// Copies bytes.
///
/// # Safety
/// As for `copy_nonoverlapping`; a count below 0 copies nothing.
pub unsafe extern "C" fn copy(from: *const u8, to: *mut u8, bytes: i64) {
    // SAFETY: as promised.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes.max(0) as usize) };
}

/// The function of a service, for keys of a type.
pub fn address(_service: Extern, _keys: Ty) -> *const u8 {
    copy as *const u8
}
