//! Fuses an apply-to-each with the one that makes its sequence: `{g(y) : y in {f(x) : x in xs}}` is
//! `{g(f(x)) : x in xs}`, if nobody else looks at the elements. What `f` makes, sequences
//! perhaps, is then used up where it is made.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Effects, Function, Let, Nest, Op, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

/// Joins the nests of a function.
pub(super) fn join(function: &mut Function, effects: &Effects) {
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    count(&function.body, &mut uses);
    block(&mut function.body, &uses, effects);
}

/// Counts the uses of each variable in a block.
pub(super) fn count(block: &Block, uses: &mut FxHashMap<Var, usize>) {
    let mut used = |atom: Atom| {
        if let Atom::Var(var) = atom {
            *uses.entry(var).or_default() += 1;
        }
    };
    used(block.result);
    block.each_let(&mut |binding| {
        binding.op.operands().into_iter().for_each(&mut used);
        binding.op.blocks().for_each(|inner| used(inner.result));
    });
}

fn block(block: &mut Block, uses: &FxHashMap<Var, usize>, effects: &Effects) {
    with_stack(|| {
        let mut lets: Vec<Let> = Vec::with_capacity(block.lets.len());
        for mut binding in std::mem::take(&mut block.lets) {
            if let Op::Nest(nest) = &mut binding.op {
                while let Some(inner) = producer(nest, &lets, uses, effects) {
                    let inner = lets.remove(inner);
                    binding.site = if nest.binders.len() == 1 { inner.site } else { binding.site };
                    take_in(nest, inner);
                }
            }
            binding.op.blocks_mut().for_each(|inner| self::block(inner, uses, effects));
            lets.push(binding);
        }
        block.lets = lets;
    });
}

/// The index of the binding of a nest that only this one runs over. A nest that may fault is not
/// moved across effects.
fn producer(
    nest: &Nest,
    lets: &[Let],
    uses: &FxHashMap<Var, usize>,
    effects: &Effects,
) -> Option<usize> {
    let has_effects = |binding: &Let| effects.in_op(&binding.op);
    let found = lets.iter().rposition(|binding| {
        let Op::Nest(inner) = &binding.op else { return false };
        let over = nest.binders.iter().any(|(.., atom)| *atom == Atom::Var(binding.var));
        // That sequences are equally long is checked at one place.
        let one = nest.binders.len() == 1 || inner.binders.len() == 1;
        over && one
            && uses.get(&binding.var) == Some(&1)
            && !nest.serial
            && !inner.serial
            && !effects.in_block(&inner.body)
            && !effects.in_block(&nest.body)
    })?;
    let passes = !lets[found].may_fault() || !lets[found + 1..].iter().any(has_effects);
    passes.then_some(found)
}

/// Puts the body of a nest before that of the nest that runs over its elements.
fn take_in(nest: &mut Nest, inner: Let) {
    let (Let { var, op: Op::Nest(inner), site, .. }, binders) = (inner, &mut nest.binders) else {
        bug!("the binding is a nest")
    };
    let at = binders.iter().position(|(.., atom)| *atom == Atom::Var(var));
    let at = at.or_bug("the nest runs over the sequence");
    let (element, ty, _) = binders.remove(at);
    // In its place: who finds the lengths different says them in order.
    binders.splice(at..at, inner.binders);
    let mut lets = inner.body.lets;
    lets.push(Let { var: element, ty, op: Op::Copy(inner.body.result), site });
    lets.append(&mut nest.body.lets);
    nest.body.lets = lets;
}
