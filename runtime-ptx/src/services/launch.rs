//! Calls of services: their temporary memory and their launches are enqueued on the stream.

use super::steps::{Argument, TooMany};
use crate::driver::memory::Block;
use crate::driver::module::CompiledService;
use crate::emit::frame::BLOCK_THREADS;
use crate::launch::Launcher;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Failure, Launch};

/// Enqueues a call of a service; `number` is that of the launch in the record of failures.
pub fn launch(
    launcher: &Launcher<'_>,
    compiled: &CompiledService,
    launch: &Launch<'_>,
    number: u64,
) -> Result<(), Failure> {
    let Launcher { stream, record, .. } = *launcher;
    let words: Vec<u64> = launch.args.iter().map(word).collect();
    let resident: Vec<u64> =
        compiled.entries.iter().map(|entry| launcher.resident_blocks(entry).into()).collect();
    let steps = compiled.service.steps(&words, &resident).map_err(too_many)?;
    let mut temporaries = Vec::with_capacity(steps.temporaries.len());
    for temporary in &steps.temporaries {
        let bytes = usize::try_from(temporary.bytes).unwrap_or(usize::MAX);
        let block = launcher.memory.alloc(bytes)?;
        if temporary.zeroed {
            stream.clear(block.address(), block.bytes())?;
        }
        temporaries.push(block);
    }
    for step in &steps.launches {
        let mut params = vec![record, number, stream.failed()];
        params.extend(step.args.iter().map(|arg| match *arg {
            Argument::Word(word) => word,
            Argument::Temporary(at) => temporaries[at].address(),
        }));
        let blocks = u32::try_from(step.blocks).or_bug("a device holds fewer than 2³² tiles");
        stream.launch(&compiled.entries[step.entry], blocks, BLOCK_THREADS, &mut params)?;
    }
    // The temporary memory is free for what is enqueued from here on.
    Ok(())
}

/// The address of the first element of an array, or the number that a length is; 0 if it is negative.
fn word(arg: &Arg) -> u64 {
    match arg {
        Arg::Array(buffer, at) => {
            let block: &Block = buffer.storage().or_bug("a buffer is one of this runtime");
            block.address() + (at * buffer.ty().size()) as u64
        }
        Arg::Scalar(Literal::I64(length)) => u64::try_from(*length).unwrap_or(0),
        Arg::Scalar(literal) => bug!("a length is an i64: the verifier sees that; not {literal:?}"),
    }
}

fn too_many(TooMany { elements, limit }: TooMany) -> Failure {
    let why = format!("{elements} elements are too many: a device ranks or groups {limit} at most");
    Failure::Machine(Fault::with(FaultCode::Device, why))
}
