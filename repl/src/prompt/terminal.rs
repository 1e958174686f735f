//! Questions to the terminal: whether it shows pictures, and how many pixels a character has.
//!
//! A terminal that shows sixels says so in its answer to the question for its attributes (DA1, which all
//! terminals answer). The answer comes where keys come; the keys pressed meanwhile are handed back. While keys wait
//! to be read already, nothing is asked, so that no key is ever taken for a part of the answer.

use crate::interrupt;
use std::time::{Duration, Instant};

/// The time after which a terminal that has not answered has no pictures.
const MAX_ANSWER: Duration = Duration::from_millis(500);
/// The time between two looks at whether Ctrl-C was pressed, in milliseconds.
const LOOK_MS: u16 = 20;
/// The question for the terminal's attributes.
const QUESTION: &[u8] = b"\x1b[c";
/// The beginning of the answer; numbers follow, and a `c`.
const ANSWER: &[u8] = b"\x1b[?";
/// The number in the answer that stands for sixels.
const SIXEL_ATTRIBUTE: &[u8] = b"4";
/// The width of a character where the terminal does not tell it, in pixels.
const USUAL_COLUMN_PIXELS: f64 = 8.0;

/// A way in which terminals show pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The graphics protocol of kitty.
    Kitty,
    /// Sixels, which xterm and others show.
    Sixel,
}

/// The knowledge of a terminal before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It shows pictures.
    Protocol(Protocol),
    /// It shows none.
    Nothing,
    /// It must be asked.
    Asked,
}

/// The answer of a terminal.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The way in which it shows pictures, if it does.
    pub protocol: Option<Protocol>,
    /// The keys that were pressed meanwhile.
    pub typed: Vec<u8>,
}

/// Returns what the environment says of the terminal; `named` gives the values of variables.
pub fn known(named: &dyn Fn(&str) -> Option<String>) -> Known {
    let set = |name: &str| named(name).is_some_and(|value| !value.is_empty());
    let term = named("TERM").unwrap_or_default();
    if term.is_empty() || term == "dumb" || term == "linux" {
        return Known::Nothing;
    }
    // Within a multiplexer, what the terminal around it can show says nothing.
    let is_inside =
        set("TMUX") || set("STY") || term.starts_with("screen") || term.starts_with("tmux");
    let program = named("TERM_PROGRAM").unwrap_or_default().to_lowercase();
    let is_kitty = set("KITTY_WINDOW_ID")
        || term == "xterm-kitty"
        || term == "xterm-ghostty"
        || program == "ghostty"
        || program == "wezterm";
    if is_kitty && !is_inside { Known::Protocol(Protocol::Kitty) } else { Known::Asked }
}

/// Returns true for a terminal that breaks the lines on its screen anew when its width changes: all but a few known ones
/// do. `named` gives the values of variables.
pub fn breaks_anew(named: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| named(name).is_some_and(|value| !value.is_empty());
    let is_console = named("TERM").is_none_or(|term| matches!(&*term, "" | "dumb" | "linux"));
    // Within tmux, the terminal around it matters no more.
    set("TMUX") || !(set("XTERM_VERSION") || set("STY") || is_console)
}

/// Separates an answer from the keys around it: returns the protocol, if the answer is whole, and the keys.
fn separate(bytes: &[u8]) -> Option<Asked> {
    let start = bytes.windows(ANSWER.len()).position(|window| window == ANSWER)?;
    let numbers = &bytes[start + ANSWER.len()..];
    let length = numbers.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    if numbers[length] != b'c' {
        return None;
    }
    // The first number is the kind of terminal.
    let has_sixels =
        numbers[..length].split(|byte| *byte == b';').skip(1).any(|one| one == SIXEL_ATTRIBUTE);
    let typed = [&bytes[..start], &numbers[length + 1..]].concat();
    Some(Asked { protocol: has_sixels.then_some(Protocol::Sixel), typed })
}

/// Asks the terminal; `None` while that is not possible without taking what was typed.
#[cfg(unix)]
pub fn ask() -> Option<Asked> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, tcgetattr, tcsetattr};
    use nix::unistd::{read, write};
    use std::os::fd::AsFd;

    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let keys = stdin.as_fd();
    let has_keys = |time: u16| {
        let mut polled = [PollFd::new(keys, PollFlags::POLLIN)];
        poll(&mut polled, PollTimeout::from(time)).is_ok_and(|count| count > 0)
    };
    let before = tcgetattr(keys).ok()?;
    let mut quiet = before.clone();
    // Ctrl-C stays a signal.
    quiet.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
    quiet.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
    quiet.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
    tcsetattr(keys, SetArg::TCSANOW, &quiet).ok()?;
    let answered = || {
        if has_keys(0) {
            return None;
        }
        write(stdout.as_fd(), QUESTION).ok()?;
        let (asked, mut bytes) = (Instant::now(), Vec::new());
        while asked.elapsed() < MAX_ANSWER {
            // The terminal has forgotten what was typed. It is asked again for the next plot.
            if interrupt::is_pressed() {
                return None;
            }
            if !has_keys(LOOK_MS) {
                continue;
            }
            // Byte by byte: what stands behind the answer stays where it is.
            let mut byte = [0];
            match read(keys, &mut byte) {
                Ok(1) => bytes.push(byte[0]),
                _ => break,
            }
            if let Some(asked) = separate(&bytes) {
                return Some(asked);
            }
        }
        Some(Asked { protocol: None, typed: bytes })
    };
    let answer = answered();
    let _ = tcsetattr(keys, SetArg::TCSANOW, &before);
    answer
}

/// Asks the terminal; it is not known how here.
#[cfg(not(unix))]
pub fn ask() -> Option<Asked> {
    Some(Asked { protocol: None, typed: Vec::new() })
}

/// Returns the columns and the rows of the screen; `None` where the terminal does not tell them.
pub fn screen() -> Option<(usize, usize)> {
    #[cfg(unix)]
    if let Some(size) = size::of_terminal()
        && size.ws_col > 0
        && size.ws_row > 0
    {
        return Some((usize::from(size.ws_col), usize::from(size.ws_row)));
    }
    None
}

/// Returns the width of a character in pixels.
pub fn column_pixels() -> f64 {
    #[cfg(unix)]
    if let Some(size) = size::of_terminal()
        && size.ws_xpixel > 0
        && size.ws_col > 0
    {
        return f64::from(size.ws_xpixel) / f64::from(size.ws_col);
    }
    USUAL_COLUMN_PIXELS
}

#[cfg(unix)]
mod size {
    use nix::libc::{STDOUT_FILENO, TIOCGWINSZ, winsize};

    nix::ioctl_read_bad!(read_size, TIOCGWINSZ, winsize);

    /// Returns the size of the terminal in characters and in pixels.
    pub(super) fn of_terminal() -> Option<winsize> {
        let mut size = winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call writes a `winsize` to where the reference points, and nothing else.
        unsafe { read_size(STDOUT_FILENO, &raw mut size) }.ok()?;
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Known {
        known(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn terminals_are_known_by_their_environment() {
        let kitty = Known::Protocol(Protocol::Kitty);
        for (variables, expected) in [
            (&[("TERM", "xterm-kitty")][..], kitty),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], kitty),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], kitty),
            (&[("TERM", "xterm-ghostty")], kitty),
            (&[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1"), ("TMUX", "x")], Known::Asked),
            (&[("TERM", "xterm-256color")], Known::Asked),
            (&[("TERM", "dumb"), ("KITTY_WINDOW_ID", "1")], Known::Nothing),
            (&[], Known::Nothing),
        ] {
            assert_eq!(of(variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn most_terminals_break_lines_anew() {
        for (variables, expected) in [
            (&[("TERM", "xterm-256color")][..], true),
            (&[("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(390)")], false),
            (&[("TERM", "tmux"), ("XTERM_VERSION", "XTerm(390)"), ("TMUX", "x")], true),
            (&[("TERM", "linux")], false),
        ] {
            let named = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(breaks_anew(&named), expected, "{variables:?}");
        }
    }

    #[test]
    fn an_answer_is_told_from_keys() {
        let asked = |sixel: bool, typed: &[u8]| {
            Some(Asked { protocol: sixel.then_some(Protocol::Sixel), typed: typed.to_vec() })
        };
        assert_eq!(separate(b"\x1b[?62;4;22c"), asked(true, b""));
        assert_eq!(separate(b"\x1b[?4;6c"), asked(false, b""));
        assert_eq!(separate(b"ab\x1b[A\x1b[?1;2cx"), asked(false, b"ab\x1b[Ax"));
        for part in [&b""[..], b"\x1b", b"\x1b[?62;4", b"1 + 1\r", b"\x1b[?62;4u"] {
            assert_eq!(separate(part), None);
        }
    }
}
