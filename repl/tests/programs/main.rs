//! Tests that every runtime computes the same values and failures as the direct interpreter, on
//! random well-typed programs with nested parallelism over nested data.
//!
//! | module | contents |
//! |---|---|
//! | `tree` | programs as typed trees, and their text |
//! | `rows` | the table of operations |
//! | `data` | constants and top-level data |
//! | `generate` | generation of random data, functions and forms |
//! | `recursion` | generation of recursive functions |
//! | `updates` | generation of recursive functions that update arrays |
//! | `tables` | expressions that update sequences of sequences |
//! | `shrink` | shrinking of failing programs |
//! | `agree` | execution on all runtimes and comparison of the results |
//! | `simulated` | the same on a simulated GPU |
//!
//! `PROPTEST_CASES=10000` makes a long run, and `PROPTEST_RNG_SEED=7` a reproducible one with
//! another seed. A failing program is shrunk and printed; add it to `tests/run/`. With
//! `PROGRAM_FILE=some.nesl` the program being run is written to that file, in case it does not
//! terminate or ends the process.

mod agree;
mod data;
#[path = "../device/mod.rs"]
mod device;
mod generate;
mod recursion;
mod rows;
mod shrink;
mod simulated;
#[path = "../simulator/mod.rs"]
mod simulator;
mod tables;
mod tree;
mod updates;

use agree::Verdict;
use nesl_engine::Precision;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use shrink::Programs;
use std::cell::Cell;
use std::collections::BTreeSet;
use tree::{Expr, Program, Shape};

/// Configures proptest to run `cases` programs, unless `PROPTEST_CASES` is set.
fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    // The seed is fixed, so that a new failure is caused by the change that is tested.
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config.max_shrink_iters = 5_000;
    config.max_shrink_time = 90_000;
    config.max_global_rejects = 100 + config.cases / 5;
    config
}

/// Runs random programs and compares their results as `verdict` does.
fn all_agree(cases: u32, verdict: impl Fn(&Program) -> Verdict) {
    let mut runner = TestRunner::new(config(cases));
    let file = std::env::var_os("PROGRAM_FILE");
    let result = runner.run(&Programs, |program| {
        if let Some(file) = &file {
            std::fs::write(file, program.text()).expect("the file can be written");
        }
        match verdict(&program) {
            Verdict::Agree => Ok(()),
            Verdict::TooLarge => Err(TestCaseError::reject("it takes too long")),
            Verdict::Differ(how) => Err(TestCaseError::fail(how)),
        }
    });
    match result {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("{why}"),
        Err(TestError::Fail(why, program)) => panic!("{why}\n--- the program:{program:?}"),
    }
}

#[test]
fn runtimes_agree() {
    all_agree(200, |program| agree::verdict(program, Precision::Bits64));
}

#[test]
fn runtimes_agree_at_32_bits() {
    all_agree(100, |program| agree::verdict(program, Precision::Bits32));
}

fn simulated_gpu_agrees(precision: Precision) {
    let launches = Cell::new(0);
    all_agree(12, |program| simulated::verdict(program, precision, &launches));
    assert!(launches.get() > 0, "no kernel was launched on the device");
}

#[test]
fn simulated_gpu_agrees_at_64_bits() {
    simulated_gpu_agrees(Precision::Bits64);
}

#[test]
fn simulated_gpu_agrees_at_32_bits() {
    simulated_gpu_agrees(Precision::Bits32);
}

/// Prints some programs and their results, for inspection.
#[test]
#[ignore = "it checks nothing"]
fn what_they_look_like() {
    let mut runner = TestRunner::new(config(1));
    for _ in 0..5 {
        let program = Programs.new_tree(&mut runner).expect("nothing is refused").current();
        println!("{}", agree::transcript(&program, Precision::Bits64));
    }
}

/// The random programs contain every operation, every shape of expression, and nests three levels
/// deep.
#[test]
fn programs_are_varied() {
    let mut templates = BTreeSet::new();
    let (mut calls, mut deep, mut several, mut sieves, mut risky) = (0, 0, 0, 0, 0);
    for seed in 0..3000 {
        let program = generate::program(seed);
        for form in program.data.iter().chain(&program.forms) {
            look(&form.body, 0, &mut |expr, nests| match &expr.shape {
                Shape::Op(template) => drop(templates.insert(*template)),
                Shape::Call(_) => calls += 1,
                Shape::Each(patterns) => {
                    deep += usize::from(nests >= 2);
                    several += usize::from(patterns.len() == 3);
                    sieves += usize::from(expr.args.len() > patterns.len() + 1);
                }
                _ => {}
            });
            risky += usize::from(form.risky);
        }
    }
    let rows = rows::SAFE.iter().chain(rows::RISKY.iter());
    let missing: Vec<_> =
        rows.map(|row| row.template).filter(|template| !templates.contains(template)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(calls > 100 && deep > 100 && several > 100 && sieves > 100 && risky > 100);
}

fn look(expr: &Expr, nests: usize, at: &mut dyn FnMut(&Expr, usize)) {
    at(expr, nests);
    let inner = nests + usize::from(matches!(expr.shape, Shape::Each(_)));
    expr.args.iter().for_each(|arg| look(arg, inner, at));
}

/// Checks the shrinker on the artificial failure "the program contains a scan inside a nest".
#[test]
fn programs_shrink_to_what_matters() {
    let wanted = |program: &Program| {
        let mut found = false;
        for form in &program.forms {
            look(&form.body, 0, &mut |expr, nests| {
                found |= nests > 0 && matches!(expr.shape, Shape::Op("plus_scan($0)"));
            });
        }
        found
    };
    // The size of the result depends on the initial program, so the seed is fixed.
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(1), ..config(2_000) };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&Programs, |program| {
        if wanted(&program) { Err(TestCaseError::fail("it is there")) } else { Ok(()) }
    });
    let Err(TestError::Fail(_, program)) = result else { panic!("there was none: {result:?}") };
    let text = program.text();
    assert!(wanted(&program) && text.lines().count() <= 3 && text.len() < 100, "{text}");
}
