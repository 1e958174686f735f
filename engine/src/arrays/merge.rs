//! The values of both sides of a conditional, interleaved.

use super::concat::{Shifted, one_pool};
use super::copy::scatter;
use super::memory::{array, number};
use super::sequence::{Field, Rows, fields, row_columns};
use super::{FlatValue, Memory, Stepped};
use nesl_core::ir::Ty;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// The value of a side of a conditional at the elements that took it.
pub(crate) struct Side {
    /// The number of these elements.
    pub(crate) count: usize,
    /// For each of them, its index in the index space of the conditional.
    pub(crate) indices: Arg,
    pub(crate) value: Rc<FlatValue>,
}

/// Returns the value of a conditional of type `ty` at all `count` elements.
pub(crate) fn merge_sides(
    memory: &Memory<'_>,
    sides: [&Side; 2],
    ty: &Ty,
    count: usize,
) -> Stepped<FlatValue> {
    debug_assert!(sides[0].count + sides[1].count == count);
    let mut rest = sides.map(|side| &side.value.parts[..]);
    let mut out = Vec::new();
    for field in fields(ty) {
        match field {
            Field::Scalar => {
                out.push(interleave(memory, rest.map(|rest| (rest[0].clone(), 0)), sides, count)?);
                rest = rest.map(|rest| &rest[1..]);
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let rows = [0, 1]
                    .map(|side| Rows { count: sides[side].count, columns: &rest[side][..width] });
                let pool = one_pool(memory, &rows, inner)?;
                let starts = [pool.starts[0].clone(), pool.starts[1].clone()];
                out.push(interleave(memory, starts, sides, count)?);
                let lengths = rest.map(|rest| (rest[1].clone(), 0));
                out.push(interleave(memory, lengths, sides, count)?);
                out.push(number(pool.extent));
                out.extend(pool.columns);
                rest = rest.map(|rest| &rest[width..]);
            }
        }
    }
    Ok(FlatValue::new(out))
}

/// Returns a column with the elements of two, each at the indices of its side.
fn interleave(
    memory: &Memory<'_>,
    columns: [Shifted; 2],
    sides: [&Side; 2],
    count: usize,
) -> Stepped<Arg> {
    let out = memory.alloc_column(array(&columns[0].0).ty(), count)?;
    for ((column, add), side) in columns.into_iter().zip(sides) {
        scatter(memory, Some(side.indices.clone()), column, &out, add, side.count)?;
    }
    Ok(out)
}
