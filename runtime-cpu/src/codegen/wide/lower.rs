//! Instructions of Cranelift's intermediate code → machine instructions on virtual registers.
//!
//! Blocks, and the instructions in each, are visited backwards: what nothing reads any more, because it
//! became part of an address, a comparison with a branch, or the operand of an instruction, is left out.
//! Constants are operands in memory, or made where they are read: a loop needs no registers for them.

use super::code::{
    Block, Code, Condition, GENERAL, Inst, Kind, MASK, Maker, Memory, Source, VECTOR,
};
use super::encode::{Encoding, Length, POOL_ALIGN};
use super::masks::{self, Masks};
use super::opcodes;
use super::schedule::Schedule;
use super::{Declined, InstructionSet, name};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    self, BlockArg, Function, InstructionData, Opcode, Type, Value, ValueDef, types,
};
use cranelift_codegen::isa::CallConv;
use regalloc2::{Operand, PReg, RegClass, VReg};
use rustc_hash::FxHashMap;

/// The registers of the parameters of a function.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
/// The register of the address of a function that is called.
const CALLEE: usize = 10;
/// The register of the result of a function.
const RESULT: usize = 0;

/// The state of the translation of a function.
pub struct Lower<'f> {
    /// The function that is translated.
    pub func: &'f Function,
    /// The instruction set.
    pub set: InstructionSet,
    /// The vectors of ones and zeros, which live in mask registers if there are such.
    pub masks: Masks,
    registers: Vec<Option<VReg>>,
    needed: Vec<bool>,
    count: usize,
    pool: Vec<u8>,
    pooled: FxHashMap<Vec<u8>, u32>,
    /// The offsets of explicit stack slots.
    slots: Vec<i32>,
    /// The machine instructions for the present instruction, in their order.
    insts: Vec<Inst>,
}

/// A constant: its lane, or all of its bytes.
enum Constant {
    /// The bits of one lane, and its type.
    Lane(u64, Type),
    /// The bytes of the whole vector.
    Bytes(Vec<u8>),
}

/// Translates a function.
pub fn lower(
    context: &Context,
    schedule: &Schedule,
    set: InstructionSet,
) -> Result<Code, Declined> {
    let func = &context.func;
    let values = func.dfg.num_values();
    let mut slots = Vec::new();
    let mut frame = 0u32;
    for slot in func.sized_stack_slots.values() {
        frame = frame.next_multiple_of(64);
        slots.push(frame as i32);
        frame += slot.size;
    }
    let mut lower = Lower {
        func,
        set,
        masks: Masks::of(context),
        registers: vec![None; values],
        needed: vec![false; values],
        count: 0,
        pool: Vec::new(),
        pooled: FxHashMap::default(),
        slots,
        insts: Vec::new(),
    };
    let order: Vec<ir::Block> = context.domtree.cfg_rpo().copied().collect();
    let (warm, cold): (Vec<_>, Vec<_>) = order.iter().partition(|b| !func.layout.is_cold(**b));
    let placed: Vec<ir::Block> = warm.into_iter().chain(cold).copied().collect();
    let mut numbers = vec![None; func.dfg.num_blocks()];
    for (n, block) in placed.iter().enumerate() {
        numbers[block.as_u32() as usize] = Some(n as u32);
    }
    let mut blocks: Vec<Block> = vec![Block::default(); placed.len()];
    let mut edges = Vec::new();
    // The values that a block reads are defined in blocks before it, in this order.
    for block in order.iter().rev() {
        let number = numbers[block.as_u32() as usize].ok_or(Declined("a block is not placed"))?;
        let mut made = lower.block(*block, &numbers, context, schedule)?;
        let several = made.successors.len() > 1;
        for (to, args) in &mut made.successors {
            let target = placed[*to as usize];
            if several && context.cfg.pred_iter(target).count() > 1 {
                // Moves on an edge need a block of their own.
                let edge = placed.len() + edges.len();
                let args = std::mem::take(args);
                edges.push(Block {
                    insts: vec![Inst::new(Kind::Jump)],
                    params: Vec::new(),
                    successors: vec![(*to, args)],
                });
                *to = edge as u32;
            }
        }
        blocks[number as usize] = made;
    }
    blocks.extend(edges);
    let preserves_all = func.signature.call_conv == CallConv::PreserveAll;
    Ok(Code { set, blocks, registers: lower.count, pool: lower.pool, frame, preserves_all })
}

impl<'f> Lower<'f> {
    /// Translates a block.
    fn block(
        &mut self,
        block: ir::Block,
        numbers: &[Option<u32>],
        context: &Context,
        schedule: &Schedule,
    ) -> Result<Block, Declined> {
        let func = self.func;
        let mut made = Block::default();
        let mut backwards = Vec::new();
        for inst in schedule.insts(block).iter().rev() {
            self.insts.clear();
            if func.dfg.insts[*inst].opcode().is_terminator() {
                self.terminator(*inst, numbers, &mut made)?;
            } else {
                let results = func.dfg.inst_results(*inst);
                let read = results.iter().any(|v| self.needed[v.as_u32() as usize]);
                if !read && !has_effect(func.dfg.insts[*inst].opcode()) {
                    continue;
                }
                self.inst(*inst)?;
            }
            backwards.extend(self.insts.drain(..).rev());
        }
        let entry = func.layout.entry_block() == Some(block);
        let params = func.dfg.block_params(block);
        if entry {
            let mut arguments = Inst::new(Kind::Arguments);
            for (n, param) in params.iter().enumerate() {
                let preg = *ARGUMENTS.get(n).ok_or(Declined("many parameters"))?;
                let register = self.register(*param)?;
                let preg = PReg::new(preg, RegClass::Int);
                arguments.operands.push(Operand::reg_fixed_def(register, preg));
            }
            if context.cfg.pred_iter(block).count() > 0 {
                return Err(Declined("a jump to the entry"));
            }
            backwards.push(arguments);
        } else {
            for param in params {
                let register = self.register(*param)?;
                made.params.push(register);
            }
        }
        backwards.reverse();
        made.insts = backwards;
        Ok(made)
    }

    /// Translates the last instruction of a block.
    fn terminator(
        &mut self,
        inst: ir::Inst,
        numbers: &[Option<u32>],
        made: &mut Block,
    ) -> Result<(), Declined> {
        let func = self.func;
        let mut target = |this: &mut Self, call: ir::BlockCall| {
            let block = call.block(&func.dfg.value_lists);
            let number =
                numbers[block.as_u32() as usize].ok_or(Declined("an unreachable block"))?;
            let args: Vec<BlockArg> = call.args(&func.dfg.value_lists).collect();
            let params = func.dfg.block_params(block);
            let mut registers = Vec::new();
            for (arg, param) in args.into_iter().zip(params) {
                let BlockArg::Value(arg) = arg else { return Err(Declined("an exception")) };
                registers.push(match this.in_mask_register(*param) {
                    true => this.mask(arg)?,
                    false => this.get(arg)?,
                });
            }
            made.successors.push((number, registers));
            Ok(())
        };
        match func.dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => {
                target(self, destination)?;
                self.insts.push(Inst::new(Kind::Jump));
            }
            InstructionData::Brif { arg, blocks, .. } => {
                for call in blocks {
                    target(self, call)?;
                }
                let condition = self.condition(arg)?;
                self.insts.push(Inst::new(Kind::Branch(condition)));
                if made.successors[0].0 == made.successors[1].0 {
                    return Err(Declined("both sides of a branch are one block"));
                }
            }
            InstructionData::MultiAry { opcode: Opcode::Return, .. } => {
                let mut ret = Inst::new(Kind::Return);
                for value in func.dfg.inst_args(inst) {
                    if !func.dfg.value_type(*value).is_int() || !ret.operands.is_empty() {
                        return Err(Declined("the result is not one integer"));
                    }
                    let register = self.get(*value)?;
                    let preg = PReg::new(RESULT, RegClass::Int);
                    ret.operands.push(Operand::reg_fixed_use(register, preg));
                }
                self.insts.push(ret);
            }
            _ => return Err(Declined("another way to leave a block")),
        }
        Ok(())
    }

    /// Appends a machine instruction.
    pub fn push(&mut self, maker: Maker) {
        self.insts.push(maker.make());
    }

    /// Appends any instruction.
    pub fn push_inst(&mut self, inst: Inst) {
        self.insts.push(inst);
    }

    /// A new register.
    pub fn fresh(&mut self, class: RegClass) -> VReg {
        self.count += 1;
        VReg::new(self.count - 1, class)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.dfg.value_type(value)
    }

    /// The register that a value is defined in.
    pub fn register(&mut self, value: Value) -> Result<VReg, Declined> {
        let value = self.func.dfg.resolve_aliases(value);
        if let Some(register) = self.registers[value.as_u32() as usize] {
            return Ok(register);
        }
        let ty = self.ty(value);
        let class = match ty {
            _ if self.in_mask_register(value) => MASK,
            ty if ty.is_vector() && ty.bytes() as usize <= self.set.vector_bytes() => VECTOR,
            types::F32 | types::F64 => VECTOR,
            types::I8 | types::I32 | types::I64 => GENERAL,
            _ => return Err(Declined("a type")),
        };
        let register = self.fresh(class);
        self.registers[value.as_u32() as usize] = Some(register);
        Ok(register)
    }

    /// The register of the result of an instruction.
    pub fn result(&mut self, inst: ir::Inst) -> Result<VReg, Declined> {
        self.register(self.func.dfg.first_result(inst))
    }

    /// The instruction that defines a value, through copies.
    pub fn definition(&self, value: Value) -> Option<ir::Inst> {
        match self.func.dfg.value_def(value) {
            ValueDef::Result(inst, 0) => Some(inst),
            _ => None,
        }
    }

    /// The value that has the same register: bits are reinterpreted, or upper ones ignored, by nothing.
    pub fn origin(&self, value: Value) -> Value {
        let mut value = self.func.dfg.resolve_aliases(value);
        while let Some(inst) = self.definition(value) {
            let from = match self.func.dfg.insts[inst].opcode() {
                Opcode::Bitcast | Opcode::Ireduce => self.func.dfg.inst_args(inst)[0],
                _ => break,
            };
            let (a, b) = (self.ty(from), self.ty(value));
            let same = match self.func.dfg.insts[inst].opcode() {
                Opcode::Bitcast => a.is_vector() && b.is_vector() || a == b,
                _ => !a.is_vector() && a.bits() <= 64,
            };
            if !same {
                break;
            }
            value = self.func.dfg.resolve_aliases(from);
        }
        value
    }

    fn constant(&self, value: Value) -> Option<Constant> {
        let inst = self.definition(value)?;
        let ty = self.ty(value);
        match self.func.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
                Some(Constant::Lane(imm.bits() as u64, ty))
            }
            InstructionData::UnaryIeee32 { imm, .. } => {
                Some(Constant::Lane(u64::from(imm.bits()), ty))
            }
            InstructionData::UnaryIeee64 { imm, .. } => Some(Constant::Lane(imm.bits(), ty)),
            InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
                let bytes = self.func.dfg.constants.get(constant_handle).as_slice().to_vec();
                let lane = (ty.lane_bits() / 8) as usize;
                let first: Vec<u8> = bytes[..lane].to_vec();
                if bytes.chunks(lane).all(|chunk| chunk == first) {
                    let mut word = [0; 8];
                    word[..lane].copy_from_slice(&first);
                    return Some(Constant::Lane(u64::from_le_bytes(word), ty.lane_type()));
                }
                Some(Constant::Bytes(bytes))
            }
            InstructionData::Unary { opcode: Opcode::Splat, arg } => self.constant(arg),
            _ => None,
        }
    }

    /// The bits of each lane of a constant whose lanes are equal.
    pub fn lane_constant(&self, value: Value) -> Option<u64> {
        match self.constant(self.origin(value))? {
            Constant::Lane(bits, _) => Some(bits),
            Constant::Bytes(_) => None,
        }
    }

    /// The integer constant that a value is.
    pub fn integer(&self, value: Value) -> Option<i64> {
        let inst = self.definition(value)?;
        match self.func.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
                let bits = self.ty(value).bits();
                Some(imm.bits() << (64 - bits) >> (64 - bits))
            }
            _ => None,
        }
    }

    /// Returns true if a value is a constant.
    pub fn is_constant(&self, value: Value) -> bool {
        self.constant(self.origin(value)).is_some()
    }

    /// The place of bytes in the pool of constants.
    pub fn pooled(&mut self, bytes: &[u8]) -> Memory {
        if let Some(at) = self.pooled.get(bytes) {
            return Memory::Pool(*at);
        }
        let align = bytes.len().next_power_of_two().min(POOL_ALIGN);
        self.pool.resize(self.pool.len().next_multiple_of(align), 0);
        let at = self.pool.len() as u32;
        self.pool.extend_from_slice(bytes);
        self.pooled.insert(bytes.to_vec(), at);
        Memory::Pool(at)
    }

    /// The register that holds a value; that of a constant is made here.
    pub fn get(&mut self, value: Value) -> Result<VReg, Declined> {
        let value = self.origin(value);
        let ty = self.ty(value);
        if let Some(constant) = self.constant(value) {
            return self.make_constant(constant, ty);
        }
        self.needed[value.as_u32() as usize] = true;
        let register = self.register(value)?;
        if !self.in_mask_register(value) {
            return Ok(register);
        }
        let lanes = self.fresh(VECTOR);
        let op = match ty.lane_bits() {
            64 | 32 => opcodes::by_lane(opcodes::MASK_TO_LANES, ty.lane_bits() == 64),
            _ => return Err(Declined("a mask as bytes")),
        };
        self.push(Maker::vector(op, length(ty)).def(lanes).from(register));
        Ok(lanes)
    }

    fn make_constant(&mut self, constant: Constant, ty: Type) -> Result<VReg, Declined> {
        if ty.is_vector() && ty.bytes() as usize > self.set.vector_bytes() {
            return Err(Declined("a constant of a longer vector"));
        }
        match constant {
            Constant::Lane(bits, _) if ty.is_int() && !ty.is_vector() => {
                let wide = ty.bits() == 64;
                let value = if wide { bits as i64 } else { i64::from(bits as u32) };
                Ok(self.general_constant(value))
            }
            Constant::Lane(0, _) => {
                let register = self.fresh(VECTOR);
                let source = self.pooled(&[0; 8]);
                let op = opcodes::broadcast(true);
                self.push(Maker::vector(op, length(ty)).def(register).at(source));
                Ok(register)
            }
            Constant::Lane(bits, lane) => {
                let register = self.fresh(VECTOR);
                let bytes = (lane.bits() / 8) as usize;
                let (word, wide) = match bytes {
                    8 => (bits.to_le_bytes().to_vec(), true),
                    4 => (bits.to_le_bytes()[..4].to_vec(), false),
                    1 => (vec![bits as u8; 4], false),
                    _ => return Err(Declined("a constant")),
                };
                let source = self.pooled(&word);
                let op = opcodes::broadcast(wide);
                self.push(Maker::vector(op, length(ty)).def(register).at(source));
                Ok(register)
            }
            Constant::Bytes(bytes) => {
                if bytes.len() < 16 {
                    return Err(Declined("a short constant"));
                }
                let register = self.fresh(VECTOR);
                let source = self.pooled(&bytes);
                self.push(Maker::vector(opcodes::LOAD, length(ty)).def(register).at(source));
                Ok(register)
            }
        }
    }

    /// The operand that holds a vector whose lanes are of 64 bits if `wide`, else of 32; a constant is one
    /// in memory.
    pub fn source(&mut self, value: Value, wide: bool) -> Result<Source, Declined> {
        let value = self.origin(value);
        let ty = self.ty(value);
        if ty.is_vector() {
            match self.constant(value) {
                Some(Constant::Lane(bits, lane)) if !self.set.has_mask_registers() => {
                    return Ok(self.repeated(bits, lane.bits() / 8, ty.bytes()));
                }
                Some(Constant::Lane(bits, lane)) if lane.bits() == if wide { 64 } else { 32 } => {
                    let bytes = bits.to_le_bytes();
                    let source = self.pooled(if wide { &bytes } else { &bytes[..4] });
                    return Ok(Source::Broadcast(source));
                }
                Some(Constant::Bytes(bytes)) if bytes.len() >= 16 => {
                    return Ok(Source::Memory(self.pooled(&bytes)));
                }
                _ => {}
            }
        }
        Ok(Source::Register(self.get(value)?))
    }

    /// The operand in memory that has a lane of some bytes again and again: an instruction of AVX2 has no lane in
    /// memory for all of its lanes, but reads a whole vector there. A short vector is read with what is above it.
    pub fn repeated(&mut self, lane: u64, lane_bytes: u32, bytes: u32) -> Source {
        let lane = &lane.to_le_bytes()[..lane_bytes as usize];
        Source::Memory(self.pooled(&lane.repeat((bytes.max(16) / lane_bytes) as usize)))
    }

    /// Returns true if a value lives in a mask register.
    pub fn in_mask_register(&self, value: Value) -> bool {
        self.set.has_mask_registers() && self.masks.has(value)
    }

    /// Returns true if all bits of each lane are equal, as far as is known.
    pub fn has_lanes_of_ones(&self, value: Value) -> bool {
        let origin = self.origin(value);
        self.masks.has(origin) && self.ty(origin).lane_count() == self.ty(value).lane_count()
    }

    /// Returns true if a value lives in a mask register, or is a constant that might.
    pub fn is_mask(&self, value: Value) -> bool {
        let origin = self.origin(value);
        self.in_mask_register(origin) && self.ty(origin).lane_count() == self.ty(value).lane_count()
    }

    /// The mask register that holds a vector of ones and zeros, or the signs of another vector.
    pub fn mask(&mut self, value: Value) -> Result<VReg, Declined> {
        let ty = self.ty(value);
        if ty.lane_count() > masks::MAX_LANES {
            return Err(Declined("a mask of many lanes"));
        }
        if self.is_mask(value) {
            let value = self.origin(value);
            self.needed[value.as_u32() as usize] = true;
            return self.register(value);
        }
        if let Some(bit) = masks::constant_mask(self.func, value) {
            let bits = if bit { (1 << ty.lane_count()) - 1 } else { 0 };
            return Ok(self.mask_constant(bits));
        }
        let lanes = self.get(value)?;
        let mask = self.fresh(MASK);
        let op = match ty.lane_bits() {
            64 | 32 => opcodes::by_lane(opcodes::LANES_TO_MASK, ty.lane_bits() == 64),
            _ => return Err(Declined("bytes as a mask")),
        };
        self.push(Maker::vector(op, length(ty)).def(mask).from(lanes));
        Ok(mask)
    }

    /// A general register with a constant.
    pub fn general_constant(&mut self, constant: i64) -> VReg {
        let register = self.fresh(GENERAL);
        let mut inst = Inst::new(Kind::Constant(constant));
        inst.operands.push(Operand::reg_def(register));
        self.insts.push(inst);
        register
    }

    /// A mask register with these bits.
    pub fn mask_constant(&mut self, bits: u64) -> VReg {
        let (general, mask) = (self.general_constant(bits as i64), self.fresh(MASK));
        let encoding = Encoding::Vex(opcodes::MASK_FROM_GENERAL, false);
        self.push(Maker::new(encoding).def(mask).from(general));
        mask
    }

    /// The place in memory at an address and an offset. Sums are part of it.
    pub fn memory(&mut self, address: Value, offset: i32) -> Result<Memory, Declined> {
        let mut displacement = i64::from(offset);
        let mut base = self.strip(address, &mut displacement, 0);
        let mut index = None;
        if let Some(inst) = self.definition(base)
            && self.func.dfg.insts[inst].opcode() == Opcode::Iadd
        {
            let [a, b] = [0, 1].map(|n| self.func.dfg.inst_args(inst)[n]);
            let (a, b) = if self.shifted(a).is_some() { (b, a) } else { (a, b) };
            let (mut value, shift) = self.shifted(b).unwrap_or((b, 0));
            value = self.strip(value, &mut displacement, shift);
            base = self.strip(a, &mut displacement, 0);
            index = Some((value, shift));
        }
        let displacement = i32::try_from(displacement).map_err(|_| Declined("a far address"))?;
        if let (Some(inst), None) = (self.definition(base), index)
            && let InstructionData::StackAddr { stack_slot, offset, .. } = self.func.dfg.insts[inst]
        {
            let slot = self.slots[stack_slot.as_u32() as usize];
            return Ok(Memory::Frame(slot + i32::from(offset) + displacement));
        }
        let base = self.get(base)?;
        let index = match index {
            Some((value, shift)) => Some((self.get(value)?, shift)),
            None => None,
        };
        Ok(Memory::Based(base, index, displacement))
    }

    /// Takes constants out of a sum.
    fn strip(&self, value: Value, displacement: &mut i64, shift: u8) -> Value {
        let mut value = self.func.dfg.resolve_aliases(value);
        while let Some(inst) = self.definition(value)
            && self.func.dfg.insts[inst].opcode() == Opcode::Iadd
        {
            let [a, b] = [0, 1].map(|n| self.func.dfg.inst_args(inst)[n]);
            let (rest, constant) = match (self.integer(a), self.integer(b)) {
                (_, Some(constant)) => (a, constant),
                (Some(constant), _) => (b, constant),
                _ => break,
            };
            let sum = constant
                .checked_mul(1 << shift)
                .and_then(|constant| displacement.checked_add(constant))
                .filter(|sum| i32::try_from(*sum).is_ok());
            let Some(sum) = sum else { break };
            *displacement = sum;
            value = self.func.dfg.resolve_aliases(rest);
        }
        value
    }

    /// The value and the small constant by which it is shifted to the left.
    fn shifted(&self, value: Value) -> Option<(Value, u8)> {
        let inst = self.definition(value)?;
        if self.func.dfg.insts[inst].opcode() != Opcode::Ishl {
            return None;
        }
        let [a, b] = [0, 1].map(|n| self.func.dfg.inst_args(inst)[n]);
        let shift = self.integer(b)?;
        ((0..=3).contains(&shift) && self.ty(a) == types::I64).then_some((a, shift as u8))
    }

    /// The offset of a stack slot in the frame.
    pub fn slot(&self, slot: ir::StackSlot) -> i32 {
        self.slots[slot.as_u32() as usize]
    }

    /// Emits a test of a scalar, and returns the condition code under which it is not 0.
    pub fn condition(&mut self, value: Value) -> Result<Condition, Declined> {
        let value = self.func.dfg.resolve_aliases(value);
        if let Some(inst) = self.definition(value) {
            let args = self.func.dfg.inst_args(inst);
            match self.func.dfg.insts[inst] {
                InstructionData::IntCompare { cond, args, .. } if !self.ty(args[0]).is_vector() => {
                    // The negation of another test.
                    if cond == ir::condcodes::IntCC::Equal
                        && self.integer(args[1]) == Some(0)
                        && self.ty(args[0]) == types::I8
                    {
                        return Ok(self.condition(args[0])?.negated());
                    }
                    return self.compare(cond, args[0], args[1]);
                }
                InstructionData::FloatCompare { cond, args, .. }
                    if !self.ty(args[0]).is_vector() =>
                {
                    if !self.set.has_mask_registers() {
                        let bits = self.compared(cond, args)?;
                        self.test_bits(bits, false);
                        return Ok(Condition::NotZero);
                    }
                    let mask = self.fresh(MASK);
                    self.compare_floats(mask, cond, args)?;
                    self.test_mask(mask);
                    return Ok(Condition::NotZero);
                }
                InstructionData::Unary { opcode: Opcode::VanyTrue, arg } => {
                    if !self.set.has_mask_registers() {
                        self.test_lanes(arg)?;
                        return Ok(Condition::NotZero);
                    }
                    let mask = match self.is_mask(arg) {
                        true => self.mask(arg)?,
                        false => self.not_zero(arg)?,
                    };
                    self.test_mask(mask);
                    return Ok(Condition::NotZero);
                }
                InstructionData::Unary { opcode: Opcode::Uextend, .. } => {
                    return self.condition(args[0]);
                }
                _ => {}
            }
        }
        self.test(value)?;
        Ok(Condition::NotZero)
    }

    /// Emits a test if a mask is 0.
    fn test_mask(&mut self, mask: VReg) {
        let encoding = Encoding::Vex(opcodes::MASK_TEST, false);
        self.push(Maker::new(encoding).read(mask).from(mask));
    }

    /// Translates an instruction that is not a jump.
    fn inst(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let func = self.func;
        let data = &func.dfg.insts[inst];
        let args = func.dfg.inst_args(inst);
        let vector = args.iter().chain(func.dfg.inst_results(inst)).any(|v| {
            let ty = func.dfg.value_type(*v);
            ty.is_vector() || ty.is_float()
        });
        if let InstructionData::CallIndirect { .. } = data {
            return if self.is_pack(inst) { self.pack(inst) } else { self.call(inst) };
        }
        if data.opcode() == Opcode::Isplit {
            return if vector { self.halves(inst) } else { self.words_of_product(inst) };
        }
        if func.dfg.inst_results(inst).len() != 1 && data.opcode() != Opcode::Store {
            return Err(Declined(name(data.opcode())));
        }
        match data.opcode() {
            Opcode::Load | Opcode::Store | Opcode::AtomicLoad => self.access(inst),
            _ if vector => self.vector(inst),
            _ => self.scalar(inst),
        }
    }
}

impl Lower<'_> {
    /// Translates a call of a function of the runtime: of integers, and at most one result.
    fn call(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let func = self.func;
        let [callee, args @ ..] = func.dfg.inst_args(inst) else { return Err(Declined("a call")) };
        let results = func.dfg.inst_results(inst);
        let integers = |v: &Value| matches!(self.ty(*v), types::I32 | types::I64);
        let good = args.len() <= ARGUMENTS.len()
            && results.len() <= 1
            && args.iter().chain(results).all(integers);
        if !good {
            return Err(Declined("a call"));
        }
        let mut call = Inst::new(Kind::Call(0));
        let callee = self.get(*callee)?;
        // No parameter is passed in this register.
        let other = PReg::new(CALLEE, RegClass::Int);
        call.operands.push(Operand::reg_fixed_use(callee, other));
        for (arg, preg) in args.iter().zip(ARGUMENTS) {
            let register = self.get(*arg)?;
            let preg = PReg::new(preg, RegClass::Int);
            call.operands.push(Operand::reg_fixed_use(register, preg));
        }
        for result in results {
            let register = self.register(*result)?;
            let preg = PReg::new(RESULT, RegClass::Int);
            call.operands.push(Operand::reg_fixed_def(register, preg));
        }
        self.insts.push(call);
        Ok(())
    }
}

/// Returns true if an instruction does more than to define a value.
fn has_effect(opcode: Opcode) -> bool {
    opcode.can_store()
        || opcode.is_call()
        || opcode.can_trap() && !matches!(opcode, Opcode::Load | Opcode::Sdiv | Opcode::Srem)
        || opcode.other_side_effects() && opcode != Opcode::AtomicLoad
}

/// The length of the instructions on a type.
pub fn length(ty: Type) -> Length {
    match ty.bits() {
        512 => Length::L512,
        256 => Length::L256,
        _ => Length::L128,
    }
}
