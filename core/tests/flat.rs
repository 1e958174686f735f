//! Flattening and fusion of all programs of the repository: the result is well-formed, whatever is fused,
//! and its text parses to the same program.

mod programs;

use nesl_core::db::Database;
use nesl_core::flat::{self, parse, print_with_sites, verify};
use nesl_core::ir::{self, Op};
use nesl_core::pipeline::{self, Options, Stage};
use nesl_runtime::scalar::Precision;
use nesl_runtime::violation::list;

/// Checks that a program is well-formed and equal to the one parsed from its text.
fn comes_back(program: &flat::Program) -> Result<(), String> {
    let text = print_with_sites(program);
    verify(program).map_err(|violations| format!("{}\n{text}", list(&violations)))?;
    let back = parse(&text).map_err(|why| format!("{why}\n{text}"))?;
    // Compared as text, since NaN is not equal to itself.
    if format!("{back:?}") != format!("{program:?}") {
        return Err(format!("it comes back as another program:\n{text}"));
    }
    Ok(())
}

/// Checks the same of the flat program, and of the fused one with several amounts of fuel.
fn forms_come_back(program: ir::Program) -> Result<(), String> {
    let program = pipeline::core(program);
    let flat = |stage: &str, fuel| {
        let options = Options { fuel, ..Options::at(Precision::Bits64) };
        pipeline::up_to(&program, &options, Stage::named(stage)).flat.expect("a flat program")
    };
    comes_back(&flat("flat", None))?;
    for fuel in [None, Some(0), Some(1), Some(7)] {
        comes_back(&flat("fused", fuel)).map_err(|why| format!("with fuel {fuel:?}: {why}"))?;
    }
    Ok(())
}

/// Tests the programs of a text that have no effects, and counts them.
fn try_text(db: &mut Database, text: &str) -> Result<usize, String> {
    let mut count = 0;
    for program in programs::elaborated::forms(db, text)? {
        let mut host = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| host |= matches!(op, Op::Host(..) | Op::Time(_)));
        }
        if !host {
            forms_come_back(program)?;
            count += 1;
        }
    }
    Ok(count)
}

#[test]
fn recorded_cases_come_back() {
    let mut db = Database::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in programs::CASES.iter().filter(|case| !case.fails) {
        match try_text(&mut db, &case.source) {
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
        if let Err(why) = try_text(&mut db, text) {
            panic!("{name}: {why}");
        }
    }
}

#[test]
fn programs_for_all_runtimes_come_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/run");
    let mut db = Database::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        // Some programs contain errors deliberately.
        match try_text(&mut db, &text) {
            Err(why) if !why.starts_with("it has an error") => panic!("{}: {why}", path.display()),
            Ok(_) | Err(_) => {}
        }
    }
}

#[test]
fn mistakes_name_their_line() {
    let text = |body: &str| format!("main \"f\"\n\nfn \"f\"() -> int {{\n  1\n}}\n\n{body}");
    for (body, why) in [
        ("flattened \"g\"() -> int {\n  1\n}", "line 7: there is no function \"g\""),
        (
            "flattened \"f\"() -> int {\n  s1 = all v0\n}",
            "line 8: `all` does not begin an index space",
        ),
        (
            "flattened \"f\"() -> int {\n  s2 = count 1 of s0\n  1\n}\n",
            "there is no index space s1",
        ),
        ("flattened \"f\"() -> int {\n  s0 = caller\n  1\n}\n", "s0 is made twice"),
        (
            "flattened \"f\"() -> int {\n  kernel 0 over s0 stores v3 {\n  }\n  1\n}\n",
            "kernel 0 does not compute v3",
        ),
        (
            "flattened \"f\"() -> int {\n  1\n} more",
            "nothing more was expected, but there is `more`",
        ),
    ] {
        let wrong = parse(&text(body)).expect_err(body);
        assert!(wrong.contains(why), "{wrong}\nnot: {why}");
    }
}
