//! The private tables of histograms: each chunk but the first updates a table of its own, and all are
//! combined after the last pass.
//!
//! A table may be as long as the input: so the operation and the type of its elements are looked up once for
//! many elements.

use super::{Run, bits, length, param, scalar};
use crate::memory::Block;
use crate::workers::Workers;
use nesl_runtime::kir::{Combine, Sink, Ty};
use nesl_runtime::runtime::{Arg, Failure};
use std::ops::Range;

/// Tables of so many elements in all are filled and combined by all threads. Below, waking them costs more.
const MIN_PARALLEL_ELEMENTS: usize = 1 << 15;

/// The number of elements that a thread combines at a time.
const PIECE_ELEMENTS: usize = 1 << 13;

/// The private tables that all chunks but the first update in place of the array of a parameter.
pub struct PrivateTables {
    param: usize,
    combine: Combine,
    ty: Ty,
    length: usize,
    blocks: Vec<Block>,
}

impl PrivateTables {
    /// The parameter and the address of a chunk's private table, if it has one.
    pub fn of(&self, chunk: usize) -> Option<(usize, u64)> {
        let block = self.blocks.get(chunk.checked_sub(1)?)?;
        Some((self.param, block.start() as u64))
    }

    /// Calls `f` with ranges that together are those of the elements of a table.
    fn each_piece(&self, workers: &Workers, f: &(dyn Fn(Range<usize>) + Sync)) {
        if self.length * self.blocks.len() < MIN_PARALLEL_ELEMENTS {
            return f(0..self.length);
        }
        workers.each(self.length.div_ceil(PIECE_ELEMENTS), &|take| {
            while let Some(piece) = take() {
                let start = piece * PIECE_ELEMENTS;
                f(start..self.length.min(start + PIECE_ELEMENTS));
            }
        });
    }
}

/// Allocates tables for all chunks but the first, which uses the parameter's.
pub fn allocate(
    run: &Run<'_>,
    args: &[Arg],
    workers: &Workers,
) -> Result<Vec<PrivateTables>, Failure> {
    let mut all: Vec<PrivateTables> = Vec::new();
    for stage in &run.code.kernel.stages {
        for sink in &stage.sinks {
            let Sink::Histogram { array, combine, value, .. } = sink else { continue };
            let Some(param) = param(run.code, *array) else { continue };
            let (ty, length) = (run.element(*value), length(run.code, args, *array));
            let blocks: Result<Vec<Block>, Failure> =
                (1..run.chunks.len()).map(|_| workers.memory().alloc(length * ty.size())).collect();
            let tables = PrivateTables { param, combine: *combine, ty, length, blocks: blocks? };
            let neutral = scalar(combine.neutral(ty));
            tables.each_piece(workers, &|piece| {
                for block in &tables.blocks {
                    let at = block.start().wrapping_add(piece.start * ty.size());
                    // SAFETY: the block was just allocated, and has `length` elements of this type; the pieces of
                    // different threads do not overlap.
                    unsafe { fill(ty, at, piece.len(), neutral) };
                }
            });
            all.push(tables);
        }
    }
    Ok(all)
}

/// Combines the private tables of the chunks with the parameter's, in the order of the chunks.
pub fn combine(run: &Run<'_>, private: &[PrivateTables], workers: &Workers) {
    for tables in private {
        let table = run.params[tables.param];
        let size = tables.ty.size();
        tables.each_piece(workers, &|piece| {
            for block in &tables.blocks {
                let to = (table as *mut u8).wrapping_add(piece.start * size);
                let from = block.start().wrapping_add(piece.start * size);
                // SAFETY: both tables have `length` aligned elements, no pass is running, and the pieces of different
                // threads do not overlap.
                unsafe { combine_elements(tables.combine, tables.ty, to, from, piece.len()) };
            }
        });
    }
}

/// Writes the same bits to all elements.
///
/// # Safety
/// `to` is the aligned address of so many elements, which nothing else accesses.
unsafe fn fill(ty: Ty, to: *mut u8, length: usize, value: u64) {
    // SAFETY: the caller passes so many elements of this size, which nothing else accesses; all bits are values of
    // these types. Writing through pointers does not read what is not initialised.
    unsafe {
        if value == 0 {
            return std::ptr::write_bytes(to, 0, length * ty.size());
        }
        match ty.size() {
            1 => std::ptr::write_bytes(to, value as u8, length),
            4 => (0..length).for_each(|at| *to.cast::<u32>().add(at) = value as u32),
            _ => (0..length).for_each(|at| *to.cast::<u64>().add(at) = value),
        }
    }
}

/// Combines the elements of one table with those of another, at the same index.
///
/// # Safety
/// Both are aligned addresses of `length` initialised elements; nothing else accesses those of `to`, and nothing writes
/// those of `from`.
unsafe fn combine_elements(op: Combine, ty: Ty, to: *mut u8, from: *const u8, length: usize) {
    // The loop is compiled for each operation and type: `bits::combine` is inlined with both constant.
    macro_rules! each {
        ($op:expr, $ty:expr) => {
            for at in (0..length).map(|at| at * $ty.size()) {
                // SAFETY: the caller passes `length` elements of this type.
                unsafe {
                    let (to, from) = (to.add(at), from.add(at));
                    let (x, y) = (bits::read($ty, to), bits::read($ty, from));
                    bits::write($ty, to, bits::combine($op, $ty, x, y));
                }
            }
        };
    }
    macro_rules! each_type {
        ($op:expr) => {
            match ty {
                Ty::I32 => each!($op, Ty::I32),
                Ty::I64 => each!($op, Ty::I64),
                Ty::F32 => each!($op, Ty::F32),
                Ty::F64 => each!($op, Ty::F64),
                Ty::Bool => each!($op, Ty::Bool),
                Ty::U8 => each!($op, Ty::U8),
            }
        };
    }
    match op {
        Combine::Add => each_type!(Combine::Add),
        Combine::Mul => each_type!(Combine::Mul),
        Combine::Min => each_type!(Combine::Min),
        Combine::Max => each_type!(Combine::Max),
        Combine::And => each_type!(Combine::And),
        Combine::Or => each_type!(Combine::Or),
        Combine::Xor => each_type!(Combine::Xor),
    }
}

#[cfg(test)]
mod tests {
    use super::{combine_elements, fill};
    use crate::launch::bits;
    use nesl_runtime::kir::{Combine, Ty};

    #[test]
    fn elements_are_combined_as_one_by_one() {
        let values = [0_u64, 1, 7, 255, u64::MAX, 1.5_f64.to_bits(), f64::NAN.to_bits(), 3 << 40];
        for op in [
            Combine::Add,
            Combine::Mul,
            Combine::Min,
            Combine::Max,
            Combine::And,
            Combine::Or,
            Combine::Xor,
        ] {
            for ty in [Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::Bool, Ty::U8] {
                let (mut to, mut from) = ([0_u64; 64], [0_u64; 64]);
                let (a, b) = (to.as_mut_ptr().cast::<u8>(), from.as_mut_ptr().cast::<u8>());
                let at = |table: *mut u8, at: usize| table.wrapping_add(at * ty.size());
                let mut expected = Vec::new();
                for i in 0..64 {
                    let (x, y) = (values[i / 8], values[i % 8]);
                    // SAFETY: the tables have 64 elements of at most 8 bytes.
                    unsafe {
                        bits::write(ty, at(a, i), x);
                        bits::write(ty, at(b, i), y);
                        let (x, y) = (bits::read(ty, at(a, i)), bits::read(ty, at(b, i)));
                        expected.push(bits::combine(op, ty, x, y));
                    }
                }
                // SAFETY: as above.
                unsafe { combine_elements(op, ty, a, b, 64) };
                // SAFETY: as above.
                let found: Vec<u64> =
                    (0..64).map(|i| unsafe { bits::read(ty, at(a, i)) }).collect();
                assert_eq!(found, expected, "{op:?} {ty:?}");
                // SAFETY: as above.
                unsafe { fill(ty, a, 64, values[5]) };
                // SAFETY: as above.
                let last = unsafe { bits::read(ty, at(a, 63)) };
                let mask = u64::MAX >> (64 - 8 * ty.size());
                assert_eq!(last, values[5] & mask, "{ty:?}");
            }
        }
    }
}
