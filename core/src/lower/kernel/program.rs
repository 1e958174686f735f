//! The functions that a kernel calls, and no others.

use crate::base::with_stack;
use crate::flat::{Let, Op};
use crate::ir::{self, Block, FunId, Program};
use crate::simplify::{renumber_calls, unroll};

/// The functions of a program that some values need, numbered anew, and the values with these
/// numbers.
pub(super) fn needed(program: &Program, lets: &[Let]) -> (Program, Vec<Let>) {
    let mut order: Vec<FunId> = Vec::new();
    let note = |op: &ir::Op, order: &mut Vec<FunId>| {
        if let ir::Op::Call(callee, _) = op
            && !order.contains(callee)
        {
            order.push(*callee);
        }
    };
    for binding in lets {
        each_op(binding, &mut |op| note(op, &mut order));
    }
    let mut at = 0;
    while let Some(id) = order.get(at).copied() {
        program.functions[id.0 as usize].body.for_each_op(&mut |op| note(op, &mut order));
        at += 1;
    }
    let place = |id: FunId| {
        FunId(order.iter().position(|known| *known == id).expect("it was found") as u32)
    };
    let mut functions: Vec<ir::Function> =
        order.iter().map(|id| program.functions[id.0 as usize].clone()).collect();
    functions.iter_mut().for_each(|function| renumber_calls(&mut function.body, &place));
    let mut lets = lets.to_vec();
    for binding in &mut lets {
        match &mut binding.op {
            Op::Sequential(block) => renumber_calls(block, &place),
            Op::Map(op) => {
                let point = ir::Let {
                    var: binding.var,
                    ty: binding.ty.clone(),
                    op: op.clone(),
                    site: binding.site,
                };
                let mut block = Block { lets: vec![point], result: ir::Atom::Unit };
                renumber_calls(&mut block, &place);
                *op = block.lets.remove(0).op;
            }
            _ => {}
        }
    }
    let needed = Program { functions, globals: Vec::new(), main: FunId(0) };
    let needed = if needed.functions.is_empty() { needed } else { unroll(&needed) };
    (needed, lets)
}

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

/// The values that each point computes by itself, as bindings of the core language.
pub(super) fn points(lets: &[Let]) -> Vec<Option<ir::Let>> {
    let point = |binding: &Let| match &binding.op {
        Op::Map(op) => Some(ir::Let {
            var: binding.var,
            ty: binding.ty.clone(),
            op: op.clone(),
            site: binding.site,
        }),
        _ => None,
    };
    lets.iter().map(point).collect()
}
