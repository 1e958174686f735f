//! The elements of a few segments in one tile, a block of the rows of each segment after the other.
//! Where rows were grouped in their order, that goes through memory once, and not once for each
//! group.

use super::super::emitter::FunctionEmitter;
use super::super::kernel::ElementRange;
use super::tile::{ROWS, Tile, TilePlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{self, Value};

/// Iterations of the loop in a block, about, where several segments take iterations: this power of two.
const BLOCK: i64 = 10;

/// Sums between those of segments: what is done under a mask has more than it needs.
const BETWEEN: i64 = 4;

/// The segments of a chunk.
pub struct Segments<'n> {
    /// The space.
    pub space: &'n kir::Space,
    /// The first, and the one behind the last.
    pub segments: [ir::Value; 2],
    /// The first of their elements, and the one behind the last.
    pub elements: [ir::Value; 2],
}

impl<'a> FunctionEmitter<'a, '_> {
    /// The elements of several segments, some rows of each at a time, if they fit a tile. Gives where
    /// that ends; the code at hand then is where they do not fit, or one fails.
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
        let between = self.b.ins().imul_imm_s(segments, BETWEEN);
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
    /// The elements of several segments, with room for so many sums in all.
    fn interleave(&mut self, all: &Segments<'_>, room: ir::Value) {
        self.clear(room);
        // The longest of the loops says in how many blocks they are done.
        let none = self.vector.c.int(0);
        let most = self.segments(all, none, |tile, most| {
            let count = tile.vector.uniform(tile.plan.count);
            tile.vector.c.b.ins().smax(most, count)
        });
        let blocks = self.vector.c.b.ins().ushr_imm_u(most, BLOCK);
        let blocks = self.vector.c.b.ins().iadd_imm_s(blocks, 1);
        let head = self.vector.c.block_with([types::I64]);
        let (again, done) = (self.vector.c.b.create_block(), self.vector.c.b.create_block());
        self.vector.c.jump(head, &[none]);
        self.vector.c.b.switch_to_block(head);
        let block = self.vector.c.b.block_params(head)[0];
        let going = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, block, blocks);
        self.vector.c.go_on_if(going, again, done);
        self.vector.c.b.switch_to_block(again);
        let next = self.vector.c.b.ins().iadd_imm_s(block, 1);
        self.segments(all, none, |tile, state| {
            let count = tile.vector.uniform(tile.plan.count);
            let begin = tile.vector.c.b.ins().imul(count, block);
            let begin = tile.vector.c.b.ins().udiv(begin, blocks);
            let end = tile.vector.c.b.ins().imul(count, next);
            let end = tile.vector.c.b.ins().udiv(end, blocks);
            let width = tile.width();
            let begin = tile.rows(ROWS, (begin, end), width);
            tile.rows(1, (begin, end), width);
            state
        });
        self.vector.c.jump(head, &[next]);
        self.vector.c.b.switch_to_block(done);
        self.segments(all, none, |tile, state| {
            let (lo, width) = (tile.range.lo, tile.width());
            tile.all_behind(lo, width);
            state
        });
    }

    fn width(&mut self) -> ir::Value {
        self.vector.c.b.ins().isub(self.range.hi, self.range.lo)
    }

    /// A loop over segments that carries a number; what comes before the loop within is done for
    /// each.
    fn segments(
        &mut self,
        all: &Segments<'_>,
        state: ir::Value,
        body: impl FnOnce(&mut Self, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let head = self.vector.c.block_with([types::I64; 2]);
        let (some, again, done) = (
            self.vector.c.b.create_block(),
            self.vector.c.b.create_block(),
            self.vector.c.b.create_block(),
        );
        self.vector.c.jump(head, &[all.segments[0], state]);
        self.vector.c.b.switch_to_block(head);
        let [segment, state] = [0, 1].map(|n| self.vector.c.b.block_params(head)[n]);
        let going = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, segment, all.segments[1]);
        self.vector.c.go_on_if(going, again, done);
        self.vector.c.b.switch_to_block(again);
        let next = self.vector.c.b.ins().iadd_imm_s(segment, 1);
        let (start, stop) = self.vector.c.bounds(all.space, segment);
        let lo = self.vector.c.b.ins().smax(start, all.elements[0]);
        let hi = self.vector.c.b.ins().smin(stop, all.elements[1]);
        let any = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.vector.c.branch(any, (some, &[]), (head, &[next, state]));
        self.vector.c.b.switch_to_block(some);
        let (range, sums) = (self.range, self.sums.clone());
        self.range = ElementRange { lo, hi, segment: Some((segment, start)) };
        let before = self.vector.c.b.ins().isub(segment, all.segments[0]);
        let between = self.vector.c.b.ins().imul_imm_s(before, BETWEEN);
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
        self.vector.c.jump(head, &[next, state_next]);
        self.vector.c.b.switch_to_block(done);
        state
    }
}
