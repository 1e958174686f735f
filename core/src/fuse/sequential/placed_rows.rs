//! Rows of a table that are computed where they are put.
//!
//! ```text
//! v3: [float] = index(v0, v1)
//! v4: [float] = index(v0, v2)
//! v7: [float] = each v5 in v3, v6 in v4 { sub(v5, v6) }     fuse v7
//! v8: [[float]] = replace(v0, v7, v1)                  →    place v8
//! ```
//!
//! The row `v7` need not be stored before it is put into the table: the loop that computes it stores its elements there. It
//! reads each element of the row that was there before it overwrites that. This module finds the rows of which the text
//! says so; [`ownership`](super::ownership) finds out what they are computed from.

use crate::ir::{Atom, Block, Let, Nest, Op, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashSet;

/// Returns the maps of a block whose one use is to be put into a table as rows, with nothing but reads between.
pub(super) fn placed_rows(block: &Block) -> FxHashSet<Var> {
    let mut rows = FxHashSet::default();
    for (at, binding) in block.lets.iter().enumerate() {
        let Some(row) = row_of(binding) else { continue };
        let before = block.lets[..at].iter().rev();
        let mut between = before.take_while(|other| is_read(other) || other.var == row);
        if let Some(made) = between.find(|other| other.var == row)
            && let Op::Nest(nest) = &made.op
            && is_plain(nest)
        {
            rows.insert(row);
        }
    }
    rows
}

/// Returns the variable that an update puts into a table whose rows are sequences of scalars.
fn row_of(binding: &Let) -> Option<Var> {
    let Op::Seq(SeqOp::Replace, args) = &binding.op else { return None };
    let row = binding.ty.element()?.element()?;
    args[1].variable().filter(|_| !row.has_sequence() && args[0] != args[1] && args[2] != args[1])
}

/// Returns true if a binding overwrites nothing.
fn is_read(binding: &Let) -> bool {
    match &binding.op {
        Op::Copy(_) | Op::Scalar(..) | Op::Pair(..) | Op::First(_) | Op::Second(_) => true,
        Op::Check { .. } => true,
        Op::Seq(op, _) => matches!(op, SeqOp::Length | SeqOp::Index | SeqOp::Range | SeqOp::Dist),
        Op::Nest(nest) => is_plain(nest),
        _ => false,
    }
}

/// Returns true if the body of an apply-to-each computes with scalars, and cannot fault.
pub(super) fn is_plain(nest: &Nest) -> bool {
    let is_scalar = |ty: &Ty| !ty.has_sequence();
    !nest.serial
        && nest.binders.iter().all(|(_, ty, _)| is_scalar(ty))
        && !nest.body.may_fault()
        && nest.body.lets.iter().all(|binding| {
            is_scalar(&binding.ty)
                && matches!(
                    binding.op,
                    Op::Copy(_) | Op::Scalar(..) | Op::Pair(..) | Op::First(_) | Op::Second(_)
                )
        })
        && !matches!(nest.body.result, Atom::Unit)
}
