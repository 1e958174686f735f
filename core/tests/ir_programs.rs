//! Elaboration of all programs of the repository: the result is well-formed, with and without its keys,
//! and its text parses to the same program.

mod programs;

use nesl_core::db::Database;
use nesl_core::ir::{self, parse, print, print_with_sites, split_rng_keys, verify};
use nesl_core::pipeline::simplified;
use nesl_runtime::violation::list;

/// Checks that a program is well-formed and equal to the one parsed from its text.
fn comes_back(program: &ir::Program) -> Result<(), String> {
    let violations = verify(program).err().unwrap_or_default();
    if !violations.is_empty() {
        return Err(format!("{}\n{}", list(&violations), print(program)));
    }
    let text = print_with_sites(program);
    let back = parse(&text).map_err(|why| format!("{why}\n{text}"))?;
    // Compared as text, since NaN is not equal to itself.
    if format!("{back:?}") != format!("{program:?}") {
        return Err(format!("it comes back as another program:\n{text}"));
    }
    let bare = print(program);
    let back = parse(&bare).map_err(|why| format!("{why}\n{bare}"))?;
    if print(&back) != bare || verify(&back).is_err() {
        return Err(format!("without sites it comes back as another program:\n{bare}"));
    }
    Ok(())
}

/// Checks that a program is well-formed after simplification.
fn simplifies(program: &ir::Program) -> Result<(), String> {
    comes_back(&simplified(program))
}

/// Checks the expressions and bindings of a text; returns their number.
fn forms_come_back(db: &mut Database, text: &str) -> Result<usize, String> {
    let programs = programs::elaborated::forms(db, text)?;
    for mut program in programs.clone() {
        comes_back(&program)?;
        split_rng_keys(&mut program);
        comes_back(&program)?;
        simplifies(&program)?;
    }
    Ok(programs.len())
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
