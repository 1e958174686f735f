//! The kernels of one element that the host evaluates itself.
//!
//! A launch costs far more than a scalar operation. So if a kernel's index space has one element,
//! the host evaluates the steps that read a few elements or move whole columns. The steps between
//! them are launched as kernels of their own ([`parts`]).

use crate::base::with_stack;
use crate::flat::{Kernel, Let, Op};
use crate::ir::{self, Atom, Ty, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Returns true if the host evaluates a kernel step by step; its index space has one element.
pub fn in_steps(kernel: &Kernel) -> bool {
    let stepwise =
        |step: &Let| is_for_host(step) || matches!(step.op, Op::Map(_) | Op::Sequential(_));
    kernel.masks.is_empty()
        && kernel.lets.iter().all(stepwise)
        && kernel.lets.iter().any(is_for_host)
}

/// Returns the kernels launched between the steps that the host evaluates, each with the index of
/// its first step.
pub fn parts(kernel: &Kernel) -> Vec<(usize, Kernel)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < kernel.lets.len() {
        let some = run_from(kernel, at);
        at = some.end.max(at + 1);
        if !some.is_empty() {
            all.push((some.start, part(kernel, some)));
        }
    }
    all
}

/// Returns true if the host evaluates a step: it reads at most a few elements, or moves whole
/// columns.
fn is_for_host(step: &Let) -> bool {
    match &step.op {
        Op::Map(op) => is_scalar_step(op, &step.ty) || is_structural(op),
        Op::Extent(..) | Op::SameLength(..) => true,
        Op::Sequential(block) => is_sort(block),
        _ => false,
    }
}

/// Returns true for a block that sorts a sequence: it permutes it by its ranks, and does nothing
/// else.
fn is_sort(block: &ir::Block) -> bool {
    let [rank, moved] = &block.lets[..] else { return false };
    let (ir::Op::Seq(op, keys), ir::Op::Seq(SeqOp::Permute, args)) = (&rank.op, &moved.op) else {
        return false;
    };
    matches!(op, SeqOp::RankUp | SeqOp::RankDown)
        && args[..] == [keys[0], Atom::Var(rank.var)]
        && matches!(keys[0], Atom::Var(_))
        && block.result == Atom::Var(moved.var)
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

fn is_structural(op: &ir::Op) -> bool {
    use SeqOp::*;
    match op {
        ir::Op::Seq(op, _) => matches!(
            op,
            Index
                | Subseq
                | Append
                | Flatten
                | Partition
                | Permute
                | Replace
                | Scatter
                | RankUp
                | RankDown
                | Groups
        ),
        ir::Op::List(_) => true,
        _ => false,
    }
}

/// Returns the steps from index `at` up to the next one that the host evaluates.
fn run_from(kernel: &Kernel, at: usize) -> Range<usize> {
    at..at + kernel.lets[at..].iter().take_while(|l| !is_for_host(l)).count()
}

/// Returns a kernel of some steps, which stores the values that are used after them.
fn part(kernel: &Kernel, some: Range<usize>) -> Kernel {
    let lets: Vec<Let> = kernel.lets[some.clone()].to_vec();
    let mut needed: FxHashSet<Var> = kernel.stores.iter().map(|(var, _)| *var).collect();
    for binding in &kernel.lets[some.end..] {
        binding.op.each_use(&mut |var| {
            needed.insert(var);
        });
    }
    let stores = lets.iter().filter(|binding| needed.contains(&binding.var));
    let stores = stores.map(|binding| (binding.var, binding.space)).collect();
    Kernel { lets, stores, ..kernel.clone() }
}
