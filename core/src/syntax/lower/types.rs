//! Types and their contexts.

use super::Lowerer;
use crate::base::{Name, Span, with_stack};
use crate::syntax::ast::{Ident, TypeExpr, TypeExprKind, TypeScheme};
use crate::syntax::kind::SyntaxKind;
use crate::syntax::node::Node;

impl Lowerer<'_> {
    pub(super) fn ident(&self, token: &Node) -> Ident {
        Ident {
            name: Name::new(self.text(token)),
            span: token.span,
        }
    }

    /// `type :: context`.
    pub(super) fn scheme(&mut self, node: &Node) -> TypeScheme {
        let ty = match node.children.first() {
            Some(ty) => self.ty(ty),
            None => missing(node.span),
        };
        let mut context = Vec::new();
        if let Some(node) = node.child(SyntaxKind::Context) {
            self.junk_in(node, "`;` and another variable, or `)`");
            if node.child(SyntaxKind::ContextEntry).is_none() {
                let at = node.span.start + 1;
                let found = self.found(at);
                let error = self
                    .expected(at, format!("expected `a in any` after `::`, found {found}"))
                    .note("a context says which class each type variable is in");
                self.report(at, error);
            }
            for entry in node.nodes() {
                context.extend(self.context_entry(entry));
            }
        }
        TypeScheme { ty, context }
    }

    fn context_entry(&mut self, entry: &Node) -> Option<(Ident, Ident)> {
        let names: Vec<&Node> = entry
            .children
            .iter()
            .filter(|node| node.kind == SyntaxKind::Ident)
            .collect();
        let has_in = entry.child(SyntaxKind::InKw).is_some();
        match names[..] {
            [name, class] if has_in => Some((self.ident(name), self.ident(class))),
            [name, ..] => {
                let at = name.span.end + u32::from(has_in);
                let what = if has_in {
                    "a class"
                } else {
                    "`in` and a class"
                };
                let found = self.found(at);
                let error = self
                    .expected(at, format!("expected {what}, found {found}"))
                    .note("the classes are any, number, ordinal and logical");
                self.report(at, error);
                None
            }
            [] => None,
        }
    }

    pub(super) fn ty(&mut self, node: &Node) -> TypeExpr {
        with_stack(|| self.ty_inner(node))
    }

    fn ty_inner(&mut self, node: &Node) -> TypeExpr {
        let span = node.span;
        let kind = match node.kind {
            SyntaxKind::TypeName => TypeExprKind::Name(Name::new(self.text(node))),
            SyntaxKind::TypeApply => {
                self.junk_in(node, "`,` or `)`");
                let name = self.ident(&node.children[0]);
                let arguments = node.nodes().map(|node| self.ty(node)).collect();
                TypeExprKind::Apply(name, arguments)
            }
            SyntaxKind::TypeSequence => {
                self.junk_in(node, "`]`");
                TypeExprKind::Sequence(Box::new(self.ty(&node.children[1])))
            }
            SyntaxKind::TypeParen => {
                self.junk_in(node, "`,`, `->` or `)`");
                return self.ty(&node.children[1]);
            }
            SyntaxKind::TypeTuple => {
                let mut parts: Vec<TypeExpr> = node.nodes().map(|node| self.ty(node)).collect();
                let last = parts.pop().unwrap_or_else(|| missing(span));
                return parts.into_iter().rev().fold(last, |right, left| {
                    let span = left.span.cover(right.span);
                    TypeExpr {
                        kind: TypeExprKind::Pair(Box::new(left), Box::new(right)),
                        span,
                    }
                });
            }
            SyntaxKind::TypeArrow => {
                let from = self.ty(&node.children[0]);
                let to = self.ty(&node.children[2]);
                TypeExprKind::Arrow(Box::new(from), Box::new(to))
            }
            _ => {
                self.missing_type(span.start);
                TypeExprKind::Missing
            }
        };
        TypeExpr { kind, span }
    }

    fn missing_type(&mut self, at: u32) {
        let found = self.found(at);
        let message = match at.checked_sub(1) {
            Some(before) => format!(
                "expected a type after {}, found {found}",
                self.quoted(before)
            ),
            None => format!("expected a type, found {found}"),
        };
        let error = self.expected(at, message);
        self.report(at, error);
    }
}

fn missing(span: Span) -> TypeExpr {
    TypeExpr {
        kind: TypeExprKind::Missing,
        span,
    }
}
