//! Code for instructions that the processor of the test may lack is compiled, and not executed.

use super::wide::InstructionSet;
use super::{Machine, compile};
use crate::memory::Memory;
use crate::workers::Workers;
use nesl_runtime::random;
use nesl_runtime::testkit::generate::{Generated, generate};
use std::sync::atomic::AtomicBool;

/// The number of modules for each set of instructions.
const MODULES: u64 = 150;

#[test]
fn every_instruction_set_compiles() {
    let workers = Workers::new(1, 1, Memory::new(0));
    for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
        let machine = Machine::new().unwrap().with_instructions(set);
        let mut wide = 0;
        for seed in 0..MODULES {
            let bytes: Vec<u8> = (0..300).map(|i| random::bits(seed, i) as u8).collect();
            let Generated { module, .. } = generate(&bytes, true);
            let compiled = compile(&module, &machine, &workers, &AtomicBool::new(false));
            wide +=
                compiled.unwrap_or_else(|why| panic!("{set:?}, seed {seed}: {why}")).wide_functions;
        }
        assert!(wide > 0, "no wide code for {set:?}");
    }
}
