//! Who accessed which bytes last: the memory of the race detector.
//!
//! A cell stands for four bytes, or for one once somebody accesses less than four: neighbouring
//! bytes that different threads write do not race.

use super::order::{Stamp, ThreadOrder};

/// The last accesses to a few bytes.
#[derive(Clone, Copy, Default)]
struct Cell {
    launch: u32,
    write: Stamp,
    /// The last two reads, by different threads.
    reads: [Stamp; 2],
}

/// The last accesses to an allocation.
#[derive(Default)]
pub struct Shadow {
    cells: Vec<Cell>,
    /// The bytes of a cell: 4 or 1.
    granule: usize,
}

/// An access that races with one before it.
pub struct Conflict {
    /// The earlier access.
    pub other: Stamp,
    /// The earlier access wrote.
    pub wrote: bool,
}

impl Shadow {
    /// A shadow for so many bytes.
    pub fn new(bytes: usize) -> Shadow {
        Shadow { cells: vec![Cell::default(); bytes.div_ceil(4)], granule: 4 }
    }

    /// Notes an access to `bytes` bytes from `offset` on, which is aligned, and returns the
    /// earlier access that it races with.
    pub fn access(
        &mut self,
        launch: u32,
        (offset, bytes): (usize, usize),
        order: &ThreadOrder,
        now: Stamp,
        writes: bool,
    ) -> Option<Conflict> {
        if bytes < 4 && self.granule == 4 {
            self.cells = self.cells.iter().flat_map(|cell| [*cell; 4]).collect();
            self.granule = 1;
        }
        let mut conflict = None;
        for cell in &mut self.cells[offset / self.granule..(offset + bytes).div_ceil(self.granule)]
        {
            if cell.launch != launch {
                *cell = Cell { launch, ..Cell::default() };
            }
            let races = |earlier: &Stamp| {
                earlier.clock > 0
                    && !are_atomic(earlier, &now)
                    && !order.is_before(earlier, now.thread)
            };
            if races(&cell.write) {
                conflict = Some(Conflict { other: cell.write, wrote: true });
            } else if writes && let Some(read) = cell.reads.iter().find(|read| races(read)) {
                conflict = Some(Conflict { other: *read, wrote: false });
            }
            if writes {
                cell.write = now;
            } else if (cell.reads[0].block, cell.reads[0].thread) == (now.block, now.thread) {
                cell.reads[0] = now;
            } else {
                cell.reads = [now, cell.reads[0]];
            }
        }
        conflict
    }

    /// Returns true if a byte of a range was written in a launch.
    pub fn is_written(&self, launch: u32, offset: usize, bytes: usize) -> bool {
        self.cells[offset / self.granule..(offset + bytes).div_ceil(self.granule)]
            .iter()
            .any(|cell| cell.launch == launch && cell.write.clock > 0)
    }
}

/// Returns true if two accesses are atomic with respect to each other.
fn are_atomic(a: &Stamp, b: &Stamp) -> bool {
    let needed = if a.block == b.block { 1 } else { 2 };
    a.strength >= needed && b.strength >= needed
}
