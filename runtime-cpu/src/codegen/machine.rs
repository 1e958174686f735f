//! The target machine: its instruction set and the register allocator.
//!
//! Cranelift's usual register allocator (backtracking) makes the better code; but its time grows much
//! faster than the length of a function: it takes a minute for a long one that a user writes in a
//! minute. Very long functions go to the allocator that visits each instruction once.

use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _, ModuleReloc};
use nesl_runtime::bug::OrBug;

/// The size of a vector register, in bytes.
pub const VECTOR_BYTES: usize = 16;

/// Functions of more than this many instructions of Cranelift are given to the allocator that is
/// linear in their length; functions whose running time matters are shorter.
const MAX_BACKTRACKING_INSTRUCTIONS: usize = 8000;

/// The target machine.
#[derive(Clone)]
pub struct Machine {
    /// The target with the backtracking register allocator, for most functions.
    pub isa: OwnedTargetIsa,
    /// The target with the single-pass register allocator, for very long functions.
    long: OwnedTargetIsa,
}

impl Machine {
    /// The machine that this process runs on; an error where Cranelift does not support it.
    pub fn new() -> Result<Machine, String> {
        Ok(Machine { isa: isa("backtracking")?, long: isa("single_pass")? })
    }

    /// Compiles a function.
    pub fn compile(&self, context: &mut Context) -> Result<(), String> {
        let short = context.func.dfg.num_insts() <= MAX_BACKTRACKING_INSTRUCTIONS;
        let isa = if short { &self.isa } else { &self.long };
        let code = context.compile(&**isa, &mut Default::default());
        code.map(|_| ()).map_err(|e| format!("{:?}", e.inner))
    }
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

fn isa(registers: &str) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let wanted = [
        ("opt_level", "speed"),
        ("regalloc_algorithm", registers),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
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
