//! The passes of a kernel: entries that are launched one after the other.
//!
//! A kernel whose sinks are reductions, scatters and histograms over its last stage is one pass. A
//! scan or pack needs what lies before each tile, and the stage behind a reduction of segments needs
//! its results: both are prepared by a pass of their own, which executes the stages up to theirs
//! without effects.
//!
//! ```text
//! Prepare(s)   the totals of the scans and packs of stage s in each tile, and then what lies
//!              before each tile; the reductions of segments whose results later stages read
//! Tag          for each element that is scattered to, the last work item that does
//! Final        everything
//! ```
//!
//! The results that a pass leaves for another, or a block for the last block, lie in [`Area`]s.

use nesl_runtime::kir::{Inst, Kernel, Op, Scope, Sink, Stage, Value};

/// A pass over the index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Prepares what the stages behind this one, or its scans and packs, read.
    Prepare(usize),
    /// Finds, for each element of an array that is scattered to, the last work item that does: of
    /// several at one index the last one wins.
    Tag,
    /// Executes all effects and writes all results.
    Final,
}

/// Device memory that a kernel needs while it is executed, by its unit. The launcher allocates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// 8 bytes for each block: partial results of a reduction.
    Blocks,
    /// [`TILE_BYTES`] for each tile: the state of an ordered combination.
    Tiles,
    /// 8 bytes for each segment: the results of a reduction.
    Segments,
    /// 8 bytes for each element of an array parameter, 0 in the beginning: the last work item that
    /// scatters there, counted from 1 on.
    Tags(Value),
}

/// The size of the state of a tile, in bytes: the total of its last segment, a flag: 1 if that
/// segment begins in the tile, the total of the first segment if it begins before and ends in the
/// tile, and the number of that segment, or -1.
pub const TILE_BYTES: usize = 32;

/// The part of a sink in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is left out.
    Skip,
    /// It scans again for its result; what lies before each tile is in this area.
    Replay(usize),
    /// It leaves the total of each tile in this area, and then what lies before each.
    Total(usize),
    /// It reduces segments into the second area; the first is for the tiles.
    Prepare(usize, usize),
    /// Its result is read from this area, for later stages.
    Read(usize),
    /// It reduces over the whole space; the partial results of blocks are in this area.
    Grid(usize),
    /// It reduces segments into its array; the area is for the tiles.
    Segments(usize),
    /// It scans, or packs, and writes its arrays; what lies before each tile is in the first area.
    /// A pack that counts by segment needs the second for the tiles.
    Ordered(usize, Option<usize>),
    /// Each work item takes part by itself.
    Free,
    /// Each work item leaves its number in this area, if it is the last one for an element.
    Tag(usize),
    /// Each work item takes part by itself, if this area has its number.
    Tagged(usize),
}

/// The passes of a kernel, and the areas that they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The passes, in order; the last one is final.
    pub passes: Vec<Pass>,
    /// The areas of all passes.
    pub areas: Vec<Area>,
    /// For each sink, by stage: its areas.
    sinks: Vec<Vec<SinkAreas>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SinkAreas {
    /// The state before each tile; of a reduction over the grid, the partial results of blocks.
    carry: usize,
    /// The tiles of a reduction of segments.
    tiles: usize,
    /// The results of a reduction of segments.
    segments: usize,
    /// The tags of a scatter, if the order of its work items matters.
    tags: Option<usize>,
}

impl Plan {
    /// Plans a kernel.
    pub fn of(kernel: &Kernel) -> Plan {
        let mut plan = Plan::default();
        for (at, stage) in kernel.stages.iter().enumerate() {
            let areas = stage.sinks.iter().map(|sink| plan.areas_of(kernel, stage, sink)).collect();
            plan.sinks.push(areas);
            if stage.sinks.iter().any(is_prepared) {
                plan.passes.push(Pass::Prepare(at));
            }
        }
        if plan.areas.iter().any(|area| matches!(area, Area::Tags(_))) {
            plan.passes.push(Pass::Tag);
        }
        plan.passes.push(Pass::Final);
        plan
    }

    fn areas_of(&mut self, kernel: &Kernel, stage: &Stage, sink: &Sink) -> SinkAreas {
        let mut areas = SinkAreas::default();
        let mut new = |area| {
            self.areas.push(area);
            self.areas.len() - 1
        };
        match sink {
            Sink::Reduce { scope: Scope::All, .. } => areas.carry = new(Area::Blocks),
            Sink::Reduce { scope: Scope::Segment, result, .. } => {
                areas.tiles = new(Area::Tiles);
                if result.is_some() {
                    areas.segments = new(Area::Segments);
                }
            }
            Sink::Scan { .. } => areas.carry = new(Area::Tiles),
            Sink::Pack { scope, .. } => {
                areas.carry = new(Area::Tiles);
                if *scope == Scope::Segment {
                    areas.tiles = new(Area::Tiles);
                }
            }
            Sink::Scatter { array, value, .. } => {
                if !is_uniform(kernel, stage, *value) {
                    areas.tags = Some(new(Area::Tags(*array)));
                }
            }
            Sink::Histogram { .. } | Sink::Emit { .. } => {}
        }
        areas
    }

    /// The part of a sink, the `number`-th of a stage, in a pass.
    pub fn role(&self, sink: &Sink, pass: Pass, stage: usize, number: usize) -> Role {
        let SinkAreas { carry, tiles, segments, tags } = self.sinks[stage][number];
        let own = match pass {
            Pass::Prepare(own) => own == stage,
            Pass::Tag => false,
            Pass::Final => true,
        };
        match (pass, sink) {
            (Pass::Prepare(_), Sink::Scan { .. } | Sink::Pack { .. }) if own => Role::Total(carry),
            (Pass::Prepare(_) | Pass::Tag, Sink::Scan { .. }) => Role::Replay(carry),
            (
                Pass::Prepare(_) | Pass::Tag,
                Sink::Reduce { scope: Scope::Segment, result: Some(_), .. },
            ) => {
                if own {
                    Role::Prepare(tiles, segments)
                } else {
                    Role::Read(segments)
                }
            }
            (Pass::Tag, Sink::Scatter { .. }) => tags.map_or(Role::Skip, Role::Tag),
            (Pass::Prepare(_) | Pass::Tag, _) => Role::Skip,
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
            (Pass::Final, Sink::Histogram { .. } | Sink::Emit { .. }) => Role::Free,
        }
    }
}

/// Returns true if all work items have the same value: whoever scatters it last, it is the same.
fn is_uniform(kernel: &Kernel, stage: &Stage, value: Value) -> bool {
    let constant = |inst: &Inst| inst.results == [value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(&value) || stage.body.insts.iter().any(constant)
}

/// Returns true if a sink needs a pass of its own before the final one.
fn is_prepared(sink: &Sink) -> bool {
    match sink {
        Sink::Scan { .. } | Sink::Pack { .. } => true,
        Sink::Reduce { result, .. } => result.is_some(),
        Sink::Scatter { .. } | Sink::Histogram { .. } | Sink::Emit { .. } => false,
    }
}

impl Role {
    /// Returns true if the sink needs the elements of a tile in order.
    pub fn is_ordered(self) -> bool {
        match self {
            Role::Replay(_)
            | Role::Total(_)
            | Role::Prepare(..)
            | Role::Read(_)
            | Role::Segments(_)
            | Role::Ordered(..) => true,
            Role::Skip | Role::Grid(_) | Role::Free | Role::Tag(_) | Role::Tagged(_) => false,
        }
    }
}
