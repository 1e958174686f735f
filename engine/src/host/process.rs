//! Commands of the system and its environment.

use super::file::reason;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

/// A command that runs beside the program.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// What a command prints when it is given `input`. That it fails is its own affair: it says so on
/// standard error, which is ours.
pub(super) fn shell(command: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = command_line(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run a command: {}", reason(&e)))?;
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let mut output = Vec::new();
    // A command may print before it has read everything: feed it from beside.
    let read = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(input);
            }
        });
        match stdout {
            Some(mut stdout) => stdout.read_to_end(&mut output),
            None => Ok(0),
        }
    });
    let ended = child.wait();
    match read.and(ended) {
        Ok(_) => Ok(output),
        Err(error) => Err(format!("a command failed: {}", reason(&error))),
    }
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
