//! A kernel over a single element, split into steps that the host evaluates and kernels between
//! them.
//!
//! [`eligibility`](crate::strategy::eligibility) decides which steps the host evaluates.

use super::Origin;
use crate::flat::{Kernel, Let};
use crate::ir::Var;
use crate::strategy::eligibility::{HostStep, host_step};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A part of a kernel that is split.
pub enum KernelPart<'k> {
    /// A step that the host evaluates, and all steps after it.
    Host(HostStep<'k>, &'k Let, &'k [Let]),
    /// Steps launched together as a kernel of their own, which stores what later steps need.
    Launched(Origin, Kernel),
}

/// Returns the part that begins at a step, and the step at which the next part begins.
pub fn next_part(kernel: &Kernel, at: usize) -> Option<(KernelPart<'_>, usize)> {
    let step = kernel.lets.get(at)?;
    if let Some(on_host) = host_step(step) {
        return Some((KernelPart::Host(on_host, step, &kernel.lets[at + 1..]), at + 1));
    }
    let later = &kernel.lets[at + 1..];
    let next = at + 1 + later.iter().take_while(|step| host_step(step).is_none()).count();
    Some((KernelPart::Launched(Origin::Part(kernel.id, at), part(kernel, at..next)), next))
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
