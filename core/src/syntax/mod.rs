//! Text → tokens → tree → [`ast`].
//!
//! The syntax is lossless: every byte of the text is in exactly one token, and the text of the tree is
//! the text that was parsed. The text is first split into items (top-level forms) by brackets and
//! `let … in`, so that errors do not affect other items and each item is parsed, and re-parsed, alone.
//!
//! | file | contents |
//! |---|---|
//! | `lexer` | text → lossless tokens |
//! | `split` | tokens → items |
//! | `long_literal` | tables of constants, which the grammar sees as one token |
//! | `grammar` | the tokens of an item → nodes; accepts every text |
//! | `tree` | nodes, blanks and comments → the lossless tree |
//! | `ast` | the abstract syntax as data |
//! | `lower` | nodes → abstract syntax, with all syntax errors |
//! | `comments` | reports of comments that are not NESL's, or never closed |
//! | `attempt` | the names that a broken form was to define |
//! | `operand` | the operands beside a sign that is no operator |
//! | `format` | the formatter |
//! | `entry` | entries of a prompt or a notebook: are they complete, and what program they are |
//! | `excerpt` | code in one line, cut between tokens |
//! | `dump` | tokens, tree and abstract syntax as text |

pub mod ast;
mod attempt;
mod comments;
mod dump;
pub mod entry;
mod excerpt;
mod format;
mod grammar;
mod lexer;
mod long_literal;
mod lower;
mod operand;
mod split;
mod tree;

use crate::base::{Diagnostic, DiagnosticKind, Name, Severity, Span, TextRange, TextSize};
use grammar::{ItemGrammar, Node};
use long_literal::LongLiteral;
use std::sync::Arc;

pub use dump::{dump_ast, dump_tokens, dump_tree};
pub use excerpt::excerpt;
pub use format::{format, format_form, format_forms, own};
pub use lexer::{Kind, Token, lex};
pub use split::{LOOKAHEAD_TOKENS, is_complete, split};
pub use tree::{Nesl, SyntaxNode};

/// A top-level form before parsing: its range in the text and the names it defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawItem {
    /// The range of its text in the file: from the first byte after the previous form (so leading comments
    /// belong to it) to its `;` or `$`, inclusive. Ranges of consecutive items tile the file.
    pub range: TextRange,
    /// The sort of form, from its first tokens.
    pub kind: RawKind,
    /// The names it defines: a function's or datatype's one, all variables of a binding, `it` for
    /// an expression.
    pub names: Vec<Name>,
    /// The number of tokens, blanks and comments included.
    pub tokens: u32,
    /// The lookahead that determines where it ends.
    pub reach: Reach,
}

/// The lookahead that determines where a form ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No lookahead: the form is complete and ends with its terminator.
    Itself,
    /// At most [`LOOKAHEAD_TOKENS`] tokens: a bracket in it is never closed, or it ends where another
    /// form begins.
    Near,
    /// The whole rest of the text: a string or comment in it is never closed.
    Far,
}

/// The sort of a form, as its first tokens suggest it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RawKind {
    Function,
    Datatype,
    Binding,
    Expr,
    Command,
    /// Only blanks and comments: the end of the file.
    Blank,
}

/// An item after parsing: its abstract syntax and its errors. Its tree is made when it is asked for, see [`tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The abstract syntax; equal for texts that differ only in comments and blanks.
    pub ast: Arc<ast::Item>,
    /// The significant tokens with ranges relative to the item; they translate a [`Span`] into bytes.
    pub tokens: Arc<[Token]>,
    /// The syntax errors, with ranges in bytes relative to the item.
    pub diagnostics: Vec<Diagnostic<TextRange>>,
    /// The reports of arguments that begin a line, in the first column. They hold if the form has an
    /// error of names or types: then a `;` is missing before the line, which explains that error.
    pub lines: Vec<Diagnostic<TextRange>>,
    /// The parts of the form that would be comments in other languages, from their mark to the end of their line, with
    /// their reports. A report holds if the form has an error in that part; that error is no other mistake then.
    pub comments: Vec<(TextRange, Diagnostic<TextRange>)>,
    /// The names that the form was visibly to define, if it has an error.
    pub attempted: Arc<[Name]>,
}

impl Parsed {
    /// Returns the bytes of a span, relative to the item.
    pub fn range(&self, span: Span) -> TextRange {
        range_of(&self.tokens, span)
    }
}

/// Returns the bytes of a span of tokens. An empty span is located after the token before it.
fn range_of(tokens: &[Token], span: Span) -> TextRange {
    let last = tokens.last().map_or(TextSize::new(0), |t| t.range.end());
    let token = |i: u32| tokens.get(i as usize).map(|t| t.range);
    if span.start >= span.end {
        let at = match span.start.checked_sub(1) {
            Some(before) => token(before).map_or(last, |r| r.end()),
            None => token(0).map_or(last, |r| r.start()),
        };
        return TextRange::empty(at);
    }
    let start = token(span.start).map_or(last, |r| r.start());
    let end = token(span.end - 1).map_or(last, |r| r.end());
    TextRange::new(start, end.max(start))
}

/// The depth of nesting that a form may have. Hand-written programs stay below 50; generated ones
/// have reached 500.
const MAX_NESTING_LEVELS: usize = 2_000;

/// A form with more tokens than this is parsed on a larger stack.
const LARGE_STACK_TOKENS: usize = 2_000;
/// The stack that one token may take in the worst case, in bytes.
const STACK_BYTES_PER_TOKEN: usize = 4096;
/// The largest stack on which a form is parsed, in bytes.
const MAX_STACK_BYTES: usize = 1 << 30;

/// Parses the text of one item.
pub fn parse_item(text: &str) -> Parsed {
    let all = lex(text);
    on_large_stack(&all, || parse_tokens(text, &all))
}

/// Returns the lossless tree of the text of one item; its text is that of the item.
///
/// Only some features of editors need it, so it is not kept: building it takes longer than all else.
pub fn tree(text: &str) -> SyntaxNode {
    let all = lex(text);
    on_large_stack(&all, || {
        let significant: Vec<usize> =
            (0..all.len()).filter(|i| !all[*i].kind.is_trivia()).collect();
        let tokens = significant_tokens(&all);
        let green = tree::build(&node_of(text, &all, &tokens).0, &all, &significant, text);
        SyntaxNode::new_root(green)
    })
}

/// Calls a function on a stack that suffices for some tokens: broken or generated input may nest as deeply as
/// it is long.
fn on_large_stack<T>(all: &[Token], work: impl FnOnce() -> T) -> T {
    if all.len() > LARGE_STACK_TOKENS {
        let stack_bytes = (all.len() * STACK_BYTES_PER_TOKEN).min(MAX_STACK_BYTES);
        stacker::grow(stack_bytes, work)
    } else {
        crate::base::with_stack(work)
    }
}

/// Returns the tokens without blanks and comments, as the grammar sees them.
fn significant_tokens(all: &[Token]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(all.len());
    for token in all.iter().filter(|token| !token.kind.is_trivia()) {
        let mut token = *token;
        if token.kind == Kind::LParen && follows_a_callee(&tokens, token) {
            token.kind = Kind::CallParen;
        }
        tokens.push(token);
    }
    tokens
}

/// Returns the number of significant tokens before the terminator.
fn unterminated(tokens: &[Token]) -> usize {
    let terminated = tokens.last().is_some_and(|t| matches!(t.kind, Kind::Semi | Kind::Dollar));
    tokens.len() - usize::from(terminated)
}

/// Returns the node of an item's significant tokens, and its long literals; the node is an error if the item
/// nests too deeply.
fn node_of(text: &str, all: &[Token], tokens: &[Token]) -> (Node, Vec<LongLiteral>) {
    let tokens = &tokens[..unterminated(tokens)];
    if tokens.is_empty() {
        return (Node { kind: Kind::Nothing, start: 0, end: 0, kids: Vec::new() }, Vec::new());
    }
    if too_deep(tokens).is_some() {
        let end = tokens.len() as u32;
        return (Node { kind: Kind::Error, start: 0, end, kids: Vec::new() }, Vec::new());
    }
    let kinds: Vec<Kind> = tokens.iter().map(|t| t.kind).collect();
    let form = form_of(text, all);
    let literals = long_literal::find(text, tokens);
    if literals.is_empty() {
        return (grammar::parse(form, &kinds), literals);
    }
    let mut node = grammar::parse(form, &long_literal::shorten(&kinds, &literals));
    long_literal::restore(&mut node, &literals);
    (node, literals)
}

fn parse_tokens(text: &str, all: &[Token]) -> Parsed {
    let mut open_comment = None;
    let mut foreign_comments = Vec::new();
    for token in all {
        match token.kind {
            Kind::OpenComment => open_comment = Some(token.range),
            Kind::ForeignComment => foreign_comments.push(token.range),
            _ => {}
        }
    }
    let tokens = significant_tokens(all);
    let end = unterminated(&tokens);
    let terminated = end < tokens.len();
    let mut diagnostics = Vec::new();
    let mut lines = Vec::new();
    let mut foreign = Vec::new();
    let item = if end == 0 {
        ast::Item::default()
    } else if let Some(deep) = too_deep(&tokens[..end]) {
        diagnostics.push(
            Diagnostic::error(DiagnosticKind::Syntax, deep, "this nests too deeply")
                .note(format!("a form may nest {MAX_NESTING_LEVELS} levels")),
        );
        ast::Item::default()
    } else {
        let (node, literals) = node_of(text, all, &tokens);
        let lowered = lower::lower(&node, text, &tokens, &literals);
        diagnostics.extend(lowered.diagnostics);
        lines = lowered.lines;
        foreign = lowered.comments;
        lowered.item
    };
    if let Some((report, is_certain)) = comments::swallowed(text, all, &tokens) {
        if is_certain || diagnostics.iter().any(|d| d.severity == Severity::Error) {
            diagnostics = vec![report];
        } else {
            // If it has swallowed something, names or types are wrong.
            lines = vec![report];
        }
    }
    if terminated && end == 0 {
        let at = tokens[0].range;
        diagnostics.push(
            Diagnostic::warning(
                DiagnosticKind::Syntax,
                at,
                "there is nothing before this terminator",
            )
            .fix("remove it", at, ""),
        );
    }
    if let Some(range) = open_comment {
        diagnostics.clear();
        diagnostics.push(comments::open(text, range, &tokens));
    }
    diagnostics.extend(foreign_comments.into_iter().map(|at| comments::foreign(text, at, &tokens)));
    diagnostics.sort_by_key(|d| d.primary.at.start());
    let wrong = diagnostics.iter().any(|d| d.severity == Severity::Error) || calls_a_pattern(&item);
    let attempted = if wrong { attempt::attempted(text, &tokens) } else { Vec::new() };
    let attempted = attempted.into();
    Parsed {
        ast: Arc::new(item),
        tokens: tokens.into(),
        diagnostics,
        lines,
        comments: foreign,
        attempted,
    }
}

/// Returns true for `g(x) = e`, which defines nothing of that name, whether or not `g` is a datatype.
fn calls_a_pattern(item: &ast::Item) -> bool {
    match &item.kind {
        ast::ItemKind::Binding { pattern, .. } => {
            matches!(item.pats[*pattern], ast::Pat::Record { .. })
        }
        _ => false,
    }
}

fn follows_a_callee(before: &[Token], paren: Token) -> bool {
    let Some(last) = before.last() else { return false };
    let quoted = before.len() >= 2 && before[before.len() - 2].kind == Kind::Quote;
    let callee = matches!(
        last.kind,
        Kind::Name
            | Kind::RParen
            | Kind::RBracket
            | Kind::RBrace
            | Kind::Text
            | Kind::Int
            | Kind::Float
            | Kind::Char
            | Kind::TrueKw
            | Kind::FalseKw
    );
    (callee || quoted) && last.range.end() == paren.range.start()
}

fn form_of(text: &str, all: &[Token]) -> ItemGrammar {
    match split::first_kind(text, all) {
        RawKind::Function => ItemGrammar::Function,
        RawKind::Datatype => ItemGrammar::Datatype,
        RawKind::Binding => ItemGrammar::Binding,
        RawKind::Command => ItemGrammar::Command,
        RawKind::Expr | RawKind::Blank => ItemGrammar::Expr,
    }
}

/// Returns the first token at which the form nests too deeply, by an upper bound on the depth of
/// the grammar: open brackets, and the constructs that extend to the right.
fn too_deep(tokens: &[Token]) -> Option<TextRange> {
    let mut brackets = 0usize;
    let mut rightward = 0usize;
    for token in tokens {
        match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => brackets += 1,
            Kind::RParen | Kind::RBracket | Kind::RBrace => brackets = brackets.saturating_sub(1),
            Kind::IfKw | Kind::LetKw | Kind::FatArrow | Kind::RightArrow | Kind::Assign => {
                rightward += 1;
            }
            Kind::Minus | Kind::Hash | Kind::At => rightward += 1,
            Kind::Comma | Kind::Semi => rightward = 0,
            _ => {}
        }
        if brackets + rightward > MAX_NESTING_LEVELS {
            return Some(token.range);
        }
    }
    None
}
