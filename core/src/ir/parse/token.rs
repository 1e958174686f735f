//! The lexer of the text form.

use std::fmt;

/// A token of the text form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    /// A name: letters, digits, underscores.
    Word(&'t str),
    /// A number with its sign, including `-inf`.
    Number(&'t str),
    /// The bytes of a string, unescaped.
    Text(Vec<u8>),
    /// A character, unescaped.
    Char(u8),
    /// Any other character.
    Punct(char),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(out, "`{text}`"),
            Token::Text(bytes) => write!(out, "\"{}\"", bytes.escape_ascii()),
            Token::Char(byte) => write!(out, "'{}'", byte.escape_ascii()),
            Token::Punct(punct) => write!(out, "`{punct}`"),
        }
    }
}

/// Returns the tokens of a text and the line of each.
pub(super) fn tokens(text: &str) -> Result<(Vec<Token<'_>>, Vec<usize>), String> {
    let mut tokens = Vec::new();
    let mut lines = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                line += 1;
                rest = &rest[1..];
                continue;
            }
            '%' => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '"' | '\'' => {
                let (bytes, length) = quoted(rest).map_err(|why| format!("line {line}: {why}"))?;
                tokens.push(match (first, &bytes[..]) {
                    ('"', _) => Token::Text(bytes),
                    (_, [byte]) => Token::Char(*byte),
                    _ => return Err(format!("line {line}: a character is one byte")),
                });
                length
            }
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let length = word(rest);
                tokens.push(Token::Word(&rest[..length]));
                length
            }
            _ => match number(rest) {
                0 => {
                    tokens.push(Token::Punct(first));
                    first.len_utf8()
                }
                length => {
                    tokens.push(Token::Number(&rest[..length]));
                    length
                }
            },
        };
        lines.push(line);
        rest = &rest[length..];
    }
    Ok((tokens, lines))
}

fn word(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// Returns the length of the number that `text` begins with; 0 if it does not. A decimal point
/// belongs to it only if a digit follows: `3..5` is a span.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let sign = usize::from(bytes.first() == Some(&b'-'));
    if text[sign..].starts_with("inf") && sign == 1 {
        return 4;
    }
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

/// Returns the contents of the quotes that `text` begins with, and their length in bytes, quotes
/// included.
fn quoted(text: &str) -> Result<(Vec<u8>, usize), String> {
    let quote = text.as_bytes()[0];
    let mut bytes = Vec::new();
    let mut at = 1;
    let next = |at: &mut usize| {
        let byte = text.as_bytes().get(*at).copied();
        *at += 1;
        byte.ok_or_else(|| "a quote without end".to_string())
    };
    loop {
        match next(&mut at)? {
            byte if byte == quote => return Ok((bytes, at)),
            b'\\' => bytes.push(match next(&mut at)? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'x' => {
                    let digits = text.get(at..at + 2).unwrap_or("");
                    at += 2;
                    u8::from_str_radix(digits, 16).map_err(|_| format!("\\x{digits}?"))?
                }
                byte => byte,
            }),
            byte => bytes.push(byte),
        }
    }
}
