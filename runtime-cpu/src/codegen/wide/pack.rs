//! Packing lanes, for which Cranelift's intermediate code has no operation: it is the call of a callee that is none.

use super::super::unit::{PACK, PACK_FREELY};
use super::code::{GENERAL, MASK, Maker, Memory, VECTOR};
use super::encode::{Encoding, Length};
use super::lower::{Lower, length};
use super::opcodes::{self, by_lane, plain, prefixed};
use super::{Declined, name};
use cranelift_codegen::ir::{self, Opcode};

impl Lower<'_> {
    /// Returns true if a call packs lanes.
    pub fn is_pack(&self, call: ir::Inst) -> bool {
        self.callee(call).is_some_and(|callee| callee == PACK || callee == PACK_FREELY)
    }

    fn callee(&self, call: ir::Inst) -> Option<i64> {
        self.func.dfg.inst_args(call).first().and_then(|callee| self.integer(*callee))
    }

    /// Translates a call that packs lanes.
    pub fn pack(&mut self, call: ir::Inst) -> Result<(), Declined> {
        if self.callee(call) == Some(PACK_FREELY) {
            return self.pack_freely(call);
        }
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

    /// Translates a call that packs lanes and may write behind them. A table has a permutation for each mask.
    fn pack_freely(&mut self, call: ir::Inst) -> Result<(), Declined> {
        let &[_, bits, lanes, address] = self.func.dfg.inst_args(call) else {
            return Err(Declined(name(Opcode::CallIndirect)));
        };
        let ty = self.ty(lanes);
        if ty.bits() != 256 || !matches!(ty.lane_count(), 4 | 8) {
            return Err(Declined("lanes of another width are packed"));
        }
        let table = self.pooled(&permutations(ty.lane_count()));
        let (bits, vector, address) = (self.get(bits)?, self.get(lanes)?, self.get(address)?);
        let [base, row] = [(); 2].map(|()| self.fresh(GENERAL));
        let [order, packed] = [(); 2].map(|()| self.fresh(VECTOR));
        self.push(Maker::new(Encoding::Legacy(plain(0x8d, true))).def(base).at(table));
        self.shift_left(row, bits, PERMUTATION_BYTES.trailing_zeros() as u8);
        let place = Memory::Based(base, Some((row, 0)), 0);
        self.push(Maker::vector(opcodes::LOAD, Length::L256).def(order).at(place));
        let permute = Maker::vector(by_lane(opcodes::PERMUTE, false), Length::L256);
        self.push(permute.def(packed).with(order).from(vector));
        let place = Memory::Based(address, None, 0);
        self.push(Maker::vector(opcodes::STORE, Length::L256).read(packed).at(place));
        Ok(())
    }
}

/// The bytes of a permutation: the numbers of eight lanes of 32 bits.
const PERMUTATION_BYTES: usize = 32;

/// For each mask of so many lanes, the permutation that puts the lanes whose bit is set first.
fn permutations(lanes: u32) -> Vec<u8> {
    // A lane of 64 bits is two of 32.
    let parts = 8 / lanes;
    let mut table = Vec::with_capacity(PERMUTATION_BYTES << lanes);
    for bits in 0_u32..1 << lanes {
        let kept = (0..lanes).filter(|lane| bits >> lane & 1 == 1);
        let numbers = kept.flat_map(|lane| (0..parts).map(move |part| lane * parts + part));
        let mut row: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        row.resize(PERMUTATION_BYTES, 0);
        table.extend(row);
    }
    table
}
