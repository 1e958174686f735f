//! The scratch memory of launches: a row for each thread of a grid.
//!
//! Rows of known length are allocated before the first pass. Otherwise each pass before the final
//! one says how long the rows would have to be, the host waits for that, and executes the pass again
//! if they were too short: these passes have no effects.

use super::Launcher;
use crate::driver::memory::Block;
use crate::driver::stream::Copy;
use crate::emit::{BLOCK_THREADS, Pass, Scratch, Step};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Failure;

/// The size of the rows that a launch begins with if it does not know their length, in bytes: all of
/// them together, and the least and greatest length of one.
const FIRST_ROWS_BYTES: u64 = 64 << 20;
const MIN_FIRST_ROW_BYTES: u64 = 256;
const MAX_FIRST_ROW_BYTES: u64 = 64 << 10;

/// The alignment of rows, in bytes.
const ROW_ALIGNMENT_BYTES: u64 = 16;

/// The part of the memory that rows may take: larger grids get fewer threads.
const MEMORY_SHARE: u64 = 4;

/// The rows of a step.
pub struct Rows<'a> {
    launcher: &'a Launcher<'a>,
    step: &'a Step,
    /// The number of blocks if the rows are short enough.
    most_blocks: u32,
    /// The length of a row, in bytes.
    row: u64,
    /// The number of blocks that have rows.
    blocks: u32,
    block: Option<Block>,
    /// The place of the bytes that a pass asked for.
    needed: Option<Block>,
    /// The bytes that the measuring pass asked for.
    measured: u64,
}

impl<'a> Rows<'a> {
    /// The rows for the first pass of a step; `args` are its scalar arguments.
    pub fn new(
        launcher: &'a Launcher<'a>,
        step: &'a Step,
        args: &[Option<Literal>],
        blocks: u32,
    ) -> Result<Rows<'a>, Failure> {
        let mut rows = Rows {
            launcher,
            step,
            most_blocks: blocks,
            row: 0,
            blocks,
            block: None,
            needed: None,
            measured: 0,
        };
        let row = match step.plan.scratch {
            Scratch::None => return Ok(rows),
            Scratch::Uniform(_) => {
                let bytes = step.plan.scratch.uniform_bytes(&step.kernel, args);
                let bytes = bytes.or_bug("uniform lengths depend on scalar arguments only");
                let passes = &step.plan.passes;
                let items = passes.iter().map(|pass| rows.items(*pass)).max().unwrap_or(1);
                bytes.saturating_mul(items)
            }
            Scratch::Measured => {
                rows.needed = Some(launcher.alloc(8)?);
                let threads = u64::from(blocks * BLOCK_THREADS);
                (FIRST_ROWS_BYTES / threads).clamp(MIN_FIRST_ROW_BYTES, MAX_FIRST_ROW_BYTES)
            }
        };
        rows.resize(row)?;
        Ok(rows)
    }

    /// Launches a pass: `launch` enqueues it with a number of blocks and the parameters for the rows,
    /// and returns its number.
    pub fn launch(
        &mut self,
        pass: Pass,
        launch: impl Fn(u32, &[u64]) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        if self.step.plan.scratch == Scratch::None {
            return launch(self.blocks, &[]).map(drop);
        }
        if self.needed.is_none() || pass == Pass::Final {
            let row = self.measured.saturating_mul(self.items(pass));
            if row > self.row {
                self.resize(row)?;
            }
            return launch(self.blocks, &self.params()).map(drop);
        }
        loop {
            let needed = self.needed.as_ref().or_bug("a pass that measures has a place for that");
            let (stream, from) = (self.launcher.stream, needed.address());
            stream.clear(from, needed.bytes())?;
            let number = launch(self.blocks, &self.params())?;
            let mut word = [0; 8];
            stream.read(&mut [Copy { from, to: &mut word }])?;
            self.launcher.runtime.count_wait();
            let needed = u64::from_ne_bytes(word);
            if needed <= self.row {
                if self.step.plan.measuring == Some(pass) {
                    self.measured = needed.div_ceil(self.items(pass));
                }
                return Ok(());
            }
            // A work item that ended early may hide an earlier failure: the pass looks again.
            if stream.has_failed() && !self.launcher.runtime.forget_failure_of(number)? {
                return Ok(());
            }
            self.resize(needed.max(self.row.saturating_mul(2)))?;
        }
    }

    fn params(&self) -> [u64; 3] {
        let address = |block: &Option<Block>| block.as_ref().map_or(0, Block::address);
        [address(&self.block), self.row, address(&self.needed)]
    }

    /// The number of work items whose arrays live at the same time in a row.
    fn items(&self, pass: Pass) -> u64 {
        match self.step.plan.is_tiled(&self.step.kernel, pass) {
            true => u64::from(self.step.plan.tile.rows),
            false => 1,
        }
    }

    /// Gives each thread a row of a length; there are fewer threads if the rows are long.
    fn resize(&mut self, row: u64) -> Result<(), Failure> {
        self.block = None;
        self.row = row.checked_next_multiple_of(ROW_ALIGNMENT_BYTES).unwrap_or(u64::MAX);
        let of_block = self.row.saturating_mul(u64::from(BLOCK_THREADS));
        let blocks = self.launcher.memory.limit() / MEMORY_SHARE / of_block.max(1);
        self.blocks = u32::try_from(blocks).unwrap_or(u32::MAX).clamp(1, self.most_blocks);
        let bytes = of_block.saturating_mul(u64::from(self.blocks));
        self.block = Some(self.launcher.alloc(bytes)?);
        Ok(())
    }
}
