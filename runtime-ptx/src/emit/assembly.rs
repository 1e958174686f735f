//! The text of one PTX entry: virtual registers, labels, instructions, declarations.
//!
//! PTX has as many registers as a program names; `ptxas` allocates those of the machine. A
//! register is written once, save those that carry values round a loop or out of a conditional.

use super::target::Target;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Ty};
use std::fmt::{self, Write};

/// The alignment of arrays in shared and local memory, in bytes.
const ALIGNMENT_BYTES: usize = 16;

/// The class of a register: its width, and whether it holds a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A predicate: a bool.
    Predicate,
    /// 32 bits: an `i32`, or the code of a `u8`, zero-extended.
    B32,
    /// 64 bits: an `i64`, or an address.
    B64,
    /// 32 bits: an `f32`.
    F32,
    /// 64 bits: an `f64`.
    F64,
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg {
    /// The class of the register.
    pub class: Class,
    number: u32,
}

/// A label, `L12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

/// An operand of an instruction: a register or a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A register of any class.
    Reg(Reg),
    /// A constant of a scalar type. A bool is never one: PTX has no constant predicates.
    Constant(Literal),
}

/// The text of an entry while it is written.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The instructions that the entry may use.
    pub target: Target,
    /// The beginning of the names of arrays: those of texts are names of the module.
    prefix: String,
    /// Declarations at the level of the module: texts, tables.
    globals: String,
    /// Declarations of arrays in shared and local memory.
    arrays: String,
    code: String,
    /// Code that is rarely executed, behind the rest.
    cold: String,
    /// A predicate under which elements are loaded and stored, if there is one.
    pub guard: Option<Reg>,
    /// The number of registers of each class.
    registers: [u32; 5],
    labels: u32,
    names: u32,
    /// The arrays in the shared memory of a block, and in the local memory of a thread, in bytes.
    shared_bytes: usize,
    local_bytes: usize,
}

/// Appends an instruction: `emit!(assembly, "add.s64 {d}, {a}, {b}")`.
macro_rules! emit {
    ($assembly:expr, $($format:tt)+) => {
        $assembly.instruction(format_args!($($format)+))
    };
}
pub(crate) use emit;

impl Assembly {
    /// The empty text of an entry of this name, for a target.
    pub fn new(entry: &str, target: Target) -> Assembly {
        Assembly { prefix: entry.to_string(), target, ..Assembly::default() }
    }

    /// A new register.
    pub fn register(&mut self, class: Class) -> Reg {
        let count = &mut self.registers[class as usize];
        *count += 1;
        Reg { class, number: *count }
    }

    /// A new label, which is placed by [`Assembly::place`].
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// Places a label before the next instruction.
    pub fn place(&mut self, label: Label) {
        self.line(format_args!("{label}:"));
    }

    /// Appends an instruction, without its semicolon.
    pub fn instruction(&mut self, text: fmt::Arguments<'_>) {
        self.line(format_args!("  {text};"));
    }

    /// Emits a barrier of the block, which every thread of it executes.
    pub fn barrier(&mut self) {
        self.converge();
        self.instruction(format_args!("bar.sync 0"));
    }

    /// Emits a barrier of the block that says of a predicate whether any thread has it.
    pub fn barrier_any(&mut self, predicate: Reg) -> Reg {
        let any = self.register(Class::Predicate);
        self.converge();
        self.instruction(format_args!("bar.red.or.pred {any}, 0, {predicate}"));
        any
    }

    /// Emits the reconvergence of the lanes of a warp. `bar.sync` is for warps whose lanes execute it
    /// together: the compiler of PTX assumes that they are together behind it, and compiles a shuffle there for
    /// those lanes alone that happen to be. Lanes that diverged need not have reconverged where the branch ends,
    /// in a loop that only some of them enter by its head, say. Where the compiler sees that they have, this
    /// costs nothing.
    fn converge(&mut self) {
        self.instruction(format_args!("bar.warp.sync -1"));
    }

    /// Appends an access to an element, which is made where the guard is true, if there is one.
    pub fn access(&mut self, text: fmt::Arguments<'_>) {
        match self.guard {
            None => self.instruction(text),
            Some(guard) => self.line(format_args!("  @{guard} {text};")),
        }
    }

    /// Emits a parameter of 8 bytes. What few threads need is loaded where they do: it takes no
    /// register before.
    pub fn param(&mut self, name: &str) -> Reg {
        let d = self.register(Class::B64);
        self.instruction(format_args!("ld.param.u64 {d}, [{name}]"));
        d
    }

    /// Emits a parameter that is an address, as one in global memory.
    pub fn global_param(&mut self, name: &str) -> Reg {
        let (address, d) = (self.param(name), self.register(Class::B64));
        self.instruction(format_args!("cvta.to.global.u64 {d}, {address}"));
        d
    }

    /// Appends a comment on a line of its own.
    pub fn comment(&mut self, text: &str) {
        self.line(format_args!("  // {text}"));
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        self.code.write_fmt(text).or_bug("writing to a string");
        self.code.push('\n');
    }

    /// Appends what `emit` emits behind all other code: it is reached, and left, by jumps.
    pub fn out_of_line(&mut self, emit: impl FnOnce(&mut Assembly)) {
        std::mem::swap(&mut self.code, &mut self.cold);
        emit(self);
        std::mem::swap(&mut self.code, &mut self.cold);
    }

    /// Declares an array of bytes in global memory with these elements; returns its name.
    pub fn text(&mut self, bytes: &[u8]) -> String {
        let name = self.name("text");
        let elements: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let elements = if elements.is_empty() { "0".to_string() } else { elements.join(", ") };
        let length = bytes.len().max(1);
        writeln!(self.globals, ".global .align 1 .b8 {name}[{length}] = {{{elements}}};")
            .or_bug("writing to a string");
        name
    }

    /// Declares an array in the local memory of each thread; returns its name.
    pub fn local(&mut self, bytes: usize) -> String {
        self.local_bytes = self.local_bytes.next_multiple_of(ALIGNMENT_BYTES) + bytes.max(1);
        self.array("local", bytes)
    }

    /// Declares an array in the shared memory of each block; returns its name.
    pub fn shared(&mut self, bytes: usize) -> String {
        self.shared_bytes = self.shared_bytes.next_multiple_of(ALIGNMENT_BYTES) + bytes.max(1);
        self.array("shared", bytes)
    }

    fn array(&mut self, space: &str, bytes: usize) -> String {
        let name = self.name(space);
        writeln!(self.arrays, "  .{space} .align {ALIGNMENT_BYTES} .b8 {name}[{}];", bytes.max(1))
            .or_bug("writing to a string");
        name
    }

    fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{}_{of}{}", self.prefix, self.names)
    }

    /// Returns the memory that a block of so many threads takes, in words for a comment.
    pub fn usage(&self, threads: u32) -> String {
        let mut usage = format!("{threads} threads a block");
        for (bytes, of) in [
            (self.shared_bytes, "shared memory a block"),
            (self.local_bytes, "arrays in local memory a thread"),
        ] {
            if bytes > 0 {
                write!(usage, ", {bytes} bytes of {of}").or_bug("writing to a string");
            }
        }
        usage
    }

    /// Returns the declarations for the level of the module, and the body of the entry, from its
    /// brace to its brace.
    pub fn finish(self) -> (String, String) {
        let mut body = String::from("{\n");
        let classes = [Class::Predicate, Class::B32, Class::B64, Class::F32, Class::F64];
        for (class, count) in classes.into_iter().zip(self.registers) {
            if count > 0 {
                let (ty, prefix) = (class.ty(), class.prefix());
                writeln!(body, "  .reg .{ty} %{prefix}<{}>;", count + 1)
                    .or_bug("writing to a string");
            }
        }
        body.push_str(&self.arrays);
        body.push_str(&self.code);
        body.push_str(&self.cold);
        body.push_str("}\n");
        (self.globals, body)
    }
}

impl Class {
    /// The class of the registers that hold scalars of a type.
    pub fn of(ty: Ty) -> Class {
        match ty {
            Ty::Bool => Class::Predicate,
            Ty::U8 | Ty::I32 => Class::B32,
            Ty::I64 => Class::B64,
            Ty::F32 => Class::F32,
            Ty::F64 => Class::F64,
        }
    }

    /// The untyped PTX type of the class, as `mov` and `selp` take it.
    pub fn ty(self) -> &'static str {
        match self {
            Class::Predicate => "pred",
            Class::B32 => "b32",
            Class::B64 => "b64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Class::Predicate => "p",
            Class::B32 => "r",
            Class::B64 => "rd",
            Class::F32 => "f",
            Class::F64 => "fd",
        }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "%{}{}", self.class.prefix(), self.number)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "L{}", self.0)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Reg(reg) => write!(out, "{reg}"),
            Operand::Constant(Literal::I32(x)) => write!(out, "{x}"),
            Operand::Constant(Literal::I64(x)) => write!(out, "{x}"),
            Operand::Constant(Literal::U8(x)) => write!(out, "{x}"),
            Operand::Constant(Literal::Bool(x)) => write!(out, "{}", u8::from(x)),
            Operand::Constant(Literal::F32(bits)) => write!(out, "0f{bits:08X}"),
            Operand::Constant(Literal::F64(bits)) => write!(out, "0d{bits:016X}"),
        }
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}
