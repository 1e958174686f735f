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
//! may write what is loaded.

use super::{Code, like};
use crate::kir::{Binary, Block, Class, Inst, Literal, Op, Ty, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashMap;

/// The largest number of iterations between a store and a load of the same element.
const MAX_ITERATIONS_BETWEEN: i64 = 3;

/// The largest distance of an index from the carried value: sums of them do not overflow where an element is.
const MAX_OFFSET: i64 = 1 << 31;

/// Has the loops of code carry what they store and load again.
pub(super) fn forward_stores(code: &mut Code<'_>) {
    let constants = code.constants();
    for body in code.bodies.iter_mut() {
        let mut forwarding = Forwarding { types: code.types, constants: &constants };
        forwarding.block(body);
    }
}

struct Forwarding<'f> {
    types: &'f mut Vec<ValueTy>,
    constants: &'f FxHashMap<Value, Literal>,
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
struct Later {
    /// The position in the body.
    at: usize,
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
        match self.constants.get(&value) {
            Some(Literal::I64(literal)) => Some(*literal),
            _ => None,
        }
    }

    /// Returns the difference of a value from another one, if a body computes it as that.
    fn offset(&self, body: &Block, value: Value, from: Value) -> Option<i64> {
        if value == from {
            return Some(0);
        }
        let made = body.insts.iter().find(|inst| inst.results.first() == Some(&value))?;
        let offset = match made.op {
            Op::Binary(Binary::Add, a, b) if a == from => self.literal(b)?,
            Op::Binary(Binary::Add, a, b) if b == from => self.literal(a)?,
            Op::Binary(Binary::Sub, a, b) if a == from => self.literal(b)?.checked_neg()?,
            _ => return None,
        };
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
        for Later { at, iterations } in loads {
            let distance = Op::Const(Literal::I64(iterations * counter.step));
            let distance = self.define(before, ValueTy::Scalar(Ty::I64), distance);
            let sum = Op::Binary(Binary::Add, begin, distance);
            let behind = self.define(before, ValueTy::Scalar(Ty::I64), sum);
            let compare = if counter.step > 0 { Binary::Lt } else { Binary::Gt };
            let is_first = self.fresh(ValueTy::Scalar(Ty::Bool));
            let loaded = like(self.types, zero);
            let load =
                std::mem::replace(&mut body.insts[at].op, Op::Binary(compare, count, behind));
            let result = std::mem::replace(&mut body.insts[at].results, vec![is_first]);
            let insts = vec![Inst { results: vec![loaded], op: load }];
            let then = Block { insts, yields: vec![loaded] };
            let otherwise =
                Block { insts: Vec::new(), yields: vec![stored[iterations as usize - 1]] };
            let op = Op::If { cond: is_first, then, otherwise };
            body.insts.insert(at + 1, Inst { results: result, op });
        }
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

    /// Finds a store of a loop, and the loads of what it stored in an earlier iteration, the last first.
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
                // An array that an iteration makes or is handed, a row say, may be another one in the next.
                let is_one =
                    !carried.contains(&array) && !defines(cond, array) && !defines(body, array);
                let loads = self.loads(&counter, &store, carried, body);
                if is_one && !loads.is_empty() {
                    return Some(Forwarded { counter, store, loads });
                }
            }
        }
        None
    }

    /// Finds the loads of what a store stored in an earlier iteration, the last first.
    fn loads(
        &self,
        counter: &Counter,
        store: &Store,
        carried: &[Value],
        body: &Block,
    ) -> Vec<Later> {
        let ty = |array: Value| self.types[array.0 as usize];
        if stores(body, &|array| ty(array) == ty(store.array)) != 1 {
            return Vec::new();
        }
        let mut loads = Vec::new();
        for (at, inst) in body.insts[..store.at].iter().enumerate() {
            let Op::Load { array, index, .. } = inst.op else { continue };
            let Some(offset) = self.offset(body, index, carried[counter.at]) else { continue };
            let distance = store.offset - offset;
            let iterations = distance / counter.step;
            let is_earlier =
                distance % counter.step == 0 && (1..=MAX_ITERATIONS_BETWEEN).contains(&iterations);
            if array == store.array && is_earlier {
                loads.push(Later { at, iterations });
            }
        }
        loads.reverse();
        loads
    }
}

/// Returns true if code writes memory only by stores of single elements.
fn only_stores(block: &Block) -> bool {
    let mut only = true;
    walk::each_inst(block, &mut |inst| {
        only &= match inst.op.class() {
            Class::Write => matches!(inst.op, Op::Store { .. }),
            Class::Allocate | Class::Call | Class::Intrinsic => false,
            Class::Pure | Class::Address | Class::Read | Class::Trap | Class::Control => true,
        };
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
