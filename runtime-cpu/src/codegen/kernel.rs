//! Kernels: a machine function for each pass, over a chunk of elements.
//!
//! ```text
//! flat                        segments
//! for element in chunk        for segment in chunk
//!   stage 0, its sinks          for element in segment ∩ chunk
//!   stage 1, its sinks            stage 0, its sinks      ┐ a group: stages up to one
//!   …                           reductions of stage 0     ┘ whose reduction has a result
//!                               for element in segment ∩ chunk
//!                                 stage 0 again, stage 1, its sinks
//! ```
//!
//! A later group recomputes the values that it reads from earlier stages, without their effects. A chunk may
//! begin and end within a segment, if no stage reads the result of a reduction: the partial reductions are stored
//! in the chunk's state, and the launcher combines them.

use super::emitter::{FunctionEmitter, clif, flags};
use super::phases::{Phase, Role, Task};
use super::segment_invariants;
use super::sinks::SinkContext;
use super::stage_groups::{StageGroup, groups};
use crate::abi::{chunk, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type, types};
use nesl_runtime::kir::{Inst, Kernel, Scope, Sink, Space, Ty};

/// The elements of a loop.
#[derive(Clone, Copy, Debug)]
pub struct ElementRange {
    /// The first element.
    pub lo: ir::Value,
    /// One more than the last element.
    pub hi: ir::Value,
    /// The segment, and the index of its first element.
    pub segment: Option<(ir::Value, ir::Value)>,
}

/// The builder of a pass of a kernel.
pub struct KernelBuilder<'a, 'f> {
    /// The emitter of its function.
    pub c: FunctionEmitter<'a, 'f>,
    /// The kernel under compilation.
    pub kernel: &'a Kernel,
    /// True if work items may allocate.
    pub allocates: bool,
    /// The address of the chunk's state.
    pub chunk: ir::Value,
    /// The chunk's tag; an `i8`.
    pub tag: ir::Value,
    /// The largest number of elements that are executed together.
    pub group_elements: usize,
    /// The code that is executed once for the elements of a segment, before the code that is emitted.
    pub before: Vec<&'a Inst>,
    /// True if elements are done one by one, and have loops whose iterations depend on each other.
    pub has_serial_loops: bool,
}

impl<'a> KernelBuilder<'a, '_> {
    /// Emits the whole function, from its entry block on; `params` is the address of the parameters.
    pub fn run(&mut self, params: ir::Value, phase: Phase) {
        self.c.enter();
        self.c.depth = self.c.env_load(types::I64, offset::MAX_DEPTH);
        for (n, param) in self.kernel.params.iter().enumerate() {
            let ty = self.c.clif_of(*param);
            let flags = flags().with_readonly().with_can_move();
            let value = self.c.b.ins().load(ty, flags, params, 8 * n as i32);
            self.c.set(*param, value);
            self.c.provenance.insert(*param, nesl_runtime::kir::alias::Provenance::PREEXISTING);
        }
        let head = |builder: &mut Self, slot: usize| {
            let chunk = builder.chunk;
            builder.c.b.ins().load(types::I64, flags(), chunk, 8 * slot as i32)
        };
        let first = head(self, chunk::FIRST);
        let last = head(self, chunk::LAST);
        let tag = head(self, chunk::TAG);
        self.tag = self.c.b.ins().ireduce(types::I8, tag);
        let exit = self.c.block_with([types::I32, types::I64]);
        self.c.exit = super::emitter::Exit::Kernel(exit);

        let groups = groups(self.kernel, phase);
        // Each sink is in one group of its own.
        let outer: Vec<Task<'a>> = groups
            .iter()
            .flat_map(|g| g.tasks.iter().filter(|t| t.stage >= g.own))
            .filter(|t| t.has_state() && !t.by_segment())
            .copied()
            .collect();
        let begin: Vec<ir::Value> = outer.iter().map(|t| self.start(t)).collect();
        let end = match self.kernel.space {
            Space::Flat { .. } => {
                let range = ElementRange { lo: first, hi: last, segment: None };
                self.elements(&groups[0], range, begin)
            }
            Space::Regular { .. } | Space::Segmented { .. } => {
                let segment = head(self, chunk::SEGMENT);
                let segments = head(self, chunk::SEGMENTS);
                self.segments(&groups, [segment, segments], [first, last], (&outer, begin))
            }
        };
        for (task, value) in outer.iter().zip(end) {
            let slot = match task.sink {
                Sink::Reduce { .. } => chunk::CARRY,
                _ => chunk::TOTAL,
            };
            let chunk = self.chunk;
            self.c.b.ins().store(flags(), value, chunk, task.slot(slot));
        }
        let done = self.c.b.ins().iconst(types::I32, 0);
        self.c.b.ins().return_(&[done]);
        self.c.b.switch_to_block(exit);
        self.c.b.set_cold_block(exit);
        let (status, element) = (self.c.b.block_params(exit)[0], self.c.b.block_params(exit)[1]);
        self.c.env_store(element, offset::WORK_ITEM);
        self.c.b.ins().return_(&[status]);
    }

    fn state_type(&self, task: &Task<'_>) -> Type {
        clif(self.c.sink_neutral(task.sink).ty())
    }

    /// The initial state of a sink over the whole space.
    fn start(&mut self, task: &Task<'_>) -> ir::Value {
        let carried = match task.sink {
            Sink::Scan { .. } | Sink::Pack { .. } => task.role != Role::Total,
            _ => false,
        };
        if carried {
            let (ty, chunk) = (self.state_type(task), self.chunk);
            return self.c.b.ins().load(ty, flags(), chunk, task.slot(chunk::CARRY));
        }
        let neutral = self.c.sink_neutral(task.sink);
        self.c.literal(neutral)
    }

    /// Emits the loop over segments.
    fn segments(
        &mut self,
        groups: &[StageGroup<'a>],
        [begin, end]: [ir::Value; 2],
        [first, last]: [ir::Value; 2],
        (tasks, outer): (&[Task<'a>], Vec<ir::Value>),
    ) -> Vec<ir::Value> {
        let join = match groups {
            [group] => self.interleaved(group, [begin, end], [first, last]),
            _ => None,
        };
        let place = |task: &Task<'a>| tasks.iter().position(|t| t.number == task.number);
        let mut start = vec![begin];
        start.extend(outer);
        let looped = self.c.begin_loop(&start);
        let params = looped.carried.clone();
        let (segment, outer) = (params[0], &params[1..]);
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, segment, end);
        self.c.loop_while(&looped, going);
        let (start, stop) = self.c.bounds(&self.kernel.space, segment);
        let lo = self.c.b.ins().smax(start, first);
        let hi = self.c.b.ins().smin(stop, last);
        let range = ElementRange { lo, hi, segment: Some((segment, start)) };
        let mut outer_next = outer.to_vec();
        let ours = |t: &&Task<'a>| t.has_state();
        for group in groups {
            let state: Vec<ir::Value> = group
                .tasks
                .iter()
                .filter(ours)
                .map(|task| match place(task) {
                    Some(at) => outer[at],
                    None => self.segment_start(task, segment, begin),
                })
                .collect();
            let state_before = state.clone();
            let state = match segment_invariants::split(self.kernel, group) {
                Some((before, rest)) => self.elements_after(before, &rest, range, state),
                None => self.elements(group, range, state),
            };
            let whole = self.whole(range, stop);
            for (at, task) in group.tasks.iter().filter(ours).enumerate() {
                let Some(place) = place(task) else {
                    self.segment_end(task, state[at], whole, (segment, begin), (hi, stop));
                    continue;
                };
                if task.stage >= group.own {
                    outer_next[place] = state[at];
                }
                if let Sink::Pack { scope: Scope::Segment, count, .. } = task.sink
                    && task.role == Role::Full
                {
                    let kept = self.c.b.ins().isub(state[at], state_before[at]);
                    let slots = [chunk::FIRST_COUNT, chunk::LAST_COUNT];
                    self.segment_store(task, *count, kept, whole, (segment, begin), slots);
                }
            }
        }
        let following = self.c.b.ins().iadd_imm_s(segment, 1);
        let mut next = vec![following];
        next.extend(outer_next);
        self.c.end_loop(&looped, &next);
        if let Some(join) = join {
            self.c.jump(join, &[]);
            self.c.b.switch_to_block(join);
        }
        outer.to_vec()
    }

    /// Emits a bool: true if the chunk contains the whole segment.
    fn whole(&mut self, range: ElementRange, stop: ir::Value) -> ir::Value {
        let start = range.segment.map_or(range.lo, |(_, start)| start);
        let from = self.c.b.ins().icmp(IntCC::Equal, range.lo, start);
        let to = self.c.b.ins().icmp(IntCC::Equal, range.hi, stop);
        self.c.b.ins().band(from, to)
    }

    /// The initial state of a sink over segments: the neutral element, or in the chunk's first segment
    /// the carry of the chunks before.
    fn segment_start(
        &mut self,
        task: &Task<'a>,
        segment: ir::Value,
        begin: ir::Value,
    ) -> ir::Value {
        let neutral = self.c.sink_neutral(task.sink);
        let neutral = self.c.literal(neutral);
        if !matches!(task.sink, Sink::Scan { .. }) || task.role == Role::Total {
            return neutral;
        }
        let (ty, chunk) = (self.state_type(task), self.chunk);
        let carry = self.c.b.ins().load(ty, flags(), chunk, task.slot(chunk::CARRY));
        let is_first = self.c.b.ins().icmp(IntCC::Equal, segment, begin);
        self.c.b.ins().select(is_first, carry, neutral)
    }

    fn segment_end(
        &mut self,
        task: &Task<'a>,
        value: ir::Value,
        whole: ir::Value,
        (segment, begin): (ir::Value, ir::Value),
        (hi, stop): (ir::Value, ir::Value),
    ) {
        if let Some(result) = task.result()
            && matches!(task.sink, Sink::Reduce { .. })
        {
            self.c.set(result, value);
        }
        match task.sink {
            Sink::Reduce { out: Some(out), .. } if task.role == Role::Full => {
                let slots = [chunk::CARRY, chunk::TOTAL];
                self.segment_store(task, *out, value, whole, (segment, begin), slots);
            }
            Sink::Scan { total, .. } => {
                if let (Some(total), Role::Full) = (total, task.role) {
                    let ends = self.c.b.ins().icmp(IntCC::Equal, hi, stop);
                    let (array, ty) = (self.c.get(*total), self.c.element_ty(*total));
                    self.c.when(Some(ends), |c| c.store(array, segment, ty, value));
                }
                if task.role == Role::Total {
                    let chunk = self.chunk;
                    self.c.b.ins().store(flags(), value, chunk, task.slot(chunk::TOTAL));
                }
            }
            Sink::Reduce { .. }
            | Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => {}
        }
    }

    /// Writes the result of a segment: to its array, or to the chunk if the segment is not whole.
    fn segment_store(
        &mut self,
        task: &Task<'a>,
        array: nesl_runtime::kir::Value,
        value: ir::Value,
        whole: ir::Value,
        (segment, begin): (ir::Value, ir::Value),
        [first, last]: [usize; 2],
    ) {
        let place = self.c.address(self.c.get(array), segment, self.c.element_ty(array));
        let is_first = self.c.b.ins().icmp(IntCC::Equal, segment, begin);
        let chunk = self.chunk;
        let first = self.c.b.ins().iadd_imm_s(chunk, i64::from(task.slot(first)));
        let last = self.c.b.ins().iadd_imm_s(chunk, i64::from(task.slot(last)));
        let part = self.c.b.ins().select(is_first, first, last);
        let place = self.c.b.ins().select(whole, place, part);
        self.c.b.ins().store(flags(), value, place, 0);
    }

    /// Emits the elements of a segment, if there are any, behind code that is executed once.
    fn elements_after(
        &mut self,
        before: Vec<&'a Inst>,
        group: &StageGroup<'a>,
        range: ElementRange,
        state: Vec<ir::Value>,
    ) -> Vec<ir::Value> {
        let types: Vec<Type> = state.iter().map(|v| self.c.b.func.dfg.value_type(*v)).collect();
        let (work, join) = (self.c.b.create_block(), self.c.block_with(types));
        let some = self.c.b.ins().icmp(IntCC::SignedLessThan, range.lo, range.hi);
        self.c.branch(some, (work, &[]), (join, &state));
        self.c.b.switch_to_block(work);
        if let Some((segment, _)) = range.segment {
            self.c.set(self.kernel.indices[0], segment);
        }
        self.c.element = Some(range.lo);
        before.iter().for_each(|inst| self.c.inst(inst));
        self.before = before;
        let state = self.elements(group, range, state);
        self.before.clear();
        self.c.jump(join, &state);
        self.c.b.switch_to_block(join);
        self.c.b.block_params(join).to_vec()
    }

    /// Emits the loop over elements: groups of elements first, if the code is vectorised, then single ones.
    fn elements(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
        state: Vec<ir::Value>,
    ) -> Vec<ir::Value> {
        let range =
            ElementRange { lo: self.interleave_rows(group, range).unwrap_or(range.lo), ..range };
        let (lo, state, inside) = match self.pairs(group, range, &state) {
            Some((lo, state)) => (lo, state, None),
            None => self.vector_elements(group, range, state),
        };
        self.c.is_left_over = lo != range.lo;
        let mut start = vec![lo];
        start.extend(state);
        start.extend(inside.as_ref().map(|inside| inside.first));
        let looped = self.c.begin_loop(&start);
        let params = looped.carried.clone();
        let index = params[0];
        if let Some(inside) = &inside {
            self.vector_inside(inside, group, range, &looped);
        }
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, index, range.hi);
        self.c.loop_while(&looped, going);
        self.c.element = Some(index);
        self.c.poll();
        let values = params.len() - usize::from(inside.is_some());
        let mut next = self.element(group, range, index, &params[1..values]);
        next.extend(inside.as_ref().map(|_| params[params.len() - 1]));
        self.c.end_loop(&looped, &next);
        self.c.is_left_over = false;
        params[1..values].to_vec()
    }

    /// Emits the code of an element, given the state of its sinks. Returns the next index and state.
    pub fn element(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
        index: ir::Value,
        state: &[ir::Value],
    ) -> Vec<ir::Value> {
        self.c.element = Some(index);
        self.bind_indices(range, index);
        let around = SinkContext { chunk: self.chunk, tag: self.tag, index };
        let mut next = vec![self.c.b.ins().iadd_imm_s(index, 1)];
        let mut before = state.iter();
        for (stage, code) in group.code.iter().enumerate() {
            for inst in code {
                self.c.inst(inst);
            }
            for task in group.tasks.iter().filter(|t| t.stage == stage) {
                if task.role == Role::Skip {
                    continue;
                }
                let state = if task.has_state() { before.next().copied() } else { None };
                next.extend(self.c.sink(task, state, around));
            }
        }
        if self.allocates {
            self.c.reset_arena();
        }
        next
    }

    /// Defines the indices of an element.
    fn bind_indices(&mut self, range: ElementRange, index: ir::Value) {
        let names = &self.kernel.indices;
        match range.segment {
            None => self.c.set(names[0], index),
            Some((segment, start)) => {
                let position = self.c.b.ins().isub(index, start);
                self.c.set(names[0], segment);
                self.c.set(names[1], position);
                self.c.set(names[2], index);
            }
        }
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits the first index of a segment, and one more than its last index.
    pub fn bounds(&mut self, space: &Space, segment: ir::Value) -> (ir::Value, ir::Value) {
        match space {
            Space::Segmented { offsets, .. } => {
                let offsets = self.get(*offsets);
                let at = self.address(offsets, segment, Ty::I64);
                let start = self.b.ins().load(types::I64, flags(), at, 0);
                (start, self.b.ins().load(types::I64, flags(), at, 8))
            }
            Space::Regular { length, .. } => {
                let length = self.get(*length);
                let start = self.b.ins().imul(segment, length);
                (start, self.b.ins().iadd(start, length))
            }
            Space::Flat { count } => {
                let start = self.int(0);
                (start, self.get(*count))
            }
        }
    }
}
