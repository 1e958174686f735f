//! Divisions of `i64`s by a divisor that is known before a loop begins, but not to the compiler.
//!
//! A division takes ten to twenty cycles, and vectors have none. For `|d|` with `2ˢ ≤ |d| < 2ˢ⁺¹` and
//! `m = ⌊(2⁶⁴⁺ˢ - 1) / |d|⌋`, which has 64 bits,
//!
//! ```text
//! |x| / |d| = (|x| + 1) · m / 2⁶⁴⁺ˢ       rounded down, for every |x| ≤ 2⁶³
//! ```
//!
//! since `m · |d| = 2⁶⁴⁺ˢ - e` with `0 < e ≤ |d|`. For `|x| = q|d| + r` the product is
//! `(q + (r + 1) / |d|) · 2⁶⁴⁺ˢ - (|x| + 1) · e / |d|`: less than `(q + 1) · 2⁶⁴⁺ˢ`, as `r + 1 ≤ |d|` and `e > 0`; and
//! at least `q · 2⁶⁴⁺ˢ` if `(|x| + 1) · e ≤ 2⁶⁴⁺ˢ`. That holds as `e ≤ |d| < 2ˢ⁺¹` and `|x| < 2⁶³`; for `|x| = 2⁶³` too,
//! as `e < |d|` but for powers of two, where `r = 0` and the product is `(2⁶³ + 1) · (2⁶⁴ - 1) = 2⁶³ · 2⁶⁴ + 2⁶³ - 1`.
//! The factor of one, `2⁶⁴ - 1`, is no exception, which is what this formula (Robison, *N-bit unsigned division via
//! N-bit multiply-add*, ARITH 2005) has over the one for constants in [`super::vector`]. By kir's rule `x / 0` is `x`.
//!
//! The factor is computed by operations without effects alone, so that Cranelift moves them out of every loop that
//! they do not depend on, and computes them once for equal divisors.

use super::emitter::FunctionEmitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Opcode, ValueDef, types};

/// The number of operations behind the beginning of a loop through which a value is followed to what it depends on.
const FOLLOWED_OPERATIONS: usize = 4;

/// What divides by a divisor.
pub struct Reciprocal {
    /// The divisor; 1 for 0, as kir has it.
    pub divisor: ir::Value,
    /// The factor `m`.
    pub factor: ir::Value,
    /// The shift `s` of the high word, in bits.
    pub shift: ir::Value,
    /// The word of the divisor's sign: all ones if that is negative, else 0.
    pub sign: ir::Value,
}

impl FunctionEmitter<'_, '_> {
    /// Returns true if dividing by a value is better done by its reciprocal: if the value is an `i64`, no constant, and
    /// the same in all iterations of the innermost loop.
    pub fn has_reciprocal(&self, divisor: ir::Value) -> bool {
        let dfg = &self.b.func.dfg;
        let is_constant = matches!(
            dfg.value_def(divisor),
            ValueDef::Result(inst, _) if dfg.insts[inst].opcode() == Opcode::Iconst
        );
        dfg.value_type(divisor) == types::I64
            && !is_constant
            && self.depends_on_outside(divisor, FOLLOWED_OPERATIONS)
    }

    /// Returns true if a value depends on what the innermost loop does not change, by few operations.
    fn depends_on_outside(&self, value: ir::Value, operations: usize) -> bool {
        let dfg = &self.b.func.dfg;
        let Some(first) = self.first_of_loop else { return false };
        // Values are numbered as they are emitted.
        if value.as_u32() < first {
            return true;
        }
        let ValueDef::Result(inst, _) = dfg.value_def(value) else { return false };
        let opcode = dfg.insts[inst].opcode();
        let is_pure = !(opcode.can_load()
            || opcode.can_store()
            || opcode.can_trap()
            || opcode.is_call()
            || opcode.other_side_effects());
        let mut args = dfg.inst_args(inst).iter();
        is_pure && operations > 0 && args.all(|arg| self.depends_on_outside(*arg, operations - 1))
    }

    /// Emits the reciprocal of a divisor.
    pub fn reciprocal(&mut self, divisor: ir::Value) -> Reciprocal {
        let one = self.int(1);
        let is_zero = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
        let divisor = self.b.ins().select(is_zero, one, divisor);
        let size = self.b.ins().iabs(divisor);
        let zeros = self.b.ins().clz(size);
        let last = self.int(i64::from(u64::BITS - 1));
        let shift = self.b.ins().isub(last, zeros);
        // Both parts of the fraction are multiplied by a power of two: ⌊(2¹²⁷ - 1) / n⌋ with 2⁶³ ≤ n < 2⁶⁴.
        let normal = self.b.ins().ishl(size, zeros);
        let factor = self.first_guess(normal);
        let factor = self.second_guess(factor, normal);
        let (high, low) = self.rest(factor, normal);
        let has_high = self.b.ins().icmp_imm_s(IntCC::NotEqual, high, 0);
        let has_low = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, low, normal);
        let is_less = self.b.ins().bor(has_high, has_low);
        let is_less = self.b.ins().uextend(types::I64, is_less);
        let factor = self.b.ins().iadd(factor, is_less);
        let sign = self.b.ins().sshr_imm_u(divisor, i64::from(u64::BITS - 1));
        Reciprocal { divisor, factor, shift, sign }
    }

    /// Emits `(2¹²⁷ - 1) / normal` as far as a float tells: within 2¹³.
    fn first_guess(&mut self, normal: ir::Value) -> ir::Value {
        let half = self.half(normal);
        let power = self.b.ins().f64const(2_f64.powi(125));
        let quotient = self.b.ins().fdiv(power, half);
        // 2⁶³ becomes the greatest int.
        let quotient = self.b.ins().fcvt_to_sint_sat(types::I64, quotient);
        self.b.ins().ishl_imm_u(quotient, 1)
    }

    /// Emits a better quotient: the right one, or less by 1.
    fn second_guess(&mut self, first: ir::Value, normal: ir::Value) -> ir::Value {
        /// More than the error of the quotient of the rest, which is at most 2¹⁴ and has 52 bits.
        const MARGIN: f64 = 1.0 / 1024.0;
        let (high, low) = self.rest(first, normal);
        let high = self.b.ins().fcvt_from_sint(types::F64, high);
        let scale = self.b.ins().f64const(2_f64.powi(63));
        let high = self.b.ins().fmul(high, scale);
        let low = self.half(low);
        let rest = self.b.ins().fadd(high, low);
        let half = self.half(normal);
        let quotient = self.b.ins().fdiv(rest, half);
        let margin = self.b.ins().f64const(MARGIN);
        let quotient = self.b.ins().fsub(quotient, margin);
        let quotient = self.b.ins().floor(quotient);
        let quotient = self.b.ins().fcvt_to_sint_sat(types::I64, quotient);
        self.b.ins().iadd(first, quotient)
    }

    /// Emits the two words of `2¹²⁷ - 1 - factor · normal`.
    fn rest(&mut self, factor: ir::Value, normal: ir::Value) -> (ir::Value, ir::Value) {
        let high = self.b.ins().umulhi(factor, normal);
        let low = self.b.ins().imul(factor, normal);
        let greatest = self.int(i64::MAX);
        (self.b.ins().isub(greatest, high), self.b.ins().bnot(low))
    }

    /// Emits half of a word without sign, as a float.
    fn half(&mut self, word: ir::Value) -> ir::Value {
        let half = self.b.ins().ushr_imm_u(word, 1);
        self.b.ins().fcvt_from_sint(types::F64, half)
    }

    /// Emits a quotient rounded to 0.
    pub fn quotient_by(&mut self, x: ir::Value, by: &Reciprocal) -> ir::Value {
        let size = self.b.ins().iabs(x);
        let next = self.b.ins().iadd_imm_s(size, 1);
        let high = self.high_word(next, by.factor);
        let quotient = self.b.ins().ushr(high, by.shift);
        // All ones where the signs of dividend and divisor differ: xor and subtraction negate.
        let sign = self.b.ins().sshr_imm_u(x, i64::from(u64::BITS - 1));
        let sign = self.b.ins().bxor(sign, by.sign);
        let flipped = self.b.ins().bxor(quotient, sign);
        self.b.ins().isub(flipped, sign)
    }
}
