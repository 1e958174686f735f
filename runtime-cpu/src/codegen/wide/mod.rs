//! Code for vectors wider than Cranelift's: Cranelift's intermediate code → machine code with AVX-512 or AVX2.
//!
//! Cranelift's code generator stops at vectors of 128 bits; its intermediate code does not. So the vector
//! code of a pass is built as for narrow vectors, only with wider types, and comes here instead of to
//! Cranelift's optimizer and code generator:
//!
//! ```text
//! schedule     equal values once, invariant ones before loops
//! masks        which vectors of ones and zeros live in mask registers
//! lower        each instruction → machine instructions on virtual registers (`code`)
//!   scalar, vectors, parts, avx2, pack
//! allocate     registers, by regalloc2, then frame, moves and jumps
//! encode       bytes; `opcodes` is the table
//! ```
//!
//! The two instruction sets share nearly all opcodes. AVX2 has half the vector registers, no mask registers and
//! fewer operations: there, masks are lanes of ones and zeros, and `avx2` has what is made otherwise.
//!
//! Code that uses anything else is declined, with a reason, before anything is emitted; the pass is then
//! built again with vectors of 128 bits, for Cranelift.

mod allocate;
mod avx2;
mod code;
mod encode;
mod extremes;
mod lower;
mod masks;
mod opcodes;
mod pack;
mod parts;
mod scalar;
mod schedule;
#[cfg(test)]
mod tests;
mod vectors;

pub use allocate::Machine;
use cranelift_codegen::Context;
use cranelift_codegen::ir::Opcode;

/// The reason why code is left to Cranelift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declined(pub &'static str);

/// The instructions on vectors of which code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512: F, DQ, BW and VL.
    Avx512,
}

impl InstructionSet {
    /// The instruction sets that this processor has, the best first; none on systems other than Unix.
    pub fn detected() -> impl Iterator<Item = InstructionSet> {
        [InstructionSet::Avx512, InstructionSet::Avx2].into_iter().filter(|set| set.is_detected())
    }

    fn is_detected(self) -> bool {
        let general = [
            std::is_x86_feature_detected!("bmi1"),
            std::is_x86_feature_detected!("bmi2"),
            std::is_x86_feature_detected!("lzcnt"),
            std::is_x86_feature_detected!("popcnt"),
        ];
        let vectors = match self {
            InstructionSet::Avx2 => {
                std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
            }
            InstructionSet::Avx512 => {
                std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512vl")
            }
        };
        cfg!(unix) && general == [true; 4] && vectors
    }

    /// The size of the widest vectors, in bytes.
    pub fn vector_bytes(self) -> usize {
        match self {
            InstructionSet::Avx2 => 32,
            InstructionSet::Avx512 => 64,
        }
    }

    /// The number of vector registers.
    pub fn vector_registers(self) -> u8 {
        match self {
            InstructionSet::Avx2 => 16,
            InstructionSet::Avx512 => 32,
        }
    }

    /// Returns true if masks have registers of their own, of one bit for each lane.
    pub fn has_mask_registers(self) -> bool {
        self == InstructionSet::Avx512
    }
}

/// Compiles a function to machine code; its control flow has been analysed.
pub fn compile(context: &mut Context, set: InstructionSet) -> Result<Machine, Declined> {
    let schedule = schedule::Schedule::of(context);
    let code = lower::lower(context, &schedule, set)?;
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
