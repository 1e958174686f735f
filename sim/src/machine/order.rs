//! Happens-before: which earlier accesses are ordered before what a thread does now.
//!
//! Each block has a clock that advances at every event that orders. An access is stamped with its
//! block, its thread and the clock of its block. What a thread knows to lie before it is, per
//! block, a clock up to which *all* threads' accesses are covered, and clocks for single threads
//! beyond that. Barriers cover whole blocks; warp barriers and releases cover single threads.
//!
//! An acquire counts for the thread that executes it until the next barrier spreads what it knows;
//! so both a release and an acquire that lack their barrier are found.

use crate::isa::code::Scope;
use crate::isa::lanes::WARP_LANES;
use std::collections::HashMap;
use std::sync::Arc;

/// An access as later ones see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// The block's number.
    pub block: u32,
    /// The clock of the block; 0 if there was no access.
    pub clock: u32,
    /// The thread's number within its block.
    pub thread: u16,
    /// 0 for a weak access, 1 for an atomic one among the block, 2 for one among the device.
    pub strength: u8,
}

/// Returns the strength of an access for [`Stamp::strength`].
pub fn strength(scope: Option<Scope>) -> u8 {
    match scope {
        None => 0,
        Some(Scope::Block) => 1,
        Some(Scope::Device | Scope::System) => 2,
    }
}

/// The accesses that lie before something.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Per block, the clock up to which all its accesses are covered.
    blocks: Vec<u32>,
    /// Per block and thread, a later clock.
    threads: HashMap<(u32, u16), u32>,
}

impl Knowledge {
    fn block(&self, block: u32) -> u32 {
        self.blocks.get(block as usize).copied().unwrap_or(0)
    }

    fn covers(&self, stamp: &Stamp) -> bool {
        self.block(stamp.block) >= stamp.clock
            || self.threads.get(&(stamp.block, stamp.thread)).is_some_and(|&c| c >= stamp.clock)
    }

    fn learn_block(&mut self, block: u32, clock: u32) {
        let block = block as usize;
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, 0);
        }
        self.blocks[block] = self.blocks[block].max(clock);
    }

    fn learn_thread(&mut self, block: u32, thread: u16, clock: u32) {
        if self.block(block) < clock {
            let known = self.threads.entry((block, thread)).or_default();
            *known = clock.max(*known);
        }
    }

    fn join(&mut self, other: &Knowledge) {
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), 0);
        }
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            *mine = (*mine).max(*theirs);
        }
        for (&(block, thread), &clock) in &other.threads {
            self.learn_thread(block, thread, clock);
        }
    }
}

/// What a release makes known.
#[derive(Clone, Debug)]
pub struct Publication {
    base: Arc<Knowledge>,
    /// Block, thread and clock beyond the base.
    extra: Vec<(u32, u16, u32)>,
    /// It reaches other blocks.
    wide: bool,
}

impl Publication {
    fn spread(&self, knowledge: &mut Knowledge) {
        knowledge.join(&self.base);
        for &(block, thread, clock) in &self.extra {
            knowledge.learn_thread(block, thread, clock);
        }
    }

    fn merge(&mut self, other: &Publication) {
        other.spread(Arc::make_mut(&mut self.base));
        self.wide |= other.wide;
    }
}

/// A word that threads synchronise by.
#[derive(Clone, Debug, Default)]
pub struct SyncVariable {
    published: Option<Publication>,
    /// The block and the thread that wrote it last.
    last: Option<(u32, u16)>,
}

/// The ordering of an atomic access, for [`ThreadOrder::strong_access`].
#[derive(Clone, Copy, Debug)]
pub struct StrongAccess {
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// It acquires.
    pub acquires: bool,
    /// It releases.
    pub releases: bool,
    /// Its scope.
    pub scope: Scope,
}

/// What the threads of one block know.
#[derive(Debug)]
pub struct ThreadOrder {
    block: u32,
    clock: u32,
    /// The clock of the last barrier of all threads.
    barrier: u32,
    /// What all threads know.
    common: Arc<Knowledge>,
    /// What single threads know beyond that; it contains the common part.
    private: HashMap<u16, Arc<Knowledge>>,
    /// What the last fence of a thread made ready to be published.
    fenced: HashMap<u16, Publication>,
    /// What a thread read by relaxed accesses, known after its next fence.
    pending: HashMap<u16, Knowledge>,
    /// Per warp and other warp: the clock up to which it is covered (partial barriers).
    warps: Vec<Vec<u32>>,
    /// Per warp, lane and other lane of the warp: the same (warp barriers).
    lanes: Vec<Box<[[u32; WARP_LANES]; WARP_LANES]>>,
}

impl ThreadOrder {
    /// The order of a block of so many warps that starts.
    pub fn new(block: u32, warps: usize) -> ThreadOrder {
        ThreadOrder {
            block,
            clock: 1,
            barrier: 0,
            common: Arc::default(),
            private: HashMap::new(),
            fenced: HashMap::new(),
            pending: HashMap::new(),
            warps: vec![vec![0; warps]; warps],
            lanes: vec![Box::new([[0; WARP_LANES]; WARP_LANES]); warps],
        }
    }

    /// Returns the stamp of an access that a thread makes now.
    pub fn stamp(&self, thread: u16, strength: u8) -> Stamp {
        Stamp { block: self.block, clock: self.clock, thread, strength }
    }

    /// Returns true if an access lies before what a thread does now.
    pub fn is_before(&self, stamp: &Stamp, thread: u16) -> bool {
        if stamp.block == self.block {
            let (warp, lane) = split(thread);
            let (other_warp, other_lane) = split(stamp.thread);
            if stamp.thread == thread
                || stamp.clock <= self.barrier
                || self.warps[warp][other_warp] >= stamp.clock
                || warp == other_warp && self.lanes[warp][lane][other_lane] >= stamp.clock
            {
                return true;
            }
        }
        self.known(thread).covers(stamp)
    }

    fn known(&self, thread: u16) -> &Arc<Knowledge> {
        self.private.get(&thread).unwrap_or(&self.common)
    }

    /// Orders all threads: what they did lies before what they do.
    pub fn barrier(&mut self) {
        self.barrier = self.clock;
        let common = Arc::make_mut(&mut self.common);
        for (_, private) in self.private.drain() {
            common.join(&private);
        }
        common.learn_block(self.block, self.clock);
        self.clock += 1;
    }

    /// Orders the threads of some warps.
    pub fn partial_barrier(&mut self, members: &[usize]) {
        let mut row = vec![0; self.warps.len()];
        for &member in members {
            for (joined, clock) in row.iter_mut().zip(&self.warps[member]) {
                *joined = (*joined).max(*clock);
            }
        }
        for &member in members {
            row[member] = self.clock;
        }
        for &member in members {
            self.warps[member].clone_from(&row);
        }
        let threads = members.iter().flat_map(|&warp| (0..WARP_LANES).map(move |l| join(warp, l)));
        self.share(threads.collect());
        self.clock += 1;
    }

    /// Orders lanes of a warp.
    pub fn warp_barrier(&mut self, warp: usize, mask: u32) {
        let members: Vec<usize> = lanes_of(mask).collect();
        let mut row = [0; WARP_LANES];
        for &member in &members {
            for (joined, clock) in row.iter_mut().zip(&self.lanes[warp][member]) {
                *joined = (*joined).max(*clock);
            }
        }
        for &member in &members {
            row[member] = self.clock;
        }
        for &member in &members {
            self.lanes[warp][member] = row;
        }
        self.share(members.iter().map(|&lane| join(warp, lane)).collect());
        self.clock += 1;
    }

    /// Spreads what single threads know among them.
    fn share(&mut self, threads: Vec<u16>) {
        if !threads.iter().any(|thread| self.private.contains_key(thread)) {
            return;
        }
        let mut joined = (*self.common).clone();
        for thread in &threads {
            if let Some(private) = self.private.get(thread) {
                joined.join(private);
            }
        }
        let joined = Arc::new(joined);
        for thread in threads {
            self.private.insert(thread, joined.clone());
        }
    }

    /// Executes a fence of a thread.
    pub fn fence(&mut self, thread: u16, scope: Scope) {
        if let Some(pending) = self.pending.remove(&thread) {
            self.learn(thread, |known| known.join(&pending));
        }
        let publication = self.publish(thread, scope);
        self.fenced.insert(thread, publication);
    }

    fn learn(&mut self, thread: u16, f: impl FnOnce(&mut Knowledge)) {
        let common = &self.common;
        f(Arc::make_mut(self.private.entry(thread).or_insert_with(|| common.clone())));
    }

    fn publish(&mut self, thread: u16, scope: Scope) -> Publication {
        let (warp, lane) = split(thread);
        let mut extra = vec![(self.block, thread, self.clock)];
        for (other, &clock) in self.lanes[warp][lane].iter().enumerate() {
            if clock > self.barrier {
                extra.push((self.block, join(warp, other), clock));
            }
        }
        for (other, &clock) in self.warps[warp].iter().enumerate() {
            if clock > self.barrier {
                extra.extend((0..WARP_LANES).map(|lane| (self.block, join(other, lane), clock)));
            }
        }
        self.clock += 1;
        Publication { base: self.known(thread).clone(), extra, wide: scope > Scope::Block }
    }

    /// Executes an atomic access of a thread to a word.
    pub fn strong_access(
        &mut self,
        thread: u16,
        variable: &mut SyncVariable,
        access: StrongAccess,
    ) {
        let wide = access.scope > Scope::Block;
        if access.reads
            && let Some(published) = &variable.published
            && (wide && published.wide || variable.last.is_some_and(|last| last.0 == self.block))
        {
            if access.acquires {
                self.learn(thread, |known| published.spread(known));
            } else {
                published.spread(self.pending.entry(thread).or_default());
            }
        }
        if !access.writes {
            return;
        }
        let mut publication = if access.releases {
            Some(self.publish(thread, access.scope))
        } else {
            self.fenced.get(&thread).cloned()
        };
        if let Some(publication) = &mut publication {
            publication.wide &= wide;
        }
        let me = (self.block, thread);
        // A read-modify-write continues the releases before it, as does a store after one's own.
        let continues = access.reads || variable.last == Some(me);
        match (&mut variable.published, publication) {
            (Some(published), Some(publication)) if continues => published.merge(&publication),
            (Some(_), None) if continues => {}
            (published, publication) => *published = publication,
        }
        variable.last = Some(me);
    }
}

/// Returns the warp and the lane of a thread.
fn split(thread: u16) -> (usize, usize) {
    (usize::from(thread) / WARP_LANES, usize::from(thread) % WARP_LANES)
}

/// Returns the thread of a warp and a lane.
fn join(warp: usize, lane: usize) -> u16 {
    (warp * WARP_LANES + lane) as u16
}

/// Returns the lanes of a mask.
pub fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_LANES).filter(move |lane| mask >> lane & 1 == 1)
}
