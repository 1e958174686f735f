//! The meaning of flat programs: a reference interpreter, written to be obviously right.
//!
//! A value is a list of [`Value`]s, one for each element of its index space; an index space records
//! for each of its elements the element of the index space around that it came from (`Frame`).
//! Steps are executed in order, each for all elements before the next. An operation that each
//! element computes for itself ([`Op::Map`], [`Op::Sequential`]) is executed by the direct
//! interpreter of the core language, as a program whose globals are the values that it reads.
//!
//! A fused program has the same meaning: a kernel is executed as its steps in order, and a mask is
//! made when its flag has been computed.

mod frame;

pub(crate) use frame::Frame;

use super::{Block, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step, Version};
use crate::base::with_stack;
use crate::interp::{self, Host, Options, Sequence, Value};
use crate::ir::{self, Atom, FunId, Global, GlobalId, Site, Ty, Var};
use crate::prim::{HostOp, SeqOp};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use std::fmt;

/// The limits of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of elements of an index space.
    pub max_elements: usize,
    /// The maximum depth of calls of flattened functions.
    pub max_call_depth: u32,
    /// The maximum time of the direct interpreter in total, in nanoseconds by its estimates.
    pub budget_ns: u64,
}

/// The reason why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The program faults.
    Fault(Fault),
    /// An index space has more elements than [`Limits::max_elements`].
    TooManyElements(usize),
    /// Calls are nested more deeply than [`Limits::max_call_depth`].
    TooDeep,
    /// The estimated time exceeds [`Limits::budget_ns`].
    OutOfTime,
    /// A function that is called has no flattened form, since it has effects.
    NotFlattened,
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Fault(fault) => {
                let message = match (&fault.detail, fault.code) {
                    (Some(detail), FaultCode::Message | FaultCode::Host) => detail,
                    (_, code) => code.message(),
                };
                let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
                write!(out, "it fails: {line}")
            }
            Stop::TooManyElements(most) => {
                write!(out, "there are more than {most} elements: too many to draw")
            }
            Stop::TooDeep => write!(out, "it calls itself too often to be drawn"),
            Stop::OutOfTime => write!(out, "it takes too long to be drawn"),
            Stop::NotFlattened => {
                write!(out, "it prints, reads files or asks the clock: that has no flattened form")
            }
        }
    }
}

type Outcome<T> = Result<T, Stop>;

/// An observer of an execution.
pub(crate) trait Watch {
    /// Called after an index space was made or a value was computed.
    fn executed(&mut self, frame: &Frame<'_>, step: ExecutedStep<'_>);
    /// Called before a function is called; returns true if its steps are to be observed, too.
    fn watch_call(&mut self, frame: &Frame<'_>, binding: &Let) -> bool;
}

/// A step that was executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExecutedStep<'a> {
    /// The step made an index space.
    IndexSpace(SpaceId),
    /// The step computed a value.
    Value(&'a Let),
}

/// An observer that does nothing.
struct NoWatch;

impl Watch for NoWatch {
    fn executed(&mut self, _: &Frame<'_>, _: ExecutedStep<'_>) {}

    fn watch_call(&mut self, _: &Frame<'_>, _: &Let) -> bool {
        false
    }
}

/// Executes a program on arguments of its main function. `version` is the version of
/// multi-versioned values that is executed.
///
/// # Errors
/// The fault of the program, or the limit that it exceeds.
pub fn run(
    program: &Program,
    args: Vec<Value>,
    precision: Precision,
    version: Version,
    limits: Limits,
) -> Result<Value, Stop> {
    run_watched(program, args, precision, version, limits, &mut NoWatch)
}

/// Executes a program as [`run`] does, and reports its steps to an observer.
pub(crate) fn run_watched(
    program: &Program,
    args: Vec<Value>,
    precision: Precision,
    version: Version,
    limits: Limits,
    watch: &mut dyn Watch,
) -> Result<Value, Stop> {
    let source = program.source.clone();
    let mut interpreter = Interpreter {
        program,
        source,
        precision,
        version,
        budget_ns: limits.budget_ns,
        limits,
        depth: 0,
        watch,
    };
    let args = args.into_iter().map(|arg| vec![arg]).collect();
    let mut results = interpreter.call(program.source.main, args, 1, true)?;
    Ok(results.pop().or_bug("one work item has one result"))
}

struct Interpreter<'p, 'w> {
    program: &'p Program,
    /// The program that was flattened, with a function added for the code that elements execute.
    source: ir::Program,
    precision: Precision,
    version: Version,
    limits: Limits,
    /// The remaining time of the direct interpreter, in nanoseconds.
    budget_ns: u64,
    /// The present depth of calls.
    depth: u32,
    watch: &'w mut dyn Watch,
}

impl<'p> Interpreter<'p, '_> {
    /// Calls a function for `count` work items, and returns the result of each.
    fn call(
        &mut self,
        callee: FunId,
        args: Vec<Vec<Value>>,
        count: usize,
        watched: bool,
    ) -> Outcome<Vec<Value>> {
        if self.depth >= self.limits.max_call_depth {
            return Err(Stop::TooDeep);
        }
        let Some(function) = &self.program.functions[callee.0 as usize] else {
            return Err(Stop::NotFlattened);
        };
        self.depth += 1;
        let mut frame = Frame::new(function, args, count);
        let done = self.block(&mut frame, &function.body, watched);
        self.depth -= 1;
        done.map(|()| frame.all(function.body.result, SpaceId::CALLER))
    }

    fn block(&mut self, frame: &mut Frame<'p>, block: &'p Block, watched: bool) -> Outcome<()> {
        with_stack(|| {
            block.steps.iter().try_for_each(|step| match step {
                Step::Space(space) => self.enter(frame, *space, watched),
                Step::Let(binding) => self.binding(frame, binding, watched),
                Step::Kernel(kernel) => self.kernel(frame, kernel, watched),
            })
        })
    }

    fn enter(&mut self, frame: &mut Frame<'p>, space: SpaceId, watched: bool) -> Outcome<()> {
        if !frame.enter(space, self.limits.max_elements) {
            return Err(Stop::TooManyElements(self.limits.max_elements));
        }
        if watched {
            self.watch.executed(frame, ExecutedStep::IndexSpace(space));
        }
        Ok(())
    }

    fn binding(&mut self, frame: &mut Frame<'p>, binding: &'p Let, watched: bool) -> Outcome<()> {
        let values = self.values(frame, binding, watched)?;
        frame.define(binding.var, binding.space, values);
        if watched {
            self.watch.executed(frame, ExecutedStep::Value(binding));
        }
        Ok(())
    }

    /// Executes the steps of a kernel; a mask is made as soon as its flag is computed.
    fn kernel(&mut self, frame: &mut Frame<'p>, kernel: &'p Kernel, watched: bool) -> Outcome<()> {
        let mut waiting: Vec<SpaceId> = kernel.masks.clone();
        for binding in &kernel.lets {
            self.masks(frame, &mut waiting, watched)?;
            self.binding(frame, binding, watched)?;
        }
        self.masks(frame, &mut waiting, watched)
    }

    /// Makes the masks whose flags are computed, and removes them from `waiting`.
    fn masks(
        &mut self,
        frame: &mut Frame<'p>,
        waiting: &mut Vec<SpaceId>,
        watched: bool,
    ) -> Outcome<()> {
        let ready = |frame: &Frame<'p>, mask: SpaceId| match frame.function.index_space(mask).kind {
            SpaceKind::Filter { of, flag, .. } => {
                frame.home(flag).is_some() && frame.space(of).is_some()
            }
            _ => bug!("the masks of a kernel are filters"),
        };
        while let Some(at) = waiting.iter().position(|mask| ready(frame, *mask)) {
            let mask = waiting.remove(at);
            self.enter(frame, mask, watched)?;
        }
        Ok(())
    }

    /// Computes the values of a step for all elements of its index space.
    fn values(
        &mut self,
        frame: &mut Frame<'p>,
        binding: &'p Let,
        watched: bool,
    ) -> Outcome<Vec<Value>> {
        let (space, ty) = (binding.space, &binding.ty);
        let count = frame.elements(space).count;
        match &binding.op {
            Op::Map(op) => self.map(frame, space, ty, op.clone()),
            Op::Sequential(block) => self.sequential(frame, space, ty, block),
            Op::Element { of, .. } => {
                let position = &frame.elements(space).position;
                let at = |i: usize| element(&frame.sequence_of(*of, space, i), position[i]);
                Ok((0..count).map(at).collect())
            }
            Op::Position { .. } => {
                let position = frame.elements(space).position.iter();
                Ok(position.map(|at| Value::Int(*at as i64)).collect())
            }
            Op::Gather(sequence, index) => (0..count)
                .map(|i| {
                    let index = frame.read(*index, space, i).as_int();
                    let index = index.and_then(|index| usize::try_from(index).ok());
                    let sequence = frame.read(*sequence, space, i);
                    let sequence = sequence.as_sequence().or_bug("a gather reads a sequence");
                    let found = index.and_then(|index| sequence.get(index));
                    found.ok_or(Stop::Fault(Fault::new(FaultCode::Gather)))
                })
                .collect(),
            Op::Extent { op, args, needed_for } => {
                let is_needed = |i: usize| {
                    needed_for.iter().all(|of| match frame.read(*of, space, i) {
                        Value::Int(count) => count > 0,
                        sequence => length(&sequence) > 0,
                    })
                };
                if !(0..count).all(is_needed) {
                    let int = |at: usize, i| frame.read(args[at], space, i).as_int().unwrap_or(0);
                    return (0..count)
                        .map(|i| match op {
                            _ if !is_needed(i) => Ok(Value::Int(0)),
                            SeqOp::Range => range_extent([0, 1, 2].map(|at| int(at, i))),
                            _ => repetition_extent(int(1, i)),
                        })
                        .collect();
                }
                let element = match args.first() {
                    Some(Atom::Var(var)) if *op == SeqOp::Dist => {
                        frame.ty(*var).or_bug("a variable has a type").clone()
                    }
                    Some(atom) if *op == SeqOp::Dist => type_of_constant(*atom),
                    _ => Ty::Int,
                };
                let sequence = ir::Op::Seq(*op, args.clone());
                let all = self.map(frame, space, &Ty::sequence(element), sequence)?;
                Ok(all.iter().map(|value| Value::Int(length(value) as i64)).collect())
            }
            Op::SameLength(a, b, code) => (0..count)
                .map(|i| {
                    let [a, b] = [a, b].map(|of| length(&frame.read(Atom::Var(*of), space, i)));
                    if a == b { Ok(Value::Bool(true)) } else { Err(Stop::Fault(Fault::new(*code))) }
                })
                .collect(),
            Op::Collect { value, from } => {
                let element = ty.element().or_bug("a collect gives a sequence");
                let mut all = frame.by_segment(*value, *from, space);
                // Fusion writes no elements if only the length of the sequence is used.
                if *value == Atom::Unit {
                    all.iter_mut().flatten().for_each(|value| *value = zero(element));
                }
                let sequence = |values| Sequence::from_values(element, values).into();
                Ok(all.into_iter().map(sequence).collect())
            }
            Op::Reduce { with, value, from } => {
                let rows = frame.by_segment(*value, *from, space).into_iter();
                let rows = rows.map(|row| vec![Sequence::from_values(ty, row).into()]).collect();
                self.each_row(SeqOp::Reduce(*with), &[Ty::sequence(ty.clone())], ty, rows)
            }
            Op::Scan { with, value } => {
                let (outer, segments) =
                    frame.elements(space).segments.clone().or_bug("a scan has segments");
                let rows = frame.by_segment(*value, space, outer).into_iter();
                let rows = rows.map(|row| vec![Sequence::from_values(ty, row).into()]).collect();
                let sequence = Ty::sequence(ty.clone());
                let given = [sequence.clone()];
                let scanned = self.each_row(SeqOp::Scan(*with), &given, &sequence, rows)?;
                let position = &frame.elements(space).position;
                Ok((0..count).map(|i| element(&scanned[segments[i]], position[i])).collect())
            }
            Op::Histogram { with, size, index, value, from } => {
                let sizes = frame.all(*size, space).into_iter();
                let indices = frame.by_segment(*index, *from, space);
                let values = frame.by_segment(*value, *from, space);
                let value = self.type_of(frame, *value);
                let rows = sizes.zip(indices).zip(values).map(|((size, indices), values)| {
                    let indices = Sequence::from_values(&Ty::Int, indices).into();
                    vec![size, indices, Sequence::from_values(&value, values).into()]
                });
                let rows = rows.collect();
                let given = [Ty::Int, Ty::sequence(Ty::Int), Ty::sequence(value)];
                self.each_row(SeqOp::Histogram(*with), &given, ty, rows)
            }
            Op::Scatter { of, index, value, from } => {
                let mut writes = vec![Vec::new(); count];
                for element in 0..frame.elements(*from).count {
                    let index = frame.read(*index, *from, element);
                    let value = frame.read(*value, *from, element);
                    writes[frame.outer(*from, element, space)].push(Value::pair(index, value));
                }
                let write = Ty::pair(Ty::Int, self.type_of(frame, *value));
                let rows = frame.all(Atom::Var(*of), space).into_iter().zip(writes);
                let rows = rows.map(|(sequence, writes)| {
                    vec![sequence, Sequence::from_values(&write, writes).into()]
                });
                let rows = rows.collect();
                let given = [ty.clone(), Ty::sequence(write)];
                self.each_row(SeqOp::Scatter, &given, ty, rows)
            }
            Op::Branch { then, otherwise, .. } => {
                let mut all = vec![Value::Unit; count];
                for (side, block) in [then, otherwise] {
                    // A branch without elements is not executed, so that recursion ends.
                    if !frame.enter(*side, self.limits.max_elements) {
                        return Err(Stop::TooManyElements(self.limits.max_elements));
                    }
                    if frame.elements(*side).count == 0 {
                        continue;
                    }
                    if watched {
                        self.watch.executed(frame, ExecutedStep::IndexSpace(*side));
                    }
                    self.block(frame, block, watched)?;
                    for (i, value) in frame.all(block.result, *side).into_iter().enumerate() {
                        all[frame.outer(*side, i, space)] = value;
                    }
                }
                Ok(all)
            }
            Op::Call(callee, args) => {
                if count == 0 {
                    return Ok(Vec::new());
                }
                let watch_callee = watched && self.watch.watch_call(frame, binding);
                let args = args.iter().map(|arg| frame.all(*arg, space)).collect();
                self.call(*callee, args, count, watch_callee)
            }
            Op::Versions { sequential, flattened, .. } => {
                let version = match self.version {
                    Version::Sequential => sequential,
                    Version::Flattened => flattened,
                };
                self.block(frame, version, watched)?;
                Ok(frame.all(version.result, space))
            }
        }
    }

    fn type_of(&self, frame: &Frame<'p>, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => frame.ty(var).or_bug("a variable has a type").clone(),
            constant => type_of_constant(constant),
        }
    }

    /// Executes an operation of the core language for each element.
    fn map(
        &mut self,
        frame: &Frame<'p>,
        space: SpaceId,
        ty: &Ty,
        op: ir::Op,
    ) -> Outcome<Vec<Value>> {
        let var = frame.unused();
        let step = ir::Let { var, ty: ty.clone(), op, site: Site::NONE };
        let block = ir::Block { lets: vec![step], result: Atom::Var(var) };
        self.sequential(frame, space, ty, &block)
    }

    /// Executes a block of the core language for each element.
    fn sequential(
        &mut self,
        frame: &Frame<'p>,
        space: SpaceId,
        ty: &Ty,
        block: &ir::Block,
    ) -> Outcome<Vec<Value>> {
        let mut reads: Vec<(Var, Ty)> = Vec::new();
        block.each_use(&mut |var| {
            if frame.home(var).is_some() && reads.iter().all(|(known, _)| *known != var) {
                reads.push((var, frame.ty(var).or_bug("a variable has a type").clone()));
            }
        });
        let row = |element| {
            let read = |(var, _): &(Var, Ty)| frame.read(Atom::Var(*var), space, element);
            reads.iter().map(read).collect()
        };
        let rows: Vec<Vec<Value>> = (0..frame.elements(space).count).map(row).collect();
        self.interpret(reads, block.clone(), ty, rows)
    }

    /// Executes an operation for each row of operands; `given` are the types of the operands.
    fn each_row(
        &mut self,
        op: SeqOp,
        given: &[Ty],
        ty: &Ty,
        rows: Vec<Vec<Value>>,
    ) -> Outcome<Vec<Value>> {
        let reads: Vec<(Var, Ty)> = (0..).map(Var).zip(given.iter().cloned()).collect();
        let var = Var(given.len() as u32);
        let op = ir::Op::Seq(op, reads.iter().map(|(var, _)| Atom::Var(*var)).collect());
        let step = ir::Let { var, ty: ty.clone(), op, site: Site::NONE };
        let block = ir::Block { lets: vec![step], result: Atom::Var(var) };
        self.interpret(reads, block, ty, rows)
    }

    /// Executes a block with the direct interpreter, once for each row. A row has the values of the
    /// variables in `reads`, in order.
    fn interpret(
        &mut self,
        reads: Vec<(Var, Ty)>,
        block: ir::Block,
        ty: &Ty,
        rows: Vec<Vec<Value>>,
    ) -> Outcome<Vec<Value>> {
        let mut lets = Vec::with_capacity(reads.len() + block.lets.len());
        let mut globals = Vec::with_capacity(reads.len());
        for (i, (var, ty)) in reads.into_iter().enumerate() {
            let op = ir::Op::Global(GlobalId(i as u32));
            lets.push(ir::Let { var, ty: ty.clone(), op, site: Site::NONE });
            globals.push(Global { item: Site::NONE.item, name: format!("v{}", var.0).into(), ty });
        }
        lets.extend(block.lets);
        let function = ir::Function {
            name: "step".into(),
            params: Vec::new(),
            result: ty.clone(),
            body: ir::Block { lets, result: block.result },
            site: Site::NONE,
            library: false,
            charge: None,
            role: None,
        };
        let main = FunId(self.source.functions.len() as u32);
        self.source.functions.push(function);
        let main = std::mem::replace(&mut self.source.main, main);
        let globals = std::mem::replace(&mut self.source.globals, globals);
        let (source, budget_ns) = (&self.source, &mut self.budget_ns);
        let values =
            rows.iter().map(|row| interpret(source, row, budget_ns, self.precision)).collect();
        self.source.globals = globals;
        self.source.main = main;
        self.source.functions.pop();
        values
    }
}

/// Executes a program of the core language without effects, and subtracts its estimated time from
/// `budget_ns`.
pub(crate) fn interpret(
    program: &ir::Program,
    globals: &[Value],
    budget_ns: &mut u64,
    precision: Precision,
) -> Result<Value, Stop> {
    let options =
        Options { precision, max_depth: 10_000, max_length: 1_000_000, ..Options::default() };
    let max_bytes = Thresholds::default().max_interpret_first_bytes;
    match interp::run_within(budget_ns, max_bytes, program, globals, 0, &mut NoHost, &options) {
        None => Err(Stop::OutOfTime),
        Some(Err(failure)) => Err(Stop::Fault(failure.fault)),
        Some(Ok(value)) => Ok(value),
    }
}

/// Returns the type of a constant.
fn type_of_constant(atom: Atom) -> Ty {
    match atom {
        Atom::Var(_) => bug!("a variable is no constant"),
        Atom::Unit => Ty::Unit,
        Atom::Int(_) => Ty::Int,
        Atom::Float(_) => Ty::Float,
        Atom::Bool(_) => Ty::Bool,
        Atom::Char(_) => Ty::Char,
    }
}

/// Returns the zero of a type.
fn zero(ty: &Ty) -> Value {
    match ty {
        Ty::Unit => Value::Unit,
        Ty::Int => Value::Int(0),
        Ty::Float => Value::Float(0.0),
        Ty::Bool => Value::Bool(false),
        Ty::Char => Value::Char(0),
        Ty::Pair(first, second) => Value::pair(zero(first), zero(second)),
        Ty::Sequence(element) => Sequence::from_values(element, Vec::new()).into(),
    }
}

fn length(value: &Value) -> usize {
    value.as_sequence().or_bug("only sequences have lengths").len()
}

fn element(sequence: &Value, index: usize) -> Value {
    let found = sequence.as_sequence().and_then(|sequence| sequence.get(index));
    found.or_bug("an index space has an element for each element of the sequence")
}

/// A host that refuses all operations, and whose clock does not advance.
struct NoHost;

impl Host for NoHost {
    fn print(&mut self, _: &[u8]) {}

    fn call(&mut self, _: HostOp, _: &[Value], _: &[Ty], _: &Ty) -> Result<Value, Fault> {
        Err(Fault::with(FaultCode::Host, "it needs files, a screen or a clock"))
    }

    fn clock(&mut self) -> f64 {
        0.0
    }

    fn seed(&self) -> u64 {
        0
    }
}

/// Returns the number of elements of a range from a start, by a stride, to an end.
fn range_extent([start, stride, end]: [i64; 3]) -> Result<Value, Stop> {
    if end < start || stride < 1 {
        return Err(Stop::Fault(Fault::new(FaultCode::Range)));
    }
    let distance = end.wrapping_sub(start);
    Ok(Value::Int(if distance == 0 { 0 } else { (distance - 1) / stride + 1 }))
}

/// Returns the number of elements of a repetition.
fn repetition_extent(count: i64) -> Result<Value, Stop> {
    match count {
        0.. => Ok(Value::Int(count)),
        _ => Err(Stop::Fault(Fault::new(FaultCode::NegativeLength))),
    }
}
