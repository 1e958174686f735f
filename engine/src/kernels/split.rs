//! A kernel over a single element, split into steps that the host evaluates and kernels between
//! them.

use super::cache::KernelKey;
use nesl_core::flat::{Kernel, Let};
use nesl_core::ir::Var;
use nesl_core::strategy::eligibility::{is_host_step, launched_steps};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A part of a kernel that is split.
pub(crate) enum KernelPart<'k> {
    /// A step that the host evaluates, and all steps after it.
    Host(&'k Let, &'k [Let]),
    /// Steps launched together as a kernel of their own.
    Launched(KernelKey, Kernel),
}

/// Returns the part that begins at a step, and the step at which the next part begins.
pub(crate) fn next_part(kernel: &Kernel, at: usize) -> Option<(KernelPart<'_>, usize)> {
    let step = kernel.lets.get(at)?;
    if is_host_step(step) {
        return Some((KernelPart::Host(step, &kernel.lets[at + 1..]), at + 1));
    }
    let steps = launched_steps(kernel, at);
    let (key, next) = (KernelKey::Part(kernel.id, steps.start), steps.end);
    Some((KernelPart::Launched(key, part(kernel, steps)), next))
}

/// Returns some steps of a kernel as a kernel that stores what later steps need.
fn part(kernel: &Kernel, steps: Range<usize>) -> Kernel {
    let lets = kernel.lets[steps.clone()].to_vec();
    let mut needed: FxHashSet<Var> = kernel.stores.iter().map(|(var, _)| *var).collect();
    for binding in &kernel.lets[steps.end..] {
        binding.op.each_use(&mut |var| {
            needed.insert(var);
        });
    }
    let stores = lets.iter().filter(|binding| needed.contains(&binding.var));
    let stores = stores.map(|binding| (binding.var, binding.space)).collect();
    Kernel { lets, stores, ..kernel.clone() }
}
