//! Control: blocks, calls, conditionals and nests, on an explicit stack.
//!
//! The machine does not recurse, so the depth of a program's recursion is limited only by
//! [`Options::max_stack_bytes`] and [`Options::max_depth`], and the trace of a failure is read off the stack.
//!
//! ```text
//! begin(binding)   computes its value at once, or pushes the frames that will
//! deliver(value)   gives a value to the frame on top of the stack; that frame continues or ends
//! ```
//!
//! `frames` is the control stack. Each frame is a continuation: a block waits for the value of its
//! current binding, a call for that of the callee's body, a nest for that of an iteration, a clock for
//! that of the block it times. The values of variables are on a second stack, `values`, with a window
//! for each call in progress ([`super::window`]). Every variable is bound once in its function, so the
//! iterations of a nest overwrite each other's variables.
//!
//! Both stacks together take at most [`Options::max_stack_bytes`]: a level of a simple recursion is
//! three frames and one or two values of 16 bytes each.
//!
//! `operands` evaluates operands and scalar operations, `effects` performs operations of the host, and
//! `tail_calls` removes calls that only pass on a result.

mod effects;
mod operands;
mod tail_calls;

use super::cost::{self, Cost};
use super::in_use::{BLOCK_BYTES, InUse};
use super::limits::{Budget, Limits};
use super::lockstep::Lockstep;
use super::value::{Sequence, SequenceBuilder, Value};
use super::window::{self, Window};
use super::{Failure, Host, Observer, Options, Outcome, free, structure};
use crate::base::readable;
use crate::ir::{Atom, Block, FunId, Function, Let, Nest, Op, Program, Site, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use std::rc::Rc;

/// The size of a short sequence, as far as it counts for the depth of recursion, in bytes: the block
/// with its counters and that with its elements.
const KEPT_BYTES: usize = 2 * BLOCK_BYTES;

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
    max_stack_bytes: usize,
    log_scan: bool,
    /// The places of each function's variables, once it has been called.
    windows: Vec<Option<Rc<Window>>>,
    /// The types of each function's variables, once they have been needed.
    types: Vec<Option<Rc<[Ty]>>>,
    frames: Vec<ControlFrame<'p>>,
    values: Vec<Value>,
    /// The start of the current function's window in `values`.
    base: usize,
    /// The places of the current function's variables.
    window: Rc<Window>,
    function: FunId,
    /// The number of calls in progress.
    calls: usize,
    /// The number of calls in progress at which those are removed that only pass on a result.
    swept_at: usize,
    /// The size of the nests in progress, and that of the sequences which the calls in progress keep if
    /// these are short, in bytes.
    kept_bytes: usize,
    /// The work and depth so far.
    spent: Cost,
    /// The binding of the main function before which nothing is counted.
    counted_from: usize,
    lockstep: Lockstep,
}

/// A continuation that waits for a value.
enum ControlFrame<'p> {
    /// A block whose bindings are being evaluated.
    Block {
        block: &'p Block,
        step: Step,
    },
    /// A call, of a function called by `caller`; with the cost before it, if the callee declares a
    /// cost.
    Call {
        caller: FunId,
        before: Option<Box<Cost>>,
    },
    Nest(Box<NestFrame<'p>>),
    /// The time at which a `time(e)` began, in seconds.
    Clock(f64),
}

// The depth of recursion depends on it.
const _: () = assert!(size_of::<ControlFrame<'_>>() == 16 && size_of::<Value>() == 16);

/// The step of a block that is under way.
#[derive(Clone, Copy)]
struct Step(u32);

impl Step {
    /// The bit that is set in the second branch of a conditional.
    const OTHERWISE: u32 = 1 << 31;

    /// The number of bindings begun; the last of them is the current one.
    fn begun(self) -> usize {
        (self.0 & !Self::OTHERWISE) as usize
    }

    /// The branch of a conditional, 0 for *then* and 1 for *else*; 0 for any other block.
    fn branch(self) -> u32 {
        self.0 >> 31
    }
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
        let main = &program.functions[program.main.0 as usize];
        let window = Rc::new(Window::of_main(main));
        let mut windows = vec![None; program.functions.len()];
        windows[program.main.0 as usize] = Some(window.clone());
        Machine {
            program,
            globals,
            host,
            observer,
            limits: Limits::new(options, budget),
            max_depth: options.max_depth,
            max_stack_bytes: options.max_stack_bytes,
            log_scan: options.log_scan,
            windows,
            types: vec![None; program.functions.len()],
            frames: Vec::new(),
            values: Vec::new(),
            base: 0,
            window,
            function: program.main,
            calls: 0,
            swept_at: tail_calls::MIN_SWEPT_CALLS,
            kept_bytes: 0,
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
        self.values.resize(self.window.size, Value::Unit);
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
                if stop.fault.code == FaultCode::Interrupted {
                    self.discard();
                }
                Err(Failure { fault: stop.fault, trace })
            }
        }
    }

    /// Frees what a run has made that was interrupted; nobody waits for that.
    fn discard(&mut self) {
        let mut made = std::mem::take(&mut self.values);
        for frame in &mut self.frames {
            if let ControlFrame::Nest(nest) = frame {
                let none = SequenceBuilder::new(&Ty::Unit, 0);
                made.push(Value::Sequence(std::mem::replace(&mut nest.results, none).finish()));
                made.extend(nest.sequences.drain(..).map(Value::Sequence));
            }
        }
        free::one_by_one(free::Parts::of(made));
    }

    /// Runs until the bottom block has a value.
    fn steps(&mut self) -> Result<Value, LocatedFault> {
        loop {
            // A frame alone is that of the main function.
            let is_main = self.frames.len() == 1;
            let Some(ControlFrame::Block { block, step }) = self.frames.last_mut() else {
                bug!("the frame on top is a block");
            };
            let block: &'p Block = block;
            let next = step.begun();
            if is_main && next == self.counted_from {
                self.spent = Cost::default();
            }
            match block.lets.get(next) {
                Some(binding) => {
                    step.0 += 1;
                    self.begin(binding)?;
                }
                None => {
                    let value = self.atom(block.result);
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
            Op::Pair(first, second) => {
                self.limits.note_bytes(2 * size_of::<Value>() + BLOCK_BYTES);
                Value::pair(self.atom(*first), self.atom(*second))
            }
            Op::First(pair) => self.component(*pair, |first, _| first.clone()),
            Op::Second(pair) => self.component(*pair, |_, second| second.clone()),
            Op::Text(text) => {
                self.limits.spend(text.len() as u64 / 8)?;
                self.limits.note_bytes(text.len() + BLOCK_BYTES);
                Value::text(&**text)
            }
            Op::Constants(constants) => {
                let scalars = constants.scalars();
                self.limits.spend(cost::STEP_NS * constants.len() as u64 / 8)?;
                self.limits.note_bytes(scalars * size_of::<i64>() + 2 * BLOCK_BYTES);
                let sequence = Sequence::from_constants(constants, self.limits.precision);
                if !self.limits.has_budget() {
                    self.spent.then(Cost::parallel(sequence.size()));
                }
                Value::Sequence(sequence)
            }
            Op::List(atoms) => {
                let element = binding.ty.element().or_bug("a list is a sequence");
                self.limits.spend(cost::STEP_NS * atoms.len() as u64)?;
                self.limits.note_bytes(atoms.len() * size_of::<Value>() + 2 * BLOCK_BYTES);
                let sequence = Sequence::from_values(element, self.atoms(atoms));
                if !self.limits.has_budget() {
                    self.spent.then(Cost::parallel(sequence.size()));
                }
                Value::Sequence(sequence)
            }
            Op::Seq(op, args) => {
                let args = self.atoms(args);
                self.limits.spend(cost::operand_time_ns(*op, &args))?;
                let result = match structure::apply(*op, &args, &binding.ty, &self.limits) {
                    Err(fault) if fault.code == FaultCode::OutOfMemory => {
                        // Some of what was allocated may have been freed.
                        self.count_bytes(&args)?;
                        structure::apply(*op, &args, &binding.ty, &self.limits)
                    }
                    done => done,
                }?;
                if !self.limits.has_budget() {
                    let cost = cost::sequence_op(*op, &args, &result, self.log_scan);
                    self.spent.then(cost);
                }
                result
            }
            Op::Call(callee, args) => return self.call(*callee, args, binding.var),
            Op::If { cond, then, otherwise } => {
                if self.truth(*cond) {
                    self.push_block(then, 0);
                } else {
                    self.push_block(otherwise, Step::OTHERWISE);
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
                Some(ControlFrame::Block { block, step }) => {
                    let var = block.lets[step.begun() - 1].var;
                    self.bind(var, value);
                    return Ok(None);
                }
                Some(ControlFrame::Call { .. }) => self.end_call(&value),
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

    /// Begins a call whose value is bound to a variable.
    fn call(&mut self, callee: FunId, args: &[Atom], result: Var) -> Result<(), LocatedFault> {
        self.limits.poll()?;
        let function = &self.program.functions[callee.0 as usize];
        let window = self.windows[callee.0 as usize]
            .get_or_insert_with(|| Rc::new(Window::of(function)))
            .clone();
        self.sweep_if_many();
        let room = window.size;
        if !(self.has_room(room) || self.sweep_helps() && self.has_room(room)) {
            return Err(self.too_deep());
        }
        if self.limits.may_be_full() {
            self.count_bytes(&[])?;
        }
        self.calls += 1;
        self.limits.spend(cost::STEP_NS + window.size as u64)?;
        let base = self.values.len();
        self.values.resize(base + window.size, Value::Unit);
        for ((var, _), arg) in function.params.iter().zip(args) {
            self.values[base + window.place(*var)] = self.atom(*arg);
        }
        self.kept_bytes += self.window.kept(result) * KEPT_BYTES;
        for place in self.window.left_over(result) {
            self.values[self.base + *place as usize] = Value::Unit;
        }
        self.frames.push(ControlFrame::Call {
            caller: self.function,
            before: (function.charge.is_some() && !self.limits.has_budget())
                .then(|| Box::new(self.spent)),
        });
        self.base = base;
        self.window = window;
        self.function = callee;
        if let Some(observer) = &mut self.observer {
            let place = |(var, _): &(Var, Ty)| self.values[base + self.window.place(*var)].clone();
            let args: Vec<Value> = function.params.iter().map(place).collect();
            observer.enter(self.host, callee, &args);
        }
        self.push_block(&function.body, 0);
        Ok(())
    }

    /// Returns true if there is room for another call, with a window of so many values.
    fn has_room(&self, window: usize) -> bool {
        let frames = (self.frames.len() + 2) * size_of::<ControlFrame<'_>>();
        let values = (self.values.len() + window) * size_of::<Value>();
        let bytes = frames + values + self.kept_bytes;
        self.calls < self.max_depth && bytes <= self.max_stack_bytes
    }

    /// Returns the fault of a call for which there is no room.
    fn too_deep(&self) -> LocatedFault {
        let deeper_than_limit = self.calls >= self.max_depth;
        let limit = (!deeper_than_limit).then_some(self.max_stack_bytes as u64);
        Fault::too_deep(Some(self.calls as u64), limit).into()
    }

    /// Ends the call on top of the stack.
    fn end_call(&mut self, result: &Value) {
        let Some(ControlFrame::Call { caller, before }) = self.frames.pop() else {
            bug!("the frame on top is a call");
        };
        if let Some(observer) = &mut self.observer {
            observer.leave(self.host, self.function, result);
        }
        let function = self.current();
        if let (Some(charge), Some(before)) = (&function.charge, before) {
            let args: Vec<Value> =
                function.params.iter().map(|(var, _)| self.atom(Atom::Var(*var))).collect();
            self.spent = *before;
            self.spent.then(cost::declared(charge, &args, result, self.log_scan));
        }
        self.values.truncate(self.base);
        self.window =
            self.windows[caller.0 as usize].clone().or_bug("a function under way has been called");
        // The windows of calls lie one behind the other.
        self.base -= self.window.size;
        self.function = caller;
        self.calls -= 1;
        if let Some(ControlFrame::Block { block, step }) = self.frames.last() {
            let result = block.lets[step.begun() - 1].var;
            self.kept_bytes -= self.window.kept(result) * KEPT_BYTES;
        }
    }

    /// Counts the sequences in use, with some operands beside those of variables; faults if there is no
    /// room for more.
    fn count_bytes(&self, operands: &[Value]) -> Result<(), Fault> {
        let mut in_use = InUse::default();
        operands.iter().chain(&self.values).for_each(|value| in_use.value(value));
        for frame in &self.frames {
            if let ControlFrame::Nest(nest) = frame {
                nest.sequences.iter().for_each(|sequence| in_use.sequence(sequence));
                in_use.add(nest.results.bytes());
                nest.results.values().iter().for_each(|value| in_use.value(value));
            }
        }
        self.limits.set_counted_bytes(in_use.bytes)
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
        let result_bytes = length.saturating_mul(element_bytes(element)) + BLOCK_BYTES;
        self.limits.note_bytes(result_bytes);
        if self.limits.may_be_full() {
            self.count_bytes(&[])?;
            self.limits.reserve_bytes(result_bytes as u64)?;
        }
        let depth = self.spent.depth;
        self.kept_bytes += nest_bytes(nest);
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
            Some(ControlFrame::Block { block, step }) => block.lets[step.begun() - 1]
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
            self.values[self.base + self.window.place(*var)] = sequence.at(index);
        }
        self.push_block(&nest.body, 0);
        Ok(true)
    }

    /// Ends the nest on top of the stack; returns the sequence of its results.
    fn end_nest(&mut self) -> Result<Value, LocatedFault> {
        let Some(ControlFrame::Nest(frame)) = self.frames.pop() else {
            bug!("the frame on top is a nest");
        };
        self.kept_bytes -= nest_bytes(frame.nest);
        self.spent.depth = frame.max_depth;
        if self.lockstep.outermost == Some(self.frames.len()) {
            self.perform_events()?;
        }
        Ok(Value::Sequence(frame.results.finish()))
    }

    fn bind(&mut self, var: Var, value: Value) {
        let place = self.base + self.window.place(var);
        self.values[place] = value;
    }

    /// Pushes a block; `branch` is [`Step::OTHERWISE`] for the second branch of a conditional.
    fn push_block(&mut self, block: &'p Block, branch: u32) {
        self.frames.push(ControlFrame::Block { block, step: Step(branch) });
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
                ControlFrame::Block { block, step } if innermost => {
                    if let Some(binding) = block.lets[..step.begun()].last() {
                        trace.push((binding.site, function.library));
                        innermost = false;
                    }
                }
                ControlFrame::Call { caller, .. } => {
                    function = &self.program.functions[caller.0 as usize];
                    innermost = true;
                }
                ControlFrame::Block { .. } | ControlFrame::Nest(_) | ControlFrame::Clock(_) => {}
            }
        }
        trace
    }
}

/// The size of a nest in progress, in bytes; the sequences that it reads and makes count as short.
fn nest_bytes(nest: &Nest) -> usize {
    size_of::<NestFrame<'_>>() + (nest.binders.len() + 1) * KEPT_BYTES
}

/// The size of an element of a sequence, in bytes, without the sequences inside.
fn element_bytes(element: &Ty) -> usize {
    match element {
        Ty::Int | Ty::Float => 8,
        Ty::Bool | Ty::Char => 1,
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => size_of::<Value>(),
    }
}
