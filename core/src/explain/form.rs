//! A form by itself: its name, its types and the program that it stands for.
//!
//! A form is compiled here as it stands in its texts, without anything having been run before it.
//! A polymorphic function has no single program; it is shown at the simplest types of its scheme.

use crate::base::{Diagnostic, ItemId, Loc, Name, Severity};
use crate::db::{Database, Form};
use crate::elaborate;
use crate::ir;
use crate::names::Names;
use crate::pipeline;
use crate::syntax::RawKind;
use crate::syntax::ast::{self, ItemKind};
use crate::types::{Basic, Class, ItemTypes, Signature, Ty};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// The name of a form in words: `function dot`, `line 12`.
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

/// The core program of a form by itself (stage `ir`). A polymorphic function is shown at ints, or
/// at the simplest type of its class.
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

/// The same; a polymorphic function at types for the variables of its scheme.
pub(super) fn program_at(
    db: &Database,
    item: ItemId,
    args: Option<Arc<[Ty]>>,
    precision: Precision,
) -> Result<ir::Program, String> {
    elaborated(db, item, args, precision).map(pipeline::core)
}

/// The same as elaboration leaves it.
pub(super) fn elaborated(
    db: &Database,
    item: ItemId,
    args: Option<Arc<[Ty]>>,
    precision: Precision,
) -> Result<ir::Program, String> {
    if broken(db, item) {
        return Err("there are errors here".to_owned());
    }
    let context = Alone { db };
    let fail = |mut all: Vec<Diagnostic<Loc>>| {
        all.pop().map_or_else(String::new, |diagnostic| diagnostic.message)
    };
    let program = match &db.ast(item).kind {
        ItemKind::Expr(_) | ItemKind::Binding { .. } => {
            elaborate::elaborate(item, &context, precision).map_err(fail)?.program
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
            elaborate::elaborate_function(item, args, &context, precision).map_err(fail)?
        }
        ItemKind::Function(_) => return Err("it is only declared here".to_owned()),
        ItemKind::Datatype(_) => return Err("a datatype is its contents".to_owned()),
        ItemKind::Command(_) => return Err("a command is no program".to_owned()),
        ItemKind::Missing => return Err("there is no form here".to_owned()),
    };
    Ok(program)
}

/// Returns true if a form, or anything that it refers to, has errors: it has no program then.
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

/// The program as it stands in its texts.
struct Alone<'a> {
    db: &'a Database,
}

impl elaborate::Definitions for Alone<'_> {
    fn ast(&self, item: ItemId) -> Arc<ast::Item> {
        self.db.ast(item).clone()
    }

    fn names(&self, item: ItemId) -> &Names {
        self.db.names(item)
    }

    fn types(&self, item: ItemId) -> Arc<ItemTypes> {
        self.db.types(item).clone()
    }

    fn signature(&self, item: ItemId) -> Arc<Signature> {
        self.db.signature(item).clone()
    }

    fn current(&self, item: ItemId, name: &Name) -> ItemId {
        self.db.definition_of(item, name)
    }

    fn name(&self, item: ItemId) -> Name {
        self.db.form(item).names.first().cloned().unwrap_or_else(|| Name::new("it"))
    }

    fn is_library(&self, item: ItemId) -> bool {
        self.db.is_library(item)
    }
}

/// A type to show a polymorphic function at.
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

/// Returns true for the type of a function that takes functions: it exists only where it is called.
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
