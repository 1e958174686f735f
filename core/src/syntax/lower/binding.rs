//! `let` expressions, and the separators that are forgotten in and around bindings.

use super::super::ast::{Expr, ExprId, PatId};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::expr::NEVER_CHANGED;
use super::{Lower, Report, span};
use crate::base::{Span, TextRange, TextSize, with_stack};

impl Lower<'_> {
    pub(super) fn let_expr(&mut self, node: &Node) -> Expr {
        let [within, body, bindings @ ..] = &node.kids[..] else { return Expr::Missing };
        let mut lowered: Vec<(PatId, ExprId)> = Vec::new();
        let begun = self.diagnostics.len();
        for binding in bindings {
            let [pat, equals, value] = &binding.kids[..] else { continue };
            let before = self.diagnostics.len();
            if !pat.present() && self.token_kind(pat.start) == Some(Kind::LBracket) {
                let report = self.no_sequences(self.range(Span::new(pat.start, pat.start + 1)));
                self.report(report);
                return Expr::Missing;
            }
            if let Some(report) = self.body_after_semicolon(node, pat, equals) {
                self.report(report);
                let body = self.add(Expr::Missing, span(body));
                return Expr::Let { bindings: lowered, body };
            }
            let pattern = self.pattern(pat);
            if !equals.present() && self.diagnostics.len() > before {
                // The invalid pattern has been reported; the rest is not lowered.
                let body = self.add(Expr::Missing, span(body));
                lowered.push((pattern, body));
                return Expr::Let { bindings: lowered, body };
            }
            if !equals.present() {
                let word = self.token_text(pat.start).to_lowercase();
                let name = self.token_text(pat.start).to_owned();
                let named =
                    pat.kind == Kind::NameRef && self.token_kind(equals.start) == Some(Kind::Name);
                let report = if let Some(typed) = self.typed_variable(equals.start) {
                    typed
                } else if named && ["mut", "rec", "var", "const"].contains(&word.as_str()) {
                    let at = self.node_range(pat);
                    let whole = at.cover(self.insert_at(equals.start));
                    let report = self.error(at, format!("there is no `{word}`"));
                    if word == "rec" {
                        report.hint("a function that calls itself is defined with `function`")
                    } else {
                        report.fix(format!("leave out `{word}`"), whole, "")
                    }
                } else if named {
                    let report = self.expected("`=` after the pattern of this `let`", equals.start);
                    let first = equals.start as usize;
                    let sign = (first..self.tokens.len())
                        .find(|at| self.token_kind(*at as u32) == Some(Kind::Equals));
                    let edit = sign.and_then(|sign| {
                        let at = self.range(Span::new(pat.start, sign as u32 + 1));
                        Some((at, format!("{name} = {} =>", self.parameters_of(first..sign)?)))
                    });
                    let hint =
                        format!("a function inside is a value: `let {name} = x => x + 1 in …`");
                    Self::fix_or_hint(report, hint, edit)
                } else {
                    self.expected("`=` after the pattern of this `let`", equals.start)
                        .hint("write `let x = … in …`")
                };
                self.report(report);
                lowered.push((pattern, self.add(Expr::Missing, span(value))));
                continue;
            }
            self.wrong_sign(equals, "a binding");
            self.run_of_bindings(pattern, value, &mut lowered);
        }
        if !within.present() {
            let opener = self.range(Span::new(node.start, node.start + 1));
            let at = self.insert_after(within.start.saturating_sub(1));
            // An error inside may be the reason that it is missing.
            if self.diagnostics.iter().all(|d| d.primary.at.start() < opener.start()) {
                let report = self.missing_in(within, bindings).label(opener, "the `let`");
                let next = self.insert_at(1).start();
                // Nothing but `let x = e`: a variable was meant.
                let whole = node.start == 0 && !body.present() && bindings.len() == 1;
                let report = if whole && !report.message.contains("before") {
                    let range = TextRange::new(opener.start(), next);
                    report.fix("a variable is defined without `let`", range, "")
                } else if !report.hints.is_empty() {
                    report
                } else if body.present() {
                    report.fix("add `in`", at, " in ")
                } else {
                    report.hint("add `in` and what is to be computed")
                };
                self.report(report);
            }
            let body =
                if body.present() { self.expr(body) } else { self.add(Expr::Missing, span(body)) };
            return Expr::Let { bindings: lowered, body };
        }
        let wrong = self.diagnostics.len() > begun;
        let body = self.part(body, wrong, "the body of the `let` after `in`");
        Expr::Let { bindings: lowered, body }
    }

    /// Makes the report of a body that follows the last `;` of the bindings without an `in`.
    fn body_after_semicolon(&mut self, node: &Node, pat: &Node, equals: &Node) -> Option<Report> {
        let semicolon = pat
            .start
            .checked_sub(1)
            .filter(|at| *at > node.start && self.token_kind(*at) == Some(Kind::Semi))?;
        let named = pat.kind == Kind::NameRef && self.token_kind(equals.start) == Some(Kind::Name);
        // A body that no pattern begins like.
        let expression = matches!(
            self.token_kind(pat.start),
            Some(Kind::IfKw | Kind::LetKw | Kind::LBrace | Kind::Hash | Kind::At | Kind::Minus)
        );
        if equals.present() || !(pat.present() || expression) || named {
            return None;
        }
        let (at, found) = match pat.present() {
            true => (self.node_range(pat), self.node_text(pat).to_owned()),
            false => {
                let word = Span::new(pat.start, pat.start + 1);
                (self.range(word), self.token_text(pat.start).to_owned())
            }
        };
        if let Some(assignment) = self.assigned_element(pat.start) {
            let report = self.error(assignment, "an element cannot be assigned to");
            return Some(report.hint(NEVER_CHANGED));
        }
        let semicolon = self.range(Span::new(semicolon, semicolon + 1));
        let report = self
            .error(at, format!("expected `in` before `{found}`, after the bindings"))
            .label(self.range(Span::new(node.start, node.start + 1)), "the `let`");
        Some(report.fix("write `in` for the last `;`", semicolon, " in"))
    }

    /// Returns the place of `a[i] =` that begins at a token.
    fn assigned_element(&self, start: u32) -> Option<rowan::TextRange> {
        let kind = |at: u32| self.token_kind(at);
        if kind(start) != Some(Kind::Name) || kind(start + 1) != Some(Kind::LBracket) {
            return None;
        }
        let mut open = 0;
        for at in start + 1.. {
            match kind(at)? {
                Kind::LBracket => open += 1,
                Kind::RBracket => open -= 1,
                Kind::Semi => return None,
                _ => {}
            }
            if open == 0 {
                let is_assigned = kind(at + 1) == Some(Kind::Equals);
                return is_assigned.then(|| self.range(Span::new(start, at + 2)));
            }
        }
        None
    }

    /// Makes the report of a missing `in`: before the line that begins in the middle of the last binding,
    /// if there is one.
    fn missing_in(&mut self, within: &Node, bindings: &[Node]) -> Report {
        let value = bindings.last().and_then(|binding| binding.kids.last());
        let Some(line) = value.and_then(|value| self.new_line(value)) else {
            return self.expected("`in` and the body of the `let`", within.start);
        };
        let at = self.range(Span::new(line, line + 1));
        let found = self.found(line);
        let end = self.insert_after(line - 1);
        self.error(at, format!("expected `in` before {found}, after the bindings"))
            .fix("add `in`", end, " in")
    }

    /// Returns the first token in a node that is read as an argument but begins a line.
    fn new_line(&self, node: &Node) -> Option<u32> {
        with_stack(|| {
            let inside = node.kids.iter().find_map(|kid| self.new_line(kid));
            if inside.is_some() || node.kind != Kind::Juxtaposed {
                return inside;
            }
            let argument = node.kids[1].start;
            self.breaks_before(argument).then_some(argument)
        })
    }

    /// Lowers and reports the bindings that `p = a q = b …` was meant to be; usually there is one.
    fn run_of_bindings(&mut self, pattern: PatId, value: &Node, out: &mut Vec<(PatId, ExprId)>) {
        if let Kind::Tuple = value.kind
            && value.kids.iter().skip(1).any(|kid| self.binds(kid))
        {
            self.bindings_with_commas(pattern, value, out);
            return;
        }
        // The tree is `((a q) = (b r)) = c`.
        let mut parts: Vec<(Span, &Node)> = Vec::new();
        let mut node = value;
        while let (Kind::Binary, [left, right]) = (node.kind, &node.kids[..]) {
            if self.token_kind(left.end) != Some(Kind::Equals) {
                break;
            }
            parts.push((Span::new(left.end, left.end + 1), right));
            node = left;
        }
        let first = node;
        let between = parts.get(1..).unwrap_or_default();
        let run = !parts.is_empty()
            && first.kind == Kind::Juxtaposed
            && between.iter().all(|(_, right)| right.kind == Kind::Juxtaposed);
        if !run {
            let outer = std::mem::replace(&mut self.in_let, true);
            let value = self.needed(value, "an expression after `=`");
            self.in_let = outer;
            out.push((pattern, value));
            return;
        }
        let (mut pattern, mut current) = (pattern, first);
        for (sign, right) in parts.into_iter().rev() {
            let outer = std::mem::replace(&mut self.in_let, true);
            self.missing_semicolon(current, sign);
            self.in_let = outer;
            let value = self.outside_let(|lower| lower.expr(&current.kids[0]));
            out.push((pattern, value));
            pattern = self.pattern(&current.kids[1]);
            current = right;
        }
        let value = self.outside_let(|lower| lower.needed(current, "an expression after `=`"));
        out.push((pattern, value));
    }

    /// Returns true for `p = e` in the value of a binding, where `p` can be a pattern.
    fn binds(&self, node: &Node) -> bool {
        node.kind == Kind::Binary
            && self.token_kind(node.kids[0].end) == Some(Kind::Equals)
            && matches!(node.kids[0].kind, Kind::NameRef | Kind::Paren | Kind::Call)
    }

    /// Lowers and reports the bindings that `p = a, q = b` was meant to be.
    fn bindings_with_commas(
        &mut self,
        pattern: PatId,
        value: &Node,
        out: &mut Vec<(PatId, ExprId)>,
    ) {
        let mut pattern = pattern;
        let mut parts: Vec<&Node> = Vec::new();
        for kid in &value.kids {
            if self.binds(kid) && !parts.is_empty() {
                let comma = self.range(Span::new(kid.start - 1, kid.start));
                let report = self.error(comma, "the bindings of a `let` are separated by `;`").fix(
                    "write `;`",
                    comma,
                    ";",
                );
                self.report(report);
                let first = self.outside_let(|lower| lower.expr(parts[0]));
                out.push((pattern, first));
                pattern = self.pattern(&kid.kids[0]);
                parts = vec![&kid.kids[1]];
            } else {
                parts.push(kid);
            }
        }
        let last = self.outside_let(|lower| lower.needed(parts[0], "an expression after `=`"));
        out.push((pattern, last));
    }

    /// Reports `1 y = 2`, where a line or a binding of a `let` should have ended before `y`.
    pub(super) fn missing_semicolon(&mut self, left: &Node, sign: Span) -> bool {
        let mut node = left;
        while matches!(node.kind, Kind::Binary | Kind::Unary) {
            let Some(last) = node.kids.last() else { return false };
            node = last;
        }
        let Kind::Juxtaposed = node.kind else { return false };
        let pattern = &node.kids[1];
        let bindable = matches!(pattern.kind, Kind::NameRef | Kind::Paren | Kind::Call);
        let next = || self.is_binding() && self.open_before(pattern.start).is_empty();
        if !bindable || !(self.in_let || self.breaks_before(pattern.start) || next()) {
            return false;
        }
        let report =
            self.no_comment(pattern.start - 1).unwrap_or_else(|| {
                let at = self.range(Span::new(pattern.start, sign.start));
                let found = self.node_text(pattern).to_owned();
                let end = self.insert_after(pattern.start - 1);
                self.error(at, format!("expected `;` before `{found}`, which begins a binding"))
                    .fix("end the one before with `;`", end, ";")
            });
        self.report(report);
        true
    }

    /// Notes an argument or index that begins a line, in the first column: if the form is wrong, the form
    /// before it was to end there. Blanks have no meaning, so that this alone is no error.
    pub(super) fn next_form(&mut self, node: &Node, argument: u32) {
        let begins = node.kids[0].end == argument
            && self.begins_line(argument)
            && self.open_before(argument).is_empty();
        // The argument of a function may stand on a line of its own; a call there is a form.
        let callee = node.kids[0].kind == Kind::NameRef;
        let form = matches!(node.kids[1].kind, Kind::Call | Kind::NameRef | Kind::Juxtaposed)
            && node.kind != Kind::Index;
        if begins && (form || !callee) {
            let report = self.missing_end(argument);
            self.lines.push(report);
        }
    }

    /// Makes the report of a form that was to end before a token.
    pub(super) fn missing_end(&mut self, index: u32) -> Report {
        if let Some(report) = self.no_comment(index - 1) {
            return report;
        }
        let at = self.range(Span::new(index, index + 1));
        let found = self.found(index);
        let end = self.insert_after(index - 1);
        self.error(at, format!("expected `;` before {found}, which begins a line")).fix(
            "end the form before it with `;`",
            end,
            ";",
        )
    }

    /// Makes the report of a comment of another language in the line of a token.
    fn no_comment(&mut self, index: u32) -> Option<Report> {
        let (range, words) = self.foreign_comment(index)?;
        let mark = if self.text[range].starts_with('#') { "#" } else { "--" };
        let at = TextRange::at(range.start(), TextSize::of(mark));
        let report = self.error(at, format!("`{mark}` does not begin a comment"));
        Some(report.fix("a comment is written `% … %`", range, format!("% {words} %")))
    }

    /// Returns true if a token is in the first column of a line that is not the first.
    pub(super) fn begins_line(&self, index: u32) -> bool {
        let Some(token) = self.tokens.get(index as usize).filter(|_| index > 0) else {
            return false;
        };
        self.text[..usize::from(token.range.start())].ends_with('\n')
    }

    /// Returns true if a token is in a sequence or in the arguments of a function.
    pub(super) fn among_elements(&self, index: u32) -> bool {
        let open = self.open_before(index);
        matches!(open.last(), Some(Kind::LBracket | Kind::CallParen))
    }

    /// Returns true if the form begins with `name =`.
    pub(super) fn is_binding(&self) -> bool {
        self.token_kind(0) == Some(Kind::Name) && self.token_kind(1) == Some(Kind::Equals)
    }

    /// Returns the brackets and `let`s without their `in` that are open before a token.
    pub(super) fn open_before(&self, index: u32) -> Vec<Kind> {
        let mut open: Vec<Kind> = Vec::new();
        for token in self.tokens.iter().take(index as usize) {
            match token.kind {
                Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace | Kind::LetKw => {
                    open.push(token.kind);
                }
                Kind::RParen | Kind::RBracket | Kind::RBrace => {
                    while open.pop() == Some(Kind::LetKw) {}
                }
                Kind::InKw if open.last() == Some(&Kind::LetKw) => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    /// Returns the line of a token, if it looks like a comment of another language.
    pub(super) fn foreign_comment(&self, index: u32) -> Option<(TextRange, String)> {
        let token = usize::from(self.tokens.get(index as usize)?.range.start());
        let start = self.text[..token].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[token..].find('\n').map_or(self.text.len(), |at| token + at);
        let line = self.text[start..end].trim_end();
        let bare = || {
            Some(line.len() - line.trim_start().len()).filter(|at| line[*at..].starts_with("--"))
        };
        let from = ["-- ", "# "].iter().find_map(|mark| line.find(mark)).or_else(bare)?;
        let words = line[from..].trim_start_matches(['-', '#', ' ']);
        // One word alone may be an operand, but hardly behind two signs and a blank.
        let whole = line[..from].trim().is_empty() || line[from..].starts_with('-');
        let range =
            TextRange::new(((start + from) as u32).into(), ((start + line.len()) as u32).into());
        ((words.contains(' ') || whole) && !line.contains('%')).then(|| (range, words.to_owned()))
    }

    /// Lowers a part of a `let` binding that is not its value itself.
    pub(super) fn outside_let<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.in_let, false);
        let out = lower(self);
        self.in_let = outer;
        out
    }
}
