//! Types: `->` is looser than `,` (LANGUAGE C9), both group to the right.

use super::{P, concat, junk, maybe, missing, tok, token_if};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::node::Node;
use chumsky::prelude::*;

/// The parsers of types.
pub struct Types {
    /// What may follow `[]`: a name, a record, or something in brackets.
    pub atom: P,
    /// A type with its context.
    pub scheme: P,
}

/// Builds them.
pub fn types() -> Types {
    let mut ty = Recursive::declare();
    let whole: P = ty.clone().boxed();
    let atom = atom(whole.clone());
    let tuple = comma_separated_parts(atom.clone()).map(|mut parts| match parts.len() {
        1 => parts.remove(0),
        _ => Node::new(TypeTuple, parts),
    });
    ty.define(tuple.then(arrow(whole.clone())).map(with_arrow));
    let scheme = whole
        .then(maybe(context()))
        .map(|(ty, context)| Node::new(Scheme, concat([vec![ty], context])))
        .boxed();
    Types { atom, scheme }
}

/// `-> type`, if it is there; `=>` is taken for it.
fn arrow(ty: P) -> P<Vec<Node>> {
    token_if(|kind| kind == Arrow)
        .then(ty)
        .map(|(arrow, ty)| vec![arrow, ty])
        .or_not()
        .map(|parts| parts.unwrap_or_default())
        .boxed()
}

fn with_arrow((from, to): (Node, Vec<Node>)) -> Node {
    match to.is_empty() {
        true => from,
        false => Node::new(TypeArrow, concat([vec![from], to])),
    }
}

/// A type that needs no parentheses; a `MissingType` when there is none.
fn atom(ty: P) -> P {
    let mut atom = Recursive::declare();
    // In `name(t, …)` a comma separates arguments, and `->` is inside one.
    let element: P = atom.clone().boxed();
    let argument = recursive(|argument| {
        element
            .clone()
            .then(arrow(argument.boxed()))
            .map(with_arrow)
            .boxed()
    });
    let arguments = comma_separated_parts(argument.boxed());
    let applied = token_if(|kind| matches!(kind, LParen | CallParen))
        .then(arguments)
        .then(junk(|_| false))
        .then(tok(RParen))
        .map(|(((open, arguments), junk), close)| {
            concat([vec![open], arguments, junk, vec![close]])
        })
        .or_not();
    let name = tok(Ident)
        .then(applied)
        .map(|(name, arguments)| match arguments {
            Some(arguments) => Node::new(TypeApply, concat([vec![name], arguments])),
            None => Node::new(TypeName, vec![name]),
        })
        .boxed();
    let group = |open: SyntaxKind, kind: SyntaxKind| {
        token_if(move |k| k == open || (open == LParen && k == CallParen))
            .then(ty.clone())
            .then(junk(|_| false))
            .then(tok(open.closer()))
            .map(move |(((open, ty), junk), close)| {
                Node::new(kind, concat([vec![open, ty], junk, vec![close]]))
            })
            .boxed()
    };
    atom.define(choice((
        name,
        group(LBrack, TypeSequence),
        group(LParen, TypeParen),
        missing(MissingType),
    )));
    atom.boxed()
}

/// Parts and commas, flat.
fn comma_separated_parts(part: P) -> P<Vec<Node>> {
    part.clone()
        .then(
            tok(Comma)
                .then(part)
                .map(|(comma, part)| vec![comma, part])
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| concat([vec![first], concat(rest)]))
        .boxed()
}

/// `:: (a in any; b in number)`, or the same without parentheses.
fn context() -> P {
    let entry = tok(Ident)
        .then(maybe(tok(InKw)))
        .then(maybe(tok(Ident)))
        .map(|((name, word), class)| Node::new(ContextEntry, concat([vec![name], word, class])))
        .boxed();
    let entries = entry
        .clone()
        .then(
            token_if(|kind| matches!(kind, Semi | Comma))
                .then(entry)
                .map(|(semi, entry)| vec![semi, entry])
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| concat([vec![first], concat(rest)]))
        .or_not()
        .map(|entries| entries.unwrap_or_default())
        .boxed();
    let bracketed = tok(LParen)
        .then(entries.clone())
        .then(junk(|_| false))
        .then(tok(RParen))
        .map(|(((open, entries), junk), close)| concat([vec![open], entries, junk, vec![close]]))
        .boxed();
    tok(Colon2)
        .then(choice((bracketed, entries)))
        .map(|(colons, rest)| Node::new(Context, concat([vec![colons], rest])))
        .boxed()
}
