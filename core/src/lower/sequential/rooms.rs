//! Rooms: the elements of a sequence that its owner may overwrite.
//!
//! [`fuse::sequential::ownership`](crate::fuse::sequential::ownership) says where an array is used for
//! the last time. Whether it belongs to the code that would write it is known when that runs: beside
//! the parts of a sequence goes its [`Room`], through branches, loops and calls. Memory that was just
//! allocated is owned; inputs and views are not; a function's caller says which of the arguments it owns
//! and gives away. So an update of what is not owned copies it, and what comes of that is owned:
//!
//! ```text
//! replace(v0, x, i)   →   v3, room = if room > 0 { v0, room } else { copy of v0, length }
//!                         store v3 i x
//! ```
//!
//! The rooms of a function's parameters stand behind all its parts, those of its results likewise.
//! There is one for each sequence of a value, those in its tuples included. A sequence of sequences is
//! owned with its pools, or not at all; behind its room stand the capacities of its pools
//! ([`tables`](super::tables)). Functions that never update anything, nor call one that does, have none.

use super::super::repr::{Columns, LoweredSequence, LoweredValue, Room, StoredSequence};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::fuse::sequential::ownership::{Update, each_sequence};
use crate::ir::{Atom, Ty};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Binary, Literal, Value};

/// Returns the number of rooms of a value, with the capacities of pools.
pub(in crate::lower) fn count(ty: &Ty) -> usize {
    let mut count = 0;
    each_sequence(ty, &mut |element| count += 1 + pools(element));
    count
}

/// Returns true if a value contains sequences, none of which contains others.
pub(in crate::lower) fn is_flat(ty: &Ty) -> bool {
    let (mut some, mut pools) = (false, 0);
    each_sequence(ty, &mut |element| {
        some = true;
        pools += self::pools(element);
    });
    some && pools == 0
}

/// Returns the number of pools of a sequence of `element`.
fn pools(element: &Ty) -> usize {
    with_stack(|| match element {
        Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => 0,
        Ty::Pair(first, second) => pools(first) + pools(second),
        Ty::Sequence(inner) => 1 + pools(inner),
    })
}

impl<'a> FunctionLowering<'a> {
    /// Returns a sequence of new arrays, which have room for `room` elements, its length.
    pub(super) fn fresh(&mut self, room: Value, columns: Columns) -> StoredSequence {
        let is_owned = self.has_rooms && columns.owns_pools();
        let owned = if is_owned { Room::Owned(room) } else { Room::None };
        StoredSequence { length: room, columns, room: owned }
    }

    /// Returns a sequence whose elements may be overwritten: itself if it is owned and `update` says that
    /// nobody else reads it, else a copy. The copy of a row that may grow where it lies has no room if the
    /// table is owned, by which it is told from the row.
    pub(super) fn writable(&mut self, of: &StoredSequence, update: &Update) -> StoredSequence {
        match of.room {
            Room::Owned(_) if update.in_place => of.clone(),
            Room::Maybe(room) if update.in_place => {
                let zero = self.body.i64(0);
                let owned = self.body.binary(Binary::Gt, room, zero);
                let mine = StoredSequence { room: Room::Owned(room), ..of.clone() };
                let either = self.join_branches(
                    owned,
                    |_| LoweredValue::of_stored(mine),
                    |t| {
                        let copy = t.copy(of, of.length);
                        let room = if update.grows { Room::None } else { copy.room };
                        LoweredValue::of_stored(StoredSequence { room, ..copy })
                    },
                );
                either.stored_sequence()
            }
            Room::None | Room::Maybe(_) | Room::Owned(_) => self.copy(of, of.length),
        }
    }

    /// Copies a sequence whose elements contain no sequences into new arrays with room for `room`
    /// elements.
    pub(super) fn copy(&mut self, of: &StoredSequence, room: Value) -> StoredSequence {
        let columns = of.columns.map(&mut |column| {
            let from = self.array_of(column);
            let to = self.alloc(self.body.element(column.array), room);
            self.body.copy(from, to.array, of.length);
            to
        });
        StoredSequence { length: of.length, ..self.fresh(room, columns) }
    }

    /// Appends to a sequence that nobody else reads: behind its elements if there is room, else behind
    /// those of a copy. The second copy has room for twice the elements, so that a loop copies each
    /// of them a constant number of times; the first has room for a few. A row that grows where it lies in a
    /// table (`is_row`) gets more room there when it is put back; if the table is owned, its copy has no room,
    /// by which it is told from the row.
    pub(super) fn append_in_place(
        &mut self,
        first: &StoredSequence,
        room: Value,
        second: Atom,
        is_row: bool,
    ) -> LoweredValue<'a> {
        let element = self.element_ty(second);
        // It may be computed from the first sequence, as `ownership` allows: so it is stored before that is overwritten.
        let second = self.stored(second);
        // The few elements of a list are stored one after the other.
        let is_short = self.body.constant(second.length).is_some();
        let need = self.body.binary(Binary::Add, first.length, second.length);
        let enough = self.body.binary(Binary::Ge, room, need);
        let mine = first.clone();
        let either = self.join_branches(
            enough,
            |_| LoweredValue::of_stored(mine),
            |t| {
                if is_row {
                    let copy = t.copy(first, need);
                    return LoweredValue::of_stored(StoredSequence { room: Room::None, ..copy });
                }
                let zero = t.body.i64(0);
                let two = t.body.i64(2);
                let owned = t.body.binary(Binary::Gt, room, zero);
                let double = t.body.binary(Binary::Mul, need, two);
                let larger = t.body.select(owned, double, need);
                let least = t.body.i64(t.limits.min_pool_elements);
                let larger = t.body.binary(Binary::Max, larger, least);
                LoweredValue::of_stored(t.copy(first, larger))
            },
        );
        let joined = either.stored_sequence();
        if !is_short {
            let rows = self.storage_of(&joined.columns, element);
            self.copy_rows(&rows, &second.columns, first.length, second.length);
            return LoweredValue::of_stored(StoredSequence { length: need, ..joined });
        }
        let index = self.open_loop();
        let value = self.row(&second.columns, index);
        let place = self.body.binary(Binary::Add, first.length, index);
        self.overwrite(&joined.columns, &value, place);
        self.close_loop(index, second.length);
        LoweredValue::of_stored(StoredSequence { length: need, ..joined })
    }

    /// Returns the room of a sequence from an element on.
    pub(super) fn room_behind(&mut self, room: Room, start: Value) -> Room {
        let zero = self.body.i64(0);
        match room.value() {
            None => Room::None,
            Some(_) if self.body.constant(start) == Some(Literal::I64(0)) => room,
            Some(room) => {
                let rest = self.body.binary(Binary::Sub, room, start);
                Room::Maybe(self.body.binary(Binary::Max, rest, zero))
            }
        }
    }

    /// Adds the rooms of a materialised value, 0 for those sequences that `given` does not name. The
    /// flags of `given` count all sequences of the value, from the first one that is left.
    pub(super) fn add_rooms(
        &mut self,
        value: &LoweredValue<'a>,
        ty: &Ty,
        given: &mut dyn Iterator<Item = bool>,
        out: &mut Vec<Value>,
    ) {
        with_stack(|| match (value, ty) {
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                self.add_rooms(&both.0, first, given, out);
                self.add_rooms(&both.1, second, given, out);
            }
            (LoweredValue::Sequence(sequence), Ty::Sequence(element)) => {
                let given = given.next().unwrap_or(false);
                let zero = self.body.i64(0);
                let owned = match sequence {
                    LoweredSequence::Stored(stored) if given => {
                        stored.room.value().map(|room| (room, &stored.columns))
                    }
                    LoweredSequence::Stored(_) | LoweredSequence::Fused(_) => None,
                };
                match owned {
                    Some((room, columns)) => {
                        out.push(room);
                        columns.each_pool(&mut |_, capacity| out.push(capacity.unwrap_or(zero)));
                    }
                    None => out.extend(std::iter::repeat_n(zero, 1 + pools(element))),
                }
            }
            _ => {}
        });
    }
}

impl<'a> LoweredValue<'a> {
    /// Returns a materialised value whose sequences have the given rooms.
    pub(in crate::lower) fn with_rooms(
        &self,
        ty: &Ty,
        rooms: &mut dyn Iterator<Item = Value>,
    ) -> LoweredValue<'a> {
        with_stack(|| match (self, ty) {
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                let first = both.0.with_rooms(first, rooms);
                LoweredValue::pair(first, both.1.with_rooms(second, rooms))
            }
            (LoweredValue::Sequence(LoweredSequence::Stored(stored)), _) => {
                let room = rooms.next().or_bug("a value has as many rooms as its type says");
                let columns = stored.columns.with_capacities(rooms);
                let room = Room::Maybe(room);
                LoweredValue::of_stored(StoredSequence { room, columns, ..stored.clone() })
            }
            (value, _) => value.clone(),
        })
    }

    /// Returns a materialised value of which only those sequences are owned that `given` names; its
    /// flags count all sequences of the value.
    pub(super) fn owning_only(
        &self,
        ty: &Ty,
        given: &mut dyn Iterator<Item = bool>,
    ) -> LoweredValue<'a> {
        with_stack(|| match (self, ty) {
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                let first = both.0.owning_only(first, given);
                LoweredValue::pair(first, both.1.owning_only(second, given))
            }
            (LoweredValue::Sequence(LoweredSequence::Stored(stored)), _) => {
                let room = if given.next().unwrap_or(false) { stored.room } else { Room::None };
                LoweredValue::of_stored(StoredSequence { room, ..stored.clone() })
            }
            (value, _) => value.clone(),
        })
    }
}

/// The kir type of a room, which counts elements.
pub(super) const ROOM: kir::ValueTy = kir::ValueTy::Scalar(kir::Ty::I64);
