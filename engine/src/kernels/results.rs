//! The values and filters that a launch makes, bound in the frame.

use super::args::packed;
use crate::arrays::{
    FlatValue, Memory, Parts, PendingSegments, Segments, array, length, number, read_together,
};
use crate::frame::{CallFrame, Extent, RunResult};
use nesl_core::flat::Kernel;
use nesl_core::ir::Ty;
use nesl_core::lower::kernel::{KernelResult, LoweredKernel, ResultPart};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer};
use std::rc::Rc;
use std::vec;

/// Binds the results of a launch, given its arguments and outputs.
pub(super) fn bind_results(
    memory: &Memory<'_>,
    frame: &mut CallFrame<'_>,
    kernel: &Kernel,
    code: &LoweredKernel,
    args: &[Arg],
    outputs: &[Buffer],
) -> RunResult<()> {
    let results = LaunchResults { memory, args, outputs };
    let (scalars, pending) = results.awaited(frame, kernel, code)?;
    let (scalars, segments) = read_together(memory, &scalars, pending)?;
    let mut read = ReadResults { scalars: scalars.into_iter(), segments: segments.into_iter() };
    for result in &code.results {
        let value = results.stored_value(frame, result, &mut read)?;
        frame.bind(result.var, result.space, Rc::new(value));
    }
    for filter in &code.filters {
        let indices = filter.indices.map(|at| array(&args[at]).clone());
        let extent = match &frame.extent(kernel.space).segments {
            None => Extent::filtered(read.length(), None, indices),
            Some(_) => {
                let segments = read.segments();
                Extent::filtered(segments.total, Some(segments), indices)
            }
        };
        for at in packed(code, filter) {
            memory.runtime.filled(array(&args[at]), extent.count)?;
        }
        frame.set_extent(filter.space, Rc::new(extent));
    }
    Ok(())
}

/// The scalars and segments of the results of a launch, read together, in the order of the results.
struct ReadResults {
    scalars: vec::IntoIter<Literal>,
    segments: vec::IntoIter<Rc<Segments>>,
}

impl ReadResults {
    fn scalar(&mut self) -> Arg {
        Arg::Scalar(self.scalars.next().or_bug("every scalar of a result was read"))
    }

    fn length(&mut self) -> usize {
        length(&self.scalar())
    }

    fn segments(&mut self) -> Rc<Segments> {
        self.segments.next().or_bug("the segments of every result were made")
    }
}

/// The arrays that a launch wrote: arguments and outputs.
struct LaunchResults<'a, 'r> {
    memory: &'a Memory<'r>,
    args: &'a [Arg],
    outputs: &'a [Buffer],
}

impl LaunchResults<'_, '_> {
    /// Returns the columns whose first elements the host needs, and the segments whose totals it
    /// needs, in the order of the results and then of the filters.
    fn awaited(
        &self,
        frame: &CallFrame<'_>,
        kernel: &Kernel,
        code: &LoweredKernel,
    ) -> RunResult<(Vec<Arg>, Vec<PendingSegments>)> {
        let (memory, args) = (self.memory, self.args);
        let (mut scalars, mut segments) = (Vec::new(), Vec::new());
        for result in &code.results {
            for (i, part) in result.parts.iter().enumerate() {
                match part {
                    ResultPart::First(at) if self.emitted_rows(result, i + 1).is_none() => {
                        scalars.push(args[*at].clone());
                    }
                    ResultPart::Alias(_, Some(start)) => scalars.push(args[*start].clone()),
                    ResultPart::Starts(at) => {
                        let count = frame.extent(result.space).count;
                        let total = self.emitted_rows(result, i + 3);
                        let lengths = args[*at].clone();
                        let is_equal = code.equal_lengths.contains(at);
                        segments.push(match total.filter(|_| is_equal) {
                            Some(total) => PendingSegments::equal(memory, count, lengths, total)?,
                            None => PendingSegments::begin(memory, count, lengths, total)?,
                        });
                    }
                    ResultPart::StartsOf(at) => {
                        let total = self.emitted_rows(result, i + 3);
                        let lengths = &self.outputs[*at];
                        let (count, lengths) = (lengths.len(), Arg::Array(lengths.clone(), 0));
                        segments.push(PendingSegments::begin(memory, count, lengths, total)?);
                    }
                    ResultPart::First(_)
                    | ResultPart::Array(_)
                    | ResultPart::Same(_)
                    | ResultPart::Length(_)
                    | ResultPart::Output(_)
                    | ResultPart::Alias(_, None)
                    | ResultPart::EqualStarts(_)
                    | ResultPart::EqualLengths(_)
                    | ResultPart::EqualSum(_)
                    | ResultPart::Sum(_)
                    | ResultPart::SumOf(_) => {}
                }
            }
        }
        for filter in &code.filters {
            let counts = args[filter.counts].clone();
            match &frame.extent(kernel.space).segments {
                None => scalars.push(counts),
                Some(outer) => {
                    segments.push(PendingSegments::begin(memory, outer.count, counts, None)?);
                }
            }
        }
        Ok((scalars, segments))
    }

    /// Returns the number of rows emitted to the output that a part of a result is: the length of
    /// the sequence, or the total of the sequences, that it belongs to.
    fn emitted_rows(&self, result: &KernelResult, part: usize) -> Option<usize> {
        match result.parts.get(part)? {
            ResultPart::Output(at) | ResultPart::StartsOf(at) => Some(self.outputs[*at].len()),
            ResultPart::Array(_)
            | ResultPart::First(_)
            | ResultPart::Alias(..)
            | ResultPart::Same(_)
            | ResultPart::Length(_)
            | ResultPart::Starts(_)
            | ResultPart::Sum(_)
            | ResultPart::SumOf(_)
            | ResultPart::EqualStarts(_)
            | ResultPart::EqualLengths(_)
            | ResultPart::EqualSum(_) => None,
        }
    }

    /// Returns a value that a launch stored.
    fn stored_value(
        &self,
        frame: &CallFrame<'_>,
        result: &KernelResult,
        read: &mut ReadResults,
    ) -> RunResult<FlatValue> {
        let (memory, args, outputs) = (self.memory, self.args, self.outputs);
        let mut parts = Parts::new();
        let mut tiles = None;
        let mut inner_total = 0;
        for (i, part) in result.parts.iter().enumerate() {
            parts.push(match part {
                ResultPart::Array(at) | ResultPart::Same(at) => args[*at].clone(),
                ResultPart::Length(at) => match &args[*at] {
                    Arg::Array(buffer, from) => number(buffer.len() - from),
                    Arg::Scalar(_) => bug!("a length is asked of a scalar"),
                },
                ResultPart::First(_) => match self.emitted_rows(result, i + 1) {
                    Some(rows) => number(rows),
                    None => read.scalar(),
                },
                ResultPart::Output(at) => Arg::Array(outputs[*at].clone(), 0),
                ResultPart::Alias(at, start) => {
                    let Arg::Array(buffer, begin) = &args[*at] else {
                        bug!("a view is of an array")
                    };
                    let start = start.map_or(0, |_| read.length());
                    Arg::Array(buffer.clone(), begin + start)
                }
                ResultPart::Starts(_) => {
                    let segments = read.segments();
                    let starts = Arg::Array(segments.offsets(memory)?, 0);
                    tiles = Some(segments);
                    starts
                }
                ResultPart::EqualStarts(length) => {
                    let count = frame.extent(result.space).count;
                    let segments = tiles.insert(Segments::regular(count, *length)?);
                    Arg::Array(segments.offsets(memory)?, 0)
                }
                ResultPart::EqualLengths(_) => {
                    tiles.as_ref().or_bug("the lengths follow the starts").lengths(memory)?
                }
                ResultPart::StartsOf(_) => {
                    let segments = read.segments();
                    inner_total = segments.total;
                    Arg::Array(segments.offsets(memory)?, 0)
                }
                ResultPart::SumOf(_) => number(inner_total),
                ResultPart::Sum(_) | ResultPart::EqualSum(_) => {
                    number(tiles.as_ref().map_or(0, |tiles| tiles.total))
                }
            });
        }
        let is_sequence = matches!(frame.homes.get(&result.var), Some((_, Ty::Sequence(_))));
        // A descriptor that was passed may be one that the host knows.
        if let ([ResultPart::Alias(..), ..], [starts, lengths, ..]) =
            (&result.parts[..], &parts[..])
            && is_sequence
            && !frame.extent(result.space).single
        {
            let count = frame.extent(result.space).count;
            tiles = Segments::known_tiles(memory, starts, lengths, count)?;
        }
        Ok(FlatValue { parts, tiles: tiles.filter(|_| is_sequence) })
    }
}
