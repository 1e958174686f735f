//! ir → kir.
//!
//! [`thread()`] writes a program as code that one instance executes by itself: loops for nests,
//! calls for calls, sequences in the memory of the instance. It is what a kernel does at each
//! point when a nest is kept whole, what finishes a recursion whose pieces have become small, and
//! how programs of many small operations run.
//!
//! | module | what it does |
//! |---|---|
//! | `layout`, `data` | how values lie in kir: structures of arrays, views |
//! | `scalar` | scalar operations, with their checks |
//! | `random`, `math` | random numbers, mathematical functions |
//! | `thread` | everything else |

mod data;
mod layout;
mod math;
mod random;
mod scalar;
mod thread;

pub use data::{Given, Part, parts_of, value_of};
pub use layout::{columns, parts};
pub use thread::thread;

use crate::ir::Site;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir;
use smol_str::SmolStr;

/// A program as kir.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// One kernel, over a single point: it takes the parts of the globals and, if the program
    /// draws random numbers, the key; then an array for each scalar of the result, in whose first
    /// element it is stored, and an array of one i64 for each length (see [`columns`]).
    pub module: kir::Module,
    /// What each [`kir::Site`] is.
    pub causes: Vec<Cause>,
}

/// Why and where a check fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cause {
    /// Why.
    pub code: FaultCode,
    /// The message of a [`FaultCode::Message`].
    pub message: SmolStr,
    /// Where.
    pub site: Site,
    /// It stands in the library: the first detail is the [`kir::Site`] of the call that left the
    /// user's program.
    pub library: bool,
}
