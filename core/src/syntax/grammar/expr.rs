//! Expressions, by binding power (LANGUAGE section 3, the column of the shipped parser).
//!
//! A *term* is an expression without commas at its top; an *expression* has them, as one flat
//! `Tuple`. Patterns are parsed as expressions: `p in e`, `p => e` and `e` share their beginnings.

use super::types::Types;
use super::{P, Tokens, concat, junk, maybe, missing, tok, token_if};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::node::Node;
use crate::syntax::stream::Tok;
use chumsky::input::MapExtra;
use chumsky::pratt::{infix, left, postfix, prefix, right};
use chumsky::prelude::*;

/// What chumsky hands to folds; we need none of it.
type Extra<'a> = MapExtra<'static, 'a, Tokens, extra::Default>;

/// The parsers that items need.
pub struct Exprs {
    /// An expression, commas included; a `Missing` when there is none.
    pub expr: P,
    /// An operand without brackets after it: name, call, literal, parentheses, …
    pub operand: P,
    /// The left side of a binding.
    pub pattern: P<Vec<Node>>,
}

/// Builds them.
pub fn exprs(types: &Types) -> Exprs {
    let mut expr = Recursive::declare();
    let mut term = Recursive::declare();
    let whole: P = expr.clone().boxed();
    let part: P = term.clone().boxed();

    let paren = paren(part.clone());
    let list = list(part.clone());
    let operand = operand(&paren, each(whole.clone()));
    let pattern = pattern(&operand, &list);
    let atom = choice((
        operand.clone(),
        empty(types),
        list.clone().map(|parts| Node::new(Sequence, parts)),
        conditional(whole.clone()),
        bindings(whole, pattern.clone()),
        missing(Missing),
    ))
    .boxed();

    expr.define(comma_separated(part));
    term.define(operators(atom, operand.clone(), list));
    Exprs {
        expr: expr.boxed(),
        operand,
        pattern,
    }
}

/// One part, or several as a `Tuple`.
pub fn comma_separated(part: P) -> P {
    part.clone()
        .then(
            tok(Comma)
                .then(part)
                .map(|(comma, part)| vec![comma, part])
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| {
            if rest.is_empty() {
                first
            } else {
                Node::new(Tuple, concat([vec![first], concat(rest)]))
            }
        })
        .boxed()
}

fn operators(atom: P, operand: P, list: P<Vec<Node>>) -> P {
    let binary = |kind: SyntaxKind| {
        move |left: Node, op: Node, right: Node, _: &mut Extra<'_>| {
            Node::new(kind, vec![left, op, right])
        }
    };
    let one = |set: &'static [SyntaxKind]| token_if(move |kind| set.contains(&kind));
    // `f #a`: the argument of a juxtaposition may have these in front, as they are no infixes.
    let indexed = operand
        .clone()
        .foldl(list.clone().repeated(), index)
        .boxed();
    let lengths = one(&[Hash, At])
        .repeated()
        .at_least(1)
        .collect::<Vec<_>>()
        .then(choice((indexed, missing(Missing))))
        .map(|(ops, operand): (Vec<Node>, Node)| {
            ops.into_iter()
                .rev()
                .fold(operand, |operand, op| Node::new(Unary, vec![op, operand]))
        });
    let argument = choice((operand, lengths.boxed())).boxed();
    atom.pratt((
        infix(right(4), one(&[FatArrow]), binary(Lambda)),
        infix(left(5), one(&[ColonEq]), binary(Binary)),
        infix(left(7), one(&[OrKw, NorKw, XorKw]), binary(Binary)),
        infix(left(8), one(&[AndKw, NandKw, ForeignAnd]), binary(Binary)),
        infix(
            left(10),
            one(&[Eq, Eq2, Ne, Lt, Gt, Le, Ge, ForeignNe]),
            binary(Binary),
        ),
        infix(
            left(20),
            one(&[Plus, Minus, Plus2, Unknown]),
            binary(Binary),
        ),
        infix(left(21), one(&[Star, Slash, Pipe2]), binary(Binary)),
        infix(left(22), one(&[Caret, ForeignPower]), binary(Binary)),
        infix(left(23), one(&[LArrow]), binary(Binary)),
        infix(right(24), one(&[Arrow]), binary(Binary)),
        prefix(
            25,
            one(&[Hash, At, Minus, Unknown]),
            |op: Node, operand: Node, _: &mut Extra<'_>| Node::new(Unary, vec![op, operand]),
        ),
        postfix(
            30,
            list,
            |sequence: Node, list: Vec<Node>, _: &mut Extra<'_>| index(sequence, list),
        ),
        postfix(
            30,
            argument,
            |fun: Node, argument: Node, _: &mut Extra<'_>| Node::new(Apply, vec![fun, argument]),
        ),
    ))
    .boxed()
}

fn index(sequence: Node, list: Vec<Node>) -> Node {
    Node::new(Index, concat([vec![sequence], list]))
}

/// What can be an operand and the argument of a juxtaposition.
fn operand(paren: &P, each: P) -> P {
    let arguments = any()
        .filter(|tok: &Tok| tok.kind == CallParen)
        .rewind()
        .ignore_then(paren.clone())
        .boxed();
    let called = |callee: P| {
        callee
            .then(arguments.clone().or_not())
            .map(|(callee, arguments)| match arguments {
                Some(arguments) => Node::new(Call, vec![callee, arguments]),
                None => callee,
            })
            .boxed()
    };
    let name = tok(Ident).map(|token| Node::new(Name, vec![token])).boxed();
    let literal = token_if(SyntaxKind::is_literal)
        .map(|token| Node::new(Literal, vec![token]))
        .boxed();
    let quoted = tok(Quote)
        .then(maybe(token_if(|kind| kind == Ident || kind.is_operator())))
        .map(|(quote, what)| Node::new(QuoteExpr, concat([vec![quote], what])))
        .boxed();
    choice((called(name), literal, paren.clone(), each, called(quoted))).boxed()
}

/// `( part, … )`, where a part may be `name := part`. Also what a call has.
fn paren(term: P) -> P {
    let option = tok(Ident)
        .then(tok(ColonEq))
        .then(term.clone())
        .map(|((name, becomes), value)| Node::new(Optional, vec![name, becomes, value]));
    let part = choice((option.boxed(), term))
        .then(junk(|kind| kind == Comma))
        .map(|(part, junk)| concat([vec![part], junk]))
        .boxed();
    let parts = part
        .clone()
        .then(
            tok(Comma)
                .then(part)
                .map(|(comma, part)| concat([vec![comma], part]))
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| concat([first, concat(rest)]));
    token_if(|kind| matches!(kind, LParen | CallParen))
        .then(choice((
            tok(RParen).map(|close| vec![close]).boxed(),
            parts
                .then(tok(RParen))
                .map(|(parts, close)| concat([parts, vec![close]]))
                .boxed(),
        )))
        .map(|(open, rest)| Node::new(Paren, concat([vec![open], rest])))
        .boxed()
}

/// `[ … ]`: the parts of a listed sequence, a range or an index.
fn list(term: P) -> P<Vec<Node>> {
    let part = term
        .then(junk(|kind| matches!(kind, Comma | Colon)))
        .map(|(part, junk)| concat([vec![part], junk]))
        .boxed();
    let separator = token_if(|kind| matches!(kind, Comma | Colon));
    let parts = part
        .clone()
        .then(
            separator
                .then(part)
                .map(|(comma, part)| concat([vec![comma], part]))
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| concat([first, concat(rest)]));
    tok(LBrack)
        .then(choice((
            tok(RBrack).map(|close| vec![close]).boxed(),
            parts
                .then(tok(RBrack))
                .map(|(parts, close)| concat([parts, vec![close]]))
                .boxed(),
        )))
        .map(|(open, rest)| concat([vec![open], rest]))
        .boxed()
}

/// `[] type`.
fn empty(types: &Types) -> P {
    tok(LBrack)
        .then(tok(RBrack))
        .then(types.atom.clone())
        .map(|((open, close), ty)| Node::new(Empty, vec![open, close, ty]))
        .boxed()
}

fn conditional(expr: P) -> P {
    let arm = |word| {
        tok(word)
            .then(expr.clone())
            .map(|(word, expr)| vec![word, expr])
            .or_not()
            .map(|parts| parts.unwrap_or_default())
            .boxed()
    };
    tok(IfKw)
        .then(expr.clone())
        .then(arm(ThenKw))
        .then(arm(ElseKw))
        .map(|(((word, cond), then), otherwise)| {
            Node::new(If, concat([vec![word, cond], then, otherwise]))
        })
        .boxed()
}

/// The left side of `=`: operands and commas; anything else is junk in it.
fn pattern(operand: &P, list: &P<Vec<Node>>) -> P<Vec<Node>> {
    let part = choice((
        operand.clone(),
        list.clone().map(|parts| Node::new(Sequence, parts)).boxed(),
        missing(Missing),
    ))
    .boxed();
    // `rec (a, b)`: a record, with a blank before its contents.
    let part = part
        .foldl(
            any()
                .filter(|tok: &Tok| tok.kind == LParen)
                .rewind()
                .ignore_then(operand.clone())
                .repeated(),
            |fun, argument| Node::new(Apply, vec![fun, argument]),
        )
        .boxed();
    comma_separated(part)
        .then(junk(|kind| {
            is_equals(kind) || matches!(kind, Semi | InKw | ThenKw | ElseKw | Dollar)
        }))
        .map(|(pattern, junk)| concat([vec![pattern], junk]))
        .boxed()
}

/// `=`, or what people write for it.
pub fn is_equals(kind: SyntaxKind) -> bool {
    matches!(kind, Eq | PipeEq | ColonEq | Eq2 | FatArrow)
}

/// `= expression`, if it is there.
pub fn right_side(expr: P) -> P<Vec<Node>> {
    token_if(is_equals)
        .then(expr)
        .map(|(equals, expr)| vec![equals, expr])
        .or_not()
        .map(|parts| parts.unwrap_or_default())
        .boxed()
}

/// `let … in …`.
fn bindings(expr: P, pattern: P<Vec<Node>>) -> P {
    let binding = any()
        .filter(|tok: &Tok| !matches!(tok.kind, InKw | End | Eof | Semi) && !tok.kind.is_close())
        .rewind()
        .ignore_then(pattern)
        .then(right_side(expr.clone()))
        .then(junk(|kind| {
            matches!(kind, Semi | InKw | ThenKw | ElseKw | Dollar)
        }))
        .map(|((pattern, value), junk)| vec![Node::new(LetBinding, concat([pattern, value, junk]))])
        .boxed();
    let further = tok(Semi)
        .then(binding.clone().or_not())
        .map(|(semi, binding)| concat([vec![semi], binding.unwrap_or_default()]))
        .repeated()
        .collect::<Vec<_>>();
    let body = tok(InKw)
        .then(expr)
        .map(|(word, body)| vec![word, body])
        .or_not()
        .map(|parts| parts.unwrap_or_default());
    tok(LetKw)
        .then(binding.or_not())
        .then(further)
        .then(body)
        .map(|(((word, first), further), body)| {
            Node::new(
                Let,
                concat([vec![word], first.unwrap_or_default(), concat(further), body]),
            )
        })
        .boxed()
}

/// `{ body : p in e ; … | sieve }`.
fn each(expr: P) -> P {
    let clause = |stops: &'static [SyntaxKind]| {
        expr.clone()
            .then(
                tok(InKw)
                    .then(expr.clone())
                    .map(|(word, source)| vec![word, source])
                    .or_not(),
            )
            .then(junk(move |kind| stops.contains(&kind)))
            .map(|((pattern, source), junk)| {
                Node::new(
                    EachBinding,
                    concat([vec![pattern], source.unwrap_or_default(), junk]),
                )
            })
            .boxed()
    };
    let first = clause(&[Semi, Pipe, Colon]);
    let later = clause(&[Semi, Pipe]);
    let with_body = tok(Colon)
        .then(later.clone())
        .map(|(colon, binding)| vec![colon, binding])
        .or_not();
    let further = tok(Semi)
        .then(later)
        .map(|(semi, binding)| vec![semi, binding])
        .repeated()
        .collect::<Vec<_>>();
    let sieve = tok(Pipe)
        .then(expr.clone())
        .then(junk(|_| false))
        .map(|((pipe, sieve), junk)| concat([vec![pipe, sieve], junk]))
        .or_not();
    let inside = maybe(tok(Star))
        .then(first)
        .then(with_body)
        .then(further)
        .then(sieve)
        .then(tok(RBrace))
        .map(|(((((star, first), binding), further), sieve), close)| {
            let first = match (&binding, first.children.len()) {
                // `body :`.
                (Some(_), 1) => first.children,
                _ => vec![first],
            };
            concat([
                star,
                first,
                binding.unwrap_or_default(),
                concat(further),
                sieve.unwrap_or_default(),
                vec![close],
            ])
        })
        .boxed();
    tok(LBrace)
        .then(choice((
            tok(RBrace).map(|close| vec![close]).boxed(),
            inside,
        )))
        .map(|(open, rest)| Node::new(Each, concat([vec![open], rest])))
        .boxed()
}
