//! The launcher's part of scans, packs and reductions: it scans the partial results of chunks between the passes
//! (the carries), and combines them after the last pass.

use super::plan::Extents;
use super::{Run, bits, length, param, scalar};
use crate::abi::chunk::{CARRY, FIRST_COUNT, HEADER, LAST_COUNT, LIMIT, SLOTS, TOTAL};
use crate::memory::Block;
use crate::workers::Workers;
use nesl_runtime::kir::{Combine, Scope, Sink, Ty, Value};
use nesl_runtime::runtime::{Arg, Failure};

impl Run<'_> {
    pub fn element(&self, value: Value) -> Ty {
        use nesl_runtime::kir::ValueTy;
        match self.code.kernel.types[value.0 as usize] {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => Ty::I64,
        }
    }

    pub fn slot(&mut self, chunk: usize, sink: usize, slot: usize) -> &mut u64 {
        &mut self.state[chunk * self.stride + HEADER + SLOTS * sink + slot]
    }

    /// The value of a slot, in which compiled code writes only the low bytes.
    fn slot_value(&mut self, chunk: usize, sink: usize, slot: usize, ty: Ty) -> u64 {
        let word = *self.slot(chunk, sink, slot);
        match ty.size() {
            1 => word & 0xff,
            4 => word & 0xffff_ffff,
            _ => word,
        }
    }

    fn put(&self, array: Value, ty: Ty, at: u64, value: u64) {
        if let Some(param) = param(self.code, array) {
            let place = (self.params[param] as *mut u8).wrapping_add(at as usize * ty.size());
            // SAFETY: kir's invariants make the array as long as the space; no pass is running.
            unsafe { bits::write(ty, place, value) };
        }
    }
}

/// The operator, type and range of the state of a sink, if it has one.
fn combining(run: &Run<'_>, sink: &Sink) -> Option<(Combine, Ty, Scope)> {
    match sink {
        Sink::Reduce { scope, combine, value, .. } | Sink::Scan { scope, combine, value, .. } => {
            Some((*combine, run.element(*value), *scope))
        }
        Sink::Pack { .. } => Some((Combine::Add, Ty::I64, Scope::All)),
        Sink::Scatter { .. } | Sink::Histogram { .. } | Sink::Emit { .. } => None,
    }
}

/// The sinks, each with the number of its stage and its own number in the kernel.
pub fn sinks<'a>(run: &Run<'a>) -> Vec<(usize, usize, &'a Sink)> {
    let code = run.code;
    let stages = code.kernel.stages.iter().enumerate();
    let all = stages.flat_map(|(stage, s)| s.sinks.iter().map(move |sink| (stage, sink)));
    all.enumerate().map(|(number, (stage, sink))| (stage, number, sink)).collect()
}

/// Sets the carry of every chunk to the neutral element, before the first pass, and where packs end.
pub fn init_carries(run: &mut Run<'_>, args: &[Arg]) {
    for (_, number, sink) in sinks(run) {
        if let Sink::Pack { columns, .. } = sink {
            let ends = columns.iter().map(|(_, array)| length(run.code, args, *array));
            let limit = ends.min().unwrap_or(0) as u64;
            for chunk in 0..run.chunks.len() {
                *run.slot(chunk, number, LIMIT) = limit;
            }
        }
        if let Some((combine, ty, _)) = combining(run, sink) {
            for chunk in 0..run.chunks.len() {
                *run.slot(chunk, number, CARRY) = scalar(combine.neutral(ty));
            }
        }
    }
}

/// Computes the carry of each chunk from the totals of those before, after the local pass of a stage.
pub fn carry(run: &mut Run<'_>, stage: usize) {
    for (_, number, sink) in sinks(run).into_iter().filter(|(at, ..)| *at == stage) {
        let Some((combine, ty, scope)) = combining(run, sink) else { continue };
        if matches!(sink, Sink::Reduce { .. }) {
            continue;
        }
        let neutral = scalar(combine.neutral(ty));
        let mut carry = neutral;
        for at in 0..run.chunks.len() {
            *run.slot(at, number, CARRY) = carry;
            let total = run.slot_value(at, number, TOTAL, ty);
            if matches!(sink, Sink::Pack { .. }) {
                *run.slot(at, number, LIMIT) = carry + total;
            }
            let chunk = run.chunks[at];
            carry = match scope {
                Scope::All => bits::combine(combine, ty, carry, total),
                Scope::Segment => {
                    // The next chunk goes on with the last segment of this one, or begins one.
                    let next = run.chunks.get(at + 1);
                    let goes_on = next.is_some_and(|next| next.segment + 1 == chunk.segments);
                    match (goes_on, chunk.segments - chunk.segment) {
                        (false, _) => neutral,
                        (true, 1) => bits::combine(combine, ty, carry, total),
                        (true, _) => total,
                    }
                }
            };
        }
    }
}

/// Writes the results of the whole space, and of segments that several chunks share, behind the last
/// pass.
pub fn finalise(run: &mut Run<'_>, extents: &Extents<'_>) {
    let last = run.chunks.len() - 1;
    for (_, number, sink) in sinks(run) {
        match sink {
            Sink::Reduce { scope: Scope::All, combine, value, out: Some(out), .. } => {
                let ty = run.element(*value);
                let mut acc = run.slot_value(0, number, CARRY, ty);
                for chunk in 1..=last {
                    let more = run.slot_value(chunk, number, CARRY, ty);
                    acc = bits::combine(*combine, ty, acc, more);
                }
                run.put(*out, ty, 0, acc);
            }
            Sink::Reduce { scope: Scope::Segment, combine, value, out: Some(out), .. } => {
                let ty = run.element(*value);
                parts(run, extents, number, *combine, *out, ty, [CARRY, TOTAL]);
            }
            Sink::Scan { scope: Scope::All, value, total: Some(total), .. } => {
                let ty = run.element(*value);
                let value = run.slot_value(last, number, TOTAL, ty);
                run.put(*total, ty, 0, value);
            }
            Sink::Pack { scope: Scope::All, count, .. } => {
                let kept = run.slot_value(last, number, TOTAL, Ty::I64);
                run.put(*count, Ty::I64, 0, kept);
            }
            Sink::Pack { scope: Scope::Segment, count, .. } => {
                let slots = [FIRST_COUNT, LAST_COUNT];
                parts(run, extents, number, Combine::Add, *count, Ty::I64, slots);
            }
            Sink::Reduce { .. }
            | Sink::Scan { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => {}
        }
    }
}

/// Combines the partial results of segments that chunks share.
fn parts(
    run: &mut Run<'_>,
    extents: &Extents<'_>,
    number: usize,
    combine: Combine,
    out: Value,
    ty: Ty,
    [first, last]: [usize; 2],
) {
    let mut open = None;
    for at in 0..run.chunks.len() {
        let chunk = run.chunks[at];
        if chunk.segment == chunk.segments {
            continue;
        }
        let within = chunk.first > extents.start(chunk.segment);
        let ends_within = chunk.last < extents.start(chunk.segments);
        let alone = chunk.segments - chunk.segment == 1;
        if within || (alone && ends_within) {
            let part = run.slot_value(at, number, first, ty);
            let acc = match open.take() {
                Some(before) if within => bits::combine(combine, ty, before, part),
                _ => part,
            };
            if alone && ends_within {
                open = Some(acc);
            } else {
                run.put(out, ty, chunk.segment, acc);
            }
        }
        if !alone && ends_within {
            open = Some(run.slot_value(at, number, last, ty));
        }
    }
}

/// Allocates a tag for each place that is scattered to, a byte each, until the launch is done.
pub fn tags(run: &mut Run<'_>, args: &[Arg], workers: &Workers) -> Result<Vec<Block>, Failure> {
    let mut blocks = Vec::new();
    for (_, number, sink) in sinks(run) {
        let Sink::Scatter { array, .. } = sink else { continue };
        let block = workers.memory().alloc(length(run.code, args, *array))?;
        // SAFETY: the block was just allocated, and has so many bytes.
        unsafe { std::ptr::write_bytes(block.start(), 0, block.bytes()) };
        for chunk in 0..run.chunks.len() {
            *run.slot(chunk, number, CARRY) = block.start() as u64;
        }
        blocks.push(block);
    }
    Ok(blocks)
}
