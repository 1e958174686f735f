//! Finds the parts of a program that have effects: printing, reading the clock or a file.

use super::{Block, FunId, Op, Program};
use crate::base::with_stack;

/// The functions of a program that have effects.
#[derive(Clone, Debug)]
pub struct Effects {
    /// For each function of the program, true if it has effects.
    functions: Vec<bool>,
}

impl Effects {
    /// Finds the functions that have effects, themselves or through those they call.
    pub fn of(program: &Program) -> Effects {
        let count = program.functions.len();
        let mut effects = Effects { functions: vec![false; count] };
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut found = Vec::new();
        for (caller, function) in program.functions.iter().enumerate() {
            function.body.for_each_op(&mut |op| match op {
                Op::Host(..) | Op::Time(_) => effects.functions[caller] = true,
                Op::Call(callee, _) => callers[callee.0 as usize].push(caller),
                _ => {}
            });
            if effects.functions[caller] {
                found.push(caller);
            }
        }
        while let Some(callee) = found.pop() {
            for caller in std::mem::take(&mut callers[callee]) {
                if !std::mem::replace(&mut effects.functions[caller], true) {
                    found.push(caller);
                }
            }
        }
        effects
    }

    /// Returns true if a function has effects.
    pub fn in_function(&self, id: FunId) -> bool {
        self.functions[id.0 as usize]
    }

    /// Returns true if an operation has effects, itself, in its blocks, or through its callee.
    pub fn in_op(&self, op: &Op) -> bool {
        match op {
            Op::Host(..) | Op::Time(_) => true,
            Op::Call(callee, _) => self.in_function(*callee),
            _ => op.blocks().any(|block| self.in_block(block)),
        }
    }

    /// Returns true if a block has effects.
    pub fn in_block(&self, block: &Block) -> bool {
        with_stack(|| block.lets.iter().any(|binding| self.in_op(&binding.op)))
    }
}
