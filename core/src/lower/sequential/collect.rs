//! Loops that store a sequence.
//!
//! Scalars are stored column by column. An element that is a sequence becomes a start and a length:
//! in the pool it was cut from, if that was in memory before the loop (so that views are never
//! copied), or in a pool that grows as the loop goes on.

use super::super::repr::{
    Column, Columns, IndexFunction, LoweredSequence, LoweredValue, StoredSequence, ill_typed,
    scalar_ty,
};
use super::function::FunctionLowering;
use super::pool::Pool;
use crate::base::with_stack;
use crate::ir::{self, Ty};
use crate::prim::Cost;
use nesl_runtime::bug;
use nesl_runtime::kir::{self, Binary, Op, Value, ValueTy};

/// Storage for the elements of a sequence that is being made or changed.
pub(super) enum RowStorage<'a> {
    Unit,
    Scalars(Column),
    Pair(Box<(RowStorage<'a>, RowStorage<'a>)>),
    Sequences { starts: Column, lengths: Column, element: &'a Ty, pool: Pool<'a> },
}

/// A sequence whose elements are stored one by one, without a loop around them.
pub(super) struct Rows<'a> {
    storage: RowStorage<'a>,
}

impl<'a> Rows<'a> {
    /// Stores an element at an index; `only` says that no other element is stored.
    pub fn put(
        &mut self,
        t: &mut FunctionLowering<'a>,
        value: &LoweredValue<'a>,
        index: Value,
        only: bool,
    ) {
        t.store_row(&mut self.storage, value, index, only);
    }

    /// Stores the elements of a sequence from an index on. The sequence is no filter, and its
    /// elements contain no sequences.
    pub fn fill(
        &mut self,
        t: &mut FunctionLowering<'a>,
        sequence: &LoweredSequence<'a>,
        start: Value,
    ) {
        match sequence {
            LoweredSequence::Stored(stored) => {
                t.copy_rows(&self.storage, &stored.columns, start, stored.length);
            }
            LoweredSequence::Fused(fused) => {
                if let IndexFunction::Parts(parts) = &fused.elements {
                    let [first, second] = &**parts;
                    let behind = t.body.binary(Binary::Add, start, first.length());
                    with_stack(|| self.fill(t, first, start));
                    return with_stack(|| self.fill(t, second, behind));
                }
                let count = fused.length;
                let index = t.body.value(ValueTy::Scalar(kir::Ty::I64));
                let mark = t.body.mark();
                let allocations = t.allocations;
                t.body.begin();
                let value = t.element(sequence, index);
                let place = t.body.binary(Binary::Add, start, index);
                t.store_row(&mut self.storage, &value, place, false);
                if t.allocations > allocations {
                    t.body.compact(mark, Vec::new());
                }
                t.close_loop(index, count);
            }
        }
    }

    /// Returns the columns that were stored.
    pub fn columns(&self) -> Columns {
        self.storage.columns()
    }
}

impl<'a> FunctionLowering<'a> {
    /// Stores the sequence of `make(0)`, …, `make(count - 1)`.
    pub(super) fn collect(
        &mut self,
        count: Value,
        element: &'a Ty,
        make: impl FnOnce(&mut Self, Value) -> LoweredValue<'a>,
    ) -> StoredSequence {
        let mut storage = self.growing_storage(element, count, Some(count));
        self.storing_loop(count, &mut storage, None, |t, index, storage| {
            let value = make(t, index);
            t.store_row(storage, &value, index, true);
            None
        });
        self.fresh(count, storage.columns())
    }

    /// Stores the elements of a sequence whose flag is true.
    pub(super) fn collect_filtered(
        &mut self,
        count: Value,
        element: &'a Ty,
        of: &LoweredSequence<'a>,
        keep: &LoweredSequence<'a>,
    ) -> StoredSequence {
        let mut storage = self.growing_storage(element, count, None);
        let zero = self.body.i64(0);
        let used = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let kept =
            self.storing_loop(count, &mut storage, Some((zero, used)), |t, index, storage| {
                let flag = t.element(keep, index).scalar();
                if !element.has_sequence()
                    && is_cheap_to_make(of, t.limits.max_operations_of_not_kept)
                {
                    // Without a branch: an element that is not kept is overwritten by the next.
                    let value = t.element(of, index);
                    t.store_row(storage, &value, used, true);
                    let kept = t.body.convert(kir::Ty::I64, flag);
                    return Some(t.body.binary(Binary::Add, used, kept));
                }
                Some(t.store_if(flag, used, storage, |t| t.element(of, index)))
            });
        let Some(length) = kept else { bug!("the loop of a filter counts what it keeps") };
        StoredSequence { length, ..self.fresh(count, storage.columns()) }
    }

    /// Stores an element at the index `used` if a flag is true; returns the next free index.
    fn store_if(
        &mut self,
        flag: Value,
        used: Value,
        storage: &mut RowStorage<'a>,
        make: impl FnOnce(&mut Self) -> LoweredValue<'a>,
    ) -> Value {
        let before = storage.state();
        self.body.begin();
        let value = make(self);
        self.store_row(storage, &value, used, true);
        let one = self.body.i64(1);
        let next = self.body.binary(Binary::Add, used, one);
        let mut then_yields = vec![next];
        then_yields.extend(storage.state());
        let then = self.body.end(then_yields);
        self.body.begin();
        let mut yields = vec![used];
        yields.extend(before);
        let otherwise = self.body.end(yields);
        let types: Vec<ValueTy> = then.yields.iter().map(|v| self.body.ty(*v)).collect();
        let results = self.body.push(Op::If { cond: flag, then, otherwise }, &types);
        storage.set_state(&mut results[1..].iter().copied());
        results[0]
    }

    /// Allocates storage for `count` elements that are stored one by one.
    pub(super) fn rows(&mut self, element: &'a Ty, count: Value) -> Rows<'a> {
        Rows { storage: self.growing_storage(element, count, Some(count)) }
    }

    /// A counted loop that stores elements and carries the pools of the storage. It may carry one
    /// value more: `extra` is its initial value and its name in the body, which returns the next.
    pub(super) fn storing_loop(
        &mut self,
        count: Value,
        storage: &mut RowStorage<'a>,
        extra: Option<(Value, Value)>,
        body: impl FnOnce(&mut Self, Value, &mut RowStorage<'a>) -> Option<Value>,
    ) -> Option<Value> {
        let before = storage.state();
        let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
        let inside: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
        storage.set_state(&mut inside.iter().copied());
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let mut yields: Vec<Value> = body(self, index, storage).into_iter().collect();
        if self.allocations > allocations {
            self.release_all_but(mark, storage);
        }
        yields.extend(storage.state());
        let code = self.body.end(yields);
        let (init, carried): (Vec<Value>, Vec<Value>) =
            extra.into_iter().chain(before.into_iter().zip(inside)).unzip();
        let types: Vec<ValueTy> = carried.iter().map(|v| self.body.ty(*v)).collect();
        let op = Op::For { count, index, init, carried, reduce: Vec::new(), body: code };
        let mut results = self.body.push(op, &types).into_iter();
        let last = extra.and_then(|_| results.next());
        storage.set_state(&mut results);
        last
    }

    /// Allocates storage for at most `count` elements, whose pools grow. `expected` is the number of elements,
    /// if all are known to be stored.
    pub(super) fn growing_storage(
        &mut self,
        element: &'a Ty,
        count: Value,
        expected: Option<Value>,
    ) -> RowStorage<'a> {
        self.row_storage(element, count, &mut |t, inner| t.empty_pool(inner, expected))
    }

    /// Allocates storage for `count` elements, whose pools are made by `pool`.
    pub(super) fn row_storage(
        &mut self,
        element: &'a Ty,
        count: Value,
        pool: &mut dyn FnMut(&mut Self, &'a Ty) -> Pool<'a>,
    ) -> RowStorage<'a> {
        with_stack(|| match element {
            Ty::Unit => RowStorage::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = scalar_ty(element, self.precision);
                RowStorage::Scalars(self.alloc(ty, count))
            }
            Ty::Pair(first, second) => {
                let first = self.row_storage(first, count, pool);
                RowStorage::Pair(Box::new((first, self.row_storage(second, count, pool))))
            }
            Ty::Sequence(inner) => {
                let starts = self.alloc(kir::Ty::I64, count);
                let lengths = self.alloc(kir::Ty::I64, count);
                let pool = pool(self, inner);
                RowStorage::Sequences { starts, lengths, element: inner, pool }
            }
        })
    }

    /// Stores an element at an index. `only` says that nothing else stores elements there: a
    /// sequence may then stay in the pool it lies in.
    pub(super) fn store_row(
        &mut self,
        storage: &mut RowStorage<'a>,
        value: &LoweredValue<'a>,
        index: Value,
        only: bool,
    ) {
        with_stack(|| match (storage, value) {
            (RowStorage::Unit, _) => {}
            (RowStorage::Scalars(column), LoweredValue::Scalar(value)) => {
                self.body.store(column.array, index, *value);
            }
            (RowStorage::Pair(halves), LoweredValue::Pair(both)) => {
                self.store_row(&mut halves.0, &both.0, index, only);
                self.store_row(&mut halves.1, &both.1, index, only);
            }
            (
                RowStorage::Sequences { starts, lengths, element, pool },
                LoweredValue::Sequence(sequence),
            ) => {
                let limit = if only { starts.array.0 } else { 0 };
                let (start, length) = self.append_to_pool(pool, sequence, element, limit);
                self.body.store(starts.array, index, start);
                self.body.store(lengths.array, index, length);
            }
            (RowStorage::Scalars(_) | RowStorage::Pair(_) | RowStorage::Sequences { .. }, _) => {
                ill_typed("a value of the element's type")
            }
        });
    }

    /// Copies the elements of a stored sequence, which contain no sequences, to an index.
    pub(super) fn copy_rows(
        &mut self,
        to: &RowStorage<'a>,
        from: &Columns,
        start: Value,
        length: Value,
    ) {
        match (to, from) {
            (RowStorage::Unit, _) => {}
            (RowStorage::Scalars(to), Columns::Scalars(from)) => {
                let from = self.array_of(*from);
                let to = self.array_of(*to);
                let to = self.body.slice(to, start);
                self.body.copy(from, to, length);
            }
            (RowStorage::Pair(to), Columns::Pair(from)) => {
                self.copy_rows(&to.0, &from.0, start, length);
                self.copy_rows(&to.1, &from.1, start, length);
            }
            (RowStorage::Scalars(_) | RowStorage::Pair(_) | RowStorage::Sequences { .. }, _) => {
                bug!("elements that contain no sequences are copied column by column")
            }
        }
    }

    /// At the end of an iteration: releases what it allocated, but for the pools of the storage.
    fn release_all_but(&mut self, mark: Value, storage: &mut RowStorage<'a>) {
        let mut keep = Vec::new();
        storage.each_array(&mut |array, capacity| keep.push((array, capacity)));
        let kept = self.body.compact(mark, keep);
        storage.set_arrays(&mut kept.into_iter());
    }
}

/// Returns true if an element that contains no sequence costs at most so many cheap operations, which cannot fail, beside a
/// load: it is then stored without a test whether it is kept.
fn is_cheap_to_make(sequence: &LoweredSequence<'_>, most: usize) -> bool {
    let LoweredSequence::Fused(fused) = sequence else { return true };
    match &fused.elements {
        IndexFunction::Range(..) | IndexFunction::Dist(_) => true,
        IndexFunction::Map(nest, sources) => {
            let is_cheap = |binding: &ir::Let| {
                !binding.may_fault() && binding.op.costs_at_most(Cost::Cheap, &binding.ty)
            };
            (1..=most).contains(&nest.body.lets.len())
                && nest.body.lets.iter().all(is_cheap)
                && with_stack(|| sources.iter().all(|source| is_cheap_to_make(source, most)))
        }
        IndexFunction::Gather(..) | IndexFunction::Filter(..) | IndexFunction::Parts(_) => false,
    }
}

impl<'a> RowStorage<'a> {
    /// Returns the values that the pools carry from one iteration to the next.
    pub(super) fn state(&self) -> Vec<Value> {
        match self {
            RowStorage::Unit | RowStorage::Scalars(_) => Vec::new(),
            RowStorage::Pair(both) => {
                let mut state = both.0.state();
                state.extend(both.1.state());
                state
            }
            RowStorage::Sequences { pool, .. } => pool.state(),
        }
    }

    pub(super) fn set_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        match self {
            RowStorage::Unit | RowStorage::Scalars(_) => {}
            RowStorage::Pair(both) => {
                both.0.set_state(values);
                both.1.set_state(values);
            }
            RowStorage::Sequences { pool, .. } => pool.set_state(values),
        }
    }

    fn each_array(&self, visit: &mut dyn FnMut(Value, Value)) {
        match self {
            RowStorage::Unit | RowStorage::Scalars(_) => {}
            RowStorage::Pair(both) => {
                both.0.each_array(visit);
                both.1.each_array(visit);
            }
            RowStorage::Sequences { pool, .. } => pool.each_array(visit),
        }
    }

    fn set_arrays(&mut self, arrays: &mut dyn Iterator<Item = Value>) {
        match self {
            RowStorage::Unit | RowStorage::Scalars(_) => {}
            RowStorage::Pair(both) => {
                both.0.set_arrays(arrays);
                both.1.set_arrays(arrays);
            }
            RowStorage::Sequences { pool, .. } => pool.set_arrays(arrays),
        }
    }

    /// Returns the columns that were stored.
    pub(super) fn columns(&self) -> Columns {
        match self {
            RowStorage::Unit => Columns::Unit,
            RowStorage::Scalars(column) => Columns::Scalars(*column),
            RowStorage::Pair(both) => Columns::pair(both.0.columns(), both.1.columns()),
            RowStorage::Sequences { starts, lengths, pool, .. } => {
                pool.columns_of(*starts, *lengths)
            }
        }
    }
}
