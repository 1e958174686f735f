//! The tasks of developers: `cargo xtask <task>`.
//!
//! Every task is a few commands that could be typed by hand; they are printed as they run.

mod editors;
mod jupyter;
mod measure;
mod prompt;
mod python;
mod shell;
mod simulate;

use anyhow::{Context, Result, bail};
use shell::{root, run};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <task>

  ci                       format, lints, documentation, tests: what CI runs
  editors [PART …]         what editors get: server, grammar, vscode, nvim, emacs, settings
                           (needs python3, npm)
  e2e vscode [OPTION …]    the extension in a real VS Code; pictures under target/e2e
  e2e jupyter [OPTION …]   the kernel in JupyterLab; pictures under target/e2e
                           (both need npm and a browser; jupyter needs python3)
  jupyter                  Jupyter's own tests of the kernel, the notebooks, and the Python module
                           (needs python3)
  prompt [OPTION …]        the prompt in a terminal; pictures of a tour under target/prompt
                           (needs python3)
  wheel                    the wheel for pip in target/wheels: program, kernelspec, Python module
  latency                  how fast the server answers, in a release build
  latency --replay [OPTION …]
                           an hour of editing at full speed: times, and whether memory stays
  bless                    accept what the tests see now as what they expect
  conformance [--cmd 'other run {file}'] [--only TEXT]
                           run the recorded cases through nesl, or another program
  simulate                 all tests that compute on the simulated GPU, with a report in
                           bench/results; also assembles, if NESL_PTXAS names a ptxas
  size                     size and start-up time of the released program, over many runs
  fuzz TARGET SECONDS      run a fuzz target for a while (needs cargo-fuzz and nightly)
  lines                    lines of code by crate";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["ci"] => ci(),
        ["editors", parts @ ..] => editors::test(parts),
        ["e2e", "vscode", options @ ..] => editors::end_to_end(options),
        ["e2e", "jupyter", options @ ..] => jupyter::end_to_end(options),
        ["jupyter"] => jupyter::test(),
        ["prompt", options @ ..] => prompt::test(options),
        ["wheel"] => jupyter::wheel(),
        ["latency"] => editors::latency(),
        ["latency", "--replay", options @ ..] => editors::replay(options),
        ["bless"] => bless(),
        ["conformance", options @ ..] => conformance(options),
        ["simulate"] => simulate::simulate(),
        ["size"] => measure::size(),
        ["fuzz", target, seconds] => fuzz(target, seconds),
        ["lines"] => measure::lines(),
        [task, ..] => Err(anyhow::anyhow!("no task `{task}` like this; see `cargo xtask help`")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<()> {
    run("cargo fmt --all --check", &[])?;
    run("cargo clippy --workspace --all-targets -- -D warnings", &[])?;
    run("cargo doc --workspace --no-deps", &[("RUSTDOCFLAGS", "-D warnings")])?;
    run("cargo test --workspace", &[])
}

fn bless() -> Result<()> {
    run("cargo test --workspace", &[("BLESS", "1"), ("UPDATE_EXPECT", "1")])
}

fn conformance(options: &[&str]) -> Result<()> {
    let mut environment = Vec::new();
    let mut rest = options;
    while let [option, value, after @ ..] = rest {
        match *option {
            "--cmd" => environment.push(("NESL_CONFORMANCE_CMD", *value)),
            "--only" => environment.push(("NESL_CONFORMANCE_ONLY", *value)),
            _ => bail!("no option `{option}`"),
        }
        rest = after;
    }
    if let [option] = rest {
        bail!("`{option}` lacks its value");
    }
    run("cargo test --package nesl --test conformance -- --nocapture", &environment)
}

fn fuzz(target: &str, seconds: &str) -> Result<()> {
    let seconds: u32 = seconds.parse().context("SECONDS is a number")?;
    if !root().join("fuzz").is_dir() {
        bail!("there are no fuzz targets in this copy");
    }
    run(&format!("cargo +nightly fuzz run {target} -- -max_total_time={seconds}"), &[])
}
