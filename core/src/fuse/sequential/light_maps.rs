//! Maps that are computed again rather than stored.
//!
//! ```text
//! e = {x * k : x in v}
//! best = max_val(e)
//! at = min_val({(if y == best then i else max_int) : y in e; i in [0:#v]})
//! ```
//!
//! Two loops go over `e`. To compute its elements in both takes no longer than to load them, so they are not stored. (A loop
//! that takes a map twice counts as two.)

use super::uses::Uses;
use crate::ir::{Atom, Block, Class, Nest, Op, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The loads, operations and stores that computing elements again may take more than storing them.
const MAX_MORE_OPERATIONS: usize = 1;

/// Returns the maps of a block, not those of the blocks inside, whose uses are several loops of the block that go over
/// all elements, and whose elements are a few operations on scalars.
pub(super) fn light_maps(block: &Block, uses: &Uses) -> Vec<Var> {
    // The operations and the loads that each needs for an element, and the number of its loops.
    let mut maps: FxHashMap<Var, ([usize; 2], usize)> = FxHashMap::default();
    let mut ranges: FxHashSet<Var> = FxHashSet::default();
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
        match &binding.op {
            Op::Seq(SeqOp::Range, _) => {
                ranges.insert(binding.var);
            }
            Op::Nest(nest) => {
                let is_range = |of: &Atom| of.variable().is_some_and(|var| ranges.contains(&var));
                let loads = nest.binders.iter().filter(|(.., of)| !is_range(of)).count();
                if let Some(operations) = operations(nest) {
                    maps.insert(binding.var, ([operations, loads], 0));
                }
            }
            _ => {}
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

/// Returns the number of operations for an element of a map of scalars; none if it has others than those that take no
/// longer than a load. (Choices are left out: the code for both sides took longer than to store what is chosen.)
fn operations(nest: &Nest) -> Option<usize> {
    let elements = nest.binders.iter().all(|(_, ty, _)| !ty.has_sequence());
    let is_value = matches!(nest.body.result, Atom::Var(_));
    if nest.serial || !elements || !is_value {
        return None;
    }
    let mut operations = 0;
    for binding in &nest.body.lets {
        let is_cheap = binding.op.class(&binding.ty) == Class::Pure
            && binding.op.costs_at_most(Cost::Cheap, &binding.ty);
        operations += match binding.op {
            _ if binding.ty.has_sequence() => return None,
            Op::Copy(_) => 0,
            Op::Scalar(..) if is_cheap => 1,
            _ => return None,
        };
    }
    Some(operations)
}
