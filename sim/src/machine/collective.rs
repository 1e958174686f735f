//! Instructions of the members of a warp: they wait for all lanes that their mask names.

use super::block::{Block, Group, GroupState, Warp};
use super::fault::{Failure, FaultKind};
use super::order::lanes_of;
use super::run::Machine;
use super::step::{At, Flow};
use crate::isa::code::{Collective, MultiplyAdd, Register, Shuffle, ShuffleMode, VoteMode};
use crate::isa::lanes::WARP_LANES;

impl Machine<'_> {
    /// Executes a collective instruction for each set of members that is complete, and lets the
    /// others wait.
    pub(super) fn collective(
        &mut self,
        block: &mut Block,
        at: At,
        mask: Register,
        what: &Collective,
    ) -> Result<Flow, Failure> {
        self.counters.collectives += 1;
        let masks = block.warps[at.warp].registers[usize::from(mask)];
        // The lanes whose guard is false pass.
        let mut done = at.lanes & !at.active;
        let mut waiting = Vec::new();
        let mut rest = at.active;
        while rest != 0 {
            let named = masks[rest.trailing_zeros() as usize];
            let here =
                lanes_of(rest).filter(|&lane| masks[lane] == named).fold(0, |m, l| m | 1 << l);
            rest &= !here;
            let warp = &mut block.warps[at.warp];
            let wanted = named as u32 & warp.existing;
            check_members(at, here, wanted, warp.exited)?;
            let mut members = here;
            let is_member = |group: &Group| {
                group.state == GroupState::AwaitsMembers
                    && group.at == at.pc
                    && masks[group.mask.trailing_zeros() as usize] == named
            };
            for group in warp.groups.iter().filter(|group| is_member(group)) {
                members |= group.mask;
            }
            if members == wanted {
                for group in warp.groups.iter_mut().filter(|group| is_member(group)) {
                    group.mask = 0;
                }
                perform(block, at, members, what)?;
                done |= members;
            } else {
                waiting.push(Group { at: at.pc, mask: here, state: GroupState::AwaitsMembers });
            }
        }
        let groups = &mut block.warps[at.warp].groups;
        if waiting.is_empty() && done == at.lanes {
            return Ok(Flow::Next);
        }
        groups[at.group] = Group { at: at.pc + 1, mask: done, state: GroupState::Running };
        groups.extend(waiting);
        groups.retain(|group| group.mask != 0);
        Ok(Flow::Regroup)
    }
}

/// Fails if lanes execute an instruction that does not name them, or that names exited ones.
fn check_members(at: At, here: u32, wanted: u32, exited: u32) -> Result<(), Failure> {
    let message = if here & !wanted != 0 {
        format!("lanes {here:#x} execute an instruction whose member mask is {wanted:#x}")
    } else if wanted & exited != 0 {
        format!("the member mask {wanted:#x} names lanes {:#x}, which exited", wanted & exited)
    } else {
        return Ok(());
    };
    let thread = at.thread(here.trailing_zeros() as usize);
    Err(Failure::of_thread(FaultKind::MemberMask, thread, message))
}

/// Executes the instruction for its complete members.
fn perform(block: &mut Block, at: At, members: u32, what: &Collective) -> Result<(), Failure> {
    let warp = &mut block.warps[at.warp];
    match *what {
        Collective::Barrier => {
            if let Some(checks) = &mut block.checks {
                checks.order.warp_barrier(at.warp, members);
            }
        }
        Collective::Shuffle(shuffle) => return perform_shuffle(warp, at, members, &shuffle),
        Collective::Vote { mode, ballot, destination, source } => {
            let votes = warp.guard(source) & members;
            let result = match mode {
                VoteMode::Ballot => {
                    warp.put(ballot, &[u64::from(votes); WARP_LANES], members);
                    return Ok(());
                }
                VoteMode::All => votes == members,
                VoteMode::Any => votes != 0,
                VoteMode::Uniform => votes == members || votes == 0,
            };
            warp.put_predicate(destination, if result { u32::MAX } else { 0 }, members);
        }
        Collective::MatchAny { destination, value } => {
            let values = warp.registers[usize::from(value)];
            let equal = values.map(|wanted| {
                lanes_of(members).filter(|&lane| values[lane] == wanted).fold(0, |m, l| m | 1 << l)
            });
            warp.put(destination, &equal, members);
        }
        Collective::MatchAll { destination, equal, value } => {
            let values = warp.registers[usize::from(value)];
            let first = values[members.trailing_zeros() as usize];
            let same = lanes_of(members).all(|lane| values[lane] == first);
            let result = if same { u64::from(members) } else { 0 };
            warp.put(destination, &[result; WARP_LANES], members);
            if let Some(equal) = equal {
                warp.put_predicate(equal, if same { u32::MAX } else { 0 }, members);
            }
        }
        Collective::MultiplyAdd(what) => multiply_add(warp, members, &what),
        Collective::Reduce { op, destination, value } => {
            let values = warp.registers[usize::from(value)];
            let result = lanes_of(members).map(|lane| values[lane]).reduce(op.one);
            warp.put(destination, &[result.unwrap_or(0); WARP_LANES], members);
        }
    }
    Ok(())
}

/// Adds the product of two matrices to a third one. Lane `4 * group + member` has these elements:
///
/// ```text
/// a[i]  row group + 8 * (i % 2), column member + 4 * (i / 2)
/// b[i]  row member + 4 * i, column group
/// c[i]  row group + 8 * (i / 2), column 2 * member + i % 2; `d` alike
/// ```
///
/// The products are added in ascending order, each in one rounding: so does the H200, of which 10 million
/// random sums were compared.
fn multiply_add(warp: &mut Warp, members: u32, what: &MultiplyAdd) {
    let element = |warp: &Warp, register: Register, lane: usize| {
        f64::from_bits(warp.registers[usize::from(register)][lane])
    };
    let mut results = [[0; WARP_LANES]; 4];
    for lane in 0..WARP_LANES {
        let (group, member) = (lane / 4, lane % 4);
        for (i, (register, result)) in what.c.iter().zip(&mut results).enumerate() {
            let mut sum = element(warp, *register, lane);
            for k in 0..8 {
                let left = what.a[i / 2 + 2 * (k / 4)];
                let right = what.b[k / 4];
                let column = 2 * member + i % 2;
                let left = element(warp, left, 4 * group + k % 4);
                let right = element(warp, right, 4 * column + k % 4);
                sum = left.mul_add(right, sum);
            }
            result[lane] = sum.to_bits();
        }
    }
    for (register, result) in what.d.iter().zip(&results) {
        warp.put(*register, result, members);
    }
}

fn perform_shuffle(
    warp: &mut Warp,
    at: At,
    members: u32,
    shuffle: &Shuffle,
) -> Result<(), Failure> {
    let values = warp.registers[usize::from(shuffle.value)];
    let lanes = warp.registers[usize::from(shuffle.lane)];
    let clamps = warp.registers[usize::from(shuffle.clamp)];
    let mut out = [0; WARP_LANES];
    let mut in_range = 0u32;
    for lane in lanes_of(members) {
        let (source, valid) = source_lane(shuffle.mode, lane, lanes[lane], clamps[lane]);
        let source = if valid { source } else { lane };
        if members >> source & 1 == 0 {
            let message = format!("the shuffle reads lane {source}, which is no member");
            return Err(Failure::of_thread(FaultKind::MemberMask, at.thread(lane), message));
        }
        in_range |= u32::from(valid) << lane;
        out[lane] = values[source];
    }
    warp.put(shuffle.destination, &out, members);
    if let Some(predicate) = shuffle.in_range {
        warp.put_predicate(predicate, in_range, members);
    }
    Ok(())
}

/// Returns the lane that a lane reads from, and whether it is in the lane's segment.
fn source_lane(mode: ShuffleMode, lane: usize, operand: u64, clamp: u64) -> (usize, bool) {
    let distance = operand as usize & 31;
    let segment = (clamp >> 8) as usize & 31;
    let last = lane & segment | (clamp as usize & 31) & !segment;
    match mode {
        ShuffleMode::Up => (lane.wrapping_sub(distance), lane >= last + distance),
        ShuffleMode::Down => (lane + distance, lane + distance <= last),
        ShuffleMode::Butterfly => (lane ^ distance, lane ^ distance <= last),
        ShuffleMode::Index => {
            let source = lane & segment | distance & !segment;
            (source, source <= last)
        }
    }
}
