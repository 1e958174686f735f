//! A runtime made of two: a device, and the host for what the device cannot execute.
//!
//! ```text
//!             ┌── device: every kernel that it supports
//! launch ─────┤
//!             └── host: the others, each with the reason
//!
//! array ── a copy on the device, a copy on the host; which of them hold its elements
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `twin` | arrays with a copy on either side |
//! | `room` | moving arrays to the host when the device is full, or to be given back |
//! | `sides` | the two runtimes; a device that is given back, and opened again |
//! | `modules` | the side of each module; the parameters that its kernels write |
//!
//! Both sides are runtimes behind the contract, so that each can be any: tests put two interpreters
//! together. An array is copied to a side when a launch there needs it and the copy there is out of
//! date. The sides take turns: before a kernel runs on one side, everything on the other is done and
//! has not failed. So the order of launches, and what a failure makes of later ones, is that of a
//! single runtime.

mod modules;
mod room;
mod sides;
mod twin;

use modules::{Modules, Placed};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Module, Ty};
use nesl_runtime::runtime::{
    Arg, Buffer, Caps, Counters, Failure, Launch, Loaded, Mark, Read, Refusal, Runtime, Share,
};
use room::Arrays;
use rustc_hash::FxHashMap;
use sides::Sides;
use std::cell::RefCell;
use std::sync::Arc;
use twin::{Side, Twin};

pub use sides::OpenDevice;

/// A device and the host, as one runtime.
pub struct Composite {
    sides: Sides,
    caps: Caps,
    modules: Modules,
    arrays: Arrays,
    /// A failure that has not been reported yet; launches have no effect until then.
    pending: RefCell<Option<Failure>>,
    /// The launches on the host of each kernel that the device refused.
    refusals: RefCell<FxHashMap<String, Refusal>>,
}

impl Composite {
    /// Combines a device with the runtime that executes what the device cannot. All arrays together
    /// may take `memory` bytes; those on the device what its own limit says.
    pub fn new(device: Box<dyn Runtime>, host: Box<dyn Runtime>, memory: u64) -> Composite {
        // What the device can, so that nobody takes the host's part for as good as the device's.
        let caps = Caps { falls_back: true, memory, ..device.caps().clone() };
        Composite {
            sides: Sides::new(device, host),
            caps,
            modules: Modules::default(),
            arrays: Arrays::new(memory),
            pending: RefCell::default(),
            refusals: RefCell::default(),
        }
    }

    /// Lets [`Runtime::release_device`] give the device back; `open` opens it again.
    pub fn reopened_by(
        mut self,
        open: impl Fn() -> Result<Box<dyn Runtime>, String> + 'static,
    ) -> Composite {
        self.sides.set_open(Box::new(open));
        self
    }

    /// Waits for the other side, so that launches keep their order; its failure becomes the pending
    /// one.
    fn finish_other(&self, side: Side) {
        if let Some(other) = self.sides.opened(side.other())
            && other.counters().under_way > 0
            && let Err(failure) = other.sync()
        {
            self.fail(failure);
        }
    }

    fn fail(&self, failure: Failure) {
        self.pending.borrow_mut().get_or_insert(failure);
    }

    fn report(&self) -> Result<(), Failure> {
        self.pending.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Executes a launch on the side of its module.
    fn execute(&self, placed: &Placed, asked: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let side = placed.side;
        let used: Vec<&Twin> = asked.args.iter().filter_map(array).collect();
        let mut args = Vec::with_capacity(asked.args.len());
        for arg in asked.args {
            args.push(match arg {
                Arg::Scalar(literal) => Arg::Scalar(*literal),
                Arg::Array(buffer, at) => {
                    let copy = self.arrays.bring(&self.sides, twin_of(buffer), side, &used)?;
                    Arg::Array(copy, *at)
                }
            });
        }
        let (runtime, module) = (self.sides.of(side)?, placed.loaded(&self.sides)?);
        let launch = Launch { module: &module, args: &args, ..*asked };
        let outputs = match runtime.launch(&launch) {
            Err(failure) if room::is_out_of_memory(&failure) && side == Side::Device => {
                // The device needs memory of its own for a launch. Nothing was enqueued.
                self.arrays.make_room(&self.sides, u64::MAX, &used)?;
                runtime.launch(&launch)
            }
            outcome => outcome,
        }?;
        for (arg, is_written) in asked.args.iter().zip(&placed.written[launch.kernel]) {
            if *is_written && let Some(twin) = array(arg) {
                twin.wrote(side);
            }
        }
        outputs.into_iter().map(|output| self.arrays.adopt(output, side)).collect()
    }

    fn note_refusal(&self, placed: &Placed, kernel: usize) {
        let Some(reason) = placed.refused else { return };
        let name = &placed.names[kernel];
        let mut refusals = self.refusals.borrow_mut();
        let refusal = refusals.entry(name.clone()).or_insert_with(|| Refusal {
            kernel: name.clone(),
            reason,
            launches: 0,
        });
        refusal.launches += 1;
    }
}

impl Runtime for Composite {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.arrays.alloc(&self.sides, ty, length)
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let twin = twin_of(buffer);
        let side = twin.writable_side();
        let copy = self.arrays.bring(&self.sides, twin, side, &[twin])?;
        self.sides.of(side)?.write(&copy, at, bytes)?;
        twin.wrote(side);
        Ok(())
    }

    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        self.modules.load(&self.sides, module)
    }

    fn prefetch(&self, module: &Module) {
        if let Some(device) = self.sides.opened(Side::Device) {
            device.prefetch(module);
        }
    }

    fn cancel_prefetch(&self) {
        if let Some(device) = self.sides.opened(Side::Device) {
            device.cancel_prefetch();
        }
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let placed: &Placed = launch
            .module
            .0
            .downcast_ref()
            .or_bug("a launch is of a module that this runtime loaded");
        let makes_outputs = placed.makes_outputs[launch.kernel];
        self.finish_other(placed.side);
        if self.pending.borrow().is_none() {
            self.note_refusal(placed, launch.kernel);
            match self.execute(placed, launch) {
                Ok(outputs) => return Ok(outputs),
                Err(failure) => self.fail(failure),
            }
        }
        // Only outputs cannot wait: their lengths are asked for.
        if makes_outputs { self.report().map(|()| Vec::new()) } else { Ok(Vec::new()) }
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.read_many(&mut [Read { buffer, at, out }])
    }

    fn read_many(&self, reads: &mut [Read<'_>]) -> Result<(), Failure> {
        // Each side reads its parts with one wait.
        for side in [Side::Device, Side::Host] {
            let mut copies = Vec::new();
            for read in reads.iter_mut() {
                let twin = twin_of(read.buffer);
                if twin.readable_side() == side {
                    copies.push((twin.copy(side), read.at, &mut *read.out));
                }
            }
            let mut parts: Vec<Read<'_>> =
                copies.iter_mut().map(|(buffer, at, out)| Read { buffer, at: *at, out }).collect();
            let done = match parts.is_empty() {
                true => {
                    self.finish_other(side.other());
                    Ok(())
                }
                false => self.sides.of(side).and_then(|runtime| runtime.read_many(&mut parts)),
            };
            if let Err(failure) = done {
                self.fail(failure);
            }
        }
        self.report()
    }

    fn sync(&self) -> Result<(), Failure> {
        for side in [Side::Device, Side::Host] {
            if let Some(runtime) = self.sides.opened(side)
                && let Err(failure) = runtime.sync()
            {
                self.fail(failure);
            }
        }
        self.report()
    }

    fn poll(&self) -> Result<bool, Failure> {
        let mut done = true;
        for side in [Side::Device, Side::Host] {
            let Some(runtime) = self.sides.opened(side) else { continue };
            match runtime.poll() {
                Ok(is_done) => done &= is_done,
                Err(failure) => self.fail(failure),
            }
        }
        self.report().map(|()| done)
    }

    fn mark(&self) -> Result<Option<Mark>, Failure> {
        // The host's launches pass between two marks of an idle device.
        self.sides.of(Side::Device)?.mark()
    }

    fn nanoseconds_between(&self, from: &Mark, to: &Mark) -> Result<u64, Failure> {
        self.sides.of(Side::Device)?.nanoseconds_between(from, to)
    }

    fn release_device(&self) -> Result<(), Failure> {
        self.sides.of(Side::Host)?.release_device()?;
        if !self.sides.can_reopen() || self.sides.opened(Side::Device).is_none() {
            return Ok(());
        }
        self.sync()?;
        self.arrays.leave_device(&self.sides)?;
        self.modules.leave_device();
        self.sides.close_device();
        Ok(())
    }

    fn is_spilled(&self, buffer: &Buffer) -> bool {
        twin_of(buffer).try_copy(Side::Device).is_none()
    }

    /// The counters of both sides together. Transfers are those of the device, those between the two
    /// sides included: the host's own arrays cost no transfer.
    fn counters(&self) -> Counters {
        let [device, host] = [Side::Device, Side::Host].map(|side| self.sides.counters(side));
        Counters {
            launches: device.launches + host.launches,
            modules: device.modules + host.modules,
            cached: device.cached + host.cached,
            loaded: device.loaded + host.loaded,
            compile_ns: device.compile_ns + host.compile_ns,
            prefetch_ns: device.prefetch_ns + host.prefetch_ns,
            bytes: device.bytes + host.bytes,
            // The largest sum lies between the larger of the two and both together.
            peak_bytes: device.peak_bytes + host.peak_bytes,
            work: device.work + host.work,
            under_way: device.under_way + host.under_way,
            ..device
        }
    }

    fn shares(&self) -> Vec<Share> {
        let share =
            |side| Share { name: self.sides.name(side), counters: self.sides.counters(side) };
        vec![share(Side::Device), share(Side::Host)]
    }

    fn refusals(&self) -> Vec<Refusal> {
        let mut all: Vec<Refusal> = self.refusals.borrow().values().cloned().collect();
        all.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        all
    }
}

/// The array of an argument, if it is one.
fn array(arg: &Arg) -> Option<&Twin> {
    match arg {
        Arg::Scalar(_) => None,
        Arg::Array(buffer, _) => Some(twin_of(buffer)),
    }
}

fn twin_of(buffer: &Buffer) -> &Twin {
    let twin: &Arc<Twin> = buffer.storage().or_bug("a buffer is one of this runtime");
    twin
}
