//! The values of both sides of a conditional, interleaved.

use super::arguments::{array, number};
use super::concat::{Shifted, one_pool};
use super::copy::{ColumnCopy, put};
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
    let mut copies = [Vec::new(), Vec::new()];
    let mut interleave = |columns: [Shifted; 2]| -> Stepped<Arg> {
        let out = memory.alloc_column(array(&columns[0].0).ty(), count)?;
        for (copies, (from, add)) in copies.iter_mut().zip(columns) {
            copies.push(ColumnCopy { from, to: out.clone(), add });
        }
        Ok(out)
    };
    for field in fields(ty) {
        match field {
            Field::Scalar => {
                out.push(interleave(rest.map(|rest| (rest[0].clone(), 0)))?);
                rest = rest.map(|rest| &rest[1..]);
            }
            Field::Sequence(inner) => {
                let width = row_columns(memory, inner);
                let rows = [0, 1]
                    .map(|side| Rows { count: sides[side].count, columns: &rest[side][..width] });
                let pool = one_pool(memory, &rows, inner)?;
                let starts = [pool.starts[0].clone(), pool.starts[1].clone()];
                out.push(interleave(starts)?);
                let lengths = rest.map(|rest| (rest[1].clone(), 0));
                out.push(interleave(lengths)?);
                out.push(number(pool.extent));
                out.extend(pool.columns);
                rest = rest.map(|rest| &rest[width..]);
            }
        }
    }
    for (side, copies) in sides.into_iter().zip(&copies) {
        if !copies.is_empty() {
            put(memory, &side.indices, copies, side.count, false)?;
        }
    }
    Ok(FlatValue::new(out))
}
