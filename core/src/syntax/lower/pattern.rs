//! Lowering of patterns. Most are parsed as expressions, since only the tokens after them distinguish
//! the two.

use super::super::ast::{ExprId, Ident, Pat, PatId};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, span};
use crate::base::Span;
use nesl_runtime::bug::OrBug;

impl Lower<'_> {
    /// Lowers a pattern from a node of either grammar.
    pub(super) fn pattern(&mut self, node: &Node) -> PatId {
        crate::base::with_stack(|| self.pattern_inner(node))
    }

    fn pattern_inner(&mut self, node: &Node) -> PatId {
        match node.kind {
            Kind::NameRef => {
                let name = self.ident(node).name;
                self.add_pat(Pat::Name(name), span(node))
            }
            Kind::Tuple => {
                let (last, rest) = node.kids.split_last().or_bug("a tuple has components");
                let mut id = self.pattern(last);
                let mut whole = span(last);
                for kid in rest.iter().rev() {
                    let first = self.pattern(kid);
                    whole = whole.cover(span(kid));
                    id = self.add_pat(Pat::Pair(first, id), whole);
                }
                id
            }
            Kind::Paren => {
                let id = self.pattern(&node.kids[0]);
                self.need_close(node.start, &node.kids[1], ")");
                id
            }
            Kind::Call | Kind::Juxtaposed
                if node.kids[0].kind == Kind::NameRef && node.kids[1].kind == Kind::Paren =>
            {
                let name = self.ident(&node.kids[0]);
                let content = self.pattern(&node.kids[1]);
                self.add_pat(Pat::Record { name, content }, span(node))
            }
            Kind::Missing => {
                let report = self.expected("a name", node.start);
                self.report(report);
                self.add_pat(Pat::Missing, span(node))
            }
            _ => {
                let report = match (node.kind, self.token_kind(node.start)) {
                    (
                        Kind::Literal | Kind::Time,
                        Some(Kind::TrueKw | Kind::FalseKw | Kind::TimeKw),
                    ) => self.reserved(node.start),
                    (Kind::List | Kind::Empty | Kind::Range, _) => {
                        let at = self.node_range(node);
                        self.no_sequences(at)
                    }
                    (Kind::Literal, _) => {
                        let at = self.node_range(node);
                        self.error(at, "a constant cannot be a pattern")
                            .hint("bind a name and compare with `==`")
                    }
                    _ => {
                        let at = self.node_range(node);
                        let sign = Span::new(node.end.min(node.start + 1), node.start + 2);
                        if node.kind == Kind::Binary
                            && node.kids[0].kind == Kind::NameRef
                            && self.token_kind(sign.start) == Some(Kind::Equals)
                            && self.token_kind(0) == Some(Kind::FunctionKw)
                            && (0..node.start).all(|i| self.token_kind(i) != Some(Kind::Equals))
                        {
                            let sign = self.range(sign);
                            let report = self
                                .error(at, "an optional parameter is not written with `=`")
                                .fix("write `:=`", sign, ":=");
                            self.report(report);
                            return self.add_pat(Pat::Missing, span(node));
                        }
                        if node.kind == Kind::Juxtaposed
                            && node.kids.iter().all(|kid| kid.kind == Kind::NameRef)
                        {
                            let between = self.insert_after(node.kids[0].end - 1);
                            let ty = self.token_text(node.start).to_ascii_lowercase();
                            let typed = matches!(
                                &ty[..],
                                "int" | "long" | "float" | "double" | "bool" | "char" | "string"
                            );
                            let message = "a name has no type before it";
                            let report = if typed {
                                if self.diagnostics.iter().any(|d| d.message == message) {
                                    return self.add_pat(Pat::Missing, span(node));
                                }
                                self.error(at, message).hint(
                                    "types are found by themselves; those of a function are written after its parameters: `function g(x, y) : int, int -> int = …`",
                                )
                            } else {
                                self.error(at, "the parts of a pattern are separated by `,`")
                                    .fix("add `,`", between, ",")
                            };
                            self.report(report);
                            return self.add_pat(Pat::Missing, span(node));
                        }
                        let report = self.error(at, "this is not a pattern");
                        let first = self.token_text(node.start).to_ascii_lowercase();
                        let words = node.start..node.end;
                        let for_word = words.into_iter().find(|i| self.token_text(*i) == "for");
                        match for_word {
                            Some(word) => {
                                let at = self.range(Span::new(word, word + 1));
                                self.error(at, "an apply-to-each has no `for`").fix(
                                    "write `:`",
                                    at,
                                    ":",
                                )
                            }
                            None if ["fun", "fn", "lambda"].contains(&first.as_str()) => report
                                .hint("a function value is written `x => …`, with no word before"),
                            None => report.hint("a pattern is a name, `a, b` or `record(pattern)`"),
                        }
                    }
                };
                self.report(report);
                self.add_pat(Pat::Missing, span(node))
            }
        }
    }

    /// Lowers the parameters of a function; optional ones are appended to `optional`.
    pub(super) fn parameters(&mut self, node: &Node, optional: &mut Vec<(Ident, ExprId)>) -> PatId {
        if node.kind != Kind::Paren {
            return self.pattern(node);
        }
        let inside = &node.kids[0];
        if self.equals_in_parameters(node) {
            return self.add_pat(Pat::Missing, span(node));
        }
        let parts: Vec<&Node> =
            if inside.kind == Kind::Tuple { inside.kids.iter().collect() } else { vec![inside] };
        let mut positional: Vec<Node> = Vec::new();
        for part in parts {
            if part.kind == Kind::Option {
                self.option(part, optional);
            } else {
                if let Some((previous, _)) = optional.last() {
                    let at = self.node_range(part);
                    let report = self
                        .error(at, "a parameter without a default follows one that has one")
                        .label(self.range(previous.span), "this one is optional");
                    self.report(report);
                }
                positional.push(part.clone());
            }
        }
        if !inside.present() && self.token_kind(inside.start) == Some(Kind::ReservedKw) {
            let report = self.reserved_word(inside.start);
            self.report(report);
            return self.add_pat(Pat::Missing, span(node));
        }
        self.need_close(node.start, &node.kids[1], ")");
        match positional.len() {
            0 => {
                let at = self.node_range(node);
                let report = self.error(at, "a function needs a parameter that is not optional");
                self.report(report);
                self.add_pat(Pat::Missing, span(node))
            }
            1 if !positional[0].present() => {
                let at = self.node_range(node);
                let report = self
                    .error(at, "a function has exactly one argument, which may be a tuple")
                    .hint("to take nothing, take a value that is not used: `function g(x) = …`");
                self.report(report);
                self.add_pat(Pat::Missing, span(node))
            }
            1 => self.pattern(&positional[0]),
            _ => {
                let start = positional[0].start;
                let end = positional[positional.len() - 1].end;
                self.pattern(&Node { kind: Kind::Tuple, start, end, kids: positional })
            }
        }
    }

    /// Reports `function g(x = e`, where the parentheses are not closed and the `=` is that of the
    /// definition.
    fn equals_in_parameters(&mut self, node: &Node) -> bool {
        let inside = &node.kids[0];
        let last = if inside.kind == Kind::Tuple { inside.kids.last() } else { Some(inside) };
        let Some(last) = last.filter(|last| last.kind == Kind::Binary) else { return false };
        let sign = last.kids[0].end;
        if node.kids[1].present() || self.token_kind(sign) != Some(Kind::Equals) {
            return false;
        }
        let opener = self.range(Span::new(node.start, node.start + 1));
        let at = self.insert_after(sign - 1);
        let report = self
            .error(at, "this `(` is never closed")
            .here("expected `)` here")
            .label(opener, "opened here")
            .fix("add `)`", at, ")");
        self.report(report);
        self.unclosed.push(node.end);
        true
    }

    /// Lowers an option, `name := value`.
    pub(super) fn option(&mut self, node: &Node, out: &mut Vec<(Ident, ExprId)>) {
        let name = &node.kids[0];
        if name.kind != Kind::NameRef {
            let at = self.node_range(name);
            let report = self
                .error(at, "only a name can be optional")
                .hint("write `name := value`; to bind, write `name = value`");
            self.report(report);
            return;
        }
        let ident = self.ident(name);
        let value = self.needed(&node.kids[1], &format!("the value of `{}`", ident.name));
        out.push((ident, value));
    }
}
