//! Patterns, which the grammar parses as expressions.

use super::Lowerer;
use crate::base::{Span, with_stack};
use crate::syntax::ast::{ExprId, Ident, Pat, PatId};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::node::Node;

impl Lowerer<'_> {
    /// The pattern that an expression's tree is.
    pub(super) fn pattern(&mut self, node: &Node) -> PatId {
        with_stack(|| self.pattern_inner(node))
    }

    fn pattern_inner(&mut self, node: &Node) -> PatId {
        let span = node.span;
        match node.kind {
            Name if self.is_reserved(span.start) => {
                self.reserved(span.start);
                self.add_pat(Pat::Missing, span)
            }
            Name => {
                let name = crate::base::Name::new(self.text(node));
                self.add_pat(Pat::Name(name), span)
            }
            Literal if self.is(span.start, Bool) => {
                self.reserved(span.start);
                self.add_pat(Pat::Missing, span)
            }
            Tuple => {
                let parts = node.nodes().map(|part| self.pattern(part)).collect();
                self.fold_pattern(parts, span)
            }
            Paren => self.parenthesised(node),
            Call | Apply => match &node.children[..] {
                [name, content] if name.kind == Name && content.kind == Paren => {
                    let content = self.parenthesised(content);
                    let name = self.ident(name);
                    self.add_pat(Pat::Record { name, content }, span)
                }
                _ => self.no_pattern(node),
            },
            _ => self.no_pattern(node),
        }
    }

    /// The pattern between parentheses, which are not those of a function's parameters.
    fn parenthesised(&mut self, paren: &Node) -> PatId {
        self.junk_in(paren, "`,` or `)`");
        let parts: Vec<&Node> = paren.nodes().collect();
        if parts.is_empty() && !paren.is_unclosed() {
            let error = self.error(paren.span, "expected a name between the parentheses");
            self.report(paren.span.start, error);
        }
        let parts = parts.into_iter().map(|part| self.pattern(part)).collect();
        self.fold_pattern(parts, paren.span)
    }

    fn fold_pattern(&mut self, mut parts: Vec<PatId>, span: Span) -> PatId {
        let Some(last) = parts.pop() else {
            return self.add_pat(Pat::Missing, span);
        };
        parts.into_iter().rev().fold(last, |right, left| {
            let span = self.item.pat_spans[left].cover(self.item.pat_spans[right]);
            self.add_pat(Pat::Pair(left, right), span)
        })
    }

    /// A function's parameters: the pattern, and the optional ones.
    pub(super) fn parameters(&mut self, node: &Node) -> (PatId, Vec<(Ident, ExprId)>) {
        if node.kind != Paren || node.child(Optional).is_none() {
            if node.kind == Paren && node.nodes().next().is_none() {
                if node.is_unclosed() {
                    return (self.add_pat(Pat::Missing, node.span), Vec::new());
                }
                let error = self
                    .error(node.span, "a function needs a parameter")
                    .hint("a value that takes nothing is a variable: `name = …;`");
                self.report(node.span.start, error);
                return (self.add_pat(Pat::Missing, node.span), Vec::new());
            }
            return (self.pattern(node), Vec::new());
        }
        self.junk_in(node, "`,` or `)`");
        let mut required = Vec::new();
        let mut optional: Vec<(Ident, ExprId)> = Vec::new();
        for part in node.nodes() {
            if part.kind == Optional {
                optional.extend(self.option(part));
            } else {
                if !optional.is_empty() {
                    let error = self.error(part.span, "optional parameters come last");
                    self.report(part.span.start, error);
                }
                required.push(self.pattern(part));
            }
        }
        if required.is_empty() {
            let error = self.error(
                node.span,
                "a function needs a parameter that is not optional",
            );
            self.report(node.span.start, error);
        }
        (self.fold_pattern(required, node.span), optional)
    }

    /// `name := value`.
    pub(super) fn option(&mut self, node: &Node) -> Option<(Ident, ExprId)> {
        let [name, _, value] = &node.children[..] else {
            return None;
        };
        if self.is_reserved(name.span.start) {
            self.reserved(name.span.start);
        }
        Some((self.ident(name), self.expr(value)))
    }

    /// Reports what cannot be a pattern.
    fn no_pattern(&mut self, node: &Node) -> PatId {
        let at = node.span.start;
        match node.kind {
            Missing => {
                let found = self.found(at);
                let message = match at.checked_sub(1) {
                    Some(before) => {
                        let before = self.quoted(before);
                        format!("expected a name after {before}, found {found}")
                    }
                    None => format!("expected a name, found {found}"),
                };
                let error = self.expected(at, message);
                self.report(at, error);
            }
            Literal => {
                if !self.is(at, UnclosedText) && !self.is(at, BadChar) {
                    let error = self
                        .error(node.span, "a pattern cannot contain a constant")
                        .hint("bind a name, and test it with `if`");
                    self.report(at, error);
                }
            }
            Sequence | Empty => {
                let error = self
                    .error(node.span, "a sequence cannot be taken apart by a pattern")
                    .hint("bind a name, and use `a[0]`, `a[1]`, …");
                self.report(at, error);
            }
            Optional => {
                let error = self
                    .error(
                        node.span,
                        "only a function's own parameters can be optional",
                    )
                    .hint("write `function g(x, n := 5) = …`");
                self.report(at, error);
            }
            kind => self.no_pattern_expr(node, kind),
        }
        self.add_pat(Pat::Missing, node.span)
    }

    fn no_pattern_expr(&mut self, node: &Node, kind: SyntaxKind) {
        let at = node.span.start;
        let before = self.reported.len();
        // What is wrong inside it is said first.
        self.expr(node);
        if self.reported.len() != before {
            return;
        }
        let text = self.source.token(at).to_ascii_lowercase();
        let mut error = self.error(node.span, "this cannot be a pattern");
        let python = (at..node.span.end).find(|&at| self.source.token(at) == "for");
        error = match kind {
            _ if python.is_some() => {
                let range = self.source.range(python.unwrap_or(at));
                error.fix("write `:` for `for`", range, ":")
            }
            Apply if matches!(text.as_str(), "fun" | "fn" | "lambda" | "function") => {
                error.hint("a function value is written `x => …`, without a word before it")
            }
            Apply | Call | Index | Unary | Binary | If | Let | Each | Lambda | QuoteExpr => error
                .note("a pattern is a name, `record(pattern)`, or patterns with commas between"),
            _ => error,
        };
        self.report(at, error);
    }
}
