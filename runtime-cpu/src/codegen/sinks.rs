//! Sinks: what each does in which phase, and its code at one point.

use super::code::{Coder, clif, flags};
use crate::arena;
use crate::chunk;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AtomicRmwOp, InstBuilder, MemFlagsData, types};
use nesl_runtime::kir::{Inst, Kernel, Literal, Op, Scope, Sink, Ty, Value};

/// What a pass over the points is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finds what each chunk adds to the scans and packs of a stage.
    Totals(usize),
    /// Notes for each place scattered to the last chunk that writes there.
    Tags,
    /// Everything else.
    Final,
}

/// What a sink does in a loop of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Skip,
    /// Scans again, for the result.
    Replay,
    /// Finds the total of the chunk.
    Total,
    /// Reduces, for the result.
    Local,
    /// Notes who writes where.
    Tag,
    /// All it should.
    Full,
}

/// A sink with what it does, and where its state lies in a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The sink.
    pub sink: &'a Sink,
    /// Its stage.
    pub stage: usize,
    /// Its number in the kernel.
    pub number: usize,
    /// What it does.
    pub role: Role,
    /// It scatters the same value everywhere: no matter who is the last.
    pub alike: bool,
}

/// Calls `f` with every value of a sink, for renaming.
pub fn for_each_value(sink: &mut Sink, f: &mut dyn FnMut(&mut Value)) {
    match sink {
        Sink::Reduce { value, out, result, .. } => {
            f(value);
            out.iter_mut().chain(result).for_each(f);
        }
        Sink::Scan { value, result, total, .. } => {
            f(value);
            f(result);
            total.iter_mut().for_each(f);
        }
        Sink::Pack { keep, columns, count, .. } => {
            f(keep);
            f(count);
            for (value, array) in columns {
                f(value);
                f(array);
            }
        }
        Sink::Scatter { array, index, value, when } => {
            f(array);
            f(index);
            f(value);
            when.iter_mut().for_each(f);
        }
        Sink::Histogram { array, combine: _, index, value, length, when } => {
            f(array);
            f(index);
            f(value);
            length.iter_mut().chain(when).for_each(f);
        }
        Sink::Emit { columns, length, lengths } => {
            columns.iter_mut().for_each(|(value, _)| f(value));
            f(length);
            f(lengths);
        }
    }
}

/// What a sink of a stage does in a loop whose own stages are those from `own` on.
pub fn role(sink: &Sink, phase: Phase, stage: usize, own: usize) -> Role {
    let own = stage >= own;
    match (phase, sink) {
        (Phase::Final, _) if own => Role::Full,
        (Phase::Totals(at), Sink::Scan { .. } | Sink::Pack { .. }) if at == stage => Role::Total,
        (_, Sink::Scan { .. }) => Role::Replay,
        (Phase::Totals(_) | Phase::Tags, Sink::Reduce { result: Some(_), .. }) if own => {
            Role::Local
        }
        (Phase::Tags, Sink::Scatter { .. }) if own => Role::Tag,
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

/// Whether a sink scatters the same value from all points: a constant, or what was given.
pub fn is_alike(kernel: &Kernel, sink: &Sink) -> bool {
    let Sink::Scatter { value, .. } = sink else { return false };
    let constant = |inst: &Inst| inst.results == [*value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(value)
        || kernel.stages.iter().any(|stage| stage.body.insts.iter().any(constant))
}

/// Whether it matters which of the points that a sink scatters from comes last.
pub fn is_ordered(kernel: &Kernel, sink: &Sink) -> bool {
    matches!(sink, Sink::Scatter { .. }) && !is_alike(kernel, sink)
}

impl Task<'_> {
    /// Calls `f` with the values of the body that it needs.
    pub fn needs(&self, f: &mut dyn FnMut(Value)) {
        if self.role == Role::Skip {
            return;
        }
        match self.sink {
            Sink::Reduce { value, .. } | Sink::Scan { value, .. } => f(*value),
            Sink::Pack { keep, columns, .. } => {
                f(*keep);
                if self.role == Role::Full {
                    columns.iter().for_each(|(value, _)| f(*value));
                }
            }
            Sink::Scatter { index, value, when, .. } => {
                f(*index);
                if self.role == Role::Full {
                    f(*value);
                }
                when.iter().for_each(|v| f(*v));
            }
            Sink::Histogram { index, value, length, when, .. } => {
                f(*index);
                f(*value);
                length.iter().chain(when).for_each(|v| f(*v));
            }
            Sink::Emit { columns, length, .. } => {
                columns.iter().for_each(|(value, _)| f(*value));
                f(*length);
            }
        }
    }

    /// The result for the stages behind, if the sink has one.
    pub fn result(&self) -> Option<Value> {
        match self.sink {
            Sink::Reduce { result, .. } => *result,
            Sink::Scan { result, .. } => Some(*result),
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => None,
        }
    }

    /// Whether it combines over segments.
    pub fn by_segment(&self) -> bool {
        match self.sink {
            Sink::Reduce { scope, .. } | Sink::Scan { scope, .. } => *scope == Scope::Segment,
            // Positions go on from segment to segment.
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => false,
        }
    }

    /// Whether something is handed on from point to point.
    pub fn has_state(&self) -> bool {
        self.role != Role::Skip
            && matches!(self.sink, Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. })
    }

    /// The offset of one of its slots in a chunk.
    pub fn slot(&self, slot: usize) -> i32 {
        (8 * (chunk::HEADER + chunk::SLOTS * self.number + slot)) as i32
    }
}

/// What the sinks need that is the same at all points.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// The chunk.
    pub chunk: ir::Value,
    /// What its tags are: its number and 1.
    pub tag: ir::Value,
    /// The index of the point, if there is one by itself.
    pub index: ir::Value,
}

impl Coder<'_, '_> {
    /// The neutral element of a sink with state; the type of that.
    pub fn sink_neutral(&self, sink: &Sink) -> Literal {
        match sink {
            Sink::Reduce { combine, value, .. } | Sink::Scan { combine, value, .. } => {
                combine.neutral(self.element(*value))
            }
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => Literal::I64(0),
        }
    }

    /// A sink at one point. Takes the state and gives the next.
    pub fn sink(
        &mut self,
        task: &Task<'_>,
        state: Option<ir::Value>,
        around: Surroundings,
    ) -> Option<ir::Value> {
        let state_now = || state.expect("the sink has state");
        match task.sink {
            Sink::Reduce { combine, value, .. } => {
                let x = self.get(*value);
                Some(self.combine(*combine, self.element(*value), state_now(), x))
            }
            Sink::Scan { combine, value, result, .. } => {
                let state = state_now();
                self.set(*result, state);
                let x = self.get(*value);
                Some(self.combine(*combine, self.element(*value), state, x))
            }
            Sink::Pack { keep, columns, .. } => {
                let keep = self.get(*keep);
                if task.role == Role::Full {
                    let columns: Vec<_> = columns.iter().map(|(v, a)| (self.get(*v), *a)).collect();
                    return Some(self.pack_one(task, keep, &columns, state_now(), around));
                }
                let one = self.b.ins().uextend(types::I64, keep);
                Some(self.b.ins().iadd(state_now(), one))
            }
            Sink::Scatter { array, index, value, when } => {
                let index = self.get(*index);
                let when = when.map(|v| self.get(v));
                let value = (task.role == Role::Full).then(|| self.get(*value));
                self.scatter_one(task, *array, index, value, when, around);
                None
            }
            Sink::Histogram { array, combine, index, value, length, when } => {
                let (index, x) = (self.get(*index), self.get(*value));
                let (length, when) = (length.map(|v| self.get(v)), when.map(|v| self.get(v)));
                let (array, ty) = (self.get(*array), self.element(*value));
                self.when(when, |coder| {
                    let address = coder.address(array, index, ty);
                    if let Some(length) = length {
                        return coder.combine_row(*combine, ty, address, x, length);
                    }
                    let old = coder.b.ins().load(clif(ty), flags(), address, 0);
                    let new = coder.combine_any(*combine, ty, old, x);
                    coder.b.ins().store(flags(), new, address, 0);
                });
                None
            }
            Sink::Emit { columns, length, lengths } => {
                let none = self.int(0);
                let length = self.get(*length);
                let length = self.b.ins().smax(length, none);
                for (array, output) in columns {
                    let shift = i64::from(self.element(*array).size().trailing_zeros());
                    let bytes = self.b.ins().ishl_imm_u(length, shift);
                    let output = self.int(i64::from(output.0));
                    let args = [self.env, output, self.get(*array), bytes];
                    self.call_host_checked(arena::emit as *const u8, &args);
                }
                self.store(self.get(*lengths), around.index, Ty::I64, length);
                None
            }
        }
    }

    /// Does something if a condition holds, or always.
    pub fn when(&mut self, when: Option<ir::Value>, f: impl FnOnce(&mut Self)) {
        let Some(when) = when else { return f(self) };
        let (then, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(when, then, &[], done, &[]);
        self.b.switch_to_block(then);
        f(self);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Packs one point; gives the next position. What is not kept is written aside, which is
    /// quicker than a branch that goes either way.
    pub fn pack_one(
        &mut self,
        task: &Task<'_>,
        keep: ir::Value,
        columns: &[(ir::Value, Value)],
        position: ir::Value,
        around: Surroundings,
    ) -> ir::Value {
        let aside = self.b.ins().iadd_imm_s(around.chunk, i64::from(task.slot(chunk::ASIDE)));
        for (value, array) in columns {
            let ty = self.element(*array);
            let address = self.address(self.get(*array), position, ty);
            let address = self.b.ins().select(keep, address, aside);
            self.b.ins().store(flags(), *value, address, 0);
        }
        let one = self.b.ins().uextend(types::I64, keep);
        self.b.ins().iadd(position, one)
    }

    /// Scatters one value (or tags the place). With tags only the last chunk that writes to a
    /// place does so.
    pub fn scatter_one(
        &mut self,
        task: &Task<'_>,
        array: Value,
        index: ir::Value,
        value: Option<ir::Value>,
        when: Option<ir::Value>,
        around: Surroundings,
    ) {
        let (array, ty) = (self.get(array), self.element(array));
        if let (true, Some(value)) = (task.alike, value) {
            return self.when(when, |coder| coder.store(array, index, ty, value));
        }
        let tags = self.b.ins().load(types::I64, flags(), around.chunk, task.slot(0));
        self.when(when, |coder| {
            let Some(value) = value else {
                let place = coder.b.ins().iadd(tags, index);
                let old = coder.b.ins().load(types::I8, flags(), place, 0);
                let less = coder.b.ins().icmp(IntCC::UnsignedLessThan, old, around.tag);
                coder.when(Some(less), |coder| {
                    let flags = MemFlagsData::trusted();
                    let tag = around.tag;
                    coder.b.ins().atomic_rmw(types::I8, flags, AtomicRmwOp::Umax, place, tag);
                });
                return;
            };
            let (tagged, write, done) =
                (coder.b.create_block(), coder.b.create_block(), coder.b.create_block());
            coder.b.ins().brif(tags, tagged, &[], write, &[]);
            coder.b.switch_to_block(tagged);
            let place = coder.b.ins().iadd(tags, index);
            let owner = coder.b.ins().load(types::I8, flags(), place, 0);
            let ours = coder.b.ins().icmp(IntCC::Equal, owner, around.tag);
            coder.b.ins().brif(ours, write, &[], done, &[]);
            coder.b.switch_to_block(write);
            coder.store(array, index, ty, value);
            coder.b.ins().jump(done, &[]);
            coder.b.switch_to_block(done);
        });
    }
}
