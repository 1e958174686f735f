//! Text → tokens. Lossless: the tokens tile the text, and every text has tokens.
//!
//! A string or comment that never ends is cut at the end of its first line, so that one missing
//! quote does not swallow a file.

use super::kind::SyntaxKind::{self, *};
use logos::{Lexer, Logos};

/// A token: what it is and how many bytes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: SyntaxKind,
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl Token {
    /// Its text in the text it was lexed from.
    pub fn text(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }
}

/// The tokens of a text, in order, blanks and comments included.
pub fn lex(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 3 + 2);
    let mut lexer = SyntaxKind::lexer(text);
    while let Some(kind) = lexer.next() {
        let kind = match kind {
            Ok(Ident) => word(lexer.slice()),
            Ok(kind) => kind,
            Err(()) => Unknown,
        };
        let span = lexer.span();
        let (start, end) = (span.start as u32, span.end as u32);
        match tokens.last_mut() {
            // Runs of foreign letters are one mistake, not one a letter.
            Some(last)
                if kind == Unknown && last.kind == Unknown && !lexer.slice().is_ascii() && {
                    !last.text(text).is_ascii()
                } =>
            {
                last.end = end
            }
            Some(_) | None => tokens.push(Token { kind, start, end }),
        }
    }
    tokens
}

/// The bytes that a string token stands for: without its quotes, `\x` being `x`.
pub fn unescape(token: &str) -> Vec<u8> {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => bytes.extend(rest.next()),
            other => bytes.push(other),
        }
    }
    bytes
}

fn word(text: &str) -> SyntaxKind {
    const KEYWORDS: [(&str, SyntaxKind); 16] = [
        ("function", FunctionKw),
        ("datatype", DatatypeKw),
        ("let", LetKw),
        ("in", InKw),
        ("if", IfKw),
        ("then", ThenKw),
        ("else", ElseKw),
        ("and", AndKw),
        ("or", OrKw),
        ("nand", NandKw),
        ("nor", NorKw),
        ("xor", XorKw),
        ("pair", PairKw),
        ("closure", ClosureKw),
        ("t", Bool),
        ("f", Bool),
    ];
    if text.len() > 8 {
        return Ident;
    }
    KEYWORDS
        .iter()
        .find(|(word, _)| word.len() == text.len() && word.eq_ignore_ascii_case(text))
        .map_or(Ident, |&(_, kind)| kind)
}

/// Where the first line of `rest` ends.
fn line_end(rest: &str) -> usize {
    rest.find('\n').map_or(rest.len(), |end| {
        if rest[..end].ends_with('\r') {
            end - 1
        } else {
            end
        }
    })
}

/// After a `%`: to the next one.
pub(super) fn comment(lexer: &mut Lexer<'_, SyntaxKind>) -> SyntaxKind {
    let rest = lexer.remainder();
    match rest.find('%') {
        Some(end) => {
            lexer.bump(end + 1);
            Comment
        }
        None => {
            lexer.bump(line_end(rest));
            UnclosedComment
        }
    }
}

/// After a `"`: to the next one that no `\` stands before.
pub(super) fn string(lexer: &mut Lexer<'_, SyntaxKind>) -> SyntaxKind {
    let rest = lexer.remainder();
    let mut bytes = rest.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                lexer.bump(at + 1);
                return Text;
            }
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    lexer.bump(line_end(rest));
    UnclosedText
}

/// After a back-quote: one character.
pub(super) fn character(lexer: &mut Lexer<'_, SyntaxKind>) -> SyntaxKind {
    match lexer.remainder().chars().next() {
        Some(c) => {
            lexer.bump(c.len_utf8());
            if c.is_ascii() { Char } else { BadChar }
        }
        None => BadChar,
    }
}
