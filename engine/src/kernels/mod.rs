//! Kernels: lowered once for each variant, launched, their parameters and results.
//!
//! A launch goes through the files of this folder once, in this order: `variant` collects the facts
//! about the values that the kernel reads, `cache` lowers the kernel for this variant unless it is
//! known, `args` collects the arguments, `launch` has the runtime execute the kernel, and `results`
//! binds the stored values. If the runtime reports a failure, now or later, `log` finds its source
//! location.
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
//! | `split` | kernels over one element, split into steps of the host and launched ones |
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
