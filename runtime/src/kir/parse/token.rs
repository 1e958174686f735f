//! The tokens of the text form.

use super::ParseError;
use std::fmt;

/// A token of the text form.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// Letters, digits, underscores; begins with a letter.
    Word(&'t str),
    /// A number with its sign; `-inf` too.
    Number(&'t str),
    /// A string, unescaped.
    Text(String),
    /// A char, by its code.
    Char(u8),
    /// The arrow `->`.
    Arrow,
    /// The dots `..`.
    Dots,
    /// Any other character.
    Punct(char),
}

/// A token and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Placed<'t> {
    pub token: Token<'t>,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(out, "`{text}`"),
            Token::Text(text) => write!(out, "{text:?}"),
            Token::Char(byte) => write!(out, "'{}'", byte.escape_ascii()),
            Token::Arrow => write!(out, "`->`"),
            Token::Dots => write!(out, "`..`"),
            Token::Punct(punct) => write!(out, "`{punct}`"),
        }
    }
}

/// The tokens of a text. `%` begins a comment that lasts to the end of the line.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed<'_>>, ParseError> {
    let mut tokens = Vec::new();
    for (line, whole) in text.split('\n').enumerate() {
        let mut rest = whole;
        loop {
            rest = rest.trim_start();
            let Some(first) = rest.chars().next().filter(|first| *first != '%') else { break };
            let column = whole[..whole.len() - rest.len()].chars().count() + 1;
            let place = |token| Placed { token, line: line + 1, column };
            let (token, length) = match first {
                '"' => quoted(rest).ok_or_else(|| ParseError {
                    line: line + 1,
                    column,
                    message: "a quote without end".to_string(),
                })?,
                '\'' => match rest.as_bytes() {
                    [_, byte, b'\'', ..] if byte.is_ascii_graphic() => (Token::Char(*byte), 3),
                    _ => (Token::Punct(first), 1),
                },
                _ if rest.starts_with("->") => (Token::Arrow, 2),
                _ if rest.starts_with("..") => (Token::Dots, 2),
                _ if first.is_ascii_alphabetic() => {
                    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                    let length = end.unwrap_or(rest.len());
                    (Token::Word(&rest[..length]), length)
                }
                _ => match number(rest) {
                    0 => (Token::Punct(first), first.len_utf8()),
                    length => (Token::Number(&rest[..length]), length),
                },
            };
            tokens.push(place(token));
            rest = &rest[length..];
        }
    }
    Ok(tokens)
}

/// The length of the number that `text` begins with; 0 if it does not. A point belongs to it only
/// if a digit follows: `3..` is a number and dots.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if text.starts_with("-inf") {
        return 4;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return 2 + hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
    }
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut end = digits(sign);
    if end == sign {
        return 0;
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if bytes.get(end) == Some(&b'e') {
        let exponent = end + 1 + usize::from(bytes.get(end + 1) == Some(&b'-'));
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    end
}

/// The string that `text` begins with and how long it is, quotes included.
fn quoted(text: &str) -> Option<(Token<'_>, usize)> {
    let mut string = String::new();
    let mut chars = text.char_indices().skip(1);
    loop {
        match chars.next()? {
            (at, '"') => return Some((Token::Text(string), at + 1)),
            (_, '\\') => match chars.next()?.1 {
                'n' => string.push('\n'),
                'x' => {
                    let code = [chars.next()?.1, chars.next()?.1].iter().collect::<String>();
                    string.push(char::from(u8::from_str_radix(&code, 16).ok()?));
                }
                char => string.push(char),
            },
            (_, char) => string.push(char),
        }
    }
}
