//! The CPU's runtime behind the capabilities of a large GPU, so that every decision of the engine is
//! the one made for a device with memory of its own.

use nesl_runtime::kir::{Module, Ty};
use nesl_runtime::runtime::{Buffer, Caps, Counters, Failure, Launch, Loaded, Read, Runtime};
use nesl_runtime_cpu::Cpu;
use std::cell::Cell;
use std::rc::Rc;

/// The number of multiprocessors of the device that the wrapper stands for.
const MULTIPROCESSORS: usize = 132;
/// The number of threads that each multiprocessor keeps.
const THREADS_PER_MULTIPROCESSOR: usize = 2048;

/// The CPU's runtime with the capabilities of a device that has its own memory.
pub struct Device {
    cpu: Cpu,
    caps: Caps,
    /// The number of calls of `load`, counted for the test.
    loads: Rc<Cell<u64>>,
    /// The number of reads that were made together with another one.
    merged_reads: Cell<u64>,
}

impl Device {
    /// Makes a device of the CPU's runtime; counts its calls of `load`.
    pub fn new(cpu: Cpu, loads: Rc<Cell<u64>>) -> Device {
        let caps = Caps {
            parallelism: MULTIPROCESSORS * THREADS_PER_MULTIPROCESSOR,
            multiprocessors: MULTIPROCESSORS,
            shares_host_memory: false,
            prefetches: false,
            ..cpu.caps().clone()
        };
        Device { cpu, caps, loads, merged_reads: Cell::new(0) }
    }
}

impl Runtime for Device {
    fn caps(&self) -> &Caps {
        &self.caps
    }
    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.cpu.alloc(ty, length)
    }
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.cpu.write(buffer, at, bytes)
    }
    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        self.loads.set(self.loads.get() + 1);
        self.cpu.load(module)
    }
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        self.cpu.launch(launch)
    }
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.cpu.read(buffer, at, out)
    }
    fn read_many(&self, reads: &mut [Read<'_>]) -> Result<(), Failure> {
        let parts = reads.iter().filter(|read| !read.out.is_empty()).count() as u64;
        self.cpu.read_many(reads)?;
        self.merged_reads.set(self.merged_reads.get() + parts.saturating_sub(1));
        Ok(())
    }
    fn sync(&self) -> Result<(), Failure> {
        self.cpu.sync()
    }
    fn poll(&self) -> Result<bool, Failure> {
        self.cpu.poll()
    }
    fn counters(&self) -> Counters {
        // The CPU counts each part of what is read together, a device counts one read.
        let counters = self.cpu.counters();
        Counters { reads: counters.reads - self.merged_reads.get(), ..counters }
    }
}
