//! The parts of a value in an index space.

use super::Segments;
use nesl_runtime::runtime::Arg;
use smallvec::SmallVec;
use std::rc::Rc;

/// The parts of a value. Those of most values, of scalars and of sequences of scalars, take no memory of their own.
pub(crate) type Parts = SmallVec<[Arg; 2]>;

/// A value in an index space: the scalar itself or the length and columns of a sequence where the
/// space has a single element, and otherwise columns with an entry for each element.
#[derive(Clone, Debug)]
pub(crate) struct FlatValue {
    /// The parts in the order of [`nesl_core::lower::parts`] for a single element, and of
    /// [`nesl_core::lower::columns`] otherwise.
    pub(crate) parts: Parts,
    /// For a sequence at many elements: the segments, if they tile the pool one behind the other.
    pub(crate) tiles: Option<Rc<Segments>>,
}

impl FlatValue {
    /// A value that is no sequence at many elements, or is not known to tile its pool.
    pub(crate) fn new(parts: impl Into<Parts>) -> FlatValue {
        FlatValue { parts: parts.into(), tiles: None }
    }

    /// A value of one part.
    pub(crate) fn single(part: Arg) -> FlatValue {
        FlatValue { parts: SmallVec::from_iter([part]), tiles: None }
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
