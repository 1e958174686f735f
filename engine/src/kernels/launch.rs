//! A launch, from its kernel to its results.

use super::args::arguments;
use super::cache::{KernelCache, KernelKey};
use super::log::LaunchLog;
use super::results::bind_results;
use crate::arrays::Memory;
use crate::frame::{CallFrame, FlatProgram, RunError, RunResult};
use crate::trace::CallTrace;
use nesl_core::flat::Kernel;
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::Site;
use nesl_core::pipeline::launches::{Origin, variant};
use nesl_core::strategy::ElementWork;
use nesl_runtime::fault::Fault;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch};
use std::cell::Cell;

/// Launches the kernels of one run of a program.
pub(crate) struct Launcher<'p> {
    pub(crate) memory: Memory<'p>,
    program: &'p FlatProgram,
    cache: &'p KernelCache,
    log: LaunchLog,
    work: Cell<Work>,
}

/// The work of launches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// The number of their work items.
    pub(crate) work_items: u64,
    /// The number of those that take a few cheap operations.
    pub(crate) light_items: u64,
    /// The number of launches.
    pub(crate) launches: u64,
    /// The number of elements that launches of one work item stored, and that built-in kernels moved.
    pub(crate) moved: u64,
}

impl<'p> Launcher<'p> {
    pub(crate) fn new(
        memory: Memory<'p>,
        program: &'p FlatProgram,
        cache: &'p KernelCache,
    ) -> Launcher<'p> {
        let (log, work) = Default::default();
        Launcher { memory, program, cache, log, work }
    }

    /// Launches a kernel of a call, and binds its results.
    pub(crate) fn launch(
        &self,
        frame: &mut CallFrame<'p>,
        key: KernelKey,
        kernel: &Kernel,
    ) -> RunResult<()> {
        let variant = variant(frame.function, frame.homes, kernel, frame);
        let lowered = self.cache.kernel(self.program, frame.id, key, kernel, variant)?;
        let code = &lowered.code;
        let (count, single) =
            (frame.extent(kernel.space).count as u64, frame.extent(kernel.space).single);
        let limits = self.memory.limits;
        let per_element = match &lowered.element_work {
            // One thread does it in either version of the code around.
            _ if single => 1,
            ElementWork::Items(items) => *items,
            ElementWork::Loops(loops) => {
                let counted =
                    frame.iterations(loops).unwrap_or(limits.sequential_thread_work_items);
                counted.max(limits.min_sequential_thread_work_items)
            }
            ElementWork::SomeLoops(loops) => {
                let most = limits.sequential_thread_work_items;
                let counted = frame.iterations(loops).map_or(most, |counted| counted.min(most));
                counted.max(limits.min_sequential_thread_work_items)
            }
        };
        self.count_work_items(count.saturating_mul(per_element));
        if lowered.is_light {
            self.count_light_items(count.saturating_mul(per_element));
        }
        let args = arguments(&self.memory, frame, kernel, code)?;
        let runtime = self.memory.runtime;
        let at_call = |failure, frame: &CallFrame<'p>| self.located(failure, &frame.trace);
        let module = lowered.module(runtime).map_err(|failure| at_call(failure, frame))?;
        let Some(module) = module else {
            return bind_results(&self.memory, frame, kernel, code, &args, &[]);
        };
        let work_items = Some(frame.extent(kernel.space).count);
        let tag = self.log.record(&lowered, &frame.trace, frame.function.library);
        self.memory.progress.launched();
        let outputs = runtime.launch(&Launch { module, kernel: 0, args: &args, tag, work_items });
        let outputs = outputs.map_err(|failure| at_call(failure, frame))?;
        if single {
            let is_argument = |output: &&Buffer| {
                args.iter()
                    .any(|arg| matches!(arg, Arg::Array(buffer, _) if buffer.is_same(output)))
            };
            let made = outputs.iter().filter(|output| !is_argument(output));
            let made = made.map(|output| output.len() as u64).sum();
            let Work { moved, .. } = self.work.get();
            self.work.set(Work { moved: moved.saturating_add(made), ..self.work.get() });
        }
        bind_results(&self.memory, frame, kernel, code, &args, &outputs)?;
        if tag.is_multiple_of(self.memory.limits.launches_per_poll) {
            self.check_launches()?;
        }
        Ok(())
    }

    /// Launches one of the program's own kernels.
    pub(crate) fn launch_own(&self, frame: &mut CallFrame<'p>, kernel: &Kernel) -> RunResult<()> {
        self.launch(frame, KernelKey::Program(Origin::Own(kernel.id)), kernel)
    }

    /// Counts a launch, or an operation of the array library, with its work items.
    pub(crate) fn count_work_items(&self, count: u64) {
        let Work { work_items, launches, .. } = self.work.get();
        let work_items = work_items.saturating_add(count);
        self.work.set(Work { work_items, launches: launches + 1, ..self.work.get() });
    }

    /// Counts work items, which have been counted already, as light ones.
    fn count_light_items(&self, count: u64) {
        let Work { light_items, .. } = self.work.get();
        self.work.set(Work { light_items: light_items.saturating_add(count), ..self.work.get() });
    }

    /// Returns the work of all launches so far.
    pub(crate) fn work(&self) -> Work {
        let work = self.work.get();
        Work { moved: work.moved.saturating_add(self.memory.state.moved()), ..work }
    }

    /// Empties the log of launches if all of them are done. Waits for them if the log is too long.
    fn check_launches(&self) -> RunResult<()> {
        let runtime = self.memory.runtime;
        let done = runtime.poll()?;
        if !done && self.log.len() >= self.memory.limits.max_unchecked_launches {
            runtime.sync()?;
        } else if !done {
            return Ok(());
        }
        self.log.clear();
        Ok(())
    }

    /// Returns a failure that is known already, or an interruption, without waiting.
    pub(crate) fn poll(&self, trace: &CallTrace) -> RunResult<()> {
        let polled = self.memory.runtime.poll().map_err(|failure| self.located(failure, trace));
        polled.map(|_| ())
    }

    /// Waits for all launches, and returns the first failure.
    pub(crate) fn sync(&self, trace: &CallTrace) -> RunResult<()> {
        self.memory.runtime.sync().map_err(|failure| self.located(failure, trace))
    }

    /// Returns the failure of a step of the host, unless a launch before it failed first.
    pub(crate) fn fault(&self, frame: &CallFrame<'p>, site: Site, fault: Fault) -> RunError {
        if let Err(error) = self.sync(&frame.trace) {
            return error;
        }
        let mut trace = vec![(site, frame.function.library)];
        trace.extend(frame.trace.sites());
        RunError::Failed(ProgramFailure { fault, trace })
    }

    /// Returns an error with its place in the program, if the runtime reported it.
    pub(crate) fn locate(&self, error: RunError) -> RunError {
        match error {
            RunError::Runtime(failure) => self.located(failure, &CallTrace::default()),
            RunError::Failed(_) | RunError::Unsupported(_) => error,
        }
    }

    fn located(&self, failure: Failure, trace: &CallTrace) -> RunError {
        self.log.locate_failure(failure, trace)
    }
}
