//! A whole program run by one thread: the fallback for what cannot be flattened.

use crate::kernels::locate_failure;
use crate::resident::{self, ResidentValue};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::Ty;
use nesl_core::lower::{self, Lowered};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Runtime};
use nesl_runtime::scalar::Precision;

/// Runs a program lowered as sequential code; `args` are the parts of its arguments, and `result`
/// is the type of its value.
pub(crate) fn run_sequential(
    runtime: &dyn Runtime,
    lowered: &Lowered,
    args: Vec<Arg>,
    result: &Ty,
    precision: Precision,
) -> Result<ResidentValue, ProgramFailure> {
    launch(runtime, lowered, args, result, precision).map_err(|failure| match failure {
        Failure::Machine(fault) => ProgramFailure { fault, trace: Vec::new() },
        Failure::Program { site, detail, text, .. } => {
            locate_failure(&lowered.fault_sites, site.0, &detail, text.as_deref())
        }
        Failure::Unsupported(reason) => bug!("no version of a program avoids {reason}"),
    })
}

fn launch(
    runtime: &dyn Runtime,
    lowered: &Lowered,
    program_args: Vec<Arg>,
    result: &Ty,
    precision: Precision,
) -> Result<ResidentValue, Failure> {
    let mut args = vec![Arg::Scalar(Literal::I64(1))];
    args.extend(program_args);
    let kernel = &lowered.module.kernels[0];
    let mut scalars: Vec<Buffer> = Vec::new();
    for param in &kernel.params[args.len()..] {
        let ValueTy::Array(ty) = kernel.types[param.0 as usize] else {
            bug!("a scalar result is stored in an array")
        };
        let buffer = runtime.alloc(ty, 1)?;
        scalars.push(buffer.clone());
        args.push(Arg::Array(buffer, 0));
    }
    let module = runtime.load(&lowered.module)?;
    let outputs = runtime.launch(&Launch {
        module: &module,
        kernel: 0,
        args: &args,
        tag: 0,
        work_items: Some(1),
    })?;
    runtime.sync()?;
    let (mut scalars, mut outputs) = (scalars.into_iter(), outputs.into_iter());
    let mut parts = Vec::new();
    for part in lower::parts(result, precision) {
        parts.push(match part {
            ValueTy::Array(_) => {
                Arg::Array(outputs.next().or_bug("each array of a result is an output"), 0)
            }
            ValueTy::Scalar(_) | ValueTy::Mark => {
                let buffer = scalars.next().or_bug("each scalar of a result has an array");
                Arg::Scalar(resident::read_scalar(&buffer, runtime)?)
            }
        });
    }
    Ok(ResidentValue::resident(parts, result.clone(), precision))
}
