//! The memory that each array of a kernel lies in, found by following values.
//!
//! Parameters and texts are global, arrays of constant length local. A value that may be either is
//! generic: it is made of a `select`, the results of a conditional, or a value that a loop carries.

use nesl_runtime::kir::{Block, Inst, Kernel, Literal, Op, Value, walk};
use nesl_runtime::runtime::Reason;

/// The local memory that the arrays of one thread may take, in bytes. More would spill out of the
/// caches: a device keeps local memory for every thread that it can hold at a time.
const MAX_LOCAL_BYTES: usize = 4096;

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
    /// Finds the memory of every array. Fails if a work item takes memory whose size is not a
    /// constant, or more than a thread may have.
    pub fn find(kernel: &Kernel) -> Result<AddressSpaces, Reason> {
        check_local(kernel)?;
        let mut search = Search { spaces: vec![None; kernel.types.len()], changed: true };
        for param in &kernel.params {
            if kernel.types[param.0 as usize].is_array() {
                search.meet(*param, AddressSpace::Global);
            }
        }
        // The memory of an array only ever becomes more general, at most twice.
        while std::mem::take(&mut search.changed) {
            walk::stage_bodies(kernel).for_each(|body| search.block(body));
        }
        Ok(AddressSpaces(search.spaces))
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
            Op::Alloc(..) => self.meet(inst.results[0], AddressSpace::Local),
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
            | Op::Extern(..)
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark => {}
        }
    }
}

/// Fails unless the arrays that a work item allocates have constant lengths and fit. An array that
/// is allocated in a loop is a new one in each iteration: if it lived on, it would be overwritten.
fn check_local(kernel: &Kernel) -> Result<(), Reason> {
    let mut constants = vec![None; kernel.types.len()];
    let mut bytes = 0;
    let mut fits = true;
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| match &inst.op {
            Op::Const(Literal::I64(x)) => constants[inst.results[0].0 as usize] = Some(*x),
            Op::Alloc(ty, length) => match constants[length.0 as usize] {
                Some(length) => bytes += length.clamp(0, 1 << 30) as usize * ty.size(),
                None => fits = false,
            },
            // An array that a loop carries may be one of an earlier iteration.
            Op::While { carried, .. } | Op::For { carried, .. } => {
                let takes = inst.op.blocks().any(allocates);
                let is_array = |value: &Value| kernel.types[value.0 as usize].is_array();
                fits &= !(takes && carried.iter().any(is_array));
            }
            _ => {}
        });
    }
    if fits && bytes <= MAX_LOCAL_BYTES { Ok(()) } else { Err(Reason::Allocation) }
}

fn allocates(block: &Block) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| found |= matches!(inst.op, Op::Alloc(..)));
    found
}
