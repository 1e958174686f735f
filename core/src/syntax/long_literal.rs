//! Long literals of constants, found in the tokens before these are parsed.
//!
//! The grammar makes a node of each element, and every later stage an expression. A list of thousands of
//! constants of one type is a table of data instead: to the grammar it is one token, and to the stages after it
//! one expression with [`Constants`].
//!
//! ```text
//! a = [[1, -2], [3, 4], …];      the grammar sees   a = LongLiteral
//! ```
//!
//! A list of which any part is something else, or has a mistake, is left to the grammar, so that all
//! errors are reported in one way.

use super::grammar::Node;
use super::lexer::{Kind, Token, unescape};
use crate::base::{Constants, FloatBits, with_stack};
use std::sync::Arc;

/// The number of tokens from which on a list is taken for data.
const MIN_LITERAL_TOKENS: usize = 512;
/// The number of brackets around an element up to which a list is taken for data. Each token is looked at
/// once for each of them at most.
const MAX_LITERAL_DEPTH: usize = 8;
/// The number of ints of more than 32 bits that are remembered, to be reported.
const MAX_WIDE_INTS: usize = 50;

/// A long literal of an item.
pub(super) struct LongLiteral {
    /// The significant token that opens its outermost bracket.
    pub(super) start: u32,
    /// The significant token behind its outermost bracket.
    pub(super) end: u32,
    /// The elements of the outermost list.
    pub(super) elements: Arc<Constants>,
    /// The first ints that need more than 32 bits, without their signs, and their tokens.
    pub(super) wide: Box<[(i64, u32)]>,
    /// The strings with a backslash.
    pub(super) escaped: Vec<u32>,
}

/// Finds the long literals among significant tokens, in order.
pub(super) fn find(text: &str, tokens: &[Token]) -> Vec<LongLiteral> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + MIN_LITERAL_TOKENS <= tokens.len() {
        let literal = match tokens[at].kind {
            Kind::LBracket => Scan::whole(text, tokens, at),
            _ => None,
        };
        match literal {
            Some(literal) => {
                at = literal.end as usize;
                found.push(literal);
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the kinds of tokens with one token for each of some literals.
pub(super) fn shorten(kinds: &[Kind], literals: &[LongLiteral]) -> Vec<Kind> {
    let mut short = Vec::new();
    let mut at = 0;
    for literal in literals {
        short.extend_from_slice(&kinds[at..literal.start as usize]);
        short.push(Kind::LongLiteral);
        at = literal.end as usize;
    }
    short.extend_from_slice(&kinds[at..]);
    short
}

/// Makes the tokens of a node, which was parsed from what [`shorten`] returned, those of the item.
pub(super) fn restore(node: &mut Node, literals: &[LongLiteral]) {
    // The number of the token behind each literal in the short list.
    let mut behind = Vec::with_capacity(literals.len());
    let mut removed = 0;
    for literal in literals {
        behind.push(literal.start - removed + 1);
        removed += literal.end - literal.start - 1;
    }
    restore_node(node, &|token| match behind.partition_point(|behind| *behind <= token) {
        0 => token,
        passed => literals[passed - 1].end + (token - behind[passed - 1]),
    });
}

fn restore_node(node: &mut Node, token: &dyn Fn(u32) -> u32) {
    with_stack(|| {
        (node.start, node.end) = (token(node.start), token(node.end));
        node.kids.iter_mut().for_each(|kid| restore_node(kid, token));
    });
}

/// A column of elements of a type that their first one determines.
enum Column {
    Unknown,
    Ints(Vec<i64>),
    Floats(Vec<FloatBits>),
    Bools(Vec<bool>),
    Chars(Vec<u8>),
    /// Strings. A list of chars in brackets is no string: it is printed in another way.
    Texts(Vec<u32>, Vec<u8>),
    Pairs(Box<(Column, Column)>),
    Sequences(Vec<u32>, Box<Column>),
}

impl Column {
    fn finish(self) -> Option<Constants> {
        Some(match self {
            Column::Unknown => return None,
            Column::Ints(xs) => Constants::Ints(xs),
            Column::Floats(xs) => Constants::Floats(xs),
            Column::Bools(xs) => Constants::Bools(xs),
            Column::Chars(xs) => Constants::Chars(xs),
            Column::Texts(lengths, bytes) => {
                Constants::Sequences { lengths, elements: Box::new(Constants::Chars(bytes)) }
            }
            Column::Pairs(pair) => Constants::Pairs(Box::new((pair.0.finish()?, pair.1.finish()?))),
            Column::Sequences(lengths, elements) => {
                Constants::Sequences { lengths, elements: Box::new(elements.finish()?) }
            }
        })
    }
}

/// A list while it is read. Functions return `None` where it is not a table of constants.
struct Scan<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// The next token.
    at: usize,
    wide: Vec<(i64, u32)>,
    escaped: Vec<u32>,
}

impl<'a> Scan<'a> {
    /// Reads the list whose bracket opens at a token, if it is a long one of several elements: brackets with
    /// one element behind an expression are an index.
    fn whole(text: &'a str, tokens: &'a [Token], start: usize) -> Option<LongLiteral> {
        let mut scan = Scan { text, tokens, at: start + 1, wide: Vec::new(), escaped: Vec::new() };
        let mut column = Column::Unknown;
        let elements = scan.elements(&mut column, 0)?;
        if elements < 2 || scan.at - start < MIN_LITERAL_TOKENS {
            return None;
        }
        Some(LongLiteral {
            start: start as u32,
            end: scan.at as u32,
            elements: Arc::new(column.finish()?),
            wide: scan.wide.into(),
            escaped: scan.escaped,
        })
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Reads a token, and returns its text.
    fn word(&mut self) -> &'a str {
        let range = self.tokens[self.at].range;
        self.at += 1;
        &self.text[range]
    }

    /// Reads elements up to the end of their list, and returns their number.
    fn elements(&mut self, column: &mut Column, depth: usize) -> Option<u32> {
        let mut count = 0;
        loop {
            self.element(column, depth)?;
            count += 1;
            let after = self.kind()?;
            self.at += 1;
            match after {
                Kind::Comma => {}
                Kind::RBracket => return Some(count),
                _ => return None,
            }
        }
    }

    fn element(&mut self, column: &mut Column, depth: usize) -> Option<()> {
        match self.kind()? {
            Kind::Int | Kind::Float => self.number(column, false),
            Kind::Minus => {
                self.at += 1;
                self.number(column, true)
            }
            Kind::TrueKw => self.truth(column, true),
            Kind::FalseKw => self.truth(column, false),
            Kind::Char => {
                let [_, byte] = self.word().as_bytes() else { return None };
                if matches!(column, Column::Unknown) {
                    *column = Column::Chars(Vec::new());
                }
                let Column::Chars(chars) = column else { return None };
                (depth == 0).then(|| chars.push(*byte))
            }
            Kind::Text => {
                let token = self.at as u32;
                let word = self.word();
                if matches!(column, Column::Unknown) {
                    *column = Column::Texts(Vec::new(), Vec::new());
                }
                let Column::Texts(lengths, bytes) = column else { return None };
                if word.contains('\\') {
                    self.escaped.push(token);
                    let unescaped = unescape(word);
                    lengths.push(unescaped.len() as u32);
                    bytes.extend(unescaped);
                } else {
                    lengths.push(word.len() as u32 - 2);
                    bytes.extend_from_slice(&word.as_bytes()[1..word.len() - 1]);
                }
                Some(())
            }
            Kind::LBracket if depth < MAX_LITERAL_DEPTH => {
                self.at += 1;
                if matches!(column, Column::Unknown) {
                    *column = Column::Sequences(Vec::new(), Box::new(Column::Unknown));
                }
                let Column::Sequences(lengths, elements) = column else { return None };
                lengths.push(match self.kind()? {
                    Kind::RBracket => self.empty(elements)?,
                    _ => self.elements(elements, depth + 1)?,
                });
                Some(())
            }
            Kind::LParen if depth < MAX_LITERAL_DEPTH => {
                self.at += 1;
                self.components(column, depth + 1)
            }
            _ => None,
        }
    }

    /// Reads the rest of `[] int`, and returns the number of elements.
    fn empty(&mut self, elements: &mut Column) -> Option<u32> {
        self.at += 1;
        if self.kind()? != Kind::Name {
            return None;
        }
        let name = self.word();
        let fits = match elements {
            Column::Unknown => {
                *elements = match name {
                    "int" => Column::Ints(Vec::new()),
                    "float" => Column::Floats(Vec::new()),
                    "bool" => Column::Bools(Vec::new()),
                    _ => return None,
                };
                true
            }
            Column::Ints(_) => name == "int",
            Column::Floats(_) => name == "float",
            Column::Bools(_) => name == "bool",
            _ => false,
        };
        fits.then_some(0)
    }

    /// Reads the components of a tuple in parentheses, of which there are two at least, and the closing one.
    fn components(&mut self, column: &mut Column, depth: usize) -> Option<()> {
        if matches!(column, Column::Unknown) {
            *column = Column::Pairs(Box::new((Column::Unknown, Column::Unknown)));
        }
        let Column::Pairs(pair) = column else { return None };
        self.element(&mut pair.0, depth)?;
        if self.kind()? != Kind::Comma {
            return None;
        }
        self.at += 1;
        // `(a, b, c)` is `(a, (b, c))`: whether there is another component, the first tuple says.
        if self.has_more(&pair.1, depth)? {
            return self.components(&mut pair.1, depth);
        }
        self.element(&mut pair.1, depth)?;
        let closed = self.kind()? == Kind::RParen;
        self.at += 1;
        closed.then_some(())
    }

    /// Returns true if the component that begins here is not the last one of its tuple.
    fn has_more(&self, column: &Column, depth: usize) -> Option<bool> {
        match column {
            Column::Pairs(_) => {
                Some(self.kind()? != Kind::LParen || self.skipped(depth)? == Kind::Comma)
            }
            Column::Unknown => Some(self.skipped(depth)? == Kind::Comma),
            _ => Some(false),
        }
    }

    /// Returns the kind of the token behind the element that begins here.
    fn skipped(&self, depth: usize) -> Option<Kind> {
        let (text, tokens, at) = (self.text, self.tokens, self.at);
        let mut ahead = Scan { text, tokens, at, wide: Vec::new(), escaped: Vec::new() };
        ahead.element(&mut Column::Unknown, depth)?;
        ahead.kind()
    }

    fn truth(&mut self, column: &mut Column, value: bool) -> Option<()> {
        self.at += 1;
        if matches!(column, Column::Unknown) {
            *column = Column::Bools(Vec::new());
        }
        let Column::Bools(bools) = column else { return None };
        bools.push(value);
        Some(())
    }

    /// Reads a number behind its sign.
    fn number(&mut self, column: &mut Column, negative: bool) -> Option<()> {
        let (kind, token) = (self.kind()?, self.at as u32);
        match kind {
            Kind::Int => {
                let value: i64 = self.word().parse().ok()?;
                // Printed as it is written, `-0` is not `0`.
                if negative && value == 0 {
                    return None;
                }
                let signed = if negative { -value } else { value };
                if i32::try_from(signed).is_err() && self.wide.len() < MAX_WIDE_INTS {
                    self.wide.push((value, token));
                }
                if matches!(column, Column::Unknown) {
                    *column = Column::Ints(Vec::new());
                }
                let Column::Ints(ints) = column else { return None };
                ints.push(signed);
            }
            Kind::Float => {
                let value: f64 = self.word().parse().ok().filter(|x: &f64| x.is_finite())?;
                if matches!(column, Column::Unknown) {
                    *column = Column::Floats(Vec::new());
                }
                let Column::Floats(floats) = column else { return None };
                let value = if negative { -value } else { value };
                floats.push(FloatBits(value.to_bits()));
            }
            _ => return None,
        }
        Some(())
    }
}
