//! The steps of scripts, in order.
//!
//! Values are held where they were made, and read only for who needs them here. A piece is done
//! when its step is: whatever fails in it has failed before the next step is taken.

use super::{Done, Runner, Trouble, Work};
use crate::evaluate::Trace;
use crate::execute::Executor;
use crate::interpret_first::near;
use crate::resident::ResidentValue;
use nesl_core::base::with_stack;
use nesl_core::elaborate;
use nesl_core::host_program::{Action, Block, Function, HostProgram, Input, PureRegion};
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::{Atom, FunId, Program, Site, Ty, Var};
use nesl_core::pipeline;
use nesl_runtime::fault::{Fault, FaultCode};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// A call under way.
struct Frame<'s> {
    function: &'s Function,
    vars: FxHashMap<Var, ResidentValue>,
    trace: Trace,
}

/// What a block comes to.
enum Outcome {
    Value(ResidentValue),
    /// A call that takes its place.
    Tail(FunId, Vec<ResidentValue>, Trace),
}

struct Performer<'r, 'a, 's> {
    runner: &'r mut Runner<'a>,
    executor: &'s Executor,
    script: &'s HostProgram,
    /// The values of the program's top-level variables.
    globals: &'s [ResidentValue],
    /// The pieces that were computed before.
    works: FxHashMap<*const PureRegion, Work<'s>>,
    /// Calls under way.
    depth: usize,
}

impl Runner<'_> {
    /// Runs a program that has effects.
    pub(super) fn perform(
        &mut self,
        executor: &Executor,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Done, Trouble> {
        let began = Instant::now();
        let script = pipeline::host_program(program);
        executor.translated(began.elapsed());
        let takes_key = !program.functions[program.main.0 as usize].params.is_empty();
        let key = ResidentValue::value_of(Value::Int(self.options.precision.wrap(key)), Ty::Int);
        let args = if takes_key { vec![key] } else { Vec::new() };
        let mut performer = Performer {
            runner: self,
            executor,
            script: &script,
            globals,
            works: FxHashMap::default(),
            depth: 0,
        };
        performer.call(script.main, args, Trace::default()).map(|held| (held, None))
    }
}

impl<'s> Performer<'_, '_, 's> {
    fn call(
        &mut self,
        id: FunId,
        args: Vec<ResidentValue>,
        trace: Trace,
    ) -> Result<ResidentValue, Trouble> {
        let outside = self.depth;
        let result = with_stack(|| self.call_here(id, args, trace));
        self.depth = outside;
        result
    }

    fn call_here(
        &mut self,
        id: FunId,
        args: Vec<ResidentValue>,
        trace: Trace,
    ) -> Result<ResidentValue, Trouble> {
        let (mut id, mut args, mut trace) = (id, args, trace);
        loop {
            let script = self.script;
            let function =
                script.functions[id.0 as usize].as_ref().expect("what is called has effects");
            let vars = function.params.iter().copied().zip(args).collect();
            let mut frame = Frame { function, vars, trace };
            match self.block(&mut frame, &function.body, true)? {
                Outcome::Value(value) => return Ok(value),
                Outcome::Tail(next, with, from) => (id, args, trace) = (next, with, from),
            }
        }
    }

    /// Performs a block; `tail` says that the function ends with it.
    fn block(
        &mut self,
        frame: &mut Frame<'s>,
        block: &'s Block,
        tail: bool,
    ) -> Result<Outcome, Trouble> {
        with_stack(|| {
            for (at, step) in block.steps.iter().enumerate() {
                let last = tail && at + 1 == block.steps.len();
                let ends = |var: Var| last && block.result == Atom::Var(var);
                match &step.action {
                    Action::Compute(piece) => self.compute(frame, piece)?,
                    Action::Global(var, id) => {
                        frame.vars.insert(*var, self.globals[id.0 as usize].clone());
                    }
                    Action::Host { var, ty, op, args, types } => {
                        let mut values = Vec::with_capacity(args.len());
                        for arg in args {
                            values.push(self.value(&frame.atom(*arg))?);
                        }
                        let done = interp::perform(self.runner.host, *op, &values, types, ty);
                        let value = done.map_err(|fault| frame.failed(fault, step.site))?;
                        frame.vars.insert(*var, ResidentValue::value_of(value, ty.clone()));
                    }
                    Action::Time(var, body) => {
                        let value = self.time(frame, body)?;
                        frame.vars.insert(*var, value);
                    }
                    Action::If { var, cond, then, otherwise } => {
                        let yes = self.value(&frame.atom(*cond))? == Value::Bool(true);
                        let side = if yes { then } else { otherwise };
                        match self.block(frame, side, ends(*var))? {
                            Outcome::Value(value) => {
                                frame.vars.insert(*var, value);
                            }
                            tail => return Ok(tail),
                        }
                    }
                    Action::Call { host_only: Some(piece), .. } if self.is_near(frame, piece) => {
                        self.compute(frame, piece)?;
                    }
                    Action::Call { var, callee, args, .. } => {
                        let args = args.iter().map(|arg| frame.atom(*arg)).collect();
                        let trace = frame.trace.under(step.site, frame.function.library);
                        self.enter(frame, step.site)?;
                        if ends(*var) {
                            return Ok(Outcome::Tail(*callee, args, trace));
                        }
                        let value = self.call(*callee, args, trace)?;
                        frame.vars.insert(*var, value);
                    }
                }
                for var in &step.forget {
                    frame.vars.remove(var);
                }
            }
            Ok(Outcome::Value(frame.atom(block.result)))
        })
    }

    /// Another call, one that takes the place of another too, as the direct interpreter counts.
    fn enter(&mut self, frame: &Frame<'s>, site: Site) -> Result<(), Trouble> {
        if let Some(code) = self.runner.interrupted() {
            return Err(frame.failed(Fault::new(code), site));
        }
        if self.depth >= self.runner.options.max_depth {
            let fault = Fault::with(FaultCode::TooDeep, format!("{} calls", self.depth));
            return Err(frame.failed(fault, site));
        }
        self.depth += 1;
        Ok(())
    }

    fn inputs(&self, frame: &Frame<'s>, piece: &PureRegion) -> Vec<ResidentValue> {
        let input = |input: &Input| match input {
            Input::Global(id) => self.globals[id.0 as usize].clone(),
            Input::Var(var) => frame.vars[var].clone(),
        };
        piece.inputs.iter().map(input).collect()
    }

    /// Whether nothing that a piece takes is a long one on the runtime.
    fn is_near(&self, frame: &Frame<'s>, piece: &PureRegion) -> bool {
        let tries = self.runner.trials.is_some();
        tries && near(&self.inputs(frame, piece), &*self.executor.runtime).is_some()
    }

    /// Computes a piece, and binds what it gives.
    fn compute(&mut self, frame: &mut Frame<'s>, piece: &'s PureRegion) -> Result<(), Trouble> {
        let inputs = self.inputs(frame, piece);
        let done = if piece.effects {
            self.runner.interpret(&piece.program, &inputs, 0)
        } else {
            let work = self.works.entry(std::ptr::from_ref(piece));
            let work = work.or_insert_with(|| Work::of(&piece.program, piece.small));
            self.runner.compute(work, &inputs, 0)
        };
        let (value, _) = done.map_err(|trouble| frame.under(trouble))?;
        let count = piece.outputs.len();
        for (at, var) in piece.outputs.iter().enumerate() {
            let mut way = vec![elaborate::Projection::Second; at];
            if at + 1 < count {
                way.push(elaborate::Projection::First);
            }
            frame.vars.insert(*var, value.part(&way));
        }
        Ok(())
    }

    /// The value of a block, and the seconds that its work took: what it took to make code for it
    /// does not count.
    fn time(&mut self, frame: &mut Frame<'s>, body: &'s Block) -> Result<ResidentValue, Trouble> {
        let (began, before) = (self.runner.host.clock(), self.overhead());
        let value = match self.block(frame, body, false)? {
            Outcome::Value(value) => value,
            Outcome::Tail(..) => unreachable!("no call takes the place of what is timed"),
        };
        let overhead = self.overhead() - before;
        let seconds = self.runner.host.clock() - began - overhead.as_secs_f64();
        let precision = self.runner.options.precision;
        let seconds = Value::Float(precision.round(seconds.max(0.0)));
        let seconds = ResidentValue::value_of(seconds, Ty::Float);
        Ok(ResidentValue::pair(&value, &seconds, &*self.executor.runtime, precision)?)
    }

    /// Time spent so far on other things than the work of the program.
    fn overhead(&self) -> Duration {
        let compiling = Duration::from_nanos(self.executor.runtime.counters().compile_ns);
        self.executor.translating() + compiling + self.runner.tried
    }

    fn value(&self, held: &ResidentValue) -> Result<Value, Trouble> {
        Ok(held.value(Some(&*self.executor.runtime))?.clone())
    }
}

impl Frame<'_> {
    fn atom(&self, atom: Atom) -> ResidentValue {
        let (value, ty) = match atom {
            Atom::Var(var) => return self.vars[&var].clone(),
            Atom::Unit => (Value::Unit, Ty::Unit),
            Atom::Int(x) => (Value::Int(x), Ty::Int),
            Atom::Float(x) => (Value::Float(x), Ty::Float),
            Atom::Bool(x) => (Value::Bool(x), Ty::Bool),
            Atom::Char(x) => (Value::Char(x), Ty::Char),
        };
        ResidentValue::value_of(value, ty)
    }

    /// A failure of a step.
    fn failed(&self, fault: Fault, site: Site) -> Trouble {
        let mut trace = vec![(site, self.function.library)];
        trace.extend(self.trace.sites());
        Trouble::Program(Failure { fault, trace })
    }

    /// What went wrong in a piece, with the calls that led there. What stands in this function is of
    /// the library if the function is.
    fn under(&self, trouble: Trouble) -> Trouble {
        match trouble {
            Trouble::Program(mut failure) => {
                for (site, library) in &mut failure.trace {
                    *library |= self.function.library && site.item == self.function.site.item;
                }
                failure.trace.extend(self.trace.sites());
                Trouble::Program(failure)
            }
            Trouble::Runtime(_) => trouble,
        }
    }
}
