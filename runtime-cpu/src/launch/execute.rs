//! The execution of one pass over all chunks of a launch.
//!
//! The first failure is that of the launch: where a chunk has failed, those before it are executed all the same.

use super::Run;
use super::tables::PrivateTables;
use crate::abi::{Entry, Env, Status};
use crate::buffer::internal_failure;
use crate::codegen::KernelCode;
use crate::memory::Memory;
use crate::workers::Workers;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Site;
use nesl_runtime::runtime::{Failure, Options};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The part of the stack that is left for functions of the runtime, in bytes.
const RESERVED_STACK_BYTES: usize = 256 << 10;

/// The part of a new stack that the frames of the launcher take at most, in bytes.
const STACK_MARGIN_BYTES: usize = 4 << 10;

/// Code whose stack frames have at most so many bytes together runs on the stack of any thread. Larger
/// frames could reach over the guard page behind it.
const SMALL_FRAMES_BYTES: usize = 64 << 10;

/// The stack that a thread gets of the one that all share, at least, in bytes.
const MIN_SHARED_STACK_BYTES: usize = 16 << 20;

/// Executes a pass over all chunks.
pub fn run_pass(
    workers: &Workers,
    run: &mut Run<'_>,
    entry: Entry,
    private: &[PrivateTables],
    options: &Options,
) -> Result<(), Failure> {
    let chunks = run.chunks.len();
    let outputs = run.code.kernel.outputs.len();
    let (state, emitted) = (Shared(run.state.as_mut_ptr()), Shared(run.emitted.as_mut_ptr()));
    let run = &*run;
    let failed = AtomicUsize::new(usize::MAX);
    let failure: Mutex<Option<(usize, Failure)>> = Mutex::new(None);
    let stack = stack_bytes(options, chunks);
    let chunks_of_thread = |take: &mut dyn FnMut() -> Option<usize>, limit: Option<usize>| {
        let mut env = Env::new(options, workers, chunks == 1 && !run.gets_no_help);
        env.stack_limit = limit.unwrap_or(env.stack_limit);
        env.emits_last = run.code.kernel.stages.len() == 1;
        env.whole_arguments = run.whole_arguments.as_ptr();
        env.whole_argument_count = run.whole_arguments.len();
        let mut arena = run.code.facts.allocates.then(|| workers.take_arena());
        if let Some(arena) = &mut arena {
            env.arena = &mut **arena;
            arena.enter(&mut env.memory);
        }
        while let Some(at) = take() {
            if at > failed.load(Relaxed) {
                continue;
            }
            let mut params = run.params.clone();
            for (param, table) in private.iter().filter_map(|p| p.of(at)) {
                params[param] = table;
            }
            // SAFETY: `state` has `stride` words for each chunk, and `at` is below their number.
            let state = unsafe { state.get().add(at * run.stride) };
            // SAFETY: `emitted` has `outputs` parts for each chunk, and `at` is below their number.
            env.emitted = unsafe { emitted.get().add(at * outputs) };
            env.details = 0;
            // SAFETY: `entry` was compiled for the kernel whose parameters these are; `Env` and the chunk's words have the
            // layout of `abi`.
            let status = unsafe { entry(&mut env, params.as_ptr(), state) };
            if status != Status::Done as i32 {
                failed.fetch_min(at, Relaxed);
                let found = failure_of(&env, status, run.tag, workers.memory(), stack);
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(before, _)| at < *before) {
                    *first = Some((at, found));
                }
                drop(first);
                if let Some(arena) = &mut arena {
                    arena.enter(&mut env.memory);
                }
            }
        }
        if let Some(arena) = arena {
            workers.give_back_arena(arena);
        }
    };
    // A thread makes its stack once: there may be hundreds of chunks, and fewer elements than that.
    let work = |take: &mut dyn FnMut() -> Option<usize>| {
        with_frames(run.code, stack, |limit| chunks_of_thread(take, limit));
    };
    match run.alone {
        Some(time) if chunks > 1 => workers.each_soon(chunks, time, &work),
        _ => workers.each(chunks, &work),
    }
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, failure)) => Err(failure),
        None => Ok(()),
    }
}

/// Returns the size in bytes of the stack of each thread that executes some of the chunks of a launch:
/// all threads share what is allowed.
fn stack_bytes(options: &Options, chunks: usize) -> usize {
    let share = options.max_stack_bytes / chunks.clamp(1, options.threads.max(1));
    share.max(MIN_SHARED_STACK_BYTES.min(options.max_stack_bytes))
}

/// An address that several threads use.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: `run_pass` gives each chunk elements of its own, and one thread takes a chunk.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Runs what calls compiled code where its stack frames have room; if it recurses, on a stack with `stack` bytes for its
/// calls, of which only the part that is used is backed by memory. Gives the address that its frames must stay above.
fn with_frames<R>(code: &KernelCode, stack: usize, run: impl FnOnce(Option<usize>) -> R) -> R {
    // Code that recurses asks before a call whether a part of the stack is left, in which the frames of
    // all functions and those of the runtime must have room.
    let reserved = RESERVED_STACK_BYTES.saturating_add(code.frame_bytes);
    if !code.facts.recursive {
        return if code.frame_bytes <= SMALL_FRAMES_BYTES {
            run(None)
        } else {
            stacker::maybe_grow(reserved, reserved, || run(None))
        };
    }
    let needed = stack.saturating_add(reserved);
    stacker::maybe_grow(needed, needed.saturating_add(STACK_MARGIN_BYTES), || {
        // A local of that stack.
        let local = 0u8;
        let here = std::hint::black_box(std::ptr::from_ref(&local)) as usize;
        let left = stacker::remaining_stack().unwrap_or(stack / 2);
        run(Some(here - left.min(needed) + reserved))
    })
}

/// Returns the failure that a status other than `Done` reports, of code with so many bytes of stack.
fn failure_of(env: &Env, status: i32, tag: u64, memory: &Memory, stack: usize) -> Failure {
    let machine = |code: FaultCode| Failure::Machine(code.into());
    let wanted = (env.details > 0).then(|| env.detail[0].unsigned_abs());
    let program = |text| Failure::Program {
        tag,
        site: Site(env.site as u32),
        work_item: env.work_item as u64,
        detail: env.detail[..env.details as usize].to_vec(),
        text,
    };
    match status {
        s if s == Status::Check as i32 => program(None),
        s if s == Status::Fail as i32 => {
            let length = env.text_length.max(0) as usize;
            let text = if length == 0 {
                Vec::new()
            } else {
                // SAFETY: the text is an array of the failed work item, whose memory is freed only
                // when the arena is entered again.
                unsafe { std::slice::from_raw_parts(env.text, length) }.to_vec()
            };
            program(Some(text))
        }
        s if s == Status::TooDeep as i32 => machine(FaultCode::TooDeep),
        s if s == Status::StackFull as i32 => {
            Failure::Machine(Fault::too_deep(None, Some(stack as u64)))
        }
        s if s == Status::Interrupted as i32 => machine(FaultCode::Interrupted),
        s if s == Status::OutOfMemory as i32 => memory.exhausted(wanted),
        other => internal_failure(&format!("code ended with status {other}")),
    }
}
