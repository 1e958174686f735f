//! The pool that the elements of nested sequences are appended to, one sequence behind the other.
//!
//! A loop does not know in advance how many elements its sequences have in all, so the arrays of a
//! pool grow: they are doubled when they are full, which copies each element a constant number of
//! times on average. The first sequence of a loop decides how much there is room for at first: most rows of a
//! table are equally long, so that nothing is copied then. As long as all that was appended lies in one pool that
//! existed before the loop, nothing is copied: the new pool is a view of that one.

use super::super::repr::{
    Column, Columns, LoweredSequence, LoweredValue, Views, ill_typed, next_part, scalar_ty,
};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::kir::{self, Binary, Literal, Op, Unary, Value, ValueTy};
use std::rc::Rc;

/// A growing pool. The values are carried by the loop that appends to it.
#[derive(Clone)]
pub(super) struct Pool<'a> {
    /// The number of elements appended so far.
    used: Value,
    /// The number of elements that the arrays have room for.
    capacity: Value,
    /// The number of sequences that will probably be appended, if it is known.
    expected: Option<Value>,
    columns: PoolColumns<'a>,
    /// The columns of the existing pool that the elements lie in, if they do.
    view: Option<Columns>,
    /// True once code was generated that appends: only the first such place may make a view.
    written: bool,
    /// True if the arrays have room for all that is appended, so that they need not grow.
    reserved: bool,
    /// A flag that says if each segment gets room to the next power of two of its length, where that may be.
    spaced: Option<Value>,
}

#[derive(Clone)]
enum PoolColumns<'a> {
    Unit,
    Scalars(Value),
    Pair(Box<(PoolColumns<'a>, PoolColumns<'a>)>),
    Sequences { starts: Value, lengths: Value, element: &'a Ty, pool: Box<Pool<'a>> },
}

impl<'a> FunctionLowering<'a> {
    /// Returns an empty pool for sequences of `element`, of which so many will probably be appended.
    pub(super) fn empty_pool(&mut self, element: &'a Ty, expected: Option<Value>) -> Pool<'a> {
        let (used, capacity) = (self.body.i64(0), self.body.i64(0));
        let columns = self.pool_columns(element, used, &mut |t, inner| t.empty_pool(inner, None));
        let (view, spaced) = (None, None);
        Pool { used, capacity, expected, columns, view, written: false, reserved: false, spaced }
    }

    /// Returns an empty pool for sequences of `element` that never grows; it has room for as many
    /// elements as the next of `capacities` says, and the pools in it for the ones after that. It is spaced
    /// if rows may grow in this program; the pools in it are not, since no row of theirs is changed where it lies.
    pub(super) fn reserved_pool(
        &mut self,
        element: &'a Ty,
        capacities: &mut dyn Iterator<Item = Value>,
    ) -> Pool<'a> {
        let used = self.body.i64(0);
        let capacity = next_part(capacities);
        let mut inner =
            |t: &mut Self, inner| Pool { spaced: None, ..t.reserved_pool(inner, capacities) };
        let columns = self.pool_columns(element, capacity, &mut inner);
        let spaced = self.may_space(element).then(|| self.body.bool(true));
        let (expected, view) = (None, None);
        Pool { used, capacity, expected, columns, view, written: true, reserved: true, spaced }
    }

    /// Returns the pool of owned segments of sequences of `element`, to append to it: it has room for
    /// all that is.
    pub(super) fn pool_of(&mut self, views: &Views, element: &'a Ty) -> Pool<'a> {
        let zero = self.body.i64(0);
        let columns = self.pool_columns_of(&views.pool, element);
        let (used, mut capacity) = (views.extent, views.capacity.unwrap_or(zero));
        let mut spaced = None;
        if self.may_space(element) {
            spaced = Some(self.body.binary(Binary::Lt, capacity, zero));
            capacity = self.body.unary(Unary::Abs, capacity);
        }
        let (expected, view) = (None, None);
        Pool { used, capacity, expected, columns, view, written: true, reserved: true, spaced }
    }

    fn pool_columns_of(&mut self, columns: &Columns, element: &'a Ty) -> PoolColumns<'a> {
        with_stack(|| match (columns, element) {
            (Columns::Unit, _) => PoolColumns::Unit,
            (Columns::Scalars(column), _) => PoolColumns::Scalars(self.array_of(*column)),
            (Columns::Pair(both), Ty::Pair(first, second)) => {
                let first = self.pool_columns_of(&both.0, first);
                PoolColumns::Pair(Box::new((first, self.pool_columns_of(&both.1, second))))
            }
            (Columns::Views(views), Ty::Sequence(inner)) => {
                let starts = self.array_of(views.starts);
                let lengths = self.array_of(views.lengths);
                let pool = Box::new(self.pool_of(views, inner));
                PoolColumns::Sequences { starts, lengths, element: inner, pool }
            }
            (Columns::Pair(_) | Columns::Views(_), _) => ill_typed("columns of the type"),
        })
    }

    /// Writes a sequence that is in memory, and whose elements contain no sequences, into a pool from
    /// an element on, where there is room for the first `count` of its elements. It may be a segment of the pool itself: that
    /// one, or one that lies apart from it.
    pub(super) fn write_in_pool(
        &mut self,
        pool: &mut Pool<'a>,
        from: &Columns,
        start: Value,
        count: Value,
    ) {
        let mut columns = std::mem::replace(&mut pool.columns, PoolColumns::Unit);
        self.copy_to_pool(&mut columns, from, start, count);
        pool.columns = columns;
    }

    /// Computes the elements of a sequence in a pool, from an element on, where there is room for them.
    pub(super) fn compute_in_pool(
        &mut self,
        pool: &Pool<'a>,
        sequence: &LoweredSequence<'a>,
        start: Value,
    ) {
        let index = self.open_loop();
        let element = self.element(sequence, index);
        let place = self.body.binary(Binary::Add, start, index);
        self.store_in_pool(&pool.columns, &element, place);
        self.close_loop(index, sequence.length());
    }

    /// Returns true if a pool of segments of `element` may be spaced.
    pub(super) fn may_space(&self, element: &Ty) -> bool {
        self.grows_rows && !element.has_sequence()
    }

    /// Returns the number of elements that a segment takes in a pool, with the room behind it.
    pub(super) fn place_in_pool(&mut self, pool: &Pool<'a>, length: Value) -> Value {
        match pool.spaced {
            Some(spaced) => {
                let power = self.next_power_of_two(length);
                self.body.select(spaced, power, length)
            }
            None => length,
        }
    }

    /// Returns the least power of two that is not less than an `i64`; 0 of 0.
    pub(super) fn next_power_of_two(&mut self, length: Value) -> Value {
        let one = self.body.i64(1);
        let mut bits = self.body.binary(Binary::Sub, length, one);
        for distance in [1, 2, 4, 8, 16, 32] {
            let distance = self.body.i64(distance);
            let copy = self.body.binary(Binary::Shr, bits, distance);
            bits = self.body.binary(Binary::Or, bits, copy);
        }
        self.body.binary(Binary::Add, bits, one)
    }

    /// Appends a sequence to a pool and returns its start and length there. A sequence whose arrays
    /// were defined before the kir value with the number `limit` is not copied, if nothing else was
    /// appended before: the pool becomes a view of that sequence's.
    pub(super) fn append_to_pool(
        &mut self,
        pool: &mut Pool<'a>,
        sequence: &LoweredSequence<'a>,
        element: &'a Ty,
        limit: u32,
    ) -> (Value, Value) {
        let sequence = match sequence {
            // Pools in pools grow too, and a filter has no length yet: it is stored, then copied.
            LoweredSequence::Fused(_) if element.has_sequence() || sequence.is_filter() => {
                LoweredSequence::Stored(self.store_elements(sequence, element))
            }
            other => other.clone(),
        };
        if let LoweredSequence::Stored(stored) = &sequence
            && !pool.written
            && stored.columns.older_than(limit)
            && let Some(start) = stored.columns.common_start()
        {
            pool.view = Some(stored.columns.map(&mut |column| Column { start: None, ..column }));
            pool.written = true;
            let start = start.unwrap_or_else(|| self.body.i64(0));
            return (start, stored.length);
        }
        pool.written = true;
        let length = sequence.length();
        let start = pool.used;
        let place = self.place_in_pool(pool, length);
        let need = self.body.binary(Binary::Add, start, place);
        self.reserve_in_pool(pool, need);
        match &sequence {
            LoweredSequence::Stored(stored) => {
                self.write_in_pool(pool, &stored.columns, start, length);
            }
            LoweredSequence::Fused(_) => {
                let columns = pool.columns.clone();
                let index = self.open_loop();
                let value = self.element(&sequence, index);
                let place = self.body.binary(Binary::Add, start, index);
                self.store_in_pool(&columns, &value, place);
                self.close_loop(index, length);
            }
        }
        pool.used = need;
        (start, length)
    }

    /// Allocates the columns of a pool with room for `capacity` elements.
    /// `empty` makes the pools in it.
    fn pool_columns(
        &mut self,
        element: &'a Ty,
        capacity: Value,
        empty: &mut dyn FnMut(&mut Self, &'a Ty) -> Pool<'a>,
    ) -> PoolColumns<'a> {
        with_stack(|| match element {
            Ty::Unit => PoolColumns::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = scalar_ty(element, self.precision);
                PoolColumns::Scalars(self.alloc(ty, capacity).array)
            }
            Ty::Pair(first, second) => {
                let first = self.pool_columns(first, capacity, empty);
                PoolColumns::Pair(Box::new((first, self.pool_columns(second, capacity, empty))))
            }
            Ty::Sequence(inner) => {
                let starts = self.alloc(kir::Ty::I64, capacity).array;
                let lengths = self.alloc(kir::Ty::I64, capacity).array;
                let pool = Box::new(empty(self, inner));
                PoolColumns::Sequences { starts, lengths, element: inner, pool }
            }
        })
    }

    /// Returns the room of the first allocation of a pool whose first sequence needs `need` elements: for as
    /// many equally long ones as are expected, within a limit, and for two in any case.
    fn first_room(&mut self, pool: &Pool<'a>, need: Value) -> Value {
        let twice = self.body.binary(Binary::Add, need, need);
        let Some(expected) = pool.expected else { return twice };
        let most = self.body.i64(self.limits.max_expected_pool_elements);
        // A product that overflows is but another guess.
        let all = self.body.binary(Binary::Mul, need, expected);
        let all = self.body.binary(Binary::Min, all, most);
        self.body.binary(Binary::Max, all, twice)
    }

    /// Grows a pool, if it must, to room for `need` elements.
    fn reserve_in_pool(&mut self, pool: &mut Pool<'a>, need: Value) {
        if pool.reserved {
            return;
        }
        if self.body.constant(pool.capacity) == Some(Literal::I64(0)) {
            let room = self.first_room(pool, need);
            let mut grown = vec![room];
            for value in &pool.own_state()[1..] {
                let ty = self.body.element(*value);
                grown.push(self.alloc(ty, room).array);
            }
            return pool.set_own_state(&mut grown.into_iter());
        }
        let enough = self.body.binary(Binary::Le, need, pool.capacity);
        let before = pool.own_state();
        self.body.begin();
        let same = self.body.end(before.clone());
        let larger = self.grown_pool(pool, &before, need);
        let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
        let op = Op::If { cond: enough, then: same, otherwise: larger };
        let results = self.body.push(op, &types);
        pool.set_own_state(&mut results.into_iter());
    }

    /// Returns the block that copies the arrays of a pool into larger ones, and yields the new
    /// capacity and these.
    fn grown_pool(&mut self, pool: &Pool<'a>, before: &[Value], need: Value) -> kir::Block {
        let capacity = pool.capacity;
        self.body.begin();
        let two = self.body.i64(2);
        let least = self.body.i64(self.limits.min_pool_elements);
        let double = self.body.binary(Binary::Mul, capacity, two);
        let room = self.body.binary(Binary::Max, double, need);
        let room = self.body.binary(Binary::Max, room, least);
        let zero = self.body.i64(0);
        let first = self.body.binary(Binary::Eq, capacity, zero);
        let at_first = self.first_room(pool, need);
        let room = self.body.select(first, at_first, room);
        let mut grown = vec![room];
        for value in &before[1..] {
            let ty = self.body.element(*value);
            let larger = self.alloc(ty, room).array;
            self.body.copy(*value, larger, pool.used);
            grown.push(larger);
        }
        self.body.end(grown)
    }

    /// Copies the elements of a stored sequence to an index of a pool.
    fn copy_to_pool(
        &mut self,
        to: &mut PoolColumns<'a>,
        from: &Columns,
        start: Value,
        length: Value,
    ) {
        with_stack(|| match (to, from) {
            (PoolColumns::Unit, _) => {}
            (PoolColumns::Scalars(array), Columns::Scalars(column)) => {
                let from = self.array_of(*column);
                if let Some(length) = self.few_elements(length) {
                    return self.copy_few(from, *array, start, length);
                }
                let to = self.body.slice(*array, start);
                self.body.copy(from, to, length);
            }
            (PoolColumns::Pair(to), Columns::Pair(from)) => {
                self.copy_to_pool(&mut to.0, &from.0, start, length);
                self.copy_to_pool(&mut to.1, &from.1, start, length);
            }
            (PoolColumns::Sequences { starts, lengths, element, pool }, Columns::Views(from)) => {
                let (starts, lengths, element) = (*starts, *lengths, *element);
                let from = from.clone();
                let before = pool.state();
                let types: Vec<ValueTy> = before.iter().map(|v| self.body.ty(*v)).collect();
                let inside: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
                pool.set_state(&mut inside.iter().copied());
                let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
                self.body.begin();
                let inner = self.row(&Columns::Views(from), index).sequence();
                let (inner_start, inner_length) = self.append_to_pool(pool, &inner, element, 0);
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
            (PoolColumns::Scalars(_) | PoolColumns::Pair(_) | PoolColumns::Sequences { .. }, _) => {
                ill_typed("columns of the element's type")
            }
        });
    }

    /// Returns a number of elements if it is a constant, and so small that elements are copied one by one.
    fn few_elements(&self, length: Value) -> Option<i64> {
        let most = self.limits.max_short_list_elements as i64;
        match self.body.constant(length)? {
            Literal::I64(length) => Some(length).filter(|length| (0..=most).contains(length)),
            _ => None,
        }
    }

    /// Copies the first elements of an array one by one. If they were stored at constant places, they are never in memory.
    fn copy_few(&mut self, from: Value, to: Value, start: Value, length: i64) {
        for number in 0..length {
            let number = self.body.i64(number);
            let element = self.body.load(from, number);
            let place = self.body.binary(Binary::Add, start, number);
            self.body.store(to, place, element);
        }
    }

    /// Stores an element that contains no sequence at an index of a pool.
    fn store_in_pool(&mut self, columns: &PoolColumns<'a>, value: &LoweredValue<'a>, place: Value) {
        match (columns, value) {
            (PoolColumns::Unit, _) => {}
            (PoolColumns::Scalars(array), LoweredValue::Scalar(value)) => {
                self.body.store(*array, place, *value);
            }
            (PoolColumns::Pair(columns), LoweredValue::Pair(both)) => {
                self.store_in_pool(&columns.0, &both.0, place);
                self.store_in_pool(&columns.1, &both.1, place);
            }
            (PoolColumns::Scalars(_) | PoolColumns::Pair(_) | PoolColumns::Sequences { .. }, _) => {
                bug!("elements that contain no sequences are stored column by column")
            }
        }
    }
}

impl<'a> Pool<'a> {
    /// Returns the number of elements appended so far.
    pub fn used(&self) -> Value {
        self.used
    }

    /// Sets the number of elements appended so far.
    pub fn set_used(&mut self, used: Value) {
        self.used = used;
    }

    /// Returns the values that a loop carries: `used`, [`Pool::own_state`], those of inner pools.
    pub fn state(&self) -> Vec<Value> {
        let mut state = vec![self.used];
        state.extend(self.own_state());
        self.columns.inner_state(&mut state);
        state
    }

    /// Sets the values that [`Pool::state`] returns, in its order.
    pub fn set_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.used = next_part(values);
        self.set_own_state(values);
        self.columns.set_inner_state(values);
    }

    /// Returns the capacity and the arrays, not those of inner pools.
    fn own_state(&self) -> Vec<Value> {
        let mut state = vec![self.capacity];
        self.columns.clone().each_own(&mut |array| state.push(*array));
        state
    }

    fn set_own_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.capacity = next_part(values);
        self.columns.each_own(&mut |array| *array = next_part(values));
    }

    /// Visits the arrays, those of inner pools too, each with its capacity.
    pub fn each_array(&self, visit: &mut dyn FnMut(Value, Value)) {
        let capacity = self.capacity;
        self.columns.clone().each_own(&mut |array| visit(*array, capacity));
        self.columns.each_inner(&mut |pool| pool.each_array(visit));
    }

    /// Replaces the arrays, in the order of [`Pool::each_array`].
    pub fn set_arrays(&mut self, arrays: &mut dyn Iterator<Item = Value>) {
        self.columns.each_own(&mut |array| *array = next_part(arrays));
        self.columns.each_inner_mut(&mut |pool| pool.set_arrays(arrays));
    }

    /// Returns the flag that says if the pool is spaced, where that may be.
    pub fn spaced(&self) -> Option<Value> {
        self.spaced
    }

    /// Returns the columns of the elements that were appended, which lie in no pool that existed before.
    pub fn elements(&self) -> Columns {
        self.columns.columns(self.used)
    }

    /// Returns the column of the sequences whose elements were appended. The capacity of a spaced pool
    /// is not negated yet ([`FunctionLowering::table_columns`]).
    pub fn columns_of(&self, starts: Column, lengths: Column) -> Columns {
        let (pool, extent, capacity) = match &self.view {
            Some(view) => {
                let mut extent = self.used;
                view.each_column(&mut |column| extent = column.extent);
                (view.clone(), extent, None)
            }
            None => (self.columns.columns(self.used), self.used, Some(self.capacity)),
        };
        Columns::Views(Rc::new(Views { starts, lengths, pool, extent, capacity }))
    }
}

impl<'a> PoolColumns<'a> {
    fn columns(&self, extent: Value) -> Columns {
        let column = |array| Column { array, start: None, extent };
        match self {
            PoolColumns::Unit => Columns::Unit,
            PoolColumns::Scalars(array) => Columns::Scalars(column(*array)),
            PoolColumns::Pair(both) => {
                Columns::pair(both.0.columns(extent), both.1.columns(extent))
            }
            PoolColumns::Sequences { starts, lengths, pool, .. } => {
                pool.columns_of(column(*starts), column(*lengths))
            }
        }
    }

    /// Visits the arrays that have an element for each of the pool, in order.
    fn each_own(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        match self {
            PoolColumns::Unit => {}
            PoolColumns::Scalars(array) => visit(array),
            PoolColumns::Pair(both) => {
                both.0.each_own(visit);
                both.1.each_own(visit);
            }
            PoolColumns::Sequences { starts, lengths, .. } => {
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
            PoolColumns::Sequences { pool, .. } => visit(pool),
        }
    }

    fn each_inner_mut(&mut self, visit: &mut dyn FnMut(&mut Pool<'a>)) {
        match self {
            PoolColumns::Unit | PoolColumns::Scalars(_) => {}
            PoolColumns::Pair(both) => {
                both.0.each_inner_mut(visit);
                both.1.each_inner_mut(visit);
            }
            PoolColumns::Sequences { pool, .. } => visit(pool),
        }
    }

    fn inner_state(&self, out: &mut Vec<Value>) {
        self.each_inner(&mut |pool| out.extend(pool.state()));
    }

    fn set_inner_state(&mut self, values: &mut dyn Iterator<Item = Value>) {
        self.each_inner_mut(&mut |pool| pool.set_state(values));
    }
}
