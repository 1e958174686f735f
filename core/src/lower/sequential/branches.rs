//! Values that depend on a condition: a kir `if` whose results are the parts that differ.

use super::super::repr::{
    Column, Columns, LoweredSequence, LoweredValue, Room, StoredSequence, Views,
};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Op, Value, ValueTy};
use std::rc::Rc;

impl<'a> FunctionLowering<'a> {
    /// Returns the value of one of two branches, materialised in the branch.
    pub(in crate::lower) fn conditional(
        &mut self,
        cond: Value,
        ty: &'a Ty,
        then: impl FnOnce(&mut Self) -> LoweredValue<'a>,
        otherwise: impl FnOnce(&mut Self) -> LoweredValue<'a>,
    ) -> LoweredValue<'a> {
        let then = |t: &mut Self| {
            let value = then(t);
            t.materialise(&value, ty)
        };
        self.join_branches(cond, then, |t| {
            let value = otherwise(t);
            t.materialise(&value, ty)
        })
    }

    /// Returns one of two values whose sequences are in memory. Parts that are the same kir value
    /// in both branches stay what they are, so that a choice between two views of a sequence is a
    /// view of it.
    pub(super) fn join_branches(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> LoweredValue<'a>,
        otherwise: impl FnOnce(&mut Self) -> LoweredValue<'a>,
    ) -> LoweredValue<'a> {
        match self.body.constant(cond) {
            Some(Literal::Bool(true)) => return then(self),
            Some(Literal::Bool(false)) => return otherwise(self),
            _ => {}
        }
        let zero = self.body.i64(0);
        self.body.begin();
        let first = then(self);
        let mut then = self.body.end(Vec::new());
        self.body.begin();
        let second = otherwise(self);
        let mut otherwise = self.body.end(Vec::new());
        let mut types: Vec<ValueTy> = Vec::new();
        merge(&first, &second, zero, &mut |a, b| {
            if a != b {
                then.yields.push(a);
                otherwise.yields.push(b);
                types.push(self.body.ty(a));
            }
            a
        });
        let results = self.body.push(Op::If { cond, then, otherwise }, &types);
        let mut results = results.into_iter();
        merge(&first, &second, zero, &mut |a, b| {
            if a == b { a } else { results.next().or_bug("an `if` has a result for each yield") }
        })
    }
}

/// Merges two values of one type, part by part.
fn merge<'a>(
    a: &LoweredValue<'a>,
    b: &LoweredValue<'a>,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> LoweredValue<'a> {
    with_stack(|| match (a, b) {
        (LoweredValue::Unit, _) | (_, LoweredValue::Unit) => LoweredValue::Unit,
        (LoweredValue::Scalar(a), LoweredValue::Scalar(b)) => LoweredValue::Scalar(pick(*a, *b)),
        (LoweredValue::Pair(a), LoweredValue::Pair(b)) => {
            let first = merge(&a.0, &b.0, zero, pick);
            LoweredValue::pair(first, merge(&a.1, &b.1, zero, pick))
        }
        (
            LoweredValue::Sequence(LoweredSequence::Stored(a)),
            LoweredValue::Sequence(LoweredSequence::Stored(b)),
        ) => {
            let length = pick(a.length, b.length);
            let columns = merge_columns(&a.columns, &b.columns, zero, pick);
            let room = merge_rooms(a.room, b.room, zero, pick);
            LoweredValue::of_stored(StoredSequence { length, columns, room })
        }
        (LoweredValue::Scalar(_) | LoweredValue::Pair(_) | LoweredValue::Sequence(_), _) => {
            bug!("both branches have one type and are materialised")
        }
    })
}

fn merge_rooms(a: Room, b: Room, zero: Value, pick: &mut dyn FnMut(Value, Value) -> Value) -> Room {
    match (a, b) {
        (Room::None, Room::None) => Room::None,
        (Room::Owned(a), Room::Owned(b)) => Room::Owned(pick(a, b)),
        (a, b) => Room::Maybe(pick(a.value().unwrap_or(zero), b.value().unwrap_or(zero))),
    }
}

fn merge_columns(
    a: &Columns,
    b: &Columns,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> Columns {
    with_stack(|| match (a, b) {
        (Columns::Unit, _) | (_, Columns::Unit) => Columns::Unit,
        (Columns::Scalars(a), Columns::Scalars(b)) => {
            Columns::Scalars(merge_column(a, b, zero, pick))
        }
        (Columns::Pair(a), Columns::Pair(b)) => {
            let first = merge_columns(&a.0, &b.0, zero, pick);
            Columns::pair(first, merge_columns(&a.1, &b.1, zero, pick))
        }
        (Columns::Views(a), Columns::Views(b)) => {
            let starts = merge_column(&a.starts, &b.starts, zero, pick);
            let lengths = merge_column(&a.lengths, &b.lengths, zero, pick);
            let extent = pick(a.extent, b.extent);
            let pool = merge_columns(&a.pool, &b.pool, zero, pick);
            let capacity = match (a.capacity, b.capacity) {
                (None, None) => None,
                (first, second) => Some(pick(first.unwrap_or(zero), second.unwrap_or(zero))),
            };
            Columns::Views(Rc::new(Views { starts, lengths, pool, extent, capacity }))
        }
        (Columns::Scalars(_) | Columns::Pair(_) | Columns::Views(_), _) => {
            bug!("both branches have one type")
        }
    })
}

fn merge_column(
    a: &Column,
    b: &Column,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> Column {
    let array = pick(a.array, b.array);
    let extent = pick(a.extent, b.extent);
    let start = match (a.start, b.start) {
        (None, None) => None,
        (first, second) => Some(pick(first.unwrap_or(zero), second.unwrap_or(zero))),
    };
    Column { array, start, extent }
}
