//! Python with the packages that tests need, in environments of their own.

use crate::shell::{root, run};
use anyhow::Result;
use std::path::PathBuf;

/// Returns the Python of the environment `target/NAME/venv`, which has some packages, as pip takes them.
/// It is made if it is not there.
pub fn environment(name: &str, packages: &str) -> Result<PathBuf> {
    let folder = root().join("target").join(name).join("venv");
    let python = folder.join("bin/python");
    if !python.exists() {
        run(&format!("python3 -m venv {}", folder.display()), &[])?;
    }
    let pip = "-m pip install --quiet --disable-pip-version-check";
    run(&format!("{} {pip} {packages}", python.display()), &[])?;
    Ok(python)
}
