//! Finds the functions that a kernel calls, and renumbers them so that its module contains no
//! others.

use super::super::sequential::{block_reads_first, join_sieves, prepared, split_maths_of_block};
use crate::base::with_stack;
use crate::flat::{Let, Op};
use crate::ir::{self, Block, FunId, FunctionBuilder, Program, Var};
use crate::simplify::renumber_calls;
use crate::thresholds::Thresholds;
use nesl_runtime::bug::OrBug;

/// Returns the functions that some values call, directly or not, and the values with the new
/// numbers of these functions.
pub(super) fn callees(program: &Program, lets: &[Let], limits: &Thresholds) -> (Program, Vec<Let>) {
    let mut order: Vec<FunId> = Vec::new();
    for binding in lets {
        each_op(binding, &mut |op| note(op, &mut order));
    }
    let (mut needed, order) = reached(program, order);
    let new_id = |id| new_id(&order, id);
    let mut last = last_variable(lets);
    let mut lets = lets.to_vec();
    for binding in &mut lets {
        if let Op::Sequential(block) = &mut binding.op {
            renumber_calls(block, &new_id);
            join_sieves(block, || FunctionBuilder::beyond(last));
            block.each_binding(&mut |var, _| last = last.max(var));
            if limits.splits_maths {
                split_maths_of_block(block, || FunctionBuilder::beyond(last));
                block.each_binding(&mut |var, _| last = last.max(var));
            }
            block_reads_first(block);
        } else if let Op::Map(op) = &binding.op {
            let lets = vec![core_binding(binding, op)];
            let mut block = Block { lets, result: ir::Atom::Unit };
            renumber_calls(&mut block, &new_id);
            binding.op = Op::Map(block.lets.remove(0).op);
        }
    }
    if !needed.functions.is_empty() {
        needed = prepared(&needed, limits);
    }
    (needed, lets)
}

/// Returns the last of the variables that some values bind or use.
fn last_variable(lets: &[Let]) -> Var {
    let mut last = Var(0);
    let mut note = |var: Var| last = last.max(var);
    for binding in lets {
        binding.each_binding(&mut note);
        binding.op.each_use(&mut note);
    }
    last
}

/// Returns a function and those that it calls, directly or not, as a program prepared for sequential code, whose main
/// function it is.
pub fn function_for_one_thread(program: &Program, id: FunId, limits: &Thresholds) -> Program {
    prepared(&reached(program, vec![id]).0, limits)
}

/// Returns some functions and those that they call, directly or not, as a program with new numbers, and their old
/// numbers in its order.
fn reached(program: &Program, mut order: Vec<FunId>) -> (Program, Vec<FunId>) {
    let mut at = 0;
    while let Some(id) = order.get(at).copied() {
        program.functions[id.0 as usize].body.for_each_op(&mut |op| note(op, &mut order));
        at += 1;
    }
    let function = |id: &FunId| {
        let mut function = program.functions[id.0 as usize].clone();
        renumber_calls(&mut function.body, &|id| new_id(&order, id));
        function
    };
    let functions = order.iter().map(function).collect();
    (Program { functions, globals: Vec::new(), main: FunId(0) }, order)
}

fn note(op: &ir::Op, order: &mut Vec<FunId>) {
    if let ir::Op::Call(callee, _) = op
        && !order.contains(callee)
    {
        order.push(*callee);
    }
}

fn new_id(order: &[FunId], id: FunId) -> FunId {
    FunId(order.iter().position(|known| *known == id).or_bug("every callee was found") as u32)
}

/// Visits the operations of the core language in a value.
fn each_op(binding: &Let, visit: &mut dyn FnMut(&ir::Op)) {
    with_stack(|| match &binding.op {
        Op::Sequential(block) => block.for_each_op(&mut |op| visit(op)),
        Op::Map(op) => {
            visit(op);
            op.blocks().for_each(|block| block.for_each_op(&mut |op| visit(op)));
        }
        _ => {}
    });
}

/// Returns, for each value that is an operation of the core language, a block with that operation.
pub(super) fn map_blocks(lets: &[Let]) -> Vec<Option<Block>> {
    let block = |binding: &Let| match &binding.op {
        Op::Map(op) => {
            let binding = core_binding(binding, op);
            Some(Block { result: ir::Atom::Var(binding.var), lets: vec![binding] })
        }
        _ => None,
    };
    lets.iter().map(block).collect()
}

/// Returns a binding of the core language for an operation that each thread executes for itself.
pub(super) fn core_binding(binding: &Let, op: &ir::Op) -> ir::Let {
    ir::Let { var: binding.var, ty: binding.ty.clone(), op: op.clone(), site: binding.site }
}
