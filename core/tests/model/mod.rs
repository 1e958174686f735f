//! Running programs and generating random ones, for the tests of the core language and its
//! interpreter.
#![allow(dead_code, reason = "each test uses a part")]

pub mod generate;
pub mod reference;

use nesl_core::interp::{Failure, Host, Options, Outcome, Value, run};
use nesl_core::ir::{FunctionBuilder, Global, Op, Program, Site, Ty, parse, verify};
use nesl_core::prim::{HostOp, SeqOp};
use nesl_runtime::fault::Fault;

/// A host that records its output. The clock advances by `tick` seconds whenever it is read.
#[derive(Default)]
pub struct Recorder {
    pub printed: String,
    pub seed: u64,
    pub now: f64,
    pub tick: f64,
    /// The number of the last stream that can be written to.
    pub streams: i64,
}

impl Host for Recorder {
    fn print(&mut self, text: &[u8]) {
        self.printed.push_str(&String::from_utf8_lossy(text));
    }

    fn call(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
        result: &Ty,
    ) -> Result<Value, Fault> {
        for (arg, ty) in args.iter().zip(types) {
            assert!(arg.has_type(ty), "{arg:?} is not {ty}");
        }
        assert_eq!(op, HostOp::WriteText);
        assert_eq!(*result, Ty::pair(Ty::Bool, Ty::text()));
        let stream = args[1].as_int().unwrap();
        if stream > self.streams {
            return Err(Fault::with(
                nesl_runtime::fault::FaultCode::Host,
                format!("no stream {stream}"),
            ));
        }
        let text = args[0].as_text().unwrap();
        self.printed.push_str(&format!("<{stream}:{}>", String::from_utf8_lossy(text)));
        Ok(Value::pair(Value::Bool(true), Value::text("")))
    }

    fn clock(&mut self) -> f64 {
        self.now += self.tick;
        self.now
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

/// Options with limits that tests do not reach by accident.
pub fn options() -> Options<'static> {
    Options { max_length: 50_000_000, ..Options::default() }
}

/// Parses a program, which must be well-formed.
pub fn well_formed(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let verified = verify(&program);
    assert!(verified.is_ok(), "{verified:#?}\n{text}");
    program
}

/// Returns the text of a `main` with the bindings `lets` and the given result.
pub fn main(ty: &str, lets: &str, result: &str) -> String {
    format!("main \"main\"\nfn \"main\"() -> {ty} {{\n{lets}\n{result}\n}}\n")
}

/// Runs a program; returns its outcome and its output.
pub fn run_with(program: &Program, options: &Options<'_>) -> (Result<Outcome, Failure>, String) {
    let mut host = Recorder { streams: 9, ..Recorder::default() };
    let outcome = run(program, &[], 0, &mut host, options);
    (outcome, host.printed)
}

/// Runs the program of a text; returns its outcome and its output.
pub fn run_text(text: &str) -> (Result<Outcome, Failure>, String) {
    run_with(&well_formed(text), &options())
}

/// The value of the program of a text.
pub fn value(text: &str) -> Value {
    run_text(text).0.unwrap_or_else(|f| panic!("{f:?}")).value
}

/// Applies one sequence operation.
pub fn apply(op: SeqOp, args: &[(Ty, Value)], options: &Options<'_>) -> Result<Outcome, Fault> {
    let mut builder = FunctionBuilder::new();
    let mut globals = Vec::new();
    let mut atoms = Vec::new();
    let mut values = Vec::new();
    for (i, (ty, value)) in args.iter().enumerate() {
        assert!(value.has_type(ty), "{value:?} is not {ty}");
        let id = nesl_core::ir::GlobalId(i as u32);
        atoms.push(builder.bind(ty.clone(), Op::Global(id), Site::NONE));
        globals.push(Global {
            item: nesl_core::base::ItemId(0),
            name: format!("x{i}").into(),
            ty: ty.clone(),
        });
        values.push(value.clone());
    }
    let result = builder.seq(op, atoms, Site::NONE);
    let main = builder.finish("main", Site::NONE, result);
    let program = Program { functions: vec![main], globals, main: nesl_core::ir::FunId(0) };
    assert_eq!(verify(&program), Ok(()));
    let ty = program.functions[0].result.clone();
    let outcome = run(&program, &values, 0, &mut Recorder::default(), options);
    let outcome = outcome.map_err(|failure| failure.fault)?;
    assert!(outcome.value.has_type(&ty), "{:?} is not {ty}", outcome.value);
    Ok(outcome)
}

/// Compares values such that NaN equals NaN and the two zeros differ.
pub fn same(a: &Value, b: &Value) -> bool {
    format!("{a:?}") == format!("{b:?}")
}
