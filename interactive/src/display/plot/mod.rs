//! Plots of values: as a specification of Vega-Lite 5, as SVG and as text.
//!
//! ```text
//! value ──data──▶ chart (at most 5,000 points) ──spec──▶ Vega-Lite
//!                                              ──svg───▶ SVG
//!                                              ──text──▶ characters
//! ```
//!
//! | kind | values |
//! |---|---|
//! | line, scatter | `[float]`, `[(x, y)]`, and sequences of either: one series each |
//! | histogram | sequences of numbers, nested ones too |
//! | heat map | `[[float]]` with rows of equal length |

mod area;
mod axis;
mod chart;
mod data;
mod forms;
mod growth;
mod heat_map;
mod histogram;
mod spec;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub(crate) use axis::short_text;
pub use growth::{Curve, Fit, growth};

use crate::bundle::Bundle;
use chart::Chart;
use nesl_engine::data::{DataLimits, Shown};
use std::sync::atomic::AtomicBool;

/// The bytes of a value that is read whole to be plotted.
const MAX_PLOTTED_BYTES: u64 = 1 << 30;

/// A kind of plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Points joined by lines, in the order of the sequence.
    Line,
    /// Points that are not joined.
    Scatter,
    /// The number of values in each of some intervals.
    Histogram,
    /// A matrix, its numbers as colours.
    HeatMap,
}

impl Kind {
    /// Returns the kind in words.
    fn described(self) -> &'static str {
        match self {
            Kind::Line => "a plot",
            Kind::Scatter => "a scatter plot",
            Kind::Histogram => "a histogram",
            Kind::HeatMap => "a heat map",
        }
    }
}

/// Returns the parts of values that a session is to read for [`plot`]: all.
pub fn limits() -> DataLimits {
    DataLimits { whole_bytes: MAX_PLOTTED_BYTES, ..super::limits() }
}

/// Plots a value. Fails with a message for values of other types, and for those that were not read
/// whole. As text it fits into a screen of `screen` characters, if there is one. Soon after `stop` is set, the plot
/// is one of a part of the numbers, or fails.
pub fn plot(
    kind: Kind,
    shown: &Shown,
    screen: Option<usize>,
    stop: &AtomicBool,
) -> Result<Bundle, String> {
    match kind {
        Kind::Line | Kind::Scatter => {
            Ok(forms::bundle(&Chart { screen, ..data::points(kind, shown, stop)? }))
        }
        Kind::Histogram => histogram::bundle(shown, screen, stop),
        Kind::HeatMap => heat_map::bundle(shown, screen),
    }
}
