//! Compiled modules, to be found again, and those that are compiled before anybody asks.
//!
//! A session may make thousands of different ones. Those that somebody holds stay; of the others
//! the ones used last, so that memory stays bounded and what is run again and again is compiled
//! once.
//!
//! What is expected is compiled by a thread of its own, the longest first: that is what one would
//! otherwise wait for in the end. Who loads a module that nobody has begun compiles it himself; who
//! needs the one that is under way compiles the next one that takes at most half as long instead of
//! waiting, if there is one. What was expected before something that is loaded was not needed there, probably, and is
//! left for the end. Nothing is begun while a launch runs on all threads: it would wait for the
//! one whose core is taken. A module is the same whoever compiles it; if the thread ahead cannot compile
//! it, that is forgotten, and known again when it is loaded. The thread ends when there is nothing
//! to do.

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

/// There are no more than this, unless so many are held.
pub const MOST: usize = 256;

/// Who waits for another thread looks so often whether he is to stop.
const PATIENCE: Duration = Duration::from_millis(5);

/// The thread ahead looks so often whether there is a core for it.
const BREATH: Duration = Duration::from_micros(300);

/// The name of the thread that compiles ahead.
const AHEAD: &str = "nesl-ahead";

thread_local! {
    static IS_PREFETCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread compiles what nobody needs yet. A panic there is nobody's concern: who needs
/// the module finds it again.
pub fn is_prefetching() -> bool {
    IS_PREFETCHING.get()
}

/// Modules by what they are made from.
pub struct Modules(Arc<Shared>);

struct Shared {
    machine: Machine,
    state: Mutex<State>,
    /// A module is not under way any more.
    done: Condvar,
    /// How many computations want all threads just now ([`Workers::wanted`]).
    wanted: Arc<AtomicUsize>,
    /// Nobody needs anything any more.
    closed: AtomicBool,
    /// Nanoseconds that the thread ahead has compiled.
    prefetch_ns: AtomicU64,
}

#[derive(Default)]
struct State {
    kept: FxHashMap<Arc<Module>, Kept>,
    /// How often one was asked for.
    clock: u64,
    /// Those that nobody has begun, in the order in which they will be needed.
    expected: Vec<Expected>,
    under_way: Vec<Expected>,
    /// How many were expected so far.
    count: u64,
    /// How far the program has come with them.
    reached: u64,
    /// There is a thread that compiles ahead.
    ahead: bool,
}

struct Kept {
    compiled: Arc<Compiled>,
    used: u64,
    /// See [`Expected::place`].
    place: u64,
    /// Somebody has loaded it.
    loaded: bool,
}

/// A module that will be loaded, probably, or that somebody compiles.
#[derive(Clone)]
struct Expected {
    module: Arc<Module>,
    /// About how long it takes to compile.
    size: u64,
    /// Its number among those expected, from 1 on; 0 if it was not.
    place: u64,
}

/// Who compiles a module, until it is there or cannot be compiled.
struct Claim<'a> {
    shared: &'a Shared,
    what: Expected,
}

impl Modules {
    /// None yet.
    pub fn new(machine: Machine, workers: &Workers) -> Modules {
        let (state, done, closed, prefetch_ns) = Default::default();
        let wanted = workers.wanted().clone();
        Modules(Arc::new(Shared { machine, state, done, wanted, closed, prefetch_ns }))
    }

    /// A compiled module, and whether nobody has loaded it before; an error if it cannot be
    /// compiled, or somebody wants to stop.
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
                    shared.claim(state, next).compile_ahead(workers, stop);
                    state = shared.state();
                } else {
                    let waited = shared.done.wait_timeout(state, PATIENCE);
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

    /// A module will be loaded, probably.
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
        if !std::mem::replace(&mut state.ahead, true) {
            drop(state);
            let shared = self.0.clone();
            let thread = std::thread::Builder::new().name(AHEAD.into());
            if thread.spawn(move || shared.work_ahead()).is_err() {
                self.0.state().ahead = false;
            }
        }
    }

    /// None will.
    pub fn cancel_prefetch(&self) {
        self.0.state().expected.clear();
    }

    /// Nanoseconds that the thread ahead has compiled.
    pub fn prefetch_ns(&self) -> u64 {
        self.0.prefetch_ns.load(Relaxed)
    }

    /// How many there are that somebody has loaded.
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

    /// Compiles what is expected.
    fn work_ahead(&self) {
        let alone = Workers::new(1, 1, Memory::new(0));
        loop {
            let mut state = self.state();
            let reached = state.reached;
            let urgent = |at: &usize| {
                let Expected { size, place, .. } = state.expected[*at];
                (place > reached, size, u64::MAX - place)
            };
            let Some(at) = (0..state.expected.len()).max_by_key(urgent) else {
                state.ahead = false;
                return;
            };
            if self.wanted.load(Relaxed) > 0 {
                drop(state);
                std::thread::sleep(BREATH);
                continue;
            }
            let what = state.expected.remove(at);
            let claim = self.claim(state, what);
            let began = Instant::now();
            claim.compile_ahead(&alone, &self.closed);
            self.prefetch_ns.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
        }
    }
}

impl Claim<'_> {
    /// Compiles what nobody needs yet; who does finds out why it is not there.
    fn compile_ahead(self, workers: &Workers, stop: &AtomicBool) {
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

    /// Keeps a compiled module; lets go of half of those that nobody holds if there are too many.
    fn keep(&mut self, Expected { module, place, .. }: Expected, compiled: Arc<Compiled>) {
        if self.kept.len() >= MOST {
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

/// Instructions of a module: about how long it takes to compile.
fn size(module: &Module) -> u64 {
    walk::bodies(module).map(|block| walk::count_insts(block) as u64).sum()
}
