//! Tests of recursion without an end, by the real program: every runtime reports it, with its last calls,
//! and takes little memory until then.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

/// The size of the memory that the program may take in all, in bytes, on the stack and beside it.
const MAX_BYTES: u64 = 260_000_000;

/// Programs, and what their messages contain.
const PROGRAMS: &[(&str, &str)] = &[
    ("function g(x) = 1 + g(x); g(0);", "every way through `g` calls `g` again"),
    ("function g(x) = [0] ++ g(x + 1); g(0);", "every way through `g` calls `g` again"),
    ("function h(v) = h(v ++ v); h([1]);", "every way through `h` calls `h` again"),
    ("function h(v) = 1 + h(v ++ [1]); h([1]);", "`h([1, 1, 1, 1, …])`"),
    ("function a(n) = 1 + b(n); function b(n) = 2 + a(n + 1); a(0);", "again"),
    ("function c(n) = if n > 5 then 1 + c(n + 1) else c(n + 2); c(0);", "again"),
    ("function g(x) = if x < 0 then 0 else 1 + g(x + 1); g(0);", "`g(9999)`"),
    ("function g(x) = if x < 0 then [0] else [0] ++ g(x + 1); g(0);", "`g(9999)`"),
    (
        "function q(v) = {if x < 0 then 0 else sum(q(index(x + 1))) : x in v}; q([1, 2]);",
        "`q([0])`",
    ),
    ("function q(v) = sum({1 + q([x]) : x in v}); q([1, 2]) + 0;", "too deep"),
    ("function u(x) = if x < 0 then 0 else 1 + u(x + 1); {u(x) : x in [0:100]};", "too deep"),
    (
        "function s(x) = let u = print_char(`.) in if x < 0 then 0 else 1 + s(x + 1); s(0);",
        "too deep",
    ),
];

#[test]
fn n24_recursion_without_an_end_takes_little_memory() {
    for runtime in ["cpu", "reference", "kir"] {
        for (program, expected) in PROGRAMS {
            // The interpreter of kernels moves the list at each of its eight million turns.
            if runtime == "kir" && program.contains("else [0] ++ g") {
                continue;
            }
            let mut child = Command::new(env!("CARGO_BIN_EXE_nesl"))
                .args(["--runtime", runtime, "--threads", "2"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts");
            let mut errors = child.stderr.take().expect("it is piped");
            let errors = std::thread::spawn(move || {
                let mut all = String::new();
                errors.read_to_string(&mut all).map(|_| all)
            });
            let mut input = child.stdin.take().expect("it is piped");
            input
                .write_all(format!("{program}\n\"it is \" ++ \"over\";\n").as_bytes())
                .expect("it reads");
            let output = BufReader::new(child.stdout.take().expect("it is piped"));
            let mut lines = output.lines().map(|line| line.expect("text"));
            let over = lines.any(|line| line.contains("it is over"));
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
            drop(input);
            child.wait().expect("it ends");
            let errors = errors.join().expect("it ends").expect("text");
            assert!(over, "{runtime}: {program}: {errors}");
            assert!(errors.contains("Recursion too deep"), "{runtime}: {program}: {errors}");
            assert!(errors.contains(expected), "{runtime}: {program}: {errors}");
            if let Some(bytes) = status.ok().as_deref().and_then(peak) {
                println!("{runtime}: {program} {bytes} bytes");
                assert!(bytes < MAX_BYTES, "{runtime}: {program}: {bytes} bytes");
            }
        }
    }
}

/// Returns the most memory that a process had at once, in bytes, by the system's description of it.
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[test]
fn more_stack_can_be_had() {
    // (Sums of ints would be a loop, which takes no stack.)
    let program = "function down(n) = if n == 0 then 0.0 else down(n - 1) + 1.0; down(200000);";
    for runtime in ["cpu", "reference", "kir"] {
        let run = |stack: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_nesl"))
                .args(["eval", "--runtime", runtime, "--stack", stack, program])
                .output()
                .expect("it starts");
            let both = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&both).into_owned())
        };
        let (ends, text) = run("1M");
        assert!(!ends && text.contains("take 1.0 MB"), "{runtime}: {text}");
        let (ends, text) = run("256M");
        assert!(ends && text.contains("200000"), "{runtime}: {text}");
    }
}
