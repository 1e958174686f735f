//! Functions and calls.
//!
//! A function that calls itself last becomes a loop. Its parameters that such calls pass on as
//! they are stay outside the loop.

use super::super::layout::{self, Rep};
use super::{Shared, Thread, uses};
use crate::base::with_stack;
use crate::ir::{self, Atom, Block, FunId, Let, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::kir::{self, Function, FunctionBuilder, FunctionId, Value, ValueTy};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A function, lowered.
pub(in crate::lower) fn function<'a>(
    program: &'a Program,
    id: FunId,
    precision: Precision,
    shared: &'a RefCell<Shared>,
) -> Function {
    let function = &program.functions[id.0 as usize];
    let mut builder = FunctionBuilder::new(function.name.to_string());
    let origin = function.library.then(|| builder.param(ValueTy::Scalar(kir::Ty::I64)));
    let mut params = Vec::new();
    for (var, ty) in &function.params {
        let parts = layout::parts(ty, precision);
        let values: Vec<Value> = parts.into_iter().map(|part| builder.param(part)).collect();
        params.push((*var, ty, values));
    }
    let mut thread = Thread {
        body: std::mem::take(&mut builder.body),
        precision,
        program,
        shared,
        env: FxHashMap::default(),
        uses: uses::Uses::of(&function.body),
        joint: super::joint::Joint::default(),
        origin,
        sorted_by: FxHashMap::default(),
        allocations: 0,
    };
    for (var, ty, values) in &params {
        let rep = thread.rebuild(ty, &mut values.iter().copied());
        thread.env.insert(*var, (rep, ty));
    }
    let mark = thread.body.mark();
    let results = if calls_itself_last(&function.body, id) {
        thread.tail_loop(id, &function.body, &function.result)
    } else {
        let rep = thread.block(&function.body);
        thread.parts(&rep, &function.result)
    };
    let results = if thread.allocations > 0 {
        thread.keep(mark, &results, &function.result)
    } else {
        results
    };
    builder.body = thread.body;
    builder.finish(results)
}

impl<'a> Thread<'a> {
    /// A call.
    pub(super) fn call(&mut self, callee: FunId, args: &[Atom], ty: &'a Ty, site: Site) -> Rep<'a> {
        let function = &self.program.functions[callee.0 as usize];
        let mut parts = Vec::new();
        if function.library {
            let origin = match self.origin {
                Some(origin) => origin,
                None => self.origin_at(site),
            };
            parts.push(origin);
        }
        let mut reps = Vec::new();
        for (atom, (_, ty)) in args.iter().zip(&function.params) {
            let rep = self.atom(*atom);
            let rep = self.settle(&rep, ty);
            parts.extend(self.parts(&rep, ty));
            reps.push(rep);
        }
        // What it makes lies in the memory of the instance.
        self.allocations += 1;
        let types = layout::parts(&function.result, self.precision);
        let called = |t: &mut Self| {
            let results = t.body.call(FunctionId(callee.0), parts, &types);
            t.rebuild(ty, &mut results.into_iter())
        };
        let Some(base) = BaseCase::of(function, callee) else { return called(self) };
        let params = function.params.iter().zip(reps).map(|((var, ty), rep)| (*var, (rep, ty)));
        let caller = std::mem::replace(&mut self.env, params.collect());
        base.before.iter().for_each(|binding| self.binding(binding));
        let cond = self.atom(base.cond).scalar();
        let small = |t: &mut Self| {
            let value = t.block(base.value);
            t.settle(&value, ty)
        };
        let result = match base.when {
            true => self.join(cond, small, called),
            false => self.join(cond, called, small),
        };
        self.env = caller;
        result
    }

    /// The site of a call that leaves the user's program, as a value.
    fn origin_at(&mut self, site: Site) -> Value {
        let code = nesl_runtime::fault::FaultCode::Message;
        let cause = super::FaultSite {
            code,
            message: "".into(),
            detail: super::Detail::None,
            site,
            library: false,
        };
        let site = self.site(cause);
        self.body.i64(i64::from(site.0))
    }

    /// Lets go of what was allocated since a mark, but for a value.
    pub(super) fn keep(&mut self, mark: Value, parts: &[Value], ty: &Ty) -> Vec<Value> {
        let mut extents = Vec::new();
        add_extents(ty, parts, &mut 0, &mut extents);
        let arrays = parts.iter().filter(|v| matches!(self.body.ty(**v), ValueTy::Array(_)));
        let keep: Vec<(Value, Value)> = arrays.copied().zip(extents).collect();
        let mut kept = self.body.compact(mark, keep).into_iter();
        let mut all = Vec::new();
        for part in parts {
            let is_array = matches!(self.body.ty(*part), ValueTy::Array(_));
            all.push(if is_array { kept.next().expect("one for each") } else { *part });
        }
        all
    }

    /// The body of a function that calls itself last.
    fn tail_loop(&mut self, id: FunId, body: &'a Block, result: &'a Ty) -> Vec<Value> {
        let function = &self.program.functions[id.0 as usize];
        let mut steady = vec![true; function.params.len()];
        find_steady(body, id, &function.params, &mut steady);
        let moving: Vec<(Var, &'a Ty)> = function
            .params
            .iter()
            .zip(&steady)
            .filter_map(|((var, ty), steady)| (!steady).then_some((*var, ty)))
            .collect();
        let going = self.body.bool(true);
        let mut init = vec![going];
        for (var, ty) in &moving {
            let rep = self.env[var].0.clone();
            init.extend(self.parts(&rep, ty));
        }
        let first_result = init.len();
        init.extend(self.zero_parts(result));
        let carried: Vec<Value> = init
            .iter()
            .map(|v| {
                let ty = self.body.ty(*v);
                self.body.value(ty)
            })
            .collect();
        let mut parts = carried[1..first_result].iter().copied();
        for (var, ty) in &moving {
            let rep = self.rebuild(ty, &mut parts);
            self.env.insert(*var, (rep, ty));
        }
        self.body.begin();
        let cond = self.body.end(vec![carried[0]]);
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let step = Step { id, moving: &moving, carried: &carried, first_result, result };
        let next = self.tail(body, &step);
        let next = if self.allocations > allocations {
            let mut kept = vec![next[0]];
            let mut at = 1;
            // All that goes on is kept together.
            let tuple = moving.iter().map(|(_, ty)| (*ty).clone());
            let all = Ty::tuple(tuple.chain([result.clone()]));
            let rest = self.keep(mark, &next[at..], &all);
            at += rest.len();
            debug_assert_eq!(at, next.len());
            kept.extend(rest);
            kept
        } else {
            next
        };
        let body = self.body.end(next);
        let types: Vec<ValueTy> = carried.iter().map(|v| self.body.ty(*v)).collect();
        let op = kir::Op::While { init, carried: carried.clone(), cond, body };
        self.body.push(op, &types)[first_result..].to_vec()
    }

    /// A block in tail position: whether to go on, the next parameters, the result.
    fn tail(&mut self, block: &'a Block, step: &Step<'_, 'a>) -> Vec<Value> {
        with_stack(|| {
            let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
            let Some(last) = last else {
                let rep = self.block(block);
                return self.done(&rep, step);
            };
            self.joint.block(block, &self.uses);
            let before = &block.lets[..block.lets.len() - 1];
            match &last.op {
                Op::Call(callee, args) if *callee == step.id => {
                    for binding in before {
                        self.binding(binding);
                    }
                    let mut next = vec![self.body.bool(true)];
                    let params = &self.program.functions[step.id.0 as usize].params;
                    for (atom, (var, ty)) in args.iter().zip(params) {
                        if step.moving.iter().any(|(moving, _)| moving == var) {
                            let rep = self.atom(*atom);
                            next.extend(self.parts(&rep, ty));
                        }
                    }
                    next.extend(&step.carried[step.first_result..]);
                    next
                }
                Op::If { cond, then, otherwise }
                    if has_call(then, step.id) || has_call(otherwise, step.id) =>
                {
                    for binding in before {
                        self.binding(binding);
                    }
                    let cond = self.atom(*cond).scalar();
                    self.body.begin();
                    let yields = self.tail(then, step);
                    let types: Vec<ValueTy> = yields.iter().map(|v| self.body.ty(*v)).collect();
                    let then = self.body.end(yields);
                    self.body.begin();
                    let yields = self.tail(otherwise, step);
                    let otherwise = self.body.end(yields);
                    self.body.push(kir::Op::If { cond, then, otherwise }, &types)
                }
                _ => {
                    let rep = self.block(block);
                    self.done(&rep, step)
                }
            }
        })
    }

    fn done(&mut self, rep: &Rep<'a>, step: &Step<'_, 'a>) -> Vec<Value> {
        let mut next = vec![self.body.bool(false)];
        next.extend(&step.carried[1..step.first_result]);
        next.extend(self.parts(rep, step.result));
        next
    }
}

/// What a recursive function does where the recursion ends, if that is next to nothing: callers do
/// it for themselves, which makes half as many calls.
struct BaseCase<'a> {
    /// What the condition needs.
    before: &'a [Let],
    cond: Atom,
    /// What the condition is there.
    when: bool,
    value: &'a Block,
}

impl<'a> BaseCase<'a> {
    /// Of the function with this number.
    fn of(function: &'a ir::Function, id: FunId) -> Option<BaseCase<'a>> {
        /// So many operations are no more than a call.
        const FEW: usize = 8;
        let (last, before) = function.body.lets.split_last()?;
        let Op::If { cond, then, otherwise } = &last.op else { return None };
        let tiny = |lets: &[Let]| {
            let plain = |binding: &Let| {
                let plain =
                    matches!(binding.op, Op::Copy(_) | Op::Scalar(..) | Op::Seq(SeqOp::Length, _));
                plain && !binding.ty.has_sequence() && !binding.may_fault()
            };
            lets.len() <= FEW && lets.iter().all(plain)
        };
        let calls = |block: &Block| {
            let mut found = false;
            block
                .for_each_op(&mut |op| found |= matches!(op, Op::Call(callee, _) if *callee == id));
            found
        };
        let (when, value) = match (tiny(&then.lets), tiny(&otherwise.lets)) {
            (true, _) if calls(otherwise) => (true, then),
            (_, true) if calls(then) => (false, otherwise),
            _ => return None,
        };
        let ends = function.body.result == Atom::Var(last.var) && tiny(before);
        ends.then_some(BaseCase { before, cond: *cond, when, value })
    }
}

/// A loop in the making.
struct Step<'s, 'a> {
    id: FunId,
    moving: &'s [(Var, &'a Ty)],
    carried: &'s [Value],
    first_result: usize,
    result: &'a Ty,
}

/// How long each array among the parts of a value is.
fn add_extents(ty: &Ty, parts: &[Value], at: &mut usize, out: &mut Vec<Value>) {
    with_stack(|| match ty {
        Ty::Unit => {}
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => *at += 1,
        Ty::Pair(first, second) => {
            add_extents(first, parts, at, out);
            add_extents(second, parts, at, out);
        }
        Ty::Sequence(element) => {
            let length = parts[*at];
            *at += 1;
            add_column_extents(element, length, parts, at, out);
        }
    });
}

fn add_column_extents(
    element: &Ty,
    extent: Value,
    parts: &[Value],
    at: &mut usize,
    out: &mut Vec<Value>,
) {
    with_stack(|| match element {
        Ty::Unit => {}
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            *at += 1;
            out.push(extent);
        }
        Ty::Pair(first, second) => {
            add_column_extents(first, extent, parts, at, out);
            add_column_extents(second, extent, parts, at, out);
        }
        Ty::Sequence(inner) => {
            *at += 2;
            out.extend([extent, extent]);
            let extent = parts[*at];
            *at += 1;
            add_column_extents(inner, extent, parts, at, out);
        }
    });
}

/// Whether a block ends in a call of the function it is the body of.
fn calls_itself_last(block: &Block, id: FunId) -> bool {
    with_stack(|| {
        let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
        match last.map(|last| &last.op) {
            Some(Op::Call(callee, _)) => *callee == id,
            Some(Op::If { then, otherwise, .. }) => {
                calls_itself_last(then, id) || calls_itself_last(otherwise, id)
            }
            _ => false,
        }
    })
}

fn has_call(block: &Block, id: FunId) -> bool {
    calls_itself_last(block, id)
}

/// Which parameters every call in tail position passes on as they are.
fn find_steady(block: &Block, id: FunId, params: &[(Var, Ty)], steady: &mut [bool]) {
    with_stack(|| {
        let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
        match last.map(|last| &last.op) {
            Some(Op::Call(callee, args)) if *callee == id => {
                for ((atom, (var, _)), steady) in args.iter().zip(params).zip(steady) {
                    *steady &= *atom == Atom::Var(*var);
                }
            }
            Some(Op::If { then, otherwise, .. }) => {
                find_steady(then, id, params, steady);
                find_steady(otherwise, id, params, steady);
            }
            _ => {}
        }
    });
}
