//! `nesl serve`: a session for another program, on standard input and output.

use crate::cli::Global;
use crate::exit::OK;
use crate::runtimes::RUNTIMES;
use crate::stages::STAGES;
use anyhow::{Result, anyhow};
use nesl_engine::{Settings, ShownValues};
use nesl_interactive::display::Style;
use nesl_interactive::serve::serve;
use nesl_interactive::state::Setup;
use nesl_interactive::worker::Worker;

/// Serves until the standard input ends.
pub fn run(global: &Global) -> Result<u8> {
    let setup = Setup {
        settings: Settings { shown: ShownValues::Expressions, ..global.settings() },
        runtimes: &RUNTIMES,
        runtime: global.runtime,
        options: global.options(),
        display: Style { html: true },
        stages: STAGES,
        extra: &[],
    };
    let worker = Worker::start(setup).map_err(|missing| anyhow!("{missing}"))?;
    serve(&worker, std::io::stdin().lock(), std::io::stdout());
    Ok(OK)
}
