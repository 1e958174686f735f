//! Descriptors of segments: their lengths, and the offsets at which they begin.
//!
//! Segments of equal length have no arrays until somebody asks for them. The lengths of others are
//! an array; offsets are its exclusive prefix sums, with the total behind them.

use super::memory::{length, number, out_of_memory, slice};
use super::{Memory, Stepped, builtin};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::{Arg, Buffer};
use std::cell::OnceCell;
use std::rc::Rc;

/// Segments that lie one behind the other.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The number of segments.
    pub(crate) count: usize,
    /// The number of elements in all segments.
    pub(crate) total: usize,
    /// The length of each segment, if all are equally long.
    pub(crate) regular: Option<usize>,
    /// The index of each segment's first element, and the total: `count + 1` ints.
    offsets: OnceCell<Buffer>,
    /// The length of each segment: `count` ints.
    lengths: OnceCell<Arg>,
}

impl Segments {
    /// Makes `count` segments of `length` elements each.
    pub(crate) fn regular(count: usize, length: usize) -> Stepped<Rc<Segments>> {
        let total = count.checked_mul(length).ok_or_else(|| out_of_memory(count, length))?;
        let (offsets, lengths) = (OnceCell::new(), OnceCell::new());
        Ok(Rc::new(Segments { count, total, regular: Some(length), offsets, lengths }))
    }

    /// Makes segments from a column of `count` lengths.
    pub(crate) fn of_lengths(
        memory: &Memory<'_>,
        count: usize,
        lengths: Arg,
    ) -> Stepped<Rc<Segments>> {
        let (offsets, total) = if count <= memory.limits.max_host_scanned_segments {
            scan_on_host(memory, &lengths, count)?
        } else {
            let offsets = scan(memory, lengths.clone(), count)?;
            let total = length(&Arg::Scalar(memory.read_element(&offsets, count)?));
            (offsets, total)
        };
        let (offsets, lengths) = (OnceCell::from(offsets), OnceCell::from(lengths));
        Ok(Rc::new(Segments { count, total, regular: None, offsets, lengths }))
    }

    /// Returns the index of each segment's first element, and the total.
    pub(crate) fn offsets(&self, memory: &Memory<'_>) -> Stepped<Buffer> {
        if let Some(offsets) = self.offsets.get() {
            return Ok(offsets.clone());
        }
        let offsets = multiples(memory, self.count + 1, self.equal_length(), true)?;
        Ok(self.offsets.get_or_init(|| offsets).clone())
    }

    /// Returns the length of each segment.
    pub(crate) fn lengths(&self, memory: &Memory<'_>) -> Stepped<Arg> {
        if let Some(lengths) = self.lengths.get() {
            return Ok(lengths.clone());
        }
        let lengths = Arg::Array(multiples(memory, self.count, self.equal_length(), false)?, 0);
        Ok(self.lengths.get_or_init(|| lengths).clone())
    }

    /// Returns for each element the number of its segment.
    pub(crate) fn numbers(&self, memory: &Memory<'_>) -> Stepped<Buffer> {
        let out = memory.alloc(Ty::I64, self.total)?;
        let offsets = Arg::Array(self.offsets(memory)?, 0);
        let args = [number(self.count), offsets, Arg::Array(out.clone(), 0)];
        memory.execute(builtin::segment_numbers(), &args)?;
        Ok(out)
    }

    fn equal_length(&self) -> usize {
        self.regular.or_bug("segments of different lengths have their offsets from the beginning")
    }
}

/// Returns the offsets of a few segments and their total, added up by the host: it needs the total
/// in any case.
fn scan_on_host(memory: &Memory<'_>, lengths: &Arg, count: usize) -> Stepped<(Buffer, usize)> {
    let (from, at) = slice(lengths);
    let size = Ty::I64.size();
    let mut bytes = vec![0; count * size];
    memory.runtime.read(from, at, &mut bytes)?;
    let mut offsets = vec![0u64];
    for length in bytes.chunks_exact(size) {
        let length = u64::from_ne_bytes(length.try_into().or_bug("a length has eight bytes"));
        offsets.push(offsets[offsets.len() - 1].wrapping_add(length));
    }
    let out = memory.alloc(Ty::I64, count + 1)?;
    let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
    memory.runtime.write(&out, 0, &bytes)?;
    Ok((out, offsets[count] as usize))
}

/// Returns the exclusive prefix sums of `count` lengths, and the total behind them.
fn scan(memory: &Memory<'_>, lengths: Arg, count: usize) -> Stepped<Buffer> {
    let out = memory.alloc(Ty::I64, count + 1)?;
    let args = [number(count + 1), number(count), lengths, Arg::Array(out.clone(), 0)];
    memory.execute(builtin::offsets(), &args)?;
    Ok(out)
}

/// Returns `count` multiples of `of` from zero on if `ascending`, and `of` itself `count` times
/// otherwise.
fn multiples(memory: &Memory<'_>, count: usize, of: usize, ascending: bool) -> Stepped<Buffer> {
    let out = memory.alloc(Ty::I64, count)?;
    let args = [number(count), number(of), Arg::Array(out.clone(), 0)];
    memory.execute(builtin::multiples(ascending), &args)?;
    Ok(out)
}

/// Returns the first elements and the lengths of `rows` rows of segments, in elements.
///
/// Row `i` consists of `lengths[i]` segments from segment `starts[i]` on, and segment `j` begins at
/// element `offsets[j]`.
pub(crate) fn spans(
    memory: &Memory<'_>,
    starts: &Arg,
    lengths: &Arg,
    offsets: &Buffer,
    rows: usize,
) -> Stepped<(Arg, Arg)> {
    let begin = memory.alloc_column(Ty::I64, rows)?;
    let spans = memory.alloc_column(Ty::I64, rows)?;
    let offsets = Arg::Array(offsets.clone(), 0);
    let (starts, lengths) = (starts.clone(), lengths.clone());
    let args = [number(rows), starts, lengths, offsets, begin.clone(), spans.clone()];
    memory.execute(builtin::spans(), &args)?;
    Ok((begin, spans))
}

/// Returns the element of a pool at which `count` segments begin that lie there one behind the
/// other in order, if they do; empty segments may begin anywhere.
pub(super) fn contiguous(
    memory: &Memory<'_>,
    starts: &Arg,
    lengths: &Arg,
    offsets: &Buffer,
    count: usize,
) -> Stepped<Option<usize>> {
    let offsets = Arg::Array(offsets.clone(), 0);
    let (least, greatest) = if count <= memory.limits.max_host_copied_elements {
        let all = [starts, lengths, &offsets].map(|column| memory.read_ints(column, count));
        let [starts, lengths, offsets] = all;
        let (starts, lengths, offsets) = (starts?, lengths?, offsets?);
        let filled = (0..count).filter(|i| lengths[*i] > 0);
        let shifts: Vec<i64> = filled.map(|i| starts[i] - offsets[i]).collect();
        let least = shifts.iter().min().copied().unwrap_or(0);
        (least, shifts.iter().max().copied().unwrap_or(0))
    } else {
        let args = vec![number(count), starts.clone(), lengths.clone(), offsets];
        two_numbers(memory, builtin::contiguous(), args)?
    };
    Ok(usize::try_from(least).ok().filter(|_| least == greatest))
}

/// Returns the least and the greatest of `count` ints, if there are any.
pub(super) fn extremes(
    memory: &Memory<'_>,
    ints: &Arg,
    count: usize,
) -> Stepped<Option<(i64, i64)>> {
    if count <= memory.limits.max_host_copied_elements {
        let ints = memory.read_ints(ints, count)?;
        return Ok(ints.iter().min().copied().zip(ints.iter().max().copied()));
    }
    let kernel = builtin::extremes(slice(ints).0.ty());
    two_numbers(memory, kernel, vec![number(count), ints.clone()]).map(Some)
}

/// Launches a kernel whose last two parameters are arrays for one number each.
fn two_numbers(
    memory: &Memory<'_>,
    kernel: nesl_runtime::kir::Kernel,
    mut args: Vec<Arg>,
) -> Stepped<(i64, i64)> {
    let outs = [memory.alloc_column(Ty::I64, 1)?, memory.alloc_column(Ty::I64, 1)?];
    args.extend(outs.iter().cloned());
    memory.execute(kernel, &args)?;
    let [a, b] = outs.map(|out| memory.read_ints(&out, 1));
    Ok((a?[0], b?[0]))
}
