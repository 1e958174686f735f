//! The state of a resident block: its warps, their registers, its shared memory.

use super::bitset::ByteSet;
use super::order::{SyncVariable, ThreadOrder};
use super::shadow::Shadow;
use super::shape::LaunchShape;
use crate::isa::code::{Constant, Kernel, Special};
use crate::isa::lanes::{Lanes, WARP_LANES};
use std::collections::HashMap;

/// The byte that fresh registers and shared memory hold.
const POISON: u8 = 0xcd;

/// Why a group of lanes does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// The group executes instructions.
    Running,
    /// It waits for the other members of its instruction.
    AwaitsMembers,
    /// It waits, before a barrier, for the other lanes of its warp.
    AwaitsLanes,
    /// It waits at the barrier with this number.
    AtBarrier(u32),
}

/// Lanes of a warp that execute together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The index of the next instruction.
    pub at: u32,
    /// The lanes of the group.
    pub mask: u32,
    /// The reason why it does not run, if it does not.
    pub state: GroupState,
}

/// A warp of a resident block.
pub struct Warp {
    /// The register file.
    pub registers: Vec<Lanes>,
    /// The predicates: a bit per lane.
    pub predicates: Vec<u32>,
    /// The groups of lanes that have not exited.
    pub groups: Vec<Group>,
    /// The lanes that are threads of the block.
    pub existing: u32,
    /// The lanes that have exited.
    pub exited: u32,
    /// The local memory of all lanes, one after the other.
    pub local: Vec<u8>,
    /// The bytes of local memory that were written, if that is looked for.
    pub local_initialised: Option<ByteSet>,
    /// The instructions executed while other groups of the warp could have run.
    pub starving: u32,
    /// The instructions executed so far.
    pub executed: u64,
}

impl Warp {
    /// Returns the lanes that have not exited.
    pub fn live(&self) -> u32 {
        self.existing & !self.exited
    }

    /// Writes the lanes of a mask of a register.
    #[inline(always)]
    pub fn put(&mut self, register: u16, values: &Lanes, mask: u32) {
        let target = &mut self.registers[usize::from(register)];
        if mask == u32::MAX {
            *target = *values;
        } else {
            for lane in 0..WARP_LANES {
                if mask >> lane & 1 == 1 {
                    target[lane] = values[lane];
                }
            }
        }
    }

    /// Writes the lanes of a mask of a predicate.
    #[inline(always)]
    pub fn put_predicate(&mut self, predicate: u16, values: u32, mask: u32) {
        let target = &mut self.predicates[usize::from(predicate)];
        *target = *target & !mask | values & mask;
    }

    /// Returns a predicate in all lanes, negated where it is to be.
    #[inline(always)]
    pub fn guard(&self, guard: crate::isa::code::Guard) -> u32 {
        let value = self.predicates[usize::from(guard.predicate)];
        if guard.negated { !value } else { value }
    }
}

/// The parts of a block that only the checks need.
pub struct BlockChecks {
    /// The order of its threads.
    pub order: ThreadOrder,
    /// The accesses to shared memory.
    pub shadow: Shadow,
    /// The bytes of shared memory that were written.
    pub initialised: ByteSet,
    /// The words of shared memory that threads synchronise by.
    pub sync: HashMap<u64, SyncVariable>,
}

/// A resident block.
pub struct Block {
    /// The coordinates in the grid.
    pub id: [u32; 3],
    /// Its number in the grid.
    pub linear: u32,
    /// The warps of the block.
    pub warps: Vec<Warp>,
    /// Its shared memory.
    pub shared: Vec<u8>,
    /// The threads that have not exited.
    pub live: u32,
    /// The parts for the checks.
    pub checks: Option<Box<BlockChecks>>,
}

impl Block {
    /// A block that waits for [`Block::start`].
    pub fn new(kernel: &Kernel, shape: &LaunchShape) -> Block {
        let threads = shape.threads();
        let warps = (0..threads.div_ceil(WARP_LANES as u32))
            .map(|number| {
                let present = (threads - number * WARP_LANES as u32).min(WARP_LANES as u32);
                let existing =
                    if present == WARP_LANES as u32 { u32::MAX } else { (1 << present) - 1 };
                Warp {
                    registers: vec![
                        [u64::from_le_bytes([POISON; 8]); WARP_LANES];
                        kernel.registers
                    ],
                    predicates: vec![0; kernel.predicates],
                    groups: Vec::new(),
                    existing,
                    exited: 0,
                    local: vec![POISON; kernel.local_bytes * WARP_LANES],
                    local_initialised: None,
                    starving: 0,
                    executed: 0,
                }
            })
            .collect();
        Block {
            id: [0; 3],
            linear: 0,
            warps,
            shared: vec![POISON; shape.shared_bytes],
            live: 0,
            checks: None,
        }
    }

    /// Makes it the block with a number, at its first instruction. Registers keep what an earlier
    /// block left, as on a device.
    pub fn start(&mut self, kernel: &Kernel, shape: &LaunchShape, linear: u32, check: bool) {
        let [columns, rows, _] = shape.grid;
        self.id = [linear % columns, linear / columns % rows, linear / columns / rows];
        self.linear = linear;
        self.live = shape.threads();
        let warps = self.warps.len();
        for (number, warp) in self.warps.iter_mut().enumerate() {
            warp.exited = !warp.existing;
            warp.starving = 0;
            warp.executed = 0;
            warp.groups.clear();
            let mask = warp.existing;
            warp.groups.push(Group { at: 0, mask, state: GroupState::Running });
            warp.local_initialised = check.then(|| ByteSet::new(warp.local.len()));
            for &(register, constant) in &kernel.constants {
                let value = match constant {
                    Constant::Bits(bits) => bits,
                    Constant::DynamicShared => shape.dynamic_offset as u64,
                    // The driver replaced these when it loaded the module.
                    Constant::GlobalAddress(_) => 0,
                };
                warp.registers[usize::from(register)] = [value; WARP_LANES];
            }
            for &(register, special) in &kernel.specials {
                let lanes = &mut warp.registers[usize::from(register)];
                for (lane, value) in lanes.iter_mut().enumerate() {
                    *value = special_value(special, shape, self.id, (number, warps), lane as u32);
                }
            }
        }
        self.checks = check.then(|| {
            Box::new(BlockChecks {
                order: ThreadOrder::new(linear, shape.threads() as usize),
                shadow: Shadow::new(self.shared.len()),
                initialised: ByteSet::new(self.shared.len()),
                sync: HashMap::new(),
            })
        });
    }
}

/// Returns a special value of a lane.
fn special_value(
    special: Special,
    shape: &LaunchShape,
    block: [u32; 3],
    (warp, warps): (usize, usize),
    lane: u32,
) -> u64 {
    let thread = warp as u32 * WARP_LANES as u32 + lane;
    let [x, y, _] = shape.block;
    let below = (1u64 << lane) - 1;
    let all = u64::from(u32::MAX);
    match special {
        Special::Thread(dimension) => {
            let position = [thread % x, thread / x % y, thread / x / y];
            u64::from(position[usize::from(dimension)])
        }
        Special::Threads(dimension) => u64::from(shape.block[usize::from(dimension)]),
        Special::Block(dimension) => u64::from(block[usize::from(dimension)]),
        Special::Blocks(dimension) => u64::from(shape.grid[usize::from(dimension)]),
        Special::Lane => u64::from(lane),
        Special::Warp => warp as u64,
        Special::Warps => warps as u64,
        Special::MaskBelow => below,
        Special::MaskUpTo => below << 1 | 1,
        Special::MaskAbove => all & !(below << 1 | 1),
        Special::MaskFrom => all & !below,
    }
}
