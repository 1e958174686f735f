//! Modules of the kit's generator on this runtime and on the reference interpreter: functions,
//! recursion, memory of instances, all spaces, several stages and all sinks.
//!
//! `NESL_CASES` says how many; each is a seed, which a failure names.

use nesl_runtime::kir::print;
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::random;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime::testkit::differ;
use nesl_runtime::testkit::generate::{Generated, generate};
use nesl_runtime_cpu::Cpu;

/// The bytes that choose the module of a seed.
fn bytes(seed: u64) -> Vec<u8> {
    let length = 40 + random::bits(seed, 0) as u8 as i64 * 2;
    (1..=length).map(|i| random::bits(seed, i) as u8).collect()
}

#[test]
fn generated_modules() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let cases = number("NESL_CASES").unwrap_or(400);
    let first = number("NESL_FIRST").unwrap_or(0);
    let reference = Reference::new(Options::default());
    let cpus = [(1, 20_000, 512), (2, 1, 512), (1, 20_000, 256)].map(|(threads, grain, bits)| {
        Cpu::with_vectors(Options { threads, ..Options::default() }, grain, bits).unwrap()
    });
    for seed in first..first + cases {
        let Generated { module, args, written } = generate(&bytes(seed), true);
        for cpu in &cpus {
            if let Err(why) = differ(&module, 0, &args, &written, &reference, cpu) {
                panic!("seed {seed}: {why}\n{}\n{args:?}", print(&module));
            }
        }
        assert_eq!(cpus[0].counters().bytes, 0, "seed {seed}");
    }
}
