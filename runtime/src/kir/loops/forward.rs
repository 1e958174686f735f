//! Store-to-load forwarding between iterations: what one iteration stores and a later one loads is carried instead.
//!
//! ```text
//! while carry i = b { … } do {             while carry i = b, last = 0 { … } do {
//!   x = load a[i - 1]                        x = if i < b + 1 { load a[i - 1] } else { last }
//!   y = …                             →      y = …
//!   store a[i] = y                           store a[i] = y
//!   yield i + 1                              yield i + 1, y
//! }                                        }
//! ```
//!
//! A load waits for the store before it, which takes a processor several cycles; in a recurrence, such as a sweep or
//! a table that is filled element by element, every iteration waits so for the one before. The first iterations
//! load what was there before the loop.
//!
//! Conditions: the store is executed in every iteration, its index and that of the load are a carried value that
//! changes by a constant, plus a constant each, the array is the same in all iterations, and nothing else in the loop
//! may write what is loaded. An array that is appended to is the same, too, though the loop carries it: where it is
//! full, what was stored is copied to a larger one. A load only ever reads what was written, so that a copy of fewer
//! elements never leaves out what is loaded later.

use super::{MAX_INSTRUCTIONS, like};
use crate::kir::{Binary, Block, Class, Function, Inst, Kernel, Literal, Module, Op};
use crate::kir::{Ty, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of iterations between a store and a load of the same element.
const MAX_ITERATIONS_BETWEEN: i64 = 3;

/// The largest distance of an index from the carried value: sums of them do not overflow where an element is.
const MAX_OFFSET: i64 = 1 << 31;

/// Has the loops of a module carry what they store and load again.
pub fn forward_stores(module: &mut Module) {
    for Function { body, types, .. } in &mut module.functions {
        forward(vec![body], types);
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        forward(stages.iter_mut().map(|stage| &mut stage.body).collect(), types);
    }
}

fn forward(bodies: Vec<&mut Block>, types: &mut Vec<ValueTy>) {
    let (mut constants, mut instructions) = (FxHashMap::default(), 0);
    for body in &bodies {
        walk::each_inst(body, &mut |inst| {
            instructions += 1;
            if let Op::Const(Literal::I64(literal)) = inst.op {
                constants.insert(inst.results[0], literal);
            }
        });
    }
    if instructions > MAX_INSTRUCTIONS {
        return;
    }
    let mut forwarding = Forwarding { types, constants: &constants };
    bodies.into_iter().for_each(|body| forwarding.block(body));
}

struct Forwarding<'f> {
    types: &'f mut Vec<ValueTy>,
    /// The ints that are constants.
    constants: &'f FxHashMap<Value, i64>,
}

/// A carried value that changes by a constant in each iteration.
struct Counter {
    /// The position among the carried values.
    at: usize,
    step: i64,
}

/// A store that loads may follow.
struct Store {
    /// The position in the body.
    at: usize,
    array: Value,
    value: Value,
    /// The difference of the index from the counter.
    offset: i64,
}

/// A store of a loop, and the loads of what it stored in an earlier iteration.
struct Forwarded {
    counter: Counter,
    store: Store,
    loads: Vec<Later>,
}

/// A load of what was stored some iterations before.
#[derive(Clone, Copy)]
struct Later {
    /// The element that is loaded.
    result: Value,
    /// The number of iterations between, at least 1.
    iterations: i64,
}

impl Forwarding<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut insts = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                self.repeat(&mut inst, &mut insts);
                insts.push(inst);
            }
            block.insts = insts;
        });
    }

    fn literal(&self, value: Value) -> Option<i64> {
        self.constants.get(&value).copied()
    }

    /// Returns the difference of a value from another one, if a body computes it as that.
    fn offset(&self, body: &Block, value: Value, from: Value) -> Option<i64> {
        if value == from {
            return Some(0);
        }
        let made = body.insts.iter().find(|inst| inst.results.first() == Some(&value))?;
        let (a, distance) = match made.op {
            Op::Binary(Binary::Add, a, b) => match self.literal(b) {
                Some(distance) => (a, distance),
                None => (b, self.literal(a)?),
            },
            Op::Binary(Binary::Sub, a, b) => (a, self.literal(b)?.checked_neg()?),
            _ => return None,
        };
        let offset = self.offset(body, a, from)?.checked_add(distance)?;
        (-MAX_OFFSET..=MAX_OFFSET).contains(&offset).then_some(offset)
    }

    /// Has a loop carry what it stores and loads again; `before` gets what is computed before it.
    fn repeat(&mut self, inst: &mut Inst, before: &mut Vec<Inst>) {
        let Op::While { init, carried, cond, body } = &mut inst.op else { return };
        let Some(Forwarded { counter, store, loads }) = self.find(carried, cond, body) else {
            return;
        };
        let most = loads.iter().map(|load| load.iterations).max().unwrap_or_default();
        let Some(ValueTy::Array(ty)) = self.types.get(store.array.0 as usize).copied() else {
            return;
        };
        let zero = self.define(before, ValueTy::Scalar(ty), Op::Const(Literal::zero(ty)));
        // The values stored in the last iterations, the last one first.
        let mut stored: Vec<Value> = Vec::new();
        for _ in 0..most {
            let name = like(self.types, zero);
            let next = stored.last().copied().unwrap_or(store.value);
            init.push(zero);
            carried.push(name);
            body.yields.push(next);
            inst.results.push(like(self.types, zero));
            stored.push(name);
        }
        let (begin, count) = (init[counter.at], carried[counter.at]);
        let edge = |this: &mut Self, iterations: i64, before: &mut Vec<Inst>| {
            let distance = Op::Const(Literal::I64(iterations * counter.step));
            let distance = this.define(before, ValueTy::Scalar(Ty::I64), distance);
            let sum = Op::Binary(Binary::Add, begin, distance);
            this.define(before, ValueTy::Scalar(Ty::I64), sum)
        };
        let ends: Vec<Value> = (1..=most).map(|n| edge(self, n, before)).collect();
        let compare = if counter.step > 0 { Binary::Lt } else { Binary::Gt };
        let carrying = Carrying { loads, stored, ends, compare, count };
        self.carry_in(body, &carrying);
    }

    /// Replaces the loads in a block by what is carried.
    fn carry_in(&mut self, block: &mut Block, carrying: &Carrying) {
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut inst in std::mem::take(&mut block.insts) {
            inst.op.blocks_mut().for_each(|inner| with_stack(|| self.carry_in(inner, carrying)));
            let is_it = |load: &&Later| inst.results.first() == Some(&load.result);
            let Some(load) = carrying.loads.iter().find(is_it).copied() else {
                insts.push(inst);
                continue;
            };
            let at = load.iterations as usize - 1;
            let is_first = Op::Binary(carrying.compare, carrying.count, carrying.ends[at]);
            let cond = self.define(&mut insts, ValueTy::Scalar(Ty::Bool), is_first);
            let loaded = like(self.types, load.result);
            let read = vec![Inst { results: vec![loaded], op: inst.op }];
            let then = Block { insts: read, yields: vec![loaded] };
            let otherwise = Block { insts: Vec::new(), yields: vec![carrying.stored[at]] };
            insts.push(Inst { results: inst.results, op: Op::If { cond, then, otherwise } });
        }
        block.insts = insts;
    }

    fn fresh(&mut self, ty: ValueTy) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn define(&mut self, insts: &mut Vec<Inst>, ty: ValueTy, op: Op) -> Value {
        let value = self.fresh(ty);
        insts.push(Inst { results: vec![value], op });
        value
    }

    /// Finds a store of a loop, and the loads of what it stored in an earlier iteration.
    fn find(&self, carried: &[Value], cond: &Block, body: &Block) -> Option<Forwarded> {
        if !only_stores(cond) || !only_stores(body) || stores(cond, &|_| true) > 0 {
            return None;
        }
        let counters = carried.iter().enumerate().filter_map(|(at, name)| {
            let step = self.offset(body, body.yields[at], *name)?;
            let is_int = self.types[name.0 as usize] == ValueTy::Scalar(Ty::I64);
            (is_int && step != 0).then_some(Counter { at, step })
        });
        for counter in counters {
            for (at, inst) in body.insts.iter().enumerate() {
                let Op::Store { array, index, value } = inst.op else { continue };
                let Some(offset) = self.offset(body, index, carried[counter.at]) else { continue };
                let store = Store { at, array, value, offset };
                let Some(name) = earlier_name(array, carried, cond, body) else { continue };
                let loads = self.loads(&counter, &store, name, carried, body);
                if !loads.is_empty() {
                    return Some(Forwarded { counter, store, loads });
                }
            }
        }
        None
    }

    /// Finds the loads of what a store stored in an earlier iteration, from the array of this `name`.
    fn loads(
        &self,
        counter: &Counter,
        store: &Store,
        name: Value,
        carried: &[Value],
        body: &Block,
    ) -> Vec<Later> {
        let ty = |array: Value| self.types[array.0 as usize];
        if stores(body, &|array| ty(array) == ty(store.array)) != 1 {
            return Vec::new();
        }
        let mut loads = Vec::new();
        for inst in &body.insts[..store.at] {
            let mut visit = |inst: &Inst| {
                let Op::Load { array, index, .. } = inst.op else { return };
                let Some(offset) = self.offset(body, index, carried[counter.at]) else { return };
                let distance = store.offset - offset;
                let iterations = distance / counter.step;
                let is_earlier = distance % counter.step == 0
                    && (1..=MAX_ITERATIONS_BETWEEN).contains(&iterations);
                if array == name && is_earlier {
                    loads.push(Later { result: inst.results[0], iterations });
                }
            };
            each_outside_loops(inst, &mut visit);
        }
        loads
    }
}

/// Visits an instruction and those in its branches, but not what loops repeat.
fn each_outside_loops(inst: &Inst, visit: &mut dyn FnMut(&Inst)) {
    visit(inst);
    if let Op::If { then, otherwise, .. } = &inst.op {
        let sides = [then, otherwise].into_iter().flat_map(|side| &side.insts);
        with_stack(|| sides.for_each(|inst| each_outside_loops(inst, visit)));
    }
}

/// Returns the name by which an iteration reads, before it stores to an array, what earlier ones stored there; `None`
/// if it may be another array in each iteration, a row say.
fn earlier_name(array: Value, carried: &[Value], cond: &Block, body: &Block) -> Option<Value> {
    if !carried.contains(&array) && !defines(cond, array) && !defines(body, array) {
        return Some(array);
    }
    let is_carried_on = |at: &usize| {
        let next = body.yields[*at];
        let kept = body.insts.iter().find_map(|inst| match &inst.op {
            Op::Compact { keep, .. } => {
                let at = inst.results.iter().position(|result| *result == next)?;
                Some(keep[at].0)
            }
            _ => None,
        });
        kept.unwrap_or(next) == array
    };
    let at = (0..carried.len()).find(is_carried_on)?;
    (array == carried[at] || is_copy(array, carried[at], body)).then_some(carried[at])
}

/// Returns true if an array that a block makes is another one, or a copy of it to new memory.
fn is_copy(array: Value, of: Value, block: &Block) -> bool {
    let made = block.insts.iter().find(|inst| inst.results.contains(&array));
    match made {
        Some(Inst { results, op: Op::If { then, otherwise, .. } }) => {
            let Some(at) = results.iter().position(|result| *result == array) else { return false };
            let is_same = |side: &Block| {
                let array = side.yields[at];
                array == of || with_stack(|| is_copy(array, of, side))
            };
            is_same(then) && is_same(otherwise)
        }
        Some(Inst { op: Op::Alloc(..), .. }) => {
            let mut copies = block.insts.iter().filter_map(|inst| match inst.op {
                Op::Copy { from, to, .. } if to == array => Some(from),
                _ => None,
            });
            copies.next() == Some(of) && copies.next().is_none()
        }
        _ => false,
    }
}

/// The carried values that take the place of the loads of a loop.
struct Carrying {
    loads: Vec<Later>,
    /// The values stored in the last iterations, the last one first.
    stored: Vec<Value>,
    /// The counter of the first iteration that loads what was stored one iteration before, two before, and so on.
    ends: Vec<Value>,
    /// True of the counter and such an end where the element was there before the loop.
    compare: Binary,
    /// The carried value that counts the iterations.
    count: Value,
}

/// Returns true if code writes to memory that it did not take itself by stores of single elements alone.
fn only_stores(block: &Block) -> bool {
    let (mut only, mut taken) = (true, FxHashSet::<Value>::default());
    walk::each_inst(block, &mut |inst| {
        only &= match inst.op {
            Op::Store { .. } => true,
            Op::Copy { to, .. } => taken.contains(&to),
            _ => !matches!(inst.op.class(), Class::Write | Class::Call | Class::Intrinsic),
        };
        if let Op::Alloc(..) = inst.op {
            taken.extend(&inst.results);
        }
    });
    only
}

/// Returns the number of stores of a block to arrays that `counts` is true of.
fn stores(block: &Block, counts: &dyn Fn(Value) -> bool) -> usize {
    let mut found = 0;
    walk::each_inst(block, &mut |inst| {
        found += usize::from(matches!(inst.op, Op::Store { array, .. } if counts(array)));
    });
    found
}

/// Returns true if a block defines a value.
fn defines(block: &Block, value: Value) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| found |= inst.results.contains(&value));
    found
}
