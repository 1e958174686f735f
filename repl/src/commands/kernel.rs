//! `nesl kernel`: the Jupyter kernel, and what Jupyter must know of it.

use crate::allocator;
use crate::cli::{Global, KernelAction, KernelArgs};
use crate::exit::OK;
use crate::runtimes::RUNTIMES;
use anyhow::{Context, Result};
use nesl_engine::{Settings, ShownValues};
use nesl_interactive::display::Style;
use nesl_interactive::state::Setup;
use std::path::Path;

/// Serves clients, or does what the action says.
pub fn run(global: &Global, asked: &KernelArgs) -> Result<u8> {
    match (&asked.action, &asked.connection_file) {
        (Some(KernelAction::Start { connection_file }), _) | (None, Some(connection_file)) => {
            serve(global, connection_file)
        }
        _ => todo!(),
    }
}

/// Serves the clients of a connection file.
fn serve(global: &Global, connection_file: &Path) -> Result<u8> {
    allocator::share_one_area();
    let setup = Setup {
        settings: Settings { shown: ShownValues::Expressions, ..global.settings() },
        runtimes: &RUNTIMES,
        runtime: global.runtime,
        options: global.options(),
        display: Style { html: true },
    };
    nesl_kernel::serve::serve(connection_file, setup).context("the kernel cannot start")?;
    Ok(OK)
}
