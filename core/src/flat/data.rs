//! Flat programs as data. `space` explains their index spaces, `op` their steps.

use super::op::Block;
use super::space::IndexSpace;
use crate::ir::{self, FunId, Ty, Var};
use smol_str::SmolStr;

/// A flat program: the flattened functions, and the program that they were made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program that was flattened. Sequential code calls its functions.
    pub source: ir::Program,
    /// The flattened form of each function of `source`, by its index there; `None` if it has none.
    pub functions: Vec<Option<Function>>,
}

/// A flattened function: it is called for any number of work items at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name of the function that was flattened.
    pub name: SmolStr,
    /// The parameters, values of [`SpaceId::CALLER`](super::SpaceId::CALLER).
    pub params: Vec<(Var, Ty)>,
    /// The type of the result for each work item.
    pub result: Ty,
    /// The index spaces by number; the first is the caller's.
    pub spaces: Vec<IndexSpace>,
    /// The steps of the function, and its result.
    pub body: Block,
    /// True for a function of the library: a fault inside is reported at the call.
    pub library: bool,
    /// For a loop, the function that has one thread begin it, and goes on when that hands the loop back; its last parameter
    /// says how much a turn may make until then ([`mod@crate::fuse`]).
    pub in_one_thread: Option<FunId>,
}
