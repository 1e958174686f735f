//! Typed ast → [`ir`].
//!
//! One pass removes everything the core language does not have: patterns become projections,
//! records their contents, overloaded operators the operation for their type, and every function
//! is specialised for the types it is used at, found on demand from the form to be run. Since a
//! function's type says *which* function it is, this specialises function values as well: a
//! higher-order function gets an instance for each function it is given, and a function value is
//! at run time no more than the variables it captured.
//!
//! ```text
//! function twice(g, x) = g(g(x));      ⇒   fun twice@…(g: int, x: int) -> int {   % g: the captured k %
//! let k = 3 in twice(y => y + k, 4)            let a = call lambda(g, x) …
//! ```
//!
//! The design starts from a separate monomorphisation pass over a polymorphic core; fusing the two
//! needs no polymorphic core and no second copy of every construct (see the book, "Decisions").

mod build;
mod call;
mod derive;
mod expr;
mod instance;
mod lower;
mod pattern;
mod watch;

use crate::base::{Diagnostic, ItemId, Loc, Name};
use crate::ir;
use crate::names::Names;
use crate::syntax::ast;
use crate::types::{ItemTypes, Signature, Ty};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

pub use pattern::{Step, bound_names};
pub use watch::{Mark, Watched, WatchedBinding, WatchedFunction, form_name};

/// What elaboration asks about the program.
pub trait Context {
    /// The syntax of an item.
    fn ast(&self, item: ItemId) -> Arc<ast::Item>;
    /// Its names.
    fn names(&self, item: ItemId) -> &Names;
    /// Its types.
    fn types(&self, item: ItemId) -> Arc<ItemTypes>;
    /// What others see of it.
    fn signature(&self, item: ItemId) -> Arc<Signature>;
    /// The definition that has taken the place of an item's `name` by now: a later one of the same
    /// name and type (LANGUAGE section 7), usually itself.
    fn current(&self, item: ItemId, name: &Name) -> ItemId;
    /// The name of what it defines.
    fn name(&self, item: ItemId) -> Name;
    /// Whether it belongs to the library.
    fn is_library(&self, item: ItemId) -> bool;
    /// Whether the calls and bindings of a function are watched, and so to be marked.
    fn watched(&self, item: ItemId) -> bool {
        let _ = item;
        false
    }
}

/// A form made into a program.
#[derive(Clone, Debug)]
pub struct Elaborated {
    /// The program; `main` computes the value of the form.
    pub program: ir::Program,
    /// The type of that value, as the user sees it.
    pub ty: Ty,
    /// What of it is watched.
    pub watched: Watched,
}

/// Elaborates a top-level expression or binding, and what it calls.
///
/// The item and everything it refers to must be free of errors. Fails only on what depends on
/// the precision (a literal too large for 32 bits) or on a function declared but never defined.
pub fn elaborate(
    item: ItemId,
    context: &dyn Context,
    precision: Precision,
) -> Result<Elaborated, Vec<Diagnostic<Loc>>> {
    let mut elaborator = instance::Elaborator::new(context, precision, item);
    let (main, ty) = elaborator.main(item);
    let (program, watched) = elaborator.finish(main)?;
    debug_assert_eq!(ir::verify(&program), Vec::<String>::new(), "elaboration keeps the law");
    Ok(Elaborated { program, ty, watched })
}

/// Elaborates a function at given types, and what it calls; for looking at it. `main` is the
/// function itself, parameters and all.
pub fn elaborate_function(
    item: ItemId,
    args: Arc<[Ty]>,
    context: &dyn Context,
    precision: Precision,
) -> Result<ir::Program, Vec<Diagnostic<Loc>>> {
    let mut elaborator = instance::Elaborator::new(context, precision, item);
    let main = elaborator.function(item, args);
    elaborator.finish(main).map(|(program, _)| program)
}
