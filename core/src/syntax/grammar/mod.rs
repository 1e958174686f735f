//! The grammar, in chumsky, over the prepared tokens of one item.
//!
//! It is *total*: every token sequence has a tree. An alternative is chosen by one token, and
//! once chosen it cannot fail: what should stand there and does not becomes a
//! [`Missing`](super::kind::SyntaxKind::Missing) node, what stands there and should not an
//! [`Error`](super::kind::SyntaxKind::Error) node. So there is no backtracking to speak of, and
//! no recovery to get lost: [`lower`](super::lower) finds both kinds of node and says what is
//! wrong, with the tree around them at hand.

mod expr;
mod item;
mod types;

pub use expr::is_equals;

use super::kind::SyntaxKind;
use super::node::Node;
use super::stream::Tok;
use chumsky::input::Stream;
use chumsky::prelude::*;

/// The input: owned, so that the parser can be built once a thread.
type Tokens = Stream<std::vec::IntoIter<Tok>>;
/// A parser of a `T`.
type P<T = Node> = Boxed<'static, 'static, Tokens, T, extra::Default>;

thread_local! {
    static ITEM: P = item::item();
}

/// Parses the tokens of one item.
pub fn parse(tokens: Vec<Tok>) -> Node {
    let end = tokens.last().map_or(0, |tok| tok.at);
    let tree = ITEM.with(|item| item.parse(Stream::from_iter(tokens)).into_output());
    // The grammar is total; should it ever not be, the item is one error.
    tree.unwrap_or_else(|| Node::leaf(SyntaxKind::Error, 0, end))
}

/// One token of this kind.
fn tok(kind: SyntaxKind) -> P {
    any()
        .filter(move |tok: &Tok| tok.kind == kind)
        .map(leaf)
        .boxed()
}

/// One token of such a kind.
fn token_if(accept: impl Fn(SyntaxKind) -> bool + 'static) -> P {
    any()
        .filter(move |tok: &Tok| accept(tok.kind))
        .map(leaf)
        .boxed()
}

fn leaf(tok: Tok) -> Node {
    Node::leaf(tok.kind, tok.at, tok.width)
}

/// Nothing, where `kind` says what should be.
fn missing(kind: SyntaxKind) -> P {
    any()
        .map(move |tok: Tok| Node::leaf(kind, tok.at, 0))
        .rewind()
        .boxed()
}

/// As one list.
fn concat(parts: impl IntoIterator<Item = Vec<Node>>) -> Vec<Node> {
    parts.into_iter().flatten().collect()
}

/// The parser's node, if there is one, as a list.
fn maybe(parser: P) -> P<Vec<Node>> {
    parser
        .or_not()
        .map(|node| node.into_iter().collect())
        .boxed()
}

/// Tokens that fit nowhere, up to one that `stop` names (brackets taken whole) or a closer;
/// nothing when there are none.
fn junk(stop: impl Fn(SyntaxKind) -> bool + 'static) -> P<Vec<Node>> {
    let inner = |kind: SyntaxKind| {
        !kind.is_open() && !kind.is_close() && !matches!(kind, SyntaxKind::End | SyntaxKind::Eof)
    };
    let tree = recursive(move |tree| {
        let group = token_if(SyntaxKind::is_open)
            .then(
                choice((tree, token_if(inner)))
                    .repeated()
                    .collect::<Vec<_>>(),
            )
            .then(token_if(SyntaxKind::is_close))
            .map(|((open, mut inside), close)| {
                inside.insert(0, open);
                inside.push(close);
                Node::new(SyntaxKind::Error, inside)
            });
        group.boxed()
    });
    let stop = std::rc::Rc::new(stop);
    let other = stop.clone();
    // A bracket may be a stop itself.
    let open = any()
        .filter(move |tok: &Tok| tok.kind.is_open() && !stop(tok.kind))
        .rewind()
        .ignore_then(tree);
    let single = token_if(move |kind| inner(kind) && !other(kind));
    choice((single, open.boxed()))
        .repeated()
        .at_least(1)
        .collect::<Vec<_>>()
        .map(|tokens| Node::new(SyntaxKind::Error, tokens))
        .or_not()
        .map(|node| node.into_iter().collect())
        .boxed()
}
