//! Multi-versioned values that are products of matrices: the runtime multiplies the matrices by itself if
//! all that the compiler could not know turns out to hold.

use crate::arrays::{FlatValue, Matrix, length, multiply};
use crate::frame::{CallFrame, RunResult};
use crate::kernels::{Launcher, value_in};
use nesl_core::flat::{Condition, Count, Factor, MatrixProduct, SpaceId};
use nesl_core::ir::{Atom, Var};
use rustc_hash::FxHashMap;

/// Returns the rows of a product, one for each element of an index space; `None` if its conditions do not
/// hold, or if it is too small: then one of the versions is executed.
pub(super) fn multiplied<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    space: SpaceId,
    product: &MatrixProduct,
) -> RunResult<Option<FlatValue>> {
    let limits = launcher.memory.limits;
    if limits.min_product_multiplications == u64::MAX {
        return Ok(None);
    }
    let on_host = |at: SpaceId, frame: &CallFrame<'p>| frame.extent(at).single;
    let Some(outside) = frame.function.segments_of(space) else { return Ok(None) };
    let known = product.variables().all(|var| on_host(frame.home(var), frame));
    if !known || !on_host(outside, frame) {
        return Ok(None);
    }
    let mut counts = Counts { launcher, space, outside, matrices: FxHashMap::default() };
    let rows = frame.extent(space).count;
    let mut sizes = [rows, 0, 0];
    for (size, count) in sizes[1..].iter_mut().zip([product.columns, product.depth]) {
        let Some(known) = counts.of(frame, count)? else { return Ok(None) };
        *size = known;
    }
    let [rows, columns, depth] = sizes;
    let multiplications = sizes.iter().fold(1u64, |all, size| all.saturating_mul(*size as u64));
    if multiplications < limits.min_product_multiplications
        || (rows.min(columns) as u64) < limits.min_product_side
    {
        return Ok(None);
    }
    for condition in &product.conditions {
        if !counts.hold(frame, *condition)? {
            return Ok(None);
        }
    }
    let mut factors = Vec::new();
    for (Factor { matrix, turned }, own) in [(product.left, rows), (product.right, columns)] {
        let Some(matrix) = counts.matrix(frame, matrix)? else { return Ok(None) };
        let (taken, of_each) = if turned { (depth, own) } else { (own, depth) };
        if matrix.rows < taken || matrix.row_length < of_each {
            return Ok(None);
        }
        factors.push((matrix, turned));
    }
    launcher.count_work_items(rows as u64 * columns as u64);
    let [left, right] = [0, 1].map(|at| (&factors[at].0, factors[at].1));
    Ok(Some(multiply(&launcher.memory, left, right, sizes)?))
}

/// The counts of a product.
struct Counts<'l, 'p> {
    launcher: &'l Launcher<'p>,
    /// The index space of the rows.
    space: SpaceId,
    /// The index space around it.
    outside: SpaceId,
    /// The matrices that were looked at; `None` for those whose rows differ in length.
    matrices: FxHashMap<Var, Option<Matrix>>,
}

impl<'p> Counts<'_, 'p> {
    /// Returns a count; `None` if it is none, since rows differ in length, or not positive.
    fn of(&mut self, frame: &mut CallFrame<'p>, count: Count) -> RunResult<Option<usize>> {
        let count = match count {
            Count::Rows => Some(frame.extent(self.space).count),
            Count::Int(Atom::Int(int)) => usize::try_from(int).ok(),
            Count::Int(atom) => {
                let value = value_in(self.launcher, frame, atom, self.outside)?;
                usize::try_from(length(&value.parts[0]) as i64).ok()
            }
            Count::Length(sequence) => Some(length(&frame.value_at_home(sequence).parts[0])),
            Count::RowLength(matrix) => self.matrix(frame, matrix)?.map(|matrix| matrix.row_length),
        };
        Ok(count.filter(|count| *count > 0))
    }

    /// Returns true if a condition holds.
    fn hold(&mut self, frame: &mut CallFrame<'p>, condition: Condition) -> RunResult<bool> {
        let mut known = Vec::new();
        for count in condition.counts() {
            let Some(count) = self.of(frame, count)? else { return Ok(false) };
            known.push(count);
        }
        Ok(match (condition, &known[..]) {
            (Condition::Equal(..), [a, b]) => a == b,
            (Condition::AtMost(..), [a, b]) => a <= b,
            _ => true,
        })
    }

    /// Returns a matrix, if its rows are equally long.
    fn matrix(&mut self, frame: &CallFrame<'p>, var: Var) -> RunResult<Option<Matrix>> {
        if let Some(known) = self.matrices.get(&var) {
            return Ok(known.clone());
        }
        let matrix = Matrix::of_parts(&self.launcher.memory, &frame.value_at_home(var).parts)?;
        self.matrices.insert(var, matrix.clone());
        Ok(matrix)
    }
}
