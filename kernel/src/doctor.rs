//! Finds out why Jupyter does not run the kernel, and what to do.

use crate::client::Started;
use crate::info::VERSION;
use crate::install::{extension_folder, kernel_folder, read};
use crate::places;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A kernel that has not answered for so long does not.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The state that was found.
    pub what: String,
    /// The advice, if it is a problem.
    pub remedy: Option<String>,
}

impl Finding {
    fn well(what: impl Into<String>) -> Finding {
        Finding { what: what.into(), remedy: None }
    }

    fn problem(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { what: what.into(), remedy: Some(remedy.into()) }
    }
}

/// Examines the kernel of a name; `tell` receives the findings as they are made.
pub fn examine(name: &str, tell: &mut dyn FnMut(Finding)) {
    let install = if name == "nesl" {
        "nesl kernel install".to_owned()
    } else {
        format!("nesl kernel install --name {name}")
    };
    let folders = places::folders();
    tell(match &folders.unasked {
        None => Finding::well("Jupyter is installed"),
        Some(reason) => Finding::problem(
            format!("`jupyter` cannot be asked: {reason}"),
            "install it by `pip install jupyterlab`, or activate the environment that has it",
        ),
    });
    let searched: Vec<String> =
        folders.data.iter().map(|folder| folder.display().to_string()).collect();
    tell(Finding::well(format!("Jupyter looks for kernels below {}", searched.join(", "))));

    let found: Vec<PathBuf> = folders
        .data
        .iter()
        .map(|data| kernel_folder(data, name))
        .filter(|folder| folder.join("kernel.json").is_file())
        .collect();
    let Some(folder) = found.first() else {
        let run =
            format!("run `{install}`, with --sys-prefix for the Python environment that is active");
        let remedy = match others(&folders.data).as_slice() {
            [] => run,
            [other, ..] => {
                format!("look at another one by `nesl kernel doctor --name {other}`, or {run}")
            }
        };
        tell(Finding::problem(format!("there is no kernel `{name}` in these folders"), remedy));
        return;
    };
    tell(Finding::well(format!("the kernelspec is {}", folder.display())));
    for hidden in &found[1..] {
        tell(Finding::well(format!("{} is hidden by it", hidden.display())));
    }
    match read(folder) {
        Ok(spec) => examine_spec(&spec, folder, &install, tell),
        Err(error) => tell(Finding::problem(
            format!("the kernelspec cannot be read: {error}"),
            format!("run `{install}`"),
        )),
    }
    let coloured = folders.data.iter().any(|data| extension_folder(data).is_dir());
    tell(if coloured {
        Finding::well("JupyterLab finds the colours of NESL")
    } else {
        Finding::problem("JupyterLab does not find the colours of NESL", format!("run `{install}`"))
    });
}

/// Returns the names of the kernels of NESL in some folders of data.
fn others(folders: &[PathBuf]) -> Vec<String> {
    let kernels = folders.iter().filter_map(|data| std::fs::read_dir(data.join("kernels")).ok());
    let kernels = kernels.flatten().flatten();
    let own = kernels.filter(|kernel| {
        read(&kernel.path()).is_ok_and(|specification| specification["language"] == "nesl")
    });
    own.filter_map(|kernel| kernel.file_name().into_string().ok()).collect()
}

fn examine_spec(spec: &Value, folder: &Path, install: &str, tell: &mut dyn FnMut(Finding)) {
    let again = format!("run `{install}`");
    let mut argv: Vec<String> = spec["argv"]
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    if let Some(python) = argv.first_mut().filter(|program| *program == "python")
        && let Some(own) = python_of(folder)
    {
        // As Jupyter does, which starts the kernelspec of a wheel by its own Python.
        *python = own;
    }
    let Some(program) = argv.first() else {
        tell(Finding::problem("the kernelspec names no program", again));
        return;
    };
    if !argv.iter().any(|argument| argument.contains("{connection_file}")) {
        let what = "the kernelspec does not pass the connection file on";
        tell(Finding::problem(what, again));
        return;
    }
    if spec["interrupt_mode"] != "message" {
        tell(Finding::problem("interrupts are sent as signals, not as messages", again.clone()));
    }
    if Path::new(program).is_absolute() && !Path::new(program).is_file() {
        tell(Finding::problem(format!("{program}, which it starts, is not there"), again));
        return;
    }
    // A wheel's is called by `python -m nesl`.
    let words = if argv.get(1).is_some_and(|word| word == "-m") { 3 } else { 1 };
    match version(&argv[..words.min(argv.len())]) {
        Ok(version) if version == VERSION => {
            tell(Finding::well(format!("{program} is nesl {version}")));
        }
        Ok(version) => tell(Finding::problem(
            format!("{program} is nesl {version}, and this is nesl {VERSION}"),
            format!("{again} with the one you want"),
        )),
        Err(reason) => {
            tell(Finding::problem(format!("{program} does not run: {reason}"), again));
            return;
        }
    }
    tell(start(&argv));
}

/// Returns the Python of the environment that a kernelspec is in, if it is in one.
fn python_of(folder: &Path) -> Option<String> {
    // …/share/jupyter/kernels/NAME
    let prefix = folder.ancestors().nth(4)?;
    let places = [prefix.join("bin").join("python"), prefix.join("python.exe")];
    let python = places.into_iter().find(|python| python.is_file())?;
    python.to_str().map(str::to_owned)
}

/// Returns what a program says its version is, which is called by some words.
fn version(call: &[String]) -> Result<String, String> {
    let Some((program, rest)) = call.split_first() else {
        return Err("there is none".to_owned());
    };
    let asked = Command::new(program).args(rest).arg("--version").output();
    let asked = asked.map_err(|error| error.to_string())?;
    if !asked.status.success() {
        let said = String::from_utf8_lossy(&asked.stderr).trim().to_owned();
        return Err(if said.is_empty() { format!("it ends with {}", asked.status) } else { said });
    }
    let said = String::from_utf8_lossy(&asked.stdout);
    Ok(said.trim().trim_start_matches("nesl ").to_owned())
}

/// Starts the kernel, and asks what it is.
fn start(argv: &[String]) -> Finding {
    // What a runtime lacks it says itself.
    let remedy = match argv.iter().any(|word| word == "ptx") {
        true => "install what it misses, or install the kernel again with `--runtime cpu`",
        false => "run it by hand to see more; if it still fails, this is a bug in nesl",
    };
    let begin = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let asked = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let mut started = Started::start(argv, Stdio::piped())?;
            match started.kernel_info(MAX_WAIT).await {
                Ok(_) => Ok(begin.elapsed()),
                Err(error) => {
                    let _ = started.child.kill();
                    let mut said = String::new();
                    if let Some(mut errors) = started.child.stderr.take() {
                        let _ = errors.read_to_string(&mut said);
                    }
                    Err(std::io::Error::other(format!("{error}\n{}", said.trim())))
                }
            }
        })
    });
    match asked {
        Ok(time) => Finding::well(format!("it starts, and answers in {} ms", time.as_millis())),
        Err(error) => {
            Finding::problem(format!("it does not start: {}", error.to_string().trim()), remedy)
        }
    }
}
