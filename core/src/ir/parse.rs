//! Reads the text form of core language programs ([`print_with_sites`](super::print_with_sites())).
//!
//! Tests use it, and people who write programs of the core language by hand. `%` begins a comment
//! that lasts to the end of the line.

use super::mnemonic::Mnemonic;
use super::{
    Atom, Block, Charge, CostTerm, FunId, Function, Global, GlobalId, Let, Nest, Op, Program, Role,
    Site, Ty, Var,
};
use crate::base::{Constants, FloatBits, ItemId, Span, with_stack};
use crate::prim::{HostOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

mod token;

pub(crate) use token::Token;
use token::tokens;

/// Parses a program, without checking it ([`verify`](super::verify())).
///
/// # Errors
/// A message that begins with the number of the line.
pub fn parse(text: &str) -> Result<Program, String> {
    parse_with(text, Parser::program)
}

/// Parses a whole text by a function; the error begins with the number of the line.
pub(crate) fn parse_with<'t, T>(
    text: &'t str,
    read: impl FnOnce(&mut Parser<'t>) -> Parsed<T>,
) -> Parsed<T> {
    let (tokens, lines) = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, names: FxHashMap::default() };
    parser.collect_names();
    let result = read(&mut parser).and_then(|read| match parser.peek() {
        None => Ok(read),
        Some(more) => Err(format!("nothing more was expected, but there is {more}")),
    });
    result.map_err(|why| match lines.get(parser.at).or(lines.last()) {
        Some(line) => format!("line {line}: {why}"),
        None => why,
    })
}

/// A parser of the parts of a program; that of flat programs contains one.
pub(crate) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// The functions by name, found in advance since calls may come before definitions.
    names: FxHashMap<SmolStr, FunId>,
}

pub(crate) type Parsed<T> = Result<T, String>;

impl<'t> Parser<'t> {
    fn collect_names(&mut self) {
        let mut count = 0;
        for pair in self.tokens.windows(2) {
            if let [Token::Word("fn"), Token::Text(name)] = pair {
                self.names.insert(text(name), FunId(count));
                count += 1;
            }
        }
    }

    pub(crate) fn program(&mut self) -> Parsed<Program> {
        self.word("main")?;
        let main = self.function_name()?;
        let mut globals = Vec::new();
        while self.eat(&Token::Word("global")) {
            self.number::<usize>()?;
            self.punct(':')?;
            let ty = self.ty()?;
            self.punct('=')?;
            self.punct('@')?;
            let item = ItemId(self.number()?);
            let name = self.name()?;
            globals.push(Global { item, name, ty });
        }
        let mut functions = Vec::new();
        while self.peek() == Some(&Token::Word("fn")) {
            functions.push(self.function()?);
        }
        Ok(Program { functions, globals, main })
    }

    fn function(&mut self) -> Parsed<Function> {
        self.word("fn")?;
        let name = self.name()?;
        let (params, result) = self.signature()?;
        let site = self.site()?;
        let library = self.eat(&Token::Word("library"));
        let charge = if self.eat(&Token::Word("charge")) { Some(self.charge()?) } else { None };
        let roles = [("group_by_key", Role::GroupByKey), ("select_one", Role::SelectOne)];
        let mut roles = roles.into_iter();
        let role = roles.find(|(word, _)| self.eat(&Token::Word(word))).map(|(_, role)| role);
        let body = self.block()?;
        Ok(Function { name, params, result, body, site, library, charge, role })
    }

    /// Parses parameters in parentheses, and the type of the result.
    pub(crate) fn signature(&mut self) -> Parsed<(Vec<(Var, Ty)>, Ty)> {
        let mut params = Vec::new();
        self.punct('(')?;
        while !self.eat(&Token::Punct(')')) {
            if !params.is_empty() {
                self.punct(',')?;
            }
            params.push(self.typed()?);
        }
        self.punct('-')?;
        self.punct('>')?;
        Ok((params, self.ty()?))
    }

    fn charge(&mut self) -> Parsed<Charge> {
        let mut work = Vec::new();
        while !matches!(self.peek(), Some(Token::Word("scans") | Token::Punct('{'))) {
            if !work.is_empty() {
                self.punct('+')?;
            }
            work.push(match self.advance()? {
                Token::Number("1") => CostTerm::One,
                Token::Word("length") => CostTerm::Length(self.number()?),
                Token::Word("size") => CostTerm::Size(self.number()?),
                Token::Word("length_log") => CostTerm::LengthLog(self.number()?),
                Token::Word("size_log") => CostTerm::SizeLog(self.number()?),
                Token::Word("result") => CostTerm::SizeOfResult,
                other => return Err(format!("{other} is not a term of a cost")),
            });
        }
        let scans = self.eat(&Token::Word("scans"));
        Ok(Charge { work, scans })
    }

    pub(crate) fn block(&mut self) -> Parsed<Block> {
        with_stack(|| {
            self.punct('{')?;
            let mut lets = Vec::new();
            // A binding begins with a variable and a colon, the result is followed by a brace.
            while self.peek_at(1) == Some(&Token::Punct(':')) {
                let (var, ty) = self.typed()?;
                let site = self.site()?;
                self.punct('=')?;
                let op = self.op()?;
                lets.push(Let { var, ty, op, site });
            }
            let result = self.atom()?;
            self.punct('}')?;
            Ok(Block { lets, result })
        })
    }

    pub(crate) fn op(&mut self) -> Parsed<Op> {
        let Token::Word(word) = self.advance()? else {
            self.at -= 1;
            return Err(format!("expected an operation, found {}", self.here()));
        };
        Ok(match word {
            "copy" => self.one().map(Op::Copy)?,
            "pair" => match self.atoms()?[..] {
                [first, second] => Op::Pair(first, second),
                _ => return Err("a pair is of two".to_string()),
            },
            "first" => self.one().map(Op::First)?,
            "second" => self.one().map(Op::Second)?,
            "error" => self.one().map(Op::Error)?,
            "text" => Op::Text(self.quoted()?.into()),
            "constants" => Op::Constants(self.constants()?.into()),
            "list" => Op::List(self.atoms()?),
            "host" => {
                let op: HostOp = self.mnemonic()?;
                Op::Host(op, self.atoms()?)
            }
            "call" => {
                let callee = self.function_name()?;
                Op::Call(callee, self.atoms()?)
            }
            "if" => {
                let cond = self.atom()?;
                let then = self.block()?;
                self.word("else")?;
                let otherwise = self.block()?;
                Op::If { cond, then, otherwise }
            }
            "each" | "serial" => Op::Nest(self.nest(word == "serial")?),
            "global" => Op::Global(GlobalId(self.number()?)),
            "check" => {
                self.punct('(')?;
                let cond = self.atom()?;
                self.punct(',')?;
                let code: FaultCode = self.mnemonic()?;
                self.punct(',')?;
                let message = self.name()?;
                self.punct(')')?;
                Op::Check { cond, code, message }
            }
            "time" => Op::Time(self.block()?),
            name => {
                if let Some(op) = ScalarOp::from_mnemonic(name) {
                    Op::Scalar(op, self.atoms()?)
                } else if let Some(op) = SeqOp::from_mnemonic(name) {
                    Op::Seq(op, self.atoms()?)
                } else {
                    return Err(format!("there is no operation {name}"));
                }
            }
        })
    }

    /// Parses the elements of a long literal.
    fn constants(&mut self) -> Parsed<Constants> {
        let Token::Word(name) = self.advance()? else {
            self.at -= 1;
            return Err(format!("expected a column of constants, found {}", self.here()));
        };
        if !matches!(name, "chars" | "pairs" | "sequences") {
            let atoms = self.atoms()?;
            return match name {
                "ints" => column(&atoms, int).map(Constants::Ints),
                "floats" => column(&atoms, float).map(Constants::Floats),
                "bools" => column(&atoms, truth).map(Constants::Bools),
                name => return Err(format!("there is no column of {name}")),
            };
        }
        self.punct('(')?;
        let constants = match name {
            "chars" => Constants::Chars(self.quoted()?),
            "pairs" => {
                let first = self.constants()?;
                self.punct(',')?;
                Constants::Pairs(Box::new((first, self.constants()?)))
            }
            _ => {
                let lengths = column(&self.atoms()?, |atom| u32::try_from(int(atom)?).ok())?;
                self.punct(',')?;
                Constants::Sequences { lengths, elements: Box::new(self.constants()?) }
            }
        };
        self.punct(')')?;
        Ok(constants)
    }

    fn nest(&mut self, serial: bool) -> Parsed<Nest> {
        let mut binders = Vec::new();
        while self.peek() != Some(&Token::Punct('{')) {
            if !binders.is_empty() {
                self.punct(',')?;
            }
            let (var, ty) = self.typed()?;
            self.word("in")?;
            binders.push((var, ty, self.atom()?));
        }
        let body = self.block()?;
        Ok(Nest { binders, body, serial })
    }

    /// Parses operands in parentheses.
    pub(crate) fn atoms(&mut self) -> Parsed<Vec<Atom>> {
        let mut atoms = Vec::new();
        self.punct('(')?;
        while !self.eat(&Token::Punct(')')) {
            if !atoms.is_empty() {
                self.punct(',')?;
            }
            atoms.push(self.atom()?);
        }
        Ok(atoms)
    }

    /// Parses one operand in parentheses.
    pub(crate) fn one(&mut self) -> Parsed<Atom> {
        match self.atoms()?[..] {
            [atom] => Ok(atom),
            ref atoms => Err(format!("one operand, not {}", atoms.len())),
        }
    }

    pub(crate) fn atom(&mut self) -> Parsed<Atom> {
        let atom = match self.advance()? {
            Token::Word("unit") => Atom::Unit,
            Token::Word("true") => Atom::Bool(true),
            Token::Word("false") => Atom::Bool(false),
            Token::Word("nan") => Atom::Float(f64::NAN),
            Token::Word("inf") => Atom::Float(f64::INFINITY),
            Token::Word(word) => match variable(word) {
                Some(var) => Atom::Var(var),
                None => return Err(format!("{word} is not an operand")),
            },
            Token::Number("-inf") => Atom::Float(f64::NEG_INFINITY),
            Token::Number(number) if number.contains(['.', 'e']) => {
                Atom::Float(number.parse().map_err(|_| format!("{number}?"))?)
            }
            Token::Number(number) => Atom::Int(number.parse().map_err(|_| format!("{number}?"))?),
            Token::Char(byte) => Atom::Char(byte),
            other => return Err(format!("{other} is not an operand")),
        };
        Ok(atom)
    }

    pub(crate) fn typed(&mut self) -> Parsed<(Var, Ty)> {
        let var = match self.advance()? {
            Token::Word(word) => variable(word),
            _ => None,
        };
        let Some(var) = var else {
            self.at -= 1;
            return Err(format!("expected a variable, found {}", self.here()));
        };
        self.punct(':')?;
        Ok((var, self.ty()?))
    }

    fn ty(&mut self) -> Parsed<Ty> {
        with_stack(|| {
            Ok(match self.advance()? {
                Token::Word("unit") => Ty::Unit,
                Token::Word("int") => Ty::Int,
                Token::Word("float") => Ty::Float,
                Token::Word("bool") => Ty::Bool,
                Token::Word("char") => Ty::Char,
                Token::Punct('[') => {
                    let element = self.ty()?;
                    self.punct(']')?;
                    Ty::sequence(element)
                }
                Token::Punct('(') => {
                    let first = self.ty()?;
                    self.punct(',')?;
                    let second = self.ty()?;
                    self.punct(')')?;
                    Ty::pair(first, second)
                }
                other => return Err(format!("{other} is not a type")),
            })
        })
    }

    pub(crate) fn site(&mut self) -> Parsed<Site> {
        if !self.eat(&Token::Punct('@')) {
            return Ok(Site::NONE);
        }
        let item = ItemId(self.number()?);
        self.punct(':')?;
        let start = self.number()?;
        self.punct('.')?;
        self.punct('.')?;
        let end = self.number()?;
        let span = Span { start, end };
        Ok(Site { item, span })
    }

    pub(crate) fn function_name(&mut self) -> Parsed<FunId> {
        let name = self.name()?;
        let id = self.names.get(&name).copied();
        id.ok_or_else(|| format!("there is no function {name:?}"))
    }

    pub(crate) fn name(&mut self) -> Parsed<SmolStr> {
        Ok(text(&self.quoted()?))
    }

    fn quoted(&mut self) -> Parsed<Vec<u8>> {
        match self.advance()? {
            Token::Text(bytes) => Ok(bytes),
            other => Err(format!("expected a string, found {other}")),
        }
    }

    pub(crate) fn mnemonic<T: Mnemonic>(&mut self) -> Parsed<T> {
        match self.advance()? {
            Token::Word(word) => {
                T::from_mnemonic(word).ok_or_else(|| format!("{word} is not known here"))
            }
            other => Err(format!("expected a name, found {other}")),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        match self.advance()? {
            Token::Number(number) => {
                number.parse().map_err(|_| format!("{number} is out of range"))
            }
            other => Err(format!("expected a number, found {other}")),
        }
    }

    pub(crate) fn word(&mut self, word: &'static str) -> Parsed<()> {
        self.require(Token::Word(word))
    }

    pub(crate) fn punct(&mut self, punct: char) -> Parsed<()> {
        self.require(Token::Punct(punct))
    }

    fn require(&mut self, token: Token<'static>) -> Parsed<()> {
        if self.eat(&token) {
            Ok(())
        } else {
            Err(format!("expected {token}, found {}", self.here()))
        }
    }

    pub(crate) fn eat(&mut self, token: &Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn peek(&self) -> Option<&Token<'t>> {
        self.peek_at(0)
    }

    /// Returns the token that is `ahead` tokens after the next one.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<&Token<'t>> {
        self.tokens.get(self.at + ahead)
    }

    pub(crate) fn here(&self) -> String {
        match self.peek() {
            Some(token) => token.to_string(),
            None => "the end".to_string(),
        }
    }

    pub(crate) fn advance(&mut self) -> Parsed<Token<'t>> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token.ok_or_else(|| "the text ends too early".to_string())
    }
}

/// Returns the variable that a word such as `v12` names.
fn variable(word: &str) -> Option<Var> {
    let digits = word.strip_prefix('v')?;
    digits.parse().ok().map(Var)
}

fn text(bytes: &[u8]) -> SmolStr {
    SmolStr::new(String::from_utf8_lossy(bytes))
}

/// Returns the scalars of a column, all of one type.
fn column<T>(atoms: &[Atom], scalar: impl Fn(Atom) -> Option<T>) -> Parsed<Vec<T>> {
    let scalars = atoms.iter().map(|atom| scalar(*atom)).collect::<Option<_>>();
    scalars.ok_or_else(|| "a column has constants of one type".to_string())
}

fn int(atom: Atom) -> Option<i64> {
    match atom {
        Atom::Int(x) => Some(x),
        _ => None,
    }
}

fn float(atom: Atom) -> Option<FloatBits> {
    match atom {
        Atom::Float(x) => Some(FloatBits(x.to_bits())),
        _ => None,
    }
}

fn truth(atom: Atom) -> Option<bool> {
    match atom {
        Atom::Bool(x) => Some(x),
        _ => None,
    }
}
