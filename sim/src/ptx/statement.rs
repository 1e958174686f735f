//! One instruction as text: its guard, its modifiers and its operands.

use super::error::Reason;
use super::token::{Token, Tokens, describe};
use crate::isa::types::Type;

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The name of a register or a variable.
    Name(String),
    /// An integer with its sign.
    Integer(i128),
    /// An `f32` by its bits.
    Single(u32),
    /// An `f64` by its bits.
    Double(u64),
    /// `[base + offset]`.
    Address(String, i64),
    /// A list of operands, `{…}`.
    Vector(Vec<Operand>),
    /// `a|b`: two destinations; `_` is written for none.
    Pair(String, String),
    /// A negated predicate, `!p`.
    Negated(String),
}

/// An instruction as it is written.
pub struct Statement {
    /// The predicate, and whether it is negated.
    pub guard: Option<(String, bool)>,
    /// The name of the instruction.
    pub opcode: String,
    /// The modifiers that no decoder has taken yet.
    modifiers: Vec<String>,
    /// The operands in their order.
    pub operands: Vec<Operand>,
    /// The line, from 1.
    pub line: u32,
}

impl Statement {
    /// Reads an instruction up to its semicolon.
    pub fn read(tokens: &mut Tokens) -> Result<Statement, Reason> {
        let line = tokens.line();
        let guard = if tokens.take('@') {
            let negated = tokens.take('!');
            Some((tokens.word("a predicate")?, negated))
        } else {
            None
        };
        let written = tokens.word("an instruction")?;
        let mut parts = written.split('.').map(str::to_owned);
        let opcode = parts.next().unwrap_or_default();
        let mut operands = Vec::new();
        while !tokens.take(';') {
            if !operands.is_empty() {
                tokens.expect(',')?;
            }
            operands.push(operand(tokens)?);
        }
        Ok(Statement { guard, opcode, modifiers: parts.collect(), operands, line })
    }

    /// Takes a modifier if it is there.
    pub fn take(&mut self, name: &str) -> bool {
        let found = self.modifiers.iter().position(|modifier| modifier == name);
        if let Some(at) = found {
            self.modifiers.remove(at);
        }
        found.is_some()
    }

    /// Takes the first modifier of a table that is there, and returns what it stands for.
    pub fn take_from<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let (at, found) = self.modifiers.iter().enumerate().find_map(|(at, modifier)| {
            table.iter().find(|(name, _)| name == modifier).map(|(_, found)| (at, *found))
        })?;
        self.modifiers.remove(at);
        Some(found)
    }

    /// Takes the first modifier that is a type.
    pub fn take_type(&mut self) -> Result<Type, Reason> {
        let (at, ty) = self
            .modifiers
            .iter()
            .enumerate()
            .find_map(|(at, modifier)| Type::parse(modifier).map(|ty| (at, ty)))
            .ok_or("the type is missing")?;
        self.modifiers.remove(at);
        Ok(ty)
    }

    /// Takes the first modifier, whatever it is.
    pub fn take_first(&mut self) -> Option<String> {
        (!self.modifiers.is_empty()).then(|| self.modifiers.remove(0))
    }

    /// Fails if a modifier is left that no decoder took.
    pub fn finish(&self) -> Result<(), Reason> {
        match self.modifiers.first() {
            None => Ok(()),
            Some(modifier) if modifier == "ftz" => {
                Err("`.ftz` is refused: subnormal numbers are kept".to_owned())
            }
            Some(modifier) => Err(format!("`.{modifier}` is not supported here")),
        }
    }

    /// Fails unless there are as many operands.
    pub fn expect_operands(&self, count: usize) -> Result<(), Reason> {
        if self.operands.len() == count {
            Ok(())
        } else {
            Err(format!("{} operands where {count} are expected", self.operands.len()))
        }
    }
}

fn operand(tokens: &mut Tokens) -> Result<Operand, Reason> {
    if tokens.take('{') {
        let mut list = vec![operand(tokens)?];
        while !tokens.take('}') {
            tokens.expect(',')?;
            list.push(operand(tokens)?);
        }
        return Ok(Operand::Vector(list));
    }
    if tokens.take('[') {
        return address(tokens);
    }
    if tokens.take('!') {
        return Ok(Operand::Negated(tokens.word("a predicate")?));
    }
    if tokens.take('-') {
        return match tokens.next() {
            Token::Integer(value) => Ok(Operand::Integer(-i128::from(value))),
            Token::Double(bits) => Ok(Operand::Double((-f64::from_bits(bits)).to_bits())),
            other => Err(format!("expected a number after `-`, found {}", describe(&other))),
        };
    }
    match tokens.next() {
        Token::Word(name) if tokens.take('|') => {
            Ok(Operand::Pair(name, tokens.word("a predicate")?))
        }
        Token::Word(name) => Ok(Operand::Name(name)),
        Token::Integer(value) => Ok(Operand::Integer(i128::from(value))),
        Token::Single(bits) => Ok(Operand::Single(bits)),
        Token::Double(bits) => Ok(Operand::Double(bits)),
        other => Err(format!("expected an operand, found {}", describe(&other))),
    }
}

/// Reads the rest of `[base]`, `[base+offset]` or `[base-offset]`.
fn address(tokens: &mut Tokens) -> Result<Operand, Reason> {
    let base = tokens.word("a register or a variable as the base of an address")?;
    let negative = if tokens.take('+') {
        tokens.take('-')
    } else if tokens.take('-') {
        true
    } else {
        tokens.expect(']')?;
        return Ok(Operand::Address(base, 0));
    };
    let distance = i64::try_from(tokens.integer("an offset")?)
        .map_err(|_| "the offset is out of range".to_owned())?;
    tokens.expect(']')?;
    Ok(Operand::Address(base, if negative { -distance } else { distance }))
}
