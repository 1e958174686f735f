//! Loading of modules.

use super::launch::default_dynamic_limit;
use super::state::{Driver, Function, Loaded};
use super::status::Status;
use super::work::Handle;
use crate::isa::code::Constant;
use crate::ptx;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Why a module was not loaded: the result and the text for the log.
pub type LoadError = (Status, String);

impl Driver {
    /// Loads a module from its text.
    pub fn load_module(&mut self, text: &str) -> Result<Handle, LoadError> {
        let fail = |status: Status| (status, String::new());
        let planted = self.options.plant.as_ref().map(|plant| plant.apply(text));
        let text = planted.as_deref().unwrap_or(text);
        let device = self.device().map_err(fail)?;
        let check = self.options.check;
        self.context().map_err(fail)?;
        if let Some(ptxas) = &self.options.ptxas {
            assemble(ptxas, device.capability, text).map_err(|log| (Status::INVALID_PTX, log))?;
        }
        let module =
            ptx::parse(text).map_err(|error| (Status::INVALID_PTX, format!("ptx: {error}")))?;
        if module.target > device.capability {
            let text =
                format!("target sm_{} on a device of sm_{}", module.target, device.capability);
            return Err((Status::NO_BINARY_FOR_GPU, text));
        }
        let mut loaded = Loaded::default();
        let mut functions = Vec::new();
        let context = self.context().map_err(fail)?;
        for variable in module.globals {
            let bytes = variable.bytes.len();
            context.accounts.take_direct(bytes).map_err(fail)?;
            let address = context.memory.allocate(bytes, check);
            if context.memory.write(address, &variable.bytes).is_err() {
                return Err(fail(Status::OUT_OF_MEMORY));
            }
            loaded.globals.push((variable.name, address, bytes));
        }
        for mut kernel in module.kernels {
            for (_, constant) in &mut kernel.constants {
                if let Constant::GlobalAddress(number) = *constant {
                    *constant = Constant::Bits(loaded.globals[number].1);
                }
            }
            functions.push(kernel);
        }
        for kernel in functions {
            let handle = self.fresh_handle();
            loaded.functions.insert(kernel.name.clone(), handle);
            let dynamic_limit = default_dynamic_limit(&kernel);
            let function = Function { kernel: Arc::new(kernel), dynamic_limit };
            self.context().map_err(fail)?.functions.insert(handle, function);
        }
        let handle = self.fresh_handle();
        self.context().map_err(fail)?.modules.insert(handle, loaded);
        self.host.modules += 1;
        self.note_memory();
        Ok(handle)
    }

    /// Unloads a module.
    pub fn unload_module(&mut self, handle: Handle) -> super::status::Outcome {
        let context = self.context()?;
        let loaded = context.modules.remove(&handle).ok_or(Status::INVALID_HANDLE)?;
        for function in loaded.functions.values() {
            context.functions.remove(function);
        }
        for (_, address, bytes) in loaded.globals {
            let _ = context.memory.free(address);
            context.accounts.return_direct(bytes);
        }
        self.note_memory();
        Ok(())
    }
}

/// Lets NVIDIA's assembler judge a text; the error is its log.
fn assemble(ptxas: &str, capability: u32, text: &str) -> Result<(), String> {
    let mut child = Command::new(ptxas)
        .args([&format!("-arch=sm_{capability}"), "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{ptxas}: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // An assembler that stops reading has written why.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| format!("{ptxas}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let log = [output.stderr, output.stdout].concat();
    Err(String::from_utf8_lossy(&log).into_owned())
}
