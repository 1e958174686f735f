//! Functions that call each other last become one function that calls itself last, which is a loop.
//!
//! ```text
//! fn "outside"(v0: [char], v1: int) -> int {       fn "outside, inside"(v0: bool, v1: [char], v2: int) -> int {
//!   … call "inside"(v0, v3)                          v3 = if v0 { … call "outside, inside"(false, v1, v4) }
//! fn "inside"(v0: [char], v1: int) -> int {    →          else  { … call "outside, inside"(true, v1, v5) }
//!   … call "outside"(v0, v4)                         v3
//!                                                  fn "outside"(v0: [char], v1: int) -> int {
//!                                                    v2 = call "outside, inside"(true, v0, v1)
//!                                                    v2
//! ```
//!
//! Without it each call would take a part of the stack, and an array would be handed from function to function. It is how
//! state machines are written: a function for each state, and a call for each transition. Flattened code takes one step of
//! all machines at once, whatever states they are in.
//!
//! Parameters of the functions share parameters of the one if they have the same type, and those first between which a call
//! hands a value on unchanged. A function that has fewer gives nothing for the others: zeros, and empty sequences.

use super::calls::Calls;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, FunctionBuilder, Let, Op, Program, Site, Ty, Var};
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Makes one function of each group of functions that call each other last, and never otherwise.
pub(super) fn merge<'p>(program: &'p Program, calls: &Calls) -> Cow<'p, Program> {
    let mut changed = Cow::Borrowed(program);
    for members in calls.groups() {
        // The order of the definitions, whichever was found first.
        let mut members = members.clone();
        members.sort_unstable();
        if is_loop(program, &members) {
            let changed = changed.to_mut();
            let all = FunId(u32::try_from(changed.functions.len()).or_bug("functions are few"));
            let group = Group::of(program, members, all);
            changed.functions.push(group.loop_of_all());
            for (number, id) in group.members.iter().enumerate() {
                changed.functions[id.0 as usize] = group.entry(number);
            }
        }
    }
    changed
}

/// Returns true if functions call each other only where nothing is left to do, and give the same type.
fn is_loop(program: &Program, members: &[FunId]) -> bool {
    let functions: Vec<&Function> =
        members.iter().map(|id| &program.functions[id.0 as usize]).collect();
    let same = |function: &&Function| {
        let Function { library, charge, role, .. } = function;
        let is_plain = !library && charge.is_none() && role.is_none();
        is_plain && function.result == functions[0].result && calls_last(&function.body, members)
    };
    functions.iter().all(same)
}

/// Returns true if a block whose result is that of the function calls some functions only as the last thing it does.
fn calls_last(block: &Block, members: &[FunId]) -> bool {
    with_stack(|| {
        block.lets.iter().enumerate().all(|(at, binding)| {
            let is_last = at + 1 == block.lets.len() && block.result == Atom::Var(binding.var);
            match &binding.op {
                Op::Call(callee, _) => is_last || !members.contains(callee),
                Op::If { then, otherwise, .. } if is_last => {
                    calls_last(then, members) && calls_last(otherwise, members)
                }
                op => {
                    let mut calls = false;
                    op.blocks().for_each(|inner| {
                        inner.for_each_op(&mut |op| {
                            calls |= matches!(op, Op::Call(callee, _) if members.contains(callee));
                        });
                    });
                    !calls
                }
            }
        })
    })
}

/// Functions that become one.
struct Group<'p> {
    program: &'p Program,
    members: Vec<FunId>,
    /// The one function.
    all: FunId,
    /// The types of its parameters behind the first, which says what function goes on.
    params: Vec<Ty>,
    /// For each member, the numbers of its parameters among those of the one function.
    places: Vec<Vec<usize>>,
}

impl<'p> Group<'p> {
    fn of(program: &'p Program, members: Vec<FunId>, all: FunId) -> Group<'p> {
        let places = vec![Vec::new(); members.len()];
        let mut group = Group { program, members, all, params: Vec::new(), places };
        for number in 0..group.members.len() {
            group.place(number);
        }
        group
    }

    fn function(&self, number: usize) -> &'p Function {
        &self.program.functions[self.members[number].0 as usize]
    }

    /// Finds places for the parameters of a member, when those of the members before have theirs.
    fn place(&mut self, number: usize) {
        let params = &self.function(number).params;
        let mut places: Vec<Option<usize>> = vec![None; params.len()];
        for before in 0..number {
            let caller = self.function(before);
            caller.body.for_each_op(&mut |op| {
                let Op::Call(callee, args) = op else { return };
                if *callee != self.members[number] {
                    return;
                }
                for (at, arg) in args.iter().enumerate() {
                    let handed_on =
                        caller.params.iter().position(|(var, _)| *arg == Atom::Var(*var));
                    let place = handed_on.map(|param| self.places[before][param]);
                    if let Some(place) = place
                        && places[at].is_none()
                        && !places.contains(&Some(place))
                    {
                        places[at] = Some(place);
                    }
                }
            });
        }
        for at in 0..params.len() {
            if places[at].is_none() {
                let ty = &params[at].1;
                let is_free =
                    |place: &usize| self.params[*place] == *ty && !places.contains(&Some(*place));
                let place = (0..self.params.len()).find(is_free).unwrap_or_else(|| {
                    self.params.push(ty.clone());
                    self.params.len() - 1
                });
                places[at] = Some(place);
            }
        }
        self.places[number] = places.into_iter().flatten().collect();
    }

    /// The parameter that says that a member goes on: a bool of two, a number of more.
    fn state(&self, number: usize) -> Atom {
        match self.members.len() {
            2 => Atom::Bool(number == 0),
            _ => Atom::Int(number as i64),
        }
    }

    /// Returns the call of the one function that goes on with a member, given its arguments.
    fn call(&self, b: &mut FunctionBuilder, number: usize, args: &[Atom], site: Site) -> Op {
        let mut all = vec![self.state(number)];
        for (place, ty) in self.params.iter().enumerate() {
            let arg = self.places[number].iter().position(|own| *own == place);
            all.push(arg.map_or_else(|| b.nothing(ty, site), |arg| args[arg]));
        }
        Op::Call(self.all, all)
    }

    /// Returns the function that calls the one in the state of a member, under its name.
    fn entry(&self, number: usize) -> Function {
        let function = self.function(number);
        let mut b = FunctionBuilder::new();
        let args: Vec<Atom> = function.params.iter().map(|(_, ty)| b.param(ty.clone())).collect();
        let call = self.call(&mut b, number, &args, function.site);
        let result = b.bind(function.result.clone(), call, function.site);
        b.finish(function.name.clone(), function.site, result)
    }

    fn loop_of_all(&self) -> Function {
        let mut b = FunctionBuilder::new();
        let first = if self.members.len() == 2 { Ty::Bool } else { Ty::Int };
        let state = b.param(first);
        let params: Vec<Atom> = self.params.iter().map(|ty| b.param(ty.clone())).collect();
        let result = self.choose(&mut b, state, &params, 0);
        let names: Vec<&str> =
            (0..self.members.len()).map(|number| self.function(number).name.as_str()).collect();
        b.finish(names.join(", "), self.function(0).site, result)
    }

    /// Binds the result of the member whose state it is, which is none of those before one.
    fn choose(&self, b: &mut FunctionBuilder, state: Atom, params: &[Atom], number: usize) -> Atom {
        let function = self.function(number);
        if number + 1 == self.members.len() {
            return self.body(b, params, number);
        }
        let is_this = match self.members.len() {
            2 => state,
            _ => b.scalar(ScalarOp::Eq, vec![state, self.state(number)], function.site),
        };
        b.conditional(
            is_this,
            function.site,
            |b| self.body(b, params, number),
            |b| self.choose(b, state, params, number + 1),
        )
    }

    /// Copies the body of a member.
    fn body(&self, b: &mut FunctionBuilder, params: &[Atom], number: usize) -> Atom {
        let function = self.function(number);
        let mut names: FxHashMap<Var, Var> = FxHashMap::default();
        for ((var, _), place) in function.params.iter().zip(&self.places[number]) {
            let param = params[*place].variable().or_bug("a parameter is a variable");
            names.insert(*var, param);
        }
        self.copy(b, &function.body, &mut names)
    }

    /// Copies a block whose result is that of the function, and returns its result.
    fn copy(
        &self,
        b: &mut FunctionBuilder,
        block: &Block,
        names: &mut FxHashMap<Var, Var>,
    ) -> Atom {
        with_stack(|| {
            for binding in &block.lets {
                let copy = match &binding.op {
                    Op::Call(callee, args)
                        if let Some(number) = self.members.iter().position(|id| id == callee) =>
                    {
                        let args: Vec<Atom> = args.iter().map(|arg| renamed(*arg, names)).collect();
                        let op = self.call(b, number, &args, binding.site);
                        b.bind(binding.ty.clone(), op, binding.site)
                    }
                    Op::If { cond, then, otherwise } if block.result == Atom::Var(binding.var) => {
                        let cond = renamed(*cond, names);
                        b.begin();
                        let result = self.copy(b, then, names);
                        let then = b.end(result);
                        b.begin();
                        let result = self.copy(b, otherwise, names);
                        let otherwise = b.end(result);
                        let op = Op::If { cond, then, otherwise };
                        b.bind(binding.ty.clone(), op, binding.site)
                    }
                    _ => {
                        let copy: Let = b.copied(binding, names);
                        let var = copy.var;
                        b.keep(copy);
                        Atom::Var(var)
                    }
                };
                names.insert(binding.var, copy.variable().or_bug("a binding is a variable"));
            }
            renamed(block.result, names)
        })
    }
}

fn renamed(atom: Atom, names: &FxHashMap<Var, Var>) -> Atom {
    match atom {
        Atom::Var(var) => Atom::Var(names.get(&var).copied().unwrap_or(var)),
        constant => constant,
    }
}

#[cfg(test)]
mod tests;
