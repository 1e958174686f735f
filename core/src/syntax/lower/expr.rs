//! Lowering of expressions.

use super::super::ast::{BinaryOp, Expr, ExprId, FloatBits, Ident, UnaryOp};
use super::super::grammar::Node;
use super::super::lexer::{Kind, unescape};
use super::{Lower, QUOTED_CHAR, Report, span};
use crate::base::{Name, Span};
use nesl_runtime::bug::OrBug;

/// The way out for those who assign to an element.
pub(super) const NEVER_CHANGED: &str =
    "a sequence is never changed; `rep(a, v, i)` is a changed copy";

impl Lower<'_> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, node: &Node) -> ExprId {
        let operator = matches!(node.kind, Kind::Binary | Kind::Unary | Kind::Juxtaposed);
        if self.in_let && !operator {
            return self.outside_let(|lower| lower.expr(node));
        }
        crate::base::with_stack(|| match node.kind {
            Kind::Binary => self.chain(node),
            _ => self.expr_inner(node),
        })
    }

    /// Lowers a chain of binary operators from its left end: it is as deep as it is long.
    fn chain(&mut self, node: &Node) -> ExprId {
        let mut above = Vec::new();
        let mut node = node;
        let mut id = loop {
            if node.kind != Kind::Binary {
                break self.expr(node);
            }
            match self.operator(node) {
                Err(expr) => break self.add(expr, span(node)),
                Ok(op) => above.push((node, op)),
            }
            if let Some(missing) = self.missing_left(node) {
                break missing;
            }
            node = &node.kids[0];
        };
        while let Some((node, op)) = above.pop() {
            let expr = self.with_right(node, op, id);
            id = self.add(expr, span(node));
        }
        id
    }

    fn expr_inner(&mut self, node: &Node) -> ExprId {
        let here = span(node);
        let expr = match node.kind {
            Kind::Missing => {
                let report = self.expected("an expression", node.start);
                self.report(report);
                Expr::Missing
            }
            Kind::Literal => self.literal(node),
            Kind::NameRef => Expr::Name(Name::new(self.token_text(node.start))),
            Kind::Quoted => self.quoted(node),
            Kind::Paren => {
                let inside = if node.kids[0].present() {
                    self.expr(&node.kids[0])
                } else {
                    let at = self.node_range(node);
                    let report = self.error(at, "there is nothing in these parentheses");
                    self.report(report);
                    self.add(Expr::Missing, here)
                };
                self.need_close(node.start, &node.kids[1], ")");
                // Messages show the expression with its parentheses.
                self.expr_spans.insert(inside, here);
                return inside;
            }
            Kind::Tuple => return self.tuple(node),
            Kind::List => {
                self.need_close(node.start, &node.kids[1], "]");
                let close = node.kids[1].start;
                if self.token_kind(close) == Some(Kind::Semi)
                    && self.closes_later(node.start, close)
                {
                    // Rows as MATLAB writes them, which have been reported.
                    return self.add(Expr::Missing, here);
                }
                Expr::Sequence(self.elements(&node.kids[0]))
            }
            Kind::Empty => {
                if !node.kids[0].present() {
                    let at = self.range(here);
                    let report = self
                        .error(at, "an empty sequence needs the type of its elements")
                        .hint("write `[] int`, `[] float`, `[] [char]`, …");
                    let report = match self.token_kind(0) {
                        Some(Kind::FunctionKw) => report
                            .hint("in a function for any type: `take(xs, 0)`, of a sequence `xs` of that type"),
                        _ => report,
                    };
                    self.report(report);
                    Expr::Missing
                } else {
                    let ty = self.element_type(&node.kids[0]);
                    Expr::Empty(ty)
                }
            }
            Kind::Range => self.range_expr(node),
            Kind::Index => {
                self.next_form(node, node.kids[1].start - 1);
                if let Some(report) = self.index_by_condition(node) {
                    self.report(report);
                    return self.add(Expr::Missing, here);
                }
                let sequence = self.expr(&node.kids[0]);
                let index = self.expr(&node.kids[1]);
                Expr::Index { sequence, index }
            }
            Kind::Call | Kind::Juxtaposed => self.call(node),
            Kind::Unary => self.unary(node),
            Kind::Lambda => {
                let param = self.pattern(&node.kids[0]);
                let body = self.needed(&node.kids[1], "the body of the function after `=>`");
                Expr::Lambda { param, body }
            }
            Kind::Option => {
                let at = self.node_range(node);
                let sign = Span::new(node.kids[0].end, node.kids[0].end + 1);
                let sign = self.range(sign);
                let report = self.error(at, "`:=` names an optional argument of a call");
                let report = match node.start {
                    _ if node.kids[0].kind == Kind::Index => report.hint(NEVER_CHANGED),
                    0 => report.fix("a variable is defined with `=`", sign, "="),
                    _ => report.hint("to compare write `==`, to bind `let x = … in …`"),
                };
                self.report(report);
                Expr::Missing
            }
            Kind::If => self.conditional(node),
            Kind::Let => self.let_expr(node),
            Kind::Each => self.each(node),
            Kind::Time => {
                if node.kids[0].present() {
                    let inside = self.expr(&node.kids[0]);
                    Expr::Time(inside)
                } else {
                    let report =
                        self.expected("`(` after `time`", node.end).hint("write `time(e)`");
                    self.report(report);
                    Expr::Missing
                }
            }
            other => {
                let at = self.node_range(node);
                let report = self.error(at, format!("unexpected {other:?}"));
                self.report(report);
                Expr::Missing
            }
        };
        self.add(expr, here)
    }

    fn literal(&mut self, node: &Node) -> Expr {
        let text = self.token_text(node.start);
        let at = self.node_range(node);
        match self.token_kind(node.start) {
            Some(Kind::Int) => {
                match text.parse() {
                    Ok(value) => Expr::Int(value),
                    Err(_) => {
                        let report = self
                            .error(at, "this number does not fit an int of 64 bits")
                            .fix("write a float", at, format!("{text}.0"));
                        self.report(report);
                        Expr::Missing
                    }
                }
            }
            Some(Kind::Float) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Expr::Float(FloatBits(value.to_bits())),
                _ => {
                    let report = self
                        .error(at, "this number is too large for a float")
                        .hint("`infinity` is a name for what is larger than all floats");
                    self.report(report);
                    Expr::Missing
                }
            },
            Some(Kind::Char) => match &text.as_bytes()[1..] {
                [byte] => Expr::Char(*byte),
                // `` `a` ``, with a back-quote at both ends.
                [byte, b'`'] => {
                    let char = &text[..2];
                    let report = self.error(at, QUOTED_CHAR);
                    self.report(report.fix(format!("write `` {char} ``"), at, char));
                    Expr::Char(*byte)
                }
                _ => {
                    let letter = text.trim_matches('`');
                    let report = self
                        .error(at, format!("a char is one byte; `{letter}` takes several"))
                        .hint(format!("use a string: \"{letter}\""));
                    self.report(report);
                    Expr::Missing
                }
            },
            Some(Kind::Text) => {
                self.warn_of_escapes(text, at.start());
                Expr::Text(unescape(text).into())
            }
            Some(Kind::TrueKw) => Expr::Bool(true),
            Some(Kind::FalseKw) => Expr::Bool(false),
            Some(Kind::LBracket) => self.long_literal(node),
            // An open string or an unknown character, which is reported as a token.
            _ => Expr::Missing,
        }
    }

    /// Lowers a list whose elements were read before the grammar.
    fn long_literal(&mut self, node: &Node) -> Expr {
        let at = self.literals.partition_point(|literal| literal.start < node.start);
        let literal = &self.literals[at];
        for token in &literal.escaped {
            let start = self.tokens[*token as usize].range.start();
            self.warn_of_escapes(self.token_text(*token), start);
        }
        Expr::Constants { elements: literal.elements.clone(), wide: literal.wide.clone() }
    }

    fn quoted(&mut self, node: &Node) -> Expr {
        if node.end - node.start < 2 {
            if let Some(report) = self.quotes(node) {
                self.report(report);
                return Expr::Missing;
            }
            if let Some(report) = self.primed_name(node) {
                self.report(report);
                return Expr::Missing;
            }
            let report = self
                .expected("an operator or a function after `'`", node.end)
                .hint("characters are written with a back-quote: `a");
            self.report(report);
            return Expr::Missing;
        }
        if let Some(report) = self.quoted_by_two(node) {
            self.report(report);
            return Expr::Missing;
        }
        Expr::Quote(Name::new(self.token_text(node.start + 1)))
    }

    /// Lowers a tuple to right-nested pairs.
    fn tuple(&mut self, node: &Node) -> ExprId {
        let ids: Vec<(ExprId, Span)> =
            node.kids.iter().map(|kid| (self.component(kid, node), span(kid))).collect();
        let (mut id, mut whole) = *ids.last().or_bug("a tuple has components");
        for (first, here) in ids.iter().rev().skip(1) {
            whole = whole.cover(*here);
            id = self.add(Expr::Pair(*first, id), whole);
        }
        id
    }

    fn component(&mut self, kid: &Node, whole: &Node) -> ExprId {
        if kid.kind != Kind::Missing {
            return self.expr(kid);
        }
        let comma = if kid.start > whole.start { kid.start - 1 } else { kid.start };
        let at = self.range(Span::new(comma, comma + 1));
        let found = self.found(kid.start);
        let side = if kid.start > whole.start { "after" } else { "before" };
        let report = self
            .error(at, format!("there is nothing {side} this `,`"))
            .here(format!("expected an expression, found {found}"));
        let closes = matches!(
            self.token_kind(kid.start),
            Some(Kind::RParen | Kind::RBracket | Kind::RBrace)
        );
        let report = if closes { report.fix("leave out this `,`", at, "") } else { report };
        self.report(report);
        self.add(Expr::Missing, span(kid))
    }

    fn elements(&mut self, node: &Node) -> Vec<ExprId> {
        if node.kind == Kind::Tuple {
            node.kids.iter().map(|kid| self.component(kid, node)).collect()
        } else {
            vec![self.expr(node)]
        }
    }

    fn range_expr(&mut self, node: &Node) -> Expr {
        let (close, parts) = node.kids.split_last().or_bug("a range has an end");
        self.need_close(node.start, close, "]");
        if parts.iter().any(|part| !part.present()) {
            let at = self.node_range(node);
            let report = self
                .error(at, "a range needs both its ends")
                .hint("write `[start:end]` or `[start:end:stride]`; the end is not included");
            self.report(report);
            return Expr::Missing;
        }
        let start = self.expr(&parts[0]);
        let end = self.expr(&parts[1]);
        let stride = parts.get(2).map(|part| self.expr(part));
        Expr::Range { start, end, stride }
    }

    fn call(&mut self, node: &Node) -> Expr {
        if let Some(arrow) = self.thin_arrow(&node.kids[0]) {
            let at = self.range(Span::new(arrow, arrow + 1));
            let report = self.error(at, "`->` reads elements; it does not make a function").fix(
                "write `=>`",
                at,
                "=>",
            );
            self.report(report);
            return Expr::Missing;
        }
        self.next_form(node, node.kids[1].start);
        if let Some(report) = self.not_an_application(node) {
            self.report(report);
            return Expr::Missing;
        }
        if let Some(report) = self.open_slice(node) {
            self.report(report);
            return Expr::Missing;
        }
        let fun = self.expr(&node.kids[0]);
        let arg = &node.kids[1];
        if arg.kind != Kind::Paren {
            let arg = self.expr(arg);
            return Expr::Call { fun, arg, optional: Vec::new() };
        }
        let inside = &arg.kids[0];
        if !inside.present() {
            self.need_close(arg.start, &arg.kids[1], ")");
            let at = self.node_range(arg);
            if self.token_kind(inside.start) == Some(Kind::Bar) {
                let bar = self.range(Span::new(inside.start, inside.start + 1));
                let report = self.error(bar, "`|` does not begin a function value");
                let hint = "a function value is written `x => x + 1`";
                let report = Self::fix_or_hint(report, hint, self.closure(inside.start));
                self.report(report);
                return Expr::Missing;
            }
            let report = match self.called_command(node).or_else(|| self.column(node)) {
                Some(report) => report,
                None => self
                    .error(at, "a call needs an argument")
                    .hint("a function has exactly one, which may be a tuple"),
            };
            self.report(report);
            let arg = self.add(Expr::Missing, span(arg));
            return Expr::Call { fun, arg, optional: Vec::new() };
        }
        if let Some(report) = self.named_argument(inside) {
            self.report(report);
            return Expr::Missing;
        }
        let (positional, optional) = self.arguments(inside);
        // What is wrong inside may be the reason that the end was not reached.
        self.need_close(arg.start, &arg.kids[1], ")");
        // Messages show the argument with its parentheses.
        let written = span(arg);
        self.expr_spans.insert(positional, written);
        Expr::Call { fun, arg: positional, optional }
    }

    /// Makes the report of `g(1, n = 2)`, a call with an optional argument as other languages write it.
    fn named_argument(&mut self, inside: &Node) -> Option<Report> {
        let Kind::Tuple = inside.kind else { return None };
        let named = inside.kids.iter().skip(1).find(|kid| {
            kid.kind == Kind::Binary
                && kid.kids[0].kind == Kind::NameRef
                && self.token_kind(kid.kids[0].end) == Some(Kind::Equals)
                && !self.begins_line(kid.start)
        })?;
        let sign = named.kids[0].end;
        let at = self.range(Span::new(sign, sign + 1));
        let report = self.error(at, "an optional argument is not written with `=`");
        Some(report.fix(
            "write `:=` if the function has such an argument; to compare, `==`",
            at,
            ":=",
        ))
    }

    fn arguments(&mut self, inside: &Node) -> (ExprId, Vec<(Ident, ExprId)>) {
        let mut optional = Vec::new();
        if inside.kind != Kind::Tuple || inside.kids.iter().all(|k| k.kind != Kind::Option) {
            return (self.expr(inside), optional);
        }
        let mut positional: Vec<Node> = Vec::new();
        for kid in &inside.kids {
            if kid.kind == Kind::Option {
                self.option(kid, &mut optional);
            } else {
                positional.push(kid.clone());
            }
        }
        let arg = match positional.len() {
            0 => {
                let report = self.expected("the argument before the optional ones", inside.start);
                self.report(report);
                self.add(Expr::Missing, span(inside))
            }
            1 => self.expr(&positional[0]),
            _ => {
                let start = positional[0].start;
                let end = positional[positional.len() - 1].end;
                self.expr(&Node { kind: Kind::Tuple, start, end, kids: positional })
            }
        };
        (arg, optional)
    }

    fn unary(&mut self, node: &Node) -> Expr {
        // The smallest int is not the negative of an int.
        if self.token_kind(node.start) == Some(Kind::Minus)
            && node.kids[0].kind == Kind::Literal
            && self.node_text(&node.kids[0]) == "9223372036854775808"
        {
            return Expr::Int(i64::MIN);
        }
        let op = match self.token_kind(node.start) {
            Some(Kind::Hash) => UnaryOp::Length,
            Some(Kind::At) => UnaryOp::String,
            _ => UnaryOp::Negate,
        };
        let word = self.token_text(node.start).to_owned();
        let alone = matches!(self.token_kind(node.end), Some(Kind::Comma | Kind::RParen))
            && matches!(
                node.start.checked_sub(1).and_then(|before| self.token_kind(before)),
                Some(Kind::CallParen | Kind::Comma)
            );
        if alone && !node.kids[0].present() {
            let range = self.range(Span::new(node.start, node.start + 1));
            let report =
                self.error(range, "an operator is passed to a function with a `'` before it");
            self.report(report.fix(format!("write `'{word}`"), range, format!("'{word}")));
            return Expr::Missing;
        }
        let arg = self.needed(&node.kids[0], &format!("an expression after `{word}`"));
        Expr::Unary { op, op_span: Span::new(node.start, node.start + 1), arg }
    }

    /// Returns the operator of a binary operation, or the expression that it is if it is none.
    fn operator(&mut self, node: &Node) -> Result<BinaryOp, Expr> {
        let at = node.kids[0].end;
        let op_span = Span::new(at, at + 1);
        let word = self.token_text(at).to_owned();
        let op = match self.token_kind(at) {
            Some(Kind::Equals) => {
                if let Some(report) = self.foreign_comparison(at) {
                    self.report(report);
                    return Err(Expr::Missing);
                }
                if let Some(report) = self.explained_sign(node) {
                    self.report(report);
                    return Err(Expr::Missing);
                }
                if let Some(report) = self.unclosed_before_binding(&node.kids[0]) {
                    self.decisive.get_or_insert(report);
                    return Err(Expr::Missing);
                }
                if self.missing_semicolon(&node.kids[0], op_span) {
                    // Both sides may have further mistakes.
                    self.expr(&node.kids[0]);
                    self.outside_let(|lower| lower.expr(&node.kids[1]));
                    return Err(Expr::Missing);
                }
                if let Some(report) = self.stopped_before_binding(&node.kids[0]) {
                    self.decisive.get_or_insert(report);
                    return Err(Expr::Missing);
                }
                let range = self.range(op_span);
                if !node.kids[0].present() {
                    let mut report = self.error(range, "`=` has nothing on its left");
                    if node.start == 0 {
                        report = report.hint("did a `;` end the form before it too early?");
                    }
                    self.report(report);
                    return Err(Expr::Missing);
                }
                if node.start == 0
                    && let Some(report) = self.bare_definition(node)
                {
                    self.report(report);
                    return Err(Expr::Missing);
                }
                let mut report = self.error(range, "`=` defines; it does not compare");
                let list = node.kids[0].kind == Kind::Juxtaposed
                    && matches!(node.kids[0].kids[1].kind, Kind::List | Kind::Range);
                let call = node.start == 0 && node.kids[0].kind == Kind::Call;
                if node.kids[0].kind == Kind::Index || list {
                    report = report.hint(NEVER_CHANGED);
                }
                let bound = node.kids[0].kind == Kind::NameRef
                    && node.start.checked_sub(1).is_some_and(|before| {
                        matches!(
                            self.token_kind(before),
                            Some(Kind::Equals | Kind::ThenKw | Kind::ElseKw)
                        )
                    });
                report = if bound {
                    let name = self.node_text(&node.kids[0]);
                    report.hint(format!(
                        "a name inside an expression is bound by `let {name} = … in …`"
                    ))
                } else if list {
                    report
                } else if call {
                    let called = self.node_text(&node.kids[0].kids[0]);
                    report.hint(format!("a sequence is never changed: `rep(a, v, i)` is a changed copy; a function is defined with `function {called}(x) = …`"))
                } else if node.start == 0 && node.kids[0].kind == Kind::Index {
                    self.changed_copy(node, report)
                } else {
                    report.fix("write `==` to compare", range, "==")
                };
                self.report(report);
                BinaryOp::Eq
            }
            Some(Kind::ForeignNotEq) => BinaryOp::Ne,
            Some(Kind::ForeignAnd) => BinaryOp::And,
            Some(Kind::ForeignPower) => BinaryOp::Power,
            Some(kind) => binary_op(kind).unwrap_or(BinaryOp::Eq),
            None => BinaryOp::Eq,
        };
        if !node.kids[0].present()
            && self.token_kind(at + 1) == Some(Kind::Slash)
            && let Some(reduction) = reduction(&word)
        {
            let range = self.range(Span::new(at, at + 2));
            let report = self.error(range, format!("`{word}/` does not reduce"));
            self.report(report.hint(reduction));
            return Err(Expr::Missing);
        }
        if !node.kids[0].present() && !node.kids[1].present() {
            let range = self.range(op_span);
            let report =
                self.error(range, "an operator is passed to a function with a `'` before it");
            self.report(report.fix(format!("write `'{word}`"), range, format!("'{word}")));
            return Err(Expr::Missing);
        }
        Ok(op)
    }

    /// Reports that a binary operation has nothing on its left, and returns what stands for that.
    fn missing_left(&mut self, node: &Node) -> Option<ExprId> {
        if node.kids[0].kind != Kind::Missing {
            return None;
        }
        let at = node.kids[0].end;
        let range = self.range(Span::new(at, at + 1));
        let word = self.token_text(at).to_owned();
        let mut report = self.error(range, format!("`{word}` has nothing on its left"));
        let before = at.checked_sub(1).and_then(|before| self.token_kind(before));
        if word == "+" && matches!(before, Some(Kind::Equals)) {
            report = report.fix("a number has no `+` before it", range, "");
        } else if matches!(before, Some(Kind::LParen | Kind::CallParen)) {
            report = report.hint(format!("a function value is written `x => x {word} 1`"));
        }
        self.report(report);
        Some(self.add(Expr::Missing, span(&node.kids[0])))
    }

    /// Lowers the right operand of a binary operation.
    fn with_right(&mut self, node: &Node, op: BinaryOp, left: ExprId) -> Expr {
        let at = node.kids[0].end;
        let op_span = Span::new(at, at + 1);
        let right = if node.kids[1].present() {
            self.expr(&node.kids[1])
        } else {
            if let Some(report) = self.changes_a_variable(node, op_span) {
                self.report(report);
                return Expr::Missing;
            }
            let what = format!("an expression after `{}`", self.token_text(at));
            self.needed(&node.kids[1], &what)
        };
        Expr::Binary { op, op_span, left, right }
    }
}

/// Returns how a reduction by an operator, as APL writes it, is written in NESL.
fn reduction(word: &str) -> Option<&'static str> {
    Some(match word {
        "+" => "the sum of a sequence is `sum(xs)`, its prefix sums are `plus_scan(xs)`",
        "*" => "the product of a sequence is `product(xs)`",
        _ => return None,
    })
}

pub(super) fn binary_op(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::OrKw => BinaryOp::Or,
        Kind::NorKw => BinaryOp::Nor,
        Kind::XorKw => BinaryOp::Xor,
        Kind::AndKw => BinaryOp::And,
        Kind::NandKw => BinaryOp::Nand,
        Kind::EqEq => BinaryOp::Eq,
        Kind::NotEq => BinaryOp::Ne,
        Kind::Less => BinaryOp::Lt,
        Kind::LessEq => BinaryOp::Le,
        Kind::Greater => BinaryOp::Gt,
        Kind::GreaterEq => BinaryOp::Ge,
        Kind::Plus => BinaryOp::Add,
        Kind::Minus => BinaryOp::Sub,
        Kind::PlusPlus => BinaryOp::Append,
        Kind::Star => BinaryOp::Mul,
        Kind::Slash => BinaryOp::Div,
        Kind::Bars => BinaryOp::Pad,
        Kind::Caret => BinaryOp::Power,
        Kind::LeftArrow => BinaryOp::Write,
        Kind::RightArrow => BinaryOp::Read,
        _ => return None,
    })
}
