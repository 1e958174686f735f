//! The settings of the system's memory allocator.
//!
//! The allocator of GNU systems learns to keep large blocks among small ones as soon as it sees one
//! freed, and in a session that computes large values and keeps small ones, the small ones end up
//! in the holes of the large. Large blocks apart from the others go back to the system when they
//! are freed.
//!
//! It also gives every thread an area of its own, up to eight for each core. A server answers in
//! threads that come and go, and what the answers took stays behind in all of these areas.
//!
//! Free memory at the end of an area goes back to the system from 128 KiB on, and is asked for again by
//! the next launch, page by page, while other threads wait for the same lock. A program that makes tables
//! of some megabytes at each launch took two to three times as long for that reason.

/// The size in bytes from which blocks are kept apart.
const LARGE_BLOCK_BYTES: i32 = 4 << 20;

/// The size in bytes of the free memory at the end of an area that a program that computes keeps.
const KEPT_BYTES: i32 = 64 << 20;

/// The size in bytes by which an area grows at least, in a program that computes.
const GROWTH_BYTES: i32 = 1 << 20;

/// The size in bytes of both in a program that answers questions only, which are the system's own.
const SMALL_BYTES: i32 = 128 << 10;

const M_TRIM_THRESHOLD: i32 = -1;
const M_TOP_PAD: i32 = -2;
const M_MMAP_THRESHOLD: i32 = -3;
const M_ARENA_MAX: i32 = -8;

/// Keeps large blocks apart from the others, and what computations free for the next ones; to be called at
/// the start.
pub fn compute() {
    set(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    set(M_TRIM_THRESHOLD, KEPT_BYTES);
    set(M_TOP_PAD, GROWTH_BYTES);
}

/// Gives all free memory back, for a server that computes seldom; to be called before there are threads.
pub fn stay_small() {
    share_one_area();
    set(M_TRIM_THRESHOLD, SMALL_BYTES);
    set(M_TOP_PAD, SMALL_BYTES);
}

/// All threads take their memory from one area; to be called before there are any. Memory of a
/// server stays a third smaller; most of what threads free and take again does not go through the
/// area.
pub fn share_one_area() {
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
