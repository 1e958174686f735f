//! The elements and segments of index spaces, and the rules by which they follow from values.

use super::{RunResult, SpaceFacts};
use crate::arrays::{Memory, Segments};
use crate::unsupported::Unsupported;
use nesl_core::flat::{Function, SpaceId, SpaceKind};
use nesl_core::ir::{Atom, Var};
use nesl_core::lower::kernel::Values;
use nesl_runtime::bug::OrBug;
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

    /// `count` elements.
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

/// A length that the host knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HostLength {
    /// The length of a sequence that lives at a single element.
    Of(Var),
    /// An int: a constant, or a variable that lives at a single element.
    Int(Atom),
}

/// The rule by which the extent of an index space follows from values and other extents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ExtentRule {
    /// The elements of the caller.
    Caller,
    /// Every element of `outer` has a segment of the same length, which the host knows.
    Equal { outer: SpaceId, length: HostLength },
    /// Every element of `outer` has the elements of its own sequence.
    OwnSequence { outer: SpaceId, sequence: Var },
    /// Every element of `outer` has the elements of a sequence that lives further out.
    OuterSequence { outer: SpaceId, sequence: Var },
    /// Every element of `outer` has as many elements as its own int says.
    OwnCount { outer: SpaceId, count: Atom },
    /// The elements of `outer` whose flag is set.
    Filter { outer: SpaceId },
    /// The elements of `inner`, with those of one element of `outer` as one segment.
    Concat { outer: SpaceId, inner: SpaceId },
}

/// Returns the rule for an index space.
pub(crate) fn extent_rule(
    function: &Function,
    homes: &Values,
    facts: &dyn SpaceFacts,
    space: SpaceId,
) -> ExtentRule {
    let home = |var: Var| homes.get(&var).or_bug("a variable is bound before it is used").0;
    match function.index_space(space).kind {
        SpaceKind::Caller => ExtentRule::Caller,
        SpaceKind::Elements { of: outer, sequence } => match home(sequence) {
            home if facts.is_single(home) => {
                ExtentRule::Equal { outer, length: HostLength::Of(sequence) }
            }
            home if home == outer => ExtentRule::OwnSequence { outer, sequence },
            _ => ExtentRule::OuterSequence { outer, sequence },
        },
        SpaceKind::Count { of: outer, count } => match count {
            Atom::Var(var) if !facts.is_single(home(var)) => ExtentRule::OwnCount { outer, count },
            _ => ExtentRule::Equal { outer, length: HostLength::Int(count) },
        },
        SpaceKind::Filter { of: outer, .. } => ExtentRule::Filter { outer },
        SpaceKind::Concat { of: outer, inner } => ExtentRule::Concat { outer, inner },
    }
}
