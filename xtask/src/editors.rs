//! Testing what editors get: the server, the grammar, the extension and the plug-ins.
//!
//! The packages that the tests need are installed under `target/editors`: Python packages in an environment of
//! its own, those of Node beside the extension. Editors themselves are not installed; a test whose
//! editor is not there is skipped, and says so.

use crate::python;
use crate::shell::{build, root, run};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Everything that can be tested here without a screen.
const PARTS: [&str; 6] = ["server", "grammar", "vscode", "nvim", "emacs", "settings"];

/// Tests the parts that are named, or all.
pub fn test(parts: &[&str]) -> Result<()> {
    if let Some(part) = parts.iter().find(|part| !PARTS.contains(part)) {
        bail!("no part `{part}`; there are {}", PARTS.join(", "));
    }
    build(&["nesl"])?;
    let binary = root().join("target/debug/nesl");
    let binary = binary.to_string_lossy();
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    if wanted("server") || wanted("grammar") {
        let python = python()?;
        let python = python.to_string_lossy();
        if wanted("server") {
            run(
                &format!("{python} -m pytest -q server/tests/protocol"),
                &[("NESL_BINARY", &binary)],
            )?;
        }
        if wanted("grammar") {
            let environment = [("NESL_BINARY", &*binary), ("PYTHON", &*python)];
            run("sh editors/test.sh grammar", &environment)?;
        }
    }
    if wanted("vscode") {
        run("npm --prefix editors/vscode ci --no-audit --no-fund", &[])?;
        run("npm --prefix editors/vscode test", &[("NESL_BINARY", &binary)])?;
        run("npm --prefix editors/vscode run package", &[])?;
    }
    if wanted("settings") {
        run("sh editors/test.sh settings", &[("NESL_BINARY", &binary)])?;
    }
    for editor in ["nvim", "emacs"].into_iter().filter(|editor| wanted(editor)) {
        if !is_there(editor) {
            println!("{editor}: not here, skipped");
            continue;
        }
        run(&format!("sh editors/test.sh {editor}"), &[("NESL_BINARY", &binary)])?;
        println!("{editor}: passed");
    }
    Ok(())
}

/// Runs the extension in a real VS Code, and leaves pictures under `target/e2e`.
pub fn end_to_end(options: &[&str]) -> Result<()> {
    build(&["nesl"])?;
    let binary = root().join("target/debug/nesl");
    run("npm --prefix editors/vscode ci --no-audit --no-fund", &[])?;
    let command = format!("npm --prefix editors/vscode run e2e -- {}", options.join(" "));
    run(command.trim_end_matches(" -- "), &[("NESL_BINARY", &binary.to_string_lossy())])
}

/// Latencies of the server in a release build, side by side with `ty`, a checker of Python.
pub fn latency() -> Result<()> {
    run("cargo build --release --package nesl", &[])?;
    let python = python()?;
    let python = python.to_string_lossy();
    run(&format!("{python} -m pip install --quiet ty"), &[])?;
    let ty = root().join("target/editors/venv/bin/ty");
    run(&format!("{python} bench/editor.py --ty {}", ty.display()), &[])
}

/// An hour of somebody's editing against one server, in a release build.
pub fn replay(options: &[&str]) -> Result<()> {
    run("cargo build --release --package nesl", &[])?;
    run(&format!("python3 bench/replay.py {}", options.join(" ")), &[])
}

/// A Python that has what the tests need.
fn python() -> Result<PathBuf> {
    python::environment("editors", "-r server/tests/protocol/requirements.txt tree-sitter")
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
