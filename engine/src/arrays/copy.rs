//! Columns copied, filled, converted and scattered.

use super::arguments::{array, number, slice};
use super::builtin::{Builtin, Copied};
use super::{Memory, Stepped};
use nesl_runtime::kir::{Literal, Ty};
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::Precision;

/// A column that is copied.
pub(super) struct ColumnCopy {
    pub(super) from: Arg,
    pub(super) to: Arg,
    /// The number added to each element, which is an int if it is not zero.
    pub(super) add: usize,
}

/// Segments that are moved: how long each is, by offsets, and the elements at which each begins in
/// the source and in the target.
pub(super) struct SegmentMove {
    pub(super) count: usize,
    /// The number of elements of all segments.
    pub(super) total: usize,
    pub(super) offsets: Arg,
    pub(super) from: Arg,
    pub(super) to: Arg,
}

/// Returns the description of columns for a built-in kernel, and the arguments for them.
pub(super) fn columns(copies: &[ColumnCopy]) -> (Vec<Copied>, Vec<Arg>) {
    let column = |copy: &ColumnCopy| Copied {
        from: array(&copy.from).ty(),
        to: array(&copy.to).ty(),
        adds: copy.add != 0,
    };
    let args =
        copies.iter().flat_map(|copy| [copy.from.clone(), copy.to.clone(), number(copy.add)]);
    (copies.iter().map(column).collect(), args.collect())
}

/// Returns an array that holds a literal `count` times.
pub(crate) fn fill(memory: &Memory<'_>, with: Literal, count: usize) -> Stepped<Arg> {
    let out = memory.alloc_column(with.ty(), count)?;
    memory.execute(Builtin::Fill(with), &[number(count), out.clone()], count)?;
    Ok(out)
}

/// Returns `count` ints of the program as lengths.
pub(crate) fn as_lengths(memory: &Memory<'_>, ints: Arg, count: usize) -> Stepped<Arg> {
    if array(&ints).ty() != Ty::I32 {
        return Ok(ints);
    }
    let out = memory.alloc_column(Ty::I64, count)?;
    scatter(memory, None, ints, &out, 0, count)?;
    Ok(out)
}

/// Returns `count` indices as ints of the program.
pub(super) fn as_ints(memory: &Memory<'_>, indices: Arg, count: usize) -> Stepped<Arg> {
    if memory.precision == Precision::Bits64 {
        return Ok(indices);
    }
    let narrow = memory.alloc_column(Ty::I32, count)?;
    scatter(memory, None, indices, &narrow, 0, count)?;
    Ok(narrow)
}

/// Writes the first `count` elements of a column, ints plus `add`, to the given indices of another
/// column, or in order.
pub(super) fn scatter(
    memory: &Memory<'_>,
    indices: Option<Arg>,
    from: Arg,
    to: &Arg,
    add: usize,
    count: usize,
) -> Stepped<()> {
    let (types, indexed) = ([array(&from).ty(), array(to).ty()], indices.is_some());
    let kernel = Builtin::Scatter { from: types[0], to: types[1], indexed };
    let mut args = vec![number(count), from, to.clone(), number(add)];
    args.extend(indices);
    memory.execute(kernel, &args, count)
}

/// Copies the first `count` elements of a column, ints plus `add`: by the host if they are few.
pub(super) fn copy(
    memory: &Memory<'_>,
    from: &Arg,
    to: &Arg,
    add: usize,
    count: usize,
) -> Stepped<()> {
    if count > memory.limits.max_host_copied_elements || add != 0 {
        return scatter(memory, None, from.clone(), to, add, count);
    }
    let ((source, at), (target, begin)) = (slice(from), slice(to));
    let mut bytes = vec![0; count * source.ty().size()];
    memory.runtime.read(source, at, &mut bytes)?;
    memory.runtime.write(target, begin, &bytes)
}

/// Writes elements of columns to indices. If `ordered`, an index may occur more than once, and the
/// last element written there stays.
pub(super) fn put(
    memory: &Memory<'_>,
    indices: &Arg,
    copies: &[ColumnCopy],
    count: usize,
    ordered: bool,
) -> Stepped<()> {
    let (columns, mut args) = columns(copies);
    args.splice(0..0, [number(count), indices.clone()]);
    let kernel = Builtin::Put { indices: array(indices).ty(), columns, ordered };
    memory.execute(kernel, &args, count)
}

/// Copies the elements of segments to where these go.
pub(super) fn move_segments(
    memory: &Memory<'_>,
    segments: SegmentMove,
    copies: &[ColumnCopy],
) -> Stepped<()> {
    let (columns, mut args) = columns(copies);
    let SegmentMove { count, total, offsets, from, to } = segments;
    args.splice(0..0, [number(count), offsets, from, to]);
    memory.execute(Builtin::MoveSegments(columns), &args, total)
}

/// Returns true if a column is the only handle to its buffer, which may be overwritten then. What was known of the
/// contents is forgotten.
pub(crate) fn is_only_handle(memory: &Memory<'_>, column: &Arg) -> bool {
    let buffer = array(column);
    let is_only = buffer.is_unique();
    if is_only {
        memory.state.facts.forget(buffer);
    }
    is_only
}

/// Returns a column of `count` elements that may be written: the column itself if it is `owned`
/// and its buffer has no other handle, and a copy otherwise.
pub(crate) fn writable(
    memory: &Memory<'_>,
    column: &Arg,
    count: usize,
    owned: bool,
) -> Stepped<Arg> {
    let buffer = array(column);
    if owned && buffer.is_unique() {
        memory.state.facts.forget(buffer);
        return Ok(column.clone());
    }
    let out = memory.alloc_column(buffer.ty(), count)?;
    copy(memory, column, &out, 0, count)?;
    Ok(out)
}
