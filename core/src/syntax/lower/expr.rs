//! Expressions.

use super::Lowerer;
use crate::base::{Span, with_stack};
use crate::syntax::ast::{BinaryOp, Expr, ExprId, FloatBits, Ident, PatId, UnaryOp};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::lexer::unescape;
use crate::syntax::node::Node;

impl Lowerer<'_> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, node: &Node) -> ExprId {
        with_stack(|| self.expr_inner(node))
    }

    /// Lowers an expression that is not the value of a `let` binding itself.
    fn inner(&mut self, node: &Node) -> ExprId {
        let outside = std::mem::replace(&mut self.in_let, false);
        let id = self.expr(node);
        self.in_let = outside;
        id
    }

    fn expr_inner(&mut self, node: &Node) -> ExprId {
        let span = node.span;
        let expr = match node.kind {
            Name if self.is_reserved(span.start) => {
                let error = self
                    .error(span, "`time` is not a function: it needs its argument")
                    .hint("write `time(e)`");
                self.report(span.start, error);
                Expr::Missing
            }
            Name => Expr::Name(crate::base::Name::new(self.text(node))),
            Literal => self.literal(node),
            QuoteExpr => self.quote(node),
            Tuple => {
                let parts = node.nodes().map(|part| self.inner(part)).collect();
                return self.fold_pairs(parts, span);
            }
            Paren => return self.parenthesised_expr(node),
            Optional => {
                self.option(node);
                let error = self
                    .error(
                        span,
                        "`:=` gives an optional argument of a call, and nothing else",
                    )
                    .hint("write `f(x, n := 7)`, or `==` to compare");
                self.report(span.start, error);
                Expr::Missing
            }
            Call | Apply => self.call(node),
            Index => self.index(node),
            Sequence => self.sequence(node),
            Empty => self.empty(node),
            Unary => self.unary(node),
            Binary => self.binary(node),
            If => self.conditional(node),
            Let => self.bindings(node),
            Each => self.each(node),
            Lambda => {
                let param = self.pattern(&node.children[0]);
                let body = self.inner(&node.children[2]);
                Expr::Lambda { param, body }
            }
            _ => {
                self.missing_expression(span.start);
                Expr::Missing
            }
        };
        self.add(expr, span)
    }

    fn literal(&mut self, node: &Node) -> Expr {
        let at = node.span.start;
        let text = self.source.token(at);
        match self.source.kind(at) {
            Int => match text.parse() {
                Ok(value) => Expr::Int(value),
                Err(_) => {
                    let error = self
                        .error(node.span, "this number is too large for an int")
                        .note("an int is at most 9223372036854775807")
                        .fix("write a float", self.range(node.span), format!("{text}.0"));
                    self.report(at, error);
                    Expr::Missing
                }
            },
            Float => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Expr::Float(FloatBits(value.to_bits())),
                _ => {
                    let error = self
                        .error(node.span, "this number is too large for a float")
                        .note("a float is at most 1.7976931348623157e308");
                    self.report(at, error);
                    Expr::Missing
                }
            },
            Bool => Expr::Bool(text.eq_ignore_ascii_case("t")),
            Char => Expr::Char(text.as_bytes()[1]),
            Text => Expr::Text(unescape(text).into_boxed_slice()),
            _ => Expr::Missing,
        }
    }

    fn quote(&mut self, node: &Node) -> Expr {
        match node.children.get(1) {
            Some(what) => {
                let text = self.text(what);
                let name = match binary_op(what.kind) {
                    Some(op) => crate::base::Name::new(op.name()),
                    None => crate::base::Name::new(text),
                };
                Expr::Quote(name)
            }
            None => {
                let at = node.span.end;
                let found = self.found(at);
                let error = self
                    .expected(
                        at,
                        format!("expected an operator or a name after `'`, found {found}"),
                    )
                    .note("`'+` is addition as a function; a character is written `` `a ``");
                self.report(at, error);
                Expr::Missing
            }
        }
    }

    pub(super) fn fold_pairs(&mut self, mut parts: Vec<ExprId>, span: Span) -> ExprId {
        let Some(last) = parts.pop() else {
            return self.missing(span);
        };
        parts.into_iter().rev().fold(last, |right, left| {
            let span = self.item.expr_spans[left].cover(self.item.expr_spans[right]);
            self.add(Expr::Pair(left, right), span)
        })
    }

    fn parenthesised_expr(&mut self, node: &Node) -> ExprId {
        self.junk_in(node, "`,` or `)`");
        let parts: Vec<&Node> = node.nodes().collect();
        if parts.is_empty() && !node.is_unclosed() {
            let error = self
                .error(node.span, "nothing stands between the parentheses")
                .note("there is no empty tuple");
            self.report(node.span.start, error);
        }
        let parts = parts.into_iter().map(|part| self.inner(part)).collect();
        self.fold_pairs(parts, node.span)
    }

    /// The one argument of a call and the optional ones.
    fn arguments(&mut self, fun: &Node, node: &Node) -> (ExprId, Vec<(Ident, ExprId)>) {
        if node.kind != Paren {
            return (self.inner(node), Vec::new());
        }
        self.junk_in(node, "`,` or `)`");
        let mut required = Vec::new();
        let mut optional = Vec::new();
        for part in node.nodes() {
            if part.kind == Optional {
                optional.extend(self.option(part));
            } else {
                required.push(self.inner(part));
            }
        }
        if required.is_empty() && !node.is_unclosed() {
            let name = self.text_of(fun.span);
            let error = self
                .error(
                    node.span,
                    format!("a call needs an argument: `{name}()` has none"),
                )
                .hint(format!(
                    "write `{name}(x)`, or `{name}` alone for a variable"
                ));
            self.report(node.span.start, error);
        }
        (self.fold_pairs(required, node.span), optional)
    }

    fn call(&mut self, node: &Node) -> Expr {
        let (fun, argument) = (&node.children[0], &node.children[1]);
        if fun.kind == Name && self.is_reserved(fun.span.start) {
            let (arg, _) = self.arguments(fun, argument);
            return Expr::Time(arg);
        }
        let callee = self.inner(fun);
        let (arg, optional) = self.arguments(fun, argument);
        Expr::Call {
            fun: callee,
            arg,
            optional,
        }
    }

    fn index(&mut self, node: &Node) -> Expr {
        let sequence = self.inner(&node.children[0]);
        let list = &node.children[1..];
        for child in list {
            if child.kind == Error {
                self.junk(child, "`]`");
            }
        }
        let parts: Vec<&Node> = list
            .iter()
            .filter(|child| !child.kind.is_token() && child.kind != Error)
            .collect();
        let bracket = Span::new(list[0].span.start, node.span.end);
        let name = self.text_of(node.children[0].span);
        let colon = list.iter().any(|child| child.kind == Colon);
        if let [index] = parts[..] {
            let index = self.inner(index);
            return Expr::Index { sequence, index };
        }
        if parts.is_empty() && node.is_unclosed() {
            return Expr::Missing;
        }
        let inner = self.text_of(bracket);
        let error = if parts.is_empty() {
            self.error(bracket, "the index is missing").hint(format!(
                "write `{name}[0]`, or `{name}([] int)` to call `{name}` with an empty sequence"
            ))
        } else if colon {
            let error = self.error(bracket, "there are no slices; `[…]` takes one index");
            match parts[..] {
                [from, to] => {
                    let (from, to) = (self.text_of(from.span), self.text_of(to.span));
                    let from = if from.is_empty() || from == ":" {
                        "0"
                    } else {
                        &from
                    };
                    let to = match to.as_str() {
                        "" | "]" => format!("#{name}"),
                        to => to.to_string(),
                    };
                    error.fix(
                        "use `subseq`",
                        self.range(node.span),
                        format!("subseq({name}, {from}, {to})"),
                    )
                }
                _ => error.hint(format!("gather with a range: `{name} -> {inner}`")),
            }
        } else {
            self.error(bracket, "`[…]` takes one index").hint(format!(
                "write `{name}({inner})` to call `{name}` with a sequence, or `a[i][j]` for nested ones"
            ))
        };
        self.report(bracket.start, error);
        for part in parts {
            if !part.is_missing() {
                self.inner(part);
            }
        }
        Expr::Missing
    }

    fn sequence(&mut self, node: &Node) -> Expr {
        let colons = node.children.iter().filter(|c| c.kind == Colon).count();
        let commas = node.children.iter().filter(|c| c.kind == Comma).count();
        self.junk_in(
            node,
            if colons > 0 {
                "`:` or `]`"
            } else {
                "`,` or `]`"
            },
        );
        let parts: Vec<&Node> = node.nodes().collect();
        if colons == 0 {
            return Expr::Sequence(parts.into_iter().map(|part| self.inner(part)).collect());
        }
        if commas > 0 || colons > 2 {
            let error = self
                .error(node.span, "this is neither a list nor a range")
                .note("a list has commas, `[a, b, c]`; a range is `[start:end]` or `[start:end:stride]`");
            self.report(node.span.start, error);
            for part in parts {
                if !part.is_missing() {
                    self.inner(part);
                }
            }
            return Expr::Missing;
        }
        if parts[0].is_missing() {
            let at = parts[0].span.start;
            let error = self
                .error(Span::new(at, at + 1), "a range needs a start")
                .fix("start at 0", self.gap(at), "0");
            self.report(at, error);
        } else if parts[1].is_missing() {
            let at = parts[1].span.start;
            let error = self
                .expected(at, "a range needs an end")
                .note("the end is not included: `[0:3]` is `[0, 1, 2]`");
            self.report(at, error);
        }
        let parts: Vec<ExprId> = parts.into_iter().map(|part| self.inner(part)).collect();
        Expr::Range {
            start: parts[0],
            end: parts[1],
            stride: parts.get(2).copied(),
        }
    }

    fn empty(&mut self, node: &Node) -> Expr {
        let ty = &node.children[2];
        if ty.is_missing() {
            let at = ty.span.start;
            let brackets = Span::new(node.span.start, node.span.start + 2);
            let error = self
                .error(brackets, "`[]` needs the type of its elements after it")
                .fix("for example `[] int`", self.gap(at), " int");
            self.report(at, error);
        }
        Expr::Empty(self.ty(ty))
    }

    fn unary(&mut self, node: &Node) -> Expr {
        let (token, operand) = (&node.children[0], &node.children[1]);
        let op = match token.kind {
            Hash => UnaryOp::Length,
            At => UnaryOp::String,
            Minus => UnaryOp::Negate,
            _ => {
                self.inner(operand);
                return Expr::Missing;
            }
        };
        let least = op == UnaryOp::Negate
            && operand.kind == Literal
            && self.source.token(operand.span.start) == "9223372036854775808";
        if least {
            return Expr::Int(i64::MIN);
        }
        let arg = self.inner(operand);
        Expr::Unary {
            op,
            op_span: token.span,
            arg,
        }
    }

    fn binary(&mut self, node: &Node) -> Expr {
        let [left, token, right] = &node.children[..] else {
            return Expr::Missing;
        };
        if matches!(token.kind, Eq | ColonEq) {
            self.equals(left, token);
        }
        let op_span = token.span;
        let (left, right) = (self.inner(left), self.inner(right));
        match binary_op(token.kind) {
            Some(op) => Expr::Binary {
                op,
                op_span,
                left,
                right,
            },
            None => Expr::Missing,
        }
    }

    /// `=` in an expression: `==` was meant, or a `;` is missing before a binding.
    pub(super) fn equals(&mut self, left: &Node, token: &Node) {
        let at = token.span.start;
        if let Some(name) = self.run_on(left) {
            let found = self.found(name);
            let error = self
                .error(
                    Span::new(name, at),
                    format!("expected `;` before {found}, which begins a binding"),
                )
                .fix("end the one before with `;`", self.gap(name), ";");
            let error = self.foreign_comment(name.saturating_sub(1), error);
            self.report(at, error);
            return;
        }
        let range = self.range(token.span);
        if left.is_missing() {
            let error = self.error(
                token.span,
                format!("{} has nothing before it", self.found(at)),
            );
            self.report(at, error);
            return;
        }
        let mut error = match token.kind {
            ColonEq => self.error(
                token.span,
                "`:=` gives an optional argument of a call, and nothing else",
            ),
            _ => self.error(
                token.span,
                "`=` binds a name, and cannot stand in an expression",
            ),
        };
        if left.kind == Index {
            error = error.hint("a sequence cannot be changed; `rep(a, v, i)` is a changed copy");
        }
        error = match (token.kind, left.span.start, left.kind) {
            (ColonEq, 0, Name | Paren) => error.fix("a variable is defined with `=`", range, "="),
            _ => error.fix("write `==` to compare", range, "=="),
        };
        self.report(at, error);
    }

    /// In `1 y = 2`: the `y`, if it is on a line of its own or in a `let`.
    fn run_on(&self, left: &Node) -> std::option::Option<u32> {
        let mut node = left;
        loop {
            match node.kind {
                Binary | Unary => node = node.children.last()?,
                Apply => {
                    let pattern = node.children.last()?;
                    let at = pattern.span.start;
                    let name = matches!(pattern.kind, Name | Paren | Call);
                    return (name && (self.in_let || self.source.breaks_before(at))).then_some(at);
                }
                _ => return None,
            }
        }
    }

    fn conditional(&mut self, node: &Node) -> Expr {
        let after = |word: SyntaxKind| {
            let at = node.children.iter().position(|child| child.kind == word)?;
            node.children.get(at + 1)
        };
        let if_range = self.source.range(node.span.start);
        let cond = self.inner(&node.children[1]);
        let then = match after(ThenKw) {
            Some(branch) => self.inner(branch),
            None => {
                let at = node.children[1].span.end;
                let found = self.found(at);
                let error = self
                    .expected(
                        at,
                        format!("expected `then` after the condition, found {found}"),
                    )
                    .label(if_range, "of this `if`")
                    .fix("write `then` here", self.gap(at), " then");
                self.report(at, error);
                self.missing(Span::new(at, at))
            }
        };
        let otherwise = match after(ElseKw) {
            Some(branch) => self.inner(branch),
            None => {
                let at = node.span.end;
                let found = self.found(at);
                let error = self
                    .expected(at, format!("an `if` needs an `else`; found {found}"))
                    .label(if_range, "this `if`")
                    .note("`if` is an expression, so both branches must give a value");
                self.report(at, error);
                self.missing(Span::new(at, at))
            }
        };
        Expr::If {
            cond,
            then,
            otherwise,
        }
    }

    fn bindings(&mut self, node: &Node) -> Expr {
        let mut bindings = Vec::new();
        for child in &node.children {
            if child.kind == LetBinding {
                self.let_binding(child, &mut bindings);
            }
        }
        if node.child(LetBinding).is_none() {
            let at = node.span.start + 1;
            let found = self.found(at);
            let error = self.expected(at, format!("expected a binding after `let`, found {found}"));
            self.report(at, error);
        }
        let word = node.children.iter().position(|child| child.kind == InKw);
        let body = match word {
            Some(at) => self.inner(&node.children[at + 1]),
            None => {
                let at = node.span.end;
                self.missing_in(node, at);
                self.missing(Span::new(at, at))
            }
        };
        Expr::Let { bindings, body }
    }

    /// The token that begins a line in the middle of a juxtaposition, at the end of a `let`.
    fn run_on_line(&self, node: &Node) -> std::option::Option<u32> {
        let value = node
            .children
            .iter()
            .rfind(|child| child.kind == LetBinding)?;
        let mut node = value.children.last()?;
        loop {
            match (node.kind, &node.children[..]) {
                (Apply, [_, argument]) if self.source.breaks_before(argument.span.start) => {
                    return Some(argument.span.start);
                }
                (Binary | Apply | Index | Tuple, [left, ..]) => node = left,
                _ => return None,
            }
        }
    }

    fn missing_in(&mut self, node: &Node, at: u32) {
        if let Some(at) = self.run_on_line(node) {
            let word = self.source.range(node.span.start);
            let found = self.found(at);
            let error = self
                .error(
                    Span::new(at, at + 1),
                    format!("expected `in` before {found}, after the bindings of `let`"),
                )
                .label(word, "this `let`")
                .fix("write `in` here", self.gap(at), " in");
            self.report(at, error);
            return;
        }
        let found = self.found(at);
        let word = self.source.range(node.span.start);
        let mut error = self
            .expected(
                at,
                format!(
                    "expected `in` and an expression after the bindings of `let`, found {found}"
                ),
            )
            .label(word, "this `let`");
        let whole = node.span.start == 0 && at as usize + 1 >= self.source.tokens.len();
        let single = node
            .children
            .iter()
            .filter(|c| c.kind == LetBinding)
            .count()
            == 1;
        if whole && single {
            let next = self.source.range(1).start();
            error = error.fix(
                "a variable is defined without `let`",
                crate::base::TextRange::new(word.start(), next),
                "",
            );
        } else {
            error = error.fix("write `in` here", self.gap(at), " in ");
        }
        self.report(at, error);
    }

    fn let_binding(&mut self, node: &Node, out: &mut Vec<(PatId, ExprId)>) {
        let pattern = self.pattern(&node.children[0]);
        let equals = node
            .children
            .iter()
            .position(|child| crate::syntax::grammar::is_equals(child.kind));
        let expected = match equals {
            Some(_) => "`;` or `in`",
            None => "`=`",
        };
        let Some(equals) = equals else {
            if node.child(Error).is_none() {
                let at = node.span.end;
                let found = self.found(at);
                let error =
                    self.expected(at, format!("expected `=` after the pattern, found {found}"));
                self.report(at, error);
            }
            self.junk_in(node, expected);
            let value = self.missing(Span::new(node.span.end, node.span.end));
            out.push((pattern, value));
            return;
        };
        self.wrong_equals(&node.children[equals], "a binding");
        for (at, child) in node.children.iter().enumerate() {
            if child.kind == Error {
                self.junk(child, if at < equals { "`=`" } else { expected });
            }
        }
        self.run_of_bindings(pattern, &node.children[equals + 1], out);
    }

    /// The bindings that `p = a q = b …` was meant to be, reported; usually just the one.
    fn run_of_bindings(&mut self, pattern: PatId, value: &Node, out: &mut Vec<(PatId, ExprId)>) {
        // The tree is `((a q) = (b r)) = c`.
        let mut parts = Vec::new();
        let mut node = value;
        while let (Binary, [left, token, right]) = (node.kind, &node.children[..]) {
            if token.kind != Eq || left.kind != Apply && left.kind != Binary {
                break;
            }
            parts.push((token, right));
            node = left;
            if left.kind == Apply {
                break;
            }
        }
        self.in_let = true;
        let simple = node.kind == Apply
            && !parts.is_empty()
            && parts[1..].iter().all(|(_, right)| right.kind == Apply)
            && parts
                .iter()
                .all(|(token, _)| !self.is(token.span.start, ColonEq));
        if !simple {
            let id = self.expr(value);
            self.in_let = false;
            out.push((pattern, id));
            return;
        }
        let mut pattern = pattern;
        let mut current = node;
        for (token, right) in parts.into_iter().rev() {
            let next = &current.children[1];
            self.equals(current, token);
            let value = self.inner(&current.children[0]);
            out.push((pattern, value));
            pattern = self.pattern(next);
            current = right;
        }
        self.in_let = false;
        let last = self.inner(current);
        out.push((pattern, last));
    }
}

/// The operator that a token is, or was meant to be.
pub(super) fn binary_op(kind: SyntaxKind) -> std::option::Option<BinaryOp> {
    Some(match kind {
        OrKw => BinaryOp::Or,
        NorKw => BinaryOp::Nor,
        XorKw => BinaryOp::Xor,
        AndKw | ForeignAnd => BinaryOp::And,
        NandKw => BinaryOp::Nand,
        Eq2 | Eq => BinaryOp::Eq,
        Ne | ForeignNe => BinaryOp::Ne,
        Lt => BinaryOp::Lt,
        Gt => BinaryOp::Gt,
        Le => BinaryOp::Le,
        Ge => BinaryOp::Ge,
        Plus => BinaryOp::Add,
        Minus => BinaryOp::Sub,
        Plus2 => BinaryOp::Append,
        Star => BinaryOp::Mul,
        Slash => BinaryOp::Div,
        Pipe2 => BinaryOp::Pad,
        Caret | ForeignPower => BinaryOp::Power,
        LArrow => BinaryOp::Write,
        Arrow => BinaryOp::Read,
        _ => return None,
    })
}
