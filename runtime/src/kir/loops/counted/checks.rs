//! Checks that hold in all iterations of a counted loop if they hold in the first and the last.
//!
//! A check compares sums of the counter, of values that are the same in each iteration, and of constants. None of them
//! wraps if the addends are small, which is a part of what is found out before the loop.

use super::{BOOL, Counting, INT, Numbers, defines};
use crate::kir::{Binary, Block, Class, Inst, Literal, Op, Value, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Counters and what is added to them are at most this, so that their sums do not wrap.
pub(super) const MAX_NUMBER: i64 = 1 << 56;

/// The most values that are added up in an index.
const MAX_ADDENDS: usize = 4;

/// The most comparisons that are made before a loop.
const MAX_COMPARISONS: usize = 24;

/// The code of an iteration.
pub(super) struct Iteration {
    inside: FxHashSet<Value>,
    definitions: FxHashMap<Value, Op>,
}

impl Iteration {
    pub fn of<'b>(blocks: impl IntoIterator<Item = &'b Block>, carried: &[Value]) -> Iteration {
        let mut inside: FxHashSet<Value> = carried.iter().copied().collect();
        let mut definitions = FxHashMap::default();
        for block in blocks {
            inside.extend(defines(block));
            walk::each_inst(block, &mut |inst| {
                if inst.op.class() == Class::Pure {
                    definitions.insert(inst.results[0], inst.op.clone());
                }
            });
        }
        Iteration { inside, definitions }
    }
}

/// A sum of the counter, perhaps, of values that are the same in each iteration, and of a constant.
#[derive(Clone, Debug, Default)]
struct Sum {
    counted: bool,
    added: Vec<Value>,
    subtracted: Vec<Value>,
    constant: i64,
}

impl Counting<'_> {
    /// Removes the checks of a counted loop that hold in each iteration if what is appended to `before` and `holds` does.
    /// A check under a condition may be one that only holds there: an element before the present one is mostly read
    /// where there is one.
    pub(super) fn check_before(
        &mut self,
        body: &mut Block,
        numbers: &Numbers,
        code: &Iteration,
        holds: &mut Vec<Value>,
        before: &mut Block,
    ) {
        let check = |inst: &Inst| match inst.op {
            Op::Check { cond, .. } => Some(cond),
            _ => None,
        };
        let always: FxHashSet<Value> = body.insts.iter().filter_map(check).collect();
        let mut checks = Vec::new();
        walk::each_inst(body, &mut |inst| checks.extend(check(inst)));
        let mut removed = FxHashSet::default();
        let most = self.int(MAX_NUMBER, before);
        let least = self.int(-MAX_NUMBER, before);
        let mut bounds: FxHashSet<(Value, bool)> = FxHashSet::default();
        for cond in checks {
            let (mut parts, mut same) = (Vec::new(), Vec::new());
            if holds.len() > MAX_COMPARISONS
                || !self.comparisons(cond, code, before, (&mut parts, &mut same))
            {
                continue;
            }
            let compared: Option<Vec<(Binary, Sum, Sum)>> = parts
                .into_iter()
                .map(|(op, a, b)| {
                    let (a, b) =
                        (self.sum(a, numbers, code, before)?, self.sum(b, numbers, code, before)?);
                    match (a.counted, b.counted) {
                        (_, false) => Some((op, a, b)),
                        (false, true) => Some((op.swapped()?, b, a)),
                        (true, true) => None,
                    }
                })
                .collect();
            let Some(compared) = compared else { continue };
            let is_guarded = !always.contains(&cond)
                && compared.iter().any(|(op, a, _)| {
                    let is_least = matches!(op, Binary::Ge | Binary::Gt);
                    is_least && (a.constant < 0 || !a.subtracted.is_empty())
                });
            if is_guarded
                || compared.iter().any(|(op, a, b)| self.fails_at_once(*op, a, b, numbers))
            {
                continue;
            }
            let ends: Vec<(Value, i64)> = compared
                .iter()
                .map(|(op, ..)| numbers.end_at(matches!(op, Binary::Lt | Binary::Le)))
                .collect();
            let mut bounded: Vec<(Value, bool)> = Vec::new();
            for ((_, a, b), (at, past)) in compared.iter().zip(&ends) {
                for sum in [a, b].into_iter().filter(|sum| !sum.is_plain()) {
                    let all = sum.added.iter().chain(&sum.subtracted);
                    bounded.extend(all.map(|value| (*value, true)));
                }
                // The counter is at least -1.
                if a.counted && (!a.is_constant() || a.constant + past > 0) {
                    bounded.push((*at, false));
                }
            }
            if bounded.iter().any(|(value, _)| self.is_large(*value)) {
                continue;
            }
            holds.append(&mut same);
            for (value, below) in bounded {
                if self.constants.contains_key(&value) {
                    continue;
                }
                if bounds.insert((value, false)) {
                    holds.push(self.binary(Binary::Le, value, most, BOOL, before));
                }
                if below && bounds.insert((value, true)) {
                    holds.push(self.binary(Binary::Ge, value, least, BOOL, before));
                }
            }
            for ((op, a, b), (at, past)) in compared.into_iter().zip(ends) {
                let a = self.total(&a, at, past, before);
                let b = self.total(&b, at, 0, before);
                holds.push(self.binary(op, a, b, BOOL, before));
            }
            removed.insert(cond);
        }
        remove_checks(body, &removed);
    }

    /// Appends the comparisons that a condition is the conjunction of, and what of it is the same in each iteration;
    /// returns false if it is no such conjunction.
    fn comparisons(
        &mut self,
        cond: Value,
        code: &Iteration,
        before: &mut Block,
        (parts, same): (&mut Vec<(Binary, Value, Value)>, &mut Vec<Value>),
    ) -> bool {
        if self.constants.get(&cond) == Some(&Literal::Bool(true)) {
            return true;
        }
        match code.definitions.get(&cond) {
            Some(Op::Binary(Binary::And, a, b)) => [a, b].into_iter().all(|part| {
                with_stack(|| self.comparisons(*part, code, before, (&mut *parts, &mut *same)))
            }),
            definition => {
                let definition = definition.cloned();
                if let Some(cond) = self.outside(cond, code, before) {
                    same.push(cond);
                    return true;
                }
                let Some(Op::Binary(op, a, b)) = definition else { return false };
                let op = match op {
                    Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => op,
                    // A divisor is mostly greater than 0.
                    Binary::Ne => Binary::Gt,
                    _ => return false,
                };
                parts.push((op, a, b));
                self.types[a.0 as usize] == INT
            }
        }
    }

    /// Returns a value that is the same in each iteration, computed before the loop.
    pub(super) fn outside(
        &mut self,
        value: Value,
        code: &Iteration,
        before: &mut Block,
    ) -> Option<Value> {
        if let Some(literal) = self.constants.get(&value).copied() {
            return Some(match literal {
                Literal::I64(constant) => self.int(constant, before),
                _ if !code.inside.contains(&value) => value,
                _ => return None,
            });
        }
        if !code.inside.contains(&value) {
            return Some(value);
        }
        let Op::Binary(op, a, b) = *code.definitions.get(&value)? else { return None };
        let ty = self.types[value.0 as usize];
        if !matches!(ty, INT | BOOL) || self.types[a.0 as usize] != self.types[b.0 as usize] {
            return None;
        }
        let mut of = |v: Value| with_stack(|| self.outside(v, code, before));
        let (a, b) = (of(a)?, of(b)?);
        Some(self.binary(op, a, b, ty, before))
    }

    /// An int of an iteration as a sum.
    fn sum(
        &mut self,
        value: Value,
        numbers: &Numbers,
        code: &Iteration,
        before: &mut Block,
    ) -> Option<Sum> {
        if value == numbers.counter {
            return Some(Sum { counted: true, ..Sum::default() });
        }
        if let Some(Literal::I64(constant)) = self.constants.get(&value) {
            let is_small = (-MAX_NUMBER..=MAX_NUMBER).contains(constant);
            return is_small.then_some(Sum { constant: *constant, ..Sum::default() });
        }
        if !code.inside.contains(&value) {
            return Some(Sum { added: vec![value], ..Sum::default() });
        }
        let Op::Binary(op @ (Binary::Add | Binary::Sub), a, b) = *code.definitions.get(&value)?
        else {
            let same = self.outside(value, code, before)?;
            return Some(Sum { added: vec![same], ..Sum::default() });
        };
        let mut of = |v: Value| with_stack(|| self.sum(v, numbers, code, before));
        let (mut a, b) = (of(a)?, of(b)?);
        let is_sum = op == Binary::Add;
        if b.counted && (a.counted || !is_sum) {
            return None;
        }
        a.counted |= b.counted;
        let (added, subtracted) =
            if is_sum { (b.added, b.subtracted) } else { (b.subtracted, b.added) };
        a.added.extend(added);
        a.subtracted.extend(subtracted);
        a.constant = if is_sum { a.constant + b.constant } else { a.constant - b.constant };
        let is_short =
            a.added.len() + a.subtracted.len() <= MAX_ADDENDS && a.constant.abs() <= MAX_NUMBER;
        is_short.then_some(a)
    }

    /// Returns true of a constant that is too large for sums.
    fn is_large(&self, value: Value) -> bool {
        matches!(self.constants.get(&value), Some(Literal::I64(x)) if !(-MAX_NUMBER..=MAX_NUMBER).contains(x))
    }

    /// Returns true if a comparison of constants fails in the first iteration.
    fn fails_at_once(&self, op: Binary, a: &Sum, b: &Sum, numbers: &Numbers) -> bool {
        let first = self.constants.get(&numbers.first);
        let (true, true, true, Some(Literal::I64(first))) =
            (a.counted, a.is_constant(), b.is_constant(), first)
        else {
            return false;
        };
        let (a, b) = (first.saturating_add(a.constant), b.constant);
        !match op {
            Binary::Lt => a < b,
            Binary::Le => a <= b,
            Binary::Gt => a > b,
            _ => a >= b,
        }
    }

    /// Emits a sum, where the counter is `at + past`.
    fn total(&mut self, sum: &Sum, at: Value, past: i64, before: &mut Block) -> Value {
        let mut total = sum.counted.then_some(at);
        let constant = sum.constant + if sum.counted { past } else { 0 };
        for value in &sum.added {
            total = Some(match total {
                None => *value,
                Some(total) => self.binary(Binary::Add, total, *value, INT, before),
            });
        }
        if total.is_none() || constant != 0 {
            let constant = self.int(constant, before);
            total = Some(match total {
                None => constant,
                Some(total) => self.binary(Binary::Add, total, constant, INT, before),
            });
        }
        let mut total = total.unwrap_or(at);
        for value in &sum.subtracted {
            total = self.binary(Binary::Sub, total, *value, INT, before);
        }
        total
    }
}

impl Numbers {
    /// A value beside the greatest counter of an iteration, or the least, and the difference of that from it.
    fn end_at(&self, greatest: bool) -> (Value, i64) {
        match (greatest == self.up, self.up) {
            (true, true) => (self.end, -1),
            (true, false) => (self.end, 1),
            (false, _) => (self.first, 0),
        }
    }
}

impl Sum {
    fn is_constant(&self) -> bool {
        self.added.is_empty() && self.subtracted.is_empty()
    }

    /// True of a value alone, of which nothing else is computed.
    fn is_plain(&self) -> bool {
        !self.counted && self.subtracted.is_empty() && self.constant == 0 && self.added.len() <= 1
    }
}

fn remove_checks(block: &mut Block, removed: &FxHashSet<Value>) {
    with_stack(|| {
        block
            .insts
            .retain(|inst| !matches!(&inst.op, Op::Check { cond, .. } if removed.contains(cond)));
        let inner = block.insts.iter_mut().flat_map(|inst| inst.op.blocks_mut());
        inner.for_each(|inner| remove_checks(inner, removed));
    });
}
