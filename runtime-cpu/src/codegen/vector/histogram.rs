//! The buckets of a histogram: their offsets are computed for all elements at a time, and buckets updated one by
//! one, since several elements may have the same.

use super::lanes::{Lanes, VectorEmitter};
use super::pack::ByPlace;
use crate::abi::chunk;
use crate::codegen::emitter::{clif, flags};
use crate::codegen::phases::{Role, Task};
use crate::codegen::sinks::SinkContext;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::{Combine, Sink, Ty};

/// An update of a bucket for each element of a group.
pub struct Update {
    /// The address of the first bucket.
    base: ir::Value,
    /// The offsets of the buckets, in bytes.
    offsets: ByPlace,
    values: ByPlace,
    combine: Combine,
    ty: Ty,
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Computes which buckets a group of elements updates, for [`VectorEmitter::update_buckets`]; returns false if the sink is not a histogram, or does not do its
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
        let mut offsets = self.wide(&index, Ty::I64);
        for offset in &mut offsets {
            let shift = i64::from(ty.size().trailing_zeros());
            *offset = self.c.b.ins().ishl_imm_u(*offset, shift);
        }
        if let Some(when) = when {
            // What is not counted goes to a bucket of its own: a branch would be mispredicted often.
            let discard = i64::from(task.slot(chunk::DISCARD));
            let discard = self.c.b.ins().iadd_imm_s(around.chunk, discard);
            let discard = self.c.b.ins().isub(discard, base);
            let discard = self.c.b.ins().splat(lane, discard);
            let when = self.get(*when);
            for (mask, offset) in self.mask(&when, 64).into_iter().zip(&mut offsets) {
                *offset = self.c.b.ins().bitselect(mask, *offset, discard);
            }
        }
        let offsets = self.by_place(&Lanes::Varying(offsets), Ty::I64);
        let values = self.by_place(&values, ty);
        self.updates.push(Update { base, offsets, values, combine: *combine, ty });
        true
    }

    /// Emits the updates of the buckets of a group's elements, of all histograms.
    pub fn update_buckets(&mut self) {
        let updates = std::mem::take(&mut self.updates);
        if updates.is_empty() {
            return;
        }
        // One element after the other, in a loop. Zen 4 predicts from the places of instructions that a load takes what
        // a store before it wrote: where the updates of a group lie one behind the other, each is taken for another
        // one, and the mistake costs more than ten updates.
        let first = self.c.int(0);
        let looped = self.c.begin_loop(&[first]);
        let element = looped.carried[0];
        let is_left =
            self.c.b.ins().icmp_imm_s(IntCC::SignedLessThan, element, self.elements as i64);
        self.c.loop_while(&looped, is_left);
        for Update { base, offsets, values, combine, ty } in updates {
            let offset = self.at_place(&offsets, Ty::I64, element);
            let address = self.c.b.ins().iadd(base, offset);
            let x = self.at_place(&values, ty, element);
            let old = self.c.b.ins().load(clif(ty), flags(), address, 0);
            let new = self.c.combine_any(combine, ty, old, x);
            self.c.b.ins().store(flags(), new, address, 0);
        }
        let next = self.c.b.ins().iadd_imm_s(element, 1);
        self.c.end_loop(&looped, &[next]);
    }
}
