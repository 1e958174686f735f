//! kir → PTX: the text that the driver compiles.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | the passes of a kernel, and what they leave for each other |
//! | `entry` | a pass: how the threads of a grid go over the index space |
//! | `tiles`, `scan` | the same in order: prefixes over the tiles of the space |
//! | `finish` | the end of a pass: the last block combines what the others left |
//! | `body` | the code of one work item: blocks, control flow, checks |
//! | `scalar` | the table from scalar operations to instructions |
//! | `memory`, `address` | loads and stores, and the memory that each array lies in |
//! | `collective` | shuffles, reductions over a block, atomic updates |
//! | `failure` | the record of a failure |
//! | `assembly` | registers, labels, text |
//!
//! The text is for `.version 7.0` and `.target sm_75`: every driver since 2020 accepts it, for
//! every device since Turing.

mod address;
mod assembly;
mod body;
mod collective;
mod entry;
pub mod failure;
mod finish;
mod memory;
mod plan;
mod scalar;
mod scan;
mod tiles;

pub use entry::{BLOCK_THREADS, HIDDEN_PARAMS};
pub use plan::{Area, Pass, Plan, TILE_BYTES};
pub use tiles::TILE_ITEMS;

use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{Module, Op, walk};
use nesl_runtime::runtime::Reason;

/// The head of every module.
const HEADER: &str = ".version 7.0\n.target sm_75\n.address_size 64\n\n";

/// The code of a module: its text, and the passes of each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The PTX, as the driver takes it.
    pub text: String,
    /// The plan of each kernel; the entry of a pass is named by [`entry_name`].
    pub plans: Vec<Plan>,
}

/// Emits a well-formed module. Fails if a kernel contains something that a device cannot execute.
pub fn emit(module: &Module) -> Result<Code, Reason> {
    let (module, facts) = inline(module, Limits::ALL);
    let mut text = HEADER.to_string();
    let mut plans = Vec::with_capacity(module.kernels.len());
    for (number, kernel) in module.kernels.iter().enumerate() {
        for body in walk::stage_bodies(kernel) {
            let mut callee = None;
            walk::each_inst(body, &mut |inst| {
                if let Op::Call(function, _) = inst.op {
                    callee = Some(function);
                }
            });
            if let Some(callee) = callee {
                let recursive = facts[callee.0 as usize].recursive;
                return Err(if recursive { Reason::Recursion } else { Reason::CodeSize });
            }
        }
        let plan = Plan::of(kernel);
        for (at, pass) in plan.passes.iter().enumerate() {
            let entry = entry::entry(kernel, &plan, *pass, &entry_name(number, at))?;
            text.push_str(&format!("// kernel {:?}, pass {}\n{entry}\n", kernel.name, at + 1));
        }
        plans.push(plan);
    }
    Ok(Code { text, plans })
}

/// The name of the entry of a pass of a kernel, by their numbers: names of kir may have any
/// character.
pub fn entry_name(kernel: usize, pass: usize) -> String {
    format!("kernel{kernel}_pass{pass}")
}
