//! Loads and stores of elements: a bool is a byte in memory and a predicate in a register.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use nesl_runtime::kir::{Literal, Ty};

impl Assembly {
    /// Emits the address of an element of `size` bytes.
    pub fn element_address(&mut self, base: Reg, index: Operand, size: usize) -> Reg {
        let d = self.register(Class::B64);
        match index {
            Operand::Constant(Literal::I64(index)) => {
                emit!(self, "add.s64 {d}, {base}, {}", index.wrapping_mul(size as i64));
            }
            index if size == 1 => emit!(self, "add.s64 {d}, {base}, {index}"),
            index => emit!(self, "mad.lo.s64 {d}, {index}, {size}, {base}"),
        }
        d
    }

    /// Emits the load of an element.
    pub fn load(&mut self, ty: Ty, space: AddressSpace, address: Reg) -> Reg {
        let (d, space) = (self.register(Class::of(ty)), space.suffix());
        if ty == Ty::Bool {
            let byte = self.register(Class::B32);
            emit!(self, "ld{space}.u8 {byte}, [{address}]");
            emit!(self, "setp.ne.s32 {d}, {byte}, 0");
        } else {
            emit!(self, "ld{space}.{} {d}, [{address}]", memory_type(ty));
        }
        d
    }

    /// Emits the store of an element.
    pub fn store(&mut self, ty: Ty, space: AddressSpace, address: Reg, value: Operand) {
        let space = space.suffix();
        let value = match (ty, value) {
            (Ty::Bool, value) => self.convert(Ty::Bool, Ty::U8, value),
            (_, Operand::Reg(reg)) => reg,
            (_, Operand::Constant(literal)) => self.constant(literal),
        };
        emit!(self, "st{space}.{} [{address}], {value}", memory_type(ty));
    }
}

/// The type of an element in memory.
pub fn memory_type(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool | Ty::U8 => "u8",
        Ty::I32 => "b32",
        Ty::I64 => "b64",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
    }
}
