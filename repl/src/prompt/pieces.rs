//! Bytes from the terminal → keys, texts and lines.
//!
//! | what came | what it is |
//! |---|---|
//! | a text between the marks of bracketed paste | a text, with its lines; if it is too large to be edited, lines |
//! | lines without other keys among them | lines, as if each was entered |
//! | many characters, or a tab before another character | a text in one line |
//! | anything else | keys |

/// The mark before a paste.
const BEGIN: &[u8] = b"\x1b[200~";
/// The mark behind a paste.
const END: &[u8] = b"\x1b[201~";
/// The number of bytes from which on characters are inserted together: nobody types so many at once.
const MIN_TEXT_BYTES: usize = 16;
/// The length of a text, in bytes, from which on it is not edited but run: each key would take long.
const MAX_EDITED_BYTES: usize = 128 * 1024;
/// The number of lines from which on a text is not edited but run: the editor writes some bytes for each row, and can
/// count no more than 65,535.
const MAX_EDITED_LINES: usize = 2_000;
/// Ctrl-C, as a key.
const INTERRUPT: u8 = 3;

/// A piece of what came.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Keys for the editor, as the terminal sends them.
    Keys(Vec<u8>),
    /// A text to be inserted.
    Text(String),
    /// Lines to be entered one by one; the last one may have no end.
    Lines(String),
}

/// Returns the pieces of what came, and the rest that is no whole piece yet. `is_search` is true while the history is
/// searched for what is typed, and `suspends` is the key that suspends the program.
pub fn pieces(bytes: &[u8], is_search: bool, suspends: u8) -> (Vec<Piece>, &[u8]) {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(begin) = position(rest, BEGIN) {
        typed(&rest[..begin], is_search, suspends, &mut found);
        let behind = &rest[begin + BEGIN.len()..];
        let Some(end) = position(behind, END) else {
            // Ctrl-C, pressed by itself, gives up a paste that does not end.
            if behind.ends_with(&[INTERRUPT]) {
                found.push(Piece::Keys(vec![INTERRUPT]));
                return (found, &[]);
            }
            return (found, &rest[begin..]);
        };
        let text = clean(&behind[..end]);
        let text = text.trim_end_matches('\n');
        found.push(match is_large(text) {
            true => Piece::Lines(format!("{text}\n")),
            false => Piece::Text(text.to_owned()),
        });
        rest = &behind[end + END.len()..];
    }
    let whole = rest.len() - begun(rest);
    typed(&rest[..whole], is_search, suspends, &mut found);
    (found, &rest[whole..])
}

/// Returns true for a text that is too large for the editor.
pub fn is_large(text: &str) -> bool {
    text.len() > MAX_EDITED_BYTES
        || text.bytes().filter(|byte| *byte == b'\n').count() > MAX_EDITED_LINES
}

/// Returns whether more may belong to what came, so that it is looked at only after a time without keys: a longer one
/// if that is `true`, a shorter one if it is `false`, and none if there is nothing to wait for.
pub fn is_awaited(bytes: &[u8]) -> Option<bool> {
    let line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let text_end = bytes.iter().rposition(|byte| !line_end(byte)).map_or(0, |at| at + 1);
    if position(bytes, BEGIN).is_some()
        || begun(bytes) > 0
        || bytes.len() >= MIN_TEXT_BYTES
        || bytes[..text_end].iter().any(line_end)
    {
        return Some(true);
    }
    (text_end > 0 && text_end < bytes.len()).then_some(false)
}

/// Returns the number of bytes at the end that begin a mark, or a character.
fn begun(bytes: &[u8]) -> usize {
    // An escape by itself is a key.
    let mark = (2..BEGIN.len()).rev().find(|length| bytes.ends_with(&BEGIN[..*length]));
    let last = &bytes[bytes.len().saturating_sub(3)..];
    let divided = last.utf8_chunks().last().map_or(0, |chunk| {
        let part = chunk.invalid();
        let is_begun = std::str::from_utf8(part).is_err_and(|error| error.error_len().is_none());
        if is_begun { part.len() } else { 0 }
    });
    mark.unwrap_or(0).max(divided)
}

/// Adds the pieces of what came without marks.
fn typed(bytes: &[u8], is_search: bool, suspends: u8, found: &mut Vec<Piece>) {
    if bytes.is_empty() {
        return;
    }
    let is_key =
        |byte: &u8| (*byte < 0x20 && !matches!(byte, b'\t' | b'\r' | b'\n')) || *byte == 0x7f;
    if is_search || bytes.iter().any(is_key) {
        // What stands behind these keys is for the next line.
        let ends = |byte: &u8| *byte == INTERRUPT || (*byte == suspends && suspends != 0);
        for keys in bytes.split_inclusive(ends) {
            found.push(Piece::Keys(readable(keys)));
        }
        return;
    }
    let line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let text_end = bytes.iter().rposition(|byte| !line_end(byte)).map_or(0, |at| at + 1);
    let (text, ends) = bytes.split_at(text_end);
    if text.iter().any(line_end) {
        return found.push(Piece::Lines(clean(bytes)));
    }
    // Tab by itself, or twice, completes.
    let own_end = text.iter().rposition(|byte| *byte != b'\t').map_or(0, |at| at + 1);
    let (own, tabs) = text.split_at(own_end);
    if own.len() >= MIN_TEXT_BYTES || own.contains(&b'\t') {
        let text = clean(own);
        found.push(if is_large(&text) { Piece::Lines(text + "\n") } else { Piece::Text(text) });
        if !tabs.is_empty() || !ends.is_empty() {
            found.push(Piece::Keys([tabs, ends].concat()));
        }
    } else {
        found.push(Piece::Keys(readable(bytes)));
    }
}

/// Returns keys that the editor can read: of bytes that are no characters it could not.
fn readable(keys: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(keys) {
        Ok(_) => keys.to_vec(),
        Err(_) => String::from_utf8_lossy(keys).into_owned().into_bytes(),
    }
}

/// Returns a pasted text without the keys that are in it, with line ends as ours are.
fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\x1b' && chars.next_if_eq(&'[').is_some() {
            // To the end of the sequence.
            while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
        } else if !c.is_control() || matches!(c, '\n' | '\t') {
            out.push(c);
        }
    }
    out
}

fn position(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == mark[0])?;
        if bytes[at..].starts_with(mark) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &str) -> Piece {
        Piece::Keys(keys.as_bytes().to_vec())
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn lines(text: &str) -> Piece {
        Piece::Lines(text.to_owned())
    }

    #[test]
    fn pastes_are_told_from_keys() {
        for (bytes, found) in [
            ("x", vec![keys("x")]),
            ("x + 1\r", vec![keys("x + 1\r")]),
            ("re\t\t", vec![keys("re\t\t")]),
            ("1\r2\r", vec![lines("1\n2\n")]),
            ("1\r\n\r\n2", vec![lines("1\n\n2")]),
            ("\"a\tb\"\r", vec![text("\"a\tb\""), keys("\r")]),
            ("0123456789 + 12345\t", vec![text("0123456789 + 12345"), keys("\t")]),
            ("(1 +\r2)\x1b[H3\r", vec![keys("(1 +\r2)\x1b[H3\r")]),
            ("a\x03b\rc\r", vec![keys("a\x03"), keys("b\rc\r")]),
            ("a\x1b[200~1\r2\r\x1b[201~\r", vec![keys("a"), text("1\n2"), keys("\r")]),
            ("\x1b[200~a\x1b[31mb\x07\tc\x1b[201~", vec![text("ab\tc")]),
        ] {
            assert_eq!(pieces(bytes.as_bytes(), false, 26), (found, &b""[..]), "{bytes:?}");
        }
        let large = "1\r".repeat(20_000);
        let bracketed = format!("\x1b[200~{large}\x1b[201~");
        let found = pieces(bracketed.as_bytes(), false, 26).0;
        assert_eq!(found, [lines(&large.replace('\r', "\n"))]);
        assert_eq!(
            pieces(b"alpha_beta_gamma_delta\r", true, 26).0,
            [keys("alpha_beta_gamma_delta\r")]
        );
    }

    #[test]
    fn what_is_divided_waits() {
        for (bytes, length) in [
            (&b"a\x1b[20"[..], 4),
            (b"a\x1b", 0),
            (b"\xe6\xbc", 2),
            (b"\xe6\xbc\xa2", 0),
            (b"\x1b[200~abc\rd", 11),
        ] {
            let (_, rest) = pieces(bytes, false, 26);
            assert_eq!(rest.len(), length, "{bytes:?}");
            assert_eq!(is_awaited(bytes).is_some(), length > 0, "{bytes:?}");
        }
        assert_eq!(is_awaited(b"x + 1\r"), Some(false));
        assert_eq!(is_awaited(b"1\r2\r"), Some(true));
        for bytes in [&b"x"[..], b"\r", b"\r\r", b"\x1b[A", b"re\t\t"] {
            assert_eq!(is_awaited(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_signs_for_it() {
        assert_eq!(pieces(b"a\xffb", false, 26).0, [keys("a\u{fffd}b")]);
        assert_eq!(pieces(b"a\xff\x01", false, 26).0, [keys("a\u{fffd}\x01")]);
    }
}
