//! Code for vectors wider than Cranelift's: Cranelift's intermediate code → machine code with AVX-512.
//!
//! Cranelift's code generator stops at vectors of 128 bits; its intermediate code does not. So the vector
//! code of a pass is built as for narrow vectors, only with wider types, and comes here instead of to
//! Cranelift's optimizer and code generator:
//!
//! ```text
//! schedule     equal values once, invariant ones before loops
//! masks        which vectors of ones and zeros live in mask registers
//! lower        each instruction → machine instructions on virtual registers (`code`)
//!   scalar, vectors, pack
//! allocate     registers, by regalloc2, then frame, moves and jumps
//! encode       bytes; `opcodes` is the table
//! ```
//!
//! Code that uses anything else is declined, with a reason, before anything is emitted; the pass is then
//! built again with vectors of 128 bits, for Cranelift.

mod allocate;
mod code;
mod encode;
mod lower;
mod masks;
mod opcodes;
mod pack;
mod scalar;
mod schedule;
#[cfg(test)]
mod tests;
mod vectors;

pub use allocate::Machine;
use cranelift_codegen::Context;
use cranelift_codegen::ir::Opcode;
pub use pack::PACK;

/// The reason why code is left to Cranelift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declined(pub &'static str);

/// The widest vectors for which this processor has the instructions in use, in bytes; `None` if it has
/// too few of them, or code has another calling convention.
pub fn detect() -> Option<usize> {
    let features = [
        std::is_x86_feature_detected!("avx512f"),
        std::is_x86_feature_detected!("avx512dq"),
        std::is_x86_feature_detected!("avx512bw"),
        std::is_x86_feature_detected!("avx512vl"),
        std::is_x86_feature_detected!("bmi1"),
        std::is_x86_feature_detected!("bmi2"),
        std::is_x86_feature_detected!("lzcnt"),
        std::is_x86_feature_detected!("popcnt"),
    ];
    (cfg!(unix) && features == [true; 8]).then_some(64)
}

/// Compiles a function to machine code; its control flow has been analysed.
pub fn compile(context: &mut Context) -> Result<Machine, Declined> {
    let schedule = schedule::Schedule::of(context);
    let code = lower::lower(context, &schedule)?;
    allocate::allocate(&code)
}

/// The reason why an instruction is declined.
fn name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::Call | Opcode::CallIndirect => "a call",
        Opcode::AtomicRmw => "an atomic update",
        Opcode::Shuffle => "a shuffle",
        Opcode::Isplit | Opcode::Iconcat => "a product of two words",
        _ => "an instruction that there is no wide code for",
    }
}
