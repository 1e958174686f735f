//! The core program of a single form, and its description.
//!
//! A form is compiled against the definitions in its file and in those that it loads, of which none
//! has been executed. A polymorphic function has no single program; it is shown at the simplest
//! types of its scheme.

use crate::base::{Diagnostic, ItemId, Loc, Severity};
use crate::db::{Database, FileDefinitions, Form};
use crate::elaborate;
use crate::ir;
use crate::pipeline;
use crate::syntax::RawKind;
use crate::syntax::ast::ItemKind;
use crate::types::{Basic, Class, Signature, Ty};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// Returns a description of a form: `function dot`, `line 12`.
pub fn subject(db: &Database, form: &Form) -> String {
    match (form.kind, form.names.first()) {
        (RawKind::Function, Some(name)) => format!("function {name}"),
        (RawKind::Datatype, Some(name)) => format!("datatype {name}"),
        (RawKind::Binding, Some(name)) => name.to_string(),
        _ => {
            let place = db.whole(form.id());
            let before = &db.file_text(place.file)[..place.range.start().into()];
            format!("line {}", before.matches('\n').count() + 1)
        }
    }
}

/// Returns the core program of a form (stage `ir`). A polymorphic function is compiled for the
/// simplest types of its scheme ([`example`]).
///
/// # Errors
/// One line that says why there is no program.
pub(super) fn program(
    db: &Database,
    item: ItemId,
    precision: Precision,
) -> Result<ir::Program, String> {
    program_at(db, item, None, precision)
}

/// Returns the core program of a form (stage `ir`). `args` are types for the variables of the
/// scheme of a polymorphic function; `None` for the simplest.
pub(super) fn program_at(
    db: &Database,
    item: ItemId,
    args: Option<Arc<[Ty]>>,
    precision: Precision,
) -> Result<ir::Program, String> {
    elaborated(db, item, args, precision).map(pipeline::core)
}

/// Returns the program of a form as [`program_at`] does, but at the stage `elaborated`.
pub(super) fn elaborated(
    db: &Database,
    item: ItemId,
    args: Option<Arc<[Ty]>>,
    precision: Precision,
) -> Result<ir::Program, String> {
    if broken(db, item) {
        return Err("there are errors here".to_owned());
    }
    let definitions = FileDefinitions::unexecuted(db);
    let fail = |mut all: Vec<Diagnostic<Loc>>| {
        all.pop().map_or_else(String::new, |diagnostic| diagnostic.message)
    };
    let program = match &db.ast(item).kind {
        ItemKind::Expr(_) | ItemKind::Binding { .. } => {
            elaborate::elaborate(item, &definitions, precision).map_err(fail)?.program
        }
        ItemKind::Function(function) if function.body.is_some() => {
            let Signature::Function { scheme, .. } = &**db.signature(item) else {
                return Err("there are errors here".to_owned());
            };
            if takes_functions(&scheme.ty) {
                let name = &function.name.name;
                return Err(format!("`{name}` takes a function: it exists where it is called"));
            }
            let simplest = || scheme.vars.iter().map(|class| example(*class)).collect();
            let args: Arc<[Ty]> = args.unwrap_or_else(simplest);
            elaborate::elaborate_function(item, args, &definitions, precision).map_err(fail)?
        }
        ItemKind::Function(_) => return Err("it is only declared here".to_owned()),
        ItemKind::Datatype(_) => return Err("a datatype is its contents".to_owned()),
        ItemKind::Command(_) => return Err("a command is no program".to_owned()),
        ItemKind::Missing => return Err("there is no form here".to_owned()),
    };
    Ok(program)
}

/// Returns true if a form, or a form that it refers to, has errors, so that it has no program.
fn broken(db: &Database, item: ItemId) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut todo = vec![item];
    while let Some(item) = todo.pop() {
        if db.is_library(item) || !seen.insert(item) {
            continue;
        }
        if db.diagnostics(item).iter().any(|d| d.severity == Severity::Error) {
            return true;
        }
        todo.extend(&db.names(item).references);
    }
    false
}

/// Returns the simplest type of a class, for which a polymorphic function is shown.
pub fn example(class: Class) -> Ty {
    match class {
        Class::Just(Basic::Float) => Ty::Float,
        Class::Just(Basic::Bool) => Ty::Bool,
        Class::Just(Basic::Char) => Ty::Char,
        Class::Any | Class::Ordinal | Class::Logical | Class::Number | Class::Just(Basic::Int) => {
            Ty::Int
        }
    }
}

/// Returns true for the type of a function that takes or returns functions: it is specialised at
/// each call, and has no program of its own.
pub fn takes_functions(ty: &Ty) -> bool {
    match ty {
        Ty::Function(f) => contains_function(&f.param) || contains_function(&f.result),
        _ => false,
    }
}

fn contains_function(ty: &Ty) -> bool {
    match ty {
        Ty::Function(_) => true,
        Ty::Pair(a, b) => contains_function(a) || contains_function(b),
        Ty::Sequence(a) => contains_function(a),
        Ty::Record(_, args) => args.iter().any(contains_function),
        Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Code(..) | Ty::Var(_) => false,
    }
}
