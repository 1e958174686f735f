//! Apply-to-each.

use super::super::ast::{Expr, ExprId, Pat, PatId};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, span};
use crate::base::Span;

impl Lower<'_> {
    pub(super) fn each(&mut self, node: &Node) -> Expr {
        let [star, first, colon, sieve, close, rest @ ..] = &node.kids[..] else {
            return Expr::Missing;
        };
        let serial = star.present();
        let before = self.diagnostics.len();
        let mut bindings = Vec::new();
        let body = if colon.present() {
            if first.kids.len() > 1 {
                let at = self.node_range(first);
                let report = self
                    .error(at, "a binding stands before the `:`")
                    .hint("write `{body : x in xs}`");
                self.report(report);
            }
            self.needed(&first.kids[0], "the body before `:`")
        } else {
            let (pat, sequence) = self.each_binding(first, rest.is_empty());
            bindings.push((pat, sequence));
            // The first binding doubles as the body.
            if self.diagnostics.len() == before {
                self.expr(&first.kids[0])
            } else {
                self.add(Expr::Missing, span(first))
            }
        };
        // `{x in xs : x + 1}`: the second is no binding, and that is known by now.
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
        if self.diagnostics.len() == before {
            self.need_close(node.start, close, "}");
        }
        if bindings.is_empty() {
            return Expr::Missing;
        }
        Expr::Each { serial, body, bindings, sieve }
    }

    /// A `|` with nothing behind it.
    fn each_sieve(&mut self, node: &Node, there: bool) {
        let close = &node.kids[4];
        let bar = close.start.wrapping_sub(1);
        if !there && self.token_kind(bar) == Some(Kind::Bar) && bar > node.start {
            let report = self.expected("a condition after `|`", close.start);
            self.report(report);
        }
    }

    /// `pattern in sequence`, or a bare name.
    fn each_binding(&mut self, node: &Node, alone: bool) -> (PatId, ExprId) {
        if let [pat, sequence] = &node.kids[..] {
            let pattern = self.pattern(pat);
            let sequence = self.needed(sequence, "a sequence after `in`");
            return (pattern, sequence);
        }
        let only = &node.kids[0];
        if only.kind == Kind::NameRef {
            return (self.pattern(only), self.expr(only));
        }
        let at = self.node_range(node);
        let report = match only.kind {
            Kind::Missing => self.expected("a binding `x in xs`", node.start),
            Kind::Binary
                if matches!(
                    self.token_kind(only.kids[0].end),
                    Some(Kind::Equals | Kind::LeftArrow)
                ) =>
            {
                // `x = xs`, `x <- xs`: clear enough to go on with.
                let sign = only.kids[0].end;
                let at = self.range(Span::new(sign, sign + 1));
                let found = self.found(sign);
                let report = self
                    .error(at, format!("a binding in braces is written with `in`, not {found}"))
                    .fix("write `in`", at, "in");
                self.report(report);
                let pattern = self.pattern(&only.kids[0]);
                let sequence = self.needed(&only.kids[1], "a sequence after `in`");
                return (pattern, sequence);
            }
            Kind::Index | Kind::Juxtaposed if only.kids[0].kind == Kind::NameRef => {
                let insert = self.insert_after(only.kids[0].end - 1);
                self.error(at, "this binding has no `in`").fix("add `in`", insert, " in")
            }
            Kind::Tuple | Kind::Literal | Kind::Paren if alone => self
                .error(at, "this is no apply-to-each: there is no binding")
                .hint("a sequence is written with brackets: `[1, 2, 3]`"),
            _ => self
                .error(at, "this is not a binding")
                .hint("write `{body : x in xs; y in ys | condition}`"),
        };
        self.report(report);
        let pat = match only.kind {
            // What it binds is clear enough for the body.
            Kind::Index | Kind::Juxtaposed if only.kids[0].kind == Kind::NameRef => {
                self.pattern(&only.kids[0])
            }
            _ => self.add_pat(Pat::Missing, span(node)),
        };
        let sequence = self.add(Expr::Missing, span(node));
        (pat, sequence)
    }
}
