//! Tests that programs compute the same values on a GPU as on the direct interpreter: the recorded
//! cases and the examples run through cudarc on a simulated device, which looks for races,
//! accesses out of bounds and what is read before it was written.
//!
//! `NESL_EVERY=1` runs all recorded cases instead of one in ten, and also the longest programs, in
//! three orders of blocks each; `cargo xtask simulate` does so.

mod agree;
mod simulator;

use agree::{Way, cases, run, small_programs};
use nesl_engine::session::{Strategy, Version};
use nesl_sim::client::Client;
use simulator::gpu;
use std::path::Path;

const WAYS: [Way; 2] = [
    ("ptx", |options| Some(gpu(options)), Strategy::Auto),
    ("ptx, flat", |options| Some(gpu(options)), Strategy::Always(Version::Flattened)),
];

/// The simulator's options for the order in which blocks run.
type Order = &'static [(&'static str, &'static str)];

const ORDERS: [Order; 3] = [
    &[("order", "forward")],
    &[("order", "reverse"), ("defer", "1")],
    &[("order", "random"), ("seed", "7"), ("defer", "1")],
];

/// The programs of `tests/run` whose simulation takes more than five seconds: they are run if
/// `NESL_EVERY` asks for all.
const LONG_PROGRAMS: [&str; 3] = ["keyed.nesl", "rows.nesl", "structure.nesl"];

/// The relative difference of two floats that sums in another order may have.
const MAX_ROUNDING: f64 = 1e-12;

/// Returns true if two outputs are equal, floats up to the order in which sums are added.
fn is_same(given: &str, expected: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split([' ', ',', '(', ')', '[', ']', '\n']).map(str::to_owned).collect()
    };
    let is_near = |(a, b): (&String, &String)| {
        let floats = a.contains('.').then(|| a.parse::<f64>().ok().zip(b.parse::<f64>().ok()));
        let near = |(a, b): (f64, f64)| (a - b).abs() <= MAX_ROUNDING * a.abs().max(b.abs());
        a == b || floats.flatten().is_some_and(near)
    };
    let (given, expected) = (words(given), words(expected));
    given.len() == expected.len() && given.iter().zip(&expected).all(is_near)
}

/// Runs programs on the simulated device, the first in one order of blocks, the next in another; or
/// each in every order, if `NESL_EVERY` asks for all.
fn agree_on_device(programs: Vec<(String, String)>) {
    let session = Client::load().expect("the simulator was built").exclusive();
    session.set("check", "1").expect("an option");
    let mut wrong = Vec::new();
    for (number, (name, text)) in programs.iter().enumerate() {
        let expected = run(name, text, true, None, Strategy::Auto);
        let first = number % ORDERS.len();
        let orders = if is_complete() { &ORDERS[..] } else { &ORDERS[first..=first] };
        for order in orders {
            for (option, value) in *order {
                session.set(option, value).expect("an option");
            }
            for (way, make, strategy) in WAYS {
                let run = || run(name, text, true, Some(make), strategy);
                let given = std::panic::catch_unwind(run).unwrap_or_else(|_| "a panic".to_owned());
                let findings = session.findings();
                if !is_same(&given, &expected) || !findings.is_empty() {
                    wrong.push(format!(
                        "{name} on {way}, {order:?}:\n{text}\n--- is\n{given}\n--- not\n{expected}\n\
                         --- findings\n{findings:?}"
                    ));
                }
                session.clear();
            }
            session.set("defer", "0").expect("an option");
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// One in so many recorded cases is run.
fn every() -> usize {
    std::env::var("NESL_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(10)
}

/// Returns true if all programs are run, in every order of blocks.
fn is_complete() -> bool {
    every() == 1
}

#[test]
fn recorded_cases_agree() {
    agree_on_device(cases(0, every()));
}

#[test]
fn small_programs_agree() {
    let mut programs = small_programs();
    let all = programs.len();
    let is_long = |path: &str| LONG_PROGRAMS.iter().any(|name| Path::new(path).ends_with(name));
    programs.retain(|(path, _)| is_complete() || !is_long(path));
    assert!(is_complete() || programs.len() + LONG_PROGRAMS.len() == all, "a long one is gone");
    agree_on_device(programs);
}
