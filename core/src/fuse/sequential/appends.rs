//! Appends of more than two sequences.
//!
//! `a ++ b ++ c` is two appends, of which the first is used by the second alone. It is not stored: the
//! second one copies all three parts to their places.

use super::uses::Uses;
use crate::ir::{Block, Let, Op, Ty, Var};
use crate::prim::SeqOp;

/// Returns the appends of a block whose one use is another append of it.
///
/// The parts are read later than they would be. Between the two there are only scalars, so that nothing
/// overwrites one of them in place: no update, no call, and no append but those of the same chain, each of
/// which has the one before as an operand.
pub(super) fn append_chains(block: &Block, uses: &Uses) -> Vec<Var> {
    let mut parts = Vec::new();
    // The last append, if only reads and scalars have been computed since.
    let mut last: Option<Var> = None;
    for binding in &block.lets {
        if !is_append(binding) {
            let harmless = matches!(
                binding.op,
                Op::Copy(_)
                    | Op::Scalar(..)
                    | Op::Seq(SeqOp::Length, _)
                    | Op::First(_)
                    | Op::Second(_)
            );
            last = last.filter(|_| harmless);
            continue;
        }
        if let Some(first) = last
            && uses.once(first)
            && binding.op.operands().iter().any(|atom| atom.variable() == Some(first))
        {
            parts.push(first);
        }
        last = Some(binding.var);
    }
    parts
}

/// Returns true if a binding appends sequences whose elements contain none.
pub(super) fn is_append(binding: &Let) -> bool {
    let flat = matches!(&binding.ty, Ty::Sequence(element) if !element.has_sequence());
    flat && matches!(binding.op, Op::Seq(SeqOp::Append, _))
}
