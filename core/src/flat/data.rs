//! Flat programs as data. `space` explains their index spaces, `op` their steps.

use super::op::Block;
use super::space::IndexSpace;
use crate::ir::{self, Ty, Var};
use smol_str::SmolStr;

/// A flat program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program it was made from: code that an element executes for itself calls its functions.
    pub source: ir::Program,
    /// The flattened forms of the functions that have one, by their index there.
    pub functions: Vec<Option<Function>>,
}

/// A function for any number of work items at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name of the function that was flattened.
    pub name: SmolStr,
    /// Its parameters, in [`SpaceId::CALLER`](super::SpaceId::CALLER).
    pub params: Vec<(Var, Ty)>,
    /// The type of its result.
    pub result: Ty,
    /// The index spaces; the first is the caller's.
    pub spaces: Vec<IndexSpace>,
    /// The steps, and the result.
    pub body: Block,
    /// True for a function of the library: a fault inside is reported at the call.
    pub library: bool,
}
