//! `nesl serve`: a session for another program, on standard input and output.

use crate::cli::Global;
use crate::exit::OK;
use anyhow::{Result, anyhow};
use nesl_interactive::serve::serve;
use nesl_interactive::worker::Worker;
use std::fs::File;
use std::io::BufReader;

/// Serves until the standard input ends.
pub fn run(global: &Global) -> Result<u8> {
    let worker = Worker::start(global.served()).map_err(|missing| anyhow!("{missing}"))?;
    serve(&worker, BufReader::new(std::io::stdin()), unbuffered_output()?);
    Ok(OK)
}

/// Returns the standard output without the library's buffer, which looks for the ends of lines: here
/// lines are whole, and what follows them has none.
#[cfg(unix)]
fn unbuffered_output() -> std::io::Result<File> {
    use std::os::fd::AsFd;
    std::io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// As on Unix.
#[cfg(windows)]
fn unbuffered_output() -> std::io::Result<File> {
    use std::os::windows::io::AsHandle;
    std::io::stdout().as_handle().try_clone_to_owned().map(File::from)
}
