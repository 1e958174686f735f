//! The syntactic context of a cursor in a text that is being typed: its form, the word at the cursor, and the
//! brackets and keywords that are open there. It is derived from tokens alone, so that it also works in forms
//! that do not parse.

use crate::base::{ItemId, TextRange, TextSize};
use crate::db::{Database, FileId};
use crate::syntax::{Kind, RawKind, Token, lex};
use std::ops::Range;

/// The syntactic context of a cursor.
pub(super) struct Place<'a> {
    /// The database of the program.
    pub db: &'a Database,
    /// The file of the cursor.
    pub file: FileId,
    /// The form whose names are in scope here; an empty file has none.
    pub item: Option<ItemId>,
    /// The number of forms before this one.
    pub position: u32,
    /// The text of the form.
    pub text: String,
    /// The start of the form in the file.
    pub start: TextSize,
    /// The offset of the cursor in `text`, in bytes.
    pub at: usize,
    /// The word at the cursor, perhaps empty; in bytes of `text`.
    pub word: Range<usize>,
    /// The significant tokens before the word.
    pub before: Vec<Token>,
    /// The significant token after the word.
    pub after: Option<Token>,
    /// The constructs that are open at the word, outermost first.
    pub open: Vec<Open>,
}

/// The kind of an open construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A parenthesis: `(`.
    Paren,
    /// A square bracket: `[`.
    Bracket,
    /// A brace: `{`.
    Brace,
    /// `let`, up to its `in`
    Let,
    /// `in` of a `let`: its body
    In,
    /// `if`, up to its `then`
    If,
    /// `then`, up to its `else`
    Then,
    /// `else`: to the end of the expression
    Else,
}

/// A construct that is open at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The kind of the construct.
    pub sort: Sort,
    /// The index of the token that opens it.
    pub token: usize,
    /// The number of commas directly in it, not in nested brackets.
    pub commas: usize,
    /// The index of the token after the last separator in it.
    pub segment: usize,
    /// True for an apply-to-each whose `:` precedes the cursor.
    pub colon: bool,
    /// True if it contains types, not values.
    pub types: bool,
}

impl<'a> Place<'a> {
    /// The context of an offset; none inside comments, strings, chars and numbers, where nothing is completed.
    pub fn new(db: &'a Database, file: FileId, offset: TextSize) -> Option<Place<'a>> {
        let place = Place::around(db, file, offset)?;
        let tokens = lex(&place.text);
        if tokens.iter().any(|token| inside(token, place.at)) {
            return None;
        }
        let begins_in_number = |token: &Token| {
            matches!(token.kind, Kind::Int | Kind::Float)
                && usize::from(token.range.end()) >= place.word.start
                && usize::from(token.range.start()) < place.word.end.max(place.word.start)
        };
        let joined = |token: &Token| {
            matches!(token.kind, Kind::Int | Kind::Float)
                && usize::from(token.range.end()) == place.word.start
                && !place.word.is_empty()
        };
        if tokens.iter().any(|token| begins_in_number(token) || joined(token)) {
            return None;
        }
        Some(place)
    }

    /// The context of an offset, also inside a string or comment.
    pub fn around(db: &'a Database, file: FileId, offset: TextSize) -> Option<Place<'a>> {
        let mut place = Place::of_form(db, file, offset)?;
        place.word = word(&place.text, place.at);
        let tokens = lex(&place.text);
        let significant = tokens.into_iter().filter(|token| !token.kind.is_trivia());
        for token in significant {
            if usize::from(token.range.end()) <= place.word.start {
                place.before.push(token);
            } else if usize::from(token.range.start()) >= place.word.end {
                place.after = Some(token);
                break;
            }
        }
        if place.terminated() {
            place.begin_anew();
        }
        place.open = open(&place.before);
        Some(place)
    }

    /// Finds the form at the cursor. Blanks after a form without its terminator belong to that form.
    fn of_form(db: &'a Database, file: FileId, offset: TextSize) -> Option<Place<'a>> {
        let mut place = Place {
            db,
            file,
            item: None,
            position: 0,
            text: String::new(),
            start: TextSize::new(0),
            at: 0,
            word: 0..0,
            before: Vec::new(),
            after: None,
            open: Vec::new(),
        };
        let Some((item, start)) = db.item_at(file, offset) else { return Some(place) };
        let (_, position) = db.position_of(item)?;
        place.item = Some(item);
        place.position = position;
        place.text = db.item_text(item).to_string();
        place.start = start;
        place.at = usize::from(offset.checked_sub(start)?);
        let head = place.text.get(..place.at)?;
        let blank = lex(head).iter().all(|token| token.kind.is_trivia());
        let touches = place.text[place.at..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let Some(above) = position.checked_sub(1).filter(|_| blank && !touches) else {
            return Some(place);
        };
        let above = db.outline(file).forms.get(above as usize)?.clone();
        let last = db.parsed(above.id()).tokens.last().map(|token| token.kind);
        let open = !matches!(last, None | Some(Kind::Semi | Kind::Dollar));
        if above.kind != RawKind::Blank && open {
            let text = db.item_text(above.id());
            let head = head.to_owned();
            place.item = Some(above.id());
            place.position = position - 1;
            place.start = start.checked_sub(TextSize::of(&*text))?;
            place.at += text.len();
            place.text = format!("{text}{head}");
        }
        Some(place)
    }

    /// Returns true if the form before has ended.
    fn terminated(&self) -> bool {
        let ended = self.before.last().is_some_and(|t| matches!(t.kind, Kind::Semi | Kind::Dollar));
        ended && (self.after.is_none() && open(&self.before).is_empty())
    }

    /// Starts a new form at the word.
    fn begin_anew(&mut self) {
        let word = self.word.start;
        self.start += TextSize::new(word as u32);
        self.text.drain(..word);
        self.at -= word;
        self.word = 0..self.word.end - word;
        self.before.clear();
        self.position += 1;
    }

    /// Looks at the tokens before another place of the form.
    pub fn look_from(&mut self, before: Vec<Token>) {
        self.open = open(&before);
        self.before = before;
    }

    /// The part of the word before the cursor.
    pub fn prefix(&self) -> &str {
        &self.text[self.word.start..self.at]
    }

    /// The range of the word in the file.
    pub fn range(&self) -> TextRange {
        let at = |index: usize| self.start + TextSize::new(index as u32);
        TextRange::new(at(self.word.start), at(self.word.end))
    }

    /// The text of a token.
    pub fn slice(&self, token: Token) -> &str {
        &self.text[token.range]
    }

    /// Returns true if a parenthesis directly after the word makes it a call.
    pub fn called(&self) -> bool {
        let paren =
            |t: Token| t.kind == Kind::LParen && usize::from(t.range.start()) == self.word.end;
        self.after.is_some_and(paren)
    }

    /// Returns true if the word stands behind `'`.
    pub fn quoted(&self) -> bool {
        self.before.last().is_some_and(|t| t.kind == Kind::Quote)
    }

    /// The call, innermost, that the place is an argument of: what is open, and the token of the
    /// name that is called.
    pub fn call(&self) -> Option<(Open, Token)> {
        self.open.iter().rev().find_map(|open| Some((*open, self.callee(open)?)))
    }

    /// The name that is called by an open parenthesis.
    pub fn callee(&self, open: &Open) -> Option<Token> {
        if open.sort != Sort::Paren || open.types {
            return None;
        }
        let index = open.token.checked_sub(1)?;
        let name = self.before[index];
        let defines =
            index == 1 && matches!(self.before[0].kind, Kind::FunctionKw | Kind::DatatypeKw);
        let quoted = index.checked_sub(1).is_some_and(|i| self.before[i].kind == Kind::Quote);
        (!defines && (name.kind == Kind::Name || quoted)).then_some(name)
    }
}

/// Returns true if the cursor is inside a token in which nothing is completed.
fn inside(token: &Token, at: usize) -> bool {
    let (start, end) = (usize::from(token.range.start()), usize::from(token.range.end()));
    match token.kind {
        Kind::Comment | Kind::Text => start < at && at < end,
        Kind::OpenComment | Kind::ForeignComment | Kind::OpenText | Kind::Char => {
            start < at && at <= end
        }
        Kind::Unknown => start < at && at <= end,
        _ => false,
    }
}

/// The word around a place.
fn word(text: &str, at: usize) -> Range<usize> {
    let letter = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let bytes = text.as_bytes();
    let start = at - bytes[..at].iter().rev().take_while(|b| letter(b)).count();
    let end = at + bytes[at..].iter().take_while(|b| letter(b)).count();
    if start == at { at..at } else { start..end }
}

/// The constructs that some tokens leave open.
fn open(tokens: &[Token]) -> Vec<Open> {
    let mut stack: Vec<Open> = Vec::new();
    let empty_before = |i: usize| {
        let pair = i.checked_sub(2).map(|j| (tokens[j].kind, tokens[i - 1].kind));
        pair == Some((Kind::LBracket, Kind::RBracket))
    };
    for (i, token) in tokens.iter().enumerate() {
        let sort = match token.kind {
            Kind::LParen | Kind::CallParen => Some(Sort::Paren),
            Kind::LBracket => Some(Sort::Bracket),
            Kind::LBrace => Some(Sort::Brace),
            Kind::LetKw => Some(Sort::Let),
            Kind::IfKw => Some(Sort::If),
            _ => None,
        };
        if let Some(sort) = sort {
            let types = stack.last().is_some_and(|open| open.types) || empty_before(i);
            stack.push(Open { sort, token: i, commas: 0, segment: i + 1, colon: false, types });
            continue;
        }
        match token.kind {
            Kind::RParen => close(&mut stack, Sort::Paren),
            Kind::RBracket => close(&mut stack, Sort::Bracket),
            Kind::RBrace => close(&mut stack, Sort::Brace),
            Kind::ThenKw => turn(&mut stack, Sort::If, Sort::Then, i),
            Kind::ElseKw => turn(&mut stack, Sort::Then, Sort::Else, i),
            Kind::InKw => turn(&mut stack, Sort::Let, Sort::In, i),
            Kind::Semi | Kind::Bar => {
                while stack.last().is_some_and(|open| rightward(open.sort)) {
                    stack.pop();
                }
                if let Some(open) = stack.last_mut() {
                    open.segment = i + 1;
                }
            }
            Kind::Colon => {
                let brace = stack.iter().rposition(|open| !rightward(open.sort));
                if let Some(at) = brace.filter(|at| stack[*at].sort == Sort::Brace) {
                    stack.truncate(at + 1);
                    stack[at].colon = true;
                    stack[at].segment = i + 1;
                }
            }
            Kind::Comma => {
                if let Some(open) = stack.last_mut().filter(|open| !rightward(open.sort)) {
                    open.commas += 1;
                    open.segment = i + 1;
                }
            }
            _ => {}
        }
    }
    stack
}

/// Returns true for constructs that extend as far to the right as they can.
fn rightward(sort: Sort) -> bool {
    matches!(sort, Sort::In | Sort::If | Sort::Then | Sort::Else)
}

fn close(stack: &mut Vec<Open>, sort: Sort) {
    if let Some(at) = stack.iter().rposition(|open| open.sort == sort) {
        stack.truncate(at);
    }
}

/// A keyword turns what is open into what comes next, unless a bracket is in between.
fn turn(stack: &mut Vec<Open>, from: Sort, to: Sort, token: usize) {
    let bracket = |open: &Open| matches!(open.sort, Sort::Paren | Sort::Bracket | Sort::Brace);
    let floor = stack.iter().rposition(bracket).map_or(0, |at| at + 1);
    if let Some(at) = stack[floor..].iter().rposition(|open| open.sort == from) {
        stack.truncate(floor + at + 1);
        let open = &mut stack[floor + at];
        open.sort = to;
        open.token = token;
        open.segment = token + 1;
    }
}
