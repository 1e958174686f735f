//! Scalar operations, one element at a time.

use super::emitter::{FunctionEmitter, Product, clif, flags};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, InstructionData, Opcode, types};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Binary, Combine, Literal, Ty, Unary};

impl FunctionEmitter<'_, '_> {
    /// Emits a unary operation.
    pub fn unary(&mut self, op: Unary, ty: Ty, a: ir::Value) -> ir::Value {
        match op {
            Unary::Neg if ty.is_float() => self.b.ins().fneg(a),
            Unary::Neg => self.b.ins().ineg(a),
            Unary::Abs if ty.is_float() => self.b.ins().fabs(a),
            Unary::Abs => self.b.ins().iabs(a),
            // A comparison that is negated so becomes the opposite one.
            Unary::Not if ty == Ty::Bool => self.b.ins().icmp_imm_s(IntCC::Equal, a, 0),
            Unary::Not => self.b.ins().bnot(a),
            Unary::Sqrt => self.b.ins().sqrt(a),
            Unary::Floor => self.b.ins().floor(a),
            Unary::Ceil => self.b.ins().ceil(a),
            Unary::Trunc => self.b.ins().trunc(a),
            Unary::Nearest => self.b.ins().nearest(a),
        }
    }

    /// Emits a binary operation; `known` is the second operand if it is a constant.
    pub fn binary(
        &mut self,
        op: Binary,
        ty: Ty,
        a: ir::Value,
        b: ir::Value,
        known: Option<Literal>,
    ) -> ir::Value {
        if op.compares() {
            return if ty.is_float() {
                self.compare_floats(float_cc(op), a, b)
            } else {
                self.b.ins().icmp(int_cc(op, ty), a, b)
            };
        }
        let float = ty.is_float();
        match op {
            Binary::Add if float => self.b.ins().fadd(a, b),
            Binary::Sub if float => self.b.ins().fsub(a, b),
            Binary::Mul if float => self.b.ins().fmul(a, b),
            Binary::Div if float => self.b.ins().fdiv(a, b),
            Binary::Add => self.b.ins().iadd(a, b),
            Binary::Sub => self.b.ins().isub(a, b),
            Binary::Mul => self.low_word(a, b).unwrap_or_else(|| self.b.ins().imul(a, b)),
            Binary::MulHigh => self.high_word(a, b),
            Binary::Div => self.divide(a, b, known),
            Binary::Rem => self.remainder(a, b, known),
            Binary::Min if ty == Ty::U8 => self.b.ins().umin(a, b),
            Binary::Max if ty == Ty::U8 => self.b.ins().umax(a, b),
            Binary::Min => self.b.ins().smin(a, b),
            Binary::Max => self.b.ins().smax(a, b),
            Binary::And => self.within(a, b).unwrap_or_else(|| self.b.ins().band(a, b)),
            Binary::Or => self.b.ins().bor(a, b),
            Binary::Xor => self.b.ins().bxor(a, b),
            Binary::Shl => self.b.ins().ishl(a, b),
            Binary::Shr => self.b.ins().sshr(a, b),
            Binary::ShrZero => self.b.ins().ushr(a, b),
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                bug!("comparisons are above")
            }
        }
    }

    /// Emits the high word of a product, and keeps the low word.
    fn high_word(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        // Elsewhere each word takes an instruction of its own anyway.
        if cfg!(not(target_arch = "x86_64")) {
            return self.b.ins().umulhi(a, b);
        }
        let wide = [a, b].map(|factor| self.b.ins().uextend(types::I128, factor));
        let product = self.b.ins().imul(wide[0], wide[1]);
        let (low, high) = self.b.ins().isplit(product);
        self.product = Some(Product { of: [a, b], low, block: self.b.current_block() });
        high
    }

    /// The low word of a product of which the high word was emitted last, in this block.
    fn low_word(&self, a: ir::Value, b: ir::Value) -> Option<ir::Value> {
        let product = self.product?;
        let known = product.of == [a, b] && product.block == self.b.current_block();
        known.then_some(product.low)
    }

    /// Emits "at least 0, and below a bound" (a bounds check) as one unsigned comparison: a negative
    /// number is then above every bound.
    fn within(&mut self, a: ir::Value, b: ir::Value) -> Option<ir::Value> {
        let dfg = &self.b.func.dfg;
        let made = |value| dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
        let compared = |value| match made(value)? {
            InstructionData::IntCompare { cond, args, .. } => Some((cond, args)),
            _ => None,
        };
        let (IntCC::SignedGreaterThanOrEqual, [index, zero]) = compared(a)? else { return None };
        let (IntCC::SignedLessThan, [same, end]) = compared(b)? else { return None };
        let is_zero = matches!(
            made(zero)?,
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } if imm.bits() == 0
        );
        if same != index || !is_zero || dfg.value_type(index) != types::I64 {
            return None;
        }
        // Behind an end below 0 there is nothing, too.
        let end = self.b.ins().smax(end, zero);
        Some(self.b.ins().icmp(IntCC::UnsignedLessThan, index, end))
    }

    /// The divisor if dividing by it is safe, else 1; and a bool, true if it is -1.
    fn divisor(&mut self, b: ir::Value) -> (ir::Value, ir::Value) {
        let ty = self.b.func.dfg.value_type(b);
        // 0 and -1 are what is at most 1 when 1 is added, without sign.
        let next = self.b.ins().iadd_imm_s(b, 1);
        let bad = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, next, 1);
        let minus = self.b.ins().icmp_imm_s(IntCC::Equal, next, 0);
        let one = self.b.ins().iconst(ty, 1);
        (self.b.ins().select(bad, one, b), minus)
    }

    fn divide(&mut self, a: ir::Value, b: ir::Value, known: Option<Literal>) -> ir::Value {
        if is_safe_divisor(known) {
            return self.b.ins().sdiv(a, b);
        }
        let (safe, minus) = self.divisor(b);
        let quotient = self.b.ins().sdiv(a, safe);
        let negative = self.b.ins().ineg(a);
        self.b.ins().select(minus, negative, quotient)
    }

    fn remainder(&mut self, a: ir::Value, b: ir::Value, known: Option<Literal>) -> ir::Value {
        if is_safe_divisor(known) {
            return self.b.ins().srem(a, b);
        }
        // Where the quotient is wanted, too, the division is found to be the same.
        let (safe, _) = self.divisor(b);
        let quotient = self.b.ins().sdiv(a, safe);
        let whole = self.b.ins().imul(quotient, safe);
        self.b.ins().isub(a, whole)
    }

    /// Emits a conversion to another scalar type.
    pub fn convert(&mut self, to: Ty, from: Ty, a: ir::Value) -> ir::Value {
        if to == from {
            return a;
        }
        match (from, to) {
            (Ty::F32, Ty::F64) => self.b.ins().fpromote(types::F64, a),
            (Ty::F64, Ty::F32) => self.b.ins().fdemote(types::F32, a),
            (Ty::F32 | Ty::F64, _) => self.b.ins().fcvt_to_sint_sat(clif(to), a),
            (Ty::Bool | Ty::U8, Ty::F32 | Ty::F64) => {
                let wide = self.b.ins().uextend(types::I32, a);
                self.b.ins().fcvt_from_sint(clif(to), wide)
            }
            (Ty::I32 | Ty::I64, Ty::F32 | Ty::F64) => self.b.ins().fcvt_from_sint(clif(to), a),
            (Ty::I32, Ty::I64) => self.b.ins().sextend(types::I64, a),
            (Ty::I64, Ty::I32) => self.b.ins().ireduce(types::I32, a),
            (Ty::Bool | Ty::U8, Ty::I32 | Ty::I64) => self.b.ins().uextend(clif(to), a),
            (Ty::I32 | Ty::I64, Ty::U8) => self.b.ins().ireduce(types::I8, a),
            (Ty::I32 | Ty::I64, Ty::Bool) => {
                let byte = self.b.ins().ireduce(types::I8, a);
                self.b.ins().band_imm_s(byte, 1)
            }
            (Ty::U8, Ty::Bool) => self.b.ins().band_imm_s(a, 1),
            (Ty::Bool, Ty::U8) => a,
            (Ty::I32, Ty::I32) | (Ty::I64, Ty::I64) | (Ty::U8, Ty::U8) | (Ty::Bool, Ty::Bool) => a,
        }
    }

    /// Emits a reinterpretation of the bits as another type.
    pub fn bits(&mut self, to: Ty, a: ir::Value) -> ir::Value {
        if self.b.func.dfg.value_type(a) == clif(to) {
            return a;
        }
        self.b.ins().bitcast(clif(to), ir::MemFlagsData::new(), a)
    }

    /// Emits a comparison of floats. What is greater is written as what is less, by which Cranelift recognises a maximum.
    pub fn compare_floats(&mut self, cc: FloatCC, a: ir::Value, b: ir::Value) -> ir::Value {
        match cc {
            FloatCC::GreaterThan => self.b.ins().fcmp(FloatCC::LessThan, b, a),
            FloatCC::GreaterThanOrEqual => self.b.ins().fcmp(FloatCC::LessThanOrEqual, b, a),
            cc => self.b.ins().fcmp(cc, a, b),
        }
    }

    /// Emits a selection. On x86-64 Cranelift selects between floats by a branch, but for a minimum or a
    /// maximum: here the bits are selected by a mask.
    pub fn choose(&mut self, cond: ir::Value, a: ir::Value, b: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        if !ty.is_float() || cfg!(not(target_arch = "x86_64")) {
            return self.b.ins().select(cond, a, b);
        }
        let dfg = &self.b.func.dfg;
        let made = dfg.value_def(cond).inst().map(|inst| dfg.insts[inst]);
        if let Some(InstructionData::FloatCompare { cond: cc, args, .. }) = made {
            if cc == FloatCC::LessThan && (args == [a, b] || args == [b, a]) {
                return self.b.ins().select(cond, a, b);
            }
            if dfg.value_type(args[0]) == ty {
                // The comparison of vectors makes the mask where the floats are.
                let vector = ty.by(16 / ty.bytes()).or_bug("a float fits into a vector");
                let [x, y] = args.map(|of| self.b.ins().scalar_to_vector(vector, of));
                let mask = self.b.ins().fcmp(cc, x, y);
                let mask = self.b.ins().bitcast(vector, little(), mask);
                let mask = self.b.ins().extractlane(mask, 0);
                return self.b.ins().bitselect(mask, a, b);
            }
        }
        let bits = ty.as_int();
        let wide = if bits == types::I8 { cond } else { self.b.ins().uextend(bits, cond) };
        let mask = self.b.ins().ineg(wide);
        let mask = self.b.ins().bitcast(ty, ir::MemFlagsData::new(), mask);
        self.b.ins().bitselect(mask, a, b)
    }

    /// Combines two values, scalars or vectors of lanes. `acc` must not be a NaN where NaNs are skipped.
    pub fn combine(&mut self, op: Combine, ty: Ty, acc: ir::Value, x: ir::Value) -> ir::Value {
        let binary = match op {
            Combine::Add => Binary::Add,
            Combine::Mul => Binary::Mul,
            Combine::Min | Combine::Max if ty.is_float() => {
                let cc = if op == Combine::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let better = self.compare_floats(cc, x, acc);
                let whole = self.b.func.dfg.value_type(acc);
                return if whole.is_vector() {
                    let mask = self.b.ins().bitcast(whole, little(), better);
                    self.b.ins().bitselect(mask, x, acc)
                } else {
                    self.b.ins().select(better, x, acc)
                };
            }
            Combine::Min => Binary::Min,
            Combine::Max => Binary::Max,
            Combine::And => Binary::And,
            Combine::Or => Binary::Or,
            Combine::Xor => Binary::Xor,
        };
        self.binary(binary, ty, acc, x, None)
    }

    /// Combines two values; the first may be a NaN.
    pub fn combine_any(&mut self, op: Combine, ty: Ty, acc: ir::Value, x: ir::Value) -> ir::Value {
        let combined = self.combine(op, ty, acc, x);
        if ty.is_float() && matches!(op, Combine::Min | Combine::Max) {
            let nan = self.b.ins().fcmp(FloatCC::Unordered, acc, acc);
            return self.b.ins().select(nan, x, combined);
        }
        combined
    }

    /// Emits a load of an element.
    pub fn load(&mut self, array: ir::Value, index: ir::Value, ty: Ty) -> ir::Value {
        let address = self.address(array, index, ty);
        self.b.ins().load(clif(ty), flags(), address, 0)
    }

    /// Emits a store of an element.
    pub fn store(&mut self, array: ir::Value, index: ir::Value, ty: Ty, value: ir::Value) {
        let address = self.address(array, index, ty);
        self.b.ins().store(flags(), value, address, 0);
    }
}

/// The flags of a bitcast between vectors of one width.
pub fn little() -> ir::MemFlagsData {
    ir::MemFlagsData::new().with_endianness(ir::Endianness::Little)
}

fn is_safe_divisor(known: Option<Literal>) -> bool {
    match known {
        Some(Literal::I32(x)) => x != 0 && x != -1,
        Some(Literal::I64(x)) => x != 0 && x != -1,
        _ => false,
    }
}

/// The condition code of a comparison of floats.
pub fn float_cc(op: Binary) -> FloatCC {
    match op {
        Binary::Eq => FloatCC::Equal,
        Binary::Lt => FloatCC::LessThan,
        Binary::Le => FloatCC::LessThanOrEqual,
        Binary::Gt => FloatCC::GreaterThan,
        Binary::Ge => FloatCC::GreaterThanOrEqual,
        _ => FloatCC::NotEqual,
    }
}

/// The condition code of a comparison of ints, chars or bools.
pub fn int_cc(op: Binary, ty: Ty) -> IntCC {
    let signed = match op {
        Binary::Eq => IntCC::Equal,
        Binary::Lt => IntCC::SignedLessThan,
        Binary::Le => IntCC::SignedLessThanOrEqual,
        Binary::Gt => IntCC::SignedGreaterThan,
        Binary::Ge => IntCC::SignedGreaterThanOrEqual,
        _ => IntCC::NotEqual,
    };
    if ty.is_int() { signed } else { signed.unsigned() }
}
