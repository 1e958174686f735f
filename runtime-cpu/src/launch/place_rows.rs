//! Rows whose lengths are known before a launch: their outputs are allocated, and each chunk is told where its rows go.

use super::{Run, param};
use crate::buffer::{alloc, block};
use crate::codegen::KernelCode;
use crate::codegen::emitted::RowLength;
use crate::workers::Workers;
use nesl_runtime::kir::{Literal, Ty};
use nesl_runtime::runtime::{Arg, Buffer, Failure};
use smallvec::SmallVec;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The lengths of so many rows are computed by all threads. Below, waking them costs more.
const MIN_PARALLEL_ROWS: usize = 1 << 14;

/// Numbers of rows or of elements, one for each chunk and one behind.
type Starts = SmallVec<[usize; 2]>;

/// Allocates the outputs for the rows of so many work items whose lengths are known. All other rows are kept by the
/// chunks, and copied to the outputs at the end.
pub(super) fn place_rows(
    run: &mut Run<'_>,
    work_items: usize,
    args: &[Arg],
    workers: &Workers,
) -> Result<(), Failure> {
    let code = run.code;
    // What a single element emits may be taken from it without a copy.
    if work_items < 2 || code.known_rows.is_empty() {
        return Ok(());
    }
    let firsts = run.chunks.iter().map(|chunk| chunk.first as usize);
    let firsts: Starts = firsts.chain([work_items]).collect();
    let outputs = code.kernel.outputs.len();
    for rows in &code.known_rows {
        let Some(starts) = starts_of_rows(code, &rows.length, &firsts, args, workers) else {
            continue;
        };
        let total = starts.last().copied().unwrap_or(0);
        for at in rows.outputs.iter().copied() {
            let ty = code.kernel.outputs[at];
            // A work item that fails may come before one that would emit too much.
            let Ok(buffer) = alloc(workers.memory(), ty, total) else { continue };
            let to = block(&buffer)?.start() as usize;
            for (start, part) in starts.iter().zip(run.emitted[at..].iter_mut().step_by(outputs)) {
                part.place = to + start * ty.size();
            }
            run.rows[at] = Some(buffer);
        }
    }
    Ok(())
}

/// Returns for some ascending numbers of rows the number of elements in the rows before each. `None` if the lengths
/// are not there, or cannot be added up.
fn starts_of_rows(
    code: &KernelCode,
    length: &RowLength,
    firsts: &[usize],
    args: &[Arg],
    workers: &Workers,
) -> Option<Starts> {
    match length {
        RowLength::Common(length) => {
            let scalar = |value| match &args[param(code, value)?] {
                Arg::Scalar(literal) => Some(*literal),
                Arg::Array(..) => None,
            };
            let element = |array, index| match &args[param(code, array)?] {
                Arg::Array(buffer, at) => {
                    element(buffer, at.checked_add(usize::try_from(index).ok()?)?)
                }
                Arg::Scalar(_) => None,
            };
            let length = length.compute(scalar, element)?.max(0) as usize;
            firsts.iter().map(|first| first.checked_mul(length)).collect()
        }
        RowLength::OfItem(at) => {
            let lengths = ints(args, *at, *firsts.last()?)?;
            let (mut before, mut sum) = (0, 0usize);
            let starts = firsts.iter().map(|first| {
                for length in &lengths[before..*first] {
                    sum = sum.checked_add((*length).max(0) as usize)?;
                }
                before = *first;
                Some(sum)
            });
            starts.collect()
        }
        RowLength::Computed(length) => {
            let scalar = |at: usize| match args.get(at)? {
                Arg::Scalar(Literal::I64(int)) => Some(*int),
                Arg::Scalar(Literal::I32(int)) => Some(i64::from(*int)),
                Arg::Scalar(_) | Arg::Array(..) => None,
            };
            let of_chunk = |chunk: usize| {
                let items = firsts[chunk]..firsts[chunk + 1];
                length.sum(items.clone(), scalar, |at| ints(args, at, items.end))
            };
            let chunks = firsts.len() - 1;
            let sums: Vec<AtomicUsize> = (0..chunks).map(|_| AtomicUsize::default()).collect();
            const UNKNOWN: usize = usize::MAX;
            let sum_of = |chunk| of_chunk(chunk).unwrap_or(UNKNOWN);
            if *firsts.last()? < MIN_PARALLEL_ROWS {
                (0..chunks).for_each(|chunk| sums[chunk].store(sum_of(chunk), Relaxed));
            } else {
                workers.each(chunks, &|take| {
                    while let Some(chunk) = take() {
                        sums[chunk].store(sum_of(chunk), Relaxed);
                    }
                });
            }
            let mut starts = Starts::from_elem(0, 1);
            for sum in sums {
                let sum = Some(sum.into_inner()).filter(|sum| *sum != UNKNOWN)?;
                starts.push(starts.last()?.checked_add(sum)?);
            }
            Some(starts)
        }
    }
}

/// Returns so many elements of an array of ints that is an argument, written before the launch.
fn ints(args: &[Arg], at: usize, count: usize) -> Option<&[i64]> {
    let Arg::Array(buffer, from) = args.get(at)? else { return None };
    if buffer.ty() != Ty::I64 || buffer.len().checked_sub(*from)? < count {
        return None;
    }
    let start = block(buffer).ok()?.start().cast::<i64>();
    // SAFETY: the block has so many ints from there on, all of them written before the launch, which does not write to
    // it; the arguments keep it.
    Some(unsafe { std::slice::from_raw_parts(start.add(*from), count) })
}

/// Returns an element of an array that was written before the launch, if there is such an element.
fn element(buffer: &Buffer, at: usize) -> Option<Literal> {
    if at >= buffer.len() {
        return None;
    }
    let size = buffer.ty().size();
    let start = block(buffer).ok()?.start();
    // SAFETY: the block has so many elements behind its start, and the launch has not begun to write.
    let bytes = unsafe { std::slice::from_raw_parts(start.add(at * size), size) };
    Some(Literal::from_bytes(buffer.ty(), bytes))
}
