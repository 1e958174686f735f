//! `nesl lsp`: the language server on standard input and output.

use crate::allocator;
use crate::exit::OK;
use crate::stages::STAGES;
use anyhow::{Context, Result};

/// Serves an editor until it says goodbye.
pub fn run() -> Result<u8> {
    allocator::share_one_area();
    let executable = std::env::current_exe().context("cannot tell where this program is")?;
    nesl_server::serve(executable, STAGES).context("the language server cannot start")?;
    Ok(OK)
}
