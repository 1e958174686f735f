//! A launch: its blocks in their order, taking turns.

use super::beside;
use super::block::{Block, GroupState};
use super::fault::{Failure, Fault, FaultKind};
use super::memory::DeviceMemory;
use super::order::SyncVariable;
use super::shape::Launch;
use crate::counters::KernelCounters;
use crate::isa::code::Kernel;
use crate::options::{BlockOrder, Options};
use std::collections::HashMap;

/// A launch that runs.
pub(super) struct Machine<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) launch: &'a Launch<'a>,
    pub(super) memory: &'a mut DeviceMemory,
    pub(super) options: &'a Options,
    pub(super) counters: KernelCounters,
    /// The words of global memory that threads synchronise by.
    pub(super) sync: HashMap<u64, SyncVariable>,
    pub(super) random: Random,
}

/// Executes a launch to its end and returns what it did, or its first fault.
pub fn launch(
    launch: &Launch<'_>,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Result<KernelCounters, Box<Fault>> {
    let mut machine = Machine {
        kernel: launch.kernel,
        launch,
        memory,
        options,
        counters: KernelCounters { launches: 1, ..KernelCounters::default() },
        sync: HashMap::new(),
        random: Random::new(options.seed),
    };
    machine.run()?;
    Ok(machine.counters)
}

impl Machine<'_> {
    fn run(&mut self) -> Result<(), Box<Fault>> {
        let blocks = self.launch.shape.blocks();
        let mut order = Order::new(self.options.order, blocks, &mut self.random);
        let resident =
            if self.launch.cooperative { blocks as usize } else { self.options.resident_blocks };
        let mut running: Vec<Block> = Vec::new();
        let mut idle: Vec<Block> = Vec::new();
        let mut turn = 0usize;
        loop {
            while running.len() < resident
                && let Some(number) = order.next()
            {
                let mut block =
                    idle.pop().unwrap_or_else(|| Block::new(self.kernel, &self.launch.shape));
                block.start(self.kernel, &self.launch.shape, number, self.options.check);
                running.push(block);
            }
            if running.is_empty() {
                return Ok(());
            }
            let first = match self.options.order {
                BlockOrder::Random => self.random.below(running.len()),
                BlockOrder::Forward | BlockOrder::Reverse => turn % running.len(),
            };
            turn = turn.wrapping_add(1);
            let Some((chosen, warp)) = self.runnable(&running, first, turn) else {
                return Err(self.deadlock(&running[0]));
            };
            beside::take(self.memory).map_err(|(kind, message)| {
                self.fault(&running[chosen], 0, Failure::of_block(kind, message))
            })?;
            self.turn(&mut running[chosen], warp)?;
            if running[chosen].live == 0 {
                idle.push(running.swap_remove(chosen));
            }
        }
    }

    /// Chooses a warp that can run, from the block with a number on.
    fn runnable(&mut self, running: &[Block], first: usize, turn: usize) -> Option<(usize, usize)> {
        for distance in 0..running.len() {
            let chosen = (first + distance) % running.len();
            let warps = &running[chosen].warps;
            let start = match self.options.order {
                BlockOrder::Forward => turn / running.len(),
                BlockOrder::Reverse => warps.len() - 1 - turn / running.len() % warps.len(),
                BlockOrder::Random => self.random.below(warps.len()),
            };
            for step in 0..warps.len() {
                let warp = (start + step) % warps.len();
                if warps[warp].groups.iter().any(|group| group.state == GroupState::Running) {
                    return Some((chosen, warp));
                }
            }
        }
        None
    }

    /// Lets a warp take its turn.
    fn turn(&mut self, block: &mut Block, warp: usize) -> Result<(), Box<Fault>> {
        let quantum = match self.options.order {
            BlockOrder::Random => 1 + self.random.below(self.options.quantum as usize) as u32,
            BlockOrder::Forward | BlockOrder::Reverse => self.options.quantum,
        };
        let (mut line, before) = (0, self.counters.warp_instructions);
        let outcome = self.run_warp(block, warp, quantum, &mut line).and_then(|()| {
            let executed = &mut block.warps[warp].executed;
            *executed += self.counters.warp_instructions - before;
            self.counters.longest_warp = self.counters.longest_warp.max(*executed);
            if self.counters.warp_instructions <= self.options.budget {
                return Ok(());
            }
            let message = format!("{} instructions without an end", self.options.budget);
            Err(Failure::of_block(FaultKind::Budget, message))
        });
        outcome.map_err(|failure| self.fault(block, line, failure))
    }

    fn fault(&self, block: &Block, line: u32, failure: Failure) -> Box<Fault> {
        Box::new(Fault {
            kind: failure.kind,
            kernel: self.kernel.name.clone(),
            line,
            text: self.kernel.source.line(line).to_owned(),
            block: block.id,
            thread: failure.thread,
            message: failure.message,
        })
    }

    /// Returns the fault of a block in which no warp can run.
    fn deadlock(&self, block: &Block) -> Box<Fault> {
        let mut kind = FaultKind::Deadlock;
        let mut place = 0;
        let mut waiting = Vec::new();
        for (number, warp) in block.warps.iter().enumerate() {
            for group in &warp.groups {
                let line = self.kernel.code[group.at as usize].line;
                let why = match group.state {
                    GroupState::Running => "runs",
                    GroupState::AwaitsMembers => {
                        kind = FaultKind::MemberMask;
                        "waits for the members of its mask"
                    }
                    GroupState::AtBarrier(_) => "waits at a barrier",
                    GroupState::AwaitsLanes => {
                        kind = FaultKind::BarrierDivergence;
                        "waits for the other lanes of its warp"
                    }
                };
                if place == 0 || !matches!(group.state, GroupState::AtBarrier(_)) {
                    place = line;
                }
                waiting.push(format!("warp {number} lanes {:#x} {why} in line {line}", group.mask));
            }
        }
        self.fault(block, place, Failure::of_block(kind, waiting.join("; ")))
    }
}

/// The numbers of the blocks in the order in which they start.
enum Order {
    Forward { next: u32, end: u32 },
    Reverse { left: u32 },
    Listed(Vec<u32>),
}

impl Order {
    fn new(order: BlockOrder, blocks: u64, random: &mut Random) -> Order {
        let blocks = blocks as u32;
        match order {
            BlockOrder::Forward => Order::Forward { next: 0, end: blocks },
            BlockOrder::Reverse => Order::Reverse { left: blocks },
            BlockOrder::Random => {
                let mut list: Vec<u32> = (0..blocks).collect();
                for k in (1..list.len()).rev() {
                    list.swap(k, random.below(k + 1));
                }
                Order::Listed(list)
            }
        }
    }

    fn next(&mut self) -> Option<u32> {
        match self {
            Order::Forward { next, end } => (next < end).then(|| {
                *next += 1;
                *next - 1
            }),
            Order::Reverse { left } => {
                *left = left.checked_sub(1)?;
                Some(*left)
            }
            Order::Listed(list) => list.pop(),
        }
    }
}

/// A small generator of random numbers (xorshift): the same seed gives the same schedule.
pub(super) struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.bits();
        }
        random
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number less than a positive bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 16) as usize % bound
    }
}
