//! The direct interpreter of [`ir`](crate::ir): the meaning of the language.
//!
//! This is the definition against which everything else is tested. For every program the flattened
//! version, the sequential version and the compiled kernels must give the value, the output and the
//! fault that this interpreter gives. It is written to be obviously right, not to be fast; it is
//! also what runs a small program before anything is compiled ([`run_within`]), which is why
//! sequences of scalars are stored packed.
//!
//! ```text
//! ir::Program, globals, key  ──run──▶  Outcome { value, work, depth }
//!                                  or  Failure { fault, trace }
//! ```
//!
//! # Semantics
//!
//! - **Evaluation is strict**, in the order of the bindings of a block. Of an `if` only the branch
//!   taken is evaluated.
//! - **An apply-to-each** evaluates its body for each element in turn. No iteration can observe
//!   another, with one exception, which `lockstep` defines: output happens in the order in which
//!   all iterations, run in lockstep, would produce it.
//! - **Faults.** The program fails with the first fault in this order of evaluation. Integer
//!   arithmetic wraps; division by zero, an index out of bounds and unequal lengths are faults. A fault
//!   comes with its trace: the operation and the calls it is under.
//! - **Precision.** Numbers have 32 or 64 bits. Values are kept as `i64` and `f64` and are rounded
//!   after each operation, so both precisions share the code.
//! - **Random numbers** are a function of the seed, a key and a bound (`ir::split_rng_keys` makes keys
//!   explicit), so the order of evaluation does not affect them.
//! - **Cost.** Work and depth are counted by the cost model of the language, as `cost` tabulates: the
//!   work of an apply-to-each is the sum over its iterations, the depth their maximum plus 1.
//!
//! # Invariants
//!
//! - A program is well-formed ([`verify`](crate::ir::verify())): operands have the types that
//!   operations require. `typed` states this once; a value of another type is a bug of the compiler.
//! - The host's stack is not used for the recursion of programs: `machine` keeps a stack of its own.
//! - A run can be interrupted, and stops at the limits of its [`Options`].
//!
//! | module | contents |
//! |---|---|
//! | `value` | values; packed sequences |
//! | `typed` | accessors for values whose type is known |
//! | `machine` | control: blocks, calls, conditionals, apply-to-each |
//! | `window` | the places of a function's variables on the stack of values |
//! | `structure` | sequence operations that move elements |
//! | `reduce`, `rank` | sequence operations that combine and compare elements |
//! | `in_use` | the size of the sequences that a run uses |
//! | `limits` | precision, limits, interruption, and the budget of a run |
//! | `cost` | the work and depth of each operation, and estimates of its time |
//! | `lockstep` | the order of output inside an apply-to-each |
//! | `free` | freeing what nobody wants after an interrupt |

mod cost;
pub(crate) mod free;
mod in_use;
mod limits;
mod lockstep;
mod machine;
mod rank;
mod reduce;
mod structure;
mod typed;
mod value;
mod window;

pub use value::{Sequence, SequenceBuilder, Value};

use crate::ir::{FunId, Program, Site, Ty, Var};
use crate::prim::HostOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime::DEFAULT_STACK_BYTES;
use nesl_runtime::scalar::Precision;
use std::sync::atomic::AtomicBool;

/// The operations outside the language: output, files, pictures, the clock, the seed.
pub trait Host {
    /// Writes to standard output. Called in the order in which the program prints.
    fn print(&mut self, text: &[u8]);
    /// Performs an operation of [`HostOp`] other than printing to standard output. `types` are the
    /// types of `args`; `result` is the type of the value that is returned.
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

/// The number of nested calls at which programs fail, unless something else is asked for.
pub const DEFAULT_DEPTH: usize = 2_000_000;
/// The number of elements that a sequence may have, unless something else is asked for.
pub const DEFAULT_LENGTH: usize = 1 << 28;

/// The precision and the limits of a run.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The number of bits of ints and floats.
    pub precision: Precision,
    /// The number of nested calls at which the program fails with [`FaultCode::TooDeep`].
    pub max_depth: usize,
    /// The size in bytes that the stack of nested calls may have; with more the program fails with
    /// [`FaultCode::TooDeep`].
    pub max_stack_bytes: usize,
    /// The size in bytes that all sequences may have together; with more the program fails with
    /// [`FaultCode::OutOfMemory`].
    pub max_bytes: u64,
    /// The number of elements of one sequence above which the program fails with
    /// [`FaultCode::OutOfMemory`].
    pub max_length: usize,
    /// A flag that another thread sets to interrupt the run.
    pub interrupt: Option<&'a AtomicBool>,
    /// Charges scans and reductions of n elements a depth of log₂ n instead of 1.
    pub log_scan: bool,
}

impl Default for Options<'_> {
    /// Returns the options of 64 bits, with no limit on the memory of sequences.
    fn default() -> Self {
        Options {
            precision: Precision::Bits64,
            max_depth: DEFAULT_DEPTH,
            max_stack_bytes: DEFAULT_STACK_BYTES,
            max_length: DEFAULT_LENGTH,
            max_bytes: u64::MAX,
            interrupt: None,
            log_scan: false,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The value of the program.
    pub value: Value,
    /// The number of operations.
    pub work: u64,
    /// The length of the longest chain of dependent operations.
    pub depth: u64,
}

/// The failure of a run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The reason of the failure.
    pub fault: Fault,
    /// The locations of the operation that failed and of the calls it was under, innermost first; at
    /// most 64. The flag is true for locations in the library.
    pub trace: Vec<(Site, bool)>,
}

/// An observer of a run. The iterations of an apply-to-each are observed one after the other.
pub trait Observer {
    /// Called when a function is called, with its arguments.
    fn enter(&mut self, host: &mut dyn Host, function: FunId, args: &[Value]);
    /// Called when a call returns, with its result.
    fn leave(&mut self, host: &mut dyn Host, function: FunId, result: &Value);
    /// Called when a function executes a [`Copy`](crate::ir::Op::Copy), with the variable it binds.
    fn copied(&mut self, host: &mut dyn Host, function: FunId, var: Var, value: &Value);
}

/// Runs a program, which must be well-formed ([`verify`](crate::ir::verify())). `globals` are the values
/// of `program.globals`; `key` is the argument of a `main` that draws random numbers.
///
/// # Panics
/// If the program is not well-formed, or the globals are not of its types.
pub fn run(
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Result<Outcome, Failure> {
    machine::Machine::new(program, globals, host, options, None, None).run(key)
}

/// Runs a program as [`run`] does and counts work and depth only from a binding of its main function
/// on: what stands before it prepares the inputs of what is measured.
pub fn run_counted_from(
    binding: usize,
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Result<Outcome, Failure> {
    let machine = machine::Machine::new(program, globals, host, options, None, None);
    machine.counting_from(binding).run(key)
}

/// Runs a program that needs no host as [`run`] does, for at most about `budget` nanoseconds, and
/// subtracts from `budget` what the run took. Returns `None` if the budget was exceeded, more than
/// `max_bytes` were allocated in all, or a limit of this interpreter was reached. Work and depth are not counted. The time is estimated from tables,
/// not measured, so the same program always gets equally far.
pub fn run_within(
    budget: &mut u64,
    max_bytes: u64,
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &mut dyn Host,
    options: &Options<'_>,
) -> Option<Result<Value, Failure>> {
    let within = limits::Budget::new(*budget, max_bytes);
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

/// Performs one operation of the host.
pub fn perform(
    host: &mut dyn Host,
    op: HostOp,
    args: &[Value],
    types: &[Ty],
    result: &Ty,
) -> Result<Value, Fault> {
    match op {
        HostOp::PrintText => {
            host.print(args[0].bytes());
            Ok(Value::Bool(true))
        }
        op => host.call(op, args, types, result),
    }
}

/// Runs a program as [`run`] does, to look for something: for at most about `budget` nanoseconds, which
/// are estimated as for [`run_within`], and reporting its calls and copies to an observer if there is one.
/// A run that exceeds its budget is interrupted.
pub fn search<'h>(
    budget: u64,
    program: &Program,
    globals: &[Value],
    key: i64,
    host: &'h mut dyn Host,
    options: &Options<'_>,
    observer: Option<&'h mut dyn Observer>,
) -> Result<Outcome, Failure> {
    let within = limits::Budget::new(budget, u64::MAX);
    machine::Machine::new(program, globals, host, options, observer, Some(&within)).run(key)
}

/// Runs a program as [`run`] does and reports its calls and copies to an observer.
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
