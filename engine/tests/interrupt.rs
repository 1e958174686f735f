//! Tests that Ctrl-C stops waiting for other processes.
//!
//! No test relies on the speed of the machine: each command creates the file `begun` and then waits for
//! as long as it exists; the interrupt is sent once it exists.
#![cfg(unix)]

use nesl_engine::{Event, Session, Settings};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time after which an interrupt counts as unheeded: the command is then ended in another way, and the
/// test fails.
const MAX_WAIT: Duration = Duration::from_secs(100);

/// Waits as long as the file `begun` exists, in the language of the shell.
const WAIT: &str = "while test -e '$BEGUN'; do sleep 0.1; done";

/// Enters a text whose command creates the file `$BEGUN` and then waits (`$WAIT`), and interrupts it once
/// the file exists.
fn stop(text: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = folder.path().join("begun");
    let text = text.replace("$WAIT", WAIT).replace("$BEGUN", &begun.display().to_string());
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let flag = session.interrupt_handle();
    let ended = AtomicBool::new(false);
    let mut said = Vec::new();
    let summary = std::thread::scope(|scope| {
        let interrupter = scope.spawn(|| {
            while !begun.exists() && !ended.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            flag.store(true, Ordering::SeqCst);
            let sent = Instant::now();
            while sent.elapsed() < MAX_WAIT && !ended.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let heeded = ended.load(Ordering::SeqCst);
            std::fs::remove_file(&begun).expect("the command created it before the interrupt");
            heeded
        });
        let summary = session.enter("text", &text, &mut |event| match event {
            Event::Diagnostic(diagnostic) => said.push(diagnostic.message),
            Event::Bound(_) | Event::Text(_) => {}
        });
        ended.store(true, Ordering::SeqCst);
        assert!(interrupter.join().expect("no panic"), "the interrupt was not heeded");
        summary
    });
    assert!(summary.interrupted, "{said:?}");
    assert_eq!(said, ["Interrupted."]);
    // The session can still be used.
    session.interrupt_handle().store(false, Ordering::SeqCst);
    let summary = session.enter("text", "shell_command(\"cat\", \"ab\") ++ \"c\";", &mut |event| {
        if let Event::Bound(binding) = event {
            assert_eq!(binding.value, "\"abc\"");
        }
    });
    assert_eq!((summary.ok, summary.errors), (1, 0));
}

#[test]
fn a_command_is_stopped() {
    stop("shell_command(\"touch '$BEGUN'; $WAIT\", \"\");");
}

#[test]
fn a_command_that_left_another_behind_is_stopped() {
    stop("shell_command(\"touch '$BEGUN'; ($WAIT) & wait\", \"\");");
}

#[test]
fn a_command_that_closed_its_output_is_stopped() {
    stop("shell_command(\"exec >&-; touch '$BEGUN'; $WAIT\", \"\");");
}

#[test]
fn reading_from_a_command_is_stopped() {
    stop(
        "let ((a, out, b), ok) = spawn(\"touch '$BEGUN'; $WAIT\", nullstr, nullstr, nullstr) in read_line(out);",
    );
}
