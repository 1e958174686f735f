//! The component that may run a program, a kernel or a step of one.
//!
//! A program goes to a runtime if there is a loop over elements in it. A kernel over many elements
//! is launched, unless it is one operation that the engine's array library does for all segments
//! at once. On the host's own path, where an index space has one element, a kernel is taken apart
//! into steps: scalar code and operations on whole sequences are the host's, and only what loops is
//! launched.

use crate::base::with_stack;
use crate::flat::{Kernel, Let, Op};
use crate::host_program::HostOnly;
use crate::ir::{self, Atom, Program, Ty, Var};
use crate::prim::{Cost, SeqOp};
use std::ops::Range;

/// Returns true if a program may have more to do than there is to compile: it loops or calls.
pub fn worth_compiling(program: &Program) -> bool {
    let mut loops = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            loops |= match op {
                ir::Op::Nest(_) | ir::Op::Call(..) | ir::Op::Global(_) => true,
                ir::Op::Seq(op, _) => op.row().cost == Cost::Generate,
                _ => false,
            }
        });
    }
    loops
}

/// Returns true if a program with effects has no work for a runtime, provided that its inputs are
/// on the host.
pub fn left_to_interpreter(program: &Program) -> bool {
    HostOnly::of(program).function(program.main)
}

/// The component that executes a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement<'k> {
    /// The host does it step by step, and launches only the steps that loop ([`launched_steps`]).
    HostSteps,
    /// The array library does this operation on these operands for all segments at once.
    ArrayOperation(SeqOp, &'k [Atom]),
    /// The runtime executes it in one launch.
    Launch,
}

/// Returns the component that executes a kernel; `single` if its index space has one element, on
/// the host's own path.
pub fn placement(kernel: &Kernel, single: bool) -> Placement<'_> {
    match (single, array_operation(kernel)) {
        (true, _) if has_host_steps(kernel) => Placement::HostSteps,
        (false, Some((op, args))) => Placement::ArrayOperation(op, args),
        _ => Placement::Launch,
    }
}

/// Returns the one operation of a kernel, if the array library has it for many segments.
fn array_operation(kernel: &Kernel) -> Option<(SeqOp, &[Atom])> {
    let [binding] = &kernel.lets[..] else { return None };
    match &binding.op {
        Op::Map(ir::Op::Seq(op @ (SeqOp::Flatten | SeqOp::Append), args))
            if kernel.masks.is_empty() && binding.space == kernel.space =>
        {
            Some((*op, args))
        }
        _ => None,
    }
}

/// Returns true if a kernel of one element can be taken apart, and the host does some step of it.
fn has_host_steps(kernel: &Kernel) -> bool {
    let separable =
        |step: &Let| is_host_step(step) || matches!(step.op, Op::Map(_) | Op::Sequential(_));
    kernel.masks.is_empty()
        && kernel.lets.iter().all(separable)
        && kernel.lets.iter().any(is_host_step)
}

/// Returns the consecutive steps from `first` on that are launched together because the host does
/// none of them.
pub fn launched_steps(kernel: &Kernel, first: usize) -> Range<usize> {
    let count = kernel.lets[first..].iter().take_while(|step| !is_host_step(step)).count();
    first..first + count
}

/// Returns true if the host does a step of a kernel over one element: it looks at a few elements
/// at most, or it is an operation of the array library.
pub fn is_host_step(step: &Let) -> bool {
    match &step.op {
        Op::Map(op) => is_scalar_step(op, &step.ty) || is_array_step(op),
        Op::Extent(..) | Op::SameLength(..) => true,
        Op::Sequential(block) => as_sort(block).is_some(),
        _ => false,
    }
}

/// Returns the rank operation and the keys of a block that does nothing but sort: it permutes a
/// sequence by the ranks of its elements.
pub fn as_sort(block: &ir::Block) -> Option<(SeqOp, Var)> {
    let [rank, moved] = &block.lets[..] else { return None };
    let (ir::Op::Seq(op, keys), ir::Op::Seq(SeqOp::Permute, args)) = (&rank.op, &moved.op) else {
        return None;
    };
    let is_rank = matches!(op, SeqOp::RankUp | SeqOp::RankDown);
    let same = args[..] == [keys[0], Atom::Var(rank.var)];
    match keys[0] {
        Atom::Var(keys) if is_rank && same && block.result == Atom::Var(moved.var) => {
            Some((*op, keys))
        }
        _ => None,
    }
}

fn is_scalar_step(op: &ir::Op, ty: &Ty) -> bool {
    let in_side = |binding: &ir::Let| {
        is_scalar_step(&binding.op, &binding.ty)
            || matches!(binding.op, ir::Op::Seq(SeqOp::Index, _))
    };
    match op {
        ir::Op::If { then, otherwise, .. } => {
            with_stack(|| [then, otherwise].iter().all(|side| side.lets.iter().all(in_side)))
        }
        op => op.costs_at_most(Cost::Check, ty),
    }
}

fn is_array_step(op: &ir::Op) -> bool {
    match op {
        ir::Op::Seq(op, _) => is_array_operation(*op),
        ir::Op::List(_) => true,
        _ => false,
    }
}

/// Returns true if the array library has an operation for one sequence.
pub fn is_array_operation(op: SeqOp) -> bool {
    matches!(
        op,
        SeqOp::Index
            | SeqOp::Subseq
            | SeqOp::Append
            | SeqOp::Flatten
            | SeqOp::Partition
            | SeqOp::Permute
            | SeqOp::Replace
            | SeqOp::Scatter
            | SeqOp::RankUp
            | SeqOp::RankDown
            | SeqOp::Groups
    )
}
