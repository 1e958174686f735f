//! kir → PTX: the text that the driver compiles.
//!
//! | file | contents |
//! |---|---|
//! | `entry` | how the threads of a grid go over the index space of a kernel |
//! | `body` | the code of one work item: blocks, control flow, checks |
//! | `scalar` | the table from scalar operations to instructions |
//! | `memory` | loads and stores of elements |
//! | `address` | the memory that each array lies in |
//! | `collective` | reductions over warps, blocks and the grid |
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
mod memory;
mod scalar;

pub use entry::{BLOCK_THREADS, Entry, HIDDEN_PARAMS};

use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{Module, Op, walk};
use nesl_runtime::runtime::Reason;

/// The head of every module.
const HEADER: &str = ".version 7.0\n.target sm_75\n.address_size 64\n\n";

/// The code of a module: its text, and the entry of each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The PTX, as the driver takes it.
    pub text: String,
    /// The entries, by the number of the kernel.
    pub entries: Vec<Entry>,
}

/// Emits a well-formed module. Fails if a kernel contains something that a device cannot execute.
pub fn emit(module: &Module) -> Result<Code, Reason> {
    let (module, facts) = inline(module, Limits::ALL);
    let mut text = HEADER.to_string();
    let mut entries = Vec::with_capacity(module.kernels.len());
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
        let entry = entry::entry(kernel, &entry_name(number))?;
        text.push_str(&format!("// kernel {:?}\n{}\n", kernel.name, entry.text));
        entries.push(entry);
    }
    Ok(Code { text, entries })
}

/// The name of the entry of a kernel, by its number: names of kir may have any character.
pub fn entry_name(kernel: usize) -> String {
    format!("kernel_{kernel}")
}
