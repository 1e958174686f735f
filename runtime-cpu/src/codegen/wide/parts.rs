//! Parts of vectors: their halves, and single lanes.

use super::Declined;
use super::code::{GENERAL, Maker, VECTOR};
use super::encode::{Encoding, Length};
use super::lower::{Lower, length};
use super::opcodes::{self, by_lane};
use super::vectors::wide;
use cranelift_codegen::ir::{self, Type, Value};
use regalloc2::VReg;

impl Lower<'_> {
    /// Translates the split of a vector: the first result has the lower lanes.
    pub fn halves(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let dfg = &self.func.dfg;
        let (whole, results) = (dfg.inst_args(inst)[0], dfg.inst_results(inst));
        let (ty, half) = (self.ty(whole), self.ty(results[0]));
        if ty.bits() < 256 {
            return Err(Declined("half of few lanes"));
        }
        let (low, high) = (self.register(results[0])?, self.register(results[1])?);
        let vector = self.get(whole)?;
        self.push(Maker::vector(opcodes::LOAD, length(half)).def(low).from(vector));
        let op = opcodes::upper_half(ty.bits() == 512);
        self.push(Maker::vector(op, length(ty)).read(vector).def_place(high).byte(1));
        Ok(())
    }

    /// Emits a lane of a vector as a scalar.
    pub fn extract(&mut self, to: VReg, from: Value, lane: u8) -> Result<(), Declined> {
        let ty = self.ty(from);
        if self.is_mask(from) {
            let mask = self.mask(from)?;
            let bits = self.fresh(GENERAL);
            let encoding = Encoding::Vex(opcodes::MASK_TO_GENERAL, false);
            self.push(Maker::new(encoding).def(bits).from(mask));
            if ty.lane_type().is_int() {
                self.spread_bit(to, bits, lane);
            } else {
                let spread = self.fresh(GENERAL);
                self.spread_bit(spread, bits, lane);
                let op = by_lane(opcodes::FROM_GENERAL, ty.lane_bits() == 64);
                self.push(Maker::vector(op, Length::L128).def(to).from(spread));
            }
            return Ok(());
        }
        let wide = wide(ty)?;
        let mut vector = self.get(from)?;
        if lane > 0 {
            let moved = self.fresh(VECTOR);
            let op = by_lane(opcodes::ALIGN, wide);
            let maker = Maker::vector(op, length(ty)).def(moved).with(vector).from(vector);
            self.push(maker.byte(lane));
            vector = moved;
        }
        self.lowest_as_scalar(to, vector, ty.lane_type());
        Ok(())
    }

    /// Emits the lowest lane, of 64 or 32 bits, as a scalar.
    pub fn lowest_as_scalar(&mut self, to: VReg, vector: VReg, lane: Type) {
        let copy = if lane.is_int() {
            let op = by_lane(opcodes::TO_GENERAL, lane.bits() == 64);
            Maker::vector(op, Length::L128).read(vector).def_place(to)
        } else {
            Maker::vector(opcodes::LOAD, Length::L128).def(to).from(vector)
        };
        self.push(copy);
    }
}
