//! The rules by which a flat program becomes launches.
//!
//! The code of a kernel depends on facts about descriptors ([`Variant`]): which index spaces have a
//! single element, which have segments of equal length, which sequences are contiguous. A run knows
//! them; before a run, nearly all of them follow from the program. Both ask the functions here, so
//! that what is listed and prefetched is what is launched:
//!
//! | question | answered by | asked by |
//! |---|---|---|
//! | Which component executes a kernel? | [`crate::strategy::eligibility::placement`] | [`walk`], the engine |
//! | What is the extent of an index space computed from? | [`extent_rule`] | [`walk`], the engine |
//! | Which kernels are launched between the steps of the host? | [`next_part`] | [`walk`], the engine |
//! | Which steps of a kernel copy rows that may be long? | [`rows_parts`] | the engine |
//! | Which variant of a kernel is launched? | [`variant`] | [`walk`], the engine |
//!
//! [`walk`] interprets a program abstractly by these rules. Its visitors are the list of kernels that
//! is shown, and the engine's speculative compilation.

mod extent;
mod split;
mod walk;

pub use extent::{ExtentRule, HostLength, extent_rule};
pub use split::{KernelPart, RowsPart, next_part, rows_parts};
pub use walk::{Launch, StoredDescriptors, Unlaunched, VersionChoice, Visitor, walk};

use crate::flat::{Function, Kernel, Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Var};
use crate::lower::kernel::{LoweredKernel, ResultPart, Values, Variant};
use smallvec::SmallVec;

/// The number of a kernel that is not one of the program's.
pub const DERIVED_KERNEL: u32 = u32::MAX;

/// The role of a launch in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A kernel of the program, by its number.
    Own(u32),
    /// Steps of a kernel of the program between those that the host evaluates: the number of the
    /// kernel, and the index of the first step.
    Part(u32, usize),
    /// Steps of a kernel of the program between those whose rows the array library copies: the number of
    /// the kernel, and the index of the first step.
    Beside(u32, usize),
    /// The elements that a filter keeps, whose flags were stored.
    Filter(SpaceId),
    /// The elements of both sides of a conditional.
    Sides(SpaceId, SpaceId),
}

/// The facts about descriptors that the code of a kernel depends on.
pub trait Descriptors {
    /// Returns true if an index space has a single element, on the host's own path, whose scalars
    /// the host knows.
    fn is_single(&self, space: SpaceId) -> bool;
    /// Returns true if the segments of an index space are equally long.
    fn is_regular(&self, space: SpaceId) -> bool;
    /// Returns true if the sequences of a value are contiguous: each begins where the one before
    /// ends.
    fn is_tiled(&self, var: Var, home: SpaceId) -> bool;
}

/// Returns the variant of a kernel that some facts select.
pub fn variant(
    function: &Function,
    values: &Values,
    kernel: &Kernel,
    facts: &dyn Descriptors,
) -> Variant {
    let mut variant = Variant::default();
    let mut open: SmallVec<[SpaceId; 8]> = SmallVec::from_iter([kernel.space]);
    while let Some(space) = open.pop() {
        if facts.is_single(space) {
            variant.single.insert(space);
        }
        open.extend(function.index_space(space).around());
        if let SpaceKind::Concat { inner, .. } = function.index_space(space).kind {
            open.push(inner);
        }
    }
    variant.regular = facts.is_regular(kernel.space);
    let outer = function.segments_of(kernel.space);
    let is_filter = matches!(function.index_space(kernel.space).kind, SpaceKind::Filter { .. });
    for binding in &kernel.lets {
        if let Op::Element { of: sequence, .. } = binding.op
            && let Some((home, _)) = values.get(&sequence)
            && Some(*home) == outer
            && !is_filter
            && facts.is_tiled(sequence, *home)
        {
            variant.tiled.insert(sequence);
        }
    }
    variant
}

/// Returns the kernel that finds the elements of several filters of one index space.
pub fn filtering(space: SpaceId, masks: Vec<SpaceId>) -> Kernel {
    Kernel {
        id: DERIVED_KERNEL,
        space,
        lets: Vec::new(),
        masks: masks.clone(),
        stores: Vec::new(),
        counts: masks.clone(),
        filter_indices: masks,
    }
}

/// Returns true for a kernel that is not launched, because each of its results is an argument.
pub fn is_renaming(kernel: &Kernel, code: &LoweredKernel) -> bool {
    let is_argument =
        |part: &ResultPart| matches!(part, ResultPart::Alias(_, None) | ResultPart::Same(_));
    let is_name = |step: &Let| match &step.op {
        Op::Element { .. } => true,
        Op::Map(op) => {
            matches!(op, ir::Op::Copy(_) | ir::Op::Pair(..) | ir::Op::First(_) | ir::Op::Second(_))
        }
        _ => false,
    };
    kernel.lets.iter().all(is_name)
        && code.filters.is_empty()
        && code.results.iter().flat_map(|result| &result.parts).all(is_argument)
}
