//! Removes dead code: values that nobody uses, of operations without effects.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, Let, Op, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashSet;

/// Removes bindings that nobody uses and that cannot fault.
pub(super) fn remove(function: &mut Function) {
    remove_with(function, &FxHashSet::default());
}

/// Removes bindings that nobody uses and that cannot fault, among them those that are `known_to_succeed`.
pub(super) fn remove_with(function: &mut Function, known_to_succeed: &FxHashSet<Var>) {
    let mut used = FxHashSet::default();
    block(&mut function.body, &mut used, known_to_succeed);
}

fn block(block: &mut Block, used: &mut FxHashSet<Var>, known_to_succeed: &FxHashSet<Var>) {
    with_stack(|| {
        mark(block.result, used);
        for i in (0..block.lets.len()).rev() {
            let (before, behind) = block.lets.split_at_mut(i);
            let binding = &mut behind[0];
            let succeeds = known_to_succeed.contains(&binding.var)
                || !binding.may_fault()
                || is_filter_by_own_flags(&binding.op, before);
            if succeeds && !used.contains(&binding.var) {
                binding.op = Op::Copy(Atom::Unit);
                continue;
            }
            for atom in binding.op.operands() {
                mark(atom, used);
            }
            binding.op.blocks_mut().for_each(|inner| self::block(inner, used, known_to_succeed));
        }
        block.lets.retain(|binding| {
            used.contains(&binding.var) || !matches!(binding.op, Op::Copy(Atom::Unit))
        });
    });
}

/// Returns true for a filter of a sequence by flags that are computed of its elements: there are as many. What a
/// condition reads of several sequences is often not used of all those that it keeps.
fn is_filter_by_own_flags(op: &Op, before: &[Let]) -> bool {
    let Op::Seq(SeqOp::Pack, args) = op else { return false };
    let flags = before.iter().rev().find(|binding| Atom::Var(binding.var) == args[1]);
    let Some(Op::Nest(nest)) = flags.map(|flags| &flags.op) else { return false };
    nest.binders.iter().any(|(.., of)| *of == args[0])
}

fn mark(atom: Atom, used: &mut FxHashSet<Var>) {
    if let Atom::Var(var) = atom {
        used.insert(var);
    }
}
