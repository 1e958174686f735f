//! Offsets → lines and columns, and texts made safe to show.
//!
//! A text is shown to people with nothing in it that a terminal would obey: every control
//! character is replaced by a visible one *of the same count of characters*, so that character
//! offsets into the shown text are those of the text itself.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The byte at which a form's own text begins, past the blanks and comments before it.
pub fn own_start(text: &str, range: &Range<usize>) -> usize {
    let form = text.get(range.clone()).unwrap_or("");
    let mut skipped = 0;
    loop {
        let rest = &form[skipped..];
        let blank = rest.len() - rest.trim_start().len();
        let comment = match rest[blank..].strip_prefix('%') {
            Some(inside) => inside.find('%').map_or(rest.len() - blank, |end| end + 2),
            None => 0,
        };
        skipped += blank + comment;
        if comment == 0 || skipped >= form.len() {
            break;
        }
    }
    range.start + skipped
}

/// A text with its line starts, which convert byte offsets to lines and columns.
pub struct Lines {
    text: Arc<str>,
    /// Byte and character offset of each line's start.
    starts: Vec<(usize, usize)>,
}

/// A line and column as messages show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the column, from 1, in characters.
    pub column: usize,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn new(text: Arc<str>) -> Lines {
        let mut starts = vec![(0, 0)];
        let mut chars = 0;
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            chars += 1;
            let lone_return = c == '\r' && rest.peek().is_none_or(|(_, next)| *next != '\n');
            if c == '\n' || lone_return {
                starts.push((at + c.len_utf8(), chars));
            }
        }
        Lines { text, starts }
    }

    /// Returns true if these are the lines of a text; immediate if the two share their storage.
    pub fn is_of(&self, text: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.text, text) || self.text == *text
    }

    /// The number of characters before a byte; an offset past the end is the end, one inside a
    /// character is its start.
    pub fn char_of(&self, byte: usize) -> usize {
        let (start, chars, byte) = self.line_of(byte);
        chars + self.text[start..byte].chars().count()
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let (start, chars, clamped) = self.line_of(byte);
        let line = self.starts.partition_point(|(_, c)| *c <= chars);
        Position { line, column: self.text[start..clamped].chars().count() + 1 }
    }

    /// The text of the line that holds a byte, without its end, and the byte it starts at.
    pub fn line_text(&self, byte: usize) -> (&str, usize) {
        let (start, _, _) = self.line_of(byte);
        let line = &self.text[start..];
        let end = line.find(['\n', '\r']).unwrap_or(line.len());
        (&line[..end], start)
    }

    fn line_of(&self, byte: usize) -> (usize, usize, usize) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.starts.partition_point(|(start, _)| *start <= byte) - 1;
        let (start, chars) = self.starts[line];
        (start, chars, byte)
    }
}

/// Returns a text of one paragraph with line ends instead of some blanks, so that no line is longer than
/// `width` characters if its words are not. Colours take no room.
pub fn wrapped(text: &str, width: usize) -> String {
    let (mut out, mut column) = (String::with_capacity(text.len()), 0);
    for word in text.split_whitespace() {
        let length = shown_chars(word);
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// Returns a text whose lines are [`wrapped`] if they are longer than `width` characters, below their own indentation; a
/// line that fits keeps its blanks.
pub fn fitted(text: &str, width: usize) -> String {
    let line = |line: &str| {
        if shown_chars(line) <= width {
            return line.to_owned();
        }
        let words = line.trim_start();
        let blanks = &line[..line.len() - words.len()];
        let lines = wrapped(words, width.saturating_sub(blanks.chars().count()));
        lines.lines().map(|line| format!("{blanks}{line}")).collect::<Vec<_>>().join("\n")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the number of characters of a text that are seen: not those that set its colours.
pub fn shown_chars(text: &str) -> usize {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().map_or(0, |piece| piece.chars().count());
    let behind_color =
        |piece: &str| piece.split_once('m').map_or(0, |(_, rest)| rest.chars().count());
    first + pieces.map(behind_color).sum::<usize>()
}

/// The text with every character that a terminal would obey replaced by a visible one. Line ends
/// and tabs stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        shown.push(match c {
            '\n' | '\t' => c,
            '\r' => c,
            '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
            '\x7f' => '\u{2421}',
            // The other control characters, line separators that only some programs honour, and
            // the marks that reorder text.
            '\u{80}'..='\u{9f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200e}'
            | '\u{200f}' => '\u{fffd}',
            _ => c,
        });
    }
    shown
}

/// The bytes of a value that are looked at between two looks at the interrupt.
const POLL_BYTES: usize = 1 << 16;

/// Returns the text of a value with signs for what a terminal would obey, as tables have them; line ends and tabs
/// stay. Once `stop` returns true, nobody wants the rest.
pub fn shown_safely<'a>(value: &'a str, stop: &dyn Fn() -> bool) -> Cow<'a, str> {
    let mut pieces = value.as_bytes().chunks(POLL_BYTES);
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if pieces.all(|piece| !stop() && piece.iter().all(is_plain)) {
        return Cow::Borrowed(value);
    }
    let (mut out, mut rest) = (String::new(), value);
    while !rest.is_empty() && !stop() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(POLL_BYTES));
        out += &visible(piece).replace('\r', "\u{240d}");
        rest = behind;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let lines = Lines::new("aé\r\nb\n\nc".into());
        let at = |byte| {
            let p = lines.position(byte);
            (p.line, p.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 2));
        assert_eq!(at(2), (1, 2)); // inside é
        assert_eq!(at(3), (1, 3));
        assert_eq!(at(5), (2, 1));
        assert_eq!(at(7), (3, 1));
        assert_eq!(at(8), (4, 1));
        assert_eq!(at(99), (4, 2));
    }

    #[test]
    fn paragraphs_are_wrapped_at_blanks() {
        assert_eq!(wrapped("a bc  def\nghij k", 5), "a bc\ndef\nghij\nk");
        assert_eq!(wrapped("longer than five", 5), "longer\nthan\nfive");
        assert_eq!(wrapped("", 5), "");
    }

    #[test]
    fn lines_that_do_not_fit_are_wrapped() {
        assert_eq!(fitted("a  b\n  longer than ten\nend", 10), "a  b\n  longer\n  than ten\nend");
        assert_eq!(fitted("\x1b[1;31mError:\x1b[0m no one", 9), "\x1b[1;31mError:\x1b[0m no\none");
        assert_eq!(fitted("", 9), "");
    }

    #[test]
    fn values_are_shown_without_what_a_terminal_would_obey() {
        let shown = |value: &str| shown_safely(value, &|| false).into_owned();
        assert_eq!(shown("\"a\x1b]0;title\x07\r\""), "\"a␛]0;title␇␍\"");
        assert_eq!(shown("\"größe\n\tb\""), "\"größe\n\tb\"");
        let long = "ä".repeat(POLL_BYTES) + "\x1b";
        assert_eq!(shown(&long), "ä".repeat(POLL_BYTES) + "␛");
        assert_eq!(shown_safely(&long, &|| true), "");
    }

    #[test]
    fn what_a_terminal_would_obey_is_made_visible() {
        assert_eq!(visible("a\x1b[31m\tb\u{202e}"), "a␛[31m\tb\u{fffd}");
    }
}
