//! The C functions of CUDA's driver, by topic.
//!
//! All are unsafe for their caller in the same way, by the documentation of the driver API:
//! pointers to results are null or point to writable memory of their type, pointers to inputs to
//! readable memory of the stated size, and handles are those that the driver gave out (stale ones
//! are noticed). Each function locks the driver, so that all may be called from any thread.
//!
//! A function that is missing here is one that cudarc's callers do not need yet: cudarc then
//! panics with its name.

mod contexts;
mod copies;
mod kernels;
mod memory;
mod streams;

use super::state::{Driver, driver, idle_driver};
use super::status::{Outcome, Status};
use std::sync::MutexGuard;

/// Runs a driver call under the lock.
fn call(f: impl FnOnce(&mut Driver) -> Outcome) -> Status {
    finish(driver(), f)
}

/// Performs a call that polls: the host is told to come back while a thread works.
fn call_unless_busy(f: impl FnOnce(&mut Driver) -> Outcome) -> Status {
    match idle_driver() {
        None => Status::NOT_READY,
        Some(driver) => finish(driver, f),
    }
}

fn finish(mut driver: MutexGuard<'_, Driver>, f: impl FnOnce(&mut Driver) -> Outcome) -> Status {
    let outcome = f(&mut driver);
    driver.note_memory();
    match outcome {
        Ok(()) => Status::SUCCESS,
        Err(status) => status,
    }
}

/// Writes a result.
///
/// # Safety
/// The pointer is null or points to writable memory for a `T`.
unsafe fn put<T>(pointer: *mut T, value: T) -> Outcome {
    if pointer.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller promises that a pointer that is not null is writable.
    unsafe { pointer.write(value) };
    Ok(())
}
