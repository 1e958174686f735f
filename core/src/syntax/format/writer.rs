//! Lays out the nodes of a form as a document: one arm for each kind of node.

use super::comment::{Comment, CommentPosition};
use super::doc::Doc;
use crate::syntax::grammar::Node;
use crate::syntax::lexer::{Kind, Token};
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// Lays out the nodes of one form.
pub(super) struct Writer<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) comments: Vec<Vec<Comment>>,
    /// The tokens whose comments were already printed before the node that they begin.
    pub(super) hoisted: RefCell<FxHashSet<u32>>,
}

impl Writer<'_> {
    /// Lays out a token, the comments before it, and those after it on its line.
    pub(super) fn token(&self, index: u32) -> Doc {
        let Some(token) = self.tokens.get(index as usize) else { return Doc::nil() };
        let mut docs = self.hoist(index);
        docs.push(Doc::text(&self.text[token.range]));
        let next = self.comments.get(index as usize + 1);
        for comment in next
            .into_iter()
            .flatten()
            .filter(|comment| comment.position == CommentPosition::EndOfLine)
        {
            docs.push(Doc::Behind(comment.text.as_str().into()));
        }
        Doc::Concat(docs)
    }

    /// Lays out the comments before a token, once: a node has them outside of its group, so that a comment
    /// on a line of its own does not break the node.
    fn hoist(&self, index: u32) -> Vec<Doc> {
        let mut docs = Vec::new();
        if !self.hoisted.borrow_mut().insert(index) {
            return docs;
        }
        for comment in self.comments.get(index as usize).into_iter().flatten() {
            match comment.position {
                CommentPosition::EndOfLine => {}
                CommentPosition::OwnLine => {
                    docs.extend([Doc::Fresh, Doc::text(&comment.text), Doc::Fresh])
                }
                CommentPosition::BeforeToken => {
                    docs.extend([Doc::text(&comment.text), Doc::text(" ")])
                }
            }
        }
        docs
    }

    fn tokens(&self, from: u32, to: u32) -> Doc {
        Doc::Concat((from..to).map(|i| self.token(i)).collect())
    }

    /// Lays out a node, the comments before it, and those at the ends of its lines.
    pub(super) fn node(&self, node: &Node) -> Doc {
        if !node.present() {
            return crate::base::with_stack(|| self.node_inner(node));
        }
        let mut docs = self.hoist(node.start);
        docs.push(crate::base::with_stack(|| self.node_inner(node)));
        Doc::Concat(docs)
    }

    fn node_inner(&self, node: &Node) -> Doc {
        let space = || Doc::text(" ");
        match node.kind {
            Kind::Function => self.function(node),
            Kind::Datatype => {
                let [name, ty, ..] = &node.kids[..] else { return Doc::nil() };
                Doc::Concat(vec![self.token(node.start), space(), self.node(name), self.node(ty)])
            }
            Kind::Binding => {
                let [pat, op, value, ..] = &node.kids[..] else { return Doc::nil() };
                self.defined(pat, op, value)
            }
            Kind::ExprItem => self.node(&node.kids[0]),
            Kind::Command => self.command(node),
            Kind::Missing | Kind::Nothing => Doc::nil(),
            Kind::Paren => self.bracketed(node.start, &node.kids[0], &node.kids[1]),
            Kind::Tuple => self.separated(&node.kids),
            Kind::List => self.bracketed(node.start, &node.kids[0], &node.kids[1]),
            Kind::Empty => Doc::Concat(vec![
                self.tokens(node.start, node.start + 2),
                space(),
                self.node(&node.kids[0]),
            ]),
            Kind::Range => {
                let mut docs = vec![self.token(node.start)];
                let (close, parts) = node.kids.split_last().or_bug("a range has an end");
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        docs.push(self.token(part.start - 1));
                    }
                    docs.push(self.node(part));
                }
                docs.push(self.token(close.start));
                Doc::Concat(docs)
            }
            Kind::Index => Doc::Concat(vec![
                self.node(&node.kids[0]),
                self.token(node.kids[0].end),
                self.node(&node.kids[1]),
                self.token(node.end - 1),
            ]),
            Kind::Call => Doc::Concat(vec![self.node(&node.kids[0]), self.node(&node.kids[1])]),
            Kind::Juxtaposed => {
                Doc::Concat(vec![self.node(&node.kids[0]), space(), self.node(&node.kids[1])])
            }
            Kind::Time => Doc::Concat(vec![self.token(node.start), self.node(&node.kids[0])]),
            Kind::Unary => Doc::Concat(vec![self.token(node.start), self.node(&node.kids[0])]),
            Kind::Binary => Doc::group(vec![self.chain(node)]),
            Kind::Lambda | Kind::Option => Doc::group(vec![
                self.node(&node.kids[0]),
                space(),
                self.token(node.kids[0].end),
                Doc::nest(2, vec![Doc::Line, self.node(&node.kids[1])]),
            ]),
            Kind::If => Doc::group(vec![Doc::align(vec![self.branches(node)])]),
            Kind::Let => self.let_expr(node),
            Kind::LetBinding => {
                let [pat, equals, value] = &node.kids[..] else { return Doc::nil() };
                self.defined(pat, equals, value)
            }
            Kind::Each => self.each(node),
            Kind::EachBinding => match &node.kids[..] {
                [pat, sequence] => Doc::Concat(vec![
                    self.node(pat),
                    space(),
                    self.token(sequence.start - 1),
                    space(),
                    self.node(sequence),
                ]),
                kids => Doc::Concat(kids.iter().map(|kid| self.node(kid)).collect()),
            },
            Kind::TypeParen => self.scheme(node),
            Kind::TypeApply => {
                Doc::Concat(vec![self.node(&node.kids[0]), self.node(&node.kids[1])])
            }
            Kind::TypeList => Doc::Concat(vec![
                self.token(node.start),
                self.node(&node.kids[0]),
                self.token(node.kids[1].start),
            ]),
            Kind::TypeTuple => self.separated(&node.kids),
            Kind::TypeArrow => {
                let mut docs = vec![self.node(&node.kids[0])];
                for kid in &node.kids[1..] {
                    docs.extend([space(), self.token(kid.start - 1), space(), self.node(kid)]);
                }
                Doc::Concat(docs)
            }
            _ => self.tokens(node.start, node.end),
        }
    }

    /// Lays out `pattern = value`. A value that can be broken begins on the same line.
    fn defined(&self, pat: &Node, equals: &Node, value: &Node) -> Doc {
        let hangs = matches!(
            value.kind,
            Kind::Each | Kind::List | Kind::Paren | Kind::If | Kind::Let | Kind::Call
        );
        let start = vec![self.node(pat), Doc::text(" "), self.token(equals.start)];
        let value = self.node(value);
        let rest = if hangs {
            vec![Doc::text(" "), value]
        } else {
            vec![Doc::nest(2, vec![Doc::Line, value])]
        };
        Doc::group(start.into_iter().chain(rest).collect())
    }

    /// Lays out `a, b, c` with as many on a line as fit.
    fn separated(&self, kids: &[Node]) -> Doc {
        let mut docs = vec![self.node(&kids[0])];
        for kid in &kids[1..] {
            docs.push(self.token(kid.start - 1));
            docs.push(Doc::group(vec![Doc::Line, self.node(kid)]));
        }
        Doc::Concat(docs)
    }

    fn bracketed(&self, open: u32, inside: &Node, close: &Node) -> Doc {
        let inside = Doc::align(vec![self.node(inside)]);
        Doc::Concat(vec![self.token(open), inside, self.token(close.start)])
    }

    /// Lays out a chain of binary operators, broken before each of them or nowhere.
    fn chain(&self, node: &Node) -> Doc {
        // From the right: the chain is as deep as it is long.
        let (mut operands, mut first) = (Vec::new(), node);
        while let (Kind::Binary, [left, right]) = (first.kind, &first.kids[..]) {
            operands.push((left.end, right));
            first = left;
        }
        let mut docs = vec![self.node(first)];
        for (operator, right) in operands.into_iter().rev() {
            let rest = vec![Doc::Line, self.token(operator), Doc::text(" "), self.node(right)];
            docs.push(Doc::nest(2, rest));
        }
        Doc::Concat(docs)
    }

    /// Lays out an `if` without a group of its own.
    fn branches(&self, node: &Node) -> Doc {
        let [c, then, a, otherwise, b] = &node.kids[..] else { return Doc::nil() };
        let space = || Doc::text(" ");
        let docs = vec![
            Doc::group(vec![
                self.token(node.start),
                space(),
                Doc::align(vec![self.node(c)]),
                Doc::Line,
                self.token(then.start),
                space(),
                Doc::align(vec![self.node(a)]),
            ]),
            Doc::Line,
            self.token(otherwise.start),
            space(),
            // `else if` continues at the same indentation.
            if b.kind == Kind::If { self.branches(b) } else { Doc::align(vec![self.node(b)]) },
        ];
        Doc::Concat(docs)
    }

    fn let_expr(&self, node: &Node) -> Doc {
        let [within, body, bindings @ ..] = &node.kids[..] else { return Doc::nil() };
        let mut inner = Vec::new();
        for (i, binding) in bindings.iter().enumerate() {
            if i > 0 {
                inner.push(self.token(binding.start - 1));
                inner.push(Doc::Line);
            }
            inner.push(self.node(binding));
        }
        // A `;` is allowed before `in`.
        let last = bindings.last().map_or(within.start, |b| b.end);
        inner.push(self.tokens(last, within.start));
        Doc::group(vec![Doc::align(vec![
            self.token(node.start),
            Doc::text(" "),
            Doc::align(inner),
            Doc::Line,
            self.token(within.start),
            Doc::text(" "),
            Doc::align(vec![self.node(body)]),
        ])])
    }

    fn each(&self, node: &Node) -> Doc {
        let [star, first, colon, sieve, close, rest @ ..] = &node.kids[..] else {
            return Doc::nil();
        };
        let space = || Doc::text(" ");
        let mut docs = vec![self.token(node.start)];
        if star.present() {
            docs.extend([self.token(star.start), space()]);
        }
        docs.push(Doc::align(vec![self.node(first)]));
        let mut inner = Vec::new();
        for (i, binding) in rest.iter().enumerate() {
            if i == 0 && colon.present() {
                inner.extend([Doc::Line, self.token(colon.start), space()]);
            } else {
                inner.extend([self.token(binding.start - 1), Doc::Line]);
            }
            inner.push(Doc::align(vec![self.node(binding)]));
        }
        if sieve.present() {
            inner.extend([Doc::Line, self.token(sieve.start - 1), space()]);
            inner.push(Doc::align(vec![self.node(sieve)]));
        }
        docs.push(Doc::nest(1, inner));
        docs.push(self.token(close.start));
        Doc::group(vec![Doc::align(docs)])
    }

    fn function(&self, node: &Node) -> Doc {
        let [name, params, annotation, doc, equals, body, ..] = &node.kids[..] else {
            return Doc::nil();
        };
        let space = || Doc::text(" ");
        let mut docs = vec![self.token(node.start), space(), self.node(name)];
        if params.kind != Kind::Paren {
            docs.push(space());
        }
        docs.push(self.node(params));
        if annotation.present() {
            let colon = self.token(annotation.start - 1);
            docs.push(Doc::nest(4, vec![Doc::Line, colon, space(), self.node(annotation)]));
        }
        let mut docs = vec![Doc::group(docs)];
        if doc.present() {
            docs.extend([Doc::Fresh, self.node(doc), Doc::Fresh]);
        } else if equals.present() {
            docs.push(space());
        }
        if equals.present() {
            docs.push(self.token(equals.start));
            if doc.present() {
                docs.extend([space(), Doc::align(vec![self.node(body)])]);
            } else {
                docs.push(Doc::nest(2, vec![Doc::Line, self.node(body)]));
            }
        }
        Doc::group(docs)
    }

    fn scheme(&self, node: &Node) -> Doc {
        let [ty, context] = &node.kids[..] else { return Doc::nil() };
        let mut docs = vec![self.node(ty)];
        if context.present() {
            docs.extend([Doc::text(" "), self.token(context.start), Doc::text(" ")]);
            let mut previous = Kind::LParen;
            for i in context.start + 1..context.end {
                let kind = self.tokens[i as usize].kind;
                let tight = matches!(kind, Kind::Semi | Kind::Comma | Kind::RParen)
                    || matches!(previous, Kind::LParen | Kind::CallParen);
                if !tight {
                    docs.push(Doc::text(" "));
                }
                docs.push(self.token(i));
                previous = kind;
            }
        }
        Doc::Concat(docs)
    }

    fn command(&self, node: &Node) -> Doc {
        let mut docs = Vec::new();
        for i in node.start..node.end {
            let kind = self.tokens[i as usize].kind;
            if i > node.start && kind != Kind::Comma {
                docs.push(Doc::text(" "));
            }
            docs.push(self.token(i));
        }
        Doc::Concat(docs)
    }
}
