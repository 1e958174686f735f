//! The bare tree that the grammar builds: kinds over ranges of significant tokens.
//!
//! In order, its leaves are the item's significant tokens, except those that the grammar never
//! saw (see [`stream`](super::stream)); a bracket that is not there is a leaf of width zero.

use super::kind::SyntaxKind;
use crate::base::Span;

/// A node or, without children and of a token's kind, a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: SyntaxKind,
    /// Its tokens.
    pub span: Span,
    /// Its parts, in order.
    pub children: Vec<Node>,
}

impl Node {
    /// A node over its parts, of which there is at least one.
    pub fn new(kind: SyntaxKind, children: Vec<Node>) -> Node {
        let start = children.first().map_or(0, |node| node.span.start);
        let end = children.last().map_or(0, |node| node.span.end);
        Node {
            kind,
            span: Span::new(start, end),
            children,
        }
    }

    /// A leaf or a missing part.
    pub fn leaf(kind: SyntaxKind, start: u32, width: u32) -> Node {
        Node {
            kind,
            span: Span::new(start, start + width),
            children: Vec::new(),
        }
    }

    /// The first part of this kind.
    pub fn child(&self, kind: SyntaxKind) -> Option<&Node> {
        self.children.iter().find(|node| node.kind == kind)
    }

    /// The parts that are nodes, with what is missing, without junk.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.children
            .iter()
            .filter(|node| !node.kind.is_token() && node.kind != SyntaxKind::Error)
    }

    /// Whether it stands for something that is not there.
    pub fn is_missing(&self) -> bool {
        matches!(self.kind, SyntaxKind::Missing | SyntaxKind::MissingType)
    }

    /// Whether it ends in a bracket that is not there.
    pub fn is_unclosed(&self) -> bool {
        self.children.last().is_some_and(Node::is_virtual)
    }

    /// Whether it is a bracket that is not there.
    pub fn is_virtual(&self) -> bool {
        self.kind.is_token() && self.span.start == self.span.end
    }
}
