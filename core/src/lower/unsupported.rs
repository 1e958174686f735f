//! The programs and kernels that lowering cannot express, with the reason for each.
//!
//! Being unsupported is a declared limit, never an error of the user's program: the caller falls
//! back to sequential code or to the direct interpreter, and counts the reason for `:stats`.

use std::fmt;

/// The reason why a program or a kernel has no kir.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unsupported {
    /// The program prints, reads files or reads the clock, which only the host can do.
    HostOperation,
    /// A histogram for each of several segments: kir has only one table per launch.
    HistogramPerSegment,
    /// A filter of sequences that its kernel computes: kir can filter scalars, and views of arrays
    /// that are parameters, but not new arrays of different lengths.
    FilterOfNewSequences,
}

impl Unsupported {
    /// All reasons, the indices of tables of counts.
    pub const ALL: [Unsupported; 3] = [
        Unsupported::HostOperation,
        Unsupported::HistogramPerSegment,
        Unsupported::FilterOfNewSequences,
    ];

    /// Returns the reason in a few words, as `:stats` counts it.
    pub fn reason(self) -> &'static str {
        match self {
            Unsupported::HostOperation => "an operation that needs the host",
            Unsupported::HistogramPerSegment => "a histogram for each of several segments",
            Unsupported::FilterOfNewSequences => "a filter of sequences made in the same kernel",
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.reason())
    }
}

impl std::error::Error for Unsupported {}
