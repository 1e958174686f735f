//! The text in the line editor ↔ the text of an entry.
//!
//! Below the first line of an entry the editor holds [`PAD`] before the text of each line, as wide as the
//! prompt, so that lines stand below each other; the highlighter writes [`MARK`] over it. Entries, the history
//! and messages never have it.

use nesl_core::syntax::entry::{ends_in_let, indentation};
use nesl_core::syntax::{Kind, lex};
use std::borrow::Cow;

/// The prompt. Further lines of an entry are indented under it.
pub const PROMPT: &str = "nesl> ";

/// The mark before each further line of an entry, as wide as the prompt.
pub const MARK: &str = "  ... ";

/// The text that stands in the editor where [`MARK`] is shown: no-break spaces, which nobody types and which no
/// token has.
pub const PAD: &str = "\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}";

/// Returns the text of an entry as the editor holds it.
pub fn padded(text: &str) -> String {
    text.replace('\n', &format!("\n{PAD}"))
}

/// Returns the text in the editor without what [`padded`] adds, or is left of it.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{a0}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number == 0 {
            out.push_str(line);
            continue;
        }
        out.push('\n');
        // Somebody may have typed before it, or deleted a part of it.
        match line.split_once(PAD) {
            Some((before, after)) => out.extend([before, after]),
            None => out.push_str(line.trim_start_matches('\u{a0}')),
        }
    }
    Cow::Owned(out)
}

/// Returns the text in the editor with blanks instead of its padding: every byte of the entry stays where it
/// is.
pub fn blanked(text: &str) -> Cow<'_, str> {
    if text.contains('\u{a0}') {
        Cow::Owned(text.replace('\u{a0}', "  "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns what a new line below a text begins with: its indentation, but none within a string or a comment.
pub fn next_line(text: &str) -> String {
    if is_inside(text) { String::new() } else { indentation(text) }
}

/// Returns true if a text ends within a string or a comment, which may have several lines.
fn is_inside(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let ends = match c {
            '`' => {
                chars.next();
                continue;
            }
            '"' => loop {
                match chars.next() {
                    Some('\\') => drop(chars.next()),
                    Some('"') => break true,
                    Some(_) => {}
                    None => break false,
                }
            },
            '%' => chars.any(|c| c == '%'),
            _ => continue,
        };
        if !ends {
            return true;
        }
    }
    false
}

/// Returns true if a body must follow what was typed, or the `in` of the innermost `let`: then a blank line says
/// nothing.
pub fn lacks_a_body(text: &str) -> bool {
    let tokens = lex(text);
    let last = tokens.iter().rev().find(|token| !token.kind.is_trivia());
    let is_broken = last.is_some_and(|l| matches!(l.kind, Kind::OpenText | Kind::OpenComment));
    if !is_broken && ends_in_let(text) {
        return true;
    }
    last.is_some_and(|token| {
        matches!(
            token.kind,
            Kind::Equals | Kind::FatArrow | Kind::InKw | Kind::IfKw | Kind::ThenKw | Kind::ElseKw
        )
    })
}

/// Returns the command that `?name`, `name?` and `?` stand for. A `;` behind them says nothing.
pub fn question(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(';').trim_end();
    // Behind a string or a bracket that is open, the sign is a part of what is typed.
    let is_name = |name: &&str| !name.contains(['"', '`', '%', '(', '[', '{']);
    let name = text.strip_prefix('?').or_else(|| text.strip_suffix('?').filter(is_name))?.trim();
    if name.trim_start_matches('?').is_empty() {
        return Some(":help".to_owned());
    }
    let command = if name.starts_with(':') { ":help" } else { ":doc" };
    (!name.contains(char::is_whitespace)).then(|| format!("{command} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_comes_and_goes() {
        let text = "function f1(x) =\n  let y = 1 in\n\n  x;";
        assert_eq!(plain(&padded(text)), text);
        assert_eq!(blanked(&padded("a\nb")).len(), padded("a\nb").len());
        // What is left of the padding is none.
        assert_eq!(plain("a\n\u{a0}\u{a0}b"), "a\nb");
        assert_eq!(plain(&format!("a\n  {PAD}b")), "a\n  b");
        // Such blanks of the user's own stay.
        assert_eq!(plain("\"\u{a0}\""), "\"\u{a0}\"");
    }

    #[test]
    fn a_new_line_in_a_string_is_not_indented() {
        assert_eq!(next_line("f(\"a"), "");
        assert_eq!(next_line("f(1,"), "  ");
        assert_eq!(next_line("f(\"a\nb"), "");
        assert_eq!(next_line("f(`\", \"\\\"\", % \" %"), "  ");
        assert_eq!(next_line("% a (("), "");
    }

    #[test]
    fn a_body_must_follow() {
        for text in
            ["function f1(x) =\n", "let x = 1 in\n\n", "if t then", "let\n  y = 1;\n", "(let y = 1"]
        {
            assert!(lacks_a_body(text), "{text}");
        }
        for text in ["(1 +\n", "x = 3", "\"=", "% = %", "let y = (1", "let y = 1 in y"] {
            assert!(!lacks_a_body(text), "{text}");
        }
    }

    #[test]
    fn questions_are_commands() {
        for (text, command) in [
            ("?sum", Some(":doc sum")),
            ("sum? ", Some(":doc sum")),
            ("sum?;", Some(":doc sum")),
            ("?", Some(":help")),
            ("??", Some(":help")),
            ("?:time", Some(":help :time")),
            ("?++", Some(":doc ++")),
            ("?(", Some(":doc (")),
            ("\"what?", None),
            ("a? b?", None),
            ("sum", None),
        ] {
            assert_eq!(question(text).as_deref(), command, "{text}");
        }
    }
}
