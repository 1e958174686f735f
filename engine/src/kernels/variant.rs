//! The facts about values and index spaces that a kernel's code depends on.

use crate::frame::SpaceFacts;
use nesl_core::flat::{Function, Kernel, Op, SpaceKind};
use nesl_core::lower::kernel::{Values, Variant};

/// Returns the variant of a kernel that the facts select.
pub(super) fn variant(
    (function, homes): (&Function, &Values),
    kernel: &Kernel,
    facts: &dyn SpaceFacts,
) -> Variant {
    let mut variant = Variant::default();
    let mut open = vec![kernel.space];
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
            && let Some((home, _)) = homes.get(&sequence)
            && Some(*home) == outer
            && !is_filter
            && facts.is_tiled(sequence, *home)
        {
            variant.tiled.insert(sequence);
        }
    }
    variant
}
