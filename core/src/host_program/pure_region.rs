//! Makes a program of the bindings of a region: their free variables become its globals, and the
//! variables that are used outside become its result.

use super::{Input, PureRegion};
use crate::ir::{
    Atom, Block, Effects, FunId, Function, Global, GlobalId, Let, Op, Program, Site, Ty, Var,
};
use crate::simplify::renumber;
use nesl_runtime::bug::OrBug;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Returns the region that computes some bindings of a function of `program`. `outputs` are the
/// variables that are used outside, `small` is [`PureRegion::small`], and `types` are the types of
/// the function's variables.
pub(super) fn pure_region(
    program: &Program,
    effects: &Effects,
    lets: &[&Let],
    outputs: Vec<Var>,
    small: bool,
    types: &FxHashMap<Var, Ty>,
) -> PureRegion {
    let site = lets[0].site;
    let (functions, globals) = reached(program, lets);
    let vars = free(lets);
    let mut inputs: Vec<Input> = globals.iter().map(|id| Input::Global(*id)).collect();
    inputs.extend(vars.iter().map(|var| Input::Var(*var)));
    let mut own: Vec<Global> =
        globals.iter().map(|id| program.globals[id.0 as usize].clone()).collect();
    let mut body = Vec::with_capacity(vars.len() + lets.len() + outputs.len());
    for var in &vars {
        let ty = types[var].clone();
        let op = Op::Global(GlobalId(own.len() as u32));
        own.push(Global { item: site.item, name: format!("v{}", var.0).into(), ty: ty.clone() });
        body.push(Let { var: *var, ty, op, site });
    }
    let function_ids =
        |id: FunId| FunId(functions.binary_search(&id).or_bug("the function is reached") as u32);
    let global_ids = |id: GlobalId| {
        GlobalId(globals.binary_search(&id).or_bug("the top-level variable is read") as u32)
    };
    let mut computed =
        Block { lets: lets.iter().map(|binding| (*binding).clone()).collect(), result: Atom::Unit };
    renumber(&mut computed, &function_ids, &global_ids);
    body.append(&mut computed.lets);
    let (result, ty) = tuple(&outputs, types, &mut body, site);
    let main = FunId(functions.len() as u32);
    let mut all: Vec<Function> =
        functions.iter().map(|id| program.functions[id.0 as usize].clone()).collect();
    for function in &mut all {
        renumber(&mut function.body, &function_ids, &global_ids);
    }
    all.push(Function {
        name: program.functions[program.main.0 as usize].name.clone(),
        params: Vec::new(),
        result: ty,
        body: Block { lets: body, result },
        site,
        library: false,
        charge: None,
        role: None,
    });
    PureRegion {
        program: Program { functions: all, globals: own, main },
        inputs,
        outputs,
        effects: lets.iter().any(|binding| effects.in_op(&binding.op)),
        small,
    }
}

/// Returns the functions and the top-level variables that bindings use, themselves and through
/// calls, in ascending order.
fn reached(program: &Program, lets: &[&Let]) -> (Vec<FunId>, Vec<GlobalId>) {
    let (mut functions, mut globals) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<FunId> = Vec::new();
    let mut look = |op: &Op, open: &mut Vec<FunId>| match op {
        Op::Call(callee, _) => open.push(*callee),
        Op::Global(id) => {
            globals.insert(*id);
        }
        _ => {}
    };
    for binding in lets {
        look(&binding.op, &mut open);
        for block in binding.op.blocks() {
            block.for_each_op(&mut |op| look(op, &mut open));
        }
    }
    while let Some(id) = open.pop() {
        if functions.insert(id) {
            let body = &program.functions[id.0 as usize].body;
            body.for_each_op(&mut |op| look(op, &mut open));
        }
    }
    (functions.into_iter().collect(), globals.into_iter().collect())
}

/// Returns the variables that bindings use and do not bind, in the order of their uses.
fn free(lets: &[&Let]) -> Vec<Var> {
    let mut known: FxHashSet<Var> = lets.iter().map(|binding| binding.var).collect();
    let mut free = Vec::new();
    for binding in lets {
        binding.op.each_use(&mut |var| {
            if known.insert(var) {
                free.push(var);
            }
        });
    }
    free
}

/// Appends the bindings of a tuple of variables, `(a, (b, c))`; returns the tuple and its type.
fn tuple(parts: &[Var], types: &FxHashMap<Var, Ty>, lets: &mut Vec<Let>, site: Site) -> (Atom, Ty) {
    let fresh = types.keys().map(|var| var.0 + 1).max().unwrap_or(0);
    let Some((last, others)) = parts.split_last() else { return (Atom::Unit, Ty::Unit) };
    let (mut all, mut all_ty) = (*last, types[last].clone());
    for (part, var) in others.iter().rev().zip(fresh..) {
        let ty = Ty::pair(types[part].clone(), all_ty);
        let op = Op::Pair(Atom::Var(*part), Atom::Var(all));
        (all, all_ty) = (Var(var), ty.clone());
        lets.push(Let { var: all, ty, op, site });
    }
    (Atom::Var(all), all_ty)
}
