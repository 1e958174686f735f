//! Testing the Jupyter kernel by Jupyter's own tests, the notebooks, and the Python module.

use crate::python;
use crate::shell::{root, run};
use anyhow::Result;

/// Installs the kernel into a folder of its own, and runs the tests in `kernel/tests/jupyter` and
/// `python/tests`.
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
    let probe = "kernel/tests/probe/probe.py --kernel nesl --but subshells";
    run(&format!("{} {probe}", python.display()), &environment)?;
    let notebooks = "-m pytest -q kernel/tests/jupyter/test_notebooks.py";
    run(&format!("{} {notebooks}", python.display()), &environment)?;
    let binary = root().join("target/debug/nesl");
    let module = [("NESL_BINARY", &*binary.to_string_lossy()), ("PYTHONPATH", "python")];
    run(&format!("{} -m pytest -q python/tests", python.display()), &module)
}

/// Builds the wheel that `pip install` takes, and tries it in a fresh environment.
pub fn wheel() -> Result<()> {
    let python = python::environment("wheel", "maturin==1.8.1")?;
    let built = "-m maturin build --release --out target/wheels";
    run(&format!("{} {built}", python.display()), &[])?;
    run(&format!("{} python/tests/wheel.py target/wheels", python.display()), &[])
}
