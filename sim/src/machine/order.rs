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

/// Threads of a block: one thread by its number, or a warp by its number and this bit.
type Group = u16;

/// The bit of a [`Group`] that is a warp.
const WARP_BIT: Group = 1 << 15;

/// The accesses of one block that are covered.
#[derive(Clone, Copy, Debug, Default)]
struct BlockKnowledge {
    /// The clock up to which all accesses are covered.
    all: u32,
    /// Later clocks of some groups; a clock that is not later stands for none.
    later: [(Group, u32); 2],
}

/// The accesses that lie before something.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    blocks: Vec<BlockKnowledge>,
    /// Later clocks that found no room in `blocks`.
    others: HashMap<(u32, Group), u32>,
}

impl Knowledge {
    fn covers(&self, stamp: &Stamp) -> bool {
        let Some(known) = self.blocks.get(stamp.block as usize) else { return false };
        let warp = stamp.thread / WARP_LANES as u16;
        let groups = [stamp.thread, WARP_BIT | warp];
        known.all >= stamp.clock
            || known.later.iter().any(|(g, clock)| *clock >= stamp.clock && groups.contains(g))
            || !self.others.is_empty()
                && groups.iter().any(|group| {
                    self.others.get(&(stamp.block, *group)).is_some_and(|c| *c >= stamp.clock)
                })
    }

    fn block(&mut self, block: u32) -> &mut BlockKnowledge {
        let block = block as usize;
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, BlockKnowledge::default());
        }
        &mut self.blocks[block]
    }

    fn learn_block(&mut self, block: u32, clock: u32) {
        let known = self.block(block);
        known.all = known.all.max(clock);
    }

    fn learn_group(&mut self, block: u32, group: Group, clock: u32) {
        let known = self.block(block);
        let all = known.all;
        if all >= clock {
            return;
        }
        let same = known.later.iter().position(|(other, later)| *other == group && *later > all);
        match same.or_else(|| known.later.iter().position(|(_, later)| *later <= all)) {
            Some(at) if known.later[at].1 > clock => {}
            Some(at) => known.later[at] = (group, clock),
            None => {
                let later = self.others.entry((block, group)).or_default();
                *later = clock.max(*later);
            }
        }
    }

    fn join(&mut self, other: &Knowledge) {
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), BlockKnowledge::default());
        }
        for (block, theirs) in other.blocks.iter().enumerate() {
            let mine = &mut self.blocks[block];
            mine.all = mine.all.max(theirs.all);
            let all = mine.all;
            for (group, clock) in theirs.later {
                if clock > all {
                    self.learn_group(block as u32, group, clock);
                }
            }
        }
        for (&(block, group), &clock) in &other.others {
            self.learn_group(block, group, clock);
        }
    }
}

/// The knowledge that a release publishes.
#[derive(Clone, Debug)]
pub struct Publication {
    base: Arc<Knowledge>,
    /// The block that releases.
    block: u32,
    /// Groups of this block with clocks beyond the base.
    extra: Vec<(Group, u32)>,
    /// It reaches other blocks.
    wide: bool,
}

impl Publication {
    fn spread(&self, knowledge: &mut Knowledge) {
        knowledge.join(&self.base);
        for &(group, clock) in &self.extra {
            knowledge.learn_group(self.block, group, clock);
        }
    }

    /// Adds what an earlier release made known.
    fn continue_from(&mut self, earlier: &Publication) {
        let mut base = (*self.base).clone();
        earlier.spread(&mut base);
        self.base = Arc::new(base);
        self.wide |= earlier.wide;
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
    /// The access reads.
    pub reads: bool,
    /// The access writes.
    pub writes: bool,
    /// The access acquires.
    pub acquires: bool,
    /// The access releases.
    pub releases: bool,
    /// The scope of the ordering.
    pub scope: Scope,
}

/// The knowledge of the threads of one block.
#[derive(Debug)]
pub struct ThreadOrder {
    block: u32,
    clock: u32,
    /// The clock of the last barrier of all threads.
    barrier: u32,
    /// The knowledge of all threads.
    common: Arc<Knowledge>,
    /// The knowledge of single threads beyond that; it contains the common part.
    private: HashMap<u16, Arc<Knowledge>>,
    /// The knowledge that the last fence of a thread made ready to be published.
    fenced: HashMap<u16, Publication>,
    /// The knowledge from relaxed reads of a thread, valid after its next fence.
    pending: HashMap<u16, Knowledge>,
    /// Per warp and other warp: the clock up to which it is covered (partial barriers).
    warps: Vec<Vec<u32>>,
    /// The number of threads.
    threads: usize,
    /// Per warp, lane and other lane of the warp: the same (warp barriers).
    lanes: Vec<Box<[[u32; WARP_LANES]; WARP_LANES]>>,
}

impl ThreadOrder {
    /// The order of a block of so many threads that starts.
    pub fn new(block: u32, threads: usize) -> ThreadOrder {
        let warps = threads.div_ceil(WARP_LANES);
        ThreadOrder {
            block,
            clock: 1,
            barrier: 0,
            common: Arc::default(),
            private: HashMap::new(),
            fenced: HashMap::new(),
            pending: HashMap::new(),
            warps: vec![vec![0; warps]; warps],
            threads,
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
        let mut last: Option<Arc<Knowledge>> = None;
        for (_, private) in self.private.drain() {
            if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &private)) {
                common.join(&private);
                last = Some(private);
            }
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
        for (lane, clock) in row.iter_mut().enumerate() {
            // Lanes that are no threads count as members, so that the warp is whole.
            if mask >> lane & 1 == 1 || usize::from(join(warp, lane)) >= self.threads {
                *clock = self.clock;
            }
        }
        for &member in &members {
            self.lanes[warp][member] = row;
        }
        self.share(members.iter().map(|&lane| join(warp, lane)).collect());
        self.clock += 1;
    }

    /// Spreads what single threads know among them.
    fn share(&mut self, threads: Vec<u16>) {
        // Threads that learned the same share it: it is joined once.
        let mut distinct: Vec<&Arc<Knowledge>> = Vec::new();
        for private in threads.iter().map(|thread| self.known(*thread)) {
            if !distinct.iter().any(|known| Arc::ptr_eq(known, private)) {
                distinct.push(private);
            }
        }
        if distinct.len() < 2 {
            return;
        }
        let mut joined = (*self.common).clone();
        for private in distinct {
            joined.join(private);
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
        let mut extra = vec![(thread, self.clock)];
        let lanes = &self.lanes[warp][lane];
        let whole = lanes.iter().copied().min().unwrap_or(0);
        if whole > self.barrier {
            extra.push((WARP_BIT | warp as Group, whole));
        }
        for (other, &clock) in lanes.iter().enumerate() {
            if clock > self.barrier.max(whole) {
                extra.push((join(warp, other), clock));
            }
        }
        for (other, &clock) in self.warps[warp].iter().enumerate() {
            if clock > self.barrier {
                extra.push((WARP_BIT | other as Group, clock));
            }
        }
        self.clock += 1;
        let base = self.known(thread).clone();
        Publication { base, block: self.block, extra, wide: scope > Scope::Block }
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
            (Some(published), Some(mut publication)) if continues => {
                publication.continue_from(published);
                *published = publication;
            }
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
#[inline(always)]
pub fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WARP_LANES).then_some(lane)
    })
}
