//! Running commands in the workspace.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Prints and runs a command (words at blanks, no quoting) with some variables set.
pub fn run(command: &str, environment: &[(&str, &str)]) -> Result<()> {
    let status = announced(command, environment)?
        .status()
        .with_context(|| format!("cannot run `{command}`"))?;
    if !status.success() {
        bail!("`{command}` failed ({status})");
    }
    Ok(())
}

/// The environment variable that says that the tests of the whole workspace are built.
const TESTS_ARE_BUILT: &str = "NESL_TESTS_ARE_BUILT";

/// Builds packages for tests of their programs. If the tests of the workspace are built already, as in CI, their
/// programs are taken: the packages alone ask for fewer features of their dependencies, and all would be compiled again.
pub fn build(packages: &[&str]) -> Result<()> {
    let selection = match std::env::var_os(TESTS_ARE_BUILT) {
        Some(_) => "--workspace --lib --bins --tests".to_owned(),
        None => packages.iter().map(|name| format!("--package {name} ")).collect(),
    };
    run(&format!("cargo build {}", selection.trim_end()), &[])
}

/// Runs a command as [`run`] does; returns whether it succeeded, and its standard output, which is
/// printed as it comes.
pub fn run_and_capture(command: &str, environment: &[(&str, &str)]) -> Result<(bool, String)> {
    let mut child = announced(command, environment)?
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run `{command}`"))?;
    let mut output = String::new();
    let stdout = child.stdout.take().context("the output was piped")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        output += &line;
        output.push('\n');
    }
    Ok((child.wait()?.success(), output))
}

/// Returns the output of a command that must succeed, without the white space around it.
pub fn text_of(command: &str) -> Result<String> {
    let output = parsed(command)?.output().with_context(|| format!("cannot run `{command}`"))?;
    if !output.status.success() {
        bail!("`{command}` failed ({})", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Prints a command, and returns it with its variables set.
fn announced(command: &str, environment: &[(&str, &str)]) -> Result<Command> {
    let settings: String = environment.iter().map(|(k, v)| format!("{k}='{v}' ")).collect();
    eprintln!("$ {settings}{command}");
    let mut parsed = parsed(command)?;
    parsed.envs(environment.iter().copied());
    Ok(parsed)
}

/// Returns a command that runs at the root of the workspace.
fn parsed(command: &str) -> Result<Command> {
    let mut words = command.split_whitespace();
    let mut parsed = Command::new(words.next().context("an empty command")?);
    parsed.args(words).current_dir(root());
    Ok(parsed)
}
