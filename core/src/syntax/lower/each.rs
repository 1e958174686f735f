//! Apply-to-each.

use super::Lowerer;
use crate::base::Span;
use crate::syntax::ast::{Expr, ExprId, Pat, PatId};
use crate::syntax::kind::SyntaxKind::*;
use crate::syntax::node::Node;

impl Lowerer<'_> {
    pub(super) fn each(&mut self, node: &Node) -> Expr {
        let position = |kind| node.children.iter().position(|child| child.kind == kind);
        if node.nodes().next().is_none() {
            if node.is_unclosed() {
                return Expr::Missing;
            }
            let error = self
                .error(node.span, "nothing stands between the braces")
                .note("an apply-to-each is `{ body : x in xs }`; an empty sequence is `[] type`");
            self.report(node.span.start, error);
            return Expr::Missing;
        }
        let serial = position(Star).is_some();
        let colon = position(Colon);
        let sieve = position(Pipe).and_then(|at| node.children.get(at + 1));
        let mut clauses: Vec<&Node> = node
            .children
            .iter()
            .filter(|child| child.kind == EachBinding)
            .collect();
        if let Some(expr) = self.not_an_each(node, &clauses, colon.is_some()) {
            return expr;
        }
        let written = match colon {
            Some(at) if node.children[at - 1].kind != EachBinding => Some(&node.children[at - 1]),
            Some(at) => {
                let token = node.children[at].span;
                let error = self
                    .error(token, "expected `;`, `|` or `}`, found `:`")
                    .hint("the body comes first: `{ body : x in xs }`");
                self.report(token.start, error);
                // The other way round: the second clause is the body.
                match clauses.get(1) {
                    Some(second) if second.child(InKw).is_none() => {
                        clauses.remove(1).children.first()
                    }
                    _ => None,
                }
            }
            None => None,
        };
        self.junk_in(node, "`}`");
        let mut bindings = Vec::new();
        for clause in &clauses {
            self.clause(clause, &mut bindings);
        }
        let body = match (written, clauses.first()) {
            (Some(body), _) => self.expr(body),
            // The first binding doubles as the body.
            (None, Some(first)) => self.body_of(first),
            (None, None) => self.missing(node.span),
        };
        let sieve = sieve.map(|sieve| self.expr(sieve));
        Expr::Each {
            serial,
            body,
            bindings,
            sieve,
        }
    }

    fn body_of(&mut self, first: &Node) -> ExprId {
        let pattern = &first.children[0];
        match first.child(InKw) {
            Some(_) => self.expr(pattern),
            None if pattern.kind == Name => self.expr(pattern),
            None => self.missing(pattern.span),
        }
    }

    /// What is in braces and is no apply-to-each at all: `{1, 2, 3}`, `{x + 1 ; x in xs}`.
    fn not_an_each(&mut self, node: &Node, clauses: &[&Node], colon: bool) -> Option<Expr> {
        let first = clauses.first()?;
        let pattern = &first.children[0];
        if colon || first.child(InKw).is_some() || pattern.is_missing() || pattern.kind == Name {
            return None;
        }
        let bound = clauses[1..].iter().any(|c| c.child(InKw).is_some());
        if bound && first.child(Error).is_none() {
            let semi = node.children.iter().find(|child| child.kind == Semi)?;
            let range = self.range(semi.span);
            let error = self
                .error(
                    semi.span,
                    "expected `:` between the body and its bindings, found `;`",
                )
                .fix("write `:` here", range, ":");
            self.report(semi.span.start, error);
            let mut bindings = Vec::new();
            for clause in &clauses[1..] {
                self.clause(clause, &mut bindings);
            }
            let body = self.expr(pattern);
            let sieve = node
                .children
                .iter()
                .position(|child| child.kind == Pipe)
                .and_then(|at| node.children.get(at + 1))
                .map(|sieve| self.expr(sieve));
            return Some(Expr::Each {
                serial: node.child(Star).is_some(),
                body,
                bindings,
                sieve,
            });
        }
        let plain = node.child(Pipe).is_none() && node.child(Star).is_none() && clauses.len() == 1;
        if plain && matches!(pattern.kind, Tuple | Literal | Paren) && first.child(Error).is_none()
        {
            let inner = self.text_of(Span::new(node.span.start + 1, node.span.end - 1));
            let error = self
                .error(
                    node.span,
                    "braces hold an apply-to-each, and this one has no binding",
                )
                .fix(
                    "a sequence is written `[a, b, c]`",
                    self.range(node.span),
                    format!("[{inner}]"),
                );
            self.report(node.span.start, error);
            return Some(match pattern.kind {
                Tuple => Expr::Sequence(pattern.nodes().map(|part| self.expr(part)).collect()),
                _ => Expr::Sequence(vec![self.expr(pattern)]),
            });
        }
        None
    }

    fn clause(&mut self, clause: &Node, out: &mut Vec<(PatId, ExprId)>) {
        let pattern = &clause.children[0];
        for child in &clause.children {
            if child.kind == Error {
                self.clause_junk(child);
            }
        }
        if let Some(at) = clause.children.iter().position(|child| child.kind == InKw) {
            let id = self.pattern(pattern);
            let source = self.expr(&clause.children[at + 1]);
            out.push((id, source));
            return;
        }
        let span = pattern.span;
        match (pattern.kind, &pattern.children[..]) {
            (Name, _) => {
                let id = self.pattern(pattern);
                let source = match self.item.pats[id] {
                    Pat::Name(_) => self.expr(pattern),
                    Pat::Missing | Pat::Pair(..) | Pat::Record { .. } => self.missing(span),
                };
                out.push((id, source));
            }
            (Missing, _) => {
                let found = self.found(span.start);
                let message = match span.start.checked_sub(1) {
                    Some(before) => format!(
                        "expected a binding `x in xs` after {}, found {found}",
                        self.quoted(before)
                    ),
                    None => format!("expected a binding `x in xs`, found {found}"),
                };
                let error = self.expected(span.start, message);
                self.report(span.start, error);
            }
            (Binary, [left, token, right]) if matches!(token.kind, Eq | LArrow | ColonEq) => {
                let range = self.range(token.span);
                let error = self
                    .error(
                        token.span,
                        format!(
                            "a binding in braces is written with `in`, not {}",
                            self.found(token.span.start)
                        ),
                    )
                    .fix("write `in`", range, "in");
                self.report(token.span.start, error);
                let id = self.pattern(left);
                let source = self.expr(right);
                out.push((id, source));
            }
            _ => self.clause_without_in(pattern, out),
        }
    }

    /// `x xs` and `x [1, 2]`.
    fn clause_without_in(&mut self, pattern: &Node, out: &mut Vec<(PatId, ExprId)>) {
        let mut first = pattern;
        while matches!(first.kind, Apply | Index | Binary | Tuple) {
            first = &first.children[0];
        }
        let at = first.span.end;
        let span = pattern.span;
        if matches!(first.kind, Name | Paren) && matches!(pattern.kind, Apply | Index | Binary) {
            let found = self.found(at);
            let named = self.text_of(first.span);
            let mut error = self.expected(
                at,
                format!("expected `in` after `{named}` in this binding, found {found}"),
            );
            error = if self.source.token(at).eq_ignore_ascii_case("for") {
                error.fix("write `:` for `for`", self.source.range(at), ":")
            } else if self.source.kind(at).is_operator() {
                error.note("an apply-to-each is `{ body : x in xs ; y in ys | condition }`")
            } else {
                error.fix("write `in` here", self.gap(at), " in ")
            };
            self.report(at, error);
            let id = self.pattern(first);
            let source = self.missing(span);
            out.push((id, source));
            return;
        }
        let id = self.pattern(pattern);
        if pattern.kind == Tuple || pattern.kind == Paren {
            let at = span.end;
            let found = self.found(at);
            let error = self.expected(
                at,
                format!("expected `in` after the pattern, found {found}"),
            );
            self.report(at, error);
        }
        let source = self.missing(span);
        out.push((id, source));
    }

    fn clause_junk(&mut self, junk: &Node) {
        let at = junk.span.start;
        if self.is(at, InKw) {
            let error = self
                .error(
                    Span::new(at, at + 1),
                    "expected `;`, `|` or `}`, found another `in`",
                )
                .hint("bindings are separated by `;`: `{ … : x in xs ; y in ys }`");
            self.report(at, error);
            return;
        }
        self.junk(junk, "`;`, `|` or `}`");
    }
}
