//! Reads before updates: an element of an array that is read after the array was updated is read
//! before, so that the update may overwrite it.
//!
//! ```text
//! v3 = index(v0, j)                  v3 = index(v0, j)
//! v4 = replace(v0, v3, i)     →      v5 = index(v0, i)
//! v5 = index(v0, i)                  v4 = replace(v0, v3, i)
//! v6 = replace(v4, v5, j)            v6 = replace(v4, v5, j)
//! ```
//!
//! It moves reads of single elements, rows too, and what their indices are computed from, within one
//! block, and only if these are all the uses of the array behind the update. Which of several
//! faults comes first may change, but not whether there is one.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Op, Program, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashSet;

/// Moves the reads of all functions of a program.
pub(in crate::lower) fn reads_first(program: &mut Program) {
    program.functions.iter_mut().for_each(|function| in_block(&mut function.body));
}

/// Moves the reads in a block and the blocks inside.
pub(in crate::lower) fn in_block(block: &mut Block) {
    with_stack(|| {
        let mut at = 0;
        while at < block.lets.len() {
            if let Some(moved) = reads_behind(block, at) {
                let mut reads = Vec::new();
                for position in moved.into_iter().rev() {
                    reads.push(block.lets.remove(position));
                }
                let count = reads.len();
                reads.reverse();
                block.lets.splice(at..at, reads);
                at += count;
            }
            at += 1;
        }
        for binding in &mut block.lets {
            binding.op.blocks_mut().for_each(in_block);
        }
    });
}

/// Returns the positions of the bindings behind an update that are to stand before it, in order.
fn reads_behind(block: &Block, at: usize) -> Option<Vec<usize>> {
    let update = &block.lets[at];
    let Op::Seq(SeqOp::Replace | SeqOp::Scatter | SeqOp::Append, args) = &update.op else {
        return None;
    };
    let of = args[0].variable()?;
    let reads: Vec<usize> = (at + 1..block.lets.len())
        .filter(|position| mentions(&block.lets[*position], of))
        .collect();
    let is_read = |position: &usize| {
        matches!(&block.lets[*position].op, Op::Seq(SeqOp::Index | SeqOp::Length, args)
            if args[0] == Atom::Var(of) && args[1..].iter().all(|arg| *arg != Atom::Var(of)))
    };
    let is_all = !reads.is_empty() && reads.iter().all(is_read) && block.result != Atom::Var(of);
    if !is_all || args[1..].contains(&Atom::Var(of)) {
        return None;
    }
    // What the reads need of what stands between, from the last one back.
    let mut needed: FxHashSet<Var> = FxHashSet::default();
    let mut moved = Vec::new();
    for position in (at + 1..block.lets.len()).rev() {
        let binding = &block.lets[position];
        if !reads.contains(&position) && !needed.contains(&binding.var) {
            continue;
        }
        let is_plain = matches!(
            binding.op,
            Op::Copy(_)
                | Op::Scalar(..)
                | Op::Pair(..)
                | Op::First(_)
                | Op::Second(_)
                | Op::Seq(SeqOp::Index | SeqOp::Length, _)
        );
        if !is_plain {
            return None;
        }
        needed.extend(binding.op.operands().iter().filter_map(|atom| atom.variable()));
        moved.push(position);
    }
    moved.reverse();
    (!needed.contains(&update.var)).then_some(moved)
}

/// Returns true if a binding uses a variable, in the blocks inside too.
fn mentions(binding: &Let, var: Var) -> bool {
    let mut found = binding.op.operands().contains(&Atom::Var(var));
    for block in binding.op.blocks() {
        found |= block.result == Atom::Var(var);
        block.each_let(&mut |inner| {
            found |= inner.op.operands().contains(&Atom::Var(var));
            found |= inner.op.blocks().any(|block| block.result == Atom::Var(var));
        });
    }
    found
}
