//! The turn of a warp: which group of lanes runs, control flow, dispatch.

use super::block::{Block, Group, GroupState};
use super::fault::{Failure, FaultKind};
use super::order::lanes_of;
use super::run::Machine;
use crate::isa::code::{Instruction, Op};
use crate::isa::lanes::WARP_LANES;
use crate::options::BlockOrder;

/// The instructions a group may run ahead of others of its warp that could run too.
const MAX_STARVING_INSTRUCTIONS: u32 = 8192;

/// The instructions of one choice while several groups could run.
const GROUP_SLICE_INSTRUCTIONS: u32 = 256;

/// The effect of an instruction on the group that executed it.
pub(super) enum Flow {
    /// The next instruction follows.
    Next,
    /// The groups of the warp have changed.
    Regroup,
}

/// The place of an instruction that is executed: a warp, a group of it, the active lanes.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// The number of the warp in its block.
    pub warp: usize,
    /// The index of the group in the warp.
    pub group: usize,
    /// The index of the instruction.
    pub pc: u32,
    /// The lanes of the group.
    pub lanes: u32,
    /// The lanes whose guard holds.
    pub active: u32,
}

impl At {
    /// Returns the number of the thread of a lane.
    pub fn thread(&self, lane: usize) -> u32 {
        (self.warp * WARP_LANES + lane) as u32
    }

    /// Returns the number of the thread of the first active lane.
    pub fn first_thread(&self) -> u32 {
        self.thread(self.active.trailing_zeros() as usize)
    }
}

impl Machine<'_> {
    /// Executes up to `quantum` instructions of a warp; `line` follows them.
    pub(super) fn run_warp(
        &mut self,
        block: &mut Block,
        warp: usize,
        quantum: u32,
        line: &mut u32,
    ) -> Result<(), Failure> {
        let mut left = quantum;
        while left > 0 {
            let Some((group, limit)) = self.choose(block, warp) else { return Ok(()) };
            let alone = limit == u32::MAX;
            let slice = if alone { left } else { left.min(GROUP_SLICE_INSTRUCTIONS) };
            let used = self.run_group(block, warp, (group, limit), slice, line)?;
            if !alone {
                block.warps[warp].starving += used;
            }
            left -= used.min(left);
        }
        Ok(())
    }

    /// Merges the groups that meet and chooses one; the second number is the instruction at which
    /// it may meet another, `u32::MAX` if it is the only one that runs.
    fn choose(&mut self, block: &mut Block, warp: usize) -> Option<(usize, u32)> {
        let warp = &mut block.warps[warp];
        if let [only] = warp.groups[..] {
            return (only.state == GroupState::Running).then_some((0, u32::MAX));
        }
        merge(&mut warp.groups);
        let running = |group: &&Group| group.state == GroupState::Running;
        let count = warp.groups.iter().filter(running).count();
        let lowest = warp.groups.iter().filter(running).map(|group| group.at).min()?;
        let mut chosen = warp.groups.iter().position(|g| running(&g) && g.at == lowest)?;
        if count > 1 {
            let shuffled = self.options.order == BlockOrder::Random && self.random.below(8) == 0;
            if shuffled || warp.starving > MAX_STARVING_INSTRUCTIONS {
                warp.starving = 0;
                let other = self.random.below(count);
                chosen = (0..warp.groups.len())
                    .filter(|&k| warp.groups[k].state == GroupState::Running)
                    .nth(other)?;
            }
        } else {
            warp.starving = 0;
            return Some((chosen, u32::MAX));
        }
        let at = warp.groups[chosen].at;
        let next = warp.groups.iter().filter(running).map(|group| group.at).filter(|&a| a > at);
        Some((chosen, next.min().unwrap_or(u32::MAX - 1)))
    }

    /// Executes instructions of a group until its slice is over, it reaches `limit`, or the groups
    /// change; returns how many.
    fn run_group(
        &mut self,
        block: &mut Block,
        warp: usize,
        (group, limit): (usize, u32),
        slice: u32,
        line: &mut u32,
    ) -> Result<u32, Failure> {
        let kernel = self.kernel;
        let Group { at: mut pc, mask: lanes, .. } = block.warps[warp].groups[group];
        for used in 1..=slice {
            let instruction = &kernel.code[pc as usize];
            *line = instruction.line;
            let active = match instruction.guard {
                None => lanes,
                Some(guard) => lanes & block.warps[warp].guard(guard),
            };
            self.counters.warp_instructions += 1;
            self.counters.thread_instructions += u64::from(active.count_ones());
            let at = At { warp, group, pc, lanes, active };
            if let Op::Branch { target, uniform } = instruction.op {
                if active == lanes {
                    pc = target;
                } else if active == 0 {
                    pc += 1;
                } else {
                    self.part(block, at, target, uniform)?;
                    return Ok(used);
                }
            } else if active == 0 {
                pc += 1;
            } else {
                match self.execute(block, at, instruction)? {
                    Flow::Next => pc += 1,
                    Flow::Regroup => return Ok(used),
                }
            }
            if pc >= limit {
                block.warps[warp].groups[group].at = pc;
                return Ok(used);
            }
        }
        block.warps[warp].groups[group].at = pc;
        Ok(slice)
    }

    /// Parts a group at a branch that only some lanes take.
    fn part(
        &mut self,
        block: &mut Block,
        at: At,
        target: u32,
        uniform: bool,
    ) -> Result<(), Failure> {
        if uniform {
            let message = format!("lanes {:#x} of {:#x} take a bra.uni", at.active, at.lanes);
            return Err(Failure::of_block(FaultKind::BarrierDivergence, message));
        }
        self.counters.divergences += 1;
        let groups = &mut block.warps[at.warp].groups;
        let state = GroupState::Running;
        groups[at.group] = Group { at: at.pc + 1, mask: at.lanes & !at.active, state };
        groups.push(Group { at: target, mask: at.active, state });
        Ok(())
    }

    /// Executes an instruction other than a branch, in at least one lane.
    #[inline(always)]
    fn execute(
        &mut self,
        block: &mut Block,
        at: At,
        instruction: &Instruction,
    ) -> Result<Flow, Failure> {
        match &instruction.op {
            Op::LoadParam { access, offset } => self.load_parameter(block, at, access, *offset),
            Op::Load(access) => self.load(block, at, access)?,
            Op::Store(access) => self.store(block, at, access)?,
            Op::Atomic(atomic) => self.atomic(block, at, atomic)?,
            Op::Collective { mask, what } => return self.collective(block, at, *mask, what),
            Op::Barrier(barrier) => return self.arrive(block, at, barrier),
            Op::ActiveMask { d } => {
                block.warps[at.warp].put(*d, &[u64::from(at.active); WARP_LANES], at.active);
            }
            Op::Fence(scope) => {
                if let Some(checks) = &mut block.checks {
                    for lane in lanes_of(at.active) {
                        checks.order.fence(at.thread(lane) as u16, *scope);
                    }
                }
            }
            Op::Exit => return self.exit(block, at).map(|()| Flow::Regroup),
            Op::Trap => {
                let message = "the kernel executed `trap`";
                return Err(Failure::of_thread(FaultKind::Trap, at.first_thread(), message));
            }
            Op::Nothing | Op::Branch { .. } => {}
            op => super::alu::execute(&mut block.warps[at.warp], op, at.active),
        }
        Ok(Flow::Next)
    }

    /// Ends the threads of the active lanes.
    fn exit(&mut self, block: &mut Block, at: At) -> Result<(), Failure> {
        let warp = &mut block.warps[at.warp];
        warp.exited |= at.active;
        block.live -= at.active.count_ones();
        let rest = at.lanes & !at.active;
        if rest == 0 {
            warp.groups.swap_remove(at.group);
        } else {
            let state = GroupState::Running;
            warp.groups[at.group] = Group { at: at.pc + 1, mask: rest, state };
        }
        self.release_barriers(block)
    }
}

/// Merges the running groups that are at one instruction.
fn merge(groups: &mut Vec<Group>) {
    let mut first = 0;
    while first < groups.len() {
        let mut second = first + 1;
        while second < groups.len() {
            let (a, b) = (groups[first], groups[second]);
            let mergeable = matches!(a.state, GroupState::Running) && a.state == b.state;
            if mergeable && a.at == b.at {
                groups[first].mask |= b.mask;
                groups.swap_remove(second);
            } else {
                second += 1;
            }
        }
        first += 1;
    }
}
