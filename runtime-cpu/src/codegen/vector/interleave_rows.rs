//! Row interleaving (multi-row reduction): elements that each reduce a contiguous row, several at a time.
//!
//! ```text
//! one after the other    row 0 ▸━━━━━━━━━━ row 1 ▸━━━━━━━━━━ row 2 …
//! interleaved            row 0 ▸━━━━━━━━━━ row 1 ▸━━━━━━━━━━ …
//!                        row n ▸━━━━━━━━━━ row n + 1 ▸━━━━━━ …
//! ```
//!
//! As `multiple_accumulators` does for one long row, for many rows that are too short to be divided: the
//! elements are divided into streams of consecutive rows, and a row of each stream is reduced at a time.
//! All rows must have one length; code before the loop compares them.

use super::super::kernel::{ElementRange, KernelBuilder};
use super::super::phases::Role;
use super::super::stage_groups::StageGroup;
use super::multiple_accumulators;
use super::unroll_and_jam::JamPlan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::kir::{Op, Value};

/// Shorter rows give prefetching no time.
const MIN_ROW_ELEMENTS: i64 = 128;

/// Longer rows are divided into streams themselves.
const MAX_ROW_ELEMENTS: i64 = multiple_accumulators::MIN_STREAMED_ELEMENTS;

/// The number of array elements of a stream, approximately: enough for prefetching, and so few that the
/// streams are near each other. (Streams of a quarter of a thread's elements gained nothing.)
const STREAM_ELEMENTS: i64 = 8192;

impl<'a> KernelBuilder<'a, '_> {
    /// Emits the elements of a range interleaved, if each only reduces a contiguous row. Returns the first
    /// element that is left.
    pub fn interleave_rows(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
    ) -> Option<ir::Value> {
        let [stage] = &self.kernel.stages[..] else { return None };
        // Before the last phase nothing is written.
        let mut stores = stage.body.insts.iter().filter(|i| matches!(i.op, Op::Store { .. }));
        let last = stores.all(|store| group.code[0].iter().any(|inst| std::ptr::eq(*inst, store)));
        if !last || range.segment.is_some() || group.tasks.iter().any(|t| t.role != Role::Skip) {
            return None;
        }
        let (plan, most) = JamPlan::of_elements(&stage.body.insts, &self.c)?;
        let index = self.kernel.indices[0];
        let streams = multiple_accumulators::STREAMS as i64;

        // Where an element fails, or is unlike the others, all are left.
        let (bail, join) = (self.c.b.create_block(), self.c.block_with([types::I64]));
        let [some, fits, alike, done] = [(); 4].map(|()| self.c.b.create_block());
        let any = self.c.b.ins().icmp(IntCC::SignedLessThan, range.lo, range.hi);
        self.c.go_on_if(any, some, bail);
        self.c.b.switch_to_block(some);
        let outside = self.c.values.clone();
        let count = self.count_at(&plan, index, range.lo, bail);
        self.c.values = outside;
        let long = self.c.b.ins().iadd_imm_s(count, -MIN_ROW_ELEMENTS);
        let good = self.c.b.ins().icmp_imm_u(
            IntCC::UnsignedLessThan,
            long,
            MAX_ROW_ELEMENTS - MIN_ROW_ELEMENTS,
        );
        self.c.go_on_if(good, fits, bail);

        self.c.b.switch_to_block(fits);
        // An odd number: the stretches lie in different sets of the caches.
        let stretch = self.c.int(STREAM_ELEMENTS);
        let part = self.c.b.ins().udiv(stretch, count);
        let part = self.c.b.ins().bor_imm_s(part, 1);
        let block = self.c.b.ins().imul_imm_s(part, streams);
        let elements = self.c.b.ins().isub(range.hi, range.lo);
        let blocks = self.c.b.ins().udiv(elements, block);
        let all = self.c.b.ins().imul(blocks, block);
        let end = self.c.b.ins().iadd(range.lo, all);
        self.alike(&plan, index, (range.lo, end), count, alike, bail);

        self.c.b.switch_to_block(alike);
        let none = self.c.int(0);
        let looped = self.c.begin_loop_to(done, &[range.lo, none]);
        let [begin, row] = [0, 1].map(|n| looped.carried[n]);
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, begin, end);
        self.c.loop_while(&looped, going);
        let mut at = self.c.b.ins().iadd(begin, row);
        let mut elements = Vec::new();
        for _ in 0..streams {
            elements.push(at);
            at = self.c.b.ins().iadd(at, part);
        }
        self.c.element = Some(elements[0]);
        self.c.refuses_width = Some("rows are bound by memory");
        self.c.each_of(&plan, index, &elements, (Some(count), most), bail, &mut |_| {});
        let row = self.c.b.ins().iadd_imm_s(row, 1);
        let ends = self.c.b.ins().icmp(IntCC::Equal, row, part);
        let row = self.c.b.ins().select(ends, none, row);
        let next = self.c.b.ins().iadd(begin, block);
        let next = self.c.b.ins().select(ends, next, begin);
        self.c.end_loop(&looped, &[next, row]);
        self.c.jump(join, &[end]);
        self.c.b.switch_to_block(bail);
        self.c.jump(join, &[range.lo]);
        self.c.b.switch_to_block(join);
        Some(self.c.b.block_params(join)[0])
    }

    /// Emits the length of an element's row.
    fn count_at(
        &mut self,
        plan: &JamPlan<'a>,
        index: Value,
        element: ir::Value,
        bail: ir::Block,
    ) -> ir::Value {
        self.c.element = Some(element);
        self.c.set(index, element);
        plan.before.iter().for_each(|inst| self.c.or_bail(inst, bail));
        self.c.get(plan.count)
    }

    /// Goes to `alike` if the rows of all elements have `count` elements, else to `bail`.
    fn alike(
        &mut self,
        plan: &JamPlan<'a>,
        index: Value,
        (begin, end): (ir::Value, ir::Value),
        count: ir::Value,
        alike: ir::Block,
        bail: ir::Block,
    ) {
        let looped = self.c.begin_loop_to(alike, &[begin]);
        let on = self.c.b.create_block();
        let at = looped.carried[0];
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, at, end);
        self.c.loop_while(&looped, going);
        let outside = self.c.values.clone();
        let other = self.count_at(plan, index, at, bail);
        self.c.values = outside;
        let same = self.c.b.ins().icmp(IntCC::Equal, count, other);
        self.c.go_on_if(same, on, bail);
        self.c.b.switch_to_block(on);
        let next = self.c.b.ins().iadd_imm_s(at, 1);
        self.c.end_loop(&looped, &[next]);
    }
}
