//! Compiled modules, to be found again, and those that are compiled before anybody asks.
//!
//! A session may make thousands of different ones. Those that somebody holds stay; of the others
//! the ones used last, so that memory stays bounded and what is run again and again is compiled
//! once.
//!
//! What is expected is compiled by a thread of its own, the longest first: that is what one would
//! otherwise wait for in the end. Who loads a module that nobody has begun compiles it himself; who
//! needs the one that is under way compiles another expected one instead of waiting, if there is
//! one. A module is the same whoever compiles it; if the thread ahead cannot compile it, that is
//! forgotten, and known again when it is loaded. The thread ends when there is nothing to do.

use crate::codegen::machine::Machine;
use crate::codegen::{self, Compiled, walk};
use crate::launch::Workers;
use crate::memory::Memory;
use nesl_runtime::kir::Module;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// There are no more than this, unless so many are held.
pub const MOST: usize = 256;

/// Who waits for another thread looks so often whether he is to stop.
const PATIENCE: Duration = Duration::from_millis(5);

/// The name of the thread that compiles ahead. What panics there is nobody's concern yet.
pub const AHEAD: &str = "nesl-ahead";

/// Modules by what they are made from.
pub struct Modules(Arc<Shared>);

struct Shared {
    machine: Machine,
    state: Mutex<State>,
    /// A module is not under way any more.
    done: Condvar,
    /// Nobody needs anything any more.
    closed: AtomicBool,
}

#[derive(Default)]
struct State {
    kept: FxHashMap<Arc<Module>, Kept>,
    /// How often one was asked for.
    clock: u64,
    /// Those expected that nobody has begun, in the order in which they will be needed.
    expected: Vec<(u64, Arc<Module>)>,
    under_way: Vec<Arc<Module>>,
    /// There is a thread that compiles ahead.
    ahead: bool,
}

struct Kept {
    compiled: Arc<Compiled>,
    used: u64,
    /// Somebody has loaded it.
    loaded: bool,
}

/// Who compiles a module, until it is there or cannot be compiled.
struct Claim<'a> {
    shared: &'a Shared,
    module: Arc<Module>,
}

impl Modules {
    /// None yet.
    pub fn new(machine: Machine) -> Modules {
        let (state, done, closed) = Default::default();
        Modules(Arc::new(Shared { machine, state, done, closed }))
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
            if !state.under_way.iter().any(|other| **other == *module) {
                let expected = state.expected.iter().position(|(_, other)| **other == *module);
                let module = match expected {
                    Some(at) => state.expected.remove(at).1,
                    None => Arc::new(module.clone()),
                };
                shared.claim(state, module).compile(workers, stop)?;
                state = shared.state();
            } else if !state.expected.is_empty() {
                let (_, other) = state.expected.remove(0);
                // What becomes of it is not the question here.
                let _ = shared.claim(state, other).compile(workers, stop);
                state = shared.state();
            } else {
                let waited = shared.done.wait_timeout(state, PATIENCE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// A module will be loaded, probably.
    pub fn expect(&self, module: &Module) {
        let mut state = self.0.state();
        let known = |other: &Arc<Module>| **other == *module;
        if state.kept.contains_key(module)
            || state.under_way.iter().any(known)
            || state.expected.iter().any(|(_, other)| known(other))
        {
            return;
        }
        state.expected.push((size(module), Arc::new(module.clone())));
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
    pub fn expect_nothing(&self) {
        self.0.state().expected.clear();
    }

    /// How many there are that somebody has loaded.
    pub fn len(&self) -> usize {
        self.0.state().kept.values().filter(|kept| kept.loaded).count()
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        self.0.closed.store(true, Relaxed);
        self.expect_nothing();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, mut state: MutexGuard<'_, State>, module: Arc<Module>) -> Claim<'_> {
        state.under_way.push(module.clone());
        Claim { shared: self, module }
    }

    /// Compiles what is expected, the longest first.
    fn work_ahead(&self) {
        let alone = Workers::new(1, 1, Memory::new(0));
        loop {
            let mut state = self.state();
            let sizes = state.expected.iter().map(|(size, _)| *size).enumerate();
            let Some((at, _)) = sizes.max_by_key(|(at, size)| (*size, usize::MAX - at)) else {
                state.ahead = false;
                return;
            };
            let (_, module) = state.expected.remove(at);
            let claim = self.claim(state, module);
            // Who needs it finds out why it is not there.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _ = claim.compile(&alone, &self.closed);
            }));
        }
    }
}

impl Claim<'_> {
    fn compile(self, workers: &Workers, stop: &AtomicBool) -> Result<(), String> {
        let compiled = codegen::compile(&self.module, &self.shared.machine, workers, stop)?;
        self.shared.state().keep(self.module.clone(), Arc::new(compiled));
        Ok(())
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.under_way.retain(|other| !Arc::ptr_eq(other, &self.module));
        drop(state);
        self.shared.done.notify_all();
    }
}

impl State {
    fn load(&mut self, module: &Module) -> Option<(Arc<Compiled>, bool)> {
        self.clock += 1;
        let kept = self.kept.get_mut(module)?;
        kept.used = self.clock;
        let first = !std::mem::replace(&mut kept.loaded, true);
        Some((kept.compiled.clone(), first))
    }

    /// Keeps a compiled module; lets go of half of those that nobody holds if there are too many.
    fn keep(&mut self, module: Arc<Module>, compiled: Arc<Compiled>) {
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
        self.kept.insert(module, Kept { compiled, used: self.clock, loaded: false });
    }
}

/// Instructions of a module: about how long it takes to compile.
fn size(module: &Module) -> u64 {
    let functions = module.functions.iter().map(|function| &function.body);
    let stages = module.kernels.iter().flat_map(|kernel| &kernel.stages).map(|s| &s.body);
    let mut size = 0;
    for block in functions.chain(stages) {
        walk::insts(block, &mut |_| size += 1);
    }
    size
}
