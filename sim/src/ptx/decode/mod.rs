//! A statement → an operation, with its operands checked against the types.

mod arithmetic;
mod collective;
mod control;
mod memory;
mod operands;

use super::error::Reason;
use super::names::Names;
use super::statement::Statement;
use crate::isa::code::{Guard, Instruction, Op};

/// A jump whose label is looked up when the kernel has been read.
pub struct Pending {
    /// The index of the instruction.
    pub at: usize,
    /// The label that it jumps to.
    pub label: String,
}

/// The head of a module, which says what instructions it may have.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// The compute capability that it is for, times ten.
    pub target: u32,
    /// The version of PTX.
    pub version: f64,
}

/// The surroundings of the statement that is decoded.
struct Decoder<'a> {
    names: &'a mut Names,
    head: Head,
    at: usize,
    pending: &'a mut Vec<Pending>,
}

/// Decodes one statement, the `at`-th instruction of its kernel.
pub fn decode(
    mut statement: Statement,
    names: &mut Names,
    head: Head,
    at: usize,
    pending: &mut Vec<Pending>,
) -> Result<Instruction, Reason> {
    let mut decoder = Decoder { names, head, at, pending };
    let guard = match statement.guard.take() {
        None => None,
        Some((name, negated)) => {
            Some(Guard { predicate: decoder.predicate_named(&name)?, negated })
        }
    };
    let op = decoder.operation(&mut statement)?;
    statement.finish()?;
    Ok(Instruction { op, guard, line: statement.line })
}

impl Decoder<'_> {
    fn operation(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        let opcode = s.opcode.clone();
        match opcode.as_str() {
            "mov" => self.mov(s),
            "cvta" => self.cvta(s),
            "add" | "sub" | "mul" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor"
            | "shl" | "shr" | "copysign" => self.two_sources(s),
            "mad" | "fma" => self.multiply_add(s),
            "neg" | "abs" | "not" | "popc" | "clz" | "brev" | "bfind" => self.one_source(s),
            "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
                self.float_function(s)
            }
            "bfe" | "bfi" | "prmt" | "lop3" | "shf" => self.bit_field(s),
            "setp" => self.setp(s),
            "testp" => self.testp(s),
            "selp" => self.selp(s),
            "slct" => self.slct(s),
            "cvt" => self.cvt(s),
            "ld" | "ldu" => self.load(s),
            "st" => self.store(s),
            "atom" | "red" => self.atomic(s),
            "membar" | "fence" => self.fence(s),
            "shfl" | "vote" | "match" | "redux" => self.collective(s),
            "mma" => self.matrices(s),
            "activemask" => self.active_mask(s),
            "bar" | "barrier" => self.barrier(s),
            "bra" => self.branch(s),
            "ret" | "exit" => self.plain(s, Op::Exit),
            "trap" => self.plain(s, Op::Trap),
            "nanosleep" => self.nanosleep(s),
            "prefetch" => self.prefetch(s),
            "call" => Err("calls are not supported: inline the function".to_owned()),
            other => Err(format!("unknown instruction `{other}`")),
        }
    }
}
