//! Tokens, tree and AST as text, for golden tests and `nesl ir --stage …`.

use super::ast::{
    CommandArg, Expr, ExprId, Function, Ident, Item, ItemKind, Pat, PatId, TypeExpr, TypeExprKind,
    TypeScheme, UnaryOp,
};
use super::kind::{SyntaxElement, SyntaxNode};
use super::{Parsed, lexer};
use crate::base::with_stack;
use std::fmt::Write;

/// A line a token: kind and text. Blanks are left out.
pub fn dump_tokens(text: &str) -> String {
    let mut out = String::new();
    for token in lexer::lex(text) {
        if token.kind != super::SyntaxKind::Whitespace {
            let _ = writeln!(out, "{:?} {:?}", token.kind, token.text(text));
        }
    }
    out
}

/// The lossless tree, a node or token a line. Blanks are left out.
pub fn dump_tree(parsed: &Parsed) -> String {
    let mut out = String::new();
    tree(
        &SyntaxNode::new_root(parsed.green.clone()).into(),
        0,
        &mut out,
    );
    out
}

fn tree(element: &SyntaxElement, depth: usize, out: &mut String) {
    let indent = depth * 2;
    match element {
        rowan::NodeOrToken::Node(node) => {
            let _ = writeln!(out, "{:indent$}{:?}", "", node.kind());
            with_stack(|| {
                node.children_with_tokens()
                    .for_each(|child| tree(&child, depth + 1, out))
            });
        }
        rowan::NodeOrToken::Token(token) => {
            if token.kind() != super::SyntaxKind::Whitespace {
                let _ = writeln!(out, "{:indent$}{:?} {:?}", "", token.kind(), token.text());
            }
        }
    }
}

/// The abstract syntax, a node a line.
pub fn dump_ast(item: &Item) -> String {
    let mut dump = Dump {
        item,
        out: String::new(),
        depth: 0,
    };
    dump.item();
    dump.out
}

struct Dump<'a> {
    item: &'a Item,
    out: String,
    depth: usize,
}

impl Dump<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let indent = self.depth * 2;
        let _ = writeln!(self.out, "{:indent$}{}", "", text.as_ref());
    }

    /// A line, and what is under it.
    fn under(&mut self, text: impl AsRef<str>, parts: impl FnOnce(&mut Self)) {
        self.line(text);
        self.depth += 1;
        with_stack(|| parts(self));
        self.depth -= 1;
    }

    fn item(&mut self) {
        let item = self.item;
        match &item.kind {
            ItemKind::Function(function) => self.function(function),
            ItemKind::Datatype(datatype) => {
                let content = scheme(&datatype.content);
                self.line(format!("datatype {} {content}", datatype.name.name));
            }
            ItemKind::Binding {
                pattern,
                value,
                stored,
            } => {
                let pattern = self.pattern(*pattern);
                let sign = if *stored { "|=" } else { "=" };
                self.under(format!("{pattern} {sign}"), |dump| dump.expr(*value));
            }
            ItemKind::Expr(expr) => self.expr(*expr),
            ItemKind::Command(command) => {
                self.under(format!("command {}", command.verb.name), |dump| {
                    for arg in &command.args {
                        match arg {
                            CommandArg::Word(word) => dump.line(format!("word {}", word.name)),
                            CommandArg::Text(text, _) => dump.line(format!("text {text:?}")),
                            CommandArg::Int(int, _) => dump.line(format!("int {int}")),
                            CommandArg::Option(name, value) => {
                                dump.under(format!("{} :=", name.name), |dump| dump.expr(*value))
                            }
                        }
                    }
                });
            }
            ItemKind::Missing => self.line("missing"),
        }
    }

    fn function(&mut self, function: &Function) {
        let mut head = format!(
            "function {}({})",
            function.name.name,
            self.pattern(function.param)
        );
        if let Some(annotation) = &function.annotation {
            head += &format!(" : {}", scheme(annotation));
        }
        self.under(head, |dump| {
            if let Some(doc) = &function.doc {
                dump.line(format!("doc {doc:?}"));
            }
            dump.optional(&function.optional);
            match function.body {
                Some(body) => dump.expr(body),
                None => dump.line("declared only"),
            }
        });
    }

    fn optional(&mut self, optional: &[(Ident, ExprId)]) {
        for (name, value) in optional {
            self.under(format!("{} :=", name.name), |dump| dump.expr(*value));
        }
    }

    fn expr(&mut self, id: ExprId) {
        let item = self.item;
        match &item.exprs[id] {
            Expr::Missing => self.line("missing"),
            Expr::Int(value) => self.line(format!("{value}")),
            Expr::Float(value) => self.line(format!("{:?}", value.get())),
            Expr::Bool(value) => self.line(if *value { "t" } else { "f" }),
            Expr::Char(value) => self.line(format!("char {:?}", char::from(*value))),
            Expr::Text(bytes) => self.line(format!("{:?}", String::from_utf8_lossy(bytes))),
            Expr::Name(name) => self.line(format!("{name}")),
            Expr::Quote(name) => self.line(format!("'{name}")),
            Expr::Pair(left, right) => self.parts("pair", [*left, *right]),
            Expr::Sequence(parts) => self.parts("sequence", parts.iter().copied()),
            Expr::Empty(of) => self.line(format!("[] {}", ty(of))),
            Expr::Range { start, end, stride } => {
                self.parts("range", [*start, *end].into_iter().chain(*stride))
            }
            Expr::Index { sequence, index } => self.parts("index", [*sequence, *index]),
            Expr::Call { fun, arg, optional } => self.under("call", |dump| {
                dump.expr(*fun);
                dump.expr(*arg);
                dump.optional(optional);
            }),
            Expr::Unary { op, arg, .. } => {
                let op = match op {
                    UnaryOp::Negate => "-",
                    UnaryOp::Length | UnaryOp::String => op.name(),
                };
                self.parts(&format!("unary {op}"), [*arg]);
            }
            Expr::Binary {
                op, left, right, ..
            } => self.parts(&format!("binary {}", op.name()), [*left, *right]),
            Expr::If {
                cond,
                then,
                otherwise,
            } => self.parts("if", [*cond, *then, *otherwise]),
            Expr::Let { bindings, body } => self.under("let", |dump| {
                for (pattern, value) in bindings {
                    let pattern = dump.pattern(*pattern);
                    dump.under(format!("{pattern} ="), |dump| dump.expr(*value));
                }
                dump.expr(*body);
            }),
            Expr::Each {
                serial,
                body,
                bindings,
                sieve,
            } => self.under(if *serial { "each serial" } else { "each" }, |dump| {
                dump.expr(*body);
                for (pattern, value) in bindings {
                    let pattern = dump.pattern(*pattern);
                    dump.under(format!("{pattern} in"), |dump| dump.expr(*value));
                }
                if let Some(sieve) = sieve {
                    dump.under("sieve", |dump| dump.expr(*sieve));
                }
            }),
            Expr::Lambda { param, body } => {
                let param = self.pattern(*param);
                self.parts(&format!("{param} =>"), [*body]);
            }
            Expr::Time(arg) => self.parts("time", [*arg]),
        }
    }

    fn parts(&mut self, text: &str, parts: impl IntoIterator<Item = ExprId>) {
        self.under(text, |dump| {
            parts.into_iter().for_each(|part| dump.expr(part))
        });
    }

    fn pattern(&self, id: PatId) -> String {
        with_stack(|| match &self.item.pats[id] {
            Pat::Missing => "?".to_string(),
            Pat::Name(name) => name.to_string(),
            Pat::Pair(left, right) => {
                format!("({}, {})", self.pattern(*left), self.pattern(*right))
            }
            Pat::Record { name, content } => {
                format!("{}[{}]", name.name, self.pattern(*content))
            }
        })
    }
}

/// A scheme as one would write it.
fn scheme(scheme: &TypeScheme) -> String {
    let mut out = ty(&scheme.ty);
    if !scheme.context.is_empty() {
        let entries: Vec<String> = scheme
            .context
            .iter()
            .map(|(name, class)| format!("{} in {}", name.name, class.name))
            .collect();
        out += &format!(" :: ({})", entries.join("; "));
    }
    out
}

/// A type with all its parentheses.
fn ty(expr: &TypeExpr) -> String {
    with_stack(|| match &expr.kind {
        TypeExprKind::Missing => "?".to_string(),
        TypeExprKind::Name(name) => name.to_string(),
        TypeExprKind::Apply(name, args) => {
            let args: Vec<String> = args.iter().map(ty).collect();
            format!("{}({})", name.name, args.join(", "))
        }
        TypeExprKind::Sequence(of) => format!("[{}]", ty(of)),
        TypeExprKind::Pair(left, right) => format!("({}, {})", ty(left), ty(right)),
        TypeExprKind::Arrow(from, to) => format!("({} -> {})", ty(from), ty(to)),
    })
}
