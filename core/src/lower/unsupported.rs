//! The programs and kernels that lowering cannot express, with the reason for each.
//!
//! Being unsupported is a declared limit, never an error of the user's program: the caller falls
//! back to another way of running it (the sequential code, the direct interpreter) and counts the
//! reason, so that a fallback is seen and not only felt as slowness.

use std::fmt;

/// The reason why a program or a kernel has no kir.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unsupported {
    /// The program prints, reads files or asks for the time: only the host can do that.
    HostOperation,
    /// A histogram is made for each of several segments, and kir has one table per launch.
    HistogramPerSegment,
    /// A filter keeps sequences that its kernel makes: kir packs scalars and views of arrays that
    /// were passed in, but no new arrays of different lengths.
    FilterOfNewSequences,
}

impl Unsupported {
    /// All reasons, for tables of counts.
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
