//! The end of the last sub-pass: a kernel that computes again all that an earlier one computes stores that, too.
//!
//! ```text
//! kernel 0 over s1 stores p { p = position }
//! kernel 1 over s1 stores x { p = position … }      →      kernel 1 over s1 stores x, p { p = position … }
//! kernel 2 over s2 stores y { … p … }                      kernel 2 over s2 stores y { … p … }
//! ```
//!
//! Rematerialisation leaves such kernels: a value that one kernel computes again, and another one, over an inner index
//! space, reads. It saves a launch.

use super::defer::Reads;
use crate::base::with_stack;
use crate::flat::{Block, IndexSpace, Kernel, Step};
use crate::ir::Var;
use rustc_hash::FxHashSet;

/// Moves what the kernels of a block store, and those of the blocks inside it, to later kernels that compute it as well.
pub(super) fn take_over(block: &mut Block, spaces: &[IndexSpace]) {
    with_stack(|| {
        for at in (0..block.steps.len()).rev() {
            if let Step::Kernel(kernel) = &block.steps[at]
                && let Some(later) = heir(&block.steps[at + 1..], kernel, spaces)
                && let Step::Kernel(kernel) = block.steps.remove(at)
                // What stood behind the kernel has moved up.
                && let Step::Kernel(heir) = &mut block.steps[at + later]
            {
                heir.stores.extend(kernel.stores);
            }
        }
        for step in &mut block.steps {
            if let Step::Let(binding) = step {
                binding.op.blocks_mut().for_each(|inner| take_over(inner, spaces));
            }
        }
    });
}

/// Returns the place of the kernel that computes again what a kernel before these steps computes, if no step reads what
/// is stored before. Faults stay where they are.
fn heir(steps: &[Step], kernel: &Kernel, spaces: &[IndexSpace]) -> Option<usize> {
    let Kernel { masks, counts, filter_indices, lets, .. } = kernel;
    let filters = masks.is_empty() && counts.is_empty() && filter_indices.is_empty();
    if !filters || lets.iter().any(|binding| binding.may_fault()) {
        return None;
    }
    let stored: FxHashSet<Var> = kernel.stores.iter().map(|(var, _)| *var).collect();
    let reads = Reads { stored: &stored, spaces };
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::Kernel(later)
                if later.space == kernel.space
                    && lets.iter().all(|binding| later.lets.contains(binding)) =>
            {
                return Some(place);
            }
            step if reads.of_step(step, &mut FxHashSet::default()) => return None,
            _ => {}
        }
    }
    None
}
