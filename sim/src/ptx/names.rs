//! The names that are declared: registers, variables, parameters; the registers of constants.

use super::error::Reason;
use crate::isa::code::{Constant, PredicateRegister, Register, Special};
use crate::isa::types::Type;
use std::collections::HashMap;

/// The registers that hold constants.
type Constants = Vec<(Register, Constant)>;

/// The registers that hold special values.
type Specials = Vec<(Register, Special)>;

/// A declared name.
#[derive(Clone, Copy, Debug)]
pub enum Symbol {
    /// A register of a type.
    Register(Type, Register),
    /// A predicate by its number.
    Predicate(PredicateRegister),
    /// A parameter at an offset, of a size in bytes.
    Parameter(usize, usize),
    /// A variable in shared memory at an offset.
    Shared(usize),
    /// The dynamic shared memory.
    DynamicShared,
    /// A variable in local memory at an offset.
    Local(usize),
    /// A variable of the module in global memory, by its number.
    Global(usize),
    /// A variable of the module in its constants, at an offset.
    Const(usize),
}

/// The names of a kernel, by nested scopes, and its register file as it grows.
#[derive(Default)]
pub struct Names {
    scopes: Vec<HashMap<String, Symbol>>,
    registers: usize,
    predicates: usize,
    constants: HashMap<Constant, Register>,
    specials: Vec<(Register, Special)>,
    /// The bytes of static shared memory so far.
    pub shared_bytes: usize,
    /// The alignment of the dynamic shared memory, if it is declared.
    pub dynamic_shared: Option<usize>,
    /// The bytes of local memory so far.
    pub local_bytes: usize,
}

impl Names {
    /// Opens a scope.
    pub fn open(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, name: &str, symbol: Symbol) -> Result<(), Reason> {
        let Some(scope) = self.scopes.last_mut() else {
            return Err("a declaration outside of any scope".to_owned());
        };
        match scope.insert(name.to_owned(), symbol) {
            None => Ok(()),
            Some(_) => Err(format!("`{name}` is declared twice")),
        }
    }

    /// Returns what a name stands for, the innermost scope first.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// Declares a register or a predicate.
    pub fn declare_register(&mut self, name: &str, ty: Type) -> Result<(), Reason> {
        let symbol = if ty == Type::Pred {
            self.predicates += 1;
            let number = PredicateRegister::try_from(self.predicates - 1)
                .map_err(|_| "more than 65536 predicates".to_owned())?;
            Symbol::Predicate(number)
        } else {
            Symbol::Register(ty, self.fresh()?)
        };
        self.declare(name, symbol)
    }

    /// Returns the register that holds a constant.
    pub fn constant(&mut self, constant: Constant) -> Result<Register, Reason> {
        if let Some(&register) = self.constants.get(&constant) {
            return Ok(register);
        }
        let register = self.fresh()?;
        self.constants.insert(constant, register);
        Ok(register)
    }

    /// Returns the register that holds a special value.
    pub fn special(&mut self, special: Special) -> Result<Register, Reason> {
        if let Some((register, _)) = self.specials.iter().find(|(_, known)| *known == special) {
            return Ok(*register);
        }
        let register = self.fresh()?;
        self.specials.push((register, special));
        Ok(register)
    }

    /// Returns the number of registers and of predicates.
    pub fn counts(&self) -> (usize, usize) {
        (self.registers, self.predicates)
    }

    /// Returns the registers of constants, in their order, and of special values.
    pub fn preloaded(self) -> (Constants, Specials) {
        let mut constants: Vec<_> =
            self.constants.into_iter().map(|(constant, register)| (register, constant)).collect();
        constants.sort_by_key(|(register, _)| *register);
        (constants, self.specials)
    }

    /// Makes room for a variable of an alignment and returns its offset.
    pub fn place(used: &mut usize, bytes: usize, align: usize) -> usize {
        let offset = used.next_multiple_of(align);
        *used = offset + bytes;
        offset
    }

    fn fresh(&mut self) -> Result<Register, Reason> {
        self.registers += 1;
        Register::try_from(self.registers - 1).map_err(|_| "more than 65536 registers".to_owned())
    }
}

/// Returns the special value with this name.
pub fn special(name: &str) -> Option<Special> {
    let dimension = |suffix: &str| match suffix {
        "x" => Some(0u8),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    match name.split_once('.') {
        Some(("%tid", suffix)) => dimension(suffix).map(Special::Thread),
        Some(("%ntid", suffix)) => dimension(suffix).map(Special::Threads),
        Some(("%ctaid", suffix)) => dimension(suffix).map(Special::Block),
        Some(("%nctaid", suffix)) => dimension(suffix).map(Special::Blocks),
        Some(_) => None,
        None => match name {
            "%laneid" => Some(Special::Lane),
            "%warpid" => Some(Special::Warp),
            "%nwarpid" => Some(Special::Warps),
            "%lanemask_lt" => Some(Special::MaskBelow),
            "%lanemask_le" => Some(Special::MaskUpTo),
            "%lanemask_gt" => Some(Special::MaskAbove),
            "%lanemask_ge" => Some(Special::MaskFrom),
            _ => None,
        },
    }
}
