//! Products and transposes of matrices, which the runtime computes by itself.

use super::arguments::{array, number, slice};
use super::builtin::Builtin;
use super::{FlatValue, Memory, Segments, Stepped};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Extern, Ty};
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// A matrix of scalars: rows of equal length.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// The number of rows.
    pub(crate) rows: usize,
    /// The length of each row.
    pub(crate) row_length: usize,
    starts: Arg,
    pool: Arg,
}

impl Matrix {
    /// Returns the matrix that a sequence of sequences of scalars is, given its parts, unless its rows
    /// differ in length or have no elements in memory.
    pub(crate) fn of_parts(memory: &Memory<'_>, parts: &[Arg]) -> Stepped<Option<Matrix>> {
        let [rows, starts, lengths, _, pool, ..] = parts else { return Ok(None) };
        let rows = super::length(rows);
        let row_length = common_length(memory, lengths, rows)?;
        let (starts, pool) = (starts.clone(), pool.clone());
        Ok(row_length.map(|row_length| Matrix { rows, row_length, starts, pool }))
    }
}

/// Returns the number that all of `count` lengths are; zero if there are none.
fn common_length(memory: &Memory<'_>, lengths: &Arg, count: usize) -> Stepped<Option<usize>> {
    let (from, at) = slice(lengths);
    let size = Ty::I64.size();
    let mut bytes = vec![0; count * size];
    memory.runtime.read(from, at, &mut bytes)?;
    let mut chunks = bytes.chunks_exact(size);
    let Some(first) = chunks.next() else { return Ok(Some(0)) };
    let length = i64::from_ne_bytes(first.try_into().or_bug("a length has eight bytes"));
    Ok(chunks.all(|other| other == first).then_some(length as usize))
}

/// Returns the rows of the product of two matrices, each with true if its transpose is meant: `sizes`
/// are the rows and the columns of the product, and the number of products that are added up for each
/// element. The right matrix is given by its columns, unless its transpose is meant.
pub(crate) fn multiply(
    memory: &Memory<'_>,
    left: (&Matrix, bool),
    right: (&Matrix, bool),
    sizes: [usize; 3],
) -> Stepped<FlatValue> {
    let [rows, columns, _] = sizes;
    let segments = Segments::regular(rows, columns)?;
    let elements = array(&left.0.pool).ty();
    let out = memory.alloc_column(elements, segments.total)?;
    let mut args = vec![number(1)];
    for (matrix, turned) in [left, right] {
        let (pool, starts) = (matrix.pool.clone(), matrix.starts.clone());
        args.extend([pool, starts, number(usize::from(turned))]);
    }
    args.extend(sizes.map(number));
    args.push(out.clone());
    let (name, service) = ("matrix product", Extern::Product);
    memory.execute(Builtin::Matrix { name, service, elements }, &args, 1)?;
    rows_of(memory, segments, out)
}

/// Returns the rows of a transpose of so many rows and columns.
pub(crate) fn transpose(
    memory: &Memory<'_>,
    matrix: &Matrix,
    sizes: [usize; 2],
) -> Stepped<FlatValue> {
    let [rows, columns] = sizes;
    let segments = Segments::regular(rows, columns)?;
    let elements = array(&matrix.pool).ty();
    let out = memory.alloc_column(elements, segments.total)?;
    let [pool, starts] = [&matrix.pool, &matrix.starts].map(Clone::clone);
    let args = [number(1), pool, starts, number(rows), number(columns), out.clone()];
    let (name, service) = ("transpose", Extern::Transpose);
    memory.execute(Builtin::Matrix { name, service, elements }, &args, 1)?;
    rows_of(memory, segments, out)
}

/// Returns rows that lie one behind the other.
fn rows_of(memory: &Memory<'_>, segments: Rc<Segments>, elements: Arg) -> Stepped<FlatValue> {
    let starts = Arg::Array(segments.offsets(memory)?, 0);
    let parts = vec![starts, segments.lengths(memory)?, number(segments.total), elements];
    Ok(FlatValue { parts: parts.into(), tiles: Some(segments) })
}
