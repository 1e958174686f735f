//! Groups of elements for which the conditions of a border are known ([`nesl_runtime::kir::index_sets`]).
//!
//! ```text
//! start, starts = the groups inside the set
//! for groups
//!   while number of the group's first element - start < starts (without sign)
//!     the code without these conditions, and without the checks that hold; next group
//!   if a group is left, the code
//! ```
//!
//! The groups inside are a loop of their own, for whose values registers are chosen first. Where code is vectorised only
//! under the assumptions of the set, the loop over single elements has this loop inside.

use super::super::emitter::Loop;
use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::bug;
use nesl_runtime::kir::index_sets::{Equal, HalfLine, IndexSet, Step};
use nesl_runtime::kir::vectorize::{VectorFacts, is_if_convertible_with};
use nesl_runtime::kir::{Binary, Block, Inst, Op, Ty, Value};
use rustc_hash::FxHashMap;

/// A loop of fewer groups does not look for those inside a set.
const MIN_SPLIT_GROUPS: usize = 8;

/// A set of elements, and the facts about code for them.
pub struct Inside<'i> {
    /// The set of elements.
    pub set: IndexSet<'i>,
    /// The facts about the code under the set's assumptions.
    pub facts: VectorFacts,
}

/// The groups inside a set: those whose first element is one of `starts` numbers from `start` on.
pub struct InnerGroups<'i> {
    /// The set that they are inside of, with its facts.
    pub inside: Inside<'i>,
    start: ir::Value,
    /// The number of such first elements, which the loop over all groups carries as its last value.
    pub starts: ir::Value,
    /// The end of the set's elements.
    pub end: ir::Value,
    /// The values that were loaded before the loop.
    loaded: Vec<(Value, ir::Value)>,
}

/// The numbers of elements that come before some place in a loop.
struct Counts {
    /// The elements whose number comes before a bound.
    before: ir::Value,
    /// The elements whose number comes before a bound, or is the bound.
    through: ir::Value,
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Emits, before a loop over the elements from `lo` up to `hi`, what finds the groups inside a set. `numbers` gives
    /// the numbers of the first element by their names.
    pub fn inner_groups<'i>(
        &mut self,
        inside: Inside<'i>,
        [lo, hi]: [ir::Value; 2],
        numbers: impl Iterator<Item = (Value, ir::Value)>,
    ) -> InnerGroups<'i> {
        let set = &inside.set;
        let count = self.c.b.ins().isub(hi, lo);
        let find = self.c.b.create_block();
        let join = self.c.block_with([types::I64; 3]);
        let loads = set.prologue.iter().filter_map(|step| match step {
            Step::Load(value) => Some(*value),
            Step::Check(..) => None,
        });
        let loads: Vec<Value> = loads.collect();
        for value in &loads {
            let ty = self.c.clif_of(*value);
            self.c.b.append_block_param(join, ty);
        }
        let few = (self.elements * MIN_SPLIT_GROUPS) as i64;
        let many = self.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, few);
        let none = self.c.int(0);
        let mut empty = vec![lo, none, lo];
        for value in &loads {
            let ty = self.c.clif_of(*value);
            empty.push(self.c.zero(ty));
        }
        self.c.branch(many, (find, &[]), (join, &empty));
        self.c.b.switch_to_block(find);
        let mut known: FxHashMap<Value, ir::Value> = numbers.collect();
        for step in &set.prologue {
            match step {
                Step::Load(value) => {
                    self.before_loop(set, &mut known, *value);
                }
                Step::Check(cond, value) => {
                    let cond = self.before_loop(set, &mut known, *cond);
                    let next = self.c.b.create_block();
                    let (on, out) = ((next, &[][..]), (join, &empty[..]));
                    let [then, otherwise] = if *value { [on, out] } else { [out, on] };
                    self.c.branch(cond, then, otherwise);
                    self.c.b.switch_to_block(next);
                }
            }
        }
        let [mut begin, mut end] = [none, count];
        for half_line in &set.half_lines {
            [begin, end] = self.intersect(set, &mut known, *half_line, count, [begin, end]);
        }
        for (cond, value) in &set.uniform {
            let mut holds = self.before_loop(set, &mut known, *cond);
            if !value {
                holds = self.c.b.ins().bxor_imm_s(holds, 1);
            }
            end = self.c.b.ins().select(holds, end, none);
        }
        let length = self.c.b.ins().isub(end, begin);
        let starts = self.c.b.ins().iadd_imm_s(length, 1 - self.elements as i64);
        let starts = self.c.b.ins().smax(starts, none);
        let start = self.c.b.ins().iadd(lo, begin);
        let end = self.c.b.ins().iadd(lo, end);
        let mut found = vec![start, starts, end];
        found.extend(loads.iter().map(|value| known[value]));
        self.c.jump(join, &found);
        self.c.b.switch_to_block(join);
        let params = self.c.b.block_params(join);
        let loaded = loads.into_iter().zip(params[3..].iter().copied()).collect();
        InnerGroups { inside, start: params[0], starts: params[1], end: params[2], loaded }
    }

    /// Emits what the number of the first element of the first group inside is, or -1 if there is no group inside.
    pub fn first_inside(&mut self, groups: &InnerGroups<'_>) -> ir::Value {
        let none = self.c.int(-1);
        self.c.b.ins().select(groups.starts, groups.start, none)
    }

    /// Emits, in the body of a loop over groups, the loop over those inside a set. `group` emits the code of a group, of
    /// which the loop's carried values are given, and returns the next ones; the first is the group's first element.
    ///
    /// The next code to be emitted is that of any other group. A check that fails inside leads there.
    pub fn loop_inside(
        &mut self,
        groups: &InnerGroups<'_>,
        looped: &Loop,
        group: &mut dyn FnMut(&mut Self, &[ir::Value]) -> Vec<ir::Value>,
    ) {
        let Some((&starts, carried)) = looped.carried.split_last() else {
            bug!("a loop with groups inside carries their number")
        };
        let is_inside = |this: &mut Self, first: ir::Value| {
            let place = this.c.b.ins().isub(first, groups.start);
            this.c.b.ins().icmp(IntCC::UnsignedLessThan, place, starts)
        };
        let inside = self.c.block_like(carried);
        let (other, failed) = (self.c.b.create_block(), self.c.b.create_block());
        let first = is_inside(self, carried[0]);
        self.c.branch(first, (inside, carried), (other, &[]));
        self.c.b.switch_to_block(inside);
        let here = self.c.b.block_params(inside).to_vec();
        self.forget();
        self.assume(groups);
        let facts = std::mem::replace(&mut self.facts, groups.inside.facts.clone());
        let bail = std::mem::replace(&mut self.bail, failed);
        let mut next = group(self, &here);
        self.bail = bail;
        self.facts = facts;
        self.known.clear();
        self.equal.clear();
        self.checked.clear();
        self.loaded.clear();
        self.forget();
        let again = is_inside(self, next[0]);
        let behind = self.c.b.create_block();
        self.c.branch(again, (inside, &next), (behind, &[]));
        self.c.b.switch_to_block(behind);
        next.push(starts);
        self.c.jump(looped.head, &next);
        // No group is inside any more.
        self.c.b.switch_to_block(failed);
        let none = self.c.int(0);
        let without = [&here[..], &[none]].concat();
        self.c.jump(looped.head, &without);
        self.c.b.switch_to_block(other);
    }

    /// Assumes what holds for all elements of a set of the code that is emitted next.
    pub fn assume(&mut self, groups: &InnerGroups<'_>) {
        let set = &groups.inside.set;
        self.loaded.extend(groups.loaded.iter().copied());
        self.known.clone_from(&set.assumptions.known);
        self.equal.clone_from(&set.assumptions.equal);
        self.checked.clone_from(&set.checked);
    }

    /// Forgets what is known of values by code that does not come before the code emitted next.
    fn forget(&mut self) {
        self.all.clear();
        self.all_by_one_side.clear();
        self.none.clear();
        self.compared.clear();
        self.sources.clear();
        self.descending.clear();
        self.joined.clear();
        self.high_products.clear();
        self.choices.clear();
    }

    /// Returns true if a short block may be executed for all elements: it loads only where checks are known to hold.
    pub fn is_convertible_inside(&self, block: &Block) -> bool {
        self.is_inside()
            && is_if_convertible_with(block, &|op| match op {
                Op::Load { index, .. } => self.checked.contains(index),
                Op::Check { cond, .. } => self.known.get(cond) == Some(&true),
                _ => false,
            })
    }

    /// The elements of a set, from `begin` up to `end` of `count`, for which a relation holds, too.
    fn intersect(
        &mut self,
        set: &IndexSet<'_>,
        known: &mut FxHashMap<Value, ir::Value>,
        half_line: HalfLine,
        count: ir::Value,
        [begin, end]: [ir::Value; 2],
    ) -> [ir::Value; 2] {
        let HalfLine { number, descends, relation, bound } = half_line;
        let first = self.before_loop(set, known, number);
        let bound = match bound {
            Some(bound) => self.before_loop(set, known, bound),
            None => self.c.int(0),
        };
        let distance = self.c.b.ins().iadd_imm_s(count, -1);
        let last = match descends {
            false => self.c.b.ins().iadd(first, distance),
            true => self.c.b.ins().isub(first, distance),
        };
        let Counts { before, through } = self.counts([first, last], bound, count, descends);
        // A number that wraps comes before the first.
        let cc = if descends { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
        let wraps = self.c.b.ins().icmp(cc, last, first);
        let none = self.c.int(0);
        let end = self.c.b.ins().select(wraps, none, end);
        let ins = self.c.b.ins();
        match (relation, descends) {
            (Binary::Lt, false) | (Binary::Gt, true) => [begin, ins.smin(end, before)],
            (Binary::Le, false) | (Binary::Ge, true) => [begin, ins.smin(end, through)],
            (Binary::Ge, false) | (Binary::Le, true) => [ins.smax(begin, before), end],
            (Binary::Gt, false) | (Binary::Lt, true) => [ins.smax(begin, through), end],
            // The longer part.
            _ => {
                let behind = self.c.b.ins().isub(count, through);
                let is_behind = self.c.b.ins().icmp(IntCC::SignedLessThan, before, behind);
                let later = self.c.b.ins().smax(begin, through);
                let earlier = self.c.b.ins().smin(end, before);
                let begin = self.c.b.ins().select(is_behind, later, begin);
                [begin, self.c.b.ins().select(is_behind, end, earlier)]
            }
        }
    }

    /// The numbers of elements that come before a bound, of `count` elements with these first and last numbers.
    fn counts(
        &mut self,
        [first, last]: [ir::Value; 2],
        bound: ir::Value,
        count: ir::Value,
        descends: bool,
    ) -> Counts {
        let (less, not_greater) = match descends {
            false => (IntCC::SignedLessThan, IntCC::SignedLessThanOrEqual),
            true => (IntCC::SignedGreaterThan, IntCC::SignedGreaterThanOrEqual),
        };
        let (low, high) = if descends { (bound, first) } else { (first, bound) };
        let steps = self.c.b.ins().isub(high, low);
        let none = self.c.int(0);
        let precedes = self.c.b.ins().icmp(less, bound, first);
        let all = self.c.b.ins().icmp(less, last, bound);
        let before = self.c.b.ins().select(precedes, none, steps);
        let before = self.c.b.ins().select(all, count, before);
        let more = self.c.b.ins().iadd_imm_s(steps, 1);
        let all = self.c.b.ins().icmp(not_greater, last, bound);
        let through = self.c.b.ins().select(precedes, none, more);
        let through = self.c.b.ins().select(all, count, through);
        Counts { before, through }
    }

    /// Emits what a value is for the first element.
    fn before_loop(
        &mut self,
        set: &IndexSet<'_>,
        known: &mut FxHashMap<Value, ir::Value>,
        value: Value,
    ) -> ir::Value {
        if let Some(known) = known.get(&value) {
            return *known;
        }
        if let Some(Equal { to, less }) = set.assumptions.equal.get(&value) {
            let mut result = self.before_loop(set, known, *to);
            if let Some(less) = less {
                let less = self.before_loop(set, known, *less);
                result = self.c.b.ins().isub(result, less);
            }
            known.insert(value, result);
            return result;
        }
        let Some(op) = set.operations.get(&value) else { return self.c.get(value) };
        let ty = |this: &Self, v: &Value| this.c.element_ty(*v);
        let mut operand = |this: &mut Self, v: &Value| this.before_loop(set, known, *v);
        let result = match op {
            Op::Const(literal) => self.c.literal(*literal),
            Op::Unary(op, a) => {
                let x = operand(self, a);
                self.c.unary(*op, ty(self, a), x)
            }
            Op::Binary(op, a, b) => {
                let (x, y) = (operand(self, a), operand(self, b));
                self.c.binary(*op, ty(self, a), x, y, None)
            }
            Op::Load { array, index } => {
                let (at, index) = (operand(self, array), operand(self, index));
                self.c.load(at, index, ty(self, array))
            }
            Op::Select(cond, a, b) => {
                let (cond, x, y) = (operand(self, cond), operand(self, a), operand(self, b));
                self.c.b.ins().select(cond, x, y)
            }
            _ => bug!("indices and bounds are computed by arithmetic"),
        };
        known.insert(value, result);
        result
    }

    /// Emits an instruction whose effect is known inside a set of elements; emits nothing and returns false if it is not.
    pub fn emit_known(&mut self, inst: &'a Inst) -> bool {
        if !self.is_inside() {
            return false;
        }
        if let Some(result) = inst.results.first()
            && let Some(loaded) = self.loaded.get(result).copied()
        {
            self.set(*result, Lanes::Uniform(loaded));
            return true;
        }
        let known = |v: &Value| self.known.get(v).copied();
        match (&inst.op, &inst.results[..]) {
            (Op::Check { cond, .. }, _) => known(cond) == Some(true),
            (Op::If { cond, then, otherwise }, results) => {
                let Some(value) = known(cond) else { return false };
                let side = if value { then } else { otherwise };
                self.block(side);
                for (result, value) in results.iter().zip(&side.yields) {
                    self.set_equal(*result, Equal { to: *value, less: None });
                }
                true
            }
            (_, [result]) => match (known(result), self.equal.get(result).copied()) {
                (Some(value), _) => {
                    debug_assert_eq!(self.c.element_ty(*result), Ty::Bool, "only bools are known");
                    let value = self.c.b.ins().iconst(types::I8, i64::from(value));
                    self.set(*result, Lanes::Uniform(value));
                    true
                }
                (None, Some(equal)) => {
                    self.set_equal(*result, equal);
                    true
                }
                (None, None) => false,
            },
            _ => false,
        }
    }

    /// Defines a value that is equal to another.
    fn set_equal(&mut self, value: Value, Equal { to, less }: Equal) {
        let descends = self.facts.is_descending(value);
        let (lanes, first) = match less {
            None => (self.get(to), self.descending.get(&to).copied()),
            Some(less) => {
                let first = descends.then(|| self.first_of_descending(Binary::Sub, to, less));
                (self.binary(Binary::Sub, to, less, self.facts.of(value)), first)
            }
        };
        if let (true, Some(first)) = (descends, first) {
            self.descending.insert(value, first);
        }
        self.set(value, lanes);
    }

    /// Returns true while code for the elements of a set is emitted.
    pub fn is_inside(&self) -> bool {
        !(self.known.is_empty() && self.equal.is_empty())
    }
}
