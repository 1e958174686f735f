//! The formatter of programs.
//!
//! It lays out the grammar's nodes and prints every significant token exactly once, each with the
//! comments before it; so it can neither change the meaning of a program nor lose a comment. A form
//! with syntax errors is not changed, nor is one whose new text would not parse to the same syntax
//! (which would be a bug).
//!
//! ```text
//! form ──grammar──▶ nodes ──writer (with the comments of `comment`)──▶ doc ──layout──▶ text
//! texts of forms, and what is between them ──lines──▶ text of the file
//! ```

mod comment;
mod doc;
mod lines;
mod writer;

use super::grammar;
use super::lexer::{Kind, Token};
use super::{Parsed, form_of, lex, parse_item, split, too_deep};
use crate::base::TextSize;
use comment::comments;
use doc::{Doc, layout};
use lines::Lines;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use writer::Writer;

/// The maximum length of a line, in characters.
const LINE_WIDTH_CHARS: usize = 100;

/// Formats a text. Formatting is idempotent and does not change the program.
pub fn format(text: &str) -> String {
    let items = split(text);
    let forms = items.iter().map(|item| &text[item.range]).map(|text| {
        let (first, last) = significant(text);
        let new = (first < last).then(|| form(&text[first..last])).flatten();
        (text, first..last, new.map(Cow::Owned))
    });
    format_forms(forms).0
}

/// Joins forms that were laid out one by one. Each is given by its text with the blanks and comments
/// before it, the range of its own tokens, and their new layout, if it differs. Returns the text and the
/// end of each form in it; forms without tokens are left out.
pub fn format_forms<'a>(
    forms: impl Iterator<Item = (&'a str, Range<usize>, Option<Cow<'a, str>>)>,
) -> (String, Vec<usize>) {
    let mut out = Lines::default();
    let mut ends = Vec::new();
    for (text, own, new) in forms {
        out.blanks(&text[..own.start]);
        if !own.is_empty() {
            out.start();
            out.solid(new.as_deref().unwrap_or(&text[own.clone()]));
            ends.push(out.solid);
            // A last form without a terminator may have comments after it.
            out.blanks(&text[own.end..]);
        }
    }
    // A back-quote at the end would make a character literal of the line break.
    let text = &out.text;
    let dangling = text.ends_with('`') && lex(text).last().is_some_and(|t| t.kind == Kind::Unknown);
    if !text.is_empty() && !dangling {
        out.end();
    }
    (out.text, ends)
}

/// Lays out the tokens of a form; `None` if the layout is the present one. Blanks and comments around
/// the form are ignored.
pub fn format_form(text: &str, parsed: &Parsed) -> Option<String> {
    let own = own(parsed)?;
    if !parsed.diagnostics.is_empty() {
        // The error may be a comment after the form.
        return form(&text[own]);
    }
    let start = TextSize::new(own.start as u32);
    let moved = |token: &Token| Token { kind: token.kind, range: token.range - start };
    let tokens: Vec<Token> = parsed.tokens.iter().map(moved).collect();
    reformatted(&text[own], parsed, &tokens)
}

/// Returns the range of a form's own tokens in its text; `None` if it has none.
pub fn own(parsed: &Parsed) -> Option<Range<usize>> {
    let (first, last) = (parsed.tokens.first()?, parsed.tokens.last()?);
    Some(first.range.start().into()..last.range.end().into())
}

/// Returns the start of the first token that is not a blank or comment, and the end of the last
/// one.
fn significant(text: &str) -> (usize, usize) {
    let tokens = lex(text);
    let mut significant = tokens.iter().filter(|t| !t.kind.is_trivia());
    let Some(first) = significant.next() else { return (text.len(), text.len()) };
    let last = significant.next_back().unwrap_or(first);
    (first.range.start().into(), last.range.end().into())
}

/// Lays out a form without its surroundings; `None` if the layout is the present one.
fn form(text: &str) -> Option<String> {
    let parsed = parse_item(text);
    reformatted(text, &parsed, &parsed.tokens)
}

/// Returns the new text of a form, if it differs; `tokens` have their ranges in the present text.
fn reformatted(text: &str, parsed: &Parsed, tokens: &[Token]) -> Option<String> {
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let new = lay_out(text, tokens).filter(|new| new != text)?;
    let again = parse_item(&new);
    (again.ast == parsed.ast && again.tokens.len() == parsed.tokens.len()).then_some(new)
}

/// Returns the layout of a form, as text; `None` for one that nests too deeply or has no tokens.
fn lay_out(text: &str, tokens: &[Token]) -> Option<String> {
    let all = lex(text);
    let terminated = tokens.last().is_some_and(|t| matches!(t.kind, Kind::Semi | Kind::Dollar));
    let end = tokens.len() - usize::from(terminated);
    if end == 0 || too_deep(&tokens[..end]).is_some() {
        return None;
    }
    let kinds: Vec<Kind> = tokens[..end].iter().map(|t| t.kind).collect();
    let node = grammar::parse(form_of(text, &all), &kinds);
    let comments = comments(text, &all);
    let writer = Writer { text, tokens, comments, hoisted: RefCell::default() };
    let mut docs = vec![writer.node(&node)];
    for i in end..tokens.len() {
        docs.push(writer.token(i as u32));
    }
    Some(layout(&Doc::Concat(docs), LINE_WIDTH_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let once = format(text);
        expected.assert_eq(&once);
        assert_eq!(format(&once), once, "idempotent");
    }

    #[test]
    fn short_forms_stay_on_a_line() {
        check(
            "x=1+2*3 ;  {x*x:x in [1,2 ,3]|x>1};\n\n\n\nsum ( [1] ) ;f(a,b)[ 0 ];",
            expect![[r#"
                x = 1 + 2 * 3;
                {x * x : x in [1, 2, 3] | x > 1};

                sum ([1]);
                f(a, b)[0];
            "#]],
        );
    }

    #[test]
    fn long_ones_break() {
        check(
            "function quicksort(a) = if #a < 2 then a else let pivot = a[#a/2]; less = {e in a | e < pivot}; equal = {e in a | e == pivot} in quicksort(less) ++ equal;",
            expect![[r#"
                function quicksort(a) =
                  if #a < 2 then a
                  else let pivot = a[#a / 2];
                           less = {e in a | e < pivot};
                           equal = {e in a | e == pivot}
                       in quicksort(less) ++ equal;
            "#]],
        );
    }

    #[test]
    fn comments_stay() {
        check(
            "% head %\nx = 1 % one % + 2; % tail %\n% own %\nfunction g(x) = % why % x +\n  % alone %\n 1;",
            expect![[r#"
                % head %
                x = 1 % one % + 2; % tail %
                % own %
                function g(x) =
                  % why % x
                    +
                    % alone %
                    1;
            "#]],
        );
    }

    #[test]
    fn a_dangling_back_quote_makes_no_char() {
        check("6`", expect!["6`"]);
        check("``", expect!["``\n"]);
    }

    #[test]
    fn broken_forms_are_left_alone() {
        check(
            "x  = = 1;\ny=2;\n",
            expect![[r#"
            x  = = 1;
            y = 2;
        "#]],
        );
    }
}
