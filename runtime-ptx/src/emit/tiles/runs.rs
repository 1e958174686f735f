//! Reductions of segments that are short beside the chunk of a warp.
//!
//! The elements of a chunk were loaded row by row, so that neighbouring lanes have neighbouring elements.
//! Through shared memory each thread gets a *run* of neighbouring elements instead, which it combines by
//! itself; only the combination of a run, from its last head on, goes to the lanes behind it:
//!
//! ```text
//! elements   a b c d|e f g h|i j k l|…     runs of four
//! heads      ·     ·   ·         ·
//! thread 1   e: combines with what lies before the run;  f…h: from f on
//! lanes      f…h goes to the next runs, up to the first one with a head
//! ```
//!
//! Where the segments begin decides what is combined with what, so that a float result has the same
//! bits in each run of the program.

use super::Tile;
use super::compact::Results;
use super::spaces::Run;
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::collective::{WARP_THREADS, shuffle};
use crate::emit::lookback::Combined;
use crate::emit::scan::scan_row;
use nesl_runtime::kir::{Combine, Ty};

/// A number of lanes that no warp has.
const FAR_LANES: i32 = 1 << 16;

/// The runs of a chunk, combined as far as the chunk goes.
pub(super) struct Runs {
    run: Run,
    /// The combination of the elements of the run from the last head before, or at, each one on.
    values: Vec<Reg>,
    /// A predicate for each element: true if no head is before it in the run, or at it.
    open: Vec<Reg>,
    /// The combination of the elements before the run, from the last head of the chunk on.
    before: Reg,
    /// The combination of the chunk.
    pub total: Combined,
}

impl Tile<'_> {
    /// Emits the combinations of the runs of this warp's chunk.
    pub(super) fn combine_runs(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        values: &[Reg],
    ) -> Runs {
        let (rows, ty) = (values.len(), combine.1);
        let values = self.transpose(asm, ty, values);
        let run = self.segments.run(asm, &self.place, rows, self.left);
        let mut open: Vec<Reg> = Vec::with_capacity(rows);
        for (at, value) in values.iter().enumerate() {
            let bit = asm.register(Class::B32);
            let (goes_on, is_open) =
                (asm.register(Class::Predicate), asm.register(Class::Predicate));
            emit!(asm, "and.b32 {bit}, {}, {}", run.heads, 1 << at);
            emit!(asm, "setp.eq.s32 {goes_on}, {bit}, 0");
            match open.last() {
                None => open.push(goes_on),
                Some(before) => {
                    emit!(asm, "and.pred {is_open}, {goes_on}, {before}");
                    open.push(is_open);
                    asm.combine_before(Some(goes_on), combine, values[at - 1], *value);
                }
            }
        }
        // The lanes before that a run's combination goes on from: those behind the last head.
        let [up_to, head, near] = [(); 3].map(|()| asm.register(Class::B32));
        let begins = asm.register(Class::Predicate);
        emit!(asm, "mov.u32 {up_to}, %lanemask_le");
        emit!(asm, "and.b32 {up_to}, {up_to}, {}", run.beginners);
        emit!(asm, "bfind.u32 {head}, {up_to}");
        emit!(asm, "setp.eq.s32 {begins}, {up_to}, 0");
        emit!(asm, "selp.b32 {head}, {}, {head}, {begins}", -FAR_LANES);
        emit!(asm, "sub.s32 {near}, {}, {head}", self.place.lane);
        let (of_run, sum) = (values[rows - 1], asm.register(values[rows - 1].class));
        asm.move_to(sum, of_run.into());
        scan_row(asm, &self.place, combine, sum, Some(near));
        let value = shuffle(asm, "idx", ty, sum, WARP_THREADS - 1, WARP_THREADS - 1);
        let before = shuffle(asm, "up", ty, sum, 1, 0);
        let begins = asm.register(Class::Predicate);
        emit!(asm, "setp.ne.s32 {begins}, {}, 0", run.beginners);
        Runs { run, values, open, before, total: Combined { value, begins: Some(begins) } }
    }

    /// Emits the results of the segments that end in this warp's chunk, to an array whose elements have
    /// some size in bytes. `before_chunk` is the combination of what lies before the chunk.
    pub(super) fn store_runs(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        Runs { run, values, open, before, .. }: &Runs,
        before_chunk: Reg,
        (out, size): (Reg, usize),
    ) {
        // What lies before the run: of the chunk, if a segment began there.
        let (is_first, alone) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        emit!(asm, "setp.eq.s32 {alone}, {}, 0", run.before);
        asm.combine_before(Some(alone), combine, before_chunk, *before);
        emit!(asm, "setp.eq.s32 {is_first}, {}, 0", self.place.lane);
        let class = before.class;
        let before = asm.select(is_first, class, before_chunk.into(), (*before).into());
        let ends: Vec<Reg> = (0..values.len())
            .map(|at| {
                let (bit, ends) = (asm.register(Class::B32), asm.register(Class::Predicate));
                emit!(asm, "and.b32 {bit}, {}, {}", run.ends, 1 << at);
                emit!(asm, "setp.ne.s32 {ends}, {bit}, 0");
                ends
            })
            .collect();
        for (value, open) in values.iter().zip(open) {
            asm.combine_before(Some(*open), combine, before, *value);
        }
        if size != combine.1.size() {
            return self.each_end(asm, run, &ends, |asm, number, at| {
                self.store_alone(asm, number, (out, size), (combine.1, values[at]));
            });
        }
        let base = self.staging(asm);
        let results = Results::of_run(asm, run, base);
        self.each_end(asm, run, &ends, |asm, number, at| {
            let slot = self.ring_slot(asm, (base, size), number, 0);
            asm.store(combine.1, AddressSpace::Shared, slot, values[at].into());
            results.add(asm, number);
        });
        let (done, single) = (asm.label(), asm.label());
        self.store_consecutive(asm, &results, (combine.1, out), (done, single));
        asm.place(done);
        // If there are segments without elements among them, each is stored by itself.
        if run.numbers.is_some() {
            asm.out_of_line(|asm| {
                asm.place(single);
                self.each_end(asm, run, &ends, |asm, number, at| {
                    self.store_alone(asm, number, (out, size), (combine.1, values[at]));
                });
                emit!(asm, "bra {done}");
            });
        }
    }
}
