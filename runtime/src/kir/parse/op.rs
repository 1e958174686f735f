//! Operations and sinks, after the word they begin with.

use super::token::Token;
use super::{Parsed, Parser};
use crate::kir::{Binary, Block, Extern, FunctionId, Op, Output, Sink, Ty, Unary, Value, ValueTy};

impl Parser<'_> {
    pub(super) fn op(&mut self, word: &str, results: &[Value], depth: usize) -> Parsed<Op> {
        if let Some(op) = Unary::from_mnemonic(word) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = Binary::from_mnemonic(word) {
            let [a, b] = self.values()?;
            return Ok(Op::Binary(op, a, b));
        }
        Ok(match word {
            "const" => {
                let ty = self.result_ty(results)?;
                Op::Const(self.literal(ty)?)
            }
            "text" => {
                let text = self.text()?;
                let bytes = text.chars().map(|char| u8::try_from(char).ok());
                let bytes: Option<Box<[u8]>> = bytes.collect();
                Op::Text(bytes.ok_or("a char of a text has a code up to 255")?)
            }
            "fma" => {
                let [a, b, c] = self.values()?;
                Op::Fma(a, b, c)
            }
            "select" => {
                let [cond, a, b] = self.values()?;
                Op::Select(cond, a, b)
            }
            "convert" => Op::Convert(self.result_ty(results)?, self.value()?),
            "bits" => Op::Bits(self.result_ty(results)?, self.value()?),
            "alloc" => Op::Alloc(self.result_ty(results)?, self.value()?),
            "load" => {
                let (array, index) = self.place()?;
                Op::Load { array, index }
            }
            "store" => {
                let (array, index) = self.place()?;
                self.punct('=')?;
                Op::Store { array, index, value: self.value()? }
            }
            "slice" => {
                let array = self.value()?;
                self.punct('[')?;
                let start = self.value()?;
                self.token(&Token::Dots)?;
                self.punct(']')?;
                Op::Slice(array, start)
            }
            "copy" => {
                let from = self.value()?;
                self.token(&Token::Arrow)?;
                let to = self.value()?;
                self.word("count")?;
                Op::Copy { from, to, count: self.value()? }
            }
            "if" => {
                let cond = self.value()?;
                let then = self.block(depth)?;
                let otherwise =
                    if self.eat_word("else") { self.block(depth)? } else { Block::default() };
                Op::If { cond, then, otherwise }
            }
            "while" => {
                let (carried, init) = self.carry()?;
                let cond = self.block(depth)?;
                self.word("do")?;
                Op::While { init, carried, cond, body: self.block(depth)? }
            }
            "for" => {
                let index = self.value()?;
                self.define(index, ValueTy::Scalar(Ty::I64));
                self.punct('<')?;
                let count = self.value()?;
                let (carried, init) = self.carry()?;
                let mut reduce = Vec::new();
                if self.eat_word("reduce") {
                    reduce = self.list(Self::combine)?;
                }
                Op::For { count, index, init, carried, reduce, body: self.block(depth)? }
            }
            "call" | "compute" => {
                let callee = if self.eat(&Token::Punct('#')) {
                    FunctionId(self.number()?)
                } else {
                    let name = self.text()?;
                    let found = self.names.get(&name).copied();
                    found.ok_or_else(|| format!("there is no function {name:?}"))?
                };
                let args = self.args()?;
                if word == "call" { Op::Call(callee, args) } else { Op::Compute(callee, args) }
            }
            "extern" => {
                let service = self.named("a service", Extern::from_mnemonic)?;
                Op::Extern(service, self.args()?)
            }
            "check" => {
                let cond = self.value()?;
                let site = self.site()?;
                Op::Check { cond, site, detail: self.detail()? }
            }
            "fail" => {
                let site = self.site()?;
                self.word("text")?;
                let [text, length] = self.values()?;
                Op::Fail { site, text, length, detail: self.detail()? }
            }
            "mark" => Op::Mark,
            "compact" => {
                let since = self.value()?;
                let mut keep = Vec::new();
                if self.eat_word("keep") {
                    keep = self.list(|this| {
                        let array = this.value()?;
                        this.punct('[')?;
                        this.token(&Token::Dots)?;
                        let length = this.value()?;
                        this.punct(']')?;
                        Ok((array, length))
                    })?;
                }
                Op::Compact { since, keep }
            }
            other => {
                self.at -= 1;
                return Err(format!("there is no operation `{other}`"));
            }
        })
    }

    fn detail(&mut self) -> Parsed<Vec<Value>> {
        if self.eat_word("detail") { self.list(Self::value) } else { Ok(Vec::new()) }
    }

    pub(super) fn sink(&mut self, word: &str, results: &[Value]) -> Parsed<Option<Sink>> {
        let result = match (word, results) {
            ("reduce" | "scan" | "pack" | "scatter" | "histogram" | "emit", []) => None,
            ("reduce" | "scan", [one]) => Some(*one),
            ("reduce" | "scan" | "pack" | "scatter" | "histogram" | "emit", _) => {
                return self.expected("a sink with so many results");
            }
            _ => return Ok(None),
        };
        Ok(Some(match word {
            "reduce" => {
                let (scope, combine) = (self.scope(), self.combine()?);
                let value = self.value()?;
                let out = if self.eat(&Token::Arrow) { Some(self.value()?) } else { None };
                Sink::Reduce { scope, combine, value, out, result }
            }
            "scan" => {
                let (scope, combine) = (self.scope(), self.combine()?);
                let value = self.value()?;
                let total = if self.eat_word("total") { Some(self.value()?) } else { None };
                let result = result.ok_or("a scan has a result")?;
                Sink::Scan { scope, combine, value, result, total }
            }
            "pack" => {
                let scope = self.scope();
                let keep = self.value()?;
                let columns = self.columns(Self::value)?;
                self.word("count")?;
                Sink::Pack { keep, columns, count: self.value()?, scope }
            }
            "emit" => {
                let length = self.value()?;
                let columns = self.columns(|this| {
                    this.punct('#')?;
                    this.number().map(Output)
                })?;
                self.word("lengths")?;
                Sink::Emit { columns, length, lengths: self.value()? }
            }
            "scatter" => {
                let value = self.value()?;
                self.token(&Token::Arrow)?;
                let (array, index) = self.place()?;
                Sink::Scatter { array, index, value, when: self.when()? }
            }
            // Nothing but a histogram is left.
            _ => {
                let combine = self.combine()?;
                let value = self.value()?;
                let length = if self.eat(&Token::Punct('[')) {
                    self.token(&Token::Dots)?;
                    let length = self.value()?;
                    self.punct(']')?;
                    Some(length)
                } else {
                    None
                };
                self.token(&Token::Arrow)?;
                let (array, index) = self.place()?;
                Sink::Histogram { array, combine, index, value, length, when: self.when()? }
            }
        }))
    }
}
