//! Kernels that are split: those over a single element into steps that the host evaluates and kernels
//! between them, and those that copy long rows into copies, done by the array library, and kernels for the
//! steps between them.
//!
//! [`eligibility`](crate::strategy::eligibility) decides which steps the host evaluates.

use super::Origin;
use crate::flat::{Kernel, Let, Op, RowsOperation, rows_step};
use crate::ir::Var;
use crate::prim::SeqOp;
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

/// A part of a kernel whose operations on whole rows are done by the array library.
pub enum RowsPart<'k> {
    /// A step that copies whole rows, and the kernel that does nothing else.
    Rows(RowsOperation<'k>, &'k Let, Origin, Kernel),
    /// Steps launched together as a kernel of their own, which stores what later steps need.
    Launched(Origin, Kernel),
}

/// Returns the parts of a kernel that appends or lists whole rows beside other steps, in order; none if
/// it does not, or does more than compute values of its own elements.
///
/// The rows may be too long for the thread of an element to copy them.
pub fn rows_parts(kernel: &Kernel) -> Option<Vec<RowsPart<'_>>> {
    let is_plain = |step: &Let| {
        let is_local = matches!(step.op, Op::Map(_) | Op::Element { .. } | Op::Position { .. });
        is_local && step.space == kernel.space
    };
    let is_alone = kernel.masks.is_empty() && kernel.counts.is_empty();
    let copies = kernel.lets.iter().any(|step| copy_of_rows(step).is_some());
    if !copies || !is_alone || !kernel.lets.iter().all(is_plain) {
        return None;
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(step) = kernel.lets.get(at) {
        let operation = copy_of_rows(step);
        let others =
            kernel.lets[at..].iter().take_while(|step| copy_of_rows(step).is_none()).count();
        let next = at + others.max(1);
        let (origin, own) = (Origin::Beside(kernel.id, at), part(kernel, at..next));
        parts.push(match operation {
            Some(operation) => RowsPart::Rows(operation, step, origin, own),
            None => RowsPart::Launched(origin, own),
        });
        at = next;
    }
    Some(parts)
}

/// Returns the operation that a step is, if it appends or lists whole rows.
fn copy_of_rows(step: &Let) -> Option<RowsOperation<'_>> {
    rows_step(step).filter(|operation| {
        matches!(operation, RowsOperation::Copy(SeqOp::Append, _) | RowsOperation::List(_))
    })
}
