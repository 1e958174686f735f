//! Iterations of a loop side by side that have a loop of their own, over the same elements: the
//! distances of one element from several others. What all of them read is read once.
//!
//! ```text
//! for four iterations at a time
//!   what comes before the inner loop     of each iteration; if one fails they are done one by one
//!   for a few iterations of the inner loop    vectors: of each iteration of the outer one
//!   for a single iteration                    what is left over
//!   what comes behind                    of each iteration
//! ```

use super::super::emitter::FunctionEmitter;
use super::lanes::{Lanes, VectorEmitter};
use super::multiple_accumulators;
use super::target::converts;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type, types};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{Analysis, Surroundings, VectorFacts, is_wide};
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{Block, Combine, Inst, Op, Ty, Value, ValueTy};

/// How many iterations are done side by side: while there are so many, then what is left.
const TURNS: [usize; 3] = [4, 3, 2];

/// Vectors of sums that registers have room for.
const VECTORS: usize = 8;

/// A loop whose iterations can be done side by side.
pub(super) struct JamPlan<'a> {
    /// What comes before the inner loop.
    pub before: &'a [Inst],
    /// The inner loop: its count, the same for all iterations, and the rest.
    pub count: Value,
    index: Value,
    body: &'a Block,
    sums: Vec<(Combine, Ty)>,
    results: &'a [Value],
    after: &'a [Inst],
    facts: VectorFacts,
}

/// What values are in one of the iterations.
type Copy = Vec<Option<ir::Value>>;

impl<'a> JamPlan<'a> {
    fn of(inst: &'a Inst, c: &FunctionEmitter<'a, '_>, may_store: bool) -> Option<JamPlan<'a>> {
        let Op::For { index: outer, body: iteration, .. } = &inst.op else { return None };
        let plan = JamPlan::of_turn(&iteration.insts, c, may_store)?;
        let JamPlan { before, count, body, .. } = plan;
        // What differs from iteration to iteration; what all iterations read does not.
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

    /// Elements of a kernel that each do no more than reduce what lies side by side, and how much of
    /// it at a time.
    pub fn of_points(
        insts: &'a [Inst],
        c: &FunctionEmitter<'a, '_>,
    ) -> Option<(JamPlan<'a>, usize)> {
        let plan = JamPlan::of_turn(insts, c, true)?;
        let [(_, ty)] = &plan.sums[..] else { return None };
        let most = multiple_accumulators::elements(plan.body.insts.iter(), &plan.facts, *ty)?;
        Some((plan, most))
    }

    fn of_turn(
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
        let around =
            Surroundings { types: c.types, constants: &c.constants, may_store: false, converts };
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
    /// The iterations of a loop side by side, if they share what inner loops read. Gives where single
    /// iterations begin, and the reductions there.
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
        for iterations in TURNS {
            state = self.side_by_side(&plan, iterations, (*index, count), state, &reduced);
        }
        Some(state)
    }

    /// So many iterations at a time, while there are so many and none fails.
    fn side_by_side(
        &mut self,
        plan: &JamPlan<'a>,
        iterations: usize,
        (index, count): (Value, ir::Value),
        state: Vec<ir::Value>,
        reduced: &[(Combine, Value)],
    ) -> Vec<ir::Value> {
        let types: Vec<Type> = state.iter().map(|v| self.b.func.dfg.value_type(*v)).collect();
        let head = self.block_with(types);
        let (again, bail) = (self.b.create_block(), self.b.create_block());
        self.jump(head, &state);
        self.b.switch_to_block(head);
        let state = self.b.block_params(head).to_vec();
        let following = self.b.ins().iadd_imm_s(state[0], iterations as i64);
        let whole = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, following, count);
        self.go_on_if(whole, again, bail);
        self.b.switch_to_block(again);
        let at = |iteration| self.b.ins().iadd_imm_s(state[0], iteration as i64);
        let elements: Vec<ir::Value> = (0..iterations).map(at).collect();
        let lanes = if plan.facts.has_wide_lanes { 2 } else { 4 };
        let inner = (None, VECTORS / iterations * lanes);
        let mut next = vec![following];
        next.extend(&state[1..]);
        self.each_of(plan, index, &elements, inner, bail, &mut |emitter| {
            for ((combine, value), so_far) in reduced.iter().zip(&mut next[1..]) {
                let (ty, x) = (emitter.element_ty(*value), emitter.get(*value));
                *so_far = emitter.combine(*combine, ty, *so_far, x);
            }
        });
        self.jump(head, &next);
        self.b.switch_to_block(bail);
        state
    }

    /// Emits several iterations (or work items) side by side. Their inner loops have `count`
    /// iterations each, `most` of which are emitted at a time; without a count they have as many as
    /// the first of them computes, which is the same for all. Then calls `then` for each, with its values.
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
        let sums = self.inner(plan, &mut copies, bail, most);
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

    /// An instruction; where a check does not hold, the iterations are done one by one.
    pub(super) fn or_bail(&mut self, inst: &'a Inst, bail: ir::Block) {
        let Op::Check { cond, .. } = &inst.op else { return self.inst(inst) };
        let on = self.b.create_block();
        let cond = self.get(*cond);
        self.go_on_if(cond, on, bail);
        self.b.switch_to_block(on);
    }

    /// The inner loops of all iterations; what each of them comes to.
    fn inner(
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
        let count = vector.unless_few(count, 4 * lanes);
        for elements in sizes {
            for ((combine, ty), sum) in plan.sums.iter().cycle().zip(&mut sums) {
                *sum = vector.folded(*combine, *ty, sum, elements);
            }
            vector.elements = elements;
            (at, sums) = vector.together(plan, copies, (at, count), &sums);
        }
        let mut all = Vec::new();
        for ((combine, ty), sum) in plan.sums.iter().cycle().zip(&sums) {
            all.push(vector.across(*combine, *ty, sum));
        }
        let all = self.one_by_one(plan, copies, at, all, bail);
        all.chunks(plan.sums.len()).map(<[ir::Value]>::to_vec).collect()
    }

    /// What is left over of the inner loops.
    fn one_by_one(
        &mut self,
        plan: &JamPlan<'a>,
        copies: &mut [Copy],
        begin: ir::Value,
        sums: Vec<ir::Value>,
        bail: ir::Block,
    ) -> Vec<ir::Value> {
        let types: Vec<Type> = sums.iter().map(|v| self.b.func.dfg.value_type(*v)).collect();
        let head = self.block_with(std::iter::once(types::I64).chain(types));
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let mut start = vec![begin];
        start.extend(sums);
        self.jump(head, &start);
        self.b.switch_to_block(head);
        let params = self.b.block_params(head).to_vec();
        let count = self.get(plan.count);
        let going = self.b.ins().icmp(IntCC::SignedLessThan, params[0], count);
        self.go_on_if(going, again, done);
        self.b.switch_to_block(again);
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
        self.jump(head, &next);
        self.b.switch_to_block(done);
        params[1..].to_vec()
    }
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// The inner loops of several iterations in one, in groups, while a whole group is left. Gives where
    /// that ends, and the sums there.
    fn together(
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
        let types: Vec<Type> = start.iter().map(|v| self.c.b.func.dfg.value_type(*v)).collect();
        let head = self.c.block_with(types);
        let (again, done) = (self.c.b.create_block(), self.c.b.create_block());
        self.c.jump(head, &start);
        self.c.b.switch_to_block(head);
        let params = self.c.b.block_params(head).to_vec();
        let mut rest = params[1..].iter().copied();
        let each = plan.sums.iter().cycle().take(sums.len());
        let sums: Vec<Lanes> = each
            .map(|(_, ty)| self.unflatten(&mut rest, ValueTy::Scalar(*ty), Uniformity::Varying))
            .collect();
        let following = self.c.b.ins().iadd_imm_s(params[0], self.elements as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, following, count);
        self.c.go_on_if(whole, again, done);
        self.c.b.switch_to_block(again);
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
        self.c.jump(head, &next);
        self.c.b.switch_to_block(done);
        (params[0], sums)
    }
}
