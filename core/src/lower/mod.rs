//! ir and flat programs → kir, the code that runtimes execute.
//!
//! There are two entries. [`sequential()`] lowers a whole program to the code of one thread;
//! [`kernel::kernel`] lowers one kernel of a flat program, whose threads each compute the values at
//! one index. Both generate scalar code and loops with the same `sequential` module, and agree on
//! the representation of values that `repr` defines. Fusion was decided before, by
//! [`fuse`](mod@crate::fuse); lowering follows its plans.
//!
//! | module | contents |
//! |---|---|
//! | `repr` | the representation of values: structures of arrays, views, fused sequences |
//! | `sequential` | the sequential code of one thread |
//! | [`mod@kernel`] | the kernels of flat programs, in variants |
//! | `globals` | top-level variables as parameters |
//! | `literals` | long literals as inputs of the program |
//! | `fault_site` | the meaning of the fault sites of generated code |
//! | `unsupported` | the reasons for which a program or kernel has no kir |

mod fault_site;
mod globals;
pub mod kernel;
mod literals;
mod repr;
mod sequential;
mod unsupported;

pub(crate) use globals::some_as_parameters;

pub use fault_site::{Detail, FaultSite};
pub use globals::as_parameters as globals_as_parameters;
pub use literals::{Lifted, Literal, as_globals as literals_as_globals};
pub use repr::{HostPart, columns, parts, parts_of, value_of};
pub use sequential::{prepare as prepare_sequential, sequential};
pub use unsupported::Unsupported;

use crate::ir::GlobalId;
use crate::thresholds::Thresholds;
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;

/// The settings of lowering.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The width of ints and floats.
    pub precision: Precision,
    /// The seed of random numbers.
    pub seed: u64,
    /// The limits of inlining, unrolling and allocation.
    pub limits: &'a Thresholds,
}

/// A program as sequential kir, with the meaning of its parameters and checks.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// One kernel, over an index space of one element. Its parameters are the number of elements
    /// (1); the random key, if the program draws random numbers; the parts of the globals
    /// ([`parts`]); and an array of one element for each scalar among the parts of the result. The
    /// arrays among these are the kernel's outputs, in order.
    pub module: kir::Module,
    /// The globals that the kernel takes, in the order of its parameters.
    pub globals: Vec<GlobalId>,
    /// The meaning of each [`kir::Site`], by its number.
    pub fault_sites: Vec<FaultSite>,
}
