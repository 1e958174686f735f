//! The buckets of a histogram: addresses are computed for all elements at a time, and buckets updated one by one,
//! since several elements may have the same.

use super::lanes::{Lanes, VectorEmitter};
use crate::abi::chunk;
use crate::codegen::emitter::{clif, flags};
use crate::codegen::phases::{Role, Task};
use crate::codegen::sinks::SinkContext;
use cranelift_codegen::ir::InstBuilder;
use nesl_runtime::kir::{Sink, Ty};

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Updates the buckets of a group of elements; returns false if the sink is not a histogram, or does not do its
    /// work in this pass.
    pub fn histogram(&mut self, task: &Task<'a>, around: SinkContext) -> bool {
        let Sink::Histogram { array, combine, index, value, length: None, when } = task.sink else {
            return false;
        };
        let index = self.get(*index);
        if task.role != Role::Full || !matches!(index, Lanes::Varying(_)) {
            return false;
        }
        let ty = self.c.element_ty(*value);
        let (base, values) = (self.c.get(*array), self.get(*value));
        let lane = self.lane(Ty::I64);
        let base = self.c.b.ins().splat(lane, base);
        let mut addresses = self.wide(&index, Ty::I64);
        for address in &mut addresses {
            let shift = i64::from(ty.size().trailing_zeros());
            let offset = self.c.b.ins().ishl_imm_u(*address, shift);
            *address = self.c.b.ins().iadd(base, offset);
        }
        if let Some(when) = when {
            // What is not counted goes to a bucket of its own: a branch would be mispredicted often.
            let discard = i64::from(task.slot(chunk::DISCARD));
            let discard = self.c.b.ins().iadd_imm_s(around.chunk, discard);
            let discard = self.c.b.ins().splat(lane, discard);
            let when = self.get(*when);
            for (mask, address) in self.mask(&when, 64).into_iter().zip(&mut addresses) {
                *address = self.c.b.ins().bitselect(mask, *address, discard);
            }
        }
        let addresses = Lanes::Varying(addresses);
        for element in 0..self.elements {
            let address = self.extract(&addresses, Ty::I64, element);
            let x = self.extract(&values, ty, element);
            let old = self.c.b.ins().load(clif(ty), flags(), address, 0);
            let new = self.c.combine_any(*combine, ty, old, x);
            self.c.b.ins().store(flags(), new, address, 0);
        }
        true
    }
}
