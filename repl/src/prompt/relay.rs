//! The keys between the terminal and the line editor.
//!
//! ```text
//! terminal ──► relay ──► a pseudo-terminal, which is standard input while a line is edited ──► editor
//! ```
//!
//! A terminal without bracketed paste sends what is pasted as if it were typed, and the editor would complete at
//! its tabs, indent its lines, and repaint at each character. A thread reads the terminal instead: single keys go on
//! to the editor at once; what comes as a whole is looked at by [`pieces`]. A text is inserted at once, and lines are
//! taken by the prompt, which finds the entries in them ([`super::paste`]).

#[cfg(unix)]
mod thread;

use super::pieces::{Piece, is_awaited, pieces};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
pub use thread::Relay;

/// Ctrl-C, as a key.
const INTERRUPT: u8 = 3;

/// The key by which the editor inserts a text: Ctrl-F12, as xterm sends it.
const INSERT: &[u8] = b"\x1b[24;5~";
/// The keys by which the editor hands over its line: Ctrl-F11 and Ctrl-F10.
const HAND_OVER: &[u8] = b"\x1b[23;5~\x1b[21;5~";

/// The text that was pasted, and what does not go through the editor.
#[derive(Clone, Default)]
pub struct Pasted(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The keys that were read, and not looked at yet.
    read: Vec<u8>,
    /// The pieces that wait until the editor is through with those before them.
    waiting: VecDeque<Piece>,
    /// The keys for the editor.
    keys: VecDeque<u8>,
    /// The texts that the editor inserts, one for each [`INSERT`].
    texts: VecDeque<String>,
    /// The lines that the prompt takes.
    lines: Option<String>,
    /// The line of the editor before and behind its cursor, once it has handed it over for them.
    line: Option<(String, String)>,
    /// True while what is typed is searched for in the history.
    is_search: bool,
    /// True behind Ctrl-C: what was typed behind it is for the next line.
    is_interrupted: bool,
    /// True once there is no terminal any more.
    is_ended: bool,
}

/// The lines that were pasted, and the line of the editor at that time.
#[derive(Debug, PartialEq, Eq)]
pub struct Lines {
    /// The line of the editor before its cursor.
    pub before: String,
    /// The lines that were pasted.
    pub text: String,
    /// The line of the editor behind its cursor.
    pub behind: String,
}

impl Pasted {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next text that the editor inserts.
    pub fn text(&self) -> Option<String> {
        self.lock().texts.pop_front()
    }

    /// Notes the line of the editor; returns false if nobody wants it.
    pub fn hand_over(&self, before: &str, behind: &str) -> bool {
        let mut state = self.lock();
        if state.lines.is_none() {
            return false;
        }
        state.line = Some((before.to_owned(), behind.to_owned()));
        true
    }

    /// Returns true once the editor has handed over its line.
    pub fn is_handed_over(&self) -> bool {
        self.lock().line.is_some()
    }

    /// Returns true once there is no terminal any more.
    pub fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    /// Returns the lines that were pasted, once the editor has handed over its own.
    pub fn take_lines(&self) -> Option<Lines> {
        let mut state = self.lock();
        let (before, behind) = state.line.take()?;
        let text = state.lines.take()?;
        Some(Lines { before, text, behind })
    }
}

impl State {
    /// True while nothing more can be passed on.
    fn is_blocked(&self) -> bool {
        self.lines.is_some() || self.is_interrupted
    }

    /// Goes on although the editor has not answered.
    fn unblock(&mut self) {
        self.is_interrupted = false;
        if self.line.is_none()
            && let Some(lines) = self.lines.take()
        {
            self.keys.extend(lines.replace('\n', "\r").into_bytes());
        }
    }

    /// Passes on what was read; `is_whole` is true if nothing has followed for some time.
    fn look(&mut self, is_whole: bool, suspends: u8) {
        if !self.read.is_empty() && (is_whole || is_awaited(&self.read).is_none()) {
            let read = std::mem::take(&mut self.read);
            let (found, rest) = pieces(&read, self.is_search, suspends);
            self.read = rest.to_vec();
            self.waiting.extend(found);
        }
        while !self.is_blocked()
            && let Some(piece) = self.waiting.pop_front()
        {
            match piece {
                Piece::Keys(keys) => {
                    for key in &keys {
                        self.is_search = match key {
                            // Ctrl-R and Ctrl-S.
                            0x12 | 0x13 => true,
                            0x08 | 0x7f | 0x20.. => self.is_search,
                            _ => false,
                        };
                    }
                    self.is_interrupted = keys.contains(&INTERRUPT);
                    self.keys.extend(keys);
                }
                Piece::Text(text) => {
                    self.texts.push_back(text);
                    self.keys.extend(INSERT);
                }
                Piece::Lines(lines) => {
                    self.lines = Some(lines);
                    self.keys.extend(HAND_OVER);
                }
            }
        }
    }
}

/// The relay; there is none here, and the editor reads the terminal itself.
#[cfg(not(unix))]
pub struct Relay;

#[cfg(not(unix))]
impl Relay {
    /// Returns none: the editor reads the terminal itself.
    pub fn new(_: Pasted) -> Option<Relay> {
        None
    }

    /// Reads a line by an editor.
    pub fn read<T>(&self, edit: impl FnOnce() -> T) -> T {
        edit()
    }

    /// Does nothing, since the editor reads the terminal itself.
    pub fn add(&self, _: &[u8]) {}

    /// Does nothing, since nothing is kept here.
    pub fn forget(&self, _: bool) {}
}
