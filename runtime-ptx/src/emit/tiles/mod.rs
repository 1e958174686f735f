//! A pass over the tiles of an index space, for sinks that combine elements in order.
//!
//! ```text
//! for each tile of this block:
//!   the segments of its elements (`spaces`), behind the code of the first stage if that needs none of
//!   them: its loads are under way while they are looked for
//!   for each stage:
//!     the code of some work items a thread
//!     for each sink: the prefixes of the tile (`scan`), and what they are for
//! the results of empty segments
//! ```
//!
//! A work item that lies behind the end, or has failed, goes on with the neutral elements, because
//! the other threads of its block wait for its thread.
//!
//! If a sink waits for the tiles before its own, blocks draw the numbers of their tiles, so that
//! the tiles before it have begun, however many blocks the device executes at a time. The thread
//! that draws also looks whether an earlier launch has failed, unless all threads have looked before
//! they read the size of the space. Otherwise each block takes every n-th tile.

mod compact;
mod pieces;
mod runs;
mod segments;
mod spaces;

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use super::body::{OwnElements, WorkItem};
use super::collective::WARP_THREADS;
use super::elements::free_sink;
use super::failure;
use super::finish::{Finish, TICKET};
use super::frame::{BLOCK_THREADS, Entry, area_name};
use super::lookback::{Combined, TileNumber};
use super::plan::{Pass, Role};
use super::scan::{Place, join_chunks};
use super::traps::may_fail;
use compact::Staged;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Inst, Literal, Scope, Sink, Ty, Value};
use nesl_runtime::runtime::Reason;
use spaces::{InSegment, Segments, TilePart};

/// A work item of the tile.
struct Item {
    operands: Vec<Option<Operand>>,
    index: Reg,
    /// The segment, in a space with segments, once it was looked for.
    segment: Option<InSegment>,
    /// True while it is in the space and has not failed.
    alive: Reg,
    /// The values that the sinks of the stage combine, each with the neutral element that it is if
    /// there is no work item.
    combined: Vec<((Value, Literal), Reg)>,
}

/// The tile at hand.
struct Tile<'a> {
    entry: &'a Entry<'a>,
    place: Place,
    number: TileNumber,
    /// None as long as they have not been looked for.
    segments: Segments,
    items: Vec<Item>,
    /// The number of elements of the space from this thread's first work item on, at most those of a
    /// tile.
    left: Reg,
    /// The arrays that are accessed at the index of the work item, with the address of the element
    /// of this thread's first one.
    bases: Vec<(Value, Reg)>,
    /// The name of the shared memory in which results are put together, if some are.
    staging: Option<String>,
    /// True if there is room in it for runs, which have a gap behind each.
    has_runs: bool,
}

/// The combination of an `i64` sum, for counts.
const SUM: (Combine, Ty) = (Combine::Add, Ty::I64);

/// Emits the loop over the tiles. If blocks draw them, the entry ends at `void` if an earlier launch
/// has failed; otherwise that is known.
pub fn each_tile(
    asm: &mut Assembly,
    entry: &Entry<'_>,
    sums: &[Finish],
    void: Label,
) -> Result<(), Reason> {
    let count = entry.count(asm);
    let shape = entry.plan.tile;
    let place = Place::new(asm, &entry.frame.ids, BLOCK_THREADS / WARP_THREADS);
    let (tiles, tile) = (asm.register(Class::B64), asm.register(Class::B64));
    emit!(asm, "add.s64 {tiles}, {count}, {}", shape.items() - 1);
    emit!(asm, "shr.u64 {tiles}, {tiles}, {}", shape.items().ilog2());
    emit!(asm, "max.s64 {tiles}, {tiles}, 1");
    // The index of this thread's first work item in the tile.
    let own = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {own}, {}, {}, {}", place.warp, shape.chunk_items(), place.lane);
    let neutrals = segments::neutrals(asm, entry);
    let draw = entry.looks_back().then(|| Draw::new(asm, entry, tiles));
    let (head, end) = (asm.label(), asm.label());
    if draw.is_none() {
        emit!(asm, "cvt.u64.u32 {tile}, {}", entry.frame.ids.block);
    }
    asm.place(head);
    if let Some(draw) = &draw {
        draw.next(asm, tile);
    }
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {tile}, {tiles}");
    emit!(asm, "@{over} bra {end}");
    entry.frame.begin_items(asm);
    let first = asm.register(Class::B64);
    emit!(asm, "shl.b64 {first}, {tile}, {}", shape.items().ilog2());
    let segments_later = pieces::segments_later(entry);
    let part = TilePart { place: &place, shape, first, own, count };
    let segments = match segments_later {
        true => Segments::None,
        false => Segments::of_tile(asm, entry, &part, &neutrals),
    };
    let number = TileNumber { tile, tiles, lane: place.lane };
    let (items, bases) = Default::default();
    let staging = None;
    let has_runs = entry.roles().any(Role::has_runs);
    let left = asm.register(Class::B32);
    let mut tile = Tile { entry, place, number, segments, items, left, bases, staging, has_runs };
    tile.items(asm, (first, own), count);
    let live = entry.live();
    let mut sums = sums.iter();
    for (stage, insts) in live.iter().enumerate() {
        tile.code(asm, stage, insts)?;
        if stage == 0 && segments_later {
            // The loads of the elements are under way while the segments are looked for.
            tile.segments = Segments::of_tile(asm, entry, &part, &neutrals);
        }
        for number in 0..entry.kernel.stages[stage].sinks.len() {
            tile.sink(asm, stage, number, &mut sums);
        }
    }
    if draw.is_none() {
        // Shared memory is written again for the next tile.
        asm.barrier();
        let blocks = asm.register(Class::B64);
        emit!(asm, "cvt.u64.u32 {blocks}, {}", entry.frame.ids.blocks);
        emit!(asm, "add.s64 {}, {}, {blocks}", tile.number.tile, tile.number.tile);
    }
    emit!(asm, "bra {head}");
    asm.place(end);
    if entry.looks_with_tiles() {
        let is_void = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s64 {is_void}, {}, {VOID_TILE}", tile.number.tile);
        emit!(asm, "@{is_void} bra {void}");
    }
    segments::empty_segments(asm, entry, &neutrals);
    Ok(())
}

/// The drawing of tiles by blocks, in order.
struct Draw {
    /// The address in shared memory by which the first thread tells the others.
    told: Reg,
    /// The greatest number that is drawn; 0 follows.
    greatest: Reg,
    /// True for the first thread.
    first: Reg,
    /// True for the first thread if no earlier launch has failed.
    draws: Reg,
    /// The address of the number that is drawn next.
    ticket: Reg,
}

impl Draw {
    /// Emits the registers. Each block draws until it gets the number of no tile, so that as many
    /// numbers are drawn in a pass as there are tiles and blocks.
    fn new(asm: &mut Assembly, entry: &Entry<'_>, tiles: Reg) -> Draw {
        let name = asm.shared(4);
        let (told, greatest) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "mov.u32 {told}, {name}");
        emit!(asm, "cvt.u32.u64 {greatest}, {tiles}");
        emit!(asm, "add.s32 {greatest}, {greatest}, {}", entry.frame.ids.blocks);
        emit!(asm, "sub.s32 {greatest}, {greatest}, 1");
        let first = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s32 {first}, {}, 0", entry.frame.ids.thread);
        let draws = match entry.looks_with_tiles() {
            false => first,
            true => failure::first_sees_none(asm, first),
        };
        let ticket = asm.global_param(TICKET);
        Draw { told, greatest, first, draws, ticket }
    }

    /// Emits the drawing of the next tile. The barriers of the sinks of a tile come between the
    /// others' look at its number and the next drawing.
    fn next(&self, asm: &mut Assembly, tile: Reg) {
        let Draw { told, greatest, first, draws, ticket } = self;
        let (number, inc) = (asm.register(Class::B32), "atom.relaxed.gpu.global.inc.u32");
        emit!(asm, "mov.b32 {number}, {VOID_TILE}");
        emit!(asm, "@{draws} {inc} {number}, [{ticket}+{TILE_TICKET}], {greatest}");
        emit!(asm, "@{first} st.shared.b32 [{told}], {number}");
        asm.barrier();
        emit!(asm, "ld.shared.b32 {number}, [{}]", self.told);
        emit!(asm, "cvt.u64.u32 {tile}, {number}");
    }
}

/// The offset of the ticket of tiles behind that of blocks, in bytes.
const TILE_TICKET: usize = 4;

/// The number that is drawn instead of a tile's if an earlier launch has failed.
const VOID_TILE: u64 = u32::MAX as u64;

impl Tile<'_> {
    /// Emits the indices of the work items of this thread, one in each row.
    fn items(&mut self, asm: &mut Assembly, (first, own): (Reg, Reg), count: Operand) {
        let kernel = self.entry.kernel;
        let base = asm.register(Class::B64);
        emit!(asm, "cvt.u64.u32 {base}, {own}");
        emit!(asm, "add.s64 {base}, {first}, {base}");
        let accesses = self.entry.accesses_at_index();
        for (array, ty) in accesses.arrays {
            let start = self.entry.array(asm, array);
            self.bases.push((array, asm.element_address(start, base.into(), ty.size())));
        }
        // The number of elements of the space from the first one on, as far as it matters.
        let (left, behind) = (self.left, asm.register(Class::B64));
        emit!(asm, "sub.s64 {behind}, {count}, {base}");
        emit!(asm, "min.s64 {behind}, {behind}, {}", self.entry.plan.tile.items());
        emit!(asm, "max.s64 {behind}, {behind}, 0");
        emit!(asm, "cvt.u32.u64 {left}, {behind}");
        let mut last_row = None;
        for row in 0..self.entry.plan.tile.rows as usize {
            let distance = row as u32 * WARP_THREADS;
            let alive = asm.register(Class::Predicate);
            emit!(asm, "setp.gt.s32 {alive}, {left}, {distance}");
            let index = match accesses.all {
                true => base,
                false => {
                    let index = asm.register(Class::B64);
                    emit!(asm, "add.s64 {index}, {base}, {distance}");
                    index
                }
            };
            let mut operands = self.entry.frame.operands.clone();
            let segment = match &self.segments {
                Segments::None => None,
                segments => segments.of_element(asm, row, alive, &mut last_row),
            };
            match (&segment, &kernel.indices[..]) {
                (Some(found), [number, position, whole]) => {
                    if self.entry.reads(*number) {
                        let segment = self.segments.segment(asm, found);
                        operands[number.0 as usize] = Some(segment.into());
                    }
                    if self.entry.reads(*position) {
                        let position_in = self.segments.position(asm, found, index);
                        operands[position.0 as usize] = Some(position_in.into());
                    }
                    operands[whole.0 as usize] = Some(index.into());
                }
                (_, indices) => {
                    let whole = indices.last().or_bug("a space has an index");
                    operands[whole.0 as usize] = Some(index.into());
                }
            }
            self.items.push(Item { operands, index, segment, alive, combined: Vec::new() });
        }
    }

    /// Emits the code of a stage for every work item.
    fn code(&mut self, asm: &mut Assembly, stage: usize, insts: &[&Inst]) -> Result<(), Reason> {
        let wanted = self.wanted(stage);
        let may_fail = insts.iter().any(|inst| may_fail(inst));
        let whole = self.entry.kernel.indices.last().or_bug("a space has an index");
        for (row, item) in self.items.iter_mut().enumerate() {
            let operands = std::mem::take(&mut item.operands);
            let (kernel, frame) = (self.entry.kernel, self.entry.frame);
            let own = OwnElements {
                index: *whole,
                bases: &self.bases,
                distance: row * WARP_THREADS as usize,
            };
            let neutrals = neutrals(asm, &wanted);
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", item.alive);
            if may_fail {
                // Dead until the code has been executed to its end.
                emit!(asm, "setp.ne.u32 {}, 0, 0", item.alive);
            }
            let mut code = WorkItem::new(asm, &kernel.types, self.entry.spaces, operands, frame)
                .with_elements(own);
            code.insts(insts)?;
            for ((value, _), reg) in wanted.iter().zip(&neutrals) {
                let operand = code.plain_operand(*value);
                code.asm.move_to(*reg, operand);
            }
            item.operands = code.finish(stage, item.index.into(), next);
            if may_fail {
                emit!(asm, "setp.eq.u32 {}, 0, 0", item.alive);
            }
            asm.place(next);
            for ((value, _), reg) in wanted.iter().zip(&neutrals) {
                item.operands[value.0 as usize] = Some((*reg).into());
            }
            item.combined = wanted.iter().copied().zip(neutrals).collect();
        }
        Ok(())
    }

    /// The values that the ordered sinks and the reductions of a stage combine, each with the value
    /// it has where there is no work item.
    fn wanted(&self, stage: usize) -> Vec<(Value, Literal)> {
        let kernel = self.entry.kernel;
        let mut wanted: Vec<(Value, Literal)> = Vec::new();
        for (number, sink) in kernel.stages[stage].sinks.iter().enumerate() {
            let value = match (self.entry.role(stage, number), sink) {
                (Role::Skip | Role::Free | Role::Read(_) | Role::Tag(_) | Role::Tagged(_), _) => {
                    continue;
                }
                (_, Sink::Reduce { combine, value, .. } | Sink::Scan { combine, value, .. }) => {
                    (*value, combine.neutral(kernel.scalar_ty(*value)))
                }
                (_, Sink::Pack { keep, .. }) => (*keep, Literal::Bool(false)),
                (_, Sink::Scatter { .. } | Sink::Histogram { .. } | Sink::Emit { .. }) => continue,
            };
            if !wanted.contains(&value) {
                wanted.push(value);
            }
        }
        wanted
    }

    fn sink(
        &mut self,
        asm: &mut Assembly,
        stage: usize,
        number: usize,
        sums: &mut std::slice::Iter<'_, Finish>,
    ) {
        let sink = &self.entry.kernel.stages[stage].sinks[number];
        let is_final = self.entry.pass == Pass::Final;
        match self.entry.role(stage, number) {
            Role::Skip => {}
            Role::Grid(_) => self.add(asm, sink, sums),
            role @ (Role::Free | Role::Tag(_) | Role::Tagged(_)) => self.free(asm, sink, role),
            Role::Ordered(area, counts) => {
                match sink {
                    Sink::Pack { keep, .. } => self.pack(asm, sink, *keep, area),
                    _ => self.scan(asm, sink, area, is_final),
                }
                if let (Some(counts), Sink::Pack { keep, count, .. }) = (counts, sink) {
                    let out = self.entry.array(asm, *count);
                    let values = self.kept(asm, *keep);
                    self.reduce_segments(asm, SUM, values, counts, (out, 8));
                }
            }
            Role::Total(area) => self.scan(asm, sink, area, true),
            Role::Segments(tiles) => {
                let Sink::Reduce { combine, value, out: Some(out), .. } = sink else { return };
                let out = self.entry.array(asm, *out);
                let (combine, values) = self.combined(asm, *combine, *value);
                self.reduce_segments(asm, combine, values, tiles, (out, combine.1.size()));
            }
            Role::Prepare(tiles, results) => {
                let Sink::Reduce { combine, value, .. } = sink else { return };
                let out = asm.global_param(&area_name(results));
                let (combine, values) = self.combined(asm, *combine, *value);
                self.reduce_segments(asm, combine, values, tiles, (out, 8));
            }
            Role::Read(results) => self.read(asm, sink, results),
        }
    }

    /// Emits the part of the tile in a reduction over the grid: a result of its own, if it rounds.
    fn add(&mut self, asm: &mut Assembly, sink: &Sink, sums: &mut std::slice::Iter<'_, Finish>) {
        let Some((finish, (_, value))) = sums.next().zip(sink.combined()) else { return };
        let Finish { combine, sum, parts, .. } = finish;
        if parts.is_some() {
            finish.begin(asm, *sum);
        }
        for element in self.values(value, combine.0.neutral(combine.1)) {
            asm.accumulate(*combine, *sum, element.into());
        }
        if parts.is_some() {
            let warps = BLOCK_THREADS / WARP_THREADS;
            finish.leave(asm, &self.entry.frame.ids, warps, *sum, self.number.tile);
        }
    }

    /// Emits the part of each work item in a scatter or histogram.
    fn free(&mut self, asm: &mut Assembly, sink: &Sink, role: Role) {
        let (kernel, frame) = (self.entry.kernel, self.entry.frame);
        for item in &mut self.items {
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", item.alive);
            let operands = std::mem::take(&mut item.operands);
            let mut code = WorkItem::new(asm, &kernel.types, self.entry.spaces, operands, frame);
            free_sink(&mut code, self.entry, sink, role, item.index);
            item.operands = code.into_operands();
            asm.place(next);
        }
    }

    /// The values of the work items in registers: the neutral element where there is none.
    fn values(&self, value: Value, neutral: Literal) -> Vec<Reg> {
        let found = |item: &Item| {
            let known = item.combined.iter().find(|(wanted, _)| *wanted == (value, neutral));
            known.or_bug("a sink combines what is wanted of the stage").1
        };
        self.items.iter().map(found).collect()
    }

    /// The values that a reduction or scan combines: a NaN, which `min` and `max` skip, is the
    /// neutral element.
    fn combined(
        &self,
        asm: &mut Assembly,
        combine: Combine,
        value: Value,
    ) -> ((Combine, Ty), Vec<Reg>) {
        let ty = self.entry.kernel.scalar_ty(value);
        let neutral = combine.neutral(ty);
        let mut values = self.values(value, neutral);
        if ty.is_float() && matches!(combine, Combine::Min | Combine::Max) {
            for value in &mut values {
                *value = asm.combine(combine, ty, (*value).into(), neutral.into());
            }
        }
        ((combine, ty), values)
    }

    /// The number of elements of each work item that a pack keeps: 1 or 0.
    fn kept(&self, asm: &mut Assembly, keep: Value) -> Vec<Reg> {
        let keep = self.values(keep, Literal::Bool(false));
        keep.into_iter().map(|keep| asm.convert(Ty::Bool, Ty::I64, keep.into())).collect()
    }

    /// Emits the combination of what lies before the chunk of this warp.
    fn before_chunk(
        &self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        total: Combined,
        (area, whole): (usize, Option<Reg>),
    ) -> Reg {
        let area = area_name(area);
        join_chunks(asm, &self.place, &self.number, combine, (&area, whole), total)
    }

    /// Emits a scan, which writes its total if that is wanted.
    fn scan(&mut self, asm: &mut Assembly, sink: &Sink, area: usize, writes: bool) {
        let Sink::Scan { scope, combine, value, result, total } = sink else { return };
        let out = total.filter(|_| writes).map(|total| self.entry.array(asm, total));
        let (combine, values) = self.combined(asm, *combine, *value);
        let runs = self.combine_runs(asm, combine, &values, *scope);
        let whole = out.filter(|_| *scope == Scope::All);
        let before = self.before_chunk(asm, combine, runs.total, (area, whole));
        let prefixes = self.scan_runs(asm, combine, &runs, before, out);
        for (item, prefix) in self.items.iter_mut().zip(prefixes) {
            item.operands[result.0 as usize] = Some(prefix.into());
        }
    }

    /// Emits a pack. The elements that a row keeps are counted by votes.
    fn pack(&mut self, asm: &mut Assembly, sink: &Sink, keep: Value, area: usize) {
        let Sink::Pack { columns, count, scope, .. } = sink else { return };
        let kernel = self.entry.kernel;
        let is_final = self.entry.pass == Pass::Final;
        let keep = self.values(keep, Literal::Bool(false));
        // The places of the elements in shared memory: addresses, if there is one column.
        let base = self.staging(asm);
        let (unit, origin) = match columns[..] {
            [(value, _)] => (kernel.scalar_ty(value).size(), base),
            _ => (1, asm.constant(Literal::I32(0))),
        };
        let below = asm.register(Class::B32);
        emit!(asm, "mov.u32 {below}, %lanemask_lt");
        let mut end = origin;
        let mut places = Vec::with_capacity(keep.len());
        for keep in &keep {
            let [lanes, kept, next] = [(); 3].map(|()| asm.register(Class::B32));
            emit!(asm, "vote.sync.ballot.b32 {lanes}, {keep}, -1");
            if is_final {
                let (before, place) = (asm.register(Class::B32), asm.register(Class::B32));
                emit!(asm, "and.b32 {before}, {lanes}, {below}");
                emit!(asm, "popc.b32 {before}, {before}");
                emit!(asm, "mad.lo.s32 {place}, {before}, {unit}, {end}");
                places.push(place);
            }
            emit!(asm, "popc.b32 {kept}, {lanes}");
            emit!(asm, "mad.lo.s32 {next}, {kept}, {unit}, {end}");
            end = next;
        }
        let (kept, value) = (asm.register(Class::B32), asm.register(Class::B64));
        emit!(asm, "sub.s32 {kept}, {end}, {origin}");
        emit!(asm, "shr.u32 {kept}, {kept}, {}", unit.ilog2());
        emit!(asm, "cvt.u64.u32 {value}, {kept}");
        let whole = (is_final && *scope == Scope::All).then(|| self.entry.array(asm, *count));
        let total = Combined { value, begins: None };
        let before = self.before_chunk(asm, SUM, total, (area, whole));
        if !is_final {
            return;
        }
        for (value, array) in columns {
            let ty = kernel.scalar_ty(*value);
            let base = if columns.len() > 1 { self.staging(asm) } else { base };
            for ((item, keep), place) in self.items.iter().zip(&keep).zip(&places) {
                let slot = match columns.len() {
                    1 => *place,
                    _ => {
                        let slot = asm.register(Class::B32);
                        emit!(asm, "mad.lo.s32 {slot}, {place}, {}, {base}", ty.size());
                        slot
                    }
                };
                let value =
                    item.operands[value.0 as usize].or_bug("a pack reads what was computed");
                asm.guard = Some(*keep);
                asm.store(ty, AddressSpace::Shared, slot, value);
                asm.guard = None;
            }
            let array = self.entry.array(asm, *array);
            let target = asm.element_address(array, before.into(), ty.size());
            self.store_staged(asm, &Staged { base, start: None, count: kept, ty }, target);
        }
    }
}

/// Emits registers with the values of sinks where there is no work item.
fn neutrals(asm: &mut Assembly, wanted: &[(Value, Literal)]) -> Vec<Reg> {
    wanted.iter().map(|(_, neutral)| asm.constant(*neutral)).collect()
}
