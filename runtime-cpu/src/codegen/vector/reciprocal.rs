//! Divisions of many `i64`s by one divisor that the compiler does not know.
//!
//! Vectors have no division of ints, and lane by lane it takes ten cycles or more. (Single divisions are left as they are: on
//! Zen 4 one takes fewer resources than what replaces it.) For `|d|` with `2ˢ ≤ |d| < 2ˢ⁺¹` and
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
//! N-bit multiply-add*, ARITH 2005) has over the one for constants in [`super::divide`]. By kir's rule `x / 0` is `x`.
//!
//! The factor is computed by operations without effects alone, so that they are moved out of every loop that they do not
//! depend on, and are done once for equal divisors.

use super::super::emitter::FunctionEmitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};

/// The numbers by which lanes are multiplied and shifted instead of being divided.
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
}
