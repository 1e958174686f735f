//! Divisions of small numbers by constants: a multiplication and a shift.
//!
//! For `x` from 0 to `m`, `x / d` is `x · ⌈2ˢ / d⌉ / 2ˢ` rounded down, if `m · d ≤ 2ˢ`: the rounding of the
//! factor adds less than `x / 2ˢ ≤ 1 / d` to the quotient, which is too little to reach the next int. For a power of
//! two a shift or a mask is enough, for any `x` of 0 or more. A quotient is rounded to 0, and a shift rounds down: so
//! `2ᵏ - 1` is added to a negative `x` before it is shifted by `k`.
//!
//! ```text
//! v2: i64 = rem v0, v1       →    v3: i64 = mul v0, (⌈2ˢ / d⌉)   v4: i64 = shr v3, (s)
//! (v0 to 255, v1 is d)            v5: i64 = mul v4, v1           v2: i64 = sub v0, v5
//! ```
//!
//! Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (PLDI 1994), is the general case;
//! it needs the high word of a product, which vectors do not have as one instruction.

use super::{Binary, Inst, Literal, Op, Ty, Value, ValueTy, walk};

/// The part of a division that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divided {
    /// The result of [`Binary::Div`].
    Quotient,
    /// The result of [`Binary::Rem`].
    Remainder,
}

/// A division that a multiplication and a shift can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    wanted: Divided,
    ty: Ty,
    dividend: Value,
    divisor: u64,
    /// The factor; 1 if the divisor is a power of two.
    factor: u64,
    /// The number of bits that the product is shifted by.
    shift: u32,
    /// True if the dividend may be negative, and the divisor is a power of two.
    is_signed: bool,
}

impl Division {
    /// The division of a dividend from 0 to `most` by a constant, unless the product may not fit the type, or
    /// nothing is to be divided.
    pub fn of(
        wanted: Divided,
        ty: Ty,
        dividend: Value,
        most: u64,
        divisor: u64,
    ) -> Option<Division> {
        if divisor < 2 {
            return None;
        }
        let (factor, shift) = match divisor.is_power_of_two() {
            true => (1, divisor.trailing_zeros()),
            false => {
                let bits = |x: u64| u64::BITS - x.leading_zeros();
                let shift = bits(most) + bits(divisor);
                let factor = 1_u64.checked_shl(shift)?.div_ceil(divisor);
                let limit = if ty == Ty::I32 { i32::MAX as u64 } else { i64::MAX as u64 };
                let fits = most.checked_mul(factor)? <= limit && factor <= limit;
                (fits && shift < 8 * ty.size() as u32).then_some((factor, shift))?
            }
        };
        Some(Division { wanted, ty, dividend, divisor, factor, shift, is_signed: false })
    }

    /// The division of any dividend by a constant, if that is a power of two and something is to be divided.
    pub fn of_any(wanted: Divided, ty: Ty, dividend: Value, divisor: u64) -> Option<Division> {
        let shift = divisor.trailing_zeros();
        let fits = divisor.is_power_of_two() && (1..8 * ty.size() as u32 - 1).contains(&shift);
        fits.then_some(Division {
            wanted,
            ty,
            dividend,
            divisor,
            factor: 1,
            shift,
            is_signed: true,
        })
    }

    /// Appends the instructions that define `result`; makes new values.
    pub fn multiply(self, result: Value, types: &mut Vec<ValueTy>, out: &mut Vec<Inst>) {
        let mut push = |result: Option<Value>, op: Op| {
            let result = result.unwrap_or_else(|| {
                types.push(ValueTy::Scalar(self.ty));
                Value(types.len() as u32 - 1)
            });
            out.push(Inst { results: vec![result], op });
            result
        };
        let constant = |of: u64| match self.ty {
            Ty::I32 => Op::Const(Literal::I32(of as i32)),
            _ => Op::Const(Literal::I64(of as i64)),
        };
        if self.is_signed {
            let bits = 8 * self.ty.size() as u64;
            let [last, others] = [bits - 1, bits - u64::from(self.shift)];
            let last = push(None, constant(last));
            let sign = push(None, Op::Binary(Binary::Shr, self.dividend, last));
            let others = push(None, constant(others));
            let added = push(None, Op::Binary(Binary::ShrZero, sign, others));
            let sum = push(None, Op::Binary(Binary::Add, self.dividend, added));
            if self.wanted == Divided::Quotient {
                let shift = push(None, constant(u64::from(self.shift)));
                push(Some(result), Op::Binary(Binary::Shr, sum, shift));
            } else {
                let mask = push(None, constant((self.divisor - 1) ^ u64::MAX));
                let whole = push(None, Op::Binary(Binary::And, sum, mask));
                push(Some(result), Op::Binary(Binary::Sub, self.dividend, whole));
            }
            return;
        }
        if self.factor == 1 && self.wanted == Divided::Remainder {
            let mask = push(None, constant(self.divisor - 1));
            push(Some(result), Op::Binary(Binary::And, self.dividend, mask));
            return;
        }
        let mut product = self.dividend;
        if self.factor != 1 {
            let factor = push(None, constant(self.factor));
            product = push(None, Op::Binary(Binary::Mul, self.dividend, factor));
        }
        let shift = push(None, constant(u64::from(self.shift)));
        let quotient = Op::Binary(Binary::Shr, product, shift);
        if self.wanted == Divided::Quotient {
            push(Some(result), quotient);
            return;
        }
        let quotient = push(None, quotient);
        let divisor = push(None, constant(self.divisor));
        let whole = push(None, Op::Binary(Binary::Mul, quotient, divisor));
        push(Some(result), Op::Binary(Binary::Sub, self.dividend, whole));
    }
}

/// Returns true if dividing by a divisor is multiplying by a constant: of size 2 or more, of 64 bits.
pub fn is_multiplied(divisor: Literal) -> bool {
    matches!(divisor, Literal::I64(divisor) if divisor.unsigned_abs() >= 2)
}

/// Returns true if code has operations that vectors with high products do without going lane by lane.
pub fn has_high_products<'i>(insts: impl Iterator<Item = &'i Inst>) -> bool {
    let mut found = false;
    let mut note = |inst: &Inst| {
        found |= matches!(inst.op, Op::Binary(Binary::MulHigh | Binary::Div | Binary::Rem, ..));
    };
    for inst in insts {
        note(inst);
        inst.op.blocks().for_each(|block| walk::each_inst(block, &mut note));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::reference::scalar;
    use rustc_hash::FxHashMap;

    /// The result of the instructions for a dividend.
    fn divided(division: Division, dividend: i64) -> Literal {
        let mut types = vec![ValueTy::Scalar(division.ty); 2];
        let mut insts = Vec::new();
        division.multiply(Value(1), &mut types, &mut insts);
        let number = match division.ty {
            Ty::I32 => Literal::I32(dividend as i32),
            _ => Literal::I64(dividend),
        };
        let mut known = FxHashMap::from_iter([(Value(0), number)]);
        for inst in insts {
            let value = match inst.op {
                Op::Const(literal) => literal,
                Op::Binary(op, a, b) => scalar::binary(op, known[&a], known[&b]),
                other => panic!("{other:?}"),
            };
            known.insert(inst.results[0], value);
        }
        known[&Value(1)]
    }

    #[test]
    fn quotients_and_remainders_are_exact() {
        let dividends = |most: u64| {
            let ends = (0..300).chain(most.saturating_sub(300)..=most);
            ends.chain((0..64).map(move |n| (most >> n).saturating_sub(1)))
        };
        let mut found = 0;
        for ty in [Ty::I32, Ty::I64] {
            for most in [0, 1, 25, 255, 1000, 0x3fff, 1 << 20, (1 << 30) - 1, i32::MAX as u64] {
                for divisor in (2..300).chain([997, 4096, 65_535, 1 << 20, 1_000_003]) {
                    for wanted in [Divided::Quotient, Divided::Remainder] {
                        let division = Division::of(wanted, ty, Value(0), most, divisor);
                        let Some(division) = division else { continue };
                        found += 1;
                        for x in dividends(most).filter(|x| *x <= most) {
                            let right = match wanted {
                                Divided::Quotient => x / divisor,
                                Divided::Remainder => x % divisor,
                            };
                            let right = match ty {
                                Ty::I32 => Literal::I32(right as i32),
                                _ => Literal::I64(right as i64),
                            };
                            assert_eq!(divided(division, x as i64), right, "{x} by {divisor}");
                        }
                    }
                }
            }
        }
        assert!(found > 5000, "{found} divisions");
    }

    #[test]
    fn negative_numbers_are_divided_by_powers_of_two() {
        for (ty, ends) in
            [(Ty::I32, [i64::from(i32::MIN), i64::from(i32::MAX)]), (Ty::I64, [i64::MIN, i64::MAX])]
        {
            for shift in 1..8 * ty.size() as u32 - 1 {
                let by = 1_i64 << shift;
                let near = (-40..40).flat_map(|n| [n, ends[0] + (n + 40), ends[1] - (n + 40)]);
                let around = (-2_i64..3)
                    .flat_map(|n| [n.wrapping_sub(by), n.wrapping_add(by), n.wrapping_mul(by)]);
                for x in near.chain(around).filter(|x| (ends[0]..=ends[1]).contains(x)) {
                    for (wanted, right) in
                        [(Divided::Quotient, x / by), (Divided::Remainder, x % by)]
                    {
                        let division = Division::of_any(wanted, ty, Value(0), by as u64).unwrap();
                        let right = match ty {
                            Ty::I32 => Literal::I32(right as i32),
                            _ => Literal::I64(right),
                        };
                        assert_eq!(divided(division, x), right, "{x} by {by}");
                    }
                }
            }
        }
        assert_eq!(Division::of_any(Divided::Quotient, Ty::I64, Value(0), 10), None);
    }

    #[test]
    fn what_does_not_fit_is_left() {
        let of = |ty, most, divisor| Division::of(Divided::Quotient, ty, Value(0), most, divisor);
        assert_eq!(of(Ty::I64, i64::MAX as u64, 10), None);
        assert_eq!(of(Ty::I32, 1 << 20, 10), None);
        assert_eq!(of(Ty::I64, 100, 1), None);
        assert!(of(Ty::I64, i64::MAX as u64, 16).is_some(), "a shift is always enough");
    }
}
