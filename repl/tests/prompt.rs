//! Tests the interactive session through a pseudo-terminal.

use expect_test::expect;
use rexpect::process::PtyProcess;
use rexpect::session::{PtySession, spawn_command};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The time limit for each expected output, in milliseconds: a hundred times what any of them takes.
const MAX_WAIT_MS: u64 = 100_000;

/// The time limit for stopping, which takes some milliseconds: a hundred times as long.
const MAX_STOPPING: Duration = Duration::from_secs(10);

/// A form that prints `begun!` when it runs (the text is not in the echo of what is typed). Only then is the
/// terminal certain to turn Ctrl-C into a signal, as `readline` no longer reads keys.
const SAY_BEGUN: &str = "print_line(\"beg\" ++ \"un!\");";

/// The size of the pieces in which [`Terminal`] reads.
const PIECE_BYTES: usize = 64 * 1024;

/// Starts a session in a folder and waits for its first prompt.
fn start(folder: &Path) -> PtySession {
    start_with(folder, &[], ":help")
}

/// Starts a session with arguments and waits for `seen`, which precedes the first prompt.
fn start_with(folder: &Path, arguments: &[&str], seen: &str) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
    command.args(arguments).current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("NESL_HISTORY", folder.join("history"));
    let mut session = spawn_command(command, Some(MAX_WAIT_MS)).expect("it starts");
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
    say(&mut session, ":what", "there is no command `:what`");
    say(&mut session, ":type", "write `:type EXPR`");
    say(&mut session, ":time {i : i in [0:x]}", "time of it: ");
    say(&mut session, ":time 3 #[x, x]", "time of 3 runs: ");
    say(&mut session, "x = 6", "x = 6 : int");
    say(&mut session, ":undo", "`x` is what it was before.");
    say(&mut session, ":stats", "runtime cpu: ");
    say(&mut session, ":help", ":quit");
    say(&mut session, ":vars", "host");
    say(&mut session, ":kernels {i * 2 : i in [0:x]}", "main kernel");
    say(&mut session, ":flatten {i * 2 : i in [0:x]}", "Below each line of lengths");
    say(&mut session, ":set threads 1", "");
    say(&mut session, "x", "it = 5 : int");
    say(&mut session, "describe sort;", "sort : [a] -> [a]");
    say(&mut session, "1 + 1.5", "Type error");
    say(&mut session, "[1, 2][7]", "Runtime error");
    say(&mut session, "it", "it = 5 : int");
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
    say(&mut session, ":reload", "the session has no files");
}

#[test]
fn several_files_are_read_again_and_taken_back_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let save = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("saved");
    };
    save("base.nesl", "n = 3;\n");
    save("use.nesl", "function times(x) = n * x;\n");
    let files = ["repl", "base.nesl", "use.nesl"];
    let mut session = start_with(folder.path(), &files, "base.nesl: n\r\nuse.nesl: times");
    say(&mut session, "times(14)", "it = 42 : int");
    save("base.nesl", "n = 4;\n");
    save("use.nesl", "function times(x) = n * x + 1;\n");
    say(&mut session, ":reload", "base.nesl: n\r\nuse.nesl: times");
    say(&mut session, ":undo", "`n`, `times` are what they were before.");
    say(&mut session, "times(14)", "it = 42 : int");
    say(&mut session, ":reload times(10)", "it = 41 : int");
    say(&mut session, ":undo", "`n`, `times`, `it` are what they were before.");
    say(&mut session, "(it, times(14))", "it = (42, 42) : int, int");
    // What is wrong with one file does not keep the others from being read.
    save("base.nesl", "n = nowhere;\n");
    say(&mut session, ":reload", "base.nesl:1:5");
    say(&mut session, "times(10)", "it = 31 : int");
    std::fs::remove_file(folder.path().join("base.nesl")).expect("removed");
    save("use.nesl", "function times(x) = n * x + 2;\n");
    say(&mut session, ":reload", "use.nesl: times");
    say(&mut session, "times(10)", "it = 32 : int");
}

#[test]
fn point_20_what_is_entered_first_stands_at_the_prompt() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lib.nesl"), "function triple(x) = 3 * x;\n").expect("saved");
    let arguments = ["repl", "--first=triple(14);", "lib.nesl"];
    let seen = "lib.nesl: triple\r\nnesl> triple(14);\r\nit = 42 : int\r\n";
    let mut session = start_with(folder.path(), &arguments, seen);
    say(&mut session, "it + 1", "it = 43 : int");
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
    // The computation would never end by itself.
    session.send_line(&format!("{SAY_BEGUN} forever(0)")).expect("it listens");
    session.exp_string("begun!").expect("it runs");
    std::thread::sleep(Duration::from_millis(100));
    let pressed = Instant::now();
    session.send_control('c').expect("it listens");
    session.exp_string("nterrupted").expect("it stops");
    assert!(pressed.elapsed() < MAX_STOPPING, "{:?}", pressed.elapsed());
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

/// Gives a session lines through a pipe; returns its standard output, its standard error, and its exit
/// code.
fn piped(arguments: &[&str], lines: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
    let piped = Stdio::piped;
    command.args(arguments).stdin(piped()).stdout(piped()).stderr(piped());
    let mut session = command.spawn().expect("it starts");
    let mut input = session.stdin.take().expect("a pipe");
    input.write_all(lines.as_bytes()).expect("it listens");
    drop(input);
    let done = session.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (text(done.stdout), text(done.stderr), done.status.code())
}

#[test]
fn a_command_in_a_pipe_ends_the_form_above_it() {
    let (out, errors, code) = piped(&[], "1+1\n:type 3\nx = [1,\n2]\n\n:vars;\n:undo;\n");
    assert_eq!(errors, "");
    assert!(out.starts_with("it = 2 : int\n3 : int\nx = [1, 2] : [int]\n"), "{out}");
    assert_eq!(code, Some(0));
    // So does one below a command that lacks its form.
    let (out, errors, _) = piped(&[], ":time\n:type 1\n5;\n");
    assert_eq!(out, "1 : int\nit = 5 : int\n");
    assert!(errors.contains("write `:time [N] FORM`"), "{errors}");
    // So does a question about a name, but not within a string.
    let (out, errors, _) = piped(&[], "x = 3\n?not\n\"a\nsum?\n\";\nnot?;");
    assert_eq!(errors, "");
    let answers = out.lines().filter(|line| line.starts_with("not : ")).count();
    assert!(out.starts_with("x = 3 : int\nnot : "), "{out}");
    assert!(answers == 2 && out.contains("\nsum?\n"), "{out}");
    let (_, errors, _) = piped(&[], "1 + 1\n?not\noops;\n");
    assert!(errors.contains("<stdin>:3:1"), "{errors}");
    // What is not complete is not cut, and lines are counted on.
    let (_, errors, _) = piped(&[], "1+1\n:type 3\noops;\n");
    assert!(errors.contains("<stdin>:3:1"), "{errors}");
    let (_, errors, code) = piped(&[], "x = 1;\n:edit\n:set rows 5\n");
    assert!(errors.contains("an editor needs a terminal"), "{errors}");
    assert!(errors.contains("`rows` is a setting of the prompt in a terminal"), "{errors}");
    assert_eq!(code, Some(1));
}

#[test]
fn what_follows_a_mistake_in_a_pipe_is_left_out() {
    let (out, errors, code) =
        piped(&[], "function g(x) = x + q;\ng(1);\ny = g(2);\ny + 1;\nx = 1 / 0;\nx + 1;\n2;\n");
    assert_eq!(errors.matches(" error:").count(), 2, "{errors}");
    assert_eq!((&*out, code), ("it = 2 : int\n", Some(1)));
    // What does not need the name is run, whatever its own variables are called.
    let lines =
        "x = 1 / 0;\n{x * x : x in [1, 2]};\nfunction h(x) = x + 1;\nh(3);\nlet x = 3 in x;\n";
    let (out, errors, _) = piped(&[], lines);
    assert_eq!(errors.matches(" error:").count(), 1, "{errors}");
    assert_eq!(out, "it = [1, 4] : [int]\nh = fn : int -> int\nit = 4 : int\nit = 3 : int\n");
    // A definition that goes well is one.
    let lines = "x = q;\nx;\nx = 3;\nx + 1;\nfunction g(n) = q;\n\
                 function g(n) = if n == 0 then 1 else g(n - 1);\ng(4);\n";
    let (out, errors, _) = piped(&[], lines);
    assert_eq!(errors.matches(" error:").count(), 2, "{errors}");
    assert_eq!(out, "x = 3 : int\nit = 4 : int\ng = fn : int -> int\nit = 1 : int\n");
}

#[test]
fn commands_work_in_a_pipe() {
    let lines = "x = [1,\n2];\n:type x\n:time\nfunction twice(a) =\n  2 * a;\n:info twice\n\
                 :cost twice(3) for n = 1, 2, 3\n:quit\n1 / 0;\n";
    let (output, errors, code) = piped(&[], lines);
    assert_eq!(errors, "");
    assert_eq!(code, Some(0));
    expect![[r#"
        x = [1, 2] : [int]
        x : [int]
        twice = fn : int -> int
        twice : int -> int
        defined in <stdin>

        function twice(a) =
          2 * a;
        n  work  depth  parallelism
        1     1      1          1.0
        2     1      1          1.0
        3     1      1          1.0
        work  = 1, which is O(1)
        depth = 1, which is O(1)
        With 3 sizes only laws with one term were tried; give 5 or more.
    "#]]
    .assert_eq(&output);
    // A command that fails ends its entry only; lines are counted from the beginning.
    let (output, errors, code) = piped(&["--quiet"], "x = 3;\n:what\n\n:time\n\nx / 0;\n:type x\n");
    assert_eq!((&*output, code), ("x : int\n", Some(1)));
    assert!(errors.starts_with("Command error: there is no command `:what`"), "{errors}");
    assert!(errors.contains("<stdin>:6:"), "{errors}");
    // So are those of commands that only look at forms.
    let lines = "x = 3;\n:type x +\n \"a\";\n:type sum(x)\n:cost sum(x)\n:ir flat sum(x)\n";
    let (_, errors, code) = piped(&["--quiet"], lines);
    let places = errors.lines().filter_map(|line| Some(line.split_once("[ ")?.1));
    let places: Vec<&str> = places.collect();
    let expected = ["<stdin>:2:10 ]", "<stdin>:4:7 ]", "<stdin>:5:7 ]", "<stdin>:6:10 ]"];
    assert_eq!((&places[..], code), (&expected[..], Some(1)), "{errors}");
    assert!(errors.contains("4 │ :type sum(x)") && errors.contains("5 │ :cost sum(x)"), "{errors}");
    // Objects are for programs; answers are for people.
    let (output, errors, _) = piped(&["--json"], "1 + 2;\n:type 1\n");
    assert!(output.starts_with("{") && output.lines().count() == 1, "{output}");
    assert_eq!(errors, "1 : int\n");
}

/// A session whose output is read in large pieces. (The reader of `rexpect` rescans all of it for every
/// byte.) Only as much is read as a test asks for: a session that prints more has to wait, as long as the
/// test likes.
struct Terminal {
    _process: PtyProcess,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// The output received but not examined yet.
    seen: Vec<u8>,
}

impl Terminal {
    fn start(folder: &Path, arguments: &[&str]) -> Terminal {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
        command.args(arguments).current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1");
        command.env("NESL_HISTORY", folder.join("history"));
        let process = PtyProcess::new(command).expect("it starts");
        let keys = process.get_file_handle().expect("a terminal");
        let mut screen = process.get_file_handle().expect("a terminal");
        let (sender, output) = sync_channel(1);
        std::thread::spawn(move || {
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = screen.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal { _process: process, keys, output, seen: Vec::new() };
        terminal.wait_for("nesl> ");
        terminal
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it listens");
    }

    /// Reads until a text arrives; returns the number of bytes before it.
    #[track_caller]
    fn wait_for(&mut self, text: &str) -> usize {
        self.within(MAX_WAIT_MS, text).unwrap_or_else(|| {
            let end = &self.seen[self.seen.len().saturating_sub(300)..];
            panic!("no `{text}`: …{}", String::from_utf8_lossy(end));
        })
    }

    /// Does the same, but returns none if the text does not arrive within the given time.
    fn within(&mut self, ms: u64, text: &str) -> Option<usize> {
        let deadline = Instant::now() + Duration::from_millis(ms);
        let mut from = 0;
        loop {
            let found = self.seen[from..].windows(text.len()).position(|w| w == text.as_bytes());
            if let Some(at) = found {
                self.seen.drain(..from + at + text.len());
                return Some(from + at);
            }
            from = self.seen.len().saturating_sub(text.len());
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(piece) => self.seen.extend(piece),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Types a line and waits for its result.
    #[track_caller]
    fn say(&mut self, line: &str, result: &str) {
        self.press(&format!("{line}\r"));
        self.wait_for(result);
        self.wait_for("nesl> ");
    }
}

/// A terminal without bracketed paste sends pasted text as if it were typed, and fast.
#[test]
fn n2_all_lines_of_an_unbracketed_paste_arrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path(), &[]);
    let lines: String = (0..40).map(|n| format!("p{n} = {n} * {n};\r")).collect();
    terminal.press(&lines);
    for n in 0..40 {
        terminal.wait_for(&format!("p{n} = {} : int", n * n));
    }
    terminal.wait_for("nesl> ");
    // A form over several lines, followed by another.
    terminal.press("function twice(x) =\r  2 * x;\rtwice(p7);\r");
    terminal.wait_for("twice = fn : int -> int");
    terminal.wait_for("it = 98 : int");
}

#[test]
fn n3_ctrl_c_stops_printing_and_keeps_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path(), &["--print-length", "all"]);
    terminal.say("x = 41", "x = 41 : int");
    // One interrupt comes while the value is printed, one while it or its text is computed. Nobody reads
    // what is printed meanwhile, so the session cannot finish before the interrupt.
    for (length, begun) in [(4_000_000, "1000, 1001"), (20_000_000, "begun!")] {
        terminal.press(&format!("{SAY_BEGUN} y = [0:{length}]\r"));
        terminal.wait_for(begun);
        std::thread::sleep(Duration::from_millis(20));
        let pressed = Instant::now();
        terminal.press("\x03");
        std::thread::sleep(Duration::from_millis(100));
        let before = terminal.wait_for("Interrupted.");
        let took = pressed.elapsed();
        let after = terminal.wait_for("nesl> ");
        assert!(took < MAX_STOPPING, "{length}: {took:?}");
        assert!(before < 5 * length, "{length}: {before} bytes, as if all of it were printed");
        assert!(after < 1000, "{length}: {after} bytes more");
        terminal.say("x + 1", "it = 42 : int");
        if length == 4_000_000 {
            terminal.say("#y", "it = 4000000 : int");
        }
    }
}

#[test]
fn a_second_ctrl_c_does_not_end_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path(), &["--print-length", "all"]);
    terminal.say("x = 41", "x = 41 : int");
    terminal.say("function forever(n) = if n < 0 then n else forever(n + 1)", "int -> int");
    for form in ["forever(0)", "[0:3000000]"] {
        terminal.press(&format!("{SAY_BEGUN} {form}\r"));
        terminal.wait_for("begun!");
        for _ in 0..4 {
            terminal.press("\x03");
        }
        terminal.wait_for("nterrupted.");
        // Text typed immediately after Ctrl-C at the prompt is discarded with the line.
        let answers = (0..20).any(|_| {
            terminal.press("x + 1\r");
            terminal.within(1000, "it = 42 : int").is_some()
        });
        assert!(answers, "after {form}");
    }
}
