//! Emission of sinks for one element.

use super::emitter::{FunctionEmitter, clif, flags};
use super::phases::{Role, Task};
use crate::abi::{chunk, offset};
use crate::callbacks;
use crate::parts::Part;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AtomicRmwOp, InstBuilder, MemFlagsData, types};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Sink, Ty, Value};

/// The loop-invariant values that sinks use.
#[derive(Clone, Copy, Debug)]
pub struct SinkContext {
    /// The address of the chunk's state.
    pub chunk: ir::Value,
    /// The chunk's tag, its number plus 1; an `i8`.
    pub tag: ir::Value,
    /// The index of the element, if there is a single one.
    pub index: ir::Value,
}

impl FunctionEmitter<'_, '_> {
    /// The neutral element of a sink with state; 0 for a pack.
    pub fn sink_neutral(&self, sink: &Sink) -> Literal {
        match sink {
            Sink::Reduce { combine, value, .. } | Sink::Scan { combine, value, .. } => {
                combine.neutral(self.element_ty(*value))
            }
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => Literal::I64(0),
        }
    }

    /// Emits a sink for one element; takes its state and returns the new state.
    pub fn sink(
        &mut self,
        task: &Task<'_>,
        state: Option<ir::Value>,
        around: SinkContext,
    ) -> Option<ir::Value> {
        let state_now = || state.or_bug("a reduction, scan or pack has a state");
        match task.sink {
            Sink::Reduce { combine, value, .. } => {
                let x = self.get(*value);
                Some(self.combine(*combine, self.element_ty(*value), state_now(), x))
            }
            Sink::Scan { combine, value, result, .. } => {
                let state = state_now();
                self.set(*result, state);
                let x = self.get(*value);
                Some(self.combine(*combine, self.element_ty(*value), state, x))
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
                let (array, ty) = (self.get(*array), self.element_ty(*value));
                if let Some(length) = length {
                    self.when(when, |emitter| {
                        let address = emitter.address(array, index, ty);
                        emitter.combine_row(*combine, ty, address, x, length);
                    });
                    return None;
                }
                let mut address = self.address(array, index, ty);
                if let Some(when) = when {
                    // A branch would be mispredicted often: which keys are in range is as random as they are.
                    let discard = i64::from(task.slot(chunk::DISCARD));
                    let discard = self.b.ins().iadd_imm_s(around.chunk, discard);
                    address = self.b.ins().select(when, address, discard);
                }
                let old = self.b.ins().load(clif(ty), flags(), address, 0);
                let new = self.combine_any(*combine, ty, old, x);
                self.b.ins().store(flags(), new, address, 0);
                None
            }
            Sink::Emit { columns, length, lengths } => {
                let none = self.int(0);
                let length = self.get(*length);
                let length = self.b.ins().smax(length, none);
                for (array, output) in columns {
                    let ty = self.element_ty(*array);
                    let from = self.get(*array);
                    self.append_to_part(ty, from, length, output.0);
                }
                self.store(self.get(*lengths), around.index, Ty::I64, length);
                None
            }
        }
    }

    /// Appends elements to an output: where it has room for them, else by a call. What is made in the output if its place
    /// is known, and what wide code emits, goes there by a call: mostly whole rows, which the copy here would not pay for.
    fn append_to_part(&mut self, ty: Ty, from: ir::Value, length: ir::Value, output: u32) {
        let shift = i64::from(ty.size().trailing_zeros());
        let bytes = self.b.ins().ishl_imm_u(length, shift);
        if self.is_wide() || self.emitted.values().any(|at| *at == output) {
            let output = self.int(i64::from(output));
            let args = [self.env, output, from, bytes];
            return self.call_host_checked(callbacks::emit as *const u8, &args);
        }
        let parts = self.env_load(types::I64, offset::EMITTED);
        let part = output as i32 * size_of::<Part>() as i32;
        let next = self.b.ins().load(types::I64, flags(), parts, part + offset::PART_NEXT);
        let end = self.b.ins().load(types::I64, flags(), parts, part + offset::PART_END);
        let room = self.b.ins().isub(end, next);
        let (here, call) = (self.b.create_block(), self.b.create_block());
        let done = self.b.create_block();
        let fits = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, bytes, room);
        self.b.ins().brif(fits, here, &[], call, &[]);

        self.b.switch_to_block(here);
        self.copy_elements(ty, from, next, length);
        let next = self.b.ins().iadd(next, bytes);
        self.b.ins().store(flags(), next, parts, part + offset::PART_NEXT);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(call);
        let output = self.int(i64::from(output));
        let args = [self.env, output, from, bytes];
        self.call_host_checked(callbacks::emit as *const u8, &args);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Executes code if a condition holds, or always.
    pub fn when(&mut self, when: Option<ir::Value>, f: impl FnOnce(&mut Self)) {
        let Some(when) = when else { return f(self) };
        let (then, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(when, then, &[], done, &[]);
        self.b.switch_to_block(then);
        f(self);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Packs one element; returns the next position. An element that is not kept is stored to a discard slot:
    /// a branch would be mispredicted often.
    pub fn pack_one(
        &mut self,
        task: &Task<'_>,
        keep: ir::Value,
        columns: &[(ir::Value, Value)],
        position: ir::Value,
        around: SinkContext,
    ) -> ir::Value {
        let discard = self.b.ins().iadd_imm_s(around.chunk, i64::from(task.slot(chunk::DISCARD)));
        for (value, array) in columns {
            let ty = self.element_ty(*array);
            let address = self.address(self.get(*array), position, ty);
            let address = self.b.ins().select(keep, address, discard);
            self.b.ins().store(flags(), *value, address, 0);
        }
        let one = self.b.ins().uextend(types::I64, keep);
        self.b.ins().iadd(position, one)
    }

    /// Scatters one element, or tags the array element that it would write. If the launch has tags, only the
    /// last chunk that writes an array element does so.
    pub fn scatter_one(
        &mut self,
        task: &Task<'_>,
        array: Value,
        index: ir::Value,
        value: Option<ir::Value>,
        when: Option<ir::Value>,
        around: SinkContext,
    ) {
        let (array, ty) = (self.get(array), self.element_ty(array));
        if let (true, Some(value)) = (task.one_value, value) {
            return self.when(when, |emitter| emitter.store(array, index, ty, value));
        }
        let tags = self.b.ins().load(types::I64, flags(), around.chunk, task.slot(0));
        self.when(when, |emitter| {
            let Some(value) = value else {
                let place = emitter.b.ins().iadd(tags, index);
                let old = emitter.b.ins().load(types::I8, flags(), place, 0);
                let less = emitter.b.ins().icmp(IntCC::UnsignedLessThan, old, around.tag);
                emitter.when(Some(less), |emitter| {
                    let flags = MemFlagsData::trusted();
                    let tag = around.tag;
                    emitter.b.ins().atomic_rmw(types::I8, flags, AtomicRmwOp::Umax, place, tag);
                });
                return;
            };
            let (tagged, write, done) =
                (emitter.b.create_block(), emitter.b.create_block(), emitter.b.create_block());
            emitter.b.ins().brif(tags, tagged, &[], write, &[]);
            emitter.b.switch_to_block(tagged);
            let place = emitter.b.ins().iadd(tags, index);
            let owner = emitter.b.ins().load(types::I8, flags(), place, 0);
            let ours = emitter.b.ins().icmp(IntCC::Equal, owner, around.tag);
            emitter.b.ins().brif(ours, write, &[], done, &[]);
            emitter.b.switch_to_block(write);
            emitter.store(array, index, ty, value);
            emitter.b.ins().jump(done, &[]);
            emitter.b.switch_to_block(done);
        });
    }
}
