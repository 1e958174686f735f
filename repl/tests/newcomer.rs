//! Tests named after the points that a newcomer's review of the program made and that no other test holds.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn nesl() -> Command {
    Command::new(env!("CARGO_BIN_EXE_nesl"))
}

#[test]
fn n10_a_run_takes_the_threads_that_it_is_given() {
    for threads in ["1", "2", "3"] {
        let output = nesl()
            .args([
                "--threads",
                threads,
                "eval",
                "--profile",
                "sum({sqrt(float(i)) : i in [0:100000]})",
            ])
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("it = 2.1081"), "{output:?}");
    }
    let refused = nesl().args(["--threads", "0", "eval", "1"]).output().expect("it starts");
    assert!(!refused.status.success(), "{refused:?}");
}

/// The file has no blocks on the disk.
#[test]
fn n19_a_program_has_a_size_from_which_it_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.nesl");
    let file = std::fs::File::create(&path).expect("created");
    file.set_len((64 << 20) + 1).expect("room for a sparse file");
    let output = nesl().arg("run").arg(&path).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("it is larger than 64 MiB"), "{message}");
    assert!(message.contains("`read_csv`"), "{message}");
}

#[test]
fn n20_a_program_that_is_ended_leaves_no_temporary_files() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let folder = tempfile::tempdir().expect("a folder");
        let program = "print_line(\"begun\"); big |= [0:100000]; sum(big);\n\
                       function turn(n) = turn(n + 1); turn(0);\n";
        std::fs::write(folder.path().join("p.nesl"), program).expect("written");
        let temporary = folder.path().join("temporary");
        std::fs::create_dir(&temporary).expect("created");
        let mut child = nesl()
            .args(["run", "p.nesl"])
            .current_dir(folder.path())
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        // The variables are there, and it goes on for ever.
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with("it = 4999950000")), "{signal}");
        Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .expect("kill is there");
        child.wait().expect("it ends");
        let left: Vec<_> = std::fs::read_dir(&temporary).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{signal}: {left:?}");
    }
}
