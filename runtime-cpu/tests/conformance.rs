//! The conformance kit, and the cases of it compared with the reference interpreter.

use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime::testkit;
use nesl_runtime_cpu::Cpu;

fn suite(threads: usize, grain: u64) {
    suite_at(threads, grain, 512);
}

/// The suite with vectors of at most `bits` bits.
fn suite_at(threads: usize, grain: u64, bits: usize) {
    testkit::suite(&|options| {
        let options = Options { threads, ..options };
        Box::new(Cpu::with_vectors(options, grain, bits).unwrap()) as Box<dyn Runtime>
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

#[test]
fn vectors_of_256_bits() {
    suite_at(2, 1, 256);
}

#[test]
fn vectors_of_128_bits() {
    suite_at(2, 1, 128);
}
