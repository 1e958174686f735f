//! Runs random programs on a simulated GPU, which looks for races, accesses out of bounds and what is
//! read before it was written.

use super::agree::{FLAT, Verdict, Way, outcomes, verdict_on};
use super::simulator::gpu;
use super::tree::Program;
use nesl_engine::Precision;
use nesl_engine::session::Strategy;
use nesl_sim::client::Client;
use std::cell::Cell;

const WAYS: [Way; 2] = [("ptx", gpu, Strategy::Auto), ("ptx, flat", gpu, FLAT)];

/// The options of the simulator at a precision: checks of memory, and another order of blocks for
/// each. With `defer`, kernels begin as late as streams allow.
fn options(precision: Precision) -> &'static [(&'static str, &'static str)] {
    match precision {
        Precision::Bits64 => &[("check", "1"), ("order", "reverse"), ("defer", "1")],
        Precision::Bits32 => &[("check", "1"), ("order", "random"), ("seed", "7")],
    }
}

/// Checks that the simulated GPU computes the same results as the direct interpreter, without
/// findings of the simulator; adds the number of launches to `launches`.
pub fn verdict(program: &Program, precision: Precision, launches: &Cell<u64>) -> Verdict {
    verdict_on(program, precision, &WAYS, |text, way| {
        let simulator = Client::load().expect("the simulator was built").exclusive();
        for (option, value) in options(precision) {
            simulator.set(option, value).expect("an option");
        }
        let given = outcomes(text, precision, way);
        launches.set(launches.get() + simulator.counters().launches);
        match &simulator.findings()[..] {
            [] => Ok(given),
            findings => Err(format!("{findings:#?}\nwith the results {given:#?}")),
        }
    })
}
