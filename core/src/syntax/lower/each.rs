//! The apply-to-each, and the mistakes that are common in it.

use super::super::ast::{Expr, ExprId, Pat, PatId};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, Report, span};
use crate::base::Span;

impl Lower<'_> {
    pub(super) fn each(&mut self, node: &Node) -> Expr {
        let [star, first, colon, sieve, close, rest @ ..] = &node.kids[..] else {
            return Expr::Missing;
        };
        if !colon.present()
            && sieve.present()
            && let Some(bar) = self.set_builder(close.start)
            && self.token_kind(close.start) == Some(Kind::InKw)
        {
            let at = self.range(Span::new(bar, bar + 1));
            let report = self
                .error(at, "the body and the bindings of an apply-to-each are divided by `:`")
                .fix("write `:`", at, ":");
            self.report(report);
            return Expr::Missing;
        }
        if !colon.present()
            && let Some(report) = self.no_each(first, rest)
        {
            self.report(report);
            return Expr::Missing;
        }
        // It is being written: nothing says yet what it will be.
        if !colon.present()
            && rest.is_empty()
            && first.kids.len() == 1
            && first.kids[0].present()
            && close.start as usize >= self.tokens.len()
        {
            self.need_close(node.start, close, "}");
            return Expr::Missing;
        }
        let serial = star.present();
        let before = self.diagnostics.len();
        let mut bindings = Vec::new();
        let body = if colon.present() {
            if first.kids.len() > 1
                && let Some(report) = self.range_without_brackets(colon.start)
            {
                self.report(report);
                return Expr::Missing;
            }
            let condition = |part: &Node| part.kids.len() == 1 && self.is_condition(&part.kids[0]);
            if first.kids.len() > 1 && rest.len() == 1 && condition(&rest[0]) {
                let at = self.node_range(colon);
                let report = self
                    .error(at, "the condition of an apply-to-each is written after `|`")
                    .fix("write `|`", at, "|");
                self.report(report);
                return Expr::Missing;
            }
            if first.kids.len() > 1 {
                let at = self.node_range(first);
                let report = self
                    .error(at, "a binding is written before the `:`")
                    .hint("write `{body : x in xs}`");
                self.report(report);
            }
            self.needed(&first.kids[0], "the body before `:`")
        } else {
            let (pat, sequence) = self.each_binding(first, rest.is_empty());
            bindings.push((pat, sequence));
            // The pattern of the first binding is the body.
            if self.diagnostics.len() == before {
                self.expr(&first.kids[0])
            } else {
                self.add(Expr::Missing, span(first))
            }
        };
        // `{x in xs : x + 1}`: the second part is not a binding, as has been found by now.
        let swapped = colon.present() && first.kids.len() > 1;
        for binding in rest {
            if swapped && binding.kids.len() == 1 {
                continue;
            }
            let pair = self.each_binding(binding, false);
            bindings.push(pair);
        }
        let sieve = if sieve.kind == Kind::Missing {
            None
        } else if sieve.present() {
            Some(self.expr(sieve))
        } else {
            None
        };
        self.each_sieve(node, sieve.is_some());
        if self.diagnostics.len() == before && !close.present() {
            let report = self.each_stopped(close.start);
            match report {
                Some(report) => self.report(report),
                None => self.need_close(node.start, close, "}"),
            }
        }
        if bindings.is_empty() {
            return Expr::Missing;
        }
        Expr::Each { serial, body, bindings, sieve }
    }

    /// Makes the report of braces around something else than an apply-to-each, and of
    /// `{x in xs if x > 1}`.
    fn no_each(&mut self, first: &Node, rest: &[Node]) -> Option<Report> {
        let condition = rest
            .first()
            .filter(|part| first.kids.len() > 1 && self.token_kind(part.start) == Some(Kind::IfKw));
        if let Some(part) = condition {
            let at = self.range(Span::new(part.start, part.start + 1));
            let report = self.error(at, "the condition of an apply-to-each is written after `|`");
            return Some(report.fix("write `|`", at, "|"));
        }
        let (alone, next) = (first.kids.len() == 1, rest.first());
        if let (true, Some(next)) = (alone, next)
            && next.kids.len() == 2
            && !matches!(first.kids[0].kind, Kind::NameRef | Kind::Missing)
            && self.token_kind(next.start.wrapping_sub(1)) == Some(Kind::Semi)
        {
            let at = self.range(Span::new(next.start - 1, next.start));
            let report = self.error(at, "the body of an apply-to-each is followed by `:`");
            return Some(report.fix("write `:`", at, " :"));
        }
        if let (false, Kind::Tuple, [body, name]) =
            (alone, first.kids[0].kind, &first.kids[0].kids[..])
            && name.kind == Kind::NameRef
            && matches!(body.kind, Kind::Binary | Kind::Unary | Kind::Juxtaposed | Kind::Index)
        {
            let at = self.range(Span::new(body.end, body.end + 1));
            let report = self.error(at, "the body of an apply-to-each is followed by `:`");
            return Some(report.fix("write `:`", at, " :"));
        }
        // `{x * 2 x in xs}`: the last operand before the `in` was to be the variable.
        if let Some(name) = self.body_without_colon(&first.kids[0]).filter(|_| !alone) {
            let end = self.insert_after(name - 1);
            let at = self.range(Span::new(name, name + 1));
            let found = self.found(name);
            let report = self.error(at, format!("expected `:` before {found}, after the body"));
            return Some(report.fix("add `:`", end, " :"));
        }
        // `= { return a; }`, a block of statements.
        let statement = |part: &Node| part.kids.len() == 1 || !part.present();
        let block = alone
            && !rest.is_empty()
            && !matches!(first.kids[0].kind, Kind::NameRef | Kind::Missing)
            && rest.iter().all(statement)
            && matches!(
                self.token_kind(first.start.wrapping_sub(2)),
                Some(Kind::ThenKw | Kind::ElseKw | Kind::Equals)
            );
        let body = block || alone && matches!(first.kids[0].kind, Kind::Let | Kind::If);
        body.then(|| {
            let at = self.range(Span::new(first.start - 1, first.start));
            self.error(at, "braces enclose an apply-to-each, not a body")
                .hint("a body is one expression without braces: `let y = x + 1 in y * 2`")
        })
    }

    /// Finds the variable at the end of `x * 2 x`, which was to be a body and a variable.
    fn body_without_colon(&self, pattern: &Node) -> Option<u32> {
        let mut last = pattern;
        while matches!(last.kind, Kind::Binary | Kind::Unary) {
            last = last.kids.last()?;
        }
        let [fun, name] = &last.kids[..] else { return None };
        let bound = last.kind == Kind::Juxtaposed && name.kind == Kind::NameRef;
        // `x y in xs` is a pattern that lacks a comma; words such as `for` are explained elsewhere.
        let foreign = |i: u32| {
            let word = self.token_text(i).to_lowercase();
            matches!(&word[..], "for" | "where" | "if" | "when")
        };
        let plain = last.start == pattern.start && fun.kind == Kind::NameRef;
        let words = (pattern.start..pattern.end).any(foreign);
        (bound && !plain && !words).then_some(name.start)
    }

    /// Reports a `|` without a condition after it.
    fn each_sieve(&mut self, node: &Node, there: bool) {
        let close = &node.kids[4];
        let bar = close.start.wrapping_sub(1);
        if !there && self.token_kind(bar) == Some(Kind::Bar) && bar > node.start {
            let report = self.expected("a condition after `|`", close.start);
            self.report(report);
        }
    }

    /// Lowers `pattern in sequence`, or a name alone.
    fn each_binding(&mut self, node: &Node, alone: bool) -> (PatId, ExprId) {
        if let [pat, sequence] = &node.kids[..] {
            let foreign = |i: &u32| self.token_text(*i).eq_ignore_ascii_case("for");
            if pat.kind == Kind::Juxtaposed
                && let Some(index) = (pat.start..pat.end).find(foreign)
            {
                let report = self.foreign_for(index);
                self.report(report);
                let pattern = self.add_pat(super::super::ast::Pat::Missing, span(pat));
                return (pattern, self.expr(sequence));
            }
            let pattern = self.pattern(pat);
            if let Some(sequence) = self.condition_without_bar(sequence) {
                return (pattern, sequence);
            }
            let sequence = self.needed(sequence, "a sequence after `in`");
            return (pattern, sequence);
        }
        let only = &node.kids[0];
        if only.kind == Kind::NameRef {
            return (self.pattern(only), self.expr(only));
        }
        let at = self.node_range(node);
        let foreign =
            (only.start..only.end).find(|i| self.token_text(*i).eq_ignore_ascii_case("for"));
        let report = match only.kind {
            Kind::Missing => {
                self.expected("a binding `x in xs`", node.start).hint("write `{body : x in xs}`")
            }
            Kind::Binary
                if matches!(
                    self.token_kind(only.kids[0].end),
                    Some(Kind::Equals | Kind::LeftArrow)
                ) =>
            {
                // `x = xs`, `x <- xs`: the meaning is clear enough to continue.
                let sign = only.kids[0].end;
                let at = self.range(Span::new(sign, sign + 1));
                let found = self.found(sign);
                let report = self
                    .error(at, format!("a sequence is gone over by `in`, not by {found}"))
                    .fix("write `in`", at, "in");
                self.report(report);
                let pattern = self.pattern(&only.kids[0]);
                let sequence = self.needed(&only.kids[1], "a sequence after `in`");
                return (pattern, sequence);
            }
            _ if foreign.is_some() => self.foreign_for(foreign.unwrap_or(0)),
            Kind::Index | Kind::Juxtaposed if only.kids[0].kind == Kind::NameRef => {
                let insert = self.insert_after(only.kids[0].end - 1);
                self.error(at, "this binding has no `in`").fix("add `in`", insert, " in")
            }
            Kind::Binary
                if !alone
                    && self.is_condition(only)
                    && self.token_kind(node.start.wrapping_sub(1)) == Some(Kind::Semi) =>
            {
                let at = self.range(Span::new(node.start - 1, node.start));
                self.error(at, "a condition is written after `|`, not after `;`").fix(
                    "write `|`",
                    at,
                    " |",
                )
            }
            Kind::Tuple | Kind::Literal if !alone && self.text_before_colon(node.start) => {
                let report = self.error(at, "this is not a binding");
                let hint = "there are no dictionaries in braces: `create_table([(\"a\", 1), (\"b\", 2)])` makes a table";
                let edit = node.start.checked_sub(2).and_then(|key| self.dictionary(key));
                Self::fix_or_hint(report, hint, edit)
            }
            Kind::Literal | Kind::Paren | Kind::Binary | Kind::Unary | Kind::Call
                if alone
                    && matches!(
                        self.token_kind(node.start.wrapping_sub(2)),
                        Some(Kind::ThenKw | Kind::ElseKw | Kind::Equals)
                    ) =>
            {
                let report = self.error(at, "braces enclose an apply-to-each");
                let hint = "an expression needs no braces, as in `function g(x) = x + 1` and `if c then 1 else 2`";
                let edit = self.without_braces(node.start);
                Self::fix_or_hint(report, hint, edit)
            }
            Kind::Tuple | Kind::Literal | Kind::Paren if alone => {
                let report = self.error(at, "this is no apply-to-each: there is no binding");
                let hint = "a sequence is written with brackets: `[1, 2, 3]`";
                Self::fix_or_hint(report, hint, self.list_in_braces(node.start))
            }
            _ => self
                .error(at, "this is not a binding")
                .hint("write `{body : x in xs; y in ys | condition}`"),
        };
        self.report(report);
        let pat = match only.kind {
            // The variable is clear enough for the body.
            Kind::Index | Kind::Juxtaposed if only.kids[0].kind == Kind::NameRef => {
                self.pattern(&only.kids[0])
            }
            _ => self.add_pat(Pat::Missing, span(node)),
        };
        let sequence = self.add(Expr::Missing, span(node));
        (pat, sequence)
    }

    /// Reports `xs where x > 1` and `xs, x > 1`, a sequence and a condition without a `|` between
    /// them; returns the sequence.
    fn condition_without_bar(&mut self, node: &Node) -> Option<ExprId> {
        let words = ["where", "when", "with", "such", "suchthat", "provided", "st"];
        let mut spine = node;
        while spine.kind == Kind::Binary {
            spine = &spine.kids[0];
        }
        // `xs where x` is an application of `xs` to two arguments.
        while let (Kind::Juxtaposed, [fun, arg]) = (spine.kind, &spine.kids[..]) {
            let word = self.token_text(arg.start).to_lowercase();
            if words.contains(&word.as_str()) {
                let at = self.range(Span::new(arg.start, arg.start + 1));
                let report = self
                    .error(at, format!("a condition is written after `|`, not after `{word}`"))
                    .fix("write `|`", at, "|");
                self.report(report);
                return Some(self.expr(fun));
            }
            spine = fun;
        }
        let (Kind::Tuple, [sequence, conditions @ ..]) = (node.kind, &node.kids[..]) else {
            return None;
        };
        if conditions.is_empty() || !conditions.iter().all(|part| self.is_condition(part)) {
            return None;
        }
        let comma = sequence.end;
        let at = self.range(Span::new(comma, comma + 1));
        let report = self.error(at, "a condition is written after `|`, not after `,`");
        let report = if conditions.len() == 1 {
            report.fix("write `|`", at, " |")
        } else {
            let all: Vec<&str> = conditions.iter().map(|part| self.node_text(part)).collect();
            let whole = self.range(Span::new(comma, node.end));
            report.fix(
                "write `|`, and join the conditions",
                whole,
                format!(" | {}", all.join(" and ")),
            )
        };
        self.report(report);
        Some(self.expr(sequence))
    }

    /// Returns true for a comparison, or several that are joined.
    fn is_condition(&self, node: &Node) -> bool {
        let joins = || {
            let sign = self.token_kind(node.kids[0].end);
            matches!(sign, Some(Kind::AndKw | Kind::OrKw))
        };
        self.is_comparison(node) || node.kind == Kind::Binary && joins()
    }

    /// Returns true for a comparison.
    pub(super) fn is_comparison(&self, node: &Node) -> bool {
        node.kind == Kind::Binary
            && matches!(
                self.token_kind(node.kids[0].end),
                Some(
                    Kind::EqEq
                        | Kind::NotEq
                        | Kind::Less
                        | Kind::LessEq
                        | Kind::Greater
                        | Kind::GreaterEq
                )
            )
    }

    /// Makes the report of `i in 0:n`, at its colon.
    fn range_without_brackets(&mut self, colon: u32) -> Option<Report> {
        let first = colon.checked_sub(1)?;
        let within = colon.checked_sub(2).and_then(|before| self.token_kind(before));
        if within != Some(Kind::InKw) || self.token_kind(first) != Some(Kind::Int) {
            return None;
        }
        let end = self.bare_range(colon).map(|(start, end)| format!("[{start}:{end}]"));
        // The end may be more than a token.
        let single = matches!(
            self.token_kind(colon + 2),
            None | Some(Kind::RBrace | Kind::Bar | Kind::Semi)
        );
        let edit = end
            .filter(|_| single)
            .map(|written| (self.range(Span::new(first, colon + 2)), written));
        let at = self.range(Span::new(first, colon + 1));
        let report = self.error(at, "a range is written in brackets");
        let hint = "write `[s:e]`, which stops before its end";
        Some(Self::fix_or_hint(report, hint, edit))
    }

    /// Makes the report of `{x for x in xs}`.
    fn foreign_for(&mut self, index: u32) -> Report {
        let at = self.range(Span::new(index, index + 1));
        let report = self.error(at, "an apply-to-each has no `for`");
        if index.checked_sub(1).is_some_and(|open| self.token_kind(open) == Some(Kind::LBrace)) {
            // `{for x in xs | x > 1}`.
            let next = self.insert_at(index + 1);
            return report.fix("leave out `for`", at.cover(next), "");
        }
        report.fix("write `:`", at, ":")
    }

    /// Returns true if a string and a colon are before a token: `{"a": 1}`.
    fn text_before_colon(&self, index: u32) -> bool {
        index >= 2
            && self.token_kind(index - 1) == Some(Kind::Colon)
            && self.token_kind(index - 2) == Some(Kind::Text)
    }

    /// Finds the `|` of `{e | x in xs}`, which ends at the `in`.
    fn set_builder(&self, within: u32) -> Option<u32> {
        let bar = (0..within).rev().find(|i| self.token_kind(*i) == Some(Kind::Bar))?;
        let open = (0..bar).rev().find(|i| self.token_kind(*i) == Some(Kind::LBrace))?;
        let plain = |i: u32| !matches!(self.token_kind(i), Some(Kind::Colon | Kind::InKw));
        (open + 1..bar).all(plain).then_some(bar)
    }

    /// Makes the report of a common mistake at the token at which an apply-to-each ends too early.
    fn each_stopped(&mut self, index: u32) -> Option<Report> {
        let at = self.range(Span::new(index, index + 1));
        Some(match self.token_kind(index)? {
            Kind::InKw => {
                let comma = (0..index).rev().find(|i| self.token_kind(*i) == Some(Kind::Comma))?;
                let comma = self.range(Span::new(comma, comma + 1));
                self.error(comma, "the bindings of an apply-to-each are separated by `;`")
                    .label(at, "another binding")
                    .fix("write `;`", comma, ";")
            }
            Kind::Bar => self.error(at, "an apply-to-each has one condition").fix(
                "join the conditions by `and`",
                at,
                "and",
            ),
            Kind::Colon
                if self.token_kind(index + 1) == Some(Kind::Name)
                    && self.token_kind(index + 2) == Some(Kind::InKw) =>
            {
                self.error(at, "the bindings of an apply-to-each are separated by `;`").fix(
                    "write `;`",
                    at,
                    ";",
                )
            }
            Kind::Colon if let Some(report) = self.range_without_brackets(index) => report,
            Kind::Colon => self
                .error(at, "the condition of an apply-to-each is written after `|`")
                .fix("write `|`", at, "|"),
            _ => return None,
        })
    }
}
