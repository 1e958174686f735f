//! The tests that every runtime must pass.
//!
//! ```no_run
//! use nesl_runtime::kir::reference::Reference;
//!
//! // In a test of the runtime:
//! nesl_runtime::testkit::suite(&|options| Box::new(Reference::new(options)));
//! ```
//!
//! A [`Case`] is a kernel as text, arguments, and what must come out, worked out by hand or by a
//! plain model next to it. Float reductions have operands for which every grouping is exact.
//! [`generate`] makes random modules for comparing runtimes with each other ([`differ`]).

use crate::fault::{Fault, FaultCode};
use crate::kir::{Kernel, Literal, Module, Scope, Sink, Site, Ty, parse};
use crate::runtime::{Arg, Buffer, Failure, Launch, Options, Runtime};

mod control;
mod data;
mod failures;
pub mod generate;
mod host;
mod memory;
mod scalars;
mod services;
mod sinks;
mod spaces;

pub use data::Data;

/// Makes a runtime with these options.
pub type Make<'a> = &'a dyn Fn(Options) -> Box<dyn Runtime>;

/// An argument of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A scalar argument.
    Scalar(Literal),
    /// An array argument.
    Array(Data),
    /// An array from an element on.
    Part(Data, usize),
    /// An array that is not written.
    Room(Ty, usize),
}

/// The expected outcome of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// Success, with these arrays.
    Arrays {
        /// The number of a parameter and what its array begins with.
        params: Vec<(usize, Data)>,
        /// All outputs, in order.
        outputs: Vec<Data>,
    },
    /// A failure of the program.
    Failure {
        /// The failure site of the check.
        site: u32,
        /// The first work item that fails.
        work_item: u64,
        /// The details of the failure.
        detail: Vec<i64>,
        /// The text of the failure.
        text: Option<&'static str>,
    },
    /// A fault of the machine.
    Fault(FaultCode),
}

/// A launch and what must come out.
#[derive(Clone, Debug)]
pub struct Case {
    /// Says what is tested.
    pub name: String,
    /// A module; its first kernel is launched.
    pub text: String,
    /// The arguments of the launch.
    pub args: Vec<Input>,
    /// The expected outcome.
    pub expect: Expect,
}

impl Case {
    /// A case without arguments that expects nothing.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Case {
        let expect = Expect::Arrays { params: Vec::new(), outputs: Vec::new() };
        Case { name: name.into(), text: text.into(), args: Vec::new(), expect }
    }

    /// One more argument: a length or position.
    pub fn i64(self, x: i64) -> Case {
        self.arg(Input::Scalar(Literal::I64(x)))
    }

    /// One more argument: an array.
    pub fn array(self, data: impl Into<Data>) -> Case {
        self.arg(Input::Array(data.into()))
    }

    /// One more argument: an array that is not written.
    pub fn room(self, ty: Ty, length: usize) -> Case {
        self.arg(Input::Room(ty, length))
    }

    /// One more argument.
    pub fn arg(mut self, input: Input) -> Case {
        self.args.push(input);
        self
    }

    /// One more argument, an array that is not written, and what it must become.
    pub fn out(self, data: impl Into<Data>) -> Case {
        let data = data.into();
        let place = self.args.len();
        self.room(data.ty(), data.len()).becomes(place, data)
    }

    /// Expects the array of a parameter to begin with these elements in the end.
    pub fn becomes(mut self, param: usize, data: impl Into<Data>) -> Case {
        if let Expect::Arrays { params, .. } = &mut self.expect {
            params.push((param, data.into()));
        }
        self
    }

    /// The next output.
    pub fn output(mut self, data: impl Into<Data>) -> Case {
        if let Expect::Arrays { outputs, .. } = &mut self.expect {
            outputs.push(data.into());
        }
        self
    }

    /// It must fail.
    pub fn fails(mut self, site: u32, work_item: u64, detail: &[i64]) -> Case {
        self.expect = Expect::Failure { site, work_item, detail: detail.to_vec(), text: None };
        self
    }

    /// The module of the case.
    ///
    /// # Panics
    /// If the text is not kir.
    pub fn module(&self) -> Module {
        parse(&self.text).unwrap_or_else(|error| panic!("{}: {error}\n{}", self.name, self.text))
    }

    /// Returns true if only runtimes that allow recursion and allocation ([`Caps`](crate::runtime::Caps))
    /// can execute it.
    pub fn needs_recursion(&self) -> bool {
        self.text.contains("= alloc") || self.name.contains("recursion")
    }
}

/// All cases of the kit.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    scalars::cases(&mut cases);
    control::cases(&mut cases);
    memory::cases(&mut cases);
    services::cases(&mut cases);
    sinks::cases(&mut cases);
    failures::cases(&mut cases);
    cases
}

/// Checks everything on a runtime.
///
/// # Panics
/// If something is not as it must be; says all that is not.
pub fn suite(make: Make<'_>) {
    let runtime = make(Options::default());
    let mut wrong = Vec::new();
    for case in cases() {
        if case.needs_recursion() && !runtime.caps().recursion {
            continue;
        }
        if let Err(why) = check(&case, &*runtime) {
            wrong.push(format!("{}: {why}\n{}", case.name, case.text));
        }
    }
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
    drop(runtime);
    host::check(make);
}

/// Checks what the host sees of a runtime: buffers, the order of launches, limits, interrupts.
///
/// # Panics
/// If something is not as it must be.
pub fn check_host(make: Make<'_>) {
    host::check(make);
}

/// Checks one case.
pub fn check(case: &Case, runtime: &dyn Runtime) -> Result<(), String> {
    let outcome = run(&case.module(), 0, &case.args, runtime);
    match (&case.expect, outcome) {
        (Expect::Arrays { params, outputs }, Ok(outcome)) => {
            for (param, expected) in params {
                let got = read(&outcome.args[*param], expected.len(), runtime)?;
                expected.compare(&got).map_err(|why| format!("parameter {param}: {why}"))?;
            }
            if outputs.len() != outcome.outputs.len() {
                return Err(format!("{} outputs", outcome.outputs.len()));
            }
            for (number, (expected, output)) in outputs.iter().zip(&outcome.outputs).enumerate() {
                let got = read(&Some(output.clone()), output.len(), runtime)?;
                expected.compare(&got).map_err(|why| format!("output {number}: {why}"))?;
            }
            Ok(())
        }
        (Expect::Failure { site, work_item, detail, text }, Err(failure)) => {
            let expected = Failure::Program {
                tag: TAG,
                site: Site(*site),
                work_item: *work_item,
                detail: detail.clone(),
                text: text.map(|text| text.as_bytes().to_vec()),
            };
            if failure == expected { Ok(()) } else { Err(format!("{failure:?}, not {expected:?}")) }
        }
        (Expect::Fault(code), Err(Failure::Machine(Fault { code: got, .. }))) if *code == got => {
            Ok(())
        }
        (expected, Ok(_)) => Err(format!("no failure, but expected {expected:?}")),
        (_, Err(failure)) => Err(format!("failed: {failure:?}")),
    }
}

/// Returns an error if two runtimes differ on a kernel of a module that is given these arguments: in an
/// array written from beginning to end, in the elements that a filter keeps, in an output or in the failure.
/// `written` are the numbers of these arrays.
pub fn differ(
    module: &Module,
    kernel: usize,
    args: &[Input],
    written: &[usize],
    one: &dyn Runtime,
    other: &dyn Runtime,
) -> Result<(), String> {
    let all = |runtime: &dyn Runtime| -> Result<Result<Vec<Data>, Failure>, String> {
        let outcome = match run(module, kernel, args, runtime) {
            Ok(outcome) => outcome,
            Err(failure) => return Ok(Err(failure)),
        };
        let length = |array: &Option<Buffer>| array.as_ref().map_or(0, Buffer::len);
        let mut arrays = Vec::new();
        for param in written {
            let array = &outcome.args[*param];
            let kept = kept(&module.kernels[kernel], *param, &outcome, runtime)?;
            arrays.push(read(array, kept.unwrap_or_else(|| length(array)), runtime)?);
        }
        for output in &outcome.outputs {
            arrays.push(read(&Some(output.clone()), output.len(), runtime)?);
        }
        Ok(Ok(arrays))
    };
    match (all(one)?, all(other)?) {
        (Ok(ours), Ok(theirs)) => ours.iter().zip(&theirs).try_for_each(|(a, b)| a.compare(b)),
        (ours, theirs) if ours == theirs => Ok(()),
        (ours, theirs) => Err(format!("{ours:?} and {theirs:?}")),
    }
}

/// The number of elements that a filter has written to an array, if that is what a parameter is.
fn kept(
    kernel: &Kernel,
    param: usize,
    outcome: &Outcome,
    runtime: &dyn Runtime,
) -> Result<Option<usize>, String> {
    let value = kernel.params[param];
    for sink in kernel.stages.iter().flat_map(|stage| &stage.sinks) {
        if let Sink::Pack { columns, count, scope, .. } = sink
            && columns.iter().any(|(_, array)| *array == value)
            && let Some(count) = kernel.params.iter().position(|param| param == count)
        {
            let counts = &outcome.args[count];
            let length = match scope {
                Scope::All => 1,
                Scope::Segment => counts.as_ref().map_or(0, Buffer::len),
            };
            let Data::I64(counts) = read(counts, length, runtime)? else { return Ok(None) };
            return Ok(Some(counts.iter().sum::<i64>() as usize));
        }
    }
    Ok(None)
}

/// The tag of every launch of a case.
const TAG: u64 = 42;

/// The arrays after a launch.
struct Outcome {
    args: Vec<Option<Buffer>>,
    outputs: Vec<Buffer>,
}

fn run(
    module: &Module,
    kernel: usize,
    args: &[Input],
    runtime: &dyn Runtime,
) -> Result<Outcome, Failure> {
    let module = runtime.load(module)?;
    let mut buffers = Vec::new();
    let mut given = Vec::new();
    for input in args {
        let (buffer, arg) = match input {
            Input::Scalar(literal) => (None, Arg::Scalar(*literal)),
            Input::Array(data) => {
                let buffer = upload(data, runtime)?;
                (Some(buffer.clone()), Arg::Array(buffer, 0))
            }
            Input::Part(data, start) => {
                let buffer = upload(data, runtime)?;
                (Some(buffer.clone()), Arg::Array(buffer, *start))
            }
            Input::Room(ty, length) => {
                let buffer = runtime.alloc(*ty, *length)?;
                (Some(buffer.clone()), Arg::Array(buffer, 0))
            }
        };
        buffers.push(buffer);
        given.push(arg);
    }
    let launch = Launch { module: &module, kernel, args: &given, tag: TAG, work_items: None };
    let outputs = runtime.launch(&launch)?;
    runtime.sync()?;
    Ok(Outcome { args: buffers, outputs })
}

fn upload(data: &Data, runtime: &dyn Runtime) -> Result<Buffer, Failure> {
    let buffer = runtime.alloc(data.ty(), data.len())?;
    runtime.write(&buffer, 0, &data.bytes())?;
    Ok(buffer)
}

fn read(buffer: &Option<Buffer>, length: usize, runtime: &dyn Runtime) -> Result<Data, String> {
    let buffer = buffer.as_ref().ok_or("a scalar")?;
    let mut bytes = vec![0; length * buffer.ty().size()];
    runtime.read(buffer, 0, &mut bytes).map_err(|failure| format!("read: {failure:?}"))?;
    Ok(Data::from_bytes(buffer.ty(), &bytes))
}

#[cfg(test)]
mod tests;
