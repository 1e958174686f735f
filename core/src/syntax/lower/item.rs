//! Top-level forms.

use super::Lowerer;
use crate::base::{Name, Span};
use crate::syntax::ast::{
    Command, CommandArg, Datatype, Expr, Function, Ident, ItemKind, Pat, PatId,
};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::lexer::unescape;
use crate::syntax::node::Node;

impl Lowerer<'_> {
    /// Lowers the whole item.
    pub(super) fn root(&mut self, root: &Node) {
        let significant = self.source.tokens.len() - usize::from(root.child(End).is_some());
        let Some(form) = root.children.first() else {
            return;
        };
        if significant == 0 {
            return;
        }
        let said = self.out.len();
        let kind = match form.kind {
            SyntaxKind::Function => self.function(form),
            SyntaxKind::Datatype => self.datatype(form),
            SyntaxKind::Binding => self.binding(form),
            SyntaxKind::Command => self.command(form),
            _ => match form.children.first() {
                Some(expr) => {
                    let id = self.expr(expr);
                    match self.item.exprs[id] {
                        Expr::Missing => ItemKind::Missing,
                        _ => ItemKind::Expr(id),
                    }
                }
                None => ItemKind::Missing,
            },
        };
        self.item.kind = kind;
        self.junk_in(root, "`;`");
        self.other_language(said);
    }

    /// `def f(x) = …` and the like: one message instead of those it led to.
    fn other_language(&mut self, said: usize) {
        let word = self.source.token(0).to_ascii_lowercase();
        let definition = match word.as_str() {
            "def" | "fn" | "fun" | "func" | "define" | "defun" => Some("function"),
            "val" | "var" | "const" => None,
            _ => return,
        };
        if self.out.len() == said
            || !self.is(0, SyntaxKind::Ident)
            || !self.is(1, SyntaxKind::Ident)
        {
            return;
        }
        self.out.truncate(said);
        let range = self.source.range(0);
        let error = match definition {
            Some(function) => self
                .error(
                    Span::new(0, 1),
                    format!("`{word}` does not begin a definition"),
                )
                .fix(
                    "a function is defined with `function name(x) = …;`",
                    range,
                    function,
                ),
            None => {
                let next = self.source.range(1).start();
                self.error(
                    Span::new(0, 1),
                    format!("`{word}` does not begin a definition"),
                )
                .fix(
                    "a variable is defined with `name = …;`",
                    crate::base::TextRange::new(range.start(), next),
                    "",
                )
            }
        };
        self.out.push(error);
        self.item.kind = ItemKind::Missing;
    }

    /// The name after `function` or `datatype`.
    fn defined_name(&mut self, token: &Node, what: &str) -> std::option::Option<Ident> {
        let at = token.span.start;
        if token.is_missing() {
            let found = self.found(at);
            let mut error = self.expected(
                at,
                format!("expected the name of the {what}, found {found}"),
            );
            if self.source.kind(at).is_keyword() {
                error = error.note(format!("{found} is a reserved word"));
            }
            self.report(at, error);
            return None;
        }
        if self.is_reserved(at) {
            self.reserved(at);
            return None;
        }
        Some(self.ident(token))
    }

    fn function(&mut self, node: &Node) -> ItemKind {
        let equals = node
            .children
            .iter()
            .position(|child| crate::syntax::grammar::is_equals(child.kind));
        let name = self.defined_name(&node.children[1], "function");
        let params: Vec<&Node> = node.children[2..equals.unwrap_or(node.children.len())]
            .iter()
            .take_while(|child| !child.kind.is_token())
            .filter(|child| !matches!(child.kind, Error | Scheme))
            .collect();
        let (param, optional) = match params.first() {
            Some(first) => self.parameters(first),
            None => (self.no_parameter(node), Vec::new()),
        };
        if equals.is_none() && params.len() > 1 {
            return self.no_equals(params[1]);
        }
        self.further_parameters(&params);
        let annotation = node.child(Scheme).map(|scheme| self.scheme(scheme));
        let doc = node
            .child(Text)
            .map(|doc| String::from_utf8_lossy(&unescape(self.text(doc))).into_owned());
        self.function_junk(node, annotation.is_some());
        let body = match equals {
            Some(at) => {
                self.wrong_equals(&node.children[at], "a definition");
                Some(self.expr(&node.children[at + 1]))
            }
            None => {
                if annotation.is_none() && node.child(Error).is_none() {
                    let at = node.span.end;
                    let found = self.found(at);
                    let error = self.expected(
                        at,
                        format!("expected `=` and the function's body, found {found}"),
                    );
                    self.report(at, error);
                }
                None
            }
        };
        let Some(name) = name else {
            return ItemKind::Missing;
        };
        if body.is_none() && annotation.is_none() {
            return ItemKind::Missing;
        }
        ItemKind::Function(Function {
            name,
            param,
            optional,
            annotation,
            doc,
            body,
        })
    }

    /// `function f(x) x + 1`.
    fn no_equals(&mut self, body: &Node) -> ItemKind {
        let at = body.span.start;
        let found = self.found(at);
        let error = self
            .error(
                Span::new(at, at + 1),
                format!("expected `=` before the function's body, found {found}"),
            )
            .fix("write `=` here", self.gap(at), " =");
        self.report(at, error);
        ItemKind::Missing
    }

    fn no_parameter(&mut self, node: &Node) -> PatId {
        let at = node.children[1].span.end;
        let found = self.found(at);
        let mut error = self.expected(
            at,
            format!("expected the parameters of the function, found {found}"),
        );
        if self.is(at, Eq) {
            let next = self.source.range(1).start();
            let word = self.source.range(0);
            error = error.fix(
                "a value that takes nothing is a variable: leave out `function`",
                crate::base::TextRange::new(word.start(), next),
                "",
            );
        }
        self.report(at, error);
        self.add_pat(Pat::Missing, Span::new(at, at))
    }

    /// `function f x y`: parameters side by side.
    fn further_parameters(&mut self, params: &[&Node]) {
        let [first, second, ..] = params else {
            return;
        };
        let at = second.span.start;
        let last = params.last().map_or(second.span, |last| last.span);
        let all = first.span.cover(last);
        let found = self.found(at);
        let error = self.error(
            second.span,
            format!("expected `=` or `:` after the parameters, found {found}"),
        );
        let names = params.iter().all(|param| param.kind == SyntaxKind::Name);
        let error = match names {
            true => {
                let list: Vec<String> = params.iter().map(|p| self.text_of(p.span)).collect();
                error.fix(
                    "several parameters go in parentheses",
                    self.range(all),
                    format!("({})", list.join(", ")),
                )
            }
            false => error,
        };
        self.report(at, error);
    }

    fn function_junk(&mut self, node: &Node, annotated: bool) {
        for child in &node.children {
            if child.kind != Error {
                continue;
            }
            let at = child.span.start;
            if self.is(at, Arrow) && !annotated {
                let error = self
                    .error(Span::new(at, at + 1), "expected `=` or `:`, found `->`")
                    .hint("a type is written after `:`, as `: int -> int`");
                self.report(at, error);
            } else {
                self.junk(child, if annotated { "`=`" } else { "`=` or `:`" });
            }
        }
    }

    fn datatype(&mut self, node: &Node) -> ItemKind {
        let name = self.defined_name(&node.children[1], "datatype");
        let content = self.scheme(&node.children[2]);
        match name {
            Some(name) => ItemKind::Datatype(Datatype { name, content }),
            None => ItemKind::Missing,
        }
    }

    fn binding(&mut self, node: &Node) -> ItemKind {
        let junk = node.child(Error);
        if let Some(junk) = junk
            && self.source.breaks_before(junk.span.start)
        {
            // The line before was an expression, not the beginning of this.
            self.expr(&node.children[0]);
            self.junk(junk, "`;` to end the form");
            if let Some(value) = node.nodes().nth(1) {
                self.expr(value);
            }
            return ItemKind::Missing;
        }
        let pattern = self.pattern(&node.children[0]);
        if let Some(junk) = junk {
            self.junk(junk, "`=`, or `;` to end the form");
        }
        let equals = node
            .children
            .iter()
            .position(|child| crate::syntax::grammar::is_equals(child.kind));
        let Some(equals) = equals else {
            return ItemKind::Missing;
        };
        let token = &node.children[equals];
        let stored = token.kind == PipeEq;
        if !stored {
            self.wrong_equals(token, "a binding");
        }
        let value = self.expr(&node.children[equals + 1]);
        match self.item.pats[pattern] {
            Pat::Missing => ItemKind::Missing,
            Pat::Name(_) | Pat::Pair(..) | Pat::Record { .. } => ItemKind::Binding {
                pattern,
                value,
                stored,
            },
        }
    }

    fn command(&mut self, node: &Node) -> ItemKind {
        let Some((verb, words)) = node.children.split_first() else {
            return ItemKind::Missing;
        };
        let verb = Ident {
            name: Name::new(&self.text(verb).to_ascii_lowercase()),
            span: verb.span,
        };
        if verb.name.folded() == "lisp" {
            let error = self.error(
                verb.span,
                "`lisp` is not supported: there is no Lisp underneath",
            );
            self.report(verb.span.start, error);
            return ItemKind::Missing;
        }
        let mut args = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let next = words.get(at).map(|next| next.kind);
            match word.kind {
                SyntaxKind::Ident if next == Some(ColonEq) => {
                    let name = self.ident(word);
                    let value = match words.get(at + 1) {
                        Some(value) => {
                            let kind = if value.kind == SyntaxKind::Ident {
                                SyntaxKind::Name
                            } else {
                                Literal
                            };
                            self.expr(&Node::new(kind, vec![value.clone()]))
                        }
                        None => {
                            let missing = word.span.end + 1;
                            self.missing_expression(missing);
                            self.missing(Span::new(missing, missing))
                        }
                    };
                    args.push(CommandArg::Option(name, value));
                    at += 2;
                }
                Text | UnclosedText => {
                    let text = unescape(self.text(word));
                    let text = String::from_utf8_lossy(&text).into_owned();
                    args.push(CommandArg::Text(text, word.span));
                }
                Int => args.extend(self.command_int(word, "", word.span)),
                Minus if next == Some(Int) => {
                    let span = word.span.cover(words[at].span);
                    args.extend(self.command_int(&words[at], "-", span));
                    at += 1;
                }
                Comma => {}
                _ => args.push(CommandArg::Word(self.ident(word))),
            }
        }
        ItemKind::Command(Command { verb, args })
    }

    fn command_int(
        &mut self,
        token: &Node,
        sign: &str,
        span: Span,
    ) -> std::option::Option<CommandArg> {
        let Ok(value) = format!("{sign}{}", self.text(token)).parse() else {
            let error = self.error(span, "this number is too large for an int");
            self.report(span.start, error);
            return None;
        };
        Some(CommandArg::Int(value, span))
    }
}
