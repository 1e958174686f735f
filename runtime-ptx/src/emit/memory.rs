//! Loads and stores of elements: a bool is a byte in memory and a predicate in a register.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use nesl_runtime::kir::{Literal, Ty};
use std::fmt;

/// An address in memory: a register, and a constant distance from it.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The register that holds its variable part.
    pub base: Reg,
    /// The distance, in bytes.
    pub bytes: usize,
}

impl From<Reg> for Address {
    fn from(base: Reg) -> Address {
        Address { base, bytes: 0 }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => write!(out, "{}", self.base),
            bytes => write!(out, "{}+{bytes}", self.base),
        }
    }
}

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
    pub fn load(&mut self, ty: Ty, space: AddressSpace, address: impl Into<Address>) -> Reg {
        self.load_as("", ty, space, address.into())
    }

    /// Emits the load of an element that is only copied, and that nobody may have written: the end of
    /// a pool that is not full, say. It is accessed once (`.cs`), which the simulator takes for leave
    /// to read what was not written.
    pub fn load_for_copy(&mut self, ty: Ty, space: AddressSpace, address: Reg) -> Reg {
        self.load_as(".cs", ty, space, address.into())
    }

    fn load_as(&mut self, hint: &str, ty: Ty, space: AddressSpace, address: Address) -> Reg {
        let (d, space) = (self.register(Class::of(ty)), space.suffix());
        if ty == Ty::Bool {
            let byte = self.register(Class::B32);
            self.access(format_args!("ld{space}{hint}.u8 {byte}, [{address}]"));
            emit!(self, "setp.ne.s32 {d}, {byte}, 0");
        } else {
            self.access(format_args!("ld{space}{hint}.{} {d}, [{address}]", memory_type(ty)));
        }
        d
    }

    /// Emits the store of an element that no other thread writes.
    pub fn store(
        &mut self,
        ty: Ty,
        space: AddressSpace,
        address: impl Into<Address>,
        value: Operand,
    ) {
        self.store_as("", ty, space, address.into(), value);
    }

    /// Emits the store of an element that other threads may write as well, where all of them write the
    /// same value or nothing reads it: an ordinary store would be a data race.
    pub fn store_relaxed(
        &mut self,
        ty: Ty,
        space: AddressSpace,
        address: impl Into<Address>,
        value: Operand,
    ) {
        let order = match space {
            // A generic address may be one of the thread's own memory, which knows no order.
            AddressSpace::Local | AddressSpace::Generic => "",
            AddressSpace::Global | AddressSpace::Shared => ".relaxed.gpu",
        };
        self.store_as(order, ty, space, address.into(), value);
    }

    fn store_as(
        &mut self,
        order: &str,
        ty: Ty,
        space: AddressSpace,
        address: Address,
        value: Operand,
    ) {
        let space = space.suffix();
        let value = match (ty, value) {
            (Ty::Bool, value) => self.convert(Ty::Bool, Ty::U8, value),
            (_, Operand::Reg(reg)) => reg,
            (_, Operand::Constant(literal)) => self.constant(literal),
        };
        let ty = memory_type(ty);
        self.access(format_args!("st{order}{space}.{ty} [{address}], {value}"));
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
