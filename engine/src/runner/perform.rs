//! The steps of host programs, in order.
//!
//! Values stay where they were made, and are read only for steps that need them on the host. A pure
//! region is finished when its step is: its failures are reported before the next step is taken.

use super::{Evaluated, FormError, PureProgram, Runner};
use crate::execute::Executor;
use crate::host::columns::{self, Part, PartError};
use crate::interpret_first::values_on_host;
use crate::resident::ResidentValue;
use crate::trace::CallTrace;
use nesl_core::base::with_stack;
use nesl_core::elaborate;
use nesl_core::host_program::{Action, Block, Function, HostProgram, Input, PureRegion};
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::{Atom, FunId, Program, Site, Ty, Var};
use nesl_core::pipeline;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime;
use nesl_runtime::stack::stack_bytes;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// A call under way.
struct HostFrame<'s> {
    function: &'s Function,
    vars: FxHashMap<Var, ResidentValue>,
    trace: CallTrace,
}

/// The end of a block.
enum HostOutcome {
    Value(ResidentValue),
    /// A call in tail position, which takes the place of the call around.
    Tail(FunId, Vec<ResidentValue>, CallTrace),
}

struct Performer<'r, 'a, 's> {
    runner: &'r mut Runner<'a>,
    executor: &'s Executor,
    program: &'s HostProgram,
    /// The values of the program's top-level variables.
    globals: &'s [ResidentValue],
    /// The pure regions that were computed before, by their addresses.
    pure_programs: FxHashMap<*const PureRegion, PureProgram<'s>>,
    /// The number of calls under way.
    depth: usize,
    /// The size of the frames of the calls under way, in bytes.
    frame_bytes: usize,
    /// The size of the stack of this thread when the run began, in bytes.
    stack_bytes: usize,
}

impl Runner<'_> {
    /// Runs a program that has effects.
    pub(super) fn perform(
        &mut self,
        executor: &Executor,
        program: &Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Evaluated, FormError> {
        let began = Instant::now();
        let host_program = pipeline::host_program(program);
        executor.translated(began.elapsed());
        let takes_key = !program.functions[program.main.0 as usize].params.is_empty();
        let key = ResidentValue::value_of(Value::Int(self.options.precision.wrap(key)), Ty::Int);
        let args = if takes_key { vec![key] } else { Vec::new() };
        let mut performer = Performer {
            runner: self,
            executor,
            program: &host_program,
            globals,
            pure_programs: FxHashMap::default(),
            depth: 0,
            frame_bytes: 0,
            stack_bytes: stack_bytes(),
        };
        performer.call(host_program.main, args, CallTrace::default(), 0).map(|value| (value, None))
    }
}

impl<'s> Performer<'_, '_, 's> {
    /// Makes a call; the frame that waits for its value has so many bytes.
    fn call(
        &mut self,
        id: FunId,
        args: Vec<ResidentValue>,
        trace: CallTrace,
        waiting_bytes: usize,
    ) -> Result<ResidentValue, FormError> {
        let outside = self.depth;
        self.frame_bytes += waiting_bytes;
        let result = with_stack(|| self.call_here(id, args, trace));
        self.frame_bytes -= waiting_bytes;
        self.depth = outside;
        result
    }

    fn call_here(
        &mut self,
        id: FunId,
        args: Vec<ResidentValue>,
        trace: CallTrace,
    ) -> Result<ResidentValue, FormError> {
        let (mut id, mut args, mut trace) = (id, args, trace);
        loop {
            let function = self.program.functions[id.0 as usize].as_ref();
            let function = function.or_bug("a function that is called has effects");
            let vars = function.params.iter().copied().zip(args).collect();
            let mut frame = HostFrame { function, vars, trace };
            match self.block(&mut frame, &function.body, true)? {
                HostOutcome::Value(value) => return Ok(value),
                HostOutcome::Tail(next, with, from) => (id, args, trace) = (next, with, from),
            }
        }
    }

    /// Performs a block; `tail` if the function ends with it.
    fn block(
        &mut self,
        frame: &mut HostFrame<'s>,
        block: &'s Block,
        tail: bool,
    ) -> Result<HostOutcome, FormError> {
        with_stack(|| {
            for (at, step) in block.steps.iter().enumerate() {
                let last = tail && at + 1 == block.steps.len();
                let ends = |var: Var| last && block.result == Atom::Var(var);
                match &step.action {
                    Action::Compute(region) => self.compute(frame, region)?,
                    Action::Global(var, id) => {
                        frame.vars.insert(*var, self.globals[id.0 as usize].clone());
                    }
                    Action::Host { var, ty, op, args, types } => {
                        let mut values = Vec::with_capacity(args.len());
                        for arg in args {
                            values.push(self.value(&frame.atom(*arg))?);
                        }
                        let value = match self.runner.host.read_parts(*op, &values, types) {
                            Some(parts) => parts
                                .map_err(|fault| frame.failed(fault, step.site))
                                .and_then(|parts| {
                                    self.place(parts, ty).map_err(|e| frame.unplaced(e, step.site))
                                })?,
                            None => {
                                let done =
                                    interp::perform(self.runner.host, *op, &values, types, ty);
                                let value = done.map_err(|fault| frame.failed(fault, step.site))?;
                                ResidentValue::value_of(value, ty.clone())
                            }
                        };
                        frame.vars.insert(*var, value);
                    }
                    Action::Time(var, body) => {
                        let value = self.time(frame, body)?;
                        frame.vars.insert(*var, value);
                    }
                    Action::If { var, cond, then, otherwise } => {
                        let yes = self.value(&frame.atom(*cond))? == Value::Bool(true);
                        let side = if yes { then } else { otherwise };
                        match self.block(frame, side, ends(*var))? {
                            HostOutcome::Value(value) => {
                                frame.vars.insert(*var, value);
                            }
                            tail => return Ok(tail),
                        }
                    }
                    Action::Call { host_only: Some(region), .. }
                        if self.is_on_host(frame, region) =>
                    {
                        self.compute(frame, region)?;
                    }
                    Action::Call { var, callee, args, .. } => {
                        let args = args.iter().map(|arg| frame.atom(*arg)).collect();
                        let trace = frame.trace.under(step.site, frame.function.library);
                        self.begin_call(frame, step.site)?;
                        if ends(*var) {
                            return Ok(HostOutcome::Tail(*callee, args, trace));
                        }
                        let value = self.call(*callee, args, trace, frame.bytes())?;
                        frame.vars.insert(*var, value);
                    }
                }
                for var in &step.forget {
                    frame.vars.remove(var);
                }
            }
            Ok(HostOutcome::Value(frame.atom(block.result)))
        })
    }

    /// Returns a value that was read from a file: a small one on the host, a large one on the runtime.
    fn place(&self, parts: Vec<Part>, ty: &Ty) -> Result<ResidentValue, PartError> {
        let precision = self.runner.options.precision;
        let Executor { runtime, limits, .. } = self.executor;
        if columns::size(&parts) <= limits.max_interpreted_value_bytes as u64 {
            // It is small.
            let value = columns::to_value(parts, ty, precision, &|| false)?;
            return Ok(ResidentValue::value_of(value, ty.clone()));
        }
        let args = columns::to_runtime(parts, &**runtime)?;
        Ok(ResidentValue::resident(args, ty.clone(), precision))
    }

    /// Begins a call. One in tail position counts as well, as on the direct interpreter.
    fn begin_call(&mut self, frame: &HostFrame<'s>, site: Site) -> Result<(), FormError> {
        if let Some(code) = self.runner.interrupted() {
            return Err(frame.failed(Fault::new(code), site));
        }
        self.depth += 1;
        let bytes = self.frame_bytes + frame.bytes() + stack_bytes() - self.stack_bytes;
        let limits = self.runner.depth_limits();
        limits.check(self.depth, bytes).map_err(|fault| frame.failed(fault, site))
    }

    fn inputs(&self, frame: &HostFrame<'s>, region: &PureRegion) -> Vec<ResidentValue> {
        let input = |input: &Input| match input {
            Input::Global(id) => self.globals[id.0 as usize].clone(),
            Input::Var(var) => frame.vars[var].clone(),
        };
        region.inputs.iter().map(input).collect()
    }

    /// Returns true if no input of a region is a large one on the runtime.
    fn is_on_host(&self, frame: &HostFrame<'s>, region: &PureRegion) -> bool {
        let Executor { runtime, limits, .. } = self.executor;
        let inputs = self.inputs(frame, region);
        self.runner.interpret_first.is_some()
            && values_on_host(&inputs, &**runtime, limits).is_some()
    }

    /// Computes a pure region, and binds its outputs.
    fn compute(
        &mut self,
        frame: &mut HostFrame<'s>,
        region: &'s PureRegion,
    ) -> Result<(), FormError> {
        let inputs = self.inputs(frame, region);
        let done = if region.effects {
            self.runner.interpret(&region.program, &inputs, 0)
        } else {
            let work = self.pure_programs.entry(std::ptr::from_ref(region));
            let work = work.or_insert_with(|| PureProgram::of(&region.program, region.small));
            self.runner.compute(work, &inputs, 0)
        };
        let (value, _) = done.map_err(|error| frame.with_calls(error))?;
        let count = region.outputs.len();
        for (at, var) in region.outputs.iter().enumerate() {
            let mut way = vec![elaborate::Projection::Second; at];
            if at + 1 < count {
                way.push(elaborate::Projection::First);
            }
            frame.vars.insert(*var, value.part(&way));
        }
        Ok(())
    }

    /// Returns the value of a block, and the seconds that its work took, without compilation.
    fn time(
        &mut self,
        frame: &mut HostFrame<'s>,
        body: &'s Block,
    ) -> Result<ResidentValue, FormError> {
        let (began, before) = (self.runner.host.clock(), self.overhead());
        let value = match self.block(frame, body, false)? {
            HostOutcome::Value(value) => value,
            HostOutcome::Tail(..) => bug!("a call took the place of a block that is timed"),
        };
        let overhead = self.overhead() - before;
        let seconds = self.runner.host.clock() - began - overhead.as_secs_f64();
        let precision = self.runner.options.precision;
        let seconds = Value::Float(precision.round(seconds.max(0.0)));
        let seconds = ResidentValue::value_of(seconds, Ty::Float);
        Ok(ResidentValue::pair(&value, &seconds, &*self.executor.runtime, precision)?)
    }

    /// Returns the time spent so far on other things than the work of the program.
    fn overhead(&self) -> Duration {
        let compiling = Duration::from_nanos(self.executor.runtime.counters().compile_ns);
        self.executor.translating() + compiling + self.runner.interpreted_in_vain
    }

    fn value(&self, resident: &ResidentValue) -> Result<Value, FormError> {
        Ok(resident.value(Some(&*self.executor.runtime))?.clone())
    }
}

impl HostFrame<'_> {
    /// Returns the size of the frame in bytes, about; without the elements of sequences.
    fn bytes(&self) -> usize {
        let vars = self.vars.capacity() * size_of::<(Var, ResidentValue)>();
        size_of::<Self>() + vars
    }

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

    /// Returns the failure of a step.
    fn failed(&self, fault: Fault, site: Site) -> FormError {
        let mut trace = vec![(site, self.function.library)];
        trace.extend(self.trace.sites());
        FormError::Program(Failure { fault, trace })
    }

    /// Returns the failure of a step whose result could not be placed.
    fn unplaced(&self, error: PartError, site: Site) -> FormError {
        match error {
            PartError::Reader(message) => self.failed(Fault::with(FaultCode::Host, message), site),
            PartError::Runtime(runtime::Failure::Machine(fault)) => self.failed(fault, site),
            PartError::Runtime(failure) => FormError::Runtime(failure),
        }
    }

    /// Returns an error inside a region with the calls around it. A place in this function is in
    /// the library if the function is.
    fn with_calls(&self, error: FormError) -> FormError {
        match error {
            FormError::Program(mut failure) => {
                for (site, library) in &mut failure.trace {
                    *library |= self.function.library && site.item == self.function.site.item;
                }
                failure.trace.extend(self.trace.sites());
                FormError::Program(failure)
            }
            FormError::Runtime(_) => error,
        }
    }
}
