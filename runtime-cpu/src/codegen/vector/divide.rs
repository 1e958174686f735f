//! High words of products, and divisions by constants, in wide vectors of `i64`s.
//!
//! Vectors multiply the low halves of their lanes. The high word of a product of two words is put together from
//! the four products of their halves:
//!
//! ```text
//!            x₁ x₀ · y₁ y₀        (halves of 32 bits)
//!                    x₀ · y₀
//!            x₁ · y₀
//!            x₀ · y₁
//!    x₁ · y₁
//! ```
//!
//! A division by a constant `d` is such a product (Granlund and Montgomery, *Division by Invariant Integers using
//! Multiplication*, PLDI 1994). With `2ˢ < |d| ≤ 2ˢ⁺¹` and `m = ⌈2⁶⁴⁺ˢ / |d|⌉`, which has 64 bits,
//! `|x| / |d| = |x| · m / 2⁶⁴⁺ˢ` rounded down for every `|x| ≤ 2⁶³`: the rounding of `m` adds less than
//! `|x| · 2ˢ⁺¹ / (|d| · 2⁶⁴⁺ˢ) ≤ 1 / |d|`. The quotient gets its sign afterwards.

use super::lanes::{Lanes, VectorEmitter, Vectors};
use super::reciprocal;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::division::is_multiplied;
use nesl_runtime::kir::{Binary, Literal, Ty, Value};

/// The low half of a word.
const LOW_HALF: i64 = 0xffff_ffff;

/// The bits of a half of a word.
const HALF_BITS: i64 = 32;

/// A division of ints of at most 2⁶³ without sign, as a high word of a product that is shifted to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    factor: u64,
    shift_bits: u32,
}

impl Reciprocal {
    /// The division by a divisor of at least 2.
    fn of(divisor: u64) -> Reciprocal {
        let shift_bits = u64::BITS - 1 - (divisor - 1).leading_zeros();
        let factor = (1_u128 << (u64::BITS + shift_bits)).div_ceil(u128::from(divisor));
        Reciprocal { factor: factor as u64, shift_bits }
    }
}

/// The number that lanes are divided by.
enum Divisor {
    /// A constant of size 2 or more.
    Constant(i64),
    /// A number that is the same for all lanes.
    Uniform(reciprocal::Reciprocal),
}

/// Products of the halves of two words, and the upper halves.
struct Products {
    lowest: ir::Value,
    left: ir::Value,
    right: ir::Value,
    upper: [ir::Value; 2],
}

impl VectorEmitter<'_, '_, '_> {
    /// Emits the high word of a product, or a quotient or remainder by a `known` constant or by a number that is the
    /// same for all lanes, without going lane by lane; nothing if vectors do not have it.
    pub fn high_product(
        &mut self,
        op: Binary,
        ty: Ty,
        (x, y): (&Lanes, &Lanes),
        known: Option<Literal>,
    ) -> Option<Lanes> {
        if !self.c.is_wide() || ty != Ty::I64 {
            return None;
        }
        if op == Binary::MulHigh {
            let (lanes, others) = (self.wide(x, ty), self.wide(y, ty));
            let words = lanes.iter().zip(&others).map(|(x, y)| self.high_word(*x, *y));
            return Some(Lanes::Varying(words.collect()));
        }
        let divisor = match (known, y) {
            (Some(known @ Literal::I64(divisor)), _) if is_multiplied(known) => {
                Divisor::Constant(divisor)
            }
            (None, Lanes::Uniform(divisor)) => Divisor::Uniform(self.c.reciprocal(*divisor)),
            _ => return None,
        };
        let mut out = Vectors::new();
        for x in self.wide(x, ty) {
            let quotient = match &divisor {
                Divisor::Constant(divisor) => self.quotient(x, *divisor),
                Divisor::Uniform(reciprocal) => self.quotient_by(x, reciprocal),
            };
            out.push(match op {
                Binary::Div => quotient,
                _ => {
                    let divisor = match &divisor {
                        Divisor::Constant(divisor) => self.all(x, *divisor),
                        Divisor::Uniform(reciprocal) => self.in_all(x, reciprocal.divisor),
                    };
                    let whole = self.c.b.ins().imul(quotient, divisor);
                    self.c.b.ins().isub(x, whole)
                }
            });
        }
        Some(Lanes::Varying(out))
    }

    /// Emits a constant in all lanes of a vector like `like`.
    fn all(&mut self, like: ir::Value, lane: i64) -> ir::Value {
        let lane = self.c.int(lane);
        self.in_all(like, lane)
    }

    /// Emits a scalar in all lanes of a vector like `like`.
    fn in_all(&mut self, like: ir::Value, lane: ir::Value) -> ir::Value {
        let ty = self.c.b.func.dfg.value_type(like);
        self.c.b.ins().splat(ty, lane)
    }

    /// Emits the high words of the products of lanes, which are taken without sign.
    fn high_word(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let mask = self.all(x, LOW_HALF);
        let Products { lowest, left, right, upper: [x1, y1] } = self.products(x, y);
        let highest = self.c.b.ins().imul(x1, y1);
        let carry = self.c.b.ins().ushr_imm_u(lowest, HALF_BITS);
        // Neither sum overflows: a product of halves is at most 2⁶⁴ - 2³³ + 1.
        let middle = self.c.b.ins().iadd(left, carry);
        let part = self.c.b.ins().band(middle, mask);
        let other = self.c.b.ins().iadd(right, part);
        let middle = self.c.b.ins().ushr_imm_u(middle, HALF_BITS);
        let other = self.c.b.ins().ushr_imm_u(other, HALF_BITS);
        let sum = self.c.b.ins().iadd(highest, middle);
        self.c.b.ins().iadd(sum, other)
    }

    /// Emits the products of halves of lanes, but that of the upper ones.
    fn products(&mut self, x: ir::Value, y: ir::Value) -> Products {
        let mask = self.all(x, LOW_HALF);
        let [x0, y0] = [x, y].map(|word| self.c.b.ins().band(word, mask));
        let upper = [x, y].map(|word| self.c.b.ins().ushr_imm_u(word, HALF_BITS));
        let lowest = self.c.b.ins().imul(x0, y0);
        let left = self.c.b.ins().imul(upper[0], y0);
        let right = self.c.b.ins().imul(x0, upper[1]);
        Products { lowest, left, right, upper }
    }

    /// Emits the low words of products whose high words were computed: from the same products of halves, which are
    /// not computed twice. With AVX-512 there is an instruction for them.
    pub fn low_product(
        &mut self,
        (a, x): (Value, &Lanes),
        (b, y): (Value, &Lanes),
    ) -> Option<Lanes> {
        if !self.high_products.contains(&(a, b)) || self.c.unit.packs_lanes {
            return None;
        }
        let (lanes, others) = (self.wide(x, Ty::I64), self.wide(y, Ty::I64));
        let words = lanes.iter().zip(&others).map(|(x, y)| {
            let Products { lowest, left, right, .. } = self.products(*x, *y);
            let upper = self.c.b.ins().iadd(left, right);
            let upper = self.c.b.ins().ishl_imm_u(upper, HALF_BITS);
            self.c.b.ins().iadd(lowest, upper)
        });
        Some(Lanes::Varying(words.collect()))
    }

    /// Emits the quotients of lanes by a constant of size 2 or more, rounded to 0.
    fn quotient(&mut self, x: ir::Value, divisor: i64) -> ir::Value {
        let Reciprocal { factor, shift_bits } = Reciprocal::of(divisor.unsigned_abs());
        let size = self.c.b.ins().iabs(x);
        let factor = self.all(x, factor as i64);
        let high = self.high_word(size, factor);
        let quotient = self.c.b.ins().ushr_imm_u(high, i64::from(shift_bits));
        // All ones where the signs of dividend and divisor differ.
        let sign = self.c.b.ins().sshr_imm_u(x, i64::from(u64::BITS - 1));
        let sign = if divisor < 0 { self.c.b.ins().bnot(sign) } else { sign };
        self.with_sign(quotient, sign)
    }

    /// Emits the quotients of lanes by a number that is the same for all of them, rounded to 0.
    fn quotient_by(&mut self, x: ir::Value, by: &reciprocal::Reciprocal) -> ir::Value {
        let size = self.c.b.ins().iabs(x);
        let one = self.all(x, 1);
        let next = self.c.b.ins().iadd(size, one);
        let factor = self.in_all(x, by.factor);
        let high = self.high_word(next, factor);
        let quotient = self.c.b.ins().ushr(high, by.shift);
        let sign = self.c.b.ins().sshr_imm_u(x, i64::from(u64::BITS - 1));
        let others = self.in_all(x, by.sign);
        let sign = self.c.b.ins().bxor(sign, others);
        self.with_sign(quotient, sign)
    }

    /// Emits lanes of which those are negated whose word of the sign is all ones.
    fn with_sign(&mut self, lanes: ir::Value, sign: ir::Value) -> ir::Value {
        let flipped = self.c.b.ins().bxor(lanes, sign);
        self.c.b.ins().isub(flipped, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_divide() {
        let near = |x: u64| [x.wrapping_sub(1), x, x.wrapping_add(1)];
        let powers = || (0..64).flat_map(|bit| near(1 << bit));
        for divisor in powers().chain([3, 5, 7, 10, 641, 1_000_003, i64::MAX as u64]) {
            if !(2..=1 << 63).contains(&divisor) {
                continue;
            }
            let Reciprocal { factor, shift_bits } = Reciprocal::of(divisor);
            let multiples = (0..8).flat_map(|times| near(divisor.wrapping_mul(times)));
            for x in powers().chain(multiples).filter(|x| *x <= 1 << 63) {
                let product = u128::from(x) * u128::from(factor);
                let quotient = (product >> u64::BITS) as u64 >> shift_bits;
                assert_eq!(quotient, x / divisor, "{x} / {divisor}");
            }
        }
    }
}
