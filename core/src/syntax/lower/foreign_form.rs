//! Reports of constructs of other languages that extend over a form, in place of the reports of their parts.

use super::super::ast::{Expr, ItemKind};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::super::unterminated;
use super::{Lower, Report};
use crate::base::{Diagnostic, DiagnosticKind, Name, Span, TextRange};

/// A part of a form that would be a comment in another language, from its mark to the end of its line.
struct ForeignComment {
    /// The span of its mark and of what follows.
    span: Span,
    /// The number of tokens of its mark: two or more for `--`, one for `#`.
    mark: u32,
    /// True if it has several words.
    several: bool,
    /// The comment as NESL has it.
    written: String,
}

impl Lower<'_> {
    /// Reports what of a whole form is of another language; then that alone is wrong with it.
    pub(super) fn foreign_form(&mut self, kind: ItemKind) -> ItemKind {
        let mut report = self.choice_by_patterns().or_else(|| self.statement_inside());
        if report.is_none() {
            let mut comments = self.foreign_comments();
            // In `# data` only the name is wrong.
            let count = |comment: &ForeignComment| comment.mark > 1 || comment.several;
            comments.retain(|comment| !self.diagnostics.is_empty() || count(comment));
            self.comments = comments.iter().map(|comment| self.no_form(comment)).collect();
            report = self.wrong_in_comment();
        }
        let Some(report) = report else { return kind };
        self.diagnostics.clear();
        self.report(report);
        let missing = self.add(Expr::Missing, Span::default());
        match kind {
            ItemKind::Function(mut function) => {
                function.body = Some(missing);
                ItemKind::Function(function)
            }
            ItemKind::Binding { pattern, stored, .. } => {
                ItemKind::Binding { pattern, value: missing, stored }
            }
            _ => ItemKind::Missing,
        }
    }

    /// Makes the report of `(* … *)`, a comment of other languages, at its beginning.
    pub(super) fn comment_in_parentheses(&mut self) -> Option<Report> {
        let adjoin = |at: usize| self.tokens[at].range.end() == self.tokens[at + 1].range.start();
        let pair = |at: usize, first: &[Kind], second: Kind| {
            at + 1 < self.tokens.len()
                && first.contains(&self.tokens[at].kind)
                && self.tokens[at + 1].kind == second
                && adjoin(at)
        };
        let opens = |at: &usize| pair(*at, &[Kind::LParen, Kind::CallParen], Kind::Star);
        let start = (0..self.tokens.len()).find(opens)?;
        let end =
            (start + 2..self.tokens.len()).find(|at| pair(*at, &[Kind::Star], Kind::RParen))?;
        let at = self.range(Span::new(start as u32, start as u32 + 2));
        let whole = self.range(Span::new(start as u32, end as u32 + 2));
        let words = self.text[whole].trim_start_matches("(*").trim_end_matches("*)").trim();
        let report = self.error(at, "`(*` does not begin a comment");
        Some(match words.contains('%') {
            true => report.hint("a comment is written `% … %`"),
            false => report.fix("a comment is written `% … %`", whole, format!("% {words} %")),
        })
    }

    /// Returns the parts of the form that are comments in other languages: behind `--` and a blank, behind `--` and
    /// several words on a line of its own, and behind `#` and a blank at the beginning of a line or of the form.
    fn foreign_comments(&self) -> Vec<ForeignComment> {
        let end = unterminated(self.tokens) as u32;
        let text = |from: u32, to: u32| &self.text[self.range(Span::new(from, to))];
        let blank_after = |at: u32| {
            let end = usize::from(self.insert_after(at).start());
            self.text[end..].starts_with([' ', '\t'])
        };
        let mut all = Vec::new();
        let mut at = 0;
        while at < end {
            let begins = at == 0 || self.breaks_before(at);
            let mark = match self.token_kind(at) {
                Some(Kind::Minus) => self.minus_signs(at),
                Some(Kind::Hash) if begins => 1,
                _ => 0,
            };
            let sign = self.token_kind(at) == Some(Kind::Minus);
            let blank = mark > 0 && blank_after(at + mark - 1);
            let begins_comment = if sign { mark > 1 && (blank || begins) } else { blank };
            if !begins_comment {
                at += mark.max(1);
                continue;
            }
            let start = at;
            at += mark;
            while at < end && !self.breaks_before(at) {
                at += 1;
            }
            let words = if start + mark < at { text(start + mark, at) } else { "" };
            let several = words.contains([' ', '\t']);
            if words.is_empty() && sign && begins && mark > 2 {
                // A line of signs alone.
                let written = format!("% {} %", text(start, at));
                all.push(ForeignComment { span: Span::new(start, at), mark, several, written });
            } else if !words.is_empty() && !words.contains('%') && (blank || several) {
                let written = format!("% {words} %");
                all.push(ForeignComment { span: Span::new(start, at), mark, several, written });
            }
        }
        all
    }

    /// Returns the number of minus signs from a token on with nothing between them.
    fn minus_signs(&self, at: u32) -> u32 {
        let adjoins = |next: &u32| {
            self.token_kind(*next) == Some(Kind::Minus)
                && self.tokens[*next as usize - 1].range.end()
                    == self.tokens[*next as usize].range.start()
        };
        1 + (at + 1..).take_while(adjoins).count() as u32
    }

    /// Returns the report of a comment of another language in which something has been reported.
    fn wrong_in_comment(&self) -> Option<Report> {
        let wrong =
            |whole: &TextRange| self.diagnostics.iter().any(|d| whole.contains_range(d.primary.at));
        let comment = self.comments.iter().find(|(whole, _)| wrong(whole)).or_else(|| {
            // What is wrong behind a comment at the beginning is wrong because the form begins there.
            let first = self.range(Span::new(0, 2));
            let begins = |whole: &TextRange| whole.start() == first.start();
            let comment = self.comments.first().filter(|(whole, _)| begins(whole))?;
            (!self.diagnostics.is_empty() && &self.text[first] == "--").then_some(comment)
        });
        comment.map(|(_, report)| report.clone())
    }

    /// Makes the report of a comment of another language, with its range.
    fn no_form(&mut self, comment: &ForeignComment) -> (TextRange, Report) {
        let first = comment.span.start;
        let at = self.range(Span::new(first, first + comment.mark));
        let sign = if comment.mark > 1 { "--" } else { "#" };
        let report = self.error(at, format!("`{sign}` does not begin a comment"));
        let whole = self.range(comment.span);
        let report = report.fix("a comment is written `% … %`", whole, comment.written.clone());
        (whole, report)
    }

    /// Makes the report of `match e with | 1 -> 2 | _ -> 3`, `case e of …` and `switch (e) { … }`.
    fn choice_by_patterns(&mut self) -> Option<Report> {
        let count = self.tokens.len() as u32;
        let is = |at: u32, words: &[&str]| {
            let word = self.token_text(at);
            words.iter().any(|other| word.eq_ignore_ascii_case(other))
        };
        let word = (0..count).find(|at| is(*at, &["match", "case", "switch"]))?;
        let after = self.token_kind(word + 1)?;
        let operand = matches!(
            after,
            Kind::Name
                | Kind::Int
                | Kind::Float
                | Kind::Char
                | Kind::Text
                | Kind::LParen
                | Kind::CallParen
                | Kind::LBracket
                | Kind::Hash
        );
        let divider = (word + 2..count)
            .find(|at| is(*at, &["with", "of"]) || self.token_kind(*at) == Some(Kind::LBrace))?;
        let arms = (divider..count)
            .any(|at| matches!(self.token_kind(at), Some(Kind::RightArrow | Kind::FatArrow)));
        let braces = self.token_kind(divider) == Some(Kind::LBrace);
        // Braces are of NESL, too, where nothing else is wrong.
        if !operand || braces && self.diagnostics.is_empty() || !(braces || arms) {
            return None;
        }
        let at = self.range(Span::new(word, word + 1));
        let word = self.token_text(word).to_owned();
        let report = self.error(at, format!("there is no `{word}`"));
        Some(report.hint(
            "a choice is written `if x == 1 then … else if x == 2 then … else …`; a tuple or a record is taken apart by `let (a, b) = x in …`",
        ))
    }

    /// Makes the report of `x : int = 3`, a variable with a type, at its colon.
    pub(super) fn typed_variable(&mut self, colon: u32) -> Option<Report> {
        let before = colon.checked_sub(1)?;
        if !matches!(self.token_kind(colon), Some(Kind::Colon | Kind::Colons))
            || !matches!(self.token_kind(before), Some(Kind::Name | Kind::RParen))
        {
            return None;
        }
        let in_type = |at: &u32| {
            matches!(
                self.token_kind(*at),
                Some(
                    Kind::Name
                        | Kind::LBracket
                        | Kind::RBracket
                        | Kind::LParen
                        | Kind::CallParen
                        | Kind::RParen
                        | Kind::Comma
                        | Kind::RightArrow
                        | Kind::Star
                )
            )
        };
        let end = (colon + 1..).find(|at| !in_type(at))?;
        let first = self.token_text(colon + 1).to_ascii_lowercase();
        let scalar = matches!(&first[..], "int" | "float" | "bool" | "char" | "string");
        let function = (colon + 1..end).any(|at| self.token_kind(at) == Some(Kind::RightArrow));
        let defined = self.token_kind(end) == Some(Kind::Equals);
        let last = matches!(self.token_kind(end), None | Some(Kind::Semi | Kind::Dollar));
        if end == colon + 1 || !(defined || scalar && last && !function) {
            return None;
        }
        let at = self.range(Span::new(colon, end));
        let report = self.error(at, "a variable is defined without its type");
        let name = self.token_text(before);
        if !defined {
            return Some(report.hint(format!(
                "it is defined by its value, `{name} = …`; its type is found by itself"
            )));
        }
        let whole = TextRange::new(self.insert_after(before).start(), at.end());
        Some(report.fix("leave out the type, which is found by itself", whole, ""))
    }

    /// Makes the report of `exit()`, a command as other languages call it.
    pub(super) fn called_command(&mut self, node: &Node) -> Option<Report> {
        let word = self.token_text(0).to_ascii_lowercase();
        let command = match word.as_str() {
            "exit" | "quit" => "exit",
            "help" => "help",
            _ => return None,
        };
        let at = self.node_range(node);
        let whole = node.start == 0 && node.kids[0].end == 1;
        whole.then(|| {
            self.error(at, "a command has no parentheses").fix(
                format!("write `{command};`"),
                at,
                command,
            )
        })
    }

    /// Warns of `x => 3`, a form of its own, where the name before the sign is not used: `x = 3` was meant.
    pub(super) fn warn_of_lost_definition(&mut self, node: &Node) {
        let (Kind::Lambda, [param, body]) = (node.kind, &node.kids[..]) else { return };
        let name = Name::new(self.token_text(param.start));
        let used = (body.start..body.end).any(|at| Name::new(self.token_text(at)) == name);
        if param.kind != Kind::NameRef || !body.present() || used || param.start != 0 {
            return;
        }
        let sign = self.range(Span::new(param.end, param.end + 1));
        let message = format!("`{name} => …` is a function value, and does not define `{name}`");
        let report = Diagnostic::warning(DiagnosticKind::Syntax, sign, message);
        self.warnings.push(report.fix("a variable is defined with `=`", sign, "="));
    }

    /// Makes the report of `a @ b`, the product of matrices in other languages, at its sign.
    pub(super) fn matrix_product(&mut self, sign: u32) -> Option<Report> {
        let (whole, written) = self.of_operands(sign..sign + 1, |a, b| {
            format!(
                "{{{{sum({{x * y : x in row; y in col}}) : col in transpose({b})}} : row in {a}}}"
            )
        })?;
        let at = self.range(Span::new(sign, sign + 1));
        let report = self.error(at, "`@` stands before one value, of which it makes a string");
        Some(report.fix(
            format!("the product of two matrices is `{written}`; strings are joined by `++`"),
            whole,
            written,
        ))
    }
}
