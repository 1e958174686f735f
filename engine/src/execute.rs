//! Running a program on a runtime.
//!
//! The program is simplified, written as the code of one instance and launched at one point; what
//! only a host can do (printing, files, clocks) is left to the direct interpreter, which is also
//! what every runtime is compared with.

use nesl_core::interp::{Failure as ProgramFailure, Value};
use nesl_core::ir::{self, Site};
use nesl_core::lower::{self, Given, Lowered, Part};
use nesl_core::simplify::simplify;
use nesl_runtime::fault::Fault;
use nesl_runtime::kir::{self, Literal, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Runtime};
use nesl_runtime::scalar::Precision;

/// Runs programs on a runtime.
pub(crate) struct Executor {
    runtime: Box<dyn Runtime>,
}

impl Executor {
    pub(crate) fn new(runtime: Box<dyn Runtime>) -> Executor {
        Executor { runtime }
    }

    /// Runs a program whose `main` takes `key` if it draws random numbers; `None` if only a host
    /// can.
    pub(crate) fn run(
        &self,
        program: &ir::Program,
        globals: &[Value],
        key: i64,
        precision: Precision,
        seed: u64,
    ) -> Option<Result<Value, ProgramFailure>> {
        let program = simplify(program);
        debug_assert_eq!(ir::verify(&program), Vec::<String>::new(), "after simplification");
        let lowered = lower::thread(&program, precision, seed)?;
        #[cfg(debug_assertions)]
        if let Err(wrong) = kir::verify(&lowered.module) {
            panic!("after lowering: {wrong:#?}\n{}", kir::print(&lowered.module));
        }
        let run = self.launch(&program, &lowered, globals, key, precision);
        Some(run.map_err(|failure| blame(&lowered, failure)))
    }

    fn launch(
        &self,
        program: &ir::Program,
        lowered: &Lowered,
        globals: &[Value],
        key: i64,
        precision: Precision,
    ) -> Result<Value, Failure> {
        let runtime = &*self.runtime;
        let main = &program.functions[program.main.0 as usize];
        let mut args = vec![Arg::Scalar(Literal::I64(1))];
        if !main.params.is_empty() {
            args.push(Arg::Scalar(match precision {
                Precision::Bits64 => Literal::I64(key),
                Precision::Bits32 => Literal::I32(key as i32),
            }));
        }
        for id in &lowered.globals {
            let id = id.0 as usize;
            for part in lower::parts_of(&globals[id], &program.globals[id].ty, precision) {
                args.push(match part {
                    Part::Scalar(literal) => Arg::Scalar(literal),
                    Part::Array(ty, bytes) => {
                        let buffer = runtime.alloc(ty, bytes.len() / ty.size())?;
                        runtime.write(&buffer, 0, &bytes)?;
                        Arg::Array(buffer, 0)
                    }
                });
            }
        }
        let kernel = &lowered.module.kernels[0];
        let mut scalars: Vec<Buffer> = Vec::new();
        for param in &kernel.params[args.len()..] {
            let ValueTy::Array(ty) = kernel.types[param.0 as usize] else {
                unreachable!("results go to arrays")
            };
            let buffer = runtime.alloc(ty, 1)?;
            scalars.push(buffer.clone());
            args.push(Arg::Array(buffer, 0));
        }
        let module = runtime.load(&lowered.module)?;
        let launch = Launch { module: &module, kernel: 0, args: &args, tag: 0 };
        let outputs = runtime.launch(&launch)?;
        let given = Given {
            scalars: read_all(runtime, &scalars)?,
            outputs: read_all(runtime, &outputs)?,
        };
        Ok(lower::value_of(&main.result, given, precision))
    }
}

fn read_all(runtime: &dyn Runtime, buffers: &[Buffer]) -> Result<Vec<Vec<u8>>, Failure> {
    let read = |buffer: &Buffer| {
        let mut bytes = vec![0; buffer.len() * buffer.ty().size()];
        runtime.read(buffer, 0, &mut bytes)?;
        Ok(bytes)
    };
    buffers.iter().map(read).collect()
}

/// What went wrong, where.
fn blame(lowered: &Lowered, failure: Failure) -> ProgramFailure {
    let (site, detail, text) = match failure {
        Failure::Machine(fault) => return ProgramFailure { fault, trace: Vec::new() },
        Failure::Program { site, detail, text, .. } => (site, detail, text),
    };
    let cause = &lowered.causes[site.0 as usize];
    let fault: Fault = cause.fault(&detail, text.as_deref());
    let mut trace: Vec<(Site, bool)> = vec![(cause.site, cause.library)];
    if cause.library
        && let Some(origin) = detail.first()
        && let Some(origin) = lowered.causes.get(*origin as usize)
    {
        trace.push((origin.site, false));
    }
    ProgramFailure { fault, trace }
}

