//! How mistakes are said.

use super::Lowerer;
use crate::base::{Diagnostic, Kind, Span, TextRange};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::node::Node;

impl Lowerer<'_> {
    /// Reports something about token `at`, unless something has been said about it already.
    pub(super) fn report(&mut self, at: u32, diagnostic: Diagnostic<TextRange>) {
        if self.reported.insert(at) {
            self.out.push(diagnostic);
        }
    }

    /// A syntax error about some tokens.
    pub(super) fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic<TextRange> {
        Diagnostic::error(Kind::Syntax, self.range(span), message)
    }

    /// A syntax error about what should stand before token `at`: shown at that token if it is on
    /// the same line, otherwise at the one before.
    pub(super) fn expected(&self, at: u32, message: impl Into<String>) -> Diagnostic<TextRange> {
        let here = (at as usize) < self.source.tokens.len() && !self.source.breaks_before(at);
        let range = match at.checked_sub(1) {
            Some(before) if !here => self.source.range(before),
            _ => self.source.range(at),
        };
        Diagnostic::error(Kind::Syntax, range, message)
    }

    /// What stands at token `at`, for "found …".
    pub(super) fn found(&self, at: u32) -> String {
        match self.source.tokens.get(at as usize) {
            None => "the end".to_string(),
            Some(_) => self.quoted(at),
        }
    }

    /// The text of a token in backquotes, or a description when it is long.
    pub(super) fn quoted(&self, at: u32) -> String {
        let text = self.source.token(at);
        match self.source.kind(at) {
            Text | UnclosedText if text.len() > 20 || text.contains('\n') => "a string".to_string(),
            Char | BadChar => "a character".to_string(),
            _ => format!("`{text}`"),
        }
    }

    /// Just behind the token before `at`: where an insertion goes.
    pub(super) fn gap(&self, at: u32) -> TextRange {
        match at.checked_sub(1) {
            Some(before) => TextRange::empty(self.source.range(before).end()),
            None => TextRange::empty(self.source.range(at).start()),
        }
    }

    /// The bytes of some tokens.
    pub(super) fn range(&self, span: Span) -> TextRange {
        if span.start >= span.end {
            return self.source.range(span.start);
        }
        TextRange::new(
            self.source.range(span.start).start(),
            self.source.range(span.end - 1).end(),
        )
    }

    /// The text of some tokens, with what stands between them.
    pub(super) fn text_of(&self, span: Span) -> String {
        let range = self.range(span);
        self.source.text[usize::from(range.start())..usize::from(range.end())].to_string()
    }

    /// Says that an expression should stand before token `at`.
    pub(super) fn missing_expression(&mut self, at: u32) {
        let found = self.found(at);
        let before = at.checked_sub(1).map(|before| self.source.kind(before));
        let infix = {
            let kind = self.source.kind(at);
            kind.is_operator() && !matches!(kind, Hash | At)
        };
        let message = match before {
            None if infix => format!("{found} has nothing before it"),
            None => format!("expected an expression, found {found}"),
            Some(kind) if infix && !kind.is_operator() => {
                format!("expected an expression before {found}")
            }
            Some(_) => {
                let before = self.quoted(at - 1);
                format!("expected an expression after {before}, found {found}")
            }
        };
        let mut diagnostic = self.expected(at, message);
        if self.is(at, PairKw) || self.is(at, ClosureKw) {
            diagnostic = diagnostic.note(format!("{found} is a reserved word"));
        }
        diagnostic = self.foreign_comment(at, diagnostic);
        self.report(at, diagnostic);
    }

    /// Says that tokens fit nowhere. `expected` says what could stand there.
    pub(super) fn junk(&mut self, node: &Node, expected: &str) {
        let at = node.span.start;
        let kind = self.source.kind(at);
        if matches!(kind, Unknown | ForeignNe | ForeignAnd | ForeignPower) {
            return;
        }
        let found = self.found(at);
        let message = match kind {
            ThenKw | ElseKw => format!("{found} without an `if` before it"),
            PairKw | ClosureKw => format!("{found} is a reserved word and cannot stand here"),
            _ => format!("expected {expected}, found {found}"),
        };
        let mut diagnostic = self.error(Span::new(at, at + 1), message);
        if kind == InKw && !expected.contains("`in`") {
            diagnostic = diagnostic.note("`in` belongs to `let … in …` and to `{ … : x in xs }`");
        }
        if self.source.breaks_before(at) && expected.contains("`;`") && kind != Semi {
            diagnostic = diagnostic.fix("end the line before with `;`", self.gap(at), ";");
        }
        diagnostic = self.foreign_comment(at, diagnostic);
        if kind == Colon && expected.contains("`)`") && self.is(0, FunctionKw) {
            diagnostic = diagnostic.hint(
                "types stand behind the parameters: `function g(x, y) : int, int -> int = …`",
            );
        }
        self.report(at, diagnostic);
    }

    /// Reports the junk among the parts of a node.
    pub(super) fn junk_in(&mut self, node: &Node, expected: &str) {
        for child in &node.children {
            if child.kind == Error {
                self.junk(child, expected);
            }
        }
    }

    /// Adds a hint when the line of token `at` looks like a comment of another language.
    pub(super) fn foreign_comment(
        &self,
        at: u32,
        diagnostic: Diagnostic<TextRange>,
    ) -> Diagnostic<TextRange> {
        let text = self.source.text;
        let token = usize::from(self.source.range(at).start()).min(text.len());
        let start = text[..token].rfind('\n').map_or(0, |at| at + 1);
        let end = text[token..].find('\n').map_or(text.len(), |at| token + at);
        let line = text[start..end].trim_end_matches('\r');
        let Some(from) = ["-- ", "# "].iter().find_map(|mark| line.find(mark)) else {
            return diagnostic;
        };
        let comment = &line[from..];
        let words = comment.trim_start_matches(['-', '#', ' ']);
        if !words.contains(' ') || comment.contains('%') {
            return diagnostic;
        }
        let range = TextRange::new(((start + from) as u32).into(), (end as u32).into());
        diagnostic.fix(
            "a comment is written `% … %`",
            range,
            format!("% {} %", words.trim_end()),
        )
    }

    /// Says that a name is reserved.
    pub(super) fn reserved(&mut self, at: u32) {
        let text = self.source.token(at);
        let message = match text.to_ascii_lowercase().as_str() {
            "f" => format!("`{text}` means false here and cannot be a variable"),
            "t" => format!("`{text}` means true here and cannot be a variable"),
            _ => format!("`{text}` is special (`time(e)` measures) and cannot be a variable"),
        };
        let range = self.source.range(at);
        let diagnostic = Diagnostic::error(Kind::Name, range, message).hint("choose another name");
        self.report(at, diagnostic);
    }

    /// Whether a token is a name that cannot be bound.
    pub(super) fn is_reserved(&self, at: u32) -> bool {
        match self.source.kind(at) {
            Bool => true,
            Ident => self.source.token(at).eq_ignore_ascii_case("time"),
            _ => false,
        }
    }

    /// Says that a definition needs `=` and has something else there.
    pub(super) fn wrong_equals(&mut self, token: &Node, what: &str) {
        if token.kind == SyntaxKind::Eq {
            return;
        }
        let range = self.range(token.span);
        let diagnostic = self
            .error(
                token.span,
                format!(
                    "{what} is written with `=`, not {}",
                    self.found(token.span.start)
                ),
            )
            .fix("write `=`", range, "=");
        self.report(token.span.start, diagnostic);
    }
}

/// What a word of another language is in NESL, for "undefined" messages.
pub fn foreign_word(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "true" => "true is written `t`",
        "false" => "false is written `f`",
        "len" | "size" => "the length of `a` is `#a`",
        "def" | "fn" | "fun" | "func" | "define" | "defun" => {
            "a function is defined with `function name(x) = …;`"
        }
        "val" | "var" | "const" => "a variable is defined with `name = …;`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "lambda" => "a function value is written `x => …`",
        "return" => "a function's body is its result; there is no `return`",
        "for" | "while" | "do" => "there are no loops: use `{ … : x in xs }` or recursion",
        "null" | "nil" | "none" => "an empty sequence is written `[] type`",
        _ => return None,
    })
}
