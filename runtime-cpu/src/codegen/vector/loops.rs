//! Vectorised loops: the iterations of a counted loop in groups (strip-mining).
//!
//! The rest of whole groups is done a vector at a time, and then one by one. A loop that adds up rows is
//! done in tiles (`tile`); one whose iterations have inner loops that share loads is unrolled and jammed
//! (`unroll_and_jam`).

use super::super::emitter::{FunctionEmitter, Loop};
use super::super::kernel::ElementRange;
use super::super::machine::VECTOR_BYTES;
use super::index_sets::{InnerGroups, Inside};
use super::lanes::{Lanes, VectorEmitter};
use super::search::Search;
use super::target::converts;
use super::tile::{self, TilePlan};
use super::{group_elements, multiple_accumulators, wide_group_elements};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type};
use cranelift_codegen::packed_option::ReservedValue;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::alias::{Independence, Range, independence, iterations_are_independent};
use nesl_runtime::kir::division::has_high_products;
use nesl_runtime::kir::index_sets::{Assumptions, IndexSet};
use nesl_runtime::kir::lane_widths::is_wide;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{Analysis, NotVectorizable, Surroundings, VectorFacts};
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{self, Block, Combine, Inst, Op, Ty, ValueTy};

/// A loop of at most this many instructions has a second vector loop for its rest, and one that ends where it finds what
/// it looks for.
const MAX_REST_VECTOR_INSTRUCTIONS: usize = 32;

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits the iterations of a counted loop that only reduces, or fills arrays, in groups while a whole
    /// group is left. Returns the first single iteration and the reductions there, or the groups inside a set for
    /// which alone the loop is vectorised.
    pub fn vector_for(&mut self, inst: &'a Inst, count: ir::Value) -> Begun<'a> {
        let groups = self.called_groups(inst, count);
        match groups.or_else(|| self.vector_for_all(inst, count)) {
            Some(groups) => Begun::Groups(groups),
            None => self
                .iterations_inside(inst, count)
                .map_or(Begun::Nothing, |it| Begun::Inside(it.into())),
        }
    }

    /// The same for groups of all iterations.
    pub fn vector_for_all(&mut self, inst: &'a Inst, count: ir::Value) -> Option<GroupsDone> {
        let Op::For { index, init, reduce, body, .. } = &inst.op else { return None };
        let independence = independence(*index, body, &self.provenance);
        if !init.is_empty() || reduce.is_empty() && independence == Independence::Never {
            return None;
        }
        let always = independence == Independence::Always;
        let facts = self.loop_facts(inst, self.is_wide(), None);
        let wide = (!self.is_wide() && has_high_products(body.insts.iter()))
            .then(|| self.loop_facts(inst, true, None).ok())
            .flatten();
        let Ok(facts) = facts else {
            // Wide vectors may do what others would do lane by lane.
            wide.iter().for_each(|facts| self.judge_width(facts));
            let start = self.unroll_and_jam(inst, count, always)?;
            return Some(GroupsDone { start, end: count });
        };
        if reduce.is_empty()
            && always
            && let Some(plan) = TilePlan::of(body.insts.iter(), &facts, self)
        {
            let range = ElementRange { lo: self.int(0), hi: count, segment: None };
            let space = tile::Space { names: &[*index], range, elements: false };
            return Some(GroupsDone { start: vec![self.tiles(&plan, &facts, space)], end: count });
        }
        let mut inside = self.inside(inst, Some(&facts));
        let usual = inside.as_ref().map_or(&facts, |inside| &inside.facts);
        self.judge_width(wide.as_ref().unwrap_or(usual));
        // The order in which floats are combined must not depend on the width.
        let ordered = self.is_ordered(reduce, body);
        let usual = group_elements(&facts);
        let most = match self.vector_bytes > VECTOR_BYTES && !ordered {
            true => {
                usual.max(wide_group_elements(&facts, self.vector_bytes, self.unit.wide_registers))
            }
            false => usual,
        };
        // What is left over is done a vector at a time, if that is little code.
        let mut length = 0;
        walk::each_inst(body, &mut |_| length += 1);
        let wide = body.yields.iter().all(|v| is_wide(self.element_ty(*v)));
        let least = facts.min_elements.max(if wide { 2 } else { 4 });
        let mut sizes =
            vec![most, usual, if length <= MAX_REST_VECTOR_INSTRUCTIONS { least } else { usual }];
        sizes.dedup();
        let may_search = length <= MAX_REST_VECTOR_INSTRUCTIONS && inside.is_none();
        let search = Search::of(inst, &facts, self).filter(|_| may_search);
        let mut vector = VectorEmitter::new(self, facts, most, ir::Block::reserved_value());
        vector.read_only = body.insts.iter().all(|inst| inst.op.is_read_only());
        let reduced: Vec<(Combine, Ty)> = reduce
            .iter()
            .zip(&body.yields)
            .map(|(combine, value)| (*combine, vector.c.element_ty(*value)))
            .collect();
        let mut at = vector.c.int(0);
        let mut accs: Vec<Lanes> = Vec::new();
        let mut nothing = vec![at];
        for (combine, ty) in &reduced {
            let neutral = vector.c.literal(combine.neutral(*ty));
            nothing.push(neutral);
            let vectors = vector.flatten(&Lanes::Uniform(neutral), *ty, Uniformity::Varying);
            accs.push(vector.lanes_of(*ty, vectors));
        }
        nothing.push(count);
        // Few are added up in their order, and have nothing to do with vectors.
        let types: Vec<Type> = nothing.iter().map(|v| vector.c.b.func.dfg.value_type(*v)).collect();
        let (many, join) = (vector.c.b.create_block(), vector.c.block_with(types));
        let mut enough =
            vector.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, usual as i64);
        if let Independence::IfApart { ranges, or_equal } = &independence {
            for pair in ranges {
                let apart = vector.c.are_apart(*pair, count, *or_equal);
                enough = vector.c.b.ins().band(enough, apart);
            }
        }
        vector.c.branch(enough, (many, &[]), (join, &nothing));
        vector.c.b.switch_to_block(many);
        // A loop within a loop is rarely long, and would have to ask each time. Streams refuse wide vectors, which would be
        // a pity for the few elements that groups leave over.
        let may_stream = search.is_none() && (ordered || !vector.c.is_left_over);
        let streamed = match (&reduced[..], vector.c.loops) {
            ([(_, ty)], 0) if may_stream => {
                let (insts, types) = (body.insts.iter(), vector.c.types);
                multiple_accumulators::elements_per_stream(insts, &vector.facts, types, *ty)
            }
            _ => None,
        };
        if let ([reduced], Some(elements)) = (&reduced[..], streamed) {
            let lanes;
            (at, lanes) =
                vector.with_streams([at, count], elements, *reduced, &mut |vector, at| {
                    vector.set(*index, Lanes::Affine(at));
                    vector.block(body);
                    vector.get(body.yields[0])
                });
            accs = vec![lanes];
        }
        if let Some(search) = &search {
            let counts = (count, nothing[1]);
            if vector.search((*index, body), counts, search, &sizes, join) {
                vector.c.b.switch_to_block(join);
                return Some(GroupsDone::at(vector.c.b.block_params(join)));
            }
        }
        for elements in sizes {
            // The lanes of the sums become fewer, too.
            for ((combine, ty), acc) in reduced.iter().zip(&mut accs) {
                *acc = vector.folded(*combine, *ty, acc, elements);
            }
            vector.elements = elements;
            vector.bail = vector.c.b.create_block();
            let inner = inside.take().map(|inside| {
                let number = [(*index, at)].into_iter();
                vector.inner_groups(inside, [at, count], number)
            });
            let range = (at, count, inner);
            (at, accs) = vector.vector_loop(*index, body, range, (&reduced, &accs));
        }
        let mut out = vec![at];
        for ((combine, ty), acc) in reduced.iter().zip(&accs) {
            out.push(vector.across(*combine, *ty, acc));
        }
        out.push(count);
        vector.c.jump(join, &out);
        vector.c.b.switch_to_block(join);
        Some(GroupsDone::at(vector.c.b.block_params(join)))
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits a flag that says if two ranges of elements, one for each iteration, do not overlap, or are one range.
    fn are_apart(&mut self, ranges: [Range; 2], count: ir::Value, or_equal: bool) -> ir::Value {
        let [[a, behind_a], [b, behind_b]] = ranges.map(|Range { array, start }| {
            let ty = self.element_ty(array);
            let array = self.get(array);
            let begin = match start {
                Some(start) => {
                    let start = self.get(start);
                    self.address(array, start, ty)
                }
                None => array,
            };
            [begin, self.address(begin, count, ty)]
        });
        let before = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, behind_a, b);
        let behind = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, behind_b, a);
        let apart = self.b.ins().bor(before, behind);
        if !or_equal {
            return apart;
        }
        let equal = self.b.ins().icmp(IntCC::Equal, a, b);
        self.b.ins().bor(apart, equal)
    }

    /// Returns true if the results of a loop depend on the order in which it combines elements: on rounding. (Which of two
    /// zeros with different signs is the least or the greatest is left open.)
    pub fn is_ordered(&self, reduce: &[Combine], body: &Block) -> bool {
        reduce.iter().zip(&body.yields).any(|(combine, value)| {
            self.element_ty(*value).is_float() && !matches!(combine, Combine::Min | Combine::Max)
        })
    }

    /// The facts about the iterations of a counted loop for wide vectors or for narrow ones, under assumptions.
    pub fn loop_facts(
        &self,
        inst: &'a Inst,
        has_high_products: bool,
        assumptions: Option<&Assumptions>,
    ) -> Result<VectorFacts, NotVectorizable> {
        let Op::For { index, reduce, body, .. } = &inst.op else {
            bug!("only counted loops are analysed as such")
        };
        let (types, constants) = (self.types, &self.constants);
        let may_store = independence(*index, body, &self.provenance) != Independence::Never;
        let around =
            Surroundings { types, constants, may_store, converts, has_high_products, assumptions };
        let mut analysis = Analysis::new(around, &[*index]);
        analysis.needs_larger_lanes();
        let insts = body.insts.iter();
        insts.for_each(|inst| walk::each_read(inst, &mut |v| analysis.mark_read(v)));
        body.yields.iter().for_each(|v| analysis.mark_read(*v));
        analysis.block(body)?;
        reduce.iter().for_each(|_| analysis.count_vector_operation());
        analysis.finish(body.insts.iter())
    }

    /// The set of iterations for which the code of a counted loop is simpler, if there is one; beside code for all
    /// iterations with these facts.
    pub fn inside(&self, inst: &'a Inst, beside: Option<&VectorFacts>) -> Option<Inside<'a>> {
        let Op::For { index, body, .. } = &inst.op else { return None };
        let (around, varying) = (std::iter::empty(), std::iter::empty());
        let set = IndexSet::of(body.insts.iter(), around, &[*index], varying, self.types)?;
        let mut facts = self.loop_facts(inst, self.is_wide(), Some(&set.assumptions)).ok()?;
        let shared = beside.is_none_or(|beside| facts.share_lanes(beside));
        shared.then_some(Inside { set, facts })
    }

    /// Emits what finds the groups inside a set for which alone a counted loop is vectorised.
    fn iterations_inside(
        &mut self,
        inst: &'a Inst,
        count: ir::Value,
    ) -> Option<IterationsInside<'a>> {
        let Op::For { index, init, body, reduce, .. } = &inst.op else { return None };
        let independent = iterations_are_independent(*index, body, &self.provenance);
        // The order in which floats are combined must not depend on the width.
        if !init.is_empty() || !independent || self.is_ordered(reduce, body) {
            return None;
        }
        let inside = self.inside(inst, None)?;
        self.judge_width(&inside.facts);
        let registers = self.unit.wide_registers;
        let elements = match self.vector_bytes > VECTOR_BYTES {
            true => wide_group_elements(&inside.facts, self.vector_bytes, registers),
            false => group_elements(&inside.facts),
        };
        let zero = self.int(0);
        let bail = ir::Block::reserved_value();
        let mut vector = VectorEmitter::new(self, inside.facts.clone(), elements, bail);
        let number = [(*index, zero)].into_iter();
        let groups = vector.inner_groups(inside, [zero, count], number);
        let first = vector.first_inside(&groups);
        Some(IterationsInside { elements, groups, first })
    }

    /// Emits, in a loop of single iterations, the loop over the groups inside a set, when its first iteration is reached.
    /// `looped` carries the number of that iteration as its last value.
    pub fn vector_for_inside(
        &mut self,
        inst: &'a Inst,
        inside: &IterationsInside<'a>,
        looped: &Loop,
    ) {
        let ([at, sums @ .., first], Op::For { index, reduce, body, .. }) =
            (&looped.carried[..], &inst.op)
        else {
            bug!("a loop with groups inside carries their beginning")
        };
        let (groups, single) = (self.b.create_block(), self.b.create_block());
        let reached = self.b.ins().icmp(IntCC::Equal, *at, *first);
        self.b.ins().brif(reached, groups, &[], single, &[]);
        self.b.switch_to_block(groups);
        let bail = self.b.create_block();
        let facts = inside.groups.inside.facts.clone();
        let mut vector = VectorEmitter::new(self, facts, inside.elements, bail);
        vector.assume(&inside.groups);
        let combined = reduce.iter().zip(&body.yields);
        let reduced: Vec<(Combine, Ty)> =
            combined.map(|(combine, value)| (*combine, vector.c.element_ty(*value))).collect();
        let mut nothing = Vec::new();
        for (combine, ty) in &reduced {
            let neutral = Lanes::Uniform(vector.c.literal(combine.neutral(*ty)));
            let vectors = vector.flatten(&neutral, *ty, Uniformity::Varying);
            nothing.push(vector.lanes_of(*ty, vectors));
        }
        let range = (*at, inside.groups.end, None);
        let (at, found) = vector.vector_loop(*index, body, range, (&reduced, &nothing));
        let mut next = vec![at];
        for (((combine, ty), found), before) in reduced.iter().zip(&found).zip(sums) {
            let all = vector.across(*combine, *ty, found);
            next.push(vector.c.combine(*combine, *ty, *before, all));
        }
        next.push(vector.c.int(-1));
        vector.c.jump(looped.head, &next);
        vector.c.b.switch_to_block(single);
    }
}

/// The groups of iterations that were emitted before the single ones.
pub struct GroupsDone {
    /// The first single iteration, and the reductions there.
    pub start: Vec<ir::Value>,
    /// The iteration behind the last one that is to be executed.
    pub end: ir::Value,
}

impl GroupsDone {
    /// The first single iteration, the reductions there, and the end, one after the other.
    fn at(values: &[ir::Value]) -> GroupsDone {
        let (end, start) = values.split_last().or_bug("a loop has an end");
        GroupsDone { start: start.to_vec(), end: *end }
    }
}

/// The iterations of a loop that were emitted before the single ones.
pub enum Begun<'a> {
    /// None were emitted.
    Nothing,
    /// Groups were emitted.
    Groups(GroupsDone),
    /// The code that finds the groups inside a set for which alone the loop is vectorised.
    Inside(Box<IterationsInside<'a>>),
}

/// The groups inside a set for which alone a loop is vectorised.
pub struct IterationsInside<'a> {
    elements: usize,
    groups: InnerGroups<'a>,
    /// The first iteration of the first group, or -1; the loop over single iterations carries it.
    pub first: ir::Value,
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Returns a count; 0 if it is less than `few`.
    pub fn zero_if_fewer(&mut self, count: ir::Value, few: usize) -> ir::Value {
        let less = self.c.b.ins().icmp_imm_s(IntCC::SignedLessThan, count, few as i64);
        let none = self.c.int(0);
        self.c.b.ins().select(less, none, count)
    }

    /// Emits groups of iterations, from `begin` and the sums so far, while a whole group is left and no
    /// check fails. Returns the iteration where that ends, and the sums there.
    fn vector_loop(
        &mut self,
        index: kir::Value,
        body: &'a Block,
        (begin, count, inner): (ir::Value, ir::Value, Option<InnerGroups<'a>>),
        (reduced, sums): (&[(Combine, Ty)], &[Lanes]),
    ) -> (ir::Value, Vec<Lanes>) {
        let mut start = vec![begin];
        for ((_, ty), sum) in reduced.iter().zip(sums) {
            start.extend(self.flatten(sum, *ty, Uniformity::Varying));
        }
        start.extend(inner.as_ref().map(|inner| inner.starts));
        let looped = self.c.begin_loop_to(self.bail, &start);
        let params = looped.carried.clone();
        let accs_of = |this: &Self, params: &[ir::Value]| -> Vec<Lanes> {
            let mut rest = params[1..].iter().copied();
            let each = |(_, ty): &(Combine, Ty)| {
                this.unflatten(&mut rest, ValueTy::Scalar(*ty), Uniformity::Varying)
            };
            reduced.iter().map(each).collect()
        };
        let elements = self.elements as i64;
        let after = self.c.b.ins().iadd_imm_s(params[0], elements);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, after, count);
        self.c.loop_while(&looped, whole);
        let mut group = |this: &mut Self, params: &[ir::Value]| {
            this.c.poll();
            this.set(index, Lanes::Affine(params[0]));
            this.block(body);
            let mut next = vec![this.c.b.ins().iadd_imm_s(params[0], elements)];
            let accs = accs_of(this, params);
            for (n, (combine, ty)) in reduced.iter().enumerate() {
                let x = this.get(body.yields[n]);
                let sum = this.combine(*combine, *ty, &accs[n], &x);
                next.extend(this.flatten(&sum, *ty, Uniformity::Varying));
            }
            next
        };
        if let Some(inner) = &inner {
            self.loop_inside(inner, &looped, &mut group);
        }
        let mut next = group(self, &params);
        next.extend(inner.map(|_| params[params.len() - 1]));
        self.c.end_loop(&looped, &next);
        let accs = accs_of(self, &params);
        (params[0], accs)
    }
}
