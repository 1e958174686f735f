//! Maps that are computed again rather than stored.
//!
//! ```text
//! e = {x * k : x in v}
//! best = max_val(e)
//! at = min_val({(if y == best then i else max_int) : y in e; i in [0:#v]})
//! ```
//!
//! Two loops go over `e`. To compute its elements in both takes no longer than to load them, and no loop stores them.

use super::uses::Uses;
use crate::ir::{Atom, Block, Class, Let, Nest, Op, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashMap;

/// The loads, operations and stores that computing elements again may take more than storing them.
const MAX_MORE_OPERATIONS: usize = 1;

/// Returns the maps of a block, not those of the blocks inside, whose uses are several loops of the block that go over
/// all elements, and whose elements are a few operations on scalars.
pub(super) fn light_maps(block: &Block, uses: &Uses) -> Vec<Var> {
    // The operations and the loads that each needs for an element, and the number of its loops.
    let mut maps: FxHashMap<Var, ([usize; 2], usize)> = FxHashMap::default();
    for binding in &block.lets {
        let streamed: Vec<Var> = match &binding.op {
            Op::Nest(nest) => nest.binders.iter().filter_map(|(.., of)| of.variable()).collect(),
            Op::Seq(SeqOp::Reduce(_), args) => args[0].variable().into_iter().collect(),
            _ => Vec::new(),
        };
        for var in streamed {
            if let Some((_, loops)) = maps.get_mut(&var) {
                *loops += 1;
            }
        }
        if let Op::Nest(nest) = &binding.op
            && let Some(operations) = operations(nest)
        {
            maps.insert(binding.var, ([operations, nest.binders.len()], 0));
        }
    }
    let is_light = |([operations, loads], loops): ([usize; 2], usize)| {
        let stored = operations + loads + 1 + loops;
        loops > 1 && loops * (operations + loads) <= stored + MAX_MORE_OPERATIONS
    };
    let all_loops = |(var, (costs, loops)): (Var, ([usize; 2], usize))| {
        (loops == uses.count(var) && is_light((costs, loops))).then_some(var)
    };
    maps.into_iter().filter_map(all_loops).collect()
}

/// Returns the number of operations for an element of a map of scalars; none if it has more than operations that take no
/// longer than a load.
fn operations(nest: &Nest) -> Option<usize> {
    let scalars = |binding: &Let| !binding.ty.has_sequence();
    let elements = nest.binders.iter().all(|(_, ty, _)| !ty.has_sequence());
    if nest.serial || !elements || !nest.body.lets.iter().all(scalars) {
        return None;
    }
    let mut operations = 0;
    for binding in &nest.body.lets {
        let is_cheap = binding.op.class(&binding.ty) == Class::Pure
            && binding.op.costs_at_most(Cost::Cheap, &binding.ty);
        operations += match binding.op {
            Op::Copy(_) => 0,
            Op::Scalar(..) if is_cheap => 1,
            _ => return None,
        };
    }
    matches!(nest.body.result, Atom::Var(_)).then_some(operations)
}
