//! The expressions and bindings of a text, as programs of the core language.

use nesl_core::base::{ItemId, Severity};
use nesl_core::db::{Database, FileDefinitions};
use nesl_core::elaborate::{self, elaborate};
use nesl_core::ir;
use nesl_core::syntax::RawKind;
use nesl_runtime::scalar::Precision;

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
        let elaborated = elaborate(item, &FileDefinitions::unexecuted(db), Precision::Bits64);
        let elaborate::Elaborated { program, .. } =
            elaborated.map_err(|all| format!("it is not elaborated: {}", all[0].message))?;
        programs.push((item, program));
    }
    Ok(programs)
}
