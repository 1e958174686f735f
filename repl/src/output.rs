//! Standard output, which remembers whether a line is begun.
//!
//! The output of programs and of the tool goes through one [`Output`], so that the two stay
//! in order, and a result always starts on a line of its own. On a terminal everything appears
//! at once, and long values in pieces, between which Ctrl-C is looked for: the rest is dropped. Into a
//! pipe or file everything is collected and flushed after every form.

use crate::interrupt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The size of the pieces in which long texts go to a terminal: little enough that a slow terminal
/// shows one in some milliseconds.
const TERMINAL_PIECE_BYTES: usize = 4 * 1024;

/// A handle on standard output; clones share it.
#[derive(Clone)]
pub struct Output {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    writer: Target,
    terminal: bool,
    line_begun: bool,
    /// True while the line at the cursor says how far a computation is.
    status: bool,
    /// The number of presses of Ctrl-C whose `^C` on the screen was looked at.
    presses: usize,
    /// The number of lines that programs have read from the terminal, as far as it was looked at.
    lines_typed: usize,
    /// The last lines, for who asks whether a text is one of them.
    recent: Option<Vec<u8>>,
}

/// The standard output, or a text that is kept for later.
struct Target {
    stdout: BufWriter<Stdout>,
    held: Option<Vec<u8>>,
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => self.stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_some() { Ok(()) } else { self.stdout.flush() }
    }
}

/// The number of bytes that are kept of the last lines.
const MAX_RECENT_BYTES: usize = 16 * 1024;

impl Output {
    /// The process's standard output.
    pub fn stdout() -> Output {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let writer = Target { stdout: BufWriter::with_capacity(64 * 1024, stdout), held: None };
        let inner = Inner {
            writer,
            terminal,
            line_begun: false,
            status: false,
            presses: 0,
            lines_typed: 0,
            recent: None,
        };
        Output { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Prints a line, on a new line if one is begun.
    pub fn line(&self, text: &str) {
        let mut inner = self.lock();
        inner.clear_status();
        // Nobody wants it any more.
        if inner.terminal && inner.writer.held.is_none() && interrupt::is_pressed() {
            return;
        }
        let start = if inner.line_begun { "\n" } else { "" };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        inner.line_begun = false;
        give_up_on(inner.writer.write_all(start.as_bytes()));
        let shown = inner.write(text.as_bytes());
        let end = if shown { end } else { "\n" };
        give_up_on(inner.writer.write_all(end.as_bytes()));
        give_up_on(inner.after());
    }

    /// Shows everything written so far and begins a new line if one is begun, so that something
    /// else can be shown in order.
    pub fn settle(&self) {
        let mut inner = self.lock();
        inner.clear_status();
        if std::mem::take(&mut inner.line_begun) {
            give_up_on(inner.writer.write_all(b"\n"));
        }
        give_up_on(inner.writer.flush());
    }

    /// Prints a message on standard error, in order. (Where standard output is kept for later, so is it.)
    pub fn message(&self, text: &str) {
        self.settle();
        let mut inner = self.lock();
        inner.remember(text.as_bytes());
        match &mut inner.writer.held {
            Some(held) => held.extend_from_slice(text.as_bytes()),
            None => eprint!("{text}"),
        }
    }

    /// Shows a picture, in bytes that the terminal draws; on a line of its own, whole, and not among the last lines.
    pub fn picture(&self, bytes: &[u8]) {
        self.settle();
        let mut inner = self.lock();
        give_up_on(inner.writer.write_all(bytes));
        give_up_on(inner.writer.write_all(b"\n"));
        give_up_on(inner.writer.flush());
    }

    /// Keeps what is written from now on, until [`Output::release`] returns it.
    pub fn hold(&self) {
        self.settle();
        self.lock().writer.held = Some(Vec::new());
    }

    /// Returns what was written since [`Output::hold`]; from now on everything is shown again.
    pub fn release(&self) -> String {
        self.settle();
        let held = self.lock().writer.held.take().unwrap_or_default();
        String::from_utf8_lossy(&held).into_owned()
    }

    /// Shows how far a computation is in the line at the cursor, or that no more; not where a program has begun
    /// a line.
    pub fn status(&self, text: Option<&str>) {
        let mut inner = self.lock();
        if !inner.terminal || inner.line_begun || inner.writer.held.is_some() {
            return;
        }
        inner.clear_status();
        if let Some(text) = text {
            inner.status = true;
            give_up_on(inner.writer.write_all(text.as_bytes()));
        }
        give_up_on(inner.writer.flush());
    }

    /// Remembers what is written from now on, up to some length; returns what was since the last time.
    pub fn recent(&self) -> String {
        let recent = self.lock().recent.replace(Vec::new()).unwrap_or_default();
        String::from_utf8_lossy(&recent).into_owned()
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
    /// Takes away the line that says how far a computation is, and the `^C` with which a terminal shows that
    /// Ctrl-C was pressed: what is said of it begins a line.
    fn clear_status(&mut self) {
        // The end of a line that was typed has ended the line of the question before it.
        let typed = nesl_engine::lines_typed();
        if std::mem::replace(&mut self.lines_typed, typed) < typed && self.terminal {
            self.line_begun = false;
        }
        let presses = interrupt::presses();
        let is_new = std::mem::replace(&mut self.presses, presses) < presses;
        let shows_key = is_new && self.terminal && self.writer.held.is_none() && !self.line_begun;
        if std::mem::take(&mut self.status) || shows_key {
            give_up_on(self.writer.write_all(b"\r\x1b[K"));
        }
    }

    fn remember(&mut self, bytes: &[u8]) {
        if let Some(recent) = &mut self.recent {
            let room = MAX_RECENT_BYTES.saturating_sub(recent.len());
            recent.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if room > 0 {
                recent.push(b'\n');
            }
        }
    }

    /// Writes a text; returns false if Ctrl-C cut it short.
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.clear_status();
        self.remember(bytes);
        if !self.terminal || self.writer.held.is_some() {
            give_up_on(self.writer.write_all(bytes));
            return true;
        }
        let shown = write_pieces(&mut self.writer, bytes, &interrupt::is_pressed);
        shown.unwrap_or_else(|error| {
            give_up_on(Err(error));
            true
        })
    }

    fn after(&mut self) -> io::Result<()> {
        if self.terminal { self.writer.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.lock();
        let shown = inner.write(bytes);
        if let Some(last) = bytes.last() {
            inner.line_begun = !shown || *last != b'\n';
        }
        // What was cut short counts as written: nobody wants it any more.
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show();
        Ok(())
    }
}

/// The number of characters in a row of the screen, as far as is known.
static COLUMNS: AtomicUsize = AtomicUsize::new(80);
/// The number of rows of the screen, as far as is known.
static ROWS: AtomicUsize = AtomicUsize::new(24);

/// Returns the columns and the rows of the screen.
pub fn screen() -> (usize, usize) {
    (COLUMNS.load(Ordering::Relaxed), ROWS.load(Ordering::Relaxed))
}

/// Notes the columns and the rows of the screen; a terminal that does not tell them has the usual ones.
pub fn set_screen(columns: usize, rows: usize) {
    for (size, known) in [(&COLUMNS, columns), (&ROWS, rows)] {
        if known > 0 {
            size.store(known, Ordering::Relaxed);
        }
    }
}

/// Writes a text in pieces that a terminal shows at once; returns false if `is_stopped` came true
/// before the last.
fn write_pieces(
    writer: &mut impl Write,
    bytes: &[u8],
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<bool> {
    for piece in bytes.chunks(TERMINAL_PIECE_BYTES) {
        if is_stopped() {
            return Ok(false);
        }
        writer.write_all(piece)?;
        writer.flush()?;
    }
    Ok(true)
}

/// Nobody can be told anything once standard output is gone. A reader who has seen enough
/// (`nesl run f | head`) is no error to speak of; a full disk is.
fn give_up_on(result: io::Result<()>) {
    if let Err(error) = result {
        nesl_engine::end_between_writes();
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(128 + 13);
        }
        eprintln!("nesl: cannot write to standard output: {error}");
        std::process::exit(i32::from(crate::exit::USAGE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A terminal that counts the bytes that it has shown.
    struct Terminal<'a>(&'a Cell<usize>);

    impl Write for Terminal<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_interrupt_drops_all_but_the_piece_under_way() {
        let text = vec![b'x'; 10 << 20];
        let shown_bytes = Cell::new(0);
        let pressed_after_bytes = 10 * TERMINAL_PIECE_BYTES + 1;
        let is_stopped = || shown_bytes.get() >= pressed_after_bytes;
        let whole = write_pieces(&mut Terminal(&shown_bytes), &text, &is_stopped);
        assert!(!whole.expect("it is written"));
        assert!(shown_bytes.get() < pressed_after_bytes + TERMINAL_PIECE_BYTES);
        assert!(write_pieces(&mut Terminal(&shown_bytes), &text, &|| false).expect("written"));
    }
}
