//! What is known of the functions of a module: who calls itself, who allocates, how much work
//! there is.

use super::walk;
use nesl_runtime::kir::{Block, FunctionId, Literal, Module, Op, Sink, Value};

/// About how many operations a loop of unknown length is taken to do per instruction.
const LOOP: u64 = 16;

/// The work of a function that calls itself: enough for a task of its own.
const RECURSION: u64 = 20_000;

/// Facts of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// It may call itself, or what does.
    pub recursive: bool,
    /// It is part of a cycle of calls.
    pub cyclic: bool,
    /// It may allocate.
    pub allocates: bool,
    /// It may take any time: it has loops that are not known to be short, or recurses.
    pub lasts: bool,
    /// Its instructions, blocks included.
    pub size: usize,
    /// A guess at the operations of a call.
    pub work: u64,
}

/// The facts of every function.
pub fn facts(module: &Module) -> Vec<Facts> {
    let count = module.functions.len();
    let mut reaches = vec![vec![false; count]; count];
    let mut all = vec![Facts::default(); count];
    for (at, function) in module.functions.iter().enumerate() {
        walk::insts(&function.body, &mut |inst| {
            all[at].size += 1;
            match &inst.op {
                Op::Call(callee, _) => reaches[at][callee.0 as usize] = true,
                Op::Alloc(..) | Op::Compact { .. } => all[at].allocates = true,
                _ => {}
            }
        });
        all[at].lasts = has_loops(&function.body);
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
        all[at].cyclic = reaches[at][at];
    }
    for at in 0..count {
        let mut reached = (0..count).filter(|to| reaches[at][*to]);
        all[at].recursive = all[at].cyclic || reached.clone().any(|to| all[to].cyclic);
        all[at].allocates |= reached.clone().any(|to| all[to].allocates);
        all[at].lasts |= all[at].recursive || reached.any(|to| all[to].lasts);
    }
    // Callees first: whoever is not cyclic has work that is known after as many rounds as the
    // chain of calls is long.
    for _ in 0..count {
        let before = all.clone();
        for (at, function) in module.functions.iter().enumerate() {
            all[at].work = if all[at].cyclic { RECURSION } else { work(&function.body, &before) };
        }
        if all == before {
            break;
        }
    }
    all
}

/// Whether a block has loops that are not known to be short.
pub fn has_loops(block: &Block) -> bool {
    let mut short: Vec<Value> = Vec::new();
    let mut found = false;
    walk::insts(block, &mut |inst| match &inst.op {
        Op::Const(Literal::I64(x)) if *x <= LOOP as i64 => short.extend(&inst.results),
        Op::For { count, .. } => found |= !short.contains(count),
        Op::While { .. } => found = true,
        _ => {}
    });
    found
}

/// A guess at the operations of a sink, but for the few that any takes.
pub fn work_of_sink(sink: &Sink) -> u64 {
    match sink {
        Sink::Histogram { length: Some(_), .. } => LOOP,
        Sink::Reduce { .. }
        | Sink::Scan { .. }
        | Sink::Pack { .. }
        | Sink::Scatter { .. }
        | Sink::Histogram { length: None, .. }
        | Sink::Emit { .. } => 0,
    }
}

/// A guess at the operations of a block.
pub fn work(block: &Block, facts: &[Facts]) -> u64 {
    let mut sum = 0u64;
    for inst in &block.insts {
        let inner: u64 = walk::blocks(&inst.op)
            .into_iter()
            .flatten()
            .map(|block| work(block, facts))
            .fold(0, u64::saturating_add);
        sum = sum.saturating_add(match &inst.op {
            Op::For { .. } | Op::While { .. } => inner.saturating_add(1).saturating_mul(LOOP),
            Op::If { .. } => inner + 1,
            Op::Call(FunctionId(callee), _) => facts[*callee as usize].work.saturating_add(5),
            Op::Extern(..) => 200,
            Op::Alloc(..) | Op::Copy { .. } | Op::Compact { .. } => 10,
            Op::Const(_) | Op::Text(_) => 0,
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Slice(..)
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark => 1,
        });
    }
    sum.min(u64::MAX / 1024)
}
