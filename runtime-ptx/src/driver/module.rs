//! Modules: PTX text, compiled by the driver for its device.

use super::{device_failure, failure};
use crate::emit::{Plan, entry_name};
use cudarc::driver::sys::{self, CUjit_option as JitOption, CUresult};
use cudarc::driver::{DriverError, result};
use nesl_runtime::kir::Kernel;
use nesl_runtime::runtime::Failure;
use std::ffi::{CString, c_void};
use std::ptr;

/// The size of the buffer for the complaints of the driver's compiler, in bytes.
const LOG_BYTES: usize = 8192;

/// The compiled code of a module of kir.
pub struct Module {
    handle: sys::CUmodule,
    /// The kernels, by number.
    pub kernels: Vec<CompiledKernel>,
}

/// A kernel with its passes.
pub struct CompiledKernel {
    /// The kernel, as it was loaded.
    pub kernel: Kernel,
    /// Its passes and areas.
    pub plan: Plan,
    /// The entry of each pass.
    pub entries: Vec<CompiledEntry>,
}

/// An entry of a module that is loaded.
pub struct CompiledEntry(sys::CUfunction);

impl CompiledEntry {
    /// The driver's handle of the entry.
    pub(super) fn handle(&self) -> sys::CUfunction {
        self.0
    }
}

// SAFETY: handles of the driver may be used by any thread that has bound the context; the runtime
// binds it before each use.
unsafe impl Send for Module {}
// SAFETY: as for `Send`: the driver synchronises the uses of a handle itself.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles a text with the plans of its kernels. The context is bound.
    pub fn compile(text: &str, kernels: Vec<(Kernel, Plan)>) -> Result<Module, Failure> {
        let text = CString::new(text).map_err(|_| device_failure("PTX with a zero byte"))?;
        let handle = load(&text)?;
        let mut module = Module { handle, kernels: Vec::with_capacity(kernels.len()) };
        for (number, (kernel, plan)) in kernels.into_iter().enumerate() {
            let mut entries = Vec::with_capacity(plan.passes.len());
            for pass in 0..plan.passes.len() {
                let name = CString::new(entry_name(number, pass))
                    .map_err(|_| device_failure("an entry with a zero byte in its name"))?;
                // SAFETY: the module was loaded just now, and is unloaded when `module` is dropped.
                let entry = unsafe { result::module::get_function(handle, name) };
                entries
                    .push(CompiledEntry(entry.map_err(|error| failure("find an entry", error))?));
            }
            module.kernels.push(CompiledKernel { kernel, plan, entries });
        }
        Ok(module)
    }
}

/// Loads a text; the complaints of the compiler are part of the failure.
fn load(text: &CString) -> Result<sys::CUmodule, Failure> {
    let mut log = vec![0u8; LOG_BYTES];
    let mut options =
        [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    let mut handle = ptr::null_mut();
    // SAFETY: the text ends with a zero; there are two options with their values, and the log
    // buffer is as long as its option says, and outlives the call.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &mut handle,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if status == CUresult::CUDA_SUCCESS {
        return Ok(handle);
    }
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let complaint = String::from_utf8_lossy(&log[..end]).trim().to_string();
    match complaint.is_empty() {
        true => Err(failure("compile a kernel", DriverError(status))),
        false => Err(device_failure(format!("the driver does not compile a kernel: {complaint}"))),
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded by `compile` and is unloaded once. The runtime waits for
        // its launches before it lets go of a module.
        let _ = unsafe { result::module::unload(self.handle) };
    }
}
