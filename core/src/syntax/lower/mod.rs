//! Tree → [`ast`](super::ast), and what is wrong with it.
//!
//! The grammar leaves `Missing` and `Error` nodes where the text is not NESL; whoever meets one
//! here says what was expected and what was found, knowing what stands around it. Every place is
//! reported once: [`Lowerer::report`] keeps the first of what is said about a token.
//!
//! Whatever has been reported lowers to `Missing`, or to what was clearly meant (`=` for `==`),
//! so that later stages can go on with the rest.

mod each;
mod expr;
mod item;
mod lexical;
mod pattern;
mod report;
mod types;

pub use lexical::lexical;
pub use report::foreign_word;

use super::ast::{Expr, ExprId, Item, Pat, PatId};
use super::kind::SyntaxKind;
use super::node::Node;
use super::stream::Source;
use crate::base::{Diagnostic, Span, TextRange};
use rustc_hash::FxHashSet;

/// Lowers an item. `closed` are the tokens before which a bracket had to be closed, which is
/// reported already; `root` is `None` when the item could not be parsed at all.
pub fn lower(
    source: &Source<'_>,
    root: Option<&Node>,
    closed: &[u32],
    out: &mut Vec<Diagnostic<TextRange>>,
) -> Item {
    let mut lowerer = Lowerer {
        source,
        item: Item {
            span: Span::new(0, source.tokens.len() as u32),
            ..Item::default()
        },
        out,
        reported: closed.iter().copied().collect(),
        in_let: false,
    };
    if let Some(root) = root {
        lowerer.root(root);
    }
    let mut item = lowerer.item;
    item.exprs.shrink_to_fit();
    item.pats.shrink_to_fit();
    out.sort_by_key(|diagnostic| diagnostic.primary.at.start());
    item
}

/// The state of lowering one item.
struct Lowerer<'a> {
    source: &'a Source<'a>,
    item: Item,
    out: &'a mut Vec<Diagnostic<TextRange>>,
    /// Tokens about which something has been said.
    reported: FxHashSet<u32>,
    /// In the value of a `let` binding, where `x = 1 y = 2` misses a `;`.
    in_let: bool,
}

impl Lowerer<'_> {
    fn add(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = self.item.exprs.alloc(expr);
        self.item.expr_spans.insert(id, span);
        id
    }

    fn add_pat(&mut self, pat: Pat, span: Span) -> PatId {
        let id = self.item.pats.alloc(pat);
        self.item.pat_spans.insert(id, span);
        id
    }

    fn missing(&mut self, span: Span) -> ExprId {
        self.add(Expr::Missing, span)
    }

    /// The text of a token.
    fn text(&self, node: &Node) -> &str {
        self.source.token(node.span.start)
    }

    /// The kind of the token as the lexer saw it.
    fn is(&self, at: u32, kind: SyntaxKind) -> bool {
        self.source.kind(at) == kind
    }
}
