//! The text form of kir.
//!
//! ```text
//! function "power"(v0: f64, v1: i64) -> f64 {
//!   v2: f64 = const 1.0
//!   v3: f64 = for v4 < v1 carry v5: f64 = v2 {
//!     v6: f64 = mul v5, v0
//!     yield v6
//!   }
//!   yield v3
//! }
//!
//! kernel "powers"(v0: [f64], v1: i64, v2: [f64]) over flat v1 at v3 {
//!   v4: f64 = load v0[v3]
//!   v5: f64 = call "power"(v4, v3)
//!   store v2[v3] = v5
//! }
//! ```
//!
//! An instruction is `results = operation`, each result with its type; the type of `const`, `alloc`, `convert`
//! and `bits` is that of the result. The sinks of a stage follow its code; `then` begins the next stage.
//! [`parse`](super::parse()) reads the text back exactly.

use super::{
    Block, Function, FunctionId, Inst, Kernel, Literal, Module, Op, Scope, Sink, Space, Ty, Value,
    ValueTy,
};
use crate::bug::OrBug;
use crate::stack::with_stack;
use std::fmt::{self, Write};

/// Returns the text of a module.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    write_module(&mut out, module).or_bug("writing to a string");
    out
}

/// Returns the text of an instruction without its nested blocks, for messages: `v3: f64 = for v4 < v1 carry …`.
pub(super) fn print_head(module: &Module, types: &[ValueTy], inst: &Inst) -> String {
    let mut out = String::new();
    let mut printer = Printer::new(&mut out, module, types);
    printer.heads_only = true;
    printer.inst(inst).or_bug("writing to a string");
    out.trim_end().to_string()
}

/// Returns the text of a sink, for messages.
pub(super) fn print_sink(module: &Module, types: &[ValueTy], sink: &Sink) -> String {
    let mut out = String::new();
    Printer::new(&mut out, module, types).sink(sink).or_bug("writing to a string");
    out.trim_end().to_string()
}

fn write_module(out: &mut String, module: &Module) -> fmt::Result {
    let mut first = true;
    let mut blank_line =
        |out: &mut String| if std::mem::take(&mut first) { Ok(()) } else { writeln!(out) };
    for function in &module.functions {
        blank_line(out)?;
        Printer::new(out, module, &function.types).function(function)?;
    }
    for kernel in &module.kernels {
        blank_line(out)?;
        Printer::new(out, module, &kernel.types).kernel(kernel)?;
    }
    Ok(())
}

struct Printer<'a> {
    out: &'a mut String,
    module: &'a Module,
    types: &'a [ValueTy],
    indent: usize,
    /// True if nested blocks are printed as `…`.
    heads_only: bool,
}

impl<'a> Printer<'a> {
    fn new(out: &'a mut String, module: &'a Module, types: &'a [ValueTy]) -> Printer<'a> {
        Printer { out, module, types, indent: 0, heads_only: false }
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        write!(self.out, "function {}(", Quoted(&function.name))?;
        self.typed(&function.params)?;
        write!(self.out, ")")?;
        for (i, ty) in function.results.iter().enumerate() {
            write!(self.out, "{} {ty}", if i == 0 { " ->" } else { "," })?;
        }
        self.block(&function.body)?;
        writeln!(self.out)
    }

    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        write!(self.out, "kernel {}(", Quoted(&kernel.name))?;
        self.typed(&kernel.params)?;
        write!(self.out, ")")?;
        for (i, ty) in kernel.outputs.iter().enumerate() {
            write!(self.out, "{} {ty}", if i == 0 { " makes" } else { "," })?;
        }
        match &kernel.space {
            Space::Flat { count } => write!(self.out, " over flat {count}")?,
            Space::Regular { segments, length } => {
                write!(self.out, " over regular {segments}, {length}")?;
            }
            Space::Segmented { segments, offsets } => {
                write!(self.out, " over segmented {segments}, {offsets}")?;
            }
        }
        write!(self.out, " at {}", List(&kernel.indices))?;
        for (i, stage) in kernel.stages.iter().enumerate() {
            writeln!(self.out, "{}", if i == 0 { " {" } else { "} then {" })?;
            self.indent += 1;
            self.insts(&stage.body)?;
            for sink in &stage.sinks {
                self.indentation()?;
                self.sink(sink)?;
            }
            self.indent -= 1;
        }
        writeln!(self.out, "}}")
    }

    /// Writes ` { … }`.
    fn block(&mut self, block: &Block) -> fmt::Result {
        if self.heads_only {
            return write!(self.out, " …");
        }
        with_stack(|| {
            writeln!(self.out, " {{")?;
            self.indent += 1;
            self.insts(block)?;
            self.indent -= 1;
            self.indentation()?;
            write!(self.out, "}}")
        })
    }

    fn insts(&mut self, block: &Block) -> fmt::Result {
        for inst in &block.insts {
            self.indentation()?;
            self.inst(inst)?;
        }
        if !block.yields.is_empty() {
            self.indentation()?;
            writeln!(self.out, "yield {}", List(&block.yields))?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> fmt::Result {
        self.typed(&inst.results)?;
        if !inst.results.is_empty() {
            write!(self.out, " = ")?;
        }
        self.op(&inst.op)?;
        writeln!(self.out)
    }

    fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Const(literal) => write!(self.out, "const {}", Plain(*literal)),
            Op::Text(text) => write!(self.out, "text {}", Bytes(text)),
            Op::Unary(op, a) => write!(self.out, "{} {a}", op.mnemonic()),
            Op::Binary(op, a, b) => write!(self.out, "{} {a}, {b}", op.mnemonic()),
            Op::Fma(a, b, c) => write!(self.out, "fma {a}, {b}, {c}"),
            Op::Select(cond, a, b) => write!(self.out, "select {cond}, {a}, {b}"),
            Op::Convert(_, a) => write!(self.out, "convert {a}"),
            Op::Bits(_, a) => write!(self.out, "bits {a}"),
            Op::Alloc(_, length) => write!(self.out, "alloc {length}"),
            Op::Load { array, index } => write!(self.out, "load {array}[{index}]"),
            Op::Store { array, index, value } => {
                write!(self.out, "store {array}[{index}] = {value}")
            }
            Op::Slice(array, start) => write!(self.out, "slice {array}[{start}..]"),
            Op::Copy { from, to, count } => write!(self.out, "copy {from} -> {to} count {count}"),
            Op::If { cond, then, otherwise } => {
                write!(self.out, "if {cond}")?;
                self.block(then)?;
                if !otherwise.insts.is_empty() || !otherwise.yields.is_empty() {
                    write!(self.out, " else")?;
                    self.block(otherwise)?;
                }
                Ok(())
            }
            Op::While { init, carried, cond, body } => {
                write!(self.out, "while")?;
                self.carry(carried, init)?;
                self.block(cond)?;
                write!(self.out, " do")?;
                self.block(body)
            }
            Op::For { count, index, init, carried, reduce, body } => {
                write!(self.out, "for {index} < {count}")?;
                self.carry(carried, init)?;
                for (i, combine) in reduce.iter().enumerate() {
                    let lead = if i == 0 { " reduce" } else { "," };
                    write!(self.out, "{lead} {}", combine.mnemonic())?;
                }
                self.block(body)
            }
            Op::Call(callee, args) | Op::Compute(callee, args) => {
                let word = if matches!(op, Op::Call(..)) { "call" } else { "compute" };
                match self.unique_name(*callee) {
                    Some(name) => write!(self.out, "{word} {}({})", Quoted(name), List(args)),
                    None => write!(self.out, "{word} #{}({})", callee.0, List(args)),
                }
            }
            Op::Extern(service, args) => {
                write!(self.out, "extern {}({})", service.mnemonic(), List(args))
            }
            Op::Check { cond, site, detail } => {
                write!(self.out, "check {cond} @{}", site.0)?;
                self.detail(detail)
            }
            Op::Fail { site, text, length, detail } => {
                write!(self.out, "fail @{} text {text}, {length}", site.0)?;
                self.detail(detail)
            }
            Op::Mark => write!(self.out, "mark"),
            Op::Compact { since, keep } => {
                write!(self.out, "compact {since}")?;
                for (i, (array, length)) in keep.iter().enumerate() {
                    let lead = if i == 0 { " keep" } else { "," };
                    write!(self.out, "{lead} {array}[..{length}]")?;
                }
                Ok(())
            }
        }
    }

    fn detail(&mut self, detail: &[Value]) -> fmt::Result {
        for (i, value) in detail.iter().enumerate() {
            write!(self.out, "{} {value}", if i == 0 { " detail" } else { "," })?;
        }
        Ok(())
    }

    fn sink(&mut self, sink: &Sink) -> fmt::Result {
        match sink {
            Sink::Reduce { scope, combine, value, out, result } => {
                if let Some(result) = result {
                    self.typed(&[*result])?;
                    write!(self.out, " = ")?;
                }
                write!(self.out, "reduce{} {} {value}", Suffix(*scope), combine.mnemonic())?;
                if let Some(out) = out {
                    write!(self.out, " -> {out}")?;
                }
            }
            Sink::Scan { scope, combine, value, result, total } => {
                self.typed(&[*result])?;
                write!(self.out, " = scan{} {} {value}", Suffix(*scope), combine.mnemonic())?;
                if let Some(total) = total {
                    write!(self.out, " total {total}")?;
                }
            }
            Sink::Pack { keep, columns, count, scope } => {
                write!(self.out, "pack{} {keep}", Suffix(*scope))?;
                for (i, (value, array)) in columns.iter().enumerate() {
                    let lead = if i == 0 { " columns" } else { "," };
                    write!(self.out, "{lead} {value} -> {array}")?;
                }
                write!(self.out, " count {count}")?;
            }
            Sink::Scatter { array, index, value, when } => {
                write!(self.out, "scatter {value} -> {array}[{index}]")?;
                if let Some(when) = when {
                    write!(self.out, " when {when}")?;
                }
            }
            Sink::Histogram { array, combine, index, value, length, when } => {
                write!(self.out, "histogram {} {value}", combine.mnemonic())?;
                if let Some(length) = length {
                    write!(self.out, "[..{length}]")?;
                }
                write!(self.out, " -> {array}[{index}]")?;
                if let Some(when) = when {
                    write!(self.out, " when {when}")?;
                }
            }
            Sink::Emit { columns, length, lengths } => {
                write!(self.out, "emit {length}")?;
                for (i, (array, output)) in columns.iter().enumerate() {
                    let lead = if i == 0 { " columns" } else { "," };
                    write!(self.out, "{lead} {array} -> #{}", output.0)?;
                }
                write!(self.out, " lengths {lengths}")?;
            }
        }
        writeln!(self.out)
    }

    fn carry(&mut self, carried: &[Value], init: &[Value]) -> fmt::Result {
        for (i, value) in carried.iter().enumerate() {
            write!(self.out, "{}", if i == 0 { " carry " } else { ", " })?;
            self.typed(&[*value])?;
            match init.get(i) {
                Some(init) => write!(self.out, " = {init}")?,
                None => write!(self.out, " = ?")?,
            }
        }
        Ok(())
    }

    /// Writes values with their types: `v0: i64, v1: [f64]`.
    fn typed(&mut self, values: &[Value]) -> fmt::Result {
        for (i, value) in values.iter().enumerate() {
            write!(self.out, "{}{value}: ", if i == 0 { "" } else { ", " })?;
            match self.types.get(value.0 as usize) {
                Some(ty) => write!(self.out, "{ty}")?,
                None => write!(self.out, "?")?,
            }
        }
        Ok(())
    }

    /// Returns the name of a function, if no other has the same.
    fn unique_name(&self, callee: FunctionId) -> Option<&'a str> {
        let name = &self.module.functions.get(callee.0 as usize)?.name;
        let same = self.module.functions.iter().filter(|other| other.name == *name);
        (same.take(2).count() == 1).then_some(name)
    }

    fn indentation(&mut self) -> fmt::Result {
        // Deeper code is indented no further: the text would grow with the square of the depth.
        write!(self.out, "{:1$}", "", 2 * self.indent.min(50))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.mnemonic())
    }
}

impl fmt::Display for ValueTy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueTy::Scalar(ty) => write!(out, "{ty}"),
            ValueTy::Array(ty) => write!(out, "[{ty}]"),
            ValueTy::Mark => write!(out, "mark"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "v{}", self.0)
    }
}

/// Prints a scope: ` segment`, or nothing for the whole space.
struct Suffix(Scope);

impl fmt::Display for Suffix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Scope::All => Ok(()),
            Scope::Segment => write!(out, " segment"),
        }
    }
}

/// Prints a literal without its type; NaNs other than the standard one as their bits.
struct Plain(Literal);

impl fmt::Display for Plain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Literal::I32(x) => write!(out, "{x}"),
            Literal::I64(x) => write!(out, "{x}"),
            Literal::F32(bits) => match f32::from_bits(bits) {
                _ if bits == f32::NAN.to_bits() => write!(out, "nan"),
                x if x.is_nan() => write!(out, "0x{bits:x}"),
                x => write!(out, "{x:?}"),
            },
            Literal::F64(bits) => match f64::from_bits(bits) {
                _ if bits == f64::NAN.to_bits() => write!(out, "nan"),
                x if x.is_nan() => write!(out, "0x{bits:x}"),
                x => write!(out, "{x:?}"),
            },
            Literal::Bool(x) => write!(out, "{x}"),
            Literal::U8(x @ (b'\'' | b'\\')) => write!(out, "{x}"),
            Literal::U8(x) if x.is_ascii_graphic() => write!(out, "'{}'", char::from(x)),
            Literal::U8(x) => write!(out, "{x}"),
        }
    }
}

/// Prints values separated by commas.
struct List<'a>(&'a [Value]);

impl fmt::Display for List<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            write!(out, "{}{value}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Prints chars in quotes; those outside printable ASCII as `\xNN`.
struct Bytes<'a>(&'a [u8]);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(out, "\\{}", char::from(*byte))?,
                b'\n' => write!(out, "\\n")?,
                b' '..=b'~' => out.write_char(char::from(*byte))?,
                other => write!(out, "\\x{other:02x}")?,
            }
        }
        out.write_char('"')
    }
}

/// Prints a name in quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' | '\\' => write!(out, "\\{char}")?,
                '\n' => write!(out, "\\n")?,
                char => out.write_char(char)?,
            }
        }
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    /// A module with every operation and every kind of sink.
    const EVERYTHING: &str = include_str!("print/everything.kir");

    #[test]
    fn everything_is_printed_as_it_was_read() {
        let module = parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(print(&module), EVERYTHING);
        assert_eq!(crate::kir::verify(&module), Ok(()));
    }

    #[test]
    fn floats_keep_their_bits() {
        for bits in
            [0, 1 << 63, f64::NAN.to_bits(), f64::NAN.to_bits() | 1, f64::NEG_INFINITY.to_bits()]
        {
            let mut function = crate::kir::FunctionBuilder::new("f");
            let x = function.body.literal(Literal::F64(bits));
            let y = function.body.literal(Literal::F32(f32::from_bits(bits as u32).to_bits()));
            let functions = vec![function.finish(vec![x, y])];
            let module = Module { functions, kernels: Vec::new() };
            assert_eq!(parse(&print(&module)), Ok(module));
        }
    }
}
