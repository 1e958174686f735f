//! Profiling: a runtime that measures the time of each kernel of another one.
//!
//! A device measures the time of each launch itself, between two marks, which are compared when the
//! host next waits. Of a runtime that makes no marks the end of each launch is waited for; launches
//! then no longer overlap with the work of the host. Kernels are distinguished by their code: of several
//! that share a name, as those of different programs do, all but the first get a number behind it.

use crate::bug::OrBug;
use crate::kir::{Block, Kernel, Literal, Module, Op, Space, Ty, Value};
use crate::runtime::{
    Arg, Buffer, Caps, Counters, Failure, Launch, Loaded, Mark, Read, Refusal, Runtime, Share,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of launches that are recorded one by one, at most; kernels are added up without limit.
const MAX_RECORDED_LAUNCHES: usize = 10_000;

/// The times of kernels so far; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Profile(Rc<RefCell<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    kernels: HashMap<String, KernelTime>,
    launches: Vec<LaunchTime>,
}

/// The time of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub name: String,
    /// The number of its launches.
    pub launches: u64,
    /// The number of its work items, over all launches.
    pub work_items: u64,
    /// The bytes of arrays that the launches read and wrote, each element once; at most, where the
    /// code does not tell how many elements a work item needs.
    pub bytes: u64,
    /// True if the code does not tell, so that `bytes` is what they read and wrote at most.
    pub is_bytes_limit: bool,
    /// The time of the launches.
    pub time: Duration,
    /// The time spent on compiling the modules that contain it.
    pub compiling: Duration,
}

/// The time of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchTime {
    /// The name of the kernel.
    pub name: String,
    /// The time at which it began, since some moment before the first launch.
    pub begin: Duration,
    /// The time that it took.
    pub time: Duration,
    /// The number of work items.
    pub work_items: u64,
    /// The bytes of arrays that it read and wrote, as in [`KernelTime::bytes`].
    pub bytes: u64,
}

/// A runtime whose launches are timed.
pub struct Profiled {
    inner: Rc<dyn Runtime>,
    profile: Profile,
    /// The moment since which a runtime without marks counts.
    began: Instant,
    /// The mark since which a runtime with marks counts: that before its first launch.
    first: RefCell<Option<Mark>>,
    /// The kernels of the loaded modules, by the address of the module. If the address of a freed module is used
    /// again, the new module replaces it here.
    modules: RefCell<HashMap<usize, Vec<KernelInfo>>>,
    /// The kernels of each name that were loaded so far, by the hashes of their code.
    names: RefCell<HashMap<String, Vec<u64>>>,
    /// The launches whose marks the device may not have passed yet.
    under_way: RefCell<Vec<MarkedLaunch>>,
}

/// A launch between two marks.
struct MarkedLaunch {
    launch: LaunchTime,
    begin: Mark,
    end: Mark,
}

#[derive(Clone)]
struct KernelInfo {
    name: String,
    work_items: WorkItemCount,
    /// For each parameter, the elements that a work item needs of it, as far as the code tells.
    elements: Vec<Needs>,
}

/// The elements of an array that a work item reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// So many, at most.
    Each(u64),
    /// All elements together need all of the array.
    All,
    /// An unknown number: that of iterations, or those of a part of the array.
    Unknown,
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
        let mut all: Vec<KernelTime> = self.0.borrow().kernels.values().cloned().collect();
        all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// Returns the launches in order, as far as they were recorded one by one: the first ten
    /// thousand.
    pub fn launches(&self) -> Vec<LaunchTime> {
        self.0.borrow().launches.clone()
    }

    /// Forgets what was recorded.
    pub fn clear(&self) {
        *self.0.borrow_mut() = Recorded::default();
    }

    fn note(&self, name: &str, note: impl FnOnce(&mut KernelTime)) {
        let mut all = self.0.borrow_mut();
        note(
            all.kernels
                .entry(name.to_string())
                .or_insert_with(|| KernelTime { name: name.to_string(), ..KernelTime::default() }),
        );
    }

    /// Adds a launch whose time is known.
    fn record(&self, launch: LaunchTime) {
        self.note(&launch.name, |kernel_time| kernel_time.time += launch.time);
        let launches = &mut self.0.borrow_mut().launches;
        if launches.len() < MAX_RECORDED_LAUNCHES {
            launches.push(launch);
        }
    }
}

impl Profiled {
    /// A runtime that delegates to `inner`, and records times in `profile`.
    pub fn new(inner: impl Into<Rc<dyn Runtime>>, profile: Profile) -> Profiled {
        let (modules, names, under_way, first) = Default::default();
        let began = Instant::now();
        Profiled { inner: inner.into(), profile, began, first, modules, names, under_way }
    }

    /// Adds the times of the launches under way, all of which are done.
    fn measure(&self) -> Result<(), Failure> {
        for MarkedLaunch { launch, begin, end } in self.under_way.take() {
            let between = |from: &Mark, to: &Mark| {
                self.inner.nanoseconds_between(from, to).map(Duration::from_nanos)
            };
            let since = match &*self.first.borrow() {
                Some(first) => between(first, &begin)?,
                None => Duration::ZERO,
            };
            let time = between(&begin, &end)?;
            self.profile.record(LaunchTime { begin: since, time, ..launch });
        }
        Ok(())
    }

    /// Returns the name of a kernel, with a number if another kernel has the same name.
    fn name(&self, kernel: &Kernel) -> String {
        let mut hasher = DefaultHasher::new();
        kernel.hash(&mut hasher);
        let hash = hasher.finish();
        let mut names = self.names.borrow_mut();
        let known = names.entry(kernel.name.clone()).or_default();
        let at = known.iter().position(|other| *other == hash).unwrap_or_else(|| {
            known.push(hash);
            known.len() - 1
        });
        if at == 0 { kernel.name.clone() } else { format!("{} ({})", kernel.name, at + 1) }
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

    fn alloc_at_most(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.inner.alloc_at_most(ty, length)
    }

    fn filled(&self, buffer: &Buffer, length: usize) -> Result<(), Failure> {
        self.inner.filled(buffer, length)
    }

    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.inner.write(buffer, at, bytes)
    }

    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        let before = self.inner.counters().compile_ns;
        let loaded = self.inner.load(module)?;
        let took = Duration::from_nanos(self.inner.counters().compile_ns - before);
        let kernels: Vec<KernelInfo> =
            module.kernels.iter().map(|kernel| kernel_info(kernel, self.name(kernel))).collect();
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
        let bytes = bytes(launch.args, &outputs, &kernel.elements, work_items);
        let name = kernel.name;
        self.profile.note(&name, |kernel_time| {
            kernel_time.launches += 1;
            kernel_time.work_items += work_items;
            kernel_time.bytes += bytes;
            kernel_time.is_bytes_limit |= kernel.elements.contains(&Needs::Unknown);
        });
        let since = began.duration_since(self.began);
        let launch = LaunchTime { name, begin: since, time: Duration::ZERO, work_items, bytes };
        match (begin, end) {
            (Some(begin), Some(end)) => {
                self.first.borrow_mut().get_or_insert_with(|| begin.clone());
                self.under_way.borrow_mut().push(MarkedLaunch { launch, begin, end });
            }
            _ => {
                self.inner.sync()?;
                self.profile.record(LaunchTime { time: began.elapsed(), ..launch });
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

    fn release_device(&self) -> Result<(), Failure> {
        self.sync()?;
        // A mark keeps the device that it is of.
        *self.first.borrow_mut() = None;
        self.inner.release_device()
    }

    fn is_spilled(&self, buffer: &Buffer) -> bool {
        self.inner.is_spilled(buffer)
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

/// Returns the bytes of the arrays that a launch reads and writes, each element at most once.
fn bytes(args: &[Arg], outputs: &[Buffer], elements: &[Needs], work_items: u64) -> u64 {
    // The array, the bytes that are needed of it, and all of its bytes.
    let mut arrays: Vec<(&Buffer, u64, u64)> = Vec::new();
    let size =
        |buffer: &Buffer, at: usize| (buffer.len().saturating_sub(at) * buffer.ty().size()) as u64;
    arrays.extend(outputs.iter().map(|buffer| (buffer, size(buffer, 0), size(buffer, 0))));
    for (arg, needs) in args.iter().zip(elements) {
        let Arg::Array(buffer, at) = arg else { continue };
        let whole = size(buffer, *at);
        let needed = match needs {
            Needs::Each(count) => {
                count.saturating_mul(work_items).saturating_mul(buffer.ty().size() as u64)
            }
            Needs::All | Needs::Unknown => whole,
        };
        match arrays.iter_mut().find(|(known, ..)| known.is_same(buffer)) {
            Some((_, sum, most)) => {
                *most = whole.max(*most);
                *sum = sum.saturating_add(needed);
            }
            None => arrays.push((buffer, needed, whole)),
        }
    }
    arrays.iter().map(|(_, needed, whole)| needed.min(whole)).sum()
}

/// Returns for each parameter of a kernel the elements that a work item needs of it: known for an array
/// that is only read and written element by element, outside of loops.
fn elements(kernel: &Kernel) -> Vec<Needs> {
    let mut all = vec![Needs::Each(0); kernel.params.len()];
    let at = |value: Value| kernel.params.iter().position(|param| *param == value);
    fn count(block: &Block, in_loop: bool, all: &mut [Needs], at: &dyn Fn(Value) -> Option<usize>) {
        for inst in &block.insts {
            let direct = match &inst.op {
                Op::Load { array, .. } | Op::Store { array, .. } if !in_loop => Some(*array),
                _ => None,
            };
            inst.op.each_operand(|value| {
                let Some(at) = at(value) else { return };
                all[at] = match all[at] {
                    Needs::Each(count) if direct == Some(value) => Needs::Each(count + 1),
                    _ => Needs::Unknown,
                };
            });
            let in_loop = in_loop || matches!(inst.op, Op::While { .. } | Op::For { .. });
            for block in inst.op.blocks() {
                count(block, in_loop, all, at);
            }
        }
        block.yields.iter().filter_map(|value| at(*value)).for_each(|at| all[at] = Needs::Unknown);
    }
    for stage in &kernel.stages {
        count(&stage.body, false, &mut all, &at);
        for sink in &stage.sinks {
            sink.each_operand(|value| {
                if let Some(at) = at(value) {
                    all[at] = Needs::All;
                }
            });
        }
    }
    // What no instruction names, the space or a sink reads or writes.
    all.into_iter().map(|needs| if needs == Needs::Each(0) { Needs::All } else { needs }).collect()
}

fn address(module: &Loaded) -> usize {
    Arc::as_ptr(&module.0).cast::<()>() as usize
}

fn kernel_info(kernel: &Kernel, name: String) -> KernelInfo {
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
    KernelInfo { name, work_items, elements: elements(kernel) }
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
    use crate::kir::{Binary, KernelBuilder, ValueTy, reference::Reference};
    use crate::runtime::Options;

    #[test]
    fn launches_and_work_items_of_a_kernel_are_added_up() {
        let profile = Profile::default();
        let reference: Rc<dyn Runtime> = Rc::new(Reference::new(Options::default()));
        let runtime = Profiled::new(reference, profile.clone());
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
        assert_eq!(kernels[0].bytes, 8 * 8);
        let launches = profile.launches();
        assert_eq!(launches.iter().map(|launch| launch.work_items).collect::<Vec<_>>(), [3, 5]);
        assert!(launches[0].begin + launches[0].time <= launches[1].begin);
        profile.clear();
        assert!(profile.kernels().is_empty() && profile.launches().is_empty());
    }

    #[test]
    fn kernels_of_one_name_are_told_apart_and_only_what_is_needed_is_counted() {
        let profile = Profile::default();
        let reference: Rc<dyn Runtime> = Rc::new(Reference::new(Options::default()));
        let runtime = Profiled::new(reference, profile.clone());
        let loaded = |factor: i64| {
            let mut kernel = KernelBuilder::new("main kernel 0");
            let count = kernel.param(ValueTy::Scalar(Ty::I64));
            let from = kernel.param(ValueTy::Array(Ty::I64));
            let to = kernel.param(ValueTy::Array(Ty::I64));
            let index = kernel.over(Space::Flat { count })[0];
            let x = kernel.body.load(from, index);
            let factor = kernel.body.i64(factor);
            let x = kernel.body.binary(Binary::Mul, x, factor);
            kernel.body.store(to, index, x);
            let module = Module { functions: Vec::new(), kernels: vec![kernel.finish()] };
            runtime.load(&module).unwrap()
        };
        let (from, to) =
            (runtime.alloc(Ty::I64, 100).unwrap(), runtime.alloc(Ty::I64, 100).unwrap());
        runtime.write(&from, 0, &[0; 800]).unwrap();
        for factor in [2, 3, 2] {
            let module = loaded(factor);
            let arrays = [&from, &to].map(|array| Arg::Array(array.clone(), 0));
            let args: Vec<Arg> =
                [Arg::Scalar(Literal::I64(10))].into_iter().chain(arrays).collect();
            let (module, args) = (&module, &args[..]);
            runtime.launch(&Launch { module, kernel: 0, args, tag: 0, work_items: None }).unwrap();
        }
        let mut kernels = profile.kernels();
        kernels.sort_by(|a, b| a.name.cmp(&b.name));
        let counted = kernels.iter().map(|one| (&*one.name, one.launches, one.bytes));
        // Ten elements of each array, although the arrays are longer.
        let expected = [("main kernel 0", 2, 2 * 160), ("main kernel 0 (2)", 1, 160)];
        assert_eq!(counted.collect::<Vec<_>>(), expected);
    }
}
