//! Functions and calls.
//!
//! A function that calls itself in tail position becomes a loop; its parameters that all such calls
//! pass on unchanged are loop invariants. The base case of any other recursive function is inlined
//! into its callers if it is tiny, which halves the number of calls of a binary recursion.

use super::super::Settings;
use super::super::repr::{self, LoweredValue};
use super::function::{FunctionLowering, ModuleState};
use super::rooms;
use crate::base::with_stack;
use crate::fuse::sequential::BlockOwnership;
use crate::fuse::sequential::ownership::{each_sequence, sequences};
use crate::ir::{self, Atom, Block, FunId, Let, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{
    self, Binary, Function, FunctionBuilder, FunctionId, Unary, Value, ValueTy,
};
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
        params.push((*var, ty, values, Vec::new()));
    }
    let ownership = shared.borrow().ownership.clone();
    let has_rooms = ownership.is_tracked(id);
    if has_rooms {
        for (_, ty, _, rooms) in &mut params {
            *rooms = (0..rooms::count(ty)).map(|_| builder.param(rooms::ROOM)).collect();
        }
    }
    let body = std::mem::take(&mut builder.body);
    let mut code = FunctionLowering::new(body, program, settings, shared);
    code.plan_loops(&function.name, &function.body);
    if has_rooms {
        code.owned = ownership.function(id);
    }
    code.has_rooms = has_rooms;
    code.origin = origin;
    for (var, ty, values, rooms) in &params {
        let value = code.assemble(ty, &mut values.iter().copied());
        let value =
            if has_rooms { value.with_rooms(ty, &mut rooms.iter().copied()) } else { value };
        code.env.insert(*var, (value, ty));
    }
    let mark = code.body.mark();
    let (parts, rooms) = if has_tail_call(&function.body, id) {
        code.tail_loop(id, &function.body, &function.result)
    } else {
        let value = code.block(&function.body);
        let returned = ownership.returned(id).iter().copied();
        code.parts_and_rooms(&value, &function.result, &mut returned.into_iter())
    };
    let mut results = if code.allocations > 0 {
        code.release_all_but_parts(mark, &parts, &rooms, &[&function.result])
    } else {
        parts
    };
    results.extend(rooms);
    builder.body = code.body;
    builder.finish(results)
}

impl<'a> FunctionLowering<'a> {
    /// Lowers a call.
    pub(super) fn call(
        &mut self,
        callee: FunId,
        args: &[Atom],
        binding: &'a Let,
    ) -> LoweredValue<'a> {
        let ty = &binding.ty;
        let function = &self.program.functions[callee.0 as usize];
        let mut parts = Vec::new();
        if function.library {
            let origin = match self.origin {
                Some(origin) => origin,
                None => self.call_site(binding.site),
            };
            parts.push(origin);
        }
        let ownership = self.shared.borrow().ownership.clone();
        let has_rooms = ownership.is_tracked(callee);
        let given = self.owned.given(binding.var).to_vec();
        let mut given = given.into_iter();
        let mut values = Vec::new();
        for (atom, (_, ty)) in args.iter().zip(&function.params) {
            let value = self.atom(*atom);
            let value = self.materialise(&value, ty).owning_only(ty, &mut given);
            parts.extend(self.parts(&value, ty));
            values.push(value);
        }
        if has_rooms {
            for (value, (_, ty)) in values.iter().zip(&function.params) {
                self.add_rooms(value, ty, &mut std::iter::repeat(true), &mut parts);
            }
        }
        // Its result lies in the memory of the thread.
        self.allocations += 1;
        let mut types = repr::parts(&function.result, self.precision);
        if has_rooms {
            types.extend(std::iter::repeat_n(rooms::ROOM, rooms::count(&function.result)));
        }
        let called = |t: &mut Self| {
            let mut results = t.body.call(FunctionId(callee.0), parts, &types).into_iter();
            let value = t.assemble(ty, &mut results);
            if has_rooms && t.has_rooms { value.with_rooms(ty, &mut results) } else { value }
        };
        let most = self.limits.max_inlined_base_case_operations;
        let Some(base) = BaseCase::of(function, callee, most) else { return called(self) };
        // The callee numbers its variables by itself: what is known of the caller's waits.
        let params = function.params.iter().zip(values).map(|((var, ty), v)| (*var, (v, ty)));
        let caller = std::mem::replace(&mut self.env, params.collect());
        let plan = std::mem::take(&mut self.plan);
        let early = std::mem::take(&mut self.early);
        let owned = std::mem::take(&mut self.owned);
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
        (self.env, self.plan, self.early, self.owned) = (caller, plan, early, owned);
        result
    }

    /// Returns the parts of a value, and its rooms if the code at hand knows them: 0 for those of its
    /// sequences that `given` does not name.
    fn parts_and_rooms(
        &mut self,
        value: &LoweredValue<'a>,
        ty: &'a Ty,
        given: &mut dyn Iterator<Item = bool>,
    ) -> (Vec<Value>, Vec<Value>) {
        let value = self.materialise(value, ty);
        let parts = self.parts(&value, ty);
        let mut rooms = Vec::new();
        if self.has_rooms {
            self.add_rooms(&value, ty, given, &mut rooms);
        }
        (parts, rooms)
    }

    /// Releases the memory allocated since a mark, but for the arrays among the parts of some values,
    /// with the elements that there is room for; returns the parts, with these arrays where they lie
    /// then.
    fn release_all_but_parts(
        &mut self,
        mark: Value,
        parts: &[Value],
        rooms: &[Value],
        types: &[&Ty],
    ) -> Vec<Value> {
        let mut extents = Vec::new();
        let mut at = 0;
        let mut rooms = rooms.iter().copied();
        for ty in types {
            let mut extent = |used| match rooms.next() {
                // The capacity of a spaced pool is negated.
                Some(room) if self.grows_rows => {
                    let room = self.body.unary(Unary::Abs, room);
                    self.body.binary(Binary::Max, used, room)
                }
                Some(room) => self.body.binary(Binary::Max, used, room),
                None => used,
            };
            add_extents(ty, parts, &mut at, &mut extent, &mut extents);
        }
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
    fn tail_loop(
        &mut self,
        id: FunId,
        body: &'a Block,
        result: &'a Ty,
    ) -> (Vec<Value>, Vec<Value>) {
        let function = &self.program.functions[id.0 as usize];
        let mut invariant = vec![true; function.params.len()];
        find_invariants(body, id, &function.params, &self.owned, &mut invariant);
        let varying: Vec<(Var, &'a Ty)> = function
            .params
            .iter()
            .zip(&invariant)
            .filter_map(|((var, ty), invariant)| (!invariant).then_some((*var, ty)))
            .collect();
        let going = self.body.bool(true);
        let mut init = vec![going];
        let mut rooms = Vec::new();
        for (var, ty) in &varying {
            let value = self.env[var].0.clone();
            let (parts, more) = self.parts_and_rooms(&value, ty, &mut std::iter::repeat(true));
            init.extend(parts);
            rooms.extend(more);
        }
        let first_room = init.len();
        init.extend(rooms);
        let first_result = init.len();
        init.extend(self.zero_parts(result));
        let first_result_room = init.len();
        if self.has_rooms {
            let none = self.body.i64(0);
            init.extend(std::iter::repeat_n(none, rooms::count(result)));
        }
        let carried: Vec<Value> = init
            .iter()
            .map(|v| {
                let ty = self.body.ty(*v);
                self.body.value(ty)
            })
            .collect();
        let mut parts = carried[1..first_room].iter().copied();
        let mut rooms = carried[first_room..first_result].iter().copied();
        for (var, ty) in &varying {
            let value = self.assemble(ty, &mut parts);
            let value = if self.has_rooms { value.with_rooms(ty, &mut rooms) } else { value };
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
            // One release for all that the next iteration needs.
            let types: Vec<&Ty> = varying.iter().map(|(_, ty)| *ty).chain([result]).collect();
            let parts = [&next[1..first_room], &next[first_result..first_result_room]].concat();
            let rooms = [&next[first_room..first_result], &next[first_result_room..]].concat();
            let mut kept = self.release_all_but_parts(mark, &parts, &rooms, &types);
            let results = kept.split_off(first_room - 1);
            let (before, behind) = rooms.split_at(first_result - first_room);
            [&next[..1], &kept, before, &results, behind].concat()
        } else {
            next
        };
        let body = self.body.end(next);
        let types: Vec<ValueTy> = carried.iter().map(|v| self.body.ty(*v)).collect();
        let op = kir::Op::While { init, carried: carried.clone(), cond, body };
        let mut results = self.body.push(op, &types).split_off(first_result);
        let rooms = results.split_off(first_result_room - first_result);
        (results, rooms)
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
                    let given = self.owned.given(last.var).to_vec();
                    let mut given = given.into_iter();
                    let mut rooms = Vec::new();
                    for (atom, (var, ty)) in args.iter().zip(params) {
                        let mut given = given.by_ref().take(sequences(ty));
                        if tail_loop.varying.iter().any(|(varying, _)| varying == var) {
                            let value = self.atom(*atom);
                            let (parts, more) = self.parts_and_rooms(&value, ty, &mut given);
                            next.extend(parts);
                            rooms.extend(more);
                        }
                        given.for_each(drop);
                    }
                    next.extend(rooms);
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
        let ownership = self.shared.borrow().ownership.clone();
        let mut returned = ownership.returned(tail_loop.id).iter().copied();
        let (parts, rooms) = self.parts_and_rooms(value, tail_loop.result, &mut returned);
        next.extend(parts);
        next.extend(rooms);
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

/// Adds the number of elements of each array among the parts of a value; `extent` gives that of the
/// columns of each sequence and each pool by the number that is in use.
fn add_extents(
    ty: &Ty,
    parts: &[Value],
    at: &mut usize,
    extent: &mut dyn FnMut(Value) -> Value,
    out: &mut Vec<Value>,
) {
    with_stack(|| match ty {
        Ty::Unit => {}
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => *at += 1,
        Ty::Pair(first, second) => {
            add_extents(first, parts, at, extent, out);
            add_extents(second, parts, at, extent, out);
        }
        Ty::Sequence(element) => {
            let length = extent(parts[*at]);
            *at += 1;
            add_column_extents(element, length, parts, at, extent, out);
        }
    });
}

fn add_column_extents(
    element: &Ty,
    extent: Value,
    parts: &[Value],
    at: &mut usize,
    extent_of: &mut dyn FnMut(Value) -> Value,
    out: &mut Vec<Value>,
) {
    with_stack(|| match element {
        Ty::Unit => {}
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            *at += 1;
            out.push(extent);
        }
        Ty::Pair(first, second) => {
            add_column_extents(first, extent, parts, at, extent_of, out);
            add_column_extents(second, extent, parts, at, extent_of, out);
        }
        Ty::Sequence(inner) => {
            *at += 2;
            out.extend([extent, extent]);
            let extent = extent_of(parts[*at]);
            *at += 1;
            add_column_extents(inner, extent, parts, at, extent_of, out);
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

/// Clears the flags of the parameters that some call in tail position changes, or that are not the
/// next iteration's alone after it.
fn find_invariants(
    block: &Block,
    id: FunId,
    params: &[(Var, Ty)],
    owned: &BlockOwnership,
    invariant: &mut [bool],
) {
    with_stack(|| {
        let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
        match last.map(|last| &last.op) {
            Some(Op::Call(callee, args)) if *callee == id => {
                let given =
                    owned.given(block.lets.last().or_bug("a block that calls has a binding").var);
                let mut given = given.iter();
                for ((atom, (var, ty)), invariant) in args.iter().zip(params).zip(invariant) {
                    *invariant &= *atom == Atom::Var(*var);
                    each_sequence(ty, &mut |_| {
                        *invariant &= given.next().is_none_or(|given| *given);
                    });
                }
            }
            Some(Op::If { then, otherwise, .. }) => {
                find_invariants(then, id, params, owned, invariant);
                find_invariants(otherwise, id, params, owned, invariant);
            }
            _ => {}
        }
    });
}
