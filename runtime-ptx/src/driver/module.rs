//! Modules: PTX text, compiled by the driver for its device.

use super::cache::Cache;
use super::{device_failure, failure};
use crate::emit::{BLOCK_THREADS, KernelCode, Program, entry_name};
use crate::services::Service;
use cudarc::driver::sys::{
    self, CUfunction_attribute_enum as Attribute, CUjit_option as JitOption, CUjitInputType,
};
use cudarc::driver::{DriverError, result};
use nesl_runtime::kir::Kernel;
use nesl_runtime::runtime::Failure;
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

/// The size of the buffer for the complaints of the driver's compiler, in bytes.
const LOG_BYTES: usize = 8192;

/// A module whose code is compiled when it is first launched. What its launch needs is then on its way
/// to the device: the driver compiles while the device copies.
pub struct LazyModule {
    text: String,
    kernels: Vec<(Kernel, KernelCode)>,
    compiled: OnceLock<Module>,
}

impl LazyModule {
    /// A module with this text, and the code of its kernels.
    pub fn new(text: String, kernels: Vec<(Kernel, KernelCode)>) -> LazyModule {
        LazyModule { text, kernels, compiled: OnceLock::new() }
    }

    /// The text that the driver compiles.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the compiled module, and true if it was compiled by this call. The context is bound.
    pub fn compiled(&self, cache: Option<&Cache>) -> Result<(&Module, bool), Failure> {
        if let Some(module) = self.compiled.get() {
            return Ok((module, false));
        }
        let module = Module::compile(&self.text, &self.kernels, cache)?;
        Ok((self.compiled.get_or_init(|| module), true))
    }
}

/// The compiled code of a module of kir.
pub struct Module {
    handle: sys::CUmodule,
    /// True if the code came from the cache.
    pub is_cached: bool,
    /// The kernels, by number.
    pub kernels: Vec<Compiled>,
}

/// A kernel, compiled.
pub enum Compiled {
    /// A kernel with its own entries.
    Kernel(Box<CompiledKernel>),
    /// A kernel that calls a service of the device.
    Service(CompiledService),
}

/// A service of the device, with its entries.
pub struct CompiledService {
    /// The service that the kernel calls.
    pub service: Service,
    /// Its entries, in the order of [`Service::emit`].
    pub entries: Vec<CompiledEntry>,
}

/// A kernel with its steps.
pub struct CompiledKernel {
    /// The kernel, as it was loaded.
    pub kernel: Kernel,
    /// The steps that a launch enqueues, with their passes.
    pub program: Program,
    /// The entries of all steps, in order.
    pub entries: Vec<CompiledEntry>,
}

/// An entry of a module that is loaded.
pub struct CompiledEntry {
    handle: sys::CUfunction,
    /// The use of a multiprocessor by its code.
    pub usage: Usage,
}

/// The use of a multiprocessor by a block of an entry, as the driver reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The registers of a thread.
    pub registers: u32,
    /// The shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// The number of blocks that a multiprocessor holds at a time.
    pub blocks_per_multiprocessor: u32,
}

impl Compiled {
    /// The entries, in the order of their numbers.
    pub fn entries(&self) -> &[CompiledEntry] {
        match self {
            Compiled::Kernel(kernel) => &kernel.entries,
            Compiled::Service(service) => &service.entries,
        }
    }

    /// Returns true if a launch gives arrays whose lengths it finds out.
    pub fn has_outputs(&self) -> bool {
        match self {
            Compiled::Kernel(kernel) => !kernel.kernel.outputs.is_empty(),
            Compiled::Service(_) => false,
        }
    }
}

impl CompiledEntry {
    /// The driver's handle of the entry.
    pub(super) fn handle(&self) -> sys::CUfunction {
        self.handle
    }

    /// The entry of a handle, with its usage.
    fn new(handle: sys::CUfunction) -> Result<CompiledEntry, DriverError> {
        let attribute = |attribute| {
            // SAFETY: the handle is that of an entry of a module that is loaded.
            let value = unsafe { result::function::get_function_attribute(handle, attribute) };
            value.map(|value| u32::try_from(value).unwrap_or(0))
        };
        let threads = i32::try_from(BLOCK_THREADS).unwrap_or(i32::MAX);
        // SAFETY: as above.
        let blocks =
            unsafe { result::occupancy::max_active_block_per_multiprocessor(handle, threads, 0) }?;
        let usage = Usage {
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            blocks_per_multiprocessor: u32::try_from(blocks).unwrap_or(0).max(1),
        };
        Ok(CompiledEntry { handle, usage })
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { registers, shared_bytes, local_bytes, blocks_per_multiprocessor } = self;
        write!(
            out,
            "{registers} registers and {local_bytes} bytes of local memory a thread, {shared_bytes} \
             bytes of shared memory a block, {blocks_per_multiprocessor} blocks a multiprocessor"
        )
    }
}

// SAFETY: handles of the driver may be used by any thread that has bound the context; the runtime
// binds it before each use.
unsafe impl Send for Module {}
// SAFETY: as for `Send`: the driver synchronises the uses of a handle itself.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles a text with the code of its kernels, unless the cache has it. The context is bound.
    pub fn compile(
        text: &str,
        kernels: &[(Kernel, KernelCode)],
        cache: Option<&Cache>,
    ) -> Result<Module, Failure> {
        let (handle, is_cached) = load(text, cache)?;
        let mut module = Module { handle, is_cached, kernels: Vec::with_capacity(kernels.len()) };
        for (number, (kernel, code)) in kernels.iter().cloned().enumerate() {
            let compiled = match code {
                KernelCode::Steps(program) => {
                    let count = program.steps.iter().map(|step| step.plan.entries.len()).sum();
                    let entries = module.entries(number, count)?;
                    Compiled::Kernel(Box::new(CompiledKernel { kernel, program, entries }))
                }
                KernelCode::Service(service) => {
                    let entries = module.entries(number, service.entries())?;
                    Compiled::Service(CompiledService { service, entries })
                }
            };
            module.kernels.push(compiled);
        }
        Ok(module)
    }

    /// Returns the first `count` entries of a kernel.
    fn entries(&self, kernel: usize, count: usize) -> Result<Vec<CompiledEntry>, Failure> {
        let entry = |at| {
            let name = CString::new(entry_name(kernel, at))
                .map_err(|_| device_failure("an entry with a zero byte in its name"))?;
            // SAFETY: the module is loaded, and is unloaded when it is dropped.
            let entry = unsafe { result::module::get_function(self.handle, name) };
            entry.and_then(CompiledEntry::new).map_err(|error| failure("find an entry", error))
        };
        (0..count).map(entry).collect()
    }
}

/// Loads a text, from the cache if it was compiled before. Returns true if it was.
fn load(text: &str, cache: Option<&Cache>) -> Result<(sys::CUmodule, bool), Failure> {
    let Some(cache) = cache else { return Ok((load_image(&compile(text)?)?, false)) };
    // Code that the driver does not take, because the file is damaged, is compiled anew.
    if let Some(code) = cache.find(text)
        && let Ok(handle) = load_image(&code)
    {
        return Ok((handle, true));
    }
    let code = compile(text)?;
    cache.keep(text, &code);
    Ok((load_image(&code)?, false))
}

/// Compiles a text to the code of the device.
fn compile(text: &str) -> Result<Vec<u8>, Failure> {
    let text = CString::new(text).map_err(|_| device_failure("PTX with a zero byte"))?;
    let bytes = text.as_bytes_with_nul();
    let (mut state, mut code, mut length) = (ptr::null_mut(), ptr::null_mut(), 0);
    with_log(|count, options, values| {
        // SAFETY: `with_log` passes options with their values, which outlive the linker: it is
        // destroyed here.
        unsafe { sys::cuLinkCreate_v2(count, options, values, &mut state) }.result()?;
        // SAFETY: the linker exists, and the text outlives the call.
        let added = unsafe {
            sys::cuLinkAddData_v2(
                state,
                CUjitInputType::CU_JIT_INPUT_PTX,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                c"kernels".as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        let linked = added.result().and_then(|()| {
            // SAFETY: the linker exists; it owns the code until it is destroyed.
            unsafe { sys::cuLinkComplete(state, &mut code, &mut length) }.result()?;
            // SAFETY: the driver wrote the address and the length of the code.
            Ok(unsafe { std::slice::from_raw_parts(code.cast::<u8>(), length) }.to_vec())
        });
        // SAFETY: the linker is destroyed once, after its code was copied. A failure to free it has
        // nobody to hear it.
        let _ = unsafe { sys::cuLinkDestroy(state) };
        linked
    })
}

/// Loads code of the device.
fn load_image(code: &[u8]) -> Result<sys::CUmodule, Failure> {
    let mut handle = ptr::null_mut();
    with_log(|count, options, values| {
        // SAFETY: the driver made this code and copies it; `with_log` passes options with values.
        let status = unsafe {
            sys::cuModuleLoadDataEx(&mut handle, code.as_ptr().cast(), count, options, values)
        };
        status.result()
    })?;
    Ok(handle)
}

/// Calls the driver's compiler with options that give it room for complaints: their number, the
/// options, their values. The complaints are part of the failure.
fn with_log<T>(
    call: impl FnOnce(u32, *mut JitOption, *mut *mut c_void) -> Result<T, DriverError>,
) -> Result<T, Failure> {
    let mut log = vec![0u8; LOG_BYTES];
    let mut options =
        [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    let outcome = call(options.len() as u32, options.as_mut_ptr(), values.as_mut_ptr());
    outcome.map_err(|error| {
        let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        let complaint = String::from_utf8_lossy(&log[..end]).trim().to_string();
        match complaint.is_empty() {
            true => failure("compile a kernel", error),
            false => device_failure(format!("the driver does not compile a kernel: {complaint}")),
        }
    })
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded by `compile` and is unloaded once. The runtime waits for
        // its launches before it lets go of a module.
        let _ = unsafe { result::module::unload(self.handle) };
    }
}
