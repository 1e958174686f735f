//! The lossless tree: the grammar's bare tree with every token of the text woven back in.
//!
//! Blanks, comments and tokens that the grammar never saw go as far up as they can: a node
//! begins and ends with tokens of its own.

use super::kind::{Nesl, SyntaxKind};
use super::lexer::Token;
use super::node::Node;
use super::stream::Source;
use crate::base::with_stack;
use rowan::{GreenNode, GreenNodeBuilder, Language};

/// Weaves the tree of an item.
pub fn weave(source: &Source<'_>, root: &Node) -> GreenNode {
    let mut weaver = Weaver {
        builder: GreenNodeBuilder::new(),
        source,
        next: 0,
        significant: 0,
    };
    weaver
        .builder
        .start_node(Nesl::kind_to_raw(SyntaxKind::Item));
    for node in &root.children {
        weaver.node(node);
    }
    weaver.rest();
    weaver.builder.finish_node();
    weaver.builder.finish()
}

struct Weaver<'a> {
    builder: GreenNodeBuilder<'static>,
    source: &'a Source<'a>,
    /// The next token, of all.
    next: usize,
    /// The next token, of the significant ones.
    significant: u32,
}

impl Weaver<'_> {
    fn node(&mut self, node: &Node) {
        if node.kind.is_token() {
            if !node.is_virtual() {
                self.up_to(node.span.start);
                self.token();
            }
            return;
        }
        if node.span.start < node.span.end {
            self.up_to(node.span.start);
        }
        self.builder.start_node(Nesl::kind_to_raw(node.kind));
        with_stack(|| node.children.iter().for_each(|child| self.node(child)));
        self.builder.finish_node();
    }

    /// Everything before a significant token.
    fn up_to(&mut self, significant: u32) {
        while let Some(token) = self.source.all.get(self.next) {
            if !token.kind.is_trivia() && self.significant >= significant {
                break;
            }
            self.token();
        }
    }

    fn rest(&mut self) {
        while self.next < self.source.all.len() {
            self.token();
        }
    }

    fn token(&mut self) {
        let Some(&token) = self.source.all.get(self.next) else {
            return;
        };
        let Token { kind, .. } = token;
        self.builder
            .token(Nesl::kind_to_raw(kind), token.text(self.source.text));
        self.next += 1;
        if !kind.is_trivia() {
            self.significant += 1;
        }
    }
}
