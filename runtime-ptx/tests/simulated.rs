//! The tests that every runtime must pass, on a simulated device: races are looked for, blocks begin
//! in three orders, and nothing runs before it is waited for.

use nesl_runtime::runtime::{Failure, Options, Runtime};
use nesl_runtime::testkit::{self, cases};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// The simulator for one test, with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// Executes every case that the runtime supports.
fn check_cases(session: &Session) {
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let (mut wrong, mut executed) = (Vec::new(), 0);
    for case in cases() {
        if let Err(Failure::Unsupported(_)) = ptx.load(&case.module()) {
            continue;
        }
        executed += 1;
        if let Err(why) = testkit::check(&case, &ptx) {
            wrong.push(format!("{}: {why}\n{}", case.name, case.text));
        }
        for finding in session.findings() {
            wrong.push(format!("{}: {finding:?}\n{}", case.name, case.text));
        }
        session.clear();
        if wrong.len() > 5 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executed > 2000, "only {executed} cases were executed");
}

#[test]
fn blocks_in_order() {
    check_cases(&simulator(&[("check", "1")]));
}

#[test]
fn blocks_in_reverse() {
    check_cases(&simulator(&[("check", "1"), ("order", "reverse")]));
}

#[test]
fn blocks_at_random_and_deferred() {
    let options = [("check", "1"), ("order", "random"), ("seed", "7"), ("deferred", "1")];
    check_cases(&simulator(&options));
}
