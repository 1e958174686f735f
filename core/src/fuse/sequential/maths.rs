//! Mathematical functions of the results of inner loops: they are not fused with these loops, which are no loops over
//! vectors. Lowering to sequential code takes them apart where they stand together (`lower::sequential::split_maths`).

use crate::ir::{Block, Let, Op, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns true if some bindings take a mathematical function.
pub fn takes_maths(lets: &[Let]) -> bool {
    lets.iter().any(|binding| matches!(binding.op, Op::Scalar(op, _) if op.function().is_some()))
}

/// Returns true if some bindings go over sequences, in the blocks inside too.
pub fn has_loops(lets: &[Let]) -> bool {
    let mut found = false;
    for binding in lets {
        found |= is_loop(&binding.op);
        binding.op.blocks().for_each(|block| block.for_each_op(&mut |op| found |= is_loop(op)));
    }
    found
}

fn is_loop(op: &Op) -> bool {
    matches!(op, Op::Nest(_) | Op::Seq(SeqOp::Reduce(_), _))
}

/// Returns true for an operation on scalars.
pub fn is_plain(binding: &Let) -> bool {
    matches!(binding.op, Op::Scalar(..) | Op::Copy(_))
}

/// Returns the results of each apply-to-each with loops in a block of which another one takes mathematical functions.
pub(super) fn kept_apart(block: &Block) -> FxHashSet<Var> {
    let mut made: FxHashMap<Var, &[Let]> = FxHashMap::default();
    let mut apart = FxHashSet::default();
    for binding in &block.lets {
        let Op::Nest(nest) = &binding.op else { continue };
        let lets = &nest.body.lets[..];
        if takes_maths(lets) && !has_loops(lets) {
            let of = nest.binders.iter().filter_map(|(.., of)| of.variable());
            apart.extend(of.filter(|of| made.get(of).is_some_and(|lets| has_loops(lets))));
        }
        made.insert(binding.var, lets);
    }
    apart
}
