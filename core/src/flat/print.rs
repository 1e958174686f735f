//! The text form of flat programs.
//!
//! ```text
//! fn "main"(v0: [[int]]) -> [int] {
//!   c1 = each v0 for c0
//!   v1: [int] in c1 = element(v0)
//!   c2 = each v1 for c1
//!   v2: int in c2 = element(v1)
//!   v3: int in c1 = reduce_sum v2 from c2
//!   v4: [int] in c0 = collect v3 from c1
//!   v4
//! }
//! ```
//!
//! What a point does by itself is written as in the core language ([`crate::ir::print()`]).

use super::{Block, Ctx, Function, Kernel, Let, Op, Program, Space, Step};
use crate::base::with_stack;
use crate::ir::mnemonic::Mnemonic;
use crate::ir::print::{Operand, Printer as Inner, Quoted};
use crate::prim::SeqOp;
use std::fmt::{self, Display, Write};

/// A whole program: the flat functions, in order.
pub fn print(program: &Program) -> String {
    let functions = program.functions.iter().flatten();
    let texts: Vec<String> = functions.map(|f| print_function(f, program)).collect();
    texts.join("\n")
}

/// One function.
pub fn print_function(function: &Function, program: &Program) -> String {
    let mut out = String::new();
    let inner = Inner::new(&mut out, &program.source, false);
    let mut printer = Printer { inner, function, program };
    printer.function().expect("writing to a string");
    out
}

struct Printer<'a> {
    inner: Inner<'a>,
    function: &'a Function,
    program: &'a Program,
}

impl Printer<'_> {
    fn function(&mut self) -> fmt::Result {
        let function = self.function;
        write!(self.inner.out, "fn {}(", Quoted(function.name.as_bytes()))?;
        for (i, (var, ty)) in function.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.inner.out, "{comma}v{}: {ty}", var.0)?;
        }
        write!(self.inner.out, ") -> {} ", function.result)?;
        self.block(&function.body)?;
        writeln!(self.inner.out)
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        with_stack(|| {
            writeln!(self.inner.out, "{{")?;
            self.inner.indent += 1;
            for step in &block.steps {
                match step {
                    Step::Context(ctx) => self.context(*ctx)?,
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

    fn context(&mut self, ctx: Ctx) -> fmt::Result {
        self.inner.margin()?;
        let context = self.function.contexts.get(ctx.0 as usize);
        match context.map(|context| &context.space) {
            None | Some(Space::Caller) => writeln!(self.inner.out, "{ctx} = caller"),
            Some(Space::Elements { of, sequence }) => {
                writeln!(self.inner.out, "{ctx} = each v{} for {of}", sequence.0)
            }
            Some(Space::Count { of, count }) => {
                writeln!(self.inner.out, "{ctx} = count {} for {of}", Operand(*count))
            }
            Some(Space::Where { of, flag, is }) => {
                let not = if *is { "" } else { "not " };
                writeln!(self.inner.out, "{ctx} = where {not}v{} in {of}", flag.0)
            }
            Some(Space::Joined { of, inner }) => {
                writeln!(self.inner.out, "{ctx} = join {inner} for {of}")
            }
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        self.inner.margin()?;
        write!(self.inner.out, "kernel {} over {}", kernel.id, kernel.over)?;
        for (i, ctx) in kernel.masks.iter().enumerate() {
            write!(self.inner.out, "{}{ctx}", if i == 0 { " masks " } else { ", " })?;
        }
        let stores = kernel.stores.iter().map(|(var, ctx)| {
            let home = kernel.lets.iter().find(|binding| binding.var == *var);
            match home {
                Some(binding) if binding.ctx != *ctx => format!("v{} in {ctx}", var.0),
                _ => format!("v{}", var.0),
            }
        });
        let counts = kernel.counts.iter().map(|ctx| match kernel.places.contains(ctx) {
            true => ctx.to_string(),
            false => format!("count of {ctx}"),
        });
        for (i, what) in stores.chain(counts).enumerate() {
            write!(self.inner.out, "{}{what}", if i == 0 { " stores " } else { ", " })?;
        }
        writeln!(self.inner.out, " {{")?;
        self.inner.indent += 1;
        for ctx in &kernel.masks {
            self.context(*ctx)?;
        }
        for binding in &kernel.lets {
            self.binding(binding)?;
        }
        self.close()?;
        writeln!(self.inner.out)
    }

    fn binding(&mut self, binding: &Let) -> fmt::Result {
        self.inner.margin()?;
        write!(self.inner.out, "v{}: {} in {} = ", binding.var.0, binding.ty, binding.ctx)?;
        self.op(&binding.op)?;
        writeln!(self.inner.out)
    }

    fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Point(op) => self.inner.op(op),
            Op::Element { of, checked } => {
                write!(self.inner.out, "element(v{})", of.0)?;
                match checked {
                    Some(check) => write!(self.inner.out, " after v{}", check.0),
                    None => Ok(()),
                }
            }
            Op::Position => write!(self.inner.out, "position"),
            Op::Gather(from, place) => self.inner.operation("gather", &[*from, *place]),
            Op::Extent(op, args) => {
                self.inner.operation(&format!("extent {}", op.mnemonic()), args)
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
            Op::Scan { with, value } => {
                write!(self.inner.out, "{} {}", SeqOp::Scan(*with).mnemonic(), Operand(*value))
            }
            Op::Branch { cond, then, otherwise } => {
                for ((ctx, block), word) in [(then, "if"), (otherwise, " else")] {
                    let not = if word == "if" { "" } else { "not " };
                    write!(self.inner.out, "{word} {ctx} where {not}v{} ", cond.0)?;
                    self.block(block)?;
                }
                Ok(())
            }
            Op::Call(callee, args) => {
                let callee = self.program.source.functions.get(callee.0 as usize);
                let name = Quoted(callee.map_or("", |callee| &callee.name).as_bytes()).to_string();
                self.inner.operation(&format!("call {name}"), args)
            }
            Op::Whole(block) => {
                write!(self.inner.out, "whole ")?;
                self.inner.block(block)
            }
            Op::Either { whole, flat } => {
                write!(self.inner.out, "either ")?;
                self.block(whole)?;
                write!(self.inner.out, " or ")?;
                self.block(flat)
            }
        }
    }
}

impl Display for Ctx {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "c{}", self.0)
    }
}
