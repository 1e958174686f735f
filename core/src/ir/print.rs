//! Prints programs of the core language.
//!
//! ```text
//! main "main"
//! global 0: [int] = @7 "xs"
//!
//! fn "main"() -> int @3:0..9 {
//!   v0: [int] @3:2..3 = global 0
//!   v1: [int] @3:0..7 = each v2: int in v0 {
//!     v3: int @3:4..7 = mul(v2, 2)
//!     v3
//!   }
//!   v4: int @3:0..9 = reduce_sum(v1)
//!   v4
//! }
//! ```
//!
//! A binding is `variable: type site = operation`; a site is `@item:start..end`, in tokens, and
//! may be left out. Functions are called by name. [`parse`](super::parse()) reads it back exactly.

use super::mnemonic::Mnemonic;
use super::{Atom, Block, CostTerm, Function, Op, Program, Role, Site};
use crate::base::{Constants, with_stack};
use nesl_runtime::bug::OrBug;
use std::fmt::{self, Write};

/// Prints a whole program without the sites of its operations, for people.
pub fn print(program: &Program) -> String {
    whole(program, false)
}

/// Prints a whole program with everything that [`parse`](super::parse()) needs to read it back
/// exactly.
pub fn print_with_sites(program: &Program) -> String {
    whole(program, true)
}

/// Prints one function of a program, without sites.
pub fn print_function(function: &Function, program: &Program) -> String {
    let mut out = String::new();
    let mut printer = Printer::new(&mut out, program, false);
    printer.function(function).or_bug("a string can be written to");
    out
}

fn whole(program: &Program, sites: bool) -> String {
    let mut out = String::new();
    write_program(&mut out, program, sites).or_bug("a string can be written to");
    out
}

/// Prints a program as [`print()`] does; also returns the site of each binding and function with
/// the offset of a byte in its line of the text.
pub fn print_located(program: &Program) -> (String, Vec<(usize, Site)>) {
    let (mut out, mut notes) = (String::new(), Vec::new());
    heading(&mut out, program).or_bug("a string can be written to");
    for function in &program.functions {
        out.push('\n');
        let mut printer = Printer::new(&mut out, program, false);
        printer.notes = Some(&mut notes);
        printer.function(function).or_bug("a string can be written to");
    }
    (out, notes)
}

/// Writes a whole program to a string.
pub(crate) fn write_program(out: &mut String, program: &Program, sites: bool) -> fmt::Result {
    heading(out, program)?;
    for function in &program.functions {
        writeln!(out)?;
        Printer::new(out, program, sites).function(function)?;
    }
    Ok(())
}

/// Writes the name of the main function, and the top-level variables that it reads.
fn heading(out: &mut String, program: &Program) -> fmt::Result {
    let main = program.functions.get(program.main.0 as usize);
    writeln!(out, "main {}", Quoted(main.map_or("", |main| &main.name).as_bytes()))?;
    for (id, global) in program.globals.iter().enumerate() {
        let name = Quoted(global.name.as_bytes());
        writeln!(out, "global {id}: {} = @{} {name}", global.ty, global.item.0)?;
    }
    Ok(())
}

/// A printer of the parts of a program; that of flat programs contains one.
pub(crate) struct Printer<'a> {
    pub(crate) out: &'a mut String,
    program: &'a Program,
    sites: bool,
    /// If present, the sites are collected here, with byte offsets in the text, and not printed.
    pub(crate) notes: Option<&'a mut Vec<(usize, Site)>>,
    pub(crate) indent: usize,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(out: &'a mut String, program: &'a Program, sites: bool) -> Printer<'a> {
        Printer { out, program, sites, notes: None, indent: 0 }
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        write!(self.out, "fn {}(", Quoted(function.name.as_bytes()))?;
        for (i, (var, ty)) in function.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.out, "{comma}v{}: {ty}", var.0)?;
        }
        write!(self.out, ") -> {}", function.result)?;
        self.site(function.site)?;
        if function.library {
            write!(self.out, " library")?;
        }
        if let Some(charge) = &function.charge {
            write!(self.out, " charge")?;
            for (i, term) in charge.work.iter().enumerate() {
                let plus = if i == 0 { " " } else { " + " };
                match term {
                    CostTerm::One => write!(self.out, "{plus}1")?,
                    CostTerm::Length(i) => write!(self.out, "{plus}length {i}")?,
                    CostTerm::Size(i) => write!(self.out, "{plus}size {i}")?,
                    CostTerm::LengthLog(i) => write!(self.out, "{plus}length_log {i}")?,
                    CostTerm::SizeLog(i) => write!(self.out, "{plus}size_log {i}")?,
                    CostTerm::SizeOfResult => write!(self.out, "{plus}result")?,
                }
            }
            if charge.scans {
                write!(self.out, " scans")?;
            }
        }
        match function.role {
            Some(Role::GroupByKey) => write!(self.out, " group_by_key")?,
            Some(Role::SelectOne) => write!(self.out, " select_one")?,
            None => {}
        }
        write!(self.out, " ")?;
        self.block(&function.body)?;
        writeln!(self.out)
    }

    pub(crate) fn block(&mut self, block: &Block) -> fmt::Result {
        with_stack(|| {
            writeln!(self.out, "{{")?;
            self.indent += 1;
            for binding in &block.lets {
                self.margin()?;
                write!(self.out, "v{}: {}", binding.var.0, binding.ty)?;
                self.site(binding.site)?;
                write!(self.out, " = ")?;
                self.op(&binding.op)?;
                writeln!(self.out)?;
            }
            self.margin()?;
            writeln!(self.out, "{}", Operand(block.result))?;
            self.indent -= 1;
            self.margin()?;
            write!(self.out, "}}")
        })
    }

    /// Prints the elements of a long literal as columns: `pairs(ints(1, 2), sequences((2, 1), chars("abc")))`.
    fn constants(&mut self, constants: &Constants) -> fmt::Result {
        match constants {
            Constants::Ints(xs) => self.column("ints", xs.iter().map(|x| Operand(Atom::Int(*x)))),
            Constants::Floats(xs) => {
                self.column("floats", xs.iter().map(|x| Operand(Atom::Float(x.get()))))
            }
            Constants::Bools(xs) => {
                self.column("bools", xs.iter().map(|x| Operand(Atom::Bool(*x))))
            }
            Constants::Chars(xs) => write!(self.out, "chars({})", Quoted(xs)),
            Constants::Pairs(pair) => {
                write!(self.out, "pairs(")?;
                self.constants(&pair.0)?;
                write!(self.out, ", ")?;
                self.constants(&pair.1)?;
                write!(self.out, ")")
            }
            Constants::Sequences { lengths, elements } => {
                write!(self.out, "sequences(")?;
                self.column("", lengths.iter())?;
                write!(self.out, ", ")?;
                self.constants(elements)?;
                write!(self.out, ")")
            }
        }
    }

    fn column(
        &mut self,
        name: &str,
        elements: impl Iterator<Item = impl fmt::Display>,
    ) -> fmt::Result {
        write!(self.out, "{name}(")?;
        for (i, element) in elements.enumerate() {
            write!(self.out, "{}{element}", if i == 0 { "" } else { ", " })?;
        }
        write!(self.out, ")")
    }

    pub(crate) fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Copy(a) => self.operation("copy", &[*a]),
            Op::Scalar(op, args) => self.operation(op.mnemonic(), args),
            Op::Pair(a, b) => self.operation("pair", &[*a, *b]),
            Op::First(a) => self.operation("first", &[*a]),
            Op::Second(a) => self.operation("second", &[*a]),
            Op::Text(text) => write!(self.out, "text {}", Quoted(text)),
            Op::Constants(constants) => {
                write!(self.out, "constants ")?;
                self.constants(constants)
            }
            Op::List(args) => self.operation("list", args),
            Op::Seq(op, args) => self.operation(op.mnemonic(), args),
            Op::Call(callee, args) => {
                let name =
                    self.program.functions.get(callee.0 as usize).map_or("", |callee| &callee.name);
                self.operation(&format!("call {}", Quoted(name.as_bytes())), args)
            }
            Op::If { cond, then, otherwise } => {
                write!(self.out, "if {} ", Operand(*cond))?;
                self.block(then)?;
                write!(self.out, " else ")?;
                self.block(otherwise)
            }
            Op::Nest(nest) => {
                write!(self.out, "{}", if nest.serial { "serial" } else { "each" })?;
                for (i, (var, ty, over)) in nest.binders.iter().enumerate() {
                    let comma = if i == 0 { " " } else { ", " };
                    write!(self.out, "{comma}v{}: {ty} in {}", var.0, Operand(*over))?;
                }
                write!(self.out, " ")?;
                self.block(&nest.body)
            }
            Op::Global(id) => write!(self.out, "global {}", id.0),
            Op::Check { cond, code, message } => write!(
                self.out,
                "check({}, {}, {})",
                Operand(*cond),
                code.mnemonic(),
                Quoted(message.as_bytes())
            ),
            Op::Error(text) => self.operation("error", &[*text]),
            Op::Host(op, args) => self.operation(&format!("host {}", op.mnemonic()), args),
            Op::Time(block) => {
                write!(self.out, "time ")?;
                self.block(block)
            }
        }
    }

    pub(crate) fn operation(&mut self, name: &str, args: &[Atom]) -> fmt::Result {
        write!(self.out, "{name}(")?;
        for (i, arg) in args.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.out, "{comma}{}", Operand(*arg))?;
        }
        write!(self.out, ")")
    }

    pub(crate) fn site(&mut self, site: Site) -> fmt::Result {
        if let Some(notes) = &mut self.notes {
            notes.push((self.out.len(), site));
        }
        if !self.sites {
            return Ok(());
        }
        let Site { item, span } = site;
        write!(self.out, " @{}:{}..{}", item.0, span.start, span.end)
    }

    pub(crate) fn margin(&mut self) -> fmt::Result {
        // The indentation is limited, or the text would grow with the square of the depth.
        write!(self.out, "{:1$}", "", 2 * self.indent.min(50))
    }
}

/// An operand as it is printed. A float has a decimal point, an exponent or a name (`inf`).
pub(crate) struct Operand(pub(crate) Atom);

impl fmt::Display for Operand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Atom::Var(var) => write!(out, "v{}", var.0),
            Atom::Unit => write!(out, "unit"),
            Atom::Int(x) => write!(out, "{x}"),
            Atom::Float(x) if x.is_nan() => write!(out, "nan"),
            Atom::Float(x) => write!(out, "{x:?}"),
            Atom::Bool(x) => write!(out, "{x}"),
            Atom::Char(b'"') => write!(out, "'\"'"),
            Atom::Char(x) => write!(out, "'{}'", x.escape_ascii()),
        }
    }
}

/// A string as it is printed: in quotes, with all but printable ASCII escaped.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"")?;
        for byte in self.0 {
            match byte {
                b'\'' => write!(out, "'")?,
                byte => write!(out, "{}", byte.escape_ascii())?,
            }
        }
        write!(out, "\"")
    }
}
