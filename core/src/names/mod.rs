//! Which definition a name means.
//!
//! Locals are found here; a top-level name is asked of the [`Scope`], which knows the order of
//! forms, earlier entries and the prelude.

use crate::base::{Diagnostic, ItemId, Loc, Name};
use crate::prim::Prim;
use crate::syntax::ast::{ArenaMap, ExprId, Item, PatId};
use rustc_hash::FxHashMap;

/// What a use of a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A variable bound in the same item, by the `Pat::Name` that binds it.
    Local(PatId),
    /// An optional parameter of the enclosing function, by its index.
    Optional(u32),
    /// A function, constructor or top-level variable defined by an item. The name tells which
    /// variable of a binding it is.
    Item(ItemId, Name),
    /// A primitive.
    Prim(Prim),
    /// Nothing; already reported.
    Unknown,
}

/// What a name means at the top level, as seen from one item.
pub trait Scope {
    /// The definition of a value name (function, constructor, variable, primitive).
    fn value(&self, name: &Name) -> Option<Resolution>;
    /// The definition of a record type.
    fn record(&self, name: &Name) -> Option<ItemId>;
    /// All names in scope, for "did you mean".
    fn known(&self) -> Vec<Name>;
    /// Why a name is not there, if there is something better to say than "undefined": it failed
    /// above, it is defined below, …: the message, and a place to show.
    fn absent(&self, name: &Name) -> Option<(String, Option<Loc>)>;
}

/// The names of one item, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Names {
    /// Of `Expr::Name`, `Expr::Quote`, and of the operator of `Expr::Unary` and `Expr::Binary`.
    pub values: ArenaMap<ExprId, Resolution>,
    /// Of `Pat::Record`.
    pub pat_records: ArenaMap<PatId, ItemId>,
    /// Of record names in types.
    pub type_records: FxHashMap<Name, ItemId>,
    /// The items referred to, in order of first use; an item that refers to itself is included.
    pub references: Vec<ItemId>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic<Loc>>,
}

/// Resolves the names of one item.
pub fn resolve(id: ItemId, item: &Item, scope: &dyn Scope) -> Names {
    let _ = (id, item, scope);
    Names::default()
}
