//! The beginning of the code of a pass: the parameters of the entry in registers, which thread it
//! is, and the size of the index space.

use super::address::{AddressSpace, AddressSpaces};
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::bounds::Bounds;
use super::collective::ThreadIds;
use super::failure;
use super::finish::TICKET;
use super::plan::{Pass, Plan, Role, Way};
use super::scratch::{self, Scratch};
pub use super::shape::{BLOCK_THREADS, area_name};
use super::tables::SharedTable;
use super::ticks::Ticks;
use super::traps::may_fail;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::liveness::live_insts;
use nesl_runtime::kir::{Block, Inst, Kernel, Op, Space, Stage, Ty, Value, ValueTy, walk};
use std::collections::HashMap;

/// The parameters that the launcher passes first, each of 8 bytes; the areas of the plan follow, and
/// then the parameters of the kernel.
pub const HIDDEN_PARAMS: [&str; 4] =
    [failure::PARAMS[0], failure::PARAMS[1], failure::PARAMS[2], TICKET];

/// The parameters of a kernel that needs scratch memory, behind the areas: the address of the rows,
/// the length of a row in bytes, and the address of the `u64` for the bytes that were asked for.
pub const SCRATCH_PARAMS: [&str; 3] = ["scratch", "scratch_row", "scratch_needed"];

/// A pass of a kernel, while its entry is emitted.
pub struct Entry<'a> {
    /// The kernel, without calls.
    pub kernel: &'a Kernel,
    /// Its passes and areas.
    pub plan: &'a Plan,
    /// The pass that is emitted.
    pub pass: Pass,
    /// Its way over the index space.
    pub way: Way,
    /// The memory of each array.
    pub spaces: &'a AddressSpaces,
    /// The registers that every thread has from the beginning on.
    pub frame: &'a Frame,
}

/// The accesses of a kernel at the index of the work item.
pub struct Accesses {
    /// The array parameters, with the types of their elements.
    pub arrays: Vec<(Value, Ty)>,
    /// True if the index is needed for nothing else.
    pub all: bool,
}

/// The registers that every thread of an entry has from its beginning on.
pub struct Frame {
    /// The registers that allocate scratch memory, if the kernel needs some.
    pub scratch: Option<scratch::Registers>,
    /// The counter of iterations, if the kernel has loops.
    pub ticks: Option<Ticks>,
    /// The tables of the block for histograms.
    pub tables: Vec<SharedTable>,
    /// The registers that say which thread it is.
    pub ids: ThreadIds,
    /// The operand of each parameter of the kernel, by value.
    pub operands: Vec<Option<Operand>>,
    /// The plan of how bounds checks are emitted.
    pub bounds: Bounds,
    /// The parameters that limit indices and may be below 0, raised to 0.
    pub limits: HashMap<Value, Operand>,
}

impl Frame {
    /// Emits the registers.
    pub fn load(asm: &mut Assembly, kernel: &Kernel, plan: &Plan, pass: Pass) -> Frame {
        let tables = SharedTable::load(asm, plan, pass);
        let mut operands = vec![None; kernel.types.len()];
        let (bounds, mut limits) = (Bounds::find(kernel), HashMap::new());
        for (at, param) in kernel.params.iter().enumerate() {
            let reg = load_param(asm, at, kernel.types[param.0 as usize]);
            operands[param.0 as usize] = Some(reg.into());
            if bounds.may_be_negative(*param) {
                limits.insert(*param, asm.at_least_zero(reg.into()));
            }
        }
        let ids = ["%tid.x", "%ctaid.x", "%nctaid.x"].map(|special| {
            let d = asm.register(Class::B32);
            emit!(asm, "mov.u32 {d}, {special}");
            d
        });
        let [thread, block, blocks] = ids;
        let ids = ThreadIds { thread, block, blocks };
        let scratch = (plan.scratch != Scratch::None).then(|| {
            let [rows, row, needed] = SCRATCH_PARAMS;
            let (rows, row) = (asm.global_param(rows), asm.param(row));
            let needed = asm.global_param(needed);
            let is_checked = plan.scratch == Scratch::Measured && pass != Pass::Final;
            let params = (rows, row, needed);
            scratch::Registers::load(asm, &ids, BLOCK_THREADS, params, is_checked)
        });
        let ticks = walk::stage_bodies(kernel).any(has_loops).then(|| Ticks::begin(asm));
        Frame { scratch, ticks, tables, ids, operands, bounds, limits }
    }

    /// Emits the beginning of the next work items of the thread: the memory of those before is free.
    pub fn begin_items(&self, asm: &mut Assembly) {
        if let Some(scratch) = &self.scratch {
            scratch.begin(asm);
        }
    }
}

fn has_loops(body: &Block) -> bool {
    let mut found = false;
    walk::each_inst(body, &mut |inst| found |= inst.op.is_loop());
    found
}

/// The type of a parameter of an entry.
pub fn param_type(ty: ValueTy) -> &'static str {
    match ty {
        ValueTy::Scalar(Ty::Bool | Ty::U8) => "u8",
        ValueTy::Scalar(Ty::I32) => "b32",
        ValueTy::Scalar(Ty::F32) => "f32",
        ValueTy::Scalar(Ty::F64) => "f64",
        ValueTy::Scalar(Ty::I64) | ValueTy::Array(_) | ValueTy::Mark => "b64",
    }
}

fn load_param(asm: &mut Assembly, at: usize, ty: ValueTy) -> Reg {
    let name = param_type(ty);
    match ty {
        ValueTy::Scalar(Ty::Bool) => {
            let byte = asm.register(Class::B32);
            emit!(asm, "ld.param.{name} {byte}, [p{at}]");
            asm.convert(Ty::U8, Ty::Bool, byte.into())
        }
        ValueTy::Scalar(ty) => {
            let d = asm.register(Class::of(ty));
            emit!(asm, "ld.param.{name} {d}, [p{at}]");
            d
        }
        ValueTy::Array(_) | ValueTy::Mark => asm.global_param(&format!("p{at}")),
    }
}

impl Entry<'_> {
    /// The stages that the pass executes.
    pub fn stages(&self) -> &[Stage] {
        match self.pass {
            Pass::Prepare(last) => &self.kernel.stages[..=last],
            Pass::Tag | Pass::Measure | Pass::Final => &self.kernel.stages,
        }
    }

    /// The part of a sink in the pass.
    pub fn role(&self, stage: usize, number: usize) -> Role {
        self.plan.role(&self.kernel.stages[stage].sinks[number], self.pass, stage, number)
    }

    /// The instructions that the pass executes, by stage: all in the final one, else those that its
    /// sinks need, and those that may fail. The pass that measures the scratch memory, and the final
    /// one, allocate the same, even what nobody uses.
    pub fn live(&self) -> Vec<Vec<&Inst>> {
        let last = self.stages().len() - 1;
        let is_final = self.pass == Pass::Final;
        let is_measured = self.plan.scratch == Scratch::Measured;
        let measures = self.plan.measuring == Some(self.pass);
        let roots = |stage: usize, visit: &mut dyn FnMut(Value)| {
            for (number, sink) in self.kernel.stages[stage].sinks.iter().enumerate() {
                match self.role(stage, number) {
                    Role::Skip | Role::Read(_) => {}
                    _ => sink.each_operand(&mut *visit),
                }
            }
        };
        live_insts(self.kernel, last, roots, |_, effects| match is_final {
            true => effects.any() || is_measured && effects.allocates,
            false => {
                let extra = effects.allocates || effects.diverges;
                effects.traps || effects.writes_private || measures && extra
            }
        })
    }

    /// Returns true if a tile needs what lies before it.
    pub fn looks_back(&self) -> bool {
        self.way == Way::Elements && self.roles().any(Role::looks_back)
    }

    /// Returns true if the thread that draws tiles looks, for its block, whether an earlier launch has
    /// failed. In a space with offsets every thread looks before it reads how many elements there are,
    /// which that launch may not have written.
    pub fn looks_with_tiles(&self) -> bool {
        self.looks_back() && !matches!(self.kernel.space, Space::Segmented { .. })
    }

    /// Returns true if the pass goes over the space tile by tile.
    pub fn is_tiled(&self) -> bool {
        self.way == Way::Elements && self.plan.is_tiled(self.kernel, self.pass)
    }

    /// The parts of all sinks in the pass.
    pub fn roles(&self) -> impl Iterator<Item = Role> {
        let sinks = self.stages().iter().enumerate();
        sinks.flat_map(move |(stage, code)| {
            (0..code.sinks.len()).map(move |number| self.role(stage, number))
        })
    }

    /// Returns true if a sink takes its work items one by one, by their indices.
    pub fn is_by_work_item(&self) -> bool {
        self.roles().any(|role| matches!(role, Role::Free | Role::Tag(_) | Role::Tagged(_)))
    }

    /// Finds the array parameters that are accessed at the index of the work item, and finds out if
    /// nothing else needs that index.
    pub fn accesses_at_index(&self) -> Accesses {
        let kernel = self.kernel;
        let whole = kernel.indices.last().copied();
        let mut arrays: Vec<(Value, Ty)> = Vec::new();
        let (mut reads, mut accesses, mut fails) = (0, 0, false);
        for stage in self.stages() {
            let mut count = |read: Value| reads += usize::from(Some(read) == whole);
            stage.body.insts.iter().for_each(|inst| walk::each_read(inst, &mut count));
            stage.sinks.iter().for_each(|sink| sink.each_operand(&mut count));
            fails |= stage.body.insts.iter().any(may_fail);
            walk::each_inst(&stage.body, &mut |inst| {
                let (Op::Load { array, index } | Op::Store { array, index, .. }) = &inst.op else {
                    return;
                };
                if let (true, ValueTy::Array(ty), true) = (
                    Some(*index) == whole,
                    kernel.types[array.0 as usize],
                    kernel.params.contains(array),
                ) {
                    accesses += 1;
                    if !arrays.iter().any(|(known, _)| known == array) {
                        arrays.push((*array, ty));
                    }
                }
            });
        }
        let is_flat = matches!(kernel.space, Space::Flat { .. });
        let others = reads > accesses || (!is_flat && self.reads(kernel.indices[1]));
        let all = !others && !fails && !self.is_by_work_item();
        Accesses { arrays, all }
    }

    /// Returns true if code or a sink of the pass reads a value.
    pub fn reads(&self, value: Value) -> bool {
        let mut found = false;
        let mut visit = |read: Value| found |= read == value;
        for stage in self.stages() {
            stage.body.insts.iter().for_each(|inst| walk::each_read(inst, &mut visit));
            stage.sinks.iter().for_each(|sink| sink.each_operand(&mut visit));
        }
        found
    }

    /// The operand of a parameter.
    pub fn param(&self, param: Value) -> Operand {
        self.frame.operands[param.0 as usize].or_bug("a parameter has a register")
    }

    /// The address of an array parameter.
    pub fn array(&self, asm: &mut Assembly, param: Value) -> Reg {
        match self.param(param) {
            Operand::Reg(reg) => reg,
            Operand::Constant(literal) => asm.constant(literal),
        }
    }

    /// Emits the number of indices.
    pub fn count(&self, asm: &mut Assembly) -> Operand {
        match &self.kernel.space {
            Space::Flat { count } => self.param(*count),
            Space::Regular { segments, length } => {
                let d = asm.register(Class::B64);
                emit!(asm, "mul.lo.s64 {d}, {}, {}", self.param(*segments), self.param(*length));
                d.into()
            }
            Space::Segmented { segments, offsets } => {
                let base = self.array(asm, *offsets);
                let address = asm.element_address(base, self.param(*segments), 8);
                asm.load(Ty::I64, AddressSpace::Global, address).into()
            }
        }
    }

    /// Emits the number of this thread among those of all blocks, or parts, of which it is in one.
    pub fn first_index(&self, asm: &mut Assembly, block: Reg) -> Reg {
        let index = asm.register(Class::B64);
        let thread = asm.convert(Ty::I32, Ty::I64, self.frame.ids.thread.into());
        emit!(asm, "mad.wide.u32 {index}, {block}, {BLOCK_THREADS}, {thread}");
        index
    }
}
