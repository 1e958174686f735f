//! The machine that code is made for, and who chooses its registers.
//!
//! Cranelift's usual allocator of registers makes the better code; of functions that are very
//! long, however, it takes time that grows much faster than they do: a minute for what somebody
//! writes down in one. Those go to its allocator that looks at each instruction once.

use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _, ModuleReloc};
use nesl_runtime::bug::OrBug;

/// Functions of more of Cranelift's instructions than this are long: of more than there are in
/// that run for long.
const LONG: usize = 8000;

/// The machine at hand.
#[derive(Clone)]
pub struct Machine {
    /// For most functions, and for what does not depend on the allocator of registers.
    pub isa: OwnedTargetIsa,
    /// For long ones.
    long: OwnedTargetIsa,
}

impl Machine {
    /// The machine; an error where Cranelift does not know it.
    pub fn new() -> Result<Machine, String> {
        Ok(Machine { isa: isa("backtracking")?, long: isa("single_pass")? })
    }

    /// Compiles a function.
    pub fn compile(&self, context: &mut Context) -> Result<(), String> {
        let short = context.func.dfg.num_insts() <= LONG;
        let isa = if short { &self.isa } else { &self.long };
        let code = context.compile(&**isa, &mut Default::default());
        code.map(|_| ()).map_err(|e| format!("{:?}", e.inner))
    }
}

/// Adds a function that was compiled to the module.
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
