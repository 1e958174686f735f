//! The interpreter of flat programs agrees with that of the core language, on all programs of the
//! repository: flattened and fused, in both versions.

mod programs;

use nesl_core::base::{ItemId, Name};
use nesl_core::db::Database;
use nesl_core::elaborate::{Projection, bound_names};
use nesl_core::flat::Version;
use nesl_core::flat::interp::{self, Limits, Stop};
use nesl_core::interp::{Host, Options, Value, run_within};
use nesl_core::ir::{Global, Op, Program, Ty, split_rng_keys};
use nesl_core::lower::globals_as_parameters;
use nesl_core::pipeline::{self, Stage};
use nesl_core::prim::HostOp;
use nesl_core::syntax::ast::ItemKind;
use nesl_core::thresholds::Thresholds;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use std::collections::HashMap;

const LIMITS: Limits = Limits { max_elements: 3_000, max_call_depth: 200, budget_ns: 200_000_000 };

/// The time that a form may take as it is, estimated; longer ones are left out.
const BUDGET_NS: u64 = 3_000_000;

struct NoHost;

impl Host for NoHost {
    fn print(&mut self, _: &[u8]) {}

    fn call(&mut self, _: HostOp, _: &[Value], _: &[Ty], _: &Ty) -> Result<Value, Fault> {
        Err(Fault::with(FaultCode::Host, "there is no host"))
    }

    fn clock(&mut self) -> f64 {
        0.0
    }

    fn seed(&self) -> u64 {
        0
    }
}

/// The values of the top-level variables of a text so far.
#[derive(Default)]
struct Values(HashMap<(ItemId, String), Value>);

impl Values {
    fn of(&self, globals: &[Global]) -> Option<Vec<Value>> {
        let known = |global: &Global| self.0.get(&(global.item, folded(&global.name))).cloned();
        globals.iter().map(known).collect()
    }

    /// Keeps the variables that a binding defines.
    fn define(&mut self, db: &Database, item: ItemId, value: &Value) {
        let ast = db.ast(item);
        let ItemKind::Binding { pattern, .. } = &ast.kind else {
            self.0.insert((item, "it".to_owned()), value.clone());
            return;
        };
        for (name, way) in bound_names(ast, *pattern) {
            let mut part = value.clone();
            for step in way {
                let (first, second) = part.as_pair().expect("a pattern takes pairs apart");
                part = match step {
                    Projection::First => first.clone(),
                    Projection::Second => second.clone(),
                };
            }
            self.0.insert((item, name.folded().to_owned()), part);
        }
    }
}

fn folded(name: &str) -> String {
    Name::new(name).folded().to_owned()
}

/// The value of a program by the direct interpreter; `None` if it takes too long, `Some(None)` if it
/// fails.
fn direct(program: &Program, globals: &[Value]) -> Option<Option<Value>> {
    let options = Options {
        precision: Precision::Bits64,
        max_depth: 10_000,
        max_length: 1_000_000,
        ..Options::default()
    };
    let mut budget = BUDGET_NS;
    let max_bytes = Thresholds::default().max_interpret_first_bytes;
    let done = run_within(&mut budget, max_bytes, program, globals, 0, &mut NoHost, &options)?;
    Some(done.ok())
}

/// Compares the meanings of a program; returns true if they could be compared.
fn compare(program: &Program, globals: &[Value], expected: Option<&Value>) -> Result<bool, String> {
    let options = pipeline::Options::at(Precision::Bits64);
    let at = |stage| pipeline::up_to(program, &options, Stage::named(stage));
    let literals = at("lifted").literals.into_iter().map(|(value, _)| value);
    let globals: Vec<Value> = globals.iter().cloned().chain(literals).collect();
    let (parameters, order) = globals_as_parameters(&at("simple").ir);
    let main = &parameters.functions[parameters.main.0 as usize];
    let mut args = Vec::new();
    if main.params.len() == order.len() + 1 {
        args.push(Value::Int(0));
    }
    // Simplification does not renumber globals.
    args.extend(order.iter().map(|id| globals[id.0 as usize].clone()));
    for name in ["flat", "fused"] {
        let flat = at(name).flat.expect("flattening was run");
        for version in [Version::Flattened, Version::Sequential] {
            let found = interp::run(&flat, args.clone(), Precision::Bits64, version, LIMITS);
            match (found, expected) {
                (Ok(found), Some(value)) if format!("{found:?}") == format!("{value:?}") => {}
                (Err(Stop::Fault(_)), None) => {}
                (Err(Stop::TooManyElements(_) | Stop::TooDeep | Stop::OutOfTime), _) => {
                    return Ok(false);
                }
                (found, _) => {
                    return Err(format!("{name}, {version:?}: {found:?}, not {expected:?}"));
                }
            }
        }
    }
    Ok(true)
}

/// Compares the meanings of the forms of a text; returns the number of forms compared.
fn agree(db: &mut Database, text: &str) -> Result<usize, String> {
    let mut values = Values::default();
    let mut count = 0;
    for (item, mut program) in programs::elaborated::items(db, text)? {
        let mut host = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| host |= matches!(op, Op::Host(..) | Op::Time(_)));
        }
        split_rng_keys(&mut program);
        let Some(globals) = values.of(&program.globals).filter(|_| !host) else { continue };
        let Some(found) = direct(&program, &globals) else { continue };
        if let Some(value) = &found {
            values.define(db, item, value);
        }
        let shown = || nesl_core::ir::print(&program);
        let compared = compare(&program, &globals, found.as_ref());
        count += usize::from(compared.map_err(|why| format!("{why}\n{}", shown()))?);
    }
    Ok(count)
}

/// Compares the meanings of all programs of a folder; returns the number of forms compared.
fn folder_agrees(folder: &str) -> usize {
    let folder = format!("{}/../{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut db = Database::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "nesl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        // The program of a golden test ends where its expected text begins; its header is a comment.
        let text = text.split("\n========\n").next().unwrap_or_default();
        match agree(&mut db, text) {
            Ok(forms) => count += forms,
            // Some have errors, on purpose.
            Err(why) if why.starts_with("it has an error") => {}
            Err(why) => panic!("{}: {why}", path.display()),
        }
    }
    count
}

#[test]
fn recorded_cases_agree() {
    let mut db = Database::new();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for case in programs::CASES.iter().filter(|case| !case.fails) {
        match agree(&mut db, &case.source) {
            Ok(forms) => count += forms,
            Err(why) => wrong.push(format!("{}: {why}", case.id)),
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count > 400, "only {count} forms");
}

#[test]
fn golden_programs_agree() {
    // Most of them are functions alone, which the examples and the cases call.
    let count = folder_agrees("tests/golden/flat") + folder_agrees("tests/golden/fused");
    assert!(count > 0, "no form was compared");
}

#[test]
fn programs_for_all_runtimes_agree() {
    let count = folder_agrees("tests/run");
    assert!(count > 100, "only {count} forms");
}

#[test]
fn examples_agree() {
    let count = folder_agrees("examples");
    assert!(count > 20, "only {count} forms");
}
