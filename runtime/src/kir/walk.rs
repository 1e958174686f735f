//! Traversals of kir: all instructions of a block, all values they read, copies under new names.

use super::{Block, Function, Inst, Kernel, Module, Value};
use crate::stack::with_stack;

/// Returns the bodies of all functions and kernels of a module.
pub fn bodies(module: &Module) -> impl Iterator<Item = &Block> {
    let functions = module.functions.iter().map(|Function { body, .. }| body);
    functions.chain(module.kernels.iter().flat_map(stage_bodies))
}

/// Returns the bodies of the stages of a kernel.
pub fn stage_bodies(kernel: &Kernel) -> impl Iterator<Item = &Block> {
    kernel.stages.iter().map(|stage| &stage.body)
}

/// Returns the depth to which blocks nest in a block; 0 if it has no nested block.
pub fn depth(block: &Block) -> usize {
    with_stack(|| {
        let inner = block.insts.iter().flat_map(|inst| inst.op.blocks());
        inner.map(|block| depth(block) + 1).max().unwrap_or(0)
    })
}

/// Calls `visit` with every instruction of a block and its nested blocks, outer ones first.
pub fn each_inst<'k>(block: &'k Block, visit: &mut dyn FnMut(&'k Inst)) {
    for inst in &block.insts {
        visit(inst);
        for block in inst.op.blocks() {
            each_inst(block, visit);
        }
    }
}

/// Returns the number of instructions of a block and its nested blocks.
pub fn count_insts(block: &Block) -> usize {
    let mut count = 0;
    each_inst(block, &mut |_| count += 1);
    count
}

/// Calls `visit` with every value read by an instruction or in its nested blocks.
pub fn each_read(inst: &Inst, visit: &mut dyn FnMut(Value)) {
    inst.op.each_operand(&mut *visit);
    for block in inst.op.blocks() {
        block.insts.iter().for_each(|inst| each_read(inst, visit));
        block.yields.iter().for_each(|v| visit(*v));
    }
}

/// Returns a copy of a block in which every value, defined or read, has another name.
pub fn rename(block: &Block, to: &mut dyn FnMut(Value) -> Value) -> Block {
    let mut copy = block.clone();
    rename_in_place(&mut copy, to);
    copy
}

/// Renames every value of an instruction, defined or read, and those of its nested blocks.
pub fn rename_inst(inst: &mut Inst, to: &mut dyn FnMut(Value) -> Value) {
    for result in &mut inst.results {
        *result = to(*result);
    }
    inst.op.map_operands(&mut *to);
    inst.op.map_bindings(&mut *to);
    for block in inst.op.blocks_mut() {
        rename_in_place(block, to);
    }
}

/// Renames every value of a block, defined or read.
pub fn rename_in_place(block: &mut Block, to: &mut dyn FnMut(Value) -> Value) {
    for inst in &mut block.insts {
        rename_inst(inst, to);
    }
    for value in &mut block.yields {
        *value = to(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print};

    const NESTED: &str = "\
function \"f\"(v0: i64, v1: [i64]) -> i64 {
  v2: i64 = for v3 < v0 reduce add {
    v4: i64 = load v1[v3]
    yield v4
  }
  yield v2
}
";

    #[test]
    fn every_instruction_and_every_read_is_visited() {
        let module = parse(NESTED).unwrap();
        let body = &module.functions[0].body;
        assert_eq!((depth(body), count_insts(body)), (1, 2));
        let mut read = Vec::new();
        each_read(&body.insts[0], &mut |v| read.push(v.0));
        assert_eq!(read, [0, 1, 3, 4]);
    }

    #[test]
    fn a_copy_has_no_name_of_the_original() {
        let mut module = parse(NESTED).unwrap();
        let function = &mut module.functions[0];
        function.types = [&function.types[..], &function.types[..]].concat();
        let half = function.types.len() as u32 / 2;
        function.body = rename(&function.body, &mut |v| Value(v.0 + half));
        let text = print(&module);
        assert!(text.contains("v7: i64 = for v8 < v5 reduce add {"), "{text}");
        assert!(text.contains("v9: i64 = load v6[v8]"), "{text}");
    }
}
