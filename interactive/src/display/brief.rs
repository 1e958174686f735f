//! A value in one line of a given length: what stands in a cell of a table.
//!
//! Of a long sequence the first elements are shown, and its length behind the sign that is the
//! language's own for it: `[0, 1, 2, … #1000]`.

use nesl_engine::data::{Elements, Node, ValueType};
use nesl_engine::show::show_float;
use nesl_runtime::scalar::Precision;

/// The nesting that one line shows; what lies deeper is dots.
const MAX_LINE_DEPTH: usize = 6;
/// The characters of a text that are shown however little room there is.
const MIN_TEXT_CHARS: usize = 8;

/// The characters of the whole text of a cell.
const FULL_CHARS: usize = 120;

/// The characters that say how much is left out.
const CUT_CHARS: usize = 8;

/// The digits that floats are written with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    /// The precision of the floats.
    pub precision: Precision,
    /// The significant digits in the cells of tables, at most; as many as tell a float from all others of the
    /// precision if there is none.
    pub cell: Option<usize>,
}

/// A value in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    /// The text of the line.
    pub text: String,
    /// True if nothing was left out.
    pub whole: bool,
}

/// The content of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The text that is shown.
    pub text: String,
    /// The value with all digits, if the text has fewer.
    pub full: Option<String>,
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, full: None }
    }
}

/// Returns a value in one line of about `max_chars` characters, much as the session prints it; what
/// does not fit is dots.
pub(crate) fn brief(node: &Node<'_>, digits: Digits, max_chars: usize) -> Brief {
    written(node, Floats::Exact(digits.precision), max_chars)
}

/// Returns a value for a cell of a table: as [`brief`] does, but floats with fewer digits.
pub(crate) fn cell(node: &Node<'_>, digits: Digits, max_chars: usize) -> Cell {
    let floats = digits.cell.map_or(Floats::Exact(digits.precision), Floats::Short);
    let text = written(node, floats, max_chars).text;
    let full = brief(node, digits, FULL_CHARS).text;
    // What is only cut has nothing to add that is worth a text as long.
    let differs = matches!(node, Node::Float(_)) || (has_floats(node) && full.len() <= FULL_CHARS);
    let full = (differs && text != full).then_some(full);
    Cell { text, full }
}

/// Returns true for a tuple or a sequence in which floats stand at once.
fn has_floats(node: &Node<'_>) -> bool {
    match node {
        Node::Float(_) => true,
        Node::Tuple(fields) | Node::Record(_, fields) => fields.iter().any(has_floats),
        Node::Sequence(elements) => *elements.element() == ValueType::Float,
        _ => false,
    }
}

fn written(node: &Node<'_>, floats: Floats, max_chars: usize) -> Brief {
    let write = |max_chars| {
        let mut writer = Writer { out: String::new(), chars: 0, max_chars, floats, whole: true };
        writer.node(node, 0);
        Brief { text: writer.out, whole: writer.whole }
    };
    let all = write(max_chars);
    if all.whole {
        return all;
    }
    // Room for the dots and the length behind what fits.
    write(max_chars.saturating_sub(CUT_CHARS).max(1))
}

/// Larger floats are written with an exponent.
const MAX_PLAIN: f64 = 1e7;

/// Returns a float with so many significant digits at most, otherwise as the session prints it: those before the point
/// are all written, since zeros in their place would look exact.
fn short_float(x: f64, digits: usize) -> String {
    let before_point = match x.abs() {
        plain if plain < MAX_PLAIN => plain.log10().max(0.0) as usize + 1,
        _ => 0,
    };
    let digits = digits.max(before_point);
    let rounded = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    show_float(rounded, Precision::Bits64)
}

/// The way in which floats are written.
#[derive(Clone, Copy)]
enum Floats {
    /// As few as tell the float from all others of the precision.
    Exact(Precision),
    /// So many significant digits at most.
    Short(usize),
}

/// Returns the beginning of a string: at most so many bytes of it, decoded, with visible signs for
/// control characters other than line ends and tabs.
pub(crate) fn decoded(bytes: &[u8], max_bytes: usize) -> String {
    let head = &bytes[..bytes.len().min(max_bytes)];
    let (mut out, mut used) = (String::new(), 0);
    for part in head.utf8_chunks() {
        used += part.valid().len() + part.invalid().len();
        out.extend(part.valid().chars().map(visible));
        // Bytes that are no UTF-8 are Latin-1, but not those of a character that the cut divides.
        let is_divided = used == head.len()
            && used < bytes.len()
            && std::str::from_utf8(part.invalid()).is_err_and(|error| error.error_len().is_none());
        if !is_divided {
            out.extend(part.invalid().iter().map(|byte| visible(char::from(*byte))));
        }
    }
    out
}

/// Returns a sign for a character that is invisible, or would move the cursor or change the direction of
/// writing.
fn visible(c: char) -> char {
    match c {
        '\n' | '\t' | '\r' => c,
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{feff}' => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

struct Writer {
    out: String,
    chars: usize,
    max_chars: usize,
    floats: Floats,
    whole: bool,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.chars += text.chars().count();
    }

    /// Leaves out what follows.
    fn cut(&mut self, text: &str) {
        self.whole = false;
        self.put(text);
    }

    fn is_full(&self) -> bool {
        self.chars >= self.max_chars
    }

    fn node(&mut self, node: &Node<'_>, depth: usize) {
        match node {
            Node::Int(n) => self.put(&n.to_string()),
            Node::Float(x) => match self.floats {
                Floats::Exact(precision) => self.put(&show_float(*x, precision)),
                Floats::Short(digits) => self.put(&short_float(*x, digits)),
            },
            Node::Bool(b) => self.put(if *b { "T" } else { "F" }),
            Node::Char(c) => {
                self.put("`");
                self.put(&visible(char::from(*c)).to_string());
            }
            Node::Function => self.put("fn"),
            Node::Record(name, fields) => {
                self.put(name);
                self.tuple(fields, depth);
            }
            Node::Tuple(fields) => self.tuple(fields, depth),
            Node::Text(bytes) => self.text(bytes),
            Node::Sequence(elements) => self.sequence(elements, depth),
        }
    }

    fn tuple(&mut self, fields: &[Node<'_>], depth: usize) {
        self.put("(");
        for (position, field) in fields.iter().enumerate() {
            if depth >= MAX_LINE_DEPTH || (position > 0 && self.is_full()) {
                self.cut(if position > 0 { ", …" } else { "…" });
                break;
            }
            if position > 0 {
                self.put(", ");
            }
            self.node(field, depth + 1);
        }
        self.put(")");
    }

    fn sequence(&mut self, elements: &Elements<'_>, depth: usize) {
        self.put("[");
        for index in 0..elements.len() {
            let found = elements.get(index).filter(|_| depth < MAX_LINE_DEPTH);
            let Some(element) = found.filter(|_| index == 0 || !self.is_full()) else {
                let before = if index > 0 { ", " } else { "" };
                self.cut(&format!("{before}… #{}", elements.len()));
                break;
            };
            if index > 0 {
                self.put(", ");
            }
            self.node(&element, depth + 1);
        }
        self.put("]");
    }

    fn text(&mut self, bytes: &[u8]) {
        let room = self.max_chars.saturating_sub(self.chars + 2).max(MIN_TEXT_CHARS);
        // A character has at most four bytes, so that these are enough to fill the room.
        let decoded = decoded(bytes, room.saturating_mul(4).saturating_add(4));
        self.put("\"");
        for (position, c) in decoded.chars().enumerate() {
            if position >= room {
                return self.cut("…\"");
            }
            match c {
                '"' => self.put("\\\""),
                '\\' => self.put("\\\\"),
                '\n' => self.put("\u{240a}"),
                '\r' => self.put("\u{240d}"),
                '\t' => self.put("\u{2409}"),
                c => self.put(c.encode_utf8(&mut [0; 4])),
            }
        }
        self.put("\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: Digits = Digits { precision: Precision::Bits64, cell: Some(6) };

    #[test]
    fn texts_are_decoded_and_cut_at_characters() {
        assert_eq!(decoded("größe".as_bytes(), 100), "größe");
        assert_eq!(decoded("größe".as_bytes(), 3), "gr");
        assert_eq!(decoded("größe".as_bytes(), 4), "grö");
        assert_eq!(decoded("x→y".as_bytes(), 3), "x");
        assert_eq!(decoded(b"caf\xe9 au lait", 6), "caf\u{e9} a");
        assert_eq!(decoded(b"a\x1b[31mb\x00", 100), "a␛[31mb␀");
        assert_eq!(decoded("a\u{202e}b".as_bytes(), 100), "a\u{fffd}b");
    }

    #[test]
    fn a_text_in_a_line_is_quoted() {
        let line = |text: &str, room| brief(&Node::Text(text.as_bytes()), DIGITS, room);
        assert_eq!(line("a \"b\"\n", 40), Brief { text: "\"a \\\"b\\\"␊\"".into(), whole: true });
        let long = line(&"x".repeat(1_000_000), 12);
        assert_eq!(long, Brief { text: "\"xxxxxxxx…\"".into(), whole: false });
    }

    #[test]
    fn floats_in_cells_have_few_digits() {
        let text = |x: f64| cell(&Node::Float(x), DIGITS, 40).text;
        let shown = [1.0 / 3.0, 2.5, -1e-5 / 3.0, 123_456_789.0, 999_999.99, f64::NAN].map(text);
        assert_eq!(shown, ["0.333333", "2.5", "-3.33333E-6", "1.23457E8", "1000000.0", "nan"]);
        let pair = Node::Tuple(vec![Node::Int(1), Node::Float(0.1 + 0.2)]);
        let shown = cell(&pair, DIGITS, 40);
        assert_eq!(
            (&*shown.text, shown.full.as_deref()),
            ("(1, 0.3)", Some("(1, 0.30000000000000004)"))
        );
        assert_eq!(cell(&Node::Float(0.5), DIGITS, 40).full, None);
        let third = |cell| self::cell(&Node::Float(1.0 / 3.0), Digits { cell, ..DIGITS }, 40).text;
        assert_eq!(
            [Some(2), Some(10), None].map(third),
            ["0.33", "0.3333333333", "0.3333333333333333"]
        );
    }

    #[test]
    fn deep_values_end() {
        let mut node = Node::Tuple(vec![Node::Int(1), Node::Int(2)]);
        for _ in 0..100 {
            node = Node::Tuple(vec![node, Node::Int(0)]);
        }
        let shown = brief(&node, DIGITS, 1000);
        assert_eq!(shown.text, "(((((((…), 0), 0), 0), 0), 0), 0)");
    }
}
