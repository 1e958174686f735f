//! The buffer in front of standard output.
//!
//! To the process's own it is buffered, but not held back: on a terminal a line goes out when it
//! ends, elsewhere what is printed goes out when a tenth of a second has passed since the last
//! time, and in any case whenever the session or the program waits for something else.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The number of bytes that are kept before they are written.
const BUFFER_BYTES: usize = 64 * 1024;
/// The time for which output is kept while the program goes on printing.
const MAX_DELAY: Duration = Duration::from_millis(100);

pub(super) enum Output {
    Process { buffer: Vec<u8>, flushed: Instant, terminal: bool },
    Given(Box<dyn Write + Send>),
}

impl Output {
    pub(super) fn process() -> Output {
        Output::Process {
            buffer: Vec::new(),
            flushed: Instant::now(),
            terminal: std::io::stdout().is_terminal(),
        }
    }

    pub(super) fn given(writer: Box<dyn Write + Send>) -> Output {
        Output::Given(writer)
    }

    /// A reader that has gone away is no reason for a program to fail: errors are ignored.
    pub(super) fn print(&mut self, text: &[u8]) {
        match self {
            Output::Given(writer) => {
                let _ = writer.write_all(text);
            }
            Output::Process { buffer, flushed, terminal } => {
                buffer.extend_from_slice(text);
                let line = *terminal && text.contains(&b'\n');
                if line || buffer.len() >= BUFFER_BYTES || flushed.elapsed() >= MAX_DELAY {
                    self.flush();
                }
            }
        }
    }

    pub(super) fn flush(&mut self) {
        match self {
            Output::Given(writer) => {
                let _ = writer.flush();
            }
            Output::Process { buffer, flushed, .. } => {
                if !buffer.is_empty() {
                    let mut out = std::io::stdout().lock();
                    let _ = out.write_all(buffer).and_then(|()| out.flush());
                    buffer.clear();
                }
                *flushed = Instant::now();
            }
        }
    }
}
