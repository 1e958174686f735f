//! Running commands in the workspace.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Prints and runs a command (words at blanks, no quoting) with some variables set.
pub fn run(command: &str, environment: &[(&str, &str)]) -> Result<()> {
    let settings: String = environment.iter().map(|(k, v)| format!("{k}='{v}' ")).collect();
    eprintln!("$ {settings}{command}");
    let mut words = command.split_whitespace();
    let program = words.next().context("an empty command")?;
    let status = Command::new(program)
        .args(words)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        bail!("`{command}` failed ({status})");
    }
    Ok(())
}
