//! Commands of the system and its environment.

use super::file::reason;
use super::wait::{Interrupt, Pump};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A command that runs beside the program.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// Runs a command on `input` and returns its output. Its exit status is ignored: a failing command reports the
/// reason on standard error, which it shares with us. An interrupt kills it.
pub(super) fn shell(
    command: &[u8],
    input: &[u8],
    interrupt: &Interrupt,
) -> Result<Vec<u8>, String> {
    let mut child = command_line(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run a command: {}", reason(&e)))?;
    // A command may print before it has read everything, so another thread writes its input.
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
    }
    let mut output = Vec::new();
    let read = match child.stdout.take() {
        Some(stdout) => Pump::new(stdout, interrupt.clone()).read_to_end(&mut output),
        None => Ok(0),
    };
    let ended = read.and_then(|_| {
        interrupt.wait(|timeout| match child.try_wait() {
            Ok(None) => {
                std::thread::sleep(timeout.min(Duration::from_millis(1)));
                None
            }
            Ok(Some(_)) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        })?
    });
    ended.map_err(|error| {
        let _ = child.kill().and_then(|()| child.wait());
        format!("a command failed: {}", reason(&error))
    })?;
    Ok(output)
}

/// Starts a command.
pub(super) fn spawn(command: &[u8]) -> Result<Spawned, String> {
    let mut child = command_line(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| reason(&e))?;
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(input), Some(output), Some(errors)) => Ok(Spawned { child, input, output, errors }),
        _ => Err(reason(&ErrorKind::BrokenPipe.into())),
    }
}

/// The value of a variable of the environment; empty if there is none.
pub(super) fn variable(name: &[u8]) -> Vec<u8> {
    // A name with these is never that of a variable, and some systems refuse to look.
    if name.is_empty() || name.iter().any(|c| matches!(c, b'=' | 0)) {
        return Vec::new();
    }
    std::env::var_os(text(name)).map_or_else(Vec::new, OsString::into_encoded_bytes)
}

fn command_line(command: &[u8]) -> Command {
    let mut line = if cfg!(windows) {
        let mut line = Command::new("cmd");
        line.arg("/C");
        line
    } else {
        let mut line = Command::new("sh");
        line.arg("-c");
        line
    };
    line.arg(text(command));
    line
}

fn text(bytes: &[u8]) -> OsString {
    super::file::path(bytes).into_owned().into_os_string()
}
