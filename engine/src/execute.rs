//! Programs without effects on a runtime: compiled once, run any number of times.
//!
//! A program is simplified, flattened and fused, and then run step by step ([`crate::exec`]). One
//! that cannot be flattened is lowered as sequential code, which one thread runs; each such run is
//! counted with its reason. Programs come here without effects: [`crate::runner`] performs what
//! only a host can do, and leaves some programs to the direct interpreter.

use crate::arrays::{ArrayState, Memory};
use crate::exec::{self, DepthLimits};
use crate::frame::{FlatProgram, RunError, RunResult};
use crate::kernels::KernelCache;
use crate::progress::Progress;
use crate::recent::{self, RecentPrograms};
use crate::resident::ResidentValue;
use crate::unsupported::{Unsupported, UnsupportedCounts};
use nesl_core::base::ItemId;
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, GlobalId, Ty};
use nesl_core::lower::Lowered;
use nesl_core::pipeline::{self, Compiled};
use nesl_core::strategy::eligibility::worth_compiling;
use nesl_core::strategy::{Strategy, Thresholds, code_hash};
use nesl_runtime::bug;
use nesl_runtime::kir::Literal;
use nesl_runtime::profile::{Profile, Profiled};
use nesl_runtime::runtime::{Arg, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Runs programs on a runtime.
pub(crate) struct Executor {
    pub(crate) runtime: Rc<dyn Runtime>,
    /// The same without the times of its kernels, while they are recorded.
    plain: Option<Rc<dyn Runtime>>,
    progress: Progress,
    /// The thresholds for the runtime's machine.
    pub(crate) limits: Thresholds,
    /// The state of the runtime's arrays.
    arrays: ArrayState,
    /// Time spent on compilation before the runtime's own part.
    translating: Cell<Duration>,
    unsupported: UnsupportedCounts,
    recent: RecentPrograms<Prepared>,
    fuel: Cell<Option<u32>>,
}

/// A program made ready, to be run any number of times.
pub(crate) struct Prepared {
    /// The program, simplified, with its long literals as globals.
    program: ir::Program,
    /// The values of these globals.
    constants: Vec<ResidentValue>,
    /// The form that it was compiled for.
    item: ItemId,
    /// The type of the value.
    result: Ty,
    /// The main function takes a random key.
    takes_key: bool,
    options: pipeline::Options,
    flat: Flat,
    /// The sequential code of the whole program; made when it is first needed.
    lowered: OnceCell<Option<Lowered>>,
}

/// The flattened form of a program.
struct Flat {
    program: FlatProgram,
    /// The globals that are parameters of its main function.
    globals: Vec<GlobalId>,
    kernels: KernelCache,
}

/// The inputs and settings of a run.
pub(crate) struct Inputs<'a> {
    /// The values of the globals.
    pub(crate) globals: &'a [ResidentValue],
    /// The argument of a main function that draws random numbers.
    pub(crate) key: i64,
    pub(crate) precision: Precision,
    pub(crate) strategy: Strategy,
    /// The limits of calls within each other.
    pub(crate) depth: DepthLimits,
}

impl Inputs<'_> {
    /// Returns the parts of the random key, if the main function takes one.
    fn key(&self, takes_key: bool) -> Option<Vec<Arg>> {
        let key = match self.precision {
            Precision::Bits64 => Literal::I64(self.key),
            Precision::Bits32 => Literal::I32(self.key as i32),
        };
        takes_key.then(|| vec![Arg::Scalar(key)])
    }

    /// Returns true if code for this precision can take the globals as they are. Values keep the
    /// precision that they were computed with.
    pub(crate) fn fit(&self, runtime: &dyn Runtime) -> Result<bool, Failure> {
        for global in self.globals {
            if !global.fits(runtime, self.precision)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Executor {
    pub(crate) fn new(runtime: Box<dyn Runtime>, progress: Progress) -> Executor {
        Executor {
            progress,
            limits: Thresholds::for_machine(runtime.caps()),
            runtime: runtime.into(),
            plain: None,
            arrays: ArrayState::default(),
            translating: Cell::default(),
            unsupported: UnsupportedCounts::default(),
            recent: RecentPrograms::default(),
            fuel: Cell::default(),
        }
    }

    /// Records the times of kernels from now on; without a profile, none. Arrays and compiled modules
    /// stay.
    pub(crate) fn set_profile(&mut self, profile: Option<Profile>) {
        let plain = self.plain.take().unwrap_or_else(|| self.runtime.clone());
        self.runtime = match profile {
            Some(profile) => {
                self.plain = Some(plain.clone());
                // Kernels are known by the modules loaded since.
                self.arrays.forget_modules();
                self.recent.clear();
                Rc::new(Profiled::new(plain, profile))
            }
            None => plain,
        };
    }

    /// Sets the number of fusion steps of programs prepared from now on.
    pub(crate) fn set_fuel(&self, fuel: Option<u32>) {
        self.fuel.set(fuel);
    }

    /// Returns the time spent on compilation so far, without the runtime's own part.
    pub(crate) fn translating(&self) -> Duration {
        self.translating.get()
    }

    /// Adds to the time spent on compilation.
    pub(crate) fn translated(&self, time: Duration) {
        self.translating.set(self.translating.get() + time);
    }

    /// Returns the number of programs that one thread ran, by reason.
    pub(crate) fn unsupported(&self) -> Vec<(Unsupported, u64)> {
        self.unsupported.all()
    }

    /// Makes a program without effects ready to be run; `None` if it is left to the direct
    /// interpreter.
    pub(crate) fn prepare(
        &self,
        program: &ir::Program,
        precision: Precision,
        seed: u64,
    ) -> Option<Rc<Prepared>> {
        if !worth_compiling(program) {
            return None;
        }
        let began = Instant::now();
        let options =
            pipeline::Options { precision, seed, fuel: self.fuel.get(), limits: self.limits };
        let source = (program, code_hash(program));
        if let Some(prepared) = self.recent.find(source, &options) {
            return Some(prepared);
        }
        let Compiled { simple: program, literals, globals, flat } =
            pipeline::compile(program, &options);
        let constants = literals.into_iter().map(|(value, ty)| ResidentValue::value_of(value, ty));
        let kernels = KernelCache::new(options);
        let flat = Flat { program: FlatProgram::new(flat), globals, kernels };
        self.translated(began.elapsed());
        let main = &program.functions[program.main.0 as usize];
        let (result, takes_key) = (main.result.clone(), !main.params.is_empty());
        let lowered = OnceCell::new();
        let prepared = Rc::new(Prepared {
            program,
            constants: constants.collect(),
            item: recent::item(source.0),
            result,
            takes_key,
            options,
            flat,
            lowered,
        });
        if prepared.constants.is_empty() {
            self.recent.add(source, options, &prepared);
        }
        Some(prepared)
    }

    /// Runs a program that stands in a form; `None` if it is left to the direct interpreter.
    pub(crate) fn run(
        &self,
        prepared: &Prepared,
        inputs: &Inputs<'_>,
        item: ItemId,
    ) -> Option<Result<ResidentValue, ProgramFailure>> {
        let mut done = self.run_here(prepared, inputs);
        if let Some(Err(failure)) = &mut done {
            recent::move_failure(failure, prepared.item, item);
        }
        done
    }

    /// Runs a program, in the form that it was compiled for.
    fn run_here(
        &self,
        prepared: &Prepared,
        inputs: &Inputs<'_>,
    ) -> Option<Result<ResidentValue, ProgramFailure>> {
        let all;
        let inputs = if prepared.constants.is_empty() {
            inputs
        } else {
            all = [inputs.globals, &prepared.constants].concat();
            &Inputs { globals: &all, ..*inputs }
        };
        match self.run_flat(prepared, inputs) {
            Ok(value) => Some(Ok(value)),
            Err(RunError::Failed(failure)) => Some(Err(failure)),
            Err(RunError::Runtime(failure)) => Some(Err(machine_failure(failure))),
            Err(RunError::Unsupported(reason)) => {
                self.unsupported.count(reason);
                self.run_sequential(prepared, inputs)
            }
        }
    }

    /// Runs the flattened form of a program.
    fn run_flat(&self, prepared: &Prepared, inputs: &Inputs<'_>) -> RunResult<ResidentValue> {
        let (runtime, precision) = (&*self.runtime, prepared.options.precision);
        let Flat { program, globals, kernels } = &prepared.flat;
        let mut args: Vec<Vec<Arg>> = inputs.key(prepared.takes_key).into_iter().collect();
        for id in globals {
            args.push(inputs.globals[id.0 as usize].parts(runtime, precision)?);
        }
        let memory = Memory {
            runtime,
            precision,
            limits: &self.limits,
            state: &self.arrays,
            progress: &self.progress,
        };
        let parts = exec::run(memory, program, kernels, inputs.strategy, inputs.depth, args);
        self.translated(kernels.take_lowering_time());
        Ok(ResidentValue::resident(parts?, prepared.result.clone(), precision))
    }

    /// Runs the sequential code of a program; `None` if there is none.
    fn run_sequential(
        &self,
        prepared: &Prepared,
        inputs: &Inputs<'_>,
    ) -> Option<Result<ResidentValue, ProgramFailure>> {
        let (runtime, precision) = (&*self.runtime, prepared.options.precision);
        let lowered = prepared.lowered.get_or_init(|| self.lower_sequential(prepared)).as_ref()?;
        let mut args: Vec<Arg> = inputs.key(prepared.takes_key).into_iter().flatten().collect();
        for id in &lowered.globals {
            match inputs.globals[id.0 as usize].parts(runtime, precision) {
                Ok(parts) => args.extend(parts),
                Err(failure) => return Some(Err(machine_failure(failure))),
            }
        }
        Some(exec::run_sequential(runtime, lowered, args, &prepared.result, precision))
    }

    fn lower_sequential(&self, prepared: &Prepared) -> Option<Lowered> {
        let began = Instant::now();
        let lowered = pipeline::sequential(&prepared.program, &prepared.options).ok();
        self.translated(began.elapsed());
        lowered
    }
}

/// Returns the failure of bringing inputs to the runtime, where no kernel runs.
fn machine_failure(failure: Failure) -> ProgramFailure {
    match failure {
        Failure::Machine(fault) => ProgramFailure { fault, trace: Vec::new() },
        Failure::Program { .. } | Failure::Unsupported(_) => {
            bug!("a transfer to the runtime failed as a kernel does: {failure:?}")
        }
    }
}
