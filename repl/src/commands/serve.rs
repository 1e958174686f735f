//! `nesl serve`: a session for another program, on standard input and output.

use crate::cli::Global;
use crate::exit::OK;
use anyhow::{Result, anyhow};
use nesl_interactive::serve::serve;
use nesl_interactive::worker::Worker;

/// Serves until the standard input ends.
pub fn run(global: &Global) -> Result<u8> {
    let worker = Worker::start(global.served()).map_err(|missing| anyhow!("{missing}"))?;
    serve(&worker, std::io::stdin().lock(), std::io::stdout());
    Ok(OK)
}
