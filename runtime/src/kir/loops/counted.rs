//! Loops that count become counted loops, without the checks that hold in each iteration.
//!
//! A counted loop looks for its end, and for an interruption, once in several iterations. A check of the counter, plus
//! what is the same in each iteration, holds in all of them if it holds in the first and the last, which is found out
//! before the loop. Where that, or the order of the first and the last number, is not known before the program is
//! executed, the loop stays beside the new one.
//!
//! ```text
//! while carry i = a, x = b { i ≠ n } do {        if 0 ≤ a ≤ n and n ≤ m {
//!   check i < m                                     for k < n - a carry x = b { i = a + k  … }
//!   …                                        →    } else {
//!   yield i + 1, …                                  while … as before
//! }                                               }
//! ```
//!
//! Gupta, *Optimizing array bound checks using flow analysis* (LOPLAS 1993), moves checks out of loops so. Only
//! innermost loops that write are changed: those that only compute may be executed for several elements at a time.

mod appends;
mod checks;
#[cfg(test)]
mod tests;

use super::merged_loads::merge_loads;
use super::outlined::outlined;
use super::rotate::{defined, writes};
use super::{Code, NewFunctions};
use crate::kir::ranges::{sweep, use_ranges_in};
use crate::kir::{Binary, Block, Class, Inst, Literal, Op, Ty, Unary, Value, ValueTy, walk};
use crate::stack::with_stack;
use appends::Append;
use checks::{Iteration, MAX_NUMBER};
use rustc_hash::FxHashMap;

/// Loops with more instructions are left as they are: there may be two copies of them.
const MAX_LOOP_INSTRUCTIONS: usize = 128;

const BOOL: ValueTy = ValueTy::Scalar(Ty::Bool);
const INT: ValueTy = ValueTy::Scalar(Ty::I64);

/// Makes counted loops of the loops of code that count; returns true if there are any.
pub(super) fn count_loops(code: &mut Code<'_>) -> bool {
    let constants = code.constants();
    let mut names = FxHashMap::default();
    let mut counting = Counting {
        types: code.types,
        functions: code.functions,
        constants,
        names: &mut names,
        found: false,
    };
    for body in code.bodies.iter_mut() {
        counting.block(body);
    }
    let found = counting.found;
    code.rename_all(&names);
    found
}

struct Counting<'c> {
    types: &'c mut Vec<ValueTy>,
    functions: &'c mut NewFunctions,
    constants: FxHashMap<Value, Literal>,
    /// The new names of the results of loops.
    names: &'c mut FxHashMap<Value, Value>,
    found: bool,
}

/// A carried int that grows or shrinks by one in each iteration.
#[derive(Clone, Copy, Debug)]
struct Counter {
    /// Its position among the carried values.
    at: usize,
    /// True if it grows by one, false if it shrinks by one.
    up: bool,
    /// The int with which the condition of the loop compares it.
    bound: Value,
    /// True if the loop goes on where the counter is equal to the bound.
    inclusive: bool,
}

/// The numbers of a counted loop.
struct Numbers {
    /// The number in an iteration.
    counter: Value,
    /// That of the first iteration.
    first: Value,
    /// That behind the loop, one past the last iteration's.
    end: Value,
    up: bool,
}

impl Counting<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                match self.counter(&inst.op) {
                    Some(counter) => {
                        let mut insts = self.count(inst, counter);
                        block.insts.append(&mut insts);
                    }
                    None => block.insts.push(inst),
                }
            }
        });
    }

    fn is(&self, value: Value, of: i64) -> bool {
        self.constants.get(&value) == Some(&Literal::I64(of))
    }

    /// The counter of a loop that can be counted.
    fn counter(&self, op: &Op) -> Option<Counter> {
        let Op::While { carried, cond, body, .. } = op else { return None };
        let instructions = walk::count_insts(cond) + walk::count_insts(body);
        if instructions > MAX_LOOP_INSTRUCTIONS || !writes(body) {
            return None;
        }
        let mut is_plain = cond.insts.iter().all(|inst| inst.op.class() == Class::Pure);
        walk::each_inst(body, &mut |inst| {
            is_plain &= match inst.op.class() {
                Class::Control => !inst.op.is_loop(),
                Class::Pure | Class::Address | Class::Read | Class::Write | Class::Trap => true,
                Class::Allocate => true,
                Class::Call | Class::Intrinsic => false,
            };
        });
        if !is_plain {
            return None;
        }
        let op_of = |value: Value, block: &Block| {
            let inst = block.insts.iter().find(|inst| inst.results == [value]);
            inst.map(|inst| inst.op.clone())
        };
        let (mut tested, mut holds) = (cond.yields[0], true);
        let (compares, a, b) = loop {
            match op_of(tested, cond)? {
                Op::Unary(Unary::Not, of) => (tested, holds) = (of, !holds),
                Op::Binary(op, a, b) => break (op, a, b),
                _ => return None,
            }
        };
        // The counter on the left, and the comparison that holds.
        let at = |value: Value| carried.iter().position(|name| *name == value);
        let (at, bound, compares) = match (at(a), at(b)) {
            (Some(at), None) => (at, b, compares),
            (None, Some(at)) => (at, a, compares.swapped()?),
            _ => return None,
        };
        let compares = if holds { compares } else { compares.negated()? };
        if self.types[bound.0 as usize] != INT {
            return None;
        }
        let mut made: FxHashMap<Value, &Inst> = FxHashMap::default();
        for block in [cond, body] {
            walk::each_inst(block, &mut |inst| {
                made.extend(inst.results.iter().map(|result| (*result, inst)));
            });
        }
        let up = self.grows(body.yields[at], carried[at], &made)?;
        let inclusive = match (compares, up) {
            (Binary::Ne, _) | (Binary::Lt, true) | (Binary::Gt, false) => false,
            (Binary::Le, true) | (Binary::Ge, false) => true,
            _ => return None,
        };
        Some(Counter { at, up, bound, inclusive })
    }

    /// Returns true if a value is another one plus one, false if minus one.
    fn grows(&self, next: Value, from: Value, made: &FxHashMap<Value, &Inst>) -> Option<bool> {
        let inst = made.get(&next)?;
        match &inst.op {
            Op::Binary(op, x, y) => match (op, *x == from, *y == from) {
                (Binary::Add, true, false) if self.is(*y, 1) => Some(true),
                (Binary::Add, false, true) if self.is(*x, 1) => Some(true),
                (Binary::Sub, true, false) if self.is(*y, -1) => Some(true),
                (Binary::Sub, true, false) if self.is(*y, 1) => Some(false),
                (Binary::Add, true, false) if self.is(*y, -1) => Some(false),
                (Binary::Add, false, true) if self.is(*x, -1) => Some(false),
                _ => None,
            },
            Op::If { then, otherwise, .. } => {
                let at = inst.results.iter().position(|result| *result == next)?;
                let [a, b] = [then, otherwise]
                    .map(|side| with_stack(|| self.grows(side.yields[at], from, made)));
                if a == b { a } else { None }
            }
            _ => None,
        }
    }

    /// Returns a loop as a counted one, or both where the program has to decide, or the loop itself.
    fn count(&mut self, inst: Inst, counter: Counter) -> Vec<Inst> {
        match self.counted(&inst, counter) {
            Some((insts, names)) => {
                self.found = true;
                self.names.extend(inst.results.into_iter().zip(names));
                insts
            }
            None => vec![inst],
        }
    }

    /// The code of a loop as a counted one, and the names of its results there.
    fn counted(&mut self, inst: &Inst, counter: Counter) -> Option<(Vec<Inst>, Vec<Value>)> {
        let Op::While { init, carried, cond, body } = &inst.op else { return None };
        let appends = self.appends(carried, body)?;
        let mut before = Block::default();
        let (zero, one) = (self.int(0, &mut before), self.int(1, &mut before));
        let code = Iteration::of([cond, body], carried);
        let bound = self.outside(counter.bound, &code, &mut before)?;
        let first = init[counter.at];
        let end = match (counter.inclusive, counter.up) {
            (false, _) => bound,
            (true, true) => self.binary(Binary::Add, bound, one, INT, &mut before),
            (true, false) => self.binary(Binary::Sub, bound, one, INT, &mut before),
        };
        let (low, high, least) = match counter.up {
            true => (first, end, first),
            false => (end, first, bound),
        };
        // What is appended to is copied only where there is an iteration.
        let ordered = if appends.is_empty() { Binary::Le } else { Binary::Lt };
        let mut holds = vec![
            self.binary(Binary::Ge, least, zero, BOOL, &mut before),
            self.binary(ordered, low, high, BOOL, &mut before),
        ];
        let count = self.binary(Binary::Sub, high, low, INT, &mut before);
        if !appends.is_empty() {
            // The length of what is appended to is added to it.
            let most = self.int(MAX_NUMBER, &mut before);
            holds.push(self.binary(Binary::Le, count, most, BOOL, &mut before));
        }

        // The loop under new names.
        let index = self.fresh(INT);
        let mut copied: FxHashMap<Value, Value> = FxHashMap::default();
        for value in carried.iter().copied().chain([cond, body].into_iter().flat_map(defines)) {
            copied.insert(value, self.like(value));
        }
        let current = copied[&carried[counter.at]];
        let step = if counter.up { Binary::Add } else { Binary::Sub };
        let mut copy = Block {
            insts: vec![Inst { results: vec![current], op: Op::Binary(step, first, index) }],
            yields: body.yields.clone(),
        };
        copy.insts.extend(cond.insts.iter().chain(&body.insts).cloned());
        let mut then = Block::default();
        let mut known = vec![None; carried.len()];
        known[counter.at] = Some(end);
        for append in &appends {
            let reserved = self.reserve(append, init, count, &mut then)?;
            for (at, value) in [append.array, append.room].into_iter().zip(reserved) {
                known[at] = Some(value);
                copied.insert(carried[at], value);
            }
            copied.extend(append.results.into_iter().zip(reserved));
        }
        copy.insts.retain(|inst| match &inst.op {
            Op::Compact { keep, .. } => {
                for (result, (array, _)) in inst.results.iter().zip(keep) {
                    let name = copied.get(array).copied().unwrap_or(*array);
                    copied.insert(*result, name);
                }
                false
            }
            _ => {
                let is_in =
                    |append: &Append| append.results.iter().any(|v| inst.results.contains(v));
                !appends.iter().any(is_in)
            }
        });
        walk::rename_in_place(&mut copy, &mut |v| copied.get(&v).copied().unwrap_or(v));
        let carries = |values: &[Value]| -> Vec<Value> {
            let open = values.iter().zip(&known).filter(|(_, known)| known.is_none());
            open.map(|(value, _)| *value).collect()
        };
        copy.yields = carries(&copy.yields);
        let mut counted = Op::For {
            count,
            index,
            init: carries(init),
            carried: carries(carried).iter().map(|v| copied[v]).collect(),
            reduce: Vec::new(),
            body: copy,
        };
        let results: Vec<Value> = carries(&inst.results).iter().map(|v| self.like(*v)).collect();
        self.use_ranges(&mut counted, &results, &mut holds, &mut before);
        let Op::For { carried, body: copy, .. } = &mut counted else { return None };
        let numbers = Numbers { counter: current, first, end, up: counter.up };
        let code = Iteration::of([&*copy], &[&carried[..], &[index]].concat());
        self.check_before(copy, &numbers, &code, &mut holds, &mut before);
        sweep(copy, &mut vec![false; self.types.len()]);
        merge_loads(copy, carried, self.types);
        if !appends.is_empty() && may_fail(copy) {
            // Less may be appended than there is room for.
            return None;
        }
        then.insts.push(Inst { results: results.clone(), op: counted });
        let mut results = results.into_iter();
        let ends = known.iter().map(|known| known.or_else(|| results.next()));
        then.yields = ends.collect::<Option<_>>()?;
        let decided = holds.into_iter().reduce(|a, b| self.and(a, b, &mut before))?;
        let results: Vec<Value> = inst.results.iter().map(|v| self.like(*v)).collect();
        let left: Vec<Value> = inst.results.iter().map(|v| self.like(*v)).collect();
        let uncounted = Inst { results: left.clone(), op: inst.op.clone() };
        let otherwise = Block { insts: vec![uncounted], yields: left };
        let branch = Op::If { cond: decided, then, otherwise };
        before.insts.push(Inst { results: results.clone(), op: branch });
        before.yields = results;
        use_ranges_in(&mut before, self.types, &self.constants);
        if let Some(Inst { op: Op::If { otherwise, .. }, .. }) = before.insts.last_mut()
            && let Some(uncounted) = otherwise.insts.pop()
        {
            let results = uncounted.results.clone();
            let name = "a loop that may not count";
            let call = outlined(uncounted, name, self.types, self.functions);
            otherwise.insts.push(Inst { results, op: call });
        }
        Some((before.insts, before.yields))
    }

    /// Removes the checks of a counted loop that cannot fail where what `holds` says, so that they are not made before it.
    fn use_ranges(
        &mut self,
        counted: &mut Op,
        results: &[Value],
        holds: &mut [Value],
        before: &mut Block,
    ) {
        let all = holds.iter().copied().reduce(|a, b| self.and(a, b, before));
        let Some(cond) = all else { return };
        let looped = Inst { results: results.to_vec(), op: counted.clone() };
        let then = Block { insts: vec![looped], yields: Vec::new() };
        let branch = Op::If { cond, then, otherwise: Block::default() };
        before.insts.push(Inst { results: Vec::new(), op: branch });
        before.yields = holds.to_vec();
        use_ranges_in(before, self.types, &self.constants);
        holds.copy_from_slice(&before.yields);
        match before.insts.pop().map(|inst| inst.op) {
            Some(Op::If { mut then, .. }) => {
                if let Some(inst) = then.insts.pop() {
                    *counted = inst.op;
                }
            }
            Some(op) => *counted = op,
            None => {}
        }
        for block in std::iter::once(&*before).chain(counted.blocks()) {
            walk::each_inst(block, &mut |inst| {
                if let Op::Const(literal) = inst.op {
                    self.constants.insert(inst.results[0], literal);
                }
            });
        }
    }

    /// A new value of the type of another one.
    fn like(&mut self, value: Value) -> Value {
        self.fresh(self.types[value.0 as usize])
    }

    fn fresh(&mut self, ty: ValueTy) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn int(&mut self, constant: i64, to: &mut Block) -> Value {
        let result = self.fresh(INT);
        self.constants.insert(result, Literal::I64(constant));
        to.insts.push(Inst { results: vec![result], op: Op::Const(Literal::I64(constant)) });
        result
    }

    fn and(&mut self, a: Value, b: Value, to: &mut Block) -> Value {
        self.binary(Binary::And, a, b, BOOL, to)
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value, ty: ValueTy, to: &mut Block) -> Value {
        let op = Op::Binary(op, a, b);
        if let Some(inst) = to.insts.iter().find(|inst| inst.op == op) {
            return inst.results[0];
        }
        let result = self.fresh(ty);
        to.insts.push(Inst { results: vec![result], op });
        result
    }
}

/// The values that the instructions of a block define.
fn defines(block: &Block) -> Vec<Value> {
    block.insts.iter().flat_map(defined).collect()
}

/// Returns true if code may end a work item.
fn may_fail(block: &Block) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| found |= inst.op.class() == Class::Trap);
    found
}
