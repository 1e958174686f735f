//! Functions and calls.
//!
//! A function that calls itself in tail position becomes a loop; its parameters that all such calls
//! pass on unchanged are loop invariants. The base case of any other recursive function is inlined
//! into its callers if it is tiny, which halves the number of calls of a binary recursion.

use super::super::Settings;
use super::super::repr::{self, LoweredValue};
use super::function::{FunctionLowering, ModuleState};
use crate::base::with_stack;
use crate::ir::{self, Atom, Block, FunId, Let, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Function, FunctionBuilder, FunctionId, Value, ValueTy};
use std::cell::RefCell;

/// Lowers a function. A library function has the site of the call that left the user's program as
/// its first parameter.
pub(in crate::lower) fn function<'a>(
    program: &'a Program,
    id: FunId,
    settings: &Settings<'a>,
    shared: &'a RefCell<ModuleState>,
) -> Function {
    let function = &program.functions[id.0 as usize];
    let mut builder = FunctionBuilder::new(function.name.to_string());
    let origin = function.library.then(|| builder.param(ValueTy::Scalar(kir::Ty::I64)));
    let mut params = Vec::new();
    for (var, ty) in &function.params {
        let parts = repr::parts(ty, settings.precision);
        let values: Vec<Value> = parts.into_iter().map(|part| builder.param(part)).collect();
        params.push((*var, ty, values));
    }
    let body = std::mem::take(&mut builder.body);
    let mut code = FunctionLowering::new(body, program, settings, shared);
    code.plan_loops(&function.name, &function.body);
    code.origin = origin;
    for (var, ty, values) in &params {
        let value = code.assemble(ty, &mut values.iter().copied());
        code.env.insert(*var, (value, ty));
    }
    let mark = code.body.mark();
    let results = if has_tail_call(&function.body, id) {
        code.tail_loop(id, &function.body, &function.result)
    } else {
        let value = code.block(&function.body);
        code.parts(&value, &function.result)
    };
    let results = if code.allocations > 0 {
        code.release_all_but_parts(mark, &results, &function.result)
    } else {
        results
    };
    builder.body = code.body;
    builder.finish(results)
}

impl<'a> FunctionLowering<'a> {
    /// Lowers a call.
    pub(super) fn call(
        &mut self,
        callee: FunId,
        args: &[Atom],
        ty: &'a Ty,
        site: Site,
    ) -> LoweredValue<'a> {
        let function = &self.program.functions[callee.0 as usize];
        let mut parts = Vec::new();
        if function.library {
            let origin = match self.origin {
                Some(origin) => origin,
                None => self.call_site(site),
            };
            parts.push(origin);
        }
        let mut values = Vec::new();
        for (atom, (_, ty)) in args.iter().zip(&function.params) {
            let value = self.atom(*atom);
            let value = self.materialise(&value, ty);
            parts.extend(self.parts(&value, ty));
            values.push(value);
        }
        // Its result lies in the memory of the thread.
        self.allocations += 1;
        let types = repr::parts(&function.result, self.precision);
        let called = |t: &mut Self| {
            let results = t.body.call(FunctionId(callee.0), parts, &types);
            t.assemble(ty, &mut results.into_iter())
        };
        let most = self.limits.max_inlined_base_case_operations;
        let Some(base) = BaseCase::of(function, callee, most) else { return called(self) };
        // The callee numbers its variables by itself: what is known of the caller's waits.
        let params = function.params.iter().zip(values).map(|((var, ty), v)| (*var, (v, ty)));
        let caller = std::mem::replace(&mut self.env, params.collect());
        let plan = std::mem::take(&mut self.plan);
        let reduced = std::mem::take(&mut self.reduced);
        base.before.iter().for_each(|binding| self.binding(binding));
        let cond = self.atom(base.cond).scalar();
        let small = |t: &mut Self| {
            let value = t.block(base.value);
            t.materialise(&value, ty)
        };
        let result = match base.when {
            true => self.join_branches(cond, small, called),
            false => self.join_branches(cond, called, small),
        };
        (self.env, self.plan, self.reduced) = (caller, plan, reduced);
        result
    }

    /// Releases the memory allocated since a mark, but for the arrays among some parts; returns the
    /// parts, with these arrays where they lie then.
    fn release_all_but_parts(&mut self, mark: Value, parts: &[Value], ty: &Ty) -> Vec<Value> {
        let mut extents = Vec::new();
        add_extents(ty, parts, &mut 0, &mut extents);
        let arrays = parts.iter().filter(|v| matches!(self.body.ty(**v), ValueTy::Array(_)));
        let keep: Vec<(Value, Value)> = arrays.copied().zip(extents).collect();
        let mut kept = self.body.compact(mark, keep).into_iter();
        let mut all = Vec::new();
        for part in parts {
            let is_array = matches!(self.body.ty(*part), ValueTy::Array(_));
            all.push(if is_array {
                kept.next().or_bug("every array that is kept has a new place")
            } else {
                *part
            });
        }
        all
    }

    /// Lowers the body of a tail-recursive function as a loop that carries a flag (true while it
    /// goes on), the parameters that change, and the result; returns the parts of the result.
    fn tail_loop(&mut self, id: FunId, body: &'a Block, result: &'a Ty) -> Vec<Value> {
        let function = &self.program.functions[id.0 as usize];
        let mut invariant = vec![true; function.params.len()];
        find_invariants(body, id, &function.params, &mut invariant);
        let varying: Vec<(Var, &'a Ty)> = function
            .params
            .iter()
            .zip(&invariant)
            .filter_map(|((var, ty), invariant)| (!invariant).then_some((*var, ty)))
            .collect();
        let going = self.body.bool(true);
        let mut init = vec![going];
        for (var, ty) in &varying {
            let value = self.env[var].0.clone();
            init.extend(self.parts(&value, ty));
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
        for (var, ty) in &varying {
            let value = self.assemble(ty, &mut parts);
            self.env.insert(*var, (value, ty));
        }
        self.body.begin();
        let cond = self.body.end(vec![carried[0]]);
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let tail_loop = TailLoop { id, varying: &varying, carried: &carried, first_result, result };
        let next = self.tail(body, &tail_loop);
        let next = if self.allocations > allocations {
            let mut kept = vec![next[0]];
            let mut at = 1;
            // One release for all that the next iteration needs.
            let tuple = varying.iter().map(|(_, ty)| (*ty).clone());
            let all = Ty::tuple(tuple.chain([result.clone()]));
            let rest = self.release_all_but_parts(mark, &next[at..], &all);
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

    /// Lowers a block in tail position; returns what the loop carries: the flag, the next parameters,
    /// the result.
    fn tail(&mut self, block: &'a Block, tail_loop: &TailLoop<'_, 'a>) -> Vec<Value> {
        with_stack(|| {
            let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
            let Some(last) = last else {
                let value = self.block(block);
                return self.leave_loop(&value, tail_loop);
            };
            let before = &block.lets[..block.lets.len() - 1];
            match &last.op {
                Op::Call(callee, args) if *callee == tail_loop.id => {
                    for binding in before {
                        self.binding(binding);
                    }
                    let mut next = vec![self.body.bool(true)];
                    let params = &self.program.functions[tail_loop.id.0 as usize].params;
                    for (atom, (var, ty)) in args.iter().zip(params) {
                        if tail_loop.varying.iter().any(|(varying, _)| varying == var) {
                            let value = self.atom(*atom);
                            next.extend(self.parts(&value, ty));
                        }
                    }
                    next.extend(&tail_loop.carried[tail_loop.first_result..]);
                    next
                }
                Op::If { cond, then, otherwise }
                    if has_tail_call(then, tail_loop.id)
                        || has_tail_call(otherwise, tail_loop.id) =>
                {
                    for binding in before {
                        self.binding(binding);
                    }
                    let cond = self.atom(*cond).scalar();
                    self.body.begin();
                    let yields = self.tail(then, tail_loop);
                    let types: Vec<ValueTy> = yields.iter().map(|v| self.body.ty(*v)).collect();
                    let then = self.body.end(yields);
                    self.body.begin();
                    let yields = self.tail(otherwise, tail_loop);
                    let otherwise = self.body.end(yields);
                    self.body.push(kir::Op::If { cond, then, otherwise }, &types)
                }
                _ => {
                    let value = self.block(block);
                    self.leave_loop(&value, tail_loop)
                }
            }
        })
    }

    fn leave_loop(&mut self, value: &LoweredValue<'a>, tail_loop: &TailLoop<'_, 'a>) -> Vec<Value> {
        let mut next = vec![self.body.bool(false)];
        next.extend(&tail_loop.carried[1..tail_loop.first_result]);
        next.extend(self.parts(value, tail_loop.result));
        next
    }
}

/// The base case of a recursive function, if it takes next to no work.
struct BaseCase<'a> {
    /// The bindings that the condition depends on.
    before: &'a [Let],
    cond: Atom,
    /// The value of the condition in the base case.
    when: bool,
    value: &'a Block,
}

impl<'a> BaseCase<'a> {
    /// Returns the base case of the function with this number, if its condition and its value are
    /// no more than `max_operations` each.
    fn of(function: &'a ir::Function, id: FunId, max_operations: usize) -> Option<BaseCase<'a>> {
        let (last, before) = function.body.lets.split_last()?;
        let Op::If { cond, then, otherwise } = &last.op else { return None };
        let tiny = |lets: &[Let]| {
            let plain = |binding: &Let| {
                let plain =
                    matches!(binding.op, Op::Copy(_) | Op::Scalar(..) | Op::Seq(SeqOp::Length, _));
                plain && !binding.ty.has_sequence() && !binding.may_fault()
            };
            lets.len() <= max_operations && lets.iter().all(plain)
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

/// The loop that a tail-recursive function becomes.
struct TailLoop<'s, 'a> {
    id: FunId,
    varying: &'s [(Var, &'a Ty)],
    carried: &'s [Value],
    first_result: usize,
    result: &'a Ty,
}

/// Adds the number of elements of each array among the parts of a value.
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

/// Returns true if a block ends in a call of the function with this number.
fn has_tail_call(block: &Block, id: FunId) -> bool {
    with_stack(|| {
        let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
        match last.map(|last| &last.op) {
            Some(Op::Call(callee, _)) => *callee == id,
            Some(Op::If { then, otherwise, .. }) => {
                has_tail_call(then, id) || has_tail_call(otherwise, id)
            }
            _ => false,
        }
    })
}

/// Clears the flags of the parameters that some call in tail position changes.
fn find_invariants(block: &Block, id: FunId, params: &[(Var, Ty)], invariant: &mut [bool]) {
    with_stack(|| {
        let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
        match last.map(|last| &last.op) {
            Some(Op::Call(callee, args)) if *callee == id => {
                for ((atom, (var, _)), invariant) in args.iter().zip(params).zip(invariant) {
                    *invariant &= *atom == Atom::Var(*var);
                }
            }
            Some(Op::If { then, otherwise, .. }) => {
                find_invariants(then, id, params, invariant);
                find_invariants(otherwise, id, params, invariant);
            }
            _ => {}
        }
    });
}
