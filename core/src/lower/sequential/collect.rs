//! Loops that make a sequence.
//!
//! Scalars are stored column by column. An element that is a sequence becomes a start and a
//! length: into the pool it was cut from, if that was there before the loop (so that views of
//! something are never copied), or into a pool that grows as the loop goes on.

use super::super::layout::{self, Columns, Leaf, Rep, Segments, Sequence, Stored};
use super::Thread;
use super::delayed::Form;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::kir::{self, Binary, Literal, Op, Value, ValueTy};
use std::rc::Rc;

/// Where the elements go.
enum Target<'a> {
    Unit,
    Scalars(Leaf),
    Pair(Box<(Target<'a>, Target<'a>)>),
    Segments { starts: Leaf, lengths: Leaf, element: &'a Ty, pool: Pool<'a> },
}

/// Rows that are written one by one.
pub(super) struct Rows<'a> {
    target: Target<'a>,
}

impl<'a> Rows<'a> {
    /// Writes a row; `only` says that there is no other.
    pub(super) fn put(&mut self, t: &mut Thread<'a>, rep: &Rep<'a>, place: Value, only: bool) {
        t.write(&mut self.target, rep, place, only);
    }

    /// Writes a sequence that is no filter, of flat elements, from a place on.
    pub(super) fn fill(&mut self, t: &mut Thread<'a>, sequence: &Sequence<'a>, start: Value) {
        match sequence {
            Sequence::Stored(stored) => {
                t.copy_flat(&self.target, &stored.columns, start, stored.length);
            }
            Sequence::Delayed(delayed) => {
                let count = delayed.length;
                let index = t.body.value(ValueTy::Scalar(kir::Ty::I64));
                let mark = t.body.mark();
                let allocations = t.allocations;
                t.body.begin();
                let rep = t.element(sequence, index);
                let place = t.body.binary(Binary::Add, start, index);
                t.write(&mut self.target, &rep, place, false);
                if t.allocations > allocations {
                    t.body.compact(mark, Vec::new());
                }
                let body = t.body.end(Vec::new());
                let (init, carried) = (Vec::new(), Vec::new());
                t.body.push(Op::For { count, index, init, carried, reduce: Vec::new(), body }, &[]);
            }
        }
    }

    /// What was written.
    pub(super) fn columns(&self) -> Columns {
        self.target.columns()
    }
}

/// A pool that grows.
#[derive(Clone)]
pub(super) struct Pool<'a> {
    used: Value,
    capacity: Value,
    columns: PoolColumns<'a>,
    /// Set when the elements turn out to lie in a pool that was there before.
    view: Option<Columns>,
    written: bool,
}

#[derive(Clone)]
enum PoolColumns<'a> {
    Unit,
    Scalars(Value),
    Pair(Box<(PoolColumns<'a>, PoolColumns<'a>)>),
    Segments { starts: Value, lengths: Value, element: &'a Ty, pool: Box<Pool<'a>> },
}

impl<'a> Thread<'a> {
    /// The sequence of `make(0)`, …, `make(count - 1)`.
    pub(super) fn collect(
        &mut self,
        count: Value,
        element: &'a Ty,
        make: impl FnOnce(&mut Self, Value) -> Rep<'a>,
    ) -> Stored {
        let mut target = self.target(element, count);
        let columns = self.rows(count, &mut target, |t, index, target| {
            let rep = make(t, index);
            t.write(target, &rep, index, true);
            Vec::new()
        });
        Stored { length: count, columns: columns.0 }
    }

    /// The elements of a sequence whose flag is true.
    pub(super) fn collect_if(
        &mut self,
        count: Value,
        element: &'a Ty,
        of: &Sequence<'a>,
        keep: &Sequence<'a>,
    ) -> Stored {
        let mut target = self.target(element, count);
        let zero = self.body.i64(0);
        let used = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let (columns, kept) =
            self.loop_over(count, &mut target, vec![(zero, used)], |t, index, target| {
                let flag = t.element(keep, index).scalar();
                if is_flat(element) && is_light(of) {
                    // Sooner written, and written over if it is not kept, than asked for.
                    let rep = t.element(of, index);
                    t.write(target, &rep, used, true);
                    let kept = t.body.convert(kir::Ty::I64, flag);
                    return vec![t.body.binary(Binary::Add, used, kept)];
                }
                let before = target.state();
                t.body.begin();
                let rep = t.element(of, index);
                t.write(target, &rep, used, true);
                let one = t.body.i64(1);
                let next = t.body.binary(Binary::Add, used, one);
                let mut then_yields = vec![next];
                then_yields.extend(target.state());
                let then = t.body.end(then_yields);
                t.body.begin();
                let mut yields = vec![used];
                yields.extend(before);
                let otherwise = t.body.end(yields);
                let types: Vec<ValueTy> = then.yields.iter().map(|v| t.body.ty(*v)).collect();
                let results = t.body.push(Op::If { cond: flag, then, otherwise }, &types);
                let (kept, state) = results.split_at(1);
                target.set_state(&mut state.iter().copied());
                kept.to_vec()
            });
        Stored { length: kept[0], columns }
    }

    /// Arrays for `count` rows that are written one by one, without a loop.
    pub(super) fn rows_of(&mut self, element: &'a Ty, count: Value) -> Rows<'a> {
        Rows { target: self.target(element, count) }
    }

    /// A loop that writes a row of a target at each index.
    fn rows(
        &mut self,
        count: Value,
        target: &mut Target<'a>,
        body: impl FnOnce(&mut Self, Value, &mut Target<'a>) -> Vec<Value>,
    ) -> (Columns, Vec<Value>) {
        self.loop_over(count, target, Vec::new(), body)
    }

    /// A counted loop that carries the pools of a target, and some values more: pairs of what
    /// they are at first and what the body calls them.
    fn loop_over(
        &mut self,
        count: Value,
        target: &mut Target<'a>,
        more: Vec<(Value, Value)>,
        body: impl FnOnce(&mut Self, Value, &mut Target<'a>) -> Vec<Value>,
    ) -> (Columns, Vec<Value>) {
        let before = target.state();
        let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
        let inside: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
        target.set_state(&mut inside.iter().copied());
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let mut yields = body(self, index, target);
        if self.allocations > allocations {
            self.compact_target(mark, target);
        }
        yields.extend(target.state());
        let code = self.body.end(yields);
        let (init, carried): (Vec<Value>, Vec<Value>) =
            more.into_iter().chain(before.into_iter().zip(inside)).unzip();
        let types: Vec<ValueTy> = carried.iter().map(|v| self.body.ty(*v)).collect();
        let op = Op::For { count, index, init, carried, reduce: Vec::new(), body: code };
        let results = self.body.push(op, &types);
        let state = target.state().len();
        let (kept, state) = results.split_at(results.len() - state);
        target.set_state(&mut state.iter().copied());
        (target.columns(), kept.to_vec())
    }

    /// Arrays for `count` rows.
    fn target(&mut self, element: &'a Ty, count: Value) -> Target<'a> {
        with_stack(|| match element {
            Ty::Unit => Target::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = layout::scalar(element, self.precision).expect("it is a scalar");
                Target::Scalars(self.alloc(ty, count))
            }
            Ty::Pair(first, second) => {
                let first = self.target(first, count);
                Target::Pair(Box::new((first, self.target(second, count))))
            }
            Ty::Sequence(inner) => {
                let starts = self.alloc(kir::Ty::I64, count);
                let lengths = self.alloc(kir::Ty::I64, count);
                Target::Segments { starts, lengths, element: inner, pool: self.pool(inner) }
            }
        })
    }

    /// Writes a row. Where `view` is set, this is the only place that writes rows to the target,
    /// and a sequence may stay in the pool it is in.
    fn write(&mut self, target: &mut Target<'a>, rep: &Rep<'a>, index: Value, view: bool) {
        with_stack(|| match (target, rep) {
            (Target::Unit, _) => {}
            (Target::Scalars(leaf), Rep::Scalar(value)) => {
                self.body.store(leaf.array, index, *value);
            }
            (Target::Pair(targets), Rep::Pair(both)) => {
                self.write(&mut targets.0, &both.0, index, view);
                self.write(&mut targets.1, &both.1, index, view);
            }
            (Target::Segments { starts, lengths, element, pool }, Rep::Sequence(sequence)) => {
                let limit = if view { starts.array.0 } else { 0 };
                let (start, length) = self.append(pool, sequence, element, limit);
                self.body.store(starts.array, index, start);
                self.body.store(lengths.array, index, length);
            }
            (Target::Scalars(_) | Target::Pair(_) | Target::Segments { .. }, _) => {
                unreachable!("types were checked")
            }
        });
    }

    /// An empty pool for sequences of `element`.
    pub(super) fn pool(&mut self, element: &'a Ty) -> Pool<'a> {
        let zero = self.body.i64(0);
        Pool {
            used: zero,
            capacity: zero,
            columns: self.pool_columns(element, zero),
            view: None,
            written: false,
        }
    }

    fn pool_columns(&mut self, element: &'a Ty, capacity: Value) -> PoolColumns<'a> {
        with_stack(|| match element {
            Ty::Unit => PoolColumns::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = layout::scalar(element, self.precision).expect("it is a scalar");
                PoolColumns::Scalars(self.alloc(ty, capacity).array)
            }
            Ty::Pair(first, second) => {
                let first = self.pool_columns(first, capacity);
                PoolColumns::Pair(Box::new((first, self.pool_columns(second, capacity))))
            }
            Ty::Sequence(inner) => {
                let starts = self.alloc(kir::Ty::I64, capacity).array;
                let lengths = self.alloc(kir::Ty::I64, capacity).array;
                let pool = Box::new(self.pool(inner));
                PoolColumns::Segments { starts, lengths, element: inner, pool }
            }
        })
    }

    /// Puts a sequence behind what a pool holds; gives its start and length. What was there
    /// before the value `limit` is not copied, if it is the first thing the pool is given.
    pub(super) fn append(
        &mut self,
        pool: &mut Pool<'a>,
        sequence: &Sequence<'a>,
        element: &'a Ty,
        limit: u32,
    ) -> (Value, Value) {
        let sequence = match sequence {
            Sequence::Delayed(_) if !is_flat(element) || super::delayed::is_filter(sequence) => {
                // Behind a type of its own: the sequence is made, then copied.
                self.store_elements(sequence, element)
            }
            other => other.clone(),
        };
        if let Sequence::Stored(stored) = &sequence
            && !pool.written
            && stored.columns.older_than(limit)
            && let Some(start) = common_start(&stored.columns)
        {
            pool.view = Some(stored.columns.map(&mut |leaf| Leaf { start: None, ..leaf }));
            pool.written = true;
            let start = start.unwrap_or_else(|| self.body.i64(0));
            return (start, stored.length);
        }
        pool.written = true;
        let length = self.length_of(&sequence);
        let start = pool.used;
        let need = self.body.binary(Binary::Add, start, length);
        self.reserve(pool, need);
        match &sequence {
            Sequence::Stored(stored) => {
                let mut columns = std::mem::replace(&mut pool.columns, PoolColumns::Unit);
                self.copy_columns(&mut columns, &stored.columns, start, length);
                pool.columns = columns;
            }
            Sequence::Delayed(_) => {
                let columns = pool.columns.clone();
                let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
                self.body.begin();
                let rep = self.element(&sequence, index);
                let place = self.body.binary(Binary::Add, start, index);
                self.write_flat(&columns, &rep, place);
                let body = self.body.end(Vec::new());
                let (init, carried) = (Vec::new(), Vec::new());
                let op = Op::For { count: length, index, init, carried, reduce: Vec::new(), body };
                self.body.push(op, &[]);
            }
        }
        pool.used = need;
        (start, length)
    }

    /// Copies the rows of a stored sequence of flat elements to a place.
    fn copy_flat(&mut self, to: &Target<'a>, from: &Columns, start: Value, length: Value) {
        match (to, from) {
            (Target::Unit, _) => {}
            (Target::Scalars(to), Columns::Scalars(from)) => {
                let from = self.array_of(*from);
                let to = self.array_of(*to);
                let to = self.body.slice(to, start);
                self.body.copy(from, to, length);
            }
            (Target::Pair(to), Columns::Pair(from)) => {
                self.copy_flat(&to.0, &from.0, start, length);
                self.copy_flat(&to.1, &from.1, start, length);
            }
            (Target::Scalars(_) | Target::Pair(_) | Target::Segments { .. }, _) => {
                unreachable!("only what is flat is copied so")
            }
        }
    }

    fn store_elements(&mut self, sequence: &Sequence<'a>, element: &'a Ty) -> Sequence<'a> {
        let Sequence::Delayed(delayed) = sequence else { return sequence.clone() };
        let stored = match &delayed.form {
            super::delayed::Form::Filter(of, keep) => {
                self.collect_if(delayed.length, element, of, keep)
            }
            _ => {
                let again = sequence.clone();
                self.collect(delayed.length, element, |t, i| t.element(&again, i))
            }
        };
        Sequence::Stored(stored)
    }

    fn write_flat(&mut self, columns: &PoolColumns<'a>, rep: &Rep<'a>, place: Value) {
        match (columns, rep) {
            (PoolColumns::Unit, _) => {}
            (PoolColumns::Scalars(array), Rep::Scalar(value)) => {
                self.body.store(*array, place, *value);
            }
            (PoolColumns::Pair(columns), Rep::Pair(both)) => {
                self.write_flat(&columns.0, &both.0, place);
                self.write_flat(&columns.1, &both.1, place);
            }
            (PoolColumns::Scalars(_) | PoolColumns::Pair(_) | PoolColumns::Segments { .. }, _) => {
                unreachable!("only what is flat is written so")
            }
        }
    }

    /// Makes room for `need` elements.
    fn reserve(&mut self, pool: &mut Pool<'a>, need: Value) {
        let (used, capacity) = (pool.used, pool.capacity);
        if self.body.constant(capacity) == Some(Literal::I64(0)) {
            // What follows the first is perhaps as long.
            let room = self.body.binary(Binary::Add, need, need);
            let mut grown = vec![room];
            for value in &pool.own_state()[1..] {
                let ValueTy::Array(ty) = self.body.ty(*value) else {
                    unreachable!("it is an array")
                };
                grown.push(self.alloc(ty, room).array);
            }
            return pool.set_own_state(&mut grown.into_iter());
        }
        let enough = self.body.binary(Binary::Le, need, capacity);
        let before = pool.own_state();
        self.body.begin();
        let same = self.body.end(before.clone());
        self.body.begin();
        let two = self.body.i64(2);
        let least = self.body.i64(16);
        let double = self.body.binary(Binary::Mul, capacity, two);
        let room = self.body.binary(Binary::Max, double, need);
        let room = self.body.binary(Binary::Max, room, least);
        // As above.
        let zero = self.body.i64(0);
        let first = self.body.binary(Binary::Eq, capacity, zero);
        let twice = self.body.binary(Binary::Add, need, need);
        let room = self.body.select(first, twice, room);
        let mut grown = Vec::new();
        for value in &before[1..] {
            let ValueTy::Array(ty) = self.body.ty(*value) else { unreachable!("it is an array") };
            let larger = self.alloc(ty, room).array;
            self.body.copy(*value, larger, used);
            grown.push(larger);
        }
        let mut yields = vec![room];
        yields.extend(grown);
        let larger = self.body.end(yields);
        let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
        let op = Op::If { cond: enough, then: same, otherwise: larger };
        let results = self.body.push(op, &types);
        pool.set_own_state(&mut results.into_iter());
    }

    /// Copies the rows of a stored sequence to a place of a pool.
    fn copy_columns(
        &mut self,
        to: &mut PoolColumns<'a>,
        from: &Columns,
        start: Value,
        length: Value,
    ) {
        with_stack(|| match (to, from) {
            (PoolColumns::Unit, _) => {}
            (PoolColumns::Scalars(array), Columns::Scalars(leaf)) => {
                let from = self.array_of(*leaf);
                let to = self.body.slice(*array, start);
                self.body.copy(from, to, length);
            }
            (PoolColumns::Pair(to), Columns::Pair(from)) => {
                self.copy_columns(&mut to.0, &from.0, start, length);
                self.copy_columns(&mut to.1, &from.1, start, length);
            }
            (PoolColumns::Segments { starts, lengths, element, pool }, Columns::Segments(from)) => {
                let (starts, lengths, element) = (*starts, *lengths, *element);
                let from = from.clone();
                let before = pool.state();
                let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
                let inside: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
                pool.set_state(&mut inside.iter().copied());
                let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
                self.body.begin();
                let rep = self.at(&Columns::Segments(from), index);
                let (inner_start, inner_length) = self.append(pool, &rep.sequence(), element, 0);
                let place = self.body.binary(Binary::Add, start, index);
                self.body.store(starts, place, inner_start);
                self.body.store(lengths, place, inner_length);
                let body = self.body.end(pool.state());
                let reduce = Vec::new();
                let op =
                    Op::For { count: length, index, init: before, carried: inside, reduce, body };
                let results = self.body.push(op, &types);
                pool.set_state(&mut results.into_iter());
            }
            (PoolColumns::Scalars(_) | PoolColumns::Pair(_) | PoolColumns::Segments { .. }, _) => {
                unreachable!("types were checked")
            }
        });
    }

    /// At the end of an iteration: what it allocated goes, but for the pools.
    fn compact_target(&mut self, mark: Value, target: &mut Target<'a>) {
        let mut keep = Vec::new();
        target.each_array(&mut |array, capacity| keep.push((array, capacity)));
        let kept = self.body.compact(mark, keep);
        let mut kept = kept.into_iter();
        target.set_arrays(&mut kept);
    }
}

/// Whether an element, which is flat, can be had at any place, cheaply.
fn is_light(sequence: &Sequence<'_>) -> bool {
    match sequence {
        Sequence::Stored(_) => true,
        Sequence::Delayed(delayed) => matches!(delayed.form, Form::Range(..) | Form::Dist(_)),
    }
}

/// Whether nothing in it is a sequence.
pub(super) fn is_flat(ty: &Ty) -> bool {
    match ty {
        Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => true,
        Ty::Pair(first, second) => with_stack(|| is_flat(first) && is_flat(second)),
        Ty::Sequence(_) => false,
    }
}

/// Where all columns of a sequence begin, if it is the same place: `None` inside is 0.
pub(in crate::lower) fn common_start(columns: &Columns) -> Option<Option<Value>> {
    let mut starts = Vec::new();
    columns.each_leaf(&mut |leaf| starts.push(leaf.start));
    let first = *starts.first()?;
    starts.iter().all(|start| *start == first).then_some(first)
}

impl<'a> Target<'a> {
    /// What the pools carry from one iteration to the next.
    fn state(&self) -> Vec<Value> {
        match self {
            Target::Unit | Target::Scalars(_) => Vec::new(),
            Target::Pair(both) => {
                let mut state = both.0.state();
                state.extend(both.1.state());
                state
            }
            Target::Segments { pool, .. } => pool.state(),
        }
    }

    fn set_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        match self {
            Target::Unit | Target::Scalars(_) => {}
            Target::Pair(both) => {
                both.0.set_state(values);
                both.1.set_state(values);
            }
            Target::Segments { pool, .. } => pool.set_state(values),
        }
    }

    fn each_array(&self, visit: &mut dyn FnMut(Value, Value)) {
        match self {
            Target::Unit | Target::Scalars(_) => {}
            Target::Pair(both) => {
                both.0.each_array(visit);
                both.1.each_array(visit);
            }
            Target::Segments { pool, .. } => pool.each_array(visit),
        }
    }

    fn set_arrays(&mut self, arrays: &mut dyn Iterator<Item = Value>) {
        match self {
            Target::Unit | Target::Scalars(_) => {}
            Target::Pair(both) => {
                both.0.set_arrays(arrays);
                both.1.set_arrays(arrays);
            }
            Target::Segments { pool, .. } => pool.set_arrays(arrays),
        }
    }

    fn columns(&self) -> Columns {
        match self {
            Target::Unit => Columns::Unit,
            Target::Scalars(leaf) => Columns::Scalars(*leaf),
            Target::Pair(both) => Columns::pair(both.0.columns(), both.1.columns()),
            Target::Segments { starts, lengths, pool, .. } => pool.segments(*starts, *lengths),
        }
    }
}

impl<'a> Pool<'a> {
    /// How much is used, and all that follows.
    fn state(&self) -> Vec<Value> {
        let mut state = vec![self.used];
        state.extend(self.own_state());
        self.columns.inner_state(&mut state);
        state
    }

    fn set_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.used = super::next(values);
        self.set_own_state(values);
        self.columns.set_inner_state(values);
    }

    /// The capacity and the arrays, not those of pools within.
    fn own_state(&self) -> Vec<Value> {
        let mut state = vec![self.capacity];
        self.columns.clone().each_own(&mut |array| state.push(*array));
        state
    }

    fn set_own_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.capacity = super::next(values);
        self.columns.each_own(&mut |array| *array = super::next(values));
    }

    fn each_array(&self, visit: &mut dyn FnMut(Value, Value)) {
        let capacity = self.capacity;
        self.columns.clone().each_own(&mut |array| visit(*array, capacity));
        self.columns.each_inner(&mut |pool| pool.each_array(visit));
    }

    fn set_arrays(&mut self, arrays: &mut dyn Iterator<Item = Value>) {
        self.columns.each_own(&mut |array| *array = super::next(arrays));
        self.columns.each_inner_mut(&mut |pool| pool.set_arrays(arrays));
    }

    /// The column of sequences that it is the pool of.
    pub(super) fn segments(&self, starts: Leaf, lengths: Leaf) -> Columns {
        let (pool, extent) = match &self.view {
            Some(view) => {
                let mut extent = self.used;
                view.each_leaf(&mut |leaf| extent = leaf.extent);
                (view.clone(), extent)
            }
            None => (self.columns.columns(self.used), self.used),
        };
        Columns::Segments(Rc::new(Segments { starts, lengths, pool, extent }))
    }
}

impl<'a> PoolColumns<'a> {
    fn columns(&self, extent: Value) -> Columns {
        let leaf = |array| Leaf { array, start: None, extent };
        match self {
            PoolColumns::Unit => Columns::Unit,
            PoolColumns::Scalars(array) => Columns::Scalars(leaf(*array)),
            PoolColumns::Pair(both) => {
                Columns::pair(both.0.columns(extent), both.1.columns(extent))
            }
            PoolColumns::Segments { starts, lengths, pool, .. } => {
                pool.segments(leaf(*starts), leaf(*lengths))
            }
        }
    }

    /// The arrays as long as the pool.
    fn each_own(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        match self {
            PoolColumns::Unit => {}
            PoolColumns::Scalars(array) => visit(array),
            PoolColumns::Pair(both) => {
                both.0.each_own(visit);
                both.1.each_own(visit);
            }
            PoolColumns::Segments { starts, lengths, .. } => {
                visit(starts);
                visit(lengths);
            }
        }
    }

    fn each_inner(&self, visit: &mut dyn FnMut(&Pool<'a>)) {
        match self {
            PoolColumns::Unit | PoolColumns::Scalars(_) => {}
            PoolColumns::Pair(both) => {
                both.0.each_inner(visit);
                both.1.each_inner(visit);
            }
            PoolColumns::Segments { pool, .. } => visit(pool),
        }
    }

    fn each_inner_mut(&mut self, visit: &mut dyn FnMut(&mut Pool<'a>)) {
        match self {
            PoolColumns::Unit | PoolColumns::Scalars(_) => {}
            PoolColumns::Pair(both) => {
                both.0.each_inner_mut(visit);
                both.1.each_inner_mut(visit);
            }
            PoolColumns::Segments { pool, .. } => visit(pool),
        }
    }

    fn inner_state(&self, out: &mut Vec<Value>) {
        self.each_inner(&mut |pool| out.extend(pool.state()));
    }

    fn set_inner_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.each_inner_mut(&mut |pool| pool.set_state(values));
    }
}
