//! The target machine: its instruction set and the register allocator.
//!
//! Cranelift's usual register allocator (backtracking) makes the better code; but its time grows much
//! faster than the length of a function: it takes a minute for a long one that a user writes in a
//! minute. Very long functions go to the allocator that visits each instruction once.

#[cfg(target_arch = "x86_64")]
use super::wide::InstructionSet;
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _, ModuleReloc};
use nesl_runtime::bug::OrBug;

/// The size of a vector register, in bytes.
pub const VECTOR_BYTES: usize = 16;

/// Functions of more than this many instructions of Cranelift are given to the register allocator that is linear in their
/// length. Its code takes two to three times as long; the backtracking allocator takes 15 ms more for 11,000 instructions.
const MAX_BACKTRACKING_INSTRUCTIONS: usize = 11_000;

/// The target machine.
#[derive(Clone)]
pub struct Machine {
    /// The target with the backtracking register allocator, for most functions.
    pub isa: OwnedTargetIsa,
    /// The target with the single-pass register allocator, for very long functions.
    long: OwnedTargetIsa,
    /// The target for the analysis of code with wide vectors. Cranelift's optimizer has rules that are
    /// wrong for vectors of more than 128 bits, and its verifier knows no extensions and truncations of
    /// vectors.
    unverified: OwnedTargetIsa,
    /// The size of the widest vectors, in bytes.
    pub vector_bytes: usize,
    /// The instructions of wide vectors, if the processor has such.
    #[cfg(target_arch = "x86_64")]
    instructions: Option<InstructionSet>,
}

/// The environment variable that bounds the width of vectors, in bits.
const WIDTH_VARIABLE: &str = "NESL_VECTOR_BITS";

impl Machine {
    /// The machine that this process runs on; an error where Cranelift does not support it.
    pub fn new() -> Result<Machine, String> {
        let verified = cfg!(debug_assertions);
        let most = std::env::var(WIDTH_VARIABLE).ok().and_then(|bits| bits.parse::<usize>().ok());
        Ok(Machine {
            isa: isa("backtracking", true, verified)?,
            long: isa("single_pass", true, verified)?,
            unverified: isa("backtracking", false, false)?,
            vector_bytes: widest().min(most.map_or(usize::MAX, |bits| bits / 8)).max(VECTOR_BYTES),
            #[cfg(target_arch = "x86_64")]
            instructions: InstructionSet::detected().next(),
        })
    }

    /// The machine with vectors of at most so many bytes.
    pub fn with_vectors_of(self, bytes: usize) -> Machine {
        Machine { vector_bytes: widest().min(bytes).max(VECTOR_BYTES), ..self }
    }

    /// The machine that makes code for these instructions, whether or not the processor has them.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub fn with_instructions(self, instructions: InstructionSet) -> Machine {
        let vector_bytes = instructions.vector_bytes();
        Machine { instructions: Some(instructions), vector_bytes, ..self }
    }

    /// Returns true if lanes of wide vectors are packed by one instruction.
    pub fn packs_lanes(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.instructions.is_some_and(InstructionSet::has_mask_registers);
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The number of registers for wide vectors.
    pub fn wide_registers(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        return self.instructions.map_or(0, |set| set.vector_registers().into());
        #[cfg(not(target_arch = "x86_64"))]
        0
    }

    /// Compiles a function with wide vectors; also returns the size of its stack frame, in bytes. An error says why it is
    /// left to Cranelift.
    #[cfg(target_arch = "x86_64")]
    pub fn compile_wide(&self, context: &mut Context) -> Result<(Vec<u8>, usize), String> {
        if context.func.dfg.num_insts() > MAX_BACKTRACKING_INSTRUCTIONS {
            return Err("the function is very long".into());
        }
        context
            .optimize(&*self.unverified, &mut Default::default())
            .map_err(|e| format!("{e:?}"))?;
        let instructions = self.instructions.ok_or("no instructions of wide vectors")?;
        let machine = super::wide::compile(context, instructions);
        let machine = machine.map_err(|declined| declined.0.to_string())?;
        Ok((machine.bytes, machine.frame_bytes))
    }

    /// There is no code for wide vectors on this machine.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn compile_wide(&self, _: &mut Context) -> Result<(Vec<u8>, usize), String> {
        Err("another processor".into())
    }

    /// Compiles a function.
    pub fn compile(&self, context: &mut Context) -> Result<(), String> {
        let short = context.func.dfg.num_insts() <= MAX_BACKTRACKING_INSTRUCTIONS;
        let isa = if short { &self.isa } else { &self.long };
        let code = context.compile(&**isa, &mut Default::default());
        code.map(|_| ()).map_err(|e| format!("{:?}", e.inner))
    }
}

/// The size of the widest vectors that there is code for on this processor, in bytes.
fn widest() -> usize {
    #[cfg(target_arch = "x86_64")]
    let widest = InstructionSet::detected().next().map(InstructionSet::vector_bytes);
    #[cfg(not(target_arch = "x86_64"))]
    let widest = None;
    widest.unwrap_or(VECTOR_BYTES)
}

/// The alignment of wide code, in bytes: that of its constants.
const WIDE_ALIGN_BYTES: u64 = 64;

/// Adds the bytes of a function with wide vectors to the module.
pub fn put_wide(jit: &mut JITModule, id: FuncId, bytes: &[u8]) -> Result<(), String> {
    jit.define_function_bytes(id, WIDE_ALIGN_BYTES, bytes, &[]).map_err(|e| format!("{e:?}"))
}

/// Returns the size of the stack frame of a compiled function, in bytes.
pub fn frame_bytes(context: &Context) -> usize {
    let code = context.compiled_code().or_bug("a function is compiled before it is measured");
    code.buffer.frame_layout().map_or(0, |frame| frame.frame_to_fp_offset as usize)
}

/// Adds a compiled function to the module.
pub fn put(jit: &mut JITModule, id: FuncId, context: &Context) -> Result<(), String> {
    let code = context.compiled_code().or_bug("a function is compiled before it is defined");
    let relocs = code.buffer.relocs().iter();
    let relocs: Vec<_> =
        relocs.map(|r| ModuleReloc::from_mach_reloc(r, &context.func, id)).collect();
    let alignment = u64::from(code.buffer.alignment);
    jit.define_function_bytes(id, alignment, code.code_buffer(), &relocs)
        .map_err(|e| format!("{e:?}"))
}

fn isa(registers: &str, optimized: bool, verified: bool) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let wanted = [
        ("opt_level", if optimized { "speed" } else { "none" }),
        ("regalloc_algorithm", registers),
        ("enable_verifier", if verified { "true" } else { "false" }),
        ("enable_multi_ret_implicit_sret", "true"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    let isa = cranelift_native::builder()?;
    isa.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}
