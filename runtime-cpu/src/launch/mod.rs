//! Launches: elements are split into chunks, chunks are executed in passes, and partial results are
//! combined.

mod bits;
mod combine_partials;
mod execute;
mod packs;
mod place_rows;
mod plan;
mod tables;

pub use plan::MIN_CHUNK_OPERATIONS;

use crate::abi::chunk::{HEADER, SLOTS, TAG};
use crate::buffer::{alloc, block, internal_failure};
use crate::codegen::KernelCode;
use crate::codegen::phases::Phase;
use crate::pace::Way;
use crate::parts::{Part, Taken};
use crate::workers::Workers;
use execute::run_pass;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Literal, Sink, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Options};
use place_rows::place_rows;
use plan::Chunk;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// A launch that may be over so soon is begun by the calling thread alone.
const MAX_SINGLE_THREAD_TIME: Duration = Duration::from_micros(20);

/// The arguments as compiled code reads them, a word each.
type Words = SmallVec<[u64; 24]>;

/// A launch under way.
pub(super) struct Run<'a> {
    code: &'a KernelCode,
    /// The arguments, one for each parameter.
    params: Words,
    chunks: SmallVec<[Chunk; 1]>,
    /// The time for which the calling thread works alone, if it begins so.
    alone: Option<Duration>,
    /// True if services do not use other threads.
    gets_no_help: bool,
    /// The number of words of a chunk's state.
    stride: usize,
    /// The states of all chunks.
    state: SmallVec<[u64; 64]>,
    /// The emitted parts: for each chunk, one for each output.
    emitted: Vec<Part>,
    /// The whole arrays among the arguments, each with its address and its size in bytes, if there is only one work
    /// item that emits.
    whole_arguments: SmallVec<[[usize; 2]; 8]>,
    /// By output, the array itself, if the lengths of all rows are known before.
    rows: Vec<Option<Buffer>>,
    tag: u64,
}

/// Executes a launch.
pub fn launch(
    code: &KernelCode,
    launch: &Launch<'_>,
    workers: &Workers,
    options: &Options,
) -> Result<Vec<Buffer>, Failure> {
    if options.interrupt.load(Relaxed) {
        return Err(Failure::Machine(FaultCode::Interrupted.into()));
    }
    let params = words(code, launch.args)?;
    let extents = plan::Extents::of(code, &params);
    let tables: Vec<usize> = histograms(code, launch.args);
    let mut chunks = plan::chunks(code, &extents, workers, &tables);
    // A service works on arrays, whatever the number of elements.
    let is_service = chunks.len() == 1 && code.calls_services && workers.threads() > 1;
    let size = if is_service { longest(launch.args) } else { extents.elements };
    let combines = is_service || code.scatters || code.phases.len() > 1;
    let way = (is_service || chunks.len() > 1).then(|| code.pace.way(size, combines));
    let mut alone = None;
    match way {
        Some(Way::Alone(time)) => {
            alone = Some(time);
            if code.divides_freely && !code.facts.unbounded {
                chunks = smallvec![plan::whole(&extents)];
            }
        }
        Some(Way::Helped) => {
            let is_perhaps_short = plan::is_perhaps_short(code, &extents, workers)
                && !code.pace.takes_longer(size, MAX_SINGLE_THREAD_TIME);
            alone = is_perhaps_short.then_some(MAX_SINGLE_THREAD_TIME);
        }
        None => {}
    }
    let sinks: usize = code.kernel.stages.iter().map(|s| s.sinks.len()).sum();
    // Chunks that are run by different threads do not share lines of the cache.
    let stride = match chunks.len() {
        1 => HEADER + SLOTS * sinks,
        _ => (HEADER + SLOTS * sinks).next_multiple_of(8) + 8,
    };
    let mut run = Run {
        code,
        params,
        stride,
        state: SmallVec::from_elem(0, stride * chunks.len()),
        emitted: (0..code.kernel.outputs.len() * chunks.len()).map(|_| Part::default()).collect(),
        whole_arguments: whole_arguments(code, extents.elements, launch.args)?,
        rows: vec![None; code.kernel.outputs.len()],
        chunks,
        alone,
        gets_no_help: is_service && matches!(way, Some(Way::Alone(_))),
        tag: launch.tag,
    };
    for (at, chunk) in run.chunks.iter().enumerate() {
        let state = &mut run.state[at * stride..];
        state[..TAG].copy_from_slice(&chunk.words());
        state[TAG] = at as u64 + 1;
    }
    place_rows(&mut run, extents.elements as usize, launch.args, workers)?;
    let begun = way.map(|way| (way, Instant::now()));
    let done = phases(&mut run, &extents, launch, workers, options);
    if let Some((way, begun)) = begun.filter(|_| done.is_ok()) {
        code.pace.note(size, way, begun.elapsed());
    }
    let outputs = done.and_then(|()| gather(&mut run, launch.args, workers, options));
    for part in &mut run.emitted {
        part.free(workers.memory());
    }
    outputs
}

fn phases(
    run: &mut Run<'_>,
    extents: &plan::Extents<'_>,
    launch: &Launch<'_>,
    workers: &Workers,
    options: &Options,
) -> Result<(), Failure> {
    let code = run.code;
    combine_partials::init_carries(run, launch.args);
    packs::set_apart(run);
    // Kept until the last phase is done.
    let mut _tags = Vec::new();
    let private = tables::allocate(run, launch.args, workers)?;
    for (phase, entry) in &code.phases {
        if run.chunks.len() == 1 && *phase != Phase::Final {
            continue;
        }
        if *phase == Phase::Tag {
            _tags = combine_partials::tags(run, launch.args, workers)?;
        }
        if let Err(failure) = run_pass(workers, run, *entry, &private, options) {
            return Err(first(run, failure, workers, options));
        }
        if let Phase::Local(stage) = phase {
            combine_partials::carry(run, *stage);
        }
    }
    packs::join(run);
    tables::combine(run, &private, workers);
    combine_partials::finalise(run, extents);
    Ok(())
}

/// The failure to report: elements are executed stage after stage, but a failure of an earlier stage at
/// a later element comes first.
fn first(run: &mut Run<'_>, failure: Failure, workers: &Workers, options: &Options) -> Failure {
    if let Failure::Program { .. } = failure {
        let code = run.code;
        for entry in &code.checks {
            if let Err(earlier @ Failure::Program { .. }) =
                run_pass(workers, run, *entry, &[], options)
            {
                return earlier;
            }
        }
    }
    failure
}

/// The largest number of elements of an array argument.
fn longest(args: &[Arg]) -> u64 {
    let length = |arg: &Arg| match arg {
        Arg::Array(buffer, at) => buffer.len() - at,
        Arg::Scalar(_) => 0,
    };
    args.iter().map(length).max().unwrap_or(0) as u64
}

/// Converts the arguments to words.
fn words(code: &KernelCode, args: &[Arg]) -> Result<Words, Failure> {
    let kernel = &code.kernel;
    if args.len() != kernel.params.len() {
        return Err(internal_failure(
            "a launch has as many arguments as its kernel has parameters",
        ));
    }
    let mut words = Words::with_capacity(args.len());
    for (param, arg) in kernel.params.iter().zip(args) {
        words.push(match (kernel.types[param.0 as usize], arg) {
            (ValueTy::Scalar(ty), Arg::Scalar(literal)) if literal.ty() == ty => scalar(*literal),
            (ValueTy::Array(ty), Arg::Array(buffer, at))
                if buffer.ty() == ty && *at <= buffer.len() =>
            {
                block(buffer)?.start() as u64 + (at * ty.size()) as u64
            }
            _ => return Err(internal_failure("an argument is not of its parameter's type")),
        });
    }
    Ok(words)
}

/// The bits of a literal.
pub fn scalar(literal: Literal) -> u64 {
    match literal {
        Literal::I32(x) => u64::from(x as u32),
        Literal::I64(x) => x as u64,
        Literal::F32(x) => u64::from(x),
        Literal::F64(x) => x,
        Literal::Bool(x) => u64::from(x),
        Literal::U8(x) => u64::from(x),
    }
}

/// The index of the parameter that a value is.
fn param(code: &KernelCode, value: nesl_runtime::kir::Value) -> Option<usize> {
    code.kernel.params.iter().position(|p| *p == value)
}

/// The lengths of the histograms' tables, in elements.
fn histograms(code: &KernelCode, args: &[Arg]) -> Vec<usize> {
    let sinks = code.kernel.stages.iter().flat_map(|s| &s.sinks);
    sinks
        .filter_map(|sink| match sink {
            Sink::Histogram { array, .. } => Some(length(code, args, *array)),
            Sink::Reduce { .. }
            | Sink::Scan { .. }
            | Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Emit { .. } => None,
        })
        .collect()
}

/// The length of an array argument, from its first element on.
fn length(code: &KernelCode, args: &[Arg], array: nesl_runtime::kir::Value) -> usize {
    match param(code, array).map(|at| &args[at]) {
        Some(Arg::Array(buffer, at)) => buffer.len() - at,
        _ => 0,
    }
}

/// Returns the whole arrays among the arguments, each with its address and its size in bytes, if there is only one work
/// item that emits.
fn whole_arguments(
    code: &KernelCode,
    work_items: u64,
    args: &[Arg],
) -> Result<SmallVec<[[usize; 2]; 8]>, Failure> {
    let mut whole = SmallVec::new();
    if work_items != 1 || code.kernel.outputs.is_empty() {
        return Ok(whole);
    }
    for arg in args {
        if let Arg::Array(buffer, 0) = arg
            && !buffer.is_empty()
        {
            whole.push([block(buffer)?.start() as usize, buffer.len() * buffer.ty().size()]);
        }
    }
    Ok(whole)
}

/// Returns the array argument that begins at an address.
fn argument_at(address: usize, args: &[Arg]) -> Result<Buffer, Failure> {
    for arg in args {
        if let Arg::Array(buffer, 0) = arg
            && block(buffer)?.start() as usize == address
        {
            return Ok(buffer.clone());
        }
    }
    Err(internal_failure("an array that was emitted is no argument"))
}

/// Concatenates the parts that the chunks emitted.
fn gather(
    run: &mut Run<'_>,
    args: &[Arg],
    workers: &Workers,
    options: &Options,
) -> Result<Vec<Buffer>, Failure> {
    let outputs = run.code.kernel.outputs.len();
    let mut out = Vec::with_capacity(outputs);
    run.emitted.iter_mut().for_each(Part::settle);
    for (at, ty) in run.code.kernel.outputs.iter().enumerate() {
        if let Some(rows) = run.rows[at].take() {
            out.push(rows);
            continue;
        }
        if run.emitted[at].argument != 0 {
            out.push(argument_at(run.emitted[at].argument, args)?);
            continue;
        }
        if run.chunks.len() == 1
            && let Some(Taken { raw, bytes, counted }) = run.emitted[at].take_only()
        {
            let block = workers.memory().adopt(raw, bytes, counted)?;
            out.push(Buffer::new(*ty, bytes / ty.size(), Arc::new(block)));
            continue;
        }
        let parts = || run.emitted.iter().skip(at).step_by(outputs);
        let bytes: usize = parts().map(Part::len).sum();
        let buffer = alloc(workers.memory(), *ty, bytes / ty.size())?;
        let mut jobs = Vec::with_capacity(run.chunks.len());
        let mut to = block(&buffer)?.start();
        for part in parts() {
            part.each(&mut |from, bytes| {
                jobs.push((from as usize, to as usize, bytes));
                // SAFETY: the block was allocated for the sum of the parts' lengths.
                to = unsafe { to.add(bytes) };
            });
        }
        if !workers.copy(&jobs, bytes, &options.interrupt) {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        out.push(buffer);
    }
    Ok(out)
}
