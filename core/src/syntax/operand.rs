//! The operands beside a sign that is no operator of NESL, found among the tokens.
//!
//! The grammar knows nothing of such a sign, so its operands are in no node. Only operands that are clear without a
//! grammar are found: names, literals, brackets, calls and elements, with `#` or `@` before them.

use super::lexer::{Kind, Token};
use std::ops::Range;

/// Returns the operand that ends before a token.
pub(super) fn before(tokens: &[Token], index: usize) -> Option<Range<usize>> {
    let mut start = index.checked_sub(1)?;
    loop {
        start = match tokens[start].kind {
            Kind::RParen | Kind::RBracket | Kind::RBrace => opener(tokens, start)?,
            kind if kind.is_operand() => start,
            _ => return None,
        };
        if !(start > 0 && is_postfix(tokens, start)) {
            break;
        }
        start -= 1;
    }
    while start > 0 && matches!(tokens[start - 1].kind, Kind::Hash | Kind::At) {
        start -= 1;
    }
    // What follows another operand is an argument.
    let alone = start == 0 || !ends_operand(tokens[start - 1].kind);
    alone.then_some(start..index)
}

/// Returns the operand that begins at a token.
pub(super) fn after(tokens: &[Token], index: usize) -> Option<Range<usize>> {
    let mut end = index;
    while matches!(tokens.get(end)?.kind, Kind::Hash | Kind::At | Kind::Minus) {
        end += 1;
    }
    end = match tokens[end].kind {
        Kind::LParen | Kind::LBracket | Kind::LBrace => closer(tokens, end)? + 1,
        kind if kind.is_operand() => end + 1,
        _ => return None,
    };
    while end < tokens.len() && is_postfix(tokens, end) {
        end = closer(tokens, end)? + 1;
    }
    let alone = tokens.get(end).is_none_or(|next| !begins_operand(next.kind));
    alone.then_some(index..end)
}

/// Returns the first token of the expression that ends before a token: it is in one bracket, or in one part of a
/// form, with it.
pub(super) fn expression_before(tokens: &[Token], index: usize) -> Option<usize> {
    let mut start = index;
    while let Some(before) = start.checked_sub(1) {
        start = match tokens[before].kind {
            Kind::RParen | Kind::RBracket | Kind::RBrace => opener(tokens, before)?,
            kind if ends_expression(kind) => break,
            _ => before,
        };
    }
    (start < index).then_some(start)
}

/// Returns the token behind the expression that begins at a token.
pub(super) fn expression_after(tokens: &[Token], index: usize) -> Option<usize> {
    let mut end = index;
    while let Some(token) = tokens.get(end) {
        end = match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => {
                closer(tokens, end)? + 1
            }
            kind if ends_expression(kind) => break,
            _ => end + 1,
        };
    }
    (end > index).then_some(end)
}

/// Returns true if there are two operands side by side among some tokens, of which the first may be a function.
pub(super) fn applies(tokens: &[Token], range: Range<usize>) -> bool {
    range.skip(1).any(|at| {
        ends_operand(tokens[at - 1].kind)
            && begins_operand(tokens[at].kind)
            && !(is_postfix(tokens, at))
    })
}

/// Returns true for what stands between two expressions, or around one.
fn ends_expression(kind: Kind) -> bool {
    let parts = matches!(
        kind,
        Kind::Comma
            | Kind::Semi
            | Kind::Dollar
            | Kind::Colon
            | Kind::Colons
            | Kind::Assign
            | Kind::Equals
            | Kind::FatArrow
            | Kind::Bar
            | Kind::BarEq
            | Kind::LetKw
            | Kind::InKw
            | Kind::IfKw
            | Kind::ThenKw
            | Kind::ElseKw
            | Kind::FunctionKw
            | Kind::DatatypeKw
            | Kind::Unknown
    );
    parts || kind.is_opening() || kind.is_closing()
}

fn ends_operand(kind: Kind) -> bool {
    kind.is_operand() || kind.is_closing()
}

fn begins_operand(kind: Kind) -> bool {
    kind.is_operand() || matches!(kind, Kind::LParen | Kind::LBracket | Kind::LBrace | Kind::Hash)
}

/// Returns true for the bracket of a call, or of an element.
fn is_postfix(tokens: &[Token], index: usize) -> bool {
    match tokens[index].kind {
        Kind::CallParen => true,
        Kind::LBracket => {
            index > 0
                && ends_operand(tokens[index - 1].kind)
                && tokens[index - 1].range.end() == tokens[index].range.start()
        }
        _ => false,
    }
}

/// Returns the bracket that a bracket closes.
fn opener(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for index in (0..=close).rev() {
        match tokens[index].kind {
            Kind::RParen | Kind::RBracket | Kind::RBrace => depth += 1,
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the bracket that closes a bracket.
pub(super) fn closer(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
            Kind::RParen | Kind::RBracket | Kind::RBrace => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{lex, significant_tokens};
    use super::*;

    /// Checks the operands on both sides of the first `~`.
    fn check(text: &str, left: Option<&str>, right: Option<&str>) {
        let tokens = significant_tokens(&lex(text));
        let sign = tokens.iter().position(|token| token.kind == Kind::Unknown).expect("a sign");
        let part = |found: Option<Range<usize>>| {
            found.map(|found| {
                let range = tokens[found.start].range.cover(tokens[found.end - 1].range);
                &text[range]
            })
        };
        assert_eq!(part(before(&tokens, sign)), left, "{text}");
        assert_eq!(part(after(&tokens, sign + 1)), right, "{text}");
    }

    #[test]
    fn operands_without_a_grammar() {
        check("x = 5 ~ 2;", Some("5"), Some("2"));
        check("(x + 1) ~ #ys;", Some("(x + 1)"), Some("#ys"));
        check("1 + g(x)[i] ~ -h([1, 2]) + 3", Some("g(x)[i]"), Some("-h([1, 2])"));
        check("#xs ~ (1)", Some("#xs"), Some("(1)"));
        check("g x ~ sqrt y", None, None);
        check("+ ~ ;", None, None);
        check(") ~ (", None, None);
    }
}
