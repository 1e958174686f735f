//! Declarations of variables and registers, with their initial values.

use super::error::Reason;
use super::names::{Names, Symbol};
use super::token::{Token, Tokens, describe};
use crate::isa::code::{ConstBank, GlobalVariable};
use crate::isa::types::Type;

/// The bytes between two variables in the constants, so that an overrun is noticed.
const CONST_GAP_BYTES: usize = 64;

/// The declared state space of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableSpace {
    /// Memory of a block: `.shared`.
    Shared,
    /// Memory of a thread: `.local`.
    Local,
    /// Memory of the device: `.global`.
    Global,
    /// Constants of the module: `.const`.
    Const,
}

/// The spaces with their directives.
const SPACES: [(&str, VariableSpace); 4] = [
    (".shared", VariableSpace::Shared),
    (".local", VariableSpace::Local),
    (".global", VariableSpace::Global),
    (".const", VariableSpace::Const),
];

/// A declared variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The state space of the variable.
    pub space: VariableSpace,
    /// It is declared `.extern`: its size comes with the launch.
    pub external: bool,
    /// The name of the variable.
    pub name: String,
    /// Its alignment in bytes.
    pub align: usize,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its contents, if it is initialised.
    pub contents: Option<Vec<u8>>,
}

/// The variables of a module: those in global memory and the constants.
#[derive(Default)]
pub struct ModuleData {
    /// The variables in global memory.
    pub globals: Vec<GlobalVariable>,
    /// The constants of the module.
    pub constants: ConstBank,
}

/// Returns true if the next token begins the declaration of a variable.
pub fn starts(tokens: &Tokens) -> bool {
    let is_space = |token: &Token| matches!(token, Token::Word(word) if SPACES.iter().any(|(name, _)| name == word));
    let is_linkage = matches!(tokens.peek(), Token::Word(word)
        if matches!(word.as_str(), ".extern" | ".visible" | ".weak"));
    is_space(tokens.peek()) || is_linkage && is_space(tokens.peek_second())
}

/// Reads a declaration up to its semicolon.
pub fn variables(tokens: &mut Tokens) -> Result<Vec<Variable>, Reason> {
    let external = tokens.take_word(".extern");
    if !external && !tokens.take_word(".visible") {
        tokens.take_word(".weak");
    }
    let directive = tokens.word("a state space")?;
    let space = SPACES
        .iter()
        .find(|(name, _)| *name == directive)
        .map(|(_, space)| *space)
        .ok_or_else(|| format!("`{directive}` is not a state space"))?;
    let align = if tokens.take_word(".align") { alignment(tokens)? } else { 1 };
    let ty = declared_type(tokens)?;
    let mut list = Vec::new();
    loop {
        list.push(variable(tokens, space, external, align.max(ty.bytes()), ty)?);
        if tokens.take(';') {
            return Ok(list);
        }
        tokens.expect(',')?;
    }
}

fn variable(
    tokens: &mut Tokens,
    space: VariableSpace,
    external: bool,
    align: usize,
    ty: Type,
) -> Result<Variable, Reason> {
    let name = tokens.word("the name of a variable")?;
    let mut length = None;
    let mut open_ended = false;
    while tokens.take('[') {
        if tokens.take(']') {
            open_ended = true;
            continue;
        }
        let extent = tokens.integer("the length of an array")? as usize;
        tokens.expect(']')?;
        length = Some(length.unwrap_or(1) * extent);
    }
    let contents = if tokens.take('=') { Some(initialiser(tokens, ty)?) } else { None };
    if contents.is_some() && matches!(space, VariableSpace::Shared | VariableSpace::Local) {
        return Err(format!("`{name}` cannot be initialised in its state space"));
    }
    if external != open_ended || external && space != VariableSpace::Shared {
        return Err("only `.extern .shared` arrays have no length, and they always".to_owned());
    }
    let bytes = length.unwrap_or(1) * ty.bytes();
    if contents.as_ref().is_some_and(|contents| contents.len() > bytes) {
        return Err(format!("`{name}` has more initial values than elements"));
    }
    Ok(Variable { space, external, name, align, bytes, contents })
}

/// Reads an alignment: a power of two.
pub fn alignment(tokens: &mut Tokens) -> Result<usize, Reason> {
    let align = tokens.integer("an alignment")? as usize;
    if align.is_power_of_two() { Ok(align) } else { Err(format!("{align} is not a power of two")) }
}

/// Reads the type of a declaration.
pub fn declared_type(tokens: &mut Tokens) -> Result<Type, Reason> {
    let word = tokens.word("a type")?;
    word.strip_prefix('.')
        .and_then(Type::parse)
        .ok_or_else(|| format!("`{word}` is not a supported type"))
}

/// Reads one value or a list in braces.
fn initialiser(tokens: &mut Tokens, ty: Type) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    if !tokens.take('{') {
        element(tokens, ty, &mut bytes)?;
        return Ok(bytes);
    }
    while !tokens.take('}') {
        if !bytes.is_empty() {
            tokens.expect(',')?;
        }
        element(tokens, ty, &mut bytes)?;
    }
    Ok(bytes)
}

fn element(tokens: &mut Tokens, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Reason> {
    let negative = tokens.take('-');
    let value = match tokens.next() {
        Token::Integer(value) if !ty.is_float() => {
            if negative {
                value.wrapping_neg()
            } else {
                value
            }
        }
        Token::Single(bits) if ty == Type::F32 && !negative => u64::from(bits),
        Token::Double(bits) if ty == Type::F64 => {
            let value = f64::from_bits(bits);
            (if negative { -value } else { value }).to_bits()
        }
        other => return Err(format!("{} is not an initial value of type {ty}", describe(&other))),
    };
    bytes.extend_from_slice(&value.to_le_bytes()[..ty.bytes()]);
    Ok(())
}

/// Declares a variable of a kernel: `.shared` or `.local`.
pub fn declare(names: &mut Names, variable: &Variable) -> Result<(), Reason> {
    let symbol = match variable.space {
        VariableSpace::Shared if variable.external => {
            let align = names.dynamic_shared.unwrap_or(1).max(variable.align);
            names.dynamic_shared = Some(align);
            Symbol::DynamicShared
        }
        VariableSpace::Shared => {
            Symbol::Shared(Names::place(&mut names.shared_bytes, variable.bytes, variable.align))
        }
        VariableSpace::Local => {
            Symbol::Local(Names::place(&mut names.local_bytes, variable.bytes, variable.align))
        }
        VariableSpace::Global | VariableSpace::Const => {
            return Err("a kernel declares only shared and local variables".to_owned());
        }
    };
    names.declare(&variable.name, symbol)
}

impl ModuleData {
    /// Keeps a variable of the module and returns what its name stands for.
    pub fn keep(&mut self, variable: &Variable) -> Symbol {
        let mut contents = variable.contents.clone().unwrap_or_default();
        contents.resize(variable.bytes, 0);
        if variable.space == VariableSpace::Global {
            let name = variable.name.clone();
            self.globals.push(GlobalVariable { name, bytes: contents });
            return Symbol::Global(self.globals.len() - 1);
        }
        let bank = &mut self.constants;
        let gap = if bank.ranges.is_empty() { 0 } else { CONST_GAP_BYTES };
        let start = (bank.bytes.len() + gap).next_multiple_of(variable.align);
        bank.bytes.resize(start, 0);
        bank.bytes.extend_from_slice(&contents);
        bank.ranges.push((start, start + contents.len()));
        Symbol::Const(start)
    }
}

/// Reads `.reg` up to its semicolon and declares its registers.
pub fn registers(tokens: &mut Tokens, names: &mut Names) -> Result<(), Reason> {
    let ty = declared_type(tokens)?;
    if ty != Type::Pred && ty.bytes() == 1 {
        return Err("registers have at least 16 bits".to_owned());
    }
    loop {
        let name = tokens.word("the name of a register")?;
        if tokens.take('<') {
            let count = tokens.integer("the number of registers")?;
            tokens.expect('>')?;
            for number in 0..count {
                names.declare_register(&format!("{name}{number}"), ty)?;
            }
        } else {
            names.declare_register(&name, ty)?;
        }
        if tokens.take(';') {
            return Ok(());
        }
        tokens.expect(',')?;
    }
}
