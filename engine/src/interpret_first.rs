//! Programs interpreted before they are compiled.
//!
//! A program without effects may be begun again, so the direct interpreter has the first try, for
//! as long as its budget lasts ([`InterpretBudget`]); what is not done by then is compiled. A
//! program that exceeded its budget once, or that took [long](Thresholds::max_interpreted_again_ns), is compiled at
//! once when it comes again. A pure region of a host program is interpreted each time it is run, as long as all its
//! runs together have not exceeded the budget.

use crate::resident::ResidentValue;
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::Program;
use nesl_core::strategy::{InterpretBudget, Thresholds};
use nesl_runtime::runtime::Runtime;
use rustc_hash::FxHashSet;

/// The programs that are compiled at once.
#[derive(Debug, Default)]
pub(crate) struct InterpretFirst {
    /// Hashes of programs: interpreting one of them again would be a waste.
    compiled: FxHashSet<u64>,
}

impl InterpretFirst {
    /// Returns the values of the globals if a program is to be interpreted first.
    pub(crate) fn globals(
        &self,
        budget: &InterpretBudget,
        globals: &[ResidentValue],
        runtime: &dyn Runtime,
        limits: &Thresholds,
    ) -> Option<Vec<Value>> {
        let is_compiled = self.compiled.contains(&budget.program_hash);
        if is_compiled { None } else { values_on_host(globals, runtime, limits) }
    }

    /// Interprets a program; `None` if the budget ended before it did.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        (budget, limits): (&mut InterpretBudget, &Thresholds),
        globals: &[Value],
        key: i64,
        host: &mut dyn Host,
        options: &interp::Options<'_>,
    ) -> Option<Result<Value, Failure>> {
        let left = &mut budget.left_ns;
        let before = *left;
        let max_bytes = limits.max_interpret_first_bytes;
        let run = interp::run_within(left, max_bytes, program, globals, key, host, options);
        if run.is_none() || before - *left > limits.max_interpreted_again_ns {
            if self.compiled.len() >= limits.max_remembered_programs {
                self.compiled.clear();
            }
            self.compiled.insert(budget.program_hash);
        }
        run
    }
}

/// Returns values on the host, unless one of them is a large one on the runtime.
pub(crate) fn values_on_host(
    globals: &[ResidentValue],
    runtime: &dyn Runtime,
    limits: &Thresholds,
) -> Option<Vec<Value>> {
    let max_bytes = limits.max_interpreted_value_bytes;
    globals.iter().map(|value| value.on_host(runtime, max_bytes)).collect()
}
