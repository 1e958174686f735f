//! The parts of a value in an index space.

use super::Segments;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// A value in an index space: the scalar itself or the length and columns of a sequence where the
/// space has a single element, and otherwise columns with an entry for each element.
#[derive(Clone, Debug)]
pub(crate) struct FlatValue {
    /// The parts in the order of [`nesl_core::lower::parts`] for a single element, and of
    /// [`nesl_core::lower::columns`] otherwise.
    pub(crate) parts: Vec<Arg>,
    /// For a sequence at many elements: the segments, if they tile the pool one behind the other.
    pub(crate) tiles: Option<Rc<Segments>>,
}

impl FlatValue {
    /// A value that is no sequence at many elements, or is not known to tile its pool.
    pub(crate) fn new(parts: Vec<Arg>) -> FlatValue {
        FlatValue { parts, tiles: None }
    }

    /// Returns the number of elements of all arrays of the value.
    pub(crate) fn elements(&self) -> u64 {
        let elements = |part: &Arg| match part {
            Arg::Scalar(_) => 0,
            Arg::Array(buffer, at) => buffer.len().saturating_sub(*at) as u64,
        };
        self.parts.iter().map(elements).sum()
    }
}
