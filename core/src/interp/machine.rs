//! Control: blocks, calls, conditionals and nests, on an explicit stack.
//!
//! The machine does not recurse, so the depth of a program's recursion is limited only by memory and
//! [`Options::max_depth`], and the trace of a failure is read off the stack.
//!
//! ```text
//! begin(binding)   computes its value at once, or pushes the frames that will
//! deliver(value)   gives a value to the frame on top of the stack; that frame continues or ends
//! ```
//!
//! `frames` is the control stack. Each frame is a continuation: a block waits for the value of its
//! current binding, a call for that of the callee's body, a nest for that of an iteration, a clock for
//! that of the block it times. The values of variables are on a second stack, `values`, with a window
//! for each call in progress. Every variable is bound once in its function, so the iterations of a
//! nest overwrite each other's variables.
//!
//! `operands` evaluates operands and scalar operations, `effects` performs operations of the host.

mod effects;
mod operands;

use super::cost::{self, Cost};
use super::limits::{Budget, Limits};
use super::lockstep::Lockstep;
use super::value::{Sequence, SequenceBuilder, Value};
use super::{Failure, Host, Observer, Options, Outcome, structure};
use crate::ir::{Atom, Block, FunId, Function, Let, Nest, Op, Program, Site, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use std::rc::Rc;

/// The number of entries in the trace of a failure.
const MAX_TRACE_ENTRIES: usize = 64;

/// A run in progress.
pub(super) struct Machine<'p, 'h> {
    program: &'p Program,
    globals: &'p [Value],
    host: &'h mut dyn Host,
    observer: Option<&'h mut dyn Observer>,
    limits: Limits<'p>,
    max_depth: usize,
    log_scan: bool,
    /// The number of variables of each function.
    windows: Vec<usize>,
    /// The types of each function's variables, once they have been needed.
    types: Vec<Option<Rc<[Ty]>>>,
    frames: Vec<ControlFrame<'p>>,
    values: Vec<Value>,
    /// The start of the current function's window in `values`.
    base: usize,
    function: FunId,
    /// The number of calls in progress.
    calls: usize,
    /// The work and depth so far.
    spent: Cost,
    /// The binding of the main function before which nothing is counted.
    counted_from: usize,
    lockstep: Lockstep,
}

/// A continuation that waits for a value.
enum ControlFrame<'p> {
    Block(BlockFrame<'p>),
    Call(CallFrame),
    Nest(Box<NestFrame<'p>>),
    /// The time at which a `time(e)` began, in seconds.
    Clock(f64),
}

struct BlockFrame<'p> {
    block: &'p Block,
    /// The number of bindings begun; the last of them is the current one.
    begun: u32,
    /// The branch of a conditional, 0 for *then* and 1 for *else*; 0 for any other block.
    branch: u32,
}

struct CallFrame {
    caller: FunId,
    base: usize,
    /// The cost before the call, if the callee declares a cost.
    before: Option<Box<Cost>>,
}

struct NestFrame<'p> {
    nest: &'p Nest,
    sequences: Vec<Sequence>,
    length: usize,
    /// The number of iterations begun.
    begun: usize,
    results: SequenceBuilder,
    /// The depth before the nest.
    start_depth: u64,
    /// The greatest depth after any iteration.
    max_depth: u64,
}

/// A fault, with its location if that is not the current operation.
struct LocatedFault {
    fault: Fault,
    at: Option<(Site, bool)>,
}

impl From<Fault> for LocatedFault {
    fn from(fault: Fault) -> LocatedFault {
        LocatedFault { fault, at: None }
    }
}

impl From<FaultCode> for LocatedFault {
    fn from(code: FaultCode) -> LocatedFault {
        Fault::new(code).into()
    }
}

impl<'p, 'h> Machine<'p, 'h> {
    pub(super) fn new(
        program: &'p Program,
        globals: &'p [Value],
        host: &'h mut dyn Host,
        options: &Options<'p>,
        observer: Option<&'h mut dyn Observer>,
        budget: Option<&'p Budget>,
    ) -> Machine<'p, 'h> {
        Machine {
            program,
            globals,
            host,
            observer,
            limits: Limits::new(options, budget),
            max_depth: options.max_depth,
            log_scan: options.log_scan,
            windows: program.functions.iter().map(window).collect(),
            types: vec![None; program.functions.len()],
            frames: Vec::new(),
            values: Vec::new(),
            base: 0,
            function: program.main,
            calls: 0,
            spent: Cost::default(),
            counted_from: 0,
            lockstep: Lockstep::default(),
        }
    }

    /// Counts work and depth only from a binding of the main function on.
    pub(super) fn counting_from(self, binding: usize) -> Machine<'p, 'h> {
        Machine { counted_from: binding, ..self }
    }

    /// Runs the main function; `key` is the argument of one that draws random numbers.
    pub(super) fn run(mut self, key: i64) -> Result<Outcome, Failure> {
        let main = &self.program.functions[self.program.main.0 as usize];
        self.values.resize(self.windows[self.program.main.0 as usize], Value::Unit);
        if let Some((var, _)) = main.params.first() {
            self.bind(*var, Value::Int(self.limits.precision.wrap(key)));
        }
        self.push_block(&main.body, 0);
        match self.steps() {
            Ok(value) => Ok(Outcome { value, work: self.spent.work, depth: self.spent.depth }),
            Err(stop) => {
                let trace = self.trace(stop.at);
                // Output before the fault is performed; a fault of that output is not reported.
                let _ = self.perform_events();
                Err(Failure { fault: stop.fault, trace })
            }
        }
    }

    /// Runs until the bottom block has a value.
    fn steps(&mut self) -> Result<Value, LocatedFault> {
        loop {
            // A frame alone is that of the main function.
            let is_main = self.frames.len() == 1;
            let Some(ControlFrame::Block(frame)) = self.frames.last_mut() else {
                bug!("the frame on top is a block");
            };
            let next = frame.begun as usize;
            if is_main && next == self.counted_from {
                self.spent = Cost::default();
            }
            match frame.block.lets.get(next) {
                Some(binding) => {
                    frame.begun += 1;
                    self.begin(binding)?;
                }
                None => {
                    let value = {
                        let result = frame.block.result;
                        self.atom(result)
                    };
                    self.frames.pop();
                    if let Some(value) = self.deliver(value)? {
                        return Ok(value);
                    }
                }
            }
        }
    }

    /// Begins a binding: computes and binds it, or pushes what will.
    fn begin(&mut self, binding: &'p Let) -> Result<(), LocatedFault> {
        self.limits.spend(cost::STEP_NS)?;
        let value = match &binding.op {
            Op::Copy(atom) => {
                let value = self.atom(*atom);
                if let Some(observer) = &mut self.observer {
                    observer.copied(self.host, self.function, binding.var, &value);
                }
                value
            }
            Op::Scalar(op, args) => self.scalar(*op, args)?,
            Op::Pair(first, second) => Value::pair(self.atom(*first), self.atom(*second)),
            Op::First(pair) => self.component(*pair, |first, _| first.clone()),
            Op::Second(pair) => self.component(*pair, |_, second| second.clone()),
            Op::Text(text) => {
                self.limits.spend(text.len() as u64 / 8)?;
                Value::text(&**text)
            }
            Op::List(atoms) => {
                let element = binding.ty.element().or_bug("a list is a sequence");
                self.limits.spend(cost::STEP_NS * atoms.len() as u64)?;
                let sequence = Sequence::from_values(element, self.atoms(atoms));
                if !self.limits.has_budget() {
                    self.spent.then(Cost::parallel(sequence.size()));
                }
                Value::Sequence(sequence)
            }
            Op::Seq(op, args) => {
                let args = self.atoms(args);
                self.limits.spend(cost::operand_time_ns(*op, &args))?;
                let result = structure::apply(*op, &args, &binding.ty, &self.limits)?;
                if !self.limits.has_budget() {
                    let cost = cost::sequence_op(*op, &args, &result, self.log_scan);
                    self.spent.then(cost);
                }
                result
            }
            Op::Call(callee, args) => return self.call(*callee, args),
            Op::If { cond, then, otherwise } => {
                if self.truth(*cond) {
                    self.push_block(then, 0);
                } else {
                    self.push_block(otherwise, 1);
                }
                return Ok(());
            }
            Op::Nest(nest) => return self.nest(nest),
            Op::Global(global) => self.globals[global.0 as usize].clone(),
            Op::Check { cond, code, message } => {
                self.spent.then(Cost::UNIT);
                if !self.truth(*cond) {
                    let fault = if message.is_empty() {
                        Fault::new(*code)
                    } else {
                        Fault::with(*code, message.as_str())
                    };
                    return Err(fault.into());
                }
                Value::Bool(true)
            }
            Op::Error(text) => {
                let text = self.atom(*text);
                return Err(Fault::with(FaultCode::Message, readable(text.bytes())).into());
            }
            Op::Host(op, args) => {
                self.spent.then(Cost::UNIT);
                self.host(*op, args, binding)?
            }
            Op::Time(block) => {
                let now = self.host.clock();
                self.frames.push(ControlFrame::Clock(now));
                self.push_block(block, 0);
                return Ok(());
            }
        };
        self.bind(binding.var, value);
        Ok(())
    }

    /// Gives a value to the frame that waits for it. Returns it if there is none: the program is done.
    fn deliver(&mut self, mut value: Value) -> Result<Option<Value>, LocatedFault> {
        loop {
            let depth = self.spent.depth;
            match self.frames.last_mut() {
                None => return Ok(Some(value)),
                Some(ControlFrame::Block(frame)) => {
                    let binding = &frame.block.lets[frame.begun as usize - 1];
                    self.bind(binding.var, value);
                    return Ok(None);
                }
                Some(ControlFrame::Call(_)) => self.end_call(&value),
                Some(ControlFrame::Nest(nest)) => {
                    nest.results.push(value);
                    nest.max_depth = nest.max_depth.max(depth);
                    if self.next_iteration()? {
                        return Ok(None);
                    }
                    value = self.end_nest()?;
                }
                Some(ControlFrame::Clock(start)) => {
                    let seconds = self.host.clock() - *start;
                    let seconds = self.limits.precision.round(seconds);
                    value = Value::pair(value, Value::Float(seconds));
                    self.frames.pop();
                }
            }
        }
    }

    /// Begins a call.
    fn call(&mut self, callee: FunId, args: &[Atom]) -> Result<(), LocatedFault> {
        self.limits.poll()?;
        if self.calls >= self.max_depth {
            let levels = format!("{} calls", self.calls);
            return Err(Fault::with(FaultCode::TooDeep, levels).into());
        }
        self.calls += 1;
        let function = &self.program.functions[callee.0 as usize];
        let (base, window) = (self.values.len(), self.windows[callee.0 as usize]);
        self.limits.spend(cost::STEP_NS + window as u64)?;
        self.values.resize(base + window, Value::Unit);
        for ((var, _), arg) in function.params.iter().zip(args) {
            self.values[base + var.0 as usize] = self.atom(*arg);
        }
        self.frames.push(ControlFrame::Call(CallFrame {
            caller: self.function,
            base: self.base,
            before: (function.charge.is_some() && !self.limits.has_budget())
                .then(|| Box::new(self.spent)),
        }));
        self.base = base;
        self.function = callee;
        if let Some(observer) = &mut self.observer {
            let place = |(var, _): &(Var, Ty)| self.values[base + var.0 as usize].clone();
            let args: Vec<Value> = function.params.iter().map(place).collect();
            observer.enter(self.host, callee, &args);
        }
        self.push_block(&function.body, 0);
        Ok(())
    }

    /// Ends the call on top of the stack.
    fn end_call(&mut self, result: &Value) {
        let Some(ControlFrame::Call(call)) = self.frames.pop() else {
            bug!("the frame on top is a call");
        };
        if let Some(observer) = &mut self.observer {
            observer.leave(self.host, self.function, result);
        }
        let function = self.current();
        if let (Some(charge), Some(before)) = (&function.charge, call.before) {
            let args: Vec<Value> =
                function.params.iter().map(|(var, _)| self.atom(Atom::Var(*var))).collect();
            self.spent = *before;
            self.spent.then(cost::declared(charge, &args, result, self.log_scan));
        }
        self.values.truncate(self.base);
        self.base = call.base;
        self.function = call.caller;
        self.calls -= 1;
    }

    /// Begins an apply-to-each.
    fn nest(&mut self, nest: &'p Nest) -> Result<(), LocatedFault> {
        let sequences: Vec<Sequence> =
            nest.binders.iter().map(|(.., atom)| self.atom(*atom).into_elements()).collect();
        let length = sequences[0].len();
        if let Some(other) = sequences.iter().find(|other| other.len() != length) {
            return Err(structure::lengths(FaultCode::NestLength, length, other.len()).into());
        }
        self.limits.spend(length as u64)?;
        if !nest.serial && self.lockstep.outermost.is_none() {
            self.lockstep.outermost = Some(self.frames.len());
        }
        let element = self.element_of_current();
        let depth = self.spent.depth;
        self.frames.push(ControlFrame::Nest(Box::new(NestFrame {
            nest,
            sequences,
            length,
            begun: 0,
            results: SequenceBuilder::new(element, length),
            start_depth: depth,
            max_depth: depth,
        })));
        if !self.next_iteration()? {
            let value = self.end_nest()?;
            self.deliver(value)?;
        }
        Ok(())
    }

    /// The type of the elements of the current binding.
    fn element_of_current(&self) -> &'p Ty {
        match self.frames.last() {
            Some(ControlFrame::Block(frame)) => frame.block.lets[frame.begun as usize - 1]
                .ty
                .element()
                .or_bug("an apply-to-each gives a sequence"),
            _ => bug!("the frame on top is a block"),
        }
    }

    /// Begins the next iteration of the nest on top; returns false if there is none.
    fn next_iteration(&mut self) -> Result<bool, LocatedFault> {
        self.limits.poll()?;
        let Some(ControlFrame::Nest(frame)) = self.frames.last_mut() else {
            bug!("the frame on top is a nest");
        };
        let index = frame.begun;
        if index == frame.length {
            return Ok(false);
        }
        self.limits.spend(cost::STEP_NS)?;
        frame.begun += 1;
        if !frame.nest.serial {
            self.spent.depth = frame.start_depth;
        }
        let nest = frame.nest;
        for ((var, ..), sequence) in nest.binders.iter().zip(&frame.sequences) {
            self.values[self.base + var.0 as usize] = sequence.at(index);
        }
        self.push_block(&nest.body, 0);
        Ok(true)
    }

    /// Ends the nest on top of the stack; returns the sequence of its results.
    fn end_nest(&mut self) -> Result<Value, LocatedFault> {
        let Some(ControlFrame::Nest(frame)) = self.frames.pop() else {
            bug!("the frame on top is a nest");
        };
        self.spent.depth = frame.max_depth;
        if self.lockstep.outermost == Some(self.frames.len()) {
            self.perform_events()?;
        }
        Ok(Value::Sequence(frame.results.finish()))
    }

    fn bind(&mut self, var: Var, value: Value) {
        self.values[self.base + var.0 as usize] = value;
    }

    fn push_block(&mut self, block: &'p Block, branch: u32) {
        self.frames.push(ControlFrame::Block(BlockFrame { block, begun: 0, branch }));
    }

    fn current(&self) -> &'p Function {
        &self.program.functions[self.function.0 as usize]
    }

    /// The locations of the current operation and the calls it is under, innermost first. `at` is the
    /// location of the failure, if that is not the current operation.
    fn trace(&self, at: Option<(Site, bool)>) -> Vec<(Site, bool)> {
        let mut trace = Vec::from_iter(at);
        let mut function = self.current();
        // Of the blocks of one call only the innermost contains the operation.
        let mut innermost = true;
        for frame in self.frames.iter().rev() {
            if trace.len() == MAX_TRACE_ENTRIES {
                break;
            }
            match frame {
                ControlFrame::Block(frame) if innermost => {
                    if let Some(binding) = frame.block.lets[..frame.begun as usize].last() {
                        trace.push((binding.site, function.library));
                        innermost = false;
                    }
                }
                ControlFrame::Call(call) => {
                    function = &self.program.functions[call.caller.0 as usize];
                    innermost = true;
                }
                ControlFrame::Block(_) | ControlFrame::Nest(_) | ControlFrame::Clock(_) => {}
            }
        }
        trace
    }
}

/// The number of slots for the variables of a function.
fn window(function: &Function) -> usize {
    let mut size = 0;
    let mut see = |var: Var| size = size.max(var.0 as usize + 1);
    for (var, _) in &function.params {
        see(*var);
    }
    function.body.each_binding(&mut |var, _| see(var));
    size
}

/// Decodes a string of the language: as UTF-8 if it is that, else each byte as one character.
fn readable(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_string(),
        Err(_) => text.iter().map(|byte| char::from(*byte)).collect(),
    }
}
