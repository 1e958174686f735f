//! The arguments of a launch, in the order of the kernel's parameters.

use crate::arrays::{
    self, Memory, Parts, Segments, gather_segments, is_only_handle, length, number, writable,
};
use crate::frame::{CallFrame, RunResult};
use crate::unsupported::Unsupported;
use nesl_core::base::with_stack;
use nesl_core::flat::{Kernel, SpaceId};
use nesl_core::ir::{Atom, Ty, Var};
use nesl_core::lower;
use nesl_core::lower::kernel::{FilterResult, KernelParam, LoweredKernel, ResultPart};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::Precision;
use std::ops::Range;
use std::rc::Rc;

/// Room for so many arguments is made for each parameter: a value has two parts as a rule.
const ARGS_PER_PARAM: usize = 2;

/// Returns the arguments of a launch, with new arrays for its results.
///
/// Sequences that the kernel overwrites are taken out of the frame after all others were read.
pub(super) fn arguments(
    memory: &Memory<'_>,
    frame: &mut CallFrame<'_>,
    kernel: &Kernel,
    code: &LoweredKernel,
) -> RunResult<Vec<Arg>> {
    let over = frame.extent(kernel.space).clone();
    let mut args = Vec::with_capacity(ARGS_PER_PARAM * code.params.len());
    let (mut overwritten, mut values, mut given) = (Vec::new(), Vec::new(), Vec::new());
    for param in &code.params {
        match param {
            KernelParam::Count => args.push(number(over.count)),
            KernelParam::Segments => args.push(number(over.segments()?.count)),
            KernelParam::Length => {
                let length = over.segments()?.regular;
                args.push(number(length.or_bug("the variant says that segments are equally long")));
            }
            KernelParam::Offsets => args.push(Arg::Array(over.segments()?.offsets(memory)?, 0)),
            KernelParam::Map(space) => {
                args.push(Arg::Array(frame.outer_indices(memory, *space)?, 0))
            }
            KernelParam::Value(var) => {
                values.push((*var, args.len()));
                args.extend_from_slice(&frame.value_at_home(*var).parts);
            }
            KernelParam::Pool(var) => args.extend_from_slice(pool(frame, *var)),
            KernelParam::Rooms(var) => {
                let mut sequences = Vec::new();
                each_sequence(memory.precision, frame.ty(*var), &mut 0, &mut sequences);
                let rooms = args.len();
                args.extend(std::iter::repeat_n(number(0), sequences.len()));
                given.push((rooms, *var, sequences));
            }
            KernelParam::Out(space, ty) => {
                let count = frame.extent(*space).count;
                let own = args.len();
                let is_packed = code.filters.iter().any(|f| packed(code, f).any(|at| at == own));
                let array = match is_packed {
                    true => memory.alloc_at_most(*ty, count)?,
                    false => memory.alloc(*ty, count)?,
                };
                args.push(Arg::Array(array, 0));
            }
            KernelParam::Rows(space, length, ty) => {
                let rows = Segments::regular(frame.extent(*space).count, *length)?;
                args.push(Arg::Array(memory.alloc(*ty, rows.total)?, 0));
            }
            KernelParam::Table(size, combine, ty) => {
                let size = table_size(memory, frame, kernel, *size)?;
                args.push(arrays::fill(memory, combine.neutral(*ty), size)?);
            }
            KernelParam::One(ty) => args.push(Arg::Array(memory.alloc(*ty, 1)?, 0)),
            KernelParam::Own(var, space) => {
                let descriptor = if frame.extent(*space).single { 1 } else { 3 };
                let parts = descriptor + pool(frame, *var).len();
                overwritten.push((args.len(), *var, *space));
                args.extend(std::iter::repeat_n(number(0), parts));
            }
        }
    }
    for (n, (at, var, space)) in overwritten.iter().enumerate() {
        let again = overwritten[n + 1..].iter().any(|(_, other, _)| other == var);
        let parts = writable_sequence(memory, frame, (*var, *space), !again)?;
        args.splice(*at..*at + parts.len(), parts);
    }
    for (rooms, var, sequences) in given {
        let value = values.iter().find(|(of, _)| *of == var);
        let (_, at) = *value.or_bug("a value is passed with its rooms");
        if !take_last(frame, var) {
            continue;
        }
        for (n, sequence) in sequences.into_iter().enumerate() {
            let parts = &args[at + sequence.start..at + sequence.end];
            let [length, columns @ ..] = parts else { bug!("a sequence has a length") };
            if columns.iter().all(|column| is_only_handle(memory, column)) {
                args[rooms + n] = length.clone();
            }
        }
    }
    Ok(args)
}

/// Takes a value out of the frame if this is its last use, and nobody else holds it.
fn take_last(frame: &mut CallFrame<'_>, var: Var) -> bool {
    let home = frame.home(var);
    if !frame.is_last_use(var, home) {
        return false;
    }
    let value = frame.take(var, home).or_bug("a value is computed before it is used");
    match Rc::try_unwrap(value) {
        Ok(_) => true,
        Err(shared) => {
            frame.bind(var, home, shared);
            false
        }
    }
}

/// Adds for each sequence of a value, with one element and with no sequences of sequences, the range of its parts, the
/// first of which has the number `at`. Moves that behind the value.
fn each_sequence(precision: Precision, ty: &Ty, at: &mut usize, sequences: &mut Vec<Range<usize>>) {
    with_stack(|| match ty {
        Ty::Pair(first, second) => {
            each_sequence(precision, first, at, sequences);
            each_sequence(precision, second, at, sequences);
        }
        Ty::Sequence(_) => {
            let end = *at + lower::parts(ty, precision).len();
            sequences.push(*at..end);
            *at = end;
        }
        _ => *at += lower::parts(ty, precision).len(),
    });
}

/// Returns the numbers of the arguments that are arrays with an element for each element of a filter, of which
/// the kernel has as many as its index space at most.
pub(super) fn packed<'a>(
    code: &'a LoweredKernel,
    filter: &'a FilterResult,
) -> impl Iterator<Item = usize> {
    let values = code.results.iter().filter(|result| result.space == filter.space);
    let arrays = values.flat_map(|result| &result.parts).filter_map(|part| match part {
        ResultPart::Array(at) => Some(*at),
        _ => None,
    });
    arrays.chain(filter.indices)
}

/// Returns the columns of the elements of a sequence, without its length or descriptor.
fn pool<'a>(frame: &'a CallFrame<'_>, var: Var) -> &'a [Arg] {
    let single = frame.extent(frame.home(var)).single;
    &frame.value_at_home(var).parts[if single { 1 } else { 3 }..]
}

/// Returns the number of elements of a histogram's table, which the host must know before the
/// launch.
fn table_size(
    memory: &Memory<'_>,
    frame: &CallFrame<'_>,
    kernel: &Kernel,
    size: Atom,
) -> RunResult<usize> {
    let home = frame.function.segments_of(kernel.space).unwrap_or(SpaceId::CALLER);
    let size = frame.value_in(memory, size, home);
    let size = size.ok_or(Unsupported::UnknownTableSize)?;
    Ok(arrays::int(&size.parts[0]).max(0) as usize)
}

/// Returns the parts of a sequence, as it is seen from an index space, in arrays that a kernel may write to:
/// its own if this is their `last` use, and copies otherwise.
fn writable_sequence(
    memory: &Memory<'_>,
    frame: &mut CallFrame<'_>,
    (var, space): (Var, SpaceId),
    last: bool,
) -> RunResult<Parts> {
    let element = frame.element_ty(var);
    if frame.extent(space).single {
        let mut parts = frame.value_at_home(var).parts.clone();
        if last {
            take_last(frame, var);
        }
        let length = length(&parts[0]);
        for column in &mut parts[1..] {
            *column = writable(memory, column, length, true)?;
        }
        return Ok(parts);
    }
    let value = frame.value_in(memory, Atom::Var(var), space);
    let value = value.or_bug("a sequence to be overwritten is broadcast before the launch");
    let [starts, lengths, _, pool @ ..] = &value.parts[..] else {
        bug!("sequences at many elements have a descriptor")
    };
    let segments = match &value.tiles {
        Some(tiles) => tiles.clone(),
        None => Segments::of_lengths(memory, frame.extent(space).count, lengths.clone())?,
    };
    let offsets = Arg::Array(segments.offsets(memory)?, 0);
    let pool = gather_segments(memory, &segments, starts, pool, element)?;
    let descriptor = [offsets, lengths.clone(), number(segments.total)];
    Ok(descriptor.into_iter().chain(pool).collect())
}
