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
//!
//! No toolkit is needed: the driver has a compiler. Without a driver nothing is loaded, and
//! [`Ptx::new`] says what was missing.

pub mod driver;
pub mod emit;
mod launch;

use driver::device::{Device, NoDevice};
use driver::memory::{Block, Memory};
use driver::module::Module;
use driver::stream::Stream;
use emit::failure::{Kind, NO_FAILURE, RECORD_BYTES, STAGE_SHIFT, offset};
use launch::Launcher;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{self, Site, Ty};
use nesl_runtime::runtime::{Buffer, Caps, Counters, Failure, Launch, Loaded, Options, Runtime};
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

/// A GPU, as a runtime.
pub struct Ptx {
    // Fields are dropped in this order: the stream waits for its work, then memory and modules go.
    stream: Stream,
    modules: RefCell<FxHashMap<kir::Module, Loaded>>,
    /// The record of failures, and the ticket of the passes.
    shared: Block,
    memory: Arc<Memory>,
    device: Arc<Device>,
    caps: Caps,
    options: Options,
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
        let limit = options.memory.min(description.memory_bytes);
        let caps = Caps {
            name: description.name.clone(),
            parallelism: (description.multiprocessors * description.threads_per_multiprocessor)
                as usize,
            shares_host_memory: false,
            recursion: false,
            memory: limit,
            prefetches: false,
        };
        let stream = Stream::new(device.clone(), options.interrupt.clone())?;
        let memory = Memory::new(device.clone(), limit);
        // The record, and behind it the ticket.
        let shared = memory.alloc(RECORD_BYTES + size_of::<u64>())?;
        let (modules, counters, pass, under_way) = Default::default();
        let ptx = Ptx {
            stream,
            modules,
            shared,
            memory,
            device,
            caps,
            options,
            counters,
            pass,
            under_way,
        };
        ptx.stream.clear(ptx.shared.address(), ptx.shared.bytes())?;
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
        if self.under_way.borrow().is_empty() {
            return self.stream.wait();
        }
        let mut head = [0; HEAD_BYTES];
        self.stream.read(self.shared.address(), &mut head)?;
        let passes = self.under_way.take();
        let number = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().or_bug("8 bytes"));
        let failed = number(offset::LAUNCH);
        if failed == 0 {
            return Ok(());
        }
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

    fn text(&self, length: usize) -> Result<Vec<u8>, Failure> {
        let mut text = vec![0; length.min(emit::failure::TEXT_BYTES)];
        self.stream.read(self.shared.address() + offset::TEXT as u64, &mut text)?;
        Ok(text)
    }

    fn compile(&self, module: &kir::Module) -> Result<Module, Failure> {
        let code = emit::emit(module).map_err(Failure::Unsupported)?;
        let kernels = inline(module, Limits::ALL_CALLEES).0.kernels;
        self.device.bind()?;
        Module::compile(&code.text, kernels.into_iter().zip(code.plans).collect())
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
        self.count(|counters| counters.transferred += bytes.len() as u64);
        self.stream.write(block.address() + from as u64, bytes)
    }

    fn load(&self, module: &kir::Module) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.modules.borrow().get(module) {
            return Ok(loaded.clone());
        }
        let began = Instant::now();
        let loaded = Loaded(Arc::new(self.compile(module)?));
        let mut all = self.modules.borrow_mut();
        if all.len() >= MAX_UNUSED_MODULES {
            self.stream.wait()?;
            all.retain(|_, loaded| Arc::strong_count(&loaded.0) > 1);
        }
        all.insert(module.clone(), loaded.clone());
        self.count(|counters| {
            counters.modules += 1;
            counters.compile_ns += began.elapsed().as_nanos() as u64;
        });
        Ok(loaded)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        let module: &Module = launch
            .module
            .0
            .downcast_ref()
            .or_bug("a launch is of a module that this runtime loaded");
        let launcher = Launcher {
            stream: &self.stream,
            memory: &self.memory,
            multiprocessors: self.device.description.multiprocessors,
            record: self.shared.address(),
            ticket: self.shared.address() + RECORD_BYTES as u64,
        };
        self.count(|counters| counters.launches += 1);
        launcher.launch(&module.kernels[launch.kernel], launch, || {
            let pass = self.pass.get() + 1;
            self.pass.set(pass);
            self.under_way.borrow_mut().push_back((pass, launch.tag));
            pass
        })?;
        Ok(Vec::new())
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.report()?;
        let block: &Block = buffer.storage().or_bug("a buffer is one of this runtime");
        let from = at * buffer.ty().size();
        assert!(from + out.len() <= block.bytes(), "a read beyond the end of an array");
        self.count(|counters| counters.transferred += out.len() as u64);
        self.stream.read(block.address() + from as u64, out)
    }

    fn sync(&self) -> Result<(), Failure> {
        self.report()
    }

    fn counters(&self) -> Counters {
        let (bytes, peak_bytes) = self.memory.used();
        let loaded = self.modules.borrow().len() as u64;
        Counters { bytes, peak_bytes, loaded, ..self.counters.get() }
    }
}
