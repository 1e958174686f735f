//! Calls in front of a conditional that ends an iteration, whose sides both use what they give.
//!
//! ```text
//! v2 = call "evens"(v1)                         if v3 { v2 = call "evens"(v1)
//! if v3 { append(v4, v2) } else { v2 }     →            append(v4, v2) }
//!                                               else { call "evens"(v1) }
//! ```

use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, FunctionBuilder, Let, Op, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Moves the calls of a function of itself into the sides of the conditionals behind them, unless something between may
/// fault: `existing` are the elements that are known to exist.
/// Returns the calls in the sides.
pub(super) fn move_calls(
    function: &mut Function,
    own: FunId,
    existing: &FxHashSet<Var>,
) -> FxHashSet<Var> {
    let mut moved = FxHashSet::default();
    let mut builder = FunctionBuilder::extending(function);
    in_block(&mut function.body, own, existing, &mut builder, &mut moved);
    moved
}

fn in_block(
    block: &mut Block,
    own: FunId,
    existing: &FxHashSet<Var>,
    builder: &mut FunctionBuilder,
    calls: &mut FxHashSet<Var>,
) {
    let is_result = |binding: &Let| block.result == Atom::Var(binding.var);
    let Some(place) = block.lets.iter().position(is_result) else { return };
    let (before, last) = block.lets.split_at_mut(place);
    let [Let { op: Op::If { cond, then, otherwise }, .. }] = last else { return };
    let is_call = |binding: &Let| matches!(&binding.op, Op::Call(callee, _) if *callee == own);
    if let Some(call) = before.iter().rposition(is_call) {
        // The call, and the parts of what it gives.
        let mut group = vec![before[call].var];
        for binding in &before[call + 1..] {
            if let Op::First(Atom::Var(of)) | Op::Second(Atom::Var(of)) = binding.op
                && group.contains(&of)
            {
                group.push(binding.var);
            }
        }
        let stays = |binding: &Let| binding.may_fault() && !existing.contains(&binding.var);
        let is_free = |binding: &Let| {
            group.contains(&binding.var) || !stays(binding) && !uses(&binding.op, &group)
        };
        if before[call + 1..].iter().all(is_free)
            && cond.variable().is_none_or(|cond| !group.contains(&cond))
            && in_side(then, &group)
            && in_side(otherwise, &group)
        {
            let is_moved = |binding: &&Let| group.contains(&binding.var);
            let moved: Vec<Let> = before.iter().filter(is_moved).cloned().collect();
            let mut names = FxHashMap::default();
            let second: Vec<Let> =
                moved.iter().map(|binding| builder.copied(binding, &mut names)).collect();
            otherwise.rename(&mut |used| Atom::Var(names.get(&used).copied().unwrap_or(used)));
            calls.extend([moved[0].var, second[0].var]);
            otherwise.lets.splice(0..0, second);
            then.lets.splice(0..0, moved);
            block.lets.retain(|binding| !group.contains(&binding.var));
        }
    }
    with_stack(|| {
        if let Some(Let { op: Op::If { then, otherwise, .. }, .. }) = block.lets.last_mut() {
            in_block(then, own, existing, builder, calls);
            in_block(otherwise, own, existing, builder, calls);
        }
    });
}

/// Returns true if a side of a conditional uses one of some variables.
fn in_side(side: &Block, vars: &[Var]) -> bool {
    side.result.variable().is_some_and(|result| vars.contains(&result))
        || side.lets.iter().any(|binding| uses(&binding.op, vars))
}

/// Returns true if an operation or a block of it uses one of some variables.
fn uses(op: &Op, vars: &[Var]) -> bool {
    let mut used = op.operands().into_iter().filter_map(|atom| atom.variable());
    used.any(|var| vars.contains(&var))
        || with_stack(|| op.blocks().any(|block| in_side(block, vars)))
}
