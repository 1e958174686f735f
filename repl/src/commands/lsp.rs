//! `nesl lsp`: the language server on standard input and output.

use crate::allocator;
use crate::runtimes::RUNTIMES;
use crate::stages::STAGES;
use anyhow::{Context, Result};
use nesl_interactive::runtimes::RuntimeRow;
use nesl_server::options::RuntimeChoice;

/// Returns a runtime as editors know it.
fn choice(row: &RuntimeRow) -> RuntimeChoice {
    RuntimeChoice { name: row.name, device: row.device }
}

/// Serves an editor until it sends `exit`. The exit code is 1 if the editor did not end as the protocol says.
pub fn run() -> Result<u8> {
    allocator::stay_small();
    let executable = std::env::current_exe().context("cannot find the path of this program")?;
    let runtimes = RUNTIMES.iter().map(choice).collect();
    nesl_server::serve(executable, STAGES, runtimes).context("the language server cannot start")
}
