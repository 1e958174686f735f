//! Inference: Hindley–Milner with NESL's classes, generalised per recursion group.

mod ty;

pub use ty::{Basic, Class, Code, FunctionTy, Record, Scheme, Ty};

use crate::base::{Diagnostic, ItemId, Loc, Name};
use crate::names::Names;
use crate::syntax::ast::{ArenaMap, ExprId, Item, PatId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What other items need to know of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// A function.
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
    /// Top-level variables (`it`, too).
    Values {
        /// The names in order and their types; a scheme has variables only where a function
        /// value is polymorphic.
        values: Vec<(Name, Scheme)>,
    },
    /// It has errors; uses of it are not reported again.
    Broken,
}

/// What inference asks about the rest of the program.
pub trait Context {
    /// The signature of an item outside the group.
    fn signature(&self, item: ItemId) -> Arc<Signature>;
    /// Where an item's name is (for "defined here").
    fn definition(&self, item: ItemId) -> Option<Loc>;
    /// The name an item is known by, for messages.
    fn name(&self, item: ItemId) -> Name;
}

/// A member of a recursion group.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// Its identity.
    pub id: ItemId,
    /// Its syntax.
    pub item: &'a Item,
    /// Its names, resolved.
    pub names: &'a Names,
}

/// The types of one item. Types are in terms of the variables of its signature's scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemTypes {
    /// What others see.
    pub signature: Arc<Signature>,
    /// The classes of the variables that occur in the types below: the scheme's own (all members
    /// of a group share them).
    pub vars: Vec<Class>,
    /// The type of every expression.
    pub exprs: ArenaMap<ExprId, Ty>,
    /// The type of every pattern.
    pub pats: ArenaMap<PatId, Ty>,
    /// How each polymorphic definition is used: the types for the variables of its scheme. For
    /// every `Expr::Name`, `Quote`, `Unary`, `Binary` that means an item or a primitive.
    pub uses: ArenaMap<ExprId, Arc<[Ty]>>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic<Loc>>,
}

/// Infers the types of a recursion group (usually one item).
pub fn infer(group: &[Member<'_>], context: &dyn Context) -> FxHashMap<ItemId, ItemTypes> {
    let _ = (group, context);
    FxHashMap::default()
}
