//! Types, operands and the ids that they are made of.

use crate::base::{ItemId, Span};

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

/// A function of the program, an index into [`Program::functions`](super::Program::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunId(pub u32);

/// A top-level variable, an index into [`Program::globals`](super::Program::globals).
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

impl Atom {
    /// Returns the variable that the operand is; `None` for a constant.
    pub fn variable(self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
        }
    }
}
