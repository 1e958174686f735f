//! The program as a process of its own on a machine with a GPU, and on one without: the simulated
//! driver lies where the system looks for libraries.

mod process;

use assert_cmd::Command;
use nesl_sim::client::install;
use process::Ran;
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// A folder with a program, the simulated driver, and the program's cache of compiled modules.
struct Machine(TempDir);

/// A sum that the GPU computes, and a function whose calls it refuses.
const PROGRAM: &str = "\
function depth(n) : int -> int = if n < 2 then 1 else depth(n - 2) + depth(n - 1);
total = sum({float(i) * 0.5 : i in [0:100000]});
depths = {depth(rem(i, 5)) : i in [0:1000]};
sum(depths);
";

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.nesl"), PROGRAM).expect("saved");
        install(&folder.path().join("driver")).expect("the simulator was built");
        Machine(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `nesl` with some variables of the environment.
    fn nesl(&self, arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
        Ran::of(
            command
                .args(arguments)
                .current_dir(self.path())
                .env("LD_LIBRARY_PATH", self.path().join("driver"))
                .env("XDG_CACHE_HOME", self.path().join("cache"))
                .envs(variables.iter().copied())
                .write_stdin(input),
        )
    }

    /// Runs the program on the GPU; returns the objects of `--json --stats`, the last of which is that of
    /// the session.
    fn objects(&self, options: &[&str]) -> Vec<Value> {
        let all = ["run", "--runtime", "ptx", "--always-compile", "--json", "--stats"];
        let ran = self.nesl(&[&all[..], options, &["a.nesl"]].concat(), "", &[]).code(0);
        ran.out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
    }
}

impl Ran {
    /// Asserts that a text was printed.
    fn told(&self, wanted: &str) {
        assert!(self.out.contains(wanted), "{wanted}: {}{}", self.out, self.err);
    }
}

#[test]
fn devices_are_described() {
    let machine = Machine::new();
    let ran = machine.nesl(&["devices"], "", &[]).code(0);
    ran.told(
        "--runtime ptx  Simulated H100: compute capability 9.0, 132 multiprocessors, 80.0 GiB",
    );
    let ran = machine.nesl(&["devices", "--json"], "", &[("NESL_SIM_DEVICE", "t4")]).code(0);
    let gpu: Value = serde_json::from_str(ran.out.lines().nth(1).expect("a GPU")).expect("JSON");
    assert_eq!((&gpu["name"], &gpu["compute_capability"]), (&"Simulated T4".into(), &"7.5".into()));
    // Of code for the device its compiler tells the registers, and how many blocks it holds.
    let stage = ["ir", "--runtime", "ptx", "--stage", "ptx", "a.nesl"];
    let ran = machine.nesl(&stage, "", &[]).code(0);
    ran.told("// line 2: total = sum(");
    ran.told("// on Simulated H100: 32 registers and 0 bytes of local memory a thread, ");
    ran.told(" 8 blocks a multiprocessor");
    // A driver without a device is something else than no driver.
    let ran = machine.nesl(&["devices"], "", &[("NESL_SIM_DEVICE", "none")]).code(0);
    ran.told("--runtime ptx  not on this machine: ");
}

/// Every face tells which kernels ran where, and why; the next process finds the modules on disk.
#[test]
fn what_ran_where_is_told() {
    let machine = Machine::new();
    let objects = machine.objects(&[]);
    assert_eq!(objects[0]["data"], 2_499_975_000.0, "{objects:?}");
    let stats = &objects[objects.len() - 1]["stats"];
    let shares = stats["shares"].as_array().expect("shares");
    assert_eq!(shares[0]["runtime"], "Simulated H100", "{stats}");
    assert!(shares.iter().all(|share| share["launches"].as_u64() > Some(0)), "{stats}");
    let refused = stats["refused"].as_array().expect("refused kernels");
    assert!(refused.iter().all(|kernel| kernel["reason"] == "recursive functions"), "{stats}");
    assert!(!refused.is_empty() && stats["cached"] == 0, "{stats}");
    let again = machine.objects(&[]);
    let stats = &again[again.len() - 1]["stats"];
    assert!(stats["cached"].as_u64() > Some(0), "{stats}");
    // The same as text, and at the prompt.
    let options = ["run", "--runtime", "ptx", "--always-compile", "--stats", "a.nesl"];
    let ran = machine.nesl(&options, "", &[]).code(0);
    let all = format!("{}{}", ran.out, ran.err);
    for wanted in ["Simulated H100", "recursive functions"] {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
    let prompt = ["--runtime", "ptx", "--always-compile"];
    let entries = format!("{PROGRAM}:stats\n");
    let ran = machine.nesl(&prompt, &entries, &[]).code(0);
    ran.told("Simulated H100");
    ran.told("recursive functions");
}

/// Arrays that do not fit are moved to the host; what fits nowhere is an error that says how much was
/// wanted and what there was, after which the session goes on.
#[test]
fn memory_may_run_out() {
    let machine = Machine::new();
    let few = machine.objects(&["--device-memory", "300k"]);
    assert_eq!(few[0]["data"], 2_499_975_000.0, "{few:?}");
    let text = "\
a = {i * 3 : i in [0:20000]};
b = {i * 5 : i in [0:20000]};
c = {i * 7 : i in [0:20000]};
sum({x + y : x in a; y in b}) + sum(c);
d = {i * 7 : i in [0:2000000]};
sum(a);
";
    let options =
        ["--runtime", "ptx", "--always-compile", "--device-memory", "400k", "--memory", "4M"];
    let ran = machine.nesl(&options, text, &[]);
    ran.told("2999850000");
    let all = format!("{}{}", ran.out, ran.err);
    assert!(
        all.contains("Out of memory") && all.contains("wanted") && all.contains("limit"),
        "{all}"
    );
    ran.told("599970000");
}

/// A session that uses no GPU does not even look for the driver.
#[test]
#[cfg(target_os = "linux")]
fn no_driver_is_looked_for_unasked() {
    let machine = Machine::new();
    // The system's loader says which libraries it looks for.
    let looked_for = |arguments: &[&str]| {
        let ran = machine.nesl(arguments, "1 + 2;\n", &[("LD_DEBUG", "libs")]).code(0);
        assert!(ran.err.contains("libc.so"), "the loader tells nothing: {}", ran.err);
        ran.err.contains("libcuda")
    };
    assert!(looked_for(&["devices"]));
    for arguments in
        [&["run", "a.nesl"][..], &[], &["check", "a.nesl"], &["run", "--stats", "a.nesl"]]
    {
        assert!(!looked_for(arguments), "{arguments:?}");
    }
}
