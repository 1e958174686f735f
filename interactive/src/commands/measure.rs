//! Commands that measure: `:time`, `:stats`, `:vars`.

use super::{Command, Operand};
use crate::bundle::Bundle;
use crate::measure;
use crate::output::{Outcome, Output};
use crate::state::State;
use std::time::Instant;

pub(super) static TIME: Command = Command {
    name: ":time",
    operand: Operand::Forms,
    usage: "FORM",
    about: "run a form and tell how long it took",
    doc: "Definitions are computed at once, so that the time is that of the form alone. The forms may \
          be the rest of the entry.",
    run: |state, call| {
        let began = Instant::now();
        let before = state.session.stats().counters;
        let lazy = std::mem::replace(&mut state.session.settings_mut().lazy, false);
        let outcome = state.enter_text(call.entry, call.operand, call.whole);
        state.session.settings_mut().lazy = lazy;
        let after = state.session.stats().counters;
        let compiling = (after.compile_ns - before.compile_ns) as f64 / 1e9;
        let text = format!(
            "{} in all, {} of it for compiling kernels; {} launches",
            measure::duration(began.elapsed().as_secs_f64()),
            measure::duration(compiling),
            after.launches - before.launches,
        );
        state.show(Output::Answer(Bundle::colored(format!("\x1b[2m{text}\x1b[0m"))));
        outcome
    },
};

pub(super) static STATS: Command = Command {
    name: ":stats",
    operand: Operand::None,
    usage: "",
    about: "what the runtime did, and where the variables are",
    doc: "Launches, modules, transfers, waits and memory since the session began.",
    run: |state, _| {
        let text = measure::stats(&state.session.stats());
        state.show(Output::Answer(Bundle::text(text.trim_end())));
        Outcome::Done
    },
};

pub(super) static VARS: Command = Command {
    name: ":vars",
    operand: Operand::None,
    usage: "",
    about: "the variables: type, bytes, and where each is",
    doc: "A variable is on the host, on the device, on both, or not yet computed.",
    run: |state, _| {
        state.show(Output::Answer(variables(state)));
        Outcome::Done
    },
};

/// Returns the table of the variables.
fn variables(state: &State) -> Bundle {
    Bundle::text(measure::variables(&state.session.stats()))
}
