//! What a runtime is: memory, compilation, launches.
//!
//! The trait is small and object-safe. [`Runtime::launch`] only enqueues (a runtime may also
//! execute at once); what went wrong comes to light at [`Runtime::read`] or [`Runtime::sync`], or
//! at a launch that makes outputs. It is reported once; what was launched between it and its
//! report has no effect, and what is launched after the report is executed again.
//! Buffers are freed by being dropped, after their last use. Every call is made from one thread.

use crate::fault::Fault;
use crate::kir::{Literal, Module, Site, Ty};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An array of a runtime.
///
/// Handles are counted: cloning one shares the array, dropping the last frees it. An array whose
/// only handle is at hand may be overwritten ([`Buffer::is_unique`]).
#[derive(Clone)]
pub struct Buffer {
    ty: Ty,
    length: usize,
    storage: Arc<dyn Any + Send + Sync>,
}

/// What a runtime can do, for those who choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Its name: `cpu`, `reference`, the name of a device.
    pub name: String,
    /// How many instances make progress at the same time, about.
    pub parallelism: usize,
    /// Whether instances may call functions that call themselves, and allocate.
    pub recursion: bool,
    /// Bytes that arrays may take in all.
    pub memory: u64,
    /// True if [`Runtime::prefetch`] compiles in the background.
    pub prefetches: bool,
}

/// A compiled module.
#[derive(Clone)]
pub struct Loaded(pub Arc<dyn Any + Send + Sync>);

/// An argument of a launch.
#[derive(Clone, Debug)]
pub enum Arg {
    /// For a scalar parameter.
    Scalar(Literal),
    /// For an array parameter: the array from this element on.
    Array(Buffer, usize),
}

/// One execution of a kernel.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The module.
    pub module: &'a Loaded,
    /// The kernel in it.
    pub kernel: usize,
    /// One for each parameter, of its type.
    pub args: &'a [Arg],
    /// Names this launch in a [`Failure`].
    pub tag: u64,
}

/// What went wrong in what was enqueued: the first failure in the order of launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A check did not hold.
    Program {
        /// The launch.
        tag: u64,
        /// Which check.
        site: Site,
        /// The index of the first work item, in the order of the space, at which it did not hold.
        work_item: u64,
        /// The check's details.
        detail: Vec<i64>,
        /// The text of an [`Op::Fail`](crate::kir::Op::Fail).
        text: Option<Vec<u8>>,
    },
    /// No memory, recursion too deep, interrupted, or trouble with a device.
    Machine(Fault),
}

/// Counters, exact ones, since the runtime was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels executed.
    pub launches: u64,
    /// Modules compiled and loaded; one that was only prefetched does not count.
    pub modules: u64,
    /// Modules kept now. One that nobody holds is kept until many others were used since.
    pub loaded: u64,
    /// Nanoseconds that those who loaded modules waited for them to be compiled: what another
    /// thread did meanwhile does not count.
    pub compile_ns: u64,
    /// Nanoseconds that another thread spent on speculative compilation, used later or not.
    pub prefetch_ns: u64,
    /// Bytes of arrays now.
    pub bytes: u64,
    /// The most there were at a time.
    pub peak_bytes: u64,
    /// Bytes written by and read to the host.
    pub transferred: u64,
    /// Instructions executed, and elements that one instruction or sink moves, compares or
    /// combines: what the interpreter of kir counts, and nobody else.
    pub work: u64,
}

/// Options of every runtime.
#[derive(Clone, Debug)]
pub struct Options {
    /// Set from another thread to stop: launches end with [`Fault`] `Interrupted`.
    pub interrupt: Arc<AtomicBool>,
    /// Bytes that arrays may take in all.
    pub memory: u64,
    /// Threads to use, if it makes a difference.
    pub threads: usize,
    /// Calls within calls in one instance after which recursion is too deep.
    pub max_depth: usize,
}

/// Executes kir.
pub trait Runtime {
    /// What it can do.
    fn caps(&self) -> &Caps;
    /// A new array, not yet written. Faults `OutOfMemory`.
    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure>;
    /// Writes elements, as bytes in the machine's order, from an element on.
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure>;
    /// Compiles a lawful module ([`crate::kir::verify`]); the same module is compiled once.
    fn load(&self, module: &Module) -> Result<Loaded, Failure>;
    /// Announces that a well-formed module will probably be loaded soon: an idle thread may compile
    /// it speculatively. Only time depends on this; a failure is reported by [`Runtime::load`] alone.
    fn prefetch(&self, _module: &Module) {}
    /// Forgets every announced module that no thread has begun to compile.
    fn cancel_prefetch(&self) {}
    /// Executes a kernel, now or later. Gives the kernel's outputs, whose lengths are known.
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure>;
    /// Reads elements, as bytes in the machine's order, from an element on, after everything
    /// enqueued is done.
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure>;
    /// Waits until everything enqueued is done.
    fn sync(&self) -> Result<(), Failure>;
    /// What was done so far.
    fn counters(&self) -> Counters;
}

impl Buffer {
    /// A handle to what a runtime keeps; for runtimes.
    pub fn new(ty: Ty, length: usize, storage: Arc<dyn Any + Send + Sync>) -> Buffer {
        Buffer { ty, length, storage }
    }

    /// The type of its elements.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What the runtime keeps, if it is of this sort.
    pub fn storage<T: 'static>(&self) -> Option<&T> {
        self.storage.downcast_ref()
    }

    /// Whether this is the only handle.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.storage) == 1
    }

    /// Whether two handles share an array.
    pub fn is_same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            interrupt: Arc::default(),
            memory: most_memory(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_depth: 10_000_000,
        }
    }
}

/// Three quarters of the memory of this computer; where it does not say, of 8 GiB.
fn most_memory() -> u64 {
    let known = std::fs::read_to_string("/proc/meminfo").ok();
    let kilobytes = known.as_deref().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    kilobytes.unwrap_or(8 << 20) / 4 * 3 * 1024
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffer({:?} × {})", self.ty, self.length)
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Loaded")
    }
}
