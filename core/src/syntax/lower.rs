//! The grammar's nodes → [`ast`](super::ast), and every syntax error.
//!
//! The grammar reports nothing. Here the whole form is known, so missing and misplaced parts are reported
//! in the user's terms, with a suggestion where there is one.
//!
//! | file | contents |
//! |---|---|
//! | `form` | whole forms, and errors of single tokens |
//! | `expr` | expressions |
//! | `binding` | `let`, and the separators that are forgotten in and around bindings |
//! | `conditional` | `if`, and what is missing of it while it is written |
//! | `each` | the apply-to-each, and the mistakes that are common in it |
//! | `pattern` | patterns and parameters |
//! | `types` | types and their contexts |
//! | `foreign_form` | reports of constructs of other languages that extend over a form |
//! | `foreign_notation` | reports of the notation of other languages |
//! | `foreign_statement` | reports of their statements: loops, returns, declarations, blocks |
//! | `rewritten` | what such notation is in NESL, as an edit |

mod binding;
mod conditional;
mod each;
mod expr;
mod foreign_form;
mod foreign_notation;
mod foreign_statement;
mod form;
mod pattern;
mod rewritten;
mod types;

use super::ast::{Arena, ArenaMap, Expr, ExprId, Ident, Item, Pat, PatId};
use super::grammar::Node;
use super::lexer::{Kind, Token};
use super::long_literal::LongLiteral;
use crate::base::{Diagnostic, DiagnosticKind, Name, Span, TextRange, TextSize};

pub(super) use form::lower;

type Report = Diagnostic<TextRange>;

/// The message about `` `a` `` and `'a'`.
const QUOTED_CHAR: &str = "a char is written with one back-quote before it";

/// The number of errors reported for one form; further ones are dropped.
const MAX_REPORTS: usize = 50;

/// An item that has been lowered.
pub(super) struct Lowered {
    pub(super) item: Item,
    pub(super) diagnostics: Vec<Report>,
    pub(super) lines: Vec<Report>,
    pub(super) comments: Vec<(TextRange, Report)>,
}

/// An item being lowered.
struct Lower<'a> {
    text: &'a str,
    /// The significant tokens, terminator included.
    tokens: &'a [Token],
    /// The lists whose elements are not parsed, in order.
    literals: &'a [LongLiteral],
    exprs: Arena<Expr>,
    expr_spans: ArenaMap<ExprId, Span>,
    pats: Arena<Pat>,
    pat_spans: ArenaMap<PatId, Span>,
    diagnostics: Vec<Report>,
    /// Reports that are no errors; they explain none.
    warnings: Vec<Report>,
    /// Reports of arguments that begin a line, see [`Parsed::lines`](super::Parsed::lines).
    lines: Vec<Report>,
    /// The comments of other languages, see [`Parsed::comments`](super::Parsed::comments).
    comments: Vec<(TextRange, Report)>,
    /// Tokens among which there is no `where`: nested operands are not searched again.
    without_where: Span,
    /// The number of parts so far of the type that is being lowered.
    type_parts: usize,
    /// Tokens before which a bracket should have been closed; other errors there are consequences.
    unclosed: Vec<u32>,
    /// True in the value of a `let` binding, where `x = 1 y = 2` lacks a `;`.
    in_let: bool,
    /// A report that explains all others: another form began before this one was ended.
    decisive: Option<Report>,
}

impl<'a> Lower<'a> {
    fn new(text: &'a str, tokens: &'a [Token], literals: &'a [LongLiteral]) -> Lower<'a> {
        Lower {
            text,
            tokens,
            literals,
            exprs: Arena::new(),
            expr_spans: ArenaMap::default(),
            pats: Arena::new(),
            pat_spans: ArenaMap::default(),
            diagnostics: Vec::new(),
            warnings: Vec::new(),
            lines: Vec::new(),
            comments: Vec::new(),
            without_where: Span::default(),
            type_parts: 0,
            unclosed: Vec::new(),
            in_let: false,
            decisive: None,
        }
    }

    fn finish(self, kind: super::ast::ItemKind, span: Span) -> Lowered {
        let unclosed: Vec<TextSize> =
            self.unclosed.iter().map(|index| self.insert_at(*index).start()).collect();
        let Lower {
            exprs,
            expr_spans,
            pats,
            pat_spans,
            mut diagnostics,
            warnings,
            mut lines,
            comments,
            decisive,
            ..
        } = self;
        if let Some(decisive) = decisive {
            diagnostics = vec![decisive];
        }
        lines.sort_by_key(|d| d.primary.at.start());
        // Only the first report about a location is kept, and none where a bracket is missing.
        diagnostics.sort_by_key(|d| d.primary.at.start());
        diagnostics.dedup_by_key(|d| d.primary.at.start());
        merge_repeated(self.text, &mut diagnostics);
        diagnostics
            .retain(|d| d.primary.at.is_empty() || !unclosed.contains(&d.primary.at.start()));
        // What is missing at the end of a bracket is the reason that it is not closed.
        let wide = diagnostics.iter().map(|d| d.primary.at).filter(|at| !at.is_empty());
        let ends: Vec<TextSize> = wide.map(|at| at.end()).collect();
        diagnostics.retain(|d| {
            let at = d.primary.at;
            !(at.is_empty() && unclosed.contains(&at.start()) && ends.contains(&at.start()))
        });
        diagnostics.extend(warnings);
        let item = Item { kind, span, exprs, expr_spans, pats, pat_spans };
        Lowered { item, diagnostics, lines, comments }
    }

    fn add(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = self.exprs.alloc(expr);
        self.expr_spans.insert(id, span);
        id
    }

    fn add_pat(&mut self, pat: Pat, span: Span) -> PatId {
        let id = self.pats.alloc(pat);
        self.pat_spans.insert(id, span);
        id
    }

    /// Returns the bytes of a span. An empty span, where something is missing, is located after the
    /// token before it.
    fn range(&self, span: Span) -> TextRange {
        super::range_of(self.tokens, span)
    }

    fn node_range(&self, node: &Node) -> TextRange {
        self.range(span(node))
    }

    fn token_kind(&self, index: u32) -> Option<Kind> {
        self.tokens.get(index as usize).map(|t| t.kind)
    }

    fn token_text(&self, index: u32) -> &'a str {
        self.tokens.get(index as usize).map_or("", |t| &self.text[t.range])
    }

    fn node_text(&self, node: &Node) -> &'a str {
        if node.present() { &self.text[self.node_range(node)] } else { "" }
    }

    fn ident(&self, node: &Node) -> Ident {
        Ident { name: Name::new(self.token_text(node.start)), span: span(node) }
    }

    fn report(&mut self, report: Report) {
        if self.diagnostics.len() < MAX_REPORTS {
            self.diagnostics.push(report);
        }
    }

    /// Adds a hint to a report, with the edit that does what it says if that is clear.
    fn fix_or_hint(
        report: Report,
        hint: impl Into<String>,
        edit: Option<(TextRange, String)>,
    ) -> Report {
        match edit {
            Some((at, written)) => report.fix(hint, at, written),
            None => report.hint(hint),
        }
    }

    fn error(&mut self, at: TextRange, message: impl Into<String>) -> Report {
        Diagnostic::error(DiagnosticKind::Syntax, at, message)
    }

    /// Describes a token for messages: `` `;` ``, `the end of the form`.
    fn found(&self, index: u32) -> String {
        match self.tokens.get(index as usize) {
            None => "the end of the form".to_owned(),
            Some(token) => {
                let text = &self.text[token.range];
                let short: String = text.chars().take(24).collect();
                if short.len() < text.len() {
                    format!("`{short}…`")
                } else {
                    format!("`{short}`")
                }
            }
        }
    }

    /// Makes a report that something was expected at a token.
    fn expected(&mut self, what: &str, index: u32) -> Report {
        let at = self.range(Span::new(index, index + 1));
        let found = self.found(index);
        if let Some(report) = self.word_as_name(index) {
            return report;
        }
        let report = self.error(at, format!("expected {what}, found {found}"));
        match self.token_kind(index) {
            Some(Kind::ReservedKw) => report.hint("it is a reserved word"),
            Some(Kind::FunctionKw) if index > 0 => {
                report.hint("a function value is written `x => x + 1`")
            }
            Some(Kind::Colon) if self.begins_command(index) => {
                self.misplaced_command(index, report)
            }
            _ => report,
        }
    }

    /// Makes the report of a word of the language that stands where a name is defined, at a token or
    /// just before it: `let = 5`, `function if(x) = x`.
    fn word_as_name(&mut self, index: u32) -> Option<Report> {
        let word = [Some(index), index.checked_sub(1)].into_iter().flatten().find(|at| {
            let before = at.checked_sub(1).and_then(|before| self.token_kind(before));
            let defines = match before {
                None => self.token_kind(at + 1) == Some(Kind::Equals),
                Some(Kind::FunctionKw | Kind::DatatypeKw) => true,
                Some(Kind::LetKw) => self.token_kind(at + 1) == Some(Kind::Equals),
                _ => false,
            };
            defines && self.token_kind(*at).is_some_and(is_word)
        })?;
        let at = self.range(Span::new(word, word + 1));
        let report = self.error(
            at,
            format!("{} cannot be a name: it is a word of the language", self.found(word)),
        );
        Some(report.hint("choose another name"))
    }

    /// Reports a bracket that is never closed.
    fn need_close(&mut self, open: u32, close: &Node, bracket: &str) {
        let opener = self.range(Span::new(open, open + 1));
        // An error inside the bracket explains why its end was not reached.
        let explained =
            |d: &Report| d.kind == DiagnosticKind::Syntax && d.primary.at.start() > opener.start();
        if close.present() || self.diagnostics.iter().any(explained) {
            return;
        }
        if self.closes_later(open, close.start) {
            self.does_not_belong(open, close.start, bracket);
            return;
        }
        let what = self.token_text(open).to_owned();
        if let Some(other) = self.wrong_closer(open, close.start) {
            let at = self.range(Span::new(close.start, close.start + 1));
            let report = self
                .error(at, format!("`{what}` is closed by `{bracket}`, not by `{other}`"))
                .label(opener, "opened here")
                .fix(format!("write `{bracket}`"), at, bracket);
            self.report(report);
            return;
        }
        self.unclosed.push(close.start);
        let at = self.range(Span::new(close.start, close.start));
        let report = self
            .error(at, format!("this `{what}` is never closed"))
            .here(format!("expected `{bracket}` here"))
            .label(opener, "opened here")
            .fix(format!("add `{bracket}`"), at, bracket);
        self.report(report);
    }

    /// Returns the bracket at a token if it closes none that is open: it was to close the one at `open`.
    fn wrong_closer(&self, open: u32, index: u32) -> Option<&'a str> {
        let opener = match self.token_kind(index)? {
            Kind::RParen => [Kind::LParen, Kind::CallParen],
            Kind::RBracket => [Kind::LBracket; 2],
            Kind::RBrace => [Kind::LBrace; 2],
            _ => return None,
        };
        let mut depth = [0i64; 3];
        for token in self.tokens.iter().take(open as usize) {
            match token.kind {
                Kind::LParen | Kind::CallParen => depth[0] += 1,
                Kind::RParen => depth[0] -= 1,
                Kind::LBracket => depth[1] += 1,
                Kind::RBracket => depth[1] -= 1,
                Kind::LBrace => depth[2] += 1,
                Kind::RBrace => depth[2] -= 1,
                _ => {}
            }
        }
        let outer = match opener[0] {
            Kind::LParen => depth[0],
            Kind::LBracket => depth[1],
            _ => depth[2],
        };
        (outer == 0).then(|| self.token_text(index))
    }

    /// Returns true if the bracket opened at `open` is closed after token `from`.
    fn closes_later(&self, open: u32, from: u32) -> bool {
        let closer = match self.token_kind(open) {
            Some(Kind::LBracket) => Kind::RBracket,
            Some(Kind::LBrace) => Kind::RBrace,
            _ => Kind::RParen,
        };
        let mut depth = 0usize;
        for token in self.tokens.iter().skip(from as usize) {
            match token.kind {
                Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
                Kind::RParen | Kind::RBracket | Kind::RBrace if depth > 0 => depth -= 1,
                Kind::RParen | Kind::RBracket | Kind::RBrace => return token.kind == closer,
                _ => {}
            }
        }
        false
    }

    /// Reports the token at which the content of brackets ends too early.
    fn does_not_belong(&mut self, open: u32, index: u32, bracket: &str) {
        let opener = self.token_kind(open);
        let separators = match opener {
            Some(Kind::LBrace) => "`;`, `|` or",
            _ => "`,` or",
        };
        let mut report = self.expected(&format!("{separators} `{bracket}`"), index);
        let function = self.token_kind(0) == Some(Kind::FunctionKw);
        let index_kind = self.token_kind(index);
        report = match (opener, index_kind) {
            (Some(Kind::LBrace), Some(Kind::InKw))
                if (open..index).any(|i| self.token_kind(i) == Some(Kind::Bar)) =>
            {
                let edit = self.membership(index);
                let hint = "whether `x` is an element of `xs` is `find(x, xs) >= 0`";
                Self::fix_or_hint(report, hint, edit)
            }
            (Some(Kind::LBrace), Some(Kind::InKw)) => {
                report.hint("bindings are separated by `;`: `{… : x in xs; y in ys}`")
            }
            (Some(Kind::LBrace), Some(Kind::IfKw)) => {
                let at = self.range(Span::new(index, index + 1));
                report = self.error(at, "the condition of an apply-to-each is written after `|`");
                report.fix("write `|`", at, "|")
            }
            (Some(Kind::LBrace), Some(Kind::Bar)) => {
                report.hint("there is one condition: join several with `and`")
            }
            (Some(Kind::LBrace), Some(Kind::Colon)) => {
                let at = self.range(Span::new(index, index + 1));
                report.fix("a condition is written after `|`", at, "|")
            }
            (Some(Kind::LBracket), Some(Kind::Bar | Kind::InKw))
            | (Some(Kind::LParen | Kind::CallParen), Some(Kind::InKw))
                if let Some(word) = self.comprehension(open, index) =>
            {
                let at = self.range(Span::new(word, word + 1));
                let (message, hint) = match opener {
                    Some(Kind::LBracket) => (
                        "a sequence is not computed in brackets",
                        "write `{x * x : x in xs}`, with a condition `{x * x : x in xs | x > 1}`",
                    ),
                    _ => (
                        "the elements of a sequence are computed in braces",
                        "write `sum({x * x : x in xs})`, with a condition `{x * x : x in xs | x > 1}`",
                    ),
                };
                let report = self.error(at, message);
                Self::fix_or_hint(report, hint, self.each_in_brackets(open, word))
            }
            (Some(Kind::LBracket), Some(Kind::Semi)) => {
                let hint = "elements are separated by `,`; a matrix is a sequence of rows: `[[1, 2], [3, 4]]`";
                Self::fix_or_hint(report, hint, self.matrix(open))
            }
            (Some(Kind::LBracket), Some(Kind::InKw)) => {
                report.hint("an apply-to-each is written with braces: `{… : x in xs}`")
            }
            (_, Some(Kind::InKw)) if self.token_kind(open + 2) != Some(Kind::InKw) => {
                let hint = "`in` belongs to `let` or to `{… : x in …}`; whether `x` is an element is `find(x, xs) >= 0`";
                Self::fix_or_hint(report, hint, self.membership(index))
            }
            (_, Some(Kind::InKw)) => report.hint("`in` belongs to `let` or to `{… : x in …}`"),
            (Some(Kind::LParen | Kind::CallParen | Kind::LBracket), Some(Kind::IfKw))
                if let Some(edit) = self.choice_behind(index) =>
            {
                Self::fix_or_hint(report, "write `if c then a else b`", Some(edit))
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Bar))
                if self.token_kind(index + 1) == Some(Kind::Greater) =>
            {
                let hint = "a function is written before its argument, as in `sum(xs)`";
                Self::fix_or_hint(report, hint, self.piped(index))
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Bar))
                if let Some(edit) = self.closure(index) =>
            {
                let report = self.error(edit.0, "a function value has no `|`");
                let hint = format!("a function value is written `{} …`", edit.1);
                Self::fix_or_hint(report, hint, Some(edit))
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Semi)) => {
                let at = self.range(Span::new(index, index + 1));
                match self.token_kind(index + 1) {
                    Some(Kind::RParen) => report.fix("leave out the `;` before `)`", at, ""),
                    _ => report.fix("write `,`", at, ","),
                }
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Colon))
                if let Some(inside) = self.bare_each(open, index) =>
            {
                let text = &self.text[inside];
                self.error(inside, "an apply-to-each is written in braces").fix(
                    "add the braces",
                    inside,
                    format!("{{{text}}}"),
                )
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Colon))
                if let Some(word) = self.lambda_word(open, index) =>
            {
                self.foreign_lambda(word, index)
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Colon))
                if self.token_kind(0) == Some(Kind::DatatypeKw) =>
            {
                report.hint("the parts have no names: `datatype point(float, float);`")
            }
            (Some(Kind::LParen | Kind::CallParen), Some(Kind::Colon)) if function => report.hint(
                "types are written after the parameters: `function g(x, y) : int, int -> int = …`",
            ),
            _ => report,
        };
        self.report(report);
    }

    /// Finds the word of `lambda x:` before its colon.
    fn lambda_word(&self, from: u32, colon: u32) -> Option<u32> {
        (from..colon).find(|i| self.token_text(*i).eq_ignore_ascii_case("lambda"))
    }

    /// Makes the report of `lambda x:`.
    fn foreign_lambda(&mut self, word: u32, colon: u32) -> Report {
        let at = self.range(Span::new(word, colon + 1));
        let parameter = self.text[self.range(Span::new(word + 1, colon))].to_owned();
        let report = self.error(at, "there is no `lambda`");
        match self.lambda(word, Kind::Colon) {
            Some((at, written)) => {
                report.fix(format!("a function value is written `{written} …`"), at, written)
            }
            None => report.hint(format!("a function value is written `({parameter}) => …`")),
        }
    }

    /// Finds the text in the parentheses of `sum(x * x : x in xs)`, which lacks braces; the parentheses
    /// open at `open`, and the colon is at `colon`.
    fn bare_each(&self, open: u32, colon: u32) -> Option<TextRange> {
        let mut depth = 0usize;
        let mut within = false;
        for index in colon + 1.. {
            match self.token_kind(index)? {
                Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
                Kind::RParen if depth == 0 => {
                    return within.then(|| self.range(Span::new(open + 1, index)));
                }
                Kind::RParen | Kind::RBracket | Kind::RBrace => depth = depth.saturating_sub(1),
                Kind::InKw if depth == 0 => within = true,
                Kind::Equals | Kind::FunctionKw => return None,
                _ => {}
            }
        }
        None
    }

    /// Finds the `for` of `[x for x in xs]` or the `|` of `[x | x <- xs]`.
    fn comprehension(&self, open: u32, index: u32) -> Option<u32> {
        match self.token_kind(index) {
            Some(Kind::Bar) => Some(index),
            _ => (open..index).find(|i| self.token_text(*i).eq_ignore_ascii_case("for")),
        }
    }

    /// Returns true if a line ends before a token.
    fn breaks_before(&self, index: u32) -> bool {
        let Some(before) = index.checked_sub(1) else { return false };
        match (self.tokens.get(before as usize), self.tokens.get(index as usize)) {
            (Some(before), Some(token)) => {
                self.text[TextRange::new(before.range.end(), token.range.start())].contains('\n')
            }
            _ => false,
        }
    }

    /// Returns the empty range just after a token.
    fn insert_after(&self, index: u32) -> TextRange {
        TextRange::empty(
            self.tokens.get(index as usize).map_or(TextSize::new(0), |t| t.range.end()),
        )
    }

    /// Reports the sign of a definition or binding if it is not `=`.
    fn wrong_sign(&mut self, sign: &Node, what: &str) {
        if sign.present() && self.token_kind(sign.start) != Some(Kind::Equals) {
            let at = self.node_range(sign);
            let found = self.found(sign.start);
            let report = self.error(at, format!("{what} is written with `=`, not {found}")).fix(
                "write `=`",
                at,
                "=",
            );
            self.report(report);
        }
    }

    fn insert_at(&self, index: u32) -> TextRange {
        let start = self.tokens.get(index as usize).map_or_else(
            || self.tokens.last().map_or(TextSize::new(0), |t| t.range.end()),
            |t| t.range.start(),
        );
        TextRange::empty(start)
    }
}

/// Returns true for the words of the language, which cannot be names.
fn is_word(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::FunctionKw
            | Kind::DatatypeKw
            | Kind::IfKw
            | Kind::ThenKw
            | Kind::ElseKw
            | Kind::LetKw
            | Kind::InKw
            | Kind::AndKw
            | Kind::OrKw
            | Kind::XorKw
            | Kind::NorKw
            | Kind::NandKw
            | Kind::ReservedKw
    )
}

fn span(node: &Node) -> Span {
    Span::new(node.start, node.end)
}

/// Keeps the first of the reports that chars are quoted as in other languages: who writes one so writes all of them so.
/// Its fix is that of all of them.
fn merge_repeated(text: &str, reports: &mut Vec<Report>) {
    let is_quoted = |report: &Report| report.message == QUOTED_CHAR;
    let edits: Vec<(TextRange, String)> = reports
        .iter()
        .filter(|report| is_quoted(report))
        .filter_map(|report| report.hints.first()?.edit.clone())
        .collect();
    let [(first, _), .., (last, _)] = &edits[..] else { return };
    let whole = first.cover(*last);
    let mut written = String::new();
    let mut from = whole.start();
    for (at, char) in &edits {
        written.push_str(&text[TextRange::new(from, at.start())]);
        written.push_str(char);
        from = at.end();
    }
    let others = edits.len() - 1;
    let note = match others {
        1 => "there is another one in this form".to_owned(),
        _ => format!("there are {others} more in this form"),
    };
    let mut seen = false;
    reports.retain(|report| !is_quoted(report) || !std::mem::replace(&mut seen, true));
    if let Some(report) = reports.iter_mut().find(|report| is_quoted(report)) {
        report.notes.push(note);
        report.hints[0].edit = Some((whole, written));
    }
}
