//! Threads, and chunks run on them.
//!
//! The calling thread takes part: a launch begins at once, and ends, whether or not another thread
//! wakes up. Chunks are taken in their order, so that when one has failed all before it have been
//! begun; those are finished, and the first failure is the launch's.

use super::Run;
use super::pool::Pool;
use super::settle::Private;
use crate::arena::{Arena, Env, Status};
use crate::codegen::Entry;
use crate::memory::Memory;
use crate::trouble;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::Site;
use nesl_runtime::runtime::{Failure, Options};
use nesl_runtime::services::sort::Work;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The stack of instances that recurse: a frame may be 1 KiB at a million levels. Only what is
/// used of it is backed by memory.
const STACK: usize = if cfg!(target_pointer_width = "64") { 1 << 30 } else { 1 << 26 };

/// What is left of it for functions of the runtime.
const RESERVE: usize = 256 << 10;

/// What takes no longer is not worth another thread, which may be asleep.
const SOON: Duration = Duration::from_micros(20);

/// Copies of fewer bytes are not worth another thread.
const COPY: usize = 1 << 20;

/// The threads of a runtime, and the memory their instances use.
pub struct Workers {
    threads: usize,
    /// The least work of a chunk.
    grain: u64,
    /// One thread less: the calling one is the other. Made when first needed.
    pool: OnceLock<Option<Pool>>,
    /// How many computations want all threads just now.
    wanted: Arc<AtomicUsize>,
    memory: Arc<Memory>,
    #[expect(clippy::vec_box, reason = "compiled code knows their addresses")]
    arenas: Mutex<Vec<Box<Arena>>>,
}

/// All threads are wanted as long as this lives.
struct Wanted<'a>(&'a AtomicUsize);

impl<'a> Wanted<'a> {
    fn new(wanted: &'a AtomicUsize) -> Wanted<'a> {
        wanted.fetch_add(1, Relaxed);
        Wanted(wanted)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Workers {
    /// So many threads.
    pub fn new(threads: usize, grain: u64, memory: Arc<Memory>) -> Workers {
        let (pool, wanted, arenas) = Default::default();
        Workers { threads, grain, pool, wanted, memory, arenas }
    }

    /// How many computations want all threads just now; for those who use what is left.
    pub fn wanted(&self) -> &Arc<AtomicUsize> {
        &self.wanted
    }

    /// How many.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The least work of a chunk, in operations.
    pub fn grain(&self) -> u64 {
        self.grain
    }

    /// The memory.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Calls `f` with the numbers from 0 to below `count`, in that order, on all threads.
    pub fn each(&self, count: usize, f: &Work<'_>) {
        self.each_from(&AtomicUsize::new(0), count, f);
    }

    /// The same; but this thread begins alone, and goes on alone if all is done soon.
    fn each_soon(&self, count: usize, f: &Work<'_>) {
        let (next, begun) = (AtomicUsize::new(0), Instant::now());
        f(&mut || {
            let soon = next.load(Relaxed) == 0 || begun.elapsed() < SOON;
            soon.then(|| next.fetch_add(1, Relaxed)).filter(|at| *at < count)
        });
        if next.load(Relaxed) < count {
            self.each_from(&next, count, f);
        }
    }

    fn each_from(&self, next: &AtomicUsize, count: usize, f: &Work<'_>) {
        let take = || Some(next.fetch_add(1, Relaxed)).filter(|at| *at < count);
        let pool = if count <= 1 { None } else { self.pool() };
        match pool {
            Some(pool) => {
                let _wanted = Wanted::new(&self.wanted);
                pool.run(self.threads.min(count) - 1, &|| f(&mut { take }));
            }
            None => f(&mut { take }),
        }
    }

    fn pool(&self) -> Option<&Pool> {
        let make = || if self.threads > 1 { Pool::new(self.threads - 1) } else { None };
        self.pool.get_or_init(make).as_ref()
    }

    /// Runs a phase over all chunks.
    pub fn run(
        &self,
        run: &mut Run<'_>,
        entry: Entry,
        private: &[Private],
        options: &Options,
    ) -> Result<(), Failure> {
        let chunks = run.chunks.len();
        let outputs = run.code.kernel.outputs.len();
        let (state, emitted) = (Shared(run.state.as_mut_ptr()), Shared(run.emitted.as_mut_ptr()));
        let run = &*run;
        let failed = AtomicUsize::new(usize::MAX);
        let failure: Mutex<Option<(usize, Failure)>> = Mutex::new(None);
        let each = if run.short && chunks > 1 { Workers::each_soon } else { Workers::each };
        each(self, chunks, &|take| {
            let mut env = Env::new(options, self, chunks == 1);
            let mut arena = run.code.allocates.then(|| self.arena(&mut env));
            while let Some(at) = take() {
                if at > failed.load(Relaxed) {
                    break;
                }
                let mut params = run.params.clone();
                for (param, table) in private.iter().filter_map(|p| p.of(at)) {
                    params[param] = table;
                }
                // SAFETY: each chunk has `stride` words of its own.
                let state = unsafe { state.get().add(at * run.stride) };
                // SAFETY: each chunk has `outputs` parts of its own.
                env.emitted = unsafe { emitted.get().add(at * outputs) };
                env.details = 0;
                let status = call(entry, &mut env, &params, state, run.code.recursive);
                if status != Status::Done as i32 {
                    failed.fetch_min(at, Relaxed);
                    let found = env.failure(status, run.tag, &self.memory);
                    let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(before, _)| at < *before) {
                        *first = Some((at, found));
                    }
                    drop(first);
                    if let Some(arena) = &mut arena {
                        arena.enter(&mut env);
                    }
                }
            }
            if let Some(mut arena) = arena {
                arena.rest();
                self.arenas.lock().unwrap_or_else(PoisonError::into_inner).push(arena);
            }
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, failure)) => Err(failure),
            None => Ok(()),
        }
    }

    /// An arena, entered.
    fn arena(&self, env: &mut Env) -> Box<Arena> {
        let rested = self.arenas.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut arena = rested.unwrap_or_else(|| Box::new(Arena::new(self.memory.clone())));
        arena.enter(env);
        arena
    }

    /// Copies ranges of bytes: addresses from, to, and lengths; so many bytes in all.
    pub fn copy(&self, jobs: &[(usize, usize, usize)], bytes: usize) {
        let copy = |at: usize| {
            let (from, to, length) = jobs[at];
            // SAFETY: the parts of outputs and the places for them, which do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, length) };
        };
        if bytes < COPY {
            (0..jobs.len()).for_each(copy);
        } else {
            self.each(jobs.len(), &|take| {
                while let Some(at) = take() {
                    copy(at)
                }
            });
        }
    }
}

/// An address that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: whoever uses it sees to it that threads use different elements.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Runs compiled code, on a large stack if it recurses.
fn call(entry: Entry, env: &mut Env, params: &[u64], state: *mut u64, recursive: bool) -> i32 {
    let run = |env: &mut Env| {
        // SAFETY: the entry is that of the kernel whose parameters these are; the environment
        // and the chunk are laid out as it expects.
        unsafe { entry(env, params.as_ptr(), state) }
    };
    if !recursive {
        return run(env);
    }
    stacker::grow(STACK, || {
        // A local of the new stack.
        let local = 0u8;
        let here = std::hint::black_box(std::ptr::from_ref(&local)) as usize;
        let left = stacker::remaining_stack().unwrap_or(STACK / 2);
        env.stack_limit = here - left + RESERVE;
        run(env)
    })
}

impl Env {
    /// An environment without memory.
    pub fn new(options: &Options, workers: &Workers, alone: bool) -> Env {
        Env {
            workers,
            alone: i64::from(alone),
            next: std::ptr::null_mut(),
            end: std::ptr::null_mut(),
            base: std::ptr::null_mut(),
            grown: 0,
            stack_limit: 0,
            interrupt: options.interrupt.as_ptr().cast(),
            max_depth: options.max_depth.try_into().unwrap_or(i64::MAX),
            point: 0,
            site: 0,
            details: 0,
            detail: [0; 4],
            text: std::ptr::null(),
            text_length: 0,
            arena: std::ptr::null_mut(),
            emitted: std::ptr::null_mut(),
        }
    }

    /// What a status that is not good says.
    fn failure(&self, status: i32, tag: u64, memory: &Memory) -> Failure {
        let machine = |code: FaultCode| Failure::Machine(code.into());
        let wanted = (self.details > 0).then(|| self.detail[0].unsigned_abs());
        let program = |text| Failure::Program {
            tag,
            site: Site(self.site as u32),
            work_item: self.point as u64,
            detail: self.detail[..self.details as usize].to_vec(),
            text,
        };
        match status {
            s if s == Status::Check as i32 => program(None),
            s if s == Status::Fail as i32 => {
                let length = self.text_length.max(0) as usize;
                let text = if length == 0 {
                    Vec::new()
                } else {
                    // SAFETY: the array of the failed instance, whose memory is still there.
                    unsafe { std::slice::from_raw_parts(self.text, length) }.to_vec()
                };
                program(Some(text))
            }
            s if s == Status::TooDeep as i32 => machine(FaultCode::TooDeep),
            s if s == Status::Interrupted as i32 => machine(FaultCode::Interrupted),
            s if s == Status::OutOfMemory as i32 => memory.exhausted(wanted),
            other => trouble(&format!("code ended with status {other}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_taken_once() {
        let workers = Workers::new(3, 1, Memory::new(u64::MAX));
        for count in [0, 1, 2, 3, 1000] {
            let (taken, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
            workers.each(count, &|take| {
                while let Some(number) = take() {
                    taken.fetch_add(1, Relaxed);
                    sum.fetch_add(number, Relaxed);
                }
            });
            assert_eq!(taken.into_inner(), count);
            assert_eq!(sum.into_inner(), count * count.saturating_sub(1) / 2);
        }
    }
}
