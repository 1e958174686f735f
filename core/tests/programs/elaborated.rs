//! The expressions and bindings of a text, as programs of the core language.

use nesl_core::base::{ItemId, Name, Severity};
use nesl_core::db::Database;
use nesl_core::elaborate::{self, Definitions, elaborate};
use nesl_core::ir;
use nesl_core::names::Names;
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{Item, ItemKind};
use nesl_core::types::{ItemTypes, Signature};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// The definitions of a file for the elaborator.
struct Program<'a>(&'a Database);

impl Definitions for Program<'_> {
    fn ast(&self, item: ItemId) -> Arc<Item> {
        self.0.ast(item).clone()
    }

    fn names(&self, item: ItemId) -> &Names {
        self.0.names(item)
    }

    fn types(&self, item: ItemId) -> Arc<ItemTypes> {
        self.0.types(item).clone()
    }

    fn signature(&self, item: ItemId) -> Arc<Signature> {
        self.0.signature(item).clone()
    }

    /// The definition of a function that this item only declares.
    fn current(&self, item: ItemId, name: &Name) -> ItemId {
        if !matches!(&self.ast(item).kind, ItemKind::Function(f) if f.body.is_none()) {
            return item;
        }
        let outline = self.0.outline(self.0.file_of(item));
        let named = outline.forms.iter().filter(|form| form.names.contains(name));
        let mut defined = named
            .map(|form| form.id())
            .filter(|id| matches!(&self.ast(*id).kind, ItemKind::Function(f) if f.body.is_some()));
        defined.next().unwrap_or(item)
    }

    fn name(&self, item: ItemId) -> Name {
        self.0.form(item).names.first().cloned().unwrap_or_else(|| Name::new("it"))
    }

    fn is_library(&self, item: ItemId) -> bool {
        self.0.is_library(item)
    }
}

/// Returns the programs of the expressions and bindings of a text.
pub fn forms(db: &mut Database, text: &str) -> Result<Vec<ir::Program>, String> {
    Ok(items(db, text)?.into_iter().map(|(_, program)| program).collect())
}

/// The expressions and bindings of a text, each with its program.
pub fn items(db: &mut Database, text: &str) -> Result<Vec<(ItemId, ir::Program)>, String> {
    let file = db.add_file("program.nesl", text, None);
    let mut programs = Vec::new();
    for form in &db.outline(file).forms {
        let item = form.id();
        if !matches!(form.kind, RawKind::Expr | RawKind::Binding) {
            continue;
        }
        let found = db.diagnostics(item);
        if let Some(error) = found.iter().find(|d| d.severity == Severity::Error) {
            return Err(format!("it has an error: {}", error.message));
        }
        let elaborated = elaborate(item, &Program(db), Precision::Bits64);
        let elaborate::Elaborated { program, .. } =
            elaborated.map_err(|all| format!("it is not elaborated: {}", all[0].message))?;
        programs.push((item, program));
    }
    Ok(programs)
}
