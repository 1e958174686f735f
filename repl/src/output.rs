//! Standard output, which remembers whether a line is begun.
//!
//! What programs print and what the tool prints goes through one [`Output`], so that the two stay
//! in order, and a result always starts on a line of its own. On a terminal everything appears
//! at once; into a pipe or file it is collected and flushed after every form.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle on standard output; clones share it.
#[derive(Clone)]
pub struct Output {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    writer: BufWriter<Stdout>,
    terminal: bool,
    line_begun: bool,
}

impl Output {
    /// The process's standard output.
    pub fn stdout() -> Output {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let writer = BufWriter::with_capacity(64 * 1024, stdout);
        let inner = Inner { writer, terminal, line_begun: false };
        Output { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Prints a line, on a new line if one is begun.
    pub fn line(&self, text: &str) {
        let mut inner = self.lock();
        let start = if inner.line_begun { "\n" } else { "" };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        inner.line_begun = false;
        let result = write!(inner.writer, "{start}{text}{end}");
        give_up_on(result);
        give_up_on(inner.after());
    }

    /// Shows everything written so far and begins a new line if one is begun, so that something
    /// else can be shown in order.
    pub fn settle(&self) {
        let mut inner = self.lock();
        if std::mem::take(&mut inner.line_begun) {
            give_up_on(inner.writer.write_all(b"\n"));
        }
        give_up_on(inner.writer.flush());
    }

    /// Shows everything written so far.
    pub fn show(&self) {
        give_up_on(self.lock().writer.flush());
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn after(&mut self) -> io::Result<()> {
        if self.terminal { self.writer.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.lock();
        if let Some(last) = bytes.last() {
            inner.line_begun = *last != b'\n';
        }
        give_up_on(inner.writer.write_all(bytes));
        give_up_on(inner.after());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show();
        Ok(())
    }
}

/// Nobody can be told anything once standard output is gone. A reader who has seen enough
/// (`nesl run f | head`) is no error to speak of; a full disk is.
fn give_up_on(result: io::Result<()>) {
    if let Err(error) = result {
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(128 + 13);
        }
        eprintln!("nesl: cannot write to standard output: {error}");
        std::process::exit(i32::from(crate::cli::USAGE));
    }
}
