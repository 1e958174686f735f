//! A file → its top-level forms, before any parsing.
//!
//! A form ends at `$`, or at a `;` outside all brackets and `let … in`. What keeps mistakes
//! local: `function` and `datatype` always begin a form, and a form with a bracket or `let` that
//! is never closed ends at the first line that ends in `;` and is followed by a line that is not
//! indented. The cost is linear in the text.

use super::kind::SyntaxKind::{self, *};
use super::lexer::{self, Token};
use super::{RawItem, RawKind};
use crate::base::{Name, TextRange};

/// Splits a file into its top-level forms.
pub fn split(text: &str) -> Vec<RawItem> {
    let tokens = lexer::lex(text);
    let mut items = Vec::new();
    let mut from = 0;
    let mut doom = Doom::default();
    while from < tokens.len() {
        let to = Scan::new(text, &tokens, from).end(&mut doom);
        let form = Form::of(text, &tokens[from..to]);
        let range = TextRange::new(tokens[from].start.into(), tokens[to - 1].end.into());
        let item = RawItem {
            range,
            kind: form.kind,
            names: form.names(),
        };
        items.push(item);
        from = to;
    }
    items
}

/// Whether a text typed at a prompt is whole: nothing is open, and it ends with `;` or `$`.
/// Blank text is not.
pub fn is_complete(text: &str) -> bool {
    let tokens = lexer::lex(text);
    let open = |kind| matches!(kind, UnclosedComment | UnclosedText);
    if tokens.iter().any(|token| open(token.kind)) {
        return false;
    }
    let last = tokens.iter().rev().find(|token| !token.kind.is_trivia());
    match last.map(|token| token.kind) {
        Some(Dollar) => true,
        Some(Semi) => {
            let mut from = 0;
            while from < tokens.len() {
                let mut scan = Scan::new(text, &tokens, from);
                let (to, balanced) = scan.walk(&Doom::default());
                if !balanced {
                    return false;
                }
                from = to;
            }
            true
        }
        _ => false,
    }
}

/// The walk over one form.
struct Scan<'a> {
    text: &'a str,
    tokens: &'a [Token],
    from: usize,
    /// The open brackets and `let`s: what and where.
    open: Vec<(SyntaxKind, usize)>,
}

/// The openers that an earlier walk found to be never closed, and where that walk ended. A walk
/// that begins later and meets one need not go on, so that splitting stays linear.
#[derive(Default)]
struct Doom {
    openers: Vec<usize>,
    end: usize,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, tokens: &'a [Token], from: usize) -> Scan<'a> {
        Scan {
            text,
            tokens,
            from,
            open: Vec::new(),
        }
    }

    /// One past the last token of the form.
    fn end(&mut self, doom: &mut Doom) -> usize {
        let (to, balanced) = self.walk(doom);
        if balanced {
            return to;
        }
        if doom.end != to {
            doom.openers = self.open.iter().map(|&(_, at)| at).collect();
            doom.end = to;
        }
        (self.from..to)
            .find(|&at| self.tokens[at].kind == Semi && self.line_break_after(at))
            .map_or(to, |at| at + 1)
    }

    /// One past the last token, and whether all was closed there.
    fn walk(&mut self, doom: &Doom) -> (usize, bool) {
        let mut started = false;
        let mut at = self.from;
        while at < self.tokens.len() {
            let kind = self.tokens[at].kind;
            match kind {
                LParen | LBrack | LBrace | LetKw => {
                    if doom.openers.binary_search(&at).is_ok() {
                        return (doom.end, false);
                    }
                    self.open.push((kind, at));
                }
                RParen => self.close(LParen),
                RBrack => self.close(LBrack),
                RBrace => self.close(LBrace),
                InKw if self.open.last().is_some_and(|&(kind, _)| kind == LetKw) => {
                    self.open.pop();
                }
                Dollar => return (at + 1, true),
                Semi if self.open.is_empty() => return (at + 1, true),
                FunctionKw | DatatypeKw if started => {
                    return (self.before(at), self.open.is_empty());
                }
                Colon2 if self.open.is_empty() => at = self.context(at),
                UnclosedText | UnclosedComment | ForeignComment
                    if started && self.breaks_off(at) =>
                {
                    return (at + 1, true);
                }
                _ => {}
            }
            started |= !kind.is_trivia();
            at += 1;
        }
        (at, self.open.is_empty())
    }

    fn close(&mut self, opener: SyntaxKind) {
        // `let`s without `in` end with the bracket around them; a stray closer closes nothing.
        if let Some(at) = self.open.iter().rposition(|&(kind, _)| kind == opener) {
            self.open.truncate(at);
        }
    }

    /// Where a new form begins when `function` is at `at`: before the comments on the lines
    /// above it, which belong to it.
    fn before(&self, at: usize) -> usize {
        let mut begin = at;
        while begin > self.from && self.tokens[begin - 1].kind.is_trivia() {
            begin -= 1;
        }
        // The comment on the rest of the last line stays with that line.
        let mut to = begin;
        for token in begin..at {
            if self.tokens[token].text(self.text).contains('\n') {
                break;
            }
            to = token + 1;
        }
        if to == at { begin } else { to }
    }

    /// From a `::` that no `(` follows: the last token of `a in any; b in any`, so that the
    /// `;` inside ends nothing.
    fn context(&self, colon: usize) -> usize {
        let mut last = colon;
        let mut next = self.significant(colon + 1);
        loop {
            let second = self.significant(next + 1);
            let third = self.significant(second + 1);
            if self.kind(next) != Some(Ident)
                || self.kind(second) != Some(InKw)
                || self.kind(third) != Some(Ident)
            {
                return last;
            }
            last = third;
            let semi = self.significant(third + 1);
            if self.kind(semi) != Some(Semi) {
                return last;
            }
            next = self.significant(semi + 1);
        }
    }

    fn kind(&self, at: usize) -> Option<SyntaxKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn significant(&self, mut at: usize) -> usize {
        while self.kind(at).is_some_and(SyntaxKind::is_trivia) {
            at += 1;
        }
        at
    }

    /// Whether the next significant token is on a later line, in its first column.
    fn line_break_after(&self, at: usize) -> bool {
        let next = self.significant(at + 1);
        match self.tokens.get(next) {
            Some(token) => {
                next > at + 1
                    && self.text[..token.start as usize].ends_with('\n')
                    && self.text[self.tokens[at].end as usize..token.start as usize].contains('\n')
            }
            None => false,
        }
    }

    /// Whether a broken string or comment took the `;` of its line with it, and what follows
    /// begins a line.
    fn breaks_off(&self, at: usize) -> bool {
        self.tokens[at]
            .text(self.text)
            .trim_end()
            .ends_with([';', '$'])
            && self.line_break_after(at)
    }
}

/// What a form looks like, and the names in its head.
pub(super) struct Form<'a> {
    /// What it looks like.
    pub kind: RawKind,
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Form<'a> {
    /// Looks at the tokens of a form.
    pub fn of(text: &'a str, tokens: &[Token]) -> Form<'a> {
        let broken = tokens
            .iter()
            .any(|token| matches!(token.kind, UnclosedComment | ForeignComment));
        let tokens: Vec<Token> = tokens
            .iter()
            .copied()
            .filter(|token| !token.kind.is_trivia())
            .take_while(|token| !matches!(token.kind, Dollar))
            .collect();
        let mut form = Form {
            kind: RawKind::Blank,
            text,
            tokens,
        };
        form.kind = match form.kind(0) {
            None | Some(Semi) if broken => RawKind::Expr,
            None => RawKind::Blank,
            Some(Semi) if form.tokens.len() == 1 => RawKind::Blank,
            Some(FunctionKw) => RawKind::Function,
            Some(DatatypeKw) => RawKind::Datatype,
            Some(Ident) if form.is_command() => RawKind::Command,
            Some(_) if form.is_binding() => RawKind::Binding,
            Some(_) => RawKind::Expr,
        };
        form
    }

    /// The names it defines.
    pub fn names(&self) -> Vec<Name> {
        let name = |at: usize| Name::new(self.tokens[at].text(self.text));
        match self.kind {
            RawKind::Function | RawKind::Datatype => match self.kind(1) {
                Some(Ident) => vec![name(1)],
                _ => Vec::new(),
            },
            RawKind::Binding => {
                let end = self.equals().unwrap_or(0);
                let mut names = Vec::new();
                // `val x = 3` defines no `val`.
                let first = usize::from(self.kind(0) == Some(Ident) && self.kind(1) == Some(Ident));
                for at in first..end {
                    if self.kind(at) == Some(Ident) && self.kind(at + 1) != Some(LParen) {
                        names.push(name(at));
                    }
                }
                names
            }
            RawKind::Expr => vec![Name::new("it")],
            RawKind::Command | RawKind::Blank => Vec::new(),
        }
    }

    fn kind(&self, at: usize) -> Option<SyntaxKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// The `=` or `|=` of a binding.
    fn equals(&self) -> Option<usize> {
        self.tokens
            .iter()
            .position(|token| matches!(token.kind, Eq | PipeEq))
    }

    /// A pattern and `=`: names, commas and parentheses; constants and sequences too, which are
    /// then reported as what a pattern cannot have.
    fn is_binding(&self) -> bool {
        let Some(equals) = self.equals() else {
            return false;
        };
        let head = &self.tokens[..equals];
        head.iter().any(|token| matches!(token.kind, Ident | Bool))
            && matches!(head[0].kind, Ident | Bool | LParen | LBrack)
            && head.iter().all(|token| {
                token.kind.is_literal()
                    || matches!(
                        token.kind,
                        Ident | Comma | LParen | RParen | LBrack | RBrack
                    )
            })
            && !(head[0].kind != LBrack && head.iter().any(|token| token.kind == LBrack))
    }

    /// A verb of section 8, followed by what a command has and no expression would.
    fn is_command(&self) -> bool {
        let mut end = self.tokens.len();
        while end > 0 && matches!(self.kind(end - 1), Some(Semi | Dollar)) {
            end -= 1;
        }
        let rest = &self.tokens[1..end.max(1)];
        let next = rest.first().map(|token| token.kind);
        let word = |kind: SyntaxKind| kind == Ident || kind == Bool || kind.is_keyword();
        let plain = rest.iter().enumerate().all(|(at, token)| {
            word(token.kind)
                || matches!(token.kind, Text | UnclosedText | Int | Float)
                || (token.kind == Minus && rest.get(at + 1).is_some_and(|t| t.kind == Int))
                || (token.kind == Comma && rest.get(at + 2).is_some_and(|t| t.kind == ColonEq))
                || token.kind == ColonEq
        });
        let verb = self.tokens[0].text(self.text).to_ascii_lowercase();
        match (verb.as_str(), next) {
            ("help" | "exit" | "lisp", None) => true,
            ("lisp", Some(kind)) => plain && word(kind),
            ("load" | "shell" | "edit" | "get" | "apropos", Some(Text | UnclosedText)) => plain,
            ("edit" | "get" | "apropos" | "show" | "defconfig" | "help", Some(kind)) => {
                plain && word(kind)
            }
            ("describe", Some(kind)) => rest.len() == 1 && (word(kind) || kind.is_operator()),
            ("set", Some(Ident)) => plain && rest.len() >= 2,
            ("dump", Some(Ident)) => rest.get(1).is_some_and(|token| token.kind == Text),
            _ => false,
        }
    }
}
