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
//! It moves reads of single elements, rows too, and everything else that gives scalars: sums of elements, conditionals
//! and calls, with what they are computed from. That is done within one block, and only if these are all the uses of the
//! array behind the update, which may be in a conditional. Sequences that are stored at once, since calls alone use them or
//! they are put into a table as rows, are moved, too, and so are updates of other arrays that give such a sequence. So are
//! uses of the rows of a table, if that can be done with all of them.
//!
//! A program with several faults may report another one of them than before; a call that does not end counts as a fault
//! (Peyton Jones and others, *A semantics for imprecise exceptions*, PLDI 1999).

use crate::base::with_stack;
use crate::fuse::sequential::is_handed_over;
use crate::ir::{Atom, Block, Class, Let, Op, Program, Ty, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashSet;

/// Moves the reads of all functions of a program.
pub(in crate::lower) fn reads_first(program: &mut Program) {
    for function in &mut program.functions {
        let mut arrays: FxHashSet<Var> = FxHashSet::default();
        let params = function.params.iter();
        arrays.extend(params.filter(|(_, ty)| ty.has_sequence()).map(|(var, _)| *var));
        in_block_with(&mut function.body, arrays);
    }
}

/// Moves the reads in a block and the blocks inside.
pub(in crate::lower) fn in_block(block: &mut Block) {
    in_block_with(block, FxHashSet::default());
}

/// Moves the reads in a block and the blocks inside; `arrays` are variables from outside with sequences.
fn in_block_with(block: &mut Block, mut arrays: FxHashSet<Var>) {
    block.each_binding(&mut |var, ty| {
        if ty.has_sequence() {
            arrays.insert(var);
        }
    });
    move_reads(block, &arrays, &[]);
}

/// A row, and the table that it is taken out of.
type Row = (Var, Var);

/// Moves the reads in a block and the blocks inside; `outer` are rows that were taken out of tables before it.
fn move_reads(block: &mut Block, arrays: &FxHashSet<Var>, outer: &[Row]) {
    with_stack(|| {
        let mut at = 0;
        while at < block.lets.len() {
            let mut updated = Vec::new();
            each_updated(&block.lets[at], arrays, &mut updated);
            for of in updated {
                let parts = parts_of(block, at, of);
                let rows = rows_of(block, at, outer, &parts);
                let with_rows = parts.iter().chain(&rows).copied().collect();
                let moved = reads_behind(block, at, with_rows)
                    .or_else(|| reads_behind(block, at, parts.into_iter().collect()));
                let Some(moved) = moved else { continue };
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
        let mut rows = outer.to_vec();
        for binding in &mut block.lets {
            binding.op.blocks_mut().for_each(|block| move_reads(block, arrays, &rows));
            rows.extend(as_row(binding));
        }
    });
}

/// Returns the row that a binding takes out of a table.
fn as_row(binding: &Let) -> Option<Row> {
    let Op::Seq(SeqOp::Index, args) = &binding.op else { return None };
    Some((binding.var, args[0].variable().filter(|_| binding.ty.has_sequence())?))
}

/// Finds the arrays that a binding updates, or a side of a conditional. A call that gives arrays may update its arguments.
fn each_updated(binding: &Let, arrays: &FxHashSet<Var>, updated: &mut Vec<Var>) {
    match &binding.op {
        Op::Call(_, args) if binding.ty.has_sequence() => {
            let of = args.iter().filter_map(|arg| arg.variable());
            updated.extend(of.filter(|of| arrays.contains(of)));
        }
        Op::Seq(SeqOp::Replace | SeqOp::Scatter | SeqOp::Append, args) => {
            let of = args[0].variable().filter(|of| !args[1..].contains(&Atom::Var(*of)));
            updated.extend(of.filter(|of| !updated.contains(of)));
        }
        Op::If { then, otherwise, .. } => with_stack(|| {
            let inside = then.lets.iter().chain(&otherwise.lets);
            inside.for_each(|binding| each_updated(binding, arrays, updated));
        }),
        _ => {}
    }
}

/// Returns the variables of which a variable is a part, or another name, and itself.
fn parts_of(block: &Block, at: usize, of: Var) -> Vec<Var> {
    let mut all = vec![of];
    for binding in block.lets[..at].iter().rev() {
        if all.last() != Some(&binding.var) {
            continue;
        }
        match &binding.op {
            Op::Copy(whole) => all.extend(whole.variable()),
            Op::Seq(SeqOp::Subseq, args) => all.extend(args[0].variable()),
            _ => {}
        }
    }
    all
}

/// Returns the rows that are taken out of some tables before an update: they lie where these do.
fn rows_of(block: &Block, at: usize, outer: &[Row], tables: &[Var]) -> Vec<Var> {
    let mut rows = Vec::new();
    let before = outer.iter().copied().chain(block.lets[..at].iter().filter_map(as_row));
    for (row, of) in before {
        if tables.contains(&of) || rows.contains(&of) {
            rows.push(row);
        }
    }
    rows
}

/// Returns the positions of the bindings behind an update of an array that are to stand before it, in order. `sources` are
/// the array and what lies where it does. Sequences that are computed from it are added, since a fused one reads it
/// when it is consumed.
fn reads_behind(block: &Block, at: usize, mut sources: FxHashSet<Var>) -> Option<Vec<usize>> {
    let update = &block.lets[at];
    let mut reads: FxHashSet<usize> = FxHashSet::default();
    // Updates of other arrays, with what these are parts of.
    let mut updates: Vec<(usize, FxHashSet<Var>)> = Vec::new();
    for (position, binding) in block.lets.iter().enumerate().skip(at + 1) {
        if !mentions(binding, &sources) {
            continue;
        }
        let is_stored = is_stored(block, position);
        match &binding.op {
            Op::Seq(SeqOp::Replace | SeqOp::Scatter | SeqOp::Append, args) if is_stored => {
                let other = args[0].variable().filter(|other| !sources.contains(other))?;
                updates.push((position, parts_of(block, position, other).into_iter().collect()));
            }
            _ if is_movable(binding) => {}
            _ => return None,
        }
        reads.insert(position);
        let is_element = matches!(&binding.op, Op::Seq(SeqOp::Index, args)
            if args[1].variable().is_none_or(|index| !sources.contains(&index)));
        if binding.ty.has_sequence() && !is_element && !is_stored {
            sources.insert(binding.var);
        }
    }
    let is_result = |var: Var| sources.contains(&var);
    if reads.is_empty() || block.result.variable().is_some_and(is_result) {
        return None;
    }
    // What the reads need of what stands between, from the last one back.
    let mut needed: FxHashSet<Var> = FxHashSet::default();
    let mut moved = Vec::new();
    for position in (at + 1..block.lets.len()).rev() {
        let binding = &block.lets[position];
        // A check says that what stands behind it can be computed.
        let guards = !moved.is_empty() && matches!(binding.op, Op::Check { .. } | Op::Error(_));
        if !reads.contains(&position) && !needed.contains(&binding.var) && !guards {
            continue;
        }
        if !reads.contains(&position) && !is_movable(binding) {
            return None;
        }
        each_mentioned(binding, &mut |var| {
            needed.insert(var);
        });
        moved.push(position);
    }
    moved.reverse();
    // What an update is moved before must not read the array that it overwrites.
    let stays = |position: &usize| !moved.contains(position);
    let overtakes = updates.iter().any(|(position, parts)| {
        (at..*position).filter(stays).any(|before| mentions(&block.lets[before], parts))
    });
    (!overtakes && !needed.contains(&update.var)).then_some(moved)
}

/// Returns true if a sequence of scalars is in memory from where it is bound: all that uses it has it there.
fn is_stored(block: &Block, position: usize) -> bool {
    let binding = &block.lets[position];
    let Ty::Sequence(element) = &binding.ty else { return false };
    let var = FxHashSet::from_iter([binding.var]);
    let mut used = false;
    let later = block.lets[position + 1..].iter().filter(|later| mentions(later, &var));
    let all_have = later.into_iter().all(|later| {
        let is_length = matches!(later.op, Op::Seq(SeqOp::Length, _));
        used |= !is_length;
        is_length || is_handed_over(later, binding.var)
    });
    used && all_have && !element.has_sequence() && block.result != Atom::Var(binding.var)
}

/// Returns true if a binding can be moved before an update: it has no effects, and overwrites nothing.
fn is_movable(binding: &Let) -> bool {
    with_stack(|| {
        let plain = match &binding.op {
            Op::Seq(op, _) => {
                !matches!(op, SeqOp::Replace | SeqOp::Scatter | SeqOp::Append)
                    && op.row().cost <= Cost::Parallel
            }
            Op::If { .. } | Op::Nest(_) => true,
            Op::Call(..) => !binding.ty.has_sequence(),
            op => matches!(op.class(&binding.ty), Class::Pure | Class::Traps | Class::Reads),
        };
        plain && binding.op.blocks().all(|block| block.lets.iter().all(is_movable))
    })
}

/// Returns true if a binding uses one of some variables, in the blocks inside too.
pub(super) fn mentions(binding: &Let, vars: &FxHashSet<Var>) -> bool {
    let mut found = false;
    each_mentioned(binding, &mut |var| found |= vars.contains(&var));
    found
}

/// Visits the variables that a binding uses, in the blocks inside too, with those that are bound there.
fn each_mentioned(binding: &Let, visit: &mut dyn FnMut(Var)) {
    with_stack(|| {
        binding.op.each_operand(|atom| atom.variable().into_iter().for_each(&mut *visit));
        for block in binding.op.blocks() {
            block.lets.iter().for_each(|inner| each_mentioned(inner, visit));
            block.result.variable().into_iter().for_each(&mut *visit);
        }
    });
}
