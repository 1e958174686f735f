//! Vertical fusion of maps on the core language: an apply-to-each over the result of another becomes
//! one, if nothing else uses that result.
//!
//! ```text
//! v1: [int] = each v2 in v0 { f(v2) }
//! v3: [int] = each v4 in v1 { g(v4) }      →      v3: [int] = each v2 in v0 { v4 = f(v2); g(v4) }
//! ```
//!
//! It stands among the simplifications, and not with the other fusions in [`fuse`](mod@crate::fuse),
//! because it feeds them: recognition of reduce-by-key looks for the body of one nest, and flattening
//! makes one index space of it. It is the map/map law of Bird and Meertens (deforestation: Wadler,
//! 1990).
//!
//! Invariants: lengths are still compared in the order of the program; a nest whose body may fault is
//! not moved behind a step with effects; nests marked serial stay apart, and so do matrix products.

use super::products::is_product;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Effects, Function, Let, Nest, Op, Var};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

/// Fuses the nests of a function.
pub(super) fn fuse(function: &mut Function, effects: &Effects, limits: &Thresholds) {
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    function.body.count_uses(&mut uses);
    Fusion { uses, effects, limits }.block(&mut function.body, true);
}

/// The facts about a function whose nests are fused.
struct Fusion<'f> {
    /// The number of uses of each variable.
    uses: FxHashMap<Var, usize>,
    effects: &'f Effects,
    limits: &'f Thresholds,
}

impl Fusion<'_> {
    /// Fuses the nests of a block; `outermost` if no nest is around it.
    fn block(&self, block: &mut Block, outermost: bool) {
        with_stack(|| {
            let mut lets: Vec<Let> = Vec::with_capacity(block.lets.len());
            for mut binding in std::mem::take(&mut block.lets) {
                if let Op::Nest(nest) = &mut binding.op {
                    while let Some(inner) = producer(nest, &lets, &self.uses, self.effects)
                        && !(outermost && self.separates_product(nest, &lets[inner]))
                    {
                        let inner = lets.remove(inner);
                        binding.site =
                            if nest.binders.len() == 1 { inner.site } else { binding.site };
                        fuse_into(nest, inner);
                    }
                }
                let outermost = outermost && !matches!(binding.op, Op::Nest(_));
                binding.op.blocks_mut().for_each(|inner| self.block(inner, outermost));
                lets.push(binding);
            }
            block.lets = lets;
        });
    }

    /// Returns true if one of two nests computes a matrix product, which would no longer be one if they
    /// were fused: to store its operand, or its rows, costs nothing beside the multiplication.
    fn separates_product(&self, nest: &Nest, producer: &Let) -> bool {
        let Op::Nest(producer) = &producer.op else { return false };
        is_product(nest, self.limits) || is_product(producer, self.limits)
    }
}

/// Returns the position of a binding before a nest that is a nest too and has no other use. One that
/// may fault is not moved behind a binding with effects.
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
        // One of the nests has one source, so that all lengths are compared at one site.
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

/// Puts the body of the producer before the body of the nest that consumes its elements.
fn fuse_into(nest: &mut Nest, inner: Let) {
    let (Let { var, op: Op::Nest(inner), site, .. }, binders) = (inner, &mut nest.binders) else {
        bug!("the producer is a nest")
    };
    let at = binders.iter().position(|(.., atom)| *atom == Atom::Var(var));
    let at = at.or_bug("the consumer runs over the producer's result");
    let (element, ty, _) = binders.remove(at);
    // In its place, so that a length mismatch names the lengths in the order of the program.
    binders.splice(at..at, inner.binders);
    let mut lets = inner.body.lets;
    lets.push(Let { var: element, ty, op: Op::Copy(inner.body.result), site });
    lets.append(&mut nest.body.lets);
    nest.body.lets = lets;
}
