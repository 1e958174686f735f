//! The operations on the sequences of many elements that the array library of the engine has for all of
//! them at once: it copies, orders, groups or divides whole rows, however unequal their lengths.

use super::{Kernel, Let, Op};
use crate::ir::{self, Atom, Var};
use crate::prim::{Cost, SeqOp};

/// An operation on the sequences of many elements, which the array library has for all of them at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowsOperation<'k> {
    /// A copy of whole sequences.
    Copy(SeqOp, &'k [Atom]),
    /// A list of values that contain sequences, with as many at each element: views where all of them are
    /// of the same array.
    List(&'k [Atom]),
    /// The ranks of the elements of each sequence, by this operation.
    Rank(SeqOp, Var),
    /// The elements of each sequence in the order of their ranks by this operation.
    Sort(SeqOp, Var),
    /// The groups of equal elements of each sequence. Further steps take halves of the result.
    Groups(Var),
    /// The elements of each sequence, moved to indices.
    Permute(Var, Var),
    /// The parts of each sequence, of given lengths.
    Partition(Var, Var),
}

impl RowsOperation<'_> {
    /// Returns true if it takes more than a copy of the elements: it orders or compares them.
    pub fn is_ordering(&self) -> bool {
        match self {
            RowsOperation::Rank(..) | RowsOperation::Sort(..) | RowsOperation::Groups(_) => true,
            RowsOperation::Copy(..)
            | RowsOperation::List(_)
            | RowsOperation::Permute(..)
            | RowsOperation::Partition(..) => false,
        }
    }
}

/// Returns the one operation of a kernel, if the array library has it for many segments; the halves of its
/// result may be taken in the same kernel.
pub fn rows_operation(kernel: &Kernel) -> Option<RowsOperation<'_>> {
    let (first, rest) = kernel.lets.split_first()?;
    let operation = rows_step(first)?;
    let fits = |step: &Let| step.space == kernel.space;
    let alone = kernel.masks.is_empty() && fits(first);
    (alone && rest.iter().all(|step| fits(step) && is_half_of(step, first))).then_some(operation)
}

/// Returns the operation that a step is, if the array library has it for many segments.
pub fn rows_step(step: &Let) -> Option<RowsOperation<'_>> {
    let (op, args) = match &step.op {
        Op::Map(ir::Op::Seq(op, args)) => (*op, args),
        Op::Map(ir::Op::List(args)) => {
            let element = step.ty.element()?;
            let takes =
                element.has_sequence() && args.iter().all(|arg| matches!(arg, Atom::Var(_)));
            return (takes && !args.is_empty()).then_some(RowsOperation::List(args));
        }
        Op::Sequential(block) => {
            return as_sort(block).map(|(rank, keys)| RowsOperation::Sort(rank, keys));
        }
        _ => return None,
    };
    match (op, &args[..]) {
        (SeqOp::RankUp | SeqOp::RankDown | SeqOp::RankTexts, [Atom::Var(keys)]) => {
            Some(RowsOperation::Rank(op, *keys))
        }
        (SeqOp::Groups, [Atom::Var(elements)]) => Some(RowsOperation::Groups(*elements)),
        (SeqOp::Permute, [Atom::Var(of), Atom::Var(indices)]) => {
            Some(RowsOperation::Permute(*of, *indices))
        }
        (SeqOp::Partition, [Atom::Var(of), Atom::Var(counts)]) => {
            Some(RowsOperation::Partition(*of, *counts))
        }
        _ if op.row().cost == Cost::Copy => Some(RowsOperation::Copy(op, args)),
        _ => None,
    }
}

/// Returns true if a step takes a half of the pairs that another one gives.
pub fn is_half_of(step: &Let, pairs: &Let) -> bool {
    matches!(step.op, Op::Map(ir::Op::First(of) | ir::Op::Second(of)) if of == Atom::Var(pairs.var))
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
