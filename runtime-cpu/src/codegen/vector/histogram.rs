//! The buckets of a histogram: their offsets are computed for all elements at a time, and buckets updated one by
//! one, since several elements may have the same.

use super::lanes::{Lanes, VectorEmitter};
use crate::abi::chunk;
use crate::codegen::emitter::{clif, flags};
use crate::codegen::phases::{Role, Task};
use crate::codegen::sinks::SinkContext;
use cranelift_codegen::ir::InstBuilder;
use nesl_runtime::kir::{Sink, Ty};

/// The address of every other bucket has a displacement of so many bytes, which makes its instructions longer by a
/// byte. Zen 4 predicts from the places of instructions, by their position in eight bytes of code, that a load takes
/// what a store before it wrote. If the updates of all elements are a multiple of eight bytes of code apart, each takes
/// the next for itself: 20 times slower, measured; with updates at unequal distances the prediction holds.
const ODD_DISPLACEMENT_BYTES: i64 = 8;

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
            let old = self.c.b.ins().load(clif(ty), flags(), address, displacement);
            let new = self.c.combine_any(*combine, ty, old, x);
            self.c.b.ins().store(flags(), new, address, displacement);
        }
        true
    }
}
