//! Scans, and reductions of segments that are short beside the chunk of a warp.
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
//! The prefixes of a scan go back through shared memory to the rows. Where the segments begin decides
//! what is combined with what, so that a float result has the same bits whenever a program runs.

use super::Tile;
use super::compact::Results;
use super::spaces::Run;
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::collective::{WARP_THREADS, shuffle};
use crate::emit::lookback::Combined;
use crate::emit::scan::scan_lanes;
use nesl_runtime::kir::{Combine, Scope, Ty};

/// A number of lanes that no warp has.
const FAR_LANES: i32 = 1 << 16;

/// The runs of a chunk, combined as far as the chunk goes.
pub(super) struct Runs {
    /// The segments of this thread's run; none if all elements are one segment.
    run: Option<Run>,
    /// The combination of the elements of the run up to each one, from the last head on.
    values: Vec<Reg>,
    /// The combination of the elements before the run, from the last head of the chunk on.
    before: Reg,
    /// The combination of the chunk.
    pub total: Combined,
}

/// Emits the question whether a bit is 0.
fn is_clear(asm: &mut Assembly, bits: Reg, at: usize) -> Reg {
    let (bit, clear) = (asm.register(Class::B32), asm.register(Class::Predicate));
    emit!(asm, "and.b32 {bit}, {bits}, {}", 1u32 << at);
    emit!(asm, "setp.eq.s32 {clear}, {bit}, 0");
    clear
}

impl Tile<'_> {
    /// Emits the combinations of the runs of this warp's chunk.
    pub(super) fn combine_runs(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        values: &[Reg],
        scope: Scope,
    ) -> Runs {
        let (rows, ty) = (values.len(), combine.1);
        let values = self.runs_from_rows(asm, ty, values);
        let run = match scope {
            Scope::All => None,
            Scope::Segment => Some(self.segments.run(asm, &self.place, rows, self.left)),
        };
        for at in 1..rows {
            let goes_on = run.as_ref().map(|run| is_clear(asm, run.heads, at));
            asm.combine_before(goes_on, combine, values[at - 1], values[at]);
        }
        // The lanes before that a run's combination goes on from: those behind the last head.
        let near = run.as_ref().map(|run| {
            let [up_to, head, near] = [(); 3].map(|()| asm.register(Class::B32));
            let none = asm.register(Class::Predicate);
            emit!(asm, "mov.u32 {up_to}, %lanemask_le");
            emit!(asm, "and.b32 {up_to}, {up_to}, {}", run.beginners);
            emit!(asm, "bfind.u32 {head}, {up_to}");
            emit!(asm, "setp.eq.s32 {none}, {up_to}, 0");
            emit!(asm, "selp.b32 {head}, {}, {head}, {none}", -FAR_LANES);
            emit!(asm, "sub.s32 {near}, {}, {head}", self.place.lane);
            near
        });
        let (of_run, sum) = (values[rows - 1], asm.register(values[rows - 1].class));
        asm.move_to(sum, of_run.into());
        emit!(asm, "bar.warp.sync -1");
        scan_lanes(asm, &self.place, combine, sum, near);
        let value = shuffle(asm, "idx", ty, sum, WARP_THREADS - 1, WARP_THREADS - 1);
        let before = shuffle(asm, "up", ty, sum, 1, 0);
        let begins = run.as_ref().map(|run| {
            let begins = asm.register(Class::Predicate);
            emit!(asm, "setp.ne.s32 {begins}, {}, 0", run.beginners);
            begins
        });
        Runs { run, values, before, total: Combined { value, begins } }
    }

    /// Emits what lies before this thread's run, from that before the chunk, and combines it with the
    /// elements of the run that it reaches.
    fn reach_runs(
        &self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        runs: &Runs,
        before_chunk: Reg,
    ) -> Reg {
        let Runs { run, values, before, .. } = runs;
        let alone = run.as_ref().map(|run| {
            let alone = asm.register(Class::Predicate);
            emit!(asm, "setp.eq.s32 {alone}, {}, 0", run.before);
            alone
        });
        asm.combine_before(alone, combine, before_chunk, *before);
        let is_first = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s32 {is_first}, {}, 0", self.place.lane);
        let before = asm.select(is_first, before.class, before_chunk.into(), (*before).into());
        // The number of elements before the run's first head.
        let reached = run.as_ref().map(|run| {
            let (lowest, none) = (asm.register(Class::B32), asm.register(Class::Predicate));
            emit!(asm, "neg.s32 {lowest}, {}", run.heads);
            emit!(asm, "and.b32 {lowest}, {lowest}, {}", run.heads);
            emit!(asm, "setp.eq.s32 {none}, {lowest}, 0");
            emit!(asm, "bfind.u32 {lowest}, {lowest}");
            emit!(asm, "selp.b32 {lowest}, {}, {lowest}, {none}", values.len());
            lowest
        });
        for (at, value) in values.iter().enumerate() {
            let reaches = reached.map(|reached| {
                let reaches = asm.register(Class::Predicate);
                emit!(asm, "setp.gt.s32 {reaches}, {reached}, {at}");
                reaches
            });
            asm.combine_before(reaches, combine, before, *value);
        }
        before
    }

    /// Emits the prefixes of the elements of this thread in the rows of the chunk: the combination of
    /// the elements of the segment before each. `out` is the array for the results of segments, if
    /// they are wanted, `before_chunk` the combination of what lies before the chunk.
    pub(super) fn scan_runs(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        runs: &Runs,
        before_chunk: Reg,
        out: Option<Reg>,
    ) -> Vec<Reg> {
        let before = self.reach_runs(asm, combine, runs, before_chunk);
        let neutral = combine.0.neutral(combine.1);
        let mut prefixes = vec![before];
        prefixes.extend(&runs.values[..runs.values.len() - 1]);
        if let Some(run) = &runs.run {
            for (at, prefix) in prefixes.iter_mut().enumerate() {
                let goes_on = is_clear(asm, run.heads, at);
                let neutral = asm.constant(neutral);
                *prefix = asm.select(goes_on, prefix.class, (*prefix).into(), neutral.into());
            }
        }
        if let (Some(out), Some(run)) = (out, &runs.run) {
            self.store_ends(asm, combine.1, (run, &runs.values), (out, combine.1.size()));
        }
        self.rows_from_runs(asm, combine.1, &prefixes)
    }

    /// Emits the results of the segments that end in this warp's chunk, to an array whose elements have
    /// some size in bytes. `before_chunk` is the combination of what lies before the chunk.
    pub(super) fn store_runs(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        runs: &Runs,
        before_chunk: Reg,
        out: (Reg, usize),
    ) {
        self.reach_runs(asm, combine, runs, before_chunk);
        if let Some(run) = &runs.run {
            self.store_ends(asm, combine.1, (run, &runs.values), out);
        }
    }

    /// Emits the stores of the values of the elements that are the last of their segments.
    fn store_ends(
        &mut self,
        asm: &mut Assembly,
        ty: Ty,
        (run, values): (&Run, &[Reg]),
        (out, size): (Reg, usize),
    ) {
        if size != ty.size() {
            return self.each_end(asm, run, values.len(), |asm, number, at| {
                self.store_alone(asm, number, (out, size), (ty, values[at]));
            });
        }
        let base = self.staging(asm);
        let results = Results::of_run(asm, run, base);
        self.each_end(asm, run, values.len(), |asm, number, at| {
            let slot = self.ring_slot(asm, (base, size), number, 0);
            // If the ring has too few places, several lanes write one of them, which nothing reads.
            asm.store_relaxed(ty, AddressSpace::Shared, slot, values[at].into());
            results.add(asm, number);
        });
        self.store_results(asm, &results, (run, values), (ty, out));
    }
}
