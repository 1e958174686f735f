//! `if`, and what is missing of it while it is written.
//!
//! One mistake gets one report: where a part is wrong at its end, the parts behind it are not missed.

use super::super::ast::{Expr, ExprId};
use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, Report, span};
use crate::base::{Span, TextRange};

impl Lower<'_> {
    pub(super) fn conditional(&mut self, node: &Node) -> Expr {
        let [c, then, a, otherwise, b] = &node.kids[..] else { return Expr::Missing };
        let before = self.diagnostics.len();
        let cond = self.needed(c, "the condition after `if`");
        if !c.present() {
            return Expr::Missing;
        }
        if !then.present() {
            self.missing_then(node, before);
            // The branch after it was not parsed as one: one error is enough.
            let then = self.add(Expr::Missing, span(a));
            return Expr::If { cond, then, otherwise: then };
        }
        let wrong = self.diagnostics.len() > before;
        let branch = self.diagnostics.len();
        let yes = self.part(a, wrong, "an expression after `then`");
        if !otherwise.present() {
            if !wrong && a.present() {
                self.missing_else(node, branch);
            }
            let no = self.add(Expr::Missing, span(b));
            return Expr::If { cond, then: yes, otherwise: no };
        }
        let wrong = self.diagnostics.len() > before;
        let no = self.part(b, wrong, "an expression after `else`");
        Expr::If { cond, then: yes, otherwise: no }
    }

    /// Lowers a part that has to be there; it is not missed if a part before it is wrong.
    pub(super) fn part(&mut self, node: &Node, wrong: bool, what: &str) -> ExprId {
        match wrong && !node.present() {
            true => self.add(Expr::Missing, span(node)),
            false => self.needed(node, what),
        }
    }

    /// Reports that the `then` of an `if` is missing; the reports about its condition begin at `before`.
    fn missing_then(&mut self, node: &Node, before: usize) {
        let (c, then) = (&node.kids[0], &node.kids[1]);
        let opener = self.range(Span::new(node.start, node.start + 1));
        if c.kind == Kind::Juxtaposed && self.token_kind(c.kids[1].start) == Some(Kind::LBrace) {
            self.diagnostics.truncate(before);
            let at = self.range(Span::new(c.kids[1].start, c.kids[1].start + 1));
            let report = self
                .error(at, "expected `then`, found `{`")
                .label(opener, "of this `if`")
                .hint("write `if c then a else b`, without braces");
            self.report(report);
            return;
        }
        // `if x >`: the condition is not ended, so that nothing can be said of what follows it.
        let end = self.insert_after(then.start.saturating_sub(1)).start();
        let stops = |report: &Report| report.primary.at.start() >= end;
        if self.diagnostics.len() > before
            && (lacks_operand(c) || self.diagnostics[before..].iter().any(stops))
        {
            self.diagnostics.truncate(before + 1);
            return;
        }
        // What is wrong with the condition follows from the missing word.
        self.diagnostics.truncate(before);
        let report = self.expected("`then`", then.start).label(opener, "of this `if`");
        // The branch was read as the argument of the end of the condition.
        let branch = last_application(c).map(|last| last.kids[1].start);
        let report = match (self.token_kind(then.start), branch) {
            (Some(Kind::Colon), _) => {
                let at = self.range(Span::new(then.start, then.start + 1));
                report.fix("write `then`", at, " then")
            }
            (_, Some(word)) if self.begins_word(word, "then") => {
                let at = self.range(Span::new(word, word + 1));
                self.half_typed(at, "then", opener)
            }
            (Some(Kind::ElseKw), Some(branch)) => {
                let end = self.insert_after(branch - 1);
                report.fix(format!("add `then` before {}", self.found(branch)), end, " then")
            }
            _ => report.fix("add `then`", self.insert_after(then.start.saturating_sub(1)), " then"),
        };
        self.report(report);
    }

    /// Reports that the `else` of an `if` is missing; the reports about its branch begin at `before`.
    fn missing_else(&mut self, node: &Node, before: usize) {
        let (a, otherwise) = (&node.kids[2], &node.kids[3]);
        let opener = self.range(Span::new(node.start, node.start + 1));
        let joined = (a.start..a.end).find(|i| {
            ["elseif", "elsif", "elif"].contains(&self.token_text(*i).to_lowercase().as_str())
        });
        if joined.is_none()
            && let Some(last) = last_application(a)
        {
            let word = last.kids[1].start;
            let at = self.range(Span::new(word, word + 1));
            if self.begins_word(word, "else") {
                self.diagnostics.truncate(before);
                let report = self.half_typed(at, "else", opener);
                return self.report(report);
            }
            // `if c then "a" "b"`: that the two do not belong together follows from the missing word.
            let start = self.node_range(last).start();
            if self.diagnostics[before..].iter().any(|d| d.primary.at.start() >= start) {
                self.diagnostics.truncate(before);
                let found = self.found(word);
                let end = self.insert_after(word - 1);
                let report = self
                    .error(at, format!("expected `else` before {found}"))
                    .label(opener, "of this `if`")
                    .fix(format!("add `else` before {found}"), end, " else");
                return self.report(report);
            }
        }
        if joined.is_none() && self.diagnostics.len() > before {
            return;
        }
        let report = self.expected("`else`", otherwise.start).label(opener, "of this `if`");
        let semicolon = self.token_kind(otherwise.start) == Some(Kind::Semi)
            && self.token_kind(otherwise.start + 1) == Some(Kind::ElseKw);
        let report = match joined.map(|i| self.range(Span::new(i, i + 1))) {
            _ if semicolon => {
                let at = self.range(Span::new(otherwise.start, otherwise.start + 1));
                report.fix("no `;` stands before `else`", at, "")
            }
            Some(at) => report.fix("`else if` is two words", at, "else if"),
            None => report.hint("an `if` always has an `else`, of the same type"),
        };
        self.report(report);
    }

    /// Returns true if a token is the beginning of a word, which is still being written.
    fn begins_word(&self, index: u32, word: &str) -> bool {
        let text = self.token_text(index).to_ascii_lowercase();
        matches!(self.token_kind(index), Some(Kind::Name | Kind::TrueKw))
            && text != word
            && word.starts_with(&text)
    }

    /// Makes the report of a beginning of a word of an `if`.
    fn half_typed(&mut self, at: TextRange, word: &str, opener: TextRange) -> Report {
        let found = &self.text[at];
        self.error(at, format!("expected `{word}`, found `{found}`"))
            .label(opener, "of this `if`")
            .fix(format!("write `{word}`"), at, word)
    }

    /// Makes the report of an operator or a word at the end of a line with nothing behind it, where the next line
    /// begins a binding: `x >` above `y = 3`, whose left side is the node.
    pub(super) fn stopped_before_binding(&mut self, left: &Node) -> Option<Report> {
        let mut node = left;
        while let (Kind::Binary, [_, right]) = (node.kind, &node.kids[..]) {
            node = right;
        }
        let bindable = matches!(node.kind, Kind::NameRef | Kind::Paren | Kind::Call);
        let before =
            node.start.checked_sub(1).filter(|_| bindable && self.begins_line(node.start))?;
        let goes_on = |kind: Kind| {
            let sign = matches!(
                kind,
                Kind::FatArrow
                    | Kind::Equals
                    | Kind::Assign
                    | Kind::Comma
                    | Kind::Bar
                    | Kind::LParen
                    | Kind::CallParen
                    | Kind::LBracket
                    | Kind::LBrace
            );
            let word = matches!(kind, Kind::IfKw | Kind::ThenKw | Kind::ElseKw | Kind::InKw);
            sign || word || super::expr::binary_op(kind).is_some()
        };
        self.token_kind(before).filter(|kind| goes_on(*kind))?;
        let at = self.range(Span::new(before, before + 1));
        let message = format!("expected an expression after {}", self.found(before));
        let binding = self.range(Span::new(node.start, node.start + 1));
        let found = self.found(node.start);
        Some(self.error(at, message).label(binding, format!("{found} begins a binding")))
    }
}

impl Lower<'_> {
    /// Makes the report of a bracket that is open where a line begins a binding: `x = [1, 2` above `y = 4`, which
    /// was read as an argument on the left of its sign.
    pub(super) fn unclosed_before_binding(&mut self, left: &Node) -> Option<Report> {
        let mut node = left;
        while let (Kind::Binary | Kind::Unary, Some(last)) = (node.kind, node.kids.last()) {
            node = last;
        }
        let Kind::Juxtaposed = node.kind else { return None };
        let binding = &node.kids[1];
        let bindable = matches!(binding.kind, Kind::NameRef | Kind::Paren | Kind::Call);
        if !bindable || !self.begins_line(binding.start) {
            return None;
        }
        let open = self.innermost_open(binding.start)?;
        let closer = match self.token_kind(open)? {
            Kind::LBracket => "]",
            Kind::LBrace => "}",
            _ => ")",
        };
        let (what, found) = (self.token_text(open).to_owned(), self.found(binding.start));
        let end = self.insert_after(binding.start - 1);
        let opener = self.range(Span::new(open, open + 1));
        let next = self.range(Span::new(binding.start, binding.start + 1));
        let report = self
            .error(end, format!("this `{what}` is never closed"))
            .here(format!("expected `{closer};` here"))
            .label(opener, "opened here")
            .label(next, format!("{found} begins a binding"));
        Some(report.fix(format!("add `{closer};`"), end, format!("{closer};")))
    }

    /// Returns the innermost bracket that is open before a token; none if a `let` is open in it.
    fn innermost_open(&self, index: u32) -> Option<u32> {
        let mut open: Vec<u32> = Vec::new();
        for at in 0..index {
            match self.token_kind(at)? {
                Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace | Kind::LetKw => {
                    open.push(at);
                }
                Kind::RParen | Kind::RBracket | Kind::RBrace => {
                    while open.pop().is_some_and(|at| self.token_kind(at) == Some(Kind::LetKw)) {}
                }
                Kind::InKw
                    if open.last().is_some_and(|at| self.token_kind(*at) == Some(Kind::LetKw)) =>
                {
                    open.pop();
                }
                _ => {}
            }
        }
        open.last().copied().filter(|at| self.token_kind(*at) != Some(Kind::LetKw))
    }
}

/// Returns true if an expression ends with an operator, or a word, that has nothing behind it.
fn lacks_operand(node: &Node) -> bool {
    let mut node = node;
    loop {
        let last = match node.kind {
            Kind::Binary | Kind::Lambda | Kind::Option | Kind::Unary | Kind::If => node.kids.last(),
            Kind::Let => node.kids.get(1),
            _ => None,
        };
        match last {
            Some(last) if last.present() => node = last,
            Some(_) => return true,
            None => return false,
        }
    }
}

/// Returns the application at the end of an expression, whose argument is its last operand.
fn last_application(node: &Node) -> Option<&Node> {
    let mut node = node;
    loop {
        node = match node.kind {
            Kind::Juxtaposed => return Some(node),
            Kind::Binary | Kind::Unary | Kind::Lambda => node.kids.last()?,
            Kind::Index => node.kids.first()?,
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse_item;

    fn messages(text: &str) -> Vec<String> {
        parse_item(text).diagnostics.into_iter().map(|report| report.message).collect()
    }

    #[test]
    fn an_operator_with_nothing_behind_it_is_the_one_mistake() {
        const OPERATORS: [&str; 19] = [
            "+", "-", "*", "/", "^", "++", "||", "==", "/=", "<", "<=", ">", ">=", "and", "or",
            "xor", "nand", "->", "<-",
        ];
        // `~` is the operator.
        const CONTEXTS: [&str; 36] = [
            "x ~",
            "x ~;",
            "y = x ~",
            "y = x ~;",
            "x ~\ny = 3;",
            "1 + x ~\ny = 3;",
            "if x ~",
            "if x ~;",
            "y = if x ~;",
            "if x ~ then",
            "if x ~ then 1 else 2;",
            "if x ~ else 2;",
            "if (x ~",
            "if (x ~) then 1 else 2;",
            "if sum(x ~",
            "if x > 1 and x ~",
            "if x > 1 then x ~",
            "if x > 1 then x ~;",
            "if x > 1 then x ~ else 2;",
            "if x > 1 then 1 else x ~;",
            "if x > 1 then 1 else if x ~",
            "let y = x ~",
            "let y = x ~ in y;",
            "let y = x ~ in",
            "let y = x ~; z = 1 in y;",
            "let y = x in y ~;",
            "{x ~ : x in xs};",
            "{x : x in xs ~};",
            "{x : x in xs | x ~};",
            "{if x ~ : x in xs};",
            "sum(x ~)",
            "sum(x ~;",
            "take(x ~, 2);",
            "[1, x ~];",
            "[0:x ~];",
            "function g(x) = if x ~",
        ];
        for operator in OPERATORS {
            for context in CONTEXTS {
                let text = context.replace('~', operator);
                let expected = format!("expected an expression after `{operator}`");
                let found = messages(&text);
                let says = |message: &String| message.starts_with(&expected);
                assert!(found.len() == 1 && says(&found[0]), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn a_word_that_is_half_typed_is_one_mistake() {
        for branch in [
            "\"a\"",
            "1",
            "1.5",
            "[1]",
            "x",
            "#xs",
            "-1",
            "f(x)",
            "xs[0]",
            "{x : x in xs}",
            "1 + 2",
        ] {
            for (text, word) in [
                ("if c then ~ else", "else"),
                ("y = if ~ then", "then"),
                ("function g(c) = if c then ~ else", "else"),
            ] {
                let whole = text.replace('~', branch);
                for cut in 1..word.len() {
                    let typed = &whole[..whole.len() - cut];
                    let part = &word[..word.len() - cut];
                    let found = messages(typed);
                    let expected = format!("expected `{word}`, found `{part}`");
                    assert_eq!(found, [expected], "{typed}");
                    // Another form follows.
                    assert_eq!(messages(&format!("{typed};")).len(), 1, "{typed};");
                }
            }
        }
        for text in ["let x = \"a\" i", "let x = 1 i", "let x = [1] i", "let x = xs i"] {
            assert_eq!(messages(text).len(), 1, "{text}: {:?}", messages(text));
        }
    }

    #[test]
    fn two_values_where_an_else_is_missing_are_one_mistake() {
        for text in
            ["if c then \"a\" \"b\"", "if c then 1 2;", "if c then [1] [2];", "if c then x ++;"]
        {
            assert_eq!(messages(text).len(), 1, "{text}: {:?}", messages(text));
        }
        assert_eq!(messages("if c then \"a\" \"b\";"), ["expected `else` before `\"b\"`"]);
    }
}
