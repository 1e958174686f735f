//! Code of a kernel over segments that is the same for all elements of a segment: it is executed before the loop over
//! these elements.
//!
//! ```text
//! for segment in chunk                               for segment in chunk
//!   for element in segment ∩ chunk                     if segment ∩ chunk is not empty
//!     start = load starts[segment]               →       start = load starts[segment]
//!     x = load a[start + position]                       for element in segment ∩ chunk
//!     …                                                    x = load a[start + position]
//! ```
//!
//! A segment mostly finds its rows, and factors that belong to a row, in arrays with an element for each segment.
//! Such a load may move, although the kernel stores: what elements store is not loaded by others. It stays behind
//! everything that may end an element's work, such as the check of its index; a check before which all has moved moves,
//! too, since it fails for the first element, if it does.

use super::stage_groups::StageGroup;
use nesl_runtime::kir::{Class, Inst, Kernel, Op, Sink, Value, walk};
use rustc_hash::FxHashSet;

/// Splits the code of a group of stages: what is the same for all elements of a segment, in order, and the rest.
/// Returns `None` if the former only makes constants.
pub fn split<'a>(
    kernel: &Kernel,
    group: &StageGroup<'a>,
) -> Option<(Vec<&'a Inst>, StageGroup<'a>)> {
    let mut varying = varying(kernel, group);
    let (mut moved, mut code) = (Vec::new(), Vec::new());
    let mut may_have_ended = false;
    for stage in &group.code {
        let mut rest = Vec::with_capacity(stage.len());
        for inst in stage {
            let mut moves = match inst.op.class() {
                Class::Pure | Class::Address => true,
                Class::Read => !may_have_ended,
                Class::Trap => !may_have_ended && matches!(inst.op, Op::Check { .. }),
                Class::Control | Class::Call | Class::Intrinsic => false,
                Class::Write | Class::Allocate => false,
            };
            inst.op.each_operand(|v| moves &= !varying.contains(&v));
            may_have_ended |= match inst.op.class() {
                Class::Trap | Class::Control | Class::Call | Class::Intrinsic => !moves,
                Class::Pure | Class::Address | Class::Read | Class::Write | Class::Allocate => {
                    false
                }
            };
            if moves {
                inst.results.iter().for_each(|v| {
                    varying.remove(v);
                });
                moved.push(*inst);
            } else {
                rest.push(*inst);
            }
        }
        code.push(rest);
    }
    let computes = moved.iter().any(|inst| !matches!(inst.op, Op::Const(_)));
    let rest = StageGroup { code, tasks: group.tasks.clone(), own: group.own };
    computes.then_some((moved, rest))
}

/// The values that differ between the elements of a segment, as far as is known before: all that the group defines, the
/// numbers of the element, and scans.
fn varying(kernel: &Kernel, group: &StageGroup<'_>) -> FxHashSet<Value> {
    let mut varying: FxHashSet<Value> = kernel.indices[1..].iter().copied().collect();
    for inst in group.code.iter().flatten() {
        varying.extend(&inst.results);
        for block in inst.op.blocks() {
            walk::each_inst(block, &mut |inst| varying.extend(&inst.results));
        }
    }
    for task in &group.tasks {
        let is_known = matches!(task.sink, Sink::Reduce { .. }) && task.stage < group.own;
        varying.extend(task.result().filter(|_| !is_known));
    }
    varying
}
