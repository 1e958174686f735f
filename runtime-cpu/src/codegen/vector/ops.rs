//! Elementwise operations on groups of elements. What there is no vector instruction for is done
//! lane by lane, by the scalar code.

use super::super::emitter::clif;
use super::super::scalar::{float_cc, int_cc};
use super::lanes::{Lanes, VectorEmitter, Vectors};
use super::target::{converts, converts_in_place};
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::{Binary, Inst, Literal, Op, Ty, Unary, Value};

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// An operation on scalars, done lane by lane.
    fn by_lane(
        &mut self,
        operands: &[(&Lanes, Ty)],
        to: Ty,
        f: impl Fn(&mut super::super::emitter::FunctionEmitter<'a, '_>, &[ir::Value]) -> ir::Value,
    ) -> Lanes {
        let mut results = Vec::with_capacity(self.elements);
        for element in 0..self.elements {
            let scalars: Vec<ir::Value> =
                operands.iter().map(|(lanes, ty)| self.extract(lanes, *ty, element)).collect();
            results.push(f(self.c, &scalars));
        }
        self.assemble(&results, to)
    }

    /// Emits an elementwise instruction.
    pub fn pure(&mut self, inst: &'a Inst) {
        let result = inst.results[0];
        let lanes = match &inst.op {
            Op::Const(literal) => {
                self.c.constants.insert(result, *literal);
                Lanes::Uniform(self.c.literal(*literal))
            }
            Op::Text(text) => {
                let address = self.c.unit.texts.address(text);
                Lanes::Uniform(self.c.int(address))
            }
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) => {
                if op.compares() && self.c.element_ty(*a) == Ty::I64 {
                    self.compared.insert(result, (*op, *a, *b));
                }
                self.note_uniform_cases(result, *op, *a, *b);
                if self.facts.is_descending(result) {
                    let first = self.first_of_descending(*op, *a, *b);
                    self.descending.insert(result, first);
                }
                self.binary(*op, *a, *b, self.facts.of(result))
            }
            Op::Fma(a, b, c) => {
                let ty = self.c.element_ty(*a);
                let (a, b, c) = (self.get(*a), self.get(*b), self.get(*c));
                match (&a, &b, &c) {
                    (Lanes::Uniform(a), Lanes::Uniform(b), Lanes::Uniform(c)) => {
                        Lanes::Uniform(self.c.b.ins().fma(*a, *b, *c))
                    }
                    _ => {
                        let (a, b, c) = (self.wide(&a, ty), self.wide(&b, ty), self.wide(&c, ty));
                        let each = |n| self.c.b.ins().fma(a[n], b[n], c[n]);
                        Lanes::Varying((0..a.len()).map(each).collect())
                    }
                }
            }
            Op::Select(c, a, b) => {
                let ty = self.c.element_ty(*a);
                let (c, a, b) = (self.get(*c), self.get(*a), self.get(*b));
                self.choose(&c, &a, &b, ty)
            }
            Op::Convert(to, a) => {
                let (from, a) = (self.c.element_ty(*a), self.get(*a));
                self.convert(*to, from, &a)
            }
            Op::Bits(to, a) => match self.get(*a) {
                Lanes::Uniform(a) => Lanes::Uniform(self.c.bits(*to, a)),
                Lanes::Mask(bits, a) => Lanes::Mask(bits, a),
                a @ (Lanes::Affine(_) | Lanes::Varying(_)) => {
                    let vectors = self.wide(&a, self.c.element_ty(*self.operand(inst)));
                    let lane = self.lane(*to);
                    let vectors = vectors.iter().map(|v| self.cast(lane, *v)).collect();
                    Lanes::Varying(vectors)
                }
            },
            Op::Slice(array, start) => {
                let (at, start) = (self.uniform(*array), self.uniform(*start));
                let ty = self.c.element_ty(*array);
                Lanes::Uniform(self.c.address(at, start, ty))
            }
            Op::Load { array, index } => {
                if let (Lanes::Affine(index), Ty::I64) =
                    (self.get(*index), self.c.element_ty(*array))
                {
                    let at = self.uniform(*array);
                    let address = self.address(at, index, Ty::I64);
                    self.sources.insert(result, address);
                }
                self.load(*array, *index)
            }
            Op::Alloc(..)
            | Op::Store { .. }
            | Op::Copy { .. }
            | Op::If { .. }
            | Op::While { .. }
            | Op::For { .. }
            | Op::Call(..)
            | Op::Compute(..)
            | Op::Extern(..)
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark
            | Op::Compact { .. } => bug!("only elementwise operations are emitted as such"),
        };
        self.set(result, lanes);
    }

    /// The operand of a reinterpretation of bits.
    fn operand(&self, inst: &'a Inst) -> &'a Value {
        match &inst.op {
            Op::Bits(_, a) => a,
            _ => bug!("only `bits` has this operand"),
        }
    }

    fn unary(&mut self, op: Unary, a: Value) -> Lanes {
        let ty = self.c.element_ty(a);
        match self.get(a) {
            Lanes::Uniform(a) => Lanes::Uniform(self.c.unary(op, ty, a)),
            a @ Lanes::Mask(..) => self.not(&a),
            a @ (Lanes::Affine(_) | Lanes::Varying(_)) => {
                let vectors = self.wide(&a, ty);
                Lanes::Varying(vectors.iter().map(|v| self.c.unary(op, ty, *v)).collect())
            }
        }
    }

    /// An operation on two operands.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value, shape: Uniformity) -> Lanes {
        let ty = self.c.element_ty(a);
        let known = self.c.constants.get(&b).copied();
        let (x, y) = (self.get(a), self.get(b));
        match (&x, &y) {
            (Lanes::Uniform(x), Lanes::Uniform(y)) => {
                return Lanes::Uniform(self.c.binary(op, ty, *x, *y, known));
            }
            (Lanes::Affine(x) | Lanes::Uniform(x), Lanes::Affine(y) | Lanes::Uniform(y))
                if shape == Uniformity::Affine =>
            {
                return Lanes::Affine(self.c.binary(op, ty, *x, *y, known));
            }
            _ => {}
        }
        if ty == Ty::Bool {
            return self.logic(op, &x, &y);
        }
        match (&x, &y) {
            (Lanes::Affine(x), Lanes::Uniform(y))
                if op.compares() && self.facts.cannot_overflow(a) =>
            {
                return self.compare_places(int_cc(op, ty), *x, *y);
            }
            (Lanes::Uniform(x), Lanes::Affine(y))
                if op.compares() && self.facts.cannot_overflow(b) =>
            {
                return self.compare_places(int_cc(op, ty).swap_args(), *y, *x);
            }
            _ => {}
        }
        let int = ty.is_int();
        if (op, ty) == (Binary::Mul, Ty::I64)
            && let Some(lanes) = self
                .product_by_shifts((a, &x), (b, &y))
                .or_else(|| self.low_product((a, &x), (b, &y)))
        {
            return lanes;
        }
        match op {
            Binary::Div | Binary::Rem | Binary::MulHigh if int => {
                if let Some(lanes) = self.high_product(op, ty, (&x, &y), known) {
                    if op == Binary::MulHigh {
                        self.high_products.insert((a, b));
                    }
                    return lanes;
                }
                let each = |c: &mut super::super::emitter::FunctionEmitter<'a, '_>,
                            s: &[ir::Value]| {
                    c.binary(op, ty, s[0], s[1], known)
                };
                self.by_lane(&[(&x, ty), (&y, ty)], ty, each)
            }
            Binary::Shl | Binary::Shr | Binary::ShrZero => {
                if let Lanes::Uniform(count) = y {
                    let vectors = self.wide(&x, ty);
                    let shifted = vectors.iter().map(|v| self.c.binary(op, ty, *v, count, None));
                    return Lanes::Varying(shifted.collect());
                }
                let each = |c: &mut super::super::emitter::FunctionEmitter<'a, '_>,
                            s: &[ir::Value]| {
                    c.binary(op, ty, s[0], s[1], known)
                };
                self.by_lane(&[(&x, ty), (&y, ty)], ty, each)
            }
            _ => {
                let (x, y) = (self.wide(&x, ty), self.wide(&y, ty));
                let mut out = Vectors::new();
                for n in 0..x.len() {
                    out.push(self.two(op, ty, x[n], y[n]));
                }
                match op.compares() {
                    true => Lanes::Mask(self.lane(ty).lane_bits() as u8, out),
                    false => Lanes::Varying(out),
                }
            }
        }
    }

    /// The product of `i64`s with a constant that is a power of two, or a sum or difference of two: few vectors
    /// have products of 64 bits as an instruction.
    fn product_by_shifts(&mut self, a: (Value, &Lanes), b: (Value, &Lanes)) -> Option<Lanes> {
        let constant = |v: Value| match self.c.constants.get(&v) {
            Some(Literal::I64(factor)) => Some(*factor),
            _ => None,
        };
        let (factor, of) = match (constant(a.0), constant(b.0)) {
            (Some(factor), None) => (factor, b.1),
            (None, Some(factor)) => (factor, a.1),
            _ => return None,
        };
        let factor = u64::try_from(factor).ok().filter(|factor| *factor > 0)?;
        // The lowest bit that is set, and the power of two for the others.
        let low = factor.trailing_zeros();
        let rest = factor >> low;
        let (high, adds) = match (rest - 1, rest + 1) {
            (0, _) => (None, true),
            (less, _) if less.is_power_of_two() => (Some(less.trailing_zeros()), true),
            (_, more) if more.is_power_of_two() => (Some(more.trailing_zeros()), false),
            _ => return None,
        };
        let vectors = self.wide(of, Ty::I64);
        let mut out = Vectors::new();
        for vector in vectors {
            let mut product = vector;
            if let Some(high) = high {
                let shifted = self.c.b.ins().ishl_imm_u(vector, i64::from(high));
                product = match adds {
                    true => self.c.b.ins().iadd(shifted, vector),
                    false => self.c.b.ins().isub(shifted, vector),
                };
            }
            if low > 0 {
                product = self.c.b.ins().ishl_imm_u(product, i64::from(low));
            }
            out.push(product);
        }
        Some(Lanes::Varying(out))
    }

    /// An operation on two vectors; comparisons return masks.
    fn two(&mut self, op: Binary, ty: Ty, x: ir::Value, y: ir::Value) -> ir::Value {
        if op.compares() {
            return match ty.is_float() {
                true => self.c.b.ins().fcmp(float_cc(op), x, y),
                false if self.facts.only_byte_lanes => self.c.b.ins().icmp(int_cc(op, ty), x, y),
                // Chars are there as 32 bits, of which the upper ones are 0.
                false => self.c.b.ins().icmp(int_cc(op, Ty::I32), x, y),
            };
        }
        let ty = if ty == Ty::U8 { Ty::I32 } else { ty };
        self.c.binary(op, ty, x, y, None)
    }

    /// A logical operation on two bools.
    fn logic(&mut self, op: Binary, x: &Lanes, y: &Lanes) -> Lanes {
        let bits = match (x, y) {
            (Lanes::Mask(bits, _), _) | (_, Lanes::Mask(bits, _)) => *bits,
            _ => self.mask_bits(),
        };
        let (x, y) = (self.mask(x, bits), self.mask(y, bits));
        let mut out = Vectors::new();
        for (x, y) in x.iter().zip(&y) {
            let (x, y) = (*x, *y);
            out.push(match op {
                Binary::And => self.c.b.ins().band(x, y),
                Binary::Or => self.c.b.ins().bor(x, y),
                Binary::Xor | Binary::Ne => self.c.b.ins().bxor(x, y),
                Binary::Eq => {
                    let differ = self.c.b.ins().bxor(x, y);
                    self.c.b.ins().bnot(differ)
                }
                Binary::Lt => self.c.b.ins().band_not(y, x),
                Binary::Gt => self.c.b.ins().band_not(x, y),
                Binary::Le => {
                    let above = self.c.b.ins().band_not(x, y);
                    self.c.b.ins().bnot(above)
                }
                Binary::Ge => {
                    let below = self.c.b.ins().band_not(y, x);
                    self.c.b.ins().bnot(below)
                }
                Binary::Add
                | Binary::Sub
                | Binary::Mul
                | Binary::MulHigh
                | Binary::Div
                | Binary::Rem
                | Binary::Min
                | Binary::Max
                | Binary::Shl
                | Binary::Shr
                | Binary::ShrZero => bug!("the verifier allows no arithmetic on bools"),
            });
        }
        Lanes::Mask(bits, out)
    }

    /// A conversion to another scalar type.
    pub fn convert(&mut self, to: Ty, from: Ty, a: &Lanes) -> Lanes {
        if let Lanes::Uniform(a) = a {
            return Lanes::Uniform(self.c.convert(to, from, *a));
        }
        if to == from {
            return a.clone();
        }
        // AVX-512 has an instruction for it.
        if (from, to) == (Ty::F64, Ty::I64) && !(self.c.is_wide() && self.c.unit.packs_lanes) {
            return self.floats_to_ints(a);
        }
        if self.has_equal_lanes() && converts_in_place(from, to) {
            return self.convert_in_place(to, from, a);
        }
        if let (Lanes::Affine(base), Ty::I32) = (a, to) {
            // The low bits of a sum are those of the low bits.
            let base = self.c.b.ins().ireduce(types::I32, *base);
            let scalars: Vec<ir::Value> =
                (0..self.elements).map(|n| self.c.b.ins().iadd_imm_s(base, n as i64)).collect();
            return self.assemble(&scalars, Ty::I32);
        }
        if !converts(from, to) {
            return self.by_lane(&[(a, from)], to, |c, s| c.convert(to, from, s[0]));
        }
        if from == Ty::Bool {
            return self.ones(to, a);
        }
        let vectors = self.wide(a, from);
        match (from, to) {
            (Ty::F32, Ty::F64) => {
                self.halves(&vectors, types::F32X4, |c, low| c.b.ins().fvpromote_low(low))
            }
            (Ty::F64, Ty::F32) => {
                let mut out = Vectors::new();
                for two in vectors.chunks(2) {
                    let low = self.c.b.ins().fvdemote(two[0]);
                    let high = self.c.b.ins().fvdemote(two[two.len() - 1]);
                    let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
                    out.push(self.shuffle(low, high, bytes, types::F32X4));
                }
                Lanes::Varying(out)
            }
            (Ty::I32 | Ty::U8, Ty::F64) => self.halves(&vectors, types::I32X4, |c, low| {
                let wide = c.b.ins().swiden_low(low);
                c.b.ins().fcvt_from_sint(types::F64X2, wide)
            }),
            (Ty::I32 | Ty::U8, Ty::F32) | (Ty::I64, Ty::F64) => {
                let lane = self.lane(to);
                let each = |v: &ir::Value| self.c.b.ins().fcvt_from_sint(lane, *v);
                Lanes::Varying(vectors.iter().map(each).collect())
            }
            (Ty::F32, Ty::I32) => {
                let each = |v: &ir::Value| self.c.b.ins().fcvt_to_sint_sat(types::I32X4, *v);
                Lanes::Varying(vectors.iter().map(each).collect())
            }
            (Ty::I32 | Ty::U8, Ty::I64) => Lanes::Varying(self.widen(&vectors)),
            (Ty::I64, Ty::I32) => {
                Lanes::Varying(vectors.chunks(2).map(|two| self.evens(two)).collect())
            }
            (Ty::U8, Ty::I32) => Lanes::Varying(vectors),
            (Ty::I64, Ty::U8 | Ty::Bool) => {
                let narrow: Vectors = vectors.chunks(2).map(|two| self.evens(two)).collect();
                self.low_bits(&narrow, to)
            }
            (Ty::I32 | Ty::U8, _) => self.low_bits(&vectors, to),
            (Ty::F32 | Ty::F64 | Ty::I64 | Ty::Bool, _) => {
                bug!("other conversions are done lane by lane")
            }
        }
    }

    /// A conversion of floats to ints of as many bits, for which there is no vector instruction. Of the sum of a small
    /// whole number and 1.5 * 2^52, which is exact, the low bits are those of the number as an int. If a lane is not small,
    /// all are converted one by one.
    fn floats_to_ints(&mut self, a: &Lanes) -> Lanes {
        /// A float whose lowest bit is that of the units, with the same exponent also if smaller numbers are added.
        const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
        /// Numbers whose absolute values are less are small.
        const LIMIT: f64 = (1_u64 << 51) as f64;
        let vectors = self.wide(a, Ty::F64);
        let (floats, ints) = (self.lane(Ty::F64), self.lane(Ty::I64));
        let all = |number: f64| vec![number.to_bits(); floats.lane_count() as usize];
        let (limit, shift) =
            (self.constant(&all(LIMIT), floats), self.constant(&all(SHIFT), floats));
        let shift_bits = self.constant(&all(SHIFT), ints);
        let (mut whole, mut large) = (Vectors::new(), Vectors::new());
        for vector in &vectors {
            let number = self.c.b.ins().trunc(*vector);
            let size = self.c.b.ins().fabs(number);
            // A NaN is not small.
            large.push(self.c.b.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, size, limit));
            whole.push(number);
        }
        let is_large = self.any(&large);
        let [small, one_by_one, done] = [(); 3].map(|()| self.c.b.create_block());
        let results: Vectors =
            vectors.iter().map(|_| self.c.b.append_block_param(done, ints)).collect();
        self.c.b.set_cold_block(one_by_one);
        self.c.b.ins().brif(is_large, one_by_one, &[], small, &[]);
        self.c.b.switch_to_block(small);
        let mut converted = Vec::new();
        for number in whole {
            let shifted = self.c.b.ins().fadd(number, shift);
            let bits = self.cast(ints, shifted);
            converted.push(self.c.b.ins().isub(bits, shift_bits).into());
        }
        self.c.b.ins().jump(done, &converted);
        self.c.b.switch_to_block(one_by_one);
        let lanes =
            self.by_lane(&[(a, Ty::F64)], Ty::I64, |c, s| c.convert(Ty::I64, Ty::F64, s[0]));
        let lanes = self.wide(&lanes, Ty::I64);
        let lanes: Vec<_> = lanes.iter().map(|lanes| (*lanes).into()).collect();
        self.c.b.ins().jump(done, &lanes);
        self.c.b.switch_to_block(done);
        Lanes::Varying(results)
    }

    /// A conversion of each lane in its place.
    fn convert_in_place(&mut self, to: Ty, from: Ty, a: &Lanes) -> Lanes {
        if from == Ty::Bool {
            return self.ones(to, a);
        }
        if let (Lanes::Affine(base), Ty::I64) = (a, from)
            && self.lane(Ty::I64).bytes() as usize > self.c.vector_bytes
        {
            return match to {
                Ty::U8 | Ty::Bool => {
                    let narrow = self.numbers_in_halves(*base, types::I32);
                    self.low_bits(&narrow, to)
                }
                _ => Lanes::Varying(self.numbers_in_halves(*base, clif(to))),
            };
        }
        let vectors = self.wide(a, from);
        let lane = self.lane(to);
        let ints = self.lane(Ty::I32);
        let mut each = |f: &dyn Fn(&mut Self, ir::Value) -> ir::Value| -> Vectors {
            vectors.iter().map(|v| f(self, *v)).collect()
        };
        match (from, to) {
            (Ty::F32, Ty::F64) => Lanes::Varying(each(&|this, v| this.c.b.ins().fpromote(lane, v))),
            (Ty::F64, Ty::F32) => Lanes::Varying(each(&|this, v| this.c.b.ins().fdemote(lane, v))),
            (Ty::I32 | Ty::U8 | Ty::I64, Ty::F32 | Ty::F64) => {
                Lanes::Varying(each(&|this, v| this.c.b.ins().fcvt_from_sint(lane, v)))
            }
            (Ty::F32 | Ty::F64, Ty::I32 | Ty::I64) => {
                Lanes::Varying(each(&|this, v| this.c.b.ins().fcvt_to_sint_sat(lane, v)))
            }
            (Ty::I32 | Ty::U8, Ty::I64) => {
                Lanes::Varying(each(&|this, v| this.c.b.ins().sextend(lane, v)))
            }
            (Ty::I64, Ty::I32) => Lanes::Varying(each(&|this, v| this.c.b.ins().ireduce(lane, v))),
            (Ty::I64, Ty::U8 | Ty::Bool) => {
                let narrow = each(&|this, v| this.c.b.ins().ireduce(ints, v));
                self.low_bits(&narrow, to)
            }
            (Ty::U8, Ty::I32) => Lanes::Varying(vectors),
            (Ty::I32 | Ty::U8, _) => self.low_bits(&vectors, to),
            (Ty::F32 | Ty::F64 | Ty::I64 | Ty::Bool, _) => {
                bug!("other conversions are done lane by lane")
            }
        }
    }

    /// Element numbers from `base` on as lanes of 32 bits, each vector made of two halves: as ints of 64
    /// bits they need twice the room.
    fn numbers_in_halves(&mut self, base: ir::Value, to: ir::Type) -> Vectors {
        let whole = self.vector(to);
        let lanes = whole.lane_count() / 2;
        let half = |lane: ir::Type| lane.by(lanes).or_bug("a vector has two halves");
        let (ints, floats, bits) = (half(types::I64), half(to), half(types::I32));
        let all = self.c.b.ins().splat(ints, base);
        let mut halves = Vectors::new();
        for first in (0..self.elements as u64).step_by(lanes as usize) {
            let steps: Vec<u64> = (first..first + u64::from(lanes)).collect();
            let steps = self.constant(&steps, ints);
            let numbers = self.c.b.ins().iadd(all, steps);
            halves.push(match to.is_float() {
                true => {
                    let floats = self.c.b.ins().fcvt_from_sint(floats, numbers);
                    self.cast(bits, floats)
                }
                false => self.c.b.ins().ireduce(bits, numbers),
            });
        }
        let joined = halves.chunks(2).map(|two| {
            let both = self.c.b.ins().iconcat(two[0], two[1]);
            self.cast(whole, both)
        });
        joined.collect()
    }

    /// The low byte or bit of `i32`s.
    fn low_bits(&mut self, vectors: &[ir::Value], to: Ty) -> Lanes {
        let bits = self.c.b.ins().iconst(types::I32, if to == Ty::Bool { 1 } else { 255 });
        let vector = self.lane(Ty::I32);
        let bits = self.c.b.ins().splat(vector, bits);
        let low: Vectors = vectors.iter().map(|v| self.c.b.ins().band(*v, bits)).collect();
        match to {
            Ty::Bool => self.not_zero(&low),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => Lanes::Varying(low),
        }
    }

    /// Two vectors from each: of its low half, and of its high half.
    fn halves(
        &mut self,
        vectors: &[ir::Value],
        of: ir::Type,
        f: impl Fn(&mut super::super::emitter::FunctionEmitter<'a, '_>, ir::Value) -> ir::Value,
    ) -> Lanes {
        let bytes = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
        let mut out = Vectors::new();
        for vector in vectors {
            out.push(f(self.c, *vector));
            let high = self.shuffle(*vector, *vector, bytes, of);
            out.push(f(self.c, high));
        }
        Lanes::Varying(out)
    }

    /// 1 where the mask is set, else 0.
    fn ones(&mut self, to: Ty, a: &Lanes) -> Lanes {
        let one = match to {
            Ty::I32 | Ty::U8 | Ty::Bool => Literal::I32(1),
            Ty::I64 => Literal::I64(1),
            Ty::F32 => Literal::F32(1f32.to_bits()),
            Ty::F64 => Literal::F64(1f64.to_bits()),
        };
        let vector = self.lane(to);
        let masks = self.mask(a, vector.lane_bits() as u8);
        let one = self.c.literal(one);
        let one = self.c.b.ins().splat(vector, one);
        let mut out = Vectors::new();
        for mask in masks {
            let mask = self.cast(vector, mask);
            out.push(self.c.b.ins().band(mask, one));
        }
        Lanes::Varying(out)
    }

    /// The address of an element. Of an index that is a sum the first summand, which loops mostly leave
    /// invariant, is added to the array first, so that it can be hoisted.
    pub fn address(&mut self, array: ir::Value, index: ir::Value, ty: Ty) -> ir::Value {
        let dfg = &self.c.b.func.dfg;
        if let Some(inst) = dfg.value_def(index).inst()
            && dfg.insts[inst].opcode() == ir::Opcode::Iadd
        {
            let [first, second] = [0, 1].map(|n| dfg.inst_args(inst)[n]);
            let start = self.c.address(array, first, ty);
            return self.c.address(start, second, ty);
        }
        self.c.address(array, index, ty)
    }

    /// The array elements at an index; those of elements that do not take part are undefined.
    fn load(&mut self, array: Value, index: Value) -> Lanes {
        let ty = self.c.element_ty(array);
        let at = self.uniform(array);
        let flags = super::super::emitter::flags();
        match self.get(index) {
            Lanes::Uniform(index) => Lanes::Uniform(self.c.load(at, index, ty)),
            // At least one element is at work, so that the others are not beyond the borders that
            // memory has.
            Lanes::Affine(index) => {
                let vectors = self.load_consecutive(at, index, ty);
                self.loaded(vectors, ty)
            }
            // The last element is the first in memory. The others are not beyond the borders either.
            Lanes::Varying(_) if self.facts.is_descending(index) => {
                let first = self.descending[&index];
                let last = self.c.b.ins().iadd_imm_s(first, 1 - self.elements as i64);
                let mut vectors = self.load_consecutive(at, last, ty);
                vectors.reverse();
                for vector in &mut vectors {
                    *vector = self.reverse_lanes(*vector);
                }
                self.loaded(vectors, ty)
            }
            Lanes::Varying(_) if self.active.is_none() && self.sources.contains_key(&index) => {
                // To load an index twice is less than to take it out of a vector.
                let source = self.sources[&index];
                let mut found = Vec::with_capacity(self.elements);
                for element in 0..self.elements {
                    let index = self.c.b.ins().load(types::I64, flags, source, 8 * element as i32);
                    let address = self.c.address(at, index, ty);
                    found.push(self.c.b.ins().load(clif(ty), flags, address, 0));
                }
                self.assemble(&found, ty)
            }
            index @ (Lanes::Varying(_) | Lanes::Mask(..)) => {
                let index = match self.active.clone() {
                    // The first element may always be read.
                    Some(active) => {
                        let none = Lanes::Uniform(self.c.int(0));
                        self.choose(&active, &index, &none, Ty::I64)
                    }
                    None => index,
                };
                self.by_lane(&[(&index, Ty::I64)], ty, |c, s| {
                    let address = c.address(at, s[0], ty);
                    c.b.ins().load(clif(ty), flags, address, 0)
                })
            }
        }
    }

    /// The vectors of array elements from an index on; bools are numbers as they are in memory.
    fn load_consecutive(&mut self, array: ir::Value, index: ir::Value, ty: Ty) -> Vectors {
        let address = self.address(array, index, ty);
        let lane = self.lane(ty);
        let count = self.elements / lane.lane_count() as usize;
        // An address that goes on with the loop is not one from before it, where a check may be in
        // between.
        let flags = super::super::emitter::flags();
        let flags = if self.read_only { flags.with_readonly().with_can_move() } else { flags };
        if ty.size() == 1 && self.has_equal_lanes() {
            let bytes = self.vector(types::I8);
            let each = |n| {
                let at = n as i32 * bytes.bytes() as i32;
                let loaded = self.c.b.ins().load(bytes, flags, address, at);
                self.c.b.ins().uextend(lane, loaded)
            };
            return (0..count).map(each).collect();
        }
        if ty.size() == 1 && !self.facts.only_byte_lanes {
            let mut out = Vectors::new();
            for n in (0..count).step_by(2) {
                let bytes = self.c.b.ins().uload8x8(flags, address, 4 * n as i32);
                out.push(self.c.b.ins().uwiden_low(bytes));
                if n + 1 < count {
                    out.push(self.c.b.ins().uwiden_high(bytes));
                }
            }
            return out;
        }
        let bytes = lane.bytes() as i32;
        (0..count).map(|n| self.c.b.ins().load(lane, flags, address, bytes * n as i32)).collect()
    }

    /// Loaded vectors as lanes of a type.
    fn loaded(&mut self, vectors: Vectors, ty: Ty) -> Lanes {
        match ty {
            Ty::Bool => self.not_zero(&vectors),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => Lanes::Varying(vectors),
        }
    }

    /// The first element's value of a sum or difference that is one less for each further element.
    pub fn first_of_descending(&mut self, op: Binary, a: Value, b: Value) -> ir::Value {
        let [a, b] = [a, b].map(|v| match self.get(v) {
            Lanes::Uniform(first) | Lanes::Affine(first) => first,
            Lanes::Varying(_) | Lanes::Mask(..) => self.descending[&v],
        });
        self.c.binary(op, Ty::I64, a, b, None)
    }

    /// The lanes of a vector in reversed order; these are of at least 32 bits.
    fn reverse_lanes(&mut self, vector: ir::Value) -> ir::Value {
        let ty = self.c.b.func.dfg.value_type(vector);
        if self.has_equal_lanes() {
            // In wide code this is of lanes, not of bytes.
            return self.c.b.ins().bswap(vector);
        }
        let bytes = match ty.lane_bits() {
            64 => [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7],
            _ => [12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3],
        };
        self.shuffle(vector, vector, bytes, ty)
    }
}
