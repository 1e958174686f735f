//! The plan of how bounds checks are emitted: by one unsigned comparison, or by less.
//!
//! "At least 0, and below a limit" is one comparison without sign, because a negative number is then
//! above every limit that is not below 0. A limit that may be below 0 is raised to 0 where it is
//! defined.
//!
//! ```text
//! v5: bool = ge v3, 0
//! v6: bool = lt v3, v2      →   setp.lo.u64 %p, v3, v2
//! v7: bool = and v5, v6
//! ```
//!
//! A comparison of values that do not change in a loop stands before it. If the index is the number of
//! the iteration, or a fixed distance from it, the code before the loop finds out if all
//! iterations are in bounds: then the check in the loop is only a look at that, and the comparison is
//! made out of line, in the order of the iterations, if they are not.

use super::ranges::never_negative;
use nesl_runtime::kir::{Binary, Block, Inst, Kernel, Literal, Op, Ty, Value, ValueTy, walk};
use std::collections::HashMap;

/// An index that is compared with 0 and with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The index; an `i64`.
    pub index: Value,
    /// The limit that it is to be below; an `i64`.
    pub limit: Value,
}

/// A check of a range at the number of the iteration of a loop, or a distance behind it.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The condition of the check.
    pub cond: Value,
    /// The distance of the index from the number of the iteration; none is 0.
    pub from: Option<Value>,
    /// The limit that the index is to be below.
    pub limit: Value,
}

/// The comparisons that are made before a loop for the checks in it.
#[derive(Debug, Default)]
pub struct Hoisted {
    /// The ranges that are the same in all iterations, by their conditions.
    pub ranges: Vec<Value>,
    /// The checks at consecutive indices.
    pub spans: Vec<Span>,
}

/// The plan of how the comparisons of a kernel are emitted.
#[derive(Debug, Default)]
pub struct Bounds {
    ranges: Vec<Option<Range>>,
    is_silent: Vec<bool>,
    is_hoisted: Vec<bool>,
    may_be_negative: Vec<bool>,
    loops: HashMap<Value, Hoisted>,
}

impl Bounds {
    /// Finds the bounds checks of a kernel.
    pub fn find(kernel: &Kernel) -> Bounds {
        let mut search = Search::of(kernel);
        let ranges: Vec<Option<Range>> =
            (0..kernel.types.len() as u32).map(|at| search.range(Value(at))).collect();
        search.count_reads(kernel, &ranges);
        let mut bounds = Bounds {
            is_silent: vec![false; ranges.len()],
            is_hoisted: vec![false; ranges.len()],
            may_be_negative: vec![false; ranges.len()],
            loops: HashMap::new(),
            ranges,
        };
        for (cond, range) in bounds.ranges.iter().enumerate() {
            let Some(Range { limit, .. }) = *range else { continue };
            let cond = Value(cond as u32);
            bounds.may_be_negative[limit.0 as usize] = !search.never_negative[limit.0 as usize];
            if let Some(Op::Binary(_, a, b)) = search.op(cond) {
                for part in [a, b] {
                    bounds.is_silent[part.0 as usize] = search.reads[part.0 as usize] == 0;
                }
            }
        }
        walk::stage_bodies(kernel).for_each(|body| bounds.hoist(&search, body));
        bounds
    }

    /// The range that a value says an index to be in.
    pub fn range(&self, cond: Value) -> Option<Range> {
        self.ranges[cond.0 as usize]
    }

    /// Returns true for a value that nothing reads but checks that do without it.
    pub fn is_silent(&self, value: Value) -> bool {
        self.is_silent[value.0 as usize]
    }

    /// Returns true for a range that was emitted before the loop it stands in.
    pub fn is_hoisted(&self, cond: Value) -> bool {
        self.is_hoisted[cond.0 as usize]
    }

    /// Returns true for the limit of a range that may be below 0.
    pub fn may_be_negative(&self, limit: Value) -> bool {
        self.may_be_negative[limit.0 as usize]
    }

    /// Returns the comparisons that are made before a loop, of which some value that its head names is
    /// given.
    pub fn before_loop(&self, head: Option<Value>) -> &Hoisted {
        const NOTHING: &Hoisted = &Hoisted { ranges: Vec::new(), spans: Vec::new() };
        head.and_then(|head| self.loops.get(&head)).unwrap_or(NOTHING)
    }

    /// Finds the loops that checks can do something before.
    fn hoist(&mut self, search: &Search<'_>, block: &Block) {
        for inst in &block.insts {
            if let Op::Check { cond, .. } = inst.op {
                self.find_span(search, cond);
            }
            for result in &inst.results {
                self.find_invariant(search, *result);
            }
            inst.op.blocks().for_each(|inner| self.hoist(search, inner));
        }
    }

    /// Finds the span of a check of a range that nothing else reads.
    fn find_span(&mut self, search: &Search<'_>, cond: Value) {
        let Some(Range { index, limit }) = self.range(cond) else { return };
        if search.reads[cond.0 as usize] != 1 {
            return;
        }
        let parts = match search.op(index) {
            Some(Op::Binary(Binary::Add, a, b)) => [(*a, Some(*b)), (*b, Some(*a))],
            _ => [(index, None); 2],
        };
        for (counter, from) in parts {
            let Some(head) = search.counter_of(counter) else { continue };
            let is_before = |value: Value| search.depth[value.0 as usize] < head;
            if is_before(limit) && from.is_none_or(is_before) {
                let before = self.loops.entry(counter).or_default();
                before.spans.push(Span { cond, from, limit });
                self.is_silent[cond.0 as usize] = true;
                return;
            }
        }
    }

    /// Finds the outermost loop in which a range is always the same.
    fn find_invariant(&mut self, search: &Search<'_>, cond: Value) {
        let Some(Range { index, limit }) = self.range(cond) else { return };
        let known = [index, limit].map(|value| search.depth[value.0 as usize]);
        let depth = known[0].max(known[1]);
        let around = &search.around[cond.0 as usize];
        let Some(Some(head)) = around.get(depth) else { return };
        if !self.is_silent(cond) {
            self.loops.entry(*head).or_default().ranges.push(cond);
            self.is_hoisted[cond.0 as usize] = true;
        }
    }
}

/// The tables that the search looks things up in.
struct Search<'k> {
    /// The instruction that defines a value, if one does.
    made_by: Vec<Option<&'k Inst>>,
    never_negative: Vec<bool>,
    reads: Vec<u32>,
    /// The number of loops around the definition of a value.
    depth: Vec<usize>,
    /// The loops around the definition of a bool, from outside, each by a value of its head.
    around: Vec<Vec<Option<Value>>>,
    /// True for the numbers of iterations.
    is_counter: Vec<bool>,
    types: &'k [ValueTy],
}

impl<'k> Search<'k> {
    fn of(kernel: &'k Kernel) -> Search<'k> {
        let count = kernel.types.len();
        let mut search = Search {
            made_by: vec![None; count],
            never_negative: never_negative(kernel),
            reads: vec![0; count],
            depth: vec![0; count],
            around: vec![Vec::new(); count],
            is_counter: vec![false; count],
            types: &kernel.types,
        };
        walk::stage_bodies(kernel).for_each(|body| search.block(body, &mut Vec::new()));
        search
    }

    fn block(&mut self, block: &'k Block, around: &mut Vec<Option<Value>>) {
        for inst in &block.insts {
            for result in &inst.results {
                let at = result.0 as usize;
                self.made_by[at] = Some(inst);
                self.depth[at] = around.len();
                if self.types[at] == ValueTy::Scalar(Ty::Bool) {
                    self.around[at].clone_from(around);
                }
            }
            if inst.op.is_loop() {
                around.push(head(&inst.op));
                for value in inst.op.carried().iter().copied().chain(head(&inst.op)) {
                    self.depth[value.0 as usize] = around.len();
                }
                if let Op::For { index, .. } = &inst.op {
                    self.is_counter[index.0 as usize] = true;
                }
            }
            inst.op.blocks().for_each(|inner| self.block(inner, around));
            if inst.op.is_loop() {
                around.pop();
            }
        }
    }

    fn op(&self, value: Value) -> Option<&'k Op> {
        self.made_by[value.0 as usize].map(|inst| &inst.op)
    }

    /// The number of loops around a counter and its own one; none if the value is no counter.
    fn counter_of(&self, value: Value) -> Option<usize> {
        self.is_counter[value.0 as usize].then(|| self.depth[value.0 as usize])
    }

    fn range(&self, cond: Value) -> Option<Range> {
        let Some(Op::Binary(Binary::And, a, b)) = self.op(cond) else { return None };
        self.range_of(*a, *b).or_else(|| self.range_of(*b, *a))
    }

    fn range_of(&self, low: Value, high: Value) -> Option<Range> {
        let (Some(Op::Binary(Binary::Ge, index, zero)), Some(Op::Binary(Binary::Lt, same, limit))) =
            (self.op(low), self.op(high))
        else {
            return None;
        };
        let is_zero = matches!(self.op(*zero), Some(Op::Const(Literal::I64(0))));
        (is_zero && same == index).then_some(Range { index: *index, limit: *limit })
    }

    /// Counts the reads of each value, by which a range counts for its index and limit.
    fn count_reads(&mut self, kernel: &Kernel, ranges: &[Option<Range>]) {
        let reads = &mut self.reads;
        for stage in &kernel.stages {
            count_reads_of(&stage.body, ranges, reads);
            stage.sinks.iter().for_each(|sink| sink.each_operand(|v| reads[v.0 as usize] += 1));
        }
    }
}

fn count_reads_of(block: &Block, ranges: &[Option<Range>], reads: &mut [u32]) {
    for inst in &block.insts {
        let is_range = matches!(inst.results[..], [cond] if ranges[cond.0 as usize].is_some());
        if !is_range {
            inst.op.each_operand(|value| reads[value.0 as usize] += 1);
        }
        inst.op.blocks().for_each(|inner| count_reads_of(inner, ranges, reads));
    }
    block.yields.iter().for_each(|value| reads[value.0 as usize] += 1);
}

/// A value that the head of a loop names, if there is one: it stands for the loop.
pub fn head(op: &Op) -> Option<Value> {
    match op {
        Op::For { index, .. } => Some(*index),
        op => op.carried().first().copied(),
    }
}
