//! The values and filters that a launch makes, bound in the frame.

use crate::arrays::{FlatValue, Memory, Segments, array, length, number};
use crate::frame::{CallFrame, Extent, RunResult};
use nesl_core::flat::Kernel;
use nesl_core::ir::Ty;
use nesl_core::lower::kernel::{KernelResult, LoweredKernel, ResultPart};
use nesl_runtime::bug;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer};
use std::rc::Rc;

/// Binds the results of a launch, given its arguments and outputs.
pub(super) fn bind_results(
    memory: &Memory<'_>,
    frame: &mut CallFrame<'_>,
    kernel: &Kernel,
    code: &LoweredKernel,
    args: &[Arg],
    outputs: &[Buffer],
) -> RunResult<()> {
    for result in &code.results {
        let value = stored_value(memory, frame, result, args, outputs)?;
        frame.bind(result.var, result.space, Rc::new(value));
    }
    for filter in &code.filters {
        let indices = filter.indices.map(|at| array(&args[at]).clone());
        let counts = &args[filter.counts];
        let extent = match &frame.extent(kernel.space).segments {
            None => {
                let count = length(&Arg::Scalar(first_element(memory, counts)?));
                Extent::filtered(count, None, indices)
            }
            Some(outer) => {
                let segments = Segments::of_lengths(memory, outer.count, counts.clone())?;
                Extent::filtered(segments.total, Some(segments), indices)
            }
        };
        frame.set_extent(filter.space, Rc::new(extent));
    }
    Ok(())
}

/// Returns a value that a launch stored.
fn stored_value(
    memory: &Memory<'_>,
    frame: &CallFrame<'_>,
    result: &KernelResult,
    args: &[Arg],
    outputs: &[Buffer],
) -> RunResult<FlatValue> {
    let mut parts = Vec::new();
    let mut tiles = None;
    let mut inner_total = 0;
    for part in &result.parts {
        parts.push(match part {
            ResultPart::Array(at) | ResultPart::Same(at) => args[*at].clone(),
            ResultPart::Length(at) => match &args[*at] {
                Arg::Array(buffer, from) => number(buffer.len() - from),
                Arg::Scalar(_) => bug!("a length is asked of a scalar"),
            },
            ResultPart::First(at) => Arg::Scalar(first_element(memory, &args[*at])?),
            ResultPart::Output(at) => Arg::Array(outputs[*at].clone(), 0),
            ResultPart::Alias(at, start) => {
                let Arg::Array(buffer, begin) = &args[*at] else { bug!("a view is of an array") };
                let start = match start {
                    Some(at) => length(&Arg::Scalar(first_element(memory, &args[*at])?)),
                    None => 0,
                };
                Arg::Array(buffer.clone(), begin + start)
            }
            ResultPart::Starts(at) => {
                let count = frame.extent(result.space).count;
                let segments = Segments::of_lengths(memory, count, args[*at].clone())?;
                let starts = Arg::Array(segments.offsets(memory)?, 0);
                tiles = Some(segments);
                starts
            }
            ResultPart::StartsOf(at) => {
                let lengths = &outputs[*at];
                let lengths = (lengths.len(), Arg::Array(lengths.clone(), 0));
                let segments = Segments::of_lengths(memory, lengths.0, lengths.1)?;
                inner_total = segments.total;
                Arg::Array(segments.offsets(memory)?, 0)
            }
            ResultPart::SumOf(_) => number(inner_total),
            ResultPart::Sum(_) => number(tiles.as_ref().map_or(0, |tiles| tiles.total)),
        });
    }
    let is_sequence = matches!(frame.homes.get(&result.var), Some((_, Ty::Sequence(_))));
    Ok(FlatValue { parts, tiles: tiles.filter(|_| is_sequence) })
}

/// Reads the first element of a column.
fn first_element(memory: &Memory<'_>, column: &Arg) -> RunResult<Literal> {
    Ok(memory.read_at(column, 0)?)
}
