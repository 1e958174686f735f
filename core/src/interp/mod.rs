//! The direct interpreter of [`ir`](crate::ir): the meaning of the language.
//!
//! Written for obviousness, not for speed. It counts work and depth by the cost model (LANGUAGE
//! section 12), checks everything, never overflows the host's stack, and can be interrupted.
//!
//! **Cost.** A scalar operation costs work 1 and depth 1; an operation on sequences the work its
//! row in the table of primitives says, and depth 1; a nest the sum of its instances' work and the
//! maximum of their depths, and 1 each for itself. A library function with a declared cost is
//! charged that, whatever its body does.
//!
//! **Order of output.** Instances print in lockstep, as flattened code does: whatever all
//! instances print at one place of the program comes before what they print at a later place, and
//! all `then` sides come before all `else` sides ([`effects`]).

mod effects;
mod seq;
mod text;
mod value;

pub use value::{Sequence, Value};

use crate::base::with_stack;
use crate::ir::{Atom, Block, CostTerm, FunId, Function, Let, Nest, Op, Program, Site, Ty, Var};
use crate::prim::HostOp;
use effects::Effects;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::random;
use nesl_runtime::scalar::{self, Precision, Scalar, ScalarOp};
use std::sync::atomic::{AtomicBool, Ordering};

/// The world outside the language.
pub trait Host {
    /// Writes to standard output. Called in the order in which the program prints.
    fn print(&mut self, text: &[u8]);
    /// Performs an operation of [`HostOp`] (other than printing to standard output).
    fn call(&mut self, op: HostOp, args: &[Value], types: &[Ty], result: &Ty) -> Result<Value, Fault>;
    /// Seconds since some fixed moment, for `time(e)`.
    fn clock(&mut self) -> f64;
    /// The seed from which random keys derive; `rand_seed` changes it.
    fn seed(&self) -> u64;
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The width of int and float.
    pub precision: Precision,
    /// Levels of calls after which recursion is called too deep.
    pub max_depth: usize,
    /// Elements of a single sequence above which memory is said to be out.
    pub max_length: usize,
    /// Set from another thread to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// Charge scans and reductions a depth of log₂ n instead of 1.
    pub log_scan: bool,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The value.
    pub value: Value,
    /// Total operations.
    pub work: u64,
    /// The longest chain.
    pub depth: u64,
}

/// How a run failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Why.
    pub fault: Fault,
    /// The operation that failed and the calls it was under, innermost first; at most 64 of them.
    /// Each says whether it stands in the library.
    pub trace: Vec<(Site, bool)>,
}

/// Runs a program. `globals` are the values of `program.globals`; `key` is the argument of a
/// `main` that draws random numbers.
pub fn run(
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Result<Outcome, Failure> {
    let mut interp = Interp {
        program,
        globals,
        variables: program.functions.iter().map(Function::variables).collect(),
        effects: Effects::new(program),
        host,
        options,
        work: 0,
        depth: 0,
        calls: 0,
        ticks: 0,
    };
    let main = &program.functions[program.main.0 as usize];
    let args = if main.params.is_empty() { Vec::new() } else { vec![Value::Int(key)] };
    let result = interp.call(program.main, args);
    interp.flush();
    result.map(|value| Outcome { value, work: interp.work, depth: interp.depth })
}

/// The variables of one call.
type Env = Vec<Value>;

struct Interp<'a> {
    program: &'a Program,
    globals: &'a [Value],
    /// How many variables each function has.
    variables: Vec<usize>,
    effects: Effects,
    host: &'a mut dyn Host,
    options: &'a Options<'a>,
    work: u64,
    depth: u64,
    calls: usize,
    ticks: u32,
}

/// How many sites a failure remembers.
const TRACE: usize = 64;

impl Interp<'_> {
    fn call(&mut self, id: FunId, args: Vec<Value>) -> Result<Value, Failure> {
        let program = self.program;
        let function = &program.functions[id.0 as usize];
        self.calls += 1;
        if self.calls > self.options.max_depth {
            let detail = format!("more than {} levels", self.options.max_depth);
            self.calls -= 1;
            return Err(fail(Fault::with(FaultCode::TooDeep, detail), function.site, function));
        }
        self.tick(function.site, function)?;
        let (work, depth) = (self.work, self.depth);
        let mut env: Env = vec![Value::Unit; self.variables[id.0 as usize]];
        for ((var, _), arg) in function.params.iter().zip(&args) {
            env[var.0 as usize] = arg.clone();
        }
        let result = with_stack(|| self.block(&function.body, &mut env, function));
        self.calls -= 1;
        let value = result?;
        if let Some(charge) = &function.charge {
            let size = |term: &CostTerm| match term {
                CostTerm::One => 1,
                CostTerm::Length(i) => args[*i as usize].elements().len() as u64,
                CostTerm::Size(i) => args[*i as usize].size(),
                CostTerm::SizeOfResult => value.size(),
            };
            let charged: u64 = charge.work.iter().map(size).sum();
            self.work = work + charged;
            self.depth = depth + if charge.scans { self.scan_depth(charged) } else { 1 };
        }
        Ok(value)
    }

    /// Looks now and then whether to stop.
    fn tick(&mut self, site: Site, function: &Function) -> Result<(), Failure> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(256)
            && self.options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Err(fail(Fault::new(FaultCode::Interrupted), site, function));
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, env: &mut Env, function: &Function) -> Result<Value, Failure> {
        for bound in &block.lets {
            let value = self.op(bound, env, function)?;
            env[bound.var.0 as usize] = value;
        }
        Ok(atom(&block.result, env))
    }

    fn op(&mut self, bound: &Let, env: &mut Env, function: &Function) -> Result<Value, Failure> {
        let site = bound.site;
        let failed = |fault: Fault| fail(fault, site, function);
        match &bound.op {
            Op::Copy(a) => Ok(atom(a, env)),
            Op::Scalar(op, args) => {
                self.charge(1);
                self.scalar(*op, args, env).map_err(|code| failed(self.explain(code, args, env)))
            }
            Op::Pair(a, b) => Ok(Value::pair(atom(a, env), atom(b, env))),
            Op::First(a) => match atom(a, env) {
                Value::Pair(pair) => Ok(pair.0.clone()),
                other => unreachable!("{other:?} is not a pair"),
            },
            Op::Second(a) => match atom(a, env) {
                Value::Pair(pair) => Ok(pair.1.clone()),
                other => unreachable!("{other:?} is not a pair"),
            },
            Op::Text(bytes) => {
                self.charge(1);
                Ok(Value::text(bytes.to_vec()))
            }
            Op::List(items) => {
                self.charge(items.len() as u64 + 1);
                let element = element_of(&bound.ty);
                Ok(Value::sequence(element, items.iter().map(|a| atom(a, env))))
            }
            Op::Seq(op, args) => {
                self.tick(site, function)?;
                let args: Vec<Value> = args.iter().map(|a| atom(a, env)).collect();
                let value = seq::apply(*op, &args, &bound.ty, self.options).map_err(failed)?;
                let work = seq::work(*op, &args, &value);
                self.work += work;
                self.depth += if seq::scans(*op) { self.scan_depth(work) } else { 1 };
                Ok(value)
            }
            Op::Call(callee, args) => {
                let args = args.iter().map(|a| atom(a, env)).collect();
                self.effects.enter(bound.var, 0);
                let result = self.call(*callee, args);
                self.effects.leave();
                result.map_err(|mut failure| {
                    if failure.trace.len() < TRACE {
                        failure.trace.push((site, function.library));
                    }
                    failure
                })
            }
            Op::If { cond, then, otherwise } => {
                self.charge(1);
                let side = atom(cond, env).bool();
                self.effects.enter(bound.var, u32::from(!side));
                let result = self.block(if side { then } else { otherwise }, env, function);
                self.effects.leave();
                result
            }
            Op::Nest(nest) => {
                self.effects.enter(bound.var, 0);
                let result = self.nest(nest, &bound.ty, env, function, site);
                self.effects.leave();
                result
            }
            Op::Global(global) => Ok(self.globals[global.0 as usize].clone()),
            Op::Check { cond, code, message } => {
                self.charge(1);
                if atom(cond, env).bool() {
                    Ok(Value::Bool(true))
                } else {
                    // A reason other than `Message` says all there is to say.
                    let says_more = *code == FaultCode::Message;
                    let detail = says_more.then(|| message.to_string());
                    Err(failed(Fault { code: *code, detail }))
                }
            }
            Op::Error(text) => {
                let text = atom(text, env);
                let text = String::from_utf8_lossy(text.bytes()).into_owned();
                Err(failed(Fault::with(FaultCode::Message, text)))
            }
            Op::Host(op, args) => {
                self.charge(1);
                let types: Vec<Ty> = args.iter().map(|a| function.type_of(a)).collect();
                let args: Vec<Value> = args.iter().map(|a| atom(a, env)).collect();
                self.host(*op, args, &types, bound).map_err(failed)
            }
            Op::Time(block) => {
                let start = self.host.clock();
                self.effects.enter(bound.var, 0);
                let result = self.block(block, env, function);
                self.effects.leave();
                let value = result?;
                Ok(Value::pair(value, Value::Float(self.host.clock() - start)))
            }
        }
    }

    fn charge(&mut self, work: u64) {
        self.work += work;
        self.depth += 1;
    }

    fn scan_depth(&self, n: u64) -> u64 {
        if self.options.log_scan { u64::from(n.max(2).ilog2()) } else { 1 }
    }

    fn scalar(&mut self, op: ScalarOp, args: &[Atom], env: &Env) -> Result<Value, FaultCode> {
        let mut scalars = [Scalar::Int(0); 2];
        for (slot, arg) in scalars.iter_mut().zip(args) {
            *slot = match atom(arg, env) {
                Value::Int(v) => Scalar::Int(v),
                Value::Float(v) => Scalar::Float(v),
                Value::Bool(v) => Scalar::Bool(v),
                Value::Char(v) => Scalar::Char(v),
                other => unreachable!("{other:?} is not a scalar"),
            };
        }
        if op == ScalarOp::Rand
            && let Scalar::Int(key) = scalars[0]
        {
            scalars[0] = Scalar::Int(random::root(self.host.seed(), key));
        }
        let value = scalar::eval(op, &scalars[..args.len()], self.options.precision)?;
        Ok(match value {
            Scalar::Int(v) => Value::Int(v),
            Scalar::Float(v) => Value::Float(v),
            Scalar::Bool(v) => Value::Bool(v),
            Scalar::Char(v) => Value::Char(v),
        })
    }

    /// The fault of a scalar operation, with its operands where they help.
    fn explain(&self, code: FaultCode, args: &[Atom], env: &Env) -> Fault {
        let shown = |a: &Atom| match atom(a, env) {
            Value::Int(v) => v.to_string(),
            Value::Float(v) => format!("{v:?}"),
            other => format!("{other:?}"),
        };
        match code {
            FaultCode::ShiftCount => Fault::with(code, format!("by {}", shown(&args[1]))),
            FaultCode::FloatToInt
            | FaultCode::CodeChar
            | FaultCode::SqrtNegative
            | FaultCode::LnNegative => Fault::with(code, shown(&args[0])),
            _ => Fault::new(code),
        }
    }

    fn nest(
        &mut self,
        nest: &Nest,
        ty: &Ty,
        env: &mut Env,
        function: &Function,
        site: Site,
    ) -> Result<Value, Failure> {
        let sequences: Vec<Value> = nest.binders.iter().map(|(_, _, s)| atom(s, env)).collect();
        let count = sequences[0].elements().len();
        if let Some(other) = sequences.iter().map(|s| s.elements().len()).find(|n| *n != count) {
            let detail = format!("lengths {count} and {other}");
            return Err(fail(Fault::with(FaultCode::NestLength, detail), site, function));
        }
        self.charge(1);
        let start = self.depth;
        let mut deepest = start;
        let mut out = value::Builder::new(element_of(ty), count);
        if !nest.serial {
            self.effects.begin_instances();
        }
        let mut result = Ok(());
        for i in 0..count {
            if !nest.serial {
                self.depth = start;
            }
            for ((var, _, _), sequence) in nest.binders.iter().zip(&sequences) {
                env[var.0 as usize] = sequence.elements().get(i);
            }
            let value = self
                .tick(site, function)
                .and_then(|()| self.block(&nest.body, env, function));
            match value {
                Ok(value) => out.push(value),
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            }
            deepest = deepest.max(self.depth);
        }
        if !nest.serial && self.effects.end_instances() {
            self.flush();
        }
        self.depth = deepest;
        result.map(|()| Value::Sequence(out.finish()))
    }

    fn host(&mut self, op: HostOp, args: Vec<Value>, types: &[Ty], bound: &Let) -> Result<Value, Fault> {
        match op {
            HostOp::PrintText => {
                if !self.effects.record(bound.var, op, &args) {
                    self.host.print(args[0].bytes());
                }
                Ok(Value::Bool(true))
            }
            HostOp::WriteText if self.effects.record(bound.var, op, &args) => {
                Ok(Value::pair(Value::Bool(true), Value::text("")))
            }
            _ => self.host.call(op, &args, types, &bound.ty),
        }
    }

    /// Performs what instances have printed, in lockstep order.
    fn flush(&mut self) {
        for (op, args) in self.effects.take() {
            match op {
                HostOp::PrintText => self.host.print(args[0].bytes()),
                _ => {
                    let text = Ty::Sequence(Box::new(Ty::Char));
                    let types = [text.clone(), Ty::Int];
                    let result = Ty::Pair(Box::new(Ty::Bool), Box::new(text));
                    // The instances were told that it went well; a closed stream shows later.
                    let _ = self.host.call(op, &args, &types, &result);
                }
            }
        }
    }
}

fn fail(fault: Fault, site: Site, function: &Function) -> Failure {
    Failure { fault, trace: vec![(site, function.library)] }
}

fn element_of(ty: &Ty) -> &Ty {
    match ty {
        Ty::Sequence(element) => element,
        other => unreachable!("{other:?} has no elements"),
    }
}

fn atom(atom: &Atom, env: &Env) -> Value {
    match atom {
        Atom::Var(Var(index)) => env[*index as usize].clone(),
        Atom::Unit => Value::Unit,
        Atom::Int(v) => Value::Int(*v),
        Atom::Float(v) => Value::Float(*v),
        Atom::Bool(v) => Value::Bool(*v),
        Atom::Char(v) => Value::Char(*v),
    }
}
