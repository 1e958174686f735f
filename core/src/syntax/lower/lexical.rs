//! What is wrong with single tokens.

use crate::base::{Diagnostic, Kind, TextRange};
use crate::syntax::kind::SyntaxKind::*;
use crate::syntax::lexer::Token;
use crate::syntax::stream::Source;

/// Reports broken comments, strings and characters, and signs that are not NESL.
pub fn lexical(source: &Source<'_>, out: &mut Vec<Diagnostic<TextRange>>) {
    for &token in &source.all {
        let range = TextRange::new(token.start.into(), token.end.into());
        let first = TextRange::new(token.start.into(), (token.start + 1).into());
        let end = TextRange::empty(token.end.into());
        let text = token.text(source.text);
        let error = |message: &str| Diagnostic::error(Kind::Syntax, range, message);
        out.push(match token.kind {
            UnclosedComment => {
                let error = Diagnostic::error(Kind::Syntax, first, "this comment is never closed")
                    .label(end, "`%` expected by the end of the line")
                    .note("a comment goes from one `%` to the next");
                match text.trim_end().ends_with(';') {
                    true => {
                        error.hint("close it with `%`; the remainder of a division is `rem(a, b)`")
                    }
                    false => error.fix("close it with `%`", end, " %"),
                }
            }
            ForeignComment => {
                let words = text.trim_start_matches('/').trim();
                error("`//` does not begin a comment").fix(
                    "a comment is written `% … %`",
                    range,
                    format!("% {} %", words.replace('%', "")),
                )
            }
            UnclosedText => Diagnostic::error(Kind::Syntax, first, "this string is never closed")
                .label(end, "`\"` expected by the end of the line")
                .fix("close it with `\"`", closing(token, text), "\""),
            BadChar if text.len() == 1 => error("a character must follow the back-quote"),
            BadChar => error("a character is one byte, and this one is not ASCII").fix(
                "write a string",
                range,
                format!("\"{}\"", &text[1..]),
            ),
            ForeignNe => error(&format!("`{text}` is not an operator")).fix(
                "write `/=` for “not equal”",
                range,
                "/=",
            ),
            ForeignAnd => error("`&&` is not an operator").fix(
                "write `and`",
                range,
                word(source, token, "and"),
            ),
            ForeignPower => error("`**` is not an operator").fix("write `^`", range, "^"),
            Unknown if text == "!" => {
                error("`!` is not an operator").hint("write `not(a)`, or `a /= b` for “not equal”")
            }
            Unknown if text == "." => error("`.` is not an operator")
                .hint("the parts of a tuple or record are named by a pattern: `(a, b) = p`"),
            Unknown if text == "&" => error("`&` is not an operator").fix(
                "write `and`",
                range,
                word(source, token, "and"),
            ),
            Unknown if !text.is_ascii() => error(&format!("`{text}` cannot stand here"))
                .note("names are made of the letters a to z, digits and `_`"),
            Unknown => error(&format!("`{text}` is not part of the language")),
            _ => continue,
        });
    }
}

/// Where the quote of an unclosed string goes: before the terminator at its end.
fn closing(token: Token, text: &str) -> TextRange {
    let kept = text.trim_end().trim_end_matches([';', ' ', ')']);
    let at = match kept.len() {
        0 | 1 => token.end,
        length => token.start + length as u32,
    };
    TextRange::empty(at.into())
}

/// A word operator in place of a sign, with the blanks it needs.
fn word(source: &Source<'_>, token: Token, word: &str) -> String {
    let bytes = source.text.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric());
    let before = (token.start as usize).checked_sub(1).is_some_and(letter);
    let after = letter(token.end as usize);
    format!(
        "{}{word}{}",
        if before { " " } else { "" },
        if after { " " } else { "" }
    )
}
