//! The core language as data.
//!
//! First-order, monomorphic, A-normal: every operand is an [`Atom`], every intermediate value has
//! a name, a type and a [`Site`]. Patterns, records, overloading, polymorphism, function values
//! and optional arguments are gone; a record is its contents, a function value is the tuple of
//! the variables it captured. The one parallel construct is [`Nest`].

use super::op::Block;
use super::value::{FunId, Site, Ty, Var};
use crate::base::ItemId;
use smol_str::SmolStr;

/// A whole program: one top-level form with the functions that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The functions; calls name them by index.
    pub functions: Vec<Function>,
    /// The top-level variables it reads.
    pub globals: Vec<Global>,
    /// The form itself. It has one parameter of type int when it draws random numbers (the key
    /// from which they all derive), otherwise none.
    pub main: FunId,
}

/// A top-level variable of an earlier form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The form that defines it.
    pub item: ItemId,
    /// The name (a form may define several).
    pub name: SmolStr,
    /// The type of the variable.
    pub ty: Ty,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name for people: `qsort@[int]`, `qsort.lambda1@int`. Unique in the program.
    pub name: SmolStr,
    /// The parameters.
    pub params: Vec<(Var, Ty)>,
    /// The type of the result.
    pub result: Ty,
    /// The code.
    pub body: Block,
    /// The definition in the source.
    pub site: Site,
    /// True for a function of the library: a fault inside is reported at the call that left the user's
    /// program, and `charge`, where there is one, is what a call costs.
    pub library: bool,
    /// The cost that a call is charged (work by formula, depth) instead of that of its body.
    pub charge: Option<Charge>,
    /// The attribute by which a pass recognises it.
    pub role: Option<Role>,
}

/// An attribute of a library function that a pass replaces by something better where it can; its
/// definition declares it ([`crate::prelude::role`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `[(int, a)] -> [(int, [a])]`: groups values by key, in the order of the keys.
    GroupByKey,
}

/// The declared cost of a library function, from the cost line of its doc string.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// Work: the sum of these.
    pub work: Vec<CostTerm>,
    /// Depth is 1 (a scan machine; see the book's page on cost), or log₂ n too under `--log-scan`.
    pub scans: bool,
}

/// A term of a cost formula. Sizes and lengths are those of the cost model (the book's page on cost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostTerm {
    /// 1.
    One,
    /// The length of the i-th parameter.
    Length(u32),
    /// The size of the i-th parameter.
    Size(u32),
    /// The size of the result.
    SizeOfResult,
}
