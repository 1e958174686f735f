//! Reductions of segments that are long beside the chunk of a warp.
//!
//! Each warp looks at its own chunk. If all of its elements are of one segment, which for long segments
//! they mostly are, there is nothing to tell apart: each thread combines its elements, and the warp
//! those of its threads once. Otherwise each thread takes a run of neighbouring elements (`runs`).
//!
//! ```text
//! chunk of one segment     8 elements a thread, then one combination over the warp
//! chunk of several         a run of 8 elements a thread, then one scan over the warp
//! ```
//!
//! The lengths of the segments alone decide which of both is executed, so that a float result has the
//! same bits in each run.

use super::Tile;
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::collective::{WARP_THREADS, reduce_warp, shuffle};
use crate::emit::frame::Entry;
use crate::emit::lookback::Combined;
use crate::emit::plan::Role;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Scope, Ty};

/// Returns true if no code needs the segments of the work items: reductions and scans find those of
/// their runs.
pub(super) fn segments_later(entry: &Entry<'_>) -> bool {
    let [number, position, _] = entry.kernel.indices[..] else { return false };
    let mut roles = entry.roles();
    !roles.any(|role| matches!(role, Role::Read(_)))
        && !entry.reads(number)
        && !entry.reads(position)
}

impl Tile<'_> {
    /// Emits the reduction of segments into an array, whose elements have some size in bytes.
    pub(super) fn reduce_segments(
        &mut self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        values: Vec<Reg>,
        area: usize,
        (out, size): (Reg, usize),
    ) {
        let ty = combine.1;
        let last_row = self.items.len() - 1;
        let in_space = self.items[last_row].alive;
        let piece = self.segments.piece(asm, last_row, in_space);
        let (single, joined) = (asm.label(), asm.label());
        emit!(asm, "@{} bra {single}", piece.is_whole);
        let runs = self.combine_runs(asm, combine, &values, Scope::Segment);
        asm.place(joined);
        let Combined { value: total, begins } = runs.total;
        let begins = begins.or_bug("the runs of segments know where they begin");
        let last = asm.register(total.class);
        asm.out_of_line(|asm| {
            asm.place(single);
            asm.move_to(last, values[0].into());
            values[1..].iter().for_each(|x| asm.accumulate(combine, last, (*x).into()));
            let of_warp = reduce_warp(asm, combine, last);
            let of_warp = shuffle(asm, "idx", ty, of_warp, 0, WARP_THREADS - 1);
            asm.move_to(total, of_warp.into());
            asm.move_to(last, of_warp.into());
            asm.move_to(begins, piece.begins.into());
            emit!(asm, "bra {joined}");
        });
        let before = self.before_chunk(asm, combine, runs.total, (area, None));
        let (several, done) = (asm.label(), asm.label());
        emit!(asm, "@!{} bra {several}", piece.is_whole);
        // The last lane has the last element, and the result if the segment ends there.
        let (ends, reaches) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        let last_lane = WARP_THREADS - 1;
        emit!(
            asm,
            "setp.eq.and.s32 {ends}, {}, {last_lane}, {}",
            self.place.lane,
            piece.last.is_last
        );
        emit!(asm, "@!{ends} bra {done}");
        emit!(asm, "not.pred {reaches}, {begins}");
        asm.combine_before(Some(reaches), combine, before, last);
        let segment = self.segments.segment(asm, &piece.last);
        let address = asm.element_address(out, segment.into(), size);
        asm.store(ty, AddressSpace::Global, address, last.into());
        emit!(asm, "bra {done}");
        asm.place(several);
        self.store_runs(asm, combine, &runs, before, (out, size));
        asm.place(done);
    }
}
