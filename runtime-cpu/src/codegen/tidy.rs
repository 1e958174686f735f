//! Marks and compactions of loops that leave nothing behind.
//!
//! A front end does not know what will be inlined and puts them around every loop. Where a turn
//! allocates nothing there is nothing to free: without them the turn is plain arithmetic, which
//! can be vectorised.

use super::facts::Facts;
use super::walk;
use nesl_runtime::kir::{Block, Function, Inst, Kernel, Module, Op};

/// Drops what frees nothing, and marks that nobody reads.
pub fn tidy(module: &mut Module, facts: &[Facts]) {
    for Function { body, types, .. } in &mut module.functions {
        clean([body], types.len(), facts);
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        clean(stages.iter_mut().map(|stage| &mut stage.body), types.len(), facts);
    }
}

fn clean<'b>(blocks: impl IntoIterator<Item = &'b mut Block>, values: usize, facts: &[Facts]) {
    let mut blocks: Vec<&mut Block> = blocks.into_iter().collect();
    let some = blocks.iter().any(|block| allocates(block, facts));
    blocks.iter_mut().for_each(|block| compactions(block, some, facts));
    let mut read = vec![false; values];
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        walk::reads(inst, &mut |v| read[v.0 as usize] = true);
    }
    blocks.iter_mut().for_each(|block| marks(block, &read));
}

/// Whether memory is taken in a block.
fn allocates(block: &Block, facts: &[Facts]) -> bool {
    let mut found = false;
    walk::insts(block, &mut |inst| {
        found |= match &inst.op {
            Op::Alloc(..) => true,
            Op::Compact { keep, .. } => !keep.is_empty(),
            Op::Call(callee, _) => facts[callee.0 as usize].allocates,
            _ => false,
        };
    });
    found
}

/// `some`: whether the loop around takes memory.
fn compactions(block: &mut Block, some: bool, facts: &[Facts]) {
    let idle = |inst: &Inst| matches!(&inst.op, Op::Compact { keep, .. } if keep.is_empty());
    block.insts.retain(|inst| some || !idle(inst));
    for inst in &mut block.insts {
        match &mut inst.op {
            Op::If { then, otherwise, .. } => {
                compactions(then, some, facts);
                compactions(otherwise, some, facts);
            }
            Op::While { cond, body, .. } => {
                let some = allocates(cond, facts) || allocates(body, facts);
                compactions(cond, some, facts);
                compactions(body, some, facts);
            }
            Op::For { body, .. } => compactions(body, allocates(body, facts), facts),
            _ => {}
        }
    }
}

fn marks(block: &mut Block, read: &[bool]) {
    block.insts.retain(|inst| inst.op != Op::Mark || read[inst.results[0].0 as usize]);
    for inst in &mut block.insts {
        match &mut inst.op {
            Op::If { then: a, otherwise: b, .. } | Op::While { cond: a, body: b, .. } => {
                marks(a, read);
                marks(b, read);
            }
            Op::For { body, .. } => marks(body, read),
            _ => {}
        }
    }
}
