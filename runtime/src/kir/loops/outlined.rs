//! Loops that become functions of their own: registers are allocated for the code around them alone.

use super::NewFunctions;
use super::rotate::defined;
use crate::kir::{Block, Function, Inst, Op, Value, ValueTy, walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns a call of a new function that executes a loop.
pub(super) fn outlined(
    mut looped: Inst,
    name: &str,
    types_around: &[ValueTy],
    functions: &mut NewFunctions,
) -> Op {
    let ty_of = |value: Value| types_around[value.0 as usize];
    let defined: FxHashSet<Value> = defined(&looped).into_iter().collect();
    let mut args = Vec::new();
    let mut seen = FxHashSet::default();
    let (mut types, mut names) = (Vec::new(), FxHashMap::default());
    walk::each_read(&looped, &mut |v| {
        if !defined.contains(&v) && ty_of(v) != ValueTy::Mark && seen.insert(v) {
            args.push(v);
        }
    });
    let mut fresh = |ty: ValueTy| {
        types.push(ty);
        Value(types.len() as u32 - 1)
    };
    let params = args.iter().map(|arg| {
        let param = fresh(ty_of(*arg));
        names.insert(*arg, param);
        param
    });
    let params: Vec<Value> = params.collect();
    // What the loop allocates is freed to a mark of its own.
    let mark = fresh(ValueTy::Mark);
    walk::rename_inst(&mut looped, &mut |v| match ty_of(v) {
        ValueTy::Mark if !defined.contains(&v) => mark,
        ty => *names.entry(v).or_insert_with(|| fresh(ty)),
    });
    let yields = looped.results.clone();
    let results = yields.iter().map(|v| types[v.0 as usize]).collect();
    let mark = Inst { results: vec![mark], op: Op::Mark };
    let body = Block { insts: vec![mark, looped], yields };
    let id = functions.next_id();
    let name = format!("{name} {}", id.0);
    functions.added.push(Function { name, params, results, body, types });
    Op::Call(id, args)
}
