//! Types, classes and schemes as data.

use crate::base::{Constants, ItemId, Name};
use crate::syntax::ast::ExprId;
use std::sync::Arc;

/// A type. `Ty::Var(n)` is variable `n` of the [`Scheme`] that contains it, or, during inference, of
/// the unifier's table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The type after an error that has been reported; it unifies with every type.
    Error,
    /// The type `int`.
    Int,
    /// The type `float`.
    Float,
    /// The type `bool`.
    Bool,
    /// The type `char`.
    Char,
    /// The pair type `a, b`.
    Pair(Arc<Ty>, Arc<Ty>),
    /// The sequence type `[a]`.
    Sequence(Arc<Ty>),
    /// A record type and its type arguments.
    Record(Record, Arc<[Ty]>),
    /// A function type. Function values exist only at compile time: the type says *which* function
    /// it is, so that calls can be specialised; two different functions have different types.
    Function(Arc<FunctionTy>),
    /// The identity of a function and its type arguments; occurs only in [`FunctionTy::code`].
    Code(Code, Arc<[Ty]>),
    /// A type variable.
    Var(u32),
}

/// A record type by its definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The item of its `datatype` form.
    pub item: ItemId,
    /// The name as it is printed.
    pub name: Name,
}

/// The parts of a function type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionTy {
    /// The type of the parameter.
    pub param: Ty,
    /// The type of the result.
    pub result: Ty,
    /// The identity of the function: `Ty::Code`, or a variable.
    pub code: Ty,
}

/// The identity of a function. Its type arguments are beside it in [`Ty::Code`]: the
/// instantiation of the definition's scheme variables; for a lambda, of the scheme variables of
/// the item it is written in (empty while that very item is being inferred).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A function or constructor defined by an item.
    Item(ItemId),
    /// A primitive operation.
    Prim(crate::prim::Prim),
    /// A lambda, by its item and expression.
    Lambda(ItemId, ExprId),
}

/// The type classes of NESL: sets of types that a variable ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The class `any` of all types.
    Any,
    /// The class `ordinal`: int, float and char.
    Ordinal,
    /// The class `logical`: int and bool.
    Logical,
    /// The class `number`: int and float.
    Number,
    /// A class of one scalar type, as in `a in int`.
    Just(Basic),
}

impl Class {
    /// Returns the type of a class of one; a function's type variable in that class is an alias of
    /// that type.
    pub(super) fn only(self) -> Option<Ty> {
        match self {
            Class::Just(Basic::Int) => Some(Ty::Int),
            Class::Just(Basic::Float) => Some(Ty::Float),
            Class::Just(Basic::Bool) => Some(Ty::Bool),
            Class::Just(Basic::Char) => Some(Ty::Char),
            Class::Any | Class::Ordinal | Class::Logical | Class::Number => None,
        }
    }
}

/// The scalar types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Basic {
    Int,
    Float,
    Bool,
    Char,
}

/// A type generalised over classes of variables: `Ty::Var(i)` in `ty` ranges over `vars[i]`.
///
/// `vars` also holds the variables for function identities, which are not displayed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// The class of each variable.
    pub vars: Vec<Class>,
    /// The generalised type.
    pub ty: Ty,
}

impl Scheme {
    /// Returns the scheme of a type without variables.
    pub fn mono(ty: Ty) -> Scheme {
        Scheme { vars: Vec::new(), ty }
    }
}

impl Ty {
    /// Substitutes `args[i]` for variable `i`; variables beyond `args` stay.
    pub fn substitute(&self, args: &[Ty]) -> Ty {
        match self {
            Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => self.clone(),
            Ty::Var(var) => args.get(*var as usize).cloned().unwrap_or(Ty::Var(*var)),
            Ty::Pair(a, b) => Ty::Pair(a.substitute(args).into(), b.substitute(args).into()),
            Ty::Sequence(a) => Ty::Sequence(a.substitute(args).into()),
            Ty::Record(record, own) => {
                Ty::Record(record.clone(), own.iter().map(|a| a.substitute(args)).collect())
            }
            Ty::Code(code, own) => {
                Ty::Code(*code, own.iter().map(|a| a.substitute(args)).collect())
            }
            Ty::Function(f) => Ty::Function(Arc::new(FunctionTy {
                param: f.param.substitute(args),
                result: f.result.substitute(args),
                code: f.code.substitute(args),
            })),
        }
    }

    /// Makes the function type from `param` to `result`, with the identity `code`.
    pub fn function(param: Ty, result: Ty, code: Ty) -> Ty {
        Ty::Function(Arc::new(FunctionTy { param, result, code }))
    }

    /// Returns the type of the elements of a long literal.
    pub fn of_constants(constants: &Constants) -> Ty {
        match constants {
            Constants::Ints(_) => Ty::Int,
            Constants::Floats(_) => Ty::Float,
            Constants::Bools(_) => Ty::Bool,
            Constants::Chars(_) => Ty::Char,
            Constants::Pairs(pair) => {
                Ty::Pair(Ty::of_constants(&pair.0).into(), Ty::of_constants(&pair.1).into())
            }
            Constants::Sequences { elements, .. } => Ty::of_constants(elements).sequence(),
        }
    }

    /// Makes the type of sequences of this type.
    pub fn sequence(self) -> Ty {
        Ty::Sequence(Arc::new(self))
    }
}
