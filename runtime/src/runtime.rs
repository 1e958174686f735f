//! The contract of runtimes: memory, compilation, launches.
//!
//! The trait is small and object-safe. [`Runtime::launch`] only enqueues (a runtime may also
//! execute at once); a failure is reported at [`Runtime::read`] or [`Runtime::sync`], or at a launch
//! that makes outputs. It is reported once; launches between a failure and its report have no
//! effect, and launches after the report are executed again.
//! Buffers are freed by being dropped, after their last use. Every call is made from one thread.

use crate::fault::Fault;
use crate::kir::{Extern, Literal, Module, Site, Ty};
use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

/// A handle to an array of a runtime.
///
/// Handles are counted: cloning one shares the array, dropping the last frees it. An array with a
/// single handle may be overwritten by its owner ([`Buffer::is_unique`]).
#[derive(Clone)]
pub struct Buffer {
    ty: Ty,
    length: usize,
    storage: Arc<dyn Any + Send + Sync>,
}

/// A handle to an array that does not keep it: for what is known of an array as long as somebody
/// else holds it.
#[derive(Clone)]
pub struct WeakBuffer {
    ty: Ty,
    length: usize,
    storage: Weak<dyn Any + Send + Sync>,
}

/// The machine that a runtime drives, as the compiler asks about it: what kernels may contain, and
/// what its thresholds depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// The name: `cpu`, `reference`, the name of a device.
    pub name: String,
    /// The number of work items that make progress at the same time, approximately.
    pub parallelism: usize,
    /// The number of processors that share nothing but memory: the cores of a CPU, the
    /// multiprocessors of a GPU.
    pub multiprocessors: usize,
    /// True if arrays lie in the memory of the host: reading or writing a few elements is then as
    /// cheap for the host as for a launch.
    pub shares_host_memory: bool,
    /// True if work items may call functions that call themselves.
    pub recursion: bool,
    /// True if a kernel that contains what the machine refuses is executed all the same, by the host:
    /// the arrays that it uses are copied there, and back when the machine needs them.
    pub falls_back: bool,
    /// True if work items may allocate arrays of any length. Otherwise [`Runtime::load`] says of
    /// each module whether its arrays are possible.
    pub allocation: bool,
    /// The limit on the size of all arrays together, in bytes.
    pub memory: u64,
    /// The bytes that its memory moves in a second, at most; `None` where that is not known.
    pub memory_bandwidth: Option<u64>,
    /// True if [`Runtime::prefetch`] compiles in the background.
    pub prefetches: bool,
    /// The time that each use of the runtime costs the host.
    pub costs: Costs,
}

/// The costs of using a runtime, in nanoseconds, approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Enqueuing a launch.
    pub launch_ns: u64,
    /// Waiting for launches that have just ended: a drain.
    pub drain_ns: u64,
    /// Reading a few bytes when nothing is under way.
    pub read_ns: u64,
    /// Writing a few bytes.
    pub write_ns: u64,
    /// Copying a mebibyte between the host and the runtime.
    pub transfer_ns_per_mib: u64,
}

/// A compiled module.
#[derive(Clone)]
pub struct Loaded(pub Arc<dyn Any + Send + Sync>);

/// An argument of a launch.
#[derive(Clone, Debug)]
pub enum Arg {
    /// An argument for a scalar parameter.
    Scalar(Literal),
    /// An argument for an array parameter: the array from this element on.
    Array(Buffer, usize),
}

/// One execution of a kernel.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The compiled module.
    pub module: &'a Loaded,
    /// The index of the kernel in the module.
    pub kernel: usize,
    /// The arguments, one for each parameter, of its type.
    pub args: &'a [Arg],
    /// A number that identifies this launch in a [`Failure`].
    pub tag: u64,
    /// The number of work items, if the caller knows it: a runtime need not read the last offset of
    /// a segmented space then.
    pub work_items: Option<usize>,
}

/// One of the parts of arrays that [`Runtime::read_many`] reads.
#[derive(Debug)]
pub struct Read<'a> {
    /// The array that is read from.
    pub buffer: &'a Buffer,
    /// The index of the first element to be read.
    pub at: usize,
    /// The place for the bytes, which says how many there are.
    pub out: &'a mut [u8],
}

/// A point in the order of launches, for measuring the time of a device between two of them.
#[derive(Clone)]
pub struct Mark(pub Arc<dyn Any + Send + Sync>);

/// A runtime among those that share the work of a [`Runtime`], with the launches it executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The name of the runtime.
    pub name: String,
    /// The counters of its part of the work.
    pub counters: Counters,
}

/// A kernel that the first choice among several runtimes cannot execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the kernel.
    pub kernel: String,
    /// The reason that the first choice gave.
    pub reason: Reason,
    /// The number of its launches on the runtime that executes it instead.
    pub launches: u64,
}

/// A failure; of several enqueued launches, that of the first that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A check did not hold.
    Program {
        /// The tag of the launch.
        tag: u64,
        /// The failure site of the check.
        site: Site,
        /// The index of the first work item, in the order of the space, at which it did not hold.
        work_item: u64,
        /// The check's details.
        detail: Vec<i64>,
        /// The text of an [`Op::Fail`](crate::kir::Op::Fail).
        text: Option<Vec<u8>>,
    },
    /// No memory, recursion too deep, interrupted, or a fault of a device.
    Machine(Fault),
    /// The runtime cannot execute the module; only [`Runtime::load`] fails so.
    Unsupported(Reason),
}

/// The reason for which a runtime cannot execute a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A function may call itself.
    Recursion,
    /// A work item allocates.
    Allocation,
    /// The code of a kernel is too long, once its calls are inlined.
    CodeSize,
    /// The runtime has no implementation of a collective operation: its name in the text of kir.
    Collective(&'static str),
    /// The runtime has no implementation of an intrinsic.
    Intrinsic(Extern),
}

/// Exact counters since the runtime was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of kernels executed.
    pub launches: u64,
    /// The number of modules compiled and loaded; one that was only prefetched does not count.
    pub modules: u64,
    /// The number of these modules whose code an earlier process had compiled and left on disk.
    pub cached: u64,
    /// The number of modules kept at present. One that nobody holds is kept until many others were
    /// used since.
    pub loaded: u64,
    /// Nanoseconds that calls of `load` waited for compilation; the time of other threads does not
    /// count.
    pub compile_ns: u64,
    /// Nanoseconds that another thread spent on speculative compilation, used later or not.
    pub prefetch_ns: u64,
    /// The size of all arrays at present, in bytes.
    pub bytes: u64,
    /// The largest size of all arrays at a time, in bytes.
    pub peak_bytes: u64,
    /// The number of bytes that the host wrote and read.
    pub transferred: u64,
    /// The number of reads of one or more elements; those of one [`Runtime::read_many`] count as one.
    pub reads: u64,
    /// The number of writes of one or more elements.
    pub writes: u64,
    /// The number of times that the host waited for launches: launches that make outputs, and reads
    /// and calls of [`Runtime::sync`] after a launch that nothing had waited for. A runtime that
    /// executes at once counts them as well, so that they can be tested everywhere.
    pub drains: u64,
    /// The number of launches that nothing has waited for yet.
    pub under_way: u64,
    /// The work counted by the interpreter of kir, and by no other runtime: instructions executed,
    /// and elements that one instruction or sink moves, compares or combines.
    pub work: u64,
}

/// The options of every runtime.
#[derive(Clone, Debug)]
pub struct Options {
    /// Set from another thread to stop: launches end with [`Fault`] `Interrupted`.
    pub interrupt: Arc<AtomicBool>,
    /// The limit on the size of all arrays together, in bytes.
    pub memory: u64,
    /// The limit on the size of all arrays together on a device with memory of its own, in bytes;
    /// its memory if there is none.
    pub device_memory: Option<u64>,
    /// The folder that keeps compiled modules for other processes; none to keep none. Only runtimes
    /// whose compilation is slow use it.
    pub cache: Option<PathBuf>,
    /// The number of threads to use, for runtimes that use the host's.
    pub threads: usize,
    /// The number of calls that may nest in one work item.
    pub max_depth: usize,
    /// The size in bytes that the stack of a work item's nested calls may have.
    pub max_stack_bytes: usize,
}

/// The number of threads that a runtime may be asked to use: more than any machine has cores, and few enough
/// for the system to start them.
pub const MAX_THREADS: usize = 1024;

/// The size in bytes that a stack of nested calls may have, unless something else is asked for.
///
/// A recursion that does not end should be reported soon and take little memory; one that ends may
/// have a million levels, for which each of them may take 134 bytes.
pub const DEFAULT_STACK_BYTES: usize = 128 << 20;

/// A device, or the host, that executes kir.
pub trait Runtime {
    /// The machine that it drives.
    fn caps(&self) -> &Caps;
    /// Returns a new array of uninitialised elements. Faults `OutOfMemory`.
    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure>;
    /// Returns a new array of uninitialised elements for a launch that fills it from its beginning, with at
    /// most so many. A runtime whose memory is only used where it is written may count the array when it is
    /// known how much of it is: [`Runtime::filled`] says that.
    fn alloc_at_most(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.alloc(ty, length)
    }
    /// Says that all launches that fill an array of [`Runtime::alloc_at_most`] have filled its first `length`
    /// elements, and that the others will not be used. Faults `OutOfMemory`.
    fn filled(&self, _buffer: &Buffer, _length: usize) -> Result<(), Failure> {
        Ok(())
    }
    /// Writes elements, as bytes in the machine's order, from an element on.
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure>;
    /// Compiles a well-formed module ([`crate::kir::verify`](crate::kir::verify())); the same module is
    /// compiled once, at the latest by its first launch. Fails with [`Failure::Unsupported`] if the runtime
    /// cannot execute it.
    fn load(&self, module: &Module) -> Result<Loaded, Failure>;
    /// Announces that a well-formed module will probably be loaded soon: an idle thread may compile
    /// it speculatively. Only time depends on this; a failure is reported by [`Runtime::load`] alone.
    fn prefetch(&self, _module: &Module) {}
    /// Forgets every announced module that no thread has begun to compile.
    fn cancel_prefetch(&self) {}
    /// Executes a kernel, now or later. Returns the kernel's outputs, whose lengths are known.
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure>;
    /// Reads elements, as bytes in the machine's order, from an element on, after everything
    /// enqueued is done.
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure>;
    /// Reads several parts of arrays as [`Runtime::read`] does, with one wait for all of them.
    fn read_many(&self, reads: &mut [Read<'_>]) -> Result<(), Failure> {
        reads.iter_mut().try_for_each(|read| self.read(read.buffer, read.at, read.out))
    }
    /// Waits until everything enqueued is done.
    fn sync(&self) -> Result<(), Failure>;
    /// Reports a failure that is known already, or an interrupt, without waiting. Returns true if
    /// everything enqueued is done.
    fn poll(&self) -> Result<bool, Failure> {
        self.sync().map(|()| true)
    }
    /// Marks a point in the order of launches; `None` if the runtime measures no time of its own.
    fn mark(&self) -> Result<Option<Mark>, Failure> {
        Ok(None)
    }
    /// Returns the nanoseconds between two marks, both of which everything enqueued has passed.
    fn nanoseconds_between(&self, _from: &Mark, _to: &Mark) -> Result<u64, Failure> {
        Ok(0)
    }
    /// Moves all arrays to the memory of the host, and gives a device of its own back until an array or
    /// a launch needs it again. Memory of the host that is kept for later arrays is freed. After a failure it still
    /// has the device.
    fn release_device(&self) -> Result<(), Failure> {
        Ok(())
    }
    /// Returns true if an array is kept in the memory of the host alone, although there is a device.
    fn is_spilled(&self, _buffer: &Buffer) -> bool {
        false
    }
    /// Returns the counters.
    fn counters(&self) -> Counters;
    /// Returns the shares of the runtimes that this one distributes work to; none if it executes
    /// everything itself.
    fn shares(&self) -> Vec<Share> {
        Vec::new()
    }
    /// Returns the kernels that the first of these runtimes cannot execute, with reasons.
    fn refusals(&self) -> Vec<Refusal> {
        Vec::new()
    }
}

impl Counters {
    /// Returns the counters of several devices that were used one after the other: what was counted before
    /// this one, and what this one counts.
    pub fn after(self, before: &Counters) -> Counters {
        Counters {
            launches: before.launches + self.launches,
            modules: before.modules + self.modules,
            cached: before.cached + self.cached,
            loaded: self.loaded,
            compile_ns: before.compile_ns + self.compile_ns,
            prefetch_ns: before.prefetch_ns + self.prefetch_ns,
            bytes: self.bytes,
            peak_bytes: before.peak_bytes.max(self.peak_bytes),
            transferred: before.transferred + self.transferred,
            reads: before.reads + self.reads,
            writes: before.writes + self.writes,
            drains: before.drains + self.drains,
            under_way: self.under_way,
            work: before.work + self.work,
        }
    }

    /// Counts a launch. One that makes outputs waits for their lengths, and goes on after that.
    pub fn launched(&mut self, makes_outputs: bool) {
        self.launches += 1;
        self.under_way += 1;
        if makes_outputs {
            self.drained();
            self.under_way = 1;
        }
    }

    /// Counts that the host waits until everything enqueued is done.
    pub fn drained(&mut self) {
        self.drains += u64::from(self.under_way > 0);
        self.under_way = 0;
    }

    /// Counts a read of some bytes, which waits.
    pub fn read(&mut self, bytes: usize) {
        self.drained();
        if bytes > 0 {
            self.reads += 1;
            self.transferred += bytes as u64;
        }
    }

    /// Counts a write of some bytes.
    pub fn wrote(&mut self, bytes: usize) {
        if bytes > 0 {
            self.writes += 1;
            self.transferred += bytes as u64;
        }
    }
}

impl Buffer {
    /// A handle to an array that a runtime keeps as `storage`; for runtimes.
    pub fn new(ty: Ty, length: usize, storage: Arc<dyn Any + Send + Sync>) -> Buffer {
        Buffer { ty, length, storage }
    }

    /// The type of its elements.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The runtime's representation of the array, if it is of this type.
    pub fn storage<T: 'static>(&self) -> Option<&T> {
        self.storage.downcast_ref()
    }

    /// Returns true if this is the only handle.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.storage) == 1
    }

    /// Returns a handle that does not keep the array, nor counts in [`Buffer::is_unique`].
    pub fn downgrade(&self) -> WeakBuffer {
        WeakBuffer { ty: self.ty, length: self.length, storage: Arc::downgrade(&self.storage) }
    }

    /// Returns a number that no other array has as long as a handle to this one exists, a weak one
    /// included.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.storage).cast::<()>() as usize
    }

    /// Returns true if two handles share an array.
    pub fn is_same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }
}

impl WeakBuffer {
    /// Returns a handle to the array, if somebody still holds it.
    pub fn upgrade(&self) -> Option<Buffer> {
        let storage = self.storage.upgrade()?;
        Some(Buffer { ty: self.ty, length: self.length, storage })
    }

    /// Returns true if somebody holds the array.
    pub fn is_held(&self) -> bool {
        self.storage.strong_count() > 0
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            interrupt: Arc::default(),
            memory: default_memory_limit(),
            device_memory: None,
            cache: None,
            threads: available_threads(),
            max_depth: 10_000_000,
            max_stack_bytes: DEFAULT_STACK_BYTES,
        }
    }
}

/// Returns the number of threads that this process may run at a time, as it was when first asked for: the system reads
/// several files to find it out.
pub fn available_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns three quarters of the memory of this computer, in bytes; of 8 GiB where that is not known.
pub fn default_memory_limit() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(memory_limit_of_computer)
}

fn memory_limit_of_computer() -> u64 {
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

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Recursion => out.write_str("recursive functions"),
            Reason::Allocation => out.write_str("arrays allocated by work items"),
            Reason::CodeSize => out.write_str("very long code"),
            Reason::Collective(name) => write!(out, "the collective operation `{name}`"),
            Reason::Intrinsic(intrinsic) => write!(out, "the intrinsic `{}`", intrinsic.mnemonic()),
        }
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Mark")
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Loaded")
    }
}
