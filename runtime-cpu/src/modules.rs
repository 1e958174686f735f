//! The cache of compiled modules, and speculative compilation.
//!
//! A session may make thousands of different modules. Modules in use stay; of the others the most
//! recently used ones, so that memory stays bounded and repeated code is compiled once.
//!
//! A background thread compiles the announced modules, the longest first: these would be waited for in
//! the end. A caller that loads a module that no thread has begun compiles it itself; one that needs the
//! module under compilation meanwhile compiles the next one that takes at most half as long, if there is
//! one. Modules announced before one that has been loaded were probably not needed, and come last.
//! Nothing is begun while a launch wants all threads: it would wait for the one whose core is taken. A
//! module is the same whichever thread compiles it; if the background thread cannot, `load` finds out
//! again. The thread ends when there is nothing to do.

use crate::codegen::machine::Machine;
use crate::codegen::{self, Compiled};
use crate::memory::Memory;
use crate::workers::Workers;
use nesl_runtime::kir::{Module, walk};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of modules that are kept, unless more are in use.
pub const MAX_UNUSED_MODULES: usize = 256;

/// The interval at which a thread that waits for another polls the interrupt flag.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The interval at which the background thread polls for an idle core.
const IDLE_CORE_POLL_INTERVAL: Duration = Duration::from_micros(300);

/// The name of the background thread.
const PREFETCH_THREAD: &str = "nesl-prefetch";

thread_local! {
    static IS_PREFETCHING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread is compiling speculatively. A panic is then not reported: loading the
/// module panics again.
pub fn is_prefetching() -> bool {
    IS_PREFETCHING.get()
}

/// The compiled modules, by their kir.
pub struct Modules(Arc<Shared>);

struct Shared {
    machine: Machine,
    state: Mutex<State>,
    /// Notified when a module is no longer under compilation.
    done: Condvar,
    /// The number of computations that want all threads ([`Workers::wanted`]).
    wanted: Arc<AtomicUsize>,
    /// Set when the runtime is dropped.
    closed: AtomicBool,
    /// The time that the background thread has compiled, in nanoseconds.
    prefetch_ns: AtomicU64,
}

#[derive(Default)]
struct State {
    kept: FxHashMap<Arc<Module>, Kept>,
    /// The number of requests so far.
    clock: u64,
    /// The announced modules that no thread has begun, in the order in which they will be needed.
    expected: Vec<Expected>,
    under_way: Vec<Expected>,
    /// The number of modules announced so far.
    count: u64,
    /// The number of the latest announced module that was loaded.
    reached: u64,
    /// True while the background thread runs.
    prefetching: bool,
}

struct Kept {
    compiled: Arc<Compiled>,
    used: u64,
    /// The number among those announced; see [`Expected::place`].
    place: u64,
    /// True once it was loaded.
    loaded: bool,
}

/// A module that was announced, or is under compilation.
#[derive(Clone)]
struct Expected {
    module: Arc<Module>,
    /// The estimated time of compilation, in instructions.
    size: u64,
    /// Its number among those announced, from 1 on; 0 if it was not announced.
    place: u64,
}

/// The right to compile a module, until that is done or has failed.
struct Claim<'a> {
    shared: &'a Shared,
    what: Expected,
}

impl Modules {
    /// An empty cache.
    pub fn new(machine: Machine, workers: &Workers) -> Modules {
        let (state, done, closed, prefetch_ns) = Default::default();
        let wanted = workers.wanted().clone();
        Modules(Arc::new(Shared { machine, state, done, wanted, closed, prefetch_ns }))
    }

    /// Returns a compiled module, and true if it was not loaded before; an error if it cannot be compiled,
    /// or `stop` is set.
    pub fn load(
        &self,
        module: &Module,
        workers: &Workers,
        stop: &AtomicBool,
    ) -> Result<(Arc<Compiled>, bool), String> {
        let shared = &*self.0;
        let mut state = shared.state();
        loop {
            if let Some((found, first)) = state.load(module) {
                return Ok((found, first));
            }
            if stop.load(Relaxed) {
                return Err("interrupted".into());
            }
            let busy = find(&state.under_way, module).map(|at| state.under_way[at].clone());
            if let Some(Expected { place, size, .. }) = busy {
                state.reached = state.reached.max(place);
                // What takes long and is not needed would be waited for in vain.
                let brief = |next: &Expected| next.place > place && next.size <= size / 2;
                if let Some(at) = state.expected.iter().position(brief) {
                    let next = state.expected.remove(at);
                    shared.claim(state, next).compile_speculatively(workers, stop);
                    state = shared.state();
                } else {
                    let waited = shared.done.wait_timeout(state, INTERRUPT_POLL_INTERVAL);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            } else {
                let what = match find(&state.expected, module) {
                    Some(at) => state.expected.remove(at),
                    None => Expected { module: Arc::new(module.clone()), size: 0, place: 0 },
                };
                state.reached = state.reached.max(what.place);
                shared.claim(state, what).compile(workers, stop)?;
                state = shared.state();
            }
        }
    }

    /// Announces that a module will probably be loaded.
    pub fn prefetch(&self, module: &Module) {
        let mut state = self.0.state();
        if state.kept.contains_key(module)
            || find(&state.under_way, module).is_some()
            || find(&state.expected, module).is_some()
        {
            return;
        }
        state.count += 1;
        let (module, size, place) = (Arc::new(module.clone()), size(module), state.count);
        state.expected.push(Expected { module, size, place });
        if !std::mem::replace(&mut state.prefetching, true) {
            drop(state);
            let shared = self.0.clone();
            let thread = std::thread::Builder::new().name(PREFETCH_THREAD.into());
            if thread.spawn(move || shared.prefetch_loop()).is_err() {
                self.0.state().prefetching = false;
            }
        }
    }

    /// Forgets the announced modules that no thread has begun.
    pub fn cancel_prefetch(&self) {
        self.0.state().expected.clear();
    }

    /// The size of the widest vectors, in bytes.
    pub fn vector_bytes(&self) -> usize {
        self.0.machine.vector_bytes
    }

    /// The time that the background thread has compiled, in nanoseconds.
    pub fn prefetch_ns(&self) -> u64 {
        self.0.prefetch_ns.load(Relaxed)
    }

    /// The number of machine functions in the cache that have vectors wider than usual.
    pub fn wide_functions(&self) -> usize {
        self.0.state().kept.values().map(|kept| kept.compiled.wide_functions).sum()
    }

    /// The number of modules in the cache that were loaded.
    pub fn len(&self) -> usize {
        self.0.state().kept.values().filter(|kept| kept.loaded).count()
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        self.0.closed.store(true, Relaxed);
        self.cancel_prefetch();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, mut state: MutexGuard<'_, State>, what: Expected) -> Claim<'_> {
        state.under_way.push(what.clone());
        Claim { shared: self, what }
    }

    /// The loop of the background thread: compiles announced modules.
    fn prefetch_loop(&self) {
        let alone = Workers::new(1, 1, Memory::new(0));
        loop {
            let mut state = self.state();
            let reached = state.reached;
            let urgent = |at: &usize| {
                let Expected { size, place, .. } = state.expected[*at];
                (place > reached, size, u64::MAX - place)
            };
            let Some(at) = (0..state.expected.len()).max_by_key(urgent) else {
                state.prefetching = false;
                return;
            };
            if self.wanted.load(Relaxed) > 0 {
                drop(state);
                std::thread::sleep(IDLE_CORE_POLL_INTERVAL);
                continue;
            }
            let what = state.expected.remove(at);
            let claim = self.claim(state, what);
            let began = Instant::now();
            claim.compile_speculatively(&alone, &self.closed);
            self.prefetch_ns.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
        }
    }
}

impl Claim<'_> {
    /// Compiles a module that is not needed yet; its errors are found again when it is.
    fn compile_speculatively(self, workers: &Workers, stop: &AtomicBool) {
        IS_PREFETCHING.set(true);
        let _ = catch_unwind(AssertUnwindSafe(|| self.compile(workers, stop)));
        IS_PREFETCHING.set(false);
    }

    fn compile(self, workers: &Workers, stop: &AtomicBool) -> Result<(), String> {
        let (module, machine) = (&self.what.module, &self.shared.machine);
        let compiled = codegen::compile(module, machine, workers, stop)?;
        self.shared.state().keep(self.what.clone(), Arc::new(compiled));
        Ok(())
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.under_way.retain(|other| !Arc::ptr_eq(&other.module, &self.what.module));
        drop(state);
        self.shared.done.notify_all();
    }
}

impl State {
    fn load(&mut self, module: &Module) -> Option<(Arc<Compiled>, bool)> {
        self.clock += 1;
        let kept = self.kept.get_mut(module)?;
        kept.used = self.clock;
        self.reached = self.reached.max(kept.place);
        let first = !std::mem::replace(&mut kept.loaded, true);
        Some((kept.compiled.clone(), first))
    }

    /// Keeps a compiled module; drops half of those not in use if there are too many.
    fn keep(&mut self, Expected { module, place, .. }: Expected, compiled: Arc<Compiled>) {
        if self.kept.len() >= MAX_UNUSED_MODULES {
            let free = |kept: &Kept| Arc::strong_count(&kept.compiled) == 1;
            let mut times: Vec<u64> =
                self.kept.values().filter(|kept| free(kept)).map(|kept| kept.used).collect();
            if !times.is_empty() {
                let middle = times.len() / 2;
                let (_, middle, _) = times.select_nth_unstable(middle);
                let since = *middle;
                self.kept.retain(|_, kept| !free(kept) || kept.used > since);
            }
        }
        self.clock += 1;
        self.kept.insert(module, Kept { compiled, used: self.clock, place, loaded: false });
    }
}

fn find(all: &[Expected], module: &Module) -> Option<usize> {
    all.iter().position(|other| *other.module == *module)
}

/// The number of instructions of a module: an estimate of its compile time.
fn size(module: &Module) -> u64 {
    walk::bodies(module).map(|block| walk::count_insts(block) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::kir::parse;

    /// A module that stores `number` in all elements of an array.
    fn module(number: usize) -> Module {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {{
  v3: i64 = const {number}
  store v1[v2] = v3
}}"
        );
        parse(&text).unwrap()
    }

    /// The claim on a module that no thread has begun.
    fn claim<'a>(shared: &'a Shared, module: &Module) -> Claim<'a> {
        let what = Expected { module: Arc::new(module.clone()), size: 1, place: 0 };
        shared.claim(shared.state(), what)
    }

    /// The test holds the claim on a module, as a compiling thread does, so that a load has to wait; an
    /// interrupt ends the waiting, and the module can be loaded when the claim is released.
    #[test]
    fn an_interrupt_ends_the_waiting() {
        let workers = Workers::new(1, 1, Memory::new(u64::MAX));
        let modules = Modules::new(Machine::new().unwrap(), &workers);
        let module = module(1);
        let claim = claim(&modules.0, &module);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| modules.load(&module, &workers, &stop).map(|_| ()));
            std::thread::sleep(2 * INTERRUPT_POLL_INTERVAL);
            assert!(!waiting.is_finished(), "the load did not wait for the claim");
            stop.store(true, Relaxed);
            assert_eq!(waiting.join().unwrap(), Err("interrupted".into()));
        });
        stop.store(false, Relaxed);
        drop(claim);
        assert!(modules.load(&module, &workers, &stop).is_ok());
    }

    /// Dropping the cache waits neither for the module under compilation, whose claim the test holds, nor
    /// for an announced one, which the background thread cannot begin as long as a launch wants all
    /// threads. The background thread ends by itself.
    #[test]
    fn dropping_the_cache_waits_for_no_module() {
        let workers = Workers::new(1, 1, Memory::new(u64::MAX));
        let modules = Modules::new(Machine::new().unwrap(), &workers);
        let shared = modules.0.clone();
        let claim = claim(&shared, &module(1));
        shared.wanted.fetch_add(1, Relaxed);
        modules.prefetch(&module(2));
        assert!(shared.state().prefetching);
        // Were it to wait, it would do so for ever.
        drop(modules);
        assert!(shared.closed.load(Relaxed), "the module under compilation is to be abandoned");
        while shared.state().prefetching {
            std::thread::sleep(IDLE_CORE_POLL_INTERVAL);
        }
        drop(claim);
        assert!(shared.state().kept.is_empty());
    }
}
