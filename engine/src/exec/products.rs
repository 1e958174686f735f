//! Multi-versioned values that are products or transposes of matrices: the runtime computes these by itself
//! if all that the compiler could not know turns out to hold.

use crate::arrays::{FlatValue, Matrix, length, multiply, transpose};
use crate::frame::{CallFrame, RunResult};
use crate::kernels::{Launcher, value_in};
use nesl_core::flat::{Condition, Count, Factor, MatrixOperation, MatrixRows, SpaceId};
use nesl_core::ir::{Atom, Var};
use rustc_hash::FxHashMap;

/// Returns the rows of a matrix, one for each element of an index space; `None` if its conditions do not
/// hold, or if it is too small: then one of the versions is executed.
pub(super) fn matrix_rows<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    space: SpaceId,
    matrix: &MatrixRows,
) -> RunResult<Option<FlatValue>> {
    let (limits, memory) = (launcher.memory.limits, &launcher.memory);
    let on_host = |at: SpaceId, frame: &CallFrame<'p>| frame.extent(at).single;
    let Some(outside) = frame.function.segments_of(space) else { return Ok(None) };
    let known = matrix.variables().all(|var| on_host(frame.home(var), frame));
    if !known || !on_host(outside, frame) {
        return Ok(None);
    }
    let mut counts = Counts { launcher, space, outside, matrices: FxHashMap::default() };
    let rows = frame.extent(space).count;
    let Some(columns) = counts.of(frame, matrix.columns)? else { return Ok(None) };
    let depth = match matrix.operation {
        MatrixOperation::Product { depth, .. } => counts.of(frame, depth)?,
        MatrixOperation::Transpose(_) => Some(1),
    };
    let Some(depth) = depth else { return Ok(None) };
    let operations = (rows as u64).saturating_mul(columns as u64).saturating_mul(depth as u64);
    if operations < limits.min_matrix_operations
        || (rows.min(columns) as u64) < limits.min_matrix_side
    {
        return Ok(None);
    }
    for condition in &matrix.conditions {
        if !counts.hold(frame, *condition)? {
            return Ok(None);
        }
    }
    let value = match matrix.operation {
        MatrixOperation::Product { left, right, .. } => {
            let left = counts.factor(frame, left, [rows, depth])?;
            let right = counts.factor(frame, right, [columns, depth])?;
            let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
            multiply(memory, (&left.0, left.1), (&right.0, right.1), [rows, columns, depth])?
        }
        MatrixOperation::Transpose(of) => {
            let matrix =
                counts.factor(frame, Factor { matrix: of, turned: true }, [rows, columns])?;
            let Some((matrix, _)) = matrix else { return Ok(None) };
            transpose(memory, &matrix, [rows, columns])?
        }
    };
    launcher.count_work_items(rows as u64 * columns as u64);
    Ok(Some(value))
}

/// The counts and the operands of a matrix.
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

    /// Returns an operand that is read at so many rows and places, or turned, unless it is too small or
    /// its rows are not equally long.
    fn factor(
        &mut self,
        frame: &CallFrame<'p>,
        Factor { matrix, turned }: Factor,
        [rows, places]: [usize; 2],
    ) -> RunResult<Option<(Matrix, bool)>> {
        let (rows, places) = if turned { (places, rows) } else { (rows, places) };
        let matrix = self.matrix(frame, matrix)?;
        let large = matrix.filter(|matrix| matrix.rows >= rows && matrix.row_length >= places);
        Ok(large.map(|matrix| (matrix, turned)))
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
