//! The operations of the language on one sequence, with their faults.
//!
//! The host computes descriptors, and has columns copied by all threads. Faults are those of the
//! direct interpreter: an operation that may fail is first checked by a reduction, and only if
//! something is wrong are elements read to say what.

use super::arguments::{array, int, length, literal, number, slice};
use super::concat::{SharedPool, concatenate, one_pool, pool_of};
use super::copy::{ColumnCopy, as_ints, as_lengths, copy, put, writable};
use super::gather::flatten;
use super::rank::{different, distinct, groups, ranks};
use super::segments::{extremes, write_descriptor};
use super::sequence::{
    DESCRIPTOR_COLUMNS, Field, Rows, Sequence, cut, element_at, element_columns, fields,
    row_columns, singleton,
};
use super::{FlatValue, Memory, Parts, Performed, Segments, Stepped};
use nesl_core::ir::Ty;
use nesl_core::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::runtime::Arg;

/// Performs an operation on a sequence of `element`s; `owned` if nobody else holds the first
/// operand, so that it may be overwritten.
pub(crate) fn perform(
    memory: &Memory<'_>,
    op: SeqOp,
    args: &[&FlatValue],
    element: &Ty,
    owned: bool,
) -> Performed<FlatValue> {
    let sequence = Sequence::of(args[0]);
    let Sequence { length, columns } = sequence;
    let int_of = |at: usize| int(&args[at].parts[0]);
    match op {
        SeqOp::Index => match index_within(FaultCode::Index, int_of(1), length) {
            Ok(at) => Ok(Ok(FlatValue::new(element_at(memory, sequence, element, at)?))),
            Err(fault) => Ok(Err(fault)),
        },
        SeqOp::Subseq => Ok(subsequence(memory, sequence, element, int_of(1), int_of(2))),
        SeqOp::Append => {
            let behind = Sequence::of(args[1]);
            if behind.length == 0 {
                return Ok(Ok(args[0].clone()));
            }
            if length == 0 {
                return Ok(Ok(args[1].clone()));
            }
            let columns = concatenate(memory, &[sequence, behind], element)?;
            Ok(Ok(Sequence::value(length + behind.length, columns)))
        }
        SeqOp::Flatten => {
            let inner = element.element().or_bug("what is flattened is a sequence of sequences");
            Ok(Ok(flatten(memory, sequence.rows(), inner)?))
        }
        SeqOp::Partition => partition(memory, sequence, Sequence::of(args[1])),
        SeqOp::Permute => permute(memory, sequence, Sequence::of(args[1]), element),
        SeqOp::Replace => {
            let at = match index_within(FaultCode::Replace, int_of(2), length) {
                Ok(at) => at,
                Err(fault) => return Ok(Err(fault)),
            };
            let value = singleton(memory, &args[1].parts, element)?;
            let value = Sequence { length: 1, columns: &value };
            let index = memory.write_indices(&[at as i64])?;
            let columns = overwrite(memory, sequence, &index, value, element, owned)?;
            Ok(Ok(Sequence::value(length, columns)))
        }
        SeqOp::Scatter => {
            let writes = Sequence::of(args[1]);
            let (indices, values) =
                writes.columns.split_first().or_bug("an element to be written has an index");
            let fault = outside(memory, FaultCode::Scatter, indices, writes.length, length)?;
            if let Some(fault) = fault {
                return Ok(Err(fault));
            }
            if writes.length == 0 {
                return Ok(Ok(args[0].clone()));
            }
            let values = Sequence { length: writes.length, columns: values };
            let columns = overwrite(memory, sequence, indices, values, element, owned)?;
            Ok(Ok(Sequence::value(length, columns)))
        }
        SeqOp::RankUp | SeqOp::RankDown | SeqOp::RankTexts => {
            Ok(Ok(Sequence::value(length, vec![ranks(memory, op, columns, length)?])))
        }
        SeqOp::Groups => {
            let mut parts = Vec::new();
            for found in groups(memory, columns, length)? {
                parts.push(number(length));
                parts.push(as_ints(memory, found, length)?);
            }
            Ok(Ok(FlatValue::new(parts)))
        }
        SeqOp::Distinct => {
            let (different, found) = different(memory, columns, length)?;
            let mut parts = Vec::new();
            for found in found {
                parts.push(number(different));
                parts.push(as_ints(memory, found, different)?);
            }
            parts.push(Arg::Scalar(Literal::Bool(true)));
            Ok(Ok(FlatValue::new(parts)))
        }
        op => bug!("{op:?} is no operation of the array library"),
    }
}

/// Returns the sequence of some values.
pub(crate) fn list(memory: &Memory<'_>, values: &[&FlatValue], element: &Ty) -> Stepped<FlatValue> {
    if values.is_empty() {
        return Ok(Sequence::value(0, memory.no_elements(element)?));
    }
    let mut rest: Vec<&[Arg]> = values.iter().map(|value| &value.parts[..]).collect();
    let mut out = Vec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                let literals: Vec<Literal> = rest.iter().map(|rest| literal(&rest[0])).collect();
                out.push(memory.write_literals(literals[0].ty(), &literals)?);
                rest.iter_mut().for_each(|rest| *rest = &rest[1..]);
            }
            Field::Sequence(inner) => {
                // One part for the length, as many columns as those of a row behind its descriptor.
                let width = 1 + row_columns(memory, inner) - DESCRIPTOR_COLUMNS;
                let pools: Vec<Sequence<'_>> = rest
                    .iter()
                    .map(|rest| Sequence { length: length(&rest[0]), columns: &rest[1..width] })
                    .collect();
                let SharedPool { extent, columns, begins } = pool_of(memory, &pools, inner)?;
                let lengths: Vec<usize> = pools.iter().map(|pool| pool.length).collect();
                out.extend(write_descriptor(memory, &begins, &lengths)?);
                out.push(number(extent));
                out.extend(columns);
                rest.iter_mut().for_each(|rest| *rest = &rest[width..]);
            }
        }
    }
    Ok(Sequence::value(values.len(), out))
}

fn subsequence(
    memory: &Memory<'_>,
    sequence: Sequence<'_>,
    element: &Ty,
    start: i64,
    end: i64,
) -> Result<FlatValue, Fault> {
    let length = sequence.length;
    if !(0 <= start && start <= end && end as u64 <= length as u64) {
        let words = format!("from {start} to {end}, length {length}");
        return Err(Fault::with(FaultCode::Subseq, words));
    }
    let columns = cut(memory, sequence.columns, element, start as usize);
    Ok(Sequence::value((end - start) as usize, columns))
}

fn partition(
    memory: &Memory<'_>,
    sequence: Sequence<'_>,
    counts: Sequence<'_>,
) -> Performed<FlatValue> {
    let (rows, length) = (counts.length, sequence.length);
    let lengths = as_lengths(memory, counts.columns[0].clone(), rows)?;
    if outside(memory, FaultCode::Partition, &lengths, rows, length + 1)?.is_some() {
        return Ok(Err(partition_fault(memory, &lengths, rows, length)?));
    }
    let segments = Segments::of_lengths(memory, rows, lengths.clone())?;
    if segments.total != length {
        return Ok(Err(partition_fault(memory, &lengths, rows, length)?));
    }
    let starts = Arg::Array(segments.offsets(memory)?, 0);
    let descriptor = [number(rows), starts, lengths, number(length)];
    let parts: Parts = descriptor.into_iter().chain(sequence.columns.iter().cloned()).collect();
    Ok(Ok(FlatValue::new(parts)))
}

/// Returns the fault of partitioning a sequence by lengths that are negative or do not add up.
fn partition_fault(
    memory: &Memory<'_>,
    lengths: &Arg,
    rows: usize,
    length: usize,
) -> Stepped<Fault> {
    let [lengths] = memory.read_ints([lengths], rows)?;
    if let Some(negative) = lengths.iter().find(|length| **length < 0) {
        return Ok(Fault::with(FaultCode::Partition, format!("a count of {negative}")));
    }
    let sum = lengths.iter().fold(0i64, |sum, length| sum.saturating_add(*length));
    let words = format!("counts sum to {sum}, length {length}");
    Ok(Fault::with(FaultCode::Partition, words))
}

fn permute(
    memory: &Memory<'_>,
    sequence: Sequence<'_>,
    indices: Sequence<'_>,
    element: &Ty,
) -> Performed<FlatValue> {
    let (length, code) = (sequence.length, FaultCode::Permute);
    if indices.length != length {
        let words = format!("lengths {length} and {}", indices.length);
        return Ok(Err(Fault::with(code, words)));
    }
    let to = &indices.columns[0];
    if length == 0 {
        return Ok(Ok(Sequence::value(0, sequence.columns.to_vec())));
    }
    let is_right = memory.state.facts.are_ranks(to, length)
        || outside(memory, code, to, length, length)?.is_none()
            && distinct(memory, to, length)? == length;
    if !is_right {
        let mut seen = vec![false; length];
        let [indices] = memory.read_ints([to], length)?;
        for index in indices {
            match index_within(code, index, length) {
                Err(fault) => return Ok(Err(fault)),
                Ok(at) if std::mem::replace(&mut seen[at], true) => {
                    let words = format!("index {index} occurs twice");
                    return Ok(Err(Fault::with(code, words)));
                }
                Ok(_) => {}
            }
        }
    }
    let own = element_columns(memory, element);
    let mut out = sequence.columns.to_vec();
    let mut copies = Vec::new();
    for (column, own) in out.iter_mut().zip(own) {
        if own {
            let to = memory.alloc_column(array(column).ty(), length)?;
            let from = std::mem::replace(column, to.clone());
            copies.push(ColumnCopy { from, to, add: 0 });
        }
    }
    put(memory, to, &copies, length, false)?;
    Ok(Ok(Sequence::value(length, out)))
}

/// Returns the columns of a sequence with other elements at some indices; of several for one index,
/// the last.
fn overwrite(
    memory: &Memory<'_>,
    sequence: Sequence<'_>,
    indices: &Arg,
    values: Sequence<'_>,
    element: &Ty,
    owned: bool,
) -> Stepped<Vec<Arg>> {
    let (mut old, mut new) = (sequence.columns, values.columns);
    let mut out = Vec::new();
    let mut copies = Vec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                let to = writable(memory, &old[0], sequence.length, owned)?;
                copies.push(ColumnCopy { from: new[0].clone(), to: to.clone(), add: 0 });
                out.push(to);
                (old, new) = (&old[1..], &new[1..]);
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let rows = [(sequence.length, old), (values.length, new)]
                    .map(|(count, columns)| Rows { count, columns: &columns[..width] });
                let mut pool = one_pool(memory, &rows, inner)?;
                let (from, before) = pool.starts.pop().or_bug("a pool of two has two starts");
                let (was, shift) = pool.starts.pop().or_bug("a pool of two has two starts");
                // The rows that were there may begin elsewhere in the common pool.
                let starts = if shift == 0 && is_same(&was, &old[0]) {
                    writable(memory, &old[0], sequence.length, owned)?
                } else {
                    let out = memory.alloc_column(kir::Ty::I64, sequence.length)?;
                    copy(memory, &was, &out, shift, sequence.length)?;
                    out
                };
                let lengths = writable(memory, &old[1], sequence.length, owned)?;
                copies.push(ColumnCopy { from, to: starts.clone(), add: before });
                copies.push(ColumnCopy { from: new[1].clone(), to: lengths.clone(), add: 0 });
                out.extend([starts, lengths, number(pool.extent)]);
                out.extend(pool.columns);
                (old, new) = (&old[width..], &new[width..]);
            }
        }
    }
    put(memory, indices, &copies, values.length, true)?;
    Ok(out)
}

/// Returns the fault for the first of `count` ints that is no index of a sequence of `length`
/// elements.
fn outside(
    memory: &Memory<'_>,
    code: FaultCode,
    ints: &Arg,
    count: usize,
    length: usize,
) -> Stepped<Option<Fault>> {
    let Some((least, greatest)) = extremes(memory, ints, count)? else { return Ok(None) };
    if least >= 0 && (greatest as u64) < length as u64 {
        return Ok(None);
    }
    let fault = |int: &i64| index_within(code, *int, length).err();
    let [ints] = memory.read_ints([ints], count)?;
    Ok(ints.iter().find_map(fault))
}

/// Returns an int as an index of a sequence of `length` elements, or the fault if it is none.
fn index_within(code: FaultCode, int: i64, length: usize) -> Result<usize, Fault> {
    let at = usize::try_from(int).ok().filter(|at| *at < length);
    at.ok_or_else(|| Fault::with(code, format!("index {int}, length {length}")))
}

fn is_same(a: &Arg, b: &Arg) -> bool {
    let ((a, i), (b, j)) = (slice(a), slice(b));
    a.is_same(b) && i == j
}
