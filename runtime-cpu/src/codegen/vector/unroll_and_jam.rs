//! Unroll-and-jam: several iterations of an outer loop are executed together, so that loads which they share in
//! an inner loop are done once, as in the distances of all pairs of points.
//!
//! ```text
//! for four iterations at a time
//!   code before the inner loop                of each; if a check fails they are executed one by one
//!   for a group of inner iterations           vectors, for each outer iteration
//!   for a single inner iteration              the rest
//!   code after the inner loop                 of each
//! ```

use super::super::emitter::FunctionEmitter;
use super::lanes::{Lanes, VectorEmitter};
use super::multiple_accumulators;
use super::target::converts;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::lane_widths::is_wide;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{Analysis, Surroundings, VectorFacts};
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{Block, Combine, Inst, Op, Ty, Value, ValueTy};

/// The numbers of outer iterations executed together: the largest first, while so many are left.
const UNROLL_FACTORS: [usize; 3] = [4, 3, 2];

/// The number of vectors of sums that fit the registers.
const MAX_SUM_VECTORS: usize = 8;

/// A loop, or kernel, that can be unrolled and jammed.
pub(super) struct JamPlan<'a> {
    /// The code before the inner loop.
    pub before: &'a [Inst],
    /// The number of iterations of the inner loop; the same for all outer iterations.
    pub count: Value,
    index: Value,
    body: &'a Block,
    sums: Vec<(Combine, Ty)>,
    results: &'a [Value],
    after: &'a [Inst],
    facts: VectorFacts,
}

/// The machine values of one outer iteration.
type Copy = Vec<Option<ir::Value>>;

impl<'a> JamPlan<'a> {
    /// Plans a loop.
    pub fn of(inst: &'a Inst, c: &FunctionEmitter<'a, '_>, may_store: bool) -> Option<JamPlan<'a>> {
        let Op::For { index: outer, body: iteration, .. } = &inst.op else { return None };
        let plan = JamPlan::of_iteration(&iteration.insts, c, may_store)?;
        let JamPlan { before, count, body, .. } = plan;
        // The values that differ between outer iterations; the loads of others are shared.
        let mut differs = vec![*outer];
        let mut shares = false;
        for (inst, inner) in
            before.iter().map(|i| (i, false)).chain(body.insts.iter().map(|i| (i, true)))
        {
            let mut same = true;
            inst.op.each_operand(|v| same &= !differs.contains(&v));
            if !same {
                differs.extend(&inst.results);
            }
            shares |= same && inner && matches!(inst.op, Op::Load { .. });
        }
        (shares && !differs.contains(&count)).then_some(plan)
    }

    /// The facts about the inner loop.
    pub fn facts(&self) -> &VectorFacts {
        &self.facts
    }

    /// Plans elements of a kernel that only reduce a contiguous row each; also returns the number of
    /// inner iterations that are executed together.
    pub fn of_elements(
        insts: &'a [Inst],
        c: &FunctionEmitter<'a, '_>,
    ) -> Option<(JamPlan<'a>, usize)> {
        let plan = JamPlan::of_iteration(insts, c, true)?;
        let [(_, ty)] = &plan.sums[..] else { return None };
        let most = multiple_accumulators::elements_per_stream(
            plan.body.insts.iter(),
            &plan.facts,
            c.types,
            *ty,
        )?;
        Some((plan, most))
    }

    fn of_iteration(
        insts: &'a [Inst],
        c: &FunctionEmitter<'a, '_>,
        may_store: bool,
    ) -> Option<JamPlan<'a>> {
        let at = insts.iter().position(|inst| inst.op.has_blocks())?;
        let (before, after) = (&insts[..at], &insts[at + 1..]);
        let Inst { results, op } = &insts[at];
        let Op::For { count, index, init, reduce, body, .. } = op else { return None };
        let written = |inst: &Inst| {
            inst.op.is_side_effect_free() || may_store && matches!(inst.op, Op::Store { .. })
        };
        let good = init.is_empty()
            && !reduce.is_empty()
            && before.iter().all(|inst| inst.op.is_read_only())
            && body.insts.iter().all(|inst| inst.op.is_read_only())
            && after.iter().all(written);
        if !good {
            return None;
        }
        let around = Surroundings {
            types: c.types,
            constants: &c.constants,
            may_store: false,
            converts,
            has_high_products: c.is_wide(),
            assumptions: None,
        };
        let mut analysis = Analysis::new(around, &[*index]);
        analysis.needs_larger_lanes();
        body.insts.iter().for_each(|inst| walk::each_read(inst, &mut |v| analysis.mark_read(v)));
        body.yields.iter().for_each(|v| analysis.mark_read(*v));
        analysis.block(body).ok()?;
        reduce.iter().for_each(|_| analysis.count_vector_operation());
        let facts = analysis.finish(body.insts.iter()).ok()?;
        let sums = reduce.iter().zip(&body.yields).map(|(with, v)| (*with, c.element_ty(*v)));
        let (count, index, sums) = (*count, *index, sums.collect());
        Some(JamPlan { before, count, index, body, sums, results, after, facts })
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits the iterations of a loop unrolled and jammed, if their inner loops share loads. Returns the
    /// first single iteration, and the reductions there.
    pub fn unroll_and_jam(
        &mut self,
        inst: &'a Inst,
        count: ir::Value,
        may_store: bool,
    ) -> Option<Vec<ir::Value>> {
        let plan = JamPlan::of(inst, self, may_store)?;
        let Op::For { index, reduce, body, .. } = &inst.op else { return None };
        let mut state = vec![self.int(0)];
        let reduced: Vec<(Combine, Value)> =
            reduce.iter().copied().zip(body.yields.iter().copied()).collect();
        for (combine, value) in &reduced {
            let neutral = combine.neutral(self.element_ty(*value));
            state.push(self.literal(neutral));
        }
        for iterations in UNROLL_FACTORS {
            state = self.jam_iterations(&plan, iterations, (*index, count), state, &reduced);
        }
        Some(state)
    }

    /// Emits `iterations` outer iterations at a time, while so many are left and no check fails.
    fn jam_iterations(
        &mut self,
        plan: &JamPlan<'a>,
        iterations: usize,
        (index, count): (Value, ir::Value),
        state: Vec<ir::Value>,
        reduced: &[(Combine, Value)],
    ) -> Vec<ir::Value> {
        let looped = self.begin_loop(&state);
        let bail = looped.exit;
        let state = looped.carried.clone();
        let following = self.b.ins().iadd_imm_s(state[0], iterations as i64);
        let whole = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, following, count);
        self.loop_while(&looped, whole);
        let at = |iteration| self.b.ins().iadd_imm_s(state[0], iteration as i64);
        let elements: Vec<ir::Value> = (0..iterations).map(at).collect();
        let lanes = if plan.facts.has_wide_lanes { 2 } else { 4 };
        let inner = (None, MAX_SUM_VECTORS / iterations * lanes);
        let mut next = vec![following];
        next.extend(&state[1..]);
        self.each_of(plan, index, &elements, inner, bail, &mut |emitter| {
            for ((combine, value), so_far) in reduced.iter().zip(&mut next[1..]) {
                let (ty, x) = (emitter.element_ty(*value), emitter.get(*value));
                *so_far = emitter.combine(*combine, ty, *so_far, x);
            }
        });
        self.end_loop(&looped, &next);
        state
    }

    /// Emits several outer iterations (or work items) interleaved, then calls `then` for each with
    /// its values. Their inner loops have `count` iterations, up to `most` of which are emitted at a
    /// time; without a count they have as many as the first of them computes, which is the same for all.
    pub(super) fn each_of(
        &mut self,
        plan: &JamPlan<'a>,
        index: Value,
        elements: &[ir::Value],
        (count, most): (Option<ir::Value>, usize),
        bail: ir::Block,
        then: &mut dyn FnMut(&mut Self),
    ) {
        self.poll();
        let outside = self.values.clone();
        let mut copies: Vec<Copy> = Vec::new();
        for element in elements {
            self.set(index, *element);
            plan.before.iter().for_each(|inst| self.or_bail(inst, bail));
            copies.push(std::mem::replace(&mut self.values, outside.clone()));
        }
        // The code before the inner loop may be what defines the count.
        let count = count.or_else(|| copies.first()?[plan.count.0 as usize]);
        self.set(plan.count, count.or_bug("kir defines a count before the loop"));
        let sums = self.jammed_inner_loop(plan, &mut copies, bail, most);
        for (values, sums) in copies.into_iter().zip(sums) {
            self.values = values;
            for (result, sum) in plan.results.iter().zip(sums) {
                self.set(*result, sum);
            }
            plan.after.iter().for_each(|inst| self.inst(inst));
            then(self);
        }
        self.values = outside;
    }

    /// Emits an instruction; where a check does not hold, goes to `bail` to do the iterations one by one.
    pub(super) fn or_bail(&mut self, inst: &'a Inst, bail: ir::Block) {
        let Op::Check { cond, .. } = &inst.op else { return self.inst(inst) };
        let on = self.b.create_block();
        let cond = self.get(*cond);
        self.go_on_if(cond, on, bail);
        self.b.switch_to_block(on);
    }

    /// Emits the jammed inner loop; returns the reductions of each outer iteration.
    fn jammed_inner_loop(
        &mut self,
        plan: &JamPlan<'a>,
        copies: &mut [Copy],
        bail: ir::Block,
        most: usize,
    ) -> Vec<Vec<ir::Value>> {
        let lanes = if plan.facts.has_wide_lanes { 2 } else { 4 };
        let wide = plan.sums.iter().all(|(_, ty)| is_wide(*ty));
        let least = plan.facts.min_elements.max(if wide { 2 } else { 4 });
        let most = most.max(least);
        self.judge_width(&plan.facts);
        let mut vector = VectorEmitter::new(self, plan.facts.clone(), most, bail);
        vector.read_only = true;
        let mut at = vector.c.int(0);
        let mut sums: Vec<Lanes> = Vec::new();
        for (combine, ty) in copies.iter().flat_map(|_| &plan.sums) {
            let neutral = Lanes::Uniform(vector.c.literal(combine.neutral(*ty)));
            let vectors = vector.flatten(&neutral, *ty, Uniformity::Varying);
            sums.push(vector.lanes_of(*ty, vectors));
        }
        let mut sizes = vec![most, least];
        sizes.dedup();
        let count = vector.c.get(plan.count);
        let count = vector.zero_if_fewer(count, 4 * lanes);
        for elements in sizes {
            for ((combine, ty), sum) in plan.sums.iter().cycle().zip(&mut sums) {
                *sum = vector.folded(*combine, *ty, sum, elements);
            }
            vector.elements = elements;
            (at, sums) = vector.jammed_vector_loop(plan, copies, (at, count), &sums);
        }
        let mut all = Vec::new();
        for ((combine, ty), sum) in plan.sums.iter().cycle().zip(&sums) {
            all.push(vector.across(*combine, *ty, sum));
        }
        let all = self.jammed_scalar_loop(plan, copies, at, all, bail);
        all.chunks(plan.sums.len()).map(<[ir::Value]>::to_vec).collect()
    }

    /// Emits the rest of the jammed inner loop, one iteration at a time.
    fn jammed_scalar_loop(
        &mut self,
        plan: &JamPlan<'a>,
        copies: &mut [Copy],
        begin: ir::Value,
        sums: Vec<ir::Value>,
        bail: ir::Block,
    ) -> Vec<ir::Value> {
        let mut start = vec![begin];
        start.extend(sums);
        let looped = self.begin_loop(&start);
        let params = looped.carried.clone();
        let count = self.get(plan.count);
        let going = self.b.ins().icmp(IntCC::SignedLessThan, params[0], count);
        self.loop_while(&looped, going);
        let mut next = vec![self.b.ins().iadd_imm_s(params[0], 1)];
        for (copy, sums) in copies.iter_mut().zip(params[1..].chunks(plan.sums.len())) {
            std::mem::swap(&mut self.values, copy);
            self.set(plan.index, params[0]);
            plan.body.insts.iter().for_each(|inst| self.or_bail(inst, bail));
            for (((combine, ty), value), sum) in plan.sums.iter().zip(&plan.body.yields).zip(sums) {
                let x = self.get(*value);
                next.push(self.combine(*combine, *ty, *sum, x));
            }
            std::mem::swap(&mut self.values, copy);
        }
        self.end_loop(&looped, &next);
        params[1..].to_vec()
    }
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Emits the jammed inner loop in groups, while a whole group is left. Returns the iteration where that
    /// ends, and the sums there.
    fn jammed_vector_loop(
        &mut self,
        plan: &JamPlan<'a>,
        copies: &mut [Copy],
        (begin, count): (ir::Value, ir::Value),
        sums: &[Lanes],
    ) -> (ir::Value, Vec<Lanes>) {
        let mut start = vec![begin];
        for ((_, ty), sum) in plan.sums.iter().cycle().zip(sums) {
            start.extend(self.flatten(sum, *ty, Uniformity::Varying));
        }
        let looped = self.c.begin_loop(&start);
        let params = looped.carried.clone();
        let mut rest = params[1..].iter().copied();
        let each = plan.sums.iter().cycle().take(sums.len());
        let sums: Vec<Lanes> = each
            .map(|(_, ty)| self.unflatten(&mut rest, ValueTy::Scalar(*ty), Uniformity::Varying))
            .collect();
        let following = self.c.b.ins().iadd_imm_s(params[0], self.elements as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, following, count);
        self.c.loop_while(&looped, whole);
        self.c.poll();
        let mut next = vec![following];
        for (copy, sums) in copies.iter_mut().zip(sums.chunks(plan.sums.len())) {
            std::mem::swap(&mut self.c.values, copy);
            self.set(plan.index, Lanes::Affine(params[0]));
            self.block(plan.body);
            for (((combine, ty), value), sum) in plan.sums.iter().zip(&plan.body.yields).zip(sums) {
                let x = self.get(*value);
                let sum = self.combine(*combine, *ty, sum, &x);
                next.extend(self.flatten(&sum, *ty, Uniformity::Varying));
            }
            std::mem::swap(&mut self.c.values, copy);
        }
        self.c.end_loop(&looped, &next);
        (params[0], sums)
    }
}
