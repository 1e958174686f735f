//! Segments copied out of a pool, one behind the other.
//!
//! Removing a level of nesting is nothing but a new descriptor if the segments lie one behind the
//! other in their pool already, as those that an apply-to-each made do.

use super::arguments::{array, number};
use super::builtin::Builtin;
use super::copy::{ColumnCopy, columns};
use super::segments::segments_of_rows;
use super::sequence::{Rows, Sequence, cut, element_columns};
use super::{FlatValue, Memory, Segments, Stepped, spans};
use nesl_core::ir::Ty;
use nesl_runtime::runtime::Arg;

/// Rows in a pool of their own.
pub(super) struct CompactRows {
    /// The first element of each row.
    pub(super) starts: Arg,
    /// The number of elements in the pool.
    pub(super) extent: usize,
    pub(super) columns: Vec<Arg>,
}

/// Copies the elements of `segments`, which begin at `starts` in a pool, one behind the other;
/// returns the columns of the result.
pub(crate) fn gather_segments(
    memory: &Memory<'_>,
    segments: &Segments,
    starts: &Arg,
    pool: &[Arg],
    element: &Ty,
) -> Stepped<Vec<Arg>> {
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
    let offsets = Arg::Array(segments.offsets(memory)?, 0);
    args.splice(0..0, [number(segments.count), offsets, starts.clone()]);
    memory.execute(Builtin::GatherSegments(columns), &args, segments.total)?;
    Ok(out)
}

/// Copies rows to a pool of their own if the one that they are cut from is much larger than what
/// they use of it.
pub(super) fn compact(
    memory: &Memory<'_>,
    rows: Rows<'_>,
    element: &Ty,
) -> Stepped<Option<CompactRows>> {
    let factor = memory.limits.min_pool_waste_factor;
    let pool = rows.pool();
    if pool.length <= factor * rows.count {
        return Ok(None);
    }
    let segments = Segments::of_lengths(memory, rows.count, rows.lengths().clone())?;
    if segments.total > pool.length / factor {
        return Ok(None);
    }
    let starts = Arg::Array(segments.offsets(memory)?, 0);
    let columns = gather_segments(memory, &segments, rows.starts(), pool.columns, element)?;
    Ok(Some(CompactRows { starts, extent: segments.total, columns }))
}

/// Returns a sequence of sequences of `inner` elements with a level of nesting less.
pub(super) fn flatten(memory: &Memory<'_>, rows: Rows<'_>, inner: &Ty) -> Stepped<FlatValue> {
    let pool = rows.pool();
    let (segments, start) = segments_of_rows(memory, rows.starts(), rows.lengths(), rows.count)?;
    let total = segments.total;
    if total == 0 {
        return Ok(Sequence::value(0, pool.columns.to_vec()));
    }
    let columns = match start {
        Some(start) => cut(memory, pool.columns, inner, start),
        None => gather_segments(memory, &segments, rows.starts(), pool.columns, inner)?,
    };
    Ok(Sequence::value(total, columns))
}

/// Returns for each row of rows of `element`s the elements of its rows, as the columns of rows.
pub(crate) fn flatten_rows(memory: &Memory<'_>, rows: Rows<'_>, element: &Ty) -> Stepped<Vec<Arg>> {
    // Inner rows that no outer row refers to are dropped first.
    let compact = compact(memory, rows, &Ty::Sequence(Box::new(element.clone())))?;
    let (starts, inner) = match &compact {
        Some(CompactRows { starts, extent, columns }) => (starts, Rows { count: *extent, columns }),
        None => (rows.starts(), rows.pool().rows()),
    };
    let (segments, start) = segments_of_rows(memory, inner.starts(), inner.lengths(), inner.count)?;
    let offsets = segments.offsets(memory)?;
    let (begin, lengths) = spans(memory, starts, rows.lengths(), &offsets, rows.count)?;
    let pool = inner.pool().columns;
    let (extent, pool) = match start {
        Some(start) if segments.total == 0 => {
            (inner.columns[2].clone(), cut(memory, pool, element, start))
        }
        Some(start) => (number(segments.total), cut(memory, pool, element, start)),
        None => {
            let pool = gather_segments(memory, &segments, inner.starts(), pool, element)?;
            (number(segments.total), pool)
        }
    };
    Ok([begin, lengths, extent].into_iter().chain(pool).collect())
}
