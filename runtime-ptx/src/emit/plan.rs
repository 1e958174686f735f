//! The passes of a kernel: entries that are launched one after the other.
//!
//! Most kernels are one pass: a scan, pack or reduction of segments learns what lies before its tile
//! from the other blocks (`lookback`). Only the stage behind a reduction of segments needs its
//! results for all elements, and the launcher needs the total of a scan of lengths before it can
//! allocate: they are prepared by a pass of their own, which executes the stages up to theirs without
//! effects.
//!
//! ```text
//! Prepare(s)   the reductions of segments of stage s whose results later stages read; the totals
//!              of its scans that the launcher reads
//! Tag          for each element that is scattered to, the last work item that does
//! Measure      the scratch memory that the work items need
//! Final        everything
//! ```
//!
//! The results that a pass leaves for another, or a block for the last block, lie in [`Area`]s.
//!
//! A pass that reduces equal segments has two entries: one for tiles, and one in which some lanes of
//! a warp take each segment (`lanes`). The launcher chooses by the size of the space ([`Plan::lanes`]).

use super::collective::WARP_THREADS;
use super::scratch::{Scratch, allocates};
use super::shape::{BLOCK_THREADS, TileShape, is_short};
use nesl_runtime::bug;
use nesl_runtime::kir::{
    Combine, Inst, Kernel, Op, Scope, Sink, Space, Stage, Ty, Value, ValueTy, walk,
};

/// A pass over the index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Reduces the segments of this stage whose results the later ones read, and finds the totals
    /// that the launcher reads.
    Prepare(usize),
    /// Finds, for each element of an array that is scattered to, the last work item that does: of
    /// several at one index the last one wins.
    Tag,
    /// Allocates as the final pass does, to measure the scratch memory.
    Measure,
    /// Executes all effects and writes all results.
    Final,
}

/// Device memory that a kernel needs while it is executed, by its unit. The launcher allocates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// 8 bytes for each block: partial results of a reduction.
    Blocks,
    /// 8 bytes for each of the parts of the space ([`Plan::parts`]): partial results of a reduction
    /// that rounds.
    Parts,
    /// No memory: the number of these parts.
    PartNumber,
    /// [`status_bytes`] for the tiles of the space: the states that tiles publish. They lie in
    /// memory that nobody else writes.
    Status,
    /// 8 bytes for each segment: the results of a reduction.
    Segments,
    /// 8 bytes for each element of an array parameter, 0 in the beginning: the last work item that
    /// scatters there, counted from 1 on.
    Tags(Value),
    /// No memory: the binary logarithm of the number of lanes of a segment, where those of a pass may
    /// be taken by lanes.
    LanesShift,
    /// No memory: the number of bins of the table that a block has in shared memory for a
    /// histogram, by its array, operator and type; 0 if it has none.
    Table(Value, Combine, Ty),
}

/// The most elements of a segment, for each of its lanes, up to which segments are taken by lanes
/// however few they are.
const MOST_ELEMENTS_OF_LANE: u64 = 32;

/// The number of elements of 8 bytes of a sector.
const ALIGNED_ELEMENTS: u64 = 4;

/// The number of segments from which on they are taken by warps however long they are: then a large
/// device has enough warps.
const MANY_SEGMENTS: u64 = 4096;

/// The size of a published state, in bytes: two words.
pub const STATE_BYTES: usize = 16;

/// The number of work items that a thread has at least if their code is short and the device has
/// enough other threads.
const SHORT_ITEMS: u32 = 8;

/// The number of parts of a space without tiles, if there are as many threads, before a thread gets
/// several work items of a reduction that rounds.
const FEWEST_PARTS: u64 = 256;

/// The largest number of parts of a space without tiles: as many blocks as a large device holds.
const MOST_PARTS: u64 = 1024;

/// The number of low bits of the number of a pass that a state has.
pub const PASS_BITS: u32 = 31;

/// The number of tiles of a group, and of groups of a super-group: as many as a warp has lanes.
pub const GROUP_TILES: u64 = 32;

/// The size of the area for the published states of so many tiles, in bytes: one for each tile, for
/// each group of tiles, and for each super-group.
pub fn status_bytes(tiles: u64) -> u64 {
    let groups = tiles.div_ceil(GROUP_TILES);
    let super_groups = groups.div_ceil(GROUP_TILES);
    STATE_BYTES as u64 * (tiles + groups + super_groups + 1)
}

/// The part of a sink in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is left out.
    Skip,
    /// It reduces segments into the second area; the first is for the states of the tiles.
    Prepare(usize, usize),
    /// Its result is read from this area, for later stages.
    Read(usize),
    /// It reduces over the whole space; the partial results of blocks are in this area.
    Grid(usize),
    /// It reduces segments into its array; the area is for the states of the tiles.
    Segments(usize),
    /// It scans, or packs, and in the final pass writes its arrays; the first area is for the states
    /// of the tiles. A pack that counts by segment needs the second for those of the counts.
    Ordered(usize, Option<usize>),
    /// It scans, and writes its total before the final pass; the area is for the states of the tiles.
    Total(usize),
    /// Each work item takes part by itself.
    Free,
    /// Each work item leaves its number in this area, if it is the last one for an element.
    Tag(usize),
    /// Each work item takes part by itself, if this area has its number.
    Tagged(usize),
}

/// The division of the work items of a kernel among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Blocks take tiles.
    Tiles,
    /// Threads take any number of work items; with fewer than so many another thread is not worth
    /// its while.
    Items(u32),
}

/// The way of an entry over the index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// That of the pass: by tiles, or by indices in any order.
    Elements,
    /// Some neighbouring lanes take each segment.
    Lanes,
}

/// The passes of a kernel, and the areas that they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The passes, in order; the last one is final.
    pub passes: Vec<Pass>,
    /// The entries: one for each pass, in order, and behind them those for the passes whose segments
    /// may be taken by lanes.
    pub entries: Vec<(Pass, Way)>,
    /// The areas of all passes.
    pub areas: Vec<Area>,
    /// The size of a tile.
    pub tile: TileShape,
    /// The division of the work items among threads.
    pub work: Work,
    /// The scratch memory of the work items.
    pub scratch: Scratch,
    /// The pass before the final one that allocates as much as that.
    pub measuring: Option<Pass>,
    /// For each sink, by stage: its areas.
    sinks: Vec<Vec<SinkAreas>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SinkAreas {
    /// The states of the tiles of a scan or pack; of a reduction over the grid, the partial results
    /// of blocks.
    carry: usize,
    /// The states of the tiles of a reduction of segments.
    tiles: usize,
    /// The results of a reduction of segments.
    segments: usize,
    /// The tags of a scatter, if the order of its work items matters.
    tags: Option<usize>,
    /// True if the launcher reads the total of a scan.
    is_read: bool,
}

impl Plan {
    /// Plans a kernel; `totals` are the arrays for totals that the launcher reads before the final
    /// pass.
    pub fn of(kernel: &Kernel, totals: &[Value]) -> Plan {
        let instructions = walk::stage_bodies(kernel).map(walk::count_insts).sum();
        let tile = TileShape::of(instructions);
        let is_flat = matches!(kernel.space, Space::Flat { .. });
        let work = match (is_flat && !kernel.stages.iter().any(is_tiled), is_short(kernel)) {
            (true, true) => Work::Items(SHORT_ITEMS),
            (true, false) => Work::Items(1),
            (false, _) => Work::Tiles,
        };
        let (passes, entries, areas, sinks) = Default::default();
        let (scratch, measuring) = (Scratch::of(kernel), None);
        let mut plan = Plan { passes, entries, areas, tile, work, scratch, measuring, sinks };
        for (at, stage) in kernel.stages.iter().enumerate() {
            let is_read = |sink: &Sink| match sink {
                Sink::Scan { total: Some(total), .. } => totals.contains(total),
                _ => false,
            };
            let areas = stage.sinks.iter().map(|sink| SinkAreas {
                is_read: is_read(sink),
                ..plan.areas_of(kernel, stage, sink)
            });
            let areas = areas.collect();
            plan.sinks.push(areas);
            if stage.sinks.iter().any(|sink| is_prepared(sink) || is_read(sink)) {
                plan.passes.push(Pass::Prepare(at));
            }
        }
        if plan.areas.iter().any(|area| matches!(area, Area::Tags(_))) {
            plan.passes.push(Pass::Tag);
        }
        if plan.scratch == Scratch::Measured {
            plan.measure(kernel);
        }
        plan.passes.push(Pass::Final);
        let passes = plan.passes.iter();
        plan.entries = passes.clone().map(|pass| (*pass, Way::Elements)).collect();
        let by_lanes = passes.filter(|pass| plan.may_take_lanes(kernel, **pass));
        let by_lanes: Vec<(Pass, Way)> = by_lanes.map(|pass| (*pass, Way::Lanes)).collect();
        if !by_lanes.is_empty() {
            plan.areas.push(Area::LanesShift);
        }
        plan.entries.extend(by_lanes);
        plan
    }

    /// The number of the entry that a pass is launched with, if segments are taken by lanes where
    /// they may be.
    pub fn entry_by_lanes(&self, pass: usize) -> usize {
        let wanted = (self.passes[pass], Way::Lanes);
        self.entries.iter().position(|entry| *entry == wanted).unwrap_or(pass)
    }

    /// The number of lanes that take each segment of a regular space of some size; none if tiles are
    /// better. It depends on nothing else, so that floats are grouped in the same way on all devices.
    /// Lanes next to each other read whole sectors; more of them would be idle while the results of the
    /// others are combined.
    pub fn lanes(&self, elements: u64, segments: u64) -> Option<u32> {
        if !self.areas.contains(&Area::LanesShift) {
            return None;
        }
        let length = elements.checked_div(segments)?;
        // Shorter segments are cheaper in tiles. So are those that do not begin with a sector each:
        // the lanes of several segments would read the same sectors.
        let is_aligned = length.is_multiple_of(ALIGNED_ELEMENTS);
        let lanes = match length {
            12..=32 if is_aligned => 4,
            33..=64 if is_aligned => 8,
            65..=256 if is_aligned => 16,
            129.. => WARP_THREADS,
            _ => return None,
        };
        let is_long = length > MOST_ELEMENTS_OF_LANE * u64::from(lanes);
        (!is_long || segments >= MANY_SEGMENTS).then_some(lanes)
    }

    /// Returns true if a pass combines the elements of equal segments, and nothing in it asks for
    /// more of their order.
    fn may_take_lanes(&self, kernel: &Kernel, pass: Pass) -> bool {
        let mut reduces = false;
        for (at, stage) in self.stages(kernel, pass).iter().enumerate() {
            for (number, sink) in stage.sinks.iter().enumerate() {
                match self.role(sink, pass, at, number) {
                    Role::Segments(_) | Role::Prepare(..) => reduces = true,
                    Role::Skip | Role::Free | Role::Tag(_) | Role::Tagged(_) => {}
                    Role::Read(_) | Role::Grid(_) | Role::Ordered(..) | Role::Total(_) => {
                        return false;
                    }
                }
            }
        }
        let is_regular = matches!(kernel.space, Space::Regular { .. });
        reduces && is_regular && self.scratch == Scratch::None
    }

    /// The stages that a pass executes.
    fn stages<'a>(&self, kernel: &'a Kernel, pass: Pass) -> &'a [Stage] {
        match pass {
            Pass::Prepare(last) => &kernel.stages[..=last],
            Pass::Tag | Pass::Measure | Pass::Final => &kernel.stages,
        }
    }

    /// Returns true if the passes reduce by parts.
    pub fn has_parts(&self) -> bool {
        self.areas.contains(&Area::PartNumber)
    }

    /// The number of parts of a space of so many elements, which are reduced each by itself. It
    /// depends on nothing else, so that floats are grouped in the same way on all devices. A tile is a
    /// part, or what a block of a large device takes.
    pub fn parts(&self, elements: u64) -> u64 {
        let parts_of = |items: u32| elements.div_ceil(u64::from(BLOCK_THREADS * items));
        let parts = match self.work {
            Work::Tiles => parts_of(self.tile.rows),
            Work::Items(items) => {
                parts_of(items).max(parts_of(1).min(FEWEST_PARTS)).min(MOST_PARTS)
            }
        };
        parts.max(1)
    }

    /// Chooses the pass that measures the scratch memory: the last one, if it executes all stages
    /// that allocate, else one of its own.
    fn measure(&mut self, kernel: &Kernel) {
        let last = kernel.stages.iter().rposition(|stage| allocates(&stage.body)).unwrap_or(0);
        let executes_all = match self.passes.last() {
            Some(Pass::Prepare(stage)) => *stage >= last,
            Some(Pass::Tag | Pass::Measure) => true,
            Some(Pass::Final) | None => false,
        };
        if !executes_all {
            self.passes.push(Pass::Measure);
        }
        self.measuring = self.passes.last().copied();
    }

    /// Returns true if a pass goes over the space tile by tile: a sink asks for an order, a later
    /// stage waits for one, or there are segments, which the elements of a tile find together.
    pub fn is_tiled(&self, kernel: &Kernel, pass: Pass) -> bool {
        let mut stages = self.stages(kernel, pass).iter().enumerate();
        !matches!(kernel.space, Space::Flat { .. })
            || stages.any(|(at, stage)| {
                let mut sinks = stage.sinks.iter().enumerate();
                sinks.any(|(number, sink)| self.role(sink, pass, at, number).is_ordered())
            })
    }

    fn areas_of(&mut self, kernel: &Kernel, stage: &Stage, sink: &Sink) -> SinkAreas {
        let mut areas = SinkAreas::default();
        let mut new = |area| {
            self.areas.push(area);
            self.areas.len() - 1
        };
        match sink {
            Sink::Reduce { scope: Scope::All, .. } => {
                areas.carry = new(if is_rounded(kernel) { Area::Parts } else { Area::Blocks });
                if !self.areas.contains(&Area::PartNumber) && is_rounded(kernel) {
                    self.areas.push(Area::PartNumber);
                }
            }
            Sink::Reduce { scope: Scope::Segment, result, .. } => {
                areas.tiles = new(Area::Status);
                if result.is_some() {
                    areas.segments = new(Area::Segments);
                }
            }
            Sink::Scan { .. } => areas.carry = new(Area::Status),
            Sink::Pack { scope, .. } => {
                areas.carry = new(Area::Status);
                if *scope == Scope::Segment {
                    areas.tiles = new(Area::Status);
                }
            }
            Sink::Scatter { array, value, .. } => {
                if !is_uniform(kernel, stage, *value) {
                    areas.tags = Some(new(Area::Tags(*array)));
                }
            }
            Sink::Histogram { array, combine, value, .. } => {
                let (ValueTy::Scalar(ty) | ValueTy::Array(ty)) = kernel.types[value.0 as usize]
                else {
                    return areas;
                };
                let table = Area::Table(*array, *combine, ty);
                if !self.areas.contains(&table) {
                    self.areas.push(table);
                }
            }
            Sink::Emit { .. } => {}
        }
        areas
    }

    /// The part of a sink, the `number`-th of a stage, in a pass.
    pub fn role(&self, sink: &Sink, pass: Pass, stage: usize, number: usize) -> Role {
        let SinkAreas { carry, tiles, segments, tags, is_read } = self.sinks[stage][number];
        let own = match pass {
            Pass::Prepare(own) => own == stage,
            Pass::Tag | Pass::Measure => false,
            Pass::Final => true,
        };
        match (pass, sink) {
            (Pass::Prepare(_), Sink::Scan { .. }) if own && is_read => Role::Total(carry),
            (Pass::Prepare(_) | Pass::Tag | Pass::Measure, Sink::Scan { .. }) if !own => {
                Role::Ordered(carry, None)
            }
            (
                Pass::Prepare(_) | Pass::Tag | Pass::Measure,
                Sink::Reduce { scope: Scope::Segment, result: Some(_), .. },
            ) => {
                if own {
                    Role::Prepare(tiles, segments)
                } else {
                    Role::Read(segments)
                }
            }
            (Pass::Tag, Sink::Scatter { .. }) => tags.map_or(Role::Skip, Role::Tag),
            (Pass::Prepare(_) | Pass::Tag | Pass::Measure, _) => Role::Skip,
            (Pass::Final, Sink::Reduce { scope: Scope::All, out: Some(_), .. }) => {
                Role::Grid(carry)
            }
            (Pass::Final, Sink::Reduce { scope: Scope::All, out: None, .. }) => Role::Skip,
            (Pass::Final, Sink::Reduce { result: Some(_), .. }) => Role::Read(segments),
            (Pass::Final, Sink::Reduce { out: Some(_), .. }) => Role::Segments(tiles),
            (Pass::Final, Sink::Reduce { out: None, .. }) => Role::Skip,
            (Pass::Final, Sink::Scan { .. }) => Role::Ordered(carry, None),
            (Pass::Final, Sink::Pack { scope: Scope::All, .. }) => Role::Ordered(carry, None),
            (Pass::Final, Sink::Pack { scope: Scope::Segment, .. }) => {
                Role::Ordered(carry, Some(tiles))
            }
            (Pass::Final, Sink::Scatter { .. }) => tags.map_or(Role::Free, Role::Tagged),
            (Pass::Final, Sink::Histogram { .. }) => Role::Free,
            (Pass::Final, Sink::Emit { .. }) => bug!("an `emit` has become a scan"),
        }
    }
}

/// Returns true if the result of a reduction over the space depends on how its elements are grouped.
fn is_rounded(kernel: &Kernel) -> bool {
    let is_rounded = |sink: &Sink| match sink {
        Sink::Reduce { scope: Scope::All, value, .. } => kernel.scalar_ty(*value).is_float(),
        _ => false,
    };
    kernel.stages.iter().flat_map(|stage| &stage.sinks).any(is_rounded)
}

/// Returns true if all work items have the same value: whoever scatters it last, it is the same.
fn is_uniform(kernel: &Kernel, stage: &Stage, value: Value) -> bool {
    let constant = |inst: &Inst| inst.results == [value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(&value) || stage.body.insts.iter().any(constant)
}

/// Returns true if a stage is executed tile by tile.
fn is_tiled(stage: &Stage) -> bool {
    stage.sinks.iter().any(|sink| matches!(sink, Sink::Scan { .. } | Sink::Pack { .. }))
}

/// Returns true if a sink needs a pass of its own before the final one.
fn is_prepared(sink: &Sink) -> bool {
    match sink {
        Sink::Reduce { result, .. } => result.is_some(),
        Sink::Scan { .. }
        | Sink::Pack { .. }
        | Sink::Scatter { .. }
        | Sink::Histogram { .. }
        | Sink::Emit { .. } => false,
    }
}

impl Role {
    /// Returns true if the sink needs the elements of a tile in order.
    pub fn is_ordered(self) -> bool {
        match self {
            Role::Read(_) => true,
            role => role.looks_back(),
        }
    }

    /// Returns true if the sink may combine the elements of a tile by runs: what looks back, but packs,
    /// which count votes.
    pub fn has_runs(self) -> bool {
        self.looks_back()
    }

    /// Returns true if the sink needs what lies before a tile: the tiles publish their states.
    pub fn looks_back(self) -> bool {
        match self {
            Role::Prepare(..) | Role::Segments(_) | Role::Ordered(..) | Role::Total(_) => true,
            Role::Read(_)
            | Role::Skip
            | Role::Grid(_)
            | Role::Free
            | Role::Tag(_)
            | Role::Tagged(_) => false,
        }
    }
}
