//! Notation of other languages as NESL: the range that is replaced, and the text.
//!
//! Nothing is returned where it is not clear what was meant; then there is a hint without an edit.

use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::super::operand;
use super::Lower;
use crate::base::{Span, TextRange};
use std::ops::Range;

type Rewritten = (TextRange, String);

impl<'a> Lower<'a> {
    /// Returns the position of a token.
    pub(super) fn position(&self, token: TextRange) -> Option<usize> {
        self.tokens.iter().position(|other| other.range == token)
    }

    fn covered(&self, tokens: Range<usize>) -> TextRange {
        self.range(Span::new(tokens.start as u32, tokens.end as u32))
    }

    fn written(&self, tokens: Range<usize>) -> &'a str {
        match tokens.is_empty() {
            true => "",
            false => &self.text[self.covered(tokens)],
        }
    }

    fn kind_at(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Returns true if nothing is between a token and the one before it.
    fn adjoins(&self, index: usize) -> bool {
        index.checked_sub(1).is_some_and(|before| {
            self.tokens
                .get(index)
                .is_some_and(|token| self.tokens[before].range.end() == token.range.start())
        })
    }

    /// `!x` and `~x`: `not(x)`.
    pub(super) fn negation(&self, sign: TextRange) -> Option<Rewritten> {
        let at = self.position(sign)?;
        let macro_name = self.adjoins(at)
            && at.checked_sub(1).and_then(|before| self.kind_at(before)) == Some(Kind::Name);
        if macro_name {
            return None;
        }
        let operand = operand::after(self.tokens, at + 1)?;
        let text = self.written(operand.clone());
        let in_parentheses = self.kind_at(operand.start) == Some(Kind::LParen)
            && operand::closer(self.tokens, operand.start) == Some(operand.end - 1);
        let written = if in_parentheses { format!("not{text}") } else { format!("not({text})") };
        Some((sign.cover(self.covered(operand)), written))
    }

    /// `c ? a : b`: `if c then a else b`.
    pub(super) fn choice(&self, sign: TextRange) -> Option<Rewritten> {
        let at = self.position(sign)?;
        let start = operand::expression_before(self.tokens, at)?;
        let (written, end) = self.choice_from(start..at)?;
        Some((self.covered(start..end), written))
    }

    /// Returns the choice by a condition before a `?`, and the token behind it.
    fn choice_from(&self, condition: Range<usize>) -> Option<(String, usize)> {
        let yes = condition.end + 1;
        let colon = operand::expression_after(self.tokens, yes)?;
        if self.kind_at(colon) != Some(Kind::Colon) {
            return None;
        }
        let end = operand::expression_after(self.tokens, colon + 1)?;
        let (no, end) = match self.token_text(end as u32) {
            "?" => self.choice_from(colon + 1..end)?,
            _ => (self.written(colon + 1..end).to_owned(), end),
        };
        let (condition, yes) = (self.written(condition), self.written(yes..colon));
        Some((format!("if {condition} then {yes} else {no}"), end))
    }

    /// `a if c else b`: `if c then a else b`.
    pub(super) fn choice_behind(&self, word: u32) -> Option<Rewritten> {
        let word = word as usize;
        let start = operand::expression_before(self.tokens, word)?;
        let (written, end) = self.choice_behind_from(start..word)?;
        Some((self.covered(start..end), written))
    }

    fn choice_behind_from(&self, yes: Range<usize>) -> Option<(String, usize)> {
        let condition = yes.end + 1;
        let otherwise = operand::expression_after(self.tokens, condition)?;
        if self.kind_at(otherwise) != Some(Kind::ElseKw) {
            return None;
        }
        let no = otherwise + 1;
        let end = operand::expression_after(self.tokens, no)?;
        let (no, end) = match self.kind_at(end) {
            Some(Kind::IfKw) => self.choice_behind_from(no..end)?,
            _ => (self.written(no..end).to_owned(), end),
        };
        let (condition, yes) = (self.written(condition..otherwise), self.written(yes));
        Some((format!("if {condition} then {yes} else {no}"), end))
    }

    /// `a SIGN b`, where the sign is some tokens: `name(a, b)`, as `write` makes it.
    pub(super) fn of_operands(
        &self,
        sign: Range<u32>,
        write: impl FnOnce(&str, &str) -> String,
    ) -> Option<Rewritten> {
        let left = operand::before(self.tokens, sign.start as usize)?;
        let right = operand::after(self.tokens, sign.end as usize)?;
        let whole = self.covered(left.start..right.end);
        Some((whole, write(self.written(left), self.written(right))))
    }

    /// `a .. b`, whose dots are a token, or its end if `a` is an int: `[a:b + 1]`.
    pub(super) fn range_with_dots(&self, dots: usize) -> Option<Rewritten> {
        let start = operand::expression_before(self.tokens, dots)?;
        // `0 ..< n` has no end to be included.
        let less = usize::from(self.kind_at(dots + 1) == Some(Kind::Less));
        let end = operand::expression_after(self.tokens, dots + 1 + less)?;
        if operand::applies(self.tokens, start..dots) {
            return None;
        }
        let from = self.written(start..dots);
        let from = if from.starts_with(|c: char| c.is_ascii_digit()) {
            from.strip_suffix('.').unwrap_or(from)
        } else {
            from
        };
        let to = self.written(dots + 1 + less..end);
        if less == 1 {
            return Some(self.range_between(start..end, from, to));
        }
        Some(self.inclusive_range(start..end, from, to))
    }

    /// Returns the range from one int to another, both included, which is written by some tokens.
    pub(super) fn inclusive_range(&self, tokens: Range<usize>, from: &str, to: &str) -> Rewritten {
        let below = to.strip_suffix('1').map(str::trim_end).and_then(|rest| rest.strip_suffix('-'));
        let end = match (to.parse::<i64>(), below.map(str::trim_end)) {
            (Ok(last), _) => last.saturating_add(1).to_string(),
            (_, Some(rest)) if !rest.is_empty() => rest.to_owned(),
            _ => format!("{to} + 1"),
        };
        self.range_between(tokens, from, &end)
    }

    /// Returns a range that stops before its end; `[1, 3 .. 10]` is one with a stride. The brackets of a
    /// list around it are its own.
    fn range_between(&self, tokens: Range<usize>, from: &str, end: &str) -> Rewritten {
        let first = tokens.start;
        let in_list = |open: usize| {
            let opens = open.checked_sub(1).and_then(|open| self.kind_at(open));
            opens == Some(Kind::LBracket) && self.kind_at(tokens.end) == Some(Kind::RBracket)
        };
        let int = |text: &str| text.parse::<i64>().ok();
        let listed = first
            .checked_sub(2)
            .filter(|before| self.kind_at(before + 1) == Some(Kind::Comma) && in_list(*before));
        if let Some(before) = listed
            && let (Some(start), Some(next)) = (int(self.token_text(before as u32)), int(from))
            && next > start
        {
            let whole = self.covered(before..tokens.end);
            return (whole, format!("{start}:{end}:{}", next - start));
        }
        let range = format!("{from}:{end}");
        let written = if in_list(first) { range } else { format!("[{range}]") };
        (self.covered(tokens), written)
    }

    /// `x in xs`: `find(x, xs) >= 0`.
    pub(super) fn membership(&self, word: u32) -> Option<Rewritten> {
        self.of_operands(word..word + 1, |x, xs| format!("find({x}, {xs}) >= 0"))
    }

    /// `xs |> g |> h`: `h(g(xs))`.
    pub(super) fn piped(&self, bar: u32) -> Option<Rewritten> {
        let start = operand::expression_before(self.tokens, bar as usize)?;
        let mut written = self.written(start..bar as usize).to_owned();
        let mut at = bar as usize;
        while self.kind_at(at) == Some(Kind::Bar) {
            if self.kind_at(at + 1) != Some(Kind::Greater)
                || self.kind_at(at + 2) != Some(Kind::Name)
            {
                return None;
            }
            written = format!("{}({written})", self.token_text(at as u32 + 2));
            at += 3;
        }
        let ended = matches!(
            self.kind_at(at),
            None | Some(Kind::Semi | Kind::Dollar | Kind::RParen | Kind::Comma)
        );
        ended.then(|| (self.covered(start..at), written))
    }

    /// `xs.length`, `xs.sum()`, `g.(xs)`, `g . h`, `xs .* ys`.
    pub(super) fn dotted(&self, dot: usize) -> Option<Rewritten> {
        let next = self.kind_at(dot + 1)?;
        if matches!(next, Kind::Plus | Kind::Minus | Kind::Star | Kind::Slash | Kind::Caret) {
            return self.element_by_element(dot);
        }
        let left = operand::before(self.tokens, dot)?;
        let receiver = self.written(left.clone());
        if matches!(next, Kind::LParen | Kind::CallParen) && self.adjoins(dot + 1) {
            let close = operand::closer(self.tokens, dot + 1)?;
            let inside = self.written(dot + 2..close);
            let single = !inside.is_empty()
                && operand::expression_after(self.tokens, dot + 2) == Some(close);
            let named = self.kind_at(left.start) == Some(Kind::Name) && left.len() == 1;
            let written = format!("{{{receiver}(x) : x in {inside}}}");
            return (single && named).then(|| (self.covered(left.start..close + 1), written));
        }
        if next != Kind::Name {
            return None;
        }
        let name = self.token_text(dot as u32 + 1);
        if !self.adjoins(dot + 1) {
            let both = left.len() == 1 && self.kind_at(left.start) == Some(Kind::Name);
            let whole = self.covered(left.start..dot + 2);
            return both.then(|| (whole, format!("x => {receiver}({name}(x))")));
        }
        if self.kind_at(dot + 2) != Some(Kind::CallParen) {
            let written = match name {
                "length" | "size" | "len" | "count" => format!("length({receiver})"),
                "T" => format!("transpose({receiver})"),
                _ => return None,
            };
            return Some((self.covered(left.start..dot + 2), written));
        }
        let close = operand::closer(self.tokens, dot + 2)?;
        let given = self.written(dot + 3..close);
        let written = match name {
            "append" | "push" | "push_back" | "add" if !given.is_empty() => {
                format!("{receiver} ++ [{given}]")
            }
            "map" if !given.is_empty() => format!("map({given}, {receiver})"),
            "len" | "size" | "length" => format!("length({receiver})"),
            _ if given.is_empty() => format!("{name}({receiver})"),
            _ => format!("{name}({receiver}, {given})"),
        };
        Some((self.covered(left.start..close + 1), written))
    }

    fn element_by_element(&self, dot: usize) -> Option<Rewritten> {
        // `x. + 1.0` has a point too many.
        if !self.adjoins(dot + 1) {
            return None;
        }
        let op = self.token_text(dot as u32 + 1);
        let number = |operand: &Range<usize>| {
            operand.len() == 1
                && matches!(self.kind_at(operand.start), Some(Kind::Int | Kind::Float))
        };
        let left = operand::before(self.tokens, dot)?;
        let right = operand::after(self.tokens, dot + 2)?;
        let (a, b) = (self.written(left.clone()), self.written(right.clone()));
        let written = match (number(&left), number(&right)) {
            (_, true) => format!("{{x {op} {b} : x in {a}}}"),
            (true, false) => format!("{{{a} {op} x : x in {b}}}"),
            (false, false) => format!("{{x {op} y : x in {a}; y in {b}}}"),
        };
        Some((self.covered(left.start..right.end), written))
    }

    /// `[1, 2; 3, 4]`: `[[1, 2], [3, 4]]`.
    pub(super) fn matrix(&self, open: u32) -> Option<Rewritten> {
        let open = open as usize;
        let close = operand::closer(self.tokens, open)?;
        let rows = self.parts(open + 1..close, Kind::Semi);
        let rows: Vec<String> = rows
            .into_iter()
            .filter(|row| !row.is_empty())
            .map(|row| format!("[{}]", self.row(row)))
            .collect();
        Some((self.covered(open..close + 1), format!("[{}]", rows.join(", "))))
    }

    /// Returns the elements of a row of a matrix, with commas between them.
    fn row(&self, row: Range<usize>) -> String {
        let plain = |at: usize| {
            matches!(self.kind_at(at), Some(Kind::Int | Kind::Float | Kind::Name | Kind::Text))
        };
        if row.clone().all(plain) {
            let words: Vec<&str> = row.map(|at| self.token_text(at as u32)).collect();
            return words.join(", ");
        }
        self.written(row).to_owned()
    }

    /// Returns the parts of some tokens between separators that are in no brackets.
    fn parts(&self, tokens: Range<usize>, separator: Kind) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        let (mut start, mut depth) = (tokens.start, 0usize);
        for index in tokens.clone() {
            match self.tokens[index].kind {
                Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
                Kind::RParen | Kind::RBracket | Kind::RBrace => depth = depth.saturating_sub(1),
                kind if kind == separator && depth == 0 => {
                    all.push(start..index);
                    start = index + 1;
                }
                _ => {}
            }
        }
        all.push(start..tokens.end);
        all
    }

    /// `[e for x in xs if c]` and `[e | x <- xs, c]`, which are divided by a token: `{e : x in xs | c}`. Parentheses in
    /// place of the brackets stay around it.
    pub(super) fn each_in_brackets(&self, open: u32, divider: u32) -> Option<Rewritten> {
        let (open, divider) = (open as usize, divider as usize);
        let close = operand::closer(self.tokens, open)?;
        let body = self.written(open + 1..divider);
        let rest = divider + 1..close;
        let (binding, conditions) = match self.kind_at(divider) {
            Some(Kind::Bar) => {
                let mut parts = self.parts(rest, Kind::Comma).into_iter();
                let binding = parts.next()?;
                let sign = binding.clone().find(|at| self.kind_at(*at) == Some(Kind::LeftArrow))?;
                let (name, sequence) = (binding.start..sign, sign + 1..binding.end);
                let binding = format!("{} in {}", self.written(name), self.written(sequence));
                (binding, parts.collect::<Vec<_>>())
            }
            _ => {
                let mut parts = self.parts(rest, Kind::IfKw).into_iter();
                let binding = parts.next()?;
                (self.written(binding).to_owned(), parts.collect())
            }
        };
        let foreign = |at: usize| {
            self.kind_at(at) == Some(Kind::LeftArrow)
                || self.token_text(at as u32).eq_ignore_ascii_case("for")
        };
        // A second binding goes over something else for each element of the first.
        if body.is_empty() || conditions.iter().any(|part| part.clone().any(foreign)) {
            return None;
        }
        if self.kind_at(divider) != Some(Kind::Bar) && (divider + 1..close).any(foreign) {
            return None;
        }
        let conditions: Vec<&str> = conditions.into_iter().map(|part| self.written(part)).collect();
        let condition = match conditions.is_empty() {
            true => String::new(),
            false => format!(" | {}", conditions.join(" and ")),
        };
        let whole = self.covered(open..close + 1);
        let each = format!("{{{body} : {binding}{condition}}}");
        match self.kind_at(open) {
            Some(Kind::LBracket) => Some((whole, each)),
            // With other arguments it would not be clear what belongs to this one.
            _ if self.parts(open + 1..close, Kind::Comma).len() > 1 => None,
            _ => Some((whole, format!("({each})"))),
        }
    }

    /// `|x|` before the body of a closure: `x =>`.
    pub(super) fn closure(&self, bar: u32) -> Option<Rewritten> {
        let bar = bar as usize;
        let end = (bar + 1..self.tokens.len()).find(|at| self.kind_at(*at) == Some(Kind::Bar))?;
        let names = bar + 1..end;
        Some((self.covered(bar..end + 1), format!("{} =>", self.parameters_of(names)?)))
    }

    /// `lambda x:` and `\x ->`, from the word to the sign: `x =>`.
    pub(super) fn lambda(&self, word: u32, sign: Kind) -> Option<Rewritten> {
        let word = word as usize;
        let end = (word + 1..self.tokens.len()).find(|at| self.kind_at(*at) == Some(sign))?;
        let names = self.parameters_of(word + 1..end)?;
        Some((self.covered(word..end + 1), format!("{names} =>")))
    }

    /// Returns names as the parameter of a function value; nothing if there is anything but names.
    pub(super) fn parameters_of(&self, tokens: Range<usize>) -> Option<String> {
        let mut names = Vec::new();
        for index in tokens {
            match self.kind_at(index)? {
                Kind::Name => names.push(self.token_text(index as u32)),
                Kind::Comma | Kind::LParen | Kind::CallParen | Kind::RParen => {}
                _ => return None,
            }
        }
        match &names[..] {
            [] => None,
            [only] => Some((*only).to_owned()),
            several => Some(format!("({})", several.join(", "))),
        }
    }

    /// `def g(x): return`, and the like, from the word to the `return`: `function g(x) =`.
    pub(super) fn definition_with_return(&self, word: u32) -> Option<Rewritten> {
        let word = word as usize;
        let open = word + 2;
        if self.kind_at(open) != Some(Kind::CallParen) {
            return None;
        }
        let close = operand::closer(self.tokens, open)?;
        let plain = |at: usize| matches!(self.kind_at(at), Some(Kind::Name | Kind::Comma));
        let returns = self.kind_at(close + 1) == Some(Kind::Colon)
            && self.token_text(close as u32 + 2).eq_ignore_ascii_case("return");
        if !returns || !(open + 1..close).all(plain) {
            return None;
        }
        let head = self.written(word + 1..close + 1);
        Some((self.covered(word..close + 3), format!("function {head} =")))
    }

    /// `f"x = {x}"`: `"x = " ++ @x`.
    pub(super) fn interpolated(&self, text: &Node) -> Option<String> {
        let inside = self.node_text(text).trim_matches('"');
        if inside.contains(['\\', '"']) || inside.contains("{{") || inside.contains("}}") {
            return None;
        }
        let mut parts = Vec::new();
        let mut rest = inside;
        while let Some((before, behind)) = rest.split_once('{') {
            let (value, after) = behind.split_once('}')?;
            if !before.is_empty() {
                parts.push(format!("\"{before}\""));
            }
            let name = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if value.is_empty() || value.contains([':', '!', '=', '{']) {
                return None;
            }
            parts.push(if name { format!("@{value}") } else { format!("@({value})") });
            rest = after;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(format!("\"{rest}\""));
        }
        Some(parts.join(" ++ "))
    }

    /// `{1, 2, 3}`, whose brace opens before a token: `[1, 2, 3]`.
    pub(super) fn list_in_braces(&self, inside: u32) -> Option<Rewritten> {
        let (whole, inside) = self.in_braces(inside)?;
        Some((whole, format!("[{}]", self.written(inside))))
    }

    /// `{ e }`, whose brace opens before a token: `e`.
    pub(super) fn without_braces(&self, inside: u32) -> Option<Rewritten> {
        let (whole, inside) = self.in_braces(inside)?;
        Some((whole, self.written(inside).to_owned()))
    }

    /// `{"a": 1, "b": 2}`, whose brace opens before a token: `create_table([("a", 1), ("b", 2)])`.
    pub(super) fn dictionary(&self, inside: u32) -> Option<Rewritten> {
        let (whole, inside) = self.in_braces(inside)?;
        let mut pairs = Vec::new();
        for part in self.parts(inside, Kind::Comma) {
            let [key, value] = &self.parts(part, Kind::Colon)[..] else { return None };
            let (key, value) = (self.written(key.clone()), self.written(value.clone()));
            pairs.push(format!("({key}, {value})"));
        }
        Some((whole, format!("create_table([{}])", pairs.join(", "))))
    }

    fn in_braces(&self, inside: u32) -> Option<(TextRange, Range<usize>)> {
        let open = (inside as usize).checked_sub(1)?;
        if self.kind_at(open) != Some(Kind::LBrace) {
            return None;
        }
        let close = operand::closer(self.tokens, open)?;
        Some((self.covered(open..close + 1), open + 1..close))
    }

    /// `"hello"[1:3]` and `m[0, 1]`, of what is no name.
    pub(super) fn part_of(&self, sequence: &Node, brackets: &Node) -> Option<Rewritten> {
        let whole = self.node_range(sequence).cover(self.node_range(brackets));
        let (open, close) = (brackets.start as usize, brackets.end as usize - 1);
        let a = self.node_text(sequence);
        let parts = |separator| {
            let parts = self.parts(open + 1..close, separator).into_iter();
            parts.map(|part| self.written(part)).collect::<Vec<_>>()
        };
        let written = match (brackets.kind, &parts(Kind::Colon)[..], &parts(Kind::Comma)[..]) {
            (Kind::Range, [start, end], _) => format!("subseq({a}, {start}, {end})"),
            (Kind::Range, [_, _, _], _) => {
                format!("{a} -> {}", self.node_text(brackets))
            }
            (Kind::List, _, [i, j]) => format!("{a}[{i}][{j}]"),
            _ => return None,
        };
        Some((whole, written))
    }
}
