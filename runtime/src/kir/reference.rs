//! The meaning of kir: the obvious interpreter, a [`Runtime`] like any other.
//!
//! It executes one work item after the other, in the order of the space, and combines in that
//! order. It checks what the verifier cannot see, and panics, naming the kernel or function and
//! the instruction, when code
//!
//! - accesses an array out of bounds, or one that a `compact` let go of; writes a text,
//! - reads an element that was not written,
//! - writes different values to one element from two work items, or reads in one what another (or a
//!   sink) writes; on parameters, within a launch,
//! - goes over a space that is none.
//!
//! All of these are bugs of the maker of the code. The faults of a program are checks of its
//! own, and come to light as [`Failure`]s: a launch that makes outputs reports at once, any other
//! at the next report; what is launched between a failure and its report is not executed.

use crate::bug;
use crate::bug::OrBug;
use crate::kir::verify;
use crate::kir::{Literal, Module, Ty, ValueTy};
use crate::runtime::{
    Arg, Buffer, Caps, Costs, Counters, Failure, Launch, Loaded, Options, Runtime,
};
use crate::violation::list;
use launch::Halt;
use machine::{Datum, Machine};
use memory::{Array, Gauge, Memory};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

mod launch;
mod machine;
mod memory;
pub mod scalar;
mod sinks;
mod work_item;

/// The number of modules from which on those not in use are dropped.
const MAX_UNUSED_MODULES: usize = 256;

/// The interpreter, as a runtime.
pub struct Reference {
    caps: Caps,
    options: Options,
    gauge: Arc<Gauge>,
    loaded: RefCell<HashMap<Module, Loaded>>,
    counters: Cell<Counters>,
    /// The failure that was not reported yet.
    failure: RefCell<Option<Failure>>,
}

/// The interpreter's representation of a buffer.
struct Stored {
    array: Mutex<Array>,
    gauge: Arc<Gauge>,
    bytes: u64,
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.gauge.give(self.bytes);
    }
}

impl Reference {
    /// An interpreter without arrays or modules.
    pub fn new(options: Options) -> Reference {
        let memory = options.memory;
        let name = "reference".to_string();
        let gauge = Gauge { limit: memory, now: AtomicU64::new(0), peak: AtomicU64::new(0) };
        Reference {
            caps: Caps {
                name,
                parallelism: 1,
                multiprocessors: 1,
                shares_host_memory: true,
                recursion: true,
                falls_back: false,
                allocation: true,
                memory,
                memory_bandwidth: None,
                prefetches: false,
                costs: Costs::default(),
            },
            options,
            gauge: Arc::new(gauge),
            loaded: RefCell::default(),
            counters: Cell::default(),
            failure: RefCell::default(),
        }
    }

    /// The interpreter, which says that it has so many threads: what runs is decided as on a machine that has.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Reference {
        self.caps.parallelism = threads;
        self
    }

    /// An array for which room was taken.
    fn buffer(&self, array: Array) -> Buffer {
        let (ty, length, bytes) = (array.ty, array.elements.len(), array.bytes());
        let array = Mutex::new(array);
        Buffer::new(ty, length, Arc::new(Stored { array, gauge: Arc::clone(&self.gauge), bytes }))
    }

    fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    fn execute(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let module = launch
            .module
            .0
            .downcast_ref::<Module>()
            .or_bug("a launch is of a module that this runtime loaded");
        let kernel = &module.kernels[launch.kernel];
        self.count(|counters| counters.launched(!kernel.outputs.is_empty()));
        let ill_formed = |why: String| -> ! {
            bug!("ill-formed launch: kernel `{}`: {why}", kernel.name);
        };
        if launch.args.len() != kernel.params.len() {
            ill_formed(format!("{} arguments", launch.args.len()));
        }
        let mut arrays: Vec<&Stored> = Vec::new();
        let mut places = Vec::new();
        for arg in launch.args {
            let Arg::Array(buffer, _) = arg else {
                places.push(usize::MAX);
                continue;
            };
            let stored = buffer.storage::<Stored>().or_bug("a buffer is one of this runtime");
            let known = arrays.iter().position(|known| std::ptr::eq(*known, stored));
            places.push(known.unwrap_or(arrays.len()));
            if known.is_none() {
                arrays.push(stored);
            }
        }
        let guards = arrays.iter().map(|stored| {
            // A panic in between is a fault of the code; the array is still one.
            stored.array.lock().unwrap_or_else(PoisonError::into_inner)
        });
        let memory = Memory::new(guards.collect(), &self.gauge, self.counters.get().launches);
        let mut env = vec![Datum::Unset; kernel.types.len()];
        for (i, (param, arg)) in kernel.params.iter().zip(launch.args).enumerate() {
            let ty = kernel.types[param.0 as usize];
            env[param.0 as usize] = match arg {
                Arg::Scalar(literal) if ty == ValueTy::Scalar(literal.ty()) => {
                    Datum::Scalar(*literal)
                }
                Arg::Array(buffer, start) if ty == ValueTy::Array(buffer.ty()) => {
                    let pointer = memory.shared(places[i], *start);
                    Datum::Array(pointer.unwrap_or_else(|why| ill_formed(why)))
                }
                other => ill_formed(format!("{param}: {ty} is given {other:?}")),
            };
        }
        let depth = (self.options.max_depth, self.options.max_stack_bytes);
        let mut machine = Machine::new(module, memory, &self.options.interrupt, depth);
        let outputs = launch::execute(kernel, &mut machine, env);
        let work = machine.work;
        self.count(|counters| counters.work += work);
        let outputs = outputs.map_err(|halt| match halt {
            Halt::Machine(fault) => Failure::Machine(fault),
            Halt::Program { site, work_item, detail, text } => {
                Failure::Program { tag: launch.tag, site, work_item, detail, text }
            }
        })?;
        Ok(outputs.into_iter().map(|array| self.buffer(array)).collect())
    }

    /// Reports the failure of an earlier launch, once.
    fn report(&self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn array<T>(&self, buffer: &Buffer, work: impl FnOnce(&mut Array) -> T) -> T {
        let stored = buffer.storage::<Stored>().or_bug("a buffer is one of this runtime");
        work(&mut stored.array.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Runtime for Reference {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        let bytes = (length as u64).saturating_mul(ty.size() as u64);
        self.gauge.take(bytes).map_err(Failure::Machine)?;
        match Array::new(ty, length) {
            Ok(array) => Ok(self.buffer(array)),
            Err(fault) => {
                self.gauge.give(bytes);
                Err(Failure::Machine(fault))
            }
        }
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        let size = buffer.ty().size();
        self.array(buffer, |array| {
            let places = &mut array.elements[at..][..bytes.len() / size];
            for (place, bytes) in places.iter_mut().zip(bytes.chunks_exact(size)) {
                *place = Some(from_bytes(buffer.ty(), bytes));
            }
        });
        self.count(|counters| counters.wrote(bytes.len()));
        Ok(())
    }

    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.loaded.borrow().get(module) {
            return Ok(loaded.clone());
        }
        let start = Instant::now();
        if let Err(violations) = verify(module) {
            bug!("ill-formed kir: {}", list(&violations));
        }
        let loaded = Loaded(Arc::new(module.clone()));
        let mut all = self.loaded.borrow_mut();
        if all.len() >= MAX_UNUSED_MODULES {
            all.retain(|_, loaded| Arc::strong_count(&loaded.0) > 1);
        }
        all.insert(module.clone(), loaded.clone());
        self.count(|counters| {
            counters.modules += 1;
            counters.compile_ns += start.elapsed().as_nanos() as u64;
        });
        Ok(loaded)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let module = launch
            .module
            .0
            .downcast_ref::<Module>()
            .or_bug("a launch is of a module that this runtime loaded");
        let reports = !module.kernels[launch.kernel].outputs.is_empty();
        if self.failure.borrow().is_none() {
            match self.execute(launch) {
                Ok(outputs) => return Ok(outputs),
                Err(failure) => *self.failure.borrow_mut() = Some(failure),
            }
        }
        if reports { self.report().map(|()| Vec::new()) } else { Ok(Vec::new()) }
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.report()?;
        let size = buffer.ty().size();
        self.array(buffer, |array| {
            let places = &array.elements[at..][..out.len() / size];
            for (index, (place, bytes)) in places.iter().zip(out.chunks_exact_mut(size)).enumerate()
            {
                match place {
                    Some(literal) => to_bytes(*literal, bytes),
                    None => bug!("the host reads element {}, which was not written", at + index),
                }
            }
        });
        self.count(|counters| counters.read(out.len()));
        Ok(())
    }

    fn sync(&self) -> Result<(), Failure> {
        self.count(Counters::drained);
        self.report()
    }

    fn poll(&self) -> Result<bool, Failure> {
        // Every launch is executed at once.
        self.report().map(|()| true)
    }

    fn counters(&self) -> Counters {
        Counters {
            loaded: self.loaded.borrow().len() as u64,
            bytes: self.gauge.now.load(Ordering::Relaxed),
            peak_bytes: self.gauge.peak.load(Ordering::Relaxed),
            ..self.counters.get()
        }
    }
}

/// An element from its bytes in the machine's order.
fn from_bytes(ty: Ty, bytes: &[u8]) -> Literal {
    fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().or_bug("a slice has as many bytes as an element")
    }
    match ty {
        Ty::I32 => Literal::I32(i32::from_ne_bytes(array(bytes))),
        Ty::I64 => Literal::I64(i64::from_ne_bytes(array(bytes))),
        Ty::F32 => Literal::F32(u32::from_ne_bytes(array(bytes))),
        Ty::F64 => Literal::F64(u64::from_ne_bytes(array(bytes))),
        Ty::U8 => Literal::U8(bytes[0]),
        Ty::Bool => match bytes[0] {
            0 => Literal::Bool(false),
            1 => Literal::Bool(true),
            other => bug!("the host writes a bool of byte {other}"),
        },
    }
}

/// The bytes of an element in the machine's order.
fn to_bytes(literal: Literal, out: &mut [u8]) {
    match literal {
        Literal::I32(x) => out.copy_from_slice(&x.to_ne_bytes()),
        Literal::I64(x) => out.copy_from_slice(&x.to_ne_bytes()),
        Literal::F32(x) => out.copy_from_slice(&x.to_ne_bytes()),
        Literal::F64(x) => out.copy_from_slice(&x.to_ne_bytes()),
        Literal::U8(x) => out[0] = x,
        Literal::Bool(x) => out[0] = u8::from(x),
    }
}

#[cfg(test)]
mod tests;
