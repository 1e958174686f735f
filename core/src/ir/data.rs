//! Programs of the core language.
//!
//! The language is first-order, monomorphic and in A-normal form: every operand is an [`Atom`],
//! every intermediate value has a name, a type and a [`Site`]. Patterns, records, overloading,
//! polymorphism, function values and optional arguments were removed by elaboration; a record is
//! its contents, a function value is the tuple of the variables it captured. The only parallel
//! construct is [`Nest`](super::Nest).

use super::op::Block;
use super::value::{FunId, Site, Ty, Var};
use crate::base::ItemId;
use smol_str::SmolStr;

/// A whole program: one top-level form with the functions that it calls, directly or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The functions; calls name them by index.
    pub functions: Vec<Function>,
    /// The top-level variables that it reads.
    pub globals: Vec<Global>,
    /// The function that computes the form. It has one parameter of type int if it draws random
    /// numbers (the key from which all keys are split), otherwise none.
    pub main: FunId,
}

/// A top-level variable of an earlier form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The form that defines it.
    pub item: ItemId,
    /// The name of the variable; a form may define several.
    pub name: SmolStr,
    /// The type of the variable.
    pub ty: Ty,
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name for people: `qsort@[int]`, `qsort.lambda1@int`. Unique in the program.
    pub name: SmolStr,
    /// The parameters in order, with their types.
    pub params: Vec<(Var, Ty)>,
    /// The type of the result.
    pub result: Ty,
    /// The body of the function.
    pub body: Block,
    /// The source location of the definition.
    pub site: Site,
    /// True for a function of the library: a fault inside is reported at the call from the user's
    /// program.
    pub library: bool,
    /// The cost that a call is charged instead of that of its body, if the definition declares one.
    pub charge: Option<Charge>,
    /// The attribute by which a pass recognises the function.
    pub role: Option<Role>,
}

/// An attribute of a library function that a pass replaces by something better where it can; its
/// definition declares it ([`crate::prelude::role`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `[(int, a)] -> [(int, [a])]`: groups values by key, in the order of the keys.
    GroupByKey,
    /// `([a], int) -> a`: the element at an index of the sorted sequence, which has no NaN.
    SelectOne,
}

/// The declared cost of a library function, from the cost line of its doc string.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// The terms whose sum is the work of a call.
    pub work: Vec<CostTerm>,
    /// True if the function contains scans or reductions. The depth of a call is 1; with
    /// `--log-scan` it is log₂ n instead if this is true.
    pub scans: bool,
}

/// A term of a cost formula. The *size* of a scalar is 1, that of a sequence 1 plus the sizes of its
/// elements; the *length* of a sequence is the number of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostTerm {
    /// The constant 1.
    One,
    /// The length of the i-th parameter.
    Length(u32),
    /// The size of the i-th parameter.
    Size(u32),
    /// The size of the result.
    SizeOfResult,
    /// The length of the i-th parameter times its logarithm to base 2.
    LengthLog(u32),
    /// The size of the i-th parameter times the logarithm of its length to base 2.
    SizeLog(u32),
}

impl CostTerm {
    /// Returns the number of the parameter that the term is about.
    pub fn parameter(&self) -> Option<u32> {
        match self {
            CostTerm::One | CostTerm::SizeOfResult => None,
            CostTerm::Length(i)
            | CostTerm::Size(i)
            | CostTerm::LengthLog(i)
            | CostTerm::SizeLog(i) => Some(*i),
        }
    }

    /// Returns the number of the parameter that the term is about, to be changed.
    pub fn parameter_mut(&mut self) -> Option<&mut u32> {
        match self {
            CostTerm::One | CostTerm::SizeOfResult => None,
            CostTerm::Length(i)
            | CostTerm::Size(i)
            | CostTerm::LengthLog(i)
            | CostTerm::SizeLog(i) => Some(i),
        }
    }
}
