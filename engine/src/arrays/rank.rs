//! Order and equality of elements: sorting, ranks, groups, and indices that occur once.

use super::arguments::{array, number};
use super::builtin::Builtin;
use super::copy::{as_ints, copy};
use super::sequence::Sequence;
use super::{FlatValue, Memory, Stepped};
use nesl_core::prim::SeqOp;
use nesl_runtime::kir::{Extern, Ty};
use nesl_runtime::runtime::Arg;

/// Returns a sequence of scalars in the order of its ranks: ascending for [`SeqOp::RankUp`].
pub(crate) fn sort(memory: &Memory<'_>, sequence: &FlatValue, rank: SeqOp) -> Stepped<FlatValue> {
    let Sequence { length, columns } = Sequence::of(sequence);
    let service = if rank == SeqOp::RankUp { Extern::SortUp } else { Extern::SortDown };
    let out = memory.alloc_column(array(&columns[0]).ty(), length)?;
    order(memory, service, &columns[0], length, &out)?;
    Ok(Sequence::value(length, vec![out]))
}

/// Returns the rank of each of `count` scalars or texts, as ints of the program.
pub(super) fn ranks(memory: &Memory<'_>, rank: SeqOp, keys: &[Arg], count: usize) -> Stepped<Arg> {
    let ranks = memory.alloc_column(Ty::I64, count)?;
    match (rank, keys) {
        (SeqOp::RankTexts, [starts, lengths, _, chars]) => {
            let others = vec![lengths.clone(), chars.clone(), ranks.clone()];
            call(memory, "order", Extern::RankTexts, starts, count, others)?;
        }
        (SeqOp::RankUp, keys) => order(memory, Extern::RankUp, &keys[0], count, &ranks)?,
        (_, keys) => order(memory, Extern::RankDown, &keys[0], count, &ranks)?,
    }
    let ranks = as_ints(memory, ranks, count)?;
    memory.state.facts.set_ranks(array(&ranks), None);
    Ok(ranks)
}

/// Has the runtime write `count` keys, or their ranks, in order.
fn order(memory: &Memory<'_>, service: Extern, keys: &Arg, count: usize, out: &Arg) -> Stepped<()> {
    call(memory, "order", service, keys, count, vec![out.clone()])
}

/// Calls an intrinsic for `count` keys, given its other arrays.
fn call(
    memory: &Memory<'_>,
    name: &'static str,
    service: Extern,
    keys: &Arg,
    count: usize,
    others: Vec<Arg>,
) -> Stepped<()> {
    let types = others.iter().map(|arg| array(arg).ty()).collect();
    let kernel = Builtin::Intrinsic { name, service, keys: array(keys).ty(), others: types };
    let mut args = vec![number(1), number(count), keys.clone()];
    args.extend(others);
    memory.execute(kernel, &args, 1)
}

/// Returns for each of `count` ints or texts the index of the last one equal to it, and the number
/// of those equal to it.
pub(super) fn groups(memory: &Memory<'_>, columns: &[Arg], count: usize) -> Stepped<[Arg; 2]> {
    let last = memory.alloc_column(Ty::I64, count)?;
    let equal = memory.alloc_column(Ty::I64, count)?;
    // Texts are given by their starts and lengths, and the characters of their pool.
    let (service, mut others) = match columns {
        [_, lengths, _, chars] => (Extern::TextGroups, vec![lengths.clone(), chars.clone()]),
        _ => (Extern::Groups, Vec::new()),
    };
    others.extend([last.clone(), equal.clone()]);
    call(memory, "groups", service, &columns[0], count, others)?;
    Ok([last, equal])
}

/// Returns the different ones among `count` ints, chars, bools or texts, as two columns of as many elements: for
/// each the index of the last one, ascending, and the number of those equal to it.
pub(super) fn different(
    memory: &Memory<'_>,
    columns: &[Arg],
    count: usize,
) -> Stepped<(usize, [Arg; 2])> {
    let room = [memory.alloc_column(Ty::I64, count)?, memory.alloc_column(Ty::I64, count)?];
    let number = memory.alloc_column(Ty::I64, 1)?;
    let (service, mut others) = match columns {
        [_, lengths, _, chars] => (Extern::DistinctTexts, vec![lengths.clone(), chars.clone()]),
        _ => (Extern::Distinct, Vec::new()),
    };
    others.extend(room.iter().cloned().chain([number.clone()]));
    call(memory, "groups", service, &columns[0], count, others)?;
    let [number] = memory.read_ints([&number], 1)?;
    let number = number[0] as usize;
    // Room for every element is kept only where at least half of it is used.
    if 2 * number > count {
        return Ok((number, room));
    }
    let [last, equal] = room;
    Ok((number, [shortened(memory, last, number)?, shortened(memory, equal, number)?]))
}

/// Returns a column with as many of the first ints of another one.
fn shortened(memory: &Memory<'_>, from: Arg, count: usize) -> Stepped<Arg> {
    let to = memory.alloc_column(Ty::I64, count)?;
    copy(memory, &from, &to, 0, count)?;
    Ok(to)
}

/// Returns the number of different indices among `count` that are all less than `count`.
pub(super) fn distinct(memory: &Memory<'_>, indices: &Arg, count: usize) -> Stepped<usize> {
    let marks = memory.alloc_column(Ty::Bool, count)?;
    memory.execute(Builtin::ClearMarks, &[number(count), marks.clone()], count)?;
    let args = [number(count), marks.clone(), indices.clone()];
    memory.execute(Builtin::SetMarks(array(indices).ty()), &args, count)?;
    let all = memory.alloc_column(Ty::I64, 1)?;
    memory.execute(Builtin::CountMarks, &[number(count), marks, all.clone()], count)?;
    let [all] = memory.read_ints([&all], 1)?;
    Ok(all[0] as usize)
}
