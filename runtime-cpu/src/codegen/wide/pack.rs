//! Packing lanes, for which Cranelift's intermediate code has no operation: it is the call of a callee that is none.

use super::super::unit::PACK;
use super::code::{GENERAL, MASK, Maker, Memory, VECTOR};
use super::encode::Encoding;
use super::lower::{Lower, length};
use super::opcodes::{self, by_lane, prefixed};
use super::{Declined, name};
use cranelift_codegen::ir::{self, Opcode};

impl Lower<'_> {
    /// Returns true if a call packs lanes.
    pub fn is_pack(&self, call: ir::Inst) -> bool {
        let args = self.func.dfg.inst_args(call);
        args.first().is_some_and(|callee| self.integer(*callee) == Some(PACK))
    }

    /// Translates a call that packs lanes.
    pub fn pack(&mut self, call: ir::Inst) -> Result<(), Declined> {
        let &[_, mask, lanes, address, element_bytes] = self.func.dfg.inst_args(call) else {
            return Err(Declined(name(Opcode::CallIndirect)));
        };
        if !self.set.has_mask_registers() {
            return Err(Declined("lanes are packed under a mask register"));
        }
        let ty = self.ty(lanes);
        let wide = ty.lane_bits() == 64;
        let (kept, vector) = (self.mask(mask)?, self.get(lanes)?);
        let address = self.get(address)?;
        let packed = self.fresh(VECTOR);
        let compress = Maker::vector(by_lane(opcodes::COMPRESS, wide), length(ty));
        self.push(compress.read(vector).def_place(packed).under(kept, true));
        // As many ones as lanes are kept.
        let [bits, count, some] = [(); 3].map(|()| self.fresh(GENERAL));
        let first = self.fresh(MASK);
        let to_general = Encoding::Vex(opcodes::MASK_TO_GENERAL, false);
        self.push(Maker::new(to_general).def(bits).from(kept));
        let popcnt = Encoding::Legacy(prefixed(0xf3, 0xb8, true));
        self.push(Maker::new(popcnt).def(count).from(bits));
        let ones = self.general_constant(-1);
        let low_bits = Encoding::Vex(opcodes::LOW_BITS, false);
        self.push(Maker::new(low_bits).def(some).with(count).from(ones));
        let to_mask = Encoding::Vex(opcodes::MASK_FROM_GENERAL, false);
        self.push(Maker::new(to_mask).def(first).from(some));
        let store = match self.integer(element_bytes) {
            Some(1) => {
                opcodes::truncate(ty.lane_bits(), 8).ok_or(Declined("bytes of other lanes"))?
            }
            _ => by_lane(opcodes::STORE, wide),
        };
        let place = Memory::Based(address, None, 0);
        self.push(Maker::vector(store, length(ty)).read(packed).at(place).under(first, false));
        Ok(())
    }
}
