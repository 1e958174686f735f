//! Reads the text form of flat programs ([`print_with_sites`](super::print_with_sites())).
//!
//! Tests use it, and people who write flat programs by hand. The parser of the core language reads
//! the operations that each element executes for itself.

use super::{
    Block, Condition, Count, Factor, Function, IndexSpace, Kernel, Let, MatrixOperation,
    MatrixRows, Op, Program, SpaceId, SpaceKind, Step,
};
use crate::base::with_stack;
use crate::ir::parse::{Parsed, Parser as Inner, Token, parse_with};
use crate::ir::{Atom, Site, Var};
use crate::prim::SeqOp;

/// Parses a program, without checking it ([`verify`](super::verify())).
///
/// # Errors
/// A message that begins with the number of the line.
pub fn parse(text: &str) -> Result<Program, String> {
    parse_with(text, |inner| {
        let source = inner.program()?;
        let mut functions = vec![None; source.functions.len()];
        while inner.eat(&Token::Word("flattened")) {
            let callee = inner.function_name()?;
            let name = source.functions[callee.0 as usize].name.clone();
            let mut parser = Parser { inner: &mut *inner, spaces: Vec::new() };
            let function = parser.function(name)?;
            if functions[callee.0 as usize].replace(function).is_some() {
                let name = &source.functions[callee.0 as usize].name;
                return Err(format!("{name:?} has a flattened form already"));
            }
        }
        Ok(Program { source, functions })
    })
}

struct Parser<'p, 't> {
    inner: &'p mut Inner<'t>,
    /// The index spaces made so far, by number.
    spaces: Vec<Option<IndexSpace>>,
}

impl<'t> Parser<'_, 't> {
    fn function(&mut self, name: smol_str::SmolStr) -> Parsed<Function> {
        let (params, result) = self.inner.signature()?;
        let site = self.inner.site()?;
        self.declare(SpaceId::CALLER, SpaceKind::Caller, site)?;
        let library = self.inner.eat(&Token::Word("library"));
        let in_one_thread = match self.inner.eat(&Token::Word("in_one_thread")) {
            true => Some(self.inner.function_name()?),
            false => None,
        };
        while self.inner.eat(&Token::Word("unused")) {
            self.new_space()?;
        }
        let body = self.block()?;
        let spaces = std::mem::take(&mut self.spaces).into_iter().enumerate();
        let spaces: Parsed<Vec<IndexSpace>> = spaces
            .map(|(at, c)| c.ok_or_else(|| format!("there is no index space s{at}")))
            .collect();
        Ok(Function { name, params, result, spaces: spaces?, body, library, in_one_thread })
    }

    fn declare(&mut self, space: SpaceId, kind: SpaceKind, site: Site) -> Parsed<()> {
        let at = space.0 as usize;
        // Index spaces are numbered without gaps; this is more than any text has.
        if at > 1 << 24 {
            return Err(format!("{space} is out of range"));
        }
        if self.spaces.len() <= at {
            self.spaces.resize(at + 1, None);
        }
        match self.spaces[at].replace(IndexSpace { kind, site }) {
            None => Ok(()),
            Some(_) => Err(format!("{space} is made twice")),
        }
    }

    fn block(&mut self) -> Parsed<Block> {
        with_stack(|| {
            self.inner.punct('{')?;
            let mut steps = Vec::new();
            loop {
                if self.at_new_space() {
                    steps.push(Step::Space(self.new_space()?));
                } else if self.inner.eat(&Token::Word("kernel")) {
                    steps.push(Step::Kernel(self.kernel()?));
                } else if self.inner.peek_at(1) == Some(&Token::Punct(':')) {
                    steps.push(Step::Let(self.binding()?));
                } else {
                    break;
                }
            }
            let result = self.inner.atom()?;
            self.inner.punct('}')?;
            Ok(Block { steps, result })
        })
    }

    /// Returns true if the next token begins a step that makes an index space.
    fn at_new_space(&self) -> bool {
        matches!(self.inner.peek(), Some(Token::Word(word)) if numbered(word, 's').is_some())
    }

    fn new_space(&mut self) -> Parsed<SpaceId> {
        let space = self.space_id()?;
        let site = self.inner.site()?;
        self.inner.punct('=')?;
        let kind = match self.inner.advance()? {
            Token::Word("caller") => SpaceKind::Caller,
            Token::Word("elements") => {
                let sequence = self.variable()?;
                self.inner.word("of")?;
                SpaceKind::Elements { of: self.space_id()?, sequence }
            }
            Token::Word("count") => {
                let count = self.inner.atom()?;
                self.inner.word("of")?;
                SpaceKind::Count { of: self.space_id()?, count }
            }
            Token::Word("filter") => {
                let is = !self.inner.eat(&Token::Word("not"));
                let flag = self.variable()?;
                self.inner.word("of")?;
                SpaceKind::Filter { of: self.space_id()?, flag, is }
            }
            Token::Word("concat") => {
                let inner = self.space_id()?;
                self.inner.word("of")?;
                SpaceKind::Concat { of: self.space_id()?, inner }
            }
            other => return Err(format!("{other} does not begin an index space")),
        };
        self.declare(space, kind, site)?;
        Ok(space)
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        let id = self.inner.number()?;
        self.inner.word("over")?;
        let space = self.space_id()?;
        // The index space that a value is stored for is left out if it is the value's own.
        let mut stores: Vec<(Var, Option<SpaceId>)> = Vec::new();
        if self.inner.eat(&Token::Word("stores")) {
            loop {
                let var = self.variable()?;
                let elsewhere = self.inner.eat(&Token::Word("in"));
                stores.push((var, if elsewhere { Some(self.space_id()?) } else { None }));
                if !self.inner.eat(&Token::Punct(',')) {
                    break;
                }
            }
        }
        let counts = self.space_ids("counts")?;
        let filter_indices = self.space_ids("indices")?;
        self.inner.punct('{')?;
        let (mut masks, mut lets) = (Vec::new(), Vec::new());
        while !self.inner.eat(&Token::Punct('}')) {
            if self.at_new_space() {
                masks.push(self.new_space()?);
            } else {
                lets.push(self.binding()?);
            }
        }
        let mut kernel =
            Kernel { id, space, lets, masks, stores: Vec::new(), counts, filter_indices };
        for (var, space) in stores {
            let space = space.or_else(|| kernel.home(var));
            let space = space.ok_or_else(|| format!("kernel {id} does not compute v{}", var.0))?;
            kernel.stores.push((var, space));
        }
        Ok(kernel)
    }

    fn binding(&mut self) -> Parsed<Let> {
        let (var, ty) = self.inner.typed()?;
        self.inner.word("in")?;
        let space = self.space_id()?;
        let site = self.inner.site()?;
        self.inner.punct('=')?;
        let op = self.op(space)?;
        Ok(Let { var, ty, space, op, site })
    }

    fn matrix_operation(&mut self) -> Parsed<Option<MatrixOperation>> {
        if self.inner.eat(&Token::Word("transpose")) {
            return self.variable().map(MatrixOperation::Transpose).map(Some);
        }
        if !self.inner.eat(&Token::Word("product")) {
            return Ok(None);
        }
        let left = self.factor()?;
        self.inner.word("by")?;
        let right = self.factor()?;
        self.inner.word("depth")?;
        Ok(Some(MatrixOperation::Product { left, right, depth: self.count()? }))
    }

    fn matrix(&mut self, operation: MatrixOperation) -> Parsed<MatrixRows> {
        self.inner.word("columns")?;
        let columns = self.count()?;
        self.inner.punct('{')?;
        let mut conditions = Vec::new();
        while !self.inner.eat(&Token::Punct('}')) {
            if self.inner.eat(&Token::Word("positive")) {
                conditions.push(Condition::Positive(self.count()?));
                continue;
            }
            let is_equal = self.inner.eat(&Token::Word("equal"));
            if !is_equal {
                self.inner.word("at_most")?;
            }
            let first = self.count()?;
            self.inner.punct(',')?;
            let second = self.count()?;
            let condition = if is_equal { Condition::Equal } else { Condition::AtMost };
            conditions.push(condition(first, second));
        }
        Ok(MatrixRows { operation, columns, conditions })
    }

    fn factor(&mut self) -> Parsed<Factor> {
        let turned = self.inner.eat(&Token::Word("turned"));
        Ok(Factor { matrix: self.variable()?, turned })
    }

    fn count(&mut self) -> Parsed<Count> {
        if self.inner.eat(&Token::Word("rows")) {
            Ok(Count::Rows)
        } else if self.inner.eat(&Token::Word("length")) {
            self.variable().map(Count::Length)
        } else if self.inner.eat(&Token::Word("row_length")) {
            self.variable().map(Count::RowLength)
        } else {
            self.inner.atom().map(Count::Int)
        }
    }

    fn op(&mut self, space: SpaceId) -> Parsed<Op> {
        let operand_follows = !matches!(self.inner.peek_at(1), Some(Token::Punct(_)));
        let Some(Token::Word(word)) = self.inner.peek().cloned() else {
            return self.inner.op().map(Op::Map);
        };
        match word {
            "element" => {
                self.inner.advance()?;
                self.inner.punct('(')?;
                let of = self.variable()?;
                self.inner.punct(')')?;
                Ok(Op::Element { of, checked: self.after()? })
            }
            "position" => {
                self.inner.advance()?;
                Ok(Op::Position { checked: self.after()? })
            }
            "element_at" => {
                self.inner.advance()?;
                match self.inner.atoms()?[..] {
                    [from, index] => Ok(Op::Gather(from, index)),
                    _ => Err("a gather takes a sequence and an index".to_string()),
                }
            }
            "extent" => {
                self.inner.advance()?;
                let op: SeqOp = self.inner.mnemonic()?;
                let args = self.inner.atoms()?;
                let needed_for = match self.inner.eat(&Token::Word("needed")) {
                    true => {
                        self.inner.word("for")?;
                        self.inner.atoms()?
                    }
                    false => Vec::new(),
                };
                Ok(Op::Extent { op, args, needed_for })
            }
            "same_length" => {
                self.inner.advance()?;
                self.inner.punct('(')?;
                let a = self.variable()?;
                self.inner.punct(',')?;
                let b = self.variable()?;
                self.inner.punct(',')?;
                let code = self.inner.mnemonic()?;
                self.inner.punct(')')?;
                Ok(Op::SameLength(a, b, code))
            }
            "collect" => {
                self.inner.advance()?;
                let (value, from) = self.segments()?;
                Ok(Op::Collect { value, from })
            }
            "if" if self.inner.peek_at(2) == Some(&Token::Word("in")) => self.branch(space),
            "call" if self.inner.peek_at(1) == Some(&Token::Word("flattened")) => {
                self.inner.advance()?;
                self.inner.advance()?;
                let callee = self.inner.function_name()?;
                Ok(Op::Call(callee, self.inner.atoms()?))
            }
            "sequential" => {
                self.inner.advance()?;
                self.inner.block().map(Op::Sequential)
            }
            "versions" => {
                self.inner.advance()?;
                let sequential = self.block()?;
                self.inner.word("or")?;
                let flattened = self.block()?;
                let operation = self.matrix_operation()?;
                let matrix = operation.map(|operation| self.matrix(operation)).transpose()?;
                Ok(Op::Versions { sequential, flattened, matrix: matrix.map(Box::new) })
            }
            // The core language has operations of these names, too; there an operand follows in
            // parentheses.
            _ if operand_follows
                && ["reduce_", "scan_", "histogram_", "scatter"]
                    .iter()
                    .any(|op| word.starts_with(op)) =>
            {
                match self.inner.mnemonic()? {
                    SeqOp::Reduce(with) => {
                        let (value, from) = self.segments()?;
                        Ok(Op::Reduce { with, value, from })
                    }
                    SeqOp::Histogram(with) => {
                        let value = self.inner.atom()?;
                        self.inner.word("to")?;
                        let index = self.inner.atom()?;
                        self.inner.word("of")?;
                        let size = self.inner.atom()?;
                        self.inner.word("from")?;
                        Ok(Op::Histogram { with, size, index, value, from: self.space_id()? })
                    }
                    SeqOp::Scatter => {
                        let value = self.inner.atom()?;
                        self.inner.word("to")?;
                        let index = self.inner.atom()?;
                        self.inner.word("of")?;
                        let of = self.variable()?;
                        self.inner.word("from")?;
                        Ok(Op::Scatter { of, index, value, from: self.space_id()? })
                    }
                    SeqOp::Scan(with) => Ok(Op::Scan { with, value: self.inner.atom()? }),
                    _ => Err(format!("{word} does not go over segments")),
                }
            }
            _ => self.inner.op().map(Op::Map),
        }
    }

    fn branch(&mut self, of: SpaceId) -> Parsed<Op> {
        self.inner.word("if")?;
        let cond = self.variable()?;
        let then = self.side(SpaceKind::Filter { of, flag: cond, is: true })?;
        self.inner.word("else")?;
        let otherwise = self.side(SpaceKind::Filter { of, flag: cond, is: false })?;
        Ok(Op::Branch { cond, then, otherwise })
    }

    fn side(&mut self, kind: SpaceKind) -> Parsed<(SpaceId, Block)> {
        self.inner.word("in")?;
        let space = self.space_id()?;
        let site = self.inner.site()?;
        self.declare(space, kind, site)?;
        Ok((space, self.block()?))
    }

    /// Parses a value, and the index space whose segments are combined.
    fn segments(&mut self) -> Parsed<(Atom, SpaceId)> {
        let value = self.inner.atom()?;
        self.inner.word("from")?;
        Ok((value, self.space_id()?))
    }

    /// The check that has to be executed before, if one is named.
    fn after(&mut self) -> Parsed<Option<Var>> {
        match self.inner.eat(&Token::Word("after")) {
            true => self.variable().map(Some),
            false => Ok(None),
        }
    }

    fn variable(&mut self) -> Parsed<Var> {
        match self.inner.atom()? {
            Atom::Var(var) => Ok(var),
            other => Err(format!("expected a variable, found {other:?}")),
        }
    }

    /// Parses the index spaces after a word; returns none if the word is missing.
    fn space_ids(&mut self, word: &'static str) -> Parsed<Vec<SpaceId>> {
        let mut spaces = Vec::new();
        if self.inner.eat(&Token::Word(word)) {
            spaces.push(self.space_id()?);
            while self.inner.eat(&Token::Punct(',')) {
                spaces.push(self.space_id()?);
            }
        }
        Ok(spaces)
    }

    fn space_id(&mut self) -> Parsed<SpaceId> {
        match self.inner.advance()? {
            Token::Word(word) => {
                let space = numbered(word, 's').map(SpaceId);
                space.ok_or_else(|| format!("{word} is not an index space"))
            }
            other => Err(format!("expected an index space, found {other}")),
        }
    }
}

/// Returns the number in a word such as `s12`, if the word begins with this letter.
fn numbered(word: &str, letter: char) -> Option<u32> {
    word.strip_prefix(letter)?.parse().ok()
}
