//! The conformance kit, and the cases of it compared with the reference interpreter.

use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime::testkit;
use nesl_runtime_cpu::Cpu;

fn suite(threads: usize, grain: u64) {
    testkit::suite(&|options| {
        let options = Options { threads, ..options };
        Box::new(Cpu::with_grain(options, grain).unwrap()) as Box<dyn Runtime>
    });
}

#[test]
fn one_thread() {
    suite(1, 20_000);
}

#[test]
fn two_threads() {
    suite(2, 20_000);
}

#[test]
fn two_threads_small_chunks() {
    suite(2, 1);
}

#[test]
fn five_threads_small_chunks() {
    suite(5, 1);
}
