//! Every program that is written down, elaborated: it is lawful, with and without its keys, and
//! its text reads back as itself.

mod programs;

use nesl_core::base::{ItemId, Name, Severity};
use nesl_core::db::Database;
use nesl_core::elaborate::{self, Context, elaborate};
use nesl_core::ir::{self, parse, print, print_with_sites, thread_keys, verify};
use nesl_core::names::Names;
use nesl_core::simplify::simplify;
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{Item, ItemKind};
use nesl_core::types::{ItemTypes, Signature};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// A file as the elaborator sees it.
struct Program<'a>(&'a Database);

impl Context for Program<'_> {
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

    /// The definition of what is only declared.
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

/// Whether it keeps the law and comes back from its text.
fn comes_back(program: &ir::Program) -> Result<(), String> {
    let breaches = verify(program);
    if !breaches.is_empty() {
        return Err(format!("{breaches:#?}\n{}", print(program)));
    }
    let text = print_with_sites(program);
    let back = parse(&text).map_err(|why| format!("{why}\n{text}"))?;
    // Compared as text, for NaN is not equal to itself.
    if format!("{back:?}") != format!("{program:?}") {
        return Err(format!("it comes back as another program:\n{text}"));
    }
    let bare = print(program);
    let back = parse(&bare).map_err(|why| format!("{why}\n{bare}"))?;
    if print(&back) != bare || !verify(&back).is_empty() {
        return Err(format!("without sites it comes back as another program:\n{bare}"));
    }
    Ok(())
}

/// Whether it keeps the law when simplified.
fn simplifies(program: &ir::Program) -> Result<(), String> {
    comes_back(&simplify(program))
}

/// Tries the forms of a text that compute something, and counts them.
fn forms_come_back(db: &mut Database, text: &str) -> Result<usize, String> {
    let file = db.add_file("program.nesl", text, None);
    let mut count = 0;
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
        let elaborate::Elaborated { mut program, .. } =
            elaborated.map_err(|all| format!("it is not elaborated: {}", all[0].message))?;
        comes_back(&program)?;
        thread_keys(&mut program);
        comes_back(&program)?;
        simplifies(&program)?;
        count += 1;
    }
    Ok(count)
}

#[test]
fn recorded_cases_come_back() {
    let mut db = Database::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in programs::CASES.iter().filter(|case| !case.fails) {
        match forms_come_back(&mut db, &case.source) {
            Ok(forms) => count += forms,
            Err(why) => wrong.push(format!("{}: {why}", case.id)),
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count > 500, "only {count} forms");
}

#[test]
fn examples_come_back() {
    let mut db = Database::new();
    let library = |name: &str| nesl_core::prelude::FILES.iter().any(|(file, _)| *file == name);
    for (name, text) in programs::FILES.iter().filter(|(name, _)| !library(name)) {
        if let Err(why) = forms_come_back(&mut db, text) {
            panic!("{name}: {why}");
        }
    }
}
