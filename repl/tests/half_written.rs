//! Tests that a program which is ended while it writes files leaves each whole or as it was.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::Duration;

/// Writes the same large files again and again.
const PROGRAM: &str = "
function text(n) = flatten({\"0123456789\" : i in [0:n]});
function again(n) =
  let a = write_string_to_file(text(300000), \"a.txt\");
      b = write_csv({(i, i) : i in [0:200000]}, \"\", \"b.csv\");
      c = write_npy([0:300000], \"c.npy\")
  in if n == 0 then 0 else again(n - 1);
again(1000000);
";

/// The time between two looks at a process that is to end, and the most looks.
const WAIT: Duration = Duration::from_millis(2);
const MAX_WAITS: u32 = 10_000;

#[test]
fn what_is_ended_leaves_whole_files() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.nesl"), PROGRAM).expect("written");
    for signal in ["-TERM", "-INT", "-HUP", "-QUIT", "-KILL"] {
        for turn in 0..4 {
            let mut child = Command::new(env!("CARGO_BIN_EXE_nesl"))
                .args(["run", "p.nesl"])
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            // All files are there, and some are being written again.
            while !folder.path().join("c.npy").exists() {
                assert_eq!(child.try_wait().expect("a process"), None, "it goes on");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(7 * turn));
            let pid = child.id().to_string();
            Command::new("kill").args([signal, &pid]).status().expect("kill is there");
            // A process whose parent ignores a signal ignores it, too.
            let mut waits = 0..MAX_WAITS;
            while child.try_wait().expect("a process").is_none() {
                if waits.next().is_none() {
                    child.kill().expect("it runs");
                    panic!("{signal} does not end it; is it ignored here?");
                }
                std::thread::sleep(WAIT);
            }
            let mut sizes = Vec::new();
            for entry in std::fs::read_dir(folder.path()).expect("a folder") {
                let entry = entry.expect("an entry");
                let bytes = entry.metadata().expect("a file").len();
                sizes.push((entry.file_name().into_string().expect("a name"), bytes));
            }
            sizes.sort();
            // Between being named and taking the place of an older file, a file is whole and has another name. No
            // program can do anything about a signal that kills it.
            if signal == "-KILL" {
                sizes.retain(|(name, _)| !name.starts_with(".nesl-"));
            }
            let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["a.txt", "b.csv", "c.npy", "p.nesl"], "{signal}");
            let bytes: Vec<u64> = sizes.iter().map(|(_, bytes)| *bytes).collect();
            assert_eq!(bytes[0], 3_000_000, "{signal}");
            assert_eq!(bytes[1], 2_577_780, "{signal}");
            assert_eq!(bytes[2], 2_400_128, "{signal}");
            for name in ["a.txt", "b.csv", "c.npy"] {
                std::fs::remove_file(folder.path().join(name)).expect("it is there");
            }
        }
    }
}
