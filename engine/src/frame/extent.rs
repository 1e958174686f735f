//! The elements and segments of index spaces.

use super::RunResult;
use crate::arrays::{Memory, Segments};
use crate::unsupported::Unsupported;
use nesl_runtime::runtime::Buffer;
use std::cell::OnceCell;
use std::rc::Rc;

/// The elements of an index space in a call.
#[derive(Debug)]
pub(crate) struct Extent {
    /// The number of elements.
    pub(crate) count: usize,
    /// There is one element, on the host's own path, and its values are no columns.
    pub(crate) single: bool,
    /// The segments, one for each element of the space around, if that is not single.
    pub(crate) segments: Option<Rc<Segments>>,
    /// For each element, its index in the space around.
    outer_indices: OnceCell<Buffer>,
}

impl Extent {
    /// The one element of a program's main function.
    pub(crate) fn single() -> Extent {
        Extent { count: 1, single: true, segments: None, outer_indices: OnceCell::new() }
    }

    /// Returns the extent of `count` elements.
    pub(crate) fn many(count: usize, segments: Option<Rc<Segments>>) -> Extent {
        Extent { count, single: false, segments, outer_indices: OnceCell::new() }
    }

    /// The elements of segments.
    pub(crate) fn of_segments(segments: Rc<Segments>) -> Extent {
        Extent::many(segments.total, Some(segments))
    }

    /// The elements that a filter keeps, and their indices in the space around if these were
    /// stored.
    pub(crate) fn filtered(
        count: usize,
        segments: Option<Rc<Segments>>,
        indices: Option<Buffer>,
    ) -> Extent {
        let outer_indices = indices.map_or_else(OnceCell::new, OnceCell::from);
        Extent { count, single: false, segments, outer_indices }
    }

    /// The same elements as those that a function is called at.
    pub(crate) fn of_call(&self) -> Extent {
        Extent {
            count: self.count,
            single: self.single,
            segments: None,
            outer_indices: OnceCell::new(),
        }
    }

    /// Returns the segments of an index space that is not the caller's.
    pub(crate) fn segments(&self) -> RunResult<&Rc<Segments>> {
        self.segments.as_ref().ok_or_else(|| Unsupported::MissingSegments.into())
    }

    /// Returns for each element its index in the space around, if these were stored or asked for.
    pub(super) fn stored_indices(&self) -> Option<Buffer> {
        self.outer_indices.get().cloned()
    }

    /// Returns for each element the number of its segment.
    pub(super) fn segment_indices(&self, memory: &Memory<'_>) -> RunResult<Buffer> {
        let numbers = self.segments()?.numbers(memory)?;
        Ok(self.outer_indices.get_or_init(|| numbers).clone())
    }
}
