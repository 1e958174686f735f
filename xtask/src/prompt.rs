//! Testing the prompt by the real program in a real terminal.

use crate::python;
use crate::shell::{build, root, run};
use anyhow::Result;

/// Runs the tests in `repl/tests/prompt`; options are pytest's. Their pictures are under `target/prompt/tour`.
pub fn test(options: &[&str]) -> Result<()> {
    // The simulated GPU is for the tests of typing while one is opened.
    build(&["nesl", "nesl-sim"])?;
    let python = python::environment("prompt", "-r repl/tests/prompt/requirements.txt")?;
    let binary = root().join("target/debug/nesl");
    let command =
        format!("{} -m pytest -q repl/tests/prompt {}", python.display(), options.join(" "));
    run(command.trim_end(), &[("NESL_BINARY", &*binary.to_string_lossy())])
}
