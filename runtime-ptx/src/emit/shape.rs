//! The sizes of blocks and tiles.

use super::collective::WARP_THREADS;
use nesl_runtime::kir::{Kernel, Op, walk};

/// The number of threads of a block.
pub const BLOCK_THREADS: u32 = 256;

/// The number of instructions up to which code is unrolled, besides constants.
const MAX_INSTRUCTIONS: usize = 48;

/// The greatest number of work items of a thread in a tile.
pub const MAX_ROWS: u32 = 8;

/// The size of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileShape {
    /// The number of work items of a thread; a power of two.
    pub rows: u32,
}

impl TileShape {
    /// The shape for code of so many instructions, which is emitted once for each row.
    pub fn of(instructions: usize) -> TileShape {
        let rows = match instructions {
            0..=32 => MAX_ROWS,
            33..=160 => 4,
            161..=600 => 2,
            _ => 1,
        };
        TileShape { rows }
    }

    /// The number of work items of a tile.
    pub fn items(self) -> u32 {
        BLOCK_THREADS * self.rows
    }

    /// The number of work items of a warp.
    pub fn chunk_items(self) -> u32 {
        WARP_THREADS * self.rows
    }
}

/// Returns true if the code of a kernel is short and has no loops: a thread may take many elements.
pub fn is_short(kernel: &Kernel) -> bool {
    let mut count = 0;
    let mut loops = false;
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| {
            count += usize::from(!matches!(inst.op, Op::Const(_)));
            loops |= inst.op.is_loop();
        });
    }
    count <= MAX_INSTRUCTIONS && !loops
}

/// The name of the parameter with the address of an area of the plan.
pub fn area_name(number: usize) -> String {
    format!("area{number}")
}
