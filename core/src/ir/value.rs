//! Types, operands, and the ids of variables, functions and source locations.

use crate::base::{ItemId, Span};

/// A monomorphic type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The type with a single value: that of a function value without captured variables.
    Unit,
    /// The type `int`: 32 or 64 bits, as the precision says.
    Int,
    /// The type `float`: 32 or 64 bits, as the precision says.
    Float,
    /// The type `bool`.
    Bool,
    /// The type `char`, a byte.
    Char,
    /// A pair; a tuple is a right-nested pair.
    Pair(Box<Ty>, Box<Ty>),
    /// A sequence of elements of one type.
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
    /// The tokens of the form that the operation comes from.
    pub span: Span,
}

/// An operand: a variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Atom {
    /// The value of a variable.
    Var(Var),
    /// The only value of [`Ty::Unit`].
    Unit,
    /// An int constant.
    Int(i64),
    /// A float constant.
    Float(f64),
    /// A bool constant.
    Bool(bool),
    /// A char constant.
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
