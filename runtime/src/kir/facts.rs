//! Facts about the functions of a module: recursion, allocation, termination and estimated work.
//!
//! A backend asks these before it maps a kernel to the machine: recursive functions need a stack,
//! allocation needs an arena, and the work decides how many threads are worth waking up.

use super::walk;
use super::{Block, Class, FunctionId, Kernel, Literal, Module, Op, Sink, Value};

/// The number of iterations assumed of a loop whose length is not known.
pub const ASSUMED_ITERATIONS: u64 = 16;

/// The work assumed of a call of a function in a cycle of calls, in operations: enough for a
/// thread of its own.
const RECURSIVE_CALL_OPERATIONS: u64 = 20_000;

/// Facts about one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionFacts {
    /// True if it may call a function that may call itself.
    pub recursive: bool,
    /// True if it may call itself, directly or through others.
    pub in_cycle: bool,
    /// True if it took a copy of its own body for its calls of itself, so that each one that is left is two levels deeper.
    pub holds_itself: bool,
    /// True if it may allocate.
    pub allocates: bool,
    /// True if its running time has no small bound: it has loops that are not known to be short,
    /// or recurses.
    pub unbounded: bool,
    /// The number of its instructions, nested blocks included.
    pub instructions: usize,
    /// The estimated work of a call, in operations.
    pub work: u64,
}

/// Returns the facts about every function, by index.
pub fn function_facts(module: &Module) -> Vec<FunctionFacts> {
    let count = module.functions.len();
    let mut reaches = vec![vec![false; count]; count];
    let mut all = vec![FunctionFacts::default(); count];
    for (at, function) in module.functions.iter().enumerate() {
        walk::each_inst(&function.body, &mut |inst| {
            all[at].instructions += 1;
            match &inst.op {
                Op::Call(callee, _) | Op::Compute(callee, _) => {
                    reaches[at][callee.0 as usize] = true
                }
                Op::Alloc(..) => all[at].allocates = true,
                Op::Compact { keep, .. } => all[at].allocates |= !keep.is_empty(),
                _ => {}
            }
        });
        all[at].unbounded = has_unbounded_loops(&function.body);
    }
    // Transitive closure; modules are small.
    for via in 0..count {
        let from_via = reaches[via].clone();
        for row in &mut reaches {
            if row[via] {
                row.iter_mut().zip(&from_via).for_each(|(a, b)| *a |= *b);
            }
        }
    }
    for at in 0..count {
        all[at].in_cycle = reaches[at][at];
    }
    for at in 0..count {
        let mut reached = (0..count).filter(|to| reaches[at][*to]);
        all[at].recursive = all[at].in_cycle || reached.clone().any(|to| all[to].in_cycle);
        all[at].allocates |= reached.clone().any(|to| all[to].allocates);
        all[at].unbounded |= all[at].recursive || reached.any(|to| all[to].unbounded);
    }
    // The work of a function in no cycle is exact after as many rounds as its chain of calls is
    // long.
    for _ in 0..count {
        let before = all.clone();
        for (at, function) in module.functions.iter().enumerate() {
            all[at].work = match all[at].in_cycle {
                true => RECURSIVE_CALL_OPERATIONS,
                false => work(&function.body, &before),
            };
        }
        if all == before {
            break;
        }
    }
    all
}

/// Facts about one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// The estimated work of a work item, in operations.
    pub work: u64,
    /// True if it may call a function that may call itself.
    pub recursive: bool,
    /// True if the running time of a work item has no small bound, whatever `work` says.
    pub unbounded: bool,
    /// True if a work item may take memory of its thread.
    pub allocates: bool,
}

/// Returns the facts about a kernel; `functions` are those about the functions of its module.
pub fn kernel_facts(kernel: &Kernel, functions: &[FunctionFacts]) -> KernelFacts {
    let mut facts = KernelFacts::default();
    for body in walk::stage_bodies(kernel) {
        facts.work = facts.work.saturating_add(work(body, functions) + 1);
        facts.unbounded |= has_unbounded_loops(body);
        facts.allocates |= allocates(body, functions);
        walk::each_inst(body, &mut |inst| {
            if let Op::Call(callee, _) = inst.op {
                facts.recursive |= functions[callee.0 as usize].recursive;
                facts.unbounded |= functions[callee.0 as usize].unbounded;
            }
        });
    }
    for sink in kernel.stages.iter().flat_map(|stage| &stage.sinks) {
        facts.work = facts.work.saturating_add(sink_work(sink));
        facts.allocates |= matches!(sink, Sink::Emit { .. });
    }
    facts
}

/// Returns true if a block has loops that are not known to be short.
pub fn has_unbounded_loops(block: &Block) -> bool {
    let mut short: Vec<Value> = Vec::new();
    let mut found = false;
    walk::each_inst(block, &mut |inst| match &inst.op {
        Op::Const(Literal::I64(x)) if *x <= ASSUMED_ITERATIONS as i64 => {
            short.extend(&inst.results);
        }
        Op::For { count, .. } => found |= !short.contains(count),
        Op::While { .. } => found = true,
        _ => {}
    });
    found
}

/// Returns the side of a branch that vectorised code executes, if the other calls a function that computes: it is
/// long, and most elements do not need it.
pub fn common_side<'b>(then: &'b Block, otherwise: &'b Block) -> Option<&'b Block> {
    let calls = |side: &Block| side.insts.iter().any(|inst| matches!(inst.op, Op::Compute(..)));
    match (calls(then), calls(otherwise)) {
        (true, false) => Some(otherwise),
        (false, true) => Some(then),
        _ => None,
    }
}

/// Returns true if a block or a nested one has operations at which vectorised code may be left.
pub fn has_traps(block: &Block) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| {
        found |= inst.op.class() == Class::Trap || matches!(inst.op, Op::Compute(..));
    });
    found
}

/// Returns true if a block takes memory of the thread; `facts` are those of all functions.
pub fn allocates(block: &Block, facts: &[FunctionFacts]) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| match &inst.op {
        Op::Alloc(..) => found = true,
        Op::Compact { keep, .. } => found |= !keep.is_empty(),
        Op::Call(callee, _) => found |= facts[callee.0 as usize].allocates,
        _ => {}
    });
    found
}

/// Estimates the work of a sink for one work item, in operations beyond the few of any sink.
pub fn sink_work(sink: &Sink) -> u64 {
    match sink {
        Sink::Histogram { length: Some(_), .. } => ASSUMED_ITERATIONS,
        Sink::Reduce { .. }
        | Sink::Scan { .. }
        | Sink::Pack { .. }
        | Sink::Scatter { .. }
        | Sink::Histogram { length: None, .. }
        | Sink::Emit { .. } => 0,
    }
}

/// Estimates the work of a block, in operations.
pub fn work(block: &Block, facts: &[FunctionFacts]) -> u64 {
    let mut sum = 0u64;
    for inst in &block.insts {
        let inner = inst.op.blocks().map(|block| work(block, facts)).fold(0, u64::saturating_add);
        let once = inner.saturating_add(inst.op.cost());
        sum = sum.saturating_add(match &inst.op {
            Op::For { .. } | Op::While { .. } => once.saturating_mul(ASSUMED_ITERATIONS),
            Op::Call(FunctionId(callee), _) | Op::Compute(FunctionId(callee), _) => {
                once.saturating_add(facts[*callee as usize].work)
            }
            _ => once,
        });
    }
    // Sums of several blocks must not overflow.
    sum.min(u64::MAX / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    #[test]
    fn facts_follow_calls() {
        let text = "\
function \"leaf\"(v0: i64) -> i64 { v1: i64 = add v0, v0 yield v1 }
function \"allocates\"(v0: i64) { v1: [i64] = alloc v0 }
function \"calls\"(v0: i64) { call \"allocates\"(v0) }
function \"recurses\"(v0: i64) { call \"recurses\"(v0) }
function \"uses\"(v0: i64) { call \"recurses\"(v0) }
function \"loops\"(v0: i64) -> i64 { v1: i64 = for v2 < v0 reduce add { yield v2 } yield v1 }
";
        let module = parse(text).unwrap();
        let [leaf, allocates, calls, recurses, uses, loops] = function_facts(&module)[..] else {
            panic!("six functions")
        };
        assert_eq!((leaf.work, leaf.unbounded, leaf.allocates), (1, false, false));
        assert!(allocates.allocates && calls.allocates && !leaf.allocates);
        assert_eq!((calls.work, calls.recursive), (15, false));
        assert!(recurses.in_cycle && recurses.recursive && recurses.unbounded);
        assert!(!uses.in_cycle && uses.recursive && uses.unbounded);
        assert_eq!((loops.work, loops.unbounded), (16, true));
    }
}
