//! The names that a form with errors was visibly to define, whatever is wrong with it: who uses them further down
//! made no mistake.

use super::lexer::{Kind, Token};
use crate::base::Name;
use std::ops::Range;

/// The words with which other languages begin a definition.
const DEFINERS: [&str; 18] = [
    "def",
    "define",
    "defun",
    "fn",
    "fun",
    "func",
    "proc",
    "procedure",
    "sub",
    "let",
    "var",
    "val",
    "const",
    "auto",
    "local",
    "global",
    "class",
    "struct",
];

/// Returns the names that a form with errors was to define: those before a sign of definition, and behind a word
/// that defines; and the parameters, since what was to be the body may be a form of its own.
pub(super) fn attempted(text: &str, tokens: &[Token]) -> Vec<Name> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
            Kind::RParen | Kind::RBracket | Kind::RBrace => depth = depth.saturating_sub(1),
            Kind::Equals | Kind::Assign | Kind::BarEq => {
                let sign = before_type(tokens, i).unwrap_or(i);
                names.extend(defined_before(text, tokens, sign, depth));
            }
            // `x : int`, at the beginning of the form.
            Kind::Colon | Kind::Colons if i == 1 => {
                names.extend(defined_before(text, tokens, i, depth));
            }
            // `g <- function(x) x`, at the beginning of the form.
            Kind::LeftArrow if i == 1 => names.extend(defined_before(text, tokens, i, depth)),
            _ => {}
        }
    }
    let word = |i: usize| tokens.get(i).map_or("", |token| &text[token.range]);
    let named = |i: usize| tokens.get(i).is_some_and(|token| token.kind == Kind::Name);
    let first = word(0).to_ascii_lowercase();
    if DEFINERS.contains(&first.as_str()) && named(1) {
        names.extend(head(text, tokens, 1));
    }
    if tokens.first().is_some_and(|token| token.kind == Kind::FunctionKw) {
        // `function y = g(x)`.
        let result = tokens.get(2).is_some_and(|token| token.kind == Kind::Equals);
        names.extend(head(text, tokens, if result { 3 } else { 1 }));
    }
    names.sort();
    names.dedup();
    names
}

/// Returns the names of a pattern or the head of a function that ends before a sign. In brackets they count only at
/// the beginning of a line, where a form was to begin.
fn defined_before(text: &str, tokens: &[Token], sign: usize, depth: usize) -> Vec<Name> {
    let Some(mut start) = sign.checked_sub(1) else { return Vec::new() };
    if tokens[start].kind == Kind::RParen {
        let Some(open) = opener(tokens, start) else { return Vec::new() };
        let called = tokens[open].kind == Kind::CallParen;
        start = if called { open.saturating_sub(1) } else { open };
    } else if tokens[start].kind != Kind::Name {
        return Vec::new();
    }
    let before = usize::from(tokens[start].range.start());
    if depth > 0 && !text[..before].ends_with('\n') {
        return Vec::new();
    }
    names_of(text, tokens, start..sign)
}

/// Returns the colon of a type that ends before a sign: `x : [int] = e`.
fn before_type(tokens: &[Token], sign: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..sign).rev() {
        match tokens[at].kind {
            Kind::Colon | Kind::Colons if depth == 0 => return Some(at),
            Kind::RParen | Kind::RBracket => depth += 1,
            Kind::LParen | Kind::CallParen | Kind::LBracket => depth = depth.checked_sub(1)?,
            Kind::Name | Kind::RightArrow | Kind::Star => {}
            Kind::Comma if depth > 0 => {}
            _ => return None,
        }
    }
    None
}

/// Returns the name at a token, and the names in the parentheses behind it.
fn head(text: &str, tokens: &[Token], at: usize) -> Vec<Name> {
    let mut end = (at + 1).min(tokens.len());
    if tokens.get(end).is_some_and(|token| matches!(token.kind, Kind::LParen | Kind::CallParen)) {
        let inside = |token: &Token| matches!(token.kind, Kind::Name | Kind::Comma);
        end += 1 + tokens[end + 1..].iter().take_while(|token| inside(token)).count();
    }
    names_of(text, tokens, at.min(end)..end)
}

fn names_of(text: &str, tokens: &[Token], part: Range<usize>) -> Vec<Name> {
    let names = tokens[part].iter().filter(|token| token.kind == Kind::Name);
    names.map(|token| Name::new(&text[token.range])).collect()
}

/// Returns the token that opens the parentheses that a token closes.
fn opener(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        match tokens[at].kind {
            Kind::RParen => depth += 1,
            Kind::LParen | Kind::CallParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse_item;

    #[test]
    fn broken_forms_tell_what_they_were_to_define() {
        for (text, names) in [
            ("def g(a, b) = a + b;", "a b g"),
            ("defun g(a) = a;", "a g"),
            ("const h = x => x;", "h"),
            ("g(a, b) := a + b;", "a b g"),
            ("g(a, b) = a + b;", "a b g"),
            ("let x = 5;", "x"),
            ("x : int = 5;", "x"),
            ("xs : [(int, float)] = [];", "xs"),
            ("x :: int;", "x"),
            ("g(a) : int = a;", "a g"),
            ("let (a, b) = p; c = 2;", "a b c"),
            ("xs = [1]\nys = {x : x in xs};", "xs ys"),
            ("x = [1, 2\ny = 4;", "x y"),
            ("datatype p(int,int)\na = p(1, 2);", "a"),
            ("function y = sq(x)\n y = x * x;", "sq x y"),
            ("function g(n) =\n s = 0;", "g n s"),
            ("load \"x\"\ny = 3;", "y"),
            // These are right.
            ("let x = 5 in x;", ""),
            ("x = 3;", ""),
        ] {
            let attempted = parse_item(text).attempted;
            let found: Vec<String> = attempted.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), names, "{text}");
        }
    }
}
