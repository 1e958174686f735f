//! Index spaces entered, and the values of their elements collected into sequences.

use crate::arrays::{FlatValue, Memory, Parts, Segments, as_lengths, length, number, spans};
use crate::frame::{CallFrame, Extent, RunResult};
use crate::kernels::{Launcher, filter, lengths_in, value_in};
use crate::unsupported::Unsupported;
use nesl_core::flat::SpaceId;
use nesl_core::ir::{Atom, Ty};
use nesl_core::pipeline::launches::{ExtentRule, HostLength, extent_rule};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// Enters an index space: counts its elements and finds their segments.
pub(super) fn enter<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    space: SpaceId,
) -> RunResult<()> {
    let memory = &launcher.memory;
    let extent = match extent_rule(frame.function, frame.homes, frame, space) {
        ExtentRule::Caller => return Ok(()),
        ExtentRule::Equal { outer, length } => {
            let (outer, length) = (frame.extent(outer), known_length(memory, frame, length));
            match outer.single {
                true => Extent::many(length, None),
                false => Extent::of_segments(Segments::regular(outer.count, length)?),
            }
        }
        ExtentRule::OwnSequence { outer, sequence } => {
            let value = frame.value_at_home(sequence);
            match &value.tiles {
                Some(tiles) => Extent::of_segments(tiles.clone()),
                None => ragged(memory, frame, outer, value.parts[1].clone())?,
            }
        }
        ExtentRule::OuterSequence { outer, sequence } => {
            let lengths = lengths_in(launcher, frame, sequence, outer)?;
            ragged(memory, frame, outer, lengths)?
        }
        ExtentRule::OwnCount { outer, count } => {
            let counts = value_in(launcher, frame, count, outer)?;
            let lengths = as_lengths(memory, counts.parts[0].clone(), frame.extent(outer).count)?;
            ragged(memory, frame, outer, lengths)?
        }
        ExtentRule::Filter { outer } => {
            if frame.extent(outer).single {
                bug!("an index space of one element on the host's path was filtered")
            }
            return filter(launcher, frame, outer, space);
        }
        ExtentRule::Concat { outer, inner } => {
            let count = frame.extent(inner).count;
            let single = frame.extent(outer).single;
            let segments =
                if single { None } else { Some(concat_segments(memory, frame, outer, inner)?) };
            Extent::many(count, segments)
        }
    };
    frame.set_extent(space, Rc::new(extent));
    Ok(())
}

/// Returns a length that the host knows.
fn known_length(memory: &Memory<'_>, frame: &CallFrame<'_>, of: HostLength) -> usize {
    match of {
        HostLength::Of(sequence) => length(&frame.value_at_home(sequence).parts[0]),
        HostLength::Int(Atom::Int(count)) => count as usize,
        HostLength::Int(count) => {
            let Atom::Var(var) = count else { bug!("a count is not an int") };
            let count = frame.value_in(memory, count, frame.home(var));
            length(&count.or_bug("a count is computed before it is used").parts[0])
        }
    }
}

fn ragged(
    memory: &Memory<'_>,
    frame: &CallFrame<'_>,
    outer: SpaceId,
    lengths: Arg,
) -> RunResult<Extent> {
    let segments = Segments::of_lengths(memory, frame.extent(outer).count, lengths)?;
    Ok(Extent::of_segments(segments))
}

/// Returns the segments of elements somewhere inside an index space, one for each of its elements.
fn concat_segments(
    memory: &Memory<'_>,
    frame: &CallFrame<'_>,
    outer: SpaceId,
    inner: SpaceId,
) -> RunResult<Rc<Segments>> {
    let segments_of = |space: SpaceId| -> RunResult<(Rc<Segments>, SpaceId)> {
        let around = frame.function.segments_of(space).ok_or(Unsupported::MissingSegments)?;
        Ok((frame.extent(space).segments()?.clone(), around))
    };
    let (mut segments, mut at) = segments_of(inner)?;
    while at != outer {
        let (rows, around) = segments_of(at)?;
        let starts = Arg::Array(rows.offsets(memory)?, 0);
        let (lengths, offsets) = (rows.lengths(memory)?, segments.offsets(memory)?);
        let (_, lengths) = spans(memory, &starts, &lengths, &offsets, rows.count)?;
        (segments, at) = (Segments::of_lengths(memory, rows.count, lengths)?, around);
    }
    Ok(segments)
}

/// Returns the sequences, of type `ty`, of a value at the elements of each segment.
pub(super) fn collect<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    value: Atom,
    from: SpaceId,
    ty: &Ty,
) -> RunResult<FlatValue> {
    let memory = &launcher.memory;
    let extent = frame.extent(from).clone();
    let at_elements = match value {
        Atom::Var(var) => frame.value_of_elements(var, from),
        Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
    };
    let columns = match (at_elements, value) {
        (Some(value), _) => value.parts.clone(),
        (None, Atom::Unit) => {
            memory.no_elements(ty.element().or_bug("what is collected is a sequence"))?.into()
        }
        (None, _) => value_in(launcher, frame, value, from)?.parts.clone(),
    };
    let count = number(extent.count);
    let Some(segments) = &extent.segments else {
        return Ok(FlatValue::new(std::iter::once(count).chain(columns).collect::<Parts>()));
    };
    let starts = Arg::Array(segments.offsets(memory)?, 0);
    let descriptor = [starts, segments.lengths(memory)?, count];
    let parts = descriptor.into_iter().chain(columns).collect();
    Ok(FlatValue { parts, tiles: Some(segments.clone()) })
}
