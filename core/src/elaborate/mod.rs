//! Typed ast → [`ir`]: elaboration.
//!
//! One pass removes everything the core language does not have: patterns become projections,
//! records become their contents, overloaded operators become the operation for their type (no
//! dictionaries are passed), and every function is specialised for the types it is used at, on
//! demand from the form that is executed (monomorphisation). Since a
//! function's type says *which* function it is, this also specialises function values: a
//! higher-order function gets an instance for each function it is given (defunctionalisation by
//! specialisation), and at run time a function value is the tuple of the variables it captured.
//!
//! ```text
//! function twice(g, x) = g(g(x));      ⇒   fun twice@…(g: int, x: int) -> int {   % g: the captured k %
//! let k = 3 in twice(y => y + k, 4)            let a = call lambda(g, x) …
//! ```
//!
//! A separate monomorphisation pass would need a polymorphic core language and a second copy of every
//! construct; doing both in one pass needs neither (see the book, "Decisions").
//!
//! | file | contents |
//! |---|---|
//! | `instance` | the instances that the program needs, and the work list that elaborates them |
//! | `expr` | expressions, and the binding of patterns to values |
//! | `call` | calls of functions, constructors, primitives and function values |
//! | `pattern` | patterns as data: variables, shapes, captured variables |
//! | `lower` | types of the language → types of the core; closures |
//! | `derive` | functions defined by the structure of a type |
//! | `distinct` | the search for the different elements of a sequence |
//! | `build` | blocks under construction |
//! | `watch` | the description of watched functions and the marks of their bindings |
//! | `mark` | emission of these marks |

mod build;
mod call;
mod derive;
mod distinct;
mod expr;
mod instance;
mod lower;
mod mark;
mod pattern;
mod watch;

use crate::base::{Diagnostic, ItemId, Loc, Name};
use crate::ir;
use crate::names::Names;
use crate::syntax::ast;
use crate::types::{ItemTypes, Signature, Ty};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

pub use pattern::{Projection, bound_names};
pub use watch::{Mark, Watched, WatchedBinding, WatchedFunction, form_name};

/// The definitions of a program as elaboration reads them.
pub trait Definitions {
    /// Returns the syntax of an item.
    fn ast(&self, item: ItemId) -> Arc<ast::Item>;
    /// Returns the resolved names of an item.
    fn names(&self, item: ItemId) -> &Names;
    /// Returns the inferred types of an item.
    fn types(&self, item: ItemId) -> Arc<ItemTypes>;
    /// Returns the signature of an item.
    fn signature(&self, item: ItemId) -> Arc<Signature>;
    /// Returns the definition in force for an item's `name`: the latest one of the same name and
    /// type (a redefinition), usually the item itself.
    fn current(&self, item: ItemId, name: &Name) -> ItemId;
    /// Returns the name that an item defines.
    fn name(&self, item: ItemId) -> Name;
    /// Returns true if an item belongs to the library.
    fn is_library(&self, item: ItemId) -> bool;
    /// Returns true if the calls and bindings of a function are watched, so that they get marks.
    fn watched(&self, item: ItemId) -> bool {
        let _ = item;
        false
    }
}

/// The program of a form.
#[derive(Clone, Debug)]
pub struct Elaborated {
    /// The program; `main` computes the value of the form.
    pub program: ir::Program,
    /// The type of that value, as the user sees it.
    pub ty: Ty,
    /// The watched functions and the meaning of their marks.
    pub watched: Watched,
}

/// Elaborates a top-level expression or binding, and what it calls.
///
/// The item and everything it refers to must be free of errors. Fails only on what depends on
/// the precision (a literal too large for 32 bits) or on a function declared but never defined.
pub fn elaborate(
    item: ItemId,
    definitions: &dyn Definitions,
    precision: Precision,
) -> Result<Elaborated, Vec<Diagnostic<Loc>>> {
    let mut elaborator = instance::Elaborator::new(definitions, precision, item);
    let (main, ty) = elaborator.main(item);
    let (program, watched) = elaborator.finish(main)?;
    debug_assert_eq!(ir::verify(&program), Ok(()), "elaboration gives a well-formed program");
    Ok(Elaborated { program, ty, watched })
}

/// Elaborates a function at given types, and what it calls, to be inspected rather than run: `main` is
/// the function itself, with its parameters.
pub fn elaborate_function(
    item: ItemId,
    args: Arc<[Ty]>,
    definitions: &dyn Definitions,
    precision: Precision,
) -> Result<ir::Program, Vec<Diagnostic<Loc>>> {
    let mut elaborator = instance::Elaborator::new(definitions, precision, item);
    let main = elaborator.function(item, args);
    elaborator.finish(main).map(|(program, _)| program)
}
