//! The sequences that sequential code of a function overwrites, where flattened code makes new ones.

use crate::base::with_stack;
use crate::fuse::sequential::{BlockOwnership, Ownership};
use crate::ir::{self, FunId};
use crate::prim::SeqOp;

/// The sequences that sequential code overwrites, and flattened code copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overwrites {
    /// Sequences of scalars, which flattened code copies inside of apply-to-each.
    pub arrays: bool,
    /// Sequences of sequences whose rows are replaced: flattened code always copies them.
    pub tables: bool,
    /// Sequences of sequences that rows are appended to: flattened code copies them inside of apply-to-each, and now and
    /// then outside, for more room.
    pub extended_tables: bool,
    /// The rows of a sequence of sequences, element by element, which flattened code makes anew; and the function goes
    /// over no other rows in an apply-to-each.
    pub rows: bool,
}

/// Returns for each function of a program what its sequential code overwrites outside of
/// apply-to-each, and that of the functions that it calls there.
pub fn overwrites(program: &ir::Program) -> Vec<Overwrites> {
    let ownership = Ownership::of(program);
    let mut all = vec![Overwrites::default(); program.functions.len()];
    for (at, function) in program.functions.iter().enumerate() {
        let owned = ownership.function(FunId(at as u32));
        each_outside_nests(&function.body, &mut |binding| {
            if owned.update(binding.var).in_place {
                let is_table = binding.ty.element().is_some_and(ir::Ty::has_sequence);
                let appends = matches!(binding.op, ir::Op::Seq(SeqOp::Append, _));
                all[at].extended_tables |= is_table && appends;
                all[at].tables |= is_table && !appends;
                all[at].arrays |= !is_table;
            }
        });
        all[at].rows = changes_rows(&function.body, &owned);
    }
    // What a callee overwrites, its callers do.
    loop {
        let before = all.clone();
        for (at, function) in program.functions.iter().enumerate() {
            each_outside_nests(&function.body, &mut |binding| {
                if let ir::Op::Call(callee, _) = binding.op {
                    let callee = all[callee.0 as usize];
                    all[at].arrays |= callee.arrays;
                    all[at].tables |= callee.tables;
                    all[at].extended_tables |= callee.extended_tables;
                }
            });
        }
        if all == before {
            return all;
        }
    }
}

/// Returns true if a block changes the rows of tables where they lie, and goes over no other rows.
fn changes_rows(block: &ir::Block, owned: &BlockOwnership) -> bool {
    let (mut changes, mut others) = (false, false);
    each_outside_nests(block, &mut |binding| {
        let ir::Op::Nest(nest) = &binding.op else { return };
        let mut goes_over_rows = binding.ty.element().is_some_and(ir::Ty::has_sequence);
        let mut changes_elements = false;
        nest.body.each_let(&mut |inner| {
            goes_over_rows |= matches!(inner.op, ir::Op::Nest(_) | ir::Op::Call(..));
            changes_elements |= owned.update(inner.var).elements.is_some();
        });
        let is_changed = changes_elements && owned.update(binding.var).rows.is_some();
        changes |= is_changed;
        others |= goes_over_rows && !is_changed;
    });
    changes && !others
}

/// Visits the bindings of a block, those in conditionals too, but not those in apply-to-each.
fn each_outside_nests<'b>(block: &'b ir::Block, visit: &mut dyn FnMut(&'b ir::Let)) {
    with_stack(|| {
        for binding in &block.lets {
            visit(binding);
            if !matches!(binding.op, ir::Op::Nest(_)) {
                binding.op.blocks().for_each(|block| each_outside_nests(block, visit));
            }
        }
    });
}
