//! Reports of notation that other languages use for something of NESL.

use super::super::grammar::Node;
use super::super::lexer::{Kind, Token};
use super::{Lower, QUOTED_CHAR, Report};
use crate::base::{Diagnostic, DiagnosticKind, Span, TextRange, TextSize};

impl Lower<'_> {
    /// Makes the report of `'a' ++ s`, where the second quote is followed by an operator, at the first
    /// quote.
    pub(super) fn quoted_by_two(&mut self, node: &Node) -> Option<Report> {
        let second = Node { kind: Kind::Quoted, start: node.end, end: node.end + 1, kids: vec![] };
        match self.token_kind(node.end) {
            Some(Kind::Quote) => self.quotes(&second),
            _ => None,
        }
    }

    /// Makes the report of `'a'` for a char or `'text'` for a string, at the second quote.
    pub(super) fn quotes(&mut self, node: &Node) -> Option<Report> {
        let first = node.start.checked_sub(2)?;
        if self.token_kind(first) != Some(Kind::Quote)
            || self.token_kind(first + 1) != Some(Kind::Name)
        {
            return None;
        }
        let at = self.range(Span::new(first, node.end));
        let inside = self.token_text(first + 1).to_owned();
        if usize::from(at.len()) != inside.len() + 2 {
            return None;
        }
        Some(if inside.len() == 1 {
            self.error(at, QUOTED_CHAR).fix(
                format!("write `` `{inside} ``"),
                at,
                format!("`{inside}"),
            )
        } else {
            self.error(at, "a string is written between double quotes").fix(
                format!("write `\"{inside}\"`"),
                at,
                format!("\"{inside}\""),
            )
        })
    }

    /// Warns of `\\n` and the like in a string: `\\` only makes the next character literal.
    pub(super) fn warn_of_escapes(&mut self, text: &str, start: TextSize) {
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            let Some((_, letter)) = (if c == '\\' { chars.next() } else { None }) else { continue };
            if !letter.is_ascii_alphanumeric() {
                continue;
            }
            let at = start + TextSize::new(at as u32);
            let range = TextRange::at(at, TextSize::new(2));
            let message = format!("`\\{letter}` in a string is the letter {letter}");
            let message = match letter.is_ascii_digit() {
                true => format!("`\\{letter}` in a string is the digit {letter}"),
                false => message,
            };
            let report = Diagnostic::warning(DiagnosticKind::Syntax, range, message);
            let joined = |name: &str| Some((range, format!("\" ++ [{name}] ++ \"")));
            let (hint, edit) = match letter {
                'n' => (
                    "for the end of a line write `\"…\" ++ [newline] ++ \"…\"`, or break the line in the string",
                    joined("newline"),
                ),
                't' => ("for a tab write `\"…\" ++ [tab] ++ \"…\"`", joined("tab")),
                _ => (
                    "`\\` makes the next character literal, as in `\\\"` and `\\\\`; other chars are `code_char(n)`",
                    None,
                ),
            };
            self.warnings.push(Self::fix_or_hint(report, hint, edit));
        }
    }

    /// Makes the report of text between quotation marks that a word processor has made round, at
    /// the first of them.
    pub(super) fn smart_quotes(&mut self, token: &Token) -> Option<Report> {
        let rest = &self.text[usize::from(token.range.start())..];
        let round = |c: char| matches!(c, '“' | '”' | '„' | '‘' | '’');
        let first = rest.chars().next().filter(|c| round(*c))?;
        let line = rest.lines().next().unwrap_or(rest);
        let inside = &line[first.len_utf8()..];
        let report =
            self.error(token.range, format!("`{first}` is not the quotation mark of NESL"));
        Some(match inside.find(round) {
            Some(end) => {
                let last = inside[end..].chars().next().map_or(0, char::len_utf8);
                let length = first.len_utf8() + end + last;
                let whole = TextRange::at(token.range.start(), TextSize::new(length as u32));
                let text = &inside[..end];
                report.fix(format!("write `\"{text}\"`"), whole, format!("\"{text}\""))
            }
            None => report.hint("a string is written between two `\"`"),
        })
    }

    /// Makes the report of `1..n` and `1 .. n`, at the dots.
    pub(super) fn dotted_range(&mut self, token: &Token) -> Option<Report> {
        let at = self.position(token.range)?;
        let before = self.tokens.get(at.checked_sub(1)?)?;
        // `1..n` is read as `1.` and a point.
        let split = self.text[before.range].ends_with('.')
            && before.kind == Kind::Float
            && before.range.end() == token.range.start();
        if &self.text[token.range] == "." && !split {
            return None;
        }
        let (whole, written) = self.range_with_dots(at)?;
        Some(self.no_dots(token.range, whole, written))
    }

    /// Makes the report of a range with dots at some place, which is to be written in another way.
    fn no_dots(&mut self, at: TextRange, whole: TextRange, written: String) -> Report {
        let report = self.error(at, "a range is not written with dots");
        let inside = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.unwrap_or(&written);
        report.fix(format!("write `[{inside}]`, which stops before its end"), whole, written)
    }

    /// Makes the report of a `.` outside a number.
    pub(super) fn lone_dot(&mut self, token: &Token) -> Report {
        let at = self.tokens.iter().position(|other| other.range == token.range);
        let kind = |at: Option<usize>| at.and_then(|at| self.tokens.get(at)).map(|t| t.kind);
        let before = kind(at.and_then(|at| at.checked_sub(1)));
        let after = kind(at.map(|at| at + 1));
        if let Some(report) = at.and_then(|at| self.quoted_file_name(at as u32)) {
            return report;
        }
        let report = self.error(token.range, "`.` means nothing in NESL");
        let edit = at.and_then(|at| self.dotted(at));
        match (before, after) {
            (_, Some(Kind::Star | Kind::Slash | Kind::Caret | Kind::Plus | Kind::Minus)) => {
                let hint = "element by element is written `{x * y : x in xs; y in ys}`";
                Self::fix_or_hint(report, hint, edit)
            }
            (Some(Kind::Name), Some(Kind::LParen | Kind::CallParen)) if edit.is_some() => {
                let hint = "a function is applied to each element by `{g(x) : x in xs}`";
                Self::fix_or_hint(report, hint, edit)
            }
            (
                Some(Kind::Name | Kind::RParen | Kind::RBracket | Kind::RBrace | Kind::Text),
                Some(Kind::Name),
            ) => Self::fix_or_hint(
                report,
                "a function is written before its argument, as in `length(xs)`; a record is taken apart by a pattern",
                edit,
            ),
            _ => report.hint("a number needs a digit; take records apart by pattern"),
        }
    }

    /// Makes the report of `'name.csv'`, a string in single quotes, at its `.`.
    fn quoted_file_name(&mut self, dot: u32) -> Option<Report> {
        let open = dot.checked_sub(2)?;
        if self.token_kind(open) != Some(Kind::Quote) || self.token_kind(open + 1)? != Kind::Name {
            return None;
        }
        let start = self.range(Span::new(open, open + 1));
        let rest = self.text[usize::from(start.end())..].lines().next()?;
        let inside = &rest[..rest.find('\'')?];
        let length = TextSize::new(inside.len() as u32 + 2);
        let at = TextRange::at(start.start(), length);
        let report = self.error(at, "a string is written between double quotes");
        Some(report.fix(format!("write `\"{inside}\"`"), at, format!("\"{inside}\"")))
    }

    /// Makes the report of two operands side by side of which the first cannot be a function: `2 x`,
    /// `0xff`, `1..10`, `take([1, 2] 1)`.
    pub(super) fn not_an_application(&mut self, node: &Node) -> Option<Report> {
        let [fun, arg] = &node.kids[..] else { return None };
        if let Some(report) = self.formatted_string(fun, arg) {
            return Some(report);
        }
        if let Some(report) = self.infix_name(fun, arg) {
            return Some(report);
        }
        let number = fun.kind == Kind::Literal
            && matches!(self.token_kind(fun.start), Some(Kind::Int | Kind::Float));
        let text = fun.kind == Kind::Literal
            && matches!(self.token_kind(fun.start), Some(Kind::Text | Kind::Char));
        let sequence = matches!(fun.kind, Kind::List | Kind::Range | Kind::Empty | Kind::Each);
        // A string that is called is an error of types.
        let called = text
            && arg.kind == Kind::Paren
            && self.node_range(fun).end() == self.node_range(arg).start();
        if !(number || text || sequence) || called || !arg.present() {
            return None;
        }
        if self.token_kind(fun.start) == Some(Kind::Char)
            && arg.kind == Kind::NameRef
            && self.node_range(fun).end() == self.node_range(arg).start()
        {
            let whole = self.node_range(fun).cover(self.node_range(arg));
            let word = self.text[whole].trim_start_matches('`').to_owned();
            let named = match word.as_str() {
                "\\n" => Some("newline"),
                "\\t" => Some("tab"),
                _ => None,
            };
            if word.starts_with('\\') {
                let report = self.error(whole, "a char has no escapes");
                return Some(match named {
                    Some(named) => report.fix(format!("write `{named}`"), whole, named),
                    None => report.hint("the char of a code is `code_char(n)`"),
                });
            }
            let report = self.error(whole, "a back-quote makes a char of one letter only");
            return Some(report.fix(format!("write `\"{word}\"`"), whole, format!("\"{word}\"")));
        }
        let word = self.token_text(arg.start).to_lowercase();
        if arg.kind == Kind::NameRef
            && matches!(
                word.as_str(),
                "elif"
                    | "elseif"
                    | "elsif"
                    | "where"
                    | "end"
                    | "endif"
                    | "fi"
                    | "is"
                    | "as"
                    | "isa"
            )
        {
            return None;
        }
        // The brackets around `2 for x in xs` are reported, whatever stands before `for`.
        if arg.kind == Kind::NameRef && word == "for" && self.among_elements(arg.start) {
            return None;
        }
        let (left, right) = (self.node_range(fun), self.node_range(arg));
        let whole = left.cover(right);
        if matches!(word.as_str(), "mod" | "rem" | "div") && arg.kind == Kind::NameRef {
            let report = self.error(right, format!("`{word}` is not an operator"));
            return Some(report.hint(match word.as_str() {
                "div" => "`/` on ints truncates".to_owned(),
                _ => format!("write `{word}(a, b)`"),
            }));
        }
        let (a, b) = (self.node_text(fun).to_owned(), self.node_text(arg).to_owned());
        if number && arg.kind == Kind::NameRef && matches!(word.as_str(), "to" | "until") {
            let report = self.error(right, "a range is written with `:`");
            return Some(report.hint(format!("write `[{a}:n]`, which stops before n")));
        }
        if text && arg.kind == Kind::NameRef && left.end() == right.start() {
            let report = self.error(left.cover(right), "this string ends before its last quote");
            return Some(report.hint("a quotation mark inside a string is written `\\\"`"));
        }
        if number
            && left.end() == right.start()
            && let Some(report) = self.odd_number(whole, &a, &b, arg)
        {
            return Some(report);
        }
        // A line that begins with a binding is reported where it is known to be one.
        if self.breaks_before(arg.start) && !self.among_elements(arg.start) {
            return None;
        }
        let before = node.start.checked_sub(1).and_then(|before| self.token_kind(before));
        // `x = 3 y = 4` lacks a `;`.
        let begins_binding = self.token_kind(arg.end) == Some(Kind::Equals)
            && matches!(arg.kind, Kind::NameRef | Kind::Call)
            && self.is_binding()
            && self.open_before(arg.start).is_empty();
        if begins_binding {
            return None;
        }
        let listed = matches!(before, Some(Kind::CallParen | Kind::LBracket | Kind::Comma))
            || self.token_kind(node.end) == Some(Kind::Comma);
        let between = TextRange::empty(left.end());
        let (short_a, short_b) = (shortened(&a), shortened(&b));
        if !listed && self.in_let && !self.in_later(arg.start) {
            let report = self.error(right, format!("expected `in` before {short_b}"));
            return Some(report.fix("add `in` before the body of the `let`", between, " in"));
        }
        if number && !listed {
            let report =
                self.error(whole, format!("there is nothing between {short_a} and {short_b}"));
            return Some(report.fix("to multiply, write `*`", between, " *"));
        }
        if arg.kind == Kind::NameRef && self.token_kind(arg.end) == Some(Kind::InKw) {
            let report = self.error(right, "the bindings of an apply-to-each are separated by `;`");
            return Some(report.fix("add `;`", between, ";"));
        }
        // What follows the `=` of a binding was not meant to be an argument.
        if self.token_kind(arg.end) == Some(Kind::Equals) {
            return None;
        }
        let report = self
            .error(whole, format!("expected an operator or `,` between {short_a} and {short_b}"));
        let adjoining = left.end() == right.start();
        Some(if listed {
            report.fix("add `,`", between, ",")
        } else if adjoining && arg.kind == Kind::Range {
            let hint = "`subseq(a, s, e)` has the elements from index s up to, not including, e";
            Self::fix_or_hint(report, hint, self.part_of(fun, arg))
        } else if adjoining && sequence && arg.kind == Kind::List && b.contains(',') {
            let hint = "an element of a nested sequence is `a[i][j]`; the elements at several indices are `a -> [i, j]`";
            Self::fix_or_hint(report, hint, self.part_of(fun, arg))
        } else if arg.kind == Kind::Quoted && sequence && arg.end == arg.start + 1 {
            report.fix("a transposed matrix is `transpose(m)`", whole, format!("transpose({a})"))
        } else if arg.kind == Kind::Quoted && sequence {
            report.hint("a transposed matrix is `transpose(m)`")
        } else if sequence && arg.kind == Kind::Paren {
            report.hint("to index, write `a[i]`; to gather, `a -> is`")
        } else {
            report.hint("`++` joins sequences and strings")
        })
    }

    /// Returns true if an `in` follows a token, in whatever depth.
    fn in_later(&self, index: u32) -> bool {
        self.tokens.iter().skip(index as usize).any(|token| token.kind == Kind::InKw)
    }

    /// Makes the report of ``a `div` b``, where an operand is followed by a name between back-quotes.
    fn infix_name(&mut self, fun: &Node, arg: &Node) -> Option<Report> {
        let first = self.range(Span::new(arg.start, arg.start + 1));
        let line = self.text[usize::from(first.start())..].strip_prefix('`')?.lines().next()?;
        let inside = &line[..line.find('`')?];
        let name = inside.starts_with(|c: char| c.is_ascii_alphabetic())
            && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if arg.kind == Kind::Paren || inside.len() < 2 || !name {
            return None;
        }
        let at = TextRange::at(first.start(), TextSize::new(inside.len() as u32 + 2));
        let a = self.node_text(fun);
        let report = self.error(at, "a name between back-quotes is no operator");
        Some(report.hint(match inside {
            "div" | "quot" => "`/` on ints truncates".to_owned(),
            "mod" | "rem" | "max" | "min" => format!("write `{inside}({a}, b)`"),
            "elem" => "whether `x` is an element of `xs` is `find(x, xs) >= 0`".to_owned(),
            _ => format!("a function is written before its arguments: `{inside}({a}, b)`"),
        }))
    }

    /// Makes the report of `m(:, j)`, a column of a matrix in MATLAB, at the colon.
    pub(super) fn column(&mut self, node: &Node) -> Option<Report> {
        let [fun, arg] = &node.kids[..] else { return None };
        let colon = arg.start + 1;
        if fun.kind != Kind::NameRef
            || self.token_kind(colon) != Some(Kind::Colon)
            || self.token_kind(colon + 1) != Some(Kind::Comma)
        {
            return None;
        }
        let at = self.range(Span::new(colon, colon + 1));
        let m = self.node_text(fun);
        let report = self.error(at, "`:` does not stand for all rows");
        // The comma behind it is of the same notation.
        let report = report.hint(format!("column `j` of a matrix is `{{row[j] : row in {m}}}`"));
        self.decisive.get_or_insert(report.clone());
        Some(report)
    }

    /// Makes the report of `f"x = {x}"`.
    fn formatted_string(&mut self, fun: &Node, arg: &Node) -> Option<Report> {
        let text = arg.kind == Kind::Literal && self.token_kind(arg.start) == Some(Kind::Text);
        let (left, right) = (self.node_range(fun), self.node_range(arg));
        let prefix = matches!(self.node_text(fun), "f" | "F" | "r" | "b" | "u" | "L");
        if !(text && prefix && left.end() == right.start()) {
            return None;
        }
        let whole = left.cover(right);
        let written = match self.node_text(fun) {
            "f" | "F" => self.interpolated(arg),
            _ => Some(self.node_text(arg).to_owned()),
        };
        let report = self.error(whole, "a string has no prefix");
        let hint = "strings are joined by `++`, and made of values by `@`: `\"x = \" ++ @x`";
        Some(Self::fix_or_hint(report, hint, written.map(|written| (whole, written))))
    }

    /// Makes the report of a number with a part that numbers of NESL do not have.
    fn odd_number(&mut self, whole: TextRange, a: &str, b: &str, arg: &Node) -> Option<Report> {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|byte| byte.is_ascii_digit());
        let name = arg.kind == Kind::NameRef;
        if name && b.starts_with('_') && digits(&b.replace('_', "")) {
            let plain = format!("{a}{}", b.replace('_', ""));
            let report = self.error(whole, "the digits of a number are not separated");
            return Some(report.fix(format!("write `{plain}`"), whole, plain));
        }
        if name && a == "0" {
            let (base, radix) = match b.as_bytes()[0].to_ascii_lowercase() {
                b'x' => ("hexadecimal", 16),
                b'b' => ("binary", 2),
                b'o' => ("octal", 8),
                _ => return None,
            };
            let value = i64::from_str_radix(&b[1..].replace('_', ""), radix).ok()?;
            let report = self.error(whole, format!("there are no {base} numbers"));
            return Some(report.fix(format!("write `{value}`"), whole, value.to_string()));
        }
        if arg.kind == Kind::Literal
            && let (Some(start), Some(end)) = (a.strip_suffix('.'), b.strip_prefix('.'))
            && digits(end)
        {
            let first = arg.start as usize - 1;
            let (whole, written) = self.inclusive_range(first..arg.end as usize, start, end);
            return Some(self.no_dots(whole, whole, written));
        }
        let suffix = matches!(b, "f" | "F" | "L" | "l" | "u" | "U" | "i32" | "i64" | "f32" | "f64");
        if suffix && arg.kind != Kind::Paren {
            let float = b.starts_with(['f', 'F']) && digits(a);
            let plain = if float { format!("{a}.0") } else { a.to_owned() };
            let report = self.error(whole, "numbers have no suffix; a float has a point");
            return Some(report.fix(format!("write `{plain}`"), whole, plain));
        }
        None
    }

    /// Makes the report of `a[:n]` and `a[n:]`.
    pub(super) fn open_slice(&mut self, node: &Node) -> Option<Report> {
        let [fun, arg] = &node.kids[..] else { return None };
        if arg.kind != Kind::Range || self.node_range(fun).end() != self.node_range(arg).start() {
            return None;
        }
        let (_, parts) = arg.kids.split_last()?;
        if let Some(report) = self.column(node) {
            return Some(report);
        }
        let text = |at: usize| parts.get(at).map_or("", |part| self.node_text(part));
        let a = self.node_text(fun);
        let written = match parts {
            [start, end] if start.present() && !end.present() => {
                format!("drop({a}, {})", text(0))
            }
            [start, end] if !start.present() && end.present() => {
                format!("take({a}, {})", text(1))
            }
            [start, end] if !start.present() && !end.present() => a.to_owned(),
            [start, _, _] if !start.present() => format!("{a} -> [0:#{a}:{}]", text(2)),
            _ => return None,
        };
        let at = self.node_range(node);
        let report = self.error(at, "a part of a sequence is not written `a[s:e]`");
        Some(report.fix(format!("write `{written}`"), at, written))
    }

    /// Makes the report of `xs[xs > 2]`, the elements that satisfy a condition as NumPy and R write them.
    pub(super) fn index_by_condition(&mut self, node: &Node) -> Option<Report> {
        let [sequence, condition] = &node.kids[..] else { return None };
        let name = self.node_text(sequence);
        let [left, right] = &condition.kids[..] else { return None };
        let sign = self.token_text(left.end);
        let is_it = |part: &Node| part.kind == Kind::NameRef && self.node_text(part) == name;
        if !self.is_comparison(condition)
            || sequence.kind != Kind::NameRef
            || is_it(left) == is_it(right)
        {
            return None;
        }
        let other = self.node_text(if is_it(left) { right } else { left });
        let each = if other == "x" { "y" } else { "x" };
        let condition = match is_it(left) {
            true => format!("{each} {sign} {other}"),
            false => format!("{other} {sign} {each}"),
        };
        let written = format!("{{{each} in {name} | {condition}}}");
        let at = self.node_range(node);
        let report = self.error(at, "an index is an int, not a condition");
        Some(report.fix(
            format!("the elements that satisfy a condition are `{written}`"),
            at,
            written,
        ))
    }

    /// Makes the report of `x'`.
    pub(super) fn primed_name(&mut self, node: &Node) -> Option<Report> {
        let before = node.start.checked_sub(1)?;
        let name = self.range(Span::new(before, before + 1));
        let quote = self.range(Span::new(node.start, node.start + 1));
        if self.token_kind(before) != Some(Kind::Name) || name.end() != quote.start() {
            return None;
        }
        let name = self.token_text(before);
        let written = format!("transpose({name})");
        let whole = self.range(Span::new(before, node.start + 1));
        let report = self.error(quote, "a name has no `'`");
        Some(report.fix(format!("a transposed matrix is `{written}`"), whole, written))
    }

    /// Makes the report of `===` and `=<`, of which the `=` at a token is a part.
    pub(super) fn foreign_comparison(&mut self, sign: u32) -> Option<Report> {
        let adjoin =
            |a: u32, b: u32| match (self.tokens.get(a as usize), self.tokens.get(b as usize)) {
                (Some(a), Some(b)) => a.range.end() == b.range.start(),
                _ => false,
            };
        let before = sign
            .checked_sub(1)
            .filter(|before| self.token_kind(*before) == Some(Kind::EqEq) && adjoin(*before, sign));
        let after = self.token_kind(sign + 1).filter(|_| adjoin(sign, sign + 1));
        let (first, last, written) = match (before, after) {
            (Some(before), _) => (before, sign, "=="),
            (None, Some(Kind::Less)) => (sign, sign + 1, "<="),
            (None, Some(Kind::NotEq)) => (sign, sign + 1, "/="),
            _ => return None,
        };
        let at = self.range(Span::new(first, last + 1));
        let sign = &self.text[at];
        let report = self.error(at, format!("`{sign}` is not an operator"));
        Some(report.fix(format!("write `{written}`"), at, written))
    }

    /// Makes the report of an `=` that something before it explains: `x += 1`, `y + 1 where y = 2`,
    /// `let x = 1 and y = 2 in …`.
    pub(super) fn explained_sign(&mut self, node: &Node) -> Option<Report> {
        let left = &node.kids[0];
        let and = left.end.checked_sub(2).filter(|at| self.token_kind(*at) == Some(Kind::AndKw));
        if let Some(and) = and.filter(|_| self.in_let)
            && self.token_kind(left.end - 1) == Some(Kind::Name)
            && self.in_later(left.end)
        {
            let at = self.range(Span::new(and, and + 1));
            let report = self.error(at, "the bindings of a `let` are separated by `;`");
            return Some(report.fix("write `;`", at, ";"));
        }
        let known = self.without_where;
        let clause = if known.start <= left.start && left.end <= known.end {
            None
        } else {
            (left.start..left.end).find(|i| self.token_text(*i) == "where")
        };
        if clause.is_none() {
            self.without_where = Span::new(left.start, left.end);
        }
        if let Some(clause) = clause.filter(|clause| *clause > 0) {
            let at = self.range(Span::new(clause, clause + 1));
            let report = self.error(at, "there is no `where`");
            return Some(report.hint("bind before use: `let y = x * 2 in y + 1`"));
        }
        if left.kind == Kind::Binary && !left.kids[1].present() {
            let op = left.kids[0].end;
            return self.changes_a_variable(left, Span::new(op, op + 1));
        }
        None
    }

    /// Makes the report of `x += 1` and `x++`.
    pub(super) fn changes_a_variable(&mut self, node: &Node, op: Span) -> Option<Report> {
        let sign = self.token_text(op.start).to_owned();
        let next = self.token_kind(op.end);
        let variable = self.node_text(&node.kids[0]).to_owned();
        let shift = matches!(&sign[..], "<" | ">");
        if node.kids[0].kind != Kind::NameRef && !shift {
            return None;
        }
        let adjoining = self.node_range(&node.kids[0]).end() == self.range(op).start();
        let (at, written, changed) = match (&sign[..], next) {
            ("+" | "-" | "*" | "/", Some(Kind::Equals | Kind::EqEq)) => {
                let at = self.range(Span::new(op.start, op.end + 1));
                (at, format!("{sign}="), format!("{variable} {sign} …"))
            }
            ("<" | ">", Some(next)) if next == self.token_kind(op.start).unwrap_or(next) => {
                let at = self.range(Span::new(op.start, op.end + 1));
                let shift = if sign == "<" { "lshift" } else { "rshift" };
                let edit =
                    self.of_operands(op.start..op.end + 1, |x, n| format!("{shift}({x}, {n})"));
                let report = self.error(at, format!("`{sign}{sign}` is not an operator"));
                let hint = format!("bits are shifted by `{shift}(x, n)`");
                return Some(Self::fix_or_hint(report, hint, edit));
            }
            // `y = xs ++` is an operand short.
            ("++", None | Some(Kind::Semi | Kind::Dollar | Kind::RParen))
                if adjoining && node.kids[0].start == 0 =>
            {
                (self.range(op), "++".to_owned(), format!("{variable} + 1"))
            }
            _ => return None,
        };
        // A definition stands at the top; elsewhere nothing can be done so simply.
        let edit = (node.kids[0].start == 0).then(|| {
            let first = self.node_range(&node.kids[0]);
            if written == "++" {
                return (first.cover(at), format!("{variable} = {variable} + 1"));
            }
            let end = super::super::unterminated(self.tokens);
            let value = self.range(Span::new(op.end + 1, end as u32));
            let (text, single) = (&self.text[value], end <= op.end as usize + 2);
            let text = if single { text.to_owned() } else { format!("({text})") };
            (first.cover(value), format!("{variable} = {variable} {sign} {text}"))
        });
        let report =
            self.error(at, format!("`{written}` changes a variable, which never changes here"));
        let hint = format!("define it anew, as in `{variable} = {changed}`");
        Some(Self::fix_or_hint(report, hint, edit))
    }

    /// Makes the report of `g x y = e`, a definition without `function` and parentheses.
    pub(super) fn bare_definition(&mut self, node: &Node) -> Option<Report> {
        if let Some(report) = self.odd_name(&node.kids[0]) {
            return Some(report);
        }
        let mut names = vec![];
        let mut left = &node.kids[0];
        while left.kind == Kind::Juxtaposed && left.kids[1].kind == Kind::NameRef {
            names.push(self.node_text(&left.kids[1]));
            left = &left.kids[0];
        }
        if left.kind == Kind::Juxtaposed
            && left.kids[0].kind == Kind::NameRef
            && left.kids[1].kind == Kind::Literal
            && self.node_range(&left.kids[0]).end() < self.node_range(&left.kids[1]).start()
        {
            // `fact 0 = 1`.
            let at = self.node_range(&node.kids[0]);
            let function = self.node_text(&left.kids[0]);
            let report = self.error(at, "this does not begin a definition");
            return Some(report.hint(format!(
                "a function has one definition for all arguments: `function {function}(n) = if n == 0 then … else …`"
            )));
        }
        if left.kind != Kind::NameRef || names.is_empty() || self.breaks_before(1) {
            return None;
        }
        let function = self.node_text(left).to_owned();
        names.reverse();
        let written = format!("function {function}({})", names.join(", "));
        let at = self.node_range(&node.kids[0]);
        let report = self.error(at, "this does not begin a definition");
        Some(report.fix(format!("a function is defined with `{written} = …`"), at, written))
    }

    /// Adds to the report of `a[i] = v`, which changes nothing, how the changed copy is written.
    pub(super) fn changed_copy(&self, node: &Node, report: Report) -> Report {
        let [left, value] = &node.kids[..] else { return report };
        let [sequence, index, ..] = &left.kids[..] else { return report };
        if sequence.kind != Kind::NameRef || !index.present() || !value.present() {
            return report;
        }
        let name = self.node_text(sequence);
        let (index, value) = (self.node_text(index), self.node_text(value));
        let written = format!("{name} = rep({name}, {value}, {index})");
        report.fix(format!("write `{written}`"), self.node_range(node), written)
    }

    /// Makes the report of `my-name = e` and `2nd = e`.
    fn odd_name(&mut self, left: &Node) -> Option<Report> {
        let [a, b] = &left.kids[..] else { return None };
        let (first, second) = (self.node_range(a), self.node_range(b));
        let at = first.cover(second);
        if b.kind != Kind::NameRef {
            return None;
        }
        let written = self.text[at].to_owned();
        match left.kind {
            Kind::Binary
                if a.kind == Kind::NameRef
                    && self.token_kind(a.end) == Some(Kind::Minus)
                    && !written.contains(' ') =>
            {
                let name = written.replace('-', "_");
                let report = self.error(at, "a name has no `-`");
                Some(report.fix(format!("write `{name}`"), at, name))
            }
            Kind::Juxtaposed if a.kind == Kind::Literal && first.end() == second.start() => {
                Some(self.error(at, "a name does not begin with a digit"))
            }
            _ => None,
        }
    }

    /// Finds the `->` of `(x -> …)(3)`, where `=>` is meant.
    pub(super) fn thin_arrow(&self, fun: &Node) -> Option<u32> {
        if fun.kind != Kind::Paren {
            return None;
        }
        let mut node = &fun.kids[0];
        while node.kind == Kind::Binary {
            let op = node.kids[0].end;
            if self.token_kind(op) == Some(Kind::RightArrow) {
                return Some(op);
            }
            node = &node.kids[0];
        }
        None
    }

    /// Returns true if a colon and the word behind it look like a command of a front end: nothing stands
    /// before them on their line.
    pub(super) fn begins_command(&self, colon: u32) -> bool {
        let (Some(at), Some(word)) =
            (self.tokens.get(colon as usize), self.tokens.get(colon as usize + 1))
        else {
            return false;
        };
        let before = &self.text[..usize::from(at.range.start())];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        word.kind == Kind::Name && at.range.end() == word.range.start() && line.trim().is_empty()
    }

    /// Adds how commands are written to a report of one that stands elsewhere.
    pub(super) fn misplaced_command(&self, colon: u32, report: Report) -> Report {
        let word = self.token_text(colon + 1);
        report.hint(format!(
            "if `:{word}` is a command of the prompt or of a notebook, it stands before all forms of \
             its entry, on a line of its own"
        ))
    }

    /// Makes the report of `[a, b]` as a pattern.
    pub(super) fn no_sequences(&mut self, at: TextRange) -> Report {
        self.error(at, "there are no sequence patterns")
            .hint("bind the sequence to a name and index it, or use `vsep`")
    }

    /// Returns the position at which the closing quote of a string was probably forgotten: before
    /// the brackets and the `;` that end its line.
    pub(super) fn open_string_end(&self, token: TextRange) -> TextSize {
        let text = self.text[token].trim_end();
        let inside = text.trim_end_matches([';', '$', ' ', ')']);
        let inside = if inside.len() > 1 { inside } else { text };
        token.start() + TextSize::of(inside)
    }
}

/// Returns a part of a program for a message, in quotes; a long one is cut short.
fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 24;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}
