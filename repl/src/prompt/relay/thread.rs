//! The thread that reads the terminal while a line is edited.

use super::{HAND_OVER, Pasted, State, is_awaited};
use crate::prompt::mode;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{
    FlushArg, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios, cfmakeraw, tcflush,
    tcgetattr, tcsetattr,
};
use nix::unistd::{Pid, dup2_stdin, read, write};
use std::io::{IsTerminal, PipeReader, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The time without keys after which a text has been pasted whole, in milliseconds.
const PASTED_MS: u16 = 10;
/// The time without keys after which a line was typed ahead, and is not the first of many, in milliseconds.
const LINE_MS: u16 = 2;
/// The time after which the editor is not going to hand over its line, or to end it for Ctrl-C, since it asks
/// something: then keys are keys again, in milliseconds.
const ANSWERED_MS: u16 = 300;
/// The number of bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// The time for which a process may go on after it was told to stop.
const STOPPING: Duration = Duration::from_millis(20);
/// The key by which the editor repaints its line: Ctrl-F9.
const REPAINT: &[u8] = b"\x1b[20;5~";
/// Ctrl-D, as a key.
const END: u8 = 4;
/// The byte that stands for a Ctrl-D that was pressed while the terminal gave whole lines.
const END_AHEAD: u8 = 0;

/// The relay. Standard input is the terminal, except while a line is read.
pub struct Relay {
    pasted: Pasted,
    terminal: OwnedFd,
    ours: OwnedFd,
    editors: OwnedFd,
}

impl Relay {
    /// Makes a relay; `None` where there is no terminal with keys, or no pseudo-terminal.
    pub fn new(pasted: Pasted) -> Option<Relay> {
        let is_plain = std::env::var("TERM").is_ok_and(|term| {
            // Those for which the editor reads lines only.
            ["dumb", "cons25", "emacs"].iter().any(|plain| term.eq_ignore_ascii_case(plain))
        });
        let stdin = std::io::stdin();
        if is_plain || !stdin.is_terminal() {
            return None;
        }
        let terminal = stdin.as_fd().try_clone_to_owned().ok()?;
        let mut modes = tcgetattr(&terminal).ok()?;
        // The editor looks its keys up here. Nothing that is written to it comes back.
        modes
            .local_flags
            .remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG | LocalFlags::IEXTEN);
        modes.input_flags.remove(InputFlags::ICRNL | InputFlags::IXON | InputFlags::ISTRIP);
        let both = openpty(None, &modes).ok()?;
        for end in [&both.master, &both.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).ok()?;
        }
        fcntl(&both.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).ok()?;
        Some(Relay { pasted, terminal, ours: both.master, editors: both.slave })
    }

    /// Reads a line by an editor of standard input.
    pub fn read<T>(&self, edit: impl FnOnce() -> T) -> T {
        let Ok((stopped, stop)) = pipe() else { return edit() };
        let Ok(modes) = tcgetattr(&self.terminal) else { return edit() };
        let _restored = Restored { relay: self, modes: modes.clone() };
        let _ = tcsetattr(&self.terminal, SetArg::TCSADRAIN, &raw(&modes));
        self.take_ahead();
        let _ = dup2_stdin(&self.editors);
        std::thread::scope(|scope| {
            scope.spawn(move || self.pass(&stopped, &modes));
            // However it ends, the thread ends with it.
            let _stop = stop;
            edit()
        })
    }

    /// Adds keys that were taken from the terminal before it is read again.
    pub fn add(&self, keys: &[u8]) {
        self.pasted.lock().read.extend_from_slice(keys);
    }

    /// Forgets what was typed and not yet read; `all` is false if what was typed behind Ctrl-C is kept.
    pub fn forget(&self, all: bool) {
        let mut state = self.pasted.lock();
        let read = std::mem::take(&mut state.read);
        let waiting = std::mem::take(&mut state.waiting);
        let is_ended = state.is_ended;
        *state = State { is_ended, ..State::default() };
        if !all {
            (state.read, state.waiting) = (read, waiting);
        }
        let _ = tcflush(&self.editors, FlushArg::TCIFLUSH);
    }

    /// Passes on what is typed until the pipe is closed.
    fn pass(&self, stop: &PipeReader, modes: &Termios) {
        let suspends = modes.control_chars[SpecialCharacterIndices::VSUSP as usize];
        self.pasted.lock().is_interrupted = false;
        let mut is_whole = false;
        loop {
            let (wait, has_keys, is_full) = {
                let mut state = self.pasted.lock();
                state.look(is_whole, suspends);
                let suspended = state.keys.iter().position(|key| *key == suspends && suspends != 0);
                if let Some(at) = suspended {
                    state.keys.remove(at);
                    self.give(&mut state);
                    drop(state);
                    self.suspend(modes);
                    continue;
                }
                self.give(&mut state);
                let wait = if state.read.is_empty() { None } else { is_awaited(&state.read) };
                (wait, !state.keys.is_empty(), state.is_blocked() || state.is_ended)
            };
            let wait = match wait {
                _ if is_full => PollTimeout::from(ANSWERED_MS),
                Some(true) => PollTimeout::from(PASTED_MS),
                Some(false) => PollTimeout::from(LINE_MS),
                None => PollTimeout::NONE,
            };
            let mut polled = vec![PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
            if !is_full {
                polled.push(PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN));
            }
            if has_keys {
                polled.push(PollFd::new(self.ours.as_fd(), PollFlags::POLLOUT));
            }
            let found = poll(&mut polled, wait);
            let is_ready = |polled: &PollFd<'_>| polled.any().unwrap_or(false);
            if is_ready(&polled[0]) {
                return;
            }
            is_whole = found == Ok(0);
            if is_full && is_whole {
                self.pasted.lock().unblock();
            }
            if !is_full && is_ready(&polled[1]) {
                self.take_in();
            }
        }
    }

    /// Reads what was typed while nobody edited a line. The terminal marks the place of a Ctrl-D, which ends a line
    /// then, by [`END_AHEAD`].
    fn take_ahead(&self) {
        let has_keys = || {
            let mut polled = [PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN)];
            poll(&mut polled, PollTimeout::ZERO).is_ok_and(|count| count > 0)
        };
        let mut bytes = vec![0; PIECE_BYTES];
        while has_keys() {
            // Its end is found by the thread.
            let length = read(&self.terminal, &mut bytes).unwrap_or(0);
            if length == 0 {
                break;
            }
            let keys = bytes[..length].iter_mut();
            keys.filter(|key| **key == END_AHEAD).for_each(|key| *key = END);
            self.add(&bytes[..length]);
        }
    }

    /// Reads what the terminal has.
    fn take_in(&self) {
        let mut bytes = vec![0; PIECE_BYTES];
        let length = match read(&self.terminal, &mut bytes) {
            Err(Errno::EINTR | Errno::EAGAIN) => return,
            found => found.unwrap_or(0),
        };
        let mut state = self.pasted.lock();
        state.read.extend_from_slice(&bytes[..length]);
        if length == 0 {
            // The prompt looks whether there is a terminal.
            state.is_ended = true;
            state.keys.extend(HAND_OVER);
        }
    }

    /// Gives keys to the editor, as many as it has room for.
    fn give(&self, state: &mut State) {
        while !state.keys.is_empty() {
            let (head, _) = state.keys.as_slices();
            match write(&self.ours, head) {
                Ok(length) => drop(state.keys.drain(..length)),
                Err(_) => break,
            }
        }
    }

    /// Suspends the program, as the terminal itself would for its key.
    fn suspend(&self, modes: &Termios) {
        let _ = tcsetattr(&self.terminal, SetArg::TCSADRAIN, modes);
        let _ = write(std::io::stdout(), b"\x1b[?2004l");
        let shown = mode::leave();
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        std::thread::sleep(STOPPING);
        let _ = tcsetattr(&self.terminal, SetArg::TCSADRAIN, &raw(modes));
        let _ = write(std::io::stdout(), b"\x1b[?2004h");
        mode::resume(shown);
        self.pasted.lock().keys.extend(REPAINT);
    }
}

/// Makes standard input the terminal again, with its own modes.
struct Restored<'a> {
    relay: &'a Relay,
    modes: Termios,
}

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        let _ = dup2_stdin(&self.relay.terminal);
        let _ = tcsetattr(&self.relay.terminal, SetArg::TCSADRAIN, &self.modes);
    }
}

/// Returns the modes in which each key comes as it is. What is written is not changed.
fn raw(modes: &Termios) -> Termios {
    let mut raw = modes.clone();
    cfmakeraw(&mut raw);
    raw.output_flags = modes.output_flags;
    raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
    raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
    raw
}
