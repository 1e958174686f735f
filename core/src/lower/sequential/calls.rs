//! Functions and calls.
//!
//! A function that calls itself in tail position becomes a loop; its parameters that all such calls
//! pass on unchanged are loop invariants. A short loop that changes rows of a table has two versions: one for the turns
//! before the table is owned, mostly the first, which copies it, and one that neither asks nor copies. The base case of any other recursive function is inlined
//! into its callers if it is tiny, which halves the number of calls of a binary recursion.

use super::super::Settings;
use super::super::repr::{self, LoweredValue, Room, StoredSequence};
use super::function::{FunctionLowering, ModuleState};
use super::rooms;
use crate::base::with_stack;
use crate::fuse::sequential::BlockOwnership;
use crate::fuse::sequential::ownership::{Kept, each_sequence, sequences};
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
        let types: Vec<ValueTy> = init.iter().map(|value| self.body.ty(*value)).collect();
        let tail_loop =
            TailLoop { id, varying, first_room, first_result, first_result_room, result };
        let tables = self.updated_tables(body, &tail_loop);
        let mark = self.body.mark();
        let mut results = if tables.is_empty() {
            self.turns(body, &tail_loop, None, mark, init)
        } else {
            let carried: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
            self.body.begin();
            let cond = self.body.end(vec![carried[0]]);
            self.body.begin();
            let copied =
                self.turns(body, &tail_loop, Some((&tables, false)), mark, carried.clone());
            let last = self.turns(body, &tail_loop, Some((&tables, true)), mark, copied);
            let body = self.body.end(last);
            self.body.push(kir::Op::While { init, carried, cond, body }, &types)
        };
        let mut results = results.split_off(first_result);
        let rooms = results.split_off(first_result_room - first_result);
        (results, rooms)
    }

    /// Lowers the turns of a loop, from the values that it carries at first; returns these after the last turn. If there
    /// are tables, only those turns in which all of them are owned at the beginning, or those in which one is not.
    fn turns(
        &mut self,
        body: &'a Block,
        tail_loop: &TailLoop<'a>,
        tables: Option<(&[Var], bool)>,
        mark: Value,
        init: Vec<Value>,
    ) -> Vec<Value> {
        let TailLoop { first_room, first_result, first_result_room, .. } = *tail_loop;
        let types: Vec<ValueTy> = init.iter().map(|value| self.body.ty(*value)).collect();
        let carried: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
        let mut parts = carried[1..first_room].iter().copied();
        let mut rooms = carried[first_room..first_result].iter().copied();
        for (var, ty) in &tail_loop.varying {
            let value = self.assemble(ty, &mut parts);
            let value = if self.has_rooms { value.with_rooms(ty, &mut rooms) } else { value };
            self.env.insert(*var, (value, ty));
        }
        self.body.begin();
        let mut goes_on = carried[0];
        if let Some((tables, are_owned)) = tables {
            let owned = self.all_are_owned(tables);
            let fits = if are_owned { owned } else { self.body.unary(Unary::Not, owned) };
            goes_on = self.body.binary(Binary::And, goes_on, fits);
        }
        let cond = self.body.end(vec![goes_on]);
        if let Some((tables, true)) = tables {
            self.suppose_owned(tables);
        }
        let allocations = self.allocations;
        self.body.begin();
        let next = self.tail(body, tail_loop, &carried);
        let next = if self.allocations > allocations {
            // One release for all that the next iteration needs.
            let result = tail_loop.result;
            let types: Vec<&Ty> =
                tail_loop.varying.iter().map(|(_, ty)| *ty).chain([result]).collect();
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
        self.body.push(kir::Op::While { init, carried, cond, body }, &types)
    }

    /// Returns the varying parameters that are tables whose rows the loop changes where they lie, if it changes no table in
    /// another way, and its code is short enough for two versions.
    fn updated_tables(&self, body: &'a Block, tail_loop: &TailLoop<'a>) -> Vec<Var> {
        let (mut operations, mut moves_rows) = (0, false);
        let mut tables = Vec::new();
        body.each_let(&mut |binding| {
            operations += 1;
            let Op::Seq(op @ (SeqOp::Replace | SeqOp::Scatter | SeqOp::Append), args) = &binding.op
            else {
                return;
            };
            if !binding.ty.element().is_some_and(Ty::has_sequence) {
                return;
            }
            let update = self.owned.update(binding.var);
            let keeps = !update.kept.is_empty()
                && update.kept.iter().all(|kept| *kept == Kept::Same)
                || update.exchange.is_some()
                || update.same_length && !update.moves;
            if !(update.in_place && *op == SeqOp::Replace && keeps) {
                moves_rows = true;
                return;
            }
            let Some(table) = args[0].variable() else { return };
            let varies = tail_loop.varying.iter().any(|(var, _)| *var == table);
            if varies && !tables.contains(&table) {
                tables.push(table);
            }
        });
        let is_long = operations > self.limits.max_versioned_loop_operations;
        if !self.has_rooms || moves_rows || is_long || self.is_inner_loop(tail_loop.id) {
            tables.clear();
        }
        tables
    }

    /// Returns true if a recursive function or an apply-to-each of another function calls one: that may take a few turns
    /// each time, and is often inlined if it is short.
    fn is_inner_loop(&self, id: FunId) -> bool {
        let calls = |block: &Block, callee: FunId| {
            let mut found = false;
            block.for_each_op(&mut |op| {
                found |= matches!(op, Op::Call(called, _) if *called == callee);
            });
            found
        };
        let functions = (0..).map(FunId).zip(&self.program.functions);
        let mut others =
            functions.filter(|(other, function)| *other != id && calls(&function.body, id));
        others.any(|(other, function)| {
            let in_nest = |binding: &Let| match &binding.op {
                Op::Nest(nest) => calls(&nest.body, id),
                _ => false,
            };
            calls(&function.body, other) || function.body.lets.iter().any(in_nest)
        })
    }

    /// Returns a flag that says if all of some tables are owned.
    fn all_are_owned(&mut self, tables: &[Var]) -> Value {
        let zero = self.body.i64(0);
        let mut all = None;
        for table in tables {
            let room = self.env[table].0.stored_sequence().room.value().unwrap_or(zero);
            let owned = self.body.binary(Binary::Gt, room, zero);
            all = Some(match all {
                Some(before) => self.body.binary(Binary::And, before, owned),
                None => owned,
            });
        }
        all.or_bug("a loop with versions has tables")
    }

    /// Notes that some tables, which are in memory, are owned.
    fn suppose_owned(&mut self, tables: &[Var]) {
        for table in tables {
            let (value, ty) = self.env[table].clone();
            let stored = value.stored_sequence();
            let room = match stored.room {
                Room::Maybe(room) => Room::Owned(room),
                known => known,
            };
            let value = LoweredValue::of_stored(StoredSequence { room, ..stored });
            self.env.insert(*table, (value, ty));
        }
    }

    /// Lowers a block in tail position; returns what the loop carries: the flag, the next parameters,
    /// the result.
    fn tail(
        &mut self,
        block: &'a Block,
        tail_loop: &TailLoop<'a>,
        carried: &[Value],
    ) -> Vec<Value> {
        with_stack(|| {
            let last = block.lets.last().filter(|last| block.result == Atom::Var(last.var));
            let Some(last) = last else {
                let value = self.block(block);
                return self.leave_loop(&value, tail_loop, carried);
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
                    next.extend(&carried[tail_loop.first_result..]);
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
                    let yields = self.tail(then, tail_loop, carried);
                    let types: Vec<ValueTy> = yields.iter().map(|v| self.body.ty(*v)).collect();
                    let then = self.body.end(yields);
                    self.body.begin();
                    let yields = self.tail(otherwise, tail_loop, carried);
                    let otherwise = self.body.end(yields);
                    self.body.push(kir::Op::If { cond, then, otherwise }, &types)
                }
                _ => {
                    let value = self.block(block);
                    self.leave_loop(&value, tail_loop, carried)
                }
            }
        })
    }

    fn leave_loop(
        &mut self,
        value: &LoweredValue<'a>,
        tail_loop: &TailLoop<'a>,
        carried: &[Value],
    ) -> Vec<Value> {
        let mut next = vec![self.body.bool(false)];
        next.extend(&carried[1..tail_loop.first_result]);
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

/// The loop that a tail-recursive function becomes. It carries a flag, the parts of the parameters that vary, their rooms,
/// the parts of the result, and its rooms, in this order.
struct TailLoop<'a> {
    id: FunId,
    varying: Vec<(Var, &'a Ty)>,
    first_room: usize,
    first_result: usize,
    first_result_room: usize,
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
