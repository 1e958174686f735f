//! Executes kir on the CPU: machine code by Cranelift, on all cores.
//!
//! ```text
//! Cpu ── memory     aligned blocks; freed ones are kept for reuse
//!     ├─ arena      the memory that work items allocate
//!     ├─ workers    the threads; pool: their synchronisation
//!     ├─ parts      what work items emit, until it is copied to its place
//!     ├─ abi        the interface between compiled code and the runtime
//!     ├─ callbacks, services   routines that compiled code calls
//!     ├─ codegen    kir → machine code: vectors across elements, scalar code for the rest
//!     ├─ modules    the cache of compiled modules; speculative compilation
//!     ├─ pace       the times of a kernel's launches: whether other threads help
//!     └─ launch     elements → chunks → threads; partial results combined
//! ```
//!
//! Launches execute at once; failures wait until they are asked for. Where a result depends on the chunks, these
//! depend on the size of the space and the number of threads only, so that a launch gives the same bits each
//! time; a launch of little work is one chunk on the calling thread.

mod abi;
mod arena;
mod buffer;
mod callbacks;
mod codegen;
mod launch;
mod memory;
mod modules;
mod pace;
mod pages;
mod parts;
mod pool;
mod processors;
mod services;
mod workers;

use buffer::{address, internal_failure};
use codegen::Compiled;
use codegen::machine::Machine;
use memory::Memory;
use modules::Modules;
pub use modules::is_prefetching;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Module, Ty};
use nesl_runtime::runtime::{
    Buffer, Caps, Costs, Counters, Failure, Launch, Loaded, Options, Runtime,
};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use workers::Workers;

/// The costs of the host's own memory and threads: a launch is a call, and waking the threads.
const COSTS: Costs = Costs {
    launch_ns: 2_000,
    drain_ns: 0,
    read_ns: 20,
    write_ns: 20,
    transfer_ns_per_mib: 100_000,
};

/// The runtime of the CPU.
pub struct Cpu {
    caps: Caps,
    options: Options,
    memory: Arc<Memory>,
    modules: Modules,
    workers: Workers,
    counters: Mutex<Counters>,
    /// The failure that has not been reported yet.
    failure: Mutex<Option<Failure>>,
}

impl Cpu {
    /// Creates a runtime with these options.
    ///
    /// # Errors
    /// If there is no code generator for this machine.
    pub fn new(options: Options) -> Result<Cpu, Failure> {
        Cpu::with_grain(options, launch::MIN_CHUNK_OPERATIONS)
    }

    /// Creates a runtime that splits launches into chunks of at least `grain` operations: of few, in
    /// tests, so that small launches are split, too.
    ///
    /// # Errors
    /// If there is no code generator for this machine.
    pub fn with_grain(options: Options, grain: u64) -> Result<Cpu, Failure> {
        Cpu::on(Machine::new().map_err(|e| internal_failure(&e))?, options, grain)
    }

    /// Creates a runtime whose vectors have at most so many bits, for tests: results do not depend on
    /// the width. Usually it is that of the processor, or what the environment variable
    /// `NESL_VECTOR_BITS` says, if that is less.
    ///
    /// # Errors
    /// If there is no code generator for this machine.
    pub fn with_vectors(options: Options, grain: u64, bits: usize) -> Result<Cpu, Failure> {
        let machine = Machine::new().map_err(|e| internal_failure(&e))?;
        Cpu::on(machine.with_vectors_of(bits / 8), options, grain)
    }

    fn on(machine: Machine, options: Options, grain: u64) -> Result<Cpu, Failure> {
        let memory = Memory::new(options.memory);
        let threads = options.threads.max(1);
        let workers = Workers::new(threads, grain.max(1), memory.clone());
        Ok(Cpu {
            caps: Caps {
                name: "cpu".into(),
                parallelism: threads,
                multiprocessors: threads,
                shares_host_memory: true,
                recursion: true,
                falls_back: false,
                allocation: true,
                memory: options.memory,
                memory_bandwidth: None,
                prefetches: threads > 1,
                costs: COSTS,
            },
            modules: Modules::new(machine, &workers),
            workers,
            options,
            memory,
            counters: Mutex::default(),
            failure: Mutex::default(),
        })
    }

    /// The bits of the widest vectors that there is code for on this processor.
    pub fn vector_bits(&self) -> usize {
        8 * self.modules.vector_bytes()
    }

    /// The number of machine functions in the cache of modules that have vectors wider than usual, for
    /// tests: code that is declined there is compiled with vectors of 128 bits, and nothing else shows it.
    pub fn wide_functions(&self) -> usize {
        self.modules.wide_functions()
    }

    /// Reports the failure of an earlier launch, once.
    fn report(&self) -> Result<(), Failure> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.counters.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn execute(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let compiled = launch.module.0.downcast_ref::<Compiled>();
        let compiled =
            compiled.ok_or_else(|| internal_failure("the module is of another runtime"))?;
        let code = compiled.kernels.get(launch.kernel);
        let code = code.ok_or_else(|| internal_failure("there is no such kernel"))?;
        self.count(|counters| counters.launched(!code.kernel.outputs.is_empty()));
        launch::launch(code, launch, &self.workers, &self.options)
    }
}

impl Runtime for Cpu {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        buffer::alloc(&self.memory, ty, length)
    }

    fn alloc_at_most(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        buffer::alloc_at_most(&self.memory, ty, length)
    }

    fn filled(&self, buffer: &Buffer, length: usize) -> Result<(), Failure> {
        buffer::block(buffer)?.count(length.min(buffer.len()) * buffer.ty().size())
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let to = address(buffer, at, bytes.len())?;
        self.count(|counters| counters.wrote(bytes.len()));
        // SAFETY: `address` compared the bounds; all launches are done, and no reference to the block
        // is handed out.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        let start = Instant::now();
        let stop = &*self.options.interrupt;
        let loaded = self.modules.load(module, &self.workers, stop).map_err(|e| {
            if stop.load(Relaxed) {
                Failure::Machine(FaultCode::Interrupted.into())
            } else {
                internal_failure(&e)
            }
        });
        let (compiled, first) = loaded?;
        if first {
            self.count(|counters| {
                counters.modules += 1;
                counters.compile_ns += start.elapsed().as_nanos() as u64;
            });
        }
        Ok(Loaded(compiled))
    }

    fn prefetch(&self, module: &Module) {
        if self.caps.prefetches {
            self.modules.prefetch(module);
        }
    }

    fn cancel_prefetch(&self) {
        self.modules.cancel_prefetch();
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            match self.execute(launch) {
                Ok(outputs) => return Ok(outputs),
                Err(found) => *failure = Some(found),
            }
        }
        // Only outputs cannot wait: their lengths are asked for.
        let compiled = launch.module.0.downcast_ref::<Compiled>();
        let code = compiled.and_then(|compiled| compiled.kernels.get(launch.kernel));
        match code {
            Some(code) if code.kernel.outputs.is_empty() => Ok(Vec::new()),
            _ => Err(failure.take().or_bug("a launch that is not executed has a failure")),
        }
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.report()?;
        let from = address(buffer, at, out.len())?;
        self.count(|counters| counters.read(out.len()));
        // SAFETY: `address` compared the bounds; all launches are done, and no reference to the block
        // is handed out.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    fn sync(&self) -> Result<(), Failure> {
        self.count(Counters::drained);
        self.report()
    }

    fn release_device(&self) -> Result<(), Failure> {
        self.memory.free_unused();
        Ok(())
    }

    fn poll(&self) -> Result<bool, Failure> {
        // Every launch is executed at once.
        self.report()?;
        if self.options.interrupt.load(Relaxed) {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        Ok(true)
    }

    fn counters(&self) -> Counters {
        let (bytes, peak_bytes) = self.memory.usage();
        Counters {
            loaded: self.modules.len() as u64,
            prefetch_ns: self.modules.prefetch_ns(),
            bytes,
            peak_bytes,
            ..*self.counters.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
