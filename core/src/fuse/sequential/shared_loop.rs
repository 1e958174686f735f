//! Horizontal fusion: reductions that share a loop.
//!
//! `(sum({x : (x, y) in pairs}), sum({y : (x, y) in pairs}))` goes over `pairs` once, with two
//! accumulators; where nothing else is done with `pairs`, it is not materialised either.
//!
//! Only reductions of elements that cannot fault take part, so that the order of faults does not
//! change. The loop stands where the first of them stood, so the variables that the others compute
//! their elements from must be bound by then.

use super::uses::Uses;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Nest, Op, Var};
use crate::prim::{ReduceOp, SeqOp};
use rustc_hash::FxHashMap;

/// A reduction of a sequence, or of a map over it, that shares its loop with others.
#[derive(Clone, Copy, Debug)]
pub struct LoopMember<'a> {
    /// The result of the reduction.
    pub var: Var,
    /// The operator of the reduction.
    pub with: ReduceOp,
    /// The map over the common sequence whose elements are reduced; `None` for the elements of the
    /// common sequence itself.
    pub map: Option<&'a Nest>,
}

/// Reductions that are computed by one loop over one sequence.
#[derive(Clone, Debug)]
pub struct SharedLoop<'a> {
    /// The common sequence.
    pub over: Var,
    /// The reductions, in the order of the program; the loop stands at the first.
    pub members: Vec<LoopMember<'a>>,
    /// True if the common sequence is bound in the same block, and the loop is all that uses it.
    pub only_use: bool,
}

/// Returns the shared loops of a block, not those of the blocks inside.
pub(super) fn shared_loops<'a>(block: &'a Block, uses: &Uses) -> Vec<SharedLoop<'a>> {
    let mut positions: FxHashMap<Var, usize> = FxHashMap::default();
    let mut maps: FxHashMap<Var, &'a Nest> = FxHashMap::default();
    // In the order of their first reductions, each with the position of that.
    let mut loops: Vec<(usize, SharedLoop<'a>)> = Vec::new();
    for (position, binding) in block.lets.iter().enumerate() {
        if let Op::Nest(nest) = &binding.op {
            maps.insert(binding.var, nest);
        }
        if let Some((over, member)) = member(binding, &maps, uses) {
            let joins = |(first, shared): &(usize, SharedLoop<'a>)| {
                let bound = |var: &Var| positions.get(var).is_none_or(|position| position < first);
                shared.over == over
                    && member.map.is_none_or(|map| uses_of_body(map).iter().all(bound))
            };
            match loops.iter_mut().find(|shared| joins(shared)) {
                Some((_, shared)) => shared.members.push(member),
                None => {
                    let shared = SharedLoop { over, members: vec![member], only_use: false };
                    loops.push((position, shared));
                }
            }
        }
        positions.insert(binding.var, position);
    }
    let mut loops: Vec<SharedLoop<'a>> = loops.into_iter().map(|(_, shared)| shared).collect();
    loops.retain(|shared| shared.members.len() > 1);
    for shared in &mut loops {
        shared.only_use =
            uses.count(shared.over) == shared.members.len() && positions.contains_key(&shared.over);
    }
    loops
}

/// Returns a reduction that may share its loop, and the sequence that the loop goes over.
fn member<'a>(
    binding: &'a Let,
    maps: &FxHashMap<Var, &'a Nest>,
    uses: &Uses,
) -> Option<(Var, LoopMember<'a>)> {
    let Op::Seq(SeqOp::Reduce(with), args) = &binding.op else { return None };
    let Atom::Var(of) = args[0] else { return None };
    let (var, with) = (binding.var, *with);
    if uses.once(of)
        && let Some(nest) = maps.get(&of)
        && let [(.., Atom::Var(source))] = nest.binders[..]
        && !nest.body.may_fault()
    {
        return Some((source, LoopMember { var, with, map: Some(nest) }));
    }
    Some((of, LoopMember { var, with, map: None }))
}

/// Returns the variables that the body of a nest uses, those that it binds too.
pub(super) fn uses_of_body(nest: &Nest) -> Vec<Var> {
    let mut all = Vec::new();
    add_uses(&nest.body, &mut all);
    all
}

fn add_uses(block: &Block, all: &mut Vec<Var>) {
    with_stack(|| {
        for binding in &block.lets {
            all.extend(binding.op.operands().into_iter().filter_map(Atom::variable));
            binding.op.blocks().for_each(|block| add_uses(block, all));
        }
        all.extend(block.result.variable());
    });
}
