//! Floats, vectors and masks.

use super::code::{GENERAL, MASK, Maker, Source, VECTOR};
use super::encode::{Encoding, Length, Opcode as Code};
use super::extremes::Extreme;
use super::lower::{Lower, length};
use super::masks;
use super::opcodes::{self, Shift, by_lane};
use super::{Declined, name};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstructionData, Opcode, Type, Value, types};
use regalloc2::VReg;

/// The predicate of a comparison of floats, which signals nothing.
pub fn float_predicate(cond: FloatCC) -> u8 {
    match cond {
        FloatCC::Equal => 0x00,
        FloatCC::LessThan => 0x11,
        FloatCC::LessThanOrEqual => 0x12,
        FloatCC::Unordered => 0x03,
        FloatCC::NotEqual => 0x04,
        FloatCC::UnorderedOrGreaterThanOrEqual => 0x15,
        FloatCC::UnorderedOrGreaterThan => 0x16,
        FloatCC::Ordered => 0x07,
        FloatCC::UnorderedOrEqual => 0x08,
        FloatCC::UnorderedOrLessThan => 0x19,
        FloatCC::UnorderedOrLessThanOrEqual => 0x1a,
        FloatCC::OrderedNotEqual => 0x0c,
        FloatCC::GreaterThanOrEqual => 0x1d,
        FloatCC::GreaterThan => 0x1e,
    }
}

/// The predicate of a comparison of integers, and true if it is signed.
fn int_predicate(cond: IntCC) -> (u8, bool) {
    match cond {
        IntCC::Equal => (0, true),
        IntCC::NotEqual => (4, true),
        IntCC::SignedLessThan => (1, true),
        IntCC::SignedLessThanOrEqual => (2, true),
        IntCC::SignedGreaterThanOrEqual => (5, true),
        IntCC::SignedGreaterThan => (6, true),
        IntCC::UnsignedLessThan => (1, false),
        IntCC::UnsignedLessThanOrEqual => (2, false),
        IntCC::UnsignedGreaterThanOrEqual => (5, false),
        IntCC::UnsignedGreaterThan => (6, false),
    }
}

/// Returns true if a comparison holds of equal integers.
fn holds_of_equals(cond: IntCC) -> bool {
    use IntCC::*;
    match cond {
        Equal
        | SignedLessThanOrEqual
        | SignedGreaterThanOrEqual
        | UnsignedLessThanOrEqual
        | UnsignedGreaterThanOrEqual => true,
        NotEqual | SignedLessThan | SignedGreaterThan | UnsignedLessThan | UnsignedGreaterThan => {
            false
        }
    }
}

/// Returns true if lanes are of 64 bits, false if they are of 32.
pub fn wide(ty: Type) -> Result<bool, Declined> {
    match ty.lane_bits() {
        64 => Ok(true),
        32 => Ok(false),
        _ => Err(Declined("lanes of another width")),
    }
}

impl Lower<'_> {
    /// Emits `to := op(a, b)` on vectors, where a constant may be `b`.
    fn binary(&mut self, to: VReg, op: Code, ty: Type, a: Value, b: Value) -> Result<(), Declined> {
        let left = self.get(a)?;
        let right = self.source(b, op.w)?;
        self.push(Maker::vector(op, length(ty)).def(to).with(left).from(right));
        Ok(())
    }

    /// Emits an operation whose operands may change places: a constant is the second.
    fn symmetric(
        &mut self,
        to: VReg,
        op: Code,
        ty: Type,
        a: Value,
        b: Value,
    ) -> Result<(), Declined> {
        let (a, b) = if self.is_constant(a) { (b, a) } else { (a, b) };
        self.binary(to, op, ty, a, b)
    }

    /// The mask of the lanes that are not 0.
    pub fn not_zero(&mut self, value: Value) -> Result<VReg, Declined> {
        let ty = self.ty(value);
        if ty.lane_count() > masks::MAX_LANES {
            return Err(Declined("a test of many lanes"));
        }
        let lanes = self.get(value)?;
        let mask = self.fresh(MASK);
        let op = by_lane(opcodes::TEST, wide(ty)?);
        self.push(Maker::vector(op, length(ty)).def(mask).with(lanes).from(lanes));
        Ok(mask)
    }

    /// Emits the comparison of floats into a mask.
    pub fn compare_floats(
        &mut self,
        to: VReg,
        cond: FloatCC,
        [a, b]: [Value; 2],
    ) -> Result<(), Declined> {
        let ty = self.ty(a);
        let op = opcodes::float(opcodes::COMPARE, wide(ty)?, ty.is_vector());
        let left = self.get(a)?;
        let right = match ty.is_vector() {
            true => self.source(b, op.w)?,
            false => Source::Register(self.get(b)?),
        };
        let compare = Maker::vector(op, length(ty)).def(to).with(left).from(right);
        // Of equal floats, and of those of which one is not a number: both may be above a short vector.
        let holds_above = cond != FloatCC::LessThan && cond != FloatCC::GreaterThan;
        let compare = self.of_own_lanes(compare, ty, holds_above);
        self.push(compare.byte(float_predicate(cond)));
        Ok(())
    }

    /// A comparison into a mask register without what is above a vector of less than 128 bits, where the lanes
    /// are equal; a mask has no bits above its lanes.
    fn of_own_lanes(&mut self, compare: Maker, ty: Type, holds_above: bool) -> Maker {
        let is_short = ty.is_vector() && ty.bits() < 128;
        if !self.set.has_mask_registers() || !is_short || !holds_above {
            return compare;
        }
        let lanes = self.mask_constant((1 << ty.lane_count()) - 1);
        compare.under(lanes, false)
    }

    /// The mask of the first lane if a scalar is not 0.
    fn mask_of_condition(&mut self, value: Value) -> Result<VReg, Declined> {
        let mask = self.fresh(MASK);
        if let Some(inst) = self.definition(self.func.dfg.resolve_aliases(value))
            && let InstructionData::FloatCompare { cond, args, .. } = self.func.dfg.insts[inst]
            && !self.ty(args[0]).is_vector()
        {
            self.compare_floats(mask, cond, args)?;
            return Ok(mask);
        }
        if self.ty(value) != types::I8 {
            return Err(Declined("a selection by a number"));
        }
        // Whatever is not 0 counts as true.
        let condition = self.condition(value)?;
        let bool = self.fresh(GENERAL);
        self.set_bool(bool, condition);
        let encoding = Encoding::Vex(opcodes::MASK_FROM_GENERAL, false);
        self.push(Maker::new(encoding).def(mask).from(bool));
        Ok(mask)
    }

    /// Emits the lanes of a vector in reversed order.
    fn reverse_lanes(&mut self, to: VReg, ty: Type, from: Value) -> Result<(), Declined> {
        let (lanes, wide) = (ty.lane_count(), wide(ty)?);
        if ty.bits() <= 128 {
            // Two bits for each 32 bits of the result say where these come from.
            let from_where = match (lanes, wide) {
                (2, true) => 0b01_00_11_10,
                (4, false) => 0b00_01_10_11,
                (2, false) => 0b11_10_00_01,
                _ => return Err(Declined("few lanes in reversed order")),
            };
            let from = self.source(from, false)?;
            let maker = Maker::vector(opcodes::PERMUTE_SHORT, length(ty)).def(to).from(from);
            self.push(maker.byte(from_where));
            return Ok(());
        }
        let numbers = (0..lanes).rev().flat_map(|n| match wide {
            true => u64::from(n).to_le_bytes().to_vec(),
            false => n.to_le_bytes().to_vec(),
        });
        let numbers = self.pooled(&numbers.collect::<Vec<u8>>());
        let order = self.fresh(VECTOR);
        self.push(Maker::vector(opcodes::LOAD, length(ty)).def(order).at(numbers));
        let from = self.source(from, wide)?;
        let op = by_lane(opcodes::PERMUTE, wide);
        self.push(Maker::vector(op, length(ty)).def(to).with(order).from(from));
        Ok(())
    }

    /// Emits an operation on masks.
    fn mask_binary(&mut self, to: VReg, op: Code, a: Value, b: Value) -> Result<(), Declined> {
        let (a, b) = (self.mask(a)?, self.mask(b)?);
        self.push(Maker::new(Encoding::Vex(op, true)).def(to).with(a).from(b));
        Ok(())
    }

    /// Emits the negation of a mask.
    fn mask_not(&mut self, to: VReg, from: VReg, lanes: u32) {
        let op = match lanes {
            16 => opcodes::MASK_NOT_16,
            8 => opcodes::MASK_NOT_8,
            _ => {
                let all = self.mask_constant((1 << lanes) - 1);
                let flip = Encoding::Vex(opcodes::MASK_XOR, true);
                self.push(Maker::new(flip).def(to).with(from).from(all));
                return;
            }
        };
        self.push(Maker::new(Encoding::Vex(op, false)).def(to).from(from));
    }

    /// Emits an instruction whose result lives in a mask register.
    fn mask_result(&mut self, inst: ir::Inst, to: VReg) -> Result<(), Declined> {
        let func = self.func;
        let data = func.dfg.insts[inst];
        let args = func.dfg.inst_args(inst);
        let lanes = self.ty(func.dfg.first_result(inst)).lane_count();
        match data {
            InstructionData::IntCompare { cond, args, .. } => {
                let ty = self.ty(args[0]);
                let (predicate, signed) = int_predicate(cond);
                let op = opcodes::compare_ints(ty.lane_bits(), signed)
                    .ok_or(Declined("a comparison of other lanes"))?;
                let left = self.get(args[0])?;
                let right = match ty.lane_bits() {
                    8 => Source::Register(self.get(args[1])?),
                    _ => self.source(args[1], op.w)?,
                };
                let compare = Maker::vector(op, length(ty)).def(to).with(left).from(right);
                let holds_above = holds_of_equals(cond);
                let compare = self.of_own_lanes(compare, ty, holds_above);
                self.push(compare.byte(predicate));
                Ok(())
            }
            InstructionData::FloatCompare { cond, args, .. } => self.compare_floats(to, cond, args),
            _ => match data.opcode() {
                Opcode::Band => self.mask_binary(to, opcodes::MASK_AND, args[0], args[1]),
                Opcode::Bor => self.mask_binary(to, opcodes::MASK_OR, args[0], args[1]),
                Opcode::Bxor => self.mask_binary(to, opcodes::MASK_XOR, args[0], args[1]),
                Opcode::Bnot => {
                    let from = self.mask(args[0])?;
                    self.mask_not(to, from, lanes);
                    Ok(())
                }
                Opcode::Bitselect | Opcode::Blendv => {
                    let cond = self.mask(args[0])?;
                    let (a, b) = (self.mask(args[1])?, self.mask(args[2])?);
                    let (yes, no) = (self.fresh(MASK), self.fresh(MASK));
                    let both = Encoding::Vex(opcodes::MASK_AND, true);
                    self.push(Maker::new(both).def(yes).with(cond).from(a));
                    let other = Encoding::Vex(opcodes::MASK_AND_NOT, true);
                    self.push(Maker::new(other).def(no).with(cond).from(b));
                    let either = Encoding::Vex(opcodes::MASK_OR, true);
                    self.push(Maker::new(either).def(to).with(yes).from(no));
                    Ok(())
                }
                Opcode::Sextend | Opcode::Ireduce | Opcode::Bitcast => {
                    let from = self.mask(args[0])?;
                    let copy = Encoding::Vex(opcodes::MASK_LOAD, false);
                    self.push(Maker::new(copy).def(to).from(from));
                    Ok(())
                }
                Opcode::Splat => {
                    let bool = masks::mask_of_bool(func, args[0]).ok_or(Declined("a mask"))?;
                    let bool = self.get(bool)?;
                    let (byte, all, some) =
                        (self.fresh(GENERAL), self.fresh(GENERAL), self.fresh(GENERAL));
                    self.extend_bool(byte, bool);
                    self.negate(all, byte);
                    self.and_constant(some, all, (1 << lanes) - 1);
                    let encoding = Encoding::Vex(opcodes::MASK_FROM_GENERAL, false);
                    self.push(Maker::new(encoding).def(to).from(some));
                    Ok(())
                }
                opcode => Err(Declined(name(opcode))),
            },
        }
    }

    /// Translates an instruction on floats, vectors or masks.
    pub fn vector(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let func = self.func;
        let data = func.dfg.insts[inst];
        let args = func.dfg.inst_args(inst);
        let result = func.dfg.first_result(inst);
        let to = self.result(inst)?;
        if self.in_mask_register(result) {
            return self.mask_result(inst, to);
        }
        let ty = self.ty(result);
        let many = ty.is_vector();
        if let Some(Extreme { byte, of: [a, b] }) = self.extreme(inst) {
            return self.binary(to, opcodes::float(byte, wide(ty)?, many), ty, a, b);
        }
        if !self.set.has_mask_registers() && self.avx2(inst, to)? {
            return Ok(());
        }
        match data.opcode() {
            Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv => {
                let byte = match data.opcode() {
                    Opcode::Fadd => opcodes::ADD,
                    Opcode::Fsub => opcodes::SUB,
                    Opcode::Fmul => opcodes::MUL,
                    _ => opcodes::DIV,
                };
                let op = opcodes::float(byte, wide(ty)?, many);
                match data.opcode() {
                    Opcode::Fadd | Opcode::Fmul => self.symmetric(to, op, ty, args[0], args[1]),
                    _ => self.binary(to, op, ty, args[0], args[1]),
                }
            }
            Opcode::Fma => {
                let (a, b) = match self.is_constant(args[0]) {
                    true => (args[1], args[0]),
                    false => (args[0], args[1]),
                };
                if self.is_constant(b) && !self.is_constant(args[2]) {
                    let (a, c) = (self.get(a)?, self.get(args[2])?);
                    let factor = self.source(b, wide(ty)?)?;
                    let op = opcodes::fma_by(wide(ty)?, many);
                    self.push(Maker::vector(op, length(ty)).update(to, a).with(c).from(factor));
                    return Ok(());
                }
                let (a, b) = (self.get(a)?, self.get(b)?);
                let c = self.source(args[2], wide(ty)?)?;
                let op = opcodes::fma(wide(ty)?, many);
                self.push(Maker::vector(op, length(ty)).update(to, a).with(b).from(c));
                Ok(())
            }
            Opcode::Sqrt => {
                let from = self.get(args[0])?;
                let op = opcodes::float(opcodes::SQRT, wide(ty)?, many);
                let root = Maker::vector(op, length(ty)).def(to);
                let root = if many { root } else { root.with(from) };
                self.push(root.from(from));
                Ok(())
            }
            Opcode::Floor | Opcode::Ceil | Opcode::Trunc | Opcode::Nearest => {
                let from = self.get(args[0])?;
                let mode = match data.opcode() {
                    Opcode::Nearest => 8,
                    Opcode::Floor => 9,
                    Opcode::Ceil => 10,
                    _ => 11,
                };
                let round = Maker::vector(opcodes::round(wide(ty)?, many), length(ty)).def(to);
                let round = if many { round } else { round.with(from) };
                self.push(round.from(from).byte(mode));
                Ok(())
            }
            Opcode::Fneg | Opcode::Fabs => {
                let from = self.get(args[0])?;
                let sign: u64 = if wide(ty)? { 1 << 63 } else { 1 << 31 };
                let (op, bits) = match data.opcode() {
                    Opcode::Fneg => (opcodes::XOR, sign),
                    _ => (opcodes::AND, sign - 1),
                };
                let op = by_lane(op, wide(ty)?);
                let constant = self.in_all_lanes(bits, op.w, length(ty));
                self.push(Maker::vector(op, length(ty)).def(to).with(from).from(constant));
                Ok(())
            }
            Opcode::Band if self.is_mask(args[0]) != self.is_mask(args[1]) => {
                let (mask, other) =
                    if self.is_mask(args[0]) { (args[0], args[1]) } else { (args[1], args[0]) };
                let mask = self.mask(mask)?;
                let wide = wide(ty)?;
                let from = self.source(other, wide)?;
                let op = match from {
                    Source::Broadcast(_) => opcodes::broadcast(wide),
                    _ => by_lane(opcodes::LOAD, wide),
                };
                // A broadcast from memory is an instruction of its own.
                let from = match from {
                    Source::Broadcast(memory) => Source::Memory(memory),
                    from => from,
                };
                self.push(Maker::vector(op, length(ty)).def(to).from(from).under(mask, true));
                Ok(())
            }
            Opcode::Band | Opcode::Bor | Opcode::Bxor => {
                let op = match data.opcode() {
                    Opcode::Band => opcodes::AND,
                    Opcode::Bor => opcodes::OR,
                    _ => opcodes::XOR,
                };
                self.symmetric(to, by_lane(op, ty.lane_bits() == 64), ty, args[0], args[1])
            }
            Opcode::Bnot => {
                let from = self.get(args[0])?;
                // The function of the third operand that is its negation.
                let not = Maker::vector(opcodes::TERNARY, length(ty)).update(to, from);
                self.push(not.with(from).from(from).byte(0x55));
                Ok(())
            }
            Opcode::Bitselect | Opcode::Blendv => {
                let by_sign = data.opcode() == Opcode::Blendv;
                if by_sign || self.is_mask(args[0]) {
                    let cond = self.mask(args[0])?;
                    let wide = wide(ty)?;
                    let no = self.get(args[2])?;
                    let yes = self.source(args[1], wide)?;
                    let op = by_lane(opcodes::BLEND, wide);
                    let maker = Maker::vector(op, length(ty)).def(to).with(no).from(yes);
                    self.push(maker.under(cond, false));
                    return Ok(());
                }
                let cond = self.get(args[0])?;
                let (a, b) = (self.get(args[1])?, self.get(args[2])?);
                let op = Maker::vector(opcodes::TERNARY, length(ty)).update(to, cond);
                self.push(op.with(a).from(b).byte(0xca));
                Ok(())
            }
            Opcode::Select => {
                if many {
                    return Err(Declined("a selection between vectors"));
                }
                let (yes, no) = (self.get(args[1])?, self.get(args[2])?);
                let mask = self.mask_of_condition(args[0])?;
                let op = by_lane(opcodes::BLEND, wide(ty)?);
                let maker = Maker::vector(op, Length::L128).def(to).with(no).from(yes);
                self.push(maker.under(mask, false));
                Ok(())
            }
            Opcode::Fcmp | Opcode::Icmp if !many => {
                let InstructionData::FloatCompare { cond, args, .. } = data else {
                    return Err(Declined("a comparison"));
                };
                let mask = self.fresh(MASK);
                self.compare_floats(mask, cond, args)?;
                let encoding = Encoding::Vex(opcodes::MASK_TO_GENERAL, false);
                self.push(Maker::new(encoding).def(to).from(mask));
                Ok(())
            }
            Opcode::Imul if wide(ty)? && args.iter().all(|v| self.is_half(*v)) => {
                let [a, b] = [0, 1].map(|n| self.half(args[n]));
                self.symmetric(to, opcodes::MUL_HALVES, ty, a, b)
            }
            Opcode::Iadd | Opcode::Imul => {
                let op = match data.opcode() {
                    Opcode::Iadd => opcodes::add_ints(wide(ty)?),
                    _ => by_lane(opcodes::MUL_INTS, wide(ty)?),
                };
                self.symmetric(to, op, ty, args[0], args[1])
            }
            Opcode::Isub => self.binary(to, opcodes::sub_ints(wide(ty)?), ty, args[0], args[1]),
            Opcode::Smin | Opcode::Smax | Opcode::Umin | Opcode::Umax => {
                let op = match data.opcode() {
                    Opcode::Smin => opcodes::MIN_SIGNED,
                    Opcode::Smax => opcodes::MAX_SIGNED,
                    Opcode::Umin => opcodes::MIN_UNSIGNED,
                    _ => opcodes::MAX_UNSIGNED,
                };
                self.symmetric(to, by_lane(op, wide(ty)?), ty, args[0], args[1])
            }
            Opcode::Ineg => {
                let from = self.source(args[0], wide(ty)?)?;
                let zero = self.zero(ty);
                let op = opcodes::sub_ints(wide(ty)?);
                self.push(Maker::vector(op, length(ty)).def(to).with(zero).from(from));
                Ok(())
            }
            Opcode::Iabs => {
                let from = self.get(args[0])?;
                self.push(
                    Maker::vector(opcodes::abs_ints(wide(ty)?), length(ty)).def(to).from(from),
                );
                Ok(())
            }
            Opcode::Ishl | Opcode::Ushr | Opcode::Sshr => self.shift_lanes(inst, to),
            Opcode::Splat => self.splat(to, ty, args[0]),
            Opcode::ScalarToVector => {
                let from = self.get(args[0])?;
                match args[0] {
                    v if self.ty(v).is_int() => {
                        let op = by_lane(opcodes::FROM_GENERAL, wide(self.ty(v))?);
                        self.push(Maker::vector(op, Length::L128).def(to).from(from));
                    }
                    v => {
                        let mask = self.mask_constant(1);
                        let op = by_lane(opcodes::LOAD, wide(self.ty(v))?);
                        let maker = Maker::vector(op, Length::L128).def(to).from(from);
                        self.push(maker.under(mask, true));
                    }
                }
                Ok(())
            }
            Opcode::Extractlane => {
                let InstructionData::BinaryImm8 { arg, imm, .. } = data else {
                    return Err(Declined("an access to a lane"));
                };
                self.extract(to, arg, imm)
            }
            Opcode::Insertlane => {
                let InstructionData::TernaryImm8 { args, imm, .. } = data else {
                    return Err(Declined("an access to a lane"));
                };
                let (vector, lane) = (self.get(args[0])?, self.get(args[1])?);
                let mask = self.mask_constant(1 << imm);
                let wide = wide(ty)?;
                let op = match self.ty(args[1]).is_int() {
                    true => by_lane(opcodes::BROADCAST_GENERAL, wide),
                    false => opcodes::broadcast(wide),
                };
                let maker = Maker::vector(op, length(ty)).update(to, vector).from(lane);
                self.push(maker.under(mask, false));
                Ok(())
            }
            // Of vectors, the first are the lower lanes.
            Opcode::Iconcat if ty.bits() >= 256 => {
                let (low, high) = (self.get(args[0])?, self.get(args[1])?);
                let op = opcodes::insert_half(ty.bits() == 512);
                let maker = Maker::vector(op, length(ty)).def(to).with(low).from(high);
                self.push(maker.byte(1));
                Ok(())
            }
            // Of a vector, the lanes change their order instead of the bytes.
            Opcode::Bswap => self.reverse_lanes(to, ty, args[0]),
            Opcode::VanyTrue => {
                let condition = self.condition(result)?;
                self.set_bool(to, condition);
                Ok(())
            }
            Opcode::VhighBits => {
                let mask = self.mask(args[0])?;
                let encoding = Encoding::Vex(opcodes::MASK_TO_GENERAL, false);
                self.push(Maker::new(encoding).def(to).from(mask));
                Ok(())
            }
            _ => self.conversion(inst, to),
        }
    }

    /// Returns true if the upper halves of all lanes, of 64 bits, are 0.
    pub fn is_half(&self, value: Value) -> bool {
        if let Some(lane) = self.lane_constant(value) {
            return lane <= u64::from(u32::MAX);
        }
        let Some(inst) = self.definition(self.func.dfg.resolve_aliases(value)) else {
            return false;
        };
        let args = self.func.dfg.inst_args(inst);
        match self.func.dfg.insts[inst].opcode() {
            Opcode::Band => args.iter().any(|v| self.is_half(*v)),
            Opcode::Ushr => self.integer(args[1]).is_some_and(|bits| (32..64).contains(&bits)),
            _ => false,
        }
    }

    /// The value without the mask of the lower halves of its lanes.
    pub fn half(&self, value: Value) -> Value {
        let value = self.func.dfg.resolve_aliases(value);
        let Some(inst) = self.definition(value) else { return value };
        let args = self.func.dfg.inst_args(inst);
        let whole = |v: &Value| self.lane_constant(*v) == Some(u64::from(u32::MAX));
        match self.func.dfg.insts[inst].opcode() {
            Opcode::Band if whole(&args[1]) => args[0],
            Opcode::Band if whole(&args[0]) => args[1],
            _ => value,
        }
    }

    /// An operand with a constant in all lanes: of 64 bits if `wide`, else of 32.
    pub fn in_all_lanes(&mut self, lane: u64, wide: bool, length: Length) -> Source {
        if !self.set.has_mask_registers() {
            return self.repeated(lane, if wide { 8 } else { 4 }, 16 << length as u32);
        }
        let bytes = lane.to_le_bytes();
        Source::Broadcast(self.pooled(if wide { &bytes } else { &bytes[..4] }))
    }

    /// Emits a vector of zeros.
    pub fn zero(&mut self, ty: Type) -> VReg {
        let zero = self.fresh(VECTOR);
        let place = self.pooled(&[0; 8]);
        self.push(Maker::vector(opcodes::broadcast(true), length(ty)).def(zero).at(place));
        zero
    }

    fn splat(&mut self, to: VReg, ty: Type, lane: Value) -> Result<(), Declined> {
        let from = self.get(lane)?;
        let of = self.ty(lane);
        let op = match (of.is_int(), of.bits()) {
            (true, 8) => opcodes::BROADCAST_BYTE,
            (true, _) => by_lane(opcodes::BROADCAST_GENERAL, wide(of)?),
            (false, _) => opcodes::broadcast(wide(of)?),
        };
        self.push(Maker::vector(op, length(ty)).def(to).from(from));
        Ok(())
    }

    fn shift_lanes(&mut self, inst: ir::Inst, to: VReg) -> Result<(), Declined> {
        let func = self.func;
        let args = func.dfg.inst_args(inst);
        let ty = self.ty(func.dfg.first_result(inst));
        let kind = match func.dfg.insts[inst].opcode() {
            Opcode::Ishl => Shift::Left,
            Opcode::Ushr => Shift::Right,
            _ => Shift::RightSigned,
        };
        let from = self.get(args[0])?;
        let wide = wide(ty)?;
        let bits = i64::from(ty.lane_bits()) - 1;
        if let Some(count) = self.integer(args[1]) {
            let (op, digit) = opcodes::shift_by_constant(kind, wide);
            let maker = Maker::vector(op, length(ty)).def_vvvv(to).from(from).digit(digit);
            self.push(maker.byte((count & bits) as u8));
            return Ok(());
        }
        let count = self.get(args[1])?;
        let (low, lanes) = (self.fresh(GENERAL), self.fresh(VECTOR));
        self.and_constant(low, count, bits as i32);
        let op = by_lane(opcodes::FROM_GENERAL, false);
        self.push(Maker::vector(op, Length::L128).def(lanes).from(low));
        self.push(
            Maker::vector(opcodes::shift(kind, wide), length(ty)).def(to).with(from).from(lanes),
        );
        Ok(())
    }

    /// Translates a conversion.
    fn conversion(&mut self, inst: ir::Inst, to: VReg) -> Result<(), Declined> {
        let func = self.func;
        let opcode = func.dfg.insts[inst].opcode();
        let args = func.dfg.inst_args(inst);
        let ty = self.ty(func.dfg.first_result(inst));
        let of = self.ty(*args.first().ok_or(Declined(name(opcode)))?);
        let longer = length(ty).max(length(of));
        let (from_bits, to_bits) = (of.lane_bits(), ty.lane_bits());
        match opcode {
            Opcode::Sextend | Opcode::Uextend => {
                let from = self.get(args[0])?;
                let op = opcodes::extend(from_bits, to_bits, opcode == Opcode::Sextend)
                    .ok_or(Declined("an extension of other lanes"))?;
                self.push(Maker::vector(op, length(ty)).def(to).from(from));
                Ok(())
            }
            Opcode::SwidenLow | Opcode::SwidenHigh => {
                let mut from = self.get(args[0])?;
                let op = opcodes::extend(from_bits, to_bits, true)
                    .ok_or(Declined("an extension of other lanes"))?;
                if opcode == Opcode::SwidenHigh {
                    let high = self.fresh(VECTOR);
                    let align = by_lane(opcodes::ALIGN, wide(of)?);
                    let maker = Maker::vector(align, length(of)).def(high).with(from).from(from);
                    self.push(maker.byte((of.lane_count() / 2) as u8));
                    from = high;
                }
                self.push(Maker::vector(op, length(ty)).def(to).from(from));
                Ok(())
            }
            Opcode::Ireduce => {
                let from = self.get(args[0])?;
                let op = opcodes::truncate(from_bits, to_bits)
                    .ok_or(Declined("a truncation of other lanes"))?;
                self.push(Maker::vector(op, length(of)).read(from).def_place(to));
                Ok(())
            }
            Opcode::FcvtFromSint if ty.is_vector() => {
                let from = self.get(args[0])?;
                let op = opcodes::from_ints(wide(of)?, wide(ty)?);
                self.push(Maker::vector(op, longer).def(to).from(from));
                Ok(())
            }
            Opcode::FcvtFromSint => {
                let from = self.get(args[0])?;
                let op = opcodes::from_general(wide(of)?, wide(ty)?);
                // The other lanes come from a register that waits for nothing.
                let zero = self.zero(types::F64X2);
                self.push(Maker::vector(op, Length::L128).def(to).with(zero).from(from));
                Ok(())
            }
            Opcode::FcvtToSintSat if ty.is_vector() => self.saturate(to, args[0], ty, longer),
            Opcode::FcvtToSintSat => {
                let lanes = self.fresh(VECTOR);
                self.saturate(lanes, args[0], ty, Length::L128)?;
                let op = by_lane(opcodes::TO_GENERAL, wide(ty)?);
                self.push(Maker::vector(op, Length::L128).read(lanes).def_place(to));
                Ok(())
            }
            Opcode::Fpromote | Opcode::FvpromoteLow => {
                let from = self.get(args[0])?;
                let maker = match ty.is_vector() {
                    true => Maker::vector(opcodes::PROMOTE, length(ty)).def(to),
                    false => {
                        let op = Code { prefix: 2, ..opcodes::PROMOTE };
                        Maker::vector(op, Length::L128).def(to).with(from)
                    }
                };
                self.push(maker.from(from));
                Ok(())
            }
            Opcode::Fdemote | Opcode::Fvdemote => {
                let from = self.get(args[0])?;
                let maker = match ty.is_vector() {
                    true => Maker::vector(opcodes::DEMOTE, length(of)).def(to),
                    false => {
                        let op = Code { prefix: 3, ..opcodes::DEMOTE };
                        Maker::vector(op, Length::L128).def(to).with(from)
                    }
                };
                self.push(maker.from(from));
                Ok(())
            }
            Opcode::Bitcast => {
                let from = self.get(args[0])?;
                let wide = wide(ty)?;
                let maker = match (of.is_vector() || of.is_float(), ty.is_vector() || ty.is_float())
                {
                    (true, false) => {
                        let op = by_lane(opcodes::TO_GENERAL, wide);
                        Maker::vector(op, Length::L128).read(from).def_place(to)
                    }
                    (false, true) if !ty.is_vector() => {
                        let op = by_lane(opcodes::FROM_GENERAL, wide);
                        Maker::vector(op, Length::L128).def(to).from(from)
                    }
                    _ => return Err(Declined("a reinterpretation")),
                };
                self.push(maker);
                Ok(())
            }
            _ => Err(Declined(name(opcode))),
        }
    }

    /// Emits the conversion of floats to integers that saturates, a NaN being 0.
    fn saturate(
        &mut self,
        to: VReg,
        value: Value,
        ty: Type,
        length: Length,
    ) -> Result<(), Declined> {
        let of = self.ty(value);
        let (from_wide, to_wide) = (wide(of)?, wide(ty)?);
        let from = self.get(value)?;
        let (converted, large, ordered, capped) =
            (self.fresh(VECTOR), self.fresh(MASK), self.fresh(MASK), self.fresh(VECTOR));
        // What does not fit becomes the least integer, also a NaN.
        let op = opcodes::to_ints(from_wide, to_wide);
        self.push(Maker::vector(op, length).def(converted).from(from));
        let compare = opcodes::float(opcodes::COMPARE, from_wide, true);
        let limit = if to_wide { 9_223_372_036_854_775_808.0 } else { 2_147_483_648.0 };
        let limit = match from_wide {
            true => self.pooled(&f64::to_le_bytes(limit)),
            false => self.pooled(&f32::to_le_bytes(limit as f32)),
        };
        let of_length = if of.is_vector() { super::lower::length(of) } else { Length::L128 };
        let maker = Maker::vector(compare, of_length).def(large).with(from);
        let above = float_predicate(FloatCC::GreaterThanOrEqual);
        self.push(maker.from(Source::Broadcast(limit)).byte(above));
        let maker = Maker::vector(compare, of_length).def(ordered).with(from).from(from);
        self.push(maker.byte(float_predicate(FloatCC::Ordered)));
        let most = match to_wide {
            true => self.pooled(&i64::MAX.to_le_bytes()),
            false => self.pooled(&i32::MAX.to_le_bytes()),
        };
        let own = if ty.is_vector() { super::lower::length(ty) } else { Length::L128 };
        let blend = by_lane(opcodes::BLEND, to_wide);
        let maker = Maker::vector(blend, own).def(capped).with(converted);
        self.push(maker.from(Source::Broadcast(most)).under(large, false));
        let copy = by_lane(opcodes::LOAD, to_wide);
        self.push(Maker::vector(copy, own).def(to).from(capped).under(ordered, true));
        Ok(())
    }
}
