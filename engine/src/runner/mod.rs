//! Running the program of a form, on the direct interpreter or on a runtime.
//!
//! A program without effects is interpreted first ([`crate::interpret_first`]) and then goes to the
//! runtime ([`crate::execute`]). One with effects becomes a host program
//! ([`nesl_core::host_program`]): its steps are performed here in order, and the pure regions
//! between them are programs without effects. So no effect is ever performed twice. Without a runtime, or where there is nothing to compile, the direct interpreter runs
//! the whole program.
//!
//! | module | contents |
//! |---|---|
//! | `endless` | programs that cannot end |
//! | `perform` | the steps of host programs |

mod endless;
mod perform;

use crate::exec::DepthLimits;
use crate::execute::{Executor, Inputs, Prepared};
use crate::host::System;
use crate::interpret_first::{InterpretFirst, values_on_host};
use crate::recent;
use crate::resident::ResidentValue;
use endless::Endless;
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::{Effects, Op, Program};
use nesl_core::strategy::eligibility::{left_to_interpreter, worth_compiling};
use nesl_core::strategy::{InterpretBudget, Strategy, Thresholds};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Runs the programs of one form.
pub(crate) struct Runner<'a> {
    /// The runtime that programs run on, if not the direct interpreter.
    pub(crate) executor: Option<&'a Executor>,
    /// The memory of programs interpreted first; `None` if none is.
    pub(crate) interpret_first: Option<&'a mut InterpretFirst>,
    pub(crate) host: &'a mut System,
    pub(crate) options: interp::Options<'a>,
    pub(crate) strategy: Strategy,
    /// Time spent on interpreting programs that were compiled in the end.
    pub(crate) interpreted_in_vain: Duration,
    /// True if something ran on the runtime.
    pub(crate) on_runtime: bool,
}

/// A value, and the work and depth of computing it where they were counted.
pub(crate) type Evaluated = (ResidentValue, Option<(u64, u64)>);

/// The reason why a form has no value.
#[derive(Debug)]
pub(crate) enum FormError {
    /// The program failed.
    Program(Failure),
    /// The runtime failed.
    Runtime(runtime::Failure),
}

impl From<runtime::Failure> for FormError {
    fn from(failure: runtime::Failure) -> FormError {
        FormError::Runtime(failure)
    }
}

/// A program without effects that may be run more than once.
struct PureProgram<'p> {
    program: &'p Program,
    /// The budget left for interpreting the program; counted when it is first needed.
    budget: Option<InterpretBudget>,
    /// The program prepared for a seed; `None` inside if it is left to the direct interpreter.
    prepared: Option<(u64, Option<Rc<Prepared>>)>,
    /// True if the region is small ([`nesl_core::host_program::PureRegion::small`]).
    small: bool,
}

impl<'p> PureProgram<'p> {
    fn of(program: &'p Program, small: bool) -> PureProgram<'p> {
        PureProgram { program, budget: None, prepared: None, small }
    }
}

impl Runner<'_> {
    /// Runs a program.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Evaluated, FormError> {
        self.host.set_precision(self.options.precision);
        if let Some(failure) = self.endless(program, globals, key) {
            return Err(FormError::Program(failure));
        }
        let done = match self.executor {
            None => self.interpret(program, globals, key),
            Some(_) if !Effects::of(program).in_function(program.main) => {
                self.compute(&mut PureProgram::of(program, false), globals, key)
            }
            Some(executor) if self.is_left_to_interpreter(executor, program, globals) => {
                self.interpret(program, globals, key)
            }
            Some(executor) => self.perform(executor, program, globals, key),
        };
        self.host.flush();
        done
    }

    /// Returns true if a program that has effects has no work for a runtime.
    fn is_left_to_interpreter(
        &self,
        executor: &Executor,
        program: &Program,
        globals: &[ResidentValue],
    ) -> bool {
        !reads_arrays(program)
            && (!worth_compiling(program)
                || self.interpret_first.is_some()
                    && left_to_interpreter(program)
                    && values_on_host(globals, &*executor.runtime, &executor.limits).is_some())
    }

    /// Returns the failure of a program without effects that cannot end, but takes ever more stack or
    /// memory: its own, if it fails soon.
    fn endless(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Option<Failure> {
        let Endless { name, stacks } = endless::endless(program)?;
        if Effects::of(program).in_function(program.main) {
            return None;
        }
        let values = match self.executor {
            Some(Executor { runtime, limits, .. }) => values_on_host(globals, &**runtime, limits)?,
            None => self.values(globals).ok()?,
        };
        let limits = self.executor.map_or_else(Thresholds::default, |executor| executor.limits);
        let bytes = limits.max_trace_search_bytes;
        // Calls at the ends of functions take no stack, so that their number is no reason.
        let (calls, stack) = match stacks {
            true => (limits.max_trace_search_calls, self.options.max_stack_bytes),
            false => (usize::MAX, usize::MAX),
        };
        let options = interp::Options {
            max_depth: self.options.max_depth.min(calls),
            max_stack_bytes: stack,
            max_bytes: self.options.max_bytes.min(bytes),
            ..self.options.clone()
        };
        let (mut budget, host) = (limits.max_endless_ns, &mut *self.host);
        let done = interp::run_within(&mut budget, bytes, program, &values, key, host, &options);
        match done {
            Some(Ok(_)) => None,
            Some(Err(failure)) => Some(failure),
            // It loops, and takes neither stack nor memory: somebody may want that, and interrupt it.
            None if budget == 0 => None,
            None => {
                let again = format!("every way through `{name}` calls `{name}` again");
                let fault = Fault::with(FaultCode::TooDeep, again);
                Some(Failure { fault, trace: Vec::new() })
            }
        }
    }

    /// Runs a program on the direct interpreter.
    pub(crate) fn interpret(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Evaluated, FormError> {
        let values = self.values(globals)?;
        let done = interp::run(program, &values, key, self.host, &self.options);
        let outcome = done.map_err(FormError::Program)?;
        let cost = Some((outcome.work, outcome.depth));
        Ok((host_value(program, outcome.value), cost))
    }

    /// Runs a program without effects.
    fn compute(
        &mut self,
        work: &mut PureProgram<'_>,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Evaluated, FormError> {
        let program = work.program;
        let Some(executor) = self.executor else { return self.interpret(program, globals, key) };
        let (runtime, limits) = (&*executor.runtime, &executor.limits);
        if let Some(done) = self.interpret_within_budget(work, globals, key, runtime, limits) {
            return Ok((host_value(program, done.map_err(FormError::Program)?), None));
        }
        let (precision, seed) = (self.options.precision, self.host.seed());
        let (strategy, depth) = (self.strategy, self.depth_limits());
        let inputs = Inputs { globals, key, precision, strategy, depth };
        if !inputs.fit(runtime)? {
            return self.interpret(program, globals, key);
        }
        let prepared = match &mut work.prepared {
            Some((known, prepared)) if *known == seed => prepared,
            prepared => {
                let new = executor.prepare(program, precision, seed);
                &mut prepared.insert((seed, new)).1
            }
        };
        let item = recent::item(program);
        match prepared.as_ref().and_then(|prepared| executor.run(prepared, &inputs, item)) {
            Some(Ok(value)) => {
                self.on_runtime = true;
                Ok((value, None))
            }
            Some(Err(failure)) => Err(self.locate_failure(program, globals, key, failure)),
            None => self.interpret(program, globals, key),
        }
    }

    /// Interprets a program without effects for as long as its budget lasts; `None` if it is to be
    /// compiled.
    fn interpret_within_budget(
        &mut self,
        work: &mut PureProgram<'_>,
        globals: &[ResidentValue],
        key: i64,
        runtime: &dyn runtime::Runtime,
        limits: &Thresholds,
    ) -> Option<Result<Value, Failure>> {
        let (program, host, options) = (work.program, &mut *self.host, &self.options);
        let interpret_first = self.interpret_first.as_mut()?;
        if work.small {
            let globals = values_on_host(globals, runtime, limits)?;
            let run = interp::run(program, &globals, key, host, options);
            return Some(run.map(|outcome| outcome.value));
        }
        let began = Instant::now();
        let budget = work.budget.get_or_insert_with(|| InterpretBudget::of(program, limits));
        let values = interpret_first.globals(budget, globals, runtime, limits);
        let done = values.and_then(|values| {
            interpret_first.run(program, (budget, limits), &values, key, host, options)
        });
        if done.is_none() {
            self.interpreted_in_vain += began.elapsed();
        }
        done
    }

    /// Adds the trace of calls to a failure on a runtime. Compiled code does not record calls, so the direct
    /// interpreter runs the program again (it has no effects); if it soon fails at the same source location,
    /// its trace is taken.
    fn locate_failure(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
        failure: Failure,
    ) -> FormError {
        let mut called = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| called |= matches!(op, Op::Call(..)));
        }
        let (true, false, Ok(globals)) = (called, failure.trace.is_empty(), self.values(globals))
        else {
            return FormError::Program(failure);
        };
        // A recursion that goes too deep is found early: its last calls look like those before.
        let too_deep = failure.fault.code == FaultCode::TooDeep;
        let limits = self.executor.map_or_else(Thresholds::default, |executor| executor.limits);
        let most = if too_deep { limits.max_trace_search_calls } else { usize::MAX };
        let max_depth = self.options.max_depth.min(most);
        let options = interp::Options { max_depth, ..self.options.clone() };
        let (budget, host) = (limits.max_trace_search_ns, &mut *self.host);
        let again = interp::search(budget, program, &globals, key, host, &options, None);
        let own = |failure: &Failure| {
            failure.trace.iter().find(|(_, library)| !library).map(|(site, _)| *site)
        };
        FormError::Program(match again {
            Err(again) if too_deep && again.fault.code == FaultCode::TooDeep => {
                Failure { fault: failure.fault, ..again }
            }
            Err(again) if again.fault == failure.fault && own(&again) == own(&failure) => again,
            _ => failure,
        })
    }

    /// Returns the limits of calls within each other on a runtime.
    fn depth_limits(&self) -> DepthLimits {
        DepthLimits { calls: self.options.max_depth, bytes: self.options.max_stack_bytes }
    }

    /// Returns values on the host, read from the runtime if necessary.
    fn values(&self, globals: &[ResidentValue]) -> Result<Vec<Value>, runtime::Failure> {
        let runtime = self.executor.map(|executor| &*executor.runtime);
        globals.iter().map(|global| global.value(runtime).cloned()).collect()
    }

    /// Returns the fault of an interruption if the user asked for one.
    fn interrupted(&self) -> Option<FaultCode> {
        let asked = self.options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        asked.then_some(FaultCode::Interrupted)
    }
}

/// Returns true if a program reads files whose values, if they are large, belong on the runtime.
fn reads_arrays(program: &Program) -> bool {
    let mut reads = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            reads |= matches!(op, Op::Host(op, _) if System::reads_parts(*op));
        });
    }
    reads
}

/// Returns the value of a program on the host.
fn host_value(program: &Program, value: Value) -> ResidentValue {
    ResidentValue::value_of(value, program.functions[program.main.0 as usize].result.clone())
}
