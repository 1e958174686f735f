//! Kernels: lowered once for each variant, launched, their parameters and results.
//!
//! A launch goes through the files of this folder once, in this order: `variant` finds out what is
//! known of the values that the kernel reads, `cache` lowers the kernel for it if that was not done
//! before, `args` collects the arguments, `launch` has the runtime execute it, and `results` binds
//! what it stored. Only when the runtime reports a failure, now or later, `log` says where in the
//! program it belongs.
//!
//! | module | contents |
//! |---|---|
//! | `cache` | the lowered kernels of a program |
//! | `variant` | the facts that a kernel's code depends on |
//! | `args` | the arguments of a launch |
//! | `results` | the values and filters that a launch makes |
//! | `log` | launches whose failures are not known yet |
//! | `launch` | a launch from its kernel to its results |
//! | `derived` | kernels that the engine adds: broadcasts, lengths, filter indices |
//! | `split` | kernels taken apart into steps of the host and launched ones |
//! | `prefetch` | kernels lowered ahead, for speculative compilation |

mod args;
mod cache;
mod derived;
mod launch;
mod log;
mod prefetch;
mod results;
mod split;
mod variant;

pub(crate) use cache::KernelCache;
pub(crate) use derived::{filter, filter_sides, lengths_in, value_in};
pub(crate) use launch::Launcher;
pub(crate) use log::locate_failure;
pub(crate) use prefetch::prefetch;
pub(crate) use split::{KernelPart, next_part};
