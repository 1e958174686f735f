//! Light kernels: those whose elements take a few cheap operations each.
//!
//! The loop of sequential code over numbers is vectorised, and keeps what it computes in registers. It takes about
//! as long for thousands of such elements as a launch takes to begin.

use super::Thresholds;
use crate::base::with_stack;
use crate::flat::{Kernel, Let, Op, rows_operation};
use crate::ir::{self, Atom};
use crate::prim::{Cost, SeqOp};
use nesl_runtime::scalar::ScalarOp;

/// Returns true if the elements of a kernel take a few cheap operations each, as a sum or a map of numbers does: the
/// loop of sequential code over as many takes about as long as the launch. The elements of a kernel of sequential
/// code are those of its loops.
pub fn is_light(kernel: &Kernel, limits: &Thresholds) -> bool {
    let mut operations = 0;
    let is_cheap = |step: &Let| match &step.op {
        Op::Map(op) => has_cheap_operations(op, &step.ty, &mut operations),
        Op::Sequential(block) => has_cheap_loops(block, &mut operations),
        Op::Reduce { .. } => true,
        op => op.cost(&step.ty) <= Cost::Element,
    };
    rows_operation(kernel).is_none()
        && kernel.lets.iter().all(is_cheap)
        && operations <= limits.max_light_operations
}

/// Returns true if the operations of a step are cheap, with those in the sides of conditionals; counts them.
fn has_cheap_operations(op: &ir::Op, result: &ir::Ty, count: &mut usize) -> bool {
    *count += 1;
    match op {
        ir::Op::If { then, otherwise, .. } => with_stack(|| {
            let lets = then.lets.iter().chain(&otherwise.lets);
            lets.into_iter().all(|inner| has_cheap_operations(&inner.op, &inner.ty, count))
        }),
        // A division by a constant is a product and a shift.
        ir::Op::Scalar(ScalarOp::Div | ScalarOp::Rem, args)
            if matches!(args[1], Atom::Int(2..)) =>
        {
            true
        }
        op => matches!(op.cost(result), Cost::Free | Cost::Cheap | Cost::Check | Cost::Element),
    }
}

/// Returns true if sequential code consists of cheap operations, and of loops of such; counts the operations.
fn has_cheap_loops(block: &ir::Block, count: &mut usize) -> bool {
    with_stack(|| {
        block.lets.iter().all(|binding| match &binding.op {
            ir::Op::Nest(nest) => has_cheap_loops(&nest.body, count),
            ir::Op::If { then, otherwise, .. } => {
                *count += 1;
                has_cheap_loops(then, count) && has_cheap_loops(otherwise, count)
            }
            ir::Op::Seq(SeqOp::Reduce(_) | SeqOp::Range | SeqOp::Dist | SeqOp::Replace, _) => {
                *count += 1;
                true
            }
            op => has_cheap_operations(op, &binding.ty, count),
        })
    })
}
