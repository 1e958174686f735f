//! How memory is asked for.
//!
//! The allocator of GNU systems learns to keep large blocks among small ones as soon as it sees one
//! freed, and in a session that computes large values and keeps small ones, the small ones end up
//! in the holes of the large. Large blocks apart from the others go back to the system when they
//! are freed.

/// Blocks of so many bytes are kept apart.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: std::ffi::c_int = 4 << 20;

/// Keeps large blocks apart from the others; to be called at the start.
pub fn keep_large_blocks_apart() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_MMAP_THRESHOLD: std::ffi::c_int = -3;
        unsafe extern "C" {
            fn mallopt(option: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        // SAFETY: declared as in <malloc.h>; it sets a parameter, and may be called at any time.
        unsafe { mallopt(M_MMAP_THRESHOLD, LARGE) };
    }
}
