//! Copies of what a loop reads from outside.
//!
//! The register allocator divides the live range of a value at most twice (`MAX_SPLITS_PER_SPILLSET` of regalloc2). A
//! value that lives across more calls is loaded from the stack at each use from then on, and where two values share a
//! register, also stored: in loops without calls, too, although registers are free there. In an outermost loop that calls
//! nothing, each value from outside therefore has a copy, which lives in the loop alone. (A tally of four million keys
//! took 3.4 to 5.0 ms, depending on what else the function had, and takes 2.5.) Inner loops begin too often for it.

use super::emitter::FunctionEmitter;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use nesl_runtime::kir::walk::{each_inst, each_read};
use nesl_runtime::kir::{self, Inst, Op};
use rustc_hash::FxHashSet;

/// The values that have copies in a loop, as they are outside.
pub struct Outside {
    values: Vec<(kir::Value, ir::Value)>,
    interrupt: ir::Value,
}

impl FunctionEmitter<'_, '_> {
    /// Gives the values that a loop reads from outside their copies, if it gains from that. What is emitted for the loop
    /// then reads these, until [`FunctionEmitter::read_outside_again`].
    pub fn copy_for_loop(&mut self, inst: &Inst) -> Outside {
        let mut outside = Outside { values: Vec::new(), interrupt: self.interrupt };
        let crosses_calls = !self.callees.is_empty() && !self.is_wide();
        if !crosses_calls || self.loops > 0 || !calls_nothing(inst) {
            return outside;
        }
        let mut inside: FxHashSet<kir::Value> = inst.op.carried().iter().copied().collect();
        if let Op::For { index, .. } = inst.op {
            inside.insert(index);
        }
        for block in inst.op.blocks() {
            each_inst(block, &mut |inst| inside.extend(&inst.results));
        }
        for inst in inst.op.blocks().flat_map(|block| &block.insts) {
            each_read(inst, &mut |name| {
                let ty = self.clif_of(name);
                if ty == types::I64 && !self.constants.contains_key(&name) && inside.insert(name) {
                    outside.values.push((name, self.get(name)));
                }
            });
        }
        for (name, value) in &outside.values {
            let copy = self.copy_of(*value);
            self.set(*name, copy);
        }
        self.interrupt = self.copy_of(self.interrupt);
        outside
    }

    /// Ends what [`FunctionEmitter::copy_for_loop`] has begun.
    pub fn read_outside_again(&mut self, outside: Outside) {
        for (name, value) in outside.values {
            self.set(name, value);
        }
        self.interrupt = outside.interrupt;
    }

    /// Emits a copy of an `i64` that stays one: by way of the stack, with a load that is not replaced by what was stored.
    fn copy_of(&mut self, value: ir::Value) -> ir::Value {
        let slot = self.slot(size_of::<i64>());
        self.b.ins().stack_store(types::I64, value, slot, 0);
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        self.b.ins().atomic_load(types::I64, MemFlagsData::trusted(), at)
    }
}

/// Returns true if a loop has no loops and no calls.
fn calls_nothing(inst: &Inst) -> bool {
    let mut nothing = true;
    for block in inst.op.blocks() {
        each_inst(block, &mut |inst| {
            nothing &= !inst.op.is_loop()
                && !matches!(inst.op, Op::Call(..) | Op::Compute(..) | Op::Extern(..));
        });
    }
    nothing
}
