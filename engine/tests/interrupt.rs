//! Tests that Ctrl-C stops waiting for other processes.
#![cfg(unix)]

use nesl_engine::{Event, Session, Settings};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Enters a text that would wait for a minute, and interrupts it.
fn stop(text: &str) {
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let flag = session.interrupt_handle();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        flag.store(true, Ordering::SeqCst);
    });
    let started = Instant::now();
    let mut said = Vec::new();
    let summary = session.enter("text", text, &mut |event| match event {
        Event::Diagnostic(diagnostic) => said.push(diagnostic.message),
        Event::Bound(_) | Event::Text(_) => {}
    });
    assert!(summary.interrupted, "{said:?}");
    assert_eq!(said, ["Interrupted."]);
    assert!(started.elapsed() < Duration::from_secs(20));
    // The session can still be used.
    let summary = session.enter("text", "shell_command(\"cat\", \"ab\") ++ \"c\";", &mut |event| {
        if let Event::Bound(binding) = event {
            assert_eq!(binding.value, "\"abc\"");
        }
    });
    assert_eq!((summary.ok, summary.errors), (1, 0));
}

#[test]
fn a_command_is_stopped() {
    stop("shell_command(\"sleep 60\", \"\");");
}

#[test]
fn a_command_that_left_another_behind_is_stopped() {
    stop("shell_command(\"sleep 60 & wait\", \"\");");
}

#[test]
fn a_command_that_closed_its_output_is_stopped() {
    stop("shell_command(\"exec >&-; sleep 60\", \"\");");
}

#[test]
fn reading_from_a_command_is_stopped() {
    stop(
        "let ((a, out, b), ok) = spawn(\"sleep 60\", nullstr, nullstr, nullstr) in read_line(out);",
    );
}
