//! The reasons for which a program is not run in flattened form, and how often each occurred.
//!
//! Such a program is still right, but one thread runs all of it. This is a declared limit, not an
//! error; it is counted so that a fallback is seen, and not only felt as slowness.
//!
//! The program falls back, not the kernel alone: the interpreter of flat programs could stand in for
//! a kernel, but it keeps neither the source locations of faults nor the session's seed, so that a
//! program that fails there would be reported without its place.

use nesl_core::lower;
use nesl_runtime::runtime;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt;

/// The reason why a program is not run in flattened form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A kernel cannot be lowered to kir.
    Lowering(lower::Unsupported),
    /// The runtime cannot execute a kernel.
    Runtime(runtime::Reason),
    /// Segments of an index space are needed that were not kept.
    MissingSegments,
    /// The indices of a filter are needed that were not stored.
    MissingFilterIndices,
    /// The size of a histogram's table is computed by the kernel that fills the table.
    UnknownTableSize,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Lowering(reason) => write!(out, "{reason}"),
            Unsupported::Runtime(reason) => write!(out, "{reason}"),
            Unsupported::MissingSegments => out.write_str("segments that were not kept"),
            Unsupported::MissingFilterIndices => {
                out.write_str("filter indices that were not stored")
            }
            Unsupported::UnknownTableSize => {
                out.write_str("a histogram of a size that the host does not know")
            }
        }
    }
}

/// The number of programs that were not run in flattened form, by reason.
#[derive(Debug, Default)]
pub(crate) struct UnsupportedCounts(RefCell<FxHashMap<Unsupported, u64>>);

impl UnsupportedCounts {
    /// Counts one program.
    pub(crate) fn count(&self, reason: Unsupported) {
        *self.0.borrow_mut().entry(reason).or_default() += 1;
    }

    /// Returns the counts in the order of the reasons' words, without zeros.
    pub(crate) fn all(&self) -> Vec<(Unsupported, u64)> {
        let mut all: Vec<(Unsupported, u64)> =
            self.0.borrow().iter().map(|(reason, count)| (*reason, *count)).collect();
        all.sort_by_key(|(reason, _)| reason.to_string());
        all
    }
}
