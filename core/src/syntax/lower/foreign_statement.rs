//! Reports of statements of other languages: loops, returns, declarations, blocks.

use super::super::lexer::Kind;
use super::super::unterminated;
use super::{Lower, Report};
use crate::base::Span;

/// The help for a loop.
const NO_LOOPS: &str = "`{x * x : x in xs}` computes for each element, `sum` and the like reduce; or let a function call itself";

impl Lower<'_> {
    /// Replaces the reports of lines without a `;` before them by that of the statement that they belong to.
    pub(super) fn statement_of_lines(&mut self) {
        if self.lines.is_empty() || !self.diagnostics.is_empty() {
            return;
        }
        if self.statement(true) {
            self.lines = std::mem::take(&mut self.diagnostics);
        } else if let Some(report) = self.statement_inside() {
            self.lines = vec![report];
        }
    }

    /// Reports statements of other languages once, in place of their consequences.
    pub(super) fn statement(&mut self, left_over: bool) -> bool {
        let first = if self.token_kind(0) == Some(Kind::Hash) { 1 } else { 0 };
        let word = self.token_text(first).to_ascii_lowercase();
        let next = self.token_kind(first + 1);
        let named = matches!(
            next,
            Some(Kind::Name | Kind::TrueKw | Kind::FalseKw | Kind::TimeKw | Kind::ReservedKw)
        );
        let indexed =
            next == Some(Kind::LBracket) && self.token_kind(first + 2) == Some(Kind::RBracket);
        let opens = matches!(next, Some(Kind::LParen | Kind::CallParen));
        let wrong = left_over || !self.diagnostics.is_empty();
        let called = matches!(
            self.token_kind(first + 2),
            Some(Kind::LParen | Kind::CallParen | Kind::Colon)
        );
        let at = self.range(Span::new(first, first + 1));
        // `[int] xs = …`.
        if wrong
            && self.token_kind(0) == Some(Kind::LBracket)
            && self.token_kind(1) == Some(Kind::Name)
            && self.token_kind(2) == Some(Kind::RBracket)
            && self.token_kind(3) == Some(Kind::Name)
            && self.token_kind(4) == Some(Kind::Equals)
        {
            let whole = self.range(Span::new(0, 3)).cover(self.insert_at(3));
            let report = self.error(whole, "a variable is defined without its type").fix(
                "leave out the type, which is found by itself",
                whole,
                "",
            );
            self.diagnostics.clear();
            self.report(report);
            return true;
        }
        let report = match word.as_str() {
            "import" | "include" | "using" | "require" | "from" | "open" | "package" | "module"
                if named
                    && (wrong
                        || matches!(word.as_str(), "import" | "include" | "using")
                        || word == "from" && self.token_text(first + 2) == "import")
                    || first == 1 && word == "include"
                    || wrong && next == Some(Kind::Text) && word != "open" =>
            {
                self.error(at, format!("there is no `{word}`"))
                    .hint("`load \"file\";` reads another file; the library is always there")
            }
            "fn" | "fun" if wrong && named && self.token_kind(first + 2) == Some(Kind::FatArrow) => {
                let whole = at.cover(self.insert_at(first + 1));
                self.error(at, format!("a function value has no `{word}` before it")).fix(
                    format!("leave out `{word}`"),
                    whole,
                    "",
                )
            }
            "def" | "fn" | "fun" | "func" | "define" | "defun" | "sub" | "proc" | "procedure" | "async"
                if wrong && (named || word == "async") =>
            {
                let report = self.error(at, format!("`{word}` does not begin a definition"));
                let hint = "a function is defined with `function g(x) = …;`, and its value is its body";
                Self::fix_or_hint(report, hint, self.definition_with_return(first))
            }
            "int" | "long" | "double" | "void" | "bool" | "char" | "float" | "string" | "auto"
            | "static" | "public" | "private" | "unsigned" | "const" | "val" | "var"
                if named && wrong && (called || self.token_kind(first + 2) == Some(Kind::Name)) =>
            {
                self.error(at, format!("`{word}` does not begin a definition")).hint(
                    "a function is defined with `function g(x) = …;`; types are found by themselves, or written `function g(x) : int -> int = …`",
                )
            }
            "int" | "long" | "double" | "bool" | "char" | "float" | "string" | "auto" | "unsigned"
                if (named || indexed) && wrong =>
            {
                let name = if indexed { first + 3 } else { first + 1 };
                let whole = at.cover(self.insert_at(name));
                self.error(at, format!("`{word}` does not begin a definition")).fix(
                    "a variable is defined with `x = …`; its type is found by itself",
                    whole,
                    "",
                )
            }
            "for" | "while" | "foreach" | "forall" | "repeat" | "do" | "loop"
                if wrong && (named || opens) || word == "while" && opens =>
            {
                self.error(at, "there are no loops").hint(NO_LOOPS)
            }
            "int" | "long" | "double" | "bool" | "char" | "float" | "string" | "auto" | "void"
                if wrong && next == Some(Kind::Star) && self.token_kind(first + 2) == Some(Kind::Name) =>
            {
                let whole = at.cover(self.insert_at(first + 2));
                self.error(whole, "there are no pointers, and nothing is declared with its type").fix(
                    "a variable is defined with `x = …`; its type is found by itself",
                    whole,
                    "",
                )
            }
            "local" | "global" | "my" | "set" | "final" | "static" | "mut" | "where" | "given"
                if wrong && named && self.token_kind(first + 2) == Some(Kind::Equals) =>
            {
                let whole = at.cover(self.insert_at(first + 1));
                self.error(at, format!("`{word}` does not begin a definition")).fix(
                    "a variable is defined with `x = …`, one of an expression by `let x = … in …`",
                    whole,
                    "",
                )
            }
            "with" if wrong && (named || opens) => {
                self.error(at, format!("there is no `{word}`")).hint(
                    "`read_string_from_file(name)` reads a file at once; names of an expression are bound by `let x = … in …`",
                )
            }
            "try" | "except" | "catch" | "finally"
                if wrong
                    && (named
                        || self.breaks_before(first + 1)
                        || matches!(next, None | Some(Kind::Colon | Kind::LBrace))) =>
            {
                self.error(at, format!("there is no `{word}`")).hint(
                    "an error ends the form; what can fail without one, such as `parse_int`, returns a flag",
                )
            }
            "instance" | "trait" | "impl" | "template" | "macro" | "abstract" | "protocol"
                if wrong && (named || next == Some(Kind::Less)) =>
            {
                self.error(at, format!("there is no `{word}`")).hint(
                    "a function works for all types that its operations allow; it is defined with `function g(x) = …;`",
                )
            }
            "class" | "struct" | "record" | "enum" | "interface" | "type" | "data" | "newtype"
            | "typedef" | "mutable" | "union"
                if wrong && named =>
            {
                self.error(at, format!("`{word}` does not begin a definition"))
                    .hint("a record is defined with `datatype point(float, float);`")
            }
            "lambda" if wrong => {
                let report = self.error(at, "there is no `lambda`");
                let hint = "a function value is written `x => x + 1`";
                Self::fix_or_hint(report, hint, self.lambda(first, Kind::Colon))
            }
            "return" if wrong || named => {
                let whole = at.cover(self.insert_at(first + 1));
                self.error(at, "there is no `return`").fix(
                    "the value of a function is its body: `function g(x) = x + 1;`",
                    whole,
                    "",
                )
            }
            "switch" | "match" | "case" | "begin" | "end" | "print" | "assert"
                if wrong && (named || opens) && word != "print" =>
            {
                self.error(at, format!("there is no `{word}`"))
                    .hint("a choice is written `if … then … else if … then … else …`")
            }
            _ => return false,
        };
        self.diagnostics.clear();
        self.report(report);
        true
    }

    /// Makes the report of a loop, a `return` or a `begin` within a form, if nothing before it is wrong.
    pub(super) fn statement_inside(&mut self) -> Option<Report> {
        if self.diagnostics.is_empty() && self.lines.is_empty() {
            return None;
        }
        let first = self.diagnostics.iter().map(|d| d.primary.at.start()).min();
        let count = unterminated(self.tokens) as u32;
        (1..count).find_map(|word| {
            let at = self.range(Span::new(word, word + 1));
            if self.token_kind(word) != Some(Kind::Name)
                || first.is_some_and(|first| first < at.start())
            {
                return None;
            }
            let text = self.token_text(word).to_ascii_lowercase();
            if !matches!(&text[..], "for" | "foreach" | "forall" | "while" | "return" | "begin") {
                return None;
            }
            let begins = self.breaks_before(word)
                || matches!(
                    self.token_kind(word - 1),
                    Some(
                        Kind::Equals
                            | Kind::InKw
                            | Kind::ThenKw
                            | Kind::ElseKw
                            | Kind::FatArrow
                            | Kind::Semi
                    )
                );
            let inside = || {
                let open = self.open_before(word);
                open.iter().any(|kind| matches!(kind, Kind::LBracket | Kind::LBrace))
            };
            let next = self.token_kind(word + 1);
            let operand = matches!(
                next,
                Some(
                    Kind::Name
                        | Kind::Int
                        | Kind::Float
                        | Kind::Text
                        | Kind::Char
                        | Kind::TrueKw
                        | Kind::FalseKw
                        | Kind::IfKw
                        | Kind::LetKw
                        | Kind::LParen
                        | Kind::CallParen
                        | Kind::LBracket
                        | Kind::LBrace
                        | Kind::Hash
                        | Kind::At
                )
            );
            let goes_over = matches!(next, Some(Kind::LParen | Kind::CallParen))
                || self.token_kind(word + 2) == Some(Kind::InKw)
                || self.token_kind(word + 2) == Some(Kind::Equals);
            let report = match text.as_str() {
                "for" | "foreach" | "forall" if begins && goes_over && !inside() => {
                    self.error(at, "there are no loops").hint(NO_LOOPS)
                }
                "while" if begins && operand && !inside() => {
                    self.error(at, "there are no loops").hint(NO_LOOPS)
                }
                "return" if begins && operand => {
                    let whole = at.cover(self.insert_at(word + 1));
                    self.error(at, "there is no `return`").fix(
                        "the value of a function is its body: leave out `return`",
                        whole,
                        "",
                    )
                }
                "return" if operand && first != Some(at.start()) => {
                    self.error(at, "there is no `return`").hint(
                        "the value of a function is its body, and a choice is `if c then a else b`",
                    )
                }
                "begin" if begins && operand => self
                    .error(at, "there is no `begin`")
                    .hint("a body is one expression, whose names are bound by `let x = … in …`"),
                _ => return None,
            };
            Some(report)
        })
    }
}
