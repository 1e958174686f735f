//! Segment interleaving: the sums of several segments share a tile, and the loop alternates between blocks of
//! rows of each segment. If the segments are groups of the same rows, a block of memory is then read once, not
//! once for each segment.

use super::super::emitter::FunctionEmitter;
use super::super::kernel::ElementRange;
use super::tile::{Tile, TilePlan, UNROLLED_ROWS};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{self, Value};

/// The base-2 logarithm of the number of inner iterations in a block, approximately.
const BLOCK_ITERATIONS_LOG2: i64 = 10;

/// The number of unused sums between those of two segments: masked stores write beyond the last sum.
const PADDING_SUMS: i64 = 4;

/// The segments of a chunk.
pub struct Segments<'n> {
    /// The index space.
    pub space: &'n kir::Space,
    /// The first segment, and one more than the last.
    pub segments: [ir::Value; 2],
    /// The first element, and one more than the last.
    pub elements: [ir::Value; 2],
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits the elements of several segments, alternating between blocks of rows of each, if they fit a tile.
    /// Returns the block that follows; the code emitted next is executed if they do not fit, or a check fails.
    pub fn interleaved(
        &mut self,
        plan: &TilePlan<'a>,
        facts: &VectorFacts,
        names: &[Value],
        all: Segments<'_>,
    ) -> ir::Block {
        let (fits, done, bail) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let [first, last] = all.elements;
        let elements = self.b.ins().isub(last, first);
        let most = plan.elements() as i64;
        let segments = self.b.ins().isub(all.segments[1], all.segments[0]);
        let between = self.b.ins().imul_imm_s(segments, PADDING_SUMS);
        let room = self.b.ins().iadd(elements, between);
        let few = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, room, most);
        let several = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, segments, 1);
        let good = self.b.ins().band(few, several);
        self.go_on_if(good, fits, bail);
        self.b.switch_to_block(fits);
        let mut tile = Tile::new(
            self,
            plan,
            facts,
            (names, ElementRange { lo: first, hi: last, segment: None }),
            bail,
        );
        tile.interleave(&all, room);
        tile.vector.c.jump(done, &[]);
        self.b.switch_to_block(bail);
        done
    }
}

impl Tile<'_, '_, '_, '_, '_> {
    /// Emits the elements of several segments, with `room` sums in all.
    fn interleave(&mut self, all: &Segments<'_>, room: ir::Value) {
        self.clear(room);
        // The number of blocks is that of the longest of the inner loops.
        let none = self.vector.c.int(0);
        let most = self.segments(all, none, |tile, most| {
            let count = tile.vector.uniform(tile.plan.count);
            tile.vector.c.b.ins().smax(most, count)
        });
        let blocks = self.vector.c.b.ins().ushr_imm_u(most, BLOCK_ITERATIONS_LOG2);
        let blocks = self.vector.c.b.ins().iadd_imm_s(blocks, 1);
        let looped = self.vector.c.begin_loop(&[none]);
        let block = looped.carried[0];
        let going = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, block, blocks);
        self.vector.c.loop_while(&looped, going);
        let next = self.vector.c.b.ins().iadd_imm_s(block, 1);
        self.segments(all, none, |tile, state| {
            let count = tile.vector.uniform(tile.plan.count);
            let begin = tile.vector.c.b.ins().imul(count, block);
            let begin = tile.vector.c.b.ins().udiv(begin, blocks);
            let end = tile.vector.c.b.ins().imul(count, next);
            let end = tile.vector.c.b.ins().udiv(end, blocks);
            let width = tile.width();
            let begin = tile.rows(UNROLLED_ROWS, (begin, end), width);
            tile.rows(1, (begin, end), width);
            state
        });
        self.vector.c.end_loop(&looped, &[next]);
        self.segments(all, none, |tile, state| {
            let (lo, width) = (tile.range.lo, tile.width());
            tile.code_after(lo, width);
            state
        });
    }

    fn width(&mut self) -> ir::Value {
        self.vector.c.b.ins().isub(self.range.hi, self.range.lo)
    }

    /// Emits a loop over segments that carries `state`; the code before the inner loop is executed for each
    /// segment, then `body`.
    fn segments(
        &mut self,
        all: &Segments<'_>,
        state: ir::Value,
        body: impl FnOnce(&mut Self, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let looped = self.vector.c.begin_loop(&[all.segments[0], state]);
        let some = self.vector.c.b.create_block();
        let [segment, state] = [0, 1].map(|n| looped.carried[n]);
        let going = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, segment, all.segments[1]);
        self.vector.c.loop_while(&looped, going);
        let next = self.vector.c.b.ins().iadd_imm_s(segment, 1);
        let (start, stop) = self.vector.c.bounds(all.space, segment);
        let lo = self.vector.c.b.ins().smax(start, all.elements[0]);
        let hi = self.vector.c.b.ins().smin(stop, all.elements[1]);
        let any = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.vector.c.branch(any, (some, &[]), (looped.head, &[next, state]));
        self.vector.c.b.switch_to_block(some);
        let (range, sums) = (self.range, self.sums.clone());
        self.range = ElementRange { lo, hi, segment: Some((segment, start)) };
        let before = self.vector.c.b.ins().isub(segment, all.segments[0]);
        let between = self.vector.c.b.ins().imul_imm_s(before, PADDING_SUMS);
        let skipped = self.vector.c.b.ins().isub(lo, all.elements[0]);
        let skipped = self.vector.c.b.ins().iadd(skipped, between);
        for (sum, (_, ty, ..)) in self.sums.iter_mut().zip(&self.plan.reduce) {
            *sum = self.vector.c.address(*sum, skipped, *ty);
        }
        self.vector.c.element = Some(lo);
        self.name_elements(lo);
        let width = self.width();
        self.vector.last = Some(self.vector.c.b.ins().iadd_imm_s(width, -1));
        for inst in &self.plan.before {
            self.vector.inst(inst);
        }
        let state_next = body(self, state);
        self.vector.last = None;
        (self.range, self.sums) = (range, sums);
        self.vector.c.end_loop(&looped, &[next, state_next]);
        state
    }
}
