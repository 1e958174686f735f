//! Testing the Jupyter kernel by Jupyter's own tests, the notebooks, and the Python module.

use crate::python;
use crate::shell::{build, root, run};
use anyhow::Result;

/// Installs the kernel into a folder of its own, and runs the tests in `kernel/tests/jupyter` and
/// `python/tests`.
pub fn test() -> Result<()> {
    let python = python::environment("jupyter", "-r kernel/tests/jupyter/requirements.txt")?;
    let data = install()?;
    let environment = only(&data);
    run(&format!("{} kernel/tests/jupyter/test_kernel.py", python.display()), &environment)?;
    let probe = "kernel/tests/probe/probe.py --kernel nesl --but subshells";
    run(&format!("{} {probe}", python.display()), &environment)?;
    let notebooks =
        "-m pytest -q kernel/tests/jupyter/test_notebooks.py kernel/tests/jupyter/test_programs.py";
    run(&format!("{} {notebooks}", python.display()), &environment)?;
    let binary = root().join("target/debug/nesl");
    let module = [("NESL_BINARY", &*binary.to_string_lossy()), ("PYTHONPATH", "python")];
    run(&format!("{} -m pytest -q python/tests", python.display()), &module)
}

/// Runs the kernel in JupyterLab, in a browser, and leaves pictures under `target/e2e`.
pub fn end_to_end(options: &[&str]) -> Result<()> {
    let packages = "-r kernel/tests/jupyter/requirements.txt -r kernel/tests/e2e/requirements.txt";
    let python = python::environment("jupyter", packages)?;
    let jupyter = python.with_file_name("jupyter");
    let jupyter = jupyter.to_string_lossy();
    let data = install()?;
    let mut environment = only(&data).to_vec();
    environment.push(("JUPYTER", &jupyter));
    let command = format!("node kernel/tests/e2e/e2e.mjs {}", options.join(" "));
    run(command.trim_end(), &environment)
}

/// Installs the kernel of a debug build into a folder of its own; returns the folder of Jupyter's data.
fn install() -> Result<String> {
    build(&["nesl"])?;
    let prefix = root().join("target/jupyter/prefix");
    run(&format!("target/debug/nesl kernel install --prefix {}", prefix.display()), &[])?;
    Ok(prefix.join("share/jupyter").to_string_lossy().into_owned())
}

/// Variables by which Jupyter sees what is installed in a folder, and not the kernels that the machine has.
fn only(data: &str) -> [(&str, &str); 3] {
    [("JUPYTER_PATH", data), ("JUPYTER_DATA_DIR", data), ("JUPYTER_PLATFORM_DIRS", "1")]
}

/// Builds the wheel that `pip install` takes, and tries it in a fresh environment.
pub fn wheel() -> Result<()> {
    let python = python::environment("wheel", "maturin==1.16.0")?;
    let built = "-m maturin build --release --out target/wheels";
    run(&format!("{} {built}", python.display()), &[])?;
    run(&format!("{} python/tests/wheel.py target/wheels", python.display()), &[])
}
