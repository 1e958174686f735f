//! Horizontal fusion: filters that share a loop.
//!
//! Quicksort takes three parts out of one sequence, and calls itself with two of them. One loop goes over
//! the sequence once and stores each element where it belongs.
//!
//! Only filters whose results must be in memory anyway take part: others are fused with the loop that
//! consumes them. Their flags are a map over the filtered sequence whose body cannot fault, so that the
//! order of faults does not change. The loop stands where the first filter stood, so the variables that
//! the flags of the others are computed from must be bound by then.

use super::shared_loop::uses_of_body;
use super::uses::Uses;
use crate::ir::{Atom, Block, Let, Nest, Op, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// The largest number of filters in a loop: each needs two registers, for its array and its length.
const MAX_FILTERS: usize = 4;

/// A filter that shares its loop with others.
#[derive(Clone, Copy, Debug)]
pub struct FilterMember<'a> {
    /// The elements that are kept.
    pub var: Var,
    /// The map over the common sequence that says which elements are kept.
    pub flags: &'a Nest,
}

/// Filters of one sequence that are stored by one loop.
#[derive(Clone, Debug)]
pub struct SharedFilters<'a> {
    /// The common sequence, which is in memory.
    pub over: Var,
    /// The type of its elements, which contain no sequences.
    pub element: &'a Ty,
    /// The filters, in the order of the program; the loop stands at the first.
    pub members: Vec<FilterMember<'a>>,
}

/// Returns the shared filters of a block, not those of the blocks inside.
pub(super) fn shared_filters<'a>(block: &'a Block, uses: &Uses) -> Vec<SharedFilters<'a>> {
    let mut positions: FxHashMap<Var, usize> = FxHashMap::default();
    let mut maps: FxHashMap<Var, &'a Nest> = FxHashMap::default();
    // In the order of their first filters, each with the position of that.
    let mut loops: Vec<(usize, SharedFilters<'a>)> = Vec::new();
    for (position, binding) in block.lets.iter().enumerate() {
        if let Op::Nest(nest) = &binding.op {
            maps.insert(binding.var, nest);
        }
        if let Some((over, element, member)) = member(binding, &maps, uses) {
            let flags = uses_of_body(member.flags);
            let joins = |(first, shared): &(usize, SharedFilters<'a>)| {
                let bound = |var: &Var| positions.get(var).is_none_or(|position| position < first);
                shared.over == over && shared.members.len() < MAX_FILTERS && flags.iter().all(bound)
            };
            match loops.iter_mut().find(|shared| joins(shared)) {
                Some((_, shared)) => shared.members.push(member),
                None => {
                    loops.push((position, SharedFilters { over, element, members: vec![member] }));
                }
            }
        }
        positions.insert(binding.var, position);
    }
    loops.into_iter().map(|(_, shared)| shared).filter(|shared| shared.members.len() > 1).collect()
}

/// Returns a filter that may share its loop, what it filters, and the type of the elements.
pub(super) fn member<'a>(
    binding: &'a Let,
    maps: &FxHashMap<Var, &'a Nest>,
    uses: &Uses,
) -> Option<(Var, &'a Ty, FilterMember<'a>)> {
    let Op::Seq(SeqOp::Pack, args) = &binding.op else { return None };
    let &[Atom::Var(over), Atom::Var(flags)] = &args[..] else { return None };
    let Ty::Sequence(element) = &binding.ty else { return None };
    let nest = maps.get(&flags).copied()?;
    let of_same = matches!(nest.binders[..], [(.., Atom::Var(source))] if source == over);
    let may_join = of_same
        && uses.once(flags)
        && uses.in_memory(binding.var)
        && !element.has_sequence()
        && !nest.body.may_fault();
    may_join.then_some((over, element, FilterMember { var: binding.var, flags: nest }))
}
