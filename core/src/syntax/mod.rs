//! Text → tokens → tree → [`ast`].
//!
//! Lossless: every byte of the text is in exactly one token, and the tree gives the text back.
//! Items (top-level forms) are split off first, by brackets and `let … in`, so that errors stay
//! independent and each item is parsed, and re-parsed, alone.

pub mod ast;
mod dump;
mod grammar;
mod kind;
mod lexer;
mod lower;
mod node;
mod split;
mod stream;
mod tree;

pub use dump::{dump_ast, dump_tokens, dump_tree};
pub use kind::{Nesl, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
pub use lexer::{Token, lex};
pub use lower::foreign_word;
pub use split::{is_complete, split};

use crate::base::{Diagnostic, Name, Span, TextRange};
use std::sync::Arc;

/// A top-level form before parsing: where it is and what it will define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawItem {
    /// Its text in the file: from the first byte after the previous form (so leading comments
    /// belong to it) to its `;` or `$`, inclusive. Ranges of consecutive items tile the file.
    pub range: TextRange,
    /// What it looks like.
    pub kind: RawKind,
    /// The names it defines: a function's or datatype's one, all variables of a binding, `it` for
    /// an expression.
    pub names: Vec<Name>,
}

/// What a form looks like from its first tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum RawKind {
    Function,
    Datatype,
    Binding,
    Expr,
    Command,
    /// Only blanks and comments: the end of the file.
    Blank,
}

/// A parsed item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The lossless tree (`SyntaxNode::new_root(green)`); its text is the item's text.
    pub green: rowan::GreenNode,
    /// What it means. Equal for texts that differ only in comments and blanks.
    pub ast: Arc<ast::Item>,
    /// The bytes of each significant token, relative to the item: how a [`Span`] is shown.
    pub tokens: Arc<[TextRange]>,
    /// What is wrong, in bytes relative to the item.
    pub diagnostics: Vec<Diagnostic<TextRange>>,
}

impl Parsed {
    /// The bytes of a span, relative to the item. An empty span is the empty range before its
    /// token, or after the last one.
    pub fn range(&self, span: Span) -> TextRange {
        let after = self.tokens.last().map_or(0.into(), |last| last.end());
        let start = match self.tokens.get(span.start as usize) {
            Some(token) => token.start(),
            None => after,
        };
        let end = match span.end.checked_sub(1) {
            Some(last) if span.end > span.start => self
                .tokens
                .get(last as usize)
                .map_or(after, |token| token.end()),
            _ => start,
        };
        TextRange::new(start, end.max(start))
    }
}

/// Parses the text of one item.
pub fn parse_item(text: &str) -> Parsed {
    let source = stream::Source::new(text);
    let mut diagnostics = Vec::new();
    lower::lexical(&source, &mut diagnostics);
    let tokens = stream::prepare(&source, &mut diagnostics);
    let closed: Vec<u32> = tokens
        .iter()
        .flatten()
        .filter(|tok| tok.width == 0 && tok.kind.is_close())
        .map(|tok| tok.at)
        .collect();
    let root = tokens.map(grammar::parse);
    let ast = lower::lower(&source, root.as_ref(), &closed, &mut diagnostics);
    let green = match &root {
        Some(root) => tree::weave(&source, root),
        None => tree::weave(&source, &node::Node::new(SyntaxKind::Item, Vec::new())),
    };
    let tokens = (0..source.tokens.len()).map(|at| source.range(at as u32));
    Parsed {
        green,
        ast: Arc::new(ast),
        tokens: tokens.collect(),
        diagnostics,
    }
}
