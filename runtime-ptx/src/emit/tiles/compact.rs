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
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Operand, Reg, emit};
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

impl Tile<'_> {
    /// Emits the address of the shared memory for the results of this warp's chunk. What the warp
    /// did with it before is done.
    pub(super) fn staging(&mut self, asm: &mut Assembly) -> Reg {
        let shape = self.entry.plan.tile;
        let name = self.staging.get_or_insert_with(|| asm.shared(8 * shape.items() as usize));
        let (start, base) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "mov.u32 {start}, {name}");
        emit!(asm, "mad.lo.s32 {base}, {}, {}, {start}", self.place.warp, 8 * shape.chunk_items());
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
    fn ring_slot(
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
