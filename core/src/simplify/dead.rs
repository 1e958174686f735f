//! Removes dead code: values that nobody uses, of operations without effects.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, Op, Var};
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
            let binding = &mut block.lets[i];
            let succeeds = known_to_succeed.contains(&binding.var) || !binding.may_fault();
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

fn mark(atom: Atom, used: &mut FxHashSet<Var>) {
    if let Atom::Var(var) = atom {
        used.insert(var);
    }
}
