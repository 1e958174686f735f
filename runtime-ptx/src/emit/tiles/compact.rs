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
use crate::emit::assembly::{Assembly, Class, Reg, emit};
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

/// The places of a thread's elements in shared memory: the address of the first, and the distance from
/// each to the next, in bytes.
struct Places {
    first: Reg,
    step: usize,
}

impl Places {
    fn slots(&self) -> impl Iterator<Item = Address> {
        let Places { first, step } = *self;
        (0..).map(move |at| Address { base: first, bytes: at * step })
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
    /// Emits the values of this thread's run in registers of their own, from those of its elements in
    /// the rows of the chunk.
    pub(super) fn runs_from_rows(
        &mut self,
        asm: &mut Assembly,
        ty: Ty,
        values: &[Reg],
    ) -> Vec<Reg> {
        if let Some([rows, runs]) = self.transposed(asm, ty, values.len()) {
            return exchange(asm, ty, values, rows, runs);
        }
        let copy = |value: &Reg| {
            let d = asm.register(value.class);
            asm.move_to(d, (*value).into());
            d
        };
        values.iter().map(copy).collect()
    }

    /// Emits the values of this thread's elements in the rows of the chunk, from those of its run.
    pub(super) fn rows_from_runs(
        &mut self,
        asm: &mut Assembly,
        ty: Ty,
        values: &[Reg],
    ) -> Vec<Reg> {
        let slots = self.transposed(asm, ty, values.len());
        slots.map_or_else(|| values.to_vec(), |[rows, runs]| exchange(asm, ty, values, runs, rows))
    }

    /// Emits the places in shared memory of this thread's elements in the rows of the chunk, and of
    /// those of its run; none if these are the same. What the warp did with the memory before is done.
    fn transposed(&mut self, asm: &mut Assembly, ty: Ty, count: usize) -> Option<[Places; 2]> {
        if count == 1 {
            return None;
        }
        let size = ty.size();
        let base = self.staging(asm);
        // With an element left out behind each run, the lanes access other banks.
        let [gaps, own, run] = [(); 3].map(|()| asm.register(Class::B32));
        emit!(asm, "shr.u32 {gaps}, {}, {}", self.place.lane, count.ilog2());
        emit!(asm, "add.s32 {own}, {gaps}, {}", self.place.lane);
        emit!(asm, "mad.lo.s32 {own}, {own}, {size}, {base}");
        emit!(asm, "mad.lo.s32 {run}, {}, {}, {base}", self.place.lane, (count + 1) * size);
        let row_bytes = size * WARP_THREADS as usize * (count + 1) / count;
        Some([Places { first: own, step: row_bytes }, Places { first: run, step: size }])
    }

    /// Emits code for the elements of this thread's run, of so many, that are the last of their
    /// segments. `emit` is given the number of the segment from that of the tile's first
    /// element on, and which element it is.
    pub(super) fn each_end(
        &self,
        asm: &mut Assembly,
        run: &Run,
        count: usize,
        mut emit: impl FnMut(&mut Assembly, Reg, usize),
    ) {
        let number = asm.register(Class::B32);
        asm.move_to(number, run.number.into());
        for at in 0..count {
            let (bit, is_none) = (asm.register(Class::B32), asm.register(Class::Predicate));
            let next = asm.label();
            emit!(asm, "and.b32 {bit}, {}, {}", run.ends, 1u32 << at);
            emit!(asm, "setp.eq.s32 {is_none}, {bit}, 0");
            emit!(asm, "@{is_none} bra {next}");
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

    /// Emits the stores of the results of the runs of a chunk, whose elements have some values.
    pub(super) fn store_results(
        &mut self,
        asm: &mut Assembly,
        results: &Results,
        (run, values): (&Run, &[Reg]),
        (ty, out): (Ty, Reg),
    ) {
        let done = asm.label();
        let [lanes, first, last, count, number] = [(); 5].map(|()| asm.register(Class::B32));
        let [ends, none] = [(); 2].map(|()| asm.register(Class::Predicate));
        emit!(asm, "setp.ne.s32 {ends}, {}, 0", results.ends);
        emit!(asm, "vote.sync.ballot.b32 {lanes}, {ends}, -1");
        emit!(asm, "setp.eq.s32 {none}, {lanes}, 0");
        emit!(asm, "@{none} bra {done}");
        let mut has_gaps = None;
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
            has_gaps = Some(gap);
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
        if let Some(gap) = has_gaps {
            let sparse = asm.label();
            emit!(asm, "@{gap} bra {sparse}");
            asm.out_of_line(|asm| {
                asm.place(sparse);
                self.store_sparse(asm, &staged, target, (run, values), out);
                emit!(asm, "bra {done}");
            });
        }
        self.store_staged(asm, &staged, target);
        asm.place(done);
    }

    /// Emits the stores of the results of the runs of a chunk if there are segments without elements
    /// among theirs: these have results already. The results are marked that the ring has.
    fn store_sparse(
        &self,
        asm: &mut Assembly,
        staged: &Staged,
        target: Reg,
        (run, values): (&Run, &[Reg]),
        out: Reg,
    ) {
        let Staged { base, start, count, ty } = *staged;
        let first = start.or_bug("results of segments are a ring");
        let rows = self.entry.plan.tile.rows;
        let name = asm.shared(4 * (rows * self.place.warps) as usize);
        let [marks, word, bit, offset] = [(); 4].map(|()| asm.register(Class::B32));
        let (far, single, done) = (asm.register(Class::Predicate), asm.label(), asm.label());
        emit!(asm, "setp.gt.s32 {far}, {count}, {}", self.entry.plan.tile.chunk_items());
        emit!(asm, "@{far} bra {single}");
        emit!(asm, "mov.u32 {marks}, {name}");
        emit!(asm, "mad.lo.s32 {marks}, {}, {}, {marks}", self.place.warp, 4 * rows);
        let (clears, zero) = (asm.register(Class::Predicate), asm.constant(Literal::I32(0)));
        emit!(asm, "setp.lt.u32 {clears}, {}, {rows}", self.place.lane);
        emit!(asm, "mad.lo.s32 {word}, {}, 4, {marks}", self.place.lane);
        emit!(asm, "@{clears} st.shared.b32 [{word}], {zero}");
        emit!(asm, "bar.warp.sync -1");
        self.each_end(asm, run, values.len(), |asm, number, _| {
            emit!(asm, "sub.s32 {offset}, {number}, {first}");
            emit!(asm, "shr.u32 {word}, {offset}, 5");
            emit!(asm, "mad.lo.s32 {word}, {word}, 4, {marks}");
            emit!(asm, "and.b32 {offset}, {offset}, 31");
            emit!(asm, "shl.b32 {bit}, 1, {offset}");
            emit!(asm, "red.relaxed.cta.shared.or.b32 [{word}], {bit}");
        });
        emit!(asm, "bar.warp.sync -1");
        let (number, address) = (asm.register(Class::B32), asm.register(Class::B64));
        emit!(asm, "add.s32 {number}, {first}, {}", self.place.lane);
        emit!(asm, "mad.wide.u32 {address}, {}, {}, {target}", self.place.lane, ty.size());
        for row in 0..rows {
            let distance = row * WARP_THREADS;
            let (over, none) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
            let next = asm.label();
            if row > 0 {
                emit!(asm, "setp.le.s32 {over}, {count}, {distance}");
                emit!(asm, "@{over} bra {done}");
            }
            emit!(asm, "ld.shared.b32 {word}, [{marks}+{}]", 4 * row);
            emit!(asm, "shr.u32 {word}, {word}, {}", self.place.lane);
            emit!(asm, "and.b32 {word}, {word}, 1");
            emit!(asm, "setp.eq.s32 {none}, {word}, 0");
            emit!(asm, "@{none} bra {next}");
            let slot = self.ring_slot(asm, (base, ty.size()), number, distance);
            let result = asm.load(ty, AddressSpace::Shared, slot);
            let target = Address { base: address, bytes: distance as usize * ty.size() };
            asm.store(ty, AddressSpace::Global, target, result.into());
            asm.place(next);
        }
        emit!(asm, "bra {done}");
        // The ring has too few places: each is stored by itself.
        asm.place(single);
        self.each_end(asm, run, values.len(), |asm, number, at| {
            self.store_alone(asm, number, (out, ty.size()), (ty, values[at]));
        });
        asm.place(done);
    }

    /// Emits the address of the shared memory for the results of this warp's chunk. What the warp
    /// did with it before is done.
    pub(super) fn staging(&mut self, asm: &mut Assembly) -> Reg {
        let shape = self.entry.plan.tile;
        // Runs are transposed there, with a gap behind each.
        let gaps = if self.has_runs { WARP_THREADS } else { 0 };
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
            let next = asm.label();
            if row == 0 {
                // A jump, since a load under a predicate would keep the register of its value for all tiles.
                emit!(asm, "@!{inside} bra {next}");
            }
            let value = asm.load(ty, AddressSpace::Shared, from);
            let target = Address { base: address, bytes };
            asm.store(ty, AddressSpace::Global, target, value.into());
            asm.place(next);
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
}

/// Emits the exchange of values within a warp, from their places in shared memory to others.
fn exchange(asm: &mut Assembly, ty: Ty, values: &[Reg], from: Places, to: Places) -> Vec<Reg> {
    for (value, slot) in values.iter().zip(from.slots()) {
        asm.store(ty, AddressSpace::Shared, slot, (*value).into());
    }
    emit!(asm, "bar.warp.sync -1");
    to.slots().take(values.len()).map(|slot| asm.load(ty, AddressSpace::Shared, slot)).collect()
}
