//! What needs no flattening: scalar code, and functions made of it.

use crate::base::with_stack;
use crate::ir::{Block, Op, Program};
use crate::prim::SeqOp;

/// Per function, whether it has no inner parallelism: it works on scalars, and reads from
/// sequences at most. A call is then best left to each point, where recursion costs nothing.
pub(super) fn functions(program: &Program) -> Vec<bool> {
    let mut scalar = vec![true; program.functions.len()];
    loop {
        let mut changed = false;
        for (id, function) in program.functions.iter().enumerate() {
            if scalar[id] && !is_scalar(&function.body, &scalar) {
                scalar[id] = false;
                changed = true;
            }
        }
        if !changed {
            return scalar;
        }
    }
}

/// Whether a block has no inner parallelism.
pub(super) fn is_scalar(block: &Block, functions: &[bool]) -> bool {
    with_stack(|| block.lets.iter().all(|binding| is_scalar_op(&binding.op, functions)))
}

/// Whether an operation has no inner parallelism.
pub(super) fn is_scalar_op(op: &Op, functions: &[bool]) -> bool {
    match op {
        Op::Copy(_)
        | Op::Scalar(..)
        | Op::Pair(..)
        | Op::First(_)
        | Op::Second(_)
        | Op::Check { .. }
        | Op::Error(_)
        | Op::Text(_)
        | Op::Seq(
            SeqOp::Length | SeqOp::Index | SeqOp::Subseq | SeqOp::HashText | SeqOp::SameText,
            _,
        ) => true,
        Op::Call(callee, _) => functions[callee.0 as usize],
        Op::If { then, otherwise, .. } => {
            is_scalar(then, functions) && is_scalar(otherwise, functions)
        }
        Op::List(_) | Op::Seq(..) | Op::Nest(_) | Op::Global(_) | Op::Host(..) | Op::Time(_) => {
            false
        }
    }
}
