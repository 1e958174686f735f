//! The runtime of NVIDIA GPUs: kir → PTX text, which the driver compiles and executes.
//!
//! ```text
//! kir ──emit──▶ PTX ──driver──▶ code of the device
//! launch ──▶ the passes of the kernel, enqueued on one stream
//! read, sync ──▶ wait; the record of failures
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`emit`] | kir → PTX |
//! | [`driver`] | the device, its memory, its modules, its stream |
//! | `launch` | arguments, areas and grids |
//! | [`services`] | sorting, ranking and grouping |
//!
//! No toolkit is needed: the driver has a compiler. Without a driver nothing is loaded, and
//! [`Ptx::new`] says what was missing.

pub mod driver;
pub mod emit;
mod launch;
pub mod services;

use driver::cache::Cache;
use driver::device::{Device, NoDevice};
use driver::memory::{Block, Memory};
use driver::module::{Compiled, LazyModule, Module};
use driver::stream::{Copy, Stream, TimedEvent};
use emit::PASS_BITS;
use emit::failure::{Kind, NO_FAILURE, RECORD_BYTES, STAGE_SHIFT, offset};
use launch::{Launcher, StatusMemory};
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{self, Site, Ty};
use nesl_runtime::runtime::{
    Buffer, Caps, Costs, Counters, Failure, Launch, Loaded, Mark, Options, Read, Runtime,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The number of modules from which on those not in use are dropped.
const MAX_UNUSED_MODULES: usize = 256;

/// The bytes of the record that say which launch failed, where and why, without the text.
const HEAD_BYTES: usize = offset::TEXT;

/// The costs of the driver, as `bench/gpu` measured them on an H100 in a virtual machine
/// (`bench/results/gpu-2026-11-26.md`); that of transfers is estimated for PCI Express.
const COSTS: Costs = Costs {
    launch_ns: 8_000,
    drain_ns: 4_000,
    read_ns: 13_000,
    write_ns: 8_000,
    transfer_ns_per_mib: 50_000,
};

/// The number of passes that no launch exceeds, those that are repeated included.
const MAX_PASSES_OF_LAUNCH: u64 = 1 << 16;

/// A GPU, as a runtime.
pub struct Ptx {
    // Fields are dropped in this order: the stream waits for its work, then memory and modules go.
    stream: Stream,
    modules: RefCell<FxHashMap<kir::Module, Loaded>>,
    /// The record of failures, and the tickets of the passes.
    shared: Block,
    /// The states of tiles.
    status: StatusMemory,
    memory: Arc<Memory>,
    device: Arc<Device>,
    caps: Caps,
    options: Options,
    /// The modules that earlier processes compiled, if they are kept.
    cache: Option<Cache>,
    counters: Cell<Counters>,
    /// The number of the last pass.
    pass: Cell<u64>,
    /// The passes since the last report, with the tags of their launches.
    under_way: RefCell<VecDeque<(u64, u64)>>,
}

impl Ptx {
    /// The runtime of a device, by its number from 0 on. Fails if there is none.
    pub fn new(device: usize, options: Options) -> Result<Ptx, NoDevice> {
        let device = Arc::new(Device::open(device)?);
        Ptx::of(device, options).map_err(|failure| NoDevice::Driver(format!("{failure:?}")))
    }

    fn of(device: Arc<Device>, options: Options) -> Result<Ptx, Failure> {
        let description = &device.description;
        let cap = options.device_memory.unwrap_or(u64::MAX);
        let limit = options.memory.min(description.memory_bytes).min(cap);
        let caps = Caps {
            name: description.name.clone(),
            parallelism: (description.multiprocessors * description.threads_per_multiprocessor)
                as usize,
            multiprocessors: description.multiprocessors as usize,
            shares_host_memory: false,
            recursion: false,
            falls_back: false,
            allocation: true,
            memory: limit,
            memory_bandwidth: description.memory_bandwidth,
            prefetches: false,
            costs: COSTS,
        };
        let memory = Memory::new(device.clone(), limit);
        // The record, and behind it the tickets.
        let shared = memory.alloc(RECORD_BYTES + size_of::<u64>())?;
        let stop = shared.address() + offset::INTERRUPT as u64;
        let stream = Stream::new(device.clone(), stop, options.interrupt.clone())?;
        let cache = options.cache.as_deref().map(|folder| Cache::new(folder, &device.description));
        let (modules, counters, pass, under_way, status) = Default::default();
        let ptx = Ptx {
            stream,
            modules,
            shared,
            status,
            memory,
            device,
            caps,
            options,
            cache,
            counters,
            pass,
            under_way,
        };
        // The interrupt word is not cleared: an interrupt may come before this is done.
        ptx.stream.clear(ptx.shared.address(), offset::INTERRUPT)?;
        ptx.stream.clear(ptx.shared.address() + RECORD_BYTES as u64, size_of::<u64>())?;
        ptx.reset_record()?;
        Ok(ptx)
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    fn reset_record(&self) -> Result<(), Failure> {
        let mut head = [0; HEAD_BYTES];
        for key in [offset::KEY, offset::LEAST_KEY] {
            head[key..key + 8].copy_from_slice(&NO_FAILURE.to_ne_bytes());
        }
        self.stream.write(self.shared.address(), &head)
    }

    /// Waits, and reports the first failure since the last report, once.
    fn report(&self) -> Result<(), Failure> {
        self.stream.wait()?;
        self.report_done()
    }

    /// Reports the first failure since the last report, once. Everything enqueued is done.
    fn report_done(&self) -> Result<(), Failure> {
        let passes = self.under_way.take();
        if !self.stream.has_failed() {
            return Ok(());
        }
        let mut head = [0; HEAD_BYTES];
        self.stream.read(&mut [Copy { from: self.shared.address(), to: &mut head }])?;
        let number = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().or_bug("8 bytes"));
        let failed = number(offset::LAUNCH);
        self.stream.forget_failure();
        self.reset_record()?;
        let word = |at: usize| u32::from_ne_bytes(head[at..at + 4].try_into().or_bug("4 bytes"));
        let kind = word(offset::KIND);
        if kind == Kind::Interrupted as u32 {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        let tag = passes.iter().find(|(pass, _)| *pass == failed).map(|(_, tag)| *tag);
        let details = word(offset::DETAILS) as usize;
        let text = match kind == Kind::Text as u32 {
            true => Some(self.text(number(offset::TEXT_LENGTH) as usize)?),
            false => None,
        };
        Err(Failure::Program {
            tag: tag.or_bug("a failure is of a pass that was launched"),
            site: Site(word(offset::SITE)),
            work_item: number(offset::KEY) & ((1 << STAGE_SHIFT) - 1),
            detail: (0..details).map(|at| number(offset::DETAIL + 8 * at) as i64).collect(),
            text,
        })
    }

    /// Prepares the numbers of the passes of a launch. States of tiles have the low bits of the number
    /// of their pass, which is not 0: where these begin anew the memory of states does as well.
    fn renumber_passes(&self) {
        let last = self.pass.get() + MAX_PASSES_OF_LAUNCH;
        if self.pass.get() >> PASS_BITS != last >> PASS_BITS {
            self.pass.set(last >> PASS_BITS << PASS_BITS);
            self.status.forget();
        }
    }

    /// The number of the next pass of a launch.
    fn next_pass(&self, tag: u64) -> u64 {
        let pass = self.pass.get() + 1;
        self.pass.set(pass);
        self.under_way.borrow_mut().push_back((pass, tag));
        pass
    }

    /// Counts a wait within a launch, which goes on after that.
    fn count_wait(&self) {
        self.count(|counters| {
            counters.drained();
            counters.under_way = 1;
        });
    }

    /// Forgets the failure of a pass that will be executed again; returns false if another one has
    /// failed, or an interrupt has come. Everything enqueued is done.
    fn forget_failure_of(&self, pass: u64) -> Result<bool, Failure> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read(&mut [Copy { from: self.shared.address(), to: &mut head }])?;
        let is_own = head[offset::LAUNCH..][..8] == pass.to_ne_bytes();
        let is_interrupt = head[offset::KIND..][..4] == (Kind::Interrupted as u32).to_ne_bytes();
        if is_own && !is_interrupt {
            self.stream.forget_failure();
            self.reset_record()?;
        }
        Ok(is_own && !is_interrupt)
    }

    fn text(&self, length: usize) -> Result<Vec<u8>, Failure> {
        let mut text = vec![0; length.min(emit::failure::TEXT_BYTES)];
        let from = self.shared.address() + offset::TEXT as u64;
        self.stream.read(&mut [Copy { from, to: &mut text }])?;
        Ok(text)
    }

    /// The text of a module, with what the driver's compiler made of each entry as a comment:
    /// registers, memory, and how many blocks a multiprocessor holds at a time.
    pub fn annotated(&self, module: &kir::Module) -> Result<String, Failure> {
        let module = self.emit(module)?;
        let mut text = module.text().to_owned();
        for (number, kernel) in self.compiled(&module)?.kernels.iter().enumerate() {
            for (at, entry) in kernel.entries().iter().enumerate() {
                let head = format!("{}{}(", emit::ENTRY, emit::entry_name(number, at));
                let comment = format!("// on {}: {}\n{head}", self.caps.name, entry.usage);
                text = text.replacen(&head, &comment, 1);
            }
        }
        Ok(text)
    }

    /// Emits the text of a module for the device.
    fn emit(&self, module: &kir::Module) -> Result<LazyModule, Failure> {
        let code = emit::emit_for(module, self.device.description.target())
            .map_err(Failure::Unsupported)?;
        let kernels = inline(module, Limits::ALL_CALLEES).0.kernels;
        Ok(LazyModule::new(code.text, kernels.into_iter().zip(code.kernels).collect()))
    }

    /// The compiled code of a module, which is compiled now if it is not yet.
    fn compiled<'a>(&self, module: &'a LazyModule) -> Result<&'a Module, Failure> {
        let began = Instant::now();
        self.device.bind()?;
        let (compiled, is_new) = module.compiled(self.cache.as_ref())?;
        if is_new {
            self.count(|counters| {
                counters.modules += 1;
                counters.cached += u64::from(compiled.is_cached);
                counters.compile_ns += began.elapsed().as_nanos() as u64;
            });
        }
        Ok(compiled)
    }
}

impl Runtime for Ptx {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        let block = self.memory.alloc(length.saturating_mul(ty.size()))?;
        Ok(Buffer::new(ty, length, Arc::new(block)))
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let block: &Block = buffer.storage().or_bug("a buffer is one of this runtime");
        let from = at * buffer.ty().size();
        assert!(from + bytes.len() <= block.bytes(), "a write beyond the end of an array");
        self.count(|counters| counters.wrote(bytes.len()));
        self.stream.write(block.address() + from as u64, bytes)
    }

    fn load(&self, module: &kir::Module) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.modules.borrow().get(module) {
            return Ok(loaded.clone());
        }
        let began = Instant::now();
        let loaded = Loaded(Arc::new(self.emit(module)?));
        let mut all = self.modules.borrow_mut();
        if all.len() >= MAX_UNUSED_MODULES {
            self.stream.wait()?;
            all.retain(|_, loaded| Arc::strong_count(&loaded.0) > 1);
        }
        all.insert(module.clone(), loaded.clone());
        self.count(|counters| counters.compile_ns += began.elapsed().as_nanos() as u64);
        Ok(loaded)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        let module: &LazyModule = launch
            .module
            .0
            .downcast_ref()
            .or_bug("a launch is of a module that this runtime loaded");
        let module = self.compiled(module)?;
        let launcher = Launcher {
            runtime: self,
            stream: &self.stream,
            memory: &self.memory,
            multiprocessors: self.device.description.multiprocessors,
            record: self.shared.address(),
            ticket: self.shared.address() + RECORD_BYTES as u64,
            status: &self.status,
        };
        let kernel = &module.kernels[launch.kernel];
        self.renumber_passes();
        self.count(|counters| counters.launched(kernel.has_outputs()));
        match kernel {
            Compiled::Kernel(kernel) => launcher.launch(kernel, launch),
            Compiled::Service(service) => {
                let number = self.next_pass(launch.tag);
                services::launch::launch(&launcher, service, launch, number)?;
                Ok(Vec::new())
            }
        }
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.read_many(&mut [Read { buffer, at, out }])
    }

    fn read_many(&self, reads: &mut [Read<'_>]) -> Result<(), Failure> {
        let part = |read: &mut Read<'_>| {
            let block: &Block = read.buffer.storage().or_bug("a buffer is one of this runtime");
            let from = read.at * read.buffer.ty().size();
            assert!(from + read.out.len() <= block.bytes(), "a read beyond the end of an array");
            block.address() + from as u64
        };
        let bytes = reads.iter().map(|read| read.out.len()).sum();
        let mut copies: Vec<Copy<'_>> = Vec::with_capacity(reads.len());
        for read in reads {
            copies.push(Copy { from: part(read), to: &mut *read.out });
        }
        self.stream.read(&mut copies)?;
        self.count(|counters| counters.read(bytes));
        self.report_done()
    }

    fn sync(&self) -> Result<(), Failure> {
        self.count(Counters::drained);
        self.report()
    }

    fn poll(&self) -> Result<bool, Failure> {
        let interrupted = self.options.interrupt.load(Ordering::Relaxed);
        if interrupted || self.stream.has_failed() {
            self.sync()?;
            if interrupted {
                return Err(Failure::Machine(FaultCode::Interrupted.into()));
            }
        }
        let idle = self.stream.is_idle()?;
        if idle {
            self.report_done()?;
        }
        Ok(idle)
    }

    fn mark(&self) -> Result<Option<Mark>, Failure> {
        Ok(Some(Mark(Arc::new(self.stream.mark()?))))
    }

    fn nanoseconds_between(&self, from: &Mark, to: &Mark) -> Result<u64, Failure> {
        let event = |mark: &Mark| {
            let event = mark.0.clone().downcast::<TimedEvent>();
            event.ok().or_bug("a mark is one of this runtime")
        };
        event(from).nanoseconds_to(&event(to))
    }

    fn counters(&self) -> Counters {
        let (bytes, peak_bytes) = self.memory.used();
        let loaded = self.modules.borrow().len() as u64;
        Counters { bytes, peak_bytes, loaded, ..self.counters.get() }
    }
}
