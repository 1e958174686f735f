//! The stages that this program can show: those of the compiler and of the back ends that it is
//! built with.
//!
//! A back end that prints its code adds a row to [`BACKENDS`]: a pass whose function is a
//! `Run::Emit`, from a kernel module to text. Command line, prompt and server then offer it.

use nesl_core::pipeline::{Pass, Run, Verify};
use nesl_engine::Stages;
use nesl_runtime::kir::Module;
use nesl_runtime_ptx::emit;

/// The rows of back ends.
static BACKENDS: [Pass; 1] = [Pass {
    name: "emit-ptx",
    stage: "ptx",
    title: "PTX",
    about: "writes each kernel in the assembly language of NVIDIA GPUs",
    run: Run::Emit(ptx),
    verify: Verify::Nothing,
    always_verified: false,
    in_preview: true,
}];

/// The stages of the compiler and of the back ends of this program, in order.
pub const STAGES: Stages = Stages::with_backend(&BACKENDS);

/// The PTX of a module, or the reason why there is none.
fn ptx(module: &Module) -> String {
    match emit::emit(module) {
        Ok(code) => code.text,
        Err(reason) => format!("// no code for GPUs yet: {reason}\n"),
    }
}
