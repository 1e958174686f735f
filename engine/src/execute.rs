//! Running a program on a runtime.
//!
//! The program is simplified, flattened, fused and evaluated step by step; what has a shape that
//! flat form does not know is written as the code of one instance and launched at one point.
//! Programs come here without effects: [`runner`](crate::runner) sees to what only a host can do, and
//! to what is left to the direct interpreter.

use crate::constants;
use crate::evaluate::{Evaluator, Kernels, RunError};
use crate::resident::{self, ResidentValue};
use nesl_core::flat;
use nesl_core::flatten::flatten;
use nesl_core::fuse::{Fuel, fuse};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, GlobalId, Op, Site};
use nesl_core::lower::{self, Lowered};
use nesl_core::prim::Cost;
use nesl_core::simplify::simplify;
use nesl_core::strategy::Strategy;
#[cfg(debug_assertions)]
use nesl_runtime::bug;
use nesl_runtime::kir;
use nesl_runtime::kir::{Literal, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Runtime};
use nesl_runtime::scalar::Precision;
use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

/// Runs programs on a runtime.
pub(crate) struct Executor {
    pub(crate) runtime: Box<dyn Runtime>,
    /// See [`Executor::translating`].
    translating: Cell<Duration>,
    /// See [`Executor::unflattened`].
    unflattened: Cell<u64>,
    fuel: Cell<Fuel>,
}

/// A program made ready, to be run any number of times.
pub(crate) struct Prepared {
    /// Simplified, its long constants as top-level variables.
    program: ir::Program,
    /// The values of these.
    constants: Vec<ResidentValue>,
    precision: Precision,
    seed: u64,
    /// Its flat form.
    flat: Option<Flat>,
    /// It as the code of one instance.
    lowered: OnceCell<Option<Lowered>>,
}

struct Flat {
    program: flat::Program,
    globals: Vec<GlobalId>,
    kernels: Kernels,
}

/// What a program runs with.
pub(crate) struct Inputs<'a> {
    /// The values of the globals.
    pub(crate) globals: &'a [ResidentValue],
    /// What `main` takes if it draws random numbers.
    pub(crate) key: i64,
    pub(crate) precision: Precision,
    pub(crate) strategy: Strategy,
    /// Levels of calls after which recursion is too deep.
    pub(crate) max_depth: usize,
}

impl Inputs<'_> {
    /// Whether code for this precision can take the globals as they are. Values keep the
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
    pub(crate) fn new(runtime: Box<dyn Runtime>) -> Executor {
        Executor {
            runtime,
            translating: Cell::default(),
            unflattened: Cell::default(),
            fuel: Cell::new(Fuel(None)),
        }
    }

    /// How much is fused from now on.
    pub(crate) fn set_fuel(&self, fuel: Option<u32>) {
        self.fuel.set(Fuel(fuel));
    }

    /// Time spent so far on making kernels, before they went to the runtime, which counts its own
    /// part.
    pub(crate) fn translating(&self) -> Duration {
        self.translating.get()
    }

    /// Some time was spent on that.
    pub(crate) fn translated(&self, time: Duration) {
        self.translating.set(self.translating.get() + time);
    }

    /// How many programs had a shape that flat form does not know, so that one instance ran them.
    pub(crate) fn unflattened(&self) -> u64 {
        self.unflattened.get()
    }

    /// Makes a program without effects ready to be run; `None` if it is one for the direct
    /// interpreter.
    pub(crate) fn prepare(
        &self,
        program: &ir::Program,
        precision: Precision,
        seed: u64,
    ) -> Option<Prepared> {
        if !worth_compiling(program) {
            return None;
        }
        let began = Instant::now();
        let extended = constants::as_globals(program, precision);
        let (program, constants) = match &extended {
            Some((program, constants)) => (program, constants.clone()),
            None => (program, Vec::new()),
        };
        let program = simplify(program);
        debug_assert_eq!(ir::verify(&program), Ok(()), "after simplification");
        let (parameterised, globals) = lower::globals_as_parameters(&program);
        let flat = fuse(&flatten(&parameterised), self.fuel.get());
        // What breaks the law is run by one instance: slower, but right.
        let flat = flat::verify(&flat).is_ok().then(|| Flat {
            program: flat,
            globals,
            kernels: Kernels::default(),
        });
        self.translated(began.elapsed());
        let lowered = OnceCell::new();
        Some(Prepared { program, constants, precision, seed, flat, lowered })
    }

    /// Runs a program; `None` if it is one for the direct interpreter.
    pub(crate) fn run(
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
        match self.flat(prepared, inputs) {
            Ok(held) => return Some(Ok(held)),
            Err(RunError::Failed(failure)) => return Some(Err(failure)),
            Err(RunError::Unsupported) => self.unflattened.set(self.unflattened.get() + 1),
        }
        let lowered = prepared.lowered.get_or_init(|| {
            let began = Instant::now();
            let lowered =
                lower::sequential(&prepared.program, prepared.precision, prepared.seed).ok();
            self.translated(began.elapsed());
            #[cfg(debug_assertions)]
            if let Some(Err(wrong)) = lowered.as_ref().map(|lowered| kir::verify(&lowered.module)) {
                panic!("after lowering: {wrong:#?}");
            }
            lowered
        });
        let lowered = lowered.as_ref()?;
        let run = self.launch(&prepared.program, lowered, inputs);
        Some(run.map_err(|failure| locate_failure(lowered, failure)))
    }

    /// Runs a program in flat form.
    fn flat(&self, prepared: &Prepared, inputs: &Inputs<'_>) -> Result<ResidentValue, RunError> {
        let (runtime, precision) = (&*self.runtime, prepared.precision);
        let flat = prepared.flat.as_ref().ok_or(RunError::Unsupported)?;
        let mut args = Vec::new();
        let program = &prepared.program;
        let main = &program.functions[program.main.0 as usize];
        if !main.params.is_empty() {
            args.push(vec![Arg::Scalar(key(inputs))]);
        }
        for id in &flat.globals {
            let parts = inputs.globals[id.0 as usize].parts(runtime, precision);
            args.push(parts.map_err(trouble)?);
        }
        let (seed, strategy, depth) = (prepared.seed, inputs.strategy, inputs.max_depth);
        let (program, kernels) = (&flat.program, &flat.kernels);
        let evaluator = Evaluator::new(runtime, program, kernels, precision, seed, strategy, depth);
        let result = evaluator.run(args);
        self.translated(evaluator.translating());
        result
    }

    fn launch(
        &self,
        program: &ir::Program,
        lowered: &Lowered,
        inputs: &Inputs<'_>,
    ) -> Result<ResidentValue, Failure> {
        let (runtime, precision) = (&*self.runtime, inputs.precision);
        let main = &program.functions[program.main.0 as usize];
        let mut args = vec![Arg::Scalar(Literal::I64(1))];
        if !main.params.is_empty() {
            args.push(Arg::Scalar(key(inputs)));
        }
        for id in &lowered.globals {
            args.extend(inputs.globals[id.0 as usize].parts(runtime, precision)?);
        }
        let kernel = &lowered.module.kernels[0];
        let mut scalars: Vec<Buffer> = Vec::new();
        for param in &kernel.params[args.len()..] {
            let ValueTy::Array(ty) = kernel.types[param.0 as usize] else {
                unreachable!("results go to arrays")
            };
            let buffer = runtime.alloc(ty, 1)?;
            scalars.push(buffer.clone());
            args.push(Arg::Array(buffer, 0));
        }
        let module = runtime.load(&lowered.module)?;
        let outputs =
            runtime.launch(&Launch { module: &module, kernel: 0, args: &args, tag: 0 })?;
        runtime.sync()?;
        let (mut scalars, mut outputs) = (scalars.into_iter(), outputs.into_iter());
        let mut parts = Vec::new();
        for part in lower::parts(&main.result, precision) {
            parts.push(if resident::is_array(&part) {
                Arg::Array(outputs.next().expect("one for each array"), 0)
            } else {
                let buffer = scalars.next().expect("one for each scalar");
                Arg::Scalar(resident::scalar(&buffer, runtime)?)
            });
        }
        Ok(ResidentValue::resident(parts, main.result.clone(), precision))
    }
}

/// Whether there may be more to do than there is to compile.
pub(crate) fn worth_compiling(program: &ir::Program) -> bool {
    let mut loops = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            loops |= match op {
                Op::Nest(_) | Op::Call(..) | Op::Global(_) => true,
                Op::Seq(op, _) => op.row().cost == Cost::Generate,
                _ => false,
            }
        });
    }
    loops
}

fn key(inputs: &Inputs<'_>) -> Literal {
    match inputs.precision {
        Precision::Bits64 => Literal::I64(inputs.key),
        Precision::Bits32 => Literal::I32(inputs.key as i32),
    }
}

/// What a runtime could not do.
fn trouble(failure: Failure) -> RunError {
    match failure {
        Failure::Machine(fault) => RunError::Failed(ProgramFailure { fault, trace: Vec::new() }),
        Failure::Program { .. } | Failure::Unsupported(_) => RunError::Unsupported,
    }
}

/// What went wrong, where.
fn locate_failure(lowered: &Lowered, failure: Failure) -> ProgramFailure {
    let (site, detail, text) = match failure {
        Failure::Machine(fault) => return ProgramFailure { fault, trace: Vec::new() },
        Failure::Program { site, detail, text, .. } => (site, detail, text),
        Failure::Unsupported(reason) => bug!("a loaded module needs {reason}"),
    };
    let cause = &lowered.fault_sites[site.0 as usize];
    let fault = cause.fault(&detail, text.as_deref());
    let mut trace: Vec<(Site, bool)> = vec![(cause.site, cause.library)];
    if cause.library
        && let Some(origin) = detail.first()
        && let Some(origin) = lowered.fault_sites.get(*origin as usize)
    {
        trace.push((origin.site, false));
    }
    ProgramFailure { fault, trace }
}
