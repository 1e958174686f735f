//! The outline of a module: its head, its variables, its kernels.

use super::declare::{self, ModuleData, Variable, VariableSpace};
use super::decode::{self, Head, Pending};
use super::error::{PtxError, Reason};
use super::names::{Names, Symbol};
use super::statement::Statement;
use super::token::{Token, Tokens, describe};
use crate::isa::code::{Instruction, Kernel, Module, Op, Parameter, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// The newest version of PTX whose text is accepted.
const NEWEST_VERSION: f64 = 9.0;

/// The bytes that the parameters of a kernel may have together.
const MAX_PARAMETER_BYTES: usize = 4096;

/// Decodes a module.
///
/// ```
/// let module = nesl_sim::ptx::parse(
///     ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }",
/// )
/// .unwrap();
/// assert_eq!(module.kernels[0].name, "nothing");
/// let error = nesl_sim::ptx::parse(".version 7.0\n.target sm_75\n.entry k() { foo.u32 %r1; }");
/// assert_eq!(error.unwrap_err().line, 3);
/// ```
pub fn parse(text: &str) -> Result<Module, PtxError> {
    let source = Arc::new(Source::new(text));
    let fail =
        |line: u32, message: Reason| PtxError { line, message, text: source.line(line).to_owned() };
    let mut tokens = Tokens::cut(text).map_err(|(line, reason)| fail(line, reason))?;
    let mut reader = Reader { source: source.clone(), ..Reader::default() };
    loop {
        let mut line = tokens.line();
        match reader.item(&mut tokens, &mut line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(reason) => return Err(fail(line, reason)),
        }
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader {
    source: Arc<Source>,
    version: Option<f64>,
    target: Option<u32>,
    data: ModuleData,
    globals: Vec<(String, Symbol)>,
    shared: Vec<Variable>,
    kernels: Vec<Kernel>,
}

impl Reader {
    /// Reads one item of the module; `line` follows for messages. Returns false at the end.
    fn item(&mut self, tokens: &mut Tokens, line: &mut u32) -> Result<bool, Reason> {
        if *tokens.peek() == Token::End {
            return Ok(false);
        }
        if declare::starts(tokens) {
            for variable in declare::variables(tokens)? {
                self.module_variable(variable)?;
            }
            return Ok(true);
        }
        let word = tokens.word("a directive")?;
        match word.as_str() {
            ".version" => {
                let Token::Double(bits) = tokens.next() else {
                    return Err("expected a version such as 7.0".to_owned());
                };
                let version = f64::from_bits(bits);
                if !(6.0..=NEWEST_VERSION).contains(&version) {
                    return Err(format!("versions 6.0 to {NEWEST_VERSION:.1} are supported"));
                }
                self.version = Some(version);
            }
            ".target" => {
                let name = tokens.word("a target")?;
                let number = name.strip_prefix("sm_").and_then(|number| number.parse().ok());
                self.target = Some(number.ok_or_else(|| format!("target `{name}` is unknown"))?);
            }
            ".address_size" => {
                if tokens.integer("64")? != 64 {
                    return Err("only addresses of 64 bits are supported".to_owned());
                }
            }
            ".file" => {
                tokens.integer("the number of a file")?;
                if tokens.next() != Token::Text {
                    return Err("expected the name of a file".to_owned());
                }
            }
            ".visible" | ".weak" if tokens.take_word(".entry") => self.kernel(tokens, line)?,
            ".entry" => self.kernel(tokens, line)?,
            ".func" | ".visible" | ".extern" | ".weak" => {
                return Err("functions are not supported: inline them into the kernel".to_owned());
            }
            other => return Err(format!("`{other}` is not supported at the level of a module")),
        }
        Ok(true)
    }

    fn module_variable(&mut self, variable: Variable) -> Result<(), Reason> {
        match variable.space {
            VariableSpace::Shared => self.shared.push(variable),
            VariableSpace::Local => {
                return Err("local variables are declared in a kernel".to_owned());
            }
            VariableSpace::Global | VariableSpace::Const => {
                let symbol = self.data.keep(&variable);
                self.globals.push((variable.name, symbol));
            }
        }
        Ok(())
    }

    fn kernel(&mut self, tokens: &mut Tokens, line: &mut u32) -> Result<(), Reason> {
        let (Some(target), Some(version)) = (self.target, self.version) else {
            return Err("`.version` and `.target` must come before kernels".to_owned());
        };
        let name = tokens.word("the name of a kernel")?;
        if self.kernels.iter().any(|kernel| kernel.name == name) {
            return Err(format!("kernel `{name}` is defined twice"));
        }
        let mut names = Names::default();
        names.open();
        for (name, symbol) in &self.globals {
            names.declare(name, *symbol)?;
        }
        for variable in &self.shared {
            declare::declare(&mut names, variable)?;
        }
        names.open();
        let (parameters, parameter_bytes) = parameters(tokens, &mut names)?;
        let (max_threads, required_threads) = performance(tokens)?;
        let head = Head { target, version };
        let code = Body { head, names: &mut names, labels: HashMap::new(), pending: Vec::new() }
            .read(tokens, line)?;
        let (registers, predicates) = names.counts();
        let (shared_bytes, local_bytes) = (names.shared_bytes, names.local_bytes);
        let dynamic_shared = names.dynamic_shared;
        let (constants, specials) = names.preloaded();
        self.kernels.push(Kernel {
            name,
            parameters,
            parameter_bytes,
            code,
            registers,
            predicates,
            constants,
            specials,
            shared_bytes,
            dynamic_shared,
            local_bytes,
            max_threads,
            required_threads,
            constants_bank: Arc::default(),
            source: self.source.clone(),
        });
        Ok(())
    }

    fn finish(mut self) -> Module {
        let bank = Arc::new(self.data.constants);
        for kernel in &mut self.kernels {
            kernel.constants_bank = bank.clone();
        }
        Module {
            target: self.target.unwrap_or_default(),
            kernels: self.kernels,
            globals: self.data.globals,
        }
    }
}

/// Reads the parameters in parentheses.
fn parameters(tokens: &mut Tokens, names: &mut Names) -> Result<(Vec<Parameter>, usize), Reason> {
    let mut list = Vec::new();
    let mut used = 0;
    if !tokens.take('(') {
        return Ok((list, used));
    }
    while !tokens.take(')') {
        if !list.is_empty() {
            tokens.expect(',')?;
        }
        if !tokens.take_word(".param") {
            return Err(format!("expected `.param`, found {}", describe(tokens.peek())));
        }
        let mut align = if tokens.take_word(".align") { declare::alignment(tokens)? } else { 1 };
        let ty = declare::declared_type(tokens)?;
        if tokens.take_word(".ptr") {
            while matches!(tokens.peek(), Token::Word(word)
                if matches!(word.as_str(), ".global" | ".shared" | ".const" | ".local"))
            {
                tokens.next();
            }
            if tokens.take_word(".align") {
                declare::alignment(tokens)?;
            }
        }
        let name = tokens.word("the name of a parameter")?;
        let mut bytes = ty.bytes();
        if tokens.take('[') {
            bytes *= tokens.integer("the length of a parameter")? as usize;
            tokens.expect(']')?;
        }
        align = align.max(ty.bytes());
        let offset = Names::place(&mut used, bytes, align);
        names.declare(&name, Symbol::Parameter(offset, bytes))?;
        list.push(Parameter { name, bytes, offset });
    }
    if used > MAX_PARAMETER_BYTES {
        return Err(format!("the parameters have more than {MAX_PARAMETER_BYTES} bytes"));
    }
    Ok((list, used))
}

/// Reads the performance directives: the limits on the threads of a block.
fn performance(tokens: &mut Tokens) -> Result<(Option<u32>, Option<[u32; 3]>), Reason> {
    let (mut most, mut required) = (None, None);
    loop {
        if tokens.take_word(".maxntid") {
            most = Some(extents(tokens)?.iter().product());
        } else if tokens.take_word(".reqntid") {
            let shape = extents(tokens)?;
            required = Some(shape);
            most = Some(shape.iter().product());
        } else if tokens.take_word(".minnctapersm") || tokens.take_word(".maxnreg") {
            tokens.integer("a number")?;
        } else {
            return Ok((most, required));
        }
    }
}

/// Reads one to three extents; those that are missing are 1.
fn extents(tokens: &mut Tokens) -> Result<[u32; 3], Reason> {
    let mut shape = [1; 3];
    for (dimension, extent) in shape.iter_mut().enumerate() {
        if dimension > 0 && !tokens.take(',') {
            break;
        }
        *extent = tokens.integer("the extent of a block")? as u32;
    }
    Ok(shape)
}

/// The body of a kernel while it is read.
struct Body<'a> {
    head: Head,
    names: &'a mut Names,
    labels: HashMap<String, u32>,
    /// Jumps whose label may come later.
    pending: Vec<Pending>,
}

impl Body<'_> {
    fn read(mut self, tokens: &mut Tokens, line: &mut u32) -> Result<Vec<Instruction>, Reason> {
        *line = tokens.line();
        tokens.expect('{')?;
        self.names.open();
        let mut code = Vec::new();
        let mut depth = 1;
        while depth > 0 {
            *line = tokens.line();
            if tokens.take('{') {
                self.names.open();
                depth += 1;
            } else if tokens.take('}') {
                self.names.close();
                depth -= 1;
            } else {
                self.statement(tokens, &mut code)?;
            }
        }
        for jump in &self.pending {
            *line = code[jump.at].line;
            let place = self.labels.get(&jump.label);
            let place = *place.ok_or_else(|| format!("label `{}` is not defined", jump.label))?;
            if let Op::Branch { target, .. } = &mut code[jump.at].op {
                *target = place;
            }
        }
        code.push(Instruction { op: Op::Exit, guard: None, line: tokens.line() });
        Ok(code)
    }

    fn statement(
        &mut self,
        tokens: &mut Tokens,
        code: &mut Vec<Instruction>,
    ) -> Result<(), Reason> {
        if tokens.take(';') {
            return Ok(());
        }
        if *tokens.peek_second() == Token::Mark(':') {
            let label = tokens.word("a label")?;
            tokens.next();
            return match self.labels.insert(label.clone(), code.len() as u32) {
                None => Ok(()),
                Some(_) => Err(format!("label `{label}` is defined twice")),
            };
        }
        if tokens.take_word(".reg") {
            return declare::registers(tokens, self.names);
        }
        if declare::starts(tokens) {
            for variable in declare::variables(tokens)? {
                declare::declare(self.names, &variable)?;
            }
            return Ok(());
        }
        if tokens.take_word(".loc") {
            for _ in 0..3 {
                tokens.integer("a place in a source file")?;
            }
            return Ok(());
        }
        if tokens.take_word(".pragma") {
            tokens.next();
            return tokens.expect(';');
        }
        let statement = Statement::read(tokens)?;
        let instruction =
            decode::decode(statement, self.names, self.head, code.len(), &mut self.pending)?;
        code.push(instruction);
        Ok(())
    }
}
