//! Tests that every runtime computes the same values: the recorded cases and the examples run on
//! the direct interpreter, the interpreter of kir, and the CPU with one thread and with two, with
//! sequential and with flattened code, also as it is run on a device. Errors must be the same too,
//! except for the notes about callers.

mod agree;
mod device;

use agree::{Way, cases, run, small_programs};
use device::Device;
use nesl_engine::session::{Strategy, Version};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::rc::Rc;

const WAYS: [Way; 3] = [
    ("kir", kir, Strategy::Auto),
    ("cpu with one thread", |options| cpu(Options { threads: 1, ..options }), Strategy::Auto),
    ("cpu with two threads", two_threads, Strategy::Auto),
];

/// Small programs are rarely flattened, so these configurations force one version of every
/// computation.
const FORCED: [Way; 5] = [
    ("kir, flat", kir, Strategy::Always(Version::Flattened)),
    ("kir, whole", kir, Strategy::Always(Version::Sequential)),
    ("cpu, flat", two_threads, Strategy::Always(Version::Flattened)),
    ("cpu, whole", two_threads, Strategy::Always(Version::Sequential)),
    ("device, flat", device, Strategy::Always(Version::Flattened)),
];

fn kir(options: Options) -> Option<Box<dyn Runtime>> {
    Some(Box::new(Reference::new(options)))
}

fn two_threads(options: Options) -> Option<Box<dyn Runtime>> {
    cpu(Options { threads: 2, ..options })
}

fn device(options: Options) -> Option<Box<dyn Runtime>> {
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    Some(Box::new(Device::new(cpu, Rc::default())))
}

fn cpu(options: Options) -> Option<Box<dyn Runtime>> {
    Some(Box::new(Cpu::new(options).expect("code can be made for this machine")))
}

fn agree(programs: Vec<(String, String)>, ways: &[Way]) {
    agree_on(programs, true, ways);
}

fn agree_on(programs: Vec<(String, String)>, shown: bool, ways: &[Way]) {
    let mut wrong = Vec::new();
    for (name, text) in &programs {
        let expected = run(name, text, shown, None, Strategy::Auto);
        for (runtime, make, strategy) in ways {
            let run = || run(name, text, shown, Some(*make), *strategy);
            let given = std::panic::catch_unwind(run).unwrap_or_else(|_| "a panic".to_owned());
            if given != expected {
                wrong.push(format!(
                    "{name} on {runtime}:\n{text}\n--- is\n{given}\n--- not\n{expected}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(!programs.is_empty());
}

#[test]
fn recorded_cases_agree() {
    agree(cases(0, 2), &WAYS);
}

#[test]
fn other_recorded_cases_agree() {
    agree(cases(1, 2), &WAYS);
}

#[test]
fn recorded_cases_agree_in_every_form() {
    let every = std::env::var("NESL_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    agree(cases(0, every), &FORCED);
}

#[test]
fn small_programs_agree() {
    agree(small_programs(), &WAYS);
}

#[test]
fn small_programs_agree_in_every_form() {
    agree(small_programs(), &FORCED);
}

/// Without display, definitions of sequences are evaluated lazily.
#[test]
fn programs_agree_when_sequences_are_not_shown() {
    agree_on(small_programs(), false, &WAYS[..2]);
    agree_on(cases(3, 6), false, &WAYS[..2]);
}

/// A length that wraps would make room for fewer elements than are written. The memory that a
/// message names differs between the runtimes.
#[test]
fn more_elements_than_there_can_be_are_out_of_memory() {
    let text = "function more(n, k) : (int, int) -> [[int]] = {[i] ++ dist(i, k - i) : i in [0:n]};
        {#r : r in more(5, 10)};
        #more(5, max_int);
        {#(dist(1, k) ++ dist(i, k)) : i in [0:3]; k in dist(lshift(1, 62), 3)};";
    let ways = WAYS.iter().chain(&FORCED);
    let made = ways.map(|(name, make, strategy)| (*name, Some(*make), *strategy));
    for (name, make, strategy) in made.chain([("direct", None, Strategy::Auto)]) {
        let given = run(name, text, true, make, strategy);
        let lines: Vec<_> = given.lines().collect();
        let failed = |line: &&str| line.starts_with("Out of memory (");
        assert!(lines.len() == 4 && lines[2..].iter().all(failed), "on {name}:\n{given}");
    }
}
