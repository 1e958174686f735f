//! Integers in general registers, and memory.
//!
//! Integers of 8 bits are in the lower bits of registers whose upper bits are anything.

use super::allocate::conditional_move;
use super::code::{Condition, GENERAL, Inst, Kind, Maker};
use super::encode::{Encoding, Legacy, Length};
use super::lower::{Lower, length};
use super::opcodes::{self, Shift, escaped, plain, prefixed};
use super::{Declined, name};
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{self, InstructionData, Opcode, Type, Value, types};
use regalloc2::{Operand, PReg, RegClass, VReg};

/// The registers of products of two words and of division.
const RAX: usize = 0;
const RDX: usize = 2;

fn legacy(code: Legacy) -> Maker {
    Maker::new(Encoding::Legacy(code))
}

/// The condition code of a comparison of integers.
fn condition_of(cond: IntCC) -> Condition {
    match cond {
        IntCC::Equal => Condition::Zero,
        IntCC::NotEqual => Condition::NotZero,
        IntCC::SignedLessThan => Condition::Less,
        IntCC::SignedGreaterThanOrEqual => Condition::NotLess,
        IntCC::SignedGreaterThan => Condition::Greater,
        IntCC::SignedLessThanOrEqual => Condition::NotGreater,
        IntCC::UnsignedLessThan => Condition::Below,
        IntCC::UnsignedGreaterThanOrEqual => Condition::NotBelow,
        IntCC::UnsignedGreaterThan => Condition::Above,
        IntCC::UnsignedLessThanOrEqual => Condition::NotAbove,
    }
}

/// The comparison under which the first operand is the minimum or maximum.
pub fn condition_of_extreme(opcode: Opcode) -> IntCC {
    match opcode {
        Opcode::Smin => IntCC::SignedLessThan,
        Opcode::Smax => IntCC::SignedGreaterThan,
        Opcode::Umin => IntCC::UnsignedLessThan,
        _ => IntCC::UnsignedGreaterThan,
    }
}

impl Lower<'_> {
    /// Emits the comparison of two integers.
    pub fn compare(&mut self, cond: IntCC, a: Value, b: Value) -> Result<Condition, Declined> {
        let (cond, a, b) = match (self.integer(a), self.integer(b)) {
            (Some(_), None) => (cond.swap_args(), b, a),
            _ => (cond, a, b),
        };
        let ty = self.ty(a);
        let wide = ty == types::I64;
        let signed = cond != cond.unsigned() || cond == IntCC::Equal;
        let left = self.extended(a, signed)?;
        match self.integer(b).map(i32::try_from) {
            Some(Ok(constant)) if ty != types::I8 || signed || constant >= 0 => {
                self.push(legacy(plain(0x81, wide)).digit(7).from(left).word(constant));
            }
            _ => {
                let right = self.extended(b, signed)?;
                self.push(legacy(plain(0x3b, wide)).read(left).from(right));
            }
        }
        Ok(condition_of(cond))
    }

    /// An integer with defined upper bits (to 32).
    fn extended(&mut self, value: Value, signed: bool) -> Result<VReg, Declined> {
        let from = self.get(value)?;
        if self.ty(value) != types::I8 {
            return Ok(from);
        }
        let to = self.fresh(GENERAL);
        self.extend_byte(to, from, signed, false);
        Ok(to)
    }

    fn extend_byte(&mut self, to: VReg, from: VReg, signed: bool, wide: bool) {
        let byte = if signed { 0xbe } else { 0xb6 };
        let code = Legacy { byte_operand: true, ..escaped(byte, wide) };
        self.push(legacy(code).def(to).from(from));
    }

    /// Emits a test if the bits of a general register are 0: all 64, if `wide`, or the lower 32.
    pub fn test_bits(&mut self, register: VReg, wide: bool) {
        self.push(legacy(plain(0x85, wide)).read(register).from(register));
    }

    /// Emits a shift of a general register to the left by a constant.
    pub fn shift_left(&mut self, to: VReg, from: VReg, bits: u8) {
        self.push(legacy(plain(0xc1, true)).update_place(to, from).digit(4).byte(bits));
    }

    /// Emits the difference of two general registers of 32 bits.
    pub fn subtract(&mut self, to: VReg, a: VReg, b: VReg) {
        self.push(legacy(plain(0x2b, false)).update(to, a).from(b));
    }

    /// Emits a test if an integer is 0.
    pub fn test(&mut self, value: Value) -> Result<(), Declined> {
        let register = self.get(value)?;
        let code = match self.ty(value) {
            types::I8 => Legacy { byte_operand: true, ..plain(0x84, false) },
            ty => plain(0x85, ty == types::I64),
        };
        self.push(legacy(code).read(register).from(register));
        Ok(())
    }

    /// Emits `to := condition ? a : b`.
    fn choose(&mut self, to: VReg, condition: Condition, a: VReg, b: VReg) {
        let code = conditional_move(condition as u8, true);
        self.push(legacy(code).update(to, b).from(a));
    }

    /// Emits an operation of two operands.
    fn two(
        &mut self,
        to: VReg,
        code: (u8, u8),
        wide: bool,
        a: Value,
        b: Value,
    ) -> Result<(), Declined> {
        let (a, b) = if self.integer(a).is_some() { (b, a) } else { (a, b) };
        let left = self.get(a)?;
        match self.integer(b).map(i32::try_from) {
            Some(Ok(constant)) => {
                self.push(
                    legacy(plain(0x81, wide)).update_place(to, left).digit(code.1).word(constant),
                );
            }
            _ => {
                let right = self.get(b)?;
                self.push(legacy(plain(code.0, wide)).update(to, left).from(right));
            }
        }
        Ok(())
    }

    /// Emits both words of a product; the digit tells if they have a sign.
    fn long_product(
        &mut self,
        [low, high]: [VReg; 2],
        (digit, wide): (u8, bool),
        a: Value,
        b: Value,
    ) -> Result<(), Declined> {
        let (a, b) = (self.get(a)?, self.get(b)?);
        let fixed = |n| PReg::new(n, RegClass::Int);
        let product = legacy(plain(0xf7, wide)).digit(digit).from(b);
        let product = product
            .also(Operand::reg_fixed_use(a, fixed(RAX)))
            .also(Operand::reg_fixed_def(low, fixed(RAX)))
            .also(Operand::reg_fixed_def(high, fixed(RDX)));
        self.push(product);
        Ok(())
    }

    /// Translates the split of a product of two words without sign into its words.
    pub fn words_of_product(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let dfg = &self.func.dfg;
        let argument = |inst: ir::Inst, n: usize| dfg.resolve_aliases(dfg.inst_args(inst)[n]);
        let made = |value: Value, opcode| {
            self.definition(value).filter(|inst| dfg.insts[*inst].opcode() == opcode)
        };
        let word = |value: Value| {
            let word = made(value, Opcode::Uextend).map(|inst| argument(inst, 0))?;
            (self.ty(word) == types::I64).then_some(word)
        };
        let words = made(argument(inst, 0), Opcode::Imul)
            .and_then(|product| Some([word(argument(product, 0))?, word(argument(product, 1))?]));
        let [a, b] = words.ok_or(Declined(name(Opcode::Isplit)))?;
        let results = dfg.inst_results(inst);
        let (low, high) = (self.register(results[0])?, self.register(results[1])?);
        self.long_product([low, high], (4, true), a, b)
    }

    /// Translates an instruction on integers.
    pub fn scalar(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let func = self.func;
        let data = func.dfg.insts[inst];
        let args = func.dfg.inst_args(inst);
        let to = self.result(inst)?;
        let ty = self.ty(func.dfg.first_result(inst));
        if !matches!(ty, types::I8 | types::I32 | types::I64) {
            return Err(Declined("integers of another width"));
        }
        let wide = ty == types::I64;
        match data.opcode() {
            Opcode::Iadd => {
                let (a, b) = if self.integer(args[0]).is_some() {
                    (args[1], args[0])
                } else {
                    (args[0], args[1])
                };
                let base = self.get(a)?;
                let memory = match self.integer(b).map(i32::try_from) {
                    Some(Ok(constant)) => super::code::Memory::Based(base, None, constant),
                    _ => super::code::Memory::Based(base, Some((self.get(b)?, 0)), 0),
                };
                self.push(legacy(plain(0x8d, wide)).def(to).at(memory));
            }
            Opcode::Isub => {
                let left = self.get(args[0])?;
                if let Some(Ok(less)) =
                    self.integer(args[1]).map(|x| i32::try_from(x.wrapping_neg()))
                {
                    let memory = super::code::Memory::Based(left, None, less);
                    self.push(legacy(plain(0x8d, wide)).def(to).at(memory));
                    return Ok(());
                }
                let right = self.get(args[1])?;
                self.push(legacy(plain(0x2b, wide)).update(to, left).from(right));
            }
            Opcode::Band => self.two(to, (0x23, 4), wide, args[0], args[1])?,
            Opcode::Bor => self.two(to, (0x0b, 1), wide, args[0], args[1])?,
            Opcode::Bxor => self.two(to, (0x33, 6), wide, args[0], args[1])?,
            Opcode::Imul => {
                let (a, b) = if self.integer(args[0]).is_some() {
                    (args[1], args[0])
                } else {
                    (args[0], args[1])
                };
                let left = self.get(a)?;
                match self.integer(b).map(i32::try_from) {
                    Some(Ok(constant)) => {
                        self.push(legacy(plain(0x69, wide)).def(to).from(left).word(constant));
                    }
                    _ => {
                        let right = self.get(b)?;
                        self.push(legacy(escaped(0xaf, wide)).update(to, left).from(right));
                    }
                }
            }
            Opcode::Umulhi | Opcode::Smulhi if ty != types::I8 => {
                let digit = if data.opcode() == Opcode::Umulhi { 4 } else { 5 };
                let low = self.fresh(GENERAL);
                self.long_product([low, to], (digit, wide), args[0], args[1])?;
            }
            Opcode::Sdiv | Opcode::Srem if ty != types::I8 => {
                let (a, b) = (self.get(args[0])?, self.get(args[1])?);
                let fixed = |n| PReg::new(n, RegClass::Int);
                let other = self.fresh(GENERAL);
                let (quotient, rest) =
                    if data.opcode() == Opcode::Sdiv { (to, other) } else { (other, to) };
                let mut divide = Inst::new(Kind::Divide(0, wide));
                divide.operands.push(Operand::reg_use_at_end(b));
                divide.operands.push(Operand::reg_fixed_use(a, fixed(RAX)));
                divide.operands.push(Operand::reg_fixed_def(quotient, fixed(RAX)));
                divide.operands.push(Operand::reg_fixed_def(rest, fixed(RDX)));
                self.push_inst(divide);
            }
            Opcode::Ineg | Opcode::Bnot => {
                let from = self.get(args[0])?;
                let digit = if data.opcode() == Opcode::Ineg { 3 } else { 2 };
                self.push(legacy(plain(0xf7, wide)).update_place(to, from).digit(digit));
            }
            Opcode::Iabs if ty != types::I8 => {
                let from = self.get(args[0])?;
                let negative = self.fresh(GENERAL);
                self.push(legacy(plain(0xf7, wide)).update_place(negative, from).digit(3));
                self.choose(to, Condition::Sign, from, negative);
            }
            Opcode::Smin | Opcode::Smax | Opcode::Umin | Opcode::Umax => {
                let cond = condition_of_extreme(data.opcode());
                let (a, b) = (self.get(args[0])?, self.get(args[1])?);
                let condition = self.compare(cond, args[0], args[1])?;
                self.choose(to, condition, a, b);
            }
            Opcode::Ishl | Opcode::Sshr | Opcode::Ushr => {
                self.shift(data.opcode(), to, ty, args)?
            }
            Opcode::Icmp => {
                let InstructionData::IntCompare { cond, args, .. } = data else {
                    return Err(Declined("a comparison"));
                };
                let condition = self.compare(cond, args[0], args[1])?;
                self.set_bool(to, condition);
            }
            Opcode::Select => {
                let (a, b) = (self.get(args[1])?, self.get(args[2])?);
                let condition = self.condition(args[0])?;
                self.choose(to, condition, a, b);
            }
            Opcode::Uextend => {
                let from = self.get(args[0])?;
                match self.ty(args[0]) {
                    types::I8 => self.extend_byte(to, from, false, false),
                    _ => self.push(legacy(plain(0x8b, false)).def(to).from(from)),
                }
            }
            Opcode::Sextend => {
                let from = self.get(args[0])?;
                match self.ty(args[0]) {
                    types::I8 => self.extend_byte(to, from, true, wide),
                    _ => self.push(legacy(plain(0x63, true)).def(to).from(from)),
                }
            }
            Opcode::Popcnt | Opcode::Ctz | Opcode::Clz if ty != types::I8 => {
                let from = self.get(args[0])?;
                let byte = match data.opcode() {
                    Opcode::Popcnt => 0xb8,
                    Opcode::Ctz => 0xbc,
                    _ => 0xbd,
                };
                self.push(legacy(prefixed(0xf3, byte, wide)).def(to).from(from));
            }
            Opcode::StackAddr => {
                let InstructionData::StackAddr { stack_slot, offset, .. } = data else {
                    return Err(Declined("an address in the stack"));
                };
                let at = self.slot(stack_slot) + i32::from(offset);
                let at = super::code::Memory::Frame(at);
                self.push(legacy(plain(0x8d, true)).def(to).at(at));
            }
            // Only a value with another register is translated.
            Opcode::Ireduce => return Err(Declined("a reduction of a wide integer")),
            _ => return Err(Declined(name(data.opcode()))),
        }
        Ok(())
    }

    fn shift(
        &mut self,
        opcode: Opcode,
        to: VReg,
        ty: Type,
        args: &[Value],
    ) -> Result<(), Declined> {
        let wide = ty == types::I64;
        let (kind, digit) = match opcode {
            Opcode::Ishl => (Shift::Left, 4),
            Opcode::Ushr => (Shift::Right, 5),
            _ => (Shift::RightSigned, 7),
        };
        let from = match opcode {
            Opcode::Ishl => self.get(args[0])?,
            _ => self.extended(args[0], opcode == Opcode::Sshr)?,
        };
        let mask = ty.bits() as i64 - 1;
        if let Some(count) = self.integer(args[1]) {
            let shift = legacy(plain(0xc1, wide)).update_place(to, from).digit(digit);
            self.push(shift.byte((count & mask) as u8));
            return Ok(());
        }
        let mut count = self.get(args[1])?;
        if ty == types::I8 {
            let low = self.fresh(GENERAL);
            self.push(legacy(plain(0x81, false)).update_place(low, count).digit(4).word(7));
            count = low;
        }
        let encoding = Encoding::Vex(opcodes::shift_general(kind, wide), false);
        self.push(Maker::new(encoding).def(to).with(count).from(from));
        Ok(())
    }

    /// Translates a load or store.
    pub fn access(&mut self, inst: ir::Inst) -> Result<(), Declined> {
        let func = self.func;
        let (address, offset, stored) = match func.dfg.insts[inst] {
            InstructionData::Load { arg, offset, .. } => (arg, i32::from(offset), None),
            InstructionData::LoadNoOffset { arg, .. } => (arg, 0, None),
            InstructionData::Store { args, offset, .. } => {
                (args[1], i32::from(offset), Some(args[0]))
            }
            _ => return Err(Declined("an access to memory")),
        };
        let ty = match stored {
            Some(value) => self.ty(value),
            None => self.ty(func.dfg.first_result(inst)),
        };
        let register = match stored {
            Some(value) => self.get(value)?,
            None if self.is_mask(func.dfg.first_result(inst)) => {
                return Err(Declined("a mask from memory"));
            }
            None => self.result(inst)?,
        };
        let memory = self.memory(address, offset)?;
        let store = stored.is_some();
        if ty.is_vector() && ty.bits() == 16 {
            // Through a general register.
            let word = self.fresh(GENERAL);
            if store {
                let op = opcodes::by_lane(opcodes::TO_GENERAL, false);
                self.push(Maker::vector(op, Length::L128).read(register).def_place(word));
                let half = Legacy { prefix: 0x66, ..plain(0x89, false) };
                self.push(legacy(half).read(word).at(memory));
            } else {
                self.push(legacy(escaped(0xb7, false)).def(word).at(memory));
                let op = opcodes::by_lane(opcodes::FROM_GENERAL, false);
                self.push(Maker::vector(op, Length::L128).def(register).from(word));
            }
            return Ok(());
        }
        let maker = match (ty, store) {
            (types::I8, true) => legacy(Legacy { byte_operand: true, ..plain(0x88, false) }),
            (types::I8, false) => legacy(escaped(0xb6, false)),
            (types::I32 | types::I64, true) => legacy(plain(0x89, ty == types::I64)),
            (types::I32 | types::I64, false) => legacy(plain(0x8b, ty == types::I64)),
            (types::F32 | types::F64, _) => {
                let byte = if store { opcodes::STORE_FLOAT } else { opcodes::LOAD_FLOAT };
                Maker::vector(opcodes::float(byte, ty == types::F64, false), Length::L128)
            }
            _ => match (ty.bits(), store) {
                (64, true) => Maker::vector(opcodes::STORE_64, Length::L128),
                (64, false) => Maker::vector(opcodes::LOAD_64, Length::L128),
                (32, true) => {
                    let op = opcodes::by_lane(opcodes::TO_GENERAL, false);
                    Maker::vector(op, Length::L128)
                }
                (32, false) => {
                    let op = opcodes::by_lane(opcodes::FROM_GENERAL, false);
                    Maker::vector(op, Length::L128)
                }
                (128 | 256 | 512, true) => Maker::vector(opcodes::STORE, length(ty)),
                (128 | 256 | 512, false) => Maker::vector(opcodes::LOAD, length(ty)),
                _ => return Err(Declined("a short vector in memory")),
            },
        };
        let maker = if store { maker.read(register) } else { maker.def(register) };
        self.push(maker.at(memory));
        Ok(())
    }

    /// Emits a bool, 1 if a condition code holds.
    pub fn set_bool(&mut self, to: VReg, condition: Condition) {
        let byte = self.fresh(GENERAL);
        let code = Legacy { byte_operand: true, ..escaped(0x90 | condition as u8, false) };
        self.push(legacy(code).def_place(byte));
        self.extend_byte(to, byte, false, false);
    }

    /// Emits a bool with 0 in the upper bits.
    pub fn extend_bool(&mut self, to: VReg, from: VReg) {
        self.extend_byte(to, from, false, false);
    }

    /// Emits the negation of 32 bits.
    pub fn negate(&mut self, to: VReg, from: VReg) {
        self.push(legacy(plain(0xf7, false)).update_place(to, from).digit(3));
    }

    /// Emits the common bits with a constant of 32 bits.
    pub fn and_constant(&mut self, to: VReg, from: VReg, bits: i32) {
        self.push(legacy(plain(0x81, false)).update_place(to, from).digit(4).word(bits));
    }

    /// Emits copies of a bit in all bits of a general register.
    pub fn spread_bit(&mut self, to: VReg, from: VReg, bit: u8) {
        let high = self.fresh(GENERAL);
        self.push(legacy(plain(0xc1, true)).update_place(high, from).digit(4).byte(63 - bit));
        self.push(legacy(plain(0xc1, true)).update_place(to, high).digit(7).byte(63));
    }
}
