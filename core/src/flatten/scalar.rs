//! Finds scalar code, and functions made of it, which need no flattening.

use crate::base::with_stack;
use crate::ir::{Block, Let, Op, Program};
use crate::prim::Cost;

/// Returns for each function whether it has no inner parallelism: it computes with scalars, and
/// only reads elements of sequences. Each element then calls it sequentially, so that a recursion
/// needs no launches.
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

/// Returns true if a block has no inner parallelism; `functions` is the result of [`functions()`].
pub(super) fn is_scalar(block: &Block, functions: &[bool]) -> bool {
    with_stack(|| block.lets.iter().all(|binding| is_scalar_op(binding, functions)))
}

/// Returns true if an operation has no inner parallelism; `functions` is the result of
/// [`functions()`].
pub(super) fn is_scalar_op(binding: &Let, functions: &[bool]) -> bool {
    match &binding.op {
        Op::Call(callee, _) => functions[callee.0 as usize],
        Op::If { then, otherwise, .. } => {
            is_scalar(then, functions) && is_scalar(otherwise, functions)
        }
        op => op.costs_at_most(Cost::Chars, &binding.ty),
    }
}
