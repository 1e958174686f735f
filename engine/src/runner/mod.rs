//! Running a form: who does what.
//!
//! A program without effects is tried by the direct interpreter ([`trial`](crate::interpret_first)), and
//! else goes to the runtime ([`execute`](crate::execute)). One that does something only a host can
//! do is a script ([`nesl_core::host_program`]): its steps are performed here in order, and what lies
//! between them are programs without effects. So nothing that can be noticed is ever done by a
//! trial, or twice. Without a runtime, or where there is nothing to compile, the direct interpreter
//! does all.
//!
//! | module | what it does |
//! |---|---|
//! | `perform` | the steps of scripts |

mod perform;

use crate::execute::{Executor, Inputs, Prepared, worth_compiling};
use crate::host::System;
use crate::interpret_first::{Allowance, Trials, near};
use crate::resident::ResidentValue;
use nesl_core::host_program::HostOnly;
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::{Effects, Op, Program};
use nesl_core::strategy::Strategy;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::runtime;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long to look for the calls that led to a failure.
const PATIENCE: Duration = Duration::from_millis(300);

/// Runs the programs of one form.
pub(crate) struct Runner<'a> {
    /// What programs run on, if not the direct interpreter.
    pub(crate) executor: Option<&'a Executor>,
    /// There are trials.
    pub(crate) trials: Option<&'a mut Trials>,
    pub(crate) host: &'a mut System,
    pub(crate) options: interp::Options<'a>,
    pub(crate) strategy: Strategy,
    /// Time spent on trials that came to nothing.
    pub(crate) tried: Duration,
    /// Whether anything ran on the runtime.
    pub(crate) on_runtime: bool,
}

/// A value, and the work and depth of computing it where they were counted.
pub(crate) type Done = (ResidentValue, Option<(u64, u64)>);

/// What may go wrong.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The program failed.
    Program(Failure),
    /// The runtime did.
    Runtime(runtime::Failure),
}

impl From<runtime::Failure> for Trouble {
    fn from(failure: runtime::Failure) -> Trouble {
        Trouble::Runtime(failure)
    }
}

/// A program without effects that may be run more than once.
struct Work<'p> {
    program: &'p Program,
    allowance: Option<Allowance>,
    /// Made for a seed; none if it is for the direct interpreter.
    prepared: Option<(u64, Option<Prepared>)>,
    /// See [`nesl_core::host_program::PureRegion::small`].
    small: bool,
}

impl<'p> Work<'p> {
    fn of(program: &'p Program, small: bool) -> Work<'p> {
        Work { program, allowance: None, prepared: None, small }
    }
}

impl Runner<'_> {
    /// Runs a program.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Done, Trouble> {
        self.host.set_precision(self.options.precision);
        let done = match self.executor {
            None => self.interpret(program, globals, key),
            Some(_) if !Effects::of(program).in_function(program.main) => {
                self.compute(&mut Work::of(program, false), globals, key)
            }
            Some(executor) if self.is_for_host(executor, program, globals) => {
                self.interpret(program, globals, key)
            }
            Some(executor) => self.perform(executor, program, globals, key),
        };
        self.host.flush();
        done
    }

    /// Whether there is nothing for a runtime in a program that has effects.
    fn is_for_host(
        &self,
        executor: &Executor,
        program: &Program,
        globals: &[ResidentValue],
    ) -> bool {
        !worth_compiling(program)
            || self.trials.is_some()
                && HostOnly::of(program).function(program.main)
                && near(globals, &*executor.runtime).is_some()
    }

    /// Has the direct interpreter run a program.
    pub(crate) fn interpret(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Done, Trouble> {
        let values = self.values(globals)?;
        let done = interp::run(program, &values, key, self.host, &self.options);
        let outcome = done.map_err(Trouble::Program)?;
        let cost = Some((outcome.work, outcome.depth));
        Ok((held(program, outcome.value), cost))
    }

    /// Runs a program without effects.
    fn compute(
        &mut self,
        work: &mut Work<'_>,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Done, Trouble> {
        let program = work.program;
        let Some(executor) = self.executor else { return self.interpret(program, globals, key) };
        let runtime = &*executor.runtime;
        if let Some(trials) = &mut self.trials {
            let tried = if work.small {
                near(globals, runtime).map(|globals| {
                    let run = interp::run(program, &globals, key, self.host, &self.options);
                    run.map(|outcome| outcome.value)
                })
            } else {
                let began = Instant::now();
                let allowance = work.allowance.get_or_insert_with(|| Allowance::of(program));
                let (host, options) = (&mut *self.host, &self.options);
                let tried = trials
                    .values(allowance, globals, runtime)
                    .and_then(|values| trials.run(program, allowance, &values, key, host, options));
                if tried.is_none() {
                    self.tried += began.elapsed();
                }
                tried
            };
            if let Some(done) = tried {
                return Ok((held(program, done.map_err(Trouble::Program)?), None));
            }
        }
        let (precision, seed) = (self.options.precision, self.host.seed());
        let (strategy, max_depth) = (self.strategy, self.options.max_depth);
        let inputs = Inputs { globals, key, precision, strategy, max_depth };
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
        match prepared.as_ref().and_then(|prepared| executor.run(prepared, &inputs)) {
            Some(Ok(held)) => {
                self.on_runtime = true;
                Ok((held, None))
            }
            Some(Err(failure)) => Err(self.traced(program, globals, key, failure)),
            None => self.interpret(program, globals, key),
        }
    }

    /// A failure on a runtime, with the calls that led there. Compiled code does not keep track of
    /// them: the direct interpreter runs the program again (it has no effects), and if it fails
    /// at the same place within [`PATIENCE`], it knows.
    fn traced(
        &mut self,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
        failure: Failure,
    ) -> Trouble {
        let mut called = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| called |= matches!(op, Op::Call(..)));
        }
        let (true, false, Ok(globals)) = (called, failure.trace.is_empty(), self.values(globals))
        else {
            return Trouble::Program(failure);
        };
        let enough = AtomicBool::new(false);
        let options = interp::Options { interrupt: Some(&enough), ..self.options.clone() };
        let host = &mut *self.host;
        let again = std::thread::scope(|scope| {
            let timer = scope.spawn(|| {
                std::thread::park_timeout(PATIENCE);
                enough.store(true, Ordering::Relaxed);
            });
            let again = interp::run(program, &globals, key, host, &options);
            timer.thread().unpark();
            again
        });
        let own = |failure: &Failure| {
            failure.trace.iter().find(|(_, library)| !library).map(|(site, _)| *site)
        };
        Trouble::Program(match again {
            Err(again) if again.fault == failure.fault && own(&again) == own(&failure) => again,
            _ => failure,
        })
    }

    /// Values, read from the runtime where they are there.
    fn values(&self, globals: &[ResidentValue]) -> Result<Vec<Value>, runtime::Failure> {
        let runtime = self.executor.map(|executor| &*executor.runtime);
        globals.iter().map(|held| held.value(runtime).cloned()).collect()
    }

    /// Whether the person asked to stop.
    fn interrupted(&self) -> Option<FaultCode> {
        let asked = self.options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        asked.then_some(FaultCode::Interrupted)
    }
}

/// The value of a program.
fn held(program: &Program, value: Value) -> ResidentValue {
    ResidentValue::value_of(value, program.functions[program.main.0 as usize].result.clone())
}
