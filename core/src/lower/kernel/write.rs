//! What a kernel stores.
//!
//! A scalar is stored at the place of its point; an element of a sequence whose elements lie as the
//! points do is there already. A sequence that was cut from a pool which the
//! kernel was given stays there: its start and its length are stored. Other sequences leave the
//! kernel one behind the other.

use super::super::Unsupported;
use super::super::layout::{self, Columns, Leaf, Rep, Segments, Sequence, Stored};
use super::super::sequential::{common_start, rebuild_columns};
use super::{Give, Lowering, Part, Places, Take};
use crate::base::with_stack;
use crate::flat::{Let, Op, SpaceId};
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::kir::{self, Output, Sink, Value, ValueTy};
use std::rc::Rc;

impl<'a> Lowering<'a> {
    /// One more parameter, after the code was begun; gives its number too.
    fn late(&mut self, take: Take, ty: kir::Ty) -> (Value, usize) {
        self.builder.body = std::mem::take(&mut self.thread.body);
        let value = self.param(ValueTy::Array(ty));
        self.thread.body = std::mem::take(&mut self.builder.body);
        self.takes.push(take);
        (value, self.params.len() - 1)
    }

    /// An array with an element for each point of a context.
    fn array(&mut self, ctx: SpaceId, ty: kir::Ty) -> (Value, usize) {
        let take = if self.single(ctx) { Take::One(ty) } else { Take::Out(ctx, ty) };
        self.late(take, ty)
    }

    fn one(&mut self, ty: kir::Ty) -> (Value, usize) {
        self.late(Take::One(ty), ty)
    }

    /// Where a reduction goes, if it is stored.
    pub(super) fn reduced(&mut self, binding: &Let) -> Option<Value> {
        if !self.kernel.stores.iter().any(|(var, _)| *var == binding.var) {
            return None;
        }
        let ty = layout::scalar(&binding.ty, self.precision).expect("reductions are of scalars");
        let (array, at) = self.array(binding.ctx, ty);
        let part = if self.single(binding.ctx) { Part::First(at) } else { Part::Array(at) };
        self.gives.push(Give { var: binding.var, ctx: binding.ctx, parts: vec![part] });
        Some(array)
    }

    /// The table that a histogram fills, if it is stored.
    pub(super) fn table(
        &mut self,
        binding: &Let,
        size: Atom,
        combine: kir::Combine,
    ) -> Option<(Value, kir::Ty)> {
        if !self.kernel.stores.iter().any(|(var, _)| *var == binding.var) {
            return None;
        }
        let element = binding.ty.element().expect("a table is a sequence");
        let ty = layout::scalar(element, self.precision).expect("reductions are of scalars");
        let (array, at) = self.late(Take::Table(size, combine, ty), ty);
        let parts = vec![Part::Length(at), Part::Array(at)];
        self.gives.push(Give { var: binding.var, ctx: binding.ctx, parts });
        Some((array, ty))
    }

    /// The sequence that points write to, if the result is stored; it lies there then.
    pub(super) fn target(&mut self, binding: &Let, of: Var) -> Option<Sequence<'a>> {
        if !self.kernel.stores.iter().any(|(var, _)| *var == binding.var) {
            return None;
        }
        let ty = &self.values[&of].1;
        let single = self.single(binding.ctx);
        let types = match single {
            true => layout::parts(ty, self.precision),
            false => layout::columns(ty, self.precision),
        };
        let first = self.params.len();
        self.builder.body = std::mem::take(&mut self.thread.body);
        let params: Vec<Value> = types.iter().map(|ty| self.param(*ty)).collect();
        self.thread.body = std::mem::take(&mut self.builder.body);
        self.takes.push(Take::Own(of));
        let parts = (first..).zip(&types).map(|(at, ty)| match ty {
            ValueTy::Array(_) => Part::Array(at),
            ValueTy::Scalar(_) | ValueTy::Mark => Part::Same(at),
        });
        self.gives.push(Give { var: binding.var, ctx: binding.ctx, parts: parts.collect() });
        let rep = if single {
            self.thread.rebuild(ty, &mut params.into_iter())
        } else {
            let extent = self.zero();
            let columns = rebuild_columns(ty, extent, &mut params.into_iter());
            let place = self.place(binding.ctx);
            self.thread.at(&columns, place)
        };
        Some(rep.sequence())
    }

    /// Stores everything else, and the filters.
    pub(super) fn deliver(&mut self, lets: &'a [Let]) -> Result<Vec<Places>, Unsupported> {
        let over = self.kernel.space;
        for (var, ctx) in &self.kernel.stores {
            let binding = lets.iter().find(|binding| binding.var == *var);
            if binding.is_some_and(Let::combines) {
                continue;
            }
            if *ctx == over {
                let mut parts = Vec::new();
                if let Some(pool) = binding.and_then(|binding| self.lying(binding)) {
                    self.columns_as_given(&pool, &mut parts);
                    self.gives.push(Give { var: *var, ctx: *ctx, parts });
                    continue;
                }
                let (rep, ty) = self.stored_value(*var);
                if self.single(over) {
                    self.give_one(&rep, ty, &mut parts);
                } else {
                    self.give_each(&rep, ty, &mut parts);
                }
                self.gives.push(Give { var: *var, ctx: *ctx, parts });
            }
        }
        let masks = self.kernel.masks.clone();
        let mut all = Vec::new();
        for mask in masks {
            let stores = self.kernel.stores.iter().filter(|(_, ctx)| *ctx == mask);
            let stores: Vec<Var> = stores.map(|(var, _)| *var).collect();
            if stores.is_empty() && !self.kernel.counts.contains(&mask) {
                continue;
            }
            let keep = self.mask(mask).expect("it is a mask");
            let index = self.places[&over];
            let mut columns = Vec::new();
            let mut number = None;
            if self.kernel.filter_indices.contains(&mask) {
                let (places, at) = self.late(Take::Out(over, kir::Ty::I64), kir::Ty::I64);
                columns.push((index, places));
                number = Some(at);
            }
            for var in stores {
                let (rep, ty) = self.stored_value(var);
                let mut parts = Vec::new();
                self.pack(&rep, ty, &mut columns, &mut parts)?;
                self.gives.push(Give { var, ctx: mask, parts });
            }
            let scope = self.scope();
            let (count, counts) = match self.outer() {
                Some(outer) => self.array(outer, kir::Ty::I64),
                None => self.one(kir::Ty::I64),
            };
            self.sink(Sink::Pack { keep, columns, count, scope });
            all.push(Places { ctx: mask, places: number, counts });
        }
        Ok(all)
    }

    /// The elements of a sequence that lie as the points do: they need not be stored again.
    fn lying(&self, binding: &Let) -> Option<Columns> {
        match binding.op {
            Op::Element { of, .. } => self.pools.get(&of).cloned(),
            _ => None,
        }
    }

    fn stored_value(&mut self, var: Var) -> (Rep<'a>, &'a Ty) {
        let (rep, ty) = self.thread.env[&var].clone();
        (self.thread.settle(&rep, ty), ty)
    }

    /// A value at the points that are kept.
    fn pack(
        &mut self,
        rep: &Rep<'a>,
        ty: &'a Ty,
        columns: &mut Vec<(Value, Value)>,
        parts: &mut Vec<Part>,
    ) -> Result<(), Unsupported> {
        let over = self.kernel.space;
        with_stack(|| {
            match (rep, ty) {
                (Rep::Unit, _) => {}
                (Rep::Scalar(value), _) => {
                    let ty = self.thread.body.element(*value);
                    let (array, at) = self.late(Take::Out(over, ty), ty);
                    columns.push((*value, array));
                    parts.push(Part::Array(at));
                }
                (Rep::Pair(both), Ty::Pair(first, second)) => {
                    self.pack(&both.0, first, columns, parts)?;
                    self.pack(&both.1, second, columns, parts)?;
                }
                (Rep::Sequence(_), _) => {
                    let stored = self.stored(rep, ty);
                    let start = self.view(&stored).ok_or(Unsupported::FilterOfNewSequences)?;
                    for value in [start, stored.length] {
                        let (array, at) = self.late(Take::Out(over, kir::Ty::I64), kir::Ty::I64);
                        columns.push((value, array));
                        parts.push(Part::Array(at));
                    }
                    self.pool_as_given(&stored, parts);
                }
                (Rep::Pair(_), _) => unreachable!("types were checked"),
            }
            Ok(())
        })
    }

    /// A value at each of many points.
    fn give_each(&mut self, rep: &Rep<'a>, ty: &'a Ty, parts: &mut Vec<Part>) {
        let over = self.kernel.space;
        let index = self.places[&over];
        with_stack(|| match (rep, ty) {
            (Rep::Unit, _) => {}
            (Rep::Scalar(value), _) => {
                let ty = self.thread.body.element(*value);
                let (array, at) = self.array(over, ty);
                self.thread.body.store(array, index, *value);
                parts.push(Part::Array(at));
            }
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                self.give_each(&both.0, first, parts);
                self.give_each(&both.1, second, parts);
            }
            (Rep::Sequence(_), Ty::Sequence(element)) => {
                let stored = self.stored(rep, ty);
                match self.view(&stored) {
                    Some(start) => {
                        for value in [start, stored.length] {
                            let (array, at) = self.array(over, kir::Ty::I64);
                            self.thread.body.store(array, index, value);
                            parts.push(Part::Array(at));
                        }
                        self.pool_as_given(&stored, parts);
                    }
                    None => self.emit_each(&stored, element, parts),
                }
            }
            (Rep::Pair(_) | Rep::Sequence(_), _) => unreachable!("types were checked"),
        });
    }

    /// Where a sequence starts in the pool that the kernel was given, if it lies in one.
    fn view(&mut self, stored: &Stored) -> Option<Value> {
        if !self.are_given(&stored.columns) || has_no_leaf(&stored.columns) {
            return None;
        }
        let start = common_start(&stored.columns)?;
        Some(start.unwrap_or_else(|| self.zero()))
    }

    /// The extent and the columns of a pool that was given.
    fn pool_as_given(&mut self, stored: &Stored, parts: &mut Vec<Part>) {
        let mut extent = None;
        stored.columns.each_leaf(&mut |leaf| extent = Some(leaf.extent));
        let extent = extent.expect("it has a leaf");
        parts.push(Part::Same(self.number(extent)));
        self.columns_as_given(&stored.columns, parts);
    }

    fn columns_as_given(&self, columns: &Columns, parts: &mut Vec<Part>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(leaf) => parts.push(Part::Alias(self.number(leaf.array), None)),
            Columns::Pair(both) => {
                self.columns_as_given(&both.0, parts);
                self.columns_as_given(&both.1, parts);
            }
            Columns::Segments(segments) => {
                parts.push(Part::Alias(self.number(segments.starts.array), None));
                parts.push(Part::Alias(self.number(segments.lengths.array), None));
                parts.push(Part::Same(self.number(segments.extent)));
                self.columns_as_given(&segments.pool, parts);
            }
        });
    }

    fn number(&self, value: Value) -> usize {
        self.params.iter().position(|param| *param == value).expect("it was given")
    }

    /// Sequences that leave the kernel one behind the other.
    fn emit_each(&mut self, stored: &Stored, element: &Ty, parts: &mut Vec<Part>) {
        let (lengths, at) = self.array(self.kernel.space, kir::Ty::I64);
        parts.extend([Part::Starts(at), Part::Array(at), Part::Sum(at)]);
        self.emit_all(stored, element, lengths, parts);
    }

    fn emit_all(&mut self, stored: &Stored, element: &Ty, lengths: Value, parts: &mut Vec<Part>) {
        with_stack(|| {
            let mut columns = Vec::new();
            self.emit_columns(&stored.columns, stored.length, element, &mut columns, parts);
            if columns.is_empty() {
                let index = self.places[&self.kernel.space];
                self.thread.body.store(lengths, index, stored.length);
            } else {
                self.sink(Sink::Emit { columns, length: stored.length, lengths });
            }
        });
    }

    fn emit_columns(
        &mut self,
        columns: &Columns,
        count: Value,
        element: &Ty,
        out: &mut Vec<(Value, Output)>,
        parts: &mut Vec<Part>,
    ) {
        match (columns, element) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(leaf), _) => parts.push(self.emit(*leaf, out)),
            (Columns::Pair(both), Ty::Pair(first, second)) => {
                self.emit_columns(&both.0, count, first, out, parts);
                self.emit_columns(&both.1, count, second, out, parts);
            }
            (Columns::Segments(segments), Ty::Sequence(inner)) => {
                // The pieces of all points lie behind one another too, in the same order.
                let pool = self.thread.tiled(segments, count);
                let output = match self.emit(segments.lengths, out) {
                    Part::Output(at) => at,
                    _ => unreachable!("it was put into an output"),
                };
                parts.extend([Part::StartsOf(output), Part::Output(output), Part::SumOf(output)]);
                let (lengths, _) = self.array(self.kernel.space, kir::Ty::I64);
                self.emit_all(&pool, inner, lengths, parts);
            }
            (Columns::Pair(_) | Columns::Segments(_), _) => {
                unreachable!("types were checked")
            }
        }
    }

    fn emit(&mut self, leaf: Leaf, out: &mut Vec<(Value, Output)>) -> Part {
        let array = self.thread.array_of(leaf);
        let output = self.builder.output(self.thread.body.element(array));
        out.push((array, output));
        Part::Output(output.0 as usize)
    }

    /// A value at the only point.
    fn give_one(&mut self, rep: &Rep<'a>, ty: &'a Ty, parts: &mut Vec<Part>) {
        with_stack(|| match (rep, ty) {
            (Rep::Unit, _) => {}
            (Rep::Scalar(value), _) => parts.push(self.first(*value)),
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                self.give_one(&both.0, first, parts);
                self.give_one(&both.1, second, parts);
            }
            (Rep::Sequence(_), _) => {
                let stored = self.stored(rep, ty);
                self.give_stored(&stored, parts);
            }
            (Rep::Pair(_), _) => unreachable!("types were checked"),
        });
    }

    /// A scalar of the only point.
    fn first(&mut self, value: Value) -> Part {
        let ty = self.thread.body.element(value);
        let (array, at) = self.one(ty);
        let zero = self.zero();
        self.thread.body.store(array, zero, value);
        Part::First(at)
    }

    /// The length and the columns of a sequence of the only point.
    fn give_stored(&mut self, stored: &Stored, parts: &mut Vec<Part>) {
        with_stack(|| {
            parts.push(self.first(stored.length));
            let mut emitted = Vec::new();
            self.give_columns(&stored.columns, stored.length, &mut emitted, parts);
            if !emitted.is_empty() {
                let (lengths, _) = self.one(kir::Ty::I64);
                self.sink(Sink::Emit { columns: emitted, length: stored.length, lengths });
            }
        });
    }

    fn give_columns(
        &mut self,
        columns: &Columns,
        count: Value,
        emitted: &mut Vec<(Value, Output)>,
        parts: &mut Vec<Part>,
    ) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(leaf) => {
                let part = self.leaf(*leaf, emitted);
                parts.push(part);
            }
            Columns::Pair(both) => {
                self.give_columns(&both.0, count, emitted, parts);
                self.give_columns(&both.1, count, emitted, parts);
            }
            Columns::Segments(segments) if self.are_given(&segments.pool) => {
                for leaf in [segments.starts, segments.lengths] {
                    let part = self.leaf(leaf, emitted);
                    parts.push(part);
                }
                let extent = self.rest(segments);
                parts.push(self.first(extent));
                self.given_pool(&segments.pool, parts);
            }
            Columns::Segments(segments) => {
                let (starts, lengths, pool) = self.tile(segments, count);
                for leaf in [starts, lengths] {
                    let part = self.emit(leaf, emitted);
                    parts.push(part);
                }
                self.give_stored(&pool, parts);
            }
        });
    }

    /// A column of the only point.
    fn leaf(&mut self, leaf: Leaf, emitted: &mut Vec<(Value, Output)>) -> Part {
        if self.is_given(leaf.array) { self.alias(leaf) } else { self.emit(leaf, emitted) }
    }

    fn alias(&mut self, leaf: Leaf) -> Part {
        let start = leaf.start.map(|start| match self.first(start) {
            Part::First(at) => at,
            _ => unreachable!("it is a scalar"),
        });
        Part::Alias(self.number(leaf.array), start)
    }

    /// How many elements of a pool there are from where it starts.
    fn rest(&mut self, segments: &Segments) -> Value {
        let mut start = None;
        segments.pool.each_leaf(&mut |leaf| start = leaf.start);
        match start {
            None => segments.extent,
            Some(start) => self.thread.body.binary(kir::Binary::Sub, segments.extent, start),
        }
    }

    /// The columns of a pool that was given, from where they start.
    fn given_pool(&mut self, columns: &Columns, parts: &mut Vec<Part>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(leaf) => {
                let part = self.alias(*leaf);
                parts.push(part);
            }
            Columns::Pair(both) => {
                self.given_pool(&both.0, parts);
                self.given_pool(&both.1, parts);
            }
            Columns::Segments(segments) => {
                for leaf in [segments.starts, segments.lengths] {
                    let part = self.alias(leaf);
                    parts.push(part);
                }
                let extent = self.rest(segments);
                parts.push(self.first(extent));
                self.given_pool(&segments.pool, parts);
            }
        });
    }

    /// Segments one behind the other: their starts and lengths, and the pool.
    fn tile(&mut self, segments: &Rc<Segments>, count: Value) -> (Leaf, Leaf, Stored) {
        let pool = self.thread.tiled(segments, count);
        let from = self.thread.array_of(segments.lengths);
        let starts = self.thread.ends_before(from, count);
        let leaf = |array| Leaf { array, start: None, extent: count };
        (leaf(starts), leaf(from), pool)
    }
}

fn has_no_leaf(columns: &Columns) -> bool {
    let mut none = true;
    columns.each_leaf(&mut |_| none = false);
    none
}
