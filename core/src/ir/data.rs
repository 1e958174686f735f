//! The core language as data.
//!
//! First-order, monomorphic, A-normal: every operand is an [`Atom`], every intermediate value has
//! a name, a type and a [`Site`]. Patterns, records, overloading, polymorphism, function values
//! and optional arguments are gone; a record is its contents, a function value is the tuple of
//! the variables it captured. The one parallel construct is [`Nest`].

use super::op::Op;
use crate::base::{ItemId, Span};
use smol_str::SmolStr;

/// A monomorphic type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The type without information, of a function value without captured variables.
    Unit,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// A pair.
    Pair(Box<Ty>, Box<Ty>),
    /// A sequence.
    Sequence(Box<Ty>),
}

/// A variable, unique in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A function of the program, an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunId(pub u32);

/// A top-level variable, an index into [`Program::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// The location in the source that an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The top-level form.
    pub item: ItemId,
    /// The tokens, as a part of the form.
    pub span: Span,
}

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
    /// Depth is 1 (a scan machine, LANGUAGE section 12), or log₂ n too under `--log-scan`.
    pub scans: bool,
}

/// A term of a cost formula. Sizes and lengths are those of LANGUAGE section 12.
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

/// A straight line of bindings and the value it ends in.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The bindings, in order of evaluation.
    pub lets: Vec<Let>,
    /// The result.
    pub result: Atom,
}

/// One binding.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The variable that is bound.
    pub var: Var,
    /// The type of the value.
    pub ty: Ty,
    /// The operation.
    pub op: Op,
    /// The source location blamed for a fault.
    pub site: Site,
}

/// An operand: a variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// The one value of `Unit`.
    Unit,
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A char.
    Char(u8),
}
