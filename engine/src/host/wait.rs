//! Interruptible waiting for pipes, processes and the terminal.
//!
//! A blocking system call cannot be abandoned. So pipes are read by another thread, and a terminal is read only
//! when input is available; meanwhile the waiting thread polls the interrupt flag.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The time for which a request to stop may go unnoticed.
const INTERRUPT_POLL: Duration = Duration::from_millis(20);

/// The flag that the user's Ctrl-C sets.
#[derive(Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(super) fn new(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(flag)
    }

    pub(super) fn wished(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Calls `done`, which may block for the time that it is given, until it returns a value or the user
    /// interrupts.
    pub(super) fn wait<T>(&self, mut done: impl FnMut(Duration) -> Option<T>) -> io::Result<T> {
        loop {
            if self.wished() {
                return Err(stopped());
            }
            if let Some(done) = done(INTERRUPT_POLL) {
                return Ok(done);
            }
        }
    }

    /// Waits until the process's input is there, if it is a terminal: elsewhere the end of what
    /// feeds it ends the wait, too.
    #[cfg(unix)]
    pub(super) fn wait_for_terminal(&self) -> io::Result<()> {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let input = io::stdin();
        if !io::IsTerminal::is_terminal(&input) {
            return Ok(());
        }
        self.wait(|timeout| {
            let mut asked = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
            let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::ZERO);
            match poll(&mut asked, timeout) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => None,
                // The read that follows reports the error.
                Ok(_) | Err(_) => Some(()),
            }
        })
    }

    /// The same where there is no way to ask.
    #[cfg(not(unix))]
    pub(super) fn wait_for_terminal(&self) -> io::Result<()> {
        Ok(())
    }
}

fn stopped() -> io::Error {
    // Not `ErrorKind::Interrupted`, after which one tries again.
    io::Error::other("interrupted")
}

/// A pipe that is emptied beside, so that waiting for it can be ended.
pub(super) struct Pump {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
    ended: bool,
    interrupt: Interrupt,
}

impl Pump {
    pub(super) fn new(mut pipe: impl Read + Send + 'static, interrupt: Interrupt) -> Pump {
        // A few pieces ahead; then whoever writes has to wait, as with any pipe.
        let (sender, pieces) = sync_channel(4);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; 8192];
                let read = match pipe.read(&mut piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read,
                };
                let end = matches!(read, Ok(0) | Err(_));
                let sent = read.map(|length| {
                    piece.truncate(length);
                    piece
                });
                if sender.send(sent).is_err() || end {
                    return;
                }
            }
        });
        Pump { pieces, piece: Vec::new(), taken: 0, ended: false, interrupt }
    }
}

impl BufRead for Pump {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.piece.len() && !self.ended {
            let interrupt = self.interrupt.clone();
            let next = interrupt.wait(|timeout| match self.pieces.recv_timeout(timeout) {
                Ok(piece) => Some(piece),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Ok(Vec::new())),
            })?;
            self.piece = next?;
            self.taken = 0;
            self.ended = self.piece.is_empty();
        }
        Ok(&self.piece[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken = (self.taken + amount).min(self.piece.len());
    }
}

impl Read for Pump {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(into.len());
        into[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}
