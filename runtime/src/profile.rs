//! Profiling: a runtime that measures the time of each kernel of another one.
//!
//! Every launch is waited for, so that its time is its own: what a runtime would do while the host
//! goes on is lost. Kernels are told apart by their names.

use crate::bug::OrBug;
use crate::kir::{Kernel, Literal, Module, Space, Ty, Value};
use crate::runtime::{Arg, Buffer, Caps, Counters, Failure, Launch, Loaded, Runtime};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The times of kernels so far; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Profile(Rc<RefCell<HashMap<String, Taken>>>);

/// The time of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The name of the kernel.
    pub name: String,
    /// The number of its launches.
    pub launches: u64,
    /// The number of its work items, over all launches.
    pub points: u64,
    /// The time of the launches.
    pub time: Duration,
    /// The time it took to compile the modules it is in.
    pub compiling: Duration,
}

/// A runtime whose launches are timed.
pub struct Profiled {
    inner: Box<dyn Runtime>,
    profile: Profile,
    /// The kernels of the modules at hand, by the addresses of these. A module whose address was
    /// another's was loaded later, and took its place here.
    modules: RefCell<HashMap<usize, Vec<Known>>>,
}

#[derive(Clone)]
struct Known {
    name: String,
    points: Points,
}

/// The numbers of the arguments that determine the number of work items.
#[derive(Clone, Copy)]
enum Points {
    Flat(usize),
    Regular(usize, usize),
    Segmented(usize, usize),
}

impl Profile {
    /// The kernels, the one that took the most time first.
    pub fn kernels(&self) -> Vec<Taken> {
        let mut all: Vec<Taken> = self.0.borrow().values().cloned().collect();
        all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
        all
    }

    fn note(&self, name: &str, note: impl FnOnce(&mut Taken)) {
        let mut all = self.0.borrow_mut();
        note(
            all.entry(name.to_string())
                .or_insert_with(|| Taken { name: name.to_string(), ..Taken::default() }),
        );
    }
}

impl Profiled {
    /// A runtime that does what `inner` does, and notes it in `profile`.
    pub fn new(inner: Box<dyn Runtime>, profile: Profile) -> Profiled {
        Profiled { inner, profile, modules: RefCell::default() }
    }

    fn count(&self, points: Points, args: &[Arg]) -> Result<u64, Failure> {
        Ok(match points {
            Points::Flat(count) => number(&args[count]),
            Points::Regular(segments, length) => number(&args[segments]) * number(&args[length]),
            Points::Segmented(segments, offsets) => {
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
        let kernels: Vec<Known> = module.kernels.iter().map(known).collect();
        for kernel in &kernels {
            self.profile.note(&kernel.name, |taken| taken.compiling += took);
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
        let outputs = self.inner.launch(launch)?;
        self.inner.sync()?;
        let took = began.elapsed();
        let modules = self.modules.borrow();
        let known = modules.get(&address(launch.module));
        if let Some(kernel) = known.and_then(|all| all.get(launch.kernel)) {
            let points = self.count(kernel.points, launch.args)?;
            self.profile.note(&kernel.name, |taken| {
                taken.launches += 1;
                taken.time += took;
                taken.points += points;
            });
        }
        Ok(outputs)
    }

    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.inner.read(buffer, at, out)
    }

    fn sync(&self) -> Result<(), Failure> {
        self.inner.sync()
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

fn address(module: &Loaded) -> usize {
    Arc::as_ptr(&module.0).cast::<()>() as usize
}

fn known(kernel: &Kernel) -> Known {
    let place = |value: Value| {
        let place = kernel.params.iter().position(|param| *param == value);
        place.or_bug("the bounds of a space are parameters")
    };
    let points = match kernel.space {
        Space::Flat { count } => Points::Flat(place(count)),
        Space::Regular { segments, length } => Points::Regular(place(segments), place(length)),
        Space::Segmented { segments, offsets } => {
            Points::Segmented(place(segments), place(offsets))
        }
    };
    Known { name: kernel.name.clone(), points }
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
    fn launches_and_points_of_a_kernel_are_added_up() {
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
            runtime.launch(&Launch { module: &loaded, kernel: 0, args: &args, tag: 0 }).unwrap();
        }
        let kernels = profile.kernels();
        assert_eq!(kernels.len(), 1);
        assert_eq!((&*kernels[0].name, kernels[0].launches, kernels[0].points), ("indices", 2, 8));
    }
}
