//! Lowering of types.

use super::super::MAX_NESTING_LEVELS;
use super::super::ast::{TypeExpr, TypeExprKind, TypeScheme};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, span};
use crate::base::Name;
use nesl_runtime::bug::OrBug;

impl Lower<'_> {
    /// Lowers a type with its context.
    pub(super) fn type_scheme(&mut self, node: &Node) -> TypeScheme {
        let [ty, context] = &node.kids[..] else {
            let ty = TypeExpr { kind: TypeExprKind::Missing, span: span(node) };
            return TypeScheme { ty, context: Vec::new() };
        };
        self.type_parts = 0;
        let ty = self.annotation(ty);
        let mut entries = Vec::new();
        for entry in &context.kids {
            let [name, within, class] = &entry.kids[..] else { continue };
            if !name.present() || !within.present() || !class.present() {
                let at = if name.present() { entry.end } else { entry.start };
                let report = self.expected("`variable in class`", at).hint(
                    "as in `:: (a in number)`; the classes are any, number, ordinal, logical",
                );
                self.report(report);
                continue;
            }
            entries.push((self.ident(name), self.ident(class)));
        }
        TypeScheme { ty, context: entries }
    }

    /// Lowers an annotation; `int, int -> int` without parentheses means `(int, int) -> int`.
    fn annotation(&mut self, node: &Node) -> TypeExpr {
        if node.kind == Kind::TypeTuple
            && let Some((last, rest)) = node.kids.split_last()
            && last.kind == Kind::TypeArrow
            && rest.iter().all(|kid| kid.kind != Kind::TypeArrow)
        {
            let mut kids = rest.to_vec();
            kids.push(last.kids[0].clone());
            let end = last.kids[0].end;
            let params = Node { kind: Kind::TypeTuple, start: node.start, end, kids };
            let mut arrow = last.clone();
            arrow.start = node.start;
            arrow.kids[0] = params;
            return self.ty(&arrow);
        }
        self.ty(node)
    }

    /// Lowers the element type of an empty sequence.
    pub(super) fn element_type(&mut self, node: &Node) -> TypeExpr {
        self.type_parts = 0;
        self.ty(node)
    }

    /// Lowers a type.
    fn ty(&mut self, node: &Node) -> TypeExpr {
        crate::base::with_stack(|| self.ty_inner(node))
    }

    fn ty_inner(&mut self, node: &Node) -> TypeExpr {
        let kind = match node.kind {
            Kind::TypeName => TypeExprKind::Name(Name::new(self.token_text(node.start))),
            Kind::TypeApply => {
                let name = self.ident(&node.kids[0]);
                let paren = &node.kids[1];
                let inside = &paren.kids[0];
                self.need_close(paren.start, &paren.kids[1], ")");
                let parts: Vec<&Node> = if inside.kind == Kind::TypeTuple {
                    inside.kids.iter().collect()
                } else {
                    vec![inside]
                };
                TypeExprKind::Apply(name, parts.into_iter().map(|part| self.ty(part)).collect())
            }
            Kind::TypeList => {
                let inside = self.ty(&node.kids[0]);
                self.need_close(node.start, &node.kids[1], "]");
                TypeExprKind::Sequence(Box::new(inside))
            }
            Kind::Paren => {
                let mut inside = self.ty(&node.kids[0]);
                self.need_close(node.start, &node.kids[1], ")");
                inside.span = span(node);
                return inside;
            }
            Kind::TypeTuple => return self.fold(node, TypeExprKind::Pair),
            Kind::TypeArrow => return self.fold(node, TypeExprKind::Arrow),
            _ => {
                let report = self.expected("a type", node.start);
                let report = match self.token_kind(node.start) {
                    Some(Kind::LBrace) => report.hint(
                        "the parts of a record are in parentheses, without names: `datatype point(float, float);`",
                    ),
                    _ => report
                        .hint("int, float, bool, char, `[type]`, `(type, type)`, or a datatype"),
                };
                self.report(report);
                TypeExprKind::Missing
            }
        };
        TypeExpr { kind, span: span(node) }
    }

    /// Lowers a tuple or chain of arrows; `a, b, c` is `(a, (b, c))`, so a long type is nested deeply.
    fn fold(
        &mut self,
        node: &Node,
        join: fn(Box<TypeExpr>, Box<TypeExpr>) -> TypeExprKind,
    ) -> TypeExpr {
        self.type_parts += node.kids.len();
        if self.type_parts > MAX_NESTING_LEVELS {
            let at = self.node_range(node);
            let report = self
                .error(at, "this type is too long")
                .note(format!("a type may have {MAX_NESTING_LEVELS} parts"));
            self.report(report);
            return TypeExpr { kind: TypeExprKind::Missing, span: span(node) };
        }
        let mut parts: Vec<TypeExpr> = node.kids.iter().map(|kid| self.ty(kid)).collect();
        let mut whole = parts.pop().or_bug("a tuple type has components");
        while let Some(first) = parts.pop() {
            let span = first.span.cover(whole.span);
            whole = TypeExpr { kind: join(Box::new(first), Box::new(whole)), span };
        }
        whole
    }
}
