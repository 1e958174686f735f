//! The formatter.
//!
//! It lays out the grammar's nodes and prints every significant token exactly once, each with the
//! comments before it; so it can neither change the meaning of a program nor lose a comment. A form
//! with syntax errors is not changed, nor is one whose new text would not parse to the same syntax
//! (which would be a bug).

mod doc;

use super::grammar::{self, Node};
use super::lexer::{Kind, Token};
use super::{Parsed, form_of, lex, parse_item, split, too_deep};
use crate::base::TextSize;
use doc::{Doc, layout};
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

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
    relaid(&text[own], parsed, &tokens)
}

/// The range of a form's own tokens in its text; `None` if it has none.
pub fn own(parsed: &Parsed) -> Option<Range<usize>> {
    let (first, last) = (parsed.tokens.first()?, parsed.tokens.last()?);
    Some(first.range.start().into()..last.range.end().into())
}

/// The start of the first token that is not a blank or comment, and the end of the last one.
fn significant(text: &str) -> (usize, usize) {
    let tokens = lex(text);
    let mut significant = tokens.iter().filter(|t| !t.kind.is_trivia());
    let Some(first) = significant.next() else { return (text.len(), text.len()) };
    let last = significant.next_back().unwrap_or(first);
    (first.range.start().into(), last.range.end().into())
}

/// The text written so far, and the part of it that is forms and comments: a line break there was not
/// made by the formatter (a character literal can be one).
#[derive(Default)]
struct Lines {
    text: String,
    solid: usize,
    /// True if a comment was written last.
    comment: bool,
}

impl Lines {
    fn solid(&mut self, text: &str) {
        self.text.push_str(text);
        self.solid = self.text.len();
        self.comment = false;
    }

    /// Writes the blanks and comments between forms: comments unchanged, on the line they were on, with at
    /// most one empty line between two. The blanks after the last comment are left to the next writer.
    fn blanks(&mut self, trivia: &str) {
        let mut lines = 0;
        for token in lex(trivia) {
            let text = &trivia[token.range];
            if token.kind == Kind::Blank {
                lines += text.matches('\n').count();
                continue;
            }
            match lines {
                _ if self.text.is_empty() => {}
                0 => self.text.push(' '),
                1 => self.end(),
                _ => {
                    self.end();
                    self.text.push('\n');
                }
            }
            // A comment that is never closed contains the end of the text.
            let open = token.kind == Kind::OpenComment;
            self.solid(if open { text.trim_end_matches('\n') } else { text });
            self.comment = true;
            lines = 0;
        }
        // Kept as line ends for the next form.
        if !self.text.is_empty() {
            self.text.push_str(["", "\n", "\n\n"][lines.min(2)]);
        }
    }

    /// Begins a line for a form.
    fn start(&mut self) {
        if !self.text.is_empty() && !self.text[self.solid..].ends_with('\n') {
            // After a comment the form may stay on the same line.
            self.text.push(if self.comment { ' ' } else { '\n' });
        }
    }

    /// Ends the last line, without empty lines after it.
    fn end(&mut self) {
        while self.text[self.solid..].ends_with("\n\n") {
            self.text.pop();
        }
        if !self.text[self.solid..].ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn form(text: &str) -> Option<String> {
    let parsed = parse_item(text);
    relaid(text, &parsed, &parsed.tokens)
}

/// The new text of a form, if it differs; `tokens` have their ranges in the present text.
fn relaid(text: &str, parsed: &Parsed, tokens: &[Token]) -> Option<String> {
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let new = lay_out(text, tokens).filter(|new| new != text)?;
    let again = parse_item(&new);
    (again.ast == parsed.ast && again.tokens.len() == parsed.tokens.len()).then_some(new)
}

fn lay_out(text: &str, tokens: &[Token]) -> Option<String> {
    let all = lex(text);
    let terminated = tokens.last().is_some_and(|t| matches!(t.kind, Kind::Semi | Kind::Dollar));
    let end = tokens.len() - usize::from(terminated);
    if end == 0 || too_deep(&tokens[..end]).is_some() {
        return None;
    }
    let kinds: Vec<Kind> = tokens[..end].iter().map(|t| t.kind).collect();
    let node = grammar::parse(form_of(text), &kinds);
    let comments = comments(text, &all);
    let writer = Writer { text, tokens, comments, hoisted: RefCell::default() };
    let mut docs = vec![writer.node(&node)];
    for i in end..tokens.len() {
        docs.push(writer.token(i as u32));
    }
    Some(layout(&Doc::Concat(docs), LINE_WIDTH_CHARS))
}

/// A comment before a significant token, and its position.
struct Remark {
    text: String,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the end of the line of the token before it.
    Behind,
    /// On a line of its own.
    Alone,
    /// On the line of the token after it.
    Before,
}

/// The comments before each significant token.
fn comments(text: &str, all: &[Token]) -> Vec<Vec<Remark>> {
    let mut out: Vec<Vec<Remark>> = vec![Vec::new()];
    let mut fresh = false;
    for token in all {
        let last = out.last_mut().or_bug("there is a list for the next token");
        match token.kind {
            Kind::Blank if text[token.range].contains('\n') => {
                // The comments at the end of a line have no token after them on it.
                for remark in last.iter_mut().filter(|remark| remark.place == Place::Before) {
                    remark.place = if fresh { Place::Alone } else { Place::Behind };
                }
                fresh = true;
            }
            Kind::Blank => {}
            Kind::Comment | Kind::OpenComment | Kind::ForeignComment => {
                let text = text[token.range].to_owned();
                last.push(Remark { text, place: Place::Before });
            }
            _ => {
                out.push(Vec::new());
                fresh = false;
            }
        }
    }
    out
}

struct Writer<'a> {
    text: &'a str,
    tokens: &'a [Token],
    comments: Vec<Vec<Remark>>,
    /// The tokens whose comments were already printed before the node that they begin.
    hoisted: RefCell<FxHashSet<u32>>,
}

impl Writer<'_> {
    /// Lays out a token, the comments before it, and those after it on its line.
    fn token(&self, index: u32) -> Doc {
        let Some(token) = self.tokens.get(index as usize) else { return Doc::nil() };
        let mut docs = self.hoist(index);
        docs.push(Doc::text(&self.text[token.range]));
        let next = self.comments.get(index as usize + 1);
        for remark in next.into_iter().flatten().filter(|remark| remark.place == Place::Behind) {
            docs.push(Doc::Behind(remark.text.as_str().into()));
        }
        Doc::Concat(docs)
    }

    /// Lays out the comments before a token, once: a node has them outside of its group, so that a comment
    /// on a line of its own does not break the node.
    fn hoist(&self, index: u32) -> Vec<Doc> {
        let mut docs = Vec::new();
        if !self.hoisted.borrow_mut().insert(index) {
            return docs;
        }
        for remark in self.comments.get(index as usize).into_iter().flatten() {
            match remark.place {
                Place::Behind => {}
                Place::Alone => docs.extend([Doc::Fresh, Doc::text(&remark.text), Doc::Fresh]),
                Place::Before => docs.extend([Doc::text(&remark.text), Doc::text(" ")]),
            }
        }
        docs
    }

    fn tokens(&self, from: u32, to: u32) -> Doc {
        Doc::Concat((from..to).map(|i| self.token(i)).collect())
    }

    fn node(&self, node: &Node) -> Doc {
        if !node.present() {
            return crate::base::with_stack(|| self.node_inner(node));
        }
        let mut docs = self.hoist(node.start);
        docs.push(crate::base::with_stack(|| self.node_inner(node)));
        Doc::Concat(docs)
    }

    fn node_inner(&self, node: &Node) -> Doc {
        let space = || Doc::text(" ");
        match node.kind {
            Kind::Function => self.function(node),
            Kind::Datatype => {
                let [name, ty, ..] = &node.kids[..] else { return Doc::nil() };
                Doc::Concat(vec![self.token(node.start), space(), self.node(name), self.node(ty)])
            }
            Kind::Binding => {
                let [pat, op, value, ..] = &node.kids[..] else { return Doc::nil() };
                self.defined(pat, op, value)
            }
            Kind::ExprItem => self.node(&node.kids[0]),
            Kind::Command => self.command(node),
            Kind::Missing | Kind::Nothing => Doc::nil(),
            Kind::Paren => self.bracketed(node.start, &node.kids[0], &node.kids[1]),
            Kind::Tuple => self.separated(&node.kids),
            Kind::List => self.bracketed(node.start, &node.kids[0], &node.kids[1]),
            Kind::Empty => Doc::Concat(vec![
                self.tokens(node.start, node.start + 2),
                space(),
                self.node(&node.kids[0]),
            ]),
            Kind::Range => {
                let mut docs = vec![self.token(node.start)];
                let (close, parts) = node.kids.split_last().or_bug("a range has an end");
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        docs.push(self.token(part.start - 1));
                    }
                    docs.push(self.node(part));
                }
                docs.push(self.token(close.start));
                Doc::Concat(docs)
            }
            Kind::Index => Doc::Concat(vec![
                self.node(&node.kids[0]),
                self.token(node.kids[0].end),
                self.node(&node.kids[1]),
                self.token(node.end - 1),
            ]),
            Kind::Call => Doc::Concat(vec![self.node(&node.kids[0]), self.node(&node.kids[1])]),
            Kind::Juxtaposed => {
                Doc::Concat(vec![self.node(&node.kids[0]), space(), self.node(&node.kids[1])])
            }
            Kind::Time => Doc::Concat(vec![self.token(node.start), self.node(&node.kids[0])]),
            Kind::Unary => Doc::Concat(vec![self.token(node.start), self.node(&node.kids[0])]),
            Kind::Binary => Doc::group(vec![self.chain(node)]),
            Kind::Lambda | Kind::Option => Doc::group(vec![
                self.node(&node.kids[0]),
                space(),
                self.token(node.kids[0].end),
                Doc::nest(2, vec![Doc::Line, self.node(&node.kids[1])]),
            ]),
            Kind::If => Doc::group(vec![Doc::align(vec![self.branches(node)])]),
            Kind::Let => self.let_expr(node),
            Kind::LetBinding => {
                let [pat, equals, value] = &node.kids[..] else { return Doc::nil() };
                self.defined(pat, equals, value)
            }
            Kind::Each => self.each(node),
            Kind::EachBinding => match &node.kids[..] {
                [pat, sequence] => Doc::Concat(vec![
                    self.node(pat),
                    space(),
                    self.token(sequence.start - 1),
                    space(),
                    self.node(sequence),
                ]),
                kids => Doc::Concat(kids.iter().map(|kid| self.node(kid)).collect()),
            },
            Kind::TypeParen => self.scheme(node),
            Kind::TypeApply => {
                Doc::Concat(vec![self.node(&node.kids[0]), self.node(&node.kids[1])])
            }
            Kind::TypeList => Doc::Concat(vec![
                self.token(node.start),
                self.node(&node.kids[0]),
                self.token(node.kids[1].start),
            ]),
            Kind::TypeTuple => self.separated(&node.kids),
            Kind::TypeArrow => {
                let mut docs = vec![self.node(&node.kids[0])];
                for kid in &node.kids[1..] {
                    docs.extend([space(), self.token(kid.start - 1), space(), self.node(kid)]);
                }
                Doc::Concat(docs)
            }
            _ => self.tokens(node.start, node.end),
        }
    }

    /// Lays out `pattern = value`. A value that can be broken begins on the same line.
    fn defined(&self, pat: &Node, equals: &Node, value: &Node) -> Doc {
        let hangs = matches!(
            value.kind,
            Kind::Each | Kind::List | Kind::Paren | Kind::If | Kind::Let | Kind::Call
        );
        let start = vec![self.node(pat), Doc::text(" "), self.token(equals.start)];
        let value = self.node(value);
        let rest = if hangs {
            vec![Doc::text(" "), value]
        } else {
            vec![Doc::nest(2, vec![Doc::Line, value])]
        };
        Doc::group(start.into_iter().chain(rest).collect())
    }

    /// Lays out `a, b, c` with as many on a line as fit.
    fn separated(&self, kids: &[Node]) -> Doc {
        let mut docs = vec![self.node(&kids[0])];
        for kid in &kids[1..] {
            docs.push(self.token(kid.start - 1));
            docs.push(Doc::group(vec![Doc::Line, self.node(kid)]));
        }
        Doc::Concat(docs)
    }

    fn bracketed(&self, open: u32, inside: &Node, close: &Node) -> Doc {
        let inside = Doc::align(vec![self.node(inside)]);
        Doc::Concat(vec![self.token(open), inside, self.token(close.start)])
    }

    /// Lays out a chain of binary operators, broken before each of them or nowhere.
    fn chain(&self, node: &Node) -> Doc {
        let [left, right] = &node.kids[..] else { return Doc::nil() };
        let first = if left.kind == Kind::Binary { self.chain(left) } else { self.node(left) };
        let rest = vec![Doc::Line, self.token(left.end), Doc::text(" "), self.node(right)];
        Doc::Concat(vec![first, Doc::nest(2, rest)])
    }

    /// Lays out an `if` without a group of its own.
    fn branches(&self, node: &Node) -> Doc {
        let [c, then, a, otherwise, b] = &node.kids[..] else { return Doc::nil() };
        let space = || Doc::text(" ");
        let docs = vec![
            Doc::group(vec![
                self.token(node.start),
                space(),
                Doc::align(vec![self.node(c)]),
                Doc::Line,
                self.token(then.start),
                space(),
                Doc::align(vec![self.node(a)]),
            ]),
            Doc::Line,
            self.token(otherwise.start),
            space(),
            // `else if` continues at the same indentation.
            if b.kind == Kind::If { self.branches(b) } else { Doc::align(vec![self.node(b)]) },
        ];
        Doc::Concat(docs)
    }

    fn let_expr(&self, node: &Node) -> Doc {
        let [within, body, bindings @ ..] = &node.kids[..] else { return Doc::nil() };
        let mut inner = Vec::new();
        for (i, binding) in bindings.iter().enumerate() {
            if i > 0 {
                inner.push(self.token(binding.start - 1));
                inner.push(Doc::Line);
            }
            inner.push(self.node(binding));
        }
        // A `;` is allowed before `in`.
        let last = bindings.last().map_or(within.start, |b| b.end);
        inner.push(self.tokens(last, within.start));
        Doc::group(vec![Doc::align(vec![
            self.token(node.start),
            Doc::text(" "),
            Doc::align(inner),
            Doc::Line,
            self.token(within.start),
            Doc::text(" "),
            Doc::align(vec![self.node(body)]),
        ])])
    }

    fn each(&self, node: &Node) -> Doc {
        let [star, first, colon, sieve, close, rest @ ..] = &node.kids[..] else {
            return Doc::nil();
        };
        let space = || Doc::text(" ");
        let mut docs = vec![self.token(node.start)];
        if star.present() {
            docs.extend([self.token(star.start), space()]);
        }
        docs.push(Doc::align(vec![self.node(first)]));
        let mut inner = Vec::new();
        for (i, binding) in rest.iter().enumerate() {
            if i == 0 && colon.present() {
                inner.extend([Doc::Line, self.token(colon.start), space()]);
            } else {
                inner.extend([self.token(binding.start - 1), Doc::Line]);
            }
            inner.push(Doc::align(vec![self.node(binding)]));
        }
        if sieve.present() {
            inner.extend([Doc::Line, self.token(sieve.start - 1), space()]);
            inner.push(Doc::align(vec![self.node(sieve)]));
        }
        docs.push(Doc::nest(1, inner));
        docs.push(self.token(close.start));
        Doc::group(vec![Doc::align(docs)])
    }

    fn function(&self, node: &Node) -> Doc {
        let [name, params, annotation, doc, equals, body, ..] = &node.kids[..] else {
            return Doc::nil();
        };
        let space = || Doc::text(" ");
        let mut docs = vec![self.token(node.start), space(), self.node(name)];
        if params.kind != Kind::Paren {
            docs.push(space());
        }
        docs.push(self.node(params));
        if annotation.present() {
            let colon = self.token(annotation.start - 1);
            docs.push(Doc::nest(4, vec![Doc::Line, colon, space(), self.node(annotation)]));
        }
        let mut docs = vec![Doc::group(docs)];
        if doc.present() {
            docs.extend([Doc::Fresh, self.node(doc), Doc::Fresh]);
        } else if equals.present() {
            docs.push(space());
        }
        if equals.present() {
            docs.push(self.token(equals.start));
            if doc.present() {
                docs.extend([space(), Doc::align(vec![self.node(body)])]);
            } else {
                docs.push(Doc::nest(2, vec![Doc::Line, self.node(body)]));
            }
        }
        Doc::group(docs)
    }

    fn scheme(&self, node: &Node) -> Doc {
        let [ty, context] = &node.kids[..] else { return Doc::nil() };
        let mut docs = vec![self.node(ty)];
        if context.present() {
            docs.extend([Doc::text(" "), self.token(context.start), Doc::text(" ")]);
            let mut previous = Kind::LParen;
            for i in context.start + 1..context.end {
                let kind = self.tokens[i as usize].kind;
                let tight = matches!(kind, Kind::Semi | Kind::Comma | Kind::RParen)
                    || matches!(previous, Kind::LParen | Kind::CallParen);
                if !tight {
                    docs.push(Doc::text(" "));
                }
                docs.push(self.token(i));
                previous = kind;
            }
        }
        Doc::Concat(docs)
    }

    fn command(&self, node: &Node) -> Doc {
        let mut docs = Vec::new();
        for i in node.start..node.end {
            let kind = self.tokens[i as usize].kind;
            if i > node.start && kind != Kind::Comma {
                docs.push(Doc::text(" "));
            }
            docs.push(self.token(i));
        }
        Doc::Concat(docs)
    }
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
