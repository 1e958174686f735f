//! Loops that look for the first element with a property: groups of elements are tested, and the loop ends with the first
//! group that has one.
//!
//! ```text
//! v3: bool = for v1 < v0 reduce or { … yield v2 }          any element for which v2 holds
//! v3: bool = for v1 < v0 reduce and { … yield v2 }         any for which it does not
//! v3: i64 = for v1 < v0 reduce min {                       the first for which v2 holds
//!   v4: i64 = if v2 { yield v1 } else { yield 9223372036854775807 }
//!   yield v4
//! }
//! ```
//!
//! Nothing is reduced in the groups: the elements of the last one are left to the code for single elements.

use super::super::emitter::FunctionEmitter;
use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{Block, Combine, Inst, Literal, Op, Ty, Value, walk};

/// The test of a loop that looks for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The bool that is tested.
    test: Value,
    /// The value that the element has which is looked for.
    until: bool,
}

impl Search {
    /// Returns the test of a counted loop, if it looks for an element and has no other effect.
    pub fn of(inst: &Inst, facts: &VectorFacts, c: &FunctionEmitter<'_, '_>) -> Option<Search> {
        let Op::For { init, reduce, body, .. } = &inst.op else { return None };
        let ([], [combine], [value]) = (&init[..], &reduce[..], &body.yields[..]) else {
            return None;
        };
        let mut has_effects = false;
        walk::each_inst(body, &mut |Inst { op, .. }| {
            // A loop without a count might not end.
            let is_free = op.is_side_effect_free() || matches!(op, Op::If { .. } | Op::For { .. });
            has_effects |= !is_free || op.callee().is_some();
        });
        if has_effects {
            return None;
        }
        match (combine, c.element_ty(*value)) {
            (Combine::Or, Ty::Bool) => Some(Search { test: *value, until: true }),
            (Combine::And, Ty::Bool) => Some(Search { test: *value, until: false }),
            (Combine::Min, ty @ (Ty::I64 | Ty::I32)) => {
                let made = body.insts.iter().find(|inst| inst.results.contains(value))?;
                let (test, sides) = match &made.op {
                    Op::Select(test, a, b) => (*test, [*a, *b]),
                    Op::If { cond, then, otherwise } => {
                        let number = made.results.iter().position(|result| result == value)?;
                        (*cond, [then.yields[number], otherwise.yields[number]])
                    }
                    _ => return None,
                };
                let neutral = Combine::Min.neutral(ty);
                let is_neutral = |v| literal(v, body, c) == Some(neutral);
                let is_number = |v| is_number(v, body, facts);
                match sides {
                    [a, b] if is_number(a) && is_neutral(b) => Some(Search { test, until: true }),
                    [a, b] if is_neutral(a) && is_number(b) => Some(Search { test, until: false }),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The operation that defines a value in a block.
fn made_by(value: Value, block: &Block) -> Option<&Op> {
    let mut found = None;
    walk::each_inst(block, &mut |inst| {
        if inst.results.contains(&value) {
            found = Some(&inst.op);
        }
    });
    found
}

/// The constant that a value is, in the body of a loop or outside.
fn literal(value: Value, body: &Block, c: &FunctionEmitter<'_, '_>) -> Option<Literal> {
    match made_by(value, body) {
        Some(Op::Const(literal)) => Some(*literal),
        Some(_) => None,
        None => c.constants.get(&value).copied(),
    }
}

/// Returns true if a value is greater for each further element: the number of the element, plus a small constant.
fn is_number(value: Value, body: &Block, facts: &VectorFacts) -> bool {
    let number = match made_by(value, body) {
        // No sequence has more elements than ints have values.
        Some(Op::Convert(Ty::I32 | Ty::I64, number)) => *number,
        _ => value,
    };
    facts.of(number) == Uniformity::Affine && facts.cannot_overflow(number)
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Emits groups of iterations while a whole group is left and has no element that is looked for. Returns the iteration
    /// where that ends.
    pub fn search_loop(
        &mut self,
        index: Value,
        body: &'a Block,
        [begin, count]: [ir::Value; 2],
        search: Search,
    ) -> ir::Value {
        self.bail = self.c.b.create_block();
        let looped = self.c.begin_loop_to(self.bail, &[begin]);
        let at = looped.carried[0];
        let next = self.c.b.ins().iadd_imm_s(at, self.elements as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, count);
        self.c.loop_while(&looped, whole);
        self.c.poll();
        self.set(index, Lanes::Affine(at));
        self.block(body);
        let lanes = self.get(search.test);
        let goes_on = if search.until { self.not(&lanes) } else { lanes };
        self.check(&goes_on);
        self.c.end_loop(&looped, &[next]);
        at
    }
}
