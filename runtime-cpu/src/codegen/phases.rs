//! The passes of a kernel over its elements, and what each sink does in each pass.
//!
//! The scans and packs of a chunk start from the combined totals of the chunks before it: a *local* pass
//! computes the total of each chunk, the launcher scans the totals (the *carries*), and the *final* pass writes
//! the results. A launch of one chunk needs only the final pass. Where elements of several chunks may scatter
//! to one array element, a *tag* pass first finds the last of these chunks, whose write is to remain.
//!
//! If elements are expensive (each tests whether a number is prime, say), counting those that a pack keeps would
//! take as long as packing them. Then the chunks of a launch pack *apart*: each to the places from its first
//! element on, from where the launcher moves what was kept together.

use crate::abi::chunk;
use nesl_runtime::kir::facts::KernelFacts;
use nesl_runtime::kir::liveness::Effects;
use nesl_runtime::kir::{Inst, Kernel, Op, Sink, Value};

/// A pass over the elements of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Computes the total of each chunk for the scans and packs of a stage.
    Local(usize),
    /// Records, for each array element that is scattered to, the last chunk that writes it.
    Tag,
    /// Executes all effects and writes all results.
    Final,
}

impl Phase {
    /// Returns true if the pass executes instructions with such effects in a stage. In its `own` stages the
    /// final pass executes all, and the other passes those that may fail or write private arrays. In a stage
    /// that is recomputed, only writes of private arrays are executed again.
    pub fn executes(self, own: bool, effects: Effects) -> bool {
        match (self, own) {
            (Phase::Final, true) => effects.any(),
            (Phase::Local(_) | Phase::Tag, true) => effects.traps || effects.writes_private,
            (_, false) => effects.writes_private,
        }
    }
}

/// The work that a sink does in a loop of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Has no work in this pass.
    Skip,
    /// It scans again, because later stages read its result.
    Replay,
    /// It computes the total of the chunk.
    Total,
    /// It reduces, because later stages read its result, but writes nothing.
    Reduce,
    /// It records the chunk at each array element that it would write.
    Tag,
    /// It does all of its work and writes its arrays.
    Full,
}

/// The operations that a thread executes in the time in which an element of a column is moved.
const MOVE_OPERATIONS: u64 = 8;

/// Returns true if the chunks of each launch pack apart. All of so many threads execute elements, while one moves
/// what was kept.
pub fn packs_apart(kernel: &Kernel, facts: &KernelFacts, threads: usize) -> bool {
    let sinks = || kernel.stages.iter().flat_map(|stage| &stage.sinks);
    let columns = sinks().filter_map(|sink| match sink {
        Sink::Pack { columns, .. } => Some(columns.len() as u64),
        _ => None,
    });
    let Some(columns) = columns.reduce(|a, b| a + b) else { return false };
    let is_expensive =
        facts.unbounded || facts.work >= columns.saturating_mul(threads as u64 * MOVE_OPERATIONS);
    is_expensive && !sinks().any(|sink| matches!(sink, Sink::Scan { .. }))
}

/// Returns the passes of a kernel, in the order of execution.
pub fn phases(kernel: &Kernel, packs_apart: bool) -> Vec<Phase> {
    let mut phases = Vec::new();
    for (at, stage) in kernel.stages.iter().enumerate() {
        let needs_totals = |sink: &Sink| match sink {
            Sink::Scan { .. } => true,
            Sink::Pack { .. } => !packs_apart,
            _ => false,
        };
        if stage.sinks.iter().any(needs_totals) {
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

/// A sink with its role in a loop.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The sink of the kernel.
    pub sink: &'a Sink,
    /// The number of its stage.
    pub stage: usize,
    /// Its number in the kernel, which determines the offset of its state in a chunk.
    pub number: usize,
    /// Its role in the loop.
    pub role: Role,
    /// True if it scatters the same value for all elements: their order does not matter.
    pub one_value: bool,
}

/// Returns the role of a sink of a stage in a loop whose own stages are those from `own` on.
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
pub fn scatters_one_value(kernel: &Kernel, sink: &Sink) -> bool {
    let Sink::Scatter { value, .. } = sink else { return false };
    let constant = |inst: &Inst| inst.results == [*value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(value)
        || kernel.stages.iter().any(|stage| stage.body.insts.iter().any(constant))
}

/// Returns true for a scatter in which the order of elements matters: the last write of an element remains.
pub fn is_ordered(kernel: &Kernel, sink: &Sink) -> bool {
    matches!(sink, Sink::Scatter { .. }) && !scatters_one_value(kernel, sink)
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

    /// Returns true if it carries a state from element to element.
    pub fn has_state(&self) -> bool {
        self.role != Role::Skip && self.sink.has_state()
    }

    /// The offset of one of its slots in a chunk, in bytes.
    pub fn slot(&self, slot: usize) -> i32 {
        (8 * (chunk::HEADER + chunk::SLOTS * self.number + slot)) as i32
    }
}
