//! Instructions that may end their work item early: the others of its block go on without it.

use nesl_runtime::kir::{Class, Inst, walk};

/// Returns true if an instruction may end its work item.
pub fn may_fail(inst: &Inst) -> bool {
    let mut found = false;
    let mut visit = |inst: &Inst| {
        found |= match inst.op.class() {
            Class::Trap | Class::Call | Class::Intrinsic | Class::Allocate => true,
            _ => inst.op.is_loop(),
        }
    };
    visit(inst);
    inst.op.blocks().for_each(|block| walk::each_inst(block, &mut visit));
    found
}
