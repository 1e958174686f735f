//! Vector accesses: the loads and stores of short straight-line code that a thread executes for
//! several neighbouring elements at once.
//!
//! An access at exactly the index of the work item is neighbour to that of the next work item, so
//! that one instruction of 8, 16 or 32 bytes loads the elements of several. Loads that come before
//! anything with a side effect may come before all of the work items, and stores behind which there
//! is nothing but computation may come after all of them.
//!
//! Arrays may begin at any element. If one is not aligned, the same elements are accessed one by one,
//! so that the grouping of a float sum does not depend on addresses.

use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::frame::Entry;
use super::memory::memory_type;
use super::shape::is_short;
use nesl_runtime::kir::{Class as OpClass, Inst, Kernel, Op, Space, Ty, Value};

/// The greatest number of work items of a vector.
const MAX_WIDTH: usize = 4;

/// The accesses of a stage that are made for several work items at once.
#[derive(Debug, Default)]
pub struct Vector {
    /// The number of work items; 1 if there is no such access.
    pub width: usize,
    /// The loads: the value, the array, the type of its elements.
    loads: Vec<(Value, Value, Ty)>,
    /// The stores: the array, the value, the type of its elements.
    stores: Vec<(Value, Value, Ty)>,
}

impl Vector {
    /// Finds the accesses of the only stage of a kernel, of which `insts` are live. An access is of
    /// `most_bytes` at most.
    pub fn of(kernel: &Kernel, insts: &[&Inst], may_fail: bool, most_bytes: usize) -> Vector {
        let none = Vector { width: 1, ..Vector::default() };
        let [_] = kernel.stages[..] else { return none };
        if !matches!(kernel.space, Space::Flat { .. }) || !is_short(kernel) {
            return none;
        }
        let neighbours = |array: &Value, index: &Value| {
            *index == kernel.indices[0] && kernel.params.contains(array)
        };
        let mut vector = none;
        for inst in insts {
            match &inst.op {
                Op::Load { array, index } if neighbours(array, index) => {
                    let ty = kernel.scalar_ty(inst.results[0]);
                    vector.loads.push((inst.results[0], *array, ty));
                }
                op if op.is_side_effect_free() && !op.has_blocks() => {}
                _ => break,
            }
        }
        for inst in insts.iter().rev().take_while(|_| !may_fail) {
            match &inst.op {
                Op::Store { array, index, value } if neighbours(array, index) => {
                    vector.stores.insert(0, (*array, *value, kernel.scalar_ty(*value)));
                }
                op if op.class() == OpClass::Pure => {}
                _ => break,
            }
        }
        let accesses = vector.loads.iter().chain(&vector.stores);
        if let Some(size) = accesses.map(|(_, _, ty)| ty.size()).max() {
            vector.width = (most_bytes / size).min(MAX_WIDTH);
        }
        vector
    }

    /// Returns true if an instruction is one of the accesses.
    pub fn contains(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Load { .. } => self.loads.iter().any(|(value, ..)| *value == inst.results[0]),
            Op::Store { array, value, .. } => {
                self.stores.iter().any(|(to, from, _)| (to, from) == (array, value))
            }
            _ => false,
        }
    }

    /// Returns true if a value is one of those that are stored.
    pub fn stores_value(&self, value: Value) -> bool {
        self.stores.iter().any(|(_, stored, _)| *stored == value)
    }

    /// Emits the question whether all arrays are aligned for vectors.
    pub fn is_aligned(&self, asm: &mut Assembly, entry: &Entry<'_>) -> Reg {
        let (low, bits) = (asm.register(Class::B64), asm.register(Class::B64));
        emit!(asm, "mov.b64 {low}, 0");
        let loads = self.loads.iter().map(|(_, array, ty)| (array, ty));
        let stores = self.stores.iter().map(|(array, _, ty)| (array, ty));
        for (array, ty) in loads.chain(stores) {
            let base = entry.array(asm, *array);
            emit!(asm, "and.b64 {bits}, {base}, {}", self.width * ty.size() - 1);
            emit!(asm, "or.b64 {low}, {low}, {bits}");
        }
        let aligned = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s64 {aligned}, {low}, 0");
        aligned
    }

    /// Emits the loads for the work items from an index on. Returns, for each of them, the loaded
    /// values with their operands.
    pub fn load(
        &self,
        asm: &mut Assembly,
        entry: &Entry<'_>,
        first: Reg,
        aligned: Reg,
    ) -> Vec<Vec<(Value, Operand)>> {
        let mut items = vec![Vec::new(); self.width];
        let mut targets = Vec::new();
        for (_, array, ty) in &self.loads {
            let base = entry.array(asm, *array);
            let address = asm.element_address(base, first.into(), ty.size());
            let regs: Vec<Reg> = (0..self.width).map(|_| asm.register(memory_class(*ty))).collect();
            targets.push((address, regs, *ty));
        }
        self.either(asm, aligned, |asm, whole| {
            for (address, regs, ty) in &targets {
                let name = memory_type(*ty);
                if whole {
                    let (width, list) = (self.width, list(regs));
                    emit!(asm, "ld.global.v{width}.{name} {list}, [{address}]");
                    continue;
                }
                for (at, reg) in regs.iter().enumerate() {
                    emit!(asm, "ld.global.{name} {reg}, [{address}+{}]", at * ty.size());
                }
            }
        });
        for ((value, ..), (_, regs, ty)) in self.loads.iter().zip(targets) {
            for (item, reg) in items.iter_mut().zip(regs) {
                let reg = match ty {
                    Ty::Bool => {
                        let bit = asm.register(Class::Predicate);
                        emit!(asm, "setp.ne.s32 {bit}, {reg}, 0");
                        bit
                    }
                    _ => reg,
                };
                item.push((*value, reg.into()));
            }
        }
        items
    }

    /// Emits the stores of the work items from an index on, of which these are the operands.
    pub fn store(
        &self,
        asm: &mut Assembly,
        entry: &Entry<'_>,
        first: Reg,
        aligned: Reg,
        items: &[Vec<Option<Operand>>],
    ) {
        let mut sources = Vec::new();
        for (array, value, ty) in &self.stores {
            let base = entry.array(asm, *array);
            let address = asm.element_address(base, first.into(), ty.size());
            let mut regs = Vec::new();
            for operands in items {
                regs.extend(operands[value.0 as usize].map(|operand| match (ty, operand) {
                    (Ty::Bool, operand) => asm.convert(Ty::Bool, Ty::U8, operand),
                    (_, Operand::Reg(reg)) => reg,
                    (_, Operand::Constant(literal)) => asm.constant(literal),
                }));
            }
            sources.push((address, regs, *ty));
        }
        self.either(asm, aligned, |asm, whole| {
            for (address, regs, ty) in &sources {
                let name = memory_type(*ty);
                if whole {
                    let (width, list) = (self.width, list(regs));
                    emit!(asm, "st.relaxed.gpu.global.v{width}.{name} [{address}], {list}");
                    continue;
                }
                for (at, reg) in regs.iter().enumerate() {
                    let at = at * ty.size();
                    emit!(asm, "st.relaxed.gpu.global.{name} [{address}+{at}], {reg}");
                }
            }
        });
    }

    /// Emits code for aligned arrays, and out of line for others.
    fn either(&self, asm: &mut Assembly, aligned: Reg, mut emit: impl FnMut(&mut Assembly, bool)) {
        if self.loads.is_empty() && self.stores.is_empty() {
            return;
        }
        let (single, done) = (asm.label(), asm.label());
        emit!(asm, "@!{aligned} bra {single}");
        emit(asm, true);
        asm.place(done);
        asm.out_of_line(|asm| {
            asm.place(single);
            emit(asm, false);
            emit!(asm, "bra {done}");
        });
    }
}

/// The class of the registers that elements of a type are loaded to.
fn memory_class(ty: Ty) -> Class {
    if ty == Ty::Bool { Class::B32 } else { Class::of(ty) }
}

/// The list of registers of a vector instruction.
fn list(regs: &[Reg]) -> String {
    let names: Vec<String> = regs.iter().map(Reg::to_string).collect();
    format!("{{{}}}", names.join(", "))
}
