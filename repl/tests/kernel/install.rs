//! The files that `install` writes, what `uninstall` takes away, and what the doctor says in between.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// Runs `nesl kernel` with no place to look for kernels but `prefix`; returns what it printed and if
/// all was well.
fn nesl(prefix: &Path, arguments: &[&str]) -> (String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
    command.arg("kernel").args(arguments);
    if matches!(arguments[0], "install" | "uninstall") {
        command.arg("--prefix").arg(prefix);
    }
    // Without a path there is no Jupyter to ask.
    command.env_clear().env("HOME", prefix).env("JUPYTER_PATH", prefix.join("share/jupyter"));
    command.env("TMPDIR", prefix);
    let output = command.output().expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&said).into_owned(), output.status.success())
}

#[test]
fn the_doctor_sees_each_problem() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path();
    let file = prefix.join("share/jupyter/kernels/nesl/kernel.json");
    let has = |said: &str, what: &str| assert!(said.contains(what), "`{what}` is not in\n{said}");

    let (said, well) = nesl(prefix, &["doctor"]);
    assert!(!well);
    has(&said, "there is no kernel `nesl`");
    has(&said, "run `nesl kernel install`");

    let (said, well) = nesl(prefix, &["install", "--runtime", "reference", "--threads", "2"]);
    assert!(well, "{said}");
    let spec: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    let words: Vec<&str> =
        spec["argv"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert_eq!(words[1..5], ["--runtime", "reference", "--threads", "2"]);
    let (said, _) = nesl(prefix, &["doctor"]);
    has(&said, "`jupyter` cannot be asked");
    has(&said, "it starts, and answers in ");
    has(&said, "fine     JupyterLab finds the colours of NESL");
    assert_eq!(said.matches("problem").count(), 1, "{said}");

    let damage = |change: &dyn Fn(&mut Value)| {
        let mut damaged = spec.clone();
        change(&mut damaged);
        std::fs::write(&file, damaged.to_string()).expect("it can be written");
        let (said, well) = nesl(prefix, &["doctor"]);
        assert!(!well);
        said
    };
    has(&damage(&|spec| spec["argv"][0] = "/nowhere/nesl".into()), "is not there");
    has(&damage(&|spec| spec["argv"] = "nesl".into()), "names no program");
    has(&damage(&|spec| spec["argv"][7] = "file".into()), "does not pass the connection file on");
    has(&damage(&|spec| spec["interrupt_mode"] = "signal".into()), "sent as signals");
    let said = damage(&|spec| spec["argv"][2] = "abacus".into());
    has(&said, "it does not start");
    has(&said, "abacus");
    std::fs::write(&file, "{").expect("it can be written");
    has(&nesl(prefix, &["doctor"]).0, "the kernelspec cannot be read");

    let (said, well) = nesl(prefix, &["uninstall"]);
    assert!(well && said.matches("removed").count() == 2, "{said}");
    assert!(!nesl(prefix, &["uninstall"]).1);
    assert!(nesl(prefix, &["install", "--name", "second"]).1);
    has(&nesl(prefix, &["doctor"]).0, "look at another one by `nesl kernel doctor --name second`");
    let (said, well) = nesl(prefix, &["install", "--name", "a b"]);
    assert!(!well);
    has(&said, "no name for a kernel");
}

/// The kernelspec of a wheel names `python`, for which Jupyter takes that of the environment.
#[cfg(unix)]
#[test]
fn the_doctor_starts_the_kernel_of_a_wheel_as_jupyter_does() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path();
    let (said, well) = nesl(prefix, &["install"]);
    assert!(well, "{said}");
    let file = prefix.join("share/jupyter/kernels/nesl/kernel.json");
    let mut spec: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    let words = ["python", "-m", "nesl", "kernel", "--connection-file", "{connection_file}"];
    spec["argv"] = words.into();
    std::fs::write(&file, spec.to_string()).expect("it can be written");
    let python = prefix.join("bin/python");
    std::fs::create_dir(prefix.join("bin")).expect("a folder");
    let script = format!("#!/bin/sh\nshift 2\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_nesl"));
    std::fs::write(&python, script).expect("it can be written");
    std::fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).expect("it may run");
    let (said, _) = nesl(prefix, &["doctor"]);
    let wanted = format!("{} is nesl {}", python.display(), env!("CARGO_PKG_VERSION"));
    assert!(said.contains(&wanted) && said.contains("it starts, and answers"), "{said}");
}
