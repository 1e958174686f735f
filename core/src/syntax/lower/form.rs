//! Lowering of whole forms.

use super::super::ast::{Command, CommandArg, Datatype, Expr, ExprId, Function, Ident, ItemKind};
use super::super::grammar::Node;
use super::super::lexer::{Kind, Token, unescape};
use super::super::long_literal::LongLiteral;
use super::super::unterminated;
use super::{Lower, Lowered, Report, span};
use crate::base::{Diagnostic, DiagnosticKind, Name, Span};

/// Lowers the node of an item with some long literals.
pub(in super::super) fn lower(
    node: &Node,
    text: &str,
    tokens: &[Token],
    literals: &[LongLiteral],
) -> Lowered {
    let end = unterminated(tokens) as u32;
    let mut lower = Lower::new(text, tokens, literals);
    lower.lexical();
    let kind = match node.kind {
        Kind::Function => lower.function(node),
        Kind::Datatype => lower.datatype(node),
        Kind::Binding => lower.binding(node),
        Kind::ExprItem => lower.expression(node),
        Kind::Command => lower.command(end),
        _ => ItemKind::Missing,
    };
    if !lower.diagnostics.is_empty()
        && let Some(comment) = lower.comment_in_parentheses()
    {
        lower.decisive.get_or_insert(comment);
    }
    let statement = matches!(node.kind, Kind::Binding | Kind::ExprItem)
        && !lower.diagnostics.is_empty()
        && lower.statement(true);
    let kind = if statement { ItemKind::Missing } else { kind };
    let kind = lower.foreign_form(kind);
    if let Some(rest) = node.kids.last().filter(|kid| kid.kind == Kind::Error) {
        lower.left_over(rest);
    } else if node.kind == Kind::Error {
        lower.left_over(node);
    }
    if !lower.diagnostics.is_empty()
        && let Some(report) = lower.statement_inside()
    {
        lower.diagnostics = vec![report];
    }
    lower.statement_of_lines();
    // Nothing can be said about the text after an open string, and little around what is not NESL.
    if tokens.iter().any(|token| matches!(token.kind, Kind::OpenText | Kind::Unknown)) {
        lower.diagnostics.truncate(1);
    }
    lower.finish(kind, Span::new(0, end))
}

impl<'a> Lower<'a> {
    /// Reports errors of single tokens.
    fn lexical(&mut self) {
        for token in self.tokens {
            let text = &self.text[token.range];
            match token.kind {
                Kind::OpenText => {
                    let end = rowan::TextRange::empty(self.open_string_end(token.range));
                    let report = self.error(token.range, "this string is never closed");
                    // `"a\";` was to end with a backslash.
                    let line = text.lines().next().unwrap_or_default();
                    let behind = line.rsplit_once("\\\"").map(|(_, behind)| behind);
                    let is_closed = |behind: &str| behind.chars().all(|c| " \t;,)]}".contains(c));
                    let report = if behind.is_some_and(is_closed) {
                        report.hint("`\\\"` is a quotation mark in the string; a backslash is written `\\\\`")
                    } else {
                        report.fix("add `\"`", end, "\"")
                    };
                    self.report(report);
                }
                Kind::Unknown => {
                    let mut report =
                        self.error(token.range, format!("`{text}` means nothing in NESL"));
                    report = match text {
                        _ if let Some(smart) = self.smart_quotes(token) => smart,
                        "." | ".." if let Some(range) = self.dotted_range(token) => range,
                        // `A\b` solves equations in MATLAB.
                        "\\" if self.follows_operand(token) => {
                            report.hint("to divide, write `/`; a system of equations is solved by a function of your own")
                        }
                        "\\" => {
                            let at = self.position(token.range);
                            let edit = at.and_then(|at| self.lambda(at as u32, Kind::RightArrow));
                            let hint = "a function value is written `x => x + 1`";
                            Self::fix_or_hint(report, hint, edit)
                        }
                        _ if let Some(ascii) = in_ascii(text) => report.fix(
                            format!("write `{ascii}`"),
                            token.range,
                            self.word_for(*token, ascii),
                        ),
                        "~" if self.assigns(token.range) => {
                            let at = rowan::TextRange::at(token.range.start(), 2.into());
                            self.error(at, "`~=` is not an operator").fix(
                                "write `/=` for not equal",
                                at,
                                "/=",
                            )
                        }
                        "~" => {
                            let edit = self.negation(token.range);
                            Self::fix_or_hint(report, "write `not(x)`, or `/=` for not equal", edit)
                        }
                        _ if text.chars().any(char::is_alphabetic) => self
                            .error(token.range, format!("`{text}` cannot be in a name"))
                            .hint("names consist of the letters a to z, digits and `_`"),
                        "!!" if let Some(at) = self.position(token.range) => {
                            let at = at as u32;
                            let edit = self.of_operands(at..at + 1, |xs, i| format!("{xs}[{i}]"));
                            let hint = "the element of `xs` at index `i` is `xs[i]`";
                            Self::fix_or_hint(report, hint, edit)
                        }
                        ".." => report.hint("a range is written `[1:5]`, which stops before 5"),
                        "!" => match self.negation(token.range) {
                            Some((at, written)) => {
                                // `!(car x)` is an entry in Lisp.
                                let lisp = token.range == self.tokens[0].range
                                    && self.token_kind(1) == Some(Kind::LParen);
                                let more =
                                    if lisp { " to negate; Lisp is not available" } else { "" };
                                report.fix(format!("write `{written}`{more}"), at, written)
                            }
                            None if self.follows_operand(token) && self.opens_after(token) => report.fix(
                                "there are no macros: leave out `!`; a sequence is written `[1, 2, 3]`",
                                token.range,
                                "",
                            ),
                            None => report.hint("write `not(x)` to negate; Lisp is not available"),
                        },
                        "&" if self.assigns(token.range) => self
                            .error(
                                token.range,
                                "`&=` computes on another machine, which is not available here",
                            )
                            .fix("write `=`", token.range, ""),
                        "&" => report.fix("write `and`", token.range, "and"),
                        "." => self.lone_dot(token),
                        "?" => {
                            let edit = self.choice(token.range);
                            Self::fix_or_hint(report, "write `if c then a else b`", edit)
                        }
                        _ => report,
                    };
                    self.report(report);
                }
                Kind::ForeignPower => {
                    let report = self.error(token.range, "`**` is not an operator").fix(
                        "write `^`",
                        token.range,
                        "^",
                    );
                    self.report(report);
                }
                Kind::ForeignAnd => {
                    let report = self.error(token.range, "`&&` means nothing in NESL").fix(
                        "write `and`",
                        token.range,
                        self.word_for(*token, "and"),
                    );
                    self.report(report);
                }
                Kind::ForeignNotEq => {
                    let report = self
                        .error(token.range, format!("`{text}` is not an operator"))
                        .fix("write `/=` for not equal", token.range, "/=");
                    self.report(report);
                }
                _ => {}
            }
        }
    }

    /// Returns true if a bracket opens where a token ends.
    fn opens_after(&self, token: &Token) -> bool {
        let next = self.position(token.range).and_then(|at| self.tokens.get(at + 1));
        next.is_some_and(|next| {
            let bracket = matches!(next.kind, Kind::LParen | Kind::CallParen | Kind::LBracket);
            bracket && next.range.start() == token.range.end()
        })
    }

    /// Returns true if an operand ends where a token begins.
    fn follows_operand(&self, token: &Token) -> bool {
        let before = self.position(token.range).and_then(|at| at.checked_sub(1));
        before.map(|before| &self.tokens[before]).is_some_and(|before| {
            let operand = matches!(before.kind, Kind::Name | Kind::RParen | Kind::RBracket);
            operand && before.range.end() == token.range.start()
        })
    }

    /// Returns true if `=` follows a token at once.
    fn assigns(&self, token: rowan::TextRange) -> bool {
        self.text.as_bytes().get(usize::from(token.end())) == Some(&b'=')
    }

    /// Returns the text that replaces a sign by a word, with the blanks it needs.
    fn word_for(&self, sign: Token, word: &str) -> String {
        let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = self.text.as_bytes();
        let (start, end) = (usize::from(sign.range.start()), usize::from(sign.range.end()));
        let before = if letter(bytes[..start].last()) { " " } else { "" };
        let after = if letter(bytes.get(end)) { " " } else { "" };
        format!("{before}{word}{after}")
    }

    /// Reports the tokens after the end of the form, all in one error.
    fn left_over(&mut self, rest: &Node) {
        // Errors reported before explain the left-over tokens.
        if !self.diagnostics.is_empty() {
            return;
        }
        let first = rest.start;
        let at = self.range(Span::new(first, first + 1));
        if self.statement(true) {
            return;
        }
        let found = self.found(first);
        let word = self.token_text(first).to_lowercase();
        if first == 0
            && matches!(self.token_kind(0), Some(Kind::TrueKw | Kind::FalseKw | Kind::TimeKw))
        {
            let report = self.reserved(0);
            self.report(report);
            return;
        }
        if first == 0
            && ["def", "fn", "fun", "var", "val", "lambda", "define"].contains(&word.as_str())
        {
            let report = self.error(at, format!("{found} does not begin a definition")).fix(
                "write `function`",
                at,
                "function",
            );
            self.report(report);
            return;
        }
        let opens_form = matches!(
            self.token_kind(first),
            Some(
                Kind::IfKw
                    | Kind::LetKw
                    | Kind::Name
                    | Kind::LBrace
                    | Kind::LBracket
                    | Kind::Hash
                    | Kind::At
            )
        );
        if opens_form && self.begins_line(first) {
            let report = self.missing_end(first);
            self.report(report);
            return;
        }
        if first == 0 && self.token_kind(0) == Some(Kind::Bar) {
            self.begins_with_bar();
            return;
        }
        let mut report = self.error(at, format!("unexpected {found}"));
        report = match self.token_kind(first) {
            Some(Kind::RParen | Kind::RBracket | Kind::RBrace) => {
                report.hint("nothing that it could close is open")
            }
            Some(Kind::Equals) if self.token_kind(0) == Some(Kind::DatatypeKw) => report.hint(
                "a datatype is one record, as in `datatype point(float, float);`; there are no alternatives: an int or a bool in it can say which case it is",
            ),
            Some(Kind::Equals) => report.fix("write `==` to compare", at, "=="),
            Some(Kind::Hash) if let Some((range, words)) = self.foreign_comment(first) => {
                report.fix("a comment is written `% … %`", range, format!("% {words} %"))
            }
            Some(Kind::InKw) => Self::fix_or_hint(
                report,
                "`in` belongs to `let` or to `{… : x in …}`; whether `x` is an element is `find(x, xs) >= 0`",
                self.membership(first),
            ),
            Some(Kind::IfKw) => {
                let edit = self.choice_behind(first);
                Self::fix_or_hint(report, "write `if c then a else b`", edit)
            }
            Some(Kind::Colon | Kind::Colons) if let Some(typed) = self.typed_variable(first) => typed,
            Some(Kind::At) if let Some(product) = self.matrix_product(first) => product,
            Some(Kind::Colons)
                if matches!(
                    first.checked_sub(1).and_then(|before| self.token_kind(before)),
                    Some(Kind::Int | Kind::Float | Kind::Text | Kind::Char)
                ) =>
            {
                let edit = self.of_operands(first..first + 1, |x, xs| format!("cons({x}, {xs})"));
                Self::fix_or_hint(report, "an element is put in front by `cons(x, xs)`", edit)
            }
            Some(Kind::Colons) => report.hint(
                "a type is written in the definition: `function g(x) : int -> int = …`",
            ),
            Some(Kind::Bar) if self.token_kind(first + 1) == Some(Kind::Greater) => {
                let hint = "a function is written before its argument, as in `sum(xs)`";
                Self::fix_or_hint(report, hint, self.piped(first))
            }
            Some(Kind::ThenKw | Kind::ElseKw) => report.hint("write `if c then a else b`"),
            Some(Kind::Colon) if self.begins_command(first) => {
                self.misplaced_command(first, report)
            }
            Some(Kind::Colon) if self.token_kind(first + 2) == Some(Kind::InKw) => {
                report.hint("an apply-to-each stands in braces: `{x + 1 : x in xs}`")
            }
            Some(Kind::Colon) if self.defines_with_colon() => report.hint(
                "a function is defined with `function g(x) = …;`, and its value is its body",
            ),
            Some(Kind::Colon) if let Some(word) = self.lambda_word(0, first) => {
                self.foreign_lambda(word, first)
            }
            Some(Kind::Colon) if let Some((start, end)) = self.bare_range(first) => {
                let range = self.range(Span::new(first - 1, first + 2));
                let written = format!("[{start}:{end}]");
                report.fix(
                    format!("a range is written `{written}`, and stops before its end"),
                    range,
                    written,
                )
            }
            Some(Kind::Colon) => {
                let hint = "a range is written `[s:e]`, a type `function g(x) : int -> int = …`; an element is put in front by `cons(x, xs)`";
                let list = self.token_kind(first + 1) == Some(Kind::LBracket);
                let cons = || {
                    self.of_operands(first..first + 1, |x, xs| format!("cons({x}, {xs})"))
                };
                Self::fix_or_hint(report, hint, if list { cons() } else { None })
            }
            Some(Kind::Bar) => report.hint("`|` is used only inside `{…}`; the operator is `or`"),
            Some(Kind::ReservedKw) => report.hint("it is a reserved word"),
            Some(Kind::FunctionKw | Kind::DatatypeKw) => {
                report.hint("end the form before it with `;`")
            }
            _ => report,
        };
        self.report(report);
    }

    /// Reports `|x| x + 1`.
    fn begins_with_bar(&mut self) {
        let at = self.range(Span::new(0, 1));
        let report = self.error(at, "`|` does not begin a function value");
        let hint = "a function value is written `x => x + 1`";
        let report = Self::fix_or_hint(report, hint, self.closure(0));
        self.report(report);
    }

    /// Returns true for `g(x): …`, a function as Python begins it, without `def`.
    fn defines_with_colon(&self) -> bool {
        let kinds: Vec<Kind> = self.tokens.iter().take(64).map(|token| token.kind).collect();
        let close = kinds.iter().position(|kind| *kind == Kind::RParen);
        kinds.first() == Some(&Kind::Name)
            && kinds.get(1) == Some(&Kind::CallParen)
            && close.is_some_and(|close| {
                kinds.get(close + 1) == Some(&Kind::Colon)
                    && kinds[2..close].iter().all(|kind| matches!(kind, Kind::Name | Kind::Comma))
            })
    }

    /// Returns both ends of `1:n`, a range without its brackets, if they are single tokens.
    pub(super) fn bare_range(&self, colon: u32) -> Option<(&'a str, &'a str)> {
        let plain = |i: u32| matches!(self.token_kind(i), Some(Kind::Int | Kind::Name));
        let before = colon.checked_sub(1)?;
        if matches!(
            &self.token_text(colon + 1).to_ascii_lowercase()[..],
            "int" | "float" | "bool" | "char"
        ) {
            return None;
        }
        (plain(before) && plain(colon + 1))
            .then(|| (self.token_text(before), self.token_text(colon + 1)))
    }

    fn expression(&mut self, node: &Node) -> ItemKind {
        if !node.kids[0].present() && self.token_kind(0) == Some(Kind::Bar) {
            self.begins_with_bar();
            return ItemKind::Missing;
        }
        let value = self.expr(&node.kids[0]);
        self.warn_of_lost_definition(&node.kids[0]);
        if self.statement(node.kids.len() > 1)
            || self.other_language(node.kids.len() > 1)
            || self.exprs[value] == Expr::Missing
        {
            return ItemKind::Missing;
        }
        ItemKind::Expr(value)
    }

    /// Reports definitions of other languages (`def g(x) = …`) once, in place of their consequences.
    fn other_language(&mut self, left_over: bool) -> bool {
        let word = self.token_text(0).to_ascii_lowercase();
        let function = ["def", "fn", "fun", "func", "define", "defun"].contains(&word.as_str());
        let variable = ["val", "var", "const"].contains(&word.as_str());
        let wrong = left_over || !self.diagnostics.is_empty();
        if !wrong || !(function || variable) || self.token_kind(1) != Some(Kind::Name) {
            return false;
        }
        self.diagnostics.clear();
        let at = self.range(Span::new(0, 1));
        let report = self.error(at, format!("`{word}` does not begin a definition"));
        let report = if function {
            report.fix("a function is defined with `function g(x) = …`", at, "function")
        } else {
            let next = self.insert_at(1);
            report.fix("a variable is defined with `x = …`", at.cover(next), "")
        };
        self.report(report);
        true
    }

    fn binding(&mut self, node: &Node) -> ItemKind {
        let [pat, op, value, ..] = &node.kids[..] else { return ItemKind::Missing };
        let pattern = self.pattern(pat);
        let stored = self.token_kind(op.start) == Some(Kind::BarEq);
        let value = self.expr(value);
        ItemKind::Binding { pattern, value, stored }
    }

    /// Lowers the name of a definition; a reserved word gets another report than a missing name.
    fn defined_name(&mut self, node: &Node, what: &str) -> Option<Ident> {
        if !node.present() {
            let report = self.expected(&format!("the name of the {what}"), node.start);
            self.report(report);
            return None;
        }
        if self.token_kind(node.start) != Some(Kind::Name) {
            let report = self.reserved(node.start);
            self.report(report);
        }
        Some(self.ident(node))
    }

    fn datatype(&mut self, node: &Node) -> ItemKind {
        let [name, content, ..] = &node.kids[..] else { return ItemKind::Missing };
        let name = self.defined_name(name, "datatype");
        if name.is_some()
            && let Some(sign) = (0..3).find(|i| self.token_kind(*i) == Some(Kind::Equals))
        {
            let at = self.range(Span::new(sign, sign + 1));
            let report = self.error(at, "a datatype is defined without `=`").hint(
                "a record is `datatype point(float, float);`; there are no alternatives: an int or a bool in it can say which case it is",
            );
            self.report(report);
            return ItemKind::Missing;
        }
        let content = self.type_scheme(content);
        match name {
            Some(name) => ItemKind::Datatype(Datatype { name, content }),
            None => ItemKind::Missing,
        }
    }

    fn function(&mut self, node: &Node) -> ItemKind {
        let [name, params, annotation, doc, equals, body, ..] = &node.kids[..] else {
            return ItemKind::Missing;
        };
        let Some(name) = self.defined_name(name, "function") else { return ItemKind::Missing };
        if !params.present()
            && equals.present()
            && self.token_kind(equals.end + 1) == Some(Kind::CallParen)
        {
            // `function y = g(x)`.
            let at = self.range(Span::new(params.start, equals.end));
            let report = self
                .error(at, "a function is defined without naming its result")
                .hint("write `function g(x) = …;`, whose value is its body");
            self.decisive.get_or_insert(report);
            return ItemKind::Missing;
        }
        if !params.present()
            && self.token_kind(params.start) == Some(Kind::LBracket)
            && let Some(close) = (params.start..)
                .map_while(|i| self.token_kind(i).map(|kind| (i, kind)))
                .find(|(_, kind)| *kind == Kind::RBracket)
            && matches!(self.token_kind(close.0 + 1), Some(Kind::LParen | Kind::CallParen))
        {
            // `function g[a](x)`.
            let at = self.range(Span::new(params.start, close.0 + 1));
            let report = self.error(at, "a function has no parameters for types").fix(
                "leave them out: types are found by themselves",
                at,
                "",
            );
            self.decisive.get_or_insert(report);
            return ItemKind::Missing;
        }
        let mut optional = Vec::new();
        let param = if params.present() {
            self.parameters(params, &mut optional)
        } else {
            let report = self
                .expected(&format!("the parameters of `{}`", name.name), params.start)
                .hint(format!("a function has an argument: `function {}(x) = …`", name.name));
            self.report(report);
            self.add_pat(super::super::ast::Pat::Missing, span(params))
        };
        let colon = self.token_kind(annotation.start.wrapping_sub(1)) == Some(Kind::Colon)
            && annotation.start > params.end;
        // `function g(x):` and a line that begins with no type: a body as Python writes it.
        if colon && self.body_after_colon(annotation) {
            let at = self.range(Span::new(annotation.start - 1, annotation.start));
            self.diagnostics.clear();
            let returned = annotation.start;
            let returns = self.token_text(returned).eq_ignore_ascii_case("return");
            let edit = returns.then(|| {
                let end = self.insert_after(params.end.saturating_sub(1)).start();
                let word = self.range(Span::new(returned, returned + 1));
                (rowan::TextRange::new(end, word.end()), " =".to_owned())
            });
            let hint = format!(
                "write `function {}(…) = let x = …; y = … in …;`, or one expression after `=`",
                name.name
            );
            let report = self.error(at, "a body does not begin with `:`");
            let report = Self::fix_or_hint(report, hint, edit);
            self.report(report);
            let body = Some(self.add(Expr::Missing, span(body)));
            return ItemKind::Function(Function {
                name,
                param,
                optional,
                annotation: None,
                doc: None,
                body,
            });
        }
        let annotation = (annotation.present() || colon).then(|| self.type_scheme(annotation));
        let doc = doc
            .present()
            .then(|| String::from_utf8_lossy(&unescape(self.node_text(doc))).into_owned());
        self.wrong_sign(equals, "a definition");
        let body = if equals.present() {
            Some(self.needed(body, &format!("the body of `{}`", name.name)))
        } else if annotation.is_some() && doc.is_none() && !body.present() {
            None
        } else {
            let report = self.missing_equals(&name.name, equals, params);
            self.report(report);
            // The next token is a part of the body only if a body can begin with it.
            let starts = body.present()
                && !matches!(
                    self.token_kind(body.start),
                    Some(Kind::RightArrow | Kind::LeftArrow | Kind::Equals)
                )
                && !(params.kind == Kind::NameRef && params.present());
            let before = self.diagnostics.len();
            let lowered =
                if starts { self.expr(body) } else { self.add(Expr::Missing, span(body)) };
            self.diagnostics.truncate(before);
            Some(lowered)
        };
        ItemKind::Function(Function { name, param, optional, annotation, doc, body })
    }

    /// Returns true if what follows the colon of a function's head is no type: a line of its own without
    /// an arrow, or a word of other languages.
    fn body_after_colon(&self, annotation: &Node) -> bool {
        let arrow = (annotation.start..annotation.end)
            .any(|i| self.token_kind(i) == Some(Kind::RightArrow));
        let first = self.token_text(annotation.start).to_ascii_lowercase();
        let foreign = matches!(&first[..], "return" | "if" | "for" | "while" | "let" | "pass");
        !arrow
            && (self.breaks_before(annotation.start) || foreign)
            && !matches!(&first[..], "int" | "float" | "bool" | "char")
            && self.token_kind(annotation.start) != Some(Kind::Colon)
    }

    fn missing_equals(&mut self, name: &Name, equals: &Node, params: &Node) -> Report {
        let bare = params.kind == Kind::NameRef && params.present();
        let more = self.token_kind(equals.start) == Some(Kind::Name);
        let report = self.expected(&format!("`=` and the body of `{name}`"), equals.start);
        if bare && more {
            // `function g x y`.
            let mut last = equals.start;
            while self.token_kind(last + 1) == Some(Kind::Name) {
                last += 1;
            }
            let names: Vec<&str> = (params.start..=last).map(|i| self.token_text(i)).collect();
            let at = self.range(Span::new(params.start, last + 1));
            report.fix("parameters stand in parentheses", at, format!("({})", names.join(", ")))
        } else if let Some((at, element)) = self.foreign_sequence_type(equals.start) {
            self.error(at, "the type of a sequence is written `[type]`").fix(
                format!("write `[{element}]`"),
                at,
                format!("[{element}]"),
            )
        } else if self.token_kind(equals.start) == Some(Kind::LBrace) {
            report.hint(format!(
                "the body is an expression without braces: `function {name}(x) = x + 1;`"
            ))
        } else if self.token_kind(equals.start) == Some(Kind::RightArrow)
            && self.tokens.iter().all(|token| token.kind != Kind::Equals)
        {
            let at = self.range(Span::new(equals.start, equals.start + 1));
            report.fix("write `=`", at, "=")
        } else if self.token_kind(equals.start) == Some(Kind::RightArrow) {
            report.hint("a type is written after `:`, as in `: int -> int`")
        } else if self.token_text(equals.start).eq_ignore_ascii_case("return") {
            let at = self.range(Span::new(equals.start, equals.start + 1));
            report.fix("write `=`; the value of a function is its body", at, "=")
        } else {
            let at = self.insert_at(equals.start);
            report.fix("add `=`", at, "= ")
        }
    }

    /// Finds `int[]` or `list[int]` in an annotation that ends at its `[`: what is to be replaced, and
    /// the type of the elements.
    fn foreign_sequence_type(&self, open: u32) -> Option<(rowan::TextRange, &'a str)> {
        let name = open.checked_sub(1)?;
        let closer = match self.token_kind(open)? {
            Kind::LBracket => Kind::RBracket,
            Kind::Less => Kind::Greater,
            _ => return None,
        };
        if self.token_kind(name) != Some(Kind::Name) {
            return None;
        }
        if self.token_kind(open + 1) == Some(Kind::RBracket) {
            return Some((self.range(Span::new(name, open + 2)), self.token_text(name)));
        }
        let close = (open..)
            .take_while(|i| self.token_kind(*i).is_some())
            .find(|i| self.token_kind(*i) == Some(closer))?;
        let inside = self.range(Span::new(open + 1, close));
        Some((self.range(Span::new(name, close + 1)), &self.text[inside]))
    }

    /// Lowers a required expression.
    pub(super) fn needed(&mut self, node: &Node, what: &str) -> ExprId {
        if node.kind == Kind::Missing || !node.present() {
            let report = self.expected(what, node.start);
            self.report(report);
            return self.add(Expr::Missing, span(node));
        }
        self.expr(node)
    }

    /// Makes the report of a reserved word where a name or a pattern is to stand.
    pub(super) fn reserved_word(&mut self, index: u32) -> Report {
        let at = self.range(Span::new(index, index + 1));
        let found = self.found(index);
        self.error(at, format!("{found} cannot be a name: it is a word of the language"))
            .hint("choose another name")
    }

    /// Makes the report of `f`, `t` or `time` where a name is to be bound.
    pub(super) fn reserved(&self, index: u32) -> Report {
        let word = self.token_text(index);
        let at = self.range(Span::new(index, index + 1));
        let means = match self.token_kind(index) {
            Some(Kind::TrueKw) => "it means true",
            Some(Kind::FalseKw) => "it means false",
            _ => "it measures time",
        };
        Diagnostic::error(DiagnosticKind::Name, at, format!("`{word}` cannot be a name: {means}"))
            .hint(match self.token_kind(index) {
                Some(Kind::TrueKw | Kind::FalseKw) => "choose another name, such as `g`",
                _ => "choose another name",
            })
    }

    fn command(&mut self, end: u32) -> ItemKind {
        let verb = Ident { name: Name::new(self.token_text(0)), span: Span::new(0, 1) };
        if matches!(verb.name.folded(), "lisp") {
            let at = self.range(Span::new(0, 1));
            let report = self.error(at, "this NESL is not written in Lisp");
            self.report(report);
        }
        if verb.name.folded() == "load"
            && let Some(next) = (1..end).find(|i| {
                let named = self.token_kind(*i) == Some(Kind::Name);
                named && self.begins_line(*i) && self.token_kind(i + 1) == Some(Kind::Equals)
            })
        {
            let report = self.missing_end(next);
            self.report(report);
            return ItemKind::Missing;
        }
        let mut args = Vec::new();
        let mut i = 1;
        if verb.name.folded() == "load"
            && let Some((operand, rest)) = self.computed_operand(end)
        {
            let text = self.text[self.range(operand)].to_owned();
            args.push(CommandArg::Code(text, operand));
            i = rest;
        }
        while i < end {
            let here = Span::new(i, i + 1);
            match self.token_kind(i) {
                Some(Kind::Comma) => {}
                Some(Kind::Text) => {
                    let bytes = unescape(self.token_text(i));
                    args.push(CommandArg::Text(String::from_utf8_lossy(&bytes).into_owned(), here));
                }
                Some(Kind::Int) => args.push(CommandArg::Int(self.command_int(i, i), here)),
                Some(Kind::Minus) if self.token_kind(i + 1) == Some(Kind::Int) => {
                    let value = self.command_int(i, i + 1);
                    args.push(CommandArg::Int(value, Span::new(i, i + 2)));
                    i += 1;
                }
                _ if self.token_kind(i + 1) == Some(Kind::Assign) => {
                    let name = Ident { name: Name::new(self.token_text(i)), span: here };
                    let value = self.command_value(i + 2, verb.name.folded() == "load");
                    args.push(CommandArg::Option(name, value));
                    i += 2;
                }
                Some(_) => {
                    let name = Name::new(self.token_text(i));
                    args.push(CommandArg::Word(Ident { name, span: here }));
                }
                None => {}
            }
            i += 1;
        }
        ItemKind::Command(Command { verb, args })
    }

    /// Returns the value of an integer with its sign, the tokens `first` to `last`.
    fn command_int(&mut self, first: u32, last: u32) -> i64 {
        let at = self.range(Span::new(first, last + 1));
        let sign = if first == last { "" } else { "-" };
        let digits = self.token_text(last);
        format!("{sign}{digits}").parse().unwrap_or_else(|_| {
            let report = self.error(at, "this number is too large for a command");
            self.report(report);
            0
        })
    }

    /// Finds the operand of `load` if it is more than a string, as in `load dir ++ "file"` or
    /// `load(name, print := t)`, and the token at which the rest begins: an option, or the end.
    fn computed_operand(&self, end: u32) -> Option<(Span, u32)> {
        let kind = |i: u32| self.token_kind(i);
        let option = |i: u32| kind(i) == Some(Kind::Comma) && kind(i + 2) == Some(Kind::Assign);
        if end < 2 || kind(1) == Some(Kind::Text) && (end == 2 || option(2)) {
            return None;
        }
        // A pair of parentheses around the whole belongs to the command.
        let open = |i: u32| matches!(kind(i), Some(Kind::LParen | Kind::CallParen));
        let mut depth = 0;
        let closes = (1..end).find(|i| {
            depth += i32::from(open(*i)) - i32::from(kind(*i) == Some(Kind::RParen));
            depth == 0
        });
        let wrapped = open(1) && closes == Some(end - 1);
        let (start, end) = if wrapped { (2, end - 1) } else { (1, end) };
        let rest = (start..end).find(|i| option(*i)).unwrap_or(end);
        (rest > start).then_some((Span::new(start, rest), rest))
    }

    /// Lowers the value of an option of a command. Those of `load` are bools; those of commands that
    /// describe machines of NESL 3.1 are literals of any kind.
    fn command_value(&mut self, index: u32, only_bools: bool) -> ExprId {
        let here = Span::new(index, index + 1);
        let value = match self.token_kind(index) {
            Some(Kind::TrueKw) => Expr::Bool(true),
            Some(Kind::FalseKw) => Expr::Bool(false),
            Some(_) if !only_bools => Expr::Missing,
            _ => {
                let report = self.expected("`t` or `f`", index);
                self.report(report);
                Expr::Missing
            }
        };
        self.add(value, here)
    }
}

/// Returns how a sign of mathematics is written in NESL.
fn in_ascii(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "≤" => "<=",
        "≥" => ">=",
        "≠" => "/=",
        "×" | "·" | "∙" => "*",
        "÷" => "/",
        "−" | "–" => "-",
        "→" => "->",
        "⇒" => "=>",
        "∈" => "in",
        "∧" => "and",
        "∨" => "or",
        "¬" => "not",
        _ => return None,
    })
}
