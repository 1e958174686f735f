//! The memory that each array of a kernel lies in, found by following values.
//!
//! Parameters and texts are global, and so are arrays in scratch memory; short arrays of constant
//! length are local. A value that may be either is generic: it is made of a `select`, the results of
//! a conditional, or a value that a loop carries.

use super::scratch::local_arrays;
use nesl_runtime::kir::{Block, Inst, Kernel, Op, Value, walk};

/// The memory in which an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpace {
    /// The memory of the device.
    Global,
    /// The memory of the thread.
    Local,
    /// The memory shared by the block.
    Shared,
    /// Any: the machine finds out at each access.
    Generic,
}

impl AddressSpace {
    /// The suffix of `ld` and `st`.
    pub fn suffix(self) -> &'static str {
        match self {
            AddressSpace::Global => ".global",
            AddressSpace::Local => ".local",
            AddressSpace::Shared => ".shared",
            AddressSpace::Generic => "",
        }
    }
}

/// The memory of every array of a kernel.
#[derive(Debug)]
pub struct AddressSpaces(Vec<Option<AddressSpace>>);

impl AddressSpaces {
    /// Finds the memory of every array.
    pub fn find(kernel: &Kernel) -> AddressSpaces {
        let spaces = vec![None; kernel.types.len()];
        let mut search = Search { spaces, is_local: local_arrays(kernel), changed: true };
        for param in &kernel.params {
            if kernel.types[param.0 as usize].is_array() {
                search.meet(*param, AddressSpace::Global);
            }
        }
        // The memory of an array only ever becomes more general, at most twice.
        while std::mem::take(&mut search.changed) {
            walk::stage_bodies(kernel).for_each(|body| search.block(body));
        }
        AddressSpaces(search.spaces)
    }

    /// The memory of an array; generic if no array can be there, because the code is never
    /// executed.
    pub fn of(&self, array: Value) -> AddressSpace {
        self.0[array.0 as usize].unwrap_or(AddressSpace::Generic)
    }
}

/// The search for a fixed point.
struct Search {
    spaces: Vec<Option<AddressSpace>>,
    /// True for the allocated arrays that lie in local memory.
    is_local: Vec<bool>,
    changed: bool,
}

impl Search {
    /// Notes that an array may lie in some memory.
    fn meet(&mut self, array: Value, space: AddressSpace) {
        let known = &mut self.spaces[array.0 as usize];
        let met = match *known {
            Some(known) if known != space => AddressSpace::Generic,
            _ => space,
        };
        self.changed |= known.replace(met) != Some(met);
    }

    fn flow(&mut self, from: Value, to: Value) {
        if let Some(space) = self.spaces[from.0 as usize] {
            self.meet(to, space);
        }
    }

    fn flow_all(&mut self, from: &[Value], to: &[Value]) {
        from.iter().zip(to).for_each(|(from, to)| self.flow(*from, *to));
    }

    fn block(&mut self, block: &Block) {
        block.insts.iter().for_each(|inst| self.inst(inst));
    }

    fn inst(&mut self, inst: &Inst) {
        inst.op.blocks().for_each(|block| self.block(block));
        match &inst.op {
            Op::Text(_) => self.meet(inst.results[0], AddressSpace::Global),
            Op::Alloc(..) => {
                let is_local = self.is_local[inst.results[0].0 as usize];
                let space = if is_local { AddressSpace::Local } else { AddressSpace::Global };
                self.meet(inst.results[0], space);
            }
            Op::Slice(array, _) => self.flow(*array, inst.results[0]),
            Op::Select(_, a, b) => {
                self.flow(*a, inst.results[0]);
                self.flow(*b, inst.results[0]);
            }
            Op::Compact { keep, .. } => {
                for ((array, _), result) in keep.iter().zip(&inst.results) {
                    self.flow(*array, *result);
                }
            }
            Op::If { then, otherwise, .. } => {
                self.flow_all(&then.yields, &inst.results);
                self.flow_all(&otherwise.yields, &inst.results);
            }
            Op::While { init, carried, body, .. } | Op::For { init, carried, body, .. } => {
                self.flow_all(init, carried);
                self.flow_all(&body.yields, carried);
                self.flow_all(carried, &inst.results);
            }
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Copy { .. }
            | Op::Call(..)
            | Op::Compute(..)
            | Op::Extern(..)
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark => {}
        }
    }
}
