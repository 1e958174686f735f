//! Maps that the sides of a conditional compute again, so that nobody stores them.
//!
//! ```text
//! v1: [int] = each v2 in v0 { f(v2) }           v1: [int] = each v2 in v0 { f(v2) }
//! v3: int = reduce_max(v1)                      v3: int = reduce_max(v1)
//! v4 = if … { histogram_sum(…, v1, …) }    →    v4 = if … { v5: [int] = each v6 in v0 { f(v6) }
//!                                                           histogram_sum(…, v5, …) }
//!      else { … }                                    else { … }
//! ```
//!
//! A kernel that reduces the map has its elements in registers. For a later side, which is often not even
//! taken, it would have to store them: groups by keys that are computed, say, are first counted by a table of
//! a guessed size, and by a larger one if that was too small.
//!
//! It is the rematerialisation of [`fuse`](mod@crate::fuse) for what lies in different index spaces. Invariants: a
//! map is computed again from one sequence, by a few scalar operations, and in no nest that its binding is
//! not in; a fault that an operation may have has occurred the first time.

use crate::base::with_stack;
use crate::ir::{Atom, Block, FunctionBuilder, Let, Nest, Op, Program, Var};
use crate::prim::{Cost, SeqOp};
use crate::thresholds::Thresholds;
use rustc_hash::FxHashMap;

/// Has the sides of conditionals compute maps again.
pub(super) fn compute_again(mut program: Program, limits: &Thresholds) -> Program {
    for function in &mut program.functions {
        let builder = FunctionBuilder::extending(function);
        let most = limits.max_rematerialised_operations;
        Repetition { builder, most }.block(&mut function.body);
    }
    program
}

struct Repetition {
    /// Names the variables of copies.
    builder: FunctionBuilder,
    /// The operations of the body of a map that is computed again, at most.
    most: usize,
}

impl Repetition {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for at in 0..block.lets.len() {
                let (before, after) = block.lets.split_at_mut(at + 1);
                let map = &before[at];
                if self.is_cheap_map(map) && is_only_streamed(map.var, after, block.result) {
                    for binding in after {
                        self.conditional(&mut binding.op, map);
                    }
                }
            }
            for binding in &mut block.lets {
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
            }
        });
    }

    /// Has the sides that use a map compute it again, if an operation is a conditional.
    fn conditional(&mut self, op: &mut Op, map: &Let) {
        let Op::If { then, otherwise, .. } = op else { return };
        for side in [then, otherwise] {
            let is_conditional = |binding: &Let| matches!(binding.op, Op::If { .. });
            let mut others = side.lets.iter().filter(|binding| !is_conditional(binding));
            let used = side.result == Atom::Var(map.var)
                || others.any(|binding| uses(&binding.op, map.var));
            if used {
                let again = self.builder.copied(map, &mut FxHashMap::default());
                let (old, new) = (map.var, again.var);
                side.rename(&mut |var| Atom::Var(if var == old { new } else { var }));
                side.lets.insert(0, again);
            } else {
                side.lets.iter_mut().for_each(|binding| self.conditional(&mut binding.op, map));
            }
        }
    }

    /// Returns true for a map of one sequence by a few scalar operations.
    fn is_cheap_map(&self, binding: &Let) -> bool {
        let Op::Nest(Nest { binders, body, serial: false }) = &binding.op else { return false };
        let [(_, element, _)] = &binders[..] else { return false };
        let is_flat = |binding: &Let| !binding.ty.has_sequence();
        !element.has_sequence()
            && !binding.ty.element().is_some_and(|element| element.has_sequence())
            && body.lets.iter().all(is_flat)
            && operations(body).is_some_and(|count| (1..=self.most).contains(&count))
    }
}

/// Returns true if the steps after the binding of a sequence, apart from the sides of conditionals, need it
/// element by element only, and some do.
fn is_only_streamed(var: Var, after: &[Let], result: Atom) -> bool {
    let mut streamed = false;
    for binding in after {
        let inside = |block: &Block| block_uses(block, var);
        let is_operand = binding.op.operands().contains(&Atom::Var(var));
        let allowed = match &binding.op {
            Op::If { .. } => !is_operand,
            Op::Nest(nest) => !inside(&nest.body),
            Op::Seq(SeqOp::Reduce(_) | SeqOp::Scan(_) | SeqOp::Histogram(_), _) => true,
            op => !is_operand && !op.blocks().any(inside),
        };
        if !allowed {
            return false;
        }
        streamed |= is_operand;
    }
    streamed && result != Atom::Var(var)
}

/// Returns the number of operations of a block of scalar code; `None` for other code.
fn operations(block: &Block) -> Option<usize> {
    let mut count = 0;
    for binding in &block.lets {
        count += match &binding.op {
            Op::If { then, otherwise, .. } => 1 + operations(then)? + operations(otherwise)?,
            op if op.costs_at_most(Cost::Scalar, &binding.ty) => 1,
            _ => return None,
        };
    }
    Some(count)
}

fn uses(op: &Op, var: Var) -> bool {
    op.operands().contains(&Atom::Var(var)) || op.blocks().any(|block| block_uses(block, var))
}

fn block_uses(block: &Block, var: Var) -> bool {
    with_stack(|| {
        block.result == Atom::Var(var) || block.lets.iter().any(|binding| uses(&binding.op, var))
    })
}
