//! The tests that every runtime must pass, on a GPU. They run where `NESL_DEVICE_TESTS` is set, as the GPU lane
//! (`bench/gpu`) does; elsewhere they are skipped, since the simulated device has tests of its own.
//!
//! `NESL_DEVICE_TESTS_EVERY=n` selects every n-th case, for a quick test of the lane itself.

use nesl_runtime::runtime::{Failure, Options, Runtime};
use nesl_runtime::testkit::{self, cases};
use nesl_runtime_ptx::Ptx;

/// The number of wrong cases after which the rest is not executed.
const MAX_WRONG: usize = 20;

#[test]
fn every_case_on_the_device() {
    if std::env::var_os("NESL_DEVICE_TESTS").is_none() {
        println!("skipped: NESL_DEVICE_TESTS is not set");
        return;
    }
    let every = std::env::var("NESL_DEVICE_TESTS_EVERY").ok().and_then(|n| n.parse().ok());
    let ptx = Ptx::new(0, Options::default()).expect("a device");
    let (mut wrong, mut executed, mut refused) = (Vec::new(), 0, 0);
    for case in cases().into_iter().step_by(every.unwrap_or(1)) {
        if let Err(Failure::Unsupported(_)) = ptx.load(&case.module()) {
            refused += 1;
            continue;
        }
        executed += 1;
        if let Err(why) = testkit::check(&case, &ptx) {
            wrong.push(format!("{}: {why}\n{}", case.name, case.text));
        }
        if wrong.len() >= MAX_WRONG {
            break;
        }
    }
    println!("{executed} cases executed, {refused} refused");
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executed > 0, "no case was executed");
}
