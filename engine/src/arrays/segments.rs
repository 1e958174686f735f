//! Descriptors of segments: their lengths, and the offsets at which they begin.
//!
//! Segments of equal length have no arrays until somebody asks for them. The lengths of others are
//! an array; offsets are its exclusive prefix sums, with the total behind them.

use super::arguments::{int, number, slice};
use super::builtin::Builtin;
use super::facts::Contents;
use super::memory::{first_of, ints_of, out_of_memory};
use super::{Memory, Stepped};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Ty};
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
        PendingSegments::begin(memory, count, lengths, None)?.finish(memory)
    }

    /// Makes segments whose total is known from a column of `count` lengths.
    fn of_total(memory: &Memory<'_>, count: usize, lengths: Arg, total: usize) -> Rc<Segments> {
        let segments = Segments {
            count,
            total,
            regular: None,
            offsets: OnceCell::new(),
            lengths: OnceCell::from(lengths),
        };
        segments.record(memory);
        Rc::new(segments)
    }

    /// Records the total, so that segments made of the same lengths need no wait.
    fn record(&self, memory: &Memory<'_>) {
        if memory.keeps_contents(self.count)
            && let Some(lengths) = self.lengths.get()
        {
            let offsets = self.offsets.get();
            memory.state.facts.set_segments(lengths, self.count, self.total, offsets);
        }
    }

    /// Returns the segments of `count` sequences with a descriptor of these starts and lengths, if
    /// the host knows that they lie one behind the other from the beginning of their pool on.
    pub(crate) fn known_tiles(
        memory: &Memory<'_>,
        starts: &Arg,
        lengths: &Arg,
        count: usize,
    ) -> Stepped<Option<Rc<Segments>>> {
        let facts = &memory.state.facts;
        if let Some(length) = facts.constant(lengths) {
            if facts.linear(starts) != Some((length, 0)) {
                return Ok(None);
            }
            let segments = Segments::regular(count, length)?;
            return Ok(Some(segments.with_lengths(lengths)));
        }
        let (array, at) = slice(starts);
        Ok(match facts.segments(lengths, count) {
            Some((total, Some(offsets))) if at == 0 && offsets.is_same(array) => {
                let (offsets, lengths) = (OnceCell::from(offsets), OnceCell::from(lengths.clone()));
                Some(Rc::new(Segments { count, total, regular: None, offsets, lengths }))
            }
            _ => None,
        })
    }

    /// Returns the same segments, which have no arrays yet, with the array of their lengths.
    fn with_lengths(self: Rc<Segments>, lengths: &Arg) -> Rc<Segments> {
        self.lengths.get_or_init(|| lengths.clone());
        self
    }

    /// Returns the index of each segment's first element, and the total.
    pub(crate) fn offsets(&self, memory: &Memory<'_>) -> Stepped<Buffer> {
        if let Some(offsets) = self.offsets.get() {
            return Ok(offsets.clone());
        }
        let offsets = match (self.regular, self.lengths.get()) {
            (Some(length), _) => linear(memory, self.count + 1, length, true)?,
            (None, Some(lengths)) => scan(memory, lengths.clone(), self.count)?,
            (None, None) => bug!("segments of different lengths have their lengths"),
        };
        let offsets = self.offsets.get_or_init(|| offsets).clone();
        if self.regular.is_none() {
            self.record(memory);
        }
        Ok(offsets)
    }

    /// Returns the length of each segment.
    pub(crate) fn lengths(&self, memory: &Memory<'_>) -> Stepped<Arg> {
        if let Some(lengths) = self.lengths.get() {
            return Ok(lengths.clone());
        }
        let length = self.regular.or_bug("segments of different lengths have their lengths");
        let lengths = Arg::Array(linear(memory, self.count, length, false)?, 0);
        Ok(self.lengths.get_or_init(|| lengths).clone())
    }

    /// Returns for each element the number of its segment.
    pub(crate) fn numbers(&self, memory: &Memory<'_>) -> Stepped<Buffer> {
        let out = memory.alloc(Ty::I64, self.total)?;
        let offsets = Arg::Array(self.offsets(memory)?, 0);
        let args = [number(self.count), offsets, Arg::Array(out.clone(), 0)];
        memory.execute(Builtin::SegmentNumbers, &args, self.total)?;
        Ok(out)
    }
}

/// Segments whose total may have to be read.
pub(crate) enum PendingSegments {
    /// The host knows the total.
    Known(Rc<Segments>),
    /// The total is the sum of these lengths, few enough to be read.
    Short(usize, Arg),
    /// The total is behind these offsets of segments of these lengths.
    Scanned(usize, Arg, Buffer),
}

impl PendingSegments {
    /// Begins to make segments from a column of `count` lengths, without waiting where lengths lie
    /// on a device. `total` is the sum of the lengths, if the caller knows it.
    pub(crate) fn begin(
        memory: &Memory<'_>,
        count: usize,
        lengths: Arg,
        total: Option<usize>,
    ) -> Stepped<PendingSegments> {
        if count <= memory.limits.max_host_scanned_segments {
            let (offsets, total) = scan_on_host(memory, &lengths, count)?;
            let (offsets, lengths) = (OnceCell::from(offsets), OnceCell::from(lengths));
            let segments = Segments { count, total, regular: None, offsets, lengths };
            return Ok(PendingSegments::Known(Rc::new(segments)));
        }
        let facts = &memory.state.facts;
        if let Some(length) = facts.constant(&lengths) {
            let segments = Segments::regular(count, length)?.with_lengths(&lengths);
            return Ok(PendingSegments::Known(segments));
        }
        if let Some((total, offsets)) = facts.segments(&lengths, count) {
            let offsets = offsets.map_or_else(OnceCell::new, OnceCell::from);
            let lengths = OnceCell::from(lengths);
            let segments = Segments { count, total, regular: None, offsets, lengths };
            return Ok(PendingSegments::Known(Rc::new(segments)));
        }
        if let Some(total) = total.filter(|_| memory.keeps_contents(count)) {
            let segments = Segments::of_total(memory, count, lengths, total);
            return Ok(PendingSegments::Known(segments));
        }
        if count <= memory.limits.max_known_elements {
            let known = facts.ints(&lengths, count);
            let pending = PendingSegments::Short(count, lengths);
            return Ok(match known {
                Some(ints) => PendingSegments::Known(pending.with(memory, &ints)),
                None => pending,
            });
        }
        let offsets = scan(memory, lengths.clone(), count)?;
        Ok(PendingSegments::Scanned(count, lengths, offsets))
    }

    /// Makes segments of `count` equal lengths, which have some total.
    pub(crate) fn equal(
        memory: &Memory<'_>,
        count: usize,
        lengths: Arg,
        total: usize,
    ) -> Stepped<PendingSegments> {
        let Some(length) = total.checked_div(count) else {
            return PendingSegments::begin(memory, count, lengths, Some(total));
        };
        if let (array, 0) = slice(&lengths)
            && array.len() == count
            && memory.keeps_contents(count)
        {
            memory.state.facts.set_contents(array, Contents::Linear(0, length));
        }
        let segments = Segments::regular(count, length)?.with_lengths(&lengths);
        Ok(PendingSegments::Known(segments))
    }

    /// Returns the column and the number of its elements that the total follows from, unless it is
    /// known.
    fn wanted(&self) -> Option<(Arg, usize)> {
        match self {
            PendingSegments::Known(_) => None,
            PendingSegments::Short(count, lengths) => Some((lengths.clone(), *count)),
            PendingSegments::Scanned(count, _, offsets) => {
                Some((Arg::Array(offsets.clone(), *count), 1))
            }
        }
    }

    /// Returns the segments, given the elements that were wanted.
    fn with(self, memory: &Memory<'_>, read: &[i64]) -> Rc<Segments> {
        match self {
            PendingSegments::Known(segments) => segments,
            PendingSegments::Short(count, lengths) => {
                memory.know_values(&lengths, read);
                if let [first, second, rest @ ..] = read
                    && first == second
                    && rest.iter().all(|length| length == first)
                    && let Ok(regular) = Segments::regular(count, *first as usize)
                {
                    return regular.with_lengths(&lengths);
                }
                let total = read.iter().fold(0i64, |total, length| total.wrapping_add(*length));
                Segments::of_total(memory, count, lengths, total as usize)
            }
            PendingSegments::Scanned(count, lengths, offsets) => {
                let total = *read.first().or_bug("the last offset is read") as usize;
                let (offsets, lengths) = (OnceCell::from(offsets), OnceCell::from(lengths));
                let segments = Segments { count, total, regular: None, offsets, lengths };
                segments.record(memory);
                Rc::new(segments)
            }
        }
    }

    /// Returns the segments, reading the total if it is not known.
    fn finish(self, memory: &Memory<'_>) -> Stepped<Rc<Segments>> {
        let (_, mut segments) = read_together(memory, &[], vec![self])?;
        Ok(segments.pop().or_bug("as many segments as were asked for"))
    }
}

/// Writes the descriptor of rows, given the start and the length of each, in one transfer; returns
/// its starts and its lengths.
pub(super) fn write_descriptor(
    memory: &Memory<'_>,
    starts: &[usize],
    lengths: &[usize],
) -> Stepped<[Arg; 2]> {
    let (count, total) = (starts.len(), lengths.iter().sum::<usize>());
    // The total behind the starts makes them offsets if the rows lie one behind the other.
    let numbers: Vec<i64> =
        starts.iter().chain([&total]).chain(lengths).map(|number| *number as i64).collect();
    let starts_column = memory.write_indices(&numbers)?;
    let array = slice(&starts_column).0.clone();
    let lengths_column = Arg::Array(array.clone(), count + 1);
    let mut end = 0;
    let tiled = starts.iter().zip(lengths).all(|(start, length)| {
        let follows = *start == end;
        end += length;
        follows
    });
    if tiled && memory.keeps_contents(count) {
        memory.state.facts.set_segments(&lengths_column, count, total, Some(&array));
    }
    Ok([starts_column, lengths_column])
}

/// Reads the first element of each of some columns, and what is needed of segments, with one wait.
pub(crate) fn read_together(
    memory: &Memory<'_>,
    scalars: &[Arg],
    segments: Vec<PendingSegments>,
) -> Stepped<(Vec<Literal>, Vec<Rc<Segments>>)> {
    let mut wanted: Vec<(Arg, usize)> = scalars.iter().map(|column| (column.clone(), 1)).collect();
    wanted.extend(segments.iter().filter_map(PendingSegments::wanted));
    let read = memory.read_all(&wanted)?;
    let (firsts, totals) = read.split_at(scalars.len());
    let mut totals = totals.iter();
    let segments = segments.into_iter().map(|pending| {
        let read = match pending.wanted() {
            Some((column, _)) => {
                ints_of(&column, totals.next().or_bug("everything wanted is read"))
            }
            None => Vec::new(),
        };
        pending.with(memory, &read)
    });
    let segments = segments.collect();
    let firsts = scalars.iter().zip(firsts).map(|(column, bytes)| first_of(column, bytes));
    Ok((firsts.collect(), segments))
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
    memory.execute(Builtin::Offsets, &args, count + 1)?;
    Ok(out)
}

/// Returns an array of `count` multiples of `of` from zero on if `ascending`, and of `of` itself
/// otherwise: one that somebody holds, or a new one.
fn linear(memory: &Memory<'_>, count: usize, of: usize, ascending: bool) -> Stepped<Buffer> {
    let (factor, first) = if ascending { (of, 0) } else { (0, of) };
    let facts = &memory.state.facts;
    if let Some(array) = facts.find_linear(factor, first, count) {
        return Ok(array);
    }
    let array = multiples(memory, count, of, ascending)?;
    if memory.keeps_contents(count) {
        facts.set_contents(&array, Contents::Linear(factor, first));
    }
    Ok(array)
}

/// Returns `count` multiples of `of` from zero on if `ascending`, and `of` itself `count` times
/// otherwise.
fn multiples(memory: &Memory<'_>, count: usize, of: usize, ascending: bool) -> Stepped<Buffer> {
    let out = memory.alloc(Ty::I64, count)?;
    let args = [number(count), number(of), Arg::Array(out.clone(), 0)];
    memory.execute(Builtin::Multiples { ascending }, &args, count)?;
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
    memory.execute(Builtin::Spans, &args, rows)?;
    Ok((begin, spans))
}

/// Returns the segments of rows of a pool, and the element of the pool at which they begin if they
/// lie there one behind the other in order; empty rows may begin anywhere.
pub(super) fn segments_of_rows(
    memory: &Memory<'_>,
    starts: &Arg,
    lengths: &Arg,
    count: usize,
) -> Stepped<(Rc<Segments>, Option<usize>)> {
    let pending = PendingSegments::begin(memory, count, lengths.clone(), None)?;
    match &pending {
        PendingSegments::Short(..) => {
            // The starts will be needed, too: they are read together with the lengths.
            let [_, ints] = memory.read_ints([starts, lengths], count)?;
            let segments = pending.with(memory, &ints);
            let start = contiguous(memory, starts, lengths, &segments, count)?;
            return Ok((segments, start));
        }
        PendingSegments::Scanned(_, _, offsets) if memory.limits.max_known_elements > 0 => {
            let offsets = Arg::Array(offsets.clone(), 0);
            let args = vec![number(count), starts.clone(), lengths.clone(), offsets];
            let extremes = enqueue_two_numbers(memory, Builtin::Contiguous, args, count)?;
            let (extremes, mut segments) = read_together(memory, &extremes, vec![pending])?;
            let segments = segments.pop().or_bug("as many segments as were asked for");
            let [least, greatest] = [0, 1].map(|at| int(&Arg::Scalar(extremes[at])));
            return Ok((segments, common_shift(least, greatest)));
        }
        PendingSegments::Known(_) | PendingSegments::Scanned(..) => {}
    }
    let segments = pending.finish(memory)?;
    if segments.total == 0 {
        return Ok((segments, Some(0)));
    }
    let start = contiguous(memory, starts, lengths, &segments, count)?;
    Ok((segments, start))
}

/// Returns the element at which segments begin, given the extremes of the distances of their starts
/// from their offsets.
fn common_shift(least: i64, greatest: i64) -> Option<usize> {
    usize::try_from(least).ok().filter(|_| least == greatest)
}

/// Returns the element of a pool at which `count` segments begin that lie there one behind the
/// other in order, if they do; empty segments may begin anywhere.
fn contiguous(
    memory: &Memory<'_>,
    starts: &Arg,
    lengths: &Arg,
    segments: &Segments,
    count: usize,
) -> Stepped<Option<usize>> {
    let facts = &memory.state.facts;
    if let Some((factor, first)) = facts.linear(starts)
        && facts.constant(lengths) == Some(factor)
    {
        return Ok(Some(first));
    }
    if let ((array, 0), Some(offsets)) = (slice(starts), segments.offsets.get())
        && array.is_same(offsets)
    {
        return Ok(Some(0));
    }
    let few = count <= memory.limits.max_host_copied_elements;
    let few = few || count <= memory.limits.max_known_elements;
    let (least, greatest) = if few {
        let [starts, lengths] = memory.read_ints([starts, lengths], count)?;
        shifts_of_filled(&starts, &lengths)
    } else {
        let offsets = Arg::Array(segments.offsets(memory)?, 0);
        let args = vec![number(count), starts.clone(), lengths.clone(), offsets];
        two_numbers(memory, Builtin::Contiguous, args, count)?
    };
    Ok(common_shift(least, greatest))
}

/// Returns the extremes of the distances of starts from the sums of the lengths before, of segments that are not
/// empty; zero if all are.
fn shifts_of_filled(starts: &[i64], lengths: &[i64]) -> (i64, i64) {
    let (mut offset, mut extremes) = (0i64, None);
    for (start, length) in starts.iter().zip(lengths).filter(|(_, length)| **length > 0) {
        let shift = start - offset;
        let (least, greatest) = extremes.unwrap_or((shift, shift));
        extremes = Some((shift.min(least), shift.max(greatest)));
        offset = offset.wrapping_add(*length);
    }
    extremes.unwrap_or((0, 0))
}

/// Returns the least and the greatest of `count` ints, if there are any.
pub(super) fn extremes(
    memory: &Memory<'_>,
    ints: &Arg,
    count: usize,
) -> Stepped<Option<(i64, i64)>> {
    if count <= memory.limits.max_host_copied_elements || memory.is_known_or_short(ints, count) {
        let [ints] = memory.read_ints([ints], count)?;
        return Ok(ints.iter().min().copied().zip(ints.iter().max().copied()));
    }
    let kernel = Builtin::Extremes(slice(ints).0.ty());
    two_numbers(memory, kernel, vec![number(count), ints.clone()], count).map(Some)
}

/// Launches a kernel whose last two parameters are arrays for one number each, and returns these.
fn enqueue_two_numbers(
    memory: &Memory<'_>,
    kernel: Builtin,
    mut args: Vec<Arg>,
    count: usize,
) -> Stepped<[Arg; 2]> {
    let outs = [memory.alloc_column(Ty::I64, 1)?, memory.alloc_column(Ty::I64, 1)?];
    args.extend(outs.iter().cloned());
    memory.execute(kernel, &args, count)?;
    Ok(outs)
}

/// Launches a kernel whose last two parameters are arrays for one number each, and reads these.
fn two_numbers(
    memory: &Memory<'_>,
    kernel: Builtin,
    args: Vec<Arg>,
    count: usize,
) -> Stepped<(i64, i64)> {
    let [a, b] = &enqueue_two_numbers(memory, kernel, args, count)?;
    let [a, b] = memory.read_ints([a, b], 1)?;
    Ok((a[0], b[0]))
}
