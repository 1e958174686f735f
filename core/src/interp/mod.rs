//! The direct interpreter of [`ir`](crate::ir): the meaning of the language.
//!
//! Written for obviousness, not for speed. It counts work and depth by the cost model (LANGUAGE
//! section 12), checks everything, never overflows the host's stack, and can be interrupted.
//!
//! | module | what it does |
//! |---|---|
//! | `machine` | control: blocks, calls, conditionals, nests, on a stack of its own |
//! | `structure` | sequence operations that move elements |
//! | `reduce`, `rank` | those that compare and combine them |
//! | `text` | numbers as text and back |
//! | `cost` | what each operation is charged |
//! | `lockstep` | the order in which a nest prints |

mod context;
mod cost;
mod known;
mod lockstep;
mod machine;
mod rank;
mod reduce;
mod structure;
mod value;

pub use value::{Builder, Sequence, Value};

use crate::ir::{FunId, Program, Site, Ty, Var};
use crate::prim::HostOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use std::sync::atomic::AtomicBool;

/// The world outside the language.
pub trait Host {
    /// Writes to standard output. Called in the order in which the program prints.
    fn print(&mut self, text: &[u8]);
    /// Performs an operation of [`HostOp`] (other than printing to standard output).
    fn call(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
        result: &Ty,
    ) -> Result<Value, Fault>;
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

/// Someone who watches a program run. Instances of an apply-to-each are seen one after the other.
pub trait Observer {
    /// A function is called.
    fn enter(&mut self, host: &mut dyn Host, function: FunId, args: &[Value]);
    /// A call is done.
    fn leave(&mut self, host: &mut dyn Host, function: FunId, result: &Value);
    /// A [`Copy`](crate::ir::Op::Copy) was made in a function.
    fn copied(&mut self, host: &mut dyn Host, function: FunId, var: Var, value: &Value);
}

/// Runs a program, which must be lawful ([`verify`](crate::ir::verify())). `globals` are the values
/// of `program.globals`; `key` is the argument of a `main` that draws random numbers.
///
/// # Panics
/// If the program is not lawful, or the globals are not of its types.
pub fn run(
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Result<Outcome, Failure> {
    machine::Machine::new(program, globals, host, options, None, None).run(key)
}

/// Runs a program that needs no host as [`run`] does, but for about `budget` nanoseconds at most,
/// and says how many of them are left: `None` if that is not enough, or if it comes to a limit of
/// this interpreter. Work and depth are not counted. It does not look at a clock, so the same
/// program always comes as far.
pub fn run_within(
    budget: &mut u64,
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Option<Result<Value, Failure>> {
    let within = context::Budget::new(*budget);
    let machine = machine::Machine::new(program, globals, host, options, None, Some(&within));
    let run = machine.run(key);
    *budget = within.left();
    match run {
        Ok(outcome) => Some(Ok(outcome.value)),
        Err(_) if within.is_exceeded() => None,
        Err(failure) => match failure.fault.code {
            FaultCode::TooDeep | FaultCode::OutOfMemory => None,
            _ => Some(Err(failure)),
        },
    }
}

/// Performs one operation of the world outside.
pub fn perform(
    host: &mut dyn Host,
    op: HostOp,
    args: &[Value],
    types: &[Ty],
    result: &Ty,
) -> Result<Value, Fault> {
    match op {
        HostOp::PrintText => {
            host.print(args[0].as_text().expect("what is printed is a string"));
            Ok(Value::Bool(true))
        }
        op => host.call(op, args, types, result),
    }
}

/// Runs a program as [`run`] does, while someone watches.
pub fn run_watched(
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Failure> {
    machine::Machine::new(program, globals, host, options, Some(observer), None).run(key)
}
