//! Elements that each go through a row of memory, side by side.
//!
//! ```text
//! one after the other    row 0 ▸━━━━━━━━━━ row 1 ▸━━━━━━━━━━ row 2 …
//! side by side           row 0 ▸━━━━━━━━━━ row 1 ▸━━━━━━━━━━ …
//!                        row n ▸━━━━━━━━━━ row n + 1 ▸━━━━━━ …
//! ```
//!
//! What `multiple_accumulators` are for one long row, for many that are too short to be divided: a block of elements
//! is divided into as many stretches, and those of all stretches take iterations. Only where all rows
//! iteration out to be equally long; that is seen before.

use super::super::kernel::{ElementRange, KernelBuilder, StageGroup};
use super::super::phases::Role;
use super::multiple_accumulators;
use super::unroll_and_jam::JamPlan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use nesl_runtime::kir::{Op, Value};

/// Rows of less have no time to be read side by side, ...
const SHORT: i64 = 128;

/// ... and those of more are divided.
const LONG: i64 = multiple_accumulators::LONG;

/// A stretch has so many elements, about: more than prefetching needs to begin, and so few that
/// stretches are near each other. (Stretches of a quarter of what a thread does gained nothing.)
const STRETCH: i64 = 8192;

impl<'a> KernelBuilder<'a, '_> {
    /// The elements of a range side by side, as far as that goes, if each only reduces a row of
    /// memory. Gives where the elements begin that are left.
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
        let (plan, most) = JamPlan::of_points(&stage.body.insts, &self.c)?;
        let index = self.kernel.indices[0];
        let interleave_rows = multiple_accumulators::STREAMS as i64;

        // Where a element fails, or is unlike the others, all are left.
        let (bail, join) = (self.c.b.create_block(), self.c.block_with([types::I64]));
        let [some, fits, alike, done] = [(); 4].map(|()| self.c.b.create_block());
        let any = self.c.b.ins().icmp(IntCC::SignedLessThan, range.lo, range.hi);
        self.c.go_on_if(any, some, bail);
        self.c.b.switch_to_block(some);
        let outside = self.c.values.clone();
        let count = self.count_at(&plan, index, range.lo, bail);
        self.c.values = outside;
        let long = self.c.b.ins().iadd_imm_s(count, -SHORT);
        let good = self.c.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, long, LONG - SHORT);
        self.c.go_on_if(good, fits, bail);

        self.c.b.switch_to_block(fits);
        // An odd number: the stretches lie in different sets of the caches.
        let stretch = self.c.int(STRETCH);
        let part = self.c.b.ins().udiv(stretch, count);
        let part = self.c.b.ins().bor_imm_s(part, 1);
        let block = self.c.b.ins().imul_imm_s(part, interleave_rows);
        let elements = self.c.b.ins().isub(range.hi, range.lo);
        let blocks = self.c.b.ins().udiv(elements, block);
        let all = self.c.b.ins().imul(blocks, block);
        let end = self.c.b.ins().iadd(range.lo, all);
        self.alike(&plan, index, (range.lo, end), count, alike, bail);

        self.c.b.switch_to_block(alike);
        let head = self.c.block_with([types::I64; 2]);
        let again = self.c.b.create_block();
        let none = self.c.int(0);
        self.c.jump(head, &[range.lo, none]);
        self.c.b.switch_to_block(head);
        let [begin, row] = [0, 1].map(|n| self.c.b.block_params(head)[n]);
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, begin, end);
        self.c.go_on_if(going, again, done);
        self.c.b.switch_to_block(again);
        let mut at = self.c.b.ins().iadd(begin, row);
        let mut elements = Vec::new();
        for _ in 0..interleave_rows {
            elements.push(at);
            at = self.c.b.ins().iadd(at, part);
        }
        self.c.element = Some(elements[0]);
        self.c.each_of(&plan, index, &elements, (Some(count), most), bail, &mut |_| {});
        let row = self.c.b.ins().iadd_imm_s(row, 1);
        let ends = self.c.b.ins().icmp(IntCC::Equal, row, part);
        let row = self.c.b.ins().select(ends, none, row);
        let next = self.c.b.ins().iadd(begin, block);
        let next = self.c.b.ins().select(ends, next, begin);
        self.c.jump(head, &[next, row]);

        self.c.b.switch_to_block(done);
        self.c.jump(join, &[end]);
        self.c.b.switch_to_block(bail);
        self.c.jump(join, &[range.lo]);
        self.c.b.switch_to_block(join);
        Some(self.c.b.block_params(join)[0])
    }

    /// How long the row of a element is.
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

    /// Goes on where the rows of all elements are so long.
    fn alike(
        &mut self,
        plan: &JamPlan<'a>,
        index: Value,
        (begin, end): (ir::Value, ir::Value),
        count: ir::Value,
        alike: ir::Block,
        bail: ir::Block,
    ) {
        let head = self.c.block_with([types::I64]);
        let [again, on] = [(); 2].map(|()| self.c.b.create_block());
        self.c.jump(head, &[begin]);
        self.c.b.switch_to_block(head);
        let at = self.c.b.block_params(head)[0];
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, at, end);
        self.c.go_on_if(going, again, alike);
        self.c.b.switch_to_block(again);
        let outside = self.c.values.clone();
        let other = self.count_at(plan, index, at, bail);
        self.c.values = outside;
        let same = self.c.b.ins().icmp(IntCC::Equal, count, other);
        self.c.go_on_if(same, on, bail);
        self.c.b.switch_to_block(on);
        let next = self.c.b.ins().iadd_imm_s(at, 1);
        self.c.jump(head, &[next]);
    }
}
