//! Maps whose elements a filter tests, and keeps.
//!
//! ```text
//! from = {(i + a, j + b) : (a, b) in moves}
//! sum({m[x][y] : (x, y) in from | x >= 0 and y >= 0})
//! ```
//!
//! `from` has two uses, the flags and the filter, and one loop goes over both. It is not materialised: what the flags
//! compute of an element is known where the element is kept.

use super::uses::Uses;
use crate::ir::{Atom, Block, Class, Nest, Op, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// Returns the maps of a block, not those of the blocks inside, whose only uses are a filter of the block and its flags,
/// and whose elements are a few scalar operations.
pub(super) fn filtered_maps(block: &Block, uses: &Uses) -> Vec<Var> {
    let mut maps: FxHashMap<Var, &Nest> = FxHashMap::default();
    let mut found = Vec::new();
    for binding in &block.lets {
        match &binding.op {
            Op::Nest(nest) => {
                maps.insert(binding.var, nest);
            }
            Op::Seq(SeqOp::Pack, args) => {
                let [Atom::Var(over), Atom::Var(flags)] = args[..] else { continue };
                let of_same = |flags: &&Nest| matches!(flags.binders[..], [(.., Atom::Var(source))] if source == over);
                let tested = maps.get(&flags).filter(|nest| of_same(nest) && uses.once(flags));
                let is_computed = maps.get(&over).is_some_and(|nest| has_scalars_only(&nest.body));
                if tested.is_some() && is_computed && uses.count(over) == args.len() {
                    found.push(over);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns true if a block has operations on scalars and choices between them only, none of which can fault. Where they are done twice, a later
/// pass finds that they are the same, and does them once.
fn has_scalars_only(block: &Block) -> bool {
    block.lets.iter().all(|binding| {
        if let Op::If { then, otherwise, .. } = &binding.op {
            return !binding.ty.has_sequence()
                && has_scalars_only(then)
                && has_scalars_only(otherwise);
        }
        let plain = matches!(
            binding.op,
            Op::Copy(_) | Op::Scalar(..) | Op::Pair(..) | Op::First(_) | Op::Second(_)
        );
        plain && binding.op.class(&binding.ty) == Class::Pure && !binding.ty.has_sequence()
    })
}
