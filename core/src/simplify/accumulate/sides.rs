//! Calls in front of a conditional that ends an iteration, whose sides both use what they give.
//!
//! ```text
//! v2 = call "evens"(v1)                         if v3 { v2 = call "evens"(v1)
//! if v3 { append(v4, v2) } else { v2 }     →            append(v4, v2) }
//!                                               else { call "evens"(v1) }
//! ```

use super::FxHashSet;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, FunctionBuilder, Let, Op, Var};

/// Moves the calls of a function of itself into the sides of the conditionals behind them, unless something between may
/// fault: `existing` are the elements that are known to exist.
pub(super) fn move_calls(function: &mut Function, own: FunId, existing: &FxHashSet<Var>) {
    let mut builder = FunctionBuilder::extending(function);
    in_block(&mut function.body, own, existing, &mut builder);
}

fn in_block(
    block: &mut Block,
    own: FunId,
    existing: &FxHashSet<Var>,
    builder: &mut FunctionBuilder,
) {
    let is_result = |binding: &Let| block.result == Atom::Var(binding.var);
    let Some(place) = block.lets.iter().position(is_result) else { return };
    let (before, last) = block.lets.split_at_mut(place);
    let [Let { op: Op::If { cond, then, otherwise }, .. }] = last else { return };
    let is_call = |binding: &Let| matches!(&binding.op, Op::Call(callee, _) if *callee == own);
    if let Some(call) = before.iter().rposition(is_call) {
        let var = before[call].var;
        let stays = |binding: &Let| binding.may_fault() && !existing.contains(&binding.var);
        let is_free = |binding: &Let| !stays(binding) && !uses(&binding.op, var);
        if before[call + 1..].iter().all(is_free)
            && *cond != Atom::Var(var)
            && in_side(then, var)
            && in_side(otherwise, var)
        {
            let mut second = before[call].clone();
            second.var = builder.fresh(second.ty.clone());
            otherwise.rename(&mut |used| Atom::Var(if used == var { second.var } else { used }));
            otherwise.lets.insert(0, second);
            then.lets.insert(0, before[call].clone());
            block.lets.remove(call);
        }
    }
    with_stack(|| {
        if let Some(Let { op: Op::If { then, otherwise, .. }, .. }) = block.lets.last_mut() {
            in_block(then, own, existing, builder);
            in_block(otherwise, own, existing, builder);
        }
    });
}

/// Returns true if a side of a conditional uses a variable.
fn in_side(side: &Block, var: Var) -> bool {
    side.result == Atom::Var(var) || side.lets.iter().any(|binding| uses(&binding.op, var))
}

/// Returns true if an operation or a block of it uses a variable.
fn uses(op: &Op, var: Var) -> bool {
    op.operands().contains(&Atom::Var(var)) || with_stack(|| op.blocks().any(|b| in_side(b, var)))
}
