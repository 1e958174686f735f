//! Operands: registers, constants and special values of the width that an instruction wants.

use super::Decoder;
use crate::isa::code::{Address, Constant, Guard, PredicateRegister, Register, Space};
use crate::isa::types::Type;
use crate::ptx::error::Reason;
use crate::ptx::names::{self, Symbol};
use crate::ptx::statement::Operand;

/// The name that stands for a result that is not wanted.
const DISCARD: &str = "_";

/// The widths of registers that an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// The width of the type.
    Exact,
    /// The width of the type or more, as loads, stores and conversions allow.
    AtLeast,
}

impl Decoder<'_> {
    /// Returns the register of a source of a type.
    pub fn source(&mut self, operand: &Operand, ty: Type) -> Result<Register, Reason> {
        self.source_of_width(operand, ty, Width::Exact)
    }

    /// Returns the register of a source, which may be wider than its type.
    pub fn source_of_width(
        &mut self,
        operand: &Operand,
        ty: Type,
        width: Width,
    ) -> Result<Register, Reason> {
        match operand {
            Operand::Name(name) => self.named_source(name, ty, width),
            Operand::Integer(value) if !ty.is_float() => {
                let bits = integer_bits(*value, ty)?;
                self.names.constant(Constant::Bits(bits))
            }
            Operand::Single(bits) if matches!(ty, Type::F32 | Type::B32) => {
                self.names.constant(Constant::Bits(u64::from(*bits)))
            }
            Operand::Double(bits) if matches!(ty, Type::F64 | Type::B64) => {
                self.names.constant(Constant::Bits(*bits))
            }
            _ => Err(format!("an operand does not fit type {ty}")),
        }
    }

    fn named_source(&mut self, name: &str, ty: Type, width: Width) -> Result<Register, Reason> {
        match self.names.find(name) {
            Some(Symbol::Register(declared, register)) => {
                check_register(name, declared, ty, width)?;
                Ok(register)
            }
            Some(Symbol::Predicate(_)) => Err(format!("`{name}` is a predicate, not a value")),
            Some(Symbol::Parameter(..)) => {
                Err(format!("the address of the parameter `{name}` cannot be taken"))
            }
            Some(symbol) if ty.is_float() || ty.bytes() < 4 => {
                Err(format!("{symbol:?} is an address, not of type {ty}"))
            }
            Some(Symbol::Global(_)) if ty.bytes() < 8 => {
                Err(format!("the address of `{name}` has 64 bits"))
            }
            Some(symbol) => self.variable_address(symbol),
            None if name == "WARP_SZ" => self.names.constant(Constant::Bits(32)),
            None => {
                let special = names::special(name).ok_or_else(|| {
                    format!("`{name}` is not declared, nor a known special register")
                })?;
                check_register(name, Type::U32, ty, width)?;
                self.names.special(special)
            }
        }
    }

    /// Returns the register that holds the address of a variable in its own state space.
    fn variable_address(&mut self, symbol: Symbol) -> Result<Register, Reason> {
        let constant = match symbol {
            Symbol::Shared(offset) | Symbol::Local(offset) | Symbol::Const(offset) => {
                Constant::Bits(offset as u64)
            }
            Symbol::DynamicShared => Constant::DynamicShared,
            Symbol::Global(number) => Constant::GlobalAddress(number),
            Symbol::Register(..) | Symbol::Predicate(_) | Symbol::Parameter(..) => {
                return Err("a variable is expected".to_owned());
            }
        };
        self.names.constant(constant)
    }

    /// Returns the register of a destination, and the mask of the bits it holds.
    pub fn destination_of_width(
        &mut self,
        operand: &Operand,
        ty: Type,
        width: Width,
    ) -> Result<(Register, u64), Reason> {
        let Operand::Name(name) = operand else {
            return Err("the destination must be a register".to_owned());
        };
        match self.names.find(name) {
            Some(Symbol::Register(declared, register)) => {
                check_register(name, declared, ty, width)?;
                Ok((register, declared.mask()))
            }
            Some(_) => Err(format!("`{name}` is not a register that can hold {ty}")),
            None if name == DISCARD => {
                // The results nobody wants share a register that nobody reads.
                let scratch = "_%discarded";
                if self.names.find(scratch).is_none() {
                    self.names.declare_register(scratch, Type::B64)?;
                }
                self.destination_of_width(
                    &Operand::Name(scratch.to_owned()),
                    Type::B64,
                    Width::Exact,
                )
            }
            None => Err(format!("register `{name}` is not declared")),
        }
    }

    /// Returns the register of a destination of a type.
    pub fn destination(&mut self, operand: &Operand, ty: Type) -> Result<Register, Reason> {
        Ok(self.destination_of_width(operand, ty, Width::Exact)?.0)
    }

    /// Returns a predicate by its name.
    pub fn predicate_named(&self, name: &str) -> Result<PredicateRegister, Reason> {
        match self.names.find(name) {
            Some(Symbol::Predicate(predicate)) => Ok(predicate),
            Some(_) => Err(format!("`{name}` is not a predicate")),
            None => Err(format!("predicate `{name}` is not declared")),
        }
    }

    /// Returns a predicate.
    pub fn predicate(&self, operand: &Operand) -> Result<PredicateRegister, Reason> {
        match operand {
            Operand::Name(name) => self.predicate_named(name),
            _ => Err("a predicate is expected".to_owned()),
        }
    }

    /// Returns a predicate that may be negated.
    pub fn predicate_source(&self, operand: &Operand) -> Result<Guard, Reason> {
        match operand {
            Operand::Negated(name) => {
                Ok(Guard { predicate: self.predicate_named(name)?, negated: true })
            }
            _ => Ok(Guard { predicate: self.predicate(operand)?, negated: false }),
        }
    }

    /// Returns a predicate, or none where the result is not wanted.
    pub fn optional_predicate(&self, name: &str) -> Result<Option<PredicateRegister>, Reason> {
        if name == DISCARD { Ok(None) } else { self.predicate_named(name).map(Some) }
    }

    /// Returns the address of an access to a state space other than the parameters.
    pub fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, Reason> {
        let Operand::Address(base, offset) = operand else {
            return Err("an address in brackets is expected".to_owned());
        };
        let base = match self.names.find(base) {
            Some(Symbol::Register(ty, register)) => {
                let narrow = ty.bytes() == 4 && !matches!(space, Space::Global | Space::Generic);
                if ty.is_float() || ty.bytes() != 8 && !narrow {
                    return Err(format!(
                        "`{base}` ({ty}) cannot be an address of this state space"
                    ));
                }
                register
            }
            Some(symbol) => {
                let own = match symbol {
                    Symbol::Shared(_) | Symbol::DynamicShared => Space::Shared,
                    Symbol::Local(_) => Space::Local,
                    Symbol::Global(_) => Space::Global,
                    Symbol::Const(_) => Space::Const,
                    Symbol::Parameter(..) => Space::Param,
                    Symbol::Register(..) | Symbol::Predicate(_) => {
                        return Err(format!("`{base}` is not an address"));
                    }
                };
                let generic = space == Space::Generic && own == Space::Global;
                if own != space && !generic {
                    return Err(format!("`{base}` is in {own:?} memory, the access in {space:?}"));
                }
                self.variable_address(symbol)?
            }
            None => return Err(format!("`{base}` is not declared")),
        };
        Ok(Address { space, base, offset: *offset })
    }
}

/// Returns the bits of an integer constant of a type.
fn integer_bits(value: i128, ty: Type) -> Result<u64, Reason> {
    let bits = 8 * ty.bytes() as u32;
    if value >= -(1i128 << (bits - 1)) && value < 1i128 << bits {
        Ok(value as u64 & ty.mask())
    } else {
        Err(format!("{value} does not fit type {ty}"))
    }
}

/// Fails unless a register of type `declared` can stand where `ty` is wanted.
fn check_register(name: &str, declared: Type, ty: Type, width: Width) -> Result<(), Reason> {
    let wide_enough = match width {
        Width::Exact => declared.bytes() == ty.bytes(),
        Width::AtLeast if ty.is_float() => declared.bytes() == ty.bytes(),
        Width::AtLeast => declared.bytes() >= ty.bytes(),
    };
    let same_kind = declared.is_float() == ty.is_float() || declared.is_bits() || ty.is_bits();
    if wide_enough && same_kind {
        Ok(())
    } else {
        Err(format!("register `{name}` is {declared}, the instruction wants {ty}"))
    }
}
