//! Reads the text form of kir ([`print`](super::print())): for tests, and for people who write
//! kernels by hand.

use super::{
    Block, Combine, Function, FunctionId, Inst, Kernel, Literal, Module, Scope, Sink, Site, Space,
    Stage, Ty, Value, ValueTy,
};
use crate::stack::with_stack;
use std::collections::HashMap;
use std::fmt;
use token::{Placed, Token, tokens};

mod op;
mod token;

/// Why a text is not kir.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The token that was expected.
    pub message: String,
}

/// The module that `text` describes. It is not checked ([`verify`](super::verify())).
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = tokens(text)?;
    let heads = tokens.windows(2).filter_map(|pair| match [&pair[0].token, &pair[1].token] {
        [Token::Word("function"), Token::Text(name)] => Some(name.clone()),
        _ => None,
    });
    let names = heads.zip((0..).map(FunctionId)).collect();
    // Enough for any text that was printed, and no more memory than the text took.
    let most_values = text.len().max(1 << 16) as u32;
    let mut parser = Parser { tokens: &tokens, at: 0, names, types: Vec::new(), most_values };
    parser.module().map_err(|message| {
        let place = tokens.get(parser.at).or(tokens.last());
        let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
        ParseError { line, column, message }
    })
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Blocks within blocks after which a text is refused; to free them takes stack.
const MOST_NESTED: usize = 5_000;

struct Parser<'t> {
    tokens: &'t [Placed<'t>],
    at: usize,
    /// The functions by name; calls may come before definitions.
    names: HashMap<String, FunctionId>,
    /// The types of the values of the function or kernel at hand.
    types: Vec<ValueTy>,
    most_values: u32,
}

type Parsed<T> = Result<T, String>;

/// A line of a stage.
enum Line {
    Inst(Inst),
    Sink(Sink),
}

impl<'t> Parser<'t> {
    fn module(&mut self) -> Parsed<Module> {
        let mut module = Module::default();
        while self.at < self.tokens.len() {
            if self.eat_word("function") {
                module.functions.push(self.function()?);
            } else if self.eat_word("kernel") {
                module.kernels.push(self.kernel()?);
            } else {
                return self.expected("`function` or `kernel`");
            }
        }
        Ok(module)
    }

    fn function(&mut self) -> Parsed<Function> {
        self.types.clear();
        let name = self.text()?;
        self.punct('(')?;
        let params = self.typed_until(')')?;
        let mut results = Vec::new();
        if self.eat(&Token::Arrow) {
            results = self.list(Self::ty)?;
        }
        let body = self.block(0)?;
        Ok(Function { name, params, results, body, types: std::mem::take(&mut self.types) })
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.types.clear();
        let name = self.text()?;
        self.punct('(')?;
        let params = self.typed_until(')')?;
        let mut outputs = Vec::new();
        if self.eat_word("makes") {
            outputs = self.list(Self::scalar_ty)?;
        }
        self.word("over")?;
        let space = if self.eat_word("flat") {
            Space::Flat { count: self.value()? }
        } else if self.eat_word("regular") {
            let segments = self.value()?;
            self.punct(',')?;
            Space::Regular { segments, length: self.value()? }
        } else if self.eat_word("segmented") {
            let segments = self.value()?;
            self.punct(',')?;
            Space::Segmented { segments, offsets: self.value()? }
        } else {
            return self.expected("`flat`, `regular` or `segmented`");
        };
        self.word("at")?;
        let indices = self.list(Self::value)?;
        for value in &indices {
            self.define(*value, ValueTy::Scalar(Ty::I64));
        }
        let mut stages = Vec::new();
        // A kernel without stages, which is unlawful, is printed as a lone brace.
        while !self.eat(&Token::Punct('}')) {
            if !stages.is_empty() {
                self.word("then")?;
            }
            self.punct('{')?;
            stages.push(self.stage()?);
            if !self.next_is_word("then") {
                break;
            }
        }
        let types = std::mem::take(&mut self.types);
        Ok(Kernel { name, params, space, indices, stages, outputs, types })
    }

    fn stage(&mut self) -> Parsed<Stage> {
        let mut stage = Stage::default();
        while !self.eat(&Token::Punct('}')) {
            if self.eat_word("yield") {
                stage.body.yields = self.list(Self::value)?;
                continue;
            }
            match self.line(0)? {
                Line::Inst(_) if !stage.sinks.is_empty() => {
                    return self.expected("a sink: code stands before the sinks, not here");
                }
                Line::Inst(inst) => stage.body.insts.push(inst),
                Line::Sink(sink) => stage.sinks.push(sink),
            }
        }
        Ok(stage)
    }

    fn block(&mut self, depth: usize) -> Parsed<Block> {
        if depth > MOST_NESTED {
            return Err("too many blocks within blocks".to_string());
        }
        with_stack(|| {
            self.punct('{')?;
            let mut block = Block::default();
            loop {
                if self.eat(&Token::Punct('}')) {
                    return Ok(block);
                }
                if self.eat_word("yield") {
                    block.yields = self.list(Self::value)?;
                    self.punct('}')?;
                    return Ok(block);
                }
                match self.line(depth + 1)? {
                    Line::Inst(inst) => block.insts.push(inst),
                    Line::Sink(_) => return self.expected("code: sinks stand in stages"),
                }
            }
        })
    }

    /// An instruction or a sink, with its results.
    fn line(&mut self, depth: usize) -> Parsed<Line> {
        let mut results = Vec::new();
        if self.tokens.get(self.at + 1).is_some_and(|next| next.token == Token::Punct(':')) {
            results = self.list(Self::typed)?;
            self.punct('=')?;
        }
        let Some(Token::Word(word)) = self.peek() else {
            return self.expected("an operation");
        };
        let word = *word;
        self.at += 1;
        if let Some(sink) = self.sink(word, &results)? {
            return Ok(Line::Sink(sink));
        }
        let op = self.op(word, &results, depth)?;
        Ok(Line::Inst(Inst { results, op }))
    }

    fn columns<T>(
        &mut self,
        mut target: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<(Value, T)>> {
        if !self.eat_word("columns") {
            return Ok(Vec::new());
        }
        self.list(|this| {
            let value = this.value()?;
            this.token(&Token::Arrow)?;
            Ok((value, target(this)?))
        })
    }

    fn when(&mut self) -> Parsed<Option<Value>> {
        if self.eat_word("when") { self.value().map(Some) } else { Ok(None) }
    }

    fn scope(&mut self) -> Scope {
        if self.eat_word("segment") { Scope::Segment } else { Scope::All }
    }

    fn combine(&mut self) -> Parsed<Combine> {
        self.named("a combination", Combine::from_mnemonic)
    }

    fn site(&mut self) -> Parsed<Site> {
        self.punct('@')?;
        self.number().map(Site)
    }

    /// Parses an element `array[index]`.
    fn place(&mut self) -> Parsed<(Value, Value)> {
        let array = self.value()?;
        self.punct('[')?;
        let index = self.value()?;
        self.punct(']')?;
        Ok((array, index))
    }

    fn carry(&mut self) -> Parsed<(Vec<Value>, Vec<Value>)> {
        if !self.eat_word("carry") {
            return Ok((Vec::new(), Vec::new()));
        }
        let pairs = self.list(|this| {
            let carried = this.typed()?;
            this.punct('=')?;
            Ok((carried, this.value()?))
        })?;
        Ok(pairs.into_iter().unzip())
    }

    fn literal(&mut self, ty: Ty) -> Parsed<Literal> {
        let literal = self.peek().and_then(|token| literal(token, ty));
        match literal {
            Some(literal) => {
                self.at += 1;
                Ok(literal)
            }
            None => self.expected(&format!("a constant of type {ty}")),
        }
    }

    /// The type that an operation takes from its result.
    fn result_ty(&mut self, results: &[Value]) -> Parsed<Ty> {
        let first = results.first().and_then(|value| self.types.get(value.0 as usize));
        match first {
            Some(ValueTy::Scalar(ty) | ValueTy::Array(ty)) => Ok(*ty),
            Some(ValueTy::Mark) | None => Err("a result with a type is missing".to_string()),
        }
    }

    fn typed_until(&mut self, close: char) -> Parsed<Vec<Value>> {
        if self.eat(&Token::Punct(close)) {
            return Ok(Vec::new());
        }
        let values = self.list(Self::typed)?;
        self.punct(close)?;
        Ok(values)
    }

    fn args(&mut self) -> Parsed<Vec<Value>> {
        self.punct('(')?;
        if self.eat(&Token::Punct(')')) {
            return Ok(Vec::new());
        }
        let values = self.list(Self::value)?;
        self.punct(')')?;
        Ok(values)
    }

    /// Parses `v0: i64`.
    fn typed(&mut self) -> Parsed<Value> {
        let value = self.value()?;
        self.punct(':')?;
        let ty = self.ty()?;
        self.define(value, ty);
        Ok(value)
    }

    fn define(&mut self, value: Value, ty: ValueTy) {
        let index = value.0 as usize;
        if index >= self.types.len() {
            self.types.resize(index + 1, ValueTy::Scalar(Ty::I64));
        }
        self.types[index] = ty;
    }

    fn ty(&mut self) -> Parsed<ValueTy> {
        if self.eat(&Token::Punct('[')) {
            let ty = self.scalar_ty()?;
            self.punct(']')?;
            return Ok(ValueTy::Array(ty));
        }
        if self.eat_word("mark") {
            return Ok(ValueTy::Mark);
        }
        self.scalar_ty().map(ValueTy::Scalar)
    }

    fn scalar_ty(&mut self) -> Parsed<Ty> {
        self.named("a type", Ty::from_mnemonic)
    }

    fn value(&mut self) -> Parsed<Value> {
        let number = match self.peek() {
            Some(Token::Word(word)) => word.strip_prefix('v').and_then(|n| n.parse().ok()),
            _ => None,
        };
        match number {
            Some(number) if number < self.most_values => {
                self.at += 1;
                Ok(Value(number))
            }
            Some(number) => Err(format!("v{number} is too large a number")),
            None => self.expected("a value"),
        }
    }

    fn values<const N: usize>(&mut self) -> Parsed<[Value; N]> {
        let mut values = [Value(0); N];
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.punct(',')?;
            }
            *value = self.value()?;
        }
        Ok(values)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = vec![one(self)?];
        while self.eat(&Token::Punct(',')) {
            list.push(one(self)?);
        }
        Ok(list)
    }

    fn named<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        let found = match self.peek() {
            Some(Token::Word(word)) => find(word),
            _ => None,
        };
        match found {
            Some(found) => {
                self.at += 1;
                Ok(found)
            }
            None => self.expected(what),
        }
    }

    fn number(&mut self) -> Parsed<u32> {
        let number = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.expected("a number"),
        }
    }

    fn text(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.expected("a name in quotes"),
        }
    }

    fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn next_is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(next)) if *next == word)
    }

    fn eat(&mut self, token: &Token<'_>) -> bool {
        let eaten = self.peek() == Some(token);
        self.at += usize::from(eaten);
        eaten
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let eaten = self.next_is_word(word);
        self.at += usize::from(eaten);
        eaten
    }

    fn token(&mut self, token: &Token<'_>) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.expected(&token.to_string()) }
    }

    fn punct(&mut self, punct: char) -> Parsed<()> {
        self.token(&Token::Punct(punct))
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        match self.peek() {
            Some(found) => Err(format!("expected {what}, found {found}")),
            None => Err(format!("expected {what}, found the end")),
        }
    }
}

/// The constant of a type that a token denotes.
fn literal(token: &Token<'_>, ty: Ty) -> Option<Literal> {
    let text = match token {
        Token::Word(text) | Token::Number(text) => *text,
        Token::Char(code) if ty == Ty::U8 => return Some(Literal::U8(*code)),
        Token::Char(_) | Token::Text(_) | Token::Arrow | Token::Dots | Token::Punct(_) => {
            return None;
        }
    };
    match ty {
        Ty::I32 => text.parse().ok().map(Literal::I32),
        Ty::I64 => text.parse().ok().map(Literal::I64),
        Ty::U8 => text.parse().ok().map(Literal::U8),
        Ty::Bool => text.parse().ok().map(Literal::Bool),
        Ty::F32 => Some(Literal::F32(match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None if text == "nan" => f32::NAN.to_bits(),
            None => text.parse::<f32>().ok()?.to_bits(),
        })),
        Ty::F64 => Some(Literal::F64(match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None if text == "nan" => f64::NAN.to_bits(),
            None => text.parse::<f64>().ok()?.to_bits(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where() {
        for (text, expected) in [
            ("fonction", "line 1, column 1: expected `function` or `kernel`, found `fonction`"),
            ("function \"f\"() {\n  v1 = 3\n}", "line 2, column 3: there is no operation `v1`"),
            (
                "function \"f\"() {\n  v1: i64 = add v2\n}",
                "line 3, column 1: expected `,`, found `}`",
            ),
            (
                "function \"f\"() {\n  v1: u8 = const 256\n}",
                "line 2, column 18: expected a constant of type u8, found `256`",
            ),
            (
                "function \"f\"() {\n  call \"g\"()\n}",
                "line 2, column 11: there is no function \"g\"",
            ),
            ("function \"f", "line 1, column 10: a quote without end"),
            (
                "function \"f\"(v99999999: i64) { }",
                "line 1, column 14: v99999999 is too large a number",
            ),
            (
                "kernel \"k\"() over",
                "line 1, column 14: expected `flat`, `regular` or `segmented`, found the end",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn blocks_are_not_too_deep() {
        let text = format!("function \"f\"(v0: bool) {{ {}", "if v0 { ".repeat(100_000));
        assert!(parse(&text).unwrap_err().message.contains("too many blocks"));
    }
}
