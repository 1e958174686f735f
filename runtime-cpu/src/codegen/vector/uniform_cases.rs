//! Scalars that tell if a bool is true for all elements of a group, or for none: most groups of a stencil are inside, or
//! beyond the border, and then one side of a branch is executed without masks.

use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::kir::{Binary, Literal, Ty, Value};

/// The ends of an `i64` over the elements of a group.
#[derive(Clone, Copy)]
struct Ends {
    lowest: ir::Value,
    highest: ir::Value,
    /// A scalar that is true if the numbers do not overflow between the ends; `None` if they cannot.
    straight: Option<ir::Value>,
    /// True if it is the same for all elements.
    uniform: bool,
}

impl VectorEmitter<'_, '_, '_> {
    /// Notes the scalars that tell if an operation gives true for all elements, or for none.
    pub fn note_uniform_cases(&mut self, result: Value, op: Binary, a: Value, b: Value) {
        // Code may be emitted twice; what was known in one place need not be in the other.
        self.all.remove(&result);
        if let Some(all) = self.everywhere(op, a, b) {
            self.all.insert(result, all);
        }
        self.all_by_one_side.remove(&result);
        if let Some(all) = self.everywhere_by_one_side(op, a, b) {
            self.all_by_one_side.insert(result, all);
        }
        self.none.remove(&result);
        if let Some(none) = self.nowhere(op, a, b) {
            self.none.insert(result, none);
        }
    }

    /// The number of the group's last element, from its first.
    fn last_element(&mut self) -> ir::Value {
        match self.last {
            Some(last) => last,
            None => self.c.int(self.elements as i64 - 1),
        }
    }

    /// A scalar that is true only if an implied predicate holds for all elements: it holds for all if it
    /// holds for the first and last, and the affine operand does not overflow between them.
    fn everywhere(&mut self, op: Binary, a: Value, b: Value) -> Option<ir::Value> {
        if op == Binary::And && self.c.element_ty(a) == Ty::Bool {
            if let Some(all) = self.within(a, b) {
                return Some(all);
            }
            let of = |v: Value| match self.get(v) {
                Lanes::Uniform(x) => Some(x),
                _ => self.all.get(&v).copied(),
            };
            let (x, y) = (of(a)?, of(b)?);
            return Some(self.c.b.ins().band(x, y));
        }
        let (x, y) = match op {
            Binary::Lt | Binary::Le => (a, b),
            Binary::Gt | Binary::Ge => (b, a),
            _ => return None,
        };
        let strict = matches!(op, Binary::Lt | Binary::Gt);
        let cc = if strict { IntCC::SignedLessThan } else { IntCC::SignedLessThanOrEqual };
        let (x, y) = self.ends_beside_uniform(x, y)?;
        let below = self.c.b.ins().icmp(cc, x.highest, y.lowest);
        Some(self.unless_wrapped(below, &[x, y]))
    }

    /// A scalar that is true only if one side of a disjunction of implied predicates holds for all elements.
    fn everywhere_by_one_side(&mut self, op: Binary, a: Value, b: Value) -> Option<ir::Value> {
        if op != Binary::Or || self.c.element_ty(a) != Ty::Bool {
            return None;
        }
        let sides = [a, b].map(|v| match self.get(v) {
            Lanes::Uniform(x) => Some(x),
            _ => self.all.get(&v).or_else(|| self.all_by_one_side.get(&v)).copied(),
        });
        match sides {
            [Some(x), Some(y)] => Some(self.c.b.ins().bor(x, y)),
            [one, None] | [None, one] => one,
        }
    }

    /// The ends of two `i64`s of which one is uniform and the other a sequence of numbers.
    fn ends_beside_uniform(&mut self, x: Value, y: Value) -> Option<(Ends, Ends)> {
        let (x, y) = (self.ends(x)?, self.ends(y)?);
        (x.uniform != y.uniform).then_some((x, y))
    }

    /// The ends of an `i64` that is the same for all elements, or one more or less for each further one.
    fn ends(&mut self, value: Value) -> Option<Ends> {
        let last = self.last_element();
        let (lowest, highest, wraps) = match self.get(value) {
            Lanes::Uniform(x) => {
                return Some(Ends { lowest: x, highest: x, straight: None, uniform: true });
            }
            Lanes::Affine(first) => {
                let end = self.c.b.ins().iadd(first, last);
                (first, end, !self.facts.cannot_overflow(value))
            }
            Lanes::Varying(_) if self.facts.is_descending(value) => {
                let first = self.descending[&value];
                (self.c.b.ins().isub(first, last), first, true)
            }
            Lanes::Varying(_) | Lanes::Mask(..) => return None,
        };
        let cc = IntCC::SignedLessThanOrEqual;
        let straight = wraps.then(|| self.c.b.ins().icmp(cc, lowest, highest));
        Some(Ends { lowest, highest, straight, uniform: false })
    }

    /// A scalar that is true only if a bool is, and numbers do not overflow between their ends.
    fn unless_wrapped(&mut self, bool: ir::Value, ends: &[Ends]) -> ir::Value {
        let straight = ends.iter().filter_map(|ends| ends.straight);
        straight.fold(bool, |all, one| self.c.b.ins().band(all, one))
    }

    /// A scalar that is true only if ints are not negative (the first bool) and below a uniform bound (the
    /// second): neither they nor their distances to the last allowed value have a sign bit.
    fn within(&mut self, a: Value, b: Value) -> Option<ir::Value> {
        let (Binary::Ge, x, zero) = *self.compared.get(&a)? else { return None };
        let (Binary::Lt, y, limit) = *self.compared.get(&b)? else { return None };
        let is_zero = self.c.constants.get(&zero) == Some(&Literal::I64(0));
        let (Lanes::Varying(ints), Lanes::Uniform(limit)) = (self.get(x), self.get(limit)) else {
            return None;
        };
        if x != y || !is_zero || self.facts.is_descending(x) {
            return None;
        }
        let none = self.c.int(0);
        let limit = self.c.b.ins().smax(limit, none);
        let last = self.c.b.ins().iadd_imm_s(limit, -1);
        let vector = self.lane(Ty::I64);
        let last = self.c.b.ins().splat(vector, last);
        let mut signs = None;
        for ints in ints {
            let left = self.c.b.ins().isub(last, ints);
            let both = self.c.b.ins().bor(ints, left);
            signs = Some(match signs {
                None => both,
                Some(signs) => self.c.b.ins().bor(signs, both),
            });
        }
        let signs = self.c.b.ins().vhigh_bits(types::I32, signs?);
        Some(self.c.b.ins().icmp_imm_s(IntCC::Equal, signs, 0))
    }

    /// A scalar that is true only if a bool holds for no element of the group. Of a comparison with an index:
    /// none is the one that it is compared with, as is so for most groups, or all are beyond a bound.
    fn nowhere(&mut self, op: Binary, a: Value, b: Value) -> Option<ir::Value> {
        if matches!(op, Binary::And | Binary::Or) && self.c.element_ty(a) == Ty::Bool {
            let [a, b] = [a, b].map(|v| match self.get(v) {
                Lanes::Uniform(x) => Some(self.c.b.ins().bxor_imm_s(x, 1)),
                Lanes::Affine(_) | Lanes::Varying(_) | Lanes::Mask(..) => {
                    self.none.get(&v).copied()
                }
            });
            return Some(match op {
                Binary::Or => self.c.b.ins().band(a?, b?),
                _ => self.c.b.ins().bor(a?, b?),
            });
        }
        let below = match op {
            Binary::Lt => Some((a, b, IntCC::SignedGreaterThanOrEqual)),
            Binary::Le => Some((a, b, IntCC::SignedGreaterThan)),
            Binary::Gt => Some((b, a, IntCC::SignedGreaterThanOrEqual)),
            Binary::Ge => Some((b, a, IntCC::SignedGreaterThan)),
            _ => None,
        };
        if let Some((x, y, beyond)) = below {
            let (x, y) = self.ends_beside_uniform(x, y)?;
            let beyond = self.c.b.ins().icmp(beyond, x.lowest, y.highest);
            return Some(self.unless_wrapped(beyond, &[x, y]));
        }
        let (base, other) = match (op, self.get(a), self.get(b)) {
            (Binary::Eq, Lanes::Affine(base), Lanes::Uniform(other)) => (base, other),
            (Binary::Eq, Lanes::Uniform(other), Lanes::Affine(base)) => (base, other),
            _ => return None,
        };
        // It does not matter whether numbers wrap.
        let place = self.c.b.ins().isub(other, base);
        let behind = IntCC::UnsignedGreaterThanOrEqual;
        Some(self.c.b.ins().icmp_imm_u(behind, place, self.elements as i64))
    }
}
