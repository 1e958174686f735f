//! Dead-mark elimination: compactions that free nothing go, and marks that nobody reads.
//!
//! A front end does not know what will be inlined and puts a `mark` and a `compact` around every
//! loop. Where an iteration allocates nothing there is nothing to free: without them the
//! iteration is plain arithmetic, which can be vectorised.
//!
//! ```text
//! v1: mark = mark           →
//! v2: f64 = mul v0, v0      →   v2: f64 = mul v0, v0
//! compact v1                →
//! ```

use super::facts::FunctionFacts;
use super::walk;
use super::{Block, Function, Inst, Kernel, Module, Op};

/// Removes compactions that free nothing, and marks that nobody reads.
pub fn remove_dead_marks(module: &mut Module, facts: &[FunctionFacts]) {
    for Function { body, types, .. } in &mut module.functions {
        clean([body], types.len(), facts);
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        clean(stages.iter_mut().map(|stage| &mut stage.body), types.len(), facts);
    }
}

fn clean<'b>(
    blocks: impl IntoIterator<Item = &'b mut Block>,
    values: usize,
    facts: &[FunctionFacts],
) {
    let mut blocks: Vec<&mut Block> = blocks.into_iter().collect();
    let takes = blocks.iter().any(|block| takes_memory(block, facts));
    blocks.iter_mut().for_each(|block| remove_compactions(block, takes, facts));
    let mut read = vec![false; values];
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        walk::each_read(inst, &mut |v| read[v.0 as usize] = true);
    }
    blocks.iter_mut().for_each(|block| remove_marks(block, &read));
}

/// Returns true if a block takes memory: a compaction that keeps arrays may copy them.
fn takes_memory(block: &Block, facts: &[FunctionFacts]) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| {
        found |= match &inst.op {
            Op::Alloc(..) => true,
            Op::Compact { keep, .. } => !keep.is_empty(),
            Op::Call(callee, _) => facts[callee.0 as usize].allocates,
            _ => false,
        };
    });
    found
}

/// Removes the compactions of a block that free nothing; `takes` is true if the innermost loop
/// around takes memory.
fn remove_compactions(block: &mut Block, takes: bool, facts: &[FunctionFacts]) {
    let idle = |inst: &Inst| matches!(&inst.op, Op::Compact { keep, .. } if keep.is_empty());
    block.insts.retain(|inst| takes || !idle(inst));
    for inst in &mut block.insts {
        let takes = match inst.op.is_loop() {
            true => inst.op.blocks().any(|block| takes_memory(block, facts)),
            false => takes,
        };
        inst.op.blocks_mut().for_each(|block| remove_compactions(block, takes, facts));
    }
}

fn remove_marks(block: &mut Block, read: &[bool]) {
    block.insts.retain(|inst| inst.op != Op::Mark || read[inst.results[0].0 as usize]);
    for inst in &mut block.insts {
        inst.op.blocks_mut().for_each(|block| remove_marks(block, read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::facts::function_facts;
    use crate::kir::{parse, print};

    fn simplified(text: &str) -> String {
        let mut module = parse(text).unwrap();
        let facts = function_facts(&module);
        remove_dead_marks(&mut module, &facts);
        print(&module)
    }

    #[test]
    fn only_loops_that_take_memory_keep_their_marks() {
        let frees_nothing = simplified(
            "function \"f\"(v0: i64) { for v1 < v0 { v2: mark = mark v3: i64 = add v1, v1 compact v2 } }",
        );
        assert!(
            !frees_nothing.contains("mark") && frees_nothing.contains("add"),
            "{frees_nothing}"
        );
        let frees = simplified(
            "function \"f\"(v0: i64) { for v1 < v0 { v2: mark = mark v3: [i64] = alloc v1 compact v2 } }",
        );
        assert!(frees.contains("mark") && frees.contains("compact"), "{frees}");
    }
}
