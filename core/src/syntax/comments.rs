//! Reports of comments that are not NESL's, or never closed.

use super::lexer::{Kind, Token, lex};
use super::{operand, significant_tokens};
use crate::base::{Diagnostic, DiagnosticKind, TextRange, TextSize};

type Report = Diagnostic<TextRange>;

/// Makes the report of `// …` or `/* … */`, behind some tokens.
pub(super) fn foreign(text: &str, at: TextRange, tokens: &[Token]) -> Report {
    let comment = &text[at];
    let mark = &comment[..2];
    let message = format!("`{mark}` does not begin a comment");
    let report = Diagnostic::error(DiagnosticKind::Syntax, at, message);
    let inside = match comment.strip_prefix("/*") {
        Some(inside) => inside.trim_end_matches("*/").trim_matches('*'),
        None => comment.trim_start_matches('/'),
    };
    let words = inside.trim().replace('%', "");
    let divisor = words.trim_end_matches([';', ' ']);
    let number = !divisor.is_empty() && divisor.bytes().all(|byte| byte.is_ascii_digit());
    let divided = tokens.iter().rev().find(|token| token.range.end() <= at.start());
    if mark == "//" && number {
        let sign = TextRange::at(at.start(), TextSize::of("//"));
        let hint = "`/` on ints truncates; a comment is written `% … %`";
        return match divided {
            // The rest of the line is no comment then.
            Some(last) if ends_value(last.kind) => {
                let rest = &text[TextRange::new(sign.end(), at.end())];
                report.fix(hint, at, format!("/{rest}"))
            }
            _ => report.hint(hint),
        };
    }
    report.fix("write `% … %`", at, format!("% {words} %"))
}

/// Makes the report of a comment that is never closed, behind some tokens. In `5 % 2;` a remainder was meant.
pub(super) fn open(text: &str, comment: TextRange, tokens: &[Token]) -> Report {
    let mark = if text[comment].starts_with('%') { "%" } else { "/*" };
    let at = TextRange::at(comment.start(), TextSize::of(mark));
    let report = Diagnostic::error(DiagnosticKind::Syntax, at, "this comment is never closed");
    if mark == "/*" {
        return report.hint("a comment is written `% … %`");
    }
    let inside = TextRange::new(at.end(), comment.end());
    let line = text[inside].lines().next().unwrap_or("");
    let more = text[inside].trim_end().len() > line.len();
    if let Some((whole, remainder)) = remainder(text, at, (line, !more), tokens) {
        let hint = format!("`%` begins a comment; the remainder is `{remainder}`");
        return match whole {
            Some(whole) => report.fix(hint, whole, remainder),
            None => report.hint(hint),
        };
    }
    if more && !line.trim().is_empty() {
        let end = inside.start() + TextSize::of(line.trim_end());
        return report.fix(
            "comments run from one `%` to the next `%`: close it with ` %`, or count the `%`s above",
            TextRange::empty(end),
            " %",
        );
    }
    report.hint("comments run from one `%` to the next `%`; close it, or count the `%`s above")
}

/// Makes the report of a comment between two remainders, `a % 2 == 0; b % 3`, if it has swallowed a part of the program:
/// operands stand at both its ends, and it begins with one and goes on as no sentence does. It holds if something is
/// wrong around it, or if the comment, too, ends a line with a terminator (then the second value is true).
pub(super) fn swallowed(text: &str, all: &[Token], tokens: &[Token]) -> Option<(Report, bool)> {
    // The line that says what runs the program is a comment, too.
    let is_comment =
        |token: &&Token| token.kind == Kind::Comment && text[token.range].starts_with('%');
    all.iter().filter(is_comment).find_map(|token| {
        let at = TextRange::at(token.range.start(), TextSize::of("%"));
        let inside = &text[TextRange::new(at.end(), token.range.end() - TextSize::of("%"))];
        let before = tokens[..tokens.partition_point(|t| t.range.end() <= at.start())].last()?;
        let after = tokens.get(tokens.partition_point(|t| t.range.start() < token.range.end()))?;
        let gap = |start, end| text[TextRange::new(start, end)].contains('\n');
        if gap(before.range.end(), at.start())
            || gap(token.range.end(), after.range.start())
            || !(ends_value(after.kind) || after.kind == Kind::LParen) && after.kind != Kind::Float
            || !inside.contains([';', '=', '|', '}', ')'])
        {
            return None;
        }
        let line = inside.lines().next().unwrap_or("");
        let (whole, remainder) = remainder(text, at, (line, true), tokens)?;
        let message = "`%` begins a comment, which ends at the next `%`";
        let report = Diagnostic::error(DiagnosticKind::Syntax, at, message);
        let hint = format!("the remainder is `{remainder}`");
        let report = match whole {
            Some(whole) => report.fix(hint, whole, remainder),
            None => report.hint(hint),
        };
        Some((report, inside.lines().any(|line| line.ends_with(';')) && inside.contains('\n')))
    })
}

/// Returns the remainder that `a % b` in a line was meant to be, and the range that it replaces if that is clear;
/// `line` is what follows the `%`, with whether it is certain that it is no comment unless it is one of words.
fn remainder(
    text: &str,
    sign: TextRange,
    (line, certain): (&str, bool),
    tokens: &[Token],
) -> Option<(Option<TextRange>, String)> {
    let before = tokens.partition_point(|token| token.range.end() <= sign.start());
    let last = tokens[..before].last().filter(|last| ends_value(last.kind))?;
    // A comment is a word or more behind the end of a form, or above other lines.
    let ended = line.contains([';', '$']);
    let behind = significant_tokens(&lex(line));
    let divisor = operand::after(&behind, 0)?;
    let next = behind.get(divisor.end).map(|token| token.kind);
    let range = |tokens: &[Token], operand: &std::ops::Range<usize>| {
        tokens[operand.start].range.cover(tokens[operand.end - 1].range)
    };
    let b_range = range(&behind, &divisor);
    let b = &line[b_range];
    let word = b.starts_with(|c: char| c.is_ascii_alphabetic());
    if !ended && !certain && (next.is_some() || word) {
        return None;
    }
    let dividend = operand::before(&tokens[..before], before);
    let Some(dividend) = dividend else {
        let a = if last.kind == Kind::RParen { "…" } else { &text[last.range] };
        return Some((None, format!("rem({a}, {b})")));
    };
    let a_range = range(tokens, &dividend);
    let a = bare(&text[a_range]);
    // `x * 5 % 2` is the remainder of the product, and `5 % 2 ^ 3` that by the power.
    let tighter = |kind: Option<Kind>| {
        matches!(
            kind,
            Some(
                Kind::Star
                    | Kind::Slash
                    | Kind::Caret
                    | Kind::ForeignPower
                    | Kind::RightArrow
                    | Kind::LeftArrow
                    | Kind::Quote
            )
        )
    };
    let left = dividend.start.checked_sub(1).map(|at| tokens[at].kind);
    let clear = !tighter(left) && !matches!(next, Some(Kind::Caret | Kind::ForeignPower));
    let end = sign.end() + b_range.end();
    if !clear {
        return Some((None, format!("rem(…, {})", bare(b))));
    }
    Some((Some(TextRange::new(a_range.start(), end)), format!("rem({a}, {})", bare(b))))
}

/// Returns an operand without parentheses around it.
fn bare(operand: &str) -> &str {
    let inside = operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inside.filter(|inside| !inside.contains(['(', ')'])).unwrap_or(operand)
}

fn ends_value(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Name | Kind::RParen | Kind::RBracket)
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse_item;

    #[test]
    fn every_comment_can_be_looked_at() {
        for text in [
            "#!/usr/bin/nesl é",
            "#!é\n1 % 2; % 3",
            "%%",
            "1 %é% 2",
            "1 % é; % 2",
            "x /*é*/ y",
            "/*/",
            "/**/",
            "x // é",
            "x %",
            "% é",
            "(1 % (2; % 3",
            "5 % 2 % 3 % 4;",
        ] {
            parse_item(text);
        }
    }
}
