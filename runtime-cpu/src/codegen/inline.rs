//! Calls of small functions become their bodies.
//!
//! kir functions end only at their end, so that a call is replaced by the renamed body and its
//! results by what that yields. Vectorised code has no calls: what is to be vectorised has to be
//! small enough to end up here.

use super::facts::{self, Facts};
use super::walk;
use nesl_runtime::kir::{Block, Inst, Module, Op, Value, ValueTy};
use rustc_hash::FxHashMap;

/// Callees of at most this many instructions are copied.
const SMALL: usize = 150;

/// Code that has grown to this many instructions takes no more copies.
const LARGE: usize = 3000;

/// The module with small functions inlined, in functions and kernels, and tidied; and its facts.
pub fn inline(module: &Module) -> (Module, Vec<Facts>) {
    let facts = facts::facts(module);
    let mut out = module.clone();
    let small = |at: usize| !facts[at].cyclic && facts[at].size <= SMALL;
    if (0..module.functions.len()).any(small) {
        for function in &mut out.functions {
            let mut copier = Copier { module, small: &small, types: &mut function.types, size: 0 };
            function.body = copier.block(&function.body, &mut FxHashMap::default());
        }
        for kernel in &mut out.kernels {
            let mut copier = Copier { module, small: &small, types: &mut kernel.types, size: 0 };
            // What a stage defines is seen by the next, under the name it has got.
            let mut names = FxHashMap::default();
            for stage in &mut kernel.stages {
                stage.body = copier.block(&stage.body, &mut names);
                let mut sinks = std::mem::take(&mut stage.sinks);
                for sink in &mut sinks {
                    super::sinks::for_each_value(sink, &mut |v| *v = resolve(&names, *v));
                }
                stage.sinks = sinks;
            }
        }
    }
    let facts = facts::facts(&out);
    super::tidy::tidy(&mut out, &facts);
    let facts = facts::facts(&out);
    (out, facts)
}

struct Copier<'a> {
    module: &'a Module,
    small: &'a dyn Fn(usize) -> bool,
    types: &'a mut Vec<ValueTy>,
    size: usize,
}

type Names = FxHashMap<Value, Value>;

fn resolve(names: &Names, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}

impl Copier<'_> {
    fn block(&mut self, block: &Block, names: &mut Names) -> Block {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in &block.insts {
            self.inst(inst, names, &mut insts);
        }
        Block { insts, yields: block.yields.iter().map(|v| resolve(names, *v)).collect() }
    }

    fn inst(&mut self, inst: &Inst, names: &mut Names, out: &mut Vec<Inst>) {
        self.size += 1;
        if let Op::Call(callee, args) = &inst.op
            && (self.small)(callee.0 as usize)
            && self.size < LARGE
        {
            let function = &self.module.functions[callee.0 as usize];
            let mut inner: Names = FxHashMap::default();
            for (param, arg) in function.params.iter().zip(args) {
                inner.insert(*param, resolve(names, *arg));
            }
            let types = &mut *self.types;
            let body = walk::rename(&function.body, &mut |v| {
                *inner.entry(v).or_insert_with(|| {
                    types.push(function.types[v.0 as usize]);
                    Value(types.len() as u32 - 1)
                })
            });
            // The copy may call small functions itself.
            let mut own = Names::default();
            for inst in &body.insts {
                self.inst(inst, &mut own, out);
            }
            for (result, value) in inst.results.iter().zip(&body.yields) {
                names.insert(*result, resolve(&own, *value));
            }
            return;
        }
        let mut op = inst.op.clone();
        match &mut op {
            Op::If { then, otherwise, .. } => {
                *then = self.block(then, names);
                *otherwise = self.block(otherwise, names);
            }
            Op::While { cond, body, .. } => {
                *cond = self.block(cond, names);
                *body = self.block(body, names);
            }
            Op::For { body, .. } => *body = self.block(body, names),
            _ => {}
        }
        if names.is_empty() {
            out.push(Inst { results: inst.results.clone(), op });
            return;
        }
        let single =
            Block { insts: vec![Inst { results: inst.results.clone(), op }], yields: Vec::new() };
        out.extend(walk::rename(&single, &mut |v| resolve(names, v)).insts);
    }
}
