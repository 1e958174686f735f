//! Range analysis: checks and comparisons that the ranges of ints decide go, and so do divisions by constants.
//!
//! The analysis follows a lower and an upper bound of every int, char and bool: from its type, from the operation that
//! computes it, and from the conditions and checks that hold where it is read. A check that cannot fail
//! is removed, so that the code around it can be executed speculatively and vectorised. Of a branch whose condition is
//! decided one side is left.
//!
//! ```text
//! v1: i64 = convert v0           0 to 255
//! v3: i64 = rem v1, v2           0 to 25, if v2 is 26
//! v5: i64 = add v3, v4           97 to 122, if v4 is 97
//! v7: bool = lt v5, v6       →   (true, if v6 is 256)
//! check v7 @0                →
//! v8: u8 = convert v5            v8: u8 = convert v5
//! ```
//!
//! A quotient or remainder of a small number that is not negative by a constant is found by a multiplication and a
//! shift ([`division`](super::division)): vectors have no division of ints.

use super::differences::Differences;
use super::division::{Divided, Division};
use super::{Binary, Block, Class, Function, Inst, Kernel, Literal, Module, Op};
use super::{Space, Ty, Unary, Value, ValueTy};
use crate::stack::with_stack;
use rustc_hash::FxHashMap;

/// No loop has more iterations than this, and no index space more elements: they would take years.
const MAX_COUNT: i64 = 1 << 56;

/// Removes the checks of a module that cannot fail, and the operations that only they read; replaces comparisons that
/// are always true or always false by constants, and divisions of small numbers by constants by multiplications.
pub fn use_ranges(module: &mut Module) {
    for Function { body, types, .. } in &mut module.functions {
        let mut ranges = Ranges::new(&mut *types);
        ranges.block(body);
        if ranges.changed() {
            sweep(body, &mut vec![false; types.len()]);
        }
    }
    for kernel in &mut module.kernels {
        let Kernel { stages, types, indices, space, .. } = kernel;
        let mut ranges = Ranges::new(&mut *types);
        for index in &*indices {
            ranges.define(*index, Some(Range { low: 0, high: MAX_COUNT }));
        }
        ranges.number(indices, space);
        // A later stage sees the values of an earlier one.
        for stage in stages.iter_mut() {
            ranges.block(&mut stage.body);
            stage.sinks.iter_mut().for_each(|sink| sink.map_values(|v| ranges.name(v)));
        }
        if ranges.changed() {
            let mut read = vec![false; types.len()];
            for stage in stages.iter_mut().rev() {
                let sinks = stage.sinks.iter();
                sinks.for_each(|sink| sink.each_value(|v| read[v.0 as usize] = true));
                sweep(&mut stage.body, &mut read);
            }
        }
    }
}

/// The same for a block, given constants that are defined outside; its yields get the new names of what it defines.
pub(super) fn use_ranges_in(
    block: &mut Block,
    types: &mut Vec<ValueTy>,
    constants: &FxHashMap<Value, Literal>,
) {
    let mut ranges = Ranges::new(types);
    for (value, literal) in constants {
        let mut constant = Inst { results: vec![*value], op: Op::Const(*literal) };
        ranges.inst(&mut constant);
    }
    ranges.block(block);
}

/// Returns the least and the greatest number that ints, chars and bools of a kernel may be, where that is less than all
/// of their type.
pub fn known_ranges(kernel: &Kernel) -> FxHashMap<Value, (i64, i64)> {
    let Kernel { mut stages, mut types, indices, .. } = kernel.clone();
    let mut ranges = Ranges::new(&mut types);
    for index in &indices {
        ranges.define(*index, Some(Range { low: 0, high: MAX_COUNT }));
    }
    stages.iter_mut().for_each(|stage| ranges.block(&mut stage.body));
    ranges.known.into_iter().map(|(value, of)| (value, (of.low, of.high))).collect()
}

/// Removes the operations on scalars whose results nothing reads; `read` is true for the values that later code reads.
pub(super) fn sweep(block: &mut Block, read: &mut [bool]) {
    with_stack(|| {
        block.yields.iter().for_each(|v| read[v.0 as usize] = true);
        let mut kept = Vec::with_capacity(block.insts.len());
        for mut inst in std::mem::take(&mut block.insts).into_iter().rev() {
            let is_read = inst.results.iter().any(|v| read[v.0 as usize]);
            if inst.op.class() == Class::Pure && !is_read {
                continue;
            }
            inst.op.each_operand(|v| read[v.0 as usize] = true);
            // The body of a loop sees what its condition computes.
            let blocks: Vec<&mut Block> = inst.op.blocks_mut().collect();
            blocks.into_iter().rev().for_each(|inner| sweep(inner, read));
            kept.push(inst);
        }
        kept.reverse();
        block.insts = kept;
    });
}

/// The numbers from `low` to `high`, both included. Bools are 0 and 1, chars are their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: i64,
    high: i64,
}

impl Range {
    const FALSE: Range = Range { low: 0, high: 0 };
    const TRUE: Range = Range { low: 1, high: 1 };

    /// All values of a type, if it is one of ints, chars or bools.
    fn of_type(ty: ValueTy) -> Option<Range> {
        let (low, high) = match ty {
            ValueTy::Scalar(Ty::I32) => (i64::from(i32::MIN), i64::from(i32::MAX)),
            ValueTy::Scalar(Ty::I64) => (i64::MIN, i64::MAX),
            ValueTy::Scalar(Ty::U8) => (0, 255),
            ValueTy::Scalar(Ty::Bool) => (0, 1),
            ValueTy::Scalar(Ty::F32 | Ty::F64) | ValueTy::Array(_) | ValueTy::Mark => return None,
        };
        Some(Range { low, high })
    }

    fn bool(of: bool) -> Range {
        if of { Range::TRUE } else { Range::FALSE }
    }

    /// The numbers between two bounds, if `within` has both: otherwise a result wraps, and may be any of `within`.
    fn exact(low: i128, high: i128, within: Range) -> Range {
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if low >= within.low && high <= within.high => Range { low, high },
            _ => within,
        }
    }

    fn union(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers in both, if there are any.
    fn and(self, other: Range) -> Option<Range> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Range { low, high })
    }

    fn single(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }
}

/// A place in the code: how many values were narrowed, and how many facts there were.
#[derive(Clone, Copy)]
struct Place {
    narrowed: usize,
    differences: usize,
}

/// The ranges of the values that are known where the analysis is.
struct Ranges<'m> {
    types: &'m mut Vec<ValueTy>,
    /// The values with a smaller range than their type's.
    known: FxHashMap<Value, Range>,
    /// The differences of ints that are known.
    differences: Differences,
    /// The operations that compute bools.
    conditions: FxHashMap<Value, Op>,
    /// The ranges that conditions have narrowed, with those before: they hold again behind the block.
    narrowed: Vec<(Value, Option<Range>)>,
    /// The values that are another one, where that is known.
    names: FxHashMap<Value, Value>,
    /// True if an operation was removed or replaced.
    replaced: bool,
}

impl<'m> Ranges<'m> {
    fn new(types: &'m mut Vec<ValueTy>) -> Ranges<'m> {
        Ranges {
            types,
            known: FxHashMap::default(),
            differences: Differences::default(),
            conditions: FxHashMap::default(),
            narrowed: Vec::new(),
            names: FxHashMap::default(),
            replaced: false,
        }
    }

    /// True if the code is no longer what it was.
    fn changed(&self) -> bool {
        self.replaced || !self.names.is_empty()
    }

    fn name(&self, value: Value) -> Value {
        self.names.get(&value).copied().unwrap_or(value)
    }

    fn of(&self, value: Value) -> Option<Range> {
        let known = self.known.get(&value).copied();
        known.or_else(|| Range::of_type(self.types[value.0 as usize]))
    }

    /// Notes that the indices of an element of a space are below its extents.
    fn number(&mut self, indices: &[Value], space: &Space) {
        let extents = match *space {
            Space::Flat { count } => vec![count],
            Space::Regular { segments, length } => vec![segments, length],
            Space::Segmented { segments, .. } => vec![segments],
        };
        for (index, extent) in indices.iter().zip(extents) {
            self.differences.add_index(*index, extent);
        }
    }

    /// Analyses a block of which all holds until its end.
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let before = self.place();
            self.insts(block);
            self.forget(before);
        });
    }

    /// Returns a place in the code, for [`Ranges::forget`].
    fn place(&self) -> Place {
        Place { narrowed: self.narrowed.len(), differences: self.differences.facts() }
    }

    fn insts(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.insts.len());
        for inst in std::mem::take(&mut block.insts) {
            self.add(inst, &mut out);
        }
        block.insts = out;
        block.yields.iter_mut().for_each(|v| *v = self.name(*v));
    }

    /// Analyses an instruction, and adds what is left of it.
    fn add(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        inst.op.map_operands(|v| self.name(v));
        inst.op = match inst.op {
            // One side is always taken: it is part of the code around.
            Op::If { cond, then, otherwise } if self.single(cond).is_some() => {
                let side = if self.single(cond) == Some(1) { then } else { otherwise };
                side.insts.into_iter().for_each(|inner| with_stack(|| self.add(inner, out)));
                let yields: Vec<Value> = side.yields.iter().map(|v| self.name(*v)).collect();
                for (result, value) in inst.results.into_iter().zip(yields) {
                    self.define(result, self.of(value));
                    self.names.insert(result, value);
                }
                self.replaced = true;
                return;
            }
            op => op,
        };
        if !self.inst(&mut inst) {
            return;
        }
        match self.division(&inst) {
            Some(division) => {
                self.replaced = true;
                division.multiply(inst.results[0], self.types, out);
            }
            None => out.push(inst),
        }
    }

    fn single(&self, value: Value) -> Option<i64> {
        self.of(value).and_then(Range::single)
    }

    /// An instruction as a division that a multiplication can replace.
    fn division(&self, inst: &Inst) -> Option<Division> {
        let Op::Binary(op, dividend, divisor) = inst.op else { return None };
        let wanted = match op {
            Binary::Div => Divided::Quotient,
            Binary::Rem => Divided::Remainder,
            _ => return None,
        };
        let ty = match self.types[inst.results[0].0 as usize] {
            ValueTy::Scalar(ty) if ty.is_int() => ty,
            _ => return None,
        };
        let (range, by) = (self.of(dividend)?, self.of(divisor)?.single()?);
        let by = u64::try_from(by).ok()?;
        match u64::try_from(range.high) {
            Ok(most) if range.low >= 0 => Division::of(wanted, ty, dividend, most, by),
            _ => Division::of_any(wanted, ty, dividend, by),
        }
    }

    /// Takes back what the conditions since a place have narrowed, and the facts that were added.
    fn forget(&mut self, before: Place) {
        self.differences.forget(before.differences);
        for (value, range) in self.narrowed.drain(before.narrowed..).rev() {
            match range {
                Some(range) => self.known.insert(value, range),
                None => self.known.remove(&value),
            };
        }
    }

    /// Analyses an instruction; returns false if it has no effect.
    fn inst(&mut self, inst: &mut Inst) -> bool {
        match &mut inst.op {
            Op::If { cond, then, otherwise } => {
                let results = self.branch(*cond, then, otherwise);
                for (result, range) in inst.results.iter().zip(results) {
                    self.define(*result, range);
                }
            }
            Op::For { count, index, body, .. } => {
                let most =
                    self.of(*count).map_or(MAX_COUNT, |count| count.high.clamp(1, MAX_COUNT));
                self.define(*index, Some(Range { low: 0, high: most - 1 }));
                let before = self.place();
                // Where it is executed there is an iteration.
                self.narrow_to(*count, Range { low: 1, high: i64::MAX });
                self.differences.add_index(*index, *count);
                self.block(body);
                self.forget(before);
            }
            Op::While { cond, body, .. } => {
                let before = self.place();
                self.insts(cond);
                self.narrow(cond.yields[0], true);
                self.insts(body);
                self.forget(before);
            }
            Op::Check { cond, .. } => {
                if self.of(*cond) == Some(Range::TRUE) {
                    self.replaced = true;
                    return false;
                }
                let cond = *cond;
                self.narrow(cond, true);
            }
            op => {
                let [result] = inst.results[..] else { return true };
                if let Some(same) = self.same(op, result) {
                    self.names.insert(result, same);
                    return false;
                }
                let range = self.range(op, result);
                self.define(result, range);
                self.define_difference(op, result);
                if self.types[result.0 as usize] == ValueTy::Scalar(Ty::Bool) {
                    self.fold(op, range);
                    self.conditions.insert(result, op.clone());
                }
            }
        }
        true
    }

    /// Notes what an operation says of the difference of its result from its operands.
    fn define_difference(&mut self, op: &Op, result: Value) {
        if let Op::Const(Literal::I64(_) | Literal::I32(_)) = op
            && let Some(constant) = self.single(result)
        {
            return self.differences.define_constant(result, constant);
        }
        let Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Min | Binary::Max), a, b) = *op
        else {
            return;
        };
        let (Some(of_a), Some(of_b)) = (self.of(a), self.of(b)) else { return };
        if matches!(op, Binary::Min | Binary::Max) {
            return self.differences.define_choice(result, op, a, b);
        }
        let Some(within) = Range::of_type(self.types[result.0 as usize]) else { return };
        let (of, constant) = match (of_a.single(), of_b.single()) {
            (_, Some(constant)) => (a, constant),
            (Some(constant), None) if op == Binary::Add => (b, constant),
            _ => return,
        };
        let plus = if op == Binary::Add { Some(constant) } else { constant.checked_neg() };
        let of_other = if of == a { of_a } else { of_b };
        if let Some(plus) = plus {
            let ends = [of_other.low, of_other.high].map(|end| end.checked_add(plus));
            let is_exact = |end: &Option<i64>| {
                end.is_some_and(|end| (within.low..=within.high).contains(&end))
            };
            if ends.iter().all(is_exact) {
                self.differences.define_sum(result, of, plus);
            }
        }
    }

    /// The operand that a conjunction or disjunction is equal to, since the other one is known.
    fn same(&self, op: &Op, result: Value) -> Option<Value> {
        let neutral = match op {
            Op::Binary(Binary::And, ..) => Range::TRUE,
            Op::Binary(Binary::Or, ..) => Range::FALSE,
            _ => return None,
        };
        let Op::Binary(_, a, b) = op else { return None };
        let is_bool = self.types[result.0 as usize] == ValueTy::Scalar(Ty::Bool);
        let is_neutral = |v: &Value| is_bool && self.of(*v) == Some(neutral);
        if is_neutral(a) { Some(*b) } else { is_neutral(b).then_some(*a) }
    }

    /// Replaces an operation that always gives the same bool.
    fn fold(&mut self, op: &mut Op, range: Option<Range>) {
        let Some(constant) = range.and_then(Range::single) else { return };
        if matches!(op, Op::Binary(..) | Op::Unary(..)) {
            *op = Op::Const(Literal::Bool(constant == 1));
            self.replaced = true;
        }
    }

    fn define(&mut self, value: Value, range: Option<Range>) {
        if let Some(range) = range {
            self.known.insert(value, range);
        }
    }

    /// Analyses the sides of a branch; returns the ranges of its results.
    fn branch(
        &mut self,
        cond: Value,
        then: &mut Block,
        otherwise: &mut Block,
    ) -> Vec<Option<Range>> {
        let mut sides = [(true, then), (false, otherwise)].into_iter().map(|(holds, side)| {
            with_stack(|| {
                let before = self.place();
                self.narrow(cond, holds);
                self.insts(side);
                let yields: Vec<_> = side.yields.iter().map(|v| self.of(*v)).collect();
                self.forget(before);
                yields
            })
        });
        let (then, otherwise) =
            (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
        let union = |(a, b): (Option<Range>, Option<Range>)| Some(a?.union(b?));
        then.into_iter().zip(otherwise).map(union).collect()
    }

    /// Narrows the ranges of the values that a condition is about, where it holds, or where it does not.
    fn narrow(&mut self, cond: Value, holds: bool) {
        self.narrow_to(cond, Range::bool(holds));
        let Some(op) = self.conditions.get(&cond) else { return };
        match (op, holds) {
            (Op::Unary(Unary::Not, a), _) => {
                let a = *a;
                with_stack(|| self.narrow(a, !holds));
            }
            (Op::Binary(Binary::And, a, b), true) | (Op::Binary(Binary::Or, a, b), false) => {
                let (a, b) = (*a, *b);
                with_stack(|| {
                    self.narrow(a, holds);
                    self.narrow(b, holds);
                });
            }
            (Op::Binary(op, a, b), _) => {
                let (op, a, b) = (*op, *a, *b);
                self.narrow_compared(op, a, b, holds);
            }
            _ => {}
        }
    }

    /// Narrows the ranges of two ints that are compared.
    fn narrow_compared(&mut self, op: Binary, a: Value, b: Value, holds: bool) {
        let (Some(of_a), Some(of_b)) = (self.of(a), self.of(b)) else { return };
        self.differences.add_compared(op, a, b, holds);
        let below = |of: Range, strict: bool| Range {
            low: i64::MIN,
            high: of.high.saturating_sub(i64::from(strict)),
        };
        let above = |of: Range, strict: bool| Range {
            low: of.low.saturating_add(i64::from(strict)),
            high: i64::MAX,
        };
        let (to_a, to_b) = match (op, holds) {
            (Binary::Lt, true) | (Binary::Ge, false) => (below(of_b, true), above(of_a, true)),
            (Binary::Le, true) | (Binary::Gt, false) => (below(of_b, false), above(of_a, false)),
            (Binary::Gt, true) | (Binary::Le, false) => (above(of_b, true), below(of_a, true)),
            (Binary::Ge, true) | (Binary::Lt, false) => (above(of_b, false), below(of_a, false)),
            (Binary::Eq, true) | (Binary::Ne, false) => (of_b, of_a),
            (Binary::Ne, true) | (Binary::Eq, false) => return self.narrow_unequal(a, b),
            _ => return,
        };
        self.narrow_to(a, to_a);
        self.narrow_to(b, to_b);
    }

    /// Narrows the ranges of two ints that differ.
    fn narrow_unequal(&mut self, a: Value, b: Value) {
        for (value, other) in [(a, b), (b, a)] {
            let (Some(of), Some(other)) = (self.of(value), self.single(other)) else { continue };
            if of.low == other && other < of.high {
                self.narrow_to(value, Range { low: other + 1, high: of.high });
            } else if of.high == other && of.low < other {
                self.narrow_to(value, Range { low: of.low, high: other - 1 });
            }
        }
    }

    /// Narrows the range of a value until the end of the block. Where no value is left, the code is never executed.
    fn narrow_to(&mut self, value: Value, to: Range) {
        let Some(before) = self.of(value) else { return };
        let Some(range) = before.and(to) else { return };
        if range != before {
            let old = self.known.insert(value, range);
            self.narrowed.push((value, old));
        }
    }

    /// The range of the result of an operation without nested blocks.
    fn range(&self, op: &Op, result: Value) -> Option<Range> {
        let within = Range::of_type(self.types[result.0 as usize])?;
        let range = match op {
            Op::Const(literal) => match *literal {
                Literal::I32(x) => Range { low: i64::from(x), high: i64::from(x) },
                Literal::I64(x) => Range { low: x, high: x },
                Literal::U8(x) => Range { low: i64::from(x), high: i64::from(x) },
                Literal::Bool(x) => Range::bool(x),
                Literal::F32(_) | Literal::F64(_) => within,
            },
            Op::Convert(_, a) => {
                let a = self.of(*a)?;
                Range::exact(i128::from(a.low), i128::from(a.high), within)
            }
            Op::Select(cond, a, b) => match self.of(*cond).and_then(Range::single) {
                Some(1) => self.of(*a)?,
                Some(_) => self.of(*b)?,
                None => self.of(*a)?.union(self.of(*b)?),
            },
            Op::Unary(op, a) => unary(*op, self.of(*a)?, within),
            Op::Binary(op, a, b) => match (self.of(*a), self.of(*b)) {
                (Some(x), Some(y)) => {
                    let found = binary(*op, x, y, within);
                    let is_open = op.compares() && found.single().is_none();
                    let decided = is_open.then(|| self.differences.decide(*op, *a, *b));
                    decided.flatten().map_or(found, Range::bool)
                }
                // Floats are compared.
                _ => within,
            },
            _ => within,
        };
        Some(range)
    }
}

fn unary(op: Unary, a: Range, within: Range) -> Range {
    let (low, high) = (i128::from(a.low), i128::from(a.high));
    match op {
        Unary::Not if within == (Range { low: 0, high: 1 }) => {
            Range { low: 1 - a.high, high: 1 - a.low }
        }
        Unary::Neg => Range::exact(-high, -low, within),
        Unary::Abs if a.low >= 0 => a,
        Unary::Abs => Range::exact(0.max(-high), high.max(-low), within),
        _ => within,
    }
}

/// The range of an operation on ints, chars or bools of these ranges; `within` has all values of the result's type.
fn binary(op: Binary, a: Range, b: Range, within: Range) -> Range {
    let wide = |of: Range| (i128::from(of.low), i128::from(of.high));
    let ((a0, a1), (b0, b1)) = (wide(a), wide(b));
    let decided = |always: bool, never: bool| match (always, never) {
        (true, _) => Range::TRUE,
        (_, true) => Range::FALSE,
        _ => Range { low: 0, high: 1 },
    };
    match op {
        Binary::Add => Range::exact(a0 + b0, a1 + b1, within),
        Binary::Sub => Range::exact(a0 - b1, a1 - b0, within),
        Binary::Mul => {
            let ends = [a0 * b0, a0 * b1, a1 * b0, a1 * b1];
            let (low, high) =
                ends.iter().fold((ends[0], ends[0]), |(l, h), x| (l.min(*x), h.max(*x)));
            Range::exact(low, high, within)
        }
        Binary::Div if b0 >= 1 => {
            let low = if a0 < 0 { a0 / b0 } else { a0 / b1 };
            let high = if a1 < 0 { a1 / b1 } else { a1 / b0 };
            Range::exact(low, high, within)
        }
        Binary::Rem if b0 >= 1 => {
            let most = b1 - 1;
            let low = if a0 >= 0 { 0 } else { a0.max(-most) };
            let high = if a1 <= 0 { 0 } else { a1.min(most) };
            Range::exact(low, high, within)
        }
        Binary::Min => Range { low: a.low.min(b.low), high: a.high.min(b.high) },
        Binary::Max => Range { low: a.low.max(b.low), high: a.high.max(b.high) },
        Binary::And => match (a.low >= 0, b.low >= 0) {
            (true, true) if a.low == 1 && b.low == 1 && within.high == 1 => Range::TRUE,
            (true, true) => Range { low: 0, high: a.high.min(b.high) },
            (true, false) => Range { low: 0, high: a.high },
            (false, true) => Range { low: 0, high: b.high },
            (false, false) => within,
        },
        Binary::Or if a.low >= 0 && b.low >= 0 => {
            Range { low: a.low.max(b.low), high: ones(a.high.max(b.high)) }
        }
        Binary::Xor if a.low >= 0 && b.low >= 0 => Range { low: 0, high: ones(a.high.max(b.high)) },
        Binary::Shr | Binary::ShrZero => match b.single() {
            Some(count @ 0..32) if op == Binary::Shr || a.low >= 0 => {
                Range { low: a.low >> count, high: a.high >> count }
            }
            _ => within,
        },
        Binary::Eq => decided(a0 == a1 && a == b, a1 < b0 || b1 < a0),
        Binary::Ne => decided(a1 < b0 || b1 < a0, a0 == a1 && a == b),
        Binary::Lt => decided(a1 < b0, a0 >= b1),
        Binary::Le => decided(a1 <= b0, a0 > b1),
        Binary::Gt => decided(a0 > b1, a1 <= b0),
        Binary::Ge => decided(a0 >= b1, a1 < b0),
        Binary::Div | Binary::Rem | Binary::MulHigh | Binary::Or | Binary::Xor | Binary::Shl => {
            within
        }
    }
}

/// The greatest number that has no higher bit than a number of 0 or more.
fn ones(of: i64) -> i64 {
    match of {
        0 => 0,
        _ => i64::MAX >> (of.leading_zeros() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::reference::scalar;
    use crate::kir::{parse, print};

    /// The body of a function of the char `v0`, the int `v1` and the bool `v2`, without its decided checks.
    fn left(body: &str) -> String {
        let text = format!("function \"f\"(v0: u8, v1: i64, v2: bool) {{ {body} }}");
        let mut module = parse(&text).unwrap();
        use_ranges(&mut module);
        let printed = print(&module);
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        lines[1..lines.len() - 1].join(" ")
    }

    #[test]
    fn a_char_modulo_a_constant_is_a_char() {
        let kept = left(
            "v3: i64 = convert v0 v4: i64 = const 26 v5: i64 = rem v3, v4 v6: i64 = const 97 \
             v7: i64 = add v5, v6 v8: i64 = const 256 v9: bool = lt v7, v8 v10: i64 = const 0 \
             v11: bool = ge v7, v10 v12: bool = and v9, v11 check v12 @0",
        );
        assert!(!kept.contains("check"), "{kept}");
    }

    #[test]
    fn of_a_branch_that_is_decided_one_side_is_left() {
        let kept = left(
            "v3: i64 = const 10 v4: bool = lt v1, v3 check v4 @0 v5: i64 = if v4 { v6: i64 = add v1, v1 yield v6 } \
             else { yield v3 } v7: bool = lt v5, v3 check v7 @1 detail v5, v6",
        );
        assert!(!kept.contains("if") && kept.contains("detail v6, v6"), "{kept}");
        let kept = left(
            "v3: bool = const false v5: i64 = if v3 { yield v1 } else { v4: bool = lt v1, v1 check v4 @0 yield v1 } \
             v6: bool = lt v5, v1 check v6 @1",
        );
        assert!(!kept.contains("if"), "{kept}");
    }

    #[test]
    fn conditions_and_checks_narrow_what_follows_them_in_their_block_only() {
        let above = |then: &str, behind: &str| {
            left(&format!(
                "v3: i64 = const 10 v4: bool = lt v1, v3 v5: i64 = const 20 if v4 {{ {then} }} {behind}"
            ))
        };
        let check = "v6: bool = lt v1, v5 check v6 @0";
        assert!(!above(check, "").contains("check"), "implied by the condition");
        assert!(above("", check).contains("check"), "not behind it");
        let twice = left(
            "v3: i64 = const 10 v4: bool = lt v1, v3 check v4 @0 v5: bool = lt v1, v3 check v5 @1",
        );
        assert_eq!(twice.matches("check").count(), 1, "{twice}");
    }

    #[test]
    fn the_indices_of_loops_are_not_negative_and_conditions_lose_what_holds() {
        let kept = left(
            "for v3 < v1 { v4: i64 = const 1 v5: i64 = add v3, v4 v6: i64 = const 0 \
             v7: bool = ge v5, v6 v8: bool = lt v5, v1 v9: bool = and v7, v8 check v9 @0 }",
        );
        assert!(kept.contains("check v8") && !kept.contains("and"), "{kept}");
    }

    #[test]
    fn what_may_wrap_is_not_decided() {
        let sum = left(
            "v3: i64 = const 1 v4: i64 = const 0 v5: bool = ge v1, v4 check v5 @0 \
             v6: i64 = add v1, v3 v7: bool = gt v6, v4 check v7 @1",
        );
        assert_eq!(sum.matches("check").count(), 2, "{sum}");
    }

    #[test]
    fn ranges_hold_every_result() {
        let arithmetic = [
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Div,
            Binary::Rem,
            Binary::Min,
            Binary::Max,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::Shr,
            Binary::ShrZero,
        ];
        let comparisons = [Binary::Eq, Binary::Ne, Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge];
        let ends = [i64::MIN, -27, -4, -1, 0, 1, 3, 26, i64::MAX];
        let from = |low: &i64| {
            let low = *low;
            ends.into_iter().filter(move |high| *high >= low).map(move |high| Range { low, high })
        };
        let ranges: Vec<Range> = ends.iter().flat_map(from).collect();
        let inside = |of: Range| ends.into_iter().filter(move |x| (of.low..=of.high).contains(x));
        for op in arithmetic.into_iter().chain(comparisons) {
            let ty = if op.compares() { Ty::Bool } else { Ty::I64 };
            let within = Range::of_type(ValueTy::Scalar(ty)).unwrap();
            for (a, b) in ranges.iter().flat_map(|a| ranges.iter().map(|b| (*a, *b))) {
                let found = binary(op, a, b, within);
                for (x, y) in inside(a).flat_map(|x| inside(b).map(move |y| (x, y))) {
                    let result = match scalar::binary(op, Literal::I64(x), Literal::I64(y)) {
                        Literal::I64(result) => result,
                        Literal::Bool(result) => i64::from(result),
                        other => panic!("{other:?}"),
                    };
                    let holds = (found.low..=found.high).contains(&result);
                    assert!(holds, "{op:?} of {x} and {y} is {result}, not in {found:?}");
                }
            }
        }
    }
}
