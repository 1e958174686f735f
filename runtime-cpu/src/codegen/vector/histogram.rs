//! The buckets of a histogram: their offsets are computed for all elements at a time, and buckets updated one by
//! one, since several elements may have the same.

use super::lanes::{Lanes, Update, VectorEmitter};
use crate::abi::chunk;
use crate::codegen::emitter::{clif, flags};
use crate::codegen::phases::{Role, Task};
use crate::codegen::sinks::SinkContext;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::{Combine, Sink, Ty};

/// The address of every other bucket has a displacement of so many bytes where updates lie one behind the other, which
/// makes its instructions longer by a byte ([`VectorEmitter::update_in_line`]).
const ODD_DISPLACEMENT_BYTES: i64 = 8;

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Computes which buckets a group of elements updates, for [`VectorEmitter::update_buckets`]; returns false if the sink
    /// is not a histogram, or does not do its work in this pass.
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
        self.updates.push(Update { base, offsets, values, combine: *combine, ty });
        true
    }

    /// Emits the updates of the buckets of a group's elements, of all histograms.
    pub fn update_buckets(&mut self) {
        let mut updates = std::mem::take(&mut self.updates);
        match updates.len() {
            0 => {}
            1 => self.update_in_line(updates.remove(0)),
            _ => self.update_in_loop(updates),
        }
    }

    /// Emits the updates of one histogram, one behind the other.
    ///
    /// Zen 4 predicts from the places of instructions, by their position in eight bytes of code, that a load takes what a
    /// store before it wrote. If the updates of all elements are a multiple of eight bytes of code apart, each takes
    /// the next for itself: 20 times slower, measured; with updates at unequal distances the prediction holds.
    fn update_in_line(&mut self, Update { base, mut offsets, values, combine, ty }: Update) {
        let lane = self.lane(Ty::I64);
        let less = [0, ODD_DISPLACEMENT_BYTES.wrapping_neg() as u64]
            .repeat(lane.lane_count() as usize / 2);
        let less = self.constant(&less, lane);
        for offset in &mut offsets {
            *offset = self.c.b.ins().iadd(*offset, less);
        }
        let offsets = Lanes::Varying(offsets);
        for element in 0..self.elements {
            let offset = self.extract(&offsets, Ty::I64, element);
            let address = self.c.b.ins().iadd(base, offset);
            let displacement = if element % 2 == 0 { 0 } else { ODD_DISPLACEMENT_BYTES as i32 };
            let x = self.extract(&values, ty, element);
            self.update(combine, ty, (address, displacement), x);
        }
    }

    /// Emits the updates of several histograms, one element after the other, in a loop: one behind the other they would be
    /// predicted wrongly as above whatever their distances, at the cost of ten updates each.
    fn update_in_loop(&mut self, updates: Vec<Update>) {
        let mut by_place = Vec::new();
        for Update { base, offsets, values, combine, ty } in updates {
            let offsets = self.by_place(&Lanes::Varying(offsets), Ty::I64);
            by_place.push((base, offsets, self.by_place(&values, ty), combine, ty));
        }
        let first = self.c.int(0);
        let looped = self.c.begin_loop(&[first]);
        let element = looped.carried[0];
        let is_left =
            self.c.b.ins().icmp_imm_s(IntCC::SignedLessThan, element, self.elements as i64);
        self.c.loop_while(&looped, is_left);
        for (base, offsets, values, combine, ty) in by_place {
            let offset = self.at_place(&offsets, Ty::I64, element);
            let address = self.c.b.ins().iadd(base, offset);
            let x = self.at_place(&values, ty, element);
            self.update(combine, ty, (address, 0), x);
        }
        let next = self.c.b.ins().iadd_imm_s(element, 1);
        self.c.end_loop(&looped, &[next]);
    }

    /// Emits the update of a bucket at an address and a displacement.
    fn update(
        &mut self,
        combine: Combine,
        ty: Ty,
        (address, displacement): (ir::Value, i32),
        x: ir::Value,
    ) {
        let old = self.c.b.ins().load(clif(ty), flags(), address, displacement);
        let new = self.c.combine_any(combine, ty, old, x);
        self.c.b.ins().store(flags(), new, address, displacement);
    }
}
