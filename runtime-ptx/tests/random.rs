//! Random modules on a simulated device give the results, and the failures, of the interpreter.

use nesl_runtime::kir::print;
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::random::bits;
use nesl_runtime::runtime::{Failure, Options, Reason, Runtime};
use nesl_runtime::testkit::differ;
use nesl_runtime::testkit::generate::{Generated, generate};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::Client;
use std::collections::BTreeMap;

/// The number of modules; `NESL_RANDOM_MODULES` asks for others.
const MODULES: u64 = 300;

#[test]
fn random_modules_agree_with_the_interpreter() {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in [("check", "1"), ("order", "random"), ("seed", "11"), ("defer", "1")] {
        session.set(name, value).unwrap();
    }
    let modules = std::env::var("NESL_RANDOM_MODULES").ok();
    let modules = modules.and_then(|count| count.parse().ok()).unwrap_or(MODULES);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let (mut refused, mut executed) = (BTreeMap::<String, usize>::new(), 0);
    let first = std::env::var("NESL_RANDOM_FIRST").ok().and_then(|at| at.parse().ok()).unwrap_or(0);
    for seed in first..first + modules {
        let bytes: Vec<u8> = (0..300).map(|at| bits(seed, at) as u8).collect();
        let Generated { module, args, written } = generate(&bytes, seed % 4 != 0);
        match ptx.load(&module) {
            Err(Failure::Unsupported(reason)) => {
                assert!(!matches!(reason, Reason::Allocation), "seed {seed}: {}", print(&module));
                *refused.entry(reason.to_string()).or_default() += 1;
                continue;
            }
            loaded => drop(loaded.unwrap()),
        }
        executed += 1;
        let reference = Reference::new(Options::default());
        let same = differ(&module, 0, &args, &written, &reference, &ptx);
        let findings = session.findings();
        assert_eq!(same, Ok(()), "seed {seed}: {findings:?}\n{}", print(&module));
        assert!(findings.is_empty(), "seed {seed}: {findings:?}\n{}", print(&module));
        session.clear();
    }
    println!("{executed} modules executed; refused: {refused:#?}");
    assert!(executed > modules / 3, "only {executed} modules were executed");
}
