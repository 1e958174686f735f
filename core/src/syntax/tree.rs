//! The lossless tree: the grammar's nodes, with blanks and comments inserted again.

use super::grammar::Node;
use super::lexer::{Kind, Token};
use rowan::{GreenNode, GreenNodeBuilder};

/// The type that stands for the language in rowan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nesl {}

/// A node of the tree with its parents.
pub type SyntaxNode = rowan::SyntaxNode<Nesl>;

impl rowan::Language for Nesl {
    type Kind = Kind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> Kind {
        assert!(raw.0 <= Kind::Error as u16);
        // SAFETY: `Kind` is `repr(u16)` with consecutive discriminants from 0 to `Error`. Every raw kind
        // of a tree was made by `kind_to_raw` from a `Kind`, so `raw.0` is one of these discriminants.
        unsafe { std::mem::transmute::<u16, Kind>(raw.0) }
    }

    fn kind_to_raw(kind: Kind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// Builds the tree of an item. `significant[i]` is the index in `tokens` of significant token
/// `i`. Blanks before a node are not a part of it.
pub(super) fn build(node: &Node, tokens: &[Token], significant: &[usize], text: &str) -> GreenNode {
    let mut weaver =
        Weaver { tokens, significant, text, next: 0, builder: GreenNodeBuilder::new() };
    weaver.builder.start_node(rowan::SyntaxKind(Kind::Root as u16));
    weaver.node(node);
    weaver.tokens_up_to(tokens.len());
    weaver.builder.finish_node();
    weaver.builder.finish()
}

struct Weaver<'a> {
    tokens: &'a [Token],
    significant: &'a [usize],
    text: &'a str,
    next: usize,
    builder: GreenNodeBuilder<'static>,
}

impl Weaver<'_> {
    fn node(&mut self, node: &Node) {
        crate::base::with_stack(|| {
            if node.kind == Kind::Token || !node.present() {
                return;
            }
            self.tokens_up_to(self.index(node.start));
            self.builder.start_node(rowan::SyntaxKind(node.kind as u16));
            self.children(node);
            let last = self.significant.get(node.end.max(1) as usize - 1);
            self.tokens_up_to(last.map_or(self.next, |i| i + 1));
            self.builder.finish_node();
        });
    }

    /// Adds the children of a node. A left-associative chain, `a + b + c` or `a[i][j]`, becomes one node:
    /// rowan hashes a node with everything below it, so a deep tree would take quadratic time.
    fn children(&mut self, node: &Node) {
        let chains =
            matches!(node.kind, Kind::Binary | Kind::Juxtaposed | Kind::Call | Kind::Index);
        let mut kids: Vec<&Node> = node.kids.iter().collect();
        kids.sort_by_key(|kid| kid.start);
        for (i, kid) in kids.into_iter().enumerate() {
            if chains && i == 0 && kid.kind == node.kind {
                crate::base::with_stack(|| self.children(kid));
                self.tokens_up_to(self.index(kid.end));
            } else {
                self.node(kid);
            }
        }
    }

    fn index(&self, significant: u32) -> usize {
        self.significant.get(significant as usize).copied().unwrap_or(self.tokens.len())
    }

    fn tokens_up_to(&mut self, end: usize) {
        while self.next < end {
            let token = self.tokens[self.next];
            self.builder.token(rowan::SyntaxKind(token.kind as u16), &self.text[token.range]);
            self.next += 1;
        }
    }
}
