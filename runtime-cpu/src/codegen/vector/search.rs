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
//! For any, nothing is reduced in the groups: the elements of the last one are left to the code for single elements. For the
//! first, nothing is left: its place is the number of the lowest bit of a group's mask, so that no lanes of ints are compared. Where
//! there are few iterations, all are tested: what ends a short loop early is often predicted wrongly.

use super::super::emitter::FunctionEmitter;
use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{Block, Combine, Inst, Literal, Op, Ty, Value, walk};

/// A search among fewer elements tests all.
const MIN_SEARCHED_ITERATIONS: u64 = 64;

/// A loop that looks for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The bool that is tested.
    test: Value,
    /// The value that the element has which is looked for.
    until: bool,
    /// The number of which the least is wanted, if it is, which is one more for each further element.
    number: Option<Value>,
}

impl Search {
    /// Returns the search that a counted loop is, if it looks for an element and has no other effect.
    pub fn of(inst: &Inst, facts: &VectorFacts, c: &FunctionEmitter<'_, '_>) -> Option<Search> {
        let Op::For { index, init, reduce, body, .. } = &inst.op else { return None };
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
            (Combine::Or, Ty::Bool) => Some(Search { test: *value, until: true, number: None }),
            (Combine::And, Ty::Bool) => Some(Search { test: *value, until: false, number: None }),
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
                let index = *index;
                let number_of = |v| number(v, index, body, facts);
                let (number, until) = match sides {
                    [a, b] if is_neutral(b) => (number_of(a)?, true),
                    [a, b] if is_neutral(a) => (number_of(b)?, false),
                    _ => return None,
                };
                Some(Search { test, until, number: Some(number) })
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

/// The int that a value is, as it is or cut, if that is one more for each further element, and known wherever the code of
/// an iteration ends.
fn number(value: Value, index: Value, body: &Block, facts: &VectorFacts) -> Option<Value> {
    let number = match made_by(value, body) {
        // No sequence has more elements than ints have values.
        Some(Op::Convert(Ty::I32 | Ty::I64, number)) if *number == index => *number,
        _ => value,
    };
    let is_known = number == index || body.insts.iter().any(|inst| inst.results.contains(&number));
    let ascends = facts.of(number) == Uniformity::Affine && facts.cannot_overflow(number);
    (is_known && ascends).then_some(number)
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Emits the groups of a search, of these numbers of elements one after the other. Jumps to `join` with the first
    /// single iteration, the result so far, and the end of these iterations. Returns false if it remains to emit what is
    /// done for few iterations, as it does where any element is looked for.
    pub fn search(
        &mut self,
        (index, body): (Value, &'a Block),
        (count, neutral): (ir::Value, ir::Value),
        search: &Search,
        sizes: &[usize],
        join: ir::Block,
    ) -> bool {
        let zero = self.c.int(0);
        let most = self.elements;
        if !self.c.has_few_iterations {
            let (long, short) = (self.c.b.create_block(), self.c.b.create_block());
            let is_long = self.c.is_at_least(count, MIN_SEARCHED_ITERATIONS);
            self.c.branch(is_long, (long, &[]), (short, &[]));
            self.c.b.switch_to_block(long);
            let mut at = zero;
            for elements in sizes {
                self.elements = *elements;
                at = self.tests((index, body), [at, count], search, (neutral, join));
            }
            // What is left is a group with the element, or less than a group.
            let end = match search.number {
                Some(_) => count,
                None => {
                    let after = self.c.b.ins().iadd_imm_s(at, self.elements as i64);
                    self.c.b.ins().smin(after, count)
                }
            };
            self.c.jump(join, &[at, neutral, end]);
            self.c.b.switch_to_block(short);
            self.elements = most;
        }
        if let Some(number) = search.number {
            let mut state = [zero, neutral];
            for elements in sizes {
                self.elements = *elements;
                state = self.firsts((index, body), state, [count, neutral], (search, number));
            }
            self.c.jump(join, &[state[0], state[1], count]);
        }
        search.number.is_some()
    }

    /// Emits groups of iterations while a whole group is left and has no element that is looked for. Returns the iteration
    /// where that ends; if the first such element is wanted, jumps to `join` with its number.
    fn tests(
        &mut self,
        (index, body): (Value, &'a Block),
        [begin, count]: [ir::Value; 2],
        search: &Search,
        (neutral, join): (ir::Value, ir::Block),
    ) -> ir::Value {
        self.bail = self.c.b.create_block();
        let looped = self.c.begin_loop_to(self.bail, &[begin]);
        let at = looped.carried[0];
        let next = self.c.b.ins().iadd_imm_s(at, self.elements as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, count);
        self.c.loop_while(&looped, whole);
        let holds = self.tested((index, body), at, search);
        match search.number {
            Some(number) => {
                let (found, on) = (self.c.b.create_block(), self.c.b.create_block());
                let masks = self.mask_as_is(&holds, self.mask_bits());
                let any = self.any(&masks);
                self.c.b.ins().brif(any, found, &[], on, &[]);
                self.c.b.switch_to_block(found);
                let bits = self.bits(&holds);
                let least = self.first_of(bits, number, neutral);
                self.c.jump(join, &[at, least, at]);
                self.c.b.switch_to_block(on);
            }
            None => {
                let goes_on = self.not(&holds);
                self.check(&goes_on);
            }
        }
        self.c.end_loop(&looped, &[next]);
        at
    }

    /// Emits groups of iterations, from an iteration and the least number so far, while a whole group is left. Returns the
    /// iteration where that ends, and the least number.
    fn firsts(
        &mut self,
        code: (Value, &'a Block),
        begin: [ir::Value; 2],
        [count, neutral]: [ir::Value; 2],
        (search, number): (&Search, Value),
    ) -> [ir::Value; 2] {
        self.bail = self.c.b.create_block();
        let looped = self.c.begin_loop_to(self.bail, &begin);
        let [at, least] = [0, 1].map(|n| looped.carried[n]);
        let next = self.c.b.ins().iadd_imm_s(at, self.elements as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, count);
        self.c.loop_while(&looped, whole);
        let holds = self.tested(code, at, search);
        let bits = self.bits(&holds);
        let found = self.first_of(bits, number, neutral);
        let any = self.c.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0);
        let found = self.c.b.ins().select(any, found, neutral);
        let least_next = self.c.b.ins().smin(least, found);
        self.c.end_loop(&looped, &[next, least_next]);
        [at, least]
    }

    /// Emits the iterations of a group; returns the mask of the elements that are looked for.
    fn tested(
        &mut self,
        (index, body): (Value, &'a Block),
        at: ir::Value,
        search: &Search,
    ) -> Lanes {
        self.c.poll();
        self.set(index, Lanes::Affine(at));
        self.block(body);
        let lanes = self.get(search.test);
        if search.until { lanes } else { self.not(&lanes) }
    }

    /// Emits the number of the first element of a group whose bit is set, as wide as another int.
    fn first_of(&mut self, bits: ir::Value, number: Value, like: ir::Value) -> ir::Value {
        let place = self.c.b.ins().ctz(bits);
        let numbers = self.get(number);
        let first = self.extract(&numbers, Ty::I64, 0);
        let number = self.c.b.ins().iadd(first, place);
        let is_short = self.c.b.func.dfg.value_type(like) == types::I32;
        self.c.convert(if is_short { Ty::I32 } else { Ty::I64 }, Ty::I64, number)
    }
}
