//! Reading numbers out of text, with places for messages.

use super::source::Source;
use nesl_runtime::scalar::Precision;

/// The words and brackets of a text.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    name: &'a str,
}

/// A word or a bracket, and the byte it begins at. Empty at the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) at: usize,
    pub(super) text: &'a [u8],
}

impl<'a> Scanner<'a> {
    /// A scanner at the beginning of the file `name`, which holds `text`.
    pub(super) fn new(text: &'a [u8], name: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0, name }
    }

    /// The next word or bracket.
    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let length = match rest.first() {
            None => 0,
            Some(b'(' | b')' | b'[' | b']' | b'"') => 1,
            Some(_) => rest
                .iter()
                .position(|c| is_blank(*c) || matches!(c, b'(' | b')' | b'[' | b']' | b'"'))
                .unwrap_or(rest.len()),
        };
        self.at += length;
        Token { at: start, text: &rest[..length] }
    }

    /// Takes a bracket or fails.
    pub(super) fn expect(&mut self, bracket: u8) -> Result<(), String> {
        let token = self.next();
        if token.text == [bracket] {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", char::from(bracket)), token))
    }

    /// Takes a bracket if it comes next; returns true if so.
    pub(super) fn take(&mut self, bracket: u8) -> bool {
        self.skip_blanks();
        let there = self.text.get(self.at) == Some(&bracket);
        self.at += usize::from(there);
        there
    }

    /// Fails unless nothing but blanks is left.
    pub(super) fn end(&mut self) -> Result<(), String> {
        let token = self.next();
        if token.text.is_empty() {
            return Ok(());
        }
        Err(self.expected("the end of the file", token))
    }

    /// The next byte as it is.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The line and column of the next byte.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The number of bytes to come: a bound on whatever is still to be read.
    pub(super) fn remaining(&self) -> usize {
        self.text.len() - self.at
    }

    /// ``name:3:7: expected an int, found `abc` ``
    pub(super) fn expected(&self, what: &str, found: Token<'_>) -> String {
        self.error(found.at, &expected(what, found.text))
    }

    /// A message about a place.
    pub(super) fn error(&self, at: usize, message: &str) -> String {
        located(self.text, self.name, at, message)
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|c| is_blank(*c)) {
            self.at += 1;
        }
    }
}

/// ``expected an int, found `abc` ``
pub(super) fn expected(what: &str, found: &[u8]) -> String {
    const MAX_SHOWN_BYTES: usize = 40;
    if found.is_empty() {
        return format!("expected {what}, found nothing");
    }
    let text = String::from_utf8_lossy(&found[..found.len().min(MAX_SHOWN_BYTES)]);
    let dots = if found.len() > MAX_SHOWN_BYTES { "…" } else { "" };
    format!("expected {what}, found `{text}{dots}`")
}

/// A message about a place in a file: `name:line:column: message`, both counted from 1, columns
/// in characters.
pub(super) fn located(text: &[u8], name: &str, at: usize, message: &str) -> String {
    let before = &text[..at.min(text.len())];
    let line = before.iter().filter(|c| **c == b'\n').count() + 1;
    let start = before.iter().rposition(|c| *c == b'\n').map_or(0, |newline| newline + 1);
    // Bytes that continue a character of UTF-8 are not counted.
    let column = before[start..].iter().filter(|c| **c & 0xC0 != 0x80).count() + 1;
    format!("{name}:{line}:{column}: {message}")
}

/// A message about a place in a file that is not in memory, as [`located`] makes it.
pub(super) fn located_in(source: &Source, name: &str, at: u64, message: &str) -> String {
    const BLOCK_BYTES: usize = 1 << 20;
    let mut block = vec![0; BLOCK_BYTES];
    let (mut position, mut line, mut column) = (0, 1, 1);
    while position < at {
        let wanted = (at - position).min(BLOCK_BYTES as u64) as usize;
        let Ok(count @ 1..) = source.read_at(position, &mut block[..wanted]) else { break };
        for c in &block[..count] {
            match c {
                b'\n' => (line, column) = (line + 1, 1),
                // Bytes that continue a character of UTF-8 are not counted.
                c => column += usize::from(c & 0xC0 != 0x80),
            }
        }
        position += count as u64;
    }
    format!("{name}:{line}:{column}: {message}")
}

/// An int of a session's width; if it is none, what is wrong.
pub(super) fn int(text: &[u8], precision: Precision) -> Result<i64, String> {
    if precision == Precision::Bits64
        && let Some(number) = short_int(text)
    {
        return Ok(number);
    }
    let number = std::str::from_utf8(text).unwrap_or("").parse::<i128>();
    let Ok(number) = number else {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let large = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        return Err(if large { too_large(text) } else { expected("an int", text) });
    };
    let fits = match precision {
        Precision::Bits32 => i32::try_from(number).ok().map(i64::from),
        Precision::Bits64 => i64::try_from(number).ok(),
    };
    fits.ok_or_else(|| too_large(text))
}

/// Returns the int that a few digits stand for, behind a minus sign or none.
fn short_int(text: &[u8]) -> Option<i64> {
    let (digits, sign) = text.strip_prefix(b"-").map_or((text, 1), |digits| (digits, -1));
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + i64::from(digit);
    }
    Some(sign * number)
}

/// Returns the float that a few digits stand for, with a point among them or none, behind a minus sign
/// or none; `None` if it is not found by one exact division.
///
/// An int up to 2⁵³ and a power of ten up to 10²² are floats, so that the quotient is rounded once.
fn short_float(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 18] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17,
    ];
    let (digits, negative) = text.strip_prefix(b"-").map_or((text, false), |digits| (digits, true));
    if digits.len() > 17 {
        return None;
    }
    let (mut number, mut count, mut point) = (0_u64, 0, None);
    for (at, c) in digits.iter().enumerate() {
        let digit = c.wrapping_sub(b'0');
        if digit <= 9 {
            number = 10 * number + u64::from(digit);
            count += 1;
        } else if *c == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    if count == 0 || number > 1 << 53 {
        return None;
    }
    let decimals = point.map_or(0, |point| digits.len() - point - 1);
    let size = number as f64 / POWERS[decimals];
    Some(if negative { -size } else { size })
}

fn too_large(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&text[..text.len().min(24)]);
    format!("`{shown}` is too large for an int")
}

/// A float of a session's width; if it is none, what is wrong. Ints are accepted.
pub(super) fn float(text: &[u8], precision: Precision) -> Result<f64, String> {
    if precision == Precision::Bits64
        && let Some(number) = short_float(text)
    {
        return Ok(number);
    }
    let written = std::str::from_utf8(text).unwrap_or("");
    let number = match precision {
        Precision::Bits32 => written.parse::<f32>().map(f64::from),
        Precision::Bits64 => written.parse::<f64>(),
    };
    match number {
        Ok(number) if number.is_infinite() && text.iter().any(u8::is_ascii_digit) => {
            let shown = &written[..written.len().min(24)];
            Err(format!("`{shown}` is too large for a float"))
        }
        Ok(number) => Ok(number),
        Err(_) => Err(expected("a float", text)),
    }
}

/// The shortest text that reads back as the same float.
pub(super) fn float_text(x: f64, precision: Precision) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    match precision {
        Precision::Bits32 => format!("{:?}", x as f32),
        Precision::Bits64 => format!("{x:?}"),
    }
}

pub(super) fn is_blank(c: u8) -> bool {
    c.is_ascii_whitespace()
}
