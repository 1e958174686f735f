//! Updates of sequences of sequences: *tables*.
//!
//! A table is owned with its pools: then its segments do not overlap, and nothing else lies in the
//! pools. An update of an owned table writes what is new and nothing else. A row goes
//!
//! * into the place of the old one, if it is no longer than that and nobody else reads that place;
//! * else behind all other rows, and only its start and its length are overwritten.
//!
//! ```text
//! starts   0 3 5            starts   0 7 5
//! lengths  3 2 2     →      lengths  3 4 2            rep(table, [w, x, y, z], 1)
//! pool     a b c d e f g    pool     a b c d e f g w x y z
//! ```
//!
//! An element that no segment covers any more is garbage. Where a pool is full, or the table is not owned, the
//! table is *packed*: copied to new arrays, its rows one behind the other. The new pools have room for
//! as many elements as were copied, so that each element that is written is copied a constant number of
//! times.
//!
//! A row that is taken out of an owned table, changed, and put back ([`Update::kept`]) is changed where
//! it lies. It may grow there, too: in programs with such rows packed tables are *spaced*, each row has
//! room to the next power of two of its length. A row that its place has no room for is copied and goes
//! behind all others, to twice the room, so that a row that only grows is copied a constant number of times for each element.

use super::super::repr::{
    Column, Columns, LoweredSequence, LoweredValue, Room, StoredSequence, Views, ill_typed,
};
use super::collect::RowStorage;
use super::function::FunctionLowering;
use super::pool::Pool;
use crate::base::with_stack;
use crate::fuse::sequential::ownership::{Kept, Update};
use crate::ir::{Site, Ty};
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, Combine, Literal, Op, Unary, Value, ValueTy};
use std::rc::Rc;

/// The place of one sequence of a row in its pool.
enum Place {
    /// The sequence lies there already if the table was owned.
    Kept,
    /// The sequence lies there already if a flag is true and the table was not packed; else it goes into
    /// the place of the old one if it may (`fits`) and there is room, else behind all others in the pool
    /// of this number.
    Grown { lies_there: Value, fits: bool, pool: usize },
    /// In the place of the old one, which is as long.
    Same,
    /// In the place of the old one if a flag is true, else behind all others.
    Fits { there: Value },
    /// Behind all others.
    Behind,
}

/// Flags about a table, from before a row is put into it.
#[derive(Clone, Copy)]
struct Before {
    /// True if it was owned.
    owned: Value,
    /// True if it had room for the row, and was not packed.
    enough: Value,
}

impl<'a> FunctionLowering<'a> {
    /// Lowers `rep` of a table: stores a row at an index that is in bounds.
    pub(super) fn replace_row(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        value: &LoweredValue<'a>,
        index: Value,
        update: &Update,
    ) -> StoredSequence {
        let (mut places, mut extra) = (Vec::new(), Vec::new());
        let mut kept = update.kept.iter().copied();
        let owned = self.owned_before(of, update.in_place);
        let columns = &of.columns;
        self.places(columns, value, index, update, owned, &mut kept, &mut places, &mut extra);
        let grown = places.iter().filter_map(|place| match place {
            Place::Grown { pool, .. } => Some(*pool),
            Place::Kept | Place::Same | Place::Fits { .. } | Place::Behind => None,
        });
        let grown: Vec<usize> = grown.collect();
        let (table, enough) =
            self.with_room(of, element, update.in_place, of.length, &extra, &grown);
        let mut storage = self.storage_of(&table.columns, element);
        let before = Before { owned, enough };
        self.put_row(&mut storage, value, index, before, &mut places.into_iter());
        StoredSequence { columns: self.table_columns(&storage), ..table }
    }

    /// Lowers both updates of an exchange of two rows, at indices that are in bounds.
    pub(super) fn exchange_rows(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        rows: [Value; 2],
        update: &Update,
    ) -> StoredSequence {
        let (table, _) = self.with_room(of, element, update.in_place, of.length, &[], &[]);
        let storage = self.storage_of(&table.columns, element);
        self.exchange(&storage, rows);
        StoredSequence { columns: self.table_columns(&storage), ..table }
    }

    /// Exchanges what the rows of a table at two indices consist of: scalars, starts and lengths.
    fn exchange(&mut self, storage: &RowStorage<'a>, rows: [Value; 2]) {
        with_stack(|| {
            let columns = match storage {
                RowStorage::Unit => vec![],
                RowStorage::Scalars(column) => vec![*column],
                RowStorage::Pair(both) => {
                    self.exchange(&both.0, rows);
                    self.exchange(&both.1, rows);
                    vec![]
                }
                RowStorage::Sequences { starts, lengths, .. } => vec![*starts, *lengths],
            };
            for column in columns {
                let [first, second] = rows.map(|row| self.load(column, row));
                self.body.store(column.array, rows[0], second);
                self.body.store(column.array, rows[1], first);
            }
        });
    }

    /// Lowers `<-` of a table, whose writes are stored: places and rows.
    pub(super) fn scatter_rows(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        writes: &StoredSequence,
        update: &Update,
        site: Site,
    ) -> StoredSequence {
        let (indices, rows) = writes.columns.components();
        let (indices, rows) = (indices.scalars(), rows.clone());
        let mut extra = Vec::new();
        self.pool_sizes(&rows, writes.length, &mut extra);
        let (table, _) = self.with_room(of, element, update.in_place, of.length, &extra, &[]);
        let mut storage = self.storage_of(&table.columns, element);
        self.storing_loop(writes.length, &mut storage, None, |t, k, storage| {
            let index = t.load(indices, k);
            let index = t.index_of(index);
            t.in_bounds(index, of.length, FaultCode::Scatter, site);
            let row = t.row(&rows, k);
            let (mut places, mut extra) = (Vec::new(), Vec::new());
            let mut kept = std::iter::empty();
            let columns = storage.columns();
            let no = t.body.bool(false);
            t.places(&columns, &row, index, update, no, &mut kept, &mut places, &mut extra);
            let before = Before { owned: no, enough: no };
            t.put_row(storage, &row, index, before, &mut places.into_iter());
            None
        });
        StoredSequence { columns: self.table_columns(&storage), ..table }
    }

    /// Lowers `++` of a table and some rows.
    pub(super) fn append_rows(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        rows: &StoredSequence,
        in_place: bool,
    ) -> StoredSequence {
        let length = self.body.binary(Binary::Add, of.length, rows.length);
        let mut extra = Vec::new();
        self.pool_sizes(&rows.columns, rows.length, &mut extra);
        let (table, _) = self.with_room(of, element, in_place, length, &extra, &[]);
        let mut storage = self.storage_of(&table.columns, element);
        self.store_rows(&mut storage, &rows.columns, Some(of.length), rows.length);
        StoredSequence { length, columns: self.table_columns(&storage), room: table.room }
    }

    /// Returns a row that was taken out of a table with the given columns and room: its sequences may be
    /// overwritten if those of the table may, and grow into the room behind them if they are `growing`.
    pub(super) fn taken_row(
        &mut self,
        row: &LoweredValue<'a>,
        of: &Columns,
        table: Room,
        growing: bool,
    ) -> LoweredValue<'a> {
        with_stack(|| match (row, of) {
            (LoweredValue::Pair(both), Columns::Pair(of)) => {
                let first = self.taken_row(&both.0, &of.0, table, growing);
                LoweredValue::pair(first, self.taken_row(&both.1, &of.1, table, growing))
            }
            (LoweredValue::Sequence(_), Columns::Views(views)) => {
                let stored = row.stored_sequence();
                let mut is_flat = true;
                stored.columns.each_pool(&mut |_, _| is_flat = false);
                let room = match table {
                    // The row keeps its length, so that only one thing is asked of its room: if it may be overwritten.
                    Room::Owned(_) | Room::Maybe(_) if is_flat && !growing => table,
                    Room::Owned(owned) | Room::Maybe(owned) if is_flat => {
                        let zero = self.body.i64(0);
                        let owned = self.body.binary(Binary::Gt, owned, zero);
                        let capacity = views.capacity.unwrap_or(zero);
                        let spaced = self.body.binary(Binary::Lt, capacity, zero);
                        let power = self.next_power_of_two(stored.length);
                        let place = self.body.select(spaced, power, stored.length);
                        Room::Maybe(self.body.select(owned, place, zero))
                    }
                    _ => Room::None,
                };
                LoweredValue::of_stored(StoredSequence { room, ..stored })
            }
            (row, _) => row.clone(),
        })
    }

    /// Returns a flag that says if a table was owned before an update.
    fn owned_before(&mut self, of: &StoredSequence, in_place: bool) -> Value {
        match of.room {
            Room::Owned(_) if in_place => self.body.bool(true),
            Room::Maybe(room) if in_place => {
                let zero = self.body.i64(0);
                self.body.binary(Binary::Gt, room, zero)
            }
            _ => self.body.bool(false),
        }
    }

    /// Finds the places of the sequences of a row that is stored at an index, and the number of
    /// elements that each pool needs behind all others for it. `owned` says if the table is owned.
    #[expect(clippy::too_many_arguments, reason = "it goes through three structures at once")]
    fn places(
        &mut self,
        columns: &Columns,
        value: &LoweredValue<'a>,
        index: Value,
        update: &Update,
        owned: Value,
        kept: &mut dyn Iterator<Item = Kept>,
        places: &mut Vec<Place>,
        extra: &mut Vec<Value>,
    ) {
        with_stack(|| match (columns, value) {
            (Columns::Unit | Columns::Scalars(_), _) => {}
            (Columns::Pair(columns), LoweredValue::Pair(both)) => {
                self.places(&columns.0, &both.0, index, update, owned, kept, places, extra);
                self.places(&columns.1, &both.1, index, update, owned, kept, places, extra);
            }
            (Columns::Views(_), _) if update.same_length && !update.moves => {
                places.push(Place::Same);
                extra.push(self.body.i64(0));
            }
            (Columns::Views(views), LoweredValue::Sequence(_)) => {
                let row = value.stored_sequence();
                let zero = self.body.i64(0);
                let mut inner = Vec::new();
                self.pool_sizes(&row.columns, row.length, &mut inner);
                let is_flat = inner.is_empty();
                let need = self.largest_place(&views.pool, row.length);
                match kept.next().unwrap_or_default() {
                    Kept::Same if is_flat => {
                        places.push(Place::Kept);
                        extra.push(zero);
                    }
                    Kept::Grown if is_flat => {
                        let room = row.room.value().unwrap_or(zero);
                        let has_room = self.body.binary(Binary::Gt, room, zero);
                        // What is taken out of a table that is not owned is copied, and the copy may have room.
                        let lies_there = self.body.binary(Binary::And, has_room, owned);
                        let (fits, pool) = (!update.moves, extra.len());
                        places.push(Place::Grown { lies_there, fits, pool });
                        extra.push(self.body.select(lies_there, zero, need));
                    }
                    _ if is_flat && !update.moves => {
                        let old = self.load(views.lengths, index);
                        let there = self.body.binary(Binary::Le, row.length, old);
                        places.push(Place::Fits { there });
                        extra.push(self.body.select(there, zero, need));
                    }
                    _ => {
                        places.push(Place::Behind);
                        extra.push(need);
                        extra.extend(inner);
                    }
                }
            }
            (Columns::Pair(_) | Columns::Views(_), _) => ill_typed("a value of the element's type"),
        });
    }

    /// Stores a row at an index, its sequences at the places that were found for them.
    fn put_row(
        &mut self,
        storage: &mut RowStorage<'a>,
        value: &LoweredValue<'a>,
        index: Value,
        before: Before,
        places: &mut dyn Iterator<Item = Place>,
    ) {
        with_stack(|| match (storage, value) {
            (RowStorage::Pair(halves), LoweredValue::Pair(both)) => {
                self.put_row(&mut halves.0, &both.0, index, before, places);
                self.put_row(&mut halves.1, &both.1, index, before, places);
            }
            (
                RowStorage::Sequences { starts, lengths, pool, .. },
                LoweredValue::Sequence(sequence),
            ) => {
                let place = places.next().or_bug("each sequence of a row has a place");
                if let LoweredSequence::Fused(_) = sequence {
                    let start = self.load(*starts, index);
                    return self.compute_in_pool(pool, sequence, start);
                }
                let row = value.stored_sequence();
                match place {
                    Place::Same => {
                        let start = self.load(*starts, index);
                        self.write_in_pool(pool, &row.columns, start, row.length);
                    }
                    Place::Kept
                        if self.body.constant(before.owned) == Some(Literal::Bool(true)) => {}
                    Place::Kept => {
                        let zero = self.body.i64(0);
                        let start = self.load(*starts, index);
                        let count = self.body.select(before.owned, zero, row.length);
                        self.write_in_pool(pool, &row.columns, start, count);
                    }
                    Place::Grown { lies_there, fits, .. } => {
                        let stays = self.body.binary(Binary::And, lies_there, before.enough);
                        let same = pool.used();
                        self.body.begin();
                        self.body.store(lengths.array, index, row.length);
                        let there = self.body.end(vec![same]);
                        self.body.begin();
                        let old = self.load(*lengths, index);
                        let room = self.next_power_of_two(old);
                        let mut fits_there = self.body.binary(Binary::Le, row.length, room);
                        if !fits {
                            let packed = self.body.unary(Unary::Not, before.enough);
                            fits_there = self.body.binary(Binary::And, fits_there, packed);
                        }
                        self.put_there_or_behind(
                            pool,
                            [*starts, *lengths],
                            index,
                            fits_there,
                            &row,
                        );
                        let elsewhere = self.body.end(vec![pool.used()]);
                        let op = Op::If { cond: stays, then: there, otherwise: elsewhere };
                        pool.set_used(self.body.push(op, &[ValueTy::Scalar(kir::Ty::I64)])[0]);
                    }
                    Place::Fits { there } => {
                        let columns = [*starts, *lengths];
                        self.put_there_or_behind(pool, columns, index, there, &row);
                    }
                    Place::Behind => {
                        let start = pool.used();
                        self.write_in_pool(pool, &row.columns, start, row.length);
                        self.body.store(starts.array, index, start);
                        self.body.store(lengths.array, index, row.length);
                        let place = self.place_in_pool(pool, row.length);
                        let next = self.body.binary(Binary::Add, start, place);
                        pool.set_used(next);
                    }
                }
            }
            (storage, value) => self.store_row(storage, value, index, false),
        });
    }

    /// Stores a sequence of a row at an index of two columns: into the place of the old one if a flag is true, else
    /// behind all others. It may be a row of the table, and lie in its new place already.
    fn put_there_or_behind(
        &mut self,
        pool: &mut Pool<'a>,
        [starts, lengths]: [Column; 2],
        index: Value,
        there: Value,
        row: &StoredSequence,
    ) {
        let old = self.load(starts, index);
        let start = self.body.select(there, old, pool.used());
        self.write_in_pool(pool, &row.columns, start, row.length);
        self.body.store(starts.array, index, start);
        self.body.store(lengths.array, index, row.length);
        let place = self.place_in_pool(pool, row.length);
        let next = self.body.binary(Binary::Add, pool.used(), place);
        let used = self.body.select(there, pool.used(), next);
        pool.set_used(used);
    }

    /// Returns the columns of a table that was changed, the capacities of spaced pools negated.
    pub(super) fn table_columns(&mut self, storage: &RowStorage<'a>) -> Columns {
        with_stack(|| match storage {
            RowStorage::Pair(both) => {
                let first = self.table_columns(&both.0);
                Columns::pair(first, self.table_columns(&both.1))
            }
            RowStorage::Sequences { pool, .. } => {
                let (Columns::Views(views), Some(spaced)) = (storage.columns(), pool.spaced())
                else {
                    return storage.columns();
                };
                let capacity = views.capacity.map(|capacity| {
                    let negated = self.body.unary(Unary::Neg, capacity);
                    self.body.select(spaced, negated, capacity)
                });
                Columns::Views(Rc::new(Views { capacity, ..(*views).clone() }))
            }
            RowStorage::Unit | RowStorage::Scalars(_) => storage.columns(),
        })
    }

    /// Returns a table that may be changed, with room for `need` rows and for `extra` elements more in
    /// each of its pools: itself, if `in_place` says that nobody else reads it, and it is owned and has
    /// the room; else a packed copy. Of the pools with the numbers `grown`, those that get elements must be
    /// spaced. The flag says if it is the table itself.
    pub(super) fn with_room(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        in_place: bool,
        need: Value,
        extra: &[Value],
        grown: &[usize],
    ) -> (StoredSequence, Value) {
        let Some(room) = of.room.value().filter(|_| in_place && of.columns.owns_pools()) else {
            let no = self.body.bool(false);
            return (self.packed(of, element, need, extra), no);
        };
        let zero = self.body.i64(0);
        let owned = match of.room {
            Room::Owned(_) => self.body.bool(true),
            _ => self.body.binary(Binary::Gt, room, zero),
        };
        // What is owned has room for what it consists of: no loop but the first turn of one asks for more.
        let no_more = |extra: &Value| self.body.constant(*extra) == Some(Literal::I64(0));
        if need == of.length && extra.iter().all(no_more) {
            let either = self.join_branches(
                owned,
                |_| {
                    LoweredValue::of_stored(StoredSequence {
                        room: Room::Owned(room),
                        ..of.clone()
                    })
                },
                |t| LoweredValue::of_stored(t.packed(of, element, need, extra)),
            );
            return (either.stored_sequence(), owned);
        }
        let has_rows = self.body.binary(Binary::Ge, room, need);
        let mut pools = Vec::new();
        of.columns.each_pool(&mut |used, capacity| pools.push((used, capacity.unwrap_or(zero))));
        let mut enough = self.body.binary(Binary::And, owned, has_rows);
        for (at, ((used, capacity), extra)) in pools.into_iter().zip(extra).enumerate() {
            let mut size = capacity;
            if self.grows_rows {
                size = self.body.unary(Unary::Abs, capacity);
            }
            let need = self.body.binary(Binary::Add, used, *extra);
            let fits = self.body.binary(Binary::Le, need, size);
            enough = self.body.binary(Binary::And, enough, fits);
            if grown.contains(&at) {
                let spaced = self.body.binary(Binary::Lt, capacity, zero);
                let none = self.body.binary(Binary::Eq, *extra, zero);
                let fine = self.body.binary(Binary::Or, spaced, none);
                enough = self.body.binary(Binary::And, enough, fine);
            }
        }
        let either = self.join_branches(
            enough,
            |_| LoweredValue::of_stored(of.clone()),
            |t| {
                // The second copy has room for twice the rows, if these are what there is no room for.
                let two = t.body.i64(2);
                let double = t.body.binary(Binary::Mul, need, two);
                let larger = t.body.select(owned, double, need);
                let rows = t.body.select(has_rows, room, larger);
                LoweredValue::of_stored(t.packed(of, element, rows, extra))
            },
        );
        (either.stored_sequence(), enough)
    }

    /// Copies a table: its rows lie one behind the other in new pools. There is room for `room` rows
    /// and for `extra` elements more in each pool; where that is not 0, also for as many elements as
    /// were copied in all.
    fn packed(
        &mut self,
        of: &StoredSequence,
        element: &'a Ty,
        room: Value,
        extra: &[Value],
    ) -> StoredSequence {
        let mut sizes = Vec::new();
        self.pool_sizes(&of.columns, of.length, &mut sizes);
        let mut all = of.length;
        for (size, extra) in sizes.iter_mut().zip(extra) {
            *size = self.body.binary(Binary::Add, *size, *extra);
            all = self.body.binary(Binary::Add, all, *size);
        }
        let zero = self.body.i64(0);
        for (size, extra) in sizes.iter_mut().zip(extra) {
            let none = self.body.binary(Binary::Eq, *extra, zero);
            let more = self.body.select(none, zero, all);
            *size = self.body.binary(Binary::Add, *size, more);
        }
        let mut sizes = sizes.into_iter();
        let mut pool = |t: &mut Self, inner| t.reserved_pool(inner, &mut sizes);
        let mut storage = self.row_storage(element, room, &mut pool);
        self.store_rows(&mut storage, &of.columns, None, of.length);
        let columns = self.table_columns(&storage);
        StoredSequence { length: of.length, ..self.fresh(room, columns) }
    }

    /// Returns the storage of an owned table, to change it: its pools have room for what is stored.
    pub(super) fn storage_of(&mut self, columns: &Columns, element: &'a Ty) -> RowStorage<'a> {
        with_stack(|| match (columns, element) {
            (Columns::Unit, _) => RowStorage::Unit,
            (Columns::Scalars(column), _) => {
                let array = self.array_of(*column);
                RowStorage::Scalars(Column { array, start: None, ..*column })
            }
            (Columns::Pair(both), Ty::Pair(first, second)) => {
                let first = self.storage_of(&both.0, first);
                RowStorage::Pair(Box::new((first, self.storage_of(&both.1, second))))
            }
            (Columns::Views(views), Ty::Sequence(inner)) => {
                let [starts, lengths] = [views.starts, views.lengths].map(|column| {
                    let array = self.array_of(column);
                    Column { array, start: None, ..column }
                });
                let pool = self.pool_of(views, inner);
                RowStorage::Sequences { starts, lengths, element: inner, pool }
            }
            (Columns::Pair(_) | Columns::Views(_), _) => ill_typed("columns of the type"),
        })
    }

    /// Returns the number of elements that a segment takes at most in a pool of the given columns.
    fn largest_place(&mut self, pool: &Columns, length: Value) -> Value {
        let mut is_flat = true;
        pool.each_pool(&mut |_, _| is_flat = false);
        if self.grows_rows && is_flat {
            return self.next_power_of_two(length);
        }
        length
    }

    /// Adds the number of elements that the segments of the first `count` rows take, for each pool in the
    /// order of [`Columns::each_pool`].
    pub(super) fn pool_sizes(&mut self, columns: &Columns, count: Value, sizes: &mut Vec<Value>) {
        with_stack(|| match columns {
            Columns::Unit | Columns::Scalars(_) => {}
            Columns::Pair(both) => {
                self.pool_sizes(&both.0, count, sizes);
                self.pool_sizes(&both.1, count, sizes);
            }
            Columns::Views(views) => {
                let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
                self.body.begin();
                let length = self.load(views.lengths, index);
                let mut inner = vec![self.largest_place(&views.pool, length)];
                if !matches!(views.pool, Columns::Unit | Columns::Scalars(_)) {
                    let start = self.load(views.starts, index);
                    let row = self.columns_from(&views.pool, start);
                    self.pool_sizes(&row, length, &mut inner);
                }
                let reduce = vec![Combine::Add; inner.len()];
                let types = vec![ValueTy::Scalar(kir::Ty::I64); inner.len()];
                let body = self.body.end(inner);
                let (init, carried) = (Vec::new(), Vec::new());
                let op = Op::For { count, index, init, carried, reduce, body };
                sizes.extend(self.body.push(op, &types));
            }
        });
    }
}
