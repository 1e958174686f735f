//! The driver: the device, its memory, its modules and its stream.
//!
//! | file | contents |
//! |---|---|
//! | `cache` | compiled modules on disk |
//! | `device` | finding the driver and a device; what the device is |
//! | `memory` | arrays in device memory, and the cache of free blocks |
//! | `milestones` | how far the host may be ahead of the device |
//! | `module` | PTX → code of the device, by the driver's compiler |
//! | `staging` | pinned memory of the host, for copies |
//! | `stop` | the word by which the host stops kernels, and the stream that sets it |
//! | `stream` | the order of work; copies, launches, waiting |
//!
//! Everything else is enqueued on one stream, so that a block that is freed can be used again by what is
//! enqueued later, without waiting.

pub mod cache;
pub mod device;
pub mod memory;
mod milestones;
pub mod module;
mod staging;
pub mod stop;
pub mod stream;

use cudarc::driver::DriverError;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime::Failure;

/// The failure of the machine that an error of the driver is.
pub fn failure(doing: &str, error: DriverError) -> Failure {
    let name = error.error_name().ok().and_then(|name| name.to_str().ok()).unwrap_or("unknown");
    device_failure(format!("the driver fails to {doing}: {name}"))
}

/// A failure of the device, in words.
pub fn device_failure(why: impl Into<String>) -> Failure {
    Failure::Machine(Fault::with(FaultCode::Device, why))
}
