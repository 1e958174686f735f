//! The values that each step of a block is the last to use.

use nesl_core::flat::{Block, Function, SpaceId, Step};
use nesl_core::ir::{Atom, Var};
use rustc_hash::FxHashMap;

/// The values that each step of a block is the last to use.
#[derive(Debug)]
pub(crate) struct LastUses {
    /// For each step, the values among those bound in the block itself, with the index space in
    /// which each is bound.
    pub(super) own: Vec<Vec<(Var, SpaceId)>>,
    /// For each variable bound in a block around, the last step that uses it.
    pub(super) around: FxHashMap<Var, usize>,
    /// The result of the block if it is bound there, with the index spaces in which it is: the block is the
    /// last to use it.
    pub(super) result: Vec<(Var, SpaceId)>,
}

/// Returns the last uses in a block; the function's parameters count as bound in its body.
pub(super) fn last_uses(function: &Function, block: &Block) -> LastUses {
    let mut last: FxHashMap<Var, usize> = FxHashMap::default();
    let mut places: FxHashMap<Var, Vec<SpaceId>> = FxHashMap::default();
    if std::ptr::eq(block, &function.body) {
        for (var, _) in &function.params {
            last.insert(*var, 0);
            places.entry(*var).or_default().push(SpaceId::CALLER);
        }
    }
    for (at, step) in block.steps.iter().enumerate() {
        let mut used = |var: Var| {
            last.insert(var, at);
        };
        let made_of = |space: SpaceId| function.index_space(space).kind.made_of();
        match step {
            Step::Space(space) => made_of(*space).into_iter().for_each(&mut used),
            Step::Let(binding) => {
                binding.op.each_use(&mut used);
                for inside in binding.op.blocks() {
                    inside.each_space(&mut |space| {
                        made_of(space).into_iter().for_each(&mut used);
                    });
                }
                used(binding.var);
                places.entry(binding.var).or_default().push(binding.space);
            }
            Step::Kernel(kernel) => {
                kernel.lets.iter().for_each(|binding| binding.op.each_use(&mut used));
                kernel.masks.iter().filter_map(|mask| made_of(*mask)).for_each(&mut used);
                for (var, space) in &kernel.stores {
                    used(*var);
                    places.entry(*var).or_default().push(*space);
                }
            }
        }
    }
    let own = vec![Vec::new(); block.steps.len()];
    let mut uses = LastUses { own, around: FxHashMap::default(), result: Vec::new() };
    for (var, at) in last {
        if block.result == Atom::Var(var) {
            let places = places.remove(&var).into_iter().flatten();
            uses.result.extend(places.map(|space| (var, space)));
            continue;
        }
        match (places.remove(&var), uses.own.get_mut(at)) {
            (Some(places), Some(own)) => own.extend(places.into_iter().map(|space| (var, space))),
            (Some(_), None) => {}
            (None, _) => {
                uses.around.insert(var, at);
            }
        }
    }
    uses
}
