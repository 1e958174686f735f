//! Functions that are best interpreted on the host: without loops over elements.

use crate::base::with_stack;
use crate::ir::{Block, FunId, Let, Op, Program};
use crate::prim::Cost;

/// Per function of a program, true if it and the functions that it calls only have effects and
/// operations without loops over elements. Such a function is best executed by the direct
/// interpreter, unless its arguments are on a device.
#[derive(Clone, Debug)]
pub struct HostOnly {
    functions: Vec<bool>,
}

impl HostOnly {
    /// Determines the functions by iteration to the greatest fixed point.
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

    /// Returns true if a function is best executed by the host.
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
