//! The stages that this program can show: those of the compiler and of the back ends that it is
//! built with.
//!
//! A back end that prints its code adds a row to [`BACKENDS`]: a pass whose function is a
//! `Run::Emit`, from a kernel module to text. Command line, prompt and server then offer it.

use nesl_core::pipeline::{Pass, Run, Verify};
use nesl_engine::Stages;
use nesl_runtime::kir::Module;
use nesl_runtime::runtime::Options;
use nesl_runtime_ptx::{Ptx, emit};
use std::cell::OnceCell;

/// The number of the GPU that is asked, and that `--runtime ptx` runs on, from 0 on.
pub const GPU: usize = 0;

/// The rows of back ends.
static BACKENDS: [Pass; 1] = [ptx_row(ptx)];

/// The rows of back ends that ask the device about their code.
static DEVICE_BACKENDS: [Pass; 1] = [ptx_row(ptx_of_device)];

/// The stages of the compiler and of the back ends of this program, in order.
pub const STAGES: Stages = Stages::with_backend(&BACKENDS);

/// The same stages for a machine whose GPU is asked how it executes the code.
pub const DEVICE_STAGES: Stages = Stages::with_backend(&DEVICE_BACKENDS);

thread_local! {
    /// The device that is asked, if there is one, once it was looked for.
    static DEVICE: OnceCell<Option<Ptx>> = const { OnceCell::new() };
}

const fn ptx_row(emit: fn(&Module) -> String) -> Pass {
    Pass {
        name: "emit-ptx",
        stage: "ptx",
        title: "PTX",
        about: "writes each kernel in the assembly language of NVIDIA GPUs",
        run: Run::Emit(emit),
        verify: Verify::Nothing,
        always_verified: false,
        in_preview: true,
    }
}

/// The environment variable that names the architecture that PTX is shown for, `sm_80` say. Without it
/// the text is for every device; what a device executes is for that one.
const TARGET_VARIABLE: &str = "NESL_PTX_TARGET";

/// The PTX of a module, or the reason why there is none.
fn ptx(module: &Module) -> String {
    let named = std::env::var(TARGET_VARIABLE).unwrap_or_default();
    let target = match named.is_empty() {
        true => emit::Target::default(),
        false => match emit::Target::named(&named) {
            Some(target) => target,
            None => return format!("// {TARGET_VARIABLE} names no architecture: `{named}`\n"),
        },
    };
    match emit::emit_for(module, target) {
        Ok(code) => code.text,
        Err(reason) => format!("// no code for GPUs yet: {reason}\n"),
    }
}

/// The PTX of a module, with what the device's compiler made of it as comments.
fn ptx_of_device(module: &Module) -> String {
    DEVICE.with(|device| {
        let device = device.get_or_init(|| Ptx::new(GPU, Options::default()).ok());
        let annotated = device.as_ref().and_then(|device| device.annotated(module).ok());
        annotated.unwrap_or_else(|| ptx(module))
    })
}
