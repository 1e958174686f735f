//! Types, classes and schemes as data.

use crate::base::{ItemId, Name};
use crate::syntax::ast::ExprId;
use std::sync::Arc;

/// A type. `Ty::Var(n)` is variable `n` of the [`Scheme`] it stands in, or, during inference, of
/// the unifier's table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Something already reported; agrees with everything.
    Error,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `a, b`
    Pair(Arc<Ty>, Arc<Ty>),
    /// `[a]`
    Sequence(Arc<Ty>),
    /// A record and its type arguments.
    Record(Record, Arc<[Ty]>),
    /// A function. Function values exist only at compile time: the type carries *which* function
    /// it is, so that calls can be specialised; two different functions have different types.
    Function(Arc<FunctionTy>),
    /// The identity of a function, only ever found in [`FunctionTy::code`].
    Code(Code, Arc<[Ty]>),
    /// A type variable.
    Var(u32),
}

/// A record type by its definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The `datatype` form.
    pub item: ItemId,
    /// Its name, for display.
    pub name: Name,
}

/// The parts of a function type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionTy {
    /// What it takes.
    pub param: Ty,
    /// What it gives.
    pub result: Ty,
    /// Which function it is: `Ty::Code`, or a variable.
    pub code: Ty,
}

/// Which function a function value is. Its type arguments stand beside it in [`Ty::Code`]: the
/// instantiation of the definition's scheme variables; for a lambda, of the scheme variables of
/// the item it is written in (empty while that very item is being inferred).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A function or constructor defined by an item.
    Item(ItemId),
    /// A primitive.
    Prim(crate::prim::Prim),
    /// A lambda, by its place.
    Lambda(ItemId, ExprId),
}

/// The type classes (LANGUAGE section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Everything.
    Any,
    /// int, float, char.
    Ordinal,
    /// int, bool.
    Logical,
    /// int, float.
    Number,
    /// A class of one, as in `a in int`.
    Just(Basic),
}

impl Class {
    /// The type of a class of one. A variable of a function in it is that type by another name.
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
#[allow(missing_docs, reason = "they are what they say")]
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
    /// The type.
    pub ty: Ty,
}

impl Scheme {
    /// A type without variables.
    pub fn mono(ty: Ty) -> Scheme {
        Scheme { vars: Vec::new(), ty }
    }
}

impl Ty {
    /// The type with `args` in place of the variables.
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

    /// The function type from `param` to `result`.
    pub fn function(param: Ty, result: Ty, code: Ty) -> Ty {
        Ty::Function(Arc::new(FunctionTy { param, result, code }))
    }

    /// `[self]`
    pub fn sequence(self) -> Ty {
        Ty::Sequence(Arc::new(self))
    }
}
