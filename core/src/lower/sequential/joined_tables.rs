//! Tables whose rows are copied: all rows at a time where they lie one behind the other.
//!
//! ```text
//! starts   0 3 5            starts   7 10 12
//! lengths  3 2 2     →      lengths  3 2 2        the elements of the pool are copied at once, and 7 is added to the starts
//! pool     a b c d e f g    pool     … a b c d e f g
//! ```
//!
//! A table that is put together of parts of others, `take(t, i) ++ [row] ++ drop(t, i)`, is copied with each insertion;
//! most such tables have short rows. Where the rows of both operands lie in one pool, only the descriptors are copied.

use super::super::repr::{Column, Columns, StoredSequence, Views, ill_typed};
use super::collect::RowStorage;
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::kir::{self, Binary, Combine, Literal, Op, Value, ValueTy};
use std::rc::Rc;

/// So many segments are stored one by one without a look at how they lie.
const MIN_SEGMENTS: i64 = 4;

const I64: ValueTy = ValueTy::Scalar(kir::Ty::I64);

/// Returns true if the sequences in a row are of scalars.
fn has_flat_rows(element: &Ty) -> bool {
    with_stack(|| match element {
        Ty::Pair(first, second) => has_flat_rows(first) && has_flat_rows(second),
        Ty::Sequence(inner) => !inner.has_sequence(),
        _ => true,
    })
}

impl<'a> FunctionLowering<'a> {
    /// Lowers `++` of two tables, to a new one; none if their rows contain tables.
    pub(super) fn joined_tables(
        &mut self,
        element: &'a Ty,
        [a, b]: [&StoredSequence; 2],
    ) -> Option<StoredSequence> {
        if !has_flat_rows(element) {
            return None;
        }
        let length = self.body.binary(Binary::Add, a.length, b.length);
        if let (Columns::Views(first), Columns::Views(second)) = (&a.columns, &b.columns)
            && is_one_pool(&first.pool, &second.pool)
        {
            let [starts, lengths] =
                [(first.starts, second.starts), (first.lengths, second.lengths)].map(
                    |(first, second)| {
                        let to = self.alloc(kir::Ty::I64, length);
                        self.copy_column(first, to, None, a.length);
                        self.copy_column(second, to, Some(a.length), b.length);
                        to
                    },
                );
            let extent = self.body.binary(Binary::Max, first.extent, second.extent);
            let pool = first.pool.clone();
            let views = Views { starts, lengths, pool, extent, capacity: None };
            return Some(self.fresh(length, Columns::Views(Rc::new(views))));
        }
        let (mut sizes, mut more) = (Vec::new(), Vec::new());
        self.pool_sizes(&a.columns, a.length, &mut sizes);
        self.pool_sizes(&b.columns, b.length, &mut more);
        for (size, more) in sizes.iter_mut().zip(more) {
            *size = self.body.binary(Binary::Add, *size, more);
        }
        let mut sizes = sizes.into_iter();
        let mut pool = |t: &mut Self, inner| t.reserved_pool(inner, &mut sizes);
        let mut storage = self.row_storage(element, length, &mut pool);
        self.store_rows(&mut storage, &a.columns, None, a.length);
        self.store_rows(&mut storage, &b.columns, Some(a.length), b.length);
        let columns = self.table_columns(&storage);
        Some(self.fresh(length, columns))
    }

    /// Stores the first `count` rows of a table from an index on, 0 if there is none. There is room for them.
    pub(super) fn store_rows(
        &mut self,
        storage: &mut RowStorage<'a>,
        from: &Columns,
        at: Option<Value>,
        count: Value,
    ) {
        with_stack(|| match (storage, from) {
            (RowStorage::Unit, _) => {}
            (RowStorage::Scalars(to), Columns::Scalars(column)) => {
                self.copy_column(*column, *to, at, count);
            }
            (RowStorage::Pair(to), Columns::Pair(from)) => {
                self.store_rows(&mut to.0, &from.0, at, count);
                self.store_rows(&mut to.1, &from.1, at, count);
            }
            (storage @ RowStorage::Sequences { .. }, Columns::Views(views)) => {
                self.store_segments(storage, views, at, count);
            }
            (RowStorage::Scalars(_) | RowStorage::Pair(_) | RowStorage::Sequences { .. }, _) => {
                ill_typed("columns of the element's type")
            }
        });
    }

    /// Stores sequences from an index on: all at once if they lie one behind the other, else one by one.
    fn store_segments(
        &mut self,
        storage: &mut RowStorage<'a>,
        views: &Rc<Views>,
        at: Option<Value>,
        count: Value,
    ) {
        let one_by_one = |t: &mut Self, storage: &mut RowStorage<'a>| {
            t.storing_loop(count, storage, None, |t, k, storage| {
                let row = t.row(&Columns::Views(views.clone()), k);
                let index = t.behind(at, k);
                t.store_row(storage, &row, index, false);
                None
            });
        };
        let RowStorage::Sequences { element, .. } = storage else {
            return one_by_one(self, storage);
        };
        // A segment that may grow gets a place of its own, and few of them are stored before it is known how they lie.
        let few =
            matches!(self.body.constant(count), Some(Literal::I64(count)) if count < MIN_SEGMENTS);
        if few || element.has_sequence() || self.may_space(element) {
            return one_by_one(self, storage);
        }
        let (begin, length, tiled) = self.extent(views, count);
        let before = storage.state();
        self.body.begin();
        if let RowStorage::Sequences { starts, lengths, pool, .. } = storage {
            let first = pool.used();
            let elements = self.columns_from(&views.pool, begin);
            self.write_in_pool(pool, &elements, first, length);
            let moved = self.body.binary(Binary::Sub, first, begin);
            let k = self.open_loop();
            let start = self.load(views.starts, k);
            let start = self.body.binary(Binary::Add, start, moved);
            let index = self.behind(at, k);
            self.body.store(starts.array, index, start);
            self.close_loop(k, count);
            self.copy_column(views.lengths, *lengths, at, count);
            let used = self.body.binary(Binary::Add, first, length);
            pool.set_used(used);
        }
        let then = self.body.end(storage.state());
        storage.set_state(&mut before.iter().copied());
        self.body.begin();
        one_by_one(self, storage);
        let otherwise = self.body.end(storage.state());
        let types: Vec<ValueTy> = before.iter().map(|value| self.body.ty(*value)).collect();
        let results = self.body.push(Op::If { cond: tiled, then, otherwise }, &types);
        storage.set_state(&mut results.into_iter());
    }

    /// Returns the start of the first of `count` segments, the number of elements from there to the end of the last, and
    /// whether each begins where the one before it ends.
    fn extent(&mut self, views: &Views, count: Value) -> (Value, Value, Value) {
        let zero = self.body.i64(0);
        let one = self.body.i64(1);
        let pairs = self.body.binary(Binary::Sub, count, one);
        let pairs = self.body.binary(Binary::Max, pairs, zero);
        let k = self.body.value(I64);
        self.body.begin();
        let end = self.end_of(views, k);
        let next = self.body.binary(Binary::Add, k, one);
        let start = self.load(views.starts, next);
        let follows = self.body.binary(Binary::Eq, start, end);
        let body = self.body.end(vec![follows]);
        let (init, carried, reduce) = (Vec::new(), Vec::new(), vec![Combine::And]);
        let op = Op::For { count: pairs, index: k, init, carried, reduce, body };
        let tiled = self.body.push(op, &[ValueTy::Scalar(kir::Ty::Bool)])[0];
        let some = self.body.binary(Binary::Gt, count, zero);
        self.body.begin();
        let begin = self.load(views.starts, zero);
        let end = self.end_of(views, pairs);
        let length = self.body.binary(Binary::Sub, end, begin);
        let then = self.body.end(vec![begin, length]);
        self.body.begin();
        let otherwise = self.body.end(vec![zero, zero]);
        let bounds = self.body.push(Op::If { cond: some, then, otherwise }, &[I64, I64]);
        (bounds[0], bounds[1], tiled)
    }

    /// Returns the end of a segment.
    fn end_of(&mut self, views: &Views, at: Value) -> Value {
        let start = self.load(views.starts, at);
        let length = self.load(views.lengths, at);
        self.body.binary(Binary::Add, start, length)
    }

    /// Copies the first elements of a column to another one, from an index on.
    fn copy_column(&mut self, from: Column, to: Column, at: Option<Value>, count: Value) {
        let from = self.array_of(from);
        let to = at.map_or(to.array, |at| self.body.slice(to.array, at));
        self.body.copy(from, to, count);
    }

    /// Returns an index behind another one.
    fn behind(&mut self, at: Option<Value>, k: Value) -> Value {
        at.map_or(k, |at| self.body.binary(Binary::Add, at, k))
    }
}

/// Returns true if two pools of scalars are the same arrays, from the same element on.
fn is_one_pool(a: &Columns, b: &Columns) -> bool {
    match (a, b) {
        (Columns::Unit, Columns::Unit) => true,
        (Columns::Scalars(a), Columns::Scalars(b)) => a.array == b.array && a.start == b.start,
        (Columns::Pair(a), Columns::Pair(b)) => {
            with_stack(|| is_one_pool(&a.0, &b.0) && is_one_pool(&a.1, &b.1))
        }
        _ => false,
    }
}
