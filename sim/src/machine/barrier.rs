//! Barriers of a block.

use super::block::{Block, Group, GroupState};
use super::fault::{Failure, FaultKind};
use super::order::lanes_of;
use super::run::Machine;
use super::step::{At, Flow};
use crate::isa::code::{Barrier, BarrierResult, Op, Register};
use crate::isa::lanes::WARP_LANES;

/// The number of barriers that a block has.
const BARRIERS: u32 = 16;

impl Machine<'_> {
    /// Lets the active lanes arrive at a barrier.
    pub(super) fn arrive(
        &mut self,
        block: &mut Block,
        at: At,
        barrier: &Barrier,
    ) -> Result<Flow, Failure> {
        let warp = &mut block.warps[at.warp];
        let diverged = |message: String| {
            Err(Failure::of_thread(FaultKind::BarrierDivergence, at.first_thread(), message))
        };
        let id = uniform(&warp.registers, barrier.id, at.active);
        let Some(id) = id.filter(|&id| id < BARRIERS) else {
            return diverged(format!("the number of a barrier must be uniform, below {BARRIERS}"));
        };
        if barrier.aligned {
            let exited = warp.exited & warp.existing;
            if exited != 0 {
                return diverged(format!("lanes {exited:#x} of the warp have exited"));
            }
            if at.active != at.lanes {
                let message = format!("the guard holds in lanes {:#x} alone", at.active);
                return diverged(message);
            }
            let here = |group: &Group| group.state == GroupState::AwaitsLanes && group.at == at.pc;
            let arrived = warp.groups.iter().filter(|g| here(g)).fold(at.lanes, |m, g| m | g.mask);
            if arrived != warp.live() {
                warp.groups[at.group] =
                    Group { at: at.pc, mask: at.lanes, state: GroupState::AwaitsLanes };
                return Ok(Flow::Regroup);
            }
            for group in &mut warp.groups {
                group.mask = 0;
            }
            warp.groups[at.group] =
                Group { at: at.pc, mask: arrived, state: GroupState::AtBarrier(id) };
            warp.groups.retain(|group| group.mask != 0);
        } else {
            let passing = at.lanes & !at.active;
            warp.groups[at.group] =
                Group { at: at.pc, mask: at.active, state: GroupState::AtBarrier(id) };
            if passing != 0 {
                let state = GroupState::Running;
                warp.groups.push(Group { at: at.pc + 1, mask: passing, state });
            }
        }
        self.counters.barriers += 1;
        self.release_barrier(block, id)?;
        Ok(Flow::Regroup)
    }

    /// Releases the barriers that are complete now that threads have exited.
    pub(super) fn release_barriers(&mut self, block: &mut Block) -> Result<(), Failure> {
        let mut ids = 0u32;
        for group in block.warps.iter().flat_map(|warp| &warp.groups) {
            if let GroupState::AtBarrier(id) = group.state {
                ids |= 1 << id;
            }
        }
        for id in lanes_of(ids) {
            self.release_barrier(block, id as u32)?;
        }
        Ok(())
    }

    /// Releases a barrier if all its threads have arrived.
    fn release_barrier(&mut self, block: &mut Block, id: u32) -> Result<(), Failure> {
        let mut arrived = 0;
        let mut members = Vec::new();
        let mut wanted = None;
        for (number, warp) in block.warps.iter().enumerate() {
            let waiting = warp.groups.iter().filter(|g| g.state == GroupState::AtBarrier(id));
            for group in waiting {
                let Op::Barrier(barrier) = &self.kernel.code[group.at as usize].op else {
                    continue;
                };
                let threads = barrier.threads.map(|register| {
                    let lanes = &warp.registers[usize::from(register)];
                    lanes[group.mask.trailing_zeros() as usize] as u32
                });
                if *wanted.get_or_insert(threads) != threads {
                    let message =
                        format!("barrier {id} is awaited by different numbers of threads");
                    return Err(Failure::of_block(FaultKind::BarrierDivergence, message));
                }
                arrived += group.mask.count_ones();
                if members.last() != Some(&number) {
                    members.push(number);
                }
            }
        }
        let complete = match wanted.flatten() {
            None => arrived == block.live,
            Some(threads) if threads % WARP_LANES as u32 != 0 || threads == 0 => {
                let message = format!("a barrier of {threads} threads: whole warps are needed");
                return Err(Failure::of_block(FaultKind::BarrierDivergence, message));
            }
            // A warp that is not full counts as a full one.
            Some(threads) => members.len() as u32 * WARP_LANES as u32 == threads,
        };
        if complete && arrived > 0 {
            let all = arrived == block.live;
            self.complete_barrier(block, id, &members, all)?;
        }
        Ok(())
    }

    fn complete_barrier(
        &mut self,
        block: &mut Block,
        id: u32,
        members: &[usize],
        all: bool,
    ) -> Result<(), Failure> {
        let (mut count, mut every, mut some) = (0u32, true, false);
        for_each_waiting(block, self.kernel, id, members, |warp, group, result| {
            let source = match result {
                BarrierResult::None => return,
                BarrierResult::Count { source, .. } | BarrierResult::Predicate { source, .. } => {
                    source
                }
            };
            let votes = warp.guard(source) & group.mask;
            count += votes.count_ones();
            every &= votes == group.mask;
            some |= votes != 0;
        });
        for_each_waiting(block, self.kernel, id, members, |warp, group, result| match result {
            BarrierResult::None => {}
            BarrierResult::Count { destination, .. } => {
                warp.put(destination, &[u64::from(count); WARP_LANES], group.mask);
            }
            BarrierResult::Predicate { all, destination, .. } => {
                let holds = if all { every } else { some };
                warp.put_predicate(destination, if holds { u32::MAX } else { 0 }, group.mask);
            }
        });
        for &member in members {
            for group in &mut block.warps[member].groups {
                if group.state == GroupState::AtBarrier(id) {
                    *group = Group { at: group.at + 1, state: GroupState::Running, ..*group };
                }
            }
        }
        if let Some(checks) = &mut block.checks {
            if all {
                checks.order.barrier();
            } else {
                checks.order.partial_barrier(members);
            }
        }
        Ok(())
    }
}

/// Calls `f` for each group that waits at a barrier.
fn for_each_waiting(
    block: &mut Block,
    kernel: &crate::isa::code::Kernel,
    id: u32,
    members: &[usize],
    mut f: impl FnMut(&mut super::block::Warp, Group, BarrierResult),
) {
    for &member in members {
        let warp = &mut block.warps[member];
        for index in 0..warp.groups.len() {
            let group = warp.groups[index];
            if group.state == GroupState::AtBarrier(id)
                && let Op::Barrier(barrier) = &kernel.code[group.at as usize].op
            {
                f(warp, group, barrier.result);
            }
        }
    }
}

/// Returns the value of a register if it is the same in all lanes of a mask.
fn uniform(registers: &[crate::isa::lanes::Lanes], register: Register, mask: u32) -> Option<u32> {
    let lanes = &registers[usize::from(register)];
    let first = lanes[mask.trailing_zeros() as usize];
    lanes_of(mask).all(|lane| lanes[lane] == first).then_some(first as u32)
}
