//! The updates that a function may do in place: those of elements, and of rows of the tables that it gives to itself.
//!
//! A loop over such a table owns it from its second turn on.

use crate::ir::{Block, FunId, Function, Op, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashSet;

/// Returns true if a block may have operations whose result differs from an operand in a few elements.
pub(super) fn has_updates(block: &Block) -> bool {
    let mut changes = false;
    block.for_each_op(&mut |op| {
        changes |= matches!(op, Op::Seq(SeqOp::Replace | SeqOp::Scatter | SeqOp::Append, _));
    });
    changes
}

/// Returns true if a function may change the rows of a table that it gives to itself.
pub fn changes_rows(function: &Function, id: FunId) -> bool {
    let given = given_to_itself(function, id);
    let mut changes = false;
    function.body.each_let(&mut |binding| {
        let is_table = binding.ty.element().is_some_and(Ty::has_sequence);
        changes |= is_table && given.contains(&binding.var) && matches!(binding.op, Op::Nest(_));
    });
    changes
}

/// Returns the variables that a function calls itself with, the parts of those that are pairs, the results of the sides
/// of those that are conditionals, and the sequences that those which are updates change.
pub fn given_to_itself(function: &Function, id: FunId) -> FxHashSet<Var> {
    let mut given: FxHashSet<Var> = FxHashSet::default();
    function.body.for_each_op(&mut |op| {
        if let Op::Call(callee, args) = op
            && *callee == id
        {
            given.extend(args.iter().filter_map(|arg| arg.variable()));
        }
    });
    let mut lets = Vec::new();
    if !given.is_empty() {
        function.body.each_let(&mut |binding| lets.push(binding));
    }
    loop {
        let before = given.len();
        for binding in lets.iter().rev().filter(|binding| binding.ty.has_sequence()) {
            let parts = match &binding.op {
                Op::Pair(a, b) => vec![a, b],
                Op::If { then, otherwise, .. } => vec![&then.result, &otherwise.result],
                Op::Seq(SeqOp::Replace | SeqOp::Scatter, args) => vec![&args[0]],
                _ => continue,
            };
            if given.contains(&binding.var) {
                given.extend(parts.into_iter().filter_map(|part| part.variable()));
            }
        }
        if given.len() == before {
            return given;
        }
    }
}
