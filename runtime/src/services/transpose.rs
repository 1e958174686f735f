//! Transposes of matrices, copied by squares, so that each line of the cache is read and written once.

use super::sort::Team;
use crate::fault::FaultCode;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Rows and columns that are copied together: a line of the cache of elements of 8 bytes.
const SQUARE: usize = 8;

/// Rows of the result that a task writes: lines of a row of the matrix are read one behind the other.
const TASK_ROWS: usize = 32;

/// Columns of the result that a task writes: also those of a matrix with few rows are divided among threads.
const TASK_COLUMNS: usize = 1 << 12;

/// Fewer elements are not worth another thread.
const MIN_PARALLEL: usize = 1 << 15;

/// Writes the transpose of a matrix, row by row, to `out`: it has `rows` rows of as many elements as
/// there are `starts`, the indices in `pool` at which the rows of the matrix begin.
///
/// # Errors
/// If the team was told to stop; the contents of `out` are then undefined.
///
/// # Safety
/// From each of `starts` on, `pool` has `rows` initialised elements, and nobody writes to it.
///
/// # Panics
/// If `out` has another size.
pub unsafe fn transpose<T: Copy + Send + Sync>(
    pool: *const T,
    starts: &[i64],
    rows: usize,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let columns = starts.len();
    assert_eq!(Some(out.len()), rows.checked_mul(columns), "the result has room");
    let matrix = Matrix { pool, out: out.as_mut_ptr(), starts, rows };
    let stopped = AtomicBool::new(false);
    let across = columns.div_ceil(TASK_COLUMNS);
    let tasks = rows.div_ceil(TASK_ROWS) * across;
    let work = |take: &mut dyn FnMut() -> Option<usize>| {
        while let Some(number) = take() {
            if team.stopped() {
                return stopped.store(true, Relaxed);
            }
            let (row, column) = (number / across * TASK_ROWS, number % across * TASK_COLUMNS);
            // SAFETY: each task writes a part of the rows of its own.
            unsafe { matrix.write_part(row, column) };
        }
    };
    if out.len() < MIN_PARALLEL {
        let mut numbers = 0..tasks;
        work(&mut || numbers.next());
    } else {
        team.each(tasks, &work);
    }
    if stopped.load(Relaxed) { Err(FaultCode::Interrupted) } else { Ok(()) }
}

/// A matrix and its transpose.
struct Matrix<'a, T> {
    pool: *const T,
    starts: &'a [i64],
    out: *mut MaybeUninit<T>,
    /// The number of rows of the transpose.
    rows: usize,
}

// SAFETY: the matrix is only read, and threads write to different parts of the transpose.
unsafe impl<T: Send + Sync> Sync for Matrix<'_, T> {}

impl<T: Copy> Matrix<'_, T> {
    /// Writes the part of a task, which begins at a row and a column.
    ///
    /// # Safety
    /// Nobody else accesses it.
    unsafe fn write_part(&self, first: usize, column: usize) {
        let columns = self.starts.len();
        let end = (first + TASK_ROWS).min(self.rows);
        let starts = &self.starts[column..(column + TASK_COLUMNS).min(columns)];
        for (at, starts) in starts.chunks(SQUARE).enumerate() {
            for from in (first..end).step_by(SQUARE) {
                for row in from..(from + SQUARE).min(end) {
                    // SAFETY: the row exists in the transpose, and its place in each row of the matrix.
                    unsafe {
                        let out = self.out.add(row * columns + column + at * SQUARE);
                        for (n, start) in starts.iter().enumerate() {
                            let element = *self.pool.add(*start as usize + row);
                            (*out.add(n)).write(element);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::sort::CallingThread;

    #[test]
    fn transposes_of_all_sizes() {
        let small = [(0, 0), (0, 3), (1, 1), (7, 9), (8, 8), (33, 17), (100, 64)];
        for (rows, columns) in small.into_iter().chain([(5, 3 * TASK_COLUMNS - 7)]) {
            let pool: Vec<u32> = (0..(rows + 2) * columns + 2).map(|x| x as u32).collect();
            let starts: Vec<i64> =
                (0..columns).rev().map(|c| (c * (rows + 2) + 1) as i64).collect();
            let mut out = vec![MaybeUninit::new(0); rows * columns];
            // SAFETY: each row of the matrix has as many elements.
            let done =
                unsafe { transpose(pool.as_ptr(), &starts, rows, &mut out, &CallingThread(None)) };
            done.unwrap();
            for row in 0..rows {
                for column in 0..columns {
                    // SAFETY: everything was initialised.
                    let found = unsafe { out[row * columns + column].assume_init() };
                    assert_eq!(found, pool[starts[column] as usize + row]);
                }
            }
        }
    }
}
