//! Top-level forms. The first token, made by [`stream`](crate::syntax::stream), says which.

use super::expr::{Exprs, exprs, is_equals, right_side};
use super::types::{Types, types};
use super::{P, concat, junk, maybe, missing, tok, token_if};
use crate::syntax::kind::SyntaxKind::{self, *};
use crate::syntax::node::Node;
use crate::syntax::stream::Tok;
use chumsky::prelude::*;

/// Any item.
pub fn item() -> P {
    let types = types();
    let exprs = exprs(&types);
    let form = |head: SyntaxKind, form: P| tok(head).ignore_then(form).boxed();
    let forms = choice((
        form(HeadFunction, function(&exprs, &types)),
        form(HeadDatatype, datatype(&types)),
        form(HeadBinding, binding(&exprs)),
        form(HeadCommand, command()),
        form(
            HeadExpr,
            exprs
                .expr
                .map(|expr| Node::new(ExprItem, vec![expr]))
                .boxed(),
        ),
    ));
    forms
        .then(junk(|_| false))
        .then(maybe(tok(End)))
        .then_ignore(tok(Eof))
        .map(|((form, junk), end)| Node::new(Item, concat([vec![form], junk, end])))
        .boxed()
}

fn function(exprs: &Exprs, types: &Types) -> P {
    let name = choice((
        token_if(|kind| kind == Ident || kind == Bool),
        missing(Missing),
    ));
    let annotation = tok(Colon)
        .then(types.scheme.clone())
        .map(|(colon, scheme)| vec![colon, scheme])
        .or_not()
        .map(|parts| parts.unwrap_or_default());
    let doc = maybe(token_if(|kind| matches!(kind, Text | UnclosedText)));
    // Further operands are the parameters of other languages: reported when lowered. A string
    // is not one of them, but the doc string.
    let parameter = any()
        .filter(|tok: &Tok| !matches!(tok.kind, Text | UnclosedText))
        .rewind()
        .ignore_then(exprs.operand.clone());
    tok(FunctionKw)
        .then(name)
        .then(parameter.repeated().collect::<Vec<_>>())
        .then(annotation)
        .then(doc)
        .then(junk(is_equals))
        .then(right_side(exprs.expr.clone()))
        .map(
            |((((((word, name), params), annotation), doc), junk), body)| {
                Node::new(
                    Function,
                    concat([vec![word, name], params, annotation, doc, junk, body]),
                )
            },
        )
        .boxed()
}

fn datatype(types: &Types) -> P {
    let name = choice((
        token_if(|kind| kind == Ident || kind == Bool),
        missing(Missing),
    ));
    tok(DatatypeKw)
        .then(name)
        .then(types.scheme.clone())
        .map(|((word, name), scheme)| Node::new(Datatype, vec![word, name, scheme]))
        .boxed()
}

fn binding(exprs: &Exprs) -> P {
    exprs
        .pattern
        .clone()
        .then(right_side(exprs.expr.clone()))
        .map(|(pattern, value)| Node::new(Binding, concat([pattern, value])))
        .boxed()
}

fn command() -> P {
    token_if(|kind| !matches!(kind, End | Eof))
        .repeated()
        .collect::<Vec<_>>()
        .map(|words| Node::new(Command, words))
        .boxed()
}
