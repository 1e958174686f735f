//! Removes dead code: values that nobody uses, of operations without effects.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, Op, Var};
use rustc_hash::FxHashSet;

/// Removes bindings that nobody uses and that cannot fault.
pub(super) fn remove(function: &mut Function) {
    let mut used = FxHashSet::default();
    block(&mut function.body, &mut used);
}

fn block(block: &mut Block, used: &mut FxHashSet<Var>) {
    with_stack(|| {
        mark(block.result, used);
        for i in (0..block.lets.len()).rev() {
            let binding = &mut block.lets[i];
            if !used.contains(&binding.var) && !binding.may_fault() {
                binding.op = Op::Copy(Atom::Unit);
                continue;
            }
            for atom in binding.op.operands() {
                mark(atom, used);
            }
            binding.op.blocks_mut().for_each(|inner| self::block(inner, used));
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
