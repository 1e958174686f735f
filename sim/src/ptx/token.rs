//! PTX text → tokens with their lines.

use super::error::Reason;

/// A piece of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A directive, an opcode with its modifiers, a register or a name: dots are part of it.
    Word(String),
    /// An integer without its sign.
    Integer(u64),
    /// An `f32` by its bits (`0f…`).
    Single(u32),
    /// An `f64` by its bits (`0d…`) or in decimal notation.
    Double(u64),
    /// A text in quotation marks.
    Text,
    /// A single character.
    Mark(char),
    /// The end of the text.
    End,
}

/// The tokens of a text, read from the front.
pub struct Tokens {
    list: Vec<(Token, u32)>,
    at: usize,
}

impl Tokens {
    /// Cuts a text; comments are skipped. The error carries its line.
    pub fn cut(text: &str) -> Result<Tokens, (u32, Reason)> {
        let mut cutter = Cutter { rest: text, line: 1, list: Vec::new() };
        while cutter.skip_blanks()? {
            cutter.token()?;
        }
        let line = cutter.line;
        cutter.list.push((Token::End, line));
        Ok(Tokens { list: cutter.list, at: 0 })
    }

    /// Returns the next token without taking it.
    pub fn peek(&self) -> &Token {
        &self.list[self.at].0
    }

    /// Returns the token after the next one.
    pub fn peek_second(&self) -> &Token {
        &self.list[(self.at + 1).min(self.list.len() - 1)].0
    }

    /// Returns the line of the next token.
    pub fn line(&self) -> u32 {
        self.list[self.at].1
    }

    /// Takes the next token; the end stays.
    pub fn next(&mut self) -> Token {
        let token = self.list[self.at].0.clone();
        if self.at + 1 < self.list.len() {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is this mark.
    pub fn take(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    /// Takes the next token if it is this word.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(next) if next == word);
        if found {
            self.next();
        }
        found
    }

    /// Takes this mark or fails.
    pub fn expect(&mut self, mark: char) -> Result<(), Reason> {
        if self.take(mark) {
            Ok(())
        } else {
            Err(format!("expected `{mark}`, found {}", describe(self.peek())))
        }
    }

    /// Takes a word or fails.
    pub fn word(&mut self, what: &str) -> Result<String, Reason> {
        match self.next() {
            Token::Word(word) => Ok(word),
            other => Err(format!("expected {what}, found {}", describe(&other))),
        }
    }

    /// Takes an integer or fails.
    pub fn integer(&mut self, what: &str) -> Result<u64, Reason> {
        match self.next() {
            Token::Integer(value) => Ok(value),
            other => Err(format!("expected {what}, found {}", describe(&other))),
        }
    }
}

/// Returns a token as a message names it.
pub fn describe(token: &Token) -> String {
    match token {
        Token::Word(word) => format!("`{word}`"),
        Token::Integer(value) => format!("`{value}`"),
        Token::Single(_) | Token::Double(_) => "a float".to_owned(),
        Token::Text => "a text".to_owned(),
        Token::Mark(mark) => format!("`{mark}`"),
        Token::End => "the end of the text".to_owned(),
    }
}

struct Cutter<'a> {
    rest: &'a str,
    line: u32,
    list: Vec<(Token, u32)>,
}

impl Cutter<'_> {
    /// Skips blanks and comments; returns false at the end.
    fn skip_blanks(&mut self) -> Result<bool, (u32, Reason)> {
        loop {
            let trimmed = self.rest.trim_start();
            self.line += newlines(&self.rest[..self.rest.len() - trimmed.len()]);
            self.rest = trimmed;
            if let Some(comment) = trimmed.strip_prefix("//") {
                self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let end = comment
                    .find("*/")
                    .ok_or((self.line, "a comment without its end".to_owned()))?;
                self.line += newlines(&comment[..end]);
                self.rest = &comment[end + 2..];
            } else {
                return Ok(!trimmed.is_empty());
            }
        }
    }

    fn token(&mut self) -> Result<(), (u32, Reason)> {
        let Some(first) = self.rest.chars().next() else { return Ok(()) };
        let length = if first.is_ascii_digit() {
            number_length(self.rest)
        } else if is_word(first) {
            self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len())
        } else if first == '"' {
            let end =
                self.rest[1..].find('"').ok_or((self.line, "a text without its end".into()))?;
            end + 2
        } else {
            first.len_utf8()
        };
        let (text, rest) = self.rest.split_at(length);
        let token = if first.is_ascii_digit() {
            number(text).ok_or_else(|| (self.line, format!("`{text}` is not a number")))?
        } else if is_word(first) {
            Token::Word(text.to_owned())
        } else if first == '"' {
            Token::Text
        } else {
            Token::Mark(first)
        };
        self.list.push((token, self.line));
        self.rest = rest;
        Ok(())
    }
}

fn newlines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

/// Returns the length of the number at the start, with a signed exponent if it has one.
fn number_length(text: &str) -> usize {
    let end = |from: usize| {
        text[from..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .map_or(text.len(), |length| from + length)
    };
    let length = end(0);
    let decimal = text[..length].contains('.');
    let exponent = text[..length].ends_with(['e', 'E']) && decimal;
    if exponent && text[length..].starts_with(['+', '-']) { end(length + 1) } else { length }
}

fn number(text: &str) -> Option<Token> {
    if text.contains('.') {
        return text.parse::<f64>().ok().map(|value| Token::Double(value.to_bits()));
    }
    let lower = text.to_ascii_lowercase();
    if let Some(bits) = lower.strip_prefix("0f") {
        return whole(bits, 8).map(|bits| Token::Single(bits as u32));
    }
    if let Some(bits) = lower.strip_prefix("0d") {
        return whole(bits, 16).map(Token::Double);
    }
    let digits = lower.trim_end_matches('u');
    let value = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value.ok().map(Token::Integer)
}

/// Reads exactly `length` hexadecimal digits.
fn whole(digits: &str, length: usize) -> Option<u64> {
    (digits.len() == length).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
