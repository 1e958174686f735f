//! `emit`: parts of any length, one after the other, as a scan and stores.
//!
//! The scan of the lengths gives each work item the place of its part, and its total the length of
//! the outputs: the launcher reads it between the two passes and allocates them. The code of the
//! work items is executed in both passes; stores and other sinks take place in the second one only.

use super::{Count, Rewriting, Size};
use nesl_runtime::kir::{Binary, Op, Output, Sink, Ty, Value};

/// Rewrites an `emit`. Returns the sink that replaces it.
pub fn rewrite(
    kernel: &mut Rewriting,
    columns: &[(Value, Output)],
    length: Value,
    lengths: Value,
) -> Sink {
    let (scan, place, total) = kernel.counting(length);
    let mut copies = Vec::with_capacity(columns.len());
    for (column, output) in columns {
        let ty = kernel.element(*column);
        let temporary = kernel.temporary(ty, Size::Count(Count::Total(total)));
        kernel.outputs[output.0 as usize] = temporary;
        copies.push((*column, ty, kernel.param(temporary)));
    }
    let index = kernel.index();
    let insts = std::mem::take(&mut kernel.next);
    let mut code = kernel.code(insts);
    code.effect(Op::Store { array: lengths, index, value: length });
    code.repeat(length, |code, at| {
        let to = code.scalar(Ty::I64, Op::Binary(Binary::Add, place, at));
        for (column, ty, array) in copies {
            let value = code.scalar(ty, Op::Load { array: column, index: at });
            code.effect(Op::Store { array, index: to, value });
        }
    });
    kernel.next = code.insts;
    scan
}
