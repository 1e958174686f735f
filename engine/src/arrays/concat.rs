//! Sequences and rows behind each other, and one pool for the rows of several sequences.
//!
//! Rows that are cut from the same arrays share a pool already; others are put behind each other,
//! each with only what it uses.
//!
//! An array to which something is appended again and again, as in a loop that collects its steps, has room
//! for more: most appends then write nothing but what they append. Whoever has an earlier array keeps it,
//! as a shorter view of the same memory.

use super::arguments::{array, number, slice};
use super::builtin::Builtin;
use super::copy::{ColumnCopy, SegmentMove, copy, move_segments, put};
use super::facts::Appended;
use super::gather::{CompactRows, compact};
use super::segments::{PendingSegments, read_together};
use super::sequence::{Field, Rows, Sequence, element_columns, fields, row_columns};
use super::{Memory, Segments, Stepped};
use nesl_core::ir::Ty;
use nesl_runtime::kir;
use nesl_runtime::runtime::{Arg, Buffer};

/// A column, and the number added to each of its elements.
pub(super) type Shifted = (Arg, usize);

/// One pool in place of several.
pub(super) struct OnePool {
    /// The number of elements of the pool.
    pub(super) extent: usize,
    pub(super) columns: Vec<Arg>,
    /// For each of the pools that it replaces, the starts of the rows there, and the number to be
    /// added to them.
    pub(super) starts: Vec<Shifted>,
}

/// A pool that contains several sequences.
pub(super) struct SharedPool {
    /// The number of elements of the pool.
    pub(super) extent: usize,
    pub(super) columns: Vec<Arg>,
    /// The index in the pool at which each sequence begins.
    pub(super) begins: Vec<usize>,
}

/// Returns the columns of sequences of `element`s put behind each other.
pub(super) fn concatenate(
    memory: &Memory<'_>,
    all: &[Sequence<'_>],
    element: &Ty,
) -> Stepped<Vec<Arg>> {
    let lengths: Vec<usize> = all.iter().map(|one| one.length).collect();
    let mut rest: Vec<&[Arg]> = all.iter().map(|one| one.columns).collect();
    let mut out = Vec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                let first: Vec<Shifted> = rest.iter().map(|rest| (rest[0].clone(), 0)).collect();
                out.push(end_to_end(memory, &first, &lengths)?);
                rest.iter_mut().for_each(|rest| *rest = &rest[1..]);
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let rows: Vec<Rows<'_>> = rest
                    .iter()
                    .zip(&lengths)
                    .map(|(rest, count)| Rows { count: *count, columns: &rest[..width] })
                    .collect();
                let pool = one_pool(memory, &rows, inner)?;
                out.push(end_to_end(memory, &pool.starts, &lengths)?);
                let second: Vec<Shifted> = rest.iter().map(|rest| (rest[1].clone(), 0)).collect();
                out.push(end_to_end(memory, &second, &lengths)?);
                out.push(number(pool.extent));
                out.extend(pool.columns);
                rest.iter_mut().for_each(|rest| *rest = &rest[width..]);
            }
        }
    }
    Ok(out)
}

/// Returns one pool for the rows of several sequences.
pub(super) fn one_pool(memory: &Memory<'_>, all: &[Rows<'_>], element: &Ty) -> Stepped<OnePool> {
    let pools: Vec<Sequence<'_>> = all.iter().map(|rows| rows.pool()).collect();
    if let Some(SharedPool { extent, columns, begins }) = shared_pool(memory, &pools, element) {
        let starts = all.iter().map(|rows| rows.starts().clone()).zip(begins).collect();
        return Ok(OnePool { extent, columns, starts });
    }
    // What is not copied is not made smaller first.
    let extended = has_room(memory, &pools, element);
    let mut compacted = Vec::new();
    for (at, rows) in all.iter().enumerate() {
        let stays = at == 0 && extended;
        compacted.push(if stays { None } else { compact(memory, *rows, element)? });
    }
    let mut starts = Vec::new();
    let mut extent = 0;
    let mut parts = Vec::new();
    for ((rows, pool), compact) in all.iter().zip(&pools).zip(&compacted) {
        let (start, pool) = match compact {
            Some(CompactRows { starts, extent, columns }) => {
                (starts, Sequence { length: *extent, columns })
            }
            None => (rows.starts(), *pool),
        };
        starts.push((start.clone(), extent));
        extent += pool.length;
        parts.push(pool);
    }
    Ok(OnePool { extent, columns: concatenate(memory, &parts, element)?, starts })
}

/// Returns one pool for several sequences, without copying where all are cut from the same arrays.
pub(super) fn pool_of(
    memory: &Memory<'_>,
    pools: &[Sequence<'_>],
    element: &Ty,
) -> Stepped<SharedPool> {
    if let Some(pool) = shared_pool(memory, pools, element) {
        return Ok(pool);
    }
    let mut extent = 0;
    let begins = pools.iter().map(|pool| {
        extent += pool.length;
        extent - pool.length
    });
    let begins = begins.collect();
    Ok(SharedPool { extent, columns: concatenate(memory, pools, element)?, begins })
}

/// Returns one pool for pools that are all cut from the same arrays, without copying.
fn shared_pool(memory: &Memory<'_>, pools: &[Sequence<'_>], element: &Ty) -> Option<SharedPool> {
    let own = element_columns(memory, element);
    let start = |pool: &Sequence<'_>, column: usize| match &pool.columns[column] {
        Arg::Array(_, at) => *at,
        Arg::Scalar(_) => 0,
    };
    let first = pools.first()?;
    let lead = own.iter().position(|own| *own)?;
    let least = pools.iter().min_by_key(|pool| start(pool, lead))?;
    for pool in pools {
        for (column, own) in own.iter().enumerate() {
            let same = match (&first.columns[column], &pool.columns[column]) {
                (Arg::Array(a, _), Arg::Array(b, _)) => a.is_same(b),
                (Arg::Scalar(a), Arg::Scalar(b)) => a == b,
                (Arg::Array(..), Arg::Scalar(_)) | (Arg::Scalar(_), Arg::Array(..)) => false,
            };
            let shift = start(pool, lead) - start(least, lead);
            let shift = if *own { shift } else { 0 };
            if !same || start(pool, column) != start(least, column) + shift {
                return None;
            }
        }
    }
    let begins: Vec<usize> =
        pools.iter().map(|pool| start(pool, lead) - start(least, lead)).collect();
    let extent = pools.iter().zip(&begins).map(|(pool, at)| at + pool.length).max()?;
    Some(SharedPool { extent, columns: least.columns.to_vec(), begins })
}

/// Returns true if there is room behind the first of several sequences for all others.
fn has_room(memory: &Memory<'_>, all: &[Sequence<'_>], element: &Ty) -> bool {
    let [first, others @ ..] = all else { return false };
    let wanted: usize = others.iter().map(|one| one.length).sum();
    let own = element_columns(memory, element);
    let mut columns = first.columns.iter().zip(own).filter(|(_, own)| *own);
    let facts = &memory.state.facts;
    columns.all(|(column, _)| facts.has_room_behind(column, first.length, wanted))
}

/// Returns columns behind each other, with a number added to the elements of each: behind the first one
/// itself, if there is room.
fn end_to_end(memory: &Memory<'_>, columns: &[Shifted], lengths: &[usize]) -> Stepped<Arg> {
    let ((first, first_adds), facts) = (&columns[0], &memory.state.facts);
    let (array, begin) = slice(first);
    let (length, total) = (lengths[0], lengths.iter().sum::<usize>());
    if *first_adds == 0 && total == length {
        return Ok(first.clone());
    }
    let in_place = *first_adds == 0 && facts.has_room_behind(first, length, total - length);
    let times = facts.appended(array).map_or(0, |appended| appended.times);
    let (out, begin, mut at) = if in_place {
        (array.clone(), begin, begin + length)
    } else {
        let out = alloc_appended(memory, array.ty(), total, times)?;
        copy(memory, first, &Arg::Array(out.clone(), 0), *first_adds, length)?;
        (out, 0, length)
    };
    for ((column, add), length) in columns.iter().zip(lengths).skip(1) {
        copy(memory, column, &Arg::Array(out.clone(), at), *add, *length)?;
        at += length;
    }
    facts.set_appended(&out, Appended { used: at, times: times.saturating_add(1) });
    Ok(Arg::Array(out, begin))
}

/// Allocates an array of `total` elements, the first of which were appended to `times` times: if these were
/// several, with room for more, as long as there is memory.
fn alloc_appended(memory: &Memory<'_>, ty: kir::Ty, total: usize, times: u32) -> Stepped<Buffer> {
    if times >= memory.limits.min_appends_for_room {
        let roomy = memory.alloc(ty, total.saturating_add(total / 2));
        if roomy.is_ok() {
            return roomy;
        }
    }
    memory.alloc(ty, total)
}

/// Returns the number of elements of the arrays that sequences in values are cut from, the outermost ones:
/// `values` has the columns of each.
pub(crate) fn elements_of(memory: &Memory<'_>, values: &[&[Arg]], element: &Ty) -> usize {
    let mut elements = 0;
    for value in values {
        let mut rest = *value;
        for field in fields(element) {
            let width = match field {
                Field::Scalar => 1,
                Field::Sequence(inner) => {
                    let width = row_columns(memory, inner);
                    elements += elements_within(memory, &rest[..width], inner);
                    width
                }
            };
            rest = &rest[width..];
        }
    }
    elements
}

/// Returns the number of elements of the array that rows are cut from, and of those within.
fn elements_within(memory: &Memory<'_>, columns: &[Arg], element: &Ty) -> usize {
    let pool = Rows { count: 0, columns }.pool();
    pool.length + elements_of(memory, &[pool.columns], element)
}

/// Returns the columns of `count` lists, one of each element's values: `values` has the columns of each.
/// Values that are cut from the same arrays are not copied.
pub(crate) fn list_rows(
    memory: &Memory<'_>,
    values: &[&[Arg]],
    count: usize,
    element: &Ty,
) -> Stepped<Vec<Arg>> {
    let many = values.len();
    let lists = Segments::regular(count, many)?;
    let begins = Arg::Array(lists.offsets(memory)?, 0);
    let mut copies = Vec::new();
    let mut interleaved = |columns: &[Shifted]| -> Stepped<Arg> {
        let all = memory.alloc(array(&columns[0].0).ty(), count * many)?;
        for (place, (from, add)) in columns.iter().enumerate() {
            let to = Arg::Array(all.clone(), place);
            copies.push(ColumnCopy { from: from.clone(), to, add: *add });
        }
        Ok(Arg::Array(all, 0))
    };
    let mut out = vec![begins.clone(), lists.lengths(memory)?, number(count * many)];
    let mut rest = values.to_vec();
    for field in fields(element) {
        let column = |at: usize| rest.iter().map(|rest| (rest[at].clone(), 0)).collect();
        let first: Vec<Shifted> = column(0);
        let width = match field {
            Field::Scalar => {
                out.push(interleaved(&first)?);
                1
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let lengths: Vec<Shifted> = column(1);
                let rows = rest.iter().map(|rest| Rows { count, columns: &rest[..width] });
                let pool = one_pool(memory, &rows.collect::<Vec<_>>(), inner)?;
                out.push(interleaved(&pool.starts)?);
                out.push(interleaved(&lengths)?);
                out.push(number(pool.extent));
                out.extend(pool.columns);
                width
            }
        };
        rest.iter_mut().for_each(|rest| *rest = &rest[width..]);
    }
    put(memory, &begins, &copies, count, false)?;
    Ok(out)
}

/// Returns the columns of each row of `first` with the same row of `second` behind it.
pub(crate) fn append_rows(
    memory: &Memory<'_>,
    first: Rows<'_>,
    second: Rows<'_>,
    element: &Ty,
) -> Stepped<Vec<Arg>> {
    let count = first.count;
    let pending =
        |rows: Rows<'_>| PendingSegments::begin(memory, count, rows.lengths().clone(), None);
    let (_, segments) = read_together(memory, &[], vec![pending(first)?, pending(second)?])?;
    let (a, b) = (&segments[0], &segments[1]);
    for (here, other) in [(first, b), (second, a)] {
        if other.total == 0 {
            return Ok(here.columns.to_vec());
        }
    }
    let total = a.total + b.total;
    let AppendedRows { begin, behind, lengths } = match memory.limits.max_host_appended_segments {
        0 => AppendedRows::on_device(memory, [a, b])?,
        _ => AppendedRows::on_host(memory, [first, second])?,
    };
    let (columns, copies) = joined_columns(memory, first.pool(), second.pool(), total, element)?;
    let sides = [(first, a, &begin), (second, b, &behind)];
    for ((rows, segments, to), copies) in sides.into_iter().zip(&copies) {
        let moved = SegmentMove {
            count,
            total: segments.total,
            offsets: Arg::Array(segments.offsets(memory)?, 0),
            from: rows.starts().clone(),
            to: to.clone(),
        };
        move_segments(memory, moved, copies)?;
    }
    Ok([begin, lengths, number(total)].into_iter().chain(columns).collect())
}

/// The descriptor of rows of which each has another one behind it.
struct AppendedRows {
    /// The index at which each row begins.
    begin: Arg,
    /// The index at which its second part begins.
    behind: Arg,
    /// The length of each row.
    lengths: Arg,
}

impl AppendedRows {
    /// Computes the descriptor on the host, which reads the lengths.
    fn on_host(memory: &Memory<'_>, [first, second]: [Rows<'_>; 2]) -> Stepped<AppendedRows> {
        let [x, y] = memory.read_ints([first.lengths(), second.lengths()], first.count)?;
        let (mut begin, mut behind, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        for (x, y) in x.iter().zip(&y) {
            begin.push(at);
            behind.push(at + x);
            lengths.push(x + y);
            at += x + y;
        }
        Ok(AppendedRows {
            begin: memory.write_indices(&begin)?,
            behind: memory.write_indices(&behind)?,
            lengths: memory.write_indices(&lengths)?,
        })
    }

    /// Computes the descriptor by a kernel: where a row begins is the sum of the offsets of its parts.
    fn on_device(memory: &Memory<'_>, parts: [&Segments; 2]) -> Stepped<AppendedRows> {
        let (count, total) = (parts[0].count, parts[0].total + parts[1].total);
        let [begin, behind, lengths] =
            [(); 3].map(|()| memory.alloc_column(kir::Ty::I64, count + 1));
        let (begin, behind, lengths) = (begin?, behind?, lengths?);
        let mut args = vec![number(count + 1), number(count)];
        for part in parts {
            args.push(Arg::Array(part.offsets(memory)?, 0));
        }
        args.extend([begin.clone(), behind.clone(), lengths.clone()]);
        memory.execute(Builtin::Appended, &args, count + 1)?;
        if memory.keeps_contents(count) {
            memory.state.facts.set_segments(&lengths, count, total, Some(array(&begin)));
        }
        Ok(AppendedRows { begin, behind, lengths })
    }
}

/// Allocates columns for `total` elements of two pools; returns them, and the copies that bring
/// the elements of each pool there.
fn joined_columns(
    memory: &Memory<'_>,
    first: Sequence<'_>,
    second: Sequence<'_>,
    total: usize,
    element: &Ty,
) -> Stepped<(Vec<Arg>, [Vec<ColumnCopy>; 2])> {
    let (mut a, mut b) = (first.columns, second.columns);
    let mut out = Vec::new();
    let mut copies = [Vec::new(), Vec::new()];
    let mut column = |from: [Shifted; 2]| -> Stepped<Arg> {
        let to = memory.alloc_column(slice(&from[0].0).0.ty(), total)?;
        for (copies, (from, add)) in copies.iter_mut().zip(from) {
            copies.push(ColumnCopy { from, to: to.clone(), add });
        }
        Ok(to)
    };
    for field in fields(element) {
        match field {
            Field::Scalar => {
                out.push(column([(a[0].clone(), 0), (b[0].clone(), 0)])?);
                (a, b) = (&a[1..], &b[1..]);
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let rows = [(first.length, a), (second.length, b)]
                    .map(|(count, columns)| Rows { count, columns: &columns[..width] });
                let pool = one_pool(memory, &rows, inner)?;
                let [x, y] = [&pool.starts[0], &pool.starts[1]];
                out.push(column([x.clone(), y.clone()])?);
                out.push(column([(a[1].clone(), 0), (b[1].clone(), 0)])?);
                out.push(number(pool.extent));
                out.extend(pool.columns);
                (a, b) = (&a[width..], &b[width..]);
            }
        }
    }
    Ok((out, copies))
}
