//! Splitting a text into its top-level forms.
//!
//! A form ends at a `;` or `$` outside all brackets and outside `let … in`. A form with a bracket that
//! is never closed ends at the first terminator that ends a line and is followed by a token in the first
//! column, so that one mistake does not affect the rest of the file.

use super::lexer::{Kind, Token, lex};
use super::{RawItem, RawKind, Reach};
use crate::base::{Name, TextRange, TextSize};

/// Splits a file into its top-level forms; their ranges tile it.
pub fn split(text: &str) -> Vec<RawItem> {
    let tokens = lex(text);
    let mut items = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let (end, balanced) = end_at(text, &tokens, start);
        let mut item = describe(&tokens[start..end], text);
        item.reach = reach(&tokens[start..end], balanced);
        items.push(item);
        start = end;
    }
    items
}

/// Returns the sort of the first form of a text that consists of some tokens.
pub(super) fn first_kind(text: &str, tokens: &[Token]) -> RawKind {
    let (end, _) = end_at(text, tokens, 0);
    describe(&tokens[..end], text).kind
}

/// Returns the token behind the form that begins at a token, and whether its brackets are closed.
fn end_at(text: &str, tokens: &[Token], start: usize) -> (usize, bool) {
    match end_of_form(tokens, start, text, false) {
        End::At(end) => (end, true),
        End::Unbalanced => match end_of_form(tokens, start, text, true) {
            End::At(end) => (end, false),
            End::Unbalanced => (tokens.len(), false),
        },
    }
}

/// Returns the lookahead that was needed to find that a form has these tokens.
fn reach(tokens: &[Token], balanced: bool) -> Reach {
    if tokens.iter().any(|token| matches!(token.kind, Kind::OpenText | Kind::OpenComment)) {
        return Reach::Far;
    }
    // A context continues after its `;` if the next tokens are `name in class`.
    let looks_on = |(i, token): (usize, &Token)| match token.kind {
        Kind::ForeignComment => true,
        Kind::Colons => significant(tokens, i + 1).is_none_or(|next| next.kind != Kind::LParen),
        _ => false,
    };
    let ended = tokens.last().is_some_and(|last| matches!(last.kind, Kind::Semi | Kind::Dollar));
    if balanced && ended && !tokens.iter().enumerate().any(looks_on) {
        Reach::Itself
    } else {
        Reach::Near
    }
}

/// Returns true if a text consists of complete forms: no bracket is open and it ends with a terminator.
pub fn is_complete(text: &str) -> bool {
    let tokens = lex(text);
    if tokens.iter().any(|t| t.kind == Kind::OpenComment || t.kind == Kind::OpenText) {
        return false;
    }
    let mut start = 0;
    while start < tokens.len() {
        if tokens[start..].iter().all(|t| t.kind.is_trivia()) {
            return true;
        }
        let End::At(end) = end_of_form(&tokens, start, text, false) else { return false };
        let last = tokens[start..end].iter().rev().find(|t| !t.kind.is_trivia());
        if !last.is_some_and(|t| matches!(t.kind, Kind::Semi | Kind::Dollar)) {
            return false;
        }
        start = end;
    }
    true
}

enum End {
    /// The index one past the last token of the form.
    At(usize),
    /// A bracket or `let` of the form is never closed.
    Unbalanced,
}

/// The number of tokens after an incomplete form that may determine where it ends.
pub const LOOKAHEAD_TOKENS: usize = MAX_UNCLOSED_TOKENS + 10;

/// The number of tokens after a line that looks like the end of a form within which its brackets may
/// still be closed. Keeps splitting linear however many forms are broken.
const MAX_UNCLOSED_TOKENS: usize = 2_000;

/// Finds the end of the form that begins at token `start`. With `by_lines`, a terminator at the end of
/// a line ends it even inside brackets.
fn end_of_form(tokens: &[Token], start: usize, text: &str, by_lines: bool) -> End {
    let mut open: Vec<Kind> = Vec::new();
    let mut context = false;
    let mut seen = false;
    // The number of `if`s without their `else`.
    let mut without_else = 0usize;
    // The end of the form if lines decided.
    let mut line_end = None;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        if line_end.is_some_and(|end| i > end + MAX_UNCLOSED_TOKENS) {
            return End::Unbalanced;
        }
        match token.kind {
            Kind::LParen | Kind::LBracket | Kind::LBrace | Kind::LetKw => open.push(token.kind),
            Kind::RParen => close(&mut open, Kind::LParen),
            Kind::RBracket => close(&mut open, Kind::LBracket),
            Kind::RBrace => close(&mut open, Kind::LBrace),
            Kind::InKw if open.last() == Some(&Kind::LetKw) => {
                open.pop();
            }
            Kind::IfKw => without_else += 1,
            Kind::ElseKw => without_else = without_else.saturating_sub(1),
            // `if c then 1; else 2`: the parser reports the `;`, and the `else` is no form of its own.
            Kind::Semi
                if open.is_empty()
                    && without_else > 0
                    && significant(tokens, i + 1).is_some_and(|t| t.kind == Kind::ElseKw) => {}
            Kind::Colons if open.is_empty() => {
                context = significant(tokens, i + 1).is_none_or(|t| t.kind != Kind::LParen);
            }
            Kind::Equals => context = false,
            Kind::FunctionKw | Kind::DatatypeKw if seen && !is_value(tokens, i) => {
                // Only a new form begins with this word.
                let unbalanced = !open.is_empty() && !by_lines;
                return if unbalanced {
                    End::Unbalanced
                } else {
                    End::At(before(tokens, start, i))
                };
            }
            Kind::Dollar if open.iter().all(|k| *k == Kind::LetKw) => return End::At(i + 1),
            Kind::Semi | Kind::Dollar
                if open.is_empty() && !(context && continues_context(tokens, i + 1, text)) =>
            {
                return End::At(i + 1);
            }
            // A broken string or comment contains the terminator of its line.
            Kind::OpenText => return End::At(i + 1),
            Kind::ForeignComment if open.is_empty() && seen && ends_early(tokens, i, text) => {
                return End::At(i + 1);
            }
            Kind::Semi | Kind::Dollar | Kind::ForeignComment
                if line_end.is_none()
                    && (matches!(token.kind, Kind::Semi | Kind::Dollar)
                        || seen && ends_early(tokens, i, text))
                    && ends_a_line(tokens, i, text) =>
            {
                if by_lines {
                    return End::At(i + 1);
                }
                line_end = Some(i);
            }
            _ => {}
        }
        seen |= !token.kind.is_trivia();
    }
    if open.is_empty() || by_lines { End::At(tokens.len()) } else { End::Unbalanced }
}

/// Returns true for the `function` of `= function(x) …`, a function value of other languages.
fn is_value(tokens: &[Token], i: usize) -> bool {
    let before = tokens[..i].iter().rev().find(|token| !token.kind.is_trivia());
    let unnamed = significant(tokens, i + 1).is_some_and(|next| next.kind == Kind::LParen);
    unnamed
        && before.is_some_and(|token| {
            matches!(
                token.kind,
                Kind::Equals | Kind::Assign | Kind::LeftArrow | Kind::LParen | Kind::Comma
            )
        })
}

/// Closes the innermost bracket of a kind and the brackets left open inside it.
fn close(open: &mut Vec<Kind>, kind: Kind) {
    if let Some(at) = open.iter().rposition(|k| *k == kind) {
        open.truncate(at);
    }
}

/// Returns the first of the blanks and comments before token `i`: they belong to the form that
/// begins there.
fn before(tokens: &[Token], start: usize, i: usize) -> usize {
    let mut i = i;
    while i > start + 1 && tokens[i - 1].kind.is_trivia() {
        i -= 1;
    }
    i
}

fn significant(tokens: &[Token], from: usize) -> Option<&Token> {
    tokens[from..].iter().find(|t| !t.kind.is_trivia())
}

/// Returns true if `name in class` follows, so that a context continues after its `;`.
fn continues_context(tokens: &[Token], from: usize, text: &str) -> bool {
    let mut rest = tokens[from..].iter().filter(|t| !t.kind.is_trivia());
    let name = rest.next().is_some_and(|t| t.kind == Kind::Name);
    let within = rest.next().is_some_and(|t| t.kind == Kind::InKw);
    let class = rest.next().is_some_and(|t| t.kind == Kind::Name && is_class(&text[t.range]));
    name && within && class
}

fn is_class(word: &str) -> bool {
    const CLASSES: [&str; 8] =
        ["any", "number", "ordinal", "logical", "int", "float", "bool", "char"];
    CLASSES.iter().any(|c| c.eq_ignore_ascii_case(word))
}

/// Returns true if the next token after a terminator, if there is one, is in the first column.
fn ends_a_line(tokens: &[Token], i: usize, text: &str) -> bool {
    match significant(tokens, i + 1) {
        None => true,
        Some(next) => {
            let at = usize::from(next.range.start());
            at == 0 || text.as_bytes()[at - 1] == b'\n'
        }
    }
}

/// Returns true if the text of an unclosed string or comment ends with a terminator and the next token
/// begins a line.
fn ends_early(tokens: &[Token], i: usize, text: &str) -> bool {
    text[tokens[i].range].trim_end().ends_with([';', '$']) && ends_a_line(tokens, i, text)
}

/// Returns the sort of the form that consists of some tokens, and the names it defines.
fn describe(tokens: &[Token], text: &str) -> RawItem {
    let start = tokens.first().map_or(TextSize::new(0), |t| t.range.start());
    let end = tokens.last().map_or(start, |t| t.range.end());
    let range = TextRange::new(start, end);
    let mut significant: Vec<&Token> = Vec::new();
    for token in tokens.iter().filter(|t| !t.kind.is_trivia()) {
        significant.push(token);
        // The first words say it, and all of a pattern.
        if significant.len() > 3 && !is_in_pattern(token.kind) {
            break;
        }
    }
    let word = |i: usize| significant.get(i).map(|t| &text[t.range]);
    let kind_at = |i: usize| significant.get(i).map(|t| t.kind);
    let named = |i: usize| match kind_at(i) {
        Some(Kind::Name) => word(i).map(Name::new).into_iter().collect(),
        _ => Vec::new(),
    };
    let (kind, names) = match kind_at(0) {
        None => (RawKind::Blank, Vec::new()),
        Some(Kind::FunctionKw) => (RawKind::Function, named(1)),
        Some(Kind::DatatypeKw) => (RawKind::Datatype, named(1)),
        Some(_) if is_command(&significant, text) => (RawKind::Command, Vec::new()),
        Some(_) => match bound(&significant, text) {
            Some(names) => (RawKind::Binding, names),
            None => (RawKind::Expr, vec![Name::new("it")]),
        },
    };
    RawItem { range, kind, names, tokens: tokens.len() as u32, reach: Reach::Near }
}

/// Returns true for tokens that may be part of a pattern.
fn is_in_pattern(kind: Kind) -> bool {
    let word = matches!(kind, Kind::Name | Kind::TrueKw | Kind::FalseKw | Kind::TimeKw);
    word || matches!(kind, Kind::LParen | Kind::RParen | Kind::Comma)
}

/// Returns the variables of `pattern =` or `pattern |=`, if the form begins with that.
fn bound(tokens: &[&Token], text: &str) -> Option<Vec<Name>> {
    let mut names = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            // Two adjacent operands: `def g(x) = …`, or a missing `;`.
            Kind::Name if i > 0 && matches!(tokens[i - 1].kind, Kind::Name | Kind::RParen) => {
                return None;
            }
            Kind::Name => {
                let record = tokens.get(i + 1).is_some_and(|t| t.kind == Kind::LParen);
                if !record {
                    names.push(Name::new(&text[token.range]));
                }
            }
            // Not allowed as names, but a binding was meant; the parser reports it.
            Kind::TrueKw | Kind::FalseKw | Kind::TimeKw => {}
            Kind::LParen | Kind::RParen | Kind::Comma => {}
            Kind::Equals | Kind::BarEq if i > 0 => return Some(names),
            _ => return None,
        }
    }
    None
}

/// Returns true if a form is a command and not an expression that begins with the same word.
fn is_command(tokens: &[&Token], text: &str) -> bool {
    let Some(first) = tokens.first().filter(|t| t.kind == Kind::Name) else { return false };
    let next = tokens.get(1).map(|t| t.kind);
    let ends = matches!(next, None | Some(Kind::Semi | Kind::Dollar));
    match text[first.range].to_ascii_lowercase().as_str() {
        "help" | "exit" | "lisp" | "shell" => ends,
        "load" => {
            let operand = matches!(
                next,
                Some(Kind::Text | Kind::OpenText | Kind::Name | Kind::LParen | Kind::At)
            );
            operand || ends
        }
        "describe" if tokens.get(2).is_none_or(|t| matches!(t.kind, Kind::Semi | Kind::Dollar)) => {
            !ends && !matches!(next, Some(Kind::Equals | Kind::BarEq))
        }
        "set" | "show" | "describe" | "apropos" | "dump" | "edit" | "get" | "defconfig" => {
            matches!(next, Some(Kind::Name | Kind::Text | Kind::TimeKw))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<(RawKind, &str)> {
        let items = split(text);
        let joined: String = items.iter().map(|i| &text[i.range]).collect();
        assert_eq!(joined, text, "items tile the text");
        items.iter().map(|i| (i.kind, text[i.range].trim())).collect()
    }

    #[test]
    fn forms_end_outside_brackets_and_lets() {
        use RawKind::*;
        assert_eq!(
            forms(
                "let a = 1; b = 2 in a; {x : x in v; y in w}; x = 3; (a,b) = p $ function g(x) = x;"
            ),
            [
                (Expr, "let a = 1; b = 2 in a;"),
                (Expr, "{x : x in v; y in w};"),
                (Binding, "x = 3;"),
                (Binding, "(a,b) = p $"),
                (Function, "function g(x) = x;"),
            ]
        );
    }

    #[test]
    fn contexts_without_parentheses() {
        let text = "function g(a,b) : a, b -> a :: a in any; b in any = a; 1;";
        assert_eq!(forms(text).len(), 2);
        assert_eq!(forms("datatype p(a,a) :: a in number; p(1,2);").len(), 2);
    }

    #[test]
    fn an_else_after_a_semicolon_belongs_to_its_if() {
        assert_eq!(forms("if a then 1; else 2; 3;").len(), 2);
        assert_eq!(forms("if a then 1;\nelse if b then 2;\nelse 3; 4;").len(), 2);
        assert_eq!(forms("if a then 1 else 2; else 3;").len(), 2);
        assert_eq!(forms("x = 1; else 3;").len(), 2);
    }

    #[test]
    fn one_open_bracket_damages_one_form() {
        let text = "function g(x) = (x + 1;\nh(2);\n{3 : x in [1];\n4;\n";
        let all = forms(text);
        assert_eq!(all[0].1, "function g(x) = (x + 1;");
        assert_eq!(all[1].1, "h(2);");
        assert_eq!(all[2].1, "{3 : x in [1];");
        assert_eq!(all[3].1, "4;");
    }

    #[test]
    fn a_long_line_without_an_end_is_one_form() {
        let text =
            format!("{{let a = x; b = x in b : x in [0{}]}};", ", 0".repeat(MAX_UNCLOSED_TOKENS));
        assert_eq!(forms(&text).len(), 1);
    }

    #[test]
    fn completeness() {
        for text in ["1;", "1; 2$", "function g(x) = x;", "1; % done %", ""] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["1", "(1;", "let a = 1;", "\"abc;", "% c", "1; 2"] {
            assert!(!is_complete(text), "{text}");
        }
    }
}
