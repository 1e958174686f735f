//! The beginning of the code of a pass: the parameters of the entry in registers, which thread it
//! is, and the size of the index space.

use super::address::{AddressSpace, AddressSpaces};
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::collective::ThreadIds;
use super::failure;
use super::plan::{Pass, Plan, Role};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::liveness::live_insts;
use nesl_runtime::kir::{Inst, Kernel, Space, Stage, Ty, Value, ValueTy};

/// The number of threads of a block.
pub const BLOCK_THREADS: u32 = 256;

/// The parameters that the launcher passes first, each of 8 bytes; the areas of the plan follow, and
/// then the parameters of the kernel.
pub const HIDDEN_PARAMS: [&str; 4] = ["record", "launch", "interrupt", "ticket"];

/// A pass of a kernel, while its entry is emitted.
pub struct Entry<'a> {
    /// The kernel, without calls.
    pub kernel: &'a Kernel,
    /// Its passes and areas.
    pub plan: &'a Plan,
    /// The pass that is emitted.
    pub pass: Pass,
    /// The memory of each array.
    pub spaces: &'a AddressSpaces,
    /// The registers that every thread has from the beginning on.
    pub frame: &'a Frame,
}

/// The registers that every thread of an entry has from its beginning on.
pub struct Frame {
    /// The registers that failures need.
    pub failure: failure::Registers,
    /// The address of the ticket of the pass.
    pub ticket: Reg,
    /// The addresses of the plan's areas.
    pub areas: Vec<Reg>,
    /// The registers that say which thread it is.
    pub ids: ThreadIds,
    /// The operand of each parameter of the kernel, by value.
    pub operands: Vec<Option<Operand>>,
}

impl Frame {
    /// Emits the registers.
    pub fn load(asm: &mut Assembly, kernel: &Kernel, plan: &Plan) -> Frame {
        let mut hidden = |name: &str| {
            let d = asm.register(Class::B64);
            emit!(asm, "ld.param.u64 {d}, [{name}]");
            d
        };
        let [record, launch, interrupt, ticket] = HIDDEN_PARAMS.map(&mut hidden);
        let areas: Vec<Reg> =
            (0..plan.areas.len()).map(|at| hidden(&format!("area{at}"))).collect();
        let [record, interrupt, ticket] =
            [record, interrupt, ticket].map(|address| to_global(asm, address));
        let areas = areas.into_iter().map(|address| to_global(asm, address)).collect();
        let mut operands = vec![None; kernel.types.len()];
        for (at, param) in kernel.params.iter().enumerate() {
            let reg = load_param(asm, at, kernel.types[param.0 as usize]);
            operands[param.0 as usize] = Some(reg.into());
        }
        let ids = ["%tid.x", "%ctaid.x", "%nctaid.x"].map(|special| {
            let d = asm.register(Class::B32);
            emit!(asm, "mov.u32 {d}, {special}");
            d
        });
        let [thread, block, blocks] = ids;
        let failure = failure::Registers { record, launch, interrupt };
        Frame { failure, ticket, areas, ids: ThreadIds { thread, block, blocks }, operands }
    }
}

fn to_global(asm: &mut Assembly, address: Reg) -> Reg {
    let d = asm.register(Class::B64);
    emit!(asm, "cvta.to.global.u64 {d}, {address}");
    d
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
        ValueTy::Array(_) | ValueTy::Mark => {
            let d = asm.register(Class::B64);
            emit!(asm, "ld.param.{name} {d}, [p{at}]");
            to_global(asm, d)
        }
    }
}

impl Entry<'_> {
    /// The stages that the pass executes.
    pub fn stages(&self) -> &[Stage] {
        match self.pass {
            Pass::Prepare(last) => &self.kernel.stages[..=last],
            Pass::Tag | Pass::Final => &self.kernel.stages,
        }
    }

    /// The part of a sink in the pass.
    pub fn role(&self, stage: usize, number: usize) -> Role {
        self.plan.role(&self.kernel.stages[stage].sinks[number], self.pass, stage, number)
    }

    /// The instructions that the pass executes, by stage: all in the final one, else those that its
    /// sinks need, and those that may fail.
    pub fn live(&self) -> Vec<Vec<&Inst>> {
        let last = self.stages().len() - 1;
        let is_final = self.pass == Pass::Final;
        let roots = |stage: usize, visit: &mut dyn FnMut(Value)| {
            for (number, sink) in self.kernel.stages[stage].sinks.iter().enumerate() {
                match self.role(stage, number) {
                    Role::Skip => {}
                    Role::Read(_) if self.pass != Pass::Final => {}
                    _ => sink.each_operand(&mut *visit),
                }
            }
        };
        live_insts(self.kernel, last, roots, |_, effects| {
            if is_final { effects.any() } else { effects.traps || effects.writes_private }
        })
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

    /// Emits the number of this thread in the grid.
    pub fn first_index(&self, asm: &mut Assembly) -> Reg {
        let index = asm.register(Class::B64);
        let thread = asm.convert(Ty::I32, Ty::I64, self.frame.ids.thread.into());
        emit!(asm, "mad.wide.u32 {index}, {}, {BLOCK_THREADS}, {thread}", self.frame.ids.block);
        index
    }
}
