//! Order, equality, permutation and division of the elements of many sequences at once.
//!
//! The sequences are segments of one pool, one behind the other (those that are not are copied so), and an
//! intrinsic of the runtime, or a kernel over all elements, works on all of them: it does not matter how
//! many there are and how long each is.

use super::arguments::{array, number};
use super::builtin::Builtin;
use super::copy::{ColumnCopy, as_ints, as_lengths, columns};
use super::gather::gather_segments;
use super::segments::{extremes, read_together, segments_of_rows};
use super::sequence::{DESCRIPTOR_COLUMNS, Rows, cut, element_columns};
use super::{FlatValue, Memory, Segments, Stepped};
use nesl_core::ir::Ty;
use nesl_core::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Extern};
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// Returns many sequences of `element`s as segments of a pool that lie one behind the other from its
/// beginning on.
pub(crate) fn tiled(
    memory: &Memory<'_>,
    value: &Rc<FlatValue>,
    count: usize,
    element: &Ty,
) -> Stepped<Rc<FlatValue>> {
    if value.tiles.is_some() {
        return Ok(value.clone());
    }
    let rows = Rows { count, columns: &value.parts };
    let (segments, start) = segments_of_rows(memory, rows.starts(), rows.lengths(), count)?;
    let pool = rows.pool().columns;
    let columns = match start {
        Some(start) => cut(memory, pool, element, start),
        None => gather_segments(memory, &segments, rows.starts(), pool, element)?,
    };
    Ok(Rc::new(in_segments(memory, &segments, columns)?))
}

/// Returns the ranks of the elements of tiled sequences, each in its sequence.
pub(crate) fn rank_rows(memory: &Memory<'_>, rank: SeqOp, keys: &FlatValue) -> Stepped<FlatValue> {
    let (segments, columns) = parts(keys);
    let ranks = memory.alloc_column(kir::Ty::I64, segments.total)?;
    let (service, mut others) = match (rank, columns) {
        (SeqOp::RankUp, _) => (Extern::RankSegmentsUp, Vec::new()),
        (SeqOp::RankDown, _) => (Extern::RankSegmentsDown, Vec::new()),
        (SeqOp::RankTexts, [_, lengths, _, chars]) => {
            (Extern::RankTextSegments, vec![lengths.clone(), chars.clone()])
        }
        (other, _) => bug!("{other:?} is no operation that ranks"),
    };
    others.push(ranks.clone());
    call(memory, "order", service, segments, &columns[0], others)?;
    let ranks = as_ints(memory, ranks, segments.total)?;
    memory.state.facts.set_ranks(array(&ranks), Some(&segments.offsets(memory)?));
    in_segments(memory, segments, vec![ranks])
}

/// Returns the elements of tiled sequences, each in the order of its ranks.
pub(crate) fn sort_rows(memory: &Memory<'_>, rank: SeqOp, keys: &FlatValue) -> Stepped<FlatValue> {
    let (segments, columns) = parts(keys);
    let up = rank == SeqOp::RankUp;
    let service = if up { Extern::SortSegmentsUp } else { Extern::SortSegmentsDown };
    let out = memory.alloc_column(array(&columns[0]).ty(), segments.total)?;
    call(memory, "order", service, segments, &columns[0], vec![out.clone()])?;
    in_segments(memory, segments, vec![out])
}

/// Returns for each element of tiled sequences the index of the last one of its sequence that is equal to
/// it, and the number of those.
pub(crate) fn group_rows(memory: &Memory<'_>, elements: &FlatValue) -> Stepped<[FlatValue; 2]> {
    let (segments, columns) = parts(elements);
    let last = memory.alloc_column(kir::Ty::I64, segments.total)?;
    let equal = memory.alloc_column(kir::Ty::I64, segments.total)?;
    let (service, mut others) = match columns {
        [_, lengths, _, chars] => (Extern::GroupTextSegments, vec![lengths.clone(), chars.clone()]),
        _ => (Extern::GroupSegments, Vec::new()),
    };
    others.extend([last.clone(), equal.clone()]);
    call(memory, "groups", service, segments, &columns[0], others)?;
    let found =
        |column: Arg| in_segments(memory, segments, vec![as_ints(memory, column, segments.total)?]);
    Ok([found(last)?, found(equal)?])
}

/// Returns the elements of tiled sequences moved to indices that are known to be ranks of sequences of the
/// same lengths; `None` for all others.
pub(crate) fn permute_rows(
    memory: &Memory<'_>,
    sequences: &FlatValue,
    indices: &FlatValue,
    element: &Ty,
) -> Stepped<Option<FlatValue>> {
    let ((segments, pool), (others, to)) = (parts(sequences), parts(indices));
    let same = Rc::ptr_eq(segments, others)
        || segments.count == others.count
            && segments.regular.is_some()
            && segments.regular == others.regular;
    let offsets = others.offsets(memory)?;
    if !same || !memory.state.facts.are_ranks_within(&to[0], &offsets) {
        return Ok(None);
    }
    let own = element_columns(memory, element);
    let mut out = pool.to_vec();
    let mut copies = Vec::new();
    for (column, own) in out.iter_mut().zip(own) {
        if own {
            let to = memory.alloc_column(array(column).ty(), segments.total)?;
            let from = std::mem::replace(column, to.clone());
            copies.push(ColumnCopy { from, to, add: 0 });
        }
    }
    let (columns, mut args) = columns(&copies);
    args.splice(0..0, [number(segments.count), Arg::Array(offsets, 0), to[0].clone()]);
    let kernel = Builtin::PutWithin { indices: array(&to[0]).ty(), columns };
    memory.execute(kernel, &args, segments.total)?;
    Ok(Some(in_segments(memory, segments, out)?))
}

/// Returns the parts, of given lengths, of tiled sequences; `None` if the lengths are not those of parts.
pub(crate) fn partition_rows(
    memory: &Memory<'_>,
    sequences: &FlatValue,
    counts: &FlatValue,
) -> Stepped<Option<FlatValue>> {
    let ((segments, pool), (rows, lengths)) = (parts(sequences), parts(counts));
    let lengths = as_lengths(memory, lengths[0].clone(), rows.total)?;
    let least = extremes(memory, &lengths, rows.total)?.map_or(0, |(least, _)| least);
    if least < 0 {
        return Ok(None);
    }
    let inner = Segments::of_lengths(memory, rows.total, lengths.clone())?;
    let [ends, of_rows, of_parts] = [segments, rows, &inner]
        .map(|segments| segments.offsets(memory).map(|at| Arg::Array(at, 0)));
    let (ends, of_rows, of_parts) = (ends?, of_rows?, of_parts?);
    if inner.total != segments.total {
        return Ok(None);
    }
    // The parts of each sequence must end where the sequence does.
    let apart = memory.alloc_column(kir::Ty::I64, 1)?;
    let args = [number(rows.count + 1), ends, of_rows, of_parts.clone(), apart.clone()];
    memory.execute(Builtin::Apart, &args, rows.count + 1)?;
    let (apart, _) = read_together(memory, &[apart], Vec::new())?;
    if apart != [kir::Literal::I64(0)] {
        return Ok(None);
    }
    let columns = [of_parts, lengths, number(segments.total)];
    let columns = columns.into_iter().chain(pool.iter().cloned()).collect();
    Ok(Some(in_segments(memory, rows, columns)?))
}

/// Returns the segments of tiled sequences, and the columns of their pool.
fn parts(value: &FlatValue) -> (&Rc<Segments>, &[Arg]) {
    let segments =
        value.tiles.as_ref().or_bug("the sequences were made to lie one behind the other");
    (segments, &value.parts[DESCRIPTOR_COLUMNS..])
}

/// Returns the sequences that segments of a pool with these columns are.
fn in_segments(
    memory: &Memory<'_>,
    segments: &Rc<Segments>,
    columns: Vec<Arg>,
) -> Stepped<FlatValue> {
    let starts = Arg::Array(segments.offsets(memory)?, 0);
    let descriptor = [starts, segments.lengths(memory)?, number(segments.total)];
    let parts = descriptor.into_iter().chain(columns).collect();
    Ok(FlatValue { parts, tiles: Some(segments.clone()) })
}

/// Calls an intrinsic for segments, given the column of keys and its other arrays but the offsets.
fn call(
    memory: &Memory<'_>,
    name: &'static str,
    service: Extern,
    segments: &Segments,
    keys: &Arg,
    mut others: Vec<Arg>,
) -> Stepped<()> {
    if segments.total == 0 {
        return Ok(());
    }
    others.push(Arg::Array(segments.offsets(memory)?, 0));
    let types = others.iter().map(|arg| array(arg).ty()).collect();
    let kernel = Builtin::Intrinsic { name, service, keys: array(keys).ty(), others: types };
    let mut args = vec![number(1), number(segments.count), keys.clone()];
    args.extend(others);
    memory.execute(kernel, &args, 1)
}
