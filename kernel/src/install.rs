//! Tells Jupyter about the kernel: its kernelspec, and the colours for JupyterLab.

use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the extension of JupyterLab.
pub const EXTENSION: &str = "jupyterlab-nesl";

/// The path of a file that Jupyter gets: the wheel of the Python module has the same files.
macro_rules! data {
    ($path:literal) => {
        concat!("../../python/data/data/share/jupyter/", $path)
    };
}

/// The files of the extension, below its folder.
const EXTENSION_FILES: [(&str, &str); 2] = [
    ("package.json", include_str!(data!("labextensions/jupyterlab-nesl/package.json"))),
    ("static/nesl.js", include_str!(data!("labextensions/jupyterlab-nesl/static/nesl.js"))),
];

/// The pictures that stand for the kernel, by the names that Jupyter looks for.
const LOGOS: [(&str, &[u8]); 3] = [
    ("logo-32x32.png", include_bytes!(data!("kernels/nesl/logo-32x32.png"))),
    ("logo-64x64.png", include_bytes!(data!("kernels/nesl/logo-64x64.png"))),
    ("logo-svg.svg", include_bytes!(data!("kernels/nesl/logo-svg.svg"))),
];

/// A kernel as Jupyter knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernelspec {
    /// The name that programs know it by.
    pub name: String,
    /// The name that people see.
    pub display_name: String,
    /// The program with its arguments; Jupyter puts the connection file in for `{connection_file}`.
    pub argv: Vec<String>,
}

/// Returns the folder of a kernel's kernelspec, below a folder of data. To Jupyter, names that differ in case are the
/// same, and are written small.
pub fn kernel_folder(data: &Path, name: &str) -> PathBuf {
    data.join("kernels").join(name.to_ascii_lowercase())
}

/// Returns the folders below a folder of data that hold the kernelspec of a kernel, however they are written.
fn kernel_folders(data: &Path, name: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(data.join("kernels")).into_iter().flatten().flatten();
    let named = folders.filter(|folder| folder.file_name().eq_ignore_ascii_case(name));
    named.map(|folder| folder.path()).filter(|folder| folder.is_dir()).collect()
}

/// Returns the folder of the extension, below a folder of data.
pub fn extension_folder(data: &Path) -> PathBuf {
    data.join("labextensions").join(EXTENSION)
}

/// Returns true if Jupyter takes a text for the name of a kernel.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Writes a kernelspec and the extension below a folder of data. Returns the two folders. Fails if a kernel of that name
/// speaks another language.
pub fn install(data: &Path, spec: &Kernelspec) -> io::Result<[PathBuf; 2]> {
    let kernel = kernel_folder(data, &spec.name);
    kernel_folders(data, &spec.name).iter().try_for_each(|folder| is_ours(folder))?;
    let content = json!({
        "argv": spec.argv,
        "display_name": spec.display_name,
        "language": "nesl",
        "interrupt_mode": "message",
        "env": {},
        "metadata": { "debugger": false },
    });
    write(&kernel.join("kernel.json"), format!("{content:#}\n").as_bytes())?;
    for (file, bytes) in LOGOS {
        write(&kernel.join(file), bytes)?;
    }
    let extension = extension_folder(data);
    for (file, text) in EXTENSION_FILES {
        write(&extension.join(file), text.as_bytes())?;
    }
    Ok([kernel, extension])
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(named)?;
    }
    fs::write(path, bytes).map_err(named)
}

/// Takes a kernel away from a folder of data, and the extension if no other kernel there speaks NESL.
/// Returns the folders that were removed. Fails if the kernel speaks another language.
pub fn uninstall(data: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for kernel in kernel_folders(data, name) {
        is_ours(&kernel)?;
        fs::remove_dir_all(&kernel)?;
        removed.push(kernel);
    }
    let extension = extension_folder(data);
    if extension.is_dir() && !speaks_nesl(data) {
        fs::remove_dir_all(&extension)?;
        removed.push(extension);
    }
    if !removed.is_empty() {
        // The folders around them, too, if nothing else is there: others are not removed.
        for folder in [data.join("kernels"), data.join("labextensions"), data.to_owned()] {
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(removed)
}

/// Fails if a kernel's folder holds the kernelspec of another language.
fn is_ours(folder: &Path) -> io::Result<()> {
    match read(folder).ok().as_ref().and_then(|content| content["language"].as_str()) {
        None | Some("nesl") => Ok(()),
        Some(language) => {
            let problem = format!(
                "{} is a kernel for `{language}`; give another name by `--name`",
                folder.display()
            );
            Err(io::Error::other(problem))
        }
    }
}

/// Returns true if a kernel for NESL is installed below a folder of data.
fn speaks_nesl(data: &Path) -> bool {
    let kernels = fs::read_dir(data.join("kernels")).into_iter().flatten().flatten();
    kernels.into_iter().any(|folder| {
        read(&folder.path()).is_ok_and(|content| content["language"].as_str() == Some("nesl"))
    })
}

/// Reads the kernelspec in a kernel's folder.
pub fn read(folder: &Path) -> io::Result<Value> {
    let text = fs::read_to_string(folder.join("kernel.json"))?;
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> Kernelspec {
        let argv = ["nesl", "kernel", "--connection-file", "{connection_file}"];
        Kernelspec {
            name: name.to_owned(),
            display_name: "NESL".to_owned(),
            argv: argv.map(str::to_owned).to_vec(),
        }
    }

    #[test]
    fn what_is_installed_can_be_taken_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = &folder.path().join("jupyter");
        let [kernel, extension] = install(data, &spec("nesl")).expect("it is written");
        let content = read(&kernel).expect("a kernelspec");
        assert_eq!(content["argv"][3], "{connection_file}");
        assert_eq!(content["interrupt_mode"], "message");
        assert!(kernel.join("logo-64x64.png").is_file());
        let package = fs::read_to_string(extension.join("package.json")).expect("it is written");
        let package: Value = serde_json::from_str(&package).expect("it is JSON");
        let loaded = package["jupyterlab"]["_build"]["load"].as_str().expect("a file");
        assert!(extension.join(loaded).is_file());
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));

        install(data, &spec("nesl-2")).expect("it is written");
        // To Jupyter, case makes no difference.
        let removed = uninstall(data, "NESL").expect("it is removed");
        assert_eq!(removed, std::slice::from_ref(&kernel));
        assert_eq!(install(data, &spec("Nesl")).expect("it is written")[0], kernel);
        assert_eq!(uninstall(data, "nesl").expect("it is removed"), [kernel]);
        let removed = uninstall(data, "nesl-2").expect("it is removed");
        assert_eq!(removed, [kernel_folder(data, "nesl-2"), extension]);
        assert!(!data.exists(), "empty folders are left");
        assert!(uninstall(data, "nesl").expect("there is nothing").is_empty());

        // What others have installed stays.
        install(data, &spec("nesl")).expect("it is written");
        fs::create_dir(data.join("kernels/python3")).expect("it is made");
        let foreign = data.join("kernels/python3/kernel.json");
        fs::write(&foreign, r#"{"argv": ["python"], "language": "python"}"#).expect("written");
        let refused = uninstall(data, "python3").expect_err("it is not ours").to_string();
        assert!(refused.ends_with("a kernel for `python`; give another name by `--name`"));
        install(data, &spec("Python3")).expect_err("it would be overwritten");
        assert!(foreign.is_file());
        uninstall(data, "nesl").expect("it is removed");
        assert!(data.join("kernels/python3").is_dir() && !data.join("labextensions").exists());
    }

    #[test]
    fn names_are_those_that_jupyter_takes() {
        assert!(is_name("nesl-gpu_2.0"));
        assert!(!is_name("") && !is_name("a b") && !is_name("../a"));
        assert!(!is_name(".") && !is_name(".."));
    }
}
