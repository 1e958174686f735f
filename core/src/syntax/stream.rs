//! Prepares the significant tokens of one item for the grammar.
//!
//! The grammar can then rely on this: brackets are balanced, so a group always reaches its
//! closer; the form's own terminator is not a separator; nesting is bounded. To make it so,
//!
//! * an opener that is never closed gets a closer of width zero where a person would put it,
//! * a closer that closes nothing is left out,
//!
//! and both are reported here, with the opener shown.

use super::RawKind;
use super::kind::SyntaxKind::{self, *};
use super::lexer::{self, Token};
use super::split::Form;
use crate::base::{Diagnostic, Kind, TextRange};

/// How deep expressions may nest: brackets, operators, `if`, `let`, all together.
pub const MAX_DEPTH: usize = 1000;

/// A token as the grammar sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tok {
    /// Its kind, more telling than the lexer's for some.
    pub kind: SyntaxKind,
    /// Its number among the item's significant tokens, or of the one it stands before.
    pub at: u32,
    /// 1, or 0 when it is not in the text.
    pub width: u32,
}

/// The text of an item and its tokens.
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// All tokens.
    pub all: Vec<Token>,
    /// The significant ones.
    pub tokens: Vec<Token>,
    /// What it looks like.
    pub kind: RawKind,
}

impl<'a> Source<'a> {
    /// Lexes an item.
    pub fn new(text: &'a str) -> Source<'a> {
        let all = lexer::lex(text);
        let kind = Form::of(text, &all).kind;
        let tokens = all
            .iter()
            .copied()
            .filter(|token| !token.kind.is_trivia())
            .collect();
        Source {
            text,
            all,
            tokens,
            kind,
        }
    }

    /// The text of a significant token; empty past the end.
    pub fn token(&self, at: u32) -> &'a str {
        self.tokens
            .get(at as usize)
            .map_or("", |token| token.text(self.text))
    }

    /// The kind of a significant token.
    pub fn kind(&self, at: u32) -> SyntaxKind {
        self.tokens.get(at as usize).map_or(Eof, |token| token.kind)
    }

    /// The bytes of a significant token; past the end, the end of the last one.
    pub fn range(&self, at: u32) -> TextRange {
        match self.tokens.get(at as usize) {
            Some(token) => TextRange::new(token.start.into(), token.end.into()),
            None => TextRange::empty(self.end_of_last().into()),
        }
    }

    /// Where the last significant token ends.
    pub fn end_of_last(&self) -> u32 {
        self.tokens.last().map_or(0, |token| token.end)
    }

    /// Whether a line break stands before a significant token.
    pub fn breaks_before(&self, at: u32) -> bool {
        let end = match at.checked_sub(1) {
            Some(before) => self.tokens.get(before as usize).map_or(0, |t| t.end),
            None => 0,
        };
        let start = match self.tokens.get(at as usize) {
            Some(token) => token.start as usize,
            None => self.text.len(),
        };
        self.text[(end as usize).min(start)..start].contains('\n')
    }
}

/// The grammar's view, or nothing when the item nests too deeply; and what is wrong so far.
pub fn prepare(source: &Source<'_>, out: &mut Vec<Diagnostic<TextRange>>) -> Option<Vec<Tok>> {
    let head = match source.kind {
        RawKind::Function => HeadFunction,
        RawKind::Datatype => HeadDatatype,
        RawKind::Binding => HeadBinding,
        RawKind::Command => HeadCommand,
        RawKind::Expr | RawKind::Blank => HeadExpr,
    };
    let kinds = view(source);
    let matching = Matching::of(&kinds);
    if let Some(at) = too_deep(&kinds) {
        let message = format!("this is nested too deeply: more than {MAX_DEPTH} levels");
        out.push(Diagnostic::error(Kind::Syntax, source.range(at), message));
        return None;
    }
    let mut toks = Vec::with_capacity(kinds.len() + 4);
    let mut push = |kind, at, width| toks.push(Tok { kind, at, width });
    push(head, 0, 0);
    let mut open: Vec<Open> = Vec::new();
    // Before the `=` of a definition.
    let mut heading = matches!(head, HeadFunction | HeadBinding);
    for (at, &kind) in kinds.iter().enumerate() {
        let at = at as u32;
        let closed = close_before(&kinds, at as usize, &mut open, heading);
        heading &= kind != Eq;
        for opener in closed {
            push(kinds[opener].closer(), at, 0);
            out.push(unclosed(source, opener as u32, at));
        }
        if matching.stray[at as usize] {
            out.push(stray(source, at));
            continue;
        }
        match kind {
            LParen | CallParen | LBrack | LBrace | LetKw | IfKw => open.push(Open {
                kind,
                at: at as usize,
                closed: matching.closed[at as usize],
            }),
            RParen | RBrack | RBrace => while open.pop().is_some_and(|o| !o.kind.is_open()) {},
            InKw if open.last().is_some_and(|o| o.kind == LetKw) => {
                open.pop();
            }
            ElseKw if open.last().is_some_and(|o| o.kind == IfKw) => {
                open.pop();
            }
            _ => {}
        }
        push(kind, at, 1);
    }
    let end = kinds.len() as u32;
    while let Some(opener) = open.pop() {
        if opener.kind.is_open() {
            push(kinds[opener.at].closer(), end, 0);
            out.push(unclosed(source, opener.at as u32, end));
        }
    }
    push(Eof, end, 0);
    Some(toks)
}

/// The kinds, with calls and the terminator told apart.
fn view(source: &Source<'_>) -> Vec<SyntaxKind> {
    let mut kinds: Vec<SyntaxKind> = source.tokens.iter().map(|token| token.kind).collect();
    for at in 1..kinds.len() {
        let touching = source.tokens[at - 1].end == source.tokens[at].start;
        if kinds[at] == LParen && kinds[at - 1] == Ident && touching {
            kinds[at] = CallParen;
        }
    }
    if let Some(last @ (Semi | Dollar)) = kinds.last_mut() {
        *last = End;
    }
    kinds
}

/// Which openers are closed, and which closers close nothing.
struct Matching {
    closed: Vec<bool>,
    stray: Vec<bool>,
}

impl Matching {
    fn of(kinds: &[SyntaxKind]) -> Matching {
        let mut closed = vec![false; kinds.len()];
        let mut stray = vec![false; kinds.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut count = [0usize; 3];
        let slot = |closer: SyntaxKind| (closer as usize - RParen as usize) / 2;
        for (at, &kind) in kinds.iter().enumerate() {
            if kind.is_open() {
                open.push(at);
                count[slot(kind.closer())] += 1;
            } else if kind.is_close() {
                if count[slot(kind)] == 0 {
                    stray[at] = true;
                    continue;
                }
                while let Some(opener) = open.pop() {
                    count[slot(kinds[opener].closer())] -= 1;
                    if kinds[opener].closer() == kind {
                        closed[opener] = true;
                        break;
                    }
                }
            }
        }
        Matching { closed, stray }
    }
}

/// Something open: a bracket, `let` before its `in`, `if` before its `else`.
struct Open {
    kind: SyntaxKind,
    at: usize,
    closed: bool,
}

/// The openers, innermost first, that must have ended before token `at`.
/// `heading`: in front of the `=` of a definition.
fn close_before(
    kinds: &[SyntaxKind],
    at: usize,
    open: &mut Vec<Open>,
    heading: bool,
) -> Vec<usize> {
    let mut closed = Vec::new();
    // How far up (as an index into `open`) brackets have to go.
    let outer = |open: &[Open], found: fn(SyntaxKind) -> bool| {
        open.iter()
            .rposition(|o| found(o.kind) || (o.kind.is_open() && o.closed))
            .filter(|&i| found(open[i].kind))
            .map(|i| i + 1)
    };
    let keep = match kinds[at] {
        RParen | RBrack | RBrace => open
            .iter()
            .rposition(|o| o.closed && o.kind.closer() == kinds[at])
            .map(|i| i + 1),
        End => Some(0),
        Semi => Some(
            open.iter()
                .rposition(|o| {
                    matches!(o.kind, LetKw | LBrace) || o.closed || context_paren(kinds, o.at)
                })
                .map_or(0, |i| i + 1),
        ),
        InKw => {
            if open.last().is_some_and(|o| context_paren(kinds, o.at)) {
                None
            } else {
                outer(open, |kind| matches!(kind, LetKw | LBrace))
            }
        }
        ThenKw | ElseKw => outer(open, |kind| kind == IfKw),
        Pipe => outer(open, |kind| kind == LBrace),
        Colon if open.last().is_some_and(|o| o.kind.closer() == RParen) => {
            outer(open, |kind| matches!(kind, LBrace | LBrack)).or(
                if open.iter().all(|o| !o.closed && o.kind.closer() == RParen) {
                    Some(0)
                } else {
                    None
                },
            )
        }
        Eq => match open.iter().rposition(|o| o.kind == LetKw) {
            Some(i) if only_parens(&open[i + 1..]) => Some(i + 1),
            None if heading && open.iter().all(|o| !o.closed) => Some(0),
            _ => None,
        },
        _ => None,
    };
    let Some(keep) = keep else {
        return closed;
    };
    while open.len() > keep {
        let Some(last) = open.pop() else { break };
        if last.kind.is_open() {
            closed.push(last.at);
        }
    }
    closed
}

fn only_parens(open: &[Open]) -> bool {
    open.iter()
        .all(|o| !o.closed && o.kind.closer() == RParen && o.kind.is_open())
}

/// Whether the opener is the `(` of `:: (a in any; b in any)`.
fn context_paren(kinds: &[SyntaxKind], at: usize) -> bool {
    at > 0 && kinds[at].is_open() && kinds[at - 1] == Colon2
}

/// The first token at which the tree could become too deep.
fn too_deep(kinds: &[SyntaxKind]) -> Option<u32> {
    struct Group {
        /// Levels that a separator ends.
        chain: usize,
        /// Levels that last to the end of the group.
        lasting: usize,
        list: bool,
    }
    let group = |kind| Group {
        chain: 0,
        lasting: 1,
        list: matches!(kind, LBrack | LBrace),
    };
    let mut groups = vec![group(Eof)];
    let mut total = 1;
    let mut operand = false;
    for (at, &kind) in kinds.iter().enumerate() {
        let last = groups.last_mut()?;
        let starts_operand =
            kind.is_literal() || matches!(kind, Ident | Quote | LParen | LBrack | LBrace);
        if starts_operand && operand {
            last.chain += 1;
            total += 1;
        }
        if kind.is_open() {
            groups.push(group(kind));
            total += 1;
        } else if kind.is_close() {
            if groups.len() > 1 {
                let ended = groups.pop()?;
                total -= ended.chain + ended.lasting;
            }
        } else if matches!(kind, Semi | Colon | Pipe | InKw | ThenKw | ElseKw)
            || (kind == Comma && last.list)
        {
            total -= last.chain;
            last.chain = 0;
        } else if matches!(kind, IfKw | LetKw | FatArrow | Comma) {
            last.lasting += last.chain + 1;
            last.chain = 0;
            total += 1;
        } else if kind.is_operator()
            || matches!(
                kind,
                Unknown | ForeignNe | ForeignAnd | ForeignPower | ColonEq
            )
        {
            last.chain += 1;
            total += 1;
        }
        operand = kind.is_close() || kind.is_literal() || matches!(kind, Ident | Quote);
        if total > MAX_DEPTH {
            return Some(at as u32);
        }
    }
    None
}

fn name_of(opener: SyntaxKind) -> (&'static str, &'static str) {
    match opener {
        LBrack => ("[", "]"),
        LBrace => ("{", "}"),
        _ => ("(", ")"),
    }
}

fn unclosed(source: &Source<'_>, opener: u32, before: u32) -> Diagnostic<TextRange> {
    let (open, close) = name_of(source.kind(opener));
    let end = match before.checked_sub(1) {
        Some(last) => TextRange::empty(source.range(last).end()),
        None => TextRange::empty(0.into()),
    };
    let found = match source.kind(before) {
        Eof => "the end".to_string(),
        _ => format!("`{}`", source.token(before)),
    };
    Diagnostic::error(
        Kind::Syntax,
        source.range(opener),
        format!("this `{open}` is never closed"),
    )
    .label(
        if before as usize == source.tokens.len() {
            end
        } else {
            source.range(before)
        },
        format!("`{close}` expected before {found}"),
    )
    .fix(format!("write `{close}` here"), end, close)
}

fn stray(source: &Source<'_>, at: u32) -> Diagnostic<TextRange> {
    let text = source.token(at);
    let range = source.range(at);
    let open = match text {
        "]" => "[",
        "}" => "{",
        _ => "(",
    };
    Diagnostic::error(
        Kind::Syntax,
        range,
        format!("this `{text}` closes nothing: no `{open}` is open here"),
    )
    .fix("take it out", range, "")
}
