//! Type rules of operations, in NESL's notation.
//!
//! ```text
//! signature!(([any], int) -> any)      indexing: the element type of the sequence is the result's
//! signature!((number, number) -> number)
//! ```
//!
//! The name of a [`TypeClass`] stands for the one type variable that a rule has: the same type
//! wherever it occurs. `ir::signature` matches rules against the types of operands.

use std::fmt;

/// The types that the variable of a type rule may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// All types of the language.
    Any,
    /// The types `int` and `float`.
    Number,
    /// The types `int`, `float` and `char`.
    Ordinal,
    /// The types `int` and `bool`.
    Logical,
    /// The types `int`, `float`, `char` and `bool`.
    Scalar,
    /// The types that the operator of a reduction, scan or histogram combines.
    Reducible,
}

/// A type in which the variable of a rule may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypePattern {
    /// The type `int`.
    Int,
    /// The type `float`.
    Float,
    /// The type `bool`.
    Bool,
    /// The type `char`.
    Char,
    /// The variable of the rule.
    Variable(TypeClass),
    /// A sequence of elements of a type.
    Sequence(&'static TypePattern),
    /// A pair; tuples are right-nested pairs.
    Pair(&'static TypePattern, &'static TypePattern),
}

/// NESL's notation, with every pair in parentheses; the variable is `a`.
impl fmt::Display for TypePattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypePattern::Int => write!(out, "int"),
            TypePattern::Float => write!(out, "float"),
            TypePattern::Bool => write!(out, "bool"),
            TypePattern::Char => write!(out, "char"),
            TypePattern::Variable(_) => write!(out, "a"),
            TypePattern::Sequence(element) => write!(out, "[{element}]"),
            TypePattern::Pair(first, second) => write!(out, "({first}, {second})"),
        }
    }
}

/// A type rule: the types of the operands and of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The types of the operands, in order.
    pub params: &'static [TypePattern],
    /// The type of the result.
    pub result: TypePattern,
}

/// A [`TypePattern`] in NESL's notation; a tuple is written with parentheses, `text` is `[char]`,
/// `status` is the result of file operations, `(bool, [char])`.
macro_rules! type_pattern {
    (int) => { $crate::prim::TypePattern::Int };
    (float) => { $crate::prim::TypePattern::Float };
    (bool) => { $crate::prim::TypePattern::Bool };
    (char) => { $crate::prim::TypePattern::Char };
    (text) => { $crate::prim::TypePattern::Sequence(&$crate::prim::TypePattern::Char) };
    (status) => { $crate::prim::ops::type_pattern!((bool, text)) };
    (any) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Any) };
    (number) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Number) };
    (ordinal) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Ordinal) };
    (logical) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Logical) };
    (scalar) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Scalar) };
    (reducible) => { $crate::prim::TypePattern::Variable($crate::prim::TypeClass::Reducible) };
    ([$element:tt]) => {
        $crate::prim::TypePattern::Sequence(&$crate::prim::ops::type_pattern!($element))
    };
    (($only:tt)) => { $crate::prim::ops::type_pattern!($only) };
    (($first:tt, $($rest:tt),+)) => {
        $crate::prim::TypePattern::Pair(
            &$crate::prim::ops::type_pattern!($first),
            &$crate::prim::ops::type_pattern!(($($rest),+)),
        )
    };
}

/// A [`Signature`] in NESL's notation: `signature!((any, int) -> [any])`.
macro_rules! signature {
    (($($param:tt),*) -> $result:tt) => {
        $crate::prim::Signature {
            params: &[$($crate::prim::ops::type_pattern!($param)),*],
            result: $crate::prim::ops::type_pattern!($result),
        }
    };
}

pub(crate) use {signature, type_pattern};
