//! The rules by which the extents of index spaces follow from values and other extents.

use super::Descriptors;
use crate::flat::{Function, SpaceId, SpaceKind};
use crate::ir::{Atom, Var};
use crate::lower::kernel::Values;
use nesl_runtime::bug::OrBug;

/// A length that the host knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostLength {
    /// The length of a sequence that lives at a single element.
    Of(Var),
    /// An int: a constant, or a variable that lives at a single element.
    Int(Atom),
}

/// The rule by which the extent of an index space follows from values and other extents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExtentRule {
    /// The elements of the caller.
    Caller,
    /// Every element of `outer` has a segment of the same length, which the host knows.
    Equal {
        /// The index space around.
        outer: SpaceId,
        /// The number of elements of each segment.
        length: HostLength,
    },
    /// Every element of `outer` has the elements of its own sequence.
    OwnSequence {
        /// The index space around, in which the sequence lives.
        outer: SpaceId,
        /// The sequence whose length counts.
        sequence: Var,
    },
    /// Every element of `outer` has the elements of a sequence that lives further out.
    OuterSequence {
        /// The index space around.
        outer: SpaceId,
        /// The sequence whose length counts.
        sequence: Var,
    },
    /// Every element of `outer` has as many elements as its own int says.
    OwnCount {
        /// The index space around.
        outer: SpaceId,
        /// The int that counts a segment.
        count: Atom,
    },
    /// The elements of `outer` whose flag is set, or is not.
    Filter {
        /// The index space around.
        outer: SpaceId,
    },
    /// The elements of `inner`, with those of one element of `outer` as one segment.
    Concat {
        /// The index space around.
        outer: SpaceId,
        /// The index space whose elements these are.
        inner: SpaceId,
    },
}

/// Returns the rule for an index space of a function, given the home of each of its values.
pub fn extent_rule(
    function: &Function,
    values: &Values,
    facts: &dyn Descriptors,
    space: SpaceId,
) -> ExtentRule {
    let home = |var: Var| values.get(&var).or_bug("a variable is bound before it is used").0;
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
