//! The passes of a kernel, and the part of each sink in each.
//!
//! A chunk's scans and packs need the totals of the chunks before it: a *local* pass finds the
//! total of each chunk, the launcher *carries* them from chunk to chunk, and the *final* pass
//! writes. A launch of one chunk needs the final pass only. Where several elements may scatter to
//! one place, a *tag* pass finds the last chunk that does.

use crate::abi::chunk;
use nesl_runtime::kir::liveness::Effects;
use nesl_runtime::kir::{Inst, Kernel, Op, Sink, Value};

/// A pass over the elements of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finds the total of each chunk for the scans and packs of a stage.
    Local(usize),
    /// Notes, for each place that is scattered to, the last chunk that writes there.
    Tag,
    /// Executes all effects and writes all results.
    Final,
}

impl Phase {
    /// Returns true if the pass is responsible for such effects of a stage. In its `own` stages the
    /// final pass is responsible for all. Elsewhere shared arrays are not written, and only the
    /// sinks' needs and unfinished checks count.
    pub fn executes(self, own: bool, effects: Effects) -> bool {
        match (self, own) {
            (Phase::Final, true) => effects.any(),
            (Phase::Local(_) | Phase::Tag, true) => effects.traps || effects.writes_private,
            (_, false) => effects.writes_private,
        }
    }
}

/// The part of a sink in a loop of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is left out.
    Skip,
    /// It scans again, for its result.
    Replay,
    /// It finds the total of the chunk.
    Total,
    /// It reduces, for its result.
    Reduce,
    /// It notes which chunk writes where.
    Tag,
    /// It writes its arrays.
    Full,
}

/// Returns the passes of a kernel, in the order of execution.
pub fn phases(kernel: &Kernel) -> Vec<Phase> {
    let mut phases = Vec::new();
    for (at, stage) in kernel.stages.iter().enumerate() {
        if stage.sinks.iter().any(|s| matches!(s, Sink::Scan { .. } | Sink::Pack { .. })) {
            phases.push(Phase::Local(at));
        }
    }
    let mut sinks = kernel.stages.iter().flat_map(|s| &s.sinks);
    if sinks.any(|sink| is_ordered(kernel, sink)) {
        phases.push(Phase::Tag);
    }
    phases.push(Phase::Final);
    phases
}

/// A sink with its part in a loop.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The sink of the kernel.
    pub sink: &'a Sink,
    /// The number of its stage.
    pub stage: usize,
    /// Its number in the kernel, which places its state in a chunk.
    pub number: usize,
    /// Its part in the loop.
    pub role: Role,
    /// True if it scatters the same value for all elements: their order does not matter.
    pub alike: bool,
}

/// Returns the part of a sink of a stage in a loop whose own stages are those from `own` on.
pub fn role(sink: &Sink, phase: Phase, stage: usize, own: usize) -> Role {
    let own = stage >= own;
    match (phase, sink) {
        (Phase::Final, _) if own => Role::Full,
        (Phase::Local(at), Sink::Scan { .. } | Sink::Pack { .. }) if at == stage => Role::Total,
        (_, Sink::Scan { .. }) => Role::Replay,
        (Phase::Local(_) | Phase::Tag, Sink::Reduce { result: Some(_), .. }) if own => Role::Reduce,
        (Phase::Tag, Sink::Scatter { .. }) if own => Role::Tag,
        (
            _,
            Sink::Reduce { .. }
            | Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. },
        ) => Role::Skip,
    }
}

/// Returns true if a sink scatters the same value for all elements: a constant or a parameter.
pub fn is_alike(kernel: &Kernel, sink: &Sink) -> bool {
    let Sink::Scatter { value, .. } = sink else { return false };
    let constant = |inst: &Inst| inst.results == [*value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(value)
        || kernel.stages.iter().any(|stage| stage.body.insts.iter().any(constant))
}

/// Returns true if the order of the elements matters to a scatter: the last one at a place wins.
pub fn is_ordered(kernel: &Kernel, sink: &Sink) -> bool {
    matches!(sink, Sink::Scatter { .. }) && !is_alike(kernel, sink)
}

impl Task<'_> {
    /// Calls `visit` with the values of the body that it needs.
    pub fn needs(&self, visit: &mut dyn FnMut(Value)) {
        match (self.role, self.sink) {
            (Role::Skip, _) => {}
            (Role::Full, sink) => sink.each_operand(visit),
            (_, Sink::Pack { keep, .. }) => visit(*keep),
            (_, Sink::Scatter { index, when, .. }) => {
                visit(*index);
                when.iter().for_each(|v| visit(*v));
            }
            (_, sink) => sink.each_operand(visit),
        }
    }

    /// The value that the sink defines for the later stages, if any.
    pub fn result(&self) -> Option<Value> {
        self.sink.result()
    }

    /// Returns true if it combines over segments.
    pub fn by_segment(&self) -> bool {
        self.sink.is_by_segment()
    }

    /// Returns true if it hands a state on from element to element.
    pub fn has_state(&self) -> bool {
        self.role != Role::Skip && self.sink.has_state()
    }

    /// The offset of one of its slots in a chunk, in bytes.
    pub fn slot(&self, slot: usize) -> i32 {
        (8 * (chunk::HEADER + chunk::SLOTS * self.number + slot)) as i32
    }
}
