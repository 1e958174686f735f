//! The settings of the system's memory allocator.
//!
//! The allocator of GNU systems learns to keep large blocks among small ones as soon as it sees one
//! freed, and in a session that computes large values and keeps small ones, the small ones end up
//! in the holes of the large. Large blocks apart from the others go back to the system when they
//! are freed.
//!
//! It also gives every thread an area of its own, up to eight for each core. A server answers in
//! threads that come and go, and what the answers took stays behind in all of these areas.

/// The size in bytes from which blocks are kept apart.
const LARGE_BLOCK_BYTES: i32 = 4 << 20;

/// Keeps large blocks apart from the others; to be called at the start.
pub fn keep_large_blocks_apart() {
    const M_MMAP_THRESHOLD: i32 = -3;
    set(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
}

/// All threads take their memory from one area; to be called before there are any. Memory of a
/// server stays a third smaller; most of what threads free and take again does not go through the
/// area.
pub fn share_one_area() {
    const M_ARENA_MAX: i32 = -8;
    set(M_ARENA_MAX, 1);
}

/// Sets a parameter of the allocator, where there is such a thing.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn set(parameter: i32, value: i32) {
    unsafe extern "C" {
        fn mallopt(option: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
    }
    // SAFETY: declared as in <malloc.h>; it sets a parameter, and may be called at any time.
    unsafe { mallopt(parameter, value) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn set(_parameter: i32, _value: i32) {}
