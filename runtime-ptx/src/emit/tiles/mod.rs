//! A pass over the tiles of an index space, for sinks that combine elements in order.
//!
//! ```text
//! for each tile of this block: block, block + blocks of the grid, …
//!   for each stage:
//!     the code of ITEMS work items a thread
//!     for each sink: the prefixes of the tile (`scan`), and what they are for
//! the results of empty segments
//! ```
//!
//! A work item that lies behind the end, or has failed, goes on with the neutral elements, because
//! the other threads of its block wait for its thread.
//!
//! A segment that lies in several tiles is reduced without waiting: each tile leaves its part, and
//! the last block puts them together (`finish`).

mod segments;

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::WorkItem;
use super::collective::WARP_THREADS;
use super::elements::free_sink;
use super::finish::{Finish, What, tile};
use super::frame::{BLOCK_THREADS, Entry};
use super::indices::Indices;
use super::plan::{Pass, Role, TILE_BYTES};
use super::scan::{Place, Prefixes, Rows, scan_tile};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Inst, Literal, Scope, Sink, Space, Ty, Value, ValueTy};
use nesl_runtime::runtime::Reason;

/// The number of work items of a thread in a tile.
pub const ITEMS: usize = 4;

/// The number of work items of a tile.
pub const TILE_ITEMS: u32 = BLOCK_THREADS * ITEMS as u32;

/// A work item of the tile.
struct Item {
    operands: Vec<Option<Operand>>,
    index: Reg,
    /// In a space with segments: the segment, the position there (or a large number behind the
    /// end), and true for the last element of its segment.
    segment: Option<(Reg, Reg, Reg)>,
    /// True while it is in the space and has not failed.
    alive: Reg,
}

/// The tile at hand.
struct Tile<'a> {
    entry: &'a Entry<'a>,
    place: Place,
    number: Reg,
    items: Vec<Item>,
    finishes: Vec<Finish>,
}

/// The combination of an `i64` sum, for counts.
const SUM: (Combine, Ty) = (Combine::Add, Ty::I64);

/// Emits the loop over the tiles. Returns the number of tiles, at least one, and what remains for
/// the last block.
pub fn each_tile(
    asm: &mut Assembly,
    entry: &Entry<'_>,
    sums: &[Finish],
) -> Result<(Reg, Vec<Finish>), Reason> {
    let count = entry.count(asm);
    let [tiles, number, blocks] = [(); 3].map(|()| asm.register(Class::B64));
    emit!(asm, "add.s64 {tiles}, {count}, {}", TILE_ITEMS - 1);
    emit!(asm, "shr.u64 {tiles}, {tiles}, {}", TILE_ITEMS.ilog2());
    emit!(asm, "max.s64 {tiles}, {tiles}, 1");
    emit!(asm, "cvt.u64.u32 {number}, {}", entry.frame.ids.block);
    emit!(asm, "cvt.u64.u32 {blocks}, {}", entry.frame.ids.blocks);
    let place = Place::new(asm, &entry.frame.ids, BLOCK_THREADS / WARP_THREADS);
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {number}, {tiles}");
    emit!(asm, "@{over} bra {end}");
    let mut tile = Tile { entry, place, number, items: Vec::new(), finishes: Vec::new() };
    tile.items = (0..ITEMS).map(|row| tile.item(asm, row, count)).collect();
    let live = entry.live();
    let mut sums = sums.iter();
    for (stage, insts) in live.iter().enumerate() {
        tile.stage(asm, stage, insts, &mut sums)?;
    }
    // Shared memory is written again for the next tile.
    emit!(asm, "bar.sync 0");
    emit!(asm, "add.s64 {number}, {number}, {blocks}");
    emit!(asm, "bra {head}");
    asm.place(end);
    segments::empty_segments(asm, entry);
    Ok((tiles, tile.finishes))
}

impl Tile<'_> {
    /// Emits the indices of the work item of this thread in a row.
    fn item(&self, asm: &mut Assembly, row: usize, count: Operand) -> Item {
        let (offset, index) = (asm.register(Class::B32), asm.register(Class::B64));
        let chunk = WARP_THREADS * ITEMS as u32;
        emit!(asm, "mad.lo.s32 {offset}, {}, {chunk}, {}", self.place.warp, self.place.lane);
        emit!(asm, "cvt.u64.u32 {index}, {offset}");
        emit!(asm, "add.s64 {index}, {index}, {}", row as u32 * WARP_THREADS);
        emit!(asm, "mad.lo.s64 {index}, {}, {TILE_ITEMS}, {index}", self.number);
        let alive = asm.register(Class::Predicate);
        emit!(asm, "setp.lt.s64 {alive}, {index}, {count}");
        let mut operands = self.entry.frame.operands.clone();
        let segment = self.segment(asm, index, alive, &mut operands);
        Item { operands, index, segment, alive }
    }

    fn segment(
        &self,
        asm: &mut Assembly,
        index: Reg,
        alive: Reg,
        operands: &mut [Option<Operand>],
    ) -> Option<(Reg, Reg, Reg)> {
        let kernel = self.entry.kernel;
        if let Space::Flat { .. } = kernel.space {
            Indices { index, in_segment: None }.define(kernel, operands);
            return None;
        }
        // What lies behind the end continues the last segment.
        let [segment, position] = [(); 2].map(|()| asm.register(Class::B64));
        let is_last = asm.constant(Literal::Bool(false));
        asm.move_to(segment, Literal::I64(0).into());
        asm.move_to(position, Literal::I64(i64::MAX).into());
        let behind = asm.label();
        emit!(asm, "@!{alive} bra {behind}");
        let found = Indices::of(asm, self.entry, index);
        let (own, at) = found.in_segment.or_bug("a space with segments");
        asm.move_to(segment, own.into());
        asm.move_to(position, at.into());
        let next = asm.register(Class::B64);
        match &kernel.space {
            Space::Segmented { offsets, .. } => {
                let offsets = self.entry.array(asm, *offsets);
                let address = asm.element_address(offsets, own.into(), 8);
                let end = asm.register(Class::B64);
                emit!(asm, "ld.global.b64 {end}, [{address}+8]");
                emit!(asm, "add.s64 {next}, {index}, 1");
                emit!(asm, "setp.eq.s64 {is_last}, {next}, {end}");
            }
            Space::Regular { length, .. } => {
                emit!(asm, "add.s64 {next}, {at}, 1");
                emit!(asm, "setp.eq.s64 {is_last}, {next}, {}", self.entry.param(*length));
            }
            Space::Flat { .. } => {}
        }
        asm.place(behind);
        Indices { index, in_segment: Some((segment, position)) }.define(kernel, operands);
        Some((segment, position, is_last))
    }

    /// Emits a stage: its code for every work item, and its sinks.
    fn stage(
        &mut self,
        asm: &mut Assembly,
        stage: usize,
        insts: &[&Inst],
        sums: &mut std::slice::Iter<'_, Finish>,
    ) -> Result<(), Reason> {
        let wanted = self.wanted(stage);
        for item in &mut self.items {
            let neutrals = neutrals(asm, self.entry, &wanted);
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", item.alive);
            // Dead until the code has been executed to its end.
            emit!(asm, "setp.ne.u32 {}, 0, 0", item.alive);
            let operands = std::mem::take(&mut item.operands);
            let (kernel, frame) = (self.entry.kernel, self.entry.frame);
            let mut code =
                WorkItem::new(asm, &kernel.types, self.entry.spaces, operands, &frame.failure);
            code.insts(insts)?;
            for ((value, _), reg) in wanted.iter().zip(&neutrals) {
                let operand = code.operand(*value);
                let operand = match operand {
                    Operand::Constant(Literal::Bool(_)) => code.register(*value).into(),
                    operand => operand,
                };
                code.asm.move_to(*reg, operand);
            }
            item.operands = code.finish(stage, item.index.into(), next);
            emit!(asm, "setp.eq.u32 {}, 0, 0", item.alive);
            asm.place(next);
            for ((value, _), reg) in wanted.iter().zip(neutrals) {
                item.operands[value.0 as usize] = Some(reg.into());
            }
        }
        for number in 0..self.entry.kernel.stages[stage].sinks.len() {
            self.sink(asm, stage, number, sums);
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
        match self.entry.role(stage, number) {
            Role::Skip => {}
            Role::Grid(_) => self.add(asm, sink, sums),
            role @ (Role::Free | Role::Tag(_) | Role::Tagged(_)) => self.free(asm, sink, role),
            Role::Total(area) => self.total(asm, sink, area),
            Role::Replay(area) | Role::Ordered(area, None) => self.ordered(asm, sink, area),
            Role::Ordered(area, Some(tiles)) => {
                self.ordered(asm, sink, area);
                let Sink::Pack { keep, count, .. } = sink else { return };
                let out = self.entry.array(asm, *count);
                let values = self.kept(asm, *keep);
                self.reduce_segments(asm, SUM, values, tiles, out);
            }
            Role::Segments(tiles) => {
                let Sink::Reduce { combine, value, out: Some(out), .. } = sink else { return };
                let out = self.entry.array(asm, *out);
                let (combine, values) = self.combined(asm, *combine, *value);
                self.reduce_segments(asm, combine, values, tiles, out);
            }
            Role::Prepare(tiles, results) => {
                let Sink::Reduce { combine, value, .. } = sink else { return };
                let out = self.entry.frame.areas[results];
                let (combine, values) = self.combined(asm, *combine, *value);
                self.reduce_segments(asm, combine, values, tiles, out);
            }
            Role::Read(results) => self.read(asm, sink, results),
        }
    }

    /// Emits the part of the tile in a reduction over the grid.
    fn add(&mut self, asm: &mut Assembly, sink: &Sink, sums: &mut std::slice::Iter<'_, Finish>) {
        let Some((Finish { combine, what: What::Grid { sum, .. }, .. }, (_, value))) =
            sums.next().zip(sink.combined())
        else {
            return;
        };
        for element in self.values(asm, value, combine.0.neutral(combine.1)) {
            let next = asm.combine(combine.0, combine.1, (*sum).into(), element.into());
            asm.move_to(*sum, next.into());
        }
    }

    /// Emits the part of each work item in a scatter or histogram.
    fn free(&mut self, asm: &mut Assembly, sink: &Sink, role: Role) {
        let (kernel, frame) = (self.entry.kernel, self.entry.frame);
        for item in &mut self.items {
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", item.alive);
            let operands = std::mem::take(&mut item.operands);
            let mut code =
                WorkItem::new(asm, &kernel.types, self.entry.spaces, operands, &frame.failure);
            free_sink(&mut code, self.entry, sink, role, item.index);
            item.operands = code.into_operands();
            asm.place(next);
        }
    }

    /// The values of the work items in registers: the neutral element where there is none.
    fn values(&self, asm: &mut Assembly, value: Value, neutral: Literal) -> Vec<Reg> {
        let neutral = asm.constant(neutral);
        let mut all = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let operand = item.operands[value.0 as usize].or_bug("a sink reads what was computed");
            all.push(match operand {
                Operand::Reg(reg) => reg,
                Operand::Constant(_) => {
                    asm.select(item.alive, neutral.class, operand, neutral.into())
                }
            });
        }
        all
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
        let mut values = self.values(asm, value, neutral);
        if ty.is_float() && matches!(combine, Combine::Min | Combine::Max) {
            for value in &mut values {
                *value = asm.combine(combine, ty, (*value).into(), neutral.into());
            }
        }
        ((combine, ty), values)
    }

    /// The number of elements of each work item that a pack keeps: 1 or 0.
    fn kept(&self, asm: &mut Assembly, keep: Value) -> Vec<Reg> {
        let keep = self.values(asm, keep, Literal::Bool(false));
        keep.into_iter().map(|keep| asm.convert(Ty::Bool, Ty::I64, keep.into())).collect()
    }

    /// The rows of a sink: over the whole space all elements are one segment.
    fn rows(&self, scope: Scope, values: Vec<Reg>) -> Rows {
        let position = |item: &Item| match (scope, item.segment) {
            (Scope::Segment, Some((_, position, _))) => position,
            (Scope::All, _) | (Scope::Segment, None) => item.index,
        };
        Rows { values, positions: self.items.iter().map(position).collect() }
    }

    /// The operator, the scope and the rows of a scan, or of the positions of a pack.
    fn scanned(&self, asm: &mut Assembly, sink: &Sink) -> ((Combine, Ty), Rows) {
        match sink {
            Sink::Scan { scope, combine, value, .. } => {
                let (combine, values) = self.combined(asm, *combine, *value);
                (combine, self.rows(*scope, values))
            }
            Sink::Pack { keep, .. } => {
                let values = self.kept(asm, *keep);
                (SUM, self.rows(Scope::All, values))
            }
            Sink::Reduce { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => {
                nesl_runtime::bug!("a scan or a pack")
            }
        }
    }

    /// Emits the total of the tile, for what lies before the others.
    fn total(&mut self, asm: &mut Assembly, sink: &Sink, area: usize) {
        let (combine, rows) = self.scanned(asm, sink);
        let prefixes = scan_tile(asm, &self.place, combine, &rows, None);
        self.leave(asm, combine.1, area, &prefixes);
        let total = match sink {
            Sink::Scan { scope: Scope::All, total: Some(total), .. } => Some(*total),
            Sink::Pack { scope: Scope::All, count, .. } => Some(*count),
            _ => None,
        };
        let total = total.map(|array| self.entry.array(asm, array));
        let area = self.entry.frame.areas[area];
        self.finishes.push(Finish { combine, area, what: What::Carry { total } });
    }

    /// Emits the state of the tile in an area.
    fn leave(&self, asm: &mut Assembly, ty: Ty, area: usize, prefixes: &Prefixes) {
        let state = self.state(asm, area);
        let next = asm.label();
        let others = asm.register(Class::Predicate);
        emit!(asm, "setp.ne.s32 {others}, {}, 0", self.entry.frame.ids.thread);
        emit!(asm, "@{others} bra {next}");
        asm.store(ty, AddressSpace::Global, state, prefixes.total.into());
        let begins = asm.convert(Ty::Bool, Ty::I64, prefixes.begins.into());
        emit!(asm, "st.global.b64 [{state}+{}], {begins}", tile::BEGINS);
        asm.place(next);
    }

    fn state(&self, asm: &mut Assembly, area: usize) -> Reg {
        asm.element_address(self.entry.frame.areas[area], self.number.into(), TILE_BYTES)
    }

    /// Emits a scan with what lies before the tile, and the stores of a pack.
    fn ordered(&mut self, asm: &mut Assembly, sink: &Sink, area: usize) {
        let (combine, rows) = self.scanned(asm, sink);
        let state = self.state(asm, area);
        let carry = asm.load(combine.1, AddressSpace::Global, state);
        let prefixes = scan_tile(asm, &self.place, combine, &rows, Some(carry));
        let is_final = self.entry.pass == Pass::Final;
        match sink {
            Sink::Scan { result, scope, total, .. } => {
                for (item, before) in self.items.iter_mut().zip(&prefixes.before) {
                    item.operands[result.0 as usize] = Some((*before).into());
                }
                if let (true, Scope::Segment, Some(total)) = (is_final, scope, total) {
                    let out = self.entry.array(asm, *total);
                    self.each_last(asm, |asm, segment, row| {
                        let address = asm.element_address(out, segment.into(), combine.1.size());
                        asm.store(
                            combine.1,
                            AddressSpace::Global,
                            address,
                            prefixes.with[row].into(),
                        );
                    });
                }
            }
            Sink::Pack { keep, columns, .. } if is_final => {
                self.pack(asm, *keep, columns, &prefixes.before);
            }
            _ => {}
        }
    }

    fn pack(&self, asm: &mut Assembly, keep: Value, columns: &[(Value, Value)], places: &[Reg]) {
        let kernel = self.entry.kernel;
        let keep = self.values(asm, keep, Literal::Bool(false));
        for ((item, keep), place) in self.items.iter().zip(keep).zip(places) {
            let next = asm.label();
            emit!(asm, "@!{keep} bra {next}");
            for (value, array) in columns {
                let ty = kernel.scalar_ty(*value);
                let array = self.entry.array(asm, *array);
                let address = asm.element_address(array, (*place).into(), ty.size());
                let value =
                    item.operands[value.0 as usize].or_bug("a pack reads what was computed");
                asm.store(ty, AddressSpace::Global, address, value);
            }
            asm.place(next);
        }
    }

    /// Emits code for the work items that are the last of their segments.
    fn each_last(&self, asm: &mut Assembly, mut emit: impl FnMut(&mut Assembly, Reg, usize)) {
        for (row, item) in self.items.iter().enumerate() {
            let (segment, _, is_last) = item.segment.or_bug("a sink by segment has segments");
            let next = asm.label();
            emit!(asm, "@!{is_last} bra {next}");
            emit(asm, segment, row);
            asm.place(next);
        }
    }
}

/// Emits registers with the values of sinks where there is no work item.
fn neutrals(asm: &mut Assembly, entry: &Entry<'_>, wanted: &[(Value, Literal)]) -> Vec<Reg> {
    wanted
        .iter()
        .map(|(value, neutral)| {
            let ValueTy::Scalar(ty) = entry.kernel.types[value.0 as usize] else {
                nesl_runtime::bug!("sinks combine scalars: the verifier sees that")
            };
            let neutral = asm.constant(*neutral);
            let reg = asm.register(Class::of(ty));
            asm.move_to(reg, neutral.into());
            reg
        })
        .collect()
}
