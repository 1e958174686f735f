//! kir → PTX: the text that the driver compiles.
//!
//! | file | contents |
//! |---|---|
//! | `program` | the steps of a kernel: sinks that become several kernels |
//! | `plan` | the passes of a kernel, and what they leave for each other |
//! | `entry`, `frame` | a pass: the entry, its parameters, the size of its index space |
//! | `elements`, `vector` | the threads of a grid go over the index space |
//! | `tiles`, `scan` | the same in order: prefixes over the tiles of the space |
//! | `lanes` | equal segments: some lanes of a warp take each |
//! | `lookback` | what lies before a tile, from the other blocks |
//! | `finish` | the end of a pass: the last block combines what the others left |
//! | `body` | the code of one work item: blocks, control flow, checks |
//! | `scalar` | the table from scalar operations to instructions |
//! | `memory`, `address` | loads and stores, and the memory that each array lies in |
//! | `proved` | checks that always hold, which are removed |
//! | `bounds`, `checks` | bounds checks by one comparison, or by less |
//! | `ranges` | ints that are never below 0 |
//! | `traps` | the instructions that may end a work item |
//! | `text` | hashes and comparisons of texts |
//! | `scratch`, `arena` | arrays that work items allocate |
//! | `shape` | the sizes of blocks and tiles |
//! | `target` | the instructions that newer devices have besides |
//! | `collect` | histograms whose order matters: tables of parts, in shared memory |
//! | `redux` | reductions of ints over a warp by one instruction for 32 bits |
//! | `collective`, `rows` | shuffles, reductions over a block, atomic updates |
//! | `tables` | histograms of ints: a table of each block, in shared memory |
//! | `failure` | the record of a failure |
//! | `ticks` | how often loops look at the interrupt word |
//! | `assembly` | registers, labels, text |
//!
//! The text is for a [`Target`]: the devices that it is for decide which instructions it may use.

pub(crate) mod address;
mod arena;
pub(crate) mod assembly;
mod body;
mod bounds;
mod checks;
mod collect;
pub(crate) mod collective;
mod elements;
mod entry;
pub mod failure;
mod finish;
pub(crate) mod frame;
mod lanes;
mod lookback;
mod memory;
mod plan;
mod program;
mod proved;
mod ranges;
mod redux;
mod rows;
mod scalar;
mod scan;
mod scratch;
mod shape;
mod tables;
mod target;
pub(crate) mod text;
mod ticks;
mod tiles;
mod traps;
mod vector;

pub use entry::ENTRY;
pub use frame::{BLOCK_THREADS, HIDDEN_PARAMS};
pub use plan::{Area, PASS_BITS, Pass, Plan, Way, Work, status_bytes};
pub use program::{
    Collect, Count, Notes, Program, Size, Source, Step, StepCode, Table, TableSize, Temporary,
};
pub use scratch::Scratch;
pub use shape::TileShape;
pub use tables::{SLOT_BYTES, TABLES_BYTES};
pub use target::Target;

use crate::services::Service;
use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{Module, walk};
use nesl_runtime::runtime::Reason;
use proved::remove_proved_checks;

/// The code of a module: its text, and the steps of each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The PTX, as the driver takes it.
    pub text: String,
    /// The code of each kernel; its entries are named by [`entry_name`].
    pub kernels: Vec<KernelCode>,
}

/// The entries of a kernel, and what they are launched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelCode {
    /// An entry for each pass of the steps of a program.
    Steps(Program),
    /// The entries of a service of the device, which the kernel calls for all of its work.
    Service(Service),
}

/// Emits a well-formed module for every device since Turing. Fails if a kernel contains something
/// that a device cannot execute.
pub fn emit(module: &Module) -> Result<Code, Reason> {
    emit_for(module, Target::default())
}

/// Emits a well-formed module with the instructions of a target.
pub fn emit_for(module: &Module, target: Target) -> Result<Code, Reason> {
    let (mut module, facts) = inline(module, Limits::ALL_CALLEES);
    let mut text = target.header();
    let mut kernels = Vec::with_capacity(module.kernels.len());
    for (number, kernel) in module.kernels.iter_mut().enumerate() {
        for body in walk::stage_bodies(kernel) {
            let mut callee = None;
            walk::each_inst(body, &mut |inst| {
                callee = inst.op.callee().or(callee);
            });
            if let Some(callee) = callee {
                let recursive = facts[callee.0 as usize].recursive;
                return Err(if recursive { Reason::Recursion } else { Reason::CodeSize });
            }
        }
        if let Some(service) = Service::of(kernel) {
            for (at, entry) in service.emit(target, |at| entry_name(number, at)).iter().enumerate()
            {
                text.push_str(&format!("// kernel {:?}, entry {}\n{entry}\n", kernel.name, at + 1));
            }
            kernels.push(KernelCode::Service(service));
            continue;
        }
        remove_proved_checks(kernel);
        let program = Program::of(kernel);
        let mut at = 0;
        for Step { kernel, plan, code, .. } in &program.steps {
            for (pass, way) in &plan.entries {
                let name = entry_name(number, at);
                let entry = entry::entry((kernel, *code), plan, (*pass, *way), (&name, target))?;
                at += 1;
                let way = match way {
                    Way::Elements => "",
                    Way::Lanes => ", for short equal segments",
                };
                text.push_str(&format!("// kernel {:?}, pass {at}{way}\n{entry}\n", kernel.name));
            }
        }
        kernels.push(KernelCode::Steps(program));
    }
    Ok(Code { text, kernels })
}

/// The name of the entry of a pass of a kernel, by their numbers, of which the passes of all steps
/// have one each: names of kir may have any character.
pub fn entry_name(kernel: usize, pass: usize) -> String {
    format!("kernel{kernel}_pass{pass}")
}
