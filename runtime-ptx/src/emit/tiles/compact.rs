//! Results that lie one behind the other in memory, though not every element has one.
//!
//! A warp puts the results of its chunk into shared memory, without gaps, and then stores them in the
//! order of their addresses, so that each store of its lanes fills whole sectors:
//!
//! ```text
//! elements  a b c d e f g h …     those marked have a result
//!           ·   · ·     ·
//! shared    a c d g …
//! stores    from the sector on in which the first one lies
//! ```

use super::Tile;
use super::spaces::Run;
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use crate::emit::collective::WARP_THREADS;
use crate::emit::memory::Address;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Ty};

/// The unit in which memory is moved, in bytes.
const SECTOR_BYTES: usize = 32;

/// The results of a chunk in shared memory.
pub(super) struct Staged {
    /// The address of the memory for them.
    pub base: Reg,
    /// The number of the first one, if they are a ring of as many elements as a chunk has.
    pub start: Option<Reg>,
    /// The number of results; a `u32`.
    pub count: Reg,
    /// The type of the results.
    pub ty: Ty,
}

/// The offsets in shared memory of what a warp knows of the results of its chunk: how many there are,
/// and the numbers of their first and last segments; in bytes.
const COUNT: usize = 0;
const FIRST: usize = 4;
const LAST: usize = 8;

/// The summary of no results: their number, and the numbers of segments that lie behind the first and
/// before the last one of whatever follows.
const NOTHING: [i32; 3] = [0, i32::MAX, -1];

/// The size of that, in bytes.
const SUMMARY_BYTES: usize = 16;

/// The summary of the results of a warp's chunk: how many they are, and of which segments.
enum Summary {
    /// Each lane counts its own, and finds their first and last number; the warp reduces that.
    Lanes([Reg; 3]),
    /// It lies at an address in shared memory, and each result updates it.
    Shared(Reg),
}

impl Summary {
    fn begin(asm: &mut Assembly, tile: &mut Tile<'_>) -> Summary {
        match asm.target.reduces_warps() {
            true => Summary::Lanes(NOTHING.map(|x| asm.constant(Literal::I32(x)))),
            false => Summary::Shared(tile.summary(asm)),
        }
    }

    /// Emits the addition of a result, by the number of its segment, by the lanes that have one. Those
    /// of a lane are added in order.
    fn add(&self, asm: &mut Assembly, number: Reg) {
        match self {
            Summary::Lanes([count, first, last]) => {
                emit!(asm, "add.s32 {count}, {count}, 1");
                emit!(asm, "min.s32 {first}, {first}, {number}");
                emit!(asm, "mov.b32 {last}, {number}");
            }
            Summary::Shared(address) => {
                let one = Operand::Constant(Literal::I32(1));
                let updates: [(&str, usize, Operand); 3] = [
                    ("add.u32", COUNT, one),
                    ("min.s32", FIRST, number.into()),
                    ("max.s32", LAST, number.into()),
                ];
                for (name, field, value) in updates {
                    emit!(asm, "red.relaxed.cta.shared.{name} [{address}+{field}], {value}");
                }
            }
        }
    }

    /// Emits the number of results, and the numbers of their first and last segments, for all lanes.
    fn finish(&self, asm: &mut Assembly) -> [Reg; 3] {
        let [count, first, last] = [(); 3].map(|()| asm.register(Class::B32));
        match self {
            Summary::Lanes(own) => {
                let names = ["add.u32", "min.s32", "max.s32"];
                for ((name, d), own) in names.iter().zip([count, first, last]).zip(own) {
                    emit!(asm, "redux.sync.{name} {d}, {own}, -1");
                }
            }
            Summary::Shared(address) => {
                let unused = asm.register(Class::B32);
                emit!(asm, "ld.shared.v4.b32 {{{count}, {first}, {last}, {unused}}}, [{address}]");
            }
        }
        [count, first, last]
    }
}

/// The results of the runs of a chunk in shared memory.
pub(super) struct Results {
    base: Reg,
    /// A bit for each element of this thread's run: 1 if it has a result.
    ends: Reg,
    /// The number of the segment of the run's first result, and of its last one.
    first: Reg,
    last: Reg,
    /// True if numbers may be left out, because their segments have no elements.
    has_gaps: bool,
}

impl Results {
    /// The results of a run, in the shared memory from an address on.
    pub(super) fn of_run(asm: &mut Assembly, run: &Run, base: Reg) -> Results {
        let last = asm.register(Class::B32);
        asm.move_to(last, run.number.into());
        Results { base, ends: run.ends, first: run.number, last, has_gaps: run.numbers.is_some() }
    }

    /// Emits the addition of a result, by the number of its segment, by the lanes that have one. Those
    /// of a lane are added in order.
    pub(super) fn add(&self, asm: &mut Assembly, number: Reg) {
        emit!(asm, "mov.b32 {}, {number}", self.last);
    }
}

impl Tile<'_> {
    /// Emits the values of this thread's run, from its elements in the rows of the chunk.
    pub(super) fn transpose(&mut self, asm: &mut Assembly, ty: Ty, values: &[Reg]) -> Vec<Reg> {
        let (size, rows) = (ty.size(), values.len());
        if rows == 1 {
            return values.to_vec();
        }
        let base = self.staging(asm);
        // With an element left out behind each run, the lanes access other banks.
        let [gaps, own, run] = [(); 3].map(|()| asm.register(Class::B32));
        emit!(asm, "shr.u32 {gaps}, {}, {}", self.place.lane, rows.ilog2());
        emit!(asm, "add.s32 {own}, {gaps}, {}", self.place.lane);
        emit!(asm, "mad.lo.s32 {own}, {own}, {size}, {base}");
        emit!(asm, "mad.lo.s32 {run}, {}, {}, {base}", self.place.lane, (rows + 1) * size);
        let row_bytes = size * WARP_THREADS as usize * (rows + 1) / rows;
        for (row, value) in values.iter().enumerate() {
            let slot = Address { base: own, bytes: row * row_bytes };
            asm.store(ty, AddressSpace::Shared, slot, (*value).into());
        }
        emit!(asm, "bar.warp.sync -1");
        let slots = (0..rows).map(|at| Address { base: run, bytes: at * size });
        slots.map(|slot| asm.load(ty, AddressSpace::Shared, slot)).collect()
    }

    /// Emits code for the elements of this thread's run that are the last of their segments: `ends` has
    /// a predicate for each. `emit` is given the number of the segment from that of the tile's first
    /// element on, and which element it is.
    pub(super) fn each_end(
        &self,
        asm: &mut Assembly,
        run: &Run,
        ends: &[Reg],
        mut emit: impl FnMut(&mut Assembly, Reg, usize),
    ) {
        let number = asm.register(Class::B32);
        asm.move_to(number, run.number.into());
        for (at, is_end) in ends.iter().enumerate() {
            let next = asm.label();
            emit!(asm, "@!{is_end} bra {next}");
            emit(asm, number, at);
            match run.numbers {
                None => emit!(asm, "add.s32 {number}, {number}, 1"),
                Some(all) => emit!(asm, "ld.shared.b32 {number}, [{all}+{}]", 4 * (at + 1)),
            }
            asm.place(next);
        }
    }

    /// Emits the store of one result, by the number of its segment from that of the tile's first
    /// element on, to an array whose elements have some size in bytes.
    pub(super) fn store_alone(
        &self,
        asm: &mut Assembly,
        number: Reg,
        (out, size): (Reg, usize),
        (ty, result): (Ty, Reg),
    ) {
        let (wide, segment) = (asm.register(Class::B64), asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {wide}, {number}");
        emit!(asm, "add.s64 {segment}, {}, {wide}", self.segments.first());
        let address = asm.element_address(out, segment.into(), size);
        asm.store(ty, AddressSpace::Global, address, result.into());
    }

    /// Emits the stores of the results of the runs of a chunk. Goes to `single` if their segments are not
    /// consecutive, and to `done` if there are none.
    pub(super) fn store_consecutive(
        &self,
        asm: &mut Assembly,
        results: &Results,
        (ty, out): (Ty, Reg),
        (done, single): (Label, Label),
    ) {
        let [lanes, first, last, count, number] = [(); 5].map(|()| asm.register(Class::B32));
        let [ends, none] = [(); 2].map(|()| asm.register(Class::Predicate));
        emit!(asm, "setp.ne.s32 {ends}, {}, 0", results.ends);
        emit!(asm, "vote.sync.ballot.b32 {lanes}, {ends}, -1");
        emit!(asm, "setp.eq.s32 {none}, {lanes}, 0");
        emit!(asm, "@{none} bra {done}");
        if results.has_gaps {
            // The results of a lane, and those of it and of the last lane that has some, are consecutive.
            let [own, before, other] = [(); 3].map(|()| asm.register(Class::B32));
            let [gap, some] = [(); 2].map(|()| asm.register(Class::Predicate));
            emit!(asm, "popc.b32 {own}, {}", results.ends);
            emit!(asm, "sub.s32 {number}, {}, {}", results.last, results.first);
            emit!(asm, "add.s32 {number}, {number}, 1");
            emit!(asm, "setp.ne.and.s32 {gap}, {number}, {own}, {ends}");
            emit!(asm, "mov.u32 {before}, %lanemask_lt");
            emit!(asm, "and.b32 {before}, {before}, {lanes}");
            emit!(asm, "setp.ne.and.s32 {some}, {before}, 0, {ends}");
            emit!(asm, "bfind.u32 {before}, {before}");
            emit!(asm, "shfl.sync.idx.b32 {other}, {}, {before}, 31, -1", results.last);
            emit!(asm, "add.s32 {other}, {other}, 1");
            emit!(asm, "setp.ne.and.s32 {some}, {other}, {}, {some}", results.first);
            emit!(asm, "or.pred {gap}, {gap}, {some}");
            emit!(asm, "vote.sync.any.pred {gap}, {gap}, -1");
            emit!(asm, "@{gap} bra {single}");
        }
        emit!(asm, "bfind.u32 {last}, {lanes}");
        emit!(asm, "shfl.sync.idx.b32 {last}, {}, {last}, 31, -1", results.last);
        emit!(asm, "neg.s32 {first}, {lanes}");
        emit!(asm, "and.b32 {first}, {first}, {lanes}");
        emit!(asm, "bfind.u32 {first}, {first}");
        emit!(asm, "shfl.sync.idx.b32 {first}, {}, {first}, 31, -1", results.first);
        emit!(asm, "sub.s32 {count}, {last}, {first}");
        emit!(asm, "add.s32 {count}, {count}, 1");
        let (wide, segment) = (asm.register(Class::B64), asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {wide}, {first}");
        emit!(asm, "add.s64 {segment}, {}, {wide}", self.segments.first());
        let target = asm.element_address(out, segment.into(), ty.size());
        let staged = Staged { base: results.base, start: Some(first), count, ty };
        self.store_staged(asm, &staged, target);
    }

    /// Emits the address of the shared memory for the results of this warp's chunk. What the warp
    /// did with it before is done.
    pub(super) fn staging(&mut self, asm: &mut Assembly) -> Reg {
        let shape = self.entry.plan.tile;
        // Runs are transposed there, with a gap behind each.
        let gaps = if self.segments_later { WARP_THREADS } else { 0 };
        let bytes = 8 * (shape.chunk_items() + gaps);
        let warps = self.place.warps;
        let name = self.staging.get_or_insert_with(|| asm.shared((warps * bytes) as usize));
        let (start, base) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "mov.u32 {start}, {name}");
        emit!(asm, "mad.lo.s32 {base}, {}, {bytes}, {start}", self.place.warp);
        emit!(asm, "bar.warp.sync -1");
        base
    }

    /// Emits the stores of the results of this warp's chunk, to an address in global memory on.
    pub(super) fn store_staged(&self, asm: &mut Assembly, staged: &Staged, target: Reg) {
        let Staged { base, start, count, ty } = *staged;
        let size = ty.size();
        emit!(asm, "bar.warp.sync -1");
        // The first lane stores to the beginning of a sector, or nothing if the result that would lie
        // there is of another warp.
        let [low, skipped, at, slot, left] = [(); 5].map(|()| asm.register(Class::B32));
        emit!(asm, "cvt.u32.u64 {low}, {target}");
        emit!(asm, "and.b32 {low}, {low}, {}", SECTOR_BYTES - 1);
        emit!(asm, "shr.u32 {skipped}, {low}, {}", size.ilog2());
        emit!(asm, "sub.s32 {at}, {}, {skipped}", self.place.lane);
        emit!(asm, "sub.s32 {left}, {count}, {at}");
        let done = asm.label();
        if start.is_some() {
            // Most lanes have nothing to store.
            let idle = asm.register(Class::Predicate);
            emit!(asm, "setp.le.s32 {idle}, {left}, 0");
            emit!(asm, "@{idle} bra {done}");
        }
        let address = asm.register(Class::B64);
        emit!(asm, "mad.wide.s32 {address}, {at}, {size}, {target}");
        match start {
            Some(start) => emit!(asm, "add.s32 {slot}, {at}, {start}"),
            None => emit!(asm, "mad.lo.s32 {slot}, {at}, {size}, {base}"),
        }
        let inside = asm.register(Class::Predicate);
        emit!(asm, "setp.lo.u32 {inside}, {at}, {count}");
        for row in 0..=self.entry.plan.tile.rows {
            let distance = row * WARP_THREADS;
            if row > 0 {
                let over = asm.register(Class::Predicate);
                emit!(asm, "setp.le.s32 {over}, {left}, {distance}");
                emit!(asm, "@{over} bra {done}");
            }
            let bytes = distance as usize * size;
            let from = match start {
                Some(_) => self.ring_slot(asm, (base, size), slot, distance).into(),
                None => Address { base: slot, bytes },
            };
            asm.guard = (row == 0).then_some(inside);
            let value = asm.load(ty, AddressSpace::Shared, from);
            let target = Address { base: address, bytes };
            asm.store(ty, AddressSpace::Global, target, value.into());
            asm.guard = None;
        }
        asm.place(done);
    }

    /// Emits the address of the element of a ring at a number that is `distance` greater.
    pub(super) fn ring_slot(
        &self,
        asm: &mut Assembly,
        (base, size): (Reg, usize),
        number: Reg,
        distance: u32,
    ) -> Reg {
        let (at, slot) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "add.s32 {at}, {number}, {distance}");
        emit!(asm, "and.b32 {at}, {at}, {}", self.entry.plan.tile.chunk_items() - 1);
        emit!(asm, "mad.lo.s32 {slot}, {at}, {size}, {base}");
        slot
    }

    /// Emits the results of the segments that end in the tile: the last element of each has it. `total`
    /// emits the result of an element of a row.
    pub(super) fn store_results(
        &mut self,
        asm: &mut Assembly,
        ty: Ty,
        mut total: impl FnMut(&mut Assembly, usize) -> Reg,
        out: Reg,
    ) {
        let mut totals = Vec::with_capacity(self.items.len());
        let base = self.staging(asm);
        let summary = Summary::begin(asm, self);
        for (row, item) in self.items.iter().enumerate() {
            let segment = item.segment.as_ref().or_bug("a sink by segment has segments");
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", segment.is_last);
            let number = self.segments.behind_first(asm, segment);
            let slot = self.ring_slot(asm, (base, ty.size()), number, 0);
            let result = total(asm, row);
            totals.push(result);
            asm.store(ty, AddressSpace::Shared, slot, result.into());
            summary.add(asm, number);
            asm.place(next);
        }
        emit!(asm, "bar.warp.sync -1");
        let [count, first, last] = summary.finish(asm);
        let span = asm.register(Class::B32);
        let (none, gaps) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        let (done, single) = (asm.label(), asm.label());
        emit!(asm, "setp.eq.s32 {none}, {count}, 0");
        emit!(asm, "@{none} bra {done}");
        emit!(asm, "sub.s32 {span}, {last}, {first}");
        emit!(asm, "sub.s32 {span}, {count}, {span}");
        emit!(asm, "setp.ne.s32 {gaps}, {span}, 1");
        emit!(asm, "@{gaps} bra {single}");
        let (wide, segment) = (asm.register(Class::B64), asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {wide}, {first}");
        emit!(asm, "add.s64 {segment}, {}, {wide}", self.segments.first());
        let target = asm.element_address(out, segment.into(), ty.size());
        self.store_staged(asm, &Staged { base, start: Some(first), count, ty }, target);
        asm.place(done);
        // If there are segments without elements among them, each is stored by itself.
        asm.out_of_line(|asm| {
            asm.place(single);
            self.each_last(asm, |asm, segment, row| {
                let address = asm.element_address(out, segment.into(), ty.size());
                asm.store(ty, AddressSpace::Global, address, totals[row].into());
            });
            emit!(asm, "bra {done}");
        });
    }

    /// Emits the address in shared memory of what this warp knows of its results, which are none so
    /// far.
    fn summary(&mut self, asm: &mut Assembly) -> Reg {
        let bytes = SUMMARY_BYTES * self.place.warps as usize;
        let name = self.summary.get_or_insert_with(|| asm.shared(bytes));
        let (start, summary) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "mov.u32 {start}, {name}");
        emit!(asm, "mad.lo.s32 {summary}, {}, {SUMMARY_BYTES}, {start}", self.place.warp);
        let (others, cleared) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.ne.s32 {others}, {}, 0", self.place.lane);
        emit!(asm, "@{others} bra {cleared}");
        let [count, first, last] = NOTHING.map(|x| asm.constant(Literal::I32(x)));
        emit!(asm, "st.shared.v4.b32 [{summary}], {{{count}, {first}, {last}, {count}}}");
        asm.place(cleared);
        emit!(asm, "bar.warp.sync -1");
        summary
    }
}
