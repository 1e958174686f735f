//! Finds the functions that are best interpreted on the host, since they have no loops over
//! elements.

use crate::base::with_stack;
use crate::ir::{Block, FunId, Let, Op, Program};
use crate::prim::Cost;

/// The functions of a program that, with the functions they call, only have effects and operations
/// without loops over elements. Such a function is best executed by the direct
/// interpreter, unless its arguments are on a device.
#[derive(Clone, Debug)]
pub struct HostOnly {
    /// For each function, true if it is one of these.
    functions: Vec<bool>,
}

impl HostOnly {
    /// Finds the functions of a program: assumes all, and removes those with loops until nothing
    /// changes.
    pub fn of(program: &Program) -> HostOnly {
        let mut host_only = HostOnly { functions: vec![true; program.functions.len()] };
        loop {
            let mut changed = false;
            for (id, function) in program.functions.iter().enumerate() {
                if host_only.functions[id] && !host_only.block(&function.body) {
                    host_only.functions[id] = false;
                    changed = true;
                }
            }
            if !changed {
                return host_only;
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
            _ => has_no_loop(binding),
        }
    }
}

/// Returns true for an operation without blocks that has no loop over the elements of a sequence,
/// but for copying them.
pub(super) fn has_no_loop(binding: &Let) -> bool {
    binding.op.costs_at_most(Cost::Copy, &binding.ty)
}
