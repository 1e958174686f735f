//! The grammar, in chumsky, over the significant tokens of one item.
//!
//! It accepts every text and reports nothing: required parts are optional and leave a
//! [`Kind::Missing`] or an absent token, and left-over tokens become an error node. So the tree always
//! covers all tokens, however broken the text; `lower`, which sees the whole form, reports the errors.
//!
//! Precedence is that of the parser of NESL 3.1. Alternatives never
//! share a prefix: lists, ranges and patterns are parsed as expressions first.

use super::lexer::Kind;
use chumsky::pratt::{infix, left, postfix, prefix, right};
use chumsky::prelude::*;
use nesl_runtime::bug::OrBug;

/// A node: its kind and the tokens it covers. Tokens between its children belong to the node itself.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kids: Vec<Node>,
}

impl Drop for Node {
    /// Frees the nodes below without recursion: a chain of operators is as deep as it is long.
    fn drop(&mut self) {
        let mut todo = std::mem::take(&mut self.kids);
        while let Some(mut node) = todo.pop() {
            todo.append(&mut node.kids);
        }
    }
}

impl Node {
    fn new(kind: Kind, span: SimpleSpan, kids: Vec<Node>) -> Node {
        Node { kind, start: span.start as u32, end: span.end as u32, kids }
    }

    /// Returns true if the node covers any token: the optional part that it represents is present.
    pub(crate) fn present(&self) -> bool {
        self.end > self.start
    }
}

type In<'a> = &'a [Kind];
type Extra = extra::Default;

/// The grammar by which an item is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemGrammar {
    Function,
    Datatype,
    Binding,
    Expr,
    Command,
}

/// Parses the tokens of an item (without its terminator) into one node that covers them all.
pub(crate) fn parse(form: ItemGrammar, kinds: &[Kind]) -> Node {
    if form == ItemGrammar::Command {
        return Node { kind: Kind::Command, start: 0, end: kinds.len() as u32, kids: Vec::new() };
    }
    let parser = match form {
        ItemGrammar::Function => function().boxed(),
        ItemGrammar::Datatype => datatype().boxed(),
        ItemGrammar::Binding => binding().boxed(),
        ItemGrammar::Expr | ItemGrammar::Command => {
            expr().map_with(|e, x| Node::new(Kind::ExprItem, x.span(), vec![e])).boxed()
        }
    };
    let rest =
        any().repeated().at_least(1).map_with(|(), x| Node::new(Kind::Error, x.span(), vec![]));
    let whole = parser.then(rest.or_not()).map(|(mut node, rest)| {
        if let Some(rest) = rest {
            node.end = rest.end;
            node.kids.push(rest);
        }
        node
    });
    let end = kinds.len() as u32;
    let nothing = Node { kind: Kind::Error, start: 0, end, kids: Vec::new() };
    whole.parse(kinds).into_output().unwrap_or(nothing)
}

/// Parses a token that may be absent; then the node is empty, at the position where it was expected.
fn maybe<'a>(kind: Kind) -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    just(kind).ignored().or(empty()).map_with(|(), x| Node::new(Kind::Token, x.span(), vec![]))
}

fn missing<'a>() -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    empty().map_with(|(), x| Node::new(Kind::Missing, x.span(), vec![]))
}

fn leaf<'a>(
    kind: Kind,
    tokens: impl Parser<'a, In<'a>, (), Extra> + Clone,
) -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    tokens.map_with(move |(), x| Node::new(kind, x.span(), vec![]))
}

fn open<'a>() -> impl Parser<'a, In<'a>, (), Extra> + Clone {
    one_of([Kind::LParen, Kind::CallParen]).ignored()
}

/// Parses `function name params [: type] ["doc"] = body`.
fn function<'a>() -> impl Parser<'a, In<'a>, Node, Extra> {
    let name = leaf(
        Kind::NameRef,
        one_of([Kind::Name, Kind::TrueKw, Kind::FalseKw, Kind::TimeKw]).ignored(),
    )
    .or(missing());
    let params = open()
        .ignore_then(expr())
        .then(maybe(Kind::RParen))
        .map_with(|(e, close), x| Node::new(Kind::Paren, x.span(), vec![e, close]))
        .or(leaf(Kind::NameRef, just(Kind::Name).ignored()))
        .or(missing());
    let annotation = just(Kind::Colon).ignore_then(scheme()).or(missing());
    just(Kind::FunctionKw)
        .ignore_then(name)
        .then(params)
        .then(annotation)
        .then(leaf(Kind::Literal, just(Kind::Text).ignored()).or(missing()))
        .then(definition_sign())
        .then(expr())
        .map_with(|(((((name, params), ty), doc), equals), body), x| {
            Node::new(Kind::Function, x.span(), vec![name, params, ty, doc, equals, body])
        })
}

/// Parses `=`, or a sign that is written by mistake for it; may be absent.
fn definition_sign<'a>() -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    one_of([Kind::Equals, Kind::EqEq, Kind::FatArrow, Kind::Assign])
        .ignored()
        .or(empty())
        .map_with(|(), x| Node::new(Kind::Token, x.span(), vec![]))
}

/// Parses `datatype name type`.
fn datatype<'a>() -> impl Parser<'a, In<'a>, Node, Extra> {
    let name = leaf(
        Kind::NameRef,
        one_of([Kind::Name, Kind::TrueKw, Kind::FalseKw, Kind::TimeKw]).ignored(),
    )
    .or(missing());
    just(Kind::DatatypeKw)
        .ignore_then(name)
        .then(scheme())
        .map_with(|(name, ty), x| Node::new(Kind::Datatype, x.span(), vec![name, ty]))
}

/// Parses `pattern = exp`.
fn binding<'a>() -> impl Parser<'a, In<'a>, Node, Extra> {
    pattern()
        .then(leaf(Kind::Token, one_of([Kind::Equals, Kind::BarEq]).ignored()))
        .then(expr())
        .map_with(|((pat, op), value), x| Node::new(Kind::Binding, x.span(), vec![pat, op, value]))
}

/// Parses a pattern where an expression is not allowed: names, records, pairs. Constants are
/// accepted here and reported later.
fn pattern<'a>() -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    recursive(|pattern| {
        let paren = open()
            .ignore_then(pattern)
            .then(maybe(Kind::RParen))
            .map_with(|(p, close), x| Node::new(Kind::Paren, x.span(), vec![p, close]));
        let name = leaf(Kind::NameRef, just(Kind::Name).ignored());
        let record =
            name.then(paren.clone().or_not()).map_with(|(name, content), x| match content {
                Some(content) => Node::new(Kind::Call, x.span(), vec![name, content]),
                None => name,
            });
        let constant = leaf(
            Kind::Literal,
            one_of([
                Kind::Int,
                Kind::Float,
                Kind::Char,
                Kind::Text,
                Kind::TrueKw,
                Kind::FalseKw,
                Kind::TimeKw,
            ])
            .ignored(),
        );
        let atom = record.or(paren).or(constant).or(missing()).boxed();
        atom.clone()
            .then(just(Kind::Comma).ignore_then(atom).repeated().collect::<Vec<_>>())
            .map_with(|(first, rest), x| tuple(first, rest, x.span()))
    })
    .boxed()
}

fn tuple(first: Node, rest: Vec<Node>, span: SimpleSpan) -> Node {
    if rest.is_empty() {
        return first;
    }
    let mut kids = vec![first];
    kids.extend(rest);
    Node::new(Kind::Tuple, span, kids)
}

/// Parses an expression, commas included. Never fails: without one the node is missing.
fn expr<'a>() -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    recursive(|expr| {
        let expr = expr.boxed();
        let element_type = type_atom();
        let operand = operators(primary(expr.clone(), element_type.clone()), expr, element_type);
        operand
            .clone()
            .then(just(Kind::Comma).ignore_then(operand).repeated().collect::<Vec<_>>())
            .map_with(|(first, rest), x| tuple(first, rest, x.span()))
    })
    .boxed()
}

/// Parses an expression without operators or calls.
fn primary<'a>(
    expr: impl Parser<'a, In<'a>, Node, Extra> + Clone + 'a,
    element_type: Boxed<'a, 'a, In<'a>, Node, Extra>,
) -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    let literal = leaf(
        Kind::Literal,
        one_of([
            Kind::Int,
            Kind::Float,
            Kind::Char,
            Kind::Text,
            Kind::OpenText,
            Kind::TrueKw,
            Kind::FalseKw,
            Kind::Unknown,
            Kind::LongLiteral,
        ])
        .ignored(),
    );
    let name = leaf(Kind::NameRef, just(Kind::Name).ignored());
    let paren = open()
        .ignore_then(expr.clone())
        .then(maybe(Kind::RParen))
        .map_with(|(e, close), x| Node::new(Kind::Paren, x.span(), vec![e, close]));
    let time = just(Kind::TimeKw)
        .ignore_then(paren.clone().or(missing()))
        .map_with(|e, x| Node::new(Kind::Time, x.span(), vec![e]));
    let quoted = just(Kind::Quote)
        .ignore_then(one_of(QUOTABLE).or_not())
        .map_with(|_, x| Node::new(Kind::Quoted, x.span(), vec![]));

    let empty_list = just(Kind::RBracket)
        .ignore_then(element_type.or(missing()))
        .map(|ty| (Kind::Empty, vec![ty]));
    let bound = just(Kind::Colon).ignore_then(expr.clone());
    let list = expr
        .clone()
        .then(bound.clone().then(bound.or_not()).or_not())
        .then(maybe(Kind::RBracket))
        .map(|((first, range), close)| match range {
            None => (Kind::List, vec![first, close]),
            Some((end, None)) => (Kind::Range, vec![first, end, close]),
            Some((end, Some(stride))) => (Kind::Range, vec![first, end, stride, close]),
        });
    let bracket = just(Kind::LBracket)
        .ignore_then(empty_list.or(list))
        .map_with(|(kind, kids), x| Node::new(kind, x.span(), kids));

    let element = expr
        .clone()
        .then(just(Kind::InKw).ignore_then(expr.clone()).or_not())
        .map_with(|(pat, sequence), x| {
            let mut kids = vec![pat];
            kids.extend(sequence);
            Node::new(Kind::EachBinding, x.span(), kids)
        })
        .boxed();
    let more = just(Kind::Semi).ignore_then(element.clone()).repeated().collect::<Vec<_>>();
    let each = just(Kind::LBrace)
        .ignore_then(maybe(Kind::Star))
        .then(element.clone())
        .then(maybe(Kind::Colon))
        .then(element.or_not())
        .then(more)
        .then(just(Kind::Bar).ignore_then(expr.clone()).or(missing()))
        .then(maybe(Kind::RBrace))
        .map_with(|((((((star, first), colon), second), more), sieve), close), x| {
            let mut kids = vec![star, first, colon, sieve, close];
            kids.extend(second.filter(|s| s.present() || kids[2].present()));
            kids.extend(more);
            Node::new(Kind::Each, x.span(), kids)
        });

    choice((literal, name, paren, time, quoted, bracket, each)).boxed()
}

/// The operators that can be quoted by `'`.
const QUOTABLE: [Kind; 24] = [
    Kind::Name,
    Kind::Plus,
    Kind::Minus,
    Kind::Star,
    Kind::Slash,
    Kind::Caret,
    Kind::EqEq,
    Kind::Equals,
    Kind::NotEq,
    Kind::Less,
    Kind::LessEq,
    Kind::Greater,
    Kind::GreaterEq,
    Kind::PlusPlus,
    Kind::Bars,
    Kind::RightArrow,
    Kind::LeftArrow,
    Kind::Hash,
    Kind::At,
    Kind::AndKw,
    Kind::OrKw,
    Kind::XorKw,
    Kind::NorKw,
    Kind::NandKw,
];

fn operators<'a>(
    primary: Boxed<'a, 'a, In<'a>, Node, Extra>,
    expr: impl Parser<'a, In<'a>, Node, Extra> + Clone + 'a,
    element_type: Boxed<'a, 'a, In<'a>, Node, Extra>,
) -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    let call = just(Kind::CallParen)
        .ignore_then(expr.clone())
        .then(maybe(Kind::RParen))
        .map_with(|(arg, close), x| Node::new(Kind::Paren, x.span(), vec![arg, close]))
        .boxed();
    // `name(args)` without a blank binds tighter than juxtaposition.
    let tight = primary.clone().foldl_with(call.clone().repeated(), |fun, arg, x| {
        Node::new(Kind::Call, x.span(), vec![fun, arg])
    });
    let index = expr.clone().then_ignore(just(Kind::RBracket)).map(|e| (Kind::Index, e));
    // `f [] int`: a call with an empty list.
    let empty = just(Kind::RBracket).ignore_then(element_type).map(|ty| (Kind::Empty, ty));
    // After a failure the bracket is parsed once more, as an argument. The failure is memoised, or
    // nested brackets would be parsed twice at each level.
    let index = just(Kind::LBracket)
        .ignore_then(empty.or(index))
        .map_with(|(kind, inside), x| Node::new(kind, x.span(), vec![inside]))
        .memoized()
        .boxed();

    let conditional = just(Kind::IfKw)
        .ignore_then(expr.clone())
        .then(maybe(Kind::ThenKw))
        .then(expr.clone())
        .then(maybe(Kind::ElseKw))
        .then(expr.clone())
        .map_with(|((((c, then), a), otherwise), b), x| {
            Node::new(Kind::If, x.span(), vec![c, then, a, otherwise, b])
        });
    let let_binding = pattern()
        .then(definition_sign())
        .then(expr.clone())
        .map_with(|((pat, equals), value), x| {
            Node::new(Kind::LetBinding, x.span(), vec![pat, equals, value])
        })
        .boxed();
    let more = just(Kind::Semi).ignore_then(let_binding.clone()).repeated().collect::<Vec<_>>();
    let binding = just(Kind::LetKw)
        .ignore_then(let_binding)
        .then(more)
        .then(maybe(Kind::InKw))
        .then(expr)
        .map_with(|(((first, mut more), within), body), x| {
            // One `;` before `in` is allowed.
            more.pop_if(|last| !last.present());
            let mut kids = vec![within, body, first];
            kids.extend(more);
            Node::new(Kind::Let, x.span(), kids)
        });
    let atom =
        choice((conditional.boxed(), binding.boxed(), tight.clone().boxed(), missing().boxed()))
            .boxed();

    let op = |kinds: &'static [Kind]| one_of(kinds).ignored().boxed();
    let binary = |l: Node, (), r: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
        Node::new(Kind::Binary, x.span(), vec![l, r])
    };
    let of = |kind: Kind| {
        move |l: Node, (), r: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
            Node::new(kind, x.span(), vec![l, r])
        }
    };
    atom.pratt((
        infix(right(9), op(&[Kind::Assign]), of(Kind::Option)),
        infix(right(10), op(&[Kind::FatArrow]), of(Kind::Lambda)),
        infix(left(14), op(&[Kind::OrKw, Kind::NorKw, Kind::XorKw]), binary),
        infix(left(16), op(&[Kind::AndKw, Kind::NandKw, Kind::ForeignAnd]), binary),
        infix(left(20), op(COMPARISONS), binary),
        infix(left(40), op(&[Kind::Plus, Kind::Minus, Kind::PlusPlus]), binary),
        infix(left(42), op(&[Kind::Star, Kind::Slash, Kind::Bars]), binary),
        infix(left(44), op(&[Kind::Caret, Kind::ForeignPower]), binary),
        infix(left(46), op(&[Kind::LeftArrow]), binary),
        infix(right(48), op(&[Kind::RightArrow]), binary),
        prefix(
            50,
            op(&[Kind::Hash, Kind::At, Kind::Minus]),
            |(), e: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
                Node::new(Kind::Unary, x.span(), vec![e])
            },
        ),
        postfix(
            60,
            index,
            |e: Node, index: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
                indexed(e, index, x.span())
            },
        ),
        postfix(
            60,
            call,
            |e: Node, arg: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
                Node::new(Kind::Call, x.span(), vec![e, arg])
            },
        ),
        postfix(
            60,
            tight.boxed(),
            |e: Node, arg: Node, x: &mut chumsky::input::MapExtra<'a, '_, In<'a>, Extra>| {
                Node::new(Kind::Juxtaposed, x.span(), vec![e, arg])
            },
        ),
    ))
    .boxed()
}

/// Returns the node of an expression followed by brackets: an index, or a call whose argument is a
/// list.
fn indexed(expr: Node, mut brackets: Node, span: SimpleSpan) -> Node {
    if brackets.kind == Kind::Empty {
        return Node::new(Kind::Juxtaposed, span, vec![expr, brackets]);
    }
    if brackets.kids[0].kind == Kind::Tuple || !brackets.kids[0].present() {
        // `f [1, 2]`: a call with a list.
        let (start, end) = (brackets.end - 1, brackets.end);
        brackets.kind = Kind::List;
        brackets.kids.push(Node { kind: Kind::Token, start, end, kids: vec![] });
        return Node::new(Kind::Juxtaposed, span, vec![expr, brackets]);
    }
    let inside = brackets.kids.pop().or_bug("an index has one child");
    Node::new(Kind::Index, span, vec![expr, inside])
}

/// The comparisons, and the signs of other languages for them.
const COMPARISONS: &[Kind] = &[
    Kind::EqEq,
    Kind::NotEq,
    Kind::Less,
    Kind::LessEq,
    Kind::Greater,
    Kind::GreaterEq,
    Kind::Equals,
    Kind::ForeignNotEq,
];

/// Parses a type and its context.
fn scheme<'a>() -> impl Parser<'a, In<'a>, Node, Extra> + Clone {
    let entry = leaf(Kind::NameRef, just(Kind::Name).ignored())
        .or(missing())
        .then(maybe(Kind::InKw))
        .then(leaf(Kind::NameRef, just(Kind::Name).ignored()).or(missing()))
        .map_with(|((name, within), class), x| {
            Node::new(Kind::ContextEntry, x.span(), vec![name, within, class])
        })
        .boxed();
    let entries = entry
        .clone()
        .then(one_of([Kind::Semi, Kind::Comma]).ignore_then(entry).repeated().collect::<Vec<_>>());
    let context = just(Kind::Colons)
        .ignore_then(open().or_not())
        .ignore_then(entries)
        .then_ignore(just(Kind::RParen).or_not())
        .map_with(|(first, more), x| {
            let mut kids = vec![first];
            kids.extend(more.into_iter().filter(Node::present));
            Node::new(Kind::Context, x.span(), kids)
        })
        .or(missing());
    types()
        .then(context)
        .map_with(|(ty, context), x| Node::new(Kind::TypeParen, x.span(), vec![ty, context]))
        .boxed()
}

/// Parses a type, commas and arrows included.
fn types<'a>() -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    recursive(|types| arrows(atoms(types.boxed()))).boxed()
}

/// Parses a type without commas and arrows, as after `[]`.
fn type_atom<'a>() -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    atoms(types())
}

fn arrows<'a>(atom: Boxed<'a, 'a, In<'a>, Node, Extra>) -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    let atom = atom.or(missing()).boxed();
    let arrow = atom
        .clone()
        .then(just(Kind::RightArrow).ignore_then(atom).repeated().collect::<Vec<_>>())
        .map_with(|(first, rest), x| {
            if rest.is_empty() {
                return first;
            }
            let mut kids = vec![first];
            kids.extend(rest);
            Node::new(Kind::TypeArrow, x.span(), kids)
        })
        .boxed();
    arrow
        .clone()
        .then(just(Kind::Comma).ignore_then(arrow).repeated().collect::<Vec<_>>())
        .map_with(|(first, rest), x| {
            if rest.is_empty() {
                return first;
            }
            let mut kids = vec![first];
            kids.extend(rest);
            Node::new(Kind::TypeTuple, x.span(), kids)
        })
        .boxed()
}

fn atoms<'a>(types: Boxed<'a, 'a, In<'a>, Node, Extra>) -> Boxed<'a, 'a, In<'a>, Node, Extra> {
    let paren = open()
        .ignore_then(types.clone())
        .then(maybe(Kind::RParen))
        .map_with(|(ty, close), x| Node::new(Kind::Paren, x.span(), vec![ty, close]))
        .boxed();
    let name = leaf(Kind::TypeName, one_of([Kind::Name, Kind::TrueKw, Kind::FalseKw]).ignored());
    let named = name.then(paren.clone().or_not()).map_with(|(name, args), x| match args {
        Some(args) => Node::new(Kind::TypeApply, x.span(), vec![name, args]),
        None => name,
    });
    let list = just(Kind::LBracket)
        .ignore_then(types)
        .then(maybe(Kind::RBracket))
        .map_with(|(ty, close), x| Node::new(Kind::TypeList, x.span(), vec![ty, close]));
    named.or(list).or(paren).boxed()
}
