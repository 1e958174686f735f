//! Type inference: Hindley–Milner (Damas & Milner, "Principal type-schemes for functional programs",
//! 1982) with NESL's type classes, generalised per recursion group.
//!
//! Only top-level functions are generalised; a `let` is monomorphic, and so is recursion inside a
//! group. Two classes of one variable merge only if one contains the other.
//!
//! The type of a function says *which* function it is ([`Ty::Code`]), so that elaboration can specialise
//! every call of a function value; hence `[sin, cos]` is a type error.
//!
//! | file | contents |
//! |---|---|
//! | `ty` | types, classes and schemes as data |
//! | `declare` | type annotations → types and schemes |
//! | `unify` | unification of types with classes |
//! | `infer` | inference of a recursion group; `infer/` has expressions, generalisation, reports of errors |
//! | `print` | types as text |
//! | `size` | the limit on the size of types |
//! | `serial` | the check that serial functions are not used in parallel |
//! | `fit` | the test whether a type fits a missing argument, for completion |

mod declare;
mod fit;
mod infer;
mod print;
mod serial;
mod size;
mod ty;
mod unify;

pub use declare::{declared_signature, scheme_of_text};
pub use fit::ExpectedType;
pub use infer::{infer, infer_open};
pub use print::{CallParts, class_name, print_call, print_scheme, print_type};
pub use serial::serial_calls;
pub use size::MAX_PARTS;
pub(crate) use size::exceeds;
pub use ty::{Basic, Class, Code, FunctionTy, Record, Scheme, Ty};

use crate::base::{Diagnostic, ItemId, Loc, Name};
use crate::names::Names;
use crate::syntax::ast::{ArenaMap, ExprId, Item, PatId};
use std::sync::Arc;

/// The types of the names that an item defines: all that other items depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// The signature of a function.
    Function {
        /// Its scheme; the parameter is the positional one (without the optional ones).
        scheme: Scheme,
        /// The optional parameters and their types (in terms of the scheme's variables).
        optional: Vec<(Name, Ty)>,
    },
    /// A datatype and its constructor.
    Record {
        /// The constructor's scheme, `content -> record`; the record's arguments are
        /// `Var(0) .. Var(n)` in the order they were declared.
        scheme: Scheme,
    },
    /// The types of top-level variables, `it` included.
    Values {
        /// The names in order and their types; a scheme has variables only where a function
        /// value is polymorphic.
        values: Vec<(Name, Scheme)>,
    },
    /// The item has errors; its uses are not reported.
    Broken,
}

/// The typing environment of a recursion group: the signatures of all other items.
pub trait TypeEnvironment {
    /// Returns the signature of an item outside the group.
    fn signature(&self, item: ItemId) -> Arc<Signature>;
    /// Returns the location of an item's name, for the label "defined here".
    fn definition(&self, item: ItemId) -> Option<Loc>;
    /// Returns the name of an item, for messages.
    fn name(&self, item: ItemId) -> Name;
    /// Returns true if an item belongs to the library.
    fn is_library(&self, item: ItemId) -> bool;
}

/// A member of a recursion group.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The identity of the item.
    pub id: ItemId,
    /// The syntax of the item.
    pub item: &'a Item,
    /// The resolved names of the item.
    pub names: &'a Names,
}

/// The types of one item. Types are in terms of the variables of its signature's scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemTypes {
    /// The signature that other items see.
    pub signature: Arc<Signature>,
    /// The classes of the variables that occur in the types below: the scheme's own (all members
    /// of a group share them).
    pub vars: Vec<Class>,
    /// The type of every expression.
    pub exprs: ArenaMap<ExprId, Ty>,
    /// The type of every pattern.
    pub pats: ArenaMap<PatId, Ty>,
    /// The type arguments of each use of a polymorphic definition: the types for the variables of its
    /// scheme. Present for every `Expr::Name`, `Quote`, `Unary` and `Binary` that refers to an item or a
    /// primitive.
    pub uses: ArenaMap<ExprId, Arc<[Ty]>>,
    /// The type errors of the item.
    pub diagnostics: Vec<Diagnostic<Loc>>,
}

/// Returns true if two schemes are equal up to renaming of their variables.
pub fn same_scheme(a: &Scheme, b: &Scheme) -> bool {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    same(&a.ty, &b.ty, &mut |x, y| {
        if let Some(pair) = pairs.iter().find(|(v, w)| *v == x || *w == y) {
            return *pair == (x, y);
        }
        pairs.push((x, y));
        a.vars.get(x as usize) == b.vars.get(y as usize)
    })
}

fn same(a: &Ty, b: &Ty, vars: &mut dyn FnMut(u32, u32) -> bool) -> bool {
    match (a, b) {
        (Ty::Var(x), Ty::Var(y)) => vars(*x, *y),
        (Ty::Pair(a1, a2), Ty::Pair(b1, b2)) => same(a1, b1, vars) && same(a2, b2, vars),
        (Ty::Sequence(a), Ty::Sequence(b)) => same(a, b, vars),
        (Ty::Record(r, xs), Ty::Record(s, ys)) => {
            r.item == s.item && xs.iter().zip(ys.iter()).all(|(x, y)| same(x, y, vars))
        }
        // The identity of the function is ignored.
        (Ty::Function(f), Ty::Function(g)) => {
            same(&f.param, &g.param, vars) && same(&f.result, &g.result, vars)
        }
        _ => a == b,
    }
}

/// Returns the type of a record's content at some type arguments: the parameter of its constructor.
pub fn record_content(signature: &Signature, args: &[Ty]) -> Ty {
    match signature {
        Signature::Record { scheme } => match &scheme.ty {
            Ty::Function(f) => f.param.substitute(args),
            _ => Ty::Error,
        },
        Signature::Function { .. } | Signature::Values { .. } | Signature::Broken => Ty::Error,
    }
}
