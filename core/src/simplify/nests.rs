//! An apply-to-each over what another one makes becomes one: `{g(y) : y in {f(x) : x in xs}}` is
//! `{g(f(x)) : x in xs}`, if nobody else looks at the elements. What `f` makes, sequences
//! perhaps, is then used up where it is made.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Effects, Function, Let, Nest, Op, Var};
use rustc_hash::FxHashMap;

/// Joins the nests of a function.
pub(super) fn join(function: &mut Function, effects: &Effects) {
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    count(&function.body, &mut uses);
    block(&mut function.body, &uses, effects);
}

/// How often each variable is used in a block.
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

/// Which of the bindings before it is a nest that only this one runs over. What may fault does not
/// pass what is done outside.
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
        unreachable!("it is a nest")
    };
    let at = binders.iter().position(|(.., atom)| *atom == Atom::Var(var));
    let at = at.expect("it runs over it");
    let (element, ty, _) = binders.remove(at);
    // In its place: who finds the lengths different says them in order.
    binders.splice(at..at, inner.binders);
    let mut lets = inner.body.lets;
    lets.push(Let { var: element, ty, op: Op::Copy(inner.body.result), site });
    lets.append(&mut nest.body.lets);
    nest.body.lets = lets;
}
