//! Packs whose chunks pack apart ([`phases`](crate::codegen::phases)): what each has kept is moved behind what those
//! before it have kept.
//!
//! ```text
//! elements    0 1 2 3 | 4 5 6 7 | 8 9 …
//! packed      0 3 . . | 4 . . . | 8 9 …
//! moved       0 3 4 8 9 …
//! ```

use super::combine_partials::sinks;
use super::{Run, param};
use crate::abi::chunk::{CARRY, LIMIT, TOTAL};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Sink;

/// A column of a pack: the number of the parameter, and the size of an element in bytes.
type Column = (usize, usize);

/// Sets the places to which each chunk packs.
pub fn set_apart(run: &mut Run<'_>) {
    for_each_pack(run, |run, number, _| {
        for at in 0..run.chunks.len() {
            let chunk = run.chunks[at];
            *run.slot(at, number, CARRY) = chunk.first;
            *run.slot(at, number, LIMIT) = chunk.last;
        }
    });
}

/// Moves together what the chunks have packed.
pub fn join(run: &mut Run<'_>) {
    for_each_pack(run, |run, number, columns| {
        let mut end = 0;
        for at in 0..run.chunks.len() {
            let first = run.chunks[at].first;
            let kept = *run.slot(at, number, TOTAL) - first;
            for (param, size) in columns {
                let array = run.params[*param] as *mut u8;
                let (from, to) = (first as usize * size, end as usize * size);
                if from != to {
                    // SAFETY: kir's invariants make the array as long as the space; the chunk has packed so many
                    // elements from its first on, and no pass is running.
                    unsafe { std::ptr::copy(array.add(from), array.add(to), kept as usize * size) };
                }
            }
            end += kept;
            *run.slot(at, number, TOTAL) = end;
        }
    });
}

/// Visits the packs whose chunks pack apart in a launch, each with its number and its columns.
fn for_each_pack(run: &mut Run<'_>, mut visit: impl FnMut(&mut Run<'_>, usize, &[Column])) {
    if !run.code.packs_apart || run.chunks.len() == 1 {
        return;
    }
    for (_, number, sink) in sinks(run) {
        let Sink::Pack { columns, .. } = sink else { continue };
        let column = |array| {
            let param = param(run.code, array).or_bug("what a pack writes is a parameter");
            (param, run.element(array).size())
        };
        let columns: Vec<Column> = columns.iter().map(|(_, array)| column(*array)).collect();
        visit(run, number, &columns);
    }
}
