//! Testing the Jupyter kernel by Jupyter's own tests.

use crate::python;
use crate::shell::{root, run};
use anyhow::Result;

/// Installs the kernel into a folder of its own, and runs the tests in `kernel/tests/jupyter`.
pub fn test() -> Result<()> {
    run("cargo build --package nesl", &[])?;
    let python = python::environment("jupyter", "-r kernel/tests/jupyter/requirements.txt")?;
    let prefix = root().join("target/jupyter/prefix");
    run(&format!("target/debug/nesl kernel install --prefix {}", prefix.display()), &[])?;
    let data = prefix.join("share/jupyter");
    let data = data.to_string_lossy();
    // Kernels that the machine has are not seen.
    let environment =
        [("JUPYTER_PATH", &*data), ("JUPYTER_DATA_DIR", &*data), ("JUPYTER_PLATFORM_DIRS", "1")];
    run(&format!("{} kernel/tests/jupyter/test_kernel.py", python.display()), &environment)?;
    let notebooks = "-m pytest -q kernel/tests/jupyter/test_notebooks.py";
    run(&format!("{} {notebooks}", python.display()), &environment)
}
