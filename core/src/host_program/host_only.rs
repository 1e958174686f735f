//! What is no work for a runtime: operations without loops over elements.

use crate::base::with_stack;
use crate::ir::{Block, FunId, Let, Op, Program};
use crate::prim::Cost;

/// Per function of a program, whether all that it does is light, or outside, and so are the
/// functions it calls. Such a function is best left to the direct interpreter, unless it is given
/// something that lies elsewhere.
#[derive(Clone, Debug)]
pub struct HostOnly {
    functions: Vec<bool>,
}

impl HostOnly {
    /// Finds out.
    pub fn of(program: &Program) -> HostOnly {
        let mut light = HostOnly { functions: vec![true; program.functions.len()] };
        loop {
            let mut changed = false;
            for (id, function) in program.functions.iter().enumerate() {
                if light.functions[id] && !light.block(&function.body) {
                    light.functions[id] = false;
                    changed = true;
                }
            }
            if !changed {
                return light;
            }
        }
    }

    /// Whether a function is light.
    pub fn function(&self, id: FunId) -> bool {
        self.functions[id.0 as usize]
    }

    fn block(&self, block: &Block) -> bool {
        with_stack(|| block.lets.iter().all(|binding| self.binding(binding)))
    }

    fn binding(&self, binding: &Let) -> bool {
        match &binding.op {
            Op::Call(callee, _) => self.function(*callee),
            Op::Global(_) | Op::Host(..) => true,
            op @ (Op::If { .. } | Op::Time(_)) => op.blocks().all(|block| self.block(block)),
            _ => is_host_only(binding),
        }
    }
}

/// Returns true for an operation without blocks that has no loop over the elements of a sequence,
/// but for copying them.
pub(super) fn is_host_only(binding: &Let) -> bool {
    binding.op.costs_at_most(Cost::Copy, &binding.ty)
}
