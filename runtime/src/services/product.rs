//! Products of matrices of floats, blocked and packed.
//!
//! ```text
//! out[i][j] = the sum of left(i, k) * right(j, k) over all k
//! ```
//!
//! The rows of a matrix lie anywhere in an array; either factor may be given *turned*, by its columns.
//! Stretches of the factors are copied (`pack`) so that what is multiplied lies one behind the other, and
//! stays in the caches: a *panel* has `Tile::height` rows of the left factor or `Tile::width` of the
//! right one, of up to a *chunk* of places along `k`. A tile of the result is computed in registers from two
//! panels (`tile`).
//!
//! This is the algorithm of Goto and van de Geijn, *Anatomy of high-performance matrix multiplication* (ACM
//! Transactions on Mathematical Software, 2008), with the roles of the factors exchanged, because rows of the
//! result lie one behind the other.
//!
//! The order of all additions follows from the sizes alone: within a chunk in ascending order, each with its
//! multiplication in one rounding; then chunk after chunk; and where a small result is the sum of much, part
//! after part. So the bits of the result depend neither on the threads nor on the width of vectors. Only an
//! x86 processor without fused multiply-add, which would have to emulate it, rounds twice.

use super::sort::Team;
use super::sort::radix::with_scratch;
use crate::fault::FaultCode;
use pack::Panels;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
pub use tile::Float;
use tile::Tile;

mod pack;
#[cfg(test)]
mod tests;
mod tile;

/// The number of places along `k` that are added up in registers, before they are added to the result. The
/// panels of a tile fit the first-level cache then, about.
pub const CHUNK: usize = 256;

/// The chunks of a part, where a small result is the sum of much.
pub const PART_CHUNKS: usize = 16;

/// The most elements of a result that is computed in parts.
const MAX_PART_ELEMENTS: usize = 1 << 14;

/// Rows and columns of the result whose factors are packed at a time: panels of a chunk take 16 MiB, and
/// stay in the last-level cache.
const MAX_PACKED: usize = 1 << 12;

/// The bytes of panels of the right factor that a task goes over again and again: half of a second-level
/// cache.
const BLOCK_BYTES: usize = 1 << 20;

/// The most rows of a task: by then the right factor's panels have been used often enough.
const MAX_TASK_ROWS: usize = 256;

/// Tasks for each thread, so that they end at about the same time.
const TASKS_PER_THREAD: usize = 4;

/// Products of fewer multiplications are not worth another thread.
const MIN_PARALLEL: usize = 1 << 19;

/// The alignment of panels, in bytes: a line of the cache, which the widest vector fills.
const ALIGNMENT: usize = 64;

/// Rows that are packed by one task.
const PACKED_ROWS: usize = 96;

/// A factor: rows of one length, anywhere in an array.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a, T> {
    pool: *const T,
    /// The index of the first element of each row.
    starts: &'a [i64],
    /// True if its rows go along `k`'s places and not along the result's: it is the transpose that is
    /// multiplied.
    turned: bool,
}

// SAFETY: a factor is only read, and who makes one says that nobody writes to the array.
unsafe impl<T: Sync> Sync for Factor<'_, T> {}

impl<'a, T> Factor<'a, T> {
    /// Makes a factor from an array and the index of each row in it.
    ///
    /// # Safety
    /// From each of `starts` on, the array has as many initialised elements as the product for which the
    /// factor is used takes of a row, and nobody writes to it.
    pub unsafe fn new(pool: *const T, starts: &'a [i64], turned: bool) -> Factor<'a, T> {
        Factor { pool, starts, turned }
    }

    /// Returns true if both are the same elements in the same order.
    fn is_same(&self, other: &Factor<'_, T>) -> bool {
        self.pool == other.pool
            && self.starts.as_ptr() == other.starts.as_ptr()
            && self.starts.len() == other.starts.len()
            && self.turned == other.turned
    }
}

/// The numbers of rows and columns of a product, and of the places that each element is the sum of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The rows of the result, and of the left factor unless that is turned.
    pub rows: usize,
    /// The columns of the result, and the rows of the right factor unless that is turned.
    pub columns: usize,
    /// The number of products that are added up for an element.
    pub depth: usize,
}

impl Sizes {
    fn multiplications(&self) -> usize {
        self.rows.saturating_mul(self.columns).saturating_mul(self.depth)
    }
}

/// Returns true if a result of so many elements, each the sum of so many products, is computed in parts of
/// [`PART_CHUNKS`] chunks, which are then added up.
pub fn is_in_parts(elements: usize, depth: usize) -> bool {
    elements <= MAX_PART_ELEMENTS && depth >= 2 * PART_CHUNKS * CHUNK
}

/// Writes the product of two factors, row by row, to `out`.
///
/// # Errors
/// If the team was told to stop, or there is not memory enough; the contents of `out` are then undefined.
///
/// # Panics
/// If the factors have fewer rows than the sizes say, or `out` has another size.
pub fn product<T: Float>(
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    sizes: Sizes,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    product_by(T::tile(), left, right, sizes, out, team)
}

/// Writes the product, computed by this tile.
fn product_by<T: Float>(
    tile: Tile<T>,
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    sizes: Sizes,
    out: &mut [MaybeUninit<T>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let Sizes { rows, columns, depth } = sizes;
    assert_eq!(Some(out.len()), rows.checked_mul(columns), "the result has room");
    for (factor, own) in [(left, rows), (right, columns)] {
        let stored = if factor.turned { depth } else { own };
        assert!(factor.starts.len() >= stored, "a factor has as many rows as the product takes");
    }
    if out.is_empty() {
        return Ok(());
    }
    if depth == 0 {
        out.fill(MaybeUninit::new(T::ZERO));
        return Ok(());
    }
    let out = Out { at: out.as_mut_ptr().cast(), stride: columns };
    let product = Product { tile, left, right, sizes, team };
    if is_in_parts(rows * columns, depth) {
        return product.in_parts(out);
    }
    product.in_blocks(out)
}

/// The packed rows of the left factor, and columns of the right one, that a block is computed from.
#[derive(Clone, Copy)]
struct Packed<T> {
    left: *const T,
    right: *const T,
    /// The number of elements of a row and of a column.
    depth: usize,
}

impl<T> Packed<T> {
    /// Returns the panels from a row and a column of the block on, with which tiles begin.
    ///
    /// # Safety
    /// The block has the row and the column.
    unsafe fn at(self, row: usize, column: usize) -> Packed<T> {
        let depth = self.depth;
        // SAFETY: the panels hold `depth` elements for each row and column before these.
        let (left, right) = unsafe { (self.left.add(row * depth), self.right.add(column * depth)) };
        Packed { left, right, depth }
    }
}

/// The part of the result that sums of products are stored to.
#[derive(Clone, Copy)]
struct Sums<T> {
    out: Out<T>,
    /// True if they are added to what is there.
    more: bool,
}

/// The elements of a result, or of a part of one.
#[derive(Clone, Copy)]
struct Out<T> {
    at: *mut T,
    /// The number of elements from one row to the next.
    stride: usize,
}

// SAFETY: threads write to different elements.
unsafe impl<T: Send> Sync for Out<T> {}

impl<T> Out<T> {
    /// The address of an element.
    ///
    /// # Safety
    /// The element exists.
    unsafe fn at(&self, row: usize, column: usize) -> *mut T {
        // SAFETY: the caller knows that the element exists.
        unsafe { self.at.add(row * self.stride + column) }
    }
}

/// A range of rows and a range of columns, each as its first and its number.
#[derive(Clone, Copy)]
struct Block {
    row: usize,
    rows: usize,
    column: usize,
    columns: usize,
}

/// A product to be computed.
struct Product<'a, T> {
    tile: Tile<T>,
    left: Factor<'a, T>,
    right: Factor<'a, T>,
    sizes: Sizes,
    team: &'a dyn Team,
}

/// Returns the status for a flag that says that work was stopped.
fn unless_stopped(stopped: &AtomicBool) -> Result<(), FaultCode> {
    if stopped.load(Relaxed) { Err(FaultCode::Interrupted) } else { Ok(()) }
}

impl<T: Float> Product<'_, T> {
    /// Returns the panels of rows of the left factor.
    fn left_panels(&self, rows: usize) -> Panels {
        Panels { lanes: self.tile.height, rows }
    }

    /// Returns the panels of rows of the right factor.
    fn right_panels(&self, columns: usize) -> Panels {
        Panels { lanes: self.tile.width, rows: columns }
    }

    /// Computes the result chunk by chunk, the blocks of a chunk on all threads.
    fn in_blocks(&self, out: Out<T>) -> Result<(), FaultCode> {
        let Sizes { rows, columns, .. } = self.sizes;
        let left = self.left_panels(rows.min(MAX_PACKED)).elements(CHUNK);
        let right = self.right_panels(columns.min(MAX_PACKED)).elements(CHUNK);
        let symmetric = rows == columns && self.left.is_same(&self.right);
        with_scratch::<T>(left + right + ALIGNMENT / size_of::<T>(), self.team, |room| {
            let (left, right) = aligned(room).split_at_mut(left);
            let (left, right) = (Out::packed(left), Out::packed(right));
            for column in (0..columns).step_by(MAX_PACKED) {
                for from in (0..self.sizes.depth).step_by(CHUNK) {
                    for row in (0..rows).step_by(MAX_PACKED) {
                        let block = Block {
                            row,
                            rows: MAX_PACKED.min(rows - row),
                            column,
                            columns: MAX_PACKED.min(columns - column),
                        };
                        if symmetric && below_diagonal(block) {
                            continue;
                        }
                        self.pack_both(block, from, left, right)?;
                        self.multiply(block, from, left, right, out, symmetric)?;
                    }
                }
            }
            if symmetric {
                self.mirror(out)?;
            }
            Ok(())
        })
    }

    /// The number of places along `k` of the chunk that begins at one.
    fn chunk(&self, from: usize) -> usize {
        CHUNK.min(self.sizes.depth - from)
    }

    /// Packs the rows of both factors that a block takes, of one chunk.
    fn pack_both(
        &self,
        block: Block,
        from: usize,
        left: Out<T>,
        right: Out<T>,
    ) -> Result<(), FaultCode> {
        let chunk = self.chunk(from);
        let sides = [
            (&self.left, self.left_panels(block.rows), block.row, left),
            // The right factor's panels are the same for all blocks of rows.
            (&self.right, self.right_panels(block.columns), block.column, right),
        ];
        let tasks = |panels: &Panels| panels.count().div_ceil(panels.per_task(PACKED_ROWS));
        let counts = sides.each_ref().map(|(_, panels, ..)| tasks(panels));
        let all = counts[0] + if block.row == 0 { counts[1] } else { 0 };
        let stopped = AtomicBool::new(false);
        self.each(all, &|number| {
            let (side, number) = match number.checked_sub(counts[0]) {
                None => (&sides[0], number),
                Some(number) => (&sides[1], number),
            };
            let (factor, panels, first, to) = side;
            let each = panels.per_task(PACKED_ROWS);
            for panel in number * each..((number + 1) * each).min(panels.count()) {
                // SAFETY: the room has a place for each panel, which one task alone writes; the rows
                // exist, and have these elements, as the factor's maker says.
                unsafe {
                    let to = to.at(0, panel * panels.lanes * chunk);
                    panels.pack(factor, panel, *first, from, chunk, to);
                }
            }
            stopped.fetch_or(self.team.stopped(), Relaxed);
        });
        unless_stopped(&stopped)
    }

    /// Adds the products of a chunk to a block of the result, or begins with them.
    fn multiply(
        &self,
        block: Block,
        from: usize,
        left: Out<T>,
        right: Out<T>,
        out: Out<T>,
        symmetric: bool,
    ) -> Result<(), FaultCode> {
        let chunk = self.chunk(from);
        let (height, width) = (self.tile.height, self.tile.width);
        // Evenly divided, in whole tiles.
        let parts = |of: usize, most: usize, tile: usize| {
            let count = of.div_ceil(most.max(tile));
            of.div_ceil(count).next_multiple_of(tile)
        };
        let each_columns = parts(block.columns, BLOCK_BYTES / (CHUNK * size_of::<T>()), width);
        let blocks = block.columns.div_ceil(each_columns);
        let wanted = (self.team.threads() * TASKS_PER_THREAD).div_ceil(blocks);
        let most_rows = block.rows.div_ceil(wanted).clamp(4 * height, MAX_TASK_ROWS);
        let each_rows = parts(block.rows, most_rows, height);
        let stopped = AtomicBool::new(false);
        self.each(blocks * block.rows.div_ceil(each_rows), &|number| {
            if self.team.stopped() {
                return stopped.store(true, Relaxed);
            }
            let (row, column) = (number / blocks * each_rows, number % blocks * each_columns);
            let task = Block {
                row: block.row + row,
                rows: each_rows.min(block.rows - row),
                column: block.column + column,
                columns: each_columns.min(block.columns - column),
            };
            // SAFETY: panels are packed in the order of their rows, and a task begins with one; no other
            // task writes to this block of the result.
            unsafe {
                let (left, right) = (left.at(0, row * chunk), right.at(0, column * chunk));
                let panels = Packed { left, right, depth: chunk };
                self.tiles(task, panels, Sums { out, more: from > 0 }, symmetric);
            }
        });
        unless_stopped(&stopped)
    }

    /// Computes the tiles of a block from panels.
    ///
    /// # Safety
    /// The panels are those of the block, and nobody else accesses its elements.
    unsafe fn tiles(&self, block: Block, panels: Packed<T>, sums: Sums<T>, symmetric: bool) {
        let (height, width) = (self.tile.height, self.tile.width);
        for row in (0..block.rows).step_by(height) {
            for column in (0..block.columns).step_by(width) {
                let tile = Block {
                    row: block.row + row,
                    rows: height.min(block.rows - row),
                    column: block.column + column,
                    columns: width.min(block.columns - column),
                };
                if symmetric && below_diagonal(tile) {
                    continue;
                }
                // SAFETY: both panels were packed, and the elements of the tile exist.
                unsafe {
                    let panels = panels.at(row, column);
                    if tile.rows == height && tile.columns == width {
                        let Packed { left, right, depth } = panels;
                        let to = sums.out.at(tile.row, tile.column);
                        (self.tile.run)(depth, left, right, to, sums.out.stride, sums.more);
                    } else {
                        self.border(tile, panels, sums);
                    }
                }
            }
        }
    }

    /// Computes a tile that is not all part of the result.
    ///
    /// # Safety
    /// As for [`Product::tiles`].
    #[cold]
    unsafe fn border(&self, block: Block, panels: Packed<T>, sums: Sums<T>) {
        let Packed { left, right, depth } = panels;
        let mut whole = [T::ZERO; tile::MAX_ELEMENTS];
        let width = self.tile.width;
        // SAFETY: there is room for a tile, and the caller passes its panels; only the elements of the
        // block are read and written, and those are initialised if there are more.
        unsafe {
            (self.tile.run)(depth, left, right, whole.as_mut_ptr(), width, false);
            for row in 0..block.rows {
                for column in 0..block.columns {
                    let to = sums.out.at(block.row + row, block.column + column);
                    let sum = whole[row * width + column];
                    to.write(if sums.more { to.read().plus(sum) } else { sum });
                }
            }
        }
    }

    /// Copies what is above the diagonal to below.
    fn mirror(&self, out: Out<T>) -> Result<(), FaultCode> {
        /// Rows and columns that are copied together, so that each line of the cache is used whole.
        const SQUARE: usize = 32;
        let count = self.sizes.rows;
        let stopped = AtomicBool::new(false);
        self.each(count.div_ceil(SQUARE), &|number| {
            let first = number * SQUARE;
            let end = (first + SQUARE).min(count);
            for from in (0..end).step_by(SQUARE) {
                for row in first..end {
                    for column in from..(from + SQUARE).min(row) {
                        // SAFETY: both elements exist. What is above the diagonal is complete, and
                        // written by nobody; each element below it is written by one task.
                        unsafe { *out.at(row, column) = *out.at(column, row) };
                    }
                }
            }
            stopped.fetch_or(self.team.stopped(), Relaxed);
        });
        unless_stopped(&stopped)
    }

    /// Computes a small result as the sum of parts, which threads compute one by one.
    fn in_parts(&self, out: Out<T>) -> Result<(), FaultCode> {
        let Sizes { rows, columns, depth } = self.sizes;
        let (part, size) = (PART_CHUNKS * CHUNK, rows * columns);
        let parts = depth.div_ceil(part);
        let block = Block { row: 0, rows, column: 0, columns };
        let [left, right] = [self.left_panels(rows), self.right_panels(columns)];
        let elements = left.elements(CHUNK) + right.elements(CHUNK) + ALIGNMENT / size_of::<T>();
        let panel_bytes = (elements * size_of::<T>() * self.team.threads()) as u64;
        if !self.team.reserve(panel_bytes) {
            return Err(FaultCode::OutOfMemory);
        }
        let (stopped, full) = (AtomicBool::new(false), AtomicBool::new(false));
        let done = with_scratch::<T>(parts * size, self.team, |sums| {
            let sums = Out::packed(sums);
            let work = |take: &mut dyn FnMut() -> Option<usize>| {
                let mut room: Vec<T> = Vec::new();
                if room.try_reserve_exact(elements).is_err() {
                    return full.store(true, Relaxed);
                }
                let packed: *mut T = aligned(room.spare_capacity_mut()).as_mut_ptr().cast();
                while let Some(number) = take() {
                    if self.team.stopped() {
                        return stopped.store(true, Relaxed);
                    }
                    // SAFETY: each part has room of its own.
                    let to = Out { at: unsafe { sums.at(0, number * size) }, stride: columns };
                    let first = number * part;
                    for from in (first..(first + part).min(depth)).step_by(CHUNK) {
                        let chunk = self.chunk(from);
                        // SAFETY: there is room for the panels of both factors, which are packed before
                        // they are used, and which this thread alone has.
                        unsafe {
                            let behind = packed.add(left.elements(chunk));
                            left.pack_all(&self.left, from, chunk, packed);
                            right.pack_all(&self.right, from, chunk, behind);
                            let panels = Packed { left: packed, right: behind, depth: chunk };
                            let into = Sums { out: to, more: from > first };
                            self.tiles(block, panels, into, false);
                        }
                    }
                }
            };
            self.team.each(parts, &work);
            unless_stopped(&stopped)?;
            if full.load(Relaxed) {
                return Err(FaultCode::OutOfMemory);
            }
            for at in 0..size {
                // SAFETY: all parts are complete, and have this element, as has the result.
                unsafe {
                    let first = *sums.at.add(at);
                    let sum = |sum: T, part: usize| sum.plus(*sums.at.add(part * size + at));
                    out.at.add(at).write((1..parts).fold(first, sum));
                }
            }
            Ok(())
        });
        self.team.release(panel_bytes);
        done
    }

    /// Does numbered tasks, on all threads if the product is worth that.
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        if self.sizes.multiplications() < MIN_PARALLEL {
            return (0..count).for_each(task);
        }
        self.team.each(count, &|take| {
            while let Some(number) = take() {
                task(number);
            }
        });
    }
}

/// Returns room from the first aligned element on.
fn aligned<T>(room: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<T>] {
    let skipped = room.as_ptr().align_offset(ALIGNMENT).min(room.len());
    &mut room[skipped..]
}

/// Returns true if all elements of a block are below the diagonal.
fn below_diagonal(block: Block) -> bool {
    block.row >= block.column + block.columns
}

impl<T> Out<T> {
    /// The room for panels.
    fn packed(room: &mut [MaybeUninit<T>]) -> Out<T> {
        Out { at: room.as_mut_ptr().cast(), stride: 0 }
    }
}
