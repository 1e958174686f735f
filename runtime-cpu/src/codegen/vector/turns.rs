//! Turns of a counted loop, several at a time.
//!
//! What is left over of whole groups is done a vector at a time, and then one by one. A loop that
//! adds up rows is done in tiles (`tile`), one whose turns have loops of their own, and share what
//! these read, some turns side by side (`jam`).

use super::super::code::Coder;
use super::super::kernel::Range;
use super::super::{alias, walk};
use super::lanes::{Lanes, Vector};
use super::shape::{Analysis, Given, Shape, is_wide};
use super::{jam, points, strands, tile};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type};
use cranelift_codegen::packed_option::ReservedValue;
use nesl_runtime::kir::{self, Block, Combine, Inst, Op, Ty, ValueTy};

/// A loop of at most so many instructions is short.
const SHORT: usize = 32;

impl<'a> Coder<'a, '_> {
    /// The turns of a counted loop that only reduces, or fills arrays, in groups as far as that
    /// goes. Gives where the single turns begin, and the reductions there.
    pub fn vector_for(&mut self, inst: &'a Inst, count: ir::Value) -> Option<Vec<ir::Value>> {
        let Op::For { index, init, reduce, body, .. } = &inst.op else { return None };
        let may_store = alias::independent(body, &self.roots);
        if !init.is_empty() || reduce.is_empty() && !may_store {
            return None;
        }
        let given = Given { types: self.types, known: &self.constants, may_store };
        let mut analysis = Analysis::new(given, &[*index]);
        analysis.not_narrow();
        body.insts.iter().for_each(|inst| walk::reads(inst, &mut |v| analysis.reads(v)));
        body.yields.iter().for_each(|v| analysis.reads(*v));
        let shapes = analysis.block(body).and_then(|()| {
            reduce.iter().for_each(|_| analysis.simple());
            analysis.finish(body.insts.iter())
        });
        let Ok(shapes) = shapes else { return self.jammed(inst, count, may_store) };
        if reduce.is_empty()
            && let Some(plan) = tile::Plan::of(body.insts.iter(), &shapes, self)
        {
            let range = Range { lo: self.int(0), hi: count, segment: None };
            let space = tile::Space { names: &[*index], range, points: false };
            return Some(vec![self.tiles(&plan, &shapes, space)]);
        }
        let most = points(&shapes);
        // What is left over is done a vector at a time, if that is little code.
        let mut length = 0;
        walk::insts(body, &mut |_| length += 1);
        let wide = body.yields.iter().all(|v| is_wide(self.element(*v)));
        let least = shapes.least.max(if wide { 2 } else { 4 });
        let mut sizes = vec![most, if length <= SHORT { least } else { most }];
        sizes.dedup();
        let mut vector = Vector::new(self, shapes, most, ir::Block::reserved_value());
        vector.still = body.insts.iter().all(jam::is_still);
        let reduced: Vec<(Combine, Ty)> = reduce
            .iter()
            .zip(&body.yields)
            .map(|(combine, value)| (*combine, vector.c.element(*value)))
            .collect();
        let mut at = vector.c.int(0);
        let mut accs: Vec<Lanes> = Vec::new();
        let mut nothing = vec![at];
        for (combine, ty) in &reduced {
            let neutral = vector.c.literal(combine.neutral(*ty));
            nothing.push(neutral);
            let vectors = vector.flatten(&Lanes::Uniform(neutral), *ty, Shape::Lanes);
            accs.push(vector.lanes_of(*ty, vectors));
        }
        // Few are added up in their order, and have nothing to do with vectors.
        let types: Vec<Type> = nothing.iter().map(|v| vector.c.b.func.dfg.value_type(*v)).collect();
        let (many, join) = (vector.c.b.create_block(), vector.c.block_with(types));
        let enough =
            vector.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, most as i64);
        vector.c.branch(enough, (many, &[]), (join, &nothing));
        vector.c.b.switch_to_block(many);
        // A loop within a loop is rarely long, and would have to ask each time.
        let in_strands = match (&reduced[..], vector.c.loops) {
            ([(_, ty)], 0) => strands::points(body.insts.iter(), &vector.shapes, *ty),
            _ => None,
        };
        if let ([reduced], Some(points)) = (&reduced[..], in_strands) {
            let lanes;
            (at, lanes) = vector.strands([at, count], points, *reduced, &mut |vector, at| {
                vector.set(*index, Lanes::Linear(at));
                vector.block(body);
                vector.get(body.yields[0])
            });
            accs = vec![lanes];
        }
        for points in sizes {
            // The lanes of the sums become fewer, too.
            for ((combine, ty), acc) in reduced.iter().zip(&mut accs) {
                *acc = vector.folded(*combine, *ty, acc, points);
            }
            vector.points = points;
            vector.bail = vector.c.b.create_block();
            (at, accs) = vector.turns(*index, body, count, at, (&reduced, &accs));
        }
        let mut out = vec![at];
        for ((combine, ty), acc) in reduced.iter().zip(&accs) {
            out.push(vector.across(*combine, *ty, acc));
        }
        vector.c.jump(join, &out);
        vector.c.b.switch_to_block(join);
        Some(vector.c.b.block_params(join).to_vec())
    }
}

impl<'a> Vector<'_, 'a, '_> {
    /// A count; none if it is less than that.
    pub fn unless_few(&mut self, count: ir::Value, few: usize) -> ir::Value {
        let less = self.c.b.ins().icmp_imm_s(IntCC::SignedLessThan, count, few as i64);
        let none = self.c.int(0);
        self.c.b.ins().select(less, none, count)
    }

    /// The turns of a loop in groups, from one on and with sums so far, while a whole group is left
    /// and none of it fails. Gives where that ends, and the sums there.
    fn turns(
        &mut self,
        index: kir::Value,
        body: &'a Block,
        count: ir::Value,
        begin: ir::Value,
        (reduced, sums): (&[(Combine, Ty)], &[Lanes]),
    ) -> (ir::Value, Vec<Lanes>) {
        let mut start = vec![begin];
        for ((_, ty), sum) in reduced.iter().zip(sums) {
            start.extend(self.flatten(sum, *ty, Shape::Lanes));
        }
        let types: Vec<Type> = start.iter().map(|v| self.c.b.func.dfg.value_type(*v)).collect();
        let head = self.c.block_with(types);
        let again = self.c.b.create_block();
        self.c.jump(head, &start);
        self.c.b.switch_to_block(head);
        let params = self.c.b.block_params(head).to_vec();
        let at = params[0];
        let mut rest = params[1..].iter().copied();
        let accs: Vec<Lanes> = reduced
            .iter()
            .map(|(_, ty)| self.unflatten(&mut rest, ValueTy::Scalar(*ty), Shape::Lanes))
            .collect();
        let after = self.c.b.ins().iadd_imm_s(at, self.points as i64);
        let whole = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, after, count);
        let bail = self.bail;
        self.c.go_on_if(whole, again, bail);
        self.c.b.switch_to_block(again);
        self.c.poll();
        self.set(index, Lanes::Linear(at));
        self.block(body);
        let mut next = vec![after];
        for (n, (combine, ty)) in reduced.iter().enumerate() {
            let x = self.get(body.yields[n]);
            let sum = self.combine(*combine, *ty, &accs[n], &x);
            next.extend(self.flatten(&sum, *ty, Shape::Lanes));
        }
        self.c.jump(head, &next);
        self.c.b.switch_to_block(bail);
        (at, accs)
    }
}
