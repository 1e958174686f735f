//! Profiling: a runtime that measures the time of each kernel of another one.
//!
//! A device measures the time of each launch itself, between two marks, which are compared when the
//! host next waits. Of a runtime that makes no marks the end of each launch is waited for; launches
//! then no longer overlap with the work of the host. Kernels are distinguished by their names.

use crate::bug::OrBug;
use crate::kir::{Kernel, Literal, Module, Space, Ty, Value};
use crate::runtime::{
    Arg, Buffer, Caps, Counters, Failure, Launch, Loaded, Mark, Read, Refusal, Runtime, Share,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The times of kernels so far; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Profile(Rc<RefCell<HashMap<String, KernelTime>>>);

/// The time of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub name: String,
    /// The number of its launches.
    pub launches: u64,
    /// The number of its work items, over all launches.
    pub work_items: u64,
    /// The time of the launches.
    pub time: Duration,
    /// The time spent on compiling the modules that contain it.
    pub compiling: Duration,
}

/// A runtime whose launches are timed.
pub struct Profiled {
    inner: Box<dyn Runtime>,
    profile: Profile,
    /// The kernels of the loaded modules, by the address of the module. If the address of a freed module is used
    /// again, the new module replaces it here.
    modules: RefCell<HashMap<usize, Vec<KernelInfo>>>,
    /// The launches whose marks the device may not have passed yet.
    under_way: RefCell<Vec<MarkedLaunch>>,
}

/// A launch between two marks.
struct MarkedLaunch {
    name: String,
    begin: Mark,
    end: Mark,
}

#[derive(Clone)]
struct KernelInfo {
    name: String,
    work_items: WorkItemCount,
}

/// The numbers of the arguments that determine the number of work items.
#[derive(Clone, Copy)]
enum WorkItemCount {
    Flat(usize),
    Regular(usize, usize),
    Segmented(usize, usize),
}

impl Profile {
    /// The kernels, the one that took the most time first.
    pub fn kernels(&self) -> Vec<KernelTime> {
        let mut all: Vec<KernelTime> = self.0.borrow().values().cloned().collect();
        all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
        all
    }

    fn note(&self, name: &str, note: impl FnOnce(&mut KernelTime)) {
        let mut all = self.0.borrow_mut();
        note(
            all.entry(name.to_string())
                .or_insert_with(|| KernelTime { name: name.to_string(), ..KernelTime::default() }),
        );
    }
}

impl Profiled {
    /// A runtime that delegates to `inner`, and records times in `profile`.
    pub fn new(inner: Box<dyn Runtime>, profile: Profile) -> Profiled {
        let (modules, under_way) = Default::default();
        Profiled { inner, profile, modules, under_way }
    }

    /// Adds the times of the launches under way, all of which are done.
    fn measure(&self) -> Result<(), Failure> {
        for MarkedLaunch { name, begin, end } in self.under_way.take() {
            let took = Duration::from_nanos(self.inner.nanoseconds_between(&begin, &end)?);
            self.profile.note(&name, |kernel_time| kernel_time.time += took);
        }
        Ok(())
    }

    fn kernel(&self, launch: &Launch<'_>) -> Option<KernelInfo> {
        let modules = self.modules.borrow();
        modules.get(&address(launch.module)).and_then(|all| all.get(launch.kernel)).cloned()
    }

    fn count(&self, work_items: WorkItemCount, args: &[Arg]) -> Result<u64, Failure> {
        Ok(match work_items {
            WorkItemCount::Flat(count) => number(&args[count]),
            WorkItemCount::Regular(segments, length) => {
                number(&args[segments]) * number(&args[length])
            }
            WorkItemCount::Segmented(segments, offsets) => {
                let mut end = [0; 8];
                if let Arg::Array(buffer, at) = &args[offsets] {
                    let last = at + number(&args[segments]) as usize;
                    self.inner.read(buffer, last, &mut end)?;
                }
                u64::from_ne_bytes(end)
            }
        })
    }
}

impl Runtime for Profiled {
    fn caps(&self) -> &Caps {
        self.inner.caps()
    }

    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.inner.alloc(ty, length)
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.inner.write(buffer, at, bytes)
    }

    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        let before = self.inner.counters().compile_ns;
        let loaded = self.inner.load(module)?;
        let took = Duration::from_nanos(self.inner.counters().compile_ns - before);
        let kernels: Vec<KernelInfo> = module.kernels.iter().map(kernel_info).collect();
        for kernel in &kernels {
            self.profile.note(&kernel.name, |kernel_time| kernel_time.compiling += took);
        }
        self.modules.borrow_mut().insert(address(&loaded), kernels);
        Ok(loaded)
    }

    fn prefetch(&self, module: &Module) {
        self.inner.prefetch(module);
    }

    fn cancel_prefetch(&self) {
        self.inner.cancel_prefetch();
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        let began = Instant::now();
        let begin = self.inner.mark()?;
        let outputs = self.inner.launch(launch)?;
        let end = self.inner.mark()?;
        let Some(kernel) = self.kernel(launch) else { return Ok(outputs) };
        let work_items = match launch.work_items {
            Some(count) => count as u64,
            None => self.count(kernel.work_items, launch.args)?,
        };
        let name = kernel.name;
        self.profile.note(&name, |kernel_time| {
            kernel_time.launches += 1;
            kernel_time.work_items += work_items;
        });
        match (begin, end) {
            (Some(begin), Some(end)) => {
                self.under_way.borrow_mut().push(MarkedLaunch { name, begin, end });
            }
            _ => {
                self.inner.sync()?;
                self.profile.note(&name, |kernel_time| kernel_time.time += began.elapsed());
            }
        }
        Ok(outputs)
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.inner.read(buffer, at, out)?;
        self.measure()
    }

    fn read_many(&self, reads: &mut [Read<'_>]) -> Result<(), Failure> {
        self.inner.read_many(reads)?;
        self.measure()
    }

    fn sync(&self) -> Result<(), Failure> {
        self.inner.sync()?;
        self.measure()
    }

    fn poll(&self) -> Result<bool, Failure> {
        let done = self.inner.poll()?;
        if done {
            self.measure()?;
        }
        Ok(done)
    }

    fn mark(&self) -> Result<Option<Mark>, Failure> {
        self.inner.mark()
    }

    fn nanoseconds_between(&self, from: &Mark, to: &Mark) -> Result<u64, Failure> {
        self.inner.nanoseconds_between(from, to)
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn shares(&self) -> Vec<Share> {
        self.inner.shares()
    }

    fn refusals(&self) -> Vec<Refusal> {
        self.inner.refusals()
    }
}

fn address(module: &Loaded) -> usize {
    Arc::as_ptr(&module.0).cast::<()>() as usize
}

fn kernel_info(kernel: &Kernel) -> KernelInfo {
    let param = |value: Value| {
        let index = kernel.params.iter().position(|param| *param == value);
        index.or_bug("the bounds of a space are parameters")
    };
    let work_items = match kernel.space {
        Space::Flat { count } => WorkItemCount::Flat(param(count)),
        Space::Regular { segments, length } => {
            WorkItemCount::Regular(param(segments), param(length))
        }
        Space::Segmented { segments, offsets } => {
            WorkItemCount::Segmented(param(segments), param(offsets))
        }
    };
    KernelInfo { name: kernel.name.clone(), work_items }
}

fn number(arg: &Arg) -> u64 {
    match arg {
        Arg::Scalar(Literal::I64(number)) => *number as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{KernelBuilder, ValueTy, reference::Reference};
    use crate::runtime::Options;

    #[test]
    fn launches_and_work_items_of_a_kernel_are_added_up() {
        let profile = Profile::default();
        let runtime = Profiled::new(Box::new(Reference::new(Options::default())), profile.clone());
        let mut kernel = KernelBuilder::new("indices");
        let count = kernel.param(ValueTy::Scalar(Ty::I64));
        let to = kernel.param(ValueTy::Array(Ty::I64));
        let index = kernel.over(Space::Flat { count })[0];
        kernel.body.store(to, index, index);
        let module = Module { functions: Vec::new(), kernels: vec![kernel.finish()] };
        let loaded = runtime.load(&module).unwrap();
        for count in [3, 5] {
            let to = runtime.alloc(Ty::I64, count).unwrap();
            let args = [Arg::Scalar(Literal::I64(count as i64)), Arg::Array(to, 0)];
            runtime
                .launch(&Launch {
                    module: &loaded,
                    kernel: 0,
                    args: &args,
                    tag: 0,
                    work_items: None,
                })
                .unwrap();
        }
        let kernels = profile.kernels();
        assert_eq!(kernels.len(), 1);
        assert_eq!(
            (&*kernels[0].name, kernels[0].launches, kernels[0].work_items),
            ("indices", 2, 8)
        );
    }
}
