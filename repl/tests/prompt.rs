//! Tests the interactive session through a pseudo-terminal.

use rexpect::session::{PtySession, spawn_command};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The time limit for each expected output, in milliseconds; nothing in these tests takes as long.
const PATIENCE: u64 = 20_000;

/// Starts a session in a folder and waits for its first prompt.
fn start(folder: &Path) -> PtySession {
    start_with(folder, &[], ":help")
}

/// Starts a session with arguments and waits for `seen`, which precedes the first prompt.
fn start_with(folder: &Path, arguments: &[&str], seen: &str) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
    command.args(arguments).current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("NESL_HISTORY", folder.join("history"));
    let mut session = spawn_command(command, Some(PATIENCE)).expect("it starts");
    session.exp_string(seen).expect("a banner");
    session.exp_string("nesl> ").expect("a prompt");
    session
}

/// Types a line and waits for its result.
fn say(session: &mut PtySession, line: &str, result: &str) {
    session.send_line(line).expect("it listens");
    session.exp_string(result).unwrap_or_else(|e| panic!("{line}: {e}"));
    session.exp_string("nesl> ").unwrap_or_else(|e| panic!("{line}: {e}"));
}

/// Types text without pressing Enter.
fn type_in(session: &mut PtySession, text: &str) {
    session.send(text).expect("it listens");
    session.flush().expect("it listens");
}

#[test]
fn a_conversation() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lib.nesl"), "function triple(x) = 3 * x;\n").expect("saved");
    let mut session = start(folder.path());
    say(&mut session, "{sum(a) : a in [[2,3],[8,3,9],[7]]}", "it = [5, 20, 7] : [int]");
    say(&mut session, "#it;", "it = 3 : int");
    say(&mut session, "x = 5", "x = 5 : int");
    say(&mut session, ":type {x + i : i in [0:x]}", ": [int]");
    say(&mut session, ":load lib.nesl", "triple = fn : int -> int");
    say(&mut session, "triple(x)", "it = 15 : int");
    say(&mut session, ":doc plus_scan", "plus_scan : [a] -> [a]");
    say(&mut session, ":doc plus_sacn", "did you mean `plus_scan`?");
    say(&mut session, ":what", "There is no `:what`");
    say(&mut session, ":type", "Write `:type EXPR`");
    say(&mut session, ":time {i : i in [0:x]}", "time of it: ");
    say(&mut session, ":stats", "runtime cpu: ");
    say(&mut session, ":help", ":quit");
    say(&mut session, "describe sort;", "sort : [a] -> [a]");
    say(&mut session, "1 + 1.5", "Type error");
    say(&mut session, "[1, 2][7]", "Runtime error");
    say(&mut session, "it", "it = [0, 1, 2, 3, 4] : [int]");
    session.send_line(":quit").expect("it listens");
    session.exp_eof().expect("it leaves");
}

#[test]
fn a_session_knows_what_its_file_defines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lib.nesl");
    std::fs::write(&file, "n = 3;\nprint_line(\"run\");\nfunction times(x) = n * x;\n")
        .expect("saved");
    let mut session = start_with(folder.path(), &["repl", "lib.nesl"], "lib.nesl: n, times");
    say(&mut session, "times(14)", "it = 42 : int");
    std::fs::write(&file, "n = 4;\nfunction times(x) = n * x + oops;\n").expect("saved");
    say(&mut session, ":reload", "lib.nesl:2:29");
    say(&mut session, ":reload n + 1", "it = 5 : int");
    session.send_control('d').expect("it listens");
    session.exp_eof().expect("it leaves");
    let mut session = start(folder.path());
    say(&mut session, ":reload", "The session has no files");
}

#[test]
fn a_form_may_take_several_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = start(folder.path());
    session.send_line("function twice(x) =").expect("it listens");
    say(&mut session, "2 * x", "twice = fn : int -> int");
    session.send_line("let a = 1;").expect("it listens");
    session.send_line("b = 2").expect("it listens");
    say(&mut session, "in a + twice(b);", "it = 5 : int");
    // A blank line ends a form that cannot be completed.
    session.send_line("(1 + ").expect("it listens");
    say(&mut session, "", "Syntax error");
    session.send_control('d').expect("it listens");
    session.exp_eof().expect("it leaves");
}

#[test]
fn ctrl_c_stops_a_computation_and_keeps_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = start(folder.path());
    say(&mut session, "x = 41", "x = 41 : int");
    say(&mut session, "function forever(n) = if n < 0 then n else forever(n + 1)", "int -> int");
    session.send_line("forever(0)").expect("it listens");
    std::thread::sleep(Duration::from_millis(500));
    let pressed = Instant::now();
    session.send_control('c').expect("it listens");
    session.exp_string("nterrupted").expect("it stops");
    assert!(pressed.elapsed() < Duration::from_secs(2), "{:?}", pressed.elapsed());
    session.exp_string("nesl> ").expect("a prompt");
    say(&mut session, "x + 1", "it = 42 : int");
    // At the prompt, Ctrl-C only discards the line.
    type_in(&mut session, "1 + ");
    session.send_control('c').expect("it listens");
    session.exp_string("nesl> ").expect("a prompt");
    say(&mut session, "x", "it = 41 : int");
    session.send_control('d').expect("it listens");
    session.exp_eof().expect("it leaves");
}

#[test]
fn tab_completes_and_history_persists() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = start(folder.path());
    type_in(&mut session, "remove_dup\t");
    session.exp_string("remove_duplicates").expect("a completion");
    say(&mut session, "([1, 2, 1])", ": [int]");
    say(&mut session, "12345 + 1", "it = 12346 : int");
    session.send_control('d').expect("it listens");
    session.exp_eof().expect("it leaves");
    let mut session = start(folder.path());
    type_in(&mut session, "\x1b[A");
    session.exp_string("12345 + 1").expect("what was typed before");
    say(&mut session, "", "it = 12346 : int");
    session.send_control('d').expect("it listens");
    session.exp_eof().expect("it leaves");
}
