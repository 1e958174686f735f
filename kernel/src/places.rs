//! The folders in which Jupyter looks for kernels and extensions.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A place to install to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// For the user alone.
    User,
    /// Below a folder, in `share/jupyter`.
    Prefix(PathBuf),
    /// In the Python environment that is active.
    Active,
}

impl Place {
    /// Returns the folder of Jupyter's data there.
    pub fn folder(&self) -> Result<PathBuf, String> {
        match self {
            Place::User => user_folder(),
            Place::Prefix(prefix) => Ok(below(prefix)),
            Place::Active => Ok(below(&active_prefix()?)),
        }
    }
}

fn below(prefix: &Path) -> PathBuf {
    prefix.join("share").join("jupyter")
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the user's folder: what Jupyter itself would take.
fn user_folder() -> Result<PathBuf, String> {
    if let Some(folder) = variable("JUPYTER_DATA_DIR") {
        return Ok(folder);
    }
    let nowhere = "there is no home folder; give a place by --prefix";
    if cfg!(windows) {
        return Ok(variable("APPDATA").ok_or(nowhere)?.join("jupyter"));
    }
    let home = etcetera::home_dir().map_err(|_| nowhere)?;
    if cfg!(target_os = "macos") {
        return Ok(home.join("Library").join("Jupyter"));
    }
    let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share"));
    Ok(data.join("jupyter"))
}

/// Returns the folder of the Python environment that is active.
fn active_prefix() -> Result<PathBuf, String> {
    let active = variable("VIRTUAL_ENV").or_else(|| variable("CONDA_PREFIX"));
    active.or_else(python_prefix).ok_or_else(|| {
        "no Python environment is active, and there is no `python3`; give a place by --prefix"
            .to_owned()
    })
}

fn python_prefix() -> Option<PathBuf> {
    ["python3", "python"].iter().find_map(|python| {
        let asked = Command::new(python).args(["-c", "import sys; print(sys.prefix)"]).output();
        let said = String::from_utf8(asked.ok()?.stdout).ok()?;
        Some(said.trim()).filter(|prefix| !prefix.is_empty()).map(PathBuf::from)
    })
}

/// The folders that Jupyter names.
pub struct Folders {
    /// The folders of data, in the order in which they are searched.
    pub data: Vec<PathBuf>,
    /// Why Jupyter itself could not be asked, if it could not.
    pub unasked: Option<String>,
}

/// Asks Jupyter for its folders; without Jupyter they are what it would say without a Python environment.
pub fn folders() -> Folders {
    match ask_jupyter() {
        Ok(data) => Folders { data, unasked: None },
        Err(reason) => {
            let mut data: Vec<PathBuf> = variable("JUPYTER_PATH")
                .map(|paths| std::env::split_paths(&paths).collect())
                .unwrap_or_default();
            data.extend(user_folder().ok());
            data.extend(active_prefix().ok().map(|prefix| below(&prefix)));
            if cfg!(unix) {
                data.extend(["/usr/local", "/usr"].map(|prefix| below(Path::new(prefix))));
            }
            let mut seen = std::collections::HashSet::new();
            data.retain(|folder| seen.insert(folder.clone()));
            Folders { data, unasked: Some(reason) }
        }
    }
}

/// Returns the Jupyter to ask: that of the environment that is active, or else the one that was installed
/// beside this program, as a wheel's is.
fn jupyter() -> PathBuf {
    let active = variable("VIRTUAL_ENV").or_else(|| variable("CONDA_PREFIX"));
    let beside = || Some(std::env::current_exe().ok()?.parent()?.join("jupyter"));
    let own = if active.is_none() { beside().filter(|own| own.is_file()) } else { None };
    own.unwrap_or_else(|| PathBuf::from("jupyter"))
}

fn ask_jupyter() -> Result<Vec<PathBuf>, String> {
    let asked = Command::new(jupyter()).args(["--paths", "--json"]).output();
    let asked = asked.map_err(|error| error.to_string())?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).trim().to_owned());
    }
    let said: serde_json::Value =
        serde_json::from_slice(&asked.stdout).map_err(|error| error.to_string())?;
    let data = said["data"].as_array().ok_or("it names no folders")?;
    Ok(data.iter().filter_map(|folder| folder.as_str()).map(PathBuf::from).collect())
}
