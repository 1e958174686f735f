//! Control: blocks, calls, conditionals and nests on a stack of our own.
//!
//! The machine does not recurse, so the depth of a program's recursion is limited by memory and
//! [`Options::max_depth`] only; and what a failure was under can be read off the stack.
//!
//! `frames` is the control stack. Each frame waits for a value: a block for that of its current
//! binding, a call for that of the callee's body, a nest for that of an instance, a clock for
//! that of the block it times. The values of variables are on a second stack, `values`, a window
//! of it for each call in progress; as every variable is bound once in its function, instances of
//! a nest simply overwrite each other's.

use super::context::{Budget, Context};
use super::cost::{self, Cost};
use super::lockstep::{Event, Lockstep, Output};
use super::value::{Builder, Sequence, Value};
use super::{Failure, Host, Observer, Options, Outcome, structure};
use crate::ir::{Atom, Block, FunId, Function, Let, Nest, Op, Program, Site, Ty, Var};
use crate::prim::HostOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::random;
use nesl_runtime::scalar::{self, Scalar, ScalarOp};
use std::rc::Rc;

/// Entries of a failure's trace.
const TRACE: usize = 64;

/// A run in progress.
pub(super) struct Machine<'p, 'h> {
    program: &'p Program,
    globals: &'p [Value],
    host: &'h mut dyn Host,
    observer: Option<&'h mut dyn Observer>,
    context: Context<'p>,
    max_depth: usize,
    log_scan: bool,
    /// How many variables each function has.
    windows: Vec<usize>,
    /// The types of each function's variables, where they have been asked for.
    types: Vec<Option<Rc<[Ty]>>>,
    frames: Vec<Frame<'p>>,
    values: Vec<Value>,
    /// Where the window of the current function begins.
    base: usize,
    function: FunId,
    /// Calls in progress.
    calls: usize,
    spent: Cost,
    lockstep: Lockstep,
}

/// What waits for a value.
enum Frame<'p> {
    Block(BlockFrame<'p>),
    Call(CallFrame),
    Nest(Box<NestFrame<'p>>),
    Clock(f64),
}

struct BlockFrame<'p> {
    block: &'p Block,
    /// Bindings begun; the last of them is the current one.
    begun: u32,
    /// Of a conditional, 0 or 1.
    branch: u32,
}

struct CallFrame {
    caller: FunId,
    base: usize,
    /// What had been spent before the call, if it has a declared cost.
    before: Option<Box<Cost>>,
}

struct NestFrame<'p> {
    nest: &'p Nest,
    sequences: Vec<Sequence>,
    length: usize,
    /// Instances begun.
    begun: usize,
    results: Builder,
    /// The depth before, and the greatest after an instance.
    start: u64,
    deepest: u64,
}

/// A fault, and where it happened if not in the current operation.
struct Stop {
    fault: Fault,
    at: Option<(Site, bool)>,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop { fault, at: None }
    }
}

impl From<FaultCode> for Stop {
    fn from(code: FaultCode) -> Stop {
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
            context: Context::new(options, budget),
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
            lockstep: Lockstep::default(),
        }
    }

    /// Runs `main`.
    pub(super) fn run(mut self, key: i64) -> Result<Outcome, Failure> {
        let main = &self.program.functions[self.program.main.0 as usize];
        self.values.resize(self.windows[self.program.main.0 as usize], Value::Unit);
        if let Some((var, _)) = main.params.first() {
            self.bind(*var, Value::Int(self.context.precision.wrap(key)));
        }
        self.push_block(&main.body, 0);
        match self.steps() {
            Ok(value) => Ok(Outcome { value, work: self.spent.work, depth: self.spent.depth }),
            Err(stop) => {
                let trace = self.trace(stop.at);
                // What was printed by then is printed, whatever becomes of it.
                let _ = self.perform_events();
                Err(Failure { fault: stop.fault, trace })
            }
        }
    }

    /// Runs until the bottom block has a value.
    fn steps(&mut self) -> Result<Value, Stop> {
        loop {
            let Some(Frame::Block(frame)) = self.frames.last_mut() else {
                unreachable!("a block is being run");
            };
            match frame.block.lets.get(frame.begun as usize) {
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
    fn begin(&mut self, binding: &'p Let) -> Result<(), Stop> {
        self.context.spend(cost::STEP)?;
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
            Op::First(pair) => self.half(*pair, |first, _| first.clone()),
            Op::Second(pair) => self.half(*pair, |_, second| second.clone()),
            Op::Text(text) => {
                self.context.spend(text.len() as u64 / 8)?;
                Value::text(&**text)
            }
            Op::List(atoms) => {
                let element = binding.ty.element().expect("a list is a sequence");
                self.context.spend(cost::STEP * atoms.len() as u64)?;
                let sequence = Sequence::from_values(element, self.atoms(atoms));
                if !self.context.is_trial() {
                    self.spent.then(Cost::parallel(sequence.size()));
                }
                Value::Sequence(sequence)
            }
            Op::Seq(op, args) => {
                let args = self.atoms(args);
                self.context.spend(cost::time(*op, &args))?;
                let result = structure::apply(*op, &args, &binding.ty, &self.context)?;
                if !self.context.is_trial() {
                    let cost = cost::sequence(*op, &args, &result, self.log_scan);
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
                let text = text.as_text().expect("an error's text is a string");
                return Err(Fault::with(FaultCode::Message, readable(text)).into());
            }
            Op::Host(op, args) => {
                self.spent.then(Cost::UNIT);
                self.host(*op, args, binding)?
            }
            Op::Time(block) => {
                let now = self.host.clock();
                self.frames.push(Frame::Clock(now));
                self.push_block(block, 0);
                return Ok(());
            }
        };
        self.bind(binding.var, value);
        Ok(())
    }

    /// Gives a value to what waits for it. `Some` if nothing does: the program is done.
    fn deliver(&mut self, mut value: Value) -> Result<Option<Value>, Stop> {
        loop {
            let depth = self.spent.depth;
            match self.frames.last_mut() {
                None => return Ok(Some(value)),
                Some(Frame::Block(frame)) => {
                    let binding = &frame.block.lets[frame.begun as usize - 1];
                    self.bind(binding.var, value);
                    return Ok(None);
                }
                Some(Frame::Call(_)) => self.end_call(&value),
                Some(Frame::Nest(nest)) => {
                    nest.results.push(value);
                    nest.deepest = nest.deepest.max(depth);
                    if self.instance()? {
                        return Ok(None);
                    }
                    value = self.end_nest()?;
                }
                Some(Frame::Clock(start)) => {
                    let seconds = self.host.clock() - *start;
                    let seconds = self.context.precision.round(seconds);
                    value = Value::pair(value, Value::Float(seconds));
                    self.frames.pop();
                }
            }
        }
    }

    fn call(&mut self, callee: FunId, args: &[Atom]) -> Result<(), Stop> {
        self.context.poll()?;
        if self.calls >= self.max_depth {
            let levels = format!("{} calls", self.calls);
            return Err(Fault::with(FaultCode::TooDeep, levels).into());
        }
        self.calls += 1;
        let function = &self.program.functions[callee.0 as usize];
        let (base, window) = (self.values.len(), self.windows[callee.0 as usize]);
        self.context.spend(cost::STEP + window as u64)?;
        self.values.resize(base + window, Value::Unit);
        for ((var, _), arg) in function.params.iter().zip(args) {
            self.values[base + var.0 as usize] = self.atom(*arg);
        }
        self.frames.push(Frame::Call(CallFrame {
            caller: self.function,
            base: self.base,
            before: (function.charge.is_some() && !self.context.is_trial())
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

    fn end_call(&mut self, result: &Value) {
        let Some(Frame::Call(call)) = self.frames.pop() else {
            unreachable!("a call ends");
        };
        if let Some(observer) = &mut self.observer {
            observer.leave(self.host, self.function, result);
        }
        let function = self.current();
        if let (Some(charge), Some(before)) = (&function.charge, call.before) {
            let args: Vec<Value> =
                function.params.iter().map(|(var, _)| self.atom(Atom::Var(*var))).collect();
            self.spent = *before;
            self.spent.then(cost::charge(charge, &args, result, self.log_scan));
        }
        self.values.truncate(self.base);
        self.base = call.base;
        self.function = call.caller;
        self.calls -= 1;
    }

    fn nest(&mut self, nest: &'p Nest) -> Result<(), Stop> {
        let sequences: Vec<Sequence> = nest
            .binders
            .iter()
            .map(|(.., atom)| match self.atom(*atom) {
                Value::Sequence(sequence) => sequence,
                other => panic!("an apply-to-each over {other:?}"),
            })
            .collect();
        let length = sequences[0].len();
        if let Some(other) = sequences.iter().find(|other| other.len() != length) {
            return Err(structure::lengths(FaultCode::NestLength, length, other.len()).into());
        }
        self.context.spend(length as u64)?;
        if !nest.serial && self.lockstep.outermost.is_none() {
            self.lockstep.outermost = Some(self.frames.len());
        }
        let element = self.element_of_current();
        let depth = self.spent.depth;
        self.frames.push(Frame::Nest(Box::new(NestFrame {
            nest,
            sequences,
            length,
            begun: 0,
            results: Builder::new(element, length),
            start: depth,
            deepest: depth,
        })));
        if !self.instance()? {
            let value = self.end_nest()?;
            self.deliver(value)?;
        }
        Ok(())
    }

    /// The type of the elements of the current binding.
    fn element_of_current(&self) -> &'p Ty {
        match self.frames.last() {
            Some(Frame::Block(frame)) => frame.block.lets[frame.begun as usize - 1]
                .ty
                .element()
                .expect("an apply-to-each gives a sequence"),
            _ => unreachable!("a block is being run"),
        }
    }

    /// Begins the next instance of the nest on top, if there is one.
    fn instance(&mut self) -> Result<bool, Stop> {
        self.context.poll()?;
        let Some(Frame::Nest(frame)) = self.frames.last_mut() else {
            unreachable!("a nest is being run");
        };
        let index = frame.begun;
        if index == frame.length {
            return Ok(false);
        }
        self.context.spend(cost::STEP)?;
        frame.begun += 1;
        if !frame.nest.serial {
            self.spent.depth = frame.start;
        }
        let nest = frame.nest;
        for ((var, ..), sequence) in nest.binders.iter().zip(&frame.sequences) {
            self.values[self.base + var.0 as usize] =
                sequence.get(index).expect("an element for each instance");
        }
        self.push_block(&nest.body, 0);
        Ok(true)
    }

    fn end_nest(&mut self) -> Result<Value, Stop> {
        let Some(Frame::Nest(frame)) = self.frames.pop() else {
            unreachable!("a nest ends");
        };
        self.spent.depth = frame.deepest.saturating_add(1);
        if self.lockstep.outermost == Some(self.frames.len()) {
            self.perform_events()?;
        }
        Ok(Value::Sequence(frame.results.finish()))
    }

    fn host(&mut self, op: HostOp, args: &[Atom], binding: &Let) -> Result<Value, Stop> {
        let values = self.atoms(args);
        let putting_off = self.lockstep.outermost;
        match (op, putting_off) {
            (HostOp::PrintText, Some(outermost)) => {
                let [value] = <[Value; 1]>::try_from(values).expect("one operand");
                self.put_off(outermost, Output::Print(value), binding.site);
                Ok(Value::Bool(true))
            }
            (HostOp::WriteText, Some(outermost)) => {
                let types = self.types_of(args);
                self.put_off(outermost, Output::Write(values, types), binding.site);
                Ok(Value::pair(Value::Bool(true), Value::text("")))
            }
            (HostOp::Draw, Some(outermost)) => {
                let types = self.types_of(args);
                self.put_off(outermost, Output::Draw(values, types), binding.site);
                Ok(Value::Bool(true))
            }
            (op, _) => {
                let types = self.types_of(args);
                Ok(super::perform(self.host, op, &values, &types, &binding.ty)?)
            }
        }
    }

    fn put_off(&mut self, outermost: usize, what: Output, site: Site) {
        let mut path = Vec::new();
        for frame in &self.frames[outermost + 1..] {
            match frame {
                Frame::Block(block) => path.extend([block.branch, block.begun]),
                Frame::Nest(nest) if nest.nest.serial => path.push(nest.begun as u32),
                Frame::Nest(_) | Frame::Call(_) | Frame::Clock(_) => {}
            }
        }
        let at = (site, self.current().library);
        self.lockstep.put_off(Event { path, what, at });
    }

    /// Performs what was put off.
    fn perform_events(&mut self) -> Result<(), Stop> {
        let status = Ty::pair(Ty::Bool, Ty::text());
        for event in self.lockstep.take() {
            let done = match event.what {
                Output::Print(text) => {
                    self.host.print(printed(&text));
                    continue;
                }
                Output::Write(args, types) => {
                    self.host.call(HostOp::WriteText, &args, &types, &status)
                }
                Output::Draw(args, types) => self.host.call(HostOp::Draw, &args, &types, &Ty::Bool),
            };
            if let Err(fault) = done {
                return Err(Stop { fault, at: Some(event.at) });
            }
        }
        Ok(())
    }

    fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Result<Value, Stop> {
        let precision = self.context.precision;
        // Keys belong to the implementation, not to the program's cost.
        if op != ScalarOp::Split {
            self.spent.then(Cost::UNIT);
        }
        let result = match *args {
            [a] => scalar::eval(op, &[self.operand(a)], precision),
            [key, bound] if op == ScalarOp::Rand => self.draw(key, bound),
            [a, b] => scalar::eval(op, &[self.operand(a), self.operand(b)], precision),
            _ => panic!("{op:?} on {} operands", args.len()),
        };
        Ok(match result? {
            Scalar::Int(x) => Value::Int(x),
            Scalar::Float(x) => Value::Float(x),
            Scalar::Bool(x) => Value::Bool(x),
            Scalar::Char(x) => Value::Char(x),
        })
    }

    fn draw(&self, key: Atom, bound: Atom) -> Result<Scalar, FaultCode> {
        let seed = self.host.seed();
        let precision = self.context.precision;
        let Scalar::Int(key) = self.operand(key) else {
            panic!("a key is an int");
        };
        match self.operand(bound) {
            Scalar::Int(bound) => random::draw_int(seed, key, bound, precision).map(Scalar::Int),
            Scalar::Float(bound) => {
                random::draw_float(seed, key, bound, precision).map(Scalar::Float)
            }
            other => panic!("a bound is a number, not {other:?}"),
        }
    }

    fn bind(&mut self, var: Var, value: Value) {
        self.values[self.base + var.0 as usize] = value;
    }

    fn push_block(&mut self, block: &'p Block, branch: u32) {
        self.frames.push(Frame::Block(BlockFrame { block, begun: 0, branch }));
    }

    fn current(&self) -> &'p Function {
        &self.program.functions[self.function.0 as usize]
    }

    fn atom(&self, atom: Atom) -> Value {
        match atom {
            Atom::Var(var) => self.values[self.base + var.0 as usize].clone(),
            Atom::Unit => Value::Unit,
            Atom::Int(x) => Value::Int(self.context.precision.wrap(x)),
            Atom::Float(x) => Value::Float(self.context.precision.round(x)),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Value> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    fn operand(&self, atom: Atom) -> Scalar {
        match self.atom(atom) {
            Value::Int(x) => Scalar::Int(x),
            Value::Float(x) => Scalar::Float(x),
            Value::Bool(x) => Scalar::Bool(x),
            Value::Char(x) => Scalar::Char(x),
            other => panic!("not a scalar: {other:?}"),
        }
    }

    fn truth(&self, atom: Atom) -> bool {
        self.atom(atom).as_bool().expect("a condition is a bool")
    }

    fn half(&self, pair: Atom, choose: impl FnOnce(&Value, &Value) -> Value) -> Value {
        let pair = self.atom(pair);
        let (first, second) = pair.as_pair().expect("a pair");
        choose(first, second)
    }

    fn types_of(&mut self, atoms: &[Atom]) -> Vec<Ty> {
        let function = self.current();
        let types = self.types[self.function.0 as usize].get_or_insert_with(|| types(function));
        atoms
            .iter()
            .map(|atom| match atom {
                Atom::Var(var) => types[var.0 as usize].clone(),
                Atom::Unit => Ty::Unit,
                Atom::Int(_) => Ty::Int,
                Atom::Float(_) => Ty::Float,
                Atom::Bool(_) => Ty::Bool,
                Atom::Char(_) => Ty::Char,
            })
            .collect()
    }

    /// The current operation and the calls it is under, innermost first. `at` is what failed, if
    /// that is not the current operation.
    fn trace(&self, at: Option<(Site, bool)>) -> Vec<(Site, bool)> {
        let mut trace = Vec::from_iter(at);
        let mut function = self.current();
        // Of the blocks of one call only the innermost is at the operation.
        let mut innermost = true;
        for frame in self.frames.iter().rev() {
            if trace.len() == TRACE {
                break;
            }
            match frame {
                Frame::Block(frame) if innermost => {
                    if let Some(binding) = frame.block.lets[..frame.begun as usize].last() {
                        trace.push((binding.site, function.library));
                        innermost = false;
                    }
                }
                Frame::Call(call) => {
                    function = &self.program.functions[call.caller.0 as usize];
                    innermost = true;
                }
                Frame::Block(_) | Frame::Nest(_) | Frame::Clock(_) => {}
            }
        }
        trace
    }
}

/// How many places the variables of a function take.
fn window(function: &Function) -> usize {
    let mut size = 0;
    let mut see = |var: Var| size = size.max(var.0 as usize + 1);
    for (var, _) in &function.params {
        see(*var);
    }
    function.body.each_binding(&mut |var, _| see(var));
    size
}

/// The types of the variables of a function.
fn types(function: &Function) -> Rc<[Ty]> {
    let mut types = vec![Ty::Unit; window(function)];
    for (var, ty) in &function.params {
        types[var.0 as usize] = ty.clone();
    }
    function.body.each_binding(&mut |var, ty| types[var.0 as usize] = ty.clone());
    types.into()
}

fn printed(text: &Value) -> &[u8] {
    text.as_text().expect("what is printed is a string")
}

/// A string of the language as text: UTF-8 where it is that, else one character a byte.
fn readable(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_string(),
        Err(_) => text.iter().map(|byte| char::from(*byte)).collect(),
    }
}
