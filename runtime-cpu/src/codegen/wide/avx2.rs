//! Vectors with AVX2: what has other instructions than with AVX-512.
//!
//! Masks are vectors, all of whose bits of a lane are equal. Lanes of 64 bits lack products, extremes, absolute
//! values, shifts with sign, and conversions between integers and floats: they are put together from others.

use super::Declined;
use super::code::{GENERAL, Maker, Source, VECTOR};
use super::encode::{Length, Opcode as Code};
use super::lower::{Lower, length};
use super::opcodes::{self, Shift, by_lane};
use super::scalar::condition_of_extreme;
use super::vectors::{float_predicate, wide};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstructionData, Opcode, Type, Value, types};
use regalloc2::VReg;

/// The constant of a shuffle of lanes of 32 bits that puts the upper half of 128 bits into the lower one.
const UPPER_TO_LOWER: u8 = 0b11_10_11_10;

/// 2⁵²: an integer in the lower bits of its bits counts 1 each.
const INT_AS_FLOAT: f64 = 4_503_599_627_370_496.0;

/// 3 × 2⁶⁷: an integer, with its sign, that is added to the upper half of its bits counts 2⁴⁸ each.
const UPPER_AS_FLOAT: f64 = 442_721_857_769_029_238_784.0;

/// 2⁶³, the first `f64` that is too large for an integer.
const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;

impl Lower<'_> {
    /// Translates an instruction on vectors or floats; returns false if it has the same instructions as with
    /// AVX-512, and nothing is emitted.
    pub fn avx2(&mut self, inst: ir::Inst, to: VReg) -> Result<bool, Declined> {
        let func = self.func;
        let data = func.dfg.insts[inst];
        let args = func.dfg.inst_args(inst);
        let result = func.dfg.first_result(inst);
        let ty = self.ty(result);
        let many = ty.is_vector();
        let wide_lanes = ty.lane_bits() == 64;
        match data.opcode() {
            Opcode::Icmp => {
                let InstructionData::IntCompare { cond, args, .. } = data else {
                    return Err(Declined("a comparison"));
                };
                self.compare_lanes(to, cond, args)?;
            }
            Opcode::Fcmp => {
                let InstructionData::FloatCompare { cond, args, .. } = data else {
                    return Err(Declined("a comparison"));
                };
                if many {
                    self.compare_floats(to, cond, args)?;
                } else {
                    let bits = self.compared(cond, args)?;
                    self.and_constant(to, bits, 1);
                }
            }
            Opcode::Bnot => {
                let from = self.get(args[0])?;
                self.negate_lanes(to, from, length(ty));
            }
            Opcode::Bitselect | Opcode::Blendv => {
                let by_sign = data.opcode() == Opcode::Blendv;
                let selector = self.get(args[0])?;
                let (yes, no) = (self.get(args[1])?, self.get(args[2])?);
                if by_sign || self.has_lanes_of_ones(args[0]) {
                    self.blend(to, ty, selector, [yes, no]);
                } else {
                    let [some, others] = [(); 2].map(|()| self.fresh(VECTOR));
                    self.three(some, opcodes::AND, length(ty), selector, yes);
                    self.three(others, opcodes::AND_NOT, length(ty), selector, no);
                    self.three(to, opcodes::OR, length(ty), some, others);
                }
            }
            Opcode::Select if many => return Err(Declined("a selection between vectors")),
            Opcode::Select => {
                let (yes, no) = (self.get(args[1])?, self.get(args[2])?);
                let selector = self.signs_of_condition(args[0], ty)?;
                self.blend(to, ty, selector, [yes, no]);
            }
            Opcode::Imul if wide_lanes => self.multiply(to, ty, args[0], args[1])?,
            Opcode::Smin | Opcode::Smax | Opcode::Umin | Opcode::Umax if wide_lanes => {
                let cond = condition_of_extreme(data.opcode());
                let (a, b) = (self.get(args[0])?, self.get(args[1])?);
                let first = self.fresh(VECTOR);
                self.compare_lanes(first, cond, [args[0], args[1]])?;
                self.blend(to, ty, first, [a, b]);
            }
            Opcode::Iabs if wide_lanes => {
                let from = self.get(args[0])?;
                let (negative, flipped) = (self.fresh(VECTOR), self.fresh(VECTOR));
                self.negative(negative, ty, from);
                self.three(flipped, opcodes::XOR, length(ty), from, negative);
                self.three(to, opcodes::sub_ints(true), length(ty), flipped, negative);
            }
            Opcode::Sshr if wide_lanes && many => self.shift_with_sign(to, ty, args)?,
            Opcode::Splat if self.ty(args[0]).is_int() => {
                let from = self.get(args[0])?;
                let bits = self.ty(args[0]).bits();
                let lowest = self.lowest_lane(from, bits == 64);
                let op = match bits {
                    8 => opcodes::BROADCAST_LOWEST_BYTE,
                    _ => opcodes::broadcast(bits == 64),
                };
                self.push(Maker::vector(op, length(ty)).def(to).from(lowest));
            }
            Opcode::ScalarToVector if self.ty(args[0]).is_float() => {
                let from = self.get(args[0])?;
                let maker = match wide_lanes {
                    true => Maker::vector(opcodes::LOAD_64, Length::L128).def(to).from(from),
                    false => {
                        // The lowest lane, and zeros in the three others.
                        let insert = Maker::vector(opcodes::INSERT_FLOAT, Length::L128);
                        insert.def(to).with(from).from(from).byte(0b1110)
                    }
                };
                self.push(maker);
            }
            Opcode::Extractlane => {
                let InstructionData::BinaryImm8 { arg, imm, .. } = data else {
                    return Err(Declined("an access to a lane"));
                };
                self.take_lane(to, arg, imm)?;
            }
            Opcode::Insertlane => {
                let InstructionData::TernaryImm8 { args, imm, .. } = data else {
                    return Err(Declined("an access to a lane"));
                };
                match self.all_lanes(inst) {
                    Some(lanes) => self.assemble(to, ty, &lanes)?,
                    None => self.put_lane(to, args, imm)?,
                }
            }
            Opcode::Bswap if ty.bits() == 256 && wide_lanes => {
                let from = self.source(args[0], true)?;
                let permute = Maker::vector(opcodes::PERMUTE_WIDE, length(ty)).def(to).from(from);
                self.push(permute.byte(0b00_01_10_11));
            }
            Opcode::VhighBits => {
                let of = self.ty(args[0]);
                let op = opcodes::signs(of.lane_bits()).ok_or(Declined("signs of other lanes"))?;
                let from = self.get(args[0])?;
                let bits = if of.bits() < 128 { self.fresh(GENERAL) } else { to };
                self.push(Maker::vector(op, length(of)).def(bits).from(from));
                if of.bits() < 128 {
                    self.and_constant(to, bits, (1 << of.lane_count()) - 1);
                }
            }
            Opcode::SwidenHigh => {
                let of = self.ty(args[0]);
                let op = opcodes::extend(of.lane_bits(), ty.lane_bits(), true)
                    .ok_or(Declined("an extension of other lanes"))?;
                let from = self.get(args[0])?;
                let upper = self.fresh(VECTOR);
                match of.bits() {
                    256 => self.upper_half(upper, from),
                    128 => self.shuffle(upper, from, UPPER_TO_LOWER),
                    64 => self.shuffle(upper, from, 0b01_01_01_01),
                    _ => return Err(Declined("half of few lanes")),
                }
                self.push(Maker::vector(op, length(ty)).def(to).from(upper));
            }
            Opcode::Ireduce => self.truncate(to, ty, args[0])?,
            Opcode::FcvtFromSint if many && self.ty(args[0]).lane_bits() == 64 => {
                if wide_lanes {
                    self.ints_to_floats(to, ty, args[0])?;
                } else {
                    self.ints_to_narrow_floats(to, args[0])?;
                }
            }
            Opcode::FcvtToSintSat => self.floats_to_ints(to, ty, args[0])?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Emits `to := op(a, b)` on vectors.
    fn three(&mut self, to: VReg, op: Code, length: Length, a: VReg, b: impl Into<Source>) {
        self.push(Maker::vector(op, length).def(to).with(a).from(b));
    }

    /// Emits a shift of lanes by a constant.
    fn shift_by(&mut self, to: VReg, ty: Type, shift: Shift, from: VReg, bits: u8) {
        let (op, digit) = opcodes::shift_by_constant(shift, ty.lane_bits() == 64);
        let maker = Maker::vector(op, length(ty)).def_vvvv(to).from(from).digit(digit);
        self.push(maker.byte(bits));
    }

    /// Emits a shuffle of lanes of 32 bits within 128 bits.
    fn shuffle(&mut self, to: VReg, from: VReg, lanes: u8) {
        let shuffle = Maker::vector(opcodes::PERMUTE_SHORT, Length::L128).def(to).from(from);
        self.push(shuffle.byte(lanes));
    }

    /// Emits the upper half of a vector of 256 bits.
    fn upper_half(&mut self, to: VReg, from: VReg) {
        let half = Maker::vector(opcodes::upper_half(false), Length::L256).read(from).def_place(to);
        self.push(half.byte(1));
    }

    /// The lowest lane from a general register, zeros above.
    fn lowest_lane(&mut self, from: VReg, wide: bool) -> VReg {
        let lowest = self.fresh(VECTOR);
        let op = by_lane(opcodes::FROM_GENERAL, wide);
        self.push(Maker::vector(op, Length::L128).def(lowest).from(from));
        lowest
    }

    /// Emits all bits negated.
    fn negate_lanes(&mut self, to: VReg, from: VReg, length: Length) {
        let ones = self.in_all_lanes(u64::MAX, true, length);
        self.three(to, opcodes::XOR, length, from, ones);
    }

    /// Emits ones in the lanes, of 64 bits, that are less than 0.
    fn negative(&mut self, to: VReg, ty: Type, from: VReg) {
        let zero = self.zero(ty);
        self.push(Maker::vector(opcodes::GREATER_WIDE, length(ty)).def(to).with(zero).from(from));
    }

    /// Emits the selection by the signs of lanes.
    fn blend(&mut self, to: VReg, ty: Type, selector: VReg, [yes, no]: [VReg; 2]) {
        let op = match ty.lane_bits() {
            8 => opcodes::BLEND_BYTES,
            bits => opcodes::blend_by_sign(bits == 64),
        };
        self.push(Maker::vector(op, length(ty)).def(to).with(no).from(yes).by(selector));
    }

    /// Emits the comparison of integers, whose lanes are then ones or zeros.
    fn compare_lanes(&mut self, to: VReg, cond: IntCC, [a, b]: [Value; 2]) -> Result<(), Declined> {
        let ty = self.ty(a);
        let length = length(ty);
        let other = || Declined("a comparison of other lanes");
        let is_equality = matches!(cond, IntCC::Equal | IntCC::NotEqual);
        let (op, swapped, negated) = match cond {
            IntCC::Equal | IntCC::NotEqual => {
                let equal = opcodes::equal_lanes(ty.lane_bits()).ok_or_else(other)?;
                (equal, false, cond == IntCC::NotEqual)
            }
            _ => {
                let greater = opcodes::greater_lanes(ty.lane_bits()).ok_or_else(other)?;
                use IntCC::*;
                match cond {
                    SignedGreaterThan | UnsignedGreaterThan => (greater, false, false),
                    SignedLessThan | UnsignedLessThan => (greater, true, false),
                    SignedLessThanOrEqual | UnsignedLessThanOrEqual => (greater, false, true),
                    _ => (greater, true, true),
                }
            }
        };
        let (a, b) = if swapped || is_equality && self.is_constant(a) { (b, a) } else { (a, b) };
        let (mut a, mut b) = (self.get(a)?, self.source(b, ty.lane_bits() == 64)?);
        if !is_equality && cond == cond.unsigned() {
            // With the other sign, the order without sign is that with sign.
            let bits = ty.lane_bits();
            let (sign, wide) = match bits {
                64 => (1 << 63, true),
                32 => (1 << 31, false),
                _ => (0x8080_8080, false),
            };
            let signs = self.in_all_lanes(sign, wide, length);
            let flipped = [(); 2].map(|()| self.fresh(VECTOR));
            self.three(flipped[0], opcodes::XOR, length, a, signs);
            let other = match b {
                Source::Register(register) => register,
                constant => {
                    let register = self.fresh(VECTOR);
                    self.push(Maker::vector(opcodes::LOAD, length).def(register).from(constant));
                    register
                }
            };
            self.three(flipped[1], opcodes::XOR, length, other, signs);
            (a, b) = (flipped[0], flipped[1].into());
        }
        let ones = if negated { self.fresh(VECTOR) } else { to };
        self.three(ones, op, length, a, b);
        if negated {
            self.negate_lanes(to, ones, length);
        }
        Ok(())
    }

    /// A general register whose lower 32 bits are ones if a comparison of two floats holds, else zeros.
    pub fn compared(&mut self, cond: FloatCC, args: [Value; 2]) -> Result<VReg, Declined> {
        let (lane, bits) = (self.fresh(VECTOR), self.fresh(GENERAL));
        self.compare_floats(lane, cond, args)?;
        let op = by_lane(opcodes::TO_GENERAL, false);
        self.push(Maker::vector(op, Length::L128).read(lane).def_place(bits));
        Ok(bits)
    }

    /// Emits a test if any bit of a vector is set.
    pub fn test_lanes(&mut self, value: Value) -> Result<(), Declined> {
        let ty = self.ty(value);
        let lanes = self.get(value)?;
        if ty.bits() >= 128 {
            let test = Maker::vector(opcodes::TEST_LANES, length(ty)).read(lanes).from(lanes);
            self.push(test);
            return Ok(());
        }
        // Above a short vector there may be anything.
        let wide = match ty.bits() {
            64 => true,
            32 => false,
            _ => return Err(Declined("a test of few lanes")),
        };
        let bits = self.fresh(GENERAL);
        let op = by_lane(opcodes::TO_GENERAL, wide);
        self.push(Maker::vector(op, Length::L128).read(lanes).def_place(bits));
        self.test_bits(bits, wide);
        Ok(())
    }

    /// A vector whose lowest lane, like those of `ty`, has the sign of ones if a scalar is not 0.
    fn signs_of_condition(&mut self, value: Value, ty: Type) -> Result<VReg, Declined> {
        let value = self.func.dfg.resolve_aliases(value);
        if let Some(inst) = self.definition(value)
            && let InstructionData::FloatCompare { cond, args, .. } = self.func.dfg.insts[inst]
            && self.ty(args[0]) == ty
        {
            let lane = self.fresh(VECTOR);
            self.compare_floats(lane, cond, args)?;
            return Ok(lane);
        }
        if self.ty(value) != types::I8 {
            return Err(Declined("a selection by a number"));
        }
        // Whatever is not 0 counts as true.
        let condition = self.condition(value)?;
        let (bool, sign) = (self.fresh(GENERAL), self.fresh(GENERAL));
        self.set_bool(bool, condition);
        self.shift_left(sign, bool, (ty.bits() - 1) as u8);
        Ok(self.lowest_lane(sign, ty.bits() == 64))
    }

    /// Emits the lower halves of products of lanes of 64 bits.
    fn multiply(&mut self, to: VReg, ty: Type, a: Value, b: Value) -> Result<(), Declined> {
        let length = length(ty);
        let (a, b) = if self.is_constant(a) { (b, a) } else { (a, b) };
        let (a_is_half, b_is_half) = (self.is_half(a), self.is_half(b));
        let half_product = opcodes::MUL_HALVES;
        if a_is_half && b_is_half {
            let (left, right) = (self.get(self.half(a))?, self.source(self.half(b), true)?);
            self.three(to, half_product, length, left, right);
            return Ok(());
        }
        let (left, right) = (self.get(self.half(a))?, self.get(self.half(b))?);
        // (a₁ 2³² + a₀) (b₁ 2³² + b₀) = (a₁ b₀ + a₀ b₁) 2³² + a₀ b₀, without what is above 2⁶⁴.
        let mut upper = None;
        for (half, of, by) in [(a_is_half, left, right), (b_is_half, right, left)] {
            if half {
                continue;
            }
            let [shifted, product] = [(); 2].map(|()| self.fresh(VECTOR));
            self.shift_by(shifted, ty, Shift::Right, of, 32);
            self.three(product, half_product, length, shifted, by);
            upper = Some(match upper {
                None => product,
                Some(other) => {
                    let sum = self.fresh(VECTOR);
                    self.three(sum, opcodes::add_ints(true), length, product, other);
                    sum
                }
            });
        }
        let upper = upper.ok_or(Declined("a product of halves"))?;
        let [lower, shifted] = [(); 2].map(|()| self.fresh(VECTOR));
        self.shift_by(shifted, ty, Shift::Left, upper, 32);
        self.three(lower, half_product, length, left, right);
        self.three(to, opcodes::add_ints(true), length, lower, shifted);
        Ok(())
    }

    /// Emits the shift to the right of lanes of 64 bits, copies of the sign from the left.
    fn shift_with_sign(&mut self, to: VReg, ty: Type, args: &[Value]) -> Result<(), Declined> {
        let length = length(ty);
        let from = self.get(args[0])?;
        let [negative, signs, shifted] = [(); 3].map(|()| self.fresh(VECTOR));
        if let Some(bits) = self.integer(args[1]) {
            let bits = (bits & 63) as u8;
            if bits == 63 {
                self.negative(to, ty, from);
                return Ok(());
            }
            self.negative(negative, ty, from);
            self.shift_by(signs, ty, Shift::Left, negative, 64 - bits);
            self.shift_by(shifted, ty, Shift::Right, from, bits);
        } else {
            let count = self.get(args[1])?;
            let [bits, rest] = [(); 2].map(|()| self.fresh(GENERAL));
            self.and_constant(bits, count, 63);
            let all = self.general_constant(64);
            self.subtract(rest, all, bits);
            self.negative(negative, ty, from);
            // A shift by 64 leaves zeros.
            for (to, kind, of, by) in
                [(signs, Shift::Left, negative, rest), (shifted, Shift::Right, from, bits)]
            {
                let by = self.lowest_lane(by, false);
                self.three(to, opcodes::shift(kind, true), length, of, by);
            }
        }
        self.three(to, opcodes::OR, length, shifted, signs);
        Ok(())
    }

    /// Emits a lane, as a scalar.
    fn take_lane(&mut self, to: VReg, from: Value, lane: u8) -> Result<(), Declined> {
        let ty = self.ty(from);
        let bits = ty.lane_bits();
        let in_half = (128 / bits) as u8;
        let mut vector = self.get(from)?;
        if lane >= in_half {
            let upper = self.fresh(VECTOR);
            self.upper_half(upper, vector);
            vector = upper;
        }
        let lane = lane % in_half;
        if bits == 8 {
            let byte = Maker::vector(opcodes::BYTE_TO_GENERAL, Length::L128).read(vector);
            self.push(byte.def_place(to).byte(lane));
            return Ok(());
        }
        let wide = wide(ty)?;
        if lane > 0 {
            let moved = self.fresh(VECTOR);
            self.shuffle(moved, vector, if wide { UPPER_TO_LOWER } else { lane });
            vector = moved;
        }
        self.lowest_as_scalar(to, vector, ty.lane_type());
        Ok(())
    }

    /// The scalars that an insertion into the last lane, and those before it, put into all lanes.
    fn all_lanes(&self, last: ir::Inst) -> Option<Vec<Value>> {
        let dfg = &self.func.dfg;
        let ty = self.ty(dfg.first_result(last));
        let mut lanes = Vec::new();
        let mut inst = last;
        for lane in (0..ty.lane_count()).rev() {
            let before = match dfg.insts[inst] {
                InstructionData::TernaryImm8 { opcode: Opcode::Insertlane, args, imm }
                    if u32::from(imm) == lane =>
                {
                    lanes.push(args[1]);
                    args[0]
                }
                InstructionData::Unary { opcode: Opcode::ScalarToVector, arg } if lane == 0 => {
                    lanes.push(arg);
                    lanes.reverse();
                    return Some(lanes);
                }
                _ => return None,
            };
            inst = self.definition(dfg.resolve_aliases(before))?;
        }
        None
    }

    /// Emits the vector of some scalars: each half, and then both.
    fn assemble(&mut self, to: VReg, ty: Type, lanes: &[Value]) -> Result<(), Declined> {
        let wide = wide(ty)?;
        let halves = if ty.bits() == 256 { 2 } else { 1 };
        let mut made = [to; 2];
        for (half, lanes) in made.iter_mut().zip(lanes.chunks(lanes.len() / halves)) {
            let mut vector = self.get(lanes[0])?;
            let is_int = ty.lane_type().is_int();
            if is_int {
                vector = self.lowest_lane(vector, wide);
            }
            for (lane, scalar) in lanes.iter().enumerate().skip(1) {
                let from = self.get(*scalar)?;
                let is_last = lane + 1 == lanes.len();
                let next = if is_last && halves == 1 { to } else { self.fresh(VECTOR) };
                let (op, at) = match (is_int, wide) {
                    (true, _) => (opcodes::insert_general(wide), Some(lane as u8)),
                    (false, true) => (opcodes::LOWER_TOGETHER, None),
                    // The bits above those of masks of zeros are the place.
                    (false, false) => (opcodes::INSERT_FLOAT, Some((lane as u8) << 4)),
                };
                let insert = Maker::vector(op, Length::L128).def(next).with(vector).from(from);
                self.push(match at {
                    Some(at) => insert.byte(at),
                    None => insert,
                });
                vector = next;
            }
            *half = vector;
        }
        if let (2, [low, high]) = (halves, made) {
            let insert = Maker::vector(opcodes::insert_half(false), Length::L256);
            self.push(insert.def(to).with(low).from(high).byte(1));
        }
        Ok(())
    }

    /// Emits a vector with a scalar in one lane.
    fn put_lane(&mut self, to: VReg, args: [Value; 2], lane: u8) -> Result<(), Declined> {
        let (ty, scalar) = (self.ty(args[0]), self.ty(args[1]));
        let wide = wide(ty)?;
        let (vector, mut from) = (self.get(args[0])?, self.get(args[1])?);
        if scalar.is_int() && ty.bits() <= 128 {
            let insert = Maker::vector(opcodes::insert_general(wide), Length::L128);
            self.push(insert.def(to).with(vector).from(from).byte(lane));
            return Ok(());
        }
        if scalar.is_int() {
            from = self.lowest_lane(from, wide);
        }
        let everywhere = self.fresh(VECTOR);
        let broadcast = Maker::vector(opcodes::broadcast(wide), length(ty));
        self.push(broadcast.def(everywhere).from(from));
        let place = if wide { 0b11 << (2 * lane) } else { 1 << lane };
        let blend = Maker::vector(opcodes::BLEND_BY_CONSTANT, length(ty)).def(to);
        self.push(blend.with(vector).from(everywhere).byte(place));
        Ok(())
    }

    /// Emits the lower bits of lanes, next to each other.
    fn truncate(&mut self, to: VReg, ty: Type, value: Value) -> Result<(), Declined> {
        let of = self.ty(value);
        let (size, kept) = (of.lane_type().bytes() as usize, ty.lane_type().bytes() as usize);
        if !matches!((size, kept), (8, 4 | 1) | (4, 1)) {
            return Err(Declined("a truncation of other lanes"));
        }
        let from = self.get(value)?;
        if (of.bits(), kept) == (256, 4) {
            let numbers: Vec<u8> = [0u32, 2, 4, 6, 0, 2, 4, 6].map(u32::to_le_bytes).concat();
            let numbers = self.pooled(&numbers);
            let order = self.fresh(VECTOR);
            self.push(Maker::vector(opcodes::LOAD, Length::L256).def(order).at(numbers));
            let op = by_lane(opcodes::PERMUTE, false);
            self.three(to, op, Length::L256, order, from);
            return Ok(());
        }
        // The bytes of each half of the vector are shuffled to where they belong, with zeros elsewhere.
        let halves = if of.bits() == 256 { 2 } else { 1 };
        let lanes = of.lane_count() as usize / halves;
        let mut order = vec![0x80; 16 * halves];
        for half in 0..halves {
            for lane in 0..lanes {
                for byte in 0..kept {
                    let place = (half * lanes + lane) * kept + byte;
                    order[16 * half + place] = (lane * size + byte) as u8;
                }
            }
        }
        let order = self.pooled(&order);
        if halves == 1 {
            self.push(
                Maker::vector(opcodes::SHUFFLE_BYTES, Length::L128).def(to).with(from).at(order),
            );
            return Ok(());
        }
        let [shuffled, upper] = [(); 2].map(|()| self.fresh(VECTOR));
        let shuffle = Maker::vector(opcodes::SHUFFLE_BYTES, Length::L256).def(shuffled);
        self.push(shuffle.with(from).at(order));
        self.upper_half(upper, shuffled);
        self.three(to, opcodes::OR, Length::L128, shuffled, upper);
        Ok(())
    }

    /// Emits the conversion of signed integers of 64 bits to `f64`: the sum of two floats that are not rounded.
    fn ints_to_floats(&mut self, to: VReg, ty: Type, value: Value) -> Result<(), Declined> {
        let length = length(ty);
        let from = self.get(value)?;
        let zero = self.zero(ty);
        let [signed, upper, exponent, high, low] = [(); 5].map(|()| self.fresh(VECTOR));
        // Bits 48 to 63 with their sign, in the upper half of the lane: as a part of the float's bits they count
        // 2⁴⁸ each.
        let (op, digit) = opcodes::shift_by_constant(Shift::RightSigned, false);
        let shift = Maker::vector(op, length).def_vvvv(signed).from(from).digit(digit);
        self.push(shift.byte(16));
        let words = Maker::vector(opcodes::BLEND_WORDS, length).def(upper).with(signed);
        self.push(words.from(zero).byte(0b0011_0011));
        let unit = self.in_all_lanes(UPPER_AS_FLOAT.to_bits(), true, length);
        self.three(exponent, opcodes::add_ints(true), length, upper, unit);
        let both = self.in_all_lanes((UPPER_AS_FLOAT + INT_AS_FLOAT).to_bits(), true, length);
        self.three(high, opcodes::float(opcodes::SUB, true, true), length, exponent, both);
        // Bits 0 to 47, as the lower bits of a float.
        let unit = self.in_all_lanes(INT_AS_FLOAT.to_bits(), true, length);
        let words = Maker::vector(opcodes::BLEND_WORDS, length).def(low).with(from);
        self.push(words.from(unit).byte(0b1000_1000));
        self.three(to, opcodes::float(opcodes::ADD, true, true), length, high, low);
        Ok(())
    }

    /// Emits the conversion of signed integers of 64 bits to `f32`, one after the other.
    fn ints_to_narrow_floats(&mut self, to: VReg, value: Value) -> Result<(), Declined> {
        let lanes = self.ty(value).lane_count() as u8;
        let none = self.zero(types::F64X2);
        let mut made = none;
        for lane in 0..lanes {
            let (int, float) = (self.fresh(GENERAL), self.fresh(VECTOR));
            self.take_lane(int, value, lane)?;
            let convert = Maker::vector(opcodes::from_general(true, false), Length::L128);
            self.push(convert.def(float).with(none).from(int));
            let all = if lane + 1 == lanes { to } else { self.fresh(VECTOR) };
            let insert = Maker::vector(opcodes::INSERT_FLOAT, Length::L128).def(all);
            self.push(insert.with(made).from(float).byte(lane << 4));
            made = all;
        }
        Ok(())
    }

    /// Emits the conversion of floats to integers that saturates, a NaN being 0: of a scalar to a general
    /// register, or of lanes.
    fn floats_to_ints(&mut self, to: VReg, ty: Type, value: Value) -> Result<(), Declined> {
        let of = self.ty(value);
        let (from_wide, to_wide) = (wide(of)?, wide(ty)?);
        let own = length(ty);
        let mut from = self.get(value)?;
        let mut floats = length(of);
        if to_wide && !from_wide {
            // Each `f32` is an `f64`, too.
            let promoted = self.fresh(VECTOR);
            self.push(Maker::vector(opcodes::PROMOTE, own).def(promoted).from(from));
            (from, floats) = (promoted, own);
        }
        let of_wide = from_wide || to_wide;
        let [converted, capped] = [(); 2].map(|()| self.fresh(VECTOR));
        // What does not fit becomes the least integer, also a NaN.
        if to_wide {
            self.lane_by_lane(converted, from, ty.lane_count() as u8);
        } else {
            let op = opcodes::to_ints(from_wide, false);
            self.push(Maker::vector(op, floats).def(converted).from(from));
        }
        // If the lanes of the floats are wider than those of the integers, so are those of the masks.
        let narrows = from_wide && !to_wide && of.is_vector();
        let mask = |this: &mut Self, cond: FloatCC, right: Source| {
            let op = opcodes::float(opcodes::COMPARE, of_wide, true);
            let lanes = this.fresh(VECTOR);
            let compare = Maker::vector(op, floats).def(lanes).with(from).from(right);
            this.push(compare.byte(float_predicate(cond)));
            if !narrows {
                return lanes;
            }
            let narrow = this.fresh(VECTOR);
            this.narrow_lanes(narrow, lanes, floats);
            narrow
        };
        let limit = if to_wide { TOO_LARGE } else { -f64::from(i32::MIN) };
        let limit = if of_wide { limit.to_bits() } else { u64::from((limit as f32).to_bits()) };
        let limit = self.in_all_lanes(limit, of_wide, floats);
        let large = mask(self, FloatCC::GreaterThanOrEqual, limit);
        let ordered = mask(self, FloatCC::Ordered, from.into());
        // The least integer with all bits negated is the greatest.
        self.three(capped, opcodes::XOR, own, converted, large);
        let lanes = if ty.is_vector() { to } else { self.fresh(VECTOR) };
        self.three(lanes, opcodes::AND, own, capped, ordered);
        if !ty.is_vector() {
            let op = by_lane(opcodes::TO_GENERAL, to_wide);
            self.push(Maker::vector(op, Length::L128).read(lanes).def_place(to));
        }
        Ok(())
    }

    /// Emits the halves of lanes of 64 bits whose bits are all equal, next to each other.
    fn narrow_lanes(&mut self, to: VReg, from: VReg, of: Length) {
        if of == Length::L128 {
            return self.shuffle(to, from, 0b10_00_10_00);
        }
        let together = self.fresh(VECTOR);
        let permute = Maker::vector(opcodes::PERMUTE_SHORT, of).def(together).from(from);
        self.push(permute.byte(0b10_00_10_00));
        let permute = Maker::vector(opcodes::PERMUTE_WIDE, of).def(to).from(together);
        self.push(permute.byte(0b10_00_10_00));
    }

    /// Emits the conversion of `f64` lanes to integers of 64 bits, one after the other.
    fn lane_by_lane(&mut self, to: VReg, from: VReg, lanes: u8) {
        let mut halves = Vec::new();
        for half in 0..lanes.div_ceil(2) {
            let mut vector = from;
            if half > 0 {
                vector = self.fresh(VECTOR);
                self.upper_half(vector, from);
            }
            let mut made = None;
            for lane in 0..lanes.min(2) {
                let mut single = vector;
                if lane > 0 {
                    single = self.fresh(VECTOR);
                    self.shuffle(single, vector, UPPER_TO_LOWER);
                }
                let int = self.fresh(GENERAL);
                let convert = Maker::vector(opcodes::TO_GENERAL_INT, Length::L128);
                self.push(convert.def(int).from(single));
                made = Some(match made {
                    None => self.lowest_lane(int, true),
                    Some(before) => {
                        let both = self.fresh(VECTOR);
                        let insert = Maker::vector(opcodes::insert_general(true), Length::L128);
                        self.push(insert.def(both).with(before).from(int).byte(lane));
                        both
                    }
                });
            }
            halves.extend(made);
        }
        let maker = match halves[..] {
            [low, high] => {
                let insert = Maker::vector(opcodes::insert_half(false), Length::L256);
                insert.def(to).with(low).from(high).byte(1)
            }
            _ => Maker::vector(opcodes::LOAD, Length::L128).def(to).from(halves[0]),
        };
        self.push(maker);
    }
}
