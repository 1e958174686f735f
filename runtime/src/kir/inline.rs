//! Inlining: calls of small functions become their bodies.
//!
//! kir functions return only at their end, so that a call is replaced by the renamed body and its
//! results by the values that the body yields. Vectorised code has no calls: a function that is
//! to be vectorised has to be small enough to be inlined ([`Limits::SMALL_CALLEES`]). Device code has no
//! calls either: everything that does not call itself is inlined ([`Limits::ALL_CALLEES`]).
//!
//! A small function that calls itself takes a copy of its own body for each of those calls, so that about half as many
//! calls are executed.

use super::facts::{FunctionFacts, function_facts};
use super::simplify::remove_dead_marks;
use super::walk;
use super::{Block, Inst, Module, Op, Value, ValueTy};
use rustc_hash::FxHashMap;

/// The limits on inlining, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Callees of at most this many instructions are inlined.
    pub callee_instructions: usize,
    /// Code that has grown to this many instructions takes no more callees.
    pub caller_instructions: usize,
    /// Functions that call themselves take their own body for these calls, if at most this many instructions come of it.
    pub recursive_instructions: usize,
}

impl Limits {
    /// For code that may call: small callees.
    pub const SMALL_CALLEES: Limits =
        Limits { callee_instructions: 150, caller_instructions: 3000, recursive_instructions: 250 };
    /// For code that cannot call: every callee, until the code is too long to be compiled in a
    /// second.
    pub const ALL_CALLEES: Limits = Limits {
        callee_instructions: usize::MAX,
        caller_instructions: 20_000,
        recursive_instructions: 0,
    };
}

/// Returns the module with callees inlined that are within the limits, in functions and kernels, and dead marks removed; and
/// the facts about its functions.
pub fn inline(module: &Module, limits: Limits) -> (Module, Vec<FunctionFacts>) {
    let facts = function_facts(module);
    let mut out = module.clone();
    let small =
        |at: usize| !facts[at].in_cycle && facts[at].instructions <= limits.callee_instructions;
    let unrolled: Vec<bool> = (0..module.functions.len())
        .map(|at| {
            let copies = 1 + calls_of_itself(module, at);
            copies > 1 && facts[at].instructions * copies <= limits.recursive_instructions
        })
        .collect();
    if (0..module.functions.len()).any(|at| small(at) || unrolled[at]) {
        for (at, function) in out.functions.iter_mut().enumerate() {
            let own = unrolled[at].then_some(at);
            let types = &mut function.types;
            let mut inliner =
                Inliner { module, small: &small, own, types, limits, instructions: 0 };
            function.body = inliner.block(&function.body, &mut FxHashMap::default());
        }
        for kernel in &mut out.kernels {
            let types = &mut kernel.types;
            let mut inliner =
                Inliner { module, small: &small, own: None, types, limits, instructions: 0 };
            // A later stage sees the values of a stage under their new names.
            let mut names = FxHashMap::default();
            for stage in &mut kernel.stages {
                stage.body = inliner.block(&stage.body, &mut names);
                for sink in &mut stage.sinks {
                    sink.map_values(|v| resolve(&names, v));
                }
            }
        }
    }
    let facts = function_facts(&out);
    remove_dead_marks(&mut out, &facts);
    let mut facts = function_facts(&out);
    for (facts, unrolled) in facts.iter_mut().zip(unrolled) {
        facts.holds_itself = unrolled;
    }
    (out, facts)
}

/// Returns the number of places where a function calls itself.
fn calls_of_itself(module: &Module, at: usize) -> usize {
    let mut calls = 0;
    walk::each_inst(&module.functions[at].body, &mut |inst| {
        if let Op::Call(callee, _) | Op::Compute(callee, _) = &inst.op {
            calls += usize::from(callee.0 as usize == at);
        }
    });
    calls
}

struct Inliner<'a> {
    module: &'a Module,
    small: &'a dyn Fn(usize) -> bool,
    /// The function at hand, if it takes copies of its own body; none within such a copy.
    own: Option<usize>,
    types: &'a mut Vec<ValueTy>,
    limits: Limits,
    instructions: usize,
}

/// New names of values; a value that is not in it keeps its own.
type Names = FxHashMap<Value, Value>;

fn resolve(names: &Names, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}

impl Inliner<'_> {
    fn block(&mut self, block: &Block, names: &mut Names) -> Block {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in &block.insts {
            self.inst(inst, names, &mut insts);
        }
        Block { insts, yields: block.yields.iter().map(|v| resolve(names, *v)).collect() }
    }

    fn inst(&mut self, inst: &Inst, names: &mut Names, out: &mut Vec<Inst>) {
        self.instructions += 1;
        if let Op::Call(callee, args) | Op::Compute(callee, args) = &inst.op
            && (self.own == Some(callee.0 as usize) || (self.small)(callee.0 as usize))
            && self.instructions < self.limits.caller_instructions
        {
            let function = &self.module.functions[callee.0 as usize];
            let mut inner = Names::default();
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
            let mut inside = Names::default();
            let own = self.own.take();
            for inst in &body.insts {
                self.inst(inst, &mut inside, out);
            }
            self.own = own;
            for (result, value) in inst.results.iter().zip(&body.yields) {
                names.insert(*result, resolve(&inside, *value));
            }
            return;
        }
        let mut inst = inst.clone();
        for block in inst.op.blocks_mut() {
            *block = self.block(block, names);
        }
        if !names.is_empty() {
            walk::rename_inst(&mut inst, &mut |v| resolve(names, v));
        }
        out.push(inst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, verify};

    fn calls(module: &Module) -> usize {
        let mut count = 0;
        for block in walk::bodies(module) {
            walk::each_inst(block, &mut |i| count += usize::from(matches!(i.op, Op::Call(..))));
        }
        count
    }

    #[test]
    fn small_functions_are_inlined_and_recursive_ones_are_not() {
        let text = "\
function \"twice\"(v0: i64) -> i64 { v1: i64 = add v0, v0 yield v1 }
function \"four\"(v0: i64) -> i64 { v1: i64 = call \"twice\"(v0) v2: i64 = call \"twice\"(v1) yield v2 }
function \"recurses\"(v0: i64) { call \"recurses\"(v0) }
kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = call \"four\"(v2)
  call \"recurses\"(v3)
  store v1[v2] = v3
}
";
        let (module, facts) = inline(&parse(text).unwrap(), Limits::SMALL_CALLEES);
        assert_eq!(verify(&module), Ok(()));
        assert_eq!(calls(&module), 2, "the two calls of the recursive function");
        assert_eq!(facts.iter().filter(|f| f.in_cycle).count(), 1);
    }

    #[test]
    fn small_recursive_functions_take_a_copy_of_themselves() {
        let text = "\
function \"fib\"(v0: i64) -> i64 {
  v1: mark = mark
  v2: i64 = const 2
  v3: bool = lt v0, v2
  v9: i64 = if v3 { yield v0 } else {
    v4: i64 = sub v0, v2
    v5: i64 = call \"fib\"(v4)
    v6: i64 = sub v0, v2
    v7: i64 = call \"fib\"(v6)
    v8: i64 = add v5, v7
    yield v8
  }
  compact v1
  yield v9
}
";
        let (module, facts) = inline(&parse(text).unwrap(), Limits::SMALL_CALLEES);
        assert_eq!(verify(&module), Ok(()));
        assert_eq!(calls(&module), 4, "each of its two calls became two");
        assert!(!facts[0].allocates);
        let mut marks = 0;
        walk::each_inst(&module.functions[0].body, &mut |i| marks += usize::from(i.op == Op::Mark));
        assert_eq!(marks, 0, "nothing is allocated");
        let (module, _) = inline(&parse(text).unwrap(), Limits::ALL_CALLEES);
        assert_eq!(calls(&module), 2);
    }
}
