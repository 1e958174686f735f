//! Describes the marks by which `set trace` and `set profile` observe an execution.
//!
//! The core language has operations, not the bindings of the user's text. In a watched function each
//! `let` binding is enclosed by two copies, which compute nothing and have no cost:
//!
//! ```text
//! let s = sum(v) in …        v1: unit = copy(unit)      begins `s`
//!                            v2: int  = reduce_sum(v0)
//!                            v3: int  = copy(v2)        ends `s`: its value
//! ```
//!
//! [`Watched`] is returned beside the program and says, by function and variable, which binding each
//! copy marks.

use crate::ir::{self, FunId, Var};
use crate::syntax::ast::{self, ItemKind, Pat, PatId};
use crate::types::Ty;
use rustc_hash::FxHashMap;

/// The watched functions of a program and the meaning of their marks.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The watched functions by their ids in the program.
    pub functions: FxHashMap<FunId, WatchedFunction>,
    /// The meaning of each copy, by its function and variable.
    pub marks: FxHashMap<(FunId, Var), Mark>,
}

/// A watched function at certain types.
#[derive(Clone, Debug)]
pub struct WatchedFunction {
    /// The name of the function.
    pub name: String,
    /// The variables of its parameter, then the optional ones, with their types.
    pub params: Vec<(String, Ty)>,
    /// The type of the result.
    pub result: Ty,
}

/// The meaning of a copy that marks a binding.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A binding begins: the one with this [`WatchedBinding::site`].
    Begin(ir::Site),
    /// The binding begun last ends; the copy's operand is its value.
    End(WatchedBinding),
}

/// A `let` binding of a watched function.
#[derive(Clone, Debug)]
pub struct WatchedBinding {
    /// The name of the function that contains it.
    pub function: String,
    /// The pattern as it is written: `x`, `(a, b)`.
    pub name: String,
    /// The type of the value.
    pub ty: Ty,
    /// True inside an apply-to-each.
    pub nested: bool,
    /// The location of the binding in the program's text, which is the same for all types at which
    /// its function is instantiated.
    pub site: ir::Site,
}

/// Returns a pattern as it is written: `x`, `(a, b)`, `complex(re, im)`. `nested` puts parentheses
/// around a pair.
pub fn pattern_text(item: &ast::Item, pat: PatId, nested: bool) -> String {
    match &item.pats[pat] {
        Pat::Name(name) => name.to_string(),
        Pat::Missing => "_".to_owned(),
        Pat::Pair(a, b) => {
            let first = pattern_text(item, *a, true);
            let inside = format!("{first}, {}", pattern_text(item, *b, false));
            if nested { format!("({inside})") } else { inside }
        }
        Pat::Record { name, content } => {
            format!("{}({})", name.name, pattern_text(item, *content, false))
        }
    }
}

/// Returns the name under which the value of a form is printed, as NESL 3.1 does: `it`, `x`, `(a,
/// b)`.
pub fn form_name(item: &ast::Item) -> String {
    match &item.kind {
        ItemKind::Binding { pattern, .. } => pattern_text(item, *pattern, true),
        ItemKind::Expr(_)
        | ItemKind::Function(_)
        | ItemKind::Datatype(_)
        | ItemKind::Command(_)
        | ItemKind::Missing => "it".to_owned(),
    }
}
