//! Kernels: lowered once for each variant, launched, their parameters and results.
//!
//! [`nesl_core::pipeline::launches`] decides which kernels are launched, and in which variants. A
//! launch goes through the files of this folder once, in this order: `cache` lowers the kernel for
//! its variant unless that is known, `args` collects the arguments, `launch` has the runtime execute
//! the kernel, and `results` binds the stored values. If the runtime reports a failure, now or later,
//! `log` finds its source location.
//!
//! | module | contents |
//! |---|---|
//! | `cache` | the lowered kernels of a program |
//! | `args` | the arguments of a launch |
//! | `results` | the values and filters that a launch makes |
//! | `log` | launches whose failures are not known yet |
//! | `launch` | a launch from its kernel to its results |
//! | `derived` | kernels that the engine adds: broadcasts, lengths, filter indices |
//! | `prefetch` | kernels lowered ahead, for speculative compilation |

mod args;
mod cache;
mod derived;
mod launch;
mod log;
mod prefetch;
mod results;

pub(crate) use cache::{KernelCache, KernelKey};
pub(crate) use derived::{filter, filter_sides, lengths_in, value_in};
pub(crate) use launch::{Launcher, Work};
pub(crate) use log::locate_failure;
pub(crate) use prefetch::prefetch;
