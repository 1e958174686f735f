//! Lists that only one side of a conditional needs are made there.

use crate::base::with_stack;
use crate::ir::{Block, Function, Let, Op, Var};

/// Moves the lists of a function into the sides of conditionals that alone use them.
pub(super) fn into_sides(function: &mut Function) {
    sink(&mut function.body);
}

fn sink(block: &mut Block) {
    with_stack(|| {
        for at in (0..block.lets.len()).rev() {
            let (before, after) = block.lets.split_at_mut(at + 1);
            let list = &mut before[at];
            if matches!(list.op, Op::List(_))
                && block.result.variable() != Some(list.var)
                && let Some(side) = only_side(list.var, after)
            {
                let op = std::mem::replace(&mut list.op, Op::Copy(crate::ir::Atom::Unit));
                side.lets.insert(0, Let { op, ..list.clone() });
            }
        }
        block.lets.retain(|binding| binding.op != Op::Copy(crate::ir::Atom::Unit));
        for binding in &mut block.lets {
            binding.op.blocks_mut().for_each(sink);
        }
    });
}

/// Returns the side of a conditional that has all uses of a variable, if there is one.
fn only_side(var: Var, lets: &mut [Let]) -> Option<&mut Block> {
    let mut users = lets.iter_mut().filter(|binding| uses(binding, var));
    let user = users.next()?;
    if users.next().is_some() || user.op.operands().iter().any(|a| a.variable() == Some(var)) {
        return None;
    }
    let Op::If { then, otherwise, .. } = &mut user.op else { return None };
    match [uses_in(then, var), uses_in(otherwise, var)] {
        [true, false] => Some(then),
        [false, true] => Some(otherwise),
        _ => None,
    }
}

fn uses(binding: &Let, var: Var) -> bool {
    let mut found = false;
    binding.op.each_operand(|atom| found |= atom.variable() == Some(var));
    found || binding.op.blocks().any(|block| uses_in(block, var))
}

fn uses_in(block: &Block, var: Var) -> bool {
    with_stack(|| {
        block.result.variable() == Some(var) || block.lets.iter().any(|inner| uses(inner, var))
    })
}
