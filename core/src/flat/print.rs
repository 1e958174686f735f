//! Prints flat programs.
//!
//! ```text
//! flattened "main"(v0: [[int]]) -> [int] {
//!   s1 = elements v0 of s0
//!   v1: [int] in s1 = element(v0)
//!   s2 = elements v1 of s1
//!   v2: int in s2 = element(v1)
//!   v3: int in s1 = reduce_sum v2 from s2
//!   v4: [int] in s0 = collect v3 from s1
//!   v4
//! }
//! ```
//!
//! An index space is printed at the step that makes it: the filter of a branch before the branch
//! (`v3: int in s1 = if v2 in s2 { … } else in s3 { … }`), a mask at the beginning of its kernel:
//!
//! ```text
//! kernel 0 over s1 stores v5, v2 in s2 counts s2 indices s2 {
//!   s2 = filter v3 of s1
//!   …
//! }
//! ```
//!
//! stores `v5` for all elements of its index space, `v2` for those of the mask `s2`, the number of
//! these and their indices. An operation that each element executes for itself is written
//! as in the core language ([`crate::ir::print()`]). With sites, the program that it was made from
//! comes first, and each function begins with the index spaces that no step makes
//! (`unused s3 = elements v1 of s0`); [`parse`](super::parse()) reads it back exactly.

use super::{
    Block, Count, Factor, Function, Kernel, Let, MatrixOperation, MatrixRows, Op, Program, SpaceId,
    SpaceKind, Step,
};
use crate::base::with_stack;
use crate::ir::mnemonic::Mnemonic;
use crate::ir::print::{Operand, Printer as Inner, Quoted, write_program};
use crate::ir::{FunId, Site, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashSet;
use std::fmt::{self, Display, Write};

/// Prints the flattened functions of a program in order, without sites.
pub fn print(program: &Program) -> String {
    let functions = program.functions.iter().flatten();
    let texts: Vec<String> = functions.map(|f| print_function(f, program)).collect();
    texts.join("\n")
}

/// Prints a whole program with everything that [`parse`](super::parse()) needs to read it back
/// exactly.
pub fn print_with_sites(program: &Program) -> String {
    let mut out = String::new();
    write_program(&mut out, &program.source, true).or_bug("a string can be written to");
    for function in program.functions.iter().flatten() {
        out.push('\n');
        write_function(&mut out, function, program, true).or_bug("a string can be written to");
    }
    out
}

/// Prints a program as [`print()`] does; also returns the site of each step and function with the
/// offset of a byte in its line of the text.
pub fn print_located(program: &Program) -> (String, Vec<(usize, Site)>) {
    let (mut out, mut notes) = (String::new(), Vec::new());
    for (i, function) in program.functions.iter().flatten().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let mut inner = Inner::new(&mut out, &program.source, false);
        inner.notes = Some(&mut notes);
        Printer { inner, function, program }.function(false).or_bug("a string can be written to");
    }
    (out, notes)
}

/// Prints one function of a program, without sites.
pub fn print_function(function: &Function, program: &Program) -> String {
    let mut out = String::new();
    write_function(&mut out, function, program, false).or_bug("a string can be written to");
    out
}

fn write_function(
    out: &mut String,
    function: &Function,
    program: &Program,
    sites: bool,
) -> fmt::Result {
    let inner = Inner::new(out, &program.source, sites);
    Printer { inner, function, program }.function(sites)
}

struct Printer<'a> {
    inner: Inner<'a>,
    function: &'a Function,
    program: &'a Program,
}

impl Printer<'_> {
    fn function(&mut self, sites: bool) -> fmt::Result {
        let function = self.function;
        write!(self.inner.out, "flattened {}(", Quoted(function.name.as_bytes()))?;
        for (i, (var, ty)) in function.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.inner.out, "{comma}v{}: {ty}", var.0)?;
        }
        write!(self.inner.out, ") -> {}", function.result)?;
        self.inner.site(self.site(SpaceId::CALLER))?;
        write!(self.inner.out, "{}", if function.library { " library" } else { "" })?;
        if let Some(FunId(at)) = function.in_one_thread {
            let name = &self.program.source.functions[at as usize].name;
            write!(self.inner.out, " in_one_thread {}", Quoted(name.as_bytes()))?;
        }
        write!(self.inner.out, " ")?;
        if sites {
            self.unused()?;
        }
        self.block(&function.body)?;
        writeln!(self.inner.out)
    }

    /// Writes the index spaces that no step makes.
    fn unused(&mut self) -> fmt::Result {
        let mut used = FxHashSet::from_iter([SpaceId::CALLER]);
        self.function.body.each_space(&mut |space| {
            used.insert(space);
        });
        for space in (0..self.function.spaces.len() as u32).map(SpaceId) {
            if !used.contains(&space) {
                write!(self.inner.out, "unused ")?;
                self.space(space)?;
                write!(self.inner.out, " ")?;
            }
        }
        Ok(())
    }

    fn site(&self, space: SpaceId) -> Site {
        let index_space = self.function.spaces.get(space.0 as usize);
        index_space.map_or(Site::NONE, |index_space| index_space.site)
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        with_stack(|| {
            writeln!(self.inner.out, "{{")?;
            self.inner.indent += 1;
            for step in &block.steps {
                match step {
                    Step::Space(space) => self.index_space(*space)?,
                    Step::Let(binding) => self.binding(binding)?,
                    Step::Kernel(kernel) => self.kernel(kernel)?,
                }
            }
            self.inner.margin()?;
            writeln!(self.inner.out, "{}", Operand(block.result))?;
            self.close()
        })
    }

    fn close(&mut self) -> fmt::Result {
        self.inner.indent -= 1;
        self.inner.margin()?;
        write!(self.inner.out, "}}")
    }

    fn index_space(&mut self, space: SpaceId) -> fmt::Result {
        self.inner.margin()?;
        self.space(space)?;
        writeln!(self.inner.out)
    }

    fn space(&mut self, space: SpaceId) -> fmt::Result {
        write!(self.inner.out, "{space}")?;
        self.inner.site(self.site(space))?;
        write!(self.inner.out, " = ")?;
        let index_space = self.function.spaces.get(space.0 as usize);
        match index_space.map(|index_space| &index_space.kind) {
            None | Some(SpaceKind::Caller) => write!(self.inner.out, "caller"),
            Some(SpaceKind::Elements { of, sequence }) => {
                write!(self.inner.out, "elements v{} of {of}", sequence.0)
            }
            Some(SpaceKind::Count { of, count }) => {
                write!(self.inner.out, "count {} of {of}", Operand(*count))
            }
            Some(SpaceKind::Filter { of, flag, is }) => {
                let not = if *is { "" } else { "not " };
                write!(self.inner.out, "filter {not}v{} of {of}", flag.0)
            }
            Some(SpaceKind::Concat { of, inner }) => {
                write!(self.inner.out, "concat {inner} of {of}")
            }
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        self.inner.margin()?;
        write!(self.inner.out, "kernel {} over {}", kernel.id, kernel.space)?;
        for (i, (var, space)) in kernel.stores.iter().enumerate() {
            write!(self.inner.out, "{}v{}", if i == 0 { " stores " } else { ", " }, var.0)?;
            if kernel.home(*var) != Some(*space) {
                write!(self.inner.out, " in {space}")?;
            }
        }
        for (list, word) in [(&kernel.counts, " counts "), (&kernel.filter_indices, " indices ")] {
            for (i, space) in list.iter().enumerate() {
                write!(self.inner.out, "{}{space}", if i == 0 { word } else { ", " })?;
            }
        }
        writeln!(self.inner.out, " {{")?;
        self.inner.indent += 1;
        for space in &kernel.masks {
            self.index_space(*space)?;
        }
        for binding in &kernel.lets {
            self.binding(binding)?;
        }
        self.close()?;
        writeln!(self.inner.out)
    }

    fn binding(&mut self, binding: &Let) -> fmt::Result {
        self.inner.margin()?;
        write!(self.inner.out, "v{}: {} in {}", binding.var.0, binding.ty, binding.space)?;
        self.inner.site(binding.site)?;
        write!(self.inner.out, " = ")?;
        self.op(&binding.op)?;
        writeln!(self.inner.out)
    }

    fn after(&mut self, checked: Option<Var>) -> fmt::Result {
        match checked {
            Some(check) => write!(self.inner.out, " after v{}", check.0),
            None => Ok(()),
        }
    }

    fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Map(op) => self.inner.op(op),
            Op::Element { of, checked } => {
                write!(self.inner.out, "element(v{})", of.0)?;
                self.after(*checked)
            }
            Op::Position { checked } => {
                write!(self.inner.out, "position")?;
                self.after(*checked)
            }
            Op::Gather(from, index) => self.inner.operation("element_at", &[*from, *index]),
            Op::Extent { op, args, needed_for } => {
                self.inner.operation(&format!("extent {}", op.mnemonic()), args)?;
                match needed_for[..] {
                    [] => Ok(()),
                    _ => self.inner.operation(" needed for", needed_for),
                }
            }
            Op::SameLength(a, b, code) => {
                write!(self.inner.out, "same_length(v{}, v{}, {})", a.0, b.0, code.mnemonic())
            }
            Op::Collect { value, from } => {
                write!(self.inner.out, "collect {} from {from}", Operand(*value))
            }
            Op::Reduce { with, value, from } => {
                let name = SeqOp::Reduce(*with).mnemonic();
                write!(self.inner.out, "{name} {} from {from}", Operand(*value))
            }
            Op::Histogram { with, size, index, value, from } => {
                let name = SeqOp::Histogram(*with).mnemonic();
                let [size, index, value] = [size, index, value].map(|atom| Operand(*atom));
                write!(self.inner.out, "{name} {value} to {index} of {size} from {from}")
            }
            Op::Scatter { of, index, value, from } => {
                let [index, value] = [index, value].map(|atom| Operand(*atom));
                let name = SeqOp::Scatter.mnemonic();
                write!(self.inner.out, "{name} {value} to {index} of v{} from {from}", of.0)
            }
            Op::Scan { with, value } => {
                write!(self.inner.out, "{} {}", SeqOp::Scan(*with).mnemonic(), Operand(*value))
            }
            Op::Branch { cond, then, otherwise } => {
                write!(self.inner.out, "if v{}", cond.0)?;
                for ((space, block), word) in [(then, ""), (otherwise, " else")] {
                    write!(self.inner.out, "{word} in {space}")?;
                    self.inner.site(self.site(*space))?;
                    write!(self.inner.out, " ")?;
                    self.block(block)?;
                }
                Ok(())
            }
            Op::Call(callee, args) => {
                let callee = self.program.source.functions.get(callee.0 as usize);
                let name = Quoted(callee.map_or("", |callee| &callee.name).as_bytes()).to_string();
                self.inner.operation(&format!("call flattened {name}"), args)
            }
            Op::Sequential(block) => {
                write!(self.inner.out, "sequential ")?;
                self.inner.block(block)
            }
            Op::Versions { sequential, flattened, matrix } => {
                write!(self.inner.out, "versions ")?;
                self.block(sequential)?;
                write!(self.inner.out, " or ")?;
                self.block(flattened)?;
                matrix.as_deref().map_or(Ok(()), |matrix| self.matrix(matrix))
            }
        }
    }
}

impl Printer<'_> {
    fn matrix(&mut self, matrix: &MatrixRows) -> fmt::Result {
        let MatrixRows { operation, columns, conditions } = matrix;
        match operation {
            MatrixOperation::Product { left, right, depth } => {
                write!(self.inner.out, " product {left} by {right} depth {depth}")?;
            }
            MatrixOperation::Transpose(of) => write!(self.inner.out, " transpose v{}", of.0)?,
        }
        write!(self.inner.out, " columns {columns} {{")?;
        self.inner.indent += 1;
        for condition in conditions {
            writeln!(self.inner.out)?;
            self.inner.margin()?;
            write!(self.inner.out, "{}", condition.mnemonic())?;
            for (at, count) in condition.counts().enumerate() {
                write!(self.inner.out, "{} {count}", if at == 0 { "" } else { "," })?;
            }
        }
        if !conditions.is_empty() {
            writeln!(self.inner.out)?;
        }
        self.close()
    }
}

impl Display for Factor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}v{}", if self.turned { "turned " } else { "" }, self.matrix.0)
    }
}

impl Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Rows => write!(out, "rows"),
            Count::Int(atom) => write!(out, "{}", Operand(*atom)),
            Count::Length(var) => write!(out, "length v{}", var.0),
            Count::RowLength(var) => write!(out, "row_length v{}", var.0),
        }
    }
}

impl Display for SpaceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "s{}", self.0)
    }
}
